// Fusing the calls of one batch.
#include "fuse.h"

#include <algorithm>

#include "../program.h"
#include "runtime.h"

namespace slipstream::engine {

namespace {

constexpr size_t kMaxMembers = 40;   // of a group: bounds its registers
constexpr size_t kMaxOperands = 64;
constexpr size_t kFewMembers = 3;    // on so few elements that running them one by one costs less than merging
constexpr int64_t kFewElements = 1024;
constexpr int kCheap = 4;            // additions of float32 for an element: less than storing and loading it
constexpr int64_t kLongRow = 256;    // elements that a broadcast input is read in one go
constexpr size_t kMaxOpen = 6;       // groups that still take members: every call looks at all of them

bool same_view(const View& a, const View& b) {
  return a.dtype == b.dtype && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

// Calls that will run as one, at the place of the last of them. What a group writes and reads tells which later calls
// may join it and which must see it finished.
struct Group {
  std::vector<size_t> members;  // numbers of calls, rising
  std::vector<const Operand*> reads, writes;

  bool reads_from(const Storage* storage) const { return touches(reads, storage); }
  bool writes_to(const Storage* storage) const { return touches(writes, storage); }
  // Every read and write the group does of the storage goes through exactly this view.
  bool only_through(const Storage* storage, const View& view) const {
    auto fits = [&](const Operand* o) { return o->storage() != storage || same_view(*o, view); };
    return std::all_of(reads.begin(), reads.end(), fits) && std::all_of(writes.begin(), writes.end(), fits);
  }

 private:
  static bool touches(const std::vector<const Operand*>& operands, const Storage* storage) {
    return std::any_of(operands.begin(), operands.end(), [&](const Operand* o) { return o->storage() == storage; });
  }
};

// The program that computes only the results for which `keep` is true, and which of the old inputs it reads.
std::shared_ptr<const Program> with_results(const Program& program, const std::vector<bool>& keep,
                                            std::vector<bool>& reads) {
  std::vector<bool> live(program.registers());
  for (size_t i = 0; i < keep.size(); i++)
    if (keep[i]) live[program.results[i]] = true;
  for (size_t i = program.code.size(); i-- > 0;)
    if (live[program.first_value() + i])
      for (int a = 0; a < program.code[i].arity; a++) live[program.code[i].args[a]] = true;
  auto kept = std::make_shared<Program>(program);
  kept->inputs.clear();
  kept->code.clear();
  kept->results.clear();
  kept->origins.clear();
  kept->members.clear();
  std::vector<uint16_t> number(program.registers());
  uint16_t next = 0;
  for (size_t reg = 0; reg < program.registers(); reg++) {
    bool constant = reg >= program.inputs.size() && reg < program.first_value();
    if (!live[reg] && !constant) continue;
    number[reg] = next++;
    if (reg < program.inputs.size()) kept->inputs.push_back(program.inputs[reg]);
    if (reg < program.first_value()) continue;
    Instr instr = program.code[reg - program.first_value()];
    for (int a = 0; a < instr.arity; a++) instr.args[a] = number[instr.args[a]];
    kept->code.push_back(instr);
  }
  for (size_t i = 0; i < keep.size(); i++) {
    if (!keep[i]) continue;
    kept->results.push_back(number[program.results[i]]);
    kept->origins.push_back(program.origins[i]);
  }
  reads.assign(live.begin(), live.begin() + static_cast<std::ptrdiff_t>(program.inputs.size()));
  return kept;
}

class Fuser {
 public:
  Fuser(Runtime& runtime, std::span<Record> calls, std::span<const size_t> tiled, std::span<const char*> why,
        std::vector<Record>& replaced)
      : runtime_(runtime), calls_(calls), tiled_(tiled), why_(why), replaced_(replaced) {}

  void run() {
    for (size_t i = 0; i < calls_.size(); i++)
      if (calls_[i].op) take(i);
    while (!groups_.empty()) close(groups_.size() - 1);
  }

 private:
  // Why a call cannot be a member of a group; null if it can.
  static const char* obstacle(const Record& call) {
    if (call.op->row == Row::none) return "not elementwise";
    if (call.op->flags != kPure) return "may fail on the values it meets";
    return call.outputs[0].size() > 0 ? nullptr : "has no elements";
  }

  void take(size_t i) {
    Record& call = calls_[i];
    bool reduces = is_reduction(call.op->row);
    if (reduces && end_in_reduction(i)) return;
    if (!reduces) why_[i] = obstacle(call);
    if (!reduces && !why_[i])
      join(i);
    else
      close_touching(call, nullptr);
  }

  // Groups whose results the call reads, or whose operands it writes, must end before it; `own` is the one it joins.
  void close_touching(const Record& call, const Group* own) {
    for (size_t g = groups_.size(); g-- > 0;) {
      Group& group = groups_[g];
      if (&group == own) continue;
      bool conflict = false;
      for (const Operand& input : call.inputs) conflict |= !input.is_scalar() && group.writes_to(input.storage());
      for (const Operand& output : call.outputs)
        conflict |= group.writes_to(output.storage()) || group.reads_from(output.storage());
      if (!conflict) continue;
      if (own && own > &group) own--;  // closing moves the groups behind it
      close(g);
    }
  }

  // May the call become the next member? It reads the group's results element by element, or not at all.
  bool fits(const Group& group, const Record& call) const {
    const Record& last = calls_[group.members.back()];
    const Operand& output = call.outputs[0];
    if (last.outputs[0].shape != output.shape || !(last.outputs[0].storage()->device == output.storage()->device) ||
        last.recorded_in != call.recorded_in)
      return false;
    for (const Operand& input : call.inputs)
      if (!input.is_scalar() && group.writes_to(input.storage()) && !group.only_through(input.storage(), input))
        return false;
    return group.only_through(output.storage(), output);
  }

  void join(size_t i) {
    Record& call = calls_[i];
    Group* own = nullptr;
    for (size_t g = groups_.size(); g-- > 0;) {
      Group& group = groups_[g];
      bool feeds = false;
      for (const Operand& input : call.inputs) feeds |= !input.is_scalar() && group.writes_to(input.storage());
      if (!feeds || !fits(group, call)) continue;
      if (!own) {
        if (has_room(group, nullptr)) own = &group;
      } else if (has_room(*own, &group)) {
        own = merge(own, g);
      }
    }
    close_touching_keeping(call, own);
    // A plain copy of something outside would be a result without an instruction, read when the pass ends instead of
    // where the program says: it does not begin a group.
    if (!own && call.op->row == Row::cast && call.inputs[0].dtype == call.outputs[0].dtype) {
      why_[i] = "copies something that no pass computes";
      return;
    }
    if (!own) {
      if (groups_.size() == kMaxOpen) close(0);
      groups_.emplace_back();
      own = &groups_.back();
    }
    own->members.push_back(i);
    for (const Operand& input : call.inputs)
      if (!input.is_scalar()) own->reads.push_back(&input);
    own->writes.push_back(&call.outputs[0]);
  }

  // close_touching moves groups; find ours again by its first member.
  void close_touching_keeping(const Record& call, Group*& own) {
    if (!own) return close_touching(call, nullptr);
    size_t first = own->members.front();
    close_touching(call, own);
    own = nullptr;
    for (Group& group : groups_)
      if (group.members.front() == first) own = &group;
  }

  bool has_room(const Group& group, const Group* other) const {
    size_t members = group.members.size() + (other ? other->members.size() : 0);
    size_t operands = group.reads.size() + (other ? other->reads.size() : 0);
    return members < kMaxMembers && operands < kMaxOperands;
  }

  // Two groups that feed one call become one. Neither reads what the other writes: it would have been closed or joined.
  Group* merge(Group* own, size_t other) {
    Group& from = groups_[other];
    std::vector<size_t> members;
    std::merge(own->members.begin(), own->members.end(), from.members.begin(), from.members.end(),
               std::back_inserter(members));
    own->members = std::move(members);
    own->reads.insert(own->reads.end(), from.reads.begin(), from.reads.end());
    own->writes.insert(own->writes.end(), from.writes.begin(), from.writes.end());
    size_t first = own->members.front();
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(other));
    for (Group& group : groups_)
      if (group.members.front() == first) return &group;
    return nullptr;
  }

  // ---- building the merged call

  struct Input {
    const Operand* operand;
    ProgramBuilder::Reg reg;
  };
  struct Result {  // the newest value of a storage that the group writes
    const Operand* operand;
    ProgramBuilder::Reg reg;
    uint32_t operands;  // of the group on this storage
    uint32_t writes;
    size_t member;      // that computes it
  };

  // The register with the operand's value. Notes in `member` where it comes from.
  ProgramBuilder::Reg load(const Operand& operand, Program::Member& member) {
    auto read = [&](size_t number) { member.reads[member.count++] = static_cast<uint16_t>(number); };
    for (size_t i = 0; i < results_.size(); i++) {
      if (results_[i].operand->storage() != operand.storage()) continue;
      read(Program::kWritten + i);
      results_[i].operands++;
      return results_[i].reg;
    }
    size_t known = 0;
    while (known < inputs_.size() &&
           !(inputs_[known].operand->storage() == operand.storage() && same_view(*inputs_[known].operand, operand)))
      known++;
    if (known == inputs_.size()) inputs_.push_back({&operand, builder_.input(operand.dtype)});
    read(known);
    return inputs_[known].reg;
  }

  void build(const Group& group) {
    builder_ = ProgramBuilder();
    inputs_.clear();
    results_.clear();
    members_.clear();
    for (size_t i : group.members) {
      const Record& call = calls_[i];
      Program::Member member{};
      args_.clear();
      for (const Operand& input : call.inputs)
        args_.push_back(input.is_scalar() ? ProgramBuilder::Reg{} : load(input, member));
      ProgramBuilder::Reg value = builder_.append(call, args_);
      const Operand& output = call.outputs[0];
      auto known = std::find_if(results_.begin(), results_.end(),
                                [&](const Result& r) { return r.operand->storage() == output.storage(); });
      member.writes = static_cast<uint16_t>(known - results_.begin());
      members_.push_back(member);
      if (known == results_.end()) {
        results_.push_back({&output, value, 1, 1, i});
      } else {
        known->reg = value;
        known->operands++;
        known->writes++;
        known->member = i;
      }
    }
  }

  // Nobody outside the group, with `more` operands of the call that follows it, can read the result.
  bool is_internal(const Result& result, bool in_place, uint32_t more = 0) const {
    const Storage& storage = *result.operand->storage();
    return !in_place && !storage.has_handles() && storage.uses() == storage.use.operands &&
           result.operands + more == storage.use.operands;
  }

  bool wrote_in_place(const Group& group, const Storage* storage) const {
    for (size_t i : group.members)
      if (calls_[i].outputs[0].storage() == storage) return calls_[i].in_place;  // its first write there
    return false;
  }

  // The merged call, but for its outputs and parameters.
  Record merged(const Group& group, size_t also) {
    const Record& first = calls_[group.members.front()];
    const Record& last = calls_[also];
    Record call;
    call.compute = last.compute;
    call.source = last.source;
    call.sequence = first.sequence;
    call.recorded_in = last.recorded_in;
    call.recorded_ns = first.recorded_ns;
    call.calls = 0;
    for (size_t i : group.members) call.calls += calls_[i].calls;
    if (also != group.members.back()) call.calls += last.calls;
    for (const Input& input : inputs_) call.inputs.push_back(*input.operand);
    return call;
  }

  void put(const Group& group, size_t at, Record&& call) {
    runtime_.counters.fused.fetch_add(call.calls, std::memory_order_relaxed);
    if (runtime_.tracer.on()) {
      for (size_t i : group.members) runtime_.tracer.merge(calls_[i].sequence, call.sequence);
      if (at != group.members.back()) runtime_.tracer.merge(calls_[at].sequence, call.sequence);
    }
    for (size_t i : group.members) calls_[i].op = nullptr;
    replaced_.push_back(std::exchange(calls_[at], std::move(call)));
  }

  void close(size_t g) {
    Group group = std::move(groups_[g]);
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(g));
    bool small = calls_[group.members.front()].outputs[0].size() <= kFewElements;
    if (group.members.size() <= (small ? kFewMembers : 1)) {
      bool alone = group.members.size() == 1;
      for (size_t i : group.members)
        why_[i] =
            alone ? "no neighbour works on its result element by element" : "so few elements cost less one by one";
      return;
    }
    build(group);
    Record call = merged(group, group.members.back());
    call.op = &kMap;
    const Storage* last = calls_[group.members.back()].outputs[0].storage();
    std::vector<uint16_t> numbers(results_.size());  // of the results in Program::members
    uint16_t outputs = 0, others = static_cast<uint16_t>(results_.size());
    for (size_t i = 0; i < results_.size(); i++) {
      const Result& result = results_[i];
      bool in_place = wrote_in_place(group, result.operand->storage());
      bool internal = is_internal(result, in_place) && result.operand->storage() != last;
      result.operand->storage()->pending_writes.fetch_sub(result.writes - (internal ? 0 : 1),
                                                          std::memory_order_acq_rel);
      numbers[i] = internal ? --others : outputs++;
      if (internal) continue;
      call.in_place |= in_place;
      call.outputs.push_back(*result.operand);
      builder_.result(result.reg);
      builder_.origin(calls_[result.member]);
    }
    if (outputs > 1) {  // one result fails or does not
      for (Program::Member& member : members_) {
        for (uint16_t& read : member.reads)
          if (read >= Program::kWritten) read = Program::kWritten + numbers[read - Program::kWritten];
        member.writes = numbers[member.writes];
      }
      builder_.members(members_);
    }
    call.params = builder_.finish();
    put(group, group.members.back(), std::move(call));
  }

  // A reduction of what a group computes ends the group, if nothing else of it must be stored. If something must, the
  // reduction computes its input once more for itself where that is cheaper than reading it back.
  bool end_in_reduction(size_t i) {
    Record& call = calls_[i];
    why_[i] = "reduces something that no pass computes";
    if (call.inputs.size() != 1 || call.inputs[0].is_scalar() || call.inputs[0].size() == 0 || call.in_place)
      return false;
    const Operand& input = call.inputs[0];
    auto feeds = [&](const Group& group) { return group.writes_to(input.storage()); };
    auto group = std::find_if(groups_.begin(), groups_.end(), feeds);
    if (group == groups_.end() || !group->only_through(input.storage(), input) ||
        calls_[group->members.front()].recorded_in != call.recorded_in)
      return false;
    build(*group);
    bool ends = true;
    for (const Result& result : results_) {
      bool is_input = result.operand->storage() == input.storage();
      ends &= is_internal(result, wrote_in_place(*group, result.operand->storage()), is_input);
      if (is_input) builder_.result(result.reg);
    }
    builder_.origin(call);
    builder_.reduce(call.op->row, is_half(call.compute) ? DType::f32 : call.compute);
    auto params = std::make_shared<ReducedProgram>();
    params->axes = call.as<ReduceParams>().axes;
    params->program = builder_.finish();
    return ends ? reduce_group(i, static_cast<size_t>(group - groups_.begin()), std::move(params))
                : reduce_again(i, *group, std::move(params));
  }

  bool reduce_group(size_t i, size_t g, std::shared_ptr<ReducedProgram> params) {
    Group group = std::move(groups_[g]);
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(g));
    Record fused = merged(group, i);
    fused.op = &kReduce;
    fused.params = std::move(params);
    fused.outputs.push_back(calls_[i].outputs[0]);
    for (const Result& result : results_)
      result.operand->storage()->pending_writes.fetch_sub(result.writes, std::memory_order_acq_rel);
    group.members.push_back(i);
    put(group, i, std::move(fused));
    return true;
  }

  // Is computing an element of the program once more cheaper than reading it back?
  bool is_cheap(const Program& program, const std::vector<bool>& reads) const {
    size_t cost = 0;
    for (const Instr& instr : program.code)
      cost += static_cast<size_t>(row_cost(instr.row, instr.type)) *
              std::max<size_t>(1, itemsize(instr.type) / itemsize(DType::f32));
    for (size_t i = 0; i < inputs_.size(); i++)
      if (reads[i] && !inputs_[i].operand->contiguous() && inputs_[i].operand->shape.back() < kLongRow) return false;
    return cost <= kCheap;
  }

  // Does the group work on a product that nobody else reads? Then the product is never stored (tiles.h).
  bool is_epilogue(const std::vector<bool>& reads) const {
    for (size_t i : tiled_)
      for (size_t k = 0; k < inputs_.size(); k++)
        if (reads[k] && inputs_[k].operand->storage() == calls_[i].outputs[0].storage()) return true;
    return false;
  }

  // The group stays as it is. It writes nothing that existed before, so its inputs are the same before and after it.
  bool reduce_again(size_t i, const Group& group, std::shared_ptr<ReducedProgram> params) {
    why_[i] = "what it reduces is needed elsewhere too";
    Record& call = calls_[i];
    if (call.inputs[0].size() <= kFewElements) return false;
    for (size_t member : group.members)
      if (calls_[member].in_place) return false;
    std::vector<bool> reads;
    params->program = with_results(*params->program, {true}, reads);
    if (!is_cheap(*params->program, reads) || is_epilogue(reads)) return false;
    Record again;
    again.op = &kReduce;
    again.compute = call.compute;
    again.source = call.source;
    again.sequence = call.sequence;
    again.recorded_in = call.recorded_in;
    again.recorded_ns = call.recorded_ns;
    again.outputs.push_back(call.outputs[0]);
    again.params = std::move(params);
    for (size_t k = 0; k < inputs_.size(); k++)
      if (reads[k]) again.inputs.push_back(*inputs_[k].operand);
    call.inputs[0].storage()->use.operands--;
    call.inputs.clear();
    runtime_.counters.fused.fetch_add(1, std::memory_order_relaxed);
    replaced_.push_back(std::exchange(call, std::move(again)));
    return true;
  }

  Runtime& runtime_;
  std::span<Record> calls_;
  std::span<const size_t> tiled_;
  std::span<const char*> why_;
  std::vector<Record>& replaced_;
  std::vector<Group> groups_;
  ProgramBuilder builder_;
  std::vector<Input> inputs_;
  std::vector<Result> results_;
  std::vector<Program::Member> members_;
  std::vector<ProgramBuilder::Reg> args_;
};

}  // namespace

void fuse(Runtime& runtime, std::span<Record> calls, std::span<const size_t> tiled, std::span<const char*> why,
          std::vector<Record>& replaced) {
  if (calls.size() > 1) Fuser(runtime, calls, tiled, why, replaced).run();
}

// As if the members had run one by one: each of them fails with the first of its inputs that failed, or because what it
// writes into failed before.
std::vector<FailurePtr> spread_failures(const Record& call, std::vector<FailurePtr> written) {
  const auto& program = call.as<Program>();
  written.resize(program.members.size());  // those that are not outputs come behind them
  for (int i = 0; i < call.outputs.size(); i++)
    if (!written[static_cast<size_t>(i)]) written[static_cast<size_t>(i)] = call.outputs[i].storage()->failure();
  for (const Program::Member& member : program.members) {
    FailurePtr& failure = written[member.writes];
    for (int i = 0; i < member.count && !failure; i++) {
      uint16_t read = member.reads[static_cast<size_t>(i)];
      failure = read >= Program::kWritten ? written[read - Program::kWritten] : call.inputs[read].storage()->failure();
    }
  }
  written.resize(static_cast<size_t>(call.outputs.size()));
  return written;
}

bool drop_failed_results(Record& call, const std::vector<FailurePtr>& failures) {
  const auto& program = call.as<Program>();
  std::vector<bool> keep, reads;
  for (const FailurePtr& failure : failures) keep.push_back(!failure);
  auto rest = with_results(program, keep, reads);
  SmallVec<Operand, 3> inputs;
  SmallVec<Operand, 1> outputs;
  for (int i = 0; i < call.inputs.size(); i++)
    if (reads[static_cast<size_t>(i)]) inputs.push_back(call.inputs[i]);
  for (int i = 0; i < call.outputs.size(); i++) {
    Storage& storage = *call.outputs[i].storage();
    if (const FailurePtr& failure = failures[static_cast<size_t>(i)]) {
      storage.set_failure(failure);
      storage.pending_writes.fetch_sub(1, std::memory_order_acq_rel);
    } else {
      outputs.push_back(call.outputs[i]);
    }
  }
  call.params = std::move(rest);
  call.inputs = std::move(inputs);
  call.outputs = std::move(outputs);
  return !call.outputs.empty();
}

}  // namespace slipstream::engine
