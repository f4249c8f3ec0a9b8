// Calls of one batch that compute the same from the same values.
#include "share.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "../program.h"
#include "runtime.h"

namespace slipstream::engine {

namespace {

bool same_view(const View& a, const View& b) {
  return a.dtype == b.dtype && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

bool same_bits(const Scalar& a, const Scalar& b) {  // 0.0 is not -0.0 here, and a NaN is itself
  return a.kind == b.kind && a.is_unsigned == b.is_unsigned && a.u == b.u && !std::memcmp(&a.im, &b.im, sizeof a.im);
}

// Is its one new result a function of its inputs and parameters, and nobody else writing the inputs?
bool is_function(const Record& call) {
  if ((call.op->flags & ~(kTiled | kLong)) || call.in_place || call.outputs.size() != 1) return false;
  bool reads = false;
  for (const Operand& input : call.inputs) {
    if (input.is_scalar()) continue;
    if (input.storage()->lent_writable.load(std::memory_order_relaxed)) return false;
    reads = true;
  }
  return reads;
}

// Elementwise calls mostly fuse with what uses them, and cost no more than a copy; some are dear, and kept as they are.
bool is_shared(const Record& call) {
  constexpr int kDear = 6;  // additions
  if (!is_elementwise(*call.op)) return true;
  return call.outputs[0].storage()->has_handles() && row_cost(call.op->row, call.compute) >= kDear;
}

// Does it cost more than copying its result?
bool is_worth_copying(const Record& call) {
  constexpr int64_t kFewElements = 1024, kTimes = 4;
  int64_t from = call.inputs[0].size(), to = call.outputs[0].size();
  return from > kFewElements && (!is_reduction(call.op->row) || from >= kTimes * to);
}

class Sharing {
 public:
  Sharing(Runtime& runtime, std::span<Record> calls) : runtime_(runtime), calls_(calls) {}

  Shared run() {
    if (!may_find_any()) return {};
    for (const Record& call : calls_)
      if (call.op && call.in_place)
        for (const Operand& output : call.outputs) written_.insert(output.storage());
    for (size_t i = 0; i < calls_.size(); i++)
      if (calls_[i].op) take(i);
    return std::move(shared_);
  }

 private:
  using Value = uint32_t;  // a number for what a storage holds: the same number, the same bytes
  struct Known {
    size_t call;
    SmallVec<Value, 3> inputs;
    Value result;
  };

  // Most batches hold no two such calls of one kind and size: a look at all of them is enough.
  bool may_find_any() const {
    std::vector<std::pair<const Op*, int64_t>> kinds;
    for (const Record& call : calls_)
      if (call.op && is_shared(call) && is_function(call)) kinds.emplace_back(call.op, call.outputs[0].size());
    std::sort(kinds.begin(), kinds.end());
    return std::adjacent_find(kinds.begin(), kinds.end()) != kinds.end();
  }

  Value value_of(const Storage* storage) {
    auto [at, is_new] = values_.try_emplace(storage, next_);
    next_ += is_new;
    return at->second;
  }

  void take(size_t i) {
    Record& call = calls_[i];
    if (!is_function(call)) {
      for (const Operand& output : call.outputs) values_[output.storage()] = next_++;
      return;
    }
    Known known{i, {}, 0};
    size_t hash = std::hash<const Op*>()(call.op);
    for (const Operand& input : call.inputs) {
      Value value = input.is_scalar() ? 0 : value_of(input.storage());
      known.inputs.push_back(value);
      hash = hash * 31 + value;
    }
    auto [first, last] = known_.equal_range(hash);
    auto equal = std::find_if(first, last, [&](const auto& entry) { return is_same(entry.second, known); });
    bool spared = equal != last && (!may_share(equal->second, call) || take_from(equal->second, i));
    known.result = equal != last ? equal->second.result : next_++;
    values_[call.outputs[0].storage()] = known.result;
    if (spared) return;
    if (equal != last)
      equal->second = std::move(known);  // the newer one is more likely to be whole still
    else
      known_.emplace(hash, std::move(known));
  }

  bool may_share(const Known& known, const Record& call) const {
    return is_shared(call) && is_shared(calls_[known.call]);
  }

  bool is_same(const Known& one, const Known& other) const {
    const Record &a = calls_[one.call], &b = calls_[other.call];
    if (a.op != b.op || a.compute != b.compute || a.recorded_in != b.recorded_in ||
        !std::equal(one.inputs.begin(), one.inputs.end(), other.inputs.begin(), other.inputs.end()) ||
        !std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), same_view) ||
        !same_view(a.outputs[0], b.outputs[0]) || !(device_of(a) == device_of(b)) ||
        !std::equal(a.scalars.begin(), a.scalars.end(), b.scalars.begin(), same_bits))
      return false;
    return a.params == b.params || (a.params && b.params && a.params->same(*b.params));
  }

  // Nobody but this batch can name it.
  static bool is_private(const Storage& storage) {
    return !storage.has_handles() && storage.uses() == storage.use.operands;
  }

  bool take_from(const Known& known, size_t i) {
    Record &first = calls_[known.call], &call = calls_[i];
    Storage &a = *first.outputs[0].storage(), &b = *call.outputs[0].storage();
    if (value_of(&a) != known.result) return false;  // written to since
    if (!written_.contains(&a) && !written_.contains(&b)) {
      if (is_private(b)) {
        read_instead(b, first.outputs[0]);
        spare(call, b);
        return true;
      }
      if (is_private(a)) {  // the earlier call computes what the program holds
        std::swap(first.outputs[0], call.outputs[0]);
        std::swap(first.source, call.source);
        read_instead(a, first.outputs[0]);
        spare(call, a);
        return true;
      }
    }
    if (!is_worth_copying(call)) return false;
    shared_.copied.push_back(call.op);
    SmallVec<Operand, 3> inputs;
    inputs.push_back(first.outputs[0]);
    a.use.operands++;
    for (const Operand& input : call.inputs)  // kept: where one of them failed, the copy fails with that
      if (!input.is_scalar()) inputs.push_back(input);
    call.inputs = std::move(inputs);
    call.params = std::make_shared<EqualCall>(call.op);
    call.op = &kEqual;
    return true;
  }

  // All calls that read one storage read the same view of another.
  void read_instead(Storage& from, const Operand& to) {
    for (Record& call : calls_) {
      if (!call.op) continue;
      for (Operand& input : call.inputs) {
        if (input.storage() != &from) continue;
        input = Operand(to, static_cast<View&&>(input));
        from.use.operands--;
        to.storage()->use.operands++;
      }
    }
  }

  void spare(Record& call, Storage& unwritten) {
    shared_.spared.push_back(call.op);
    unwritten.pending_writes.fetch_sub(1, std::memory_order_acq_rel);
    runtime_.counters.skipped.fetch_add(1, std::memory_order_relaxed);
    runtime_.retire(call);
    clear_inputs(call);
    call.op = nullptr;
  }

  // Never the last use of a storage (whose end may need the front end's locks): the equal call reads it too, or the
  // call that made it is still here.
  static void clear_inputs(Record& call) {
    for (const Operand& input : call.inputs)
      if (!input.is_scalar()) input.storage()->use.operands--;
    call.inputs.clear();
  }

  Runtime& runtime_;
  std::span<Record> calls_;
  std::unordered_set<const Storage*> written_;  // in place, by some call of the batch
  std::unordered_map<const Storage*, Value> values_;
  std::unordered_multimap<size_t, Known> known_;
  Value next_ = 1;
  Shared shared_;
};

}  // namespace

Shared share(Runtime& runtime, std::span<Record> calls) {
  return calls.size() > 1 ? Sharing(runtime, calls).run() : Shared();
}

}  // namespace slipstream::engine
