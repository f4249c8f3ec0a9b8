// Epilogues: elementwise work on a product's result, done tile by tile while the tile is in the cache.
#include "tiles.h"

#include <algorithm>
#include <unordered_map>

#include "../program.h"
#include "device.h"
#include "task.h"
#include "thread_room.h"

namespace slipstream::engine {

namespace {

constexpr int64_t kWorthwhile = 32 * 1024;  // elements; fewer stay in the cache by themselves

// A tiled call's result as matrices, rows and columns.
Shape boxes_of(const Record& tiled) {
  const Shape& shape = tiled.outputs[0].shape;
  int last = shape.size() - 1;
  return {count(shape) / (shape[last - 1] * shape[last]), shape[last - 1], shape[last]};
}

std::optional<View> seen_as(const View& view, const Shape& shape) {
  std::optional<Strides> strides = reshaped_strides(view.shape, view.strides, itemsize(view.dtype), shape);
  return strides ? std::optional(View{view.dtype, view.offset, shape, *strides}) : std::nullopt;
}

// Does the view hold the whole storage, in the order of memory?
bool covers(const View& view, const Storage& storage) {
  return view.offset == 0 && view.contiguous() && view.nbytes() == storage.nbytes;
}

template <class Operands>
bool touches(const Operands& operands, const Storage* storage) {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) { return o.storage() == storage; });
}

// Is it worth it, and is the result one that only calls of this batch can read?
bool may_begin(const Record& call) {
  if (!is_tiled(call) || call.in_place) return false;
  const Operand& out = call.outputs[0];
  const Storage& storage = *out.storage();
  int last = out.ndim() - 1;
  return out.size() >= kWorthwhile && out.shape[last] > 1 && out.shape[last - 1] > 1 && covers(out, storage) &&
         !storage.has_handles() && storage.uses() == storage.use.operands;
}

// What a tiled call makes.
struct Result {
  size_t made_by;
  uint32_t readers = 0;  // calls
};

class Pairing {
 public:
  Pairing(std::span<const Record> calls, std::vector<uint32_t>& groups) : calls_(calls), groups_(groups) {}

  void run(const std::vector<size_t>& tiled) {
    for (size_t i : tiled) results_[calls_[i].outputs[0].storage()] = {i};
    for (size_t i = 0; i < calls_.size(); i++)
      if (calls_[i].op) count(i);
    uint32_t last = groups_.empty() ? 0 : *std::max_element(groups_.begin(), groups_.end());
    for (size_t i = 0; i < calls_.size(); i++) {
      if (!calls_[i].op || groups_[i] || calls_[i].op->flags != kPure || !is_elementwise(*calls_[i].op)) continue;
      if (std::optional<size_t> first = partner(i)) groups_[*first] = groups_[i] = ++last;
    }
  }

 private:
  // A call that writes into a result counts as a reader.
  void count(size_t i) {
    SmallVec<const Storage*, 4> seen;
    auto add = [&](const Operand& operand) {
      auto at = operand.is_scalar() ? results_.end() : results_.find(operand.storage());
      if (at == results_.end() || at->second.made_by == i) return;
      if (std::find(seen.begin(), seen.end(), operand.storage()) != seen.end()) return;
      seen.push_back(operand.storage());
      at->second.readers++;
    };
    for (const Operand& input : calls_[i].inputs) add(input);
    for (const Operand& output : calls_[i].outputs) add(output);
  }

  // The last tiled call whose result the elementwise call can work on.
  std::optional<size_t> partner(size_t i) const {
    std::optional<size_t> best;
    for (const Operand& input : calls_[i].inputs) {
      auto at = input.is_scalar() ? results_.end() : results_.find(input.storage());
      if (at == results_.end() || at->second.readers != 1 || groups_[at->second.made_by]) continue;
      if ((!best || at->second.made_by > *best) && fits(at->second.made_by, i)) best = at->second.made_by;
    }
    return best;
  }

  bool fits(size_t first, size_t then) const {
    const Record &tiled = calls_[first], &call = calls_[then];
    if (tiled.recorded_in != call.recorded_in || !(device_of(tiled) == device_of(call)) ||
        call.outputs[0].size() != tiled.outputs[0].size())
      return false;
    Shape boxes = boxes_of(tiled);
    for (const Operand& input : call.inputs) {
      if (input.is_scalar()) continue;
      bool own = input.storage() == tiled.outputs[0].storage();
      if (own && !(covers(input, *input.storage()) && input.dtype == tiled.outputs[0].dtype)) return false;
      if (!own && (!seen_as(input, boxes) || comes_late(*input.storage(), first))) return false;
    }
    for (const Operand& output : call.outputs)  // what other tiles still read is not to be written
      if (!seen_as(output, boxes) || touches(tiled.inputs, output.storage())) return false;
    return !anything_between(first, then);
  }

  // Is the value still to be made by something that may take long? The tiled call is not to wait for that.
  bool comes_late(const Storage& storage, size_t before) const {
    constexpr uint8_t kSlow = kHost | kLong;
    const Ref<Task>& writer = storage.use.last_writer;
    if (storage.pending_writes.load(std::memory_order_acquire) == 0) return false;
    if (writer && !writer->finished() && (writer->flags & kSlow)) return true;
    return std::any_of(calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(before), [&](const Record& call) {
      return call.op && (call.op->flags & kSlow) && touches(call.outputs, &storage);
    });
  }

  // A call between the two that must come after the first (it writes what that reads), or that the second reads: the
  // first need not wait for it.
  bool anything_between(size_t first, size_t then) const {
    for (size_t i = first + 1; i < then; i++) {
      if (!calls_[i].op) continue;
      for (const Operand& output : calls_[i].outputs) {
        if (touches(calls_[then].inputs, output.storage())) return true;
        if (calls_[i].in_place && touches(calls_[first].inputs, output.storage())) return true;
      }
    }
    return false;
  }

  std::span<const Record> calls_;
  std::vector<uint32_t>& groups_;
  std::unordered_map<const Storage*, Result> results_;
};

class TilesKernel final : public Kernel {
 public:
  TilesKernel(const Record& first, const Record& then, std::unique_ptr<TiledKernel> tiled)
      : then_(then),
        made_(first.outputs[0]),
        tiled_(std::move(tiled)),
        make_(backend(device_of(then)).find(*then.op)),
        boxes_(boxes_of(first)) {}

  int phases() const override { return tiled_->phases(); }
  int64_t chunks(int phase) const override { return tiled_->chunks(phase); }

  void run(int phase, int64_t chunk) override {
    if (phase < tiled_->phases() - 1) return tiled_->run(phase, chunk);
    TiledKernel::Box box = tiled_->box(chunk);
    Shape shape{box.size[0], box.size[1], box.size[2]};
    View tile(made_.dtype, shape);
    ThreadBytes room(tile.nbytes());
    Array dense(new Storage(device_of(then_), tile.nbytes(), room.data(), nullptr), tile);
    Record part;
    part.op = then_.op;
    part.compute = then_.compute;
    part.scalars = then_.scalars;
    part.params = then_.params;
    for (const Operand& input : then_.inputs)
      part.inputs.push_back(input.storage() == made_.storage() ? Operand(dense) : cut_out(input, box));
    for (const Operand& output : then_.outputs) part.outputs.push_back(cut_out(output, box));
    Needed needed = needed_by(part, dense.storage());
    tiled_->run_to(chunk, room.data(), {needed.begin(), needed.end()});
    std::unique_ptr<Kernel> kernel = make_(part);
    for (int step = 0, steps = kernel->phases(); step < steps; step++)
      for (int64_t i = 0, n = kernel->chunks(step); i < n; i++) kernel->run(step, i);
  }

 private:
  using Needed = SmallVec<MemoryRows, 4>;

  // What the part reads and writes beside the tile: it waits for memory mostly, the product does not.
  Needed needed_by(const Record& part, const Storage* tile) const {
    auto size = static_cast<int64_t>(itemsize(made_.dtype));
    Needed needed;
    auto add = [&](const Operand& o) {
      if (o.is_scalar() || o.storage() == tile || static_cast<int64_t>(itemsize(o.dtype)) != size) return;
      if (o.strides[2] != size || o.strides[1] == 0) return;
      if (std::none_of(needed.begin(), needed.end(), [&](const MemoryRows& rows) { return rows.data == o.data(); }))
        needed.push_back({o.data(), o.strides[1]});
    };
    std::for_each(part.inputs.begin(), part.inputs.end(), add);
    std::for_each(part.outputs.begin(), part.outputs.end(), add);
    return needed;
  }

  Operand cut_out(const Operand& operand, const TiledKernel::Box& box) const {
    if (operand.is_scalar()) return {};
    View view = *seen_as(operand, boxes_);
    for (int i = 0; i < view.strides.size(); i++) {
      auto axis = static_cast<size_t>(i);
      view.offset += box.begin[axis] * view.strides[i];
      view.shape[i] = box.size[axis];
    }
    return Operand(operand, std::move(view));
  }

  const Record& then_;
  const Operand& made_;  // by the first
  std::unique_ptr<TiledKernel> tiled_;
  MakeKernel make_;
  Shape boxes_;
};

bool failed(const Record& call) {
  auto has_failed = [](const Operand& operand) { return !operand.is_scalar() && operand.storage()->failed(); };
  return std::any_of(call.inputs.begin(), call.inputs.end(), has_failed) ||
         std::any_of(call.outputs.begin(), call.outputs.end(), has_failed);
}

}  // namespace

std::vector<size_t> tiled_calls(std::span<const Record> calls) {
  std::vector<size_t> found;
  for (size_t i = 0; i < calls.size(); i++)
    if (calls[i].op && may_begin(calls[i])) found.push_back(i);
  return found;
}

void group_by_tiles(std::span<const Record> calls, const std::vector<size_t>& tiled, std::vector<uint32_t>& groups) {
  if (!tiled.empty()) Pairing(calls, groups).run(tiled);
}

std::unique_ptr<Kernel> make_tiles_kernel(std::span<Record> calls) {
  if (calls.size() != 2 || failed(calls[0]) || failed(calls[1])) return nullptr;
  MakeKernel make = backend(device_of(calls[0])).find(*calls[0].op);
  if (!make) return nullptr;
  std::unique_ptr<Kernel> kernel;
  try {
    kernel = make(calls[0]);
    for (Operand& output : calls[1].outputs) output.storage()->allocate();
  } catch (...) {
    return nullptr;
  }
  auto* tiled = dynamic_cast<TiledKernel*>(kernel.get());
  if (!tiled) return nullptr;
  std::unique_ptr<TiledKernel> owned(tiled);
  kernel.release();
  return std::make_unique<TilesKernel>(calls[0], calls[1], std::move(owned));
}

}  // namespace slipstream::engine
