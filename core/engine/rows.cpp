// Calls that keep to their rows, run together: all of them on one block of rows, then on the next.
#include "rows.h"

#include <algorithm>

#include "../moving.h"
#include "../ops/row_norm.h"
#include "../program.h"
#include "device.h"

namespace slipstream::engine {

namespace {

constexpr int64_t kWorthwhile = 32 * 1024;      // elements; fewer stay in the cache by themselves
constexpr int64_t kLongestRow = 128 * 1024;     // bytes; of longer ones not even one stays in the cache
constexpr int64_t kBlockBytes = 192 * 1024;     // of all arrays of a block together
constexpr int64_t kChunkElements = 128 * 1024;  // about
constexpr size_t kAlign = 64;

bool reduces(const Record& call) { return is_row_norm(*call.op) || call.op == &kReduce || is_reduction(call.op->row); }

// The elements that a call goes through.
const Shape& space_of(const Record& call) { return reduces(call) ? call.inputs[0].shape : call.outputs[0].shape; }

// How many of its outer axes a call keeps apart: a row of the result depends on the same row of the inputs. 0 if it is
// not of the kind.
int kept_axes(const Record& call) {
  if (call.op->flags != kPure || call.in_place || call.outputs.empty()) return 0;
  if (is_row_norm(*call.op)) return row_norm_axis(call);
  if (call.op->row == Row::none && call.op != &kMap && call.op != &kReduce) return 0;
  if (!reduces(call)) return call.outputs[0].ndim();
  uint32_t axes = call.as<ReduceParams>().axes;
  int n = 0;
  while (n < call.inputs[0].ndim() && !(axes >> n & 1)) n++;
  return n;
}

int64_t rows_in(const Shape& shape, int axes) {
  int64_t rows = 1;
  for (int i = 0; i < axes; i++) rows *= shape[i];
  return rows;
}

bool same_rows(const Shape& a, const Shape& b, int axes) {
  return a.size() >= axes && b.size() >= axes && std::equal(a.begin(), a.begin() + axes, b.begin());
}

// Bytes of one row of a new result, which lies row-major in its storage.
int64_t row_bytes(const Storage& storage, int64_t rows) { return static_cast<int64_t>(storage.nbytes) / rows; }

// Does the view read, for each row of the storage's result, nothing but that row?
bool keeps_to_rows(const View& view, const View& written, const Storage& storage, int axes) {
  if (!same_rows(view.shape, written.shape, axes)) return false;
  int64_t last = static_cast<int64_t>(itemsize(view.dtype)) + view.offset;
  for (int i = 0; i < view.ndim(); i++) {
    if (i < axes && view.shape[i] != 1 && view.strides[i] != written.strides[i]) return false;
    if (i < axes) continue;
    if (view.strides[i] < 0) return false;
    last += (view.shape[i] - 1) * view.strides[i];
  }
  return view.offset >= 0 && last <= row_bytes(storage, rows_in(written.shape, axes));
}

// A group that still takes calls.
struct Group {
  uint32_t number = 0;  // 0: there is none
  int axes = 0;         // outer axes that all its calls keep apart
  Shape space;          // of its first call: the others share its outer axes
  std::vector<size_t> calls;
  std::vector<const Operand*> written, read;
  bool reduces = false;
};

class Grouping {
 public:
  explicit Grouping(std::span<const Record> calls) : calls_(calls), groups_(calls.size()) {}

  std::vector<uint32_t> run() {
    for (size_t i = 0; i < calls_.size(); i++)
      if (calls_[i].op) take(i);
    close();
    return std::move(groups_);
  }

 private:
  void take(size_t i) {
    const Record& call = calls_[i];
    if (joins(call)) return add(i);
    if (!touches(call)) return;  // it can run before or after the group
    close();
    open(i);
  }

  // Does the call read what the group writes, or write what the group reads? Then it cannot wait for the group's end.
  bool touches(const Record& call) const {
    if (group_.calls.empty()) return true;
    for (const Operand& input : call.inputs)
      if (!input.is_scalar() && find(group_.written, input.storage())) return true;
    if (call.in_place)
      for (const Operand& output : call.outputs)
        if (find(group_.written, output.storage()) || find(group_.read, output.storage())) return true;
    return kept_axes(call) > 0 && (reduces(call) || !group_.reduces);  // a new beginning
  }

  static const Operand* find(const std::vector<const Operand*>& operands, const Storage* storage) {
    auto at = std::find_if(operands.begin(), operands.end(), [&](const Operand* o) { return o->storage() == storage; });
    return at == operands.end() ? nullptr : *at;
  }

  // Reads something of the group, and only row by row. May keep fewer axes apart than the group so far: then so do all.
  bool joins(const Record& call) {
    if (group_.calls.empty()) return false;
    int axes = std::min(group_.axes, kept_axes(call));
    const Shape& space = space_of(call);
    while (axes > 0 && !same_rows(space, group_.space, axes)) axes--;
    if (axes == 0 || group_.calls.size() >= kMaxCalls || call.recorded_in != calls_[group_.calls[0]].recorded_in)
      return false;
    if (axes < group_.axes && !fit_with(axes)) return false;
    bool connected = false;
    for (const Operand& input : call.inputs) {
      const Operand* written = input.is_scalar() ? nullptr : find(group_.written, input.storage());
      if (!written) continue;
      if (!keeps_to_rows(input, *written, *input.storage(), axes)) return false;
      connected = true;
    }
    if (!connected || !worthwhile(space, axes)) return false;
    group_.axes = axes;
    return true;
  }

  // Do the group's calls read each other row by row with so few axes? With larger rows they do if they did with
  // smaller.
  bool fit_with(int axes) const {
    return std::all_of(group_.calls.begin(), group_.calls.end(),
                       [&](size_t i) { return same_rows(space_of(calls_[i]), group_.space, axes); });
  }

  static bool worthwhile(const Shape& space, int axes) {
    int64_t rows = rows_in(space, axes), size = count(space);
    return rows > 1 && size > 0 && size / rows * 4 <= kLongestRow;
  }

  void open(size_t i) {
    const Record& call = calls_[i];
    if (kept_axes(call) == 0 || count(space_of(call)) < kWorthwhile || !worthwhile(space_of(call), kept_axes(call)))
      return;
    group_.number = ++last_number_;
    group_.axes = kept_axes(call);
    group_.space = space_of(call);
    add(i);
  }

  void add(size_t i) {
    group_.calls.push_back(i);
    group_.reduces |= reduces(calls_[i]);
    for (const Operand& input : calls_[i].inputs)
      if (!input.is_scalar()) group_.read.push_back(&input);
    for (const Operand& output : calls_[i].outputs) group_.written.push_back(&output);
  }

  void close() {
    if (group_.calls.size() > 1 && group_.reduces)
      for (size_t i : group_.calls) groups_[i] = group_.number;
    group_ = Group();
  }

  static constexpr size_t kMaxCalls = 32;
  std::span<const Record> calls_;
  std::vector<uint32_t> groups_;
  Group group_;
  uint32_t last_number_ = 0;
};

class RowsKernel final : public Kernel {
 public:
  explicit RowsKernel(std::span<Record> calls) : calls_(calls), backend_(backend(device_of(calls[0]))) {
    const Shape* space = &space_of(calls[0]);
    axes_ = kept_axes(calls[0]);
    for (const Record& call : calls) {
      axes_ = std::min(axes_, kept_axes(call));
      if (count(space_of(call)) > count(*space)) space = &space_of(call);
    }
    for (const Record& call : calls)
      while (!same_rows(space_of(call), *space, axes_)) axes_--;
    outer_ = Shape(std::span(space->data(), static_cast<size_t>(axes_ - 1)));
    rows_ = (*space)[axes_ - 1];
    find_storages();
    int64_t row_elements = count(*space) / (count(outer_) * rows_);
    block_ = std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(1, row_bytes_), 1, rows_);
    blocks_ = (rows_ + block_ - 1) / block_;
    units_ = count(outer_) * blocks_;
    per_chunk_ = std::max<int64_t>(1, kChunkElements / std::max<int64_t>(1, block_ * row_elements));
  }

  // False if some result has no memory.
  bool allocate() {
    for (Record& call : calls_)
      for (Operand& output : call.outputs) {
        if (is_internal(output.storage())) continue;
        try {
          output.storage()->allocate();
        } catch (...) {
          return false;
        }
      }
    return true;
  }

  int64_t chunks(int) const override { return (units_ + per_chunk_ - 1) / per_chunk_; }

  void run(int, int64_t chunk) override {
    std::vector<Array> scratch;
    std::vector<std::unique_ptr<char[]>> memory;
    for (const Internal& internal : internal_) {
      auto bytes = static_cast<size_t>(block_ * internal.row_bytes);
      memory.push_back(std::make_unique_for_overwrite<char[]>(bytes + kAlign));
      char* at = memory.back().get();
      at += kAlign - reinterpret_cast<uintptr_t>(at) % kAlign;
      scratch.emplace_back(new Storage(internal.storage->device, bytes, at, nullptr), View{});
    }
    std::vector<Part> parts(calls_.size());
    int64_t end = std::min(units_, (chunk + 1) * per_chunk_);
    for (int64_t unit = chunk * per_chunk_; unit < end; unit++)
      for (size_t i = 0; i < calls_.size(); i++) run_block(calls_[i], parts[i], unit, scratch);
  }

 private:
  // A call on one block. The next block of as many rows is done by the same kernel.
  struct Part {
    Record call;
    std::unique_ptr<Kernel> kernel;
    MovingKernel* moving = nullptr;  // the kernel, if it can move
    int64_t unit = 0;
  };
  struct Internal {
    const Storage* storage;
    int64_t row_bytes;
  };

  // Which results nobody but these calls can read; and the bytes that a row takes of all arrays together.
  void find_storages() {
    std::vector<std::pair<const Storage*, uint32_t>> uses;
    auto add = [&](const Operand& operand) {
      auto known = std::find_if(uses.begin(), uses.end(), [&](auto& u) { return u.first == operand.storage(); });
      if (known != uses.end()) return void(known->second++);
      uses.emplace_back(operand.storage(), 1);
      row_bytes_ += operand.size() / rows_in(operand.shape, axes_) * static_cast<int64_t>(itemsize(operand.dtype));
    };
    for (const Record& call : calls_) {
      for (const Operand& input : call.inputs)
        if (!input.is_scalar()) add(input);
      for (const Operand& output : call.outputs) add(output);
    }
    for (const Record& call : calls_)
      for (const Operand& output : call.outputs) {
        const Storage* storage = output.storage();
        auto own = std::find_if(uses.begin(), uses.end(), [&](auto& u) { return u.first == storage; });
        if (!storage->has_handles() && !storage->data() && storage->uses() == own->second)
          internal_.push_back({storage, row_bytes(*storage, rows_in(output.shape, axes_))});
      }
  }

  bool is_internal(const Storage* storage) const { return number_of(storage) < internal_.size(); }
  static constexpr size_t kNone = SIZE_MAX;
  size_t number_of(const Storage* storage) const {
    for (size_t i = 0; i < internal_.size(); i++)
      if (internal_[i].storage == storage) return i;
    return kNone;
  }

  int64_t rows_in_unit(int64_t unit) const { return std::min(block_, rows_ - unit % blocks_ * block_); }

  // Bytes from the operand's first element to its first one in the block.
  int64_t offset(const Operand& operand, int64_t unit) const {
    int64_t outer = unit / blocks_, at = unit % blocks_ * block_ * operand.strides[axes_ - 1];
    for (int i = axes_ - 2; i >= 0; i--) {
      at += outer % outer_[i] * operand.strides[i];
      outer /= outer_[i];
    }
    return at;
  }

  Operand slice(const Operand& operand, int64_t unit, const std::vector<Array>& scratch) const {
    if (operand.is_scalar()) return {};
    View view = operand;
    for (int i = 0; i < axes_ - 1; i++) view.shape[i] = 1;
    view.shape[axes_ - 1] = rows_in_unit(unit);
    size_t number = number_of(operand.storage());
    if (number != kNone) return Operand(scratch[number], std::move(view));
    view.offset += offset(operand, unit);
    return Operand(operand, std::move(view));
  }

  void run_block(const Record& call, Part& part, int64_t unit, const std::vector<Array>& scratch) const {
    if (part.moving && rows_in_unit(unit) == rows_in_unit(part.unit))
      move(call, part, unit);
    else
      make(call, part, unit, scratch);
    part.unit = unit;
    for (int phase = 0, phases = part.kernel->phases(); phase < phases; phase++)
      for (int64_t chunk = 0, n = part.kernel->chunks(phase); chunk < n; chunk++) part.kernel->run(phase, chunk);
  }

  void move(const Record& call, Part& part, int64_t unit) const {
    SmallVec<int64_t, 8> bytes;
    auto add = [&](const Operand& operand) {
      bool stays = operand.is_scalar() || is_internal(operand.storage());
      bytes.push_back(stays ? 0 : offset(operand, unit) - offset(operand, part.unit));
    };
    std::for_each(call.inputs.begin(), call.inputs.end(), add);
    std::for_each(call.outputs.begin(), call.outputs.end(), add);
    part.moving->shift(std::span(bytes.begin(), static_cast<size_t>(bytes.size())));
  }

  void make(const Record& call, Part& part, int64_t unit, const std::vector<Array>& scratch) const {
    part.kernel.reset();
    part.call = Record();
    part.call.op = call.op;
    part.call.compute = call.compute;
    part.call.scalars = call.scalars;
    part.call.params = call.params;
    for (const Operand& input : call.inputs) part.call.inputs.push_back(slice(input, unit, scratch));
    for (const Operand& output : call.outputs) part.call.outputs.push_back(slice(output, unit, scratch));
    part.kernel = backend_.find(*call.op)(part.call);
    part.moving = dynamic_cast<MovingKernel*>(part.kernel.get());
  }

  std::span<Record> calls_;
  const Backend& backend_;
  int axes_;                        // outer axes, of which the last is cut into blocks
  Shape outer_;                     // the others
  int64_t rows_, block_, blocks_;   // along the last
  int64_t units_, per_chunk_;       // blocks in all, and in a chunk
  int64_t row_bytes_ = 0;
  std::vector<Internal> internal_;
};

bool failed(const Record& call) {
  auto has_failed = [](const Operand& operand) { return !operand.is_scalar() && operand.storage()->failed(); };
  return std::any_of(call.inputs.begin(), call.inputs.end(), has_failed) ||
         std::any_of(call.outputs.begin(), call.outputs.end(), has_failed);
}

}  // namespace

std::vector<uint32_t> group_by_rows(std::span<const Record> calls) { return Grouping(calls).run(); }

std::unique_ptr<Kernel> make_rows_kernel(std::span<Record> calls) {
  if (std::any_of(calls.begin(), calls.end(), failed)) return nullptr;
  auto kernel = std::make_unique<RowsKernel>(calls);
  return kernel->allocate() ? std::move(kernel) : nullptr;
}

}  // namespace slipstream::engine
