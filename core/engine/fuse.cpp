// Fusing the calls of one batch.
#include "fuse.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "../program.h"
#include "runtime.h"

namespace slipstream::engine {

namespace {

constexpr int kMaxMembers = 96;  // of a group: bounds its registers; a formula of some fifty calls is one pass
constexpr int kMaxOperands = 192;
constexpr int kFewMembers = 3;    // on so few elements that running them one by one costs less than merging
constexpr int64_t kFewElements = 1024;
constexpr int kCheap = 4;            // additions of float32 for an element: less than storing and loading it
constexpr int64_t kLongRow = 256;    // elements that a broadcast input is read in one go
constexpr int kMaxOpen = 6;       // groups that still take members: every call looks at all of them

bool same_view(const View& a, const View& b) {
  return a.dtype == b.dtype && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

using GroupSet = uint8_t;  // one bit for each group
static_assert(kMaxOpen <= 8);

// Calls that will run as one, at the place of the last of them. What a group writes and reads tells which later calls
// may join it and which must see it finished: every storage knows the groups that do (StorageUse).
class Group {
 public:
  SmallVec<size_t, kMaxMembers> members;  // numbers of calls, rising
  SmallVec<const Operand*, kMaxOperands> reads, writes;

  void begin(GroupSet bit) {
    bit_ = bit;
    members.clear();
    reads.clear();
    writes.clear();
  }
  // It takes no more members, and its storages forget it.
  void end() {
    for (const Operand* o : reads) o->storage()->use.reading_groups &= static_cast<GroupSet>(~bit_);
    for (const Operand* o : writes) o->storage()->use.writing_groups &= static_cast<GroupSet>(~bit_);
  }
  GroupSet bit() const { return bit_; }
  size_t last() const { return members[members.size() - 1]; }
  void read(const Operand& operand) {
    reads.push_back(&operand);
    operand.storage()->use.reading_groups |= bit_;
  }
  void write(const Operand& operand) {
    writes.push_back(&operand);
    operand.storage()->use.writing_groups |= bit_;
  }
  bool writes_to(const Storage* storage) const { return storage->use.writing_groups & bit_; }
  // Every read and write the group does of the storage goes through exactly this view.
  bool only_through(const Storage* storage, const View& view) const {
    auto fits = [&](const Operand* o) { return o->storage() != storage || same_view(*o, view); };
    return std::all_of(reads.begin(), reads.end(), fits) && std::all_of(writes.begin(), writes.end(), fits);
  }

 private:
  GroupSet bit_ = 0;
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
        std::vector<Record>& replaced, FusedPrograms& programs)
      : runtime_(runtime), calls_(calls), tiled_(tiled), why_(why), replaced_(replaced), programs_(programs) {}

  // Where memory ran out, open groups end here: no storage is to keep their bits.
  ~Fuser() {
    for (Group* group : open_) group->end();
  }
  Fuser(const Fuser&) = delete;

  void run() {
    for (size_t i = 0; i < calls_.size(); i++)
      if (calls_[i].op) take(i);
    while (!open_.empty()) close(*open_[open_.size() - 1]);
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

  static GroupSet writers_of_inputs(const Record& call) {
    GroupSet groups = 0;
    for (const Operand& input : call.inputs)
      if (!input.is_scalar()) groups |= input.storage()->use.writing_groups;
    return groups;
  }

  // Groups whose results the call reads, or whose operands it writes, must end before it; `own` is the one it joins.
  void close_touching(const Record& call, const Group* own) {
    GroupSet touching = writers_of_inputs(call);
    for (const Operand& output : call.outputs)
      touching |= output.storage()->use.writing_groups | output.storage()->use.reading_groups;
    if (own) touching &= static_cast<GroupSet>(~own->bit());
    for (int g = touching ? open_.size() : 0; g-- > 0;)
      if (open_[g]->bit() & touching) close(*open_[g]);
  }

  // May the call become the next member? It reads the group's results element by element, or not at all.
  bool fits(const Group& group, const Record& call) const {
    const Record& last = calls_[group.last()];
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
    GroupSet feeding = writers_of_inputs(call);
    for (int g = feeding ? open_.size() : 0; g-- > 0;) {
      Group& group = *open_[g];
      if (!(group.bit() & feeding) || !fits(group, call)) continue;
      if (!own) {
        if (has_room(group, nullptr)) own = &group;
      } else if (has_room(*own, &group)) {
        merge(*own, group);
      }
    }
    close_touching(call, own);
    // A plain copy of something outside would be a result without an instruction, read when the pass ends instead of
    // where the program says: it does not begin a group.
    if (!own && call.op->row == Row::cast && call.inputs[0].dtype == call.outputs[0].dtype) {
      why_[i] = "copies something that no pass computes";
      return;
    }
    if (!own) own = &begin();
    own->members.push_back(i);
    for (const Operand& input : call.inputs)
      if (!input.is_scalar()) own->read(input);
    own->write(call.outputs[0]);
  }

  Group& begin() {
    if (open_.size() == kMaxOpen) close(*open_[0]);
    GroupSet taken = 0;
    for (const Group* group : open_) taken |= group->bit();
    int unused = std::countr_one(taken);
    Group& group = groups_[static_cast<size_t>(unused)];
    group.begin(static_cast<GroupSet>(1 << unused));
    open_.push_back(&group);
    return group;
  }

  void end(Group& group) {
    group.end();
    open_.erase(std::find(open_.begin(), open_.end(), &group));
  }

  bool has_room(const Group& group, const Group* other) const {
    int members = group.members.size() + (other ? other->members.size() : 0);
    int operands = group.reads.size() + (other ? other->reads.size() : 0);
    return members < kMaxMembers && operands < kMaxOperands;
  }

  // Two groups that feed one call become one. Neither reads what the other writes: it would have been closed or joined.
  void merge(Group& own, Group& other) {
    end(other);
    SmallVec<size_t, kMaxMembers> members = std::move(own.members);
    std::merge(members.begin(), members.end(), other.members.begin(), other.members.end(),
               std::back_inserter(own.members));
    for (const Operand* operand : other.reads) own.read(*operand);
    for (const Operand* operand : other.writes) own.write(*operand);
  }

  // ---- building the merged call

  struct Result {  // the newest value of a storage that the group writes
    const Operand* operand;
    bool in_place;      // its first write
    uint32_t operands;  // of the group on this storage
    uint32_t writes;
    size_t member;      // that computes it
  };

  // Where the operand's value comes from, as a member notes it.
  uint16_t source_of(const Operand& operand) {
    for (size_t i = 0; i < results_.size(); i++) {
      if (results_[i].operand->storage() != operand.storage()) continue;
      results_[i].operands++;
      return static_cast<uint16_t>(Program::kWritten + i);
    }
    size_t known = 0;
    while (known < inputs_.size() &&
           !(inputs_[known]->storage() == operand.storage() && same_view(*inputs_[known], operand)))
      known++;
    if (known == inputs_.size()) inputs_.push_back(&operand);
    return static_cast<uint16_t>(known);
  }

  // Gives the number of the result that the call writes.
  uint16_t write(size_t i) {
    const Operand& output = calls_[i].outputs[0];
    auto known = std::find_if(results_.begin(), results_.end(),
                              [&](const Result& r) { return r.operand->storage() == output.storage(); });
    auto number = static_cast<uint16_t>(known - results_.begin());
    if (known == results_.end()) {
      results_.push_back({&output, calls_[i].in_place, 1, 1, i});
    } else {
      known->operands++;
      known->writes++;
      known->member = i;
    }
    return number;
  }

  // Finds what the members of the group read and write, and begins the key of its program.
  void wire(const Group& group) {
    inputs_.clear();
    results_.clear();
    members_.clear();
    key_.clear();
    key_.add(static_cast<uint64_t>(group.members.size()));
    for (size_t i : group.members) {
      const Record& call = calls_[i];
      key_.add(static_cast<uint64_t>(call.op->row) << 32 | static_cast<uint64_t>(call.compute) << 16 |
               static_cast<uint64_t>(call.outputs[0].dtype) << 8 | static_cast<uint64_t>(call.inputs.size()));
      Program::Member member{};
      size_t scalar = 0;
      for (const Operand& input : call.inputs) {
        if (input.is_scalar()) {
          key_.add(kScalar);
          key_.add(call.scalars[scalar++]);
          continue;
        }
        uint16_t from = member.reads[member.count++] = source_of(input);
        key_.add(static_cast<uint64_t>(input.dtype) << 16 | from);
      }
      member.writes = write(i);
      key_.add(static_cast<uint64_t>(call.source) << 32 | member.writes);
      members_.push_back(member);
    }
  }
  static constexpr uint64_t kScalar = 1ull << 32;  // in place of what an input is

  using Reg = ProgramBuilder::Reg;

  // Puts the program of the wired group together; gives the registers of its results.
  std::vector<Reg> build(const Group& group, ProgramBuilder& builder) const {
    std::vector<Reg> inputs, results(results_.size());
    for (const Operand* input : inputs_) inputs.push_back(builder.input(input->dtype));
    for (int m = 0; m < group.members.size(); m++) {
      const Record& call = calls_[group.members[m]];
      const Program::Member& member = members_[static_cast<size_t>(m)];
      std::array<Reg, 3> args;
      size_t read = 0;
      for (int i = 0; i < call.inputs.size(); i++) {
        if (call.inputs[i].is_scalar()) continue;
        uint16_t from = member.reads[read++];
        args[static_cast<size_t>(i)] = from >= Program::kWritten ? results[from - Program::kWritten] : inputs[from];
      }
      results[member.writes] = builder.append(call, {args.data(), static_cast<size_t>(call.inputs.size())});
    }
    return results;
  }

  // Nobody outside the group, with `more` operands of the call that follows it, can read the result.
  static bool is_internal(const Result& result, uint32_t more = 0) {
    const Storage& storage = *result.operand->storage();
    return !result.in_place && !storage.has_handles() && storage.uses() == storage.use.operands &&
           result.operands + more == storage.use.operands;
  }

  // The merged call, but for its outputs and parameters.
  Record merged(const Group& group, size_t also) {
    const Record& first = calls_[group.members[0]];
    const Record& last = calls_[also];
    Record call;
    call.compute = last.compute;
    call.source = last.source;
    call.sequence = first.sequence;
    call.recorded_in = last.recorded_in;
    call.recorded_ns = first.recorded_ns;
    call.calls = 0;
    for (size_t i : group.members) call.calls += calls_[i].calls;
    if (also != group.last()) call.calls += last.calls;
    for (const Operand* input : inputs_) call.inputs.push_back(*input);
    return call;
  }

  void put(const Group& group, size_t at, Record&& call) {
    runtime_.counters.fused.fetch_add(call.calls, std::memory_order_relaxed);
    if (runtime_.tracer.on()) {
      for (size_t i : group.members) runtime_.tracer.merge(calls_[i].sequence, call.sequence);
      if (at != group.last()) runtime_.tracer.merge(calls_[at].sequence, call.sequence);
    }
    for (size_t i : group.members) calls_[i].op = nullptr;
    replaced_.push_back(std::exchange(calls_[at], std::move(call)));
  }

  void close(Group& group) {
    end(group);
    bool small = calls_[group.members[0]].outputs[0].size() <= kFewElements;
    if (group.members.size() <= (small ? kFewMembers : 1)) {
      bool alone = group.members.size() == 1;
      for (size_t i : group.members)
        why_[i] =
            alone ? "no neighbour works on its result element by element" : "so few elements cost less one by one";
      return;
    }
    wire(group);
    Record call = merged(group, group.last());
    call.op = &kMap;
    const Storage* last = calls_[group.last()].outputs[0].storage();
    stored_.clear();
    for (const Result& result : results_) {
      bool internal = is_internal(result) && result.operand->storage() != last;
      stored_.push_back(!internal);
      key_.add(internal);
      result.operand->storage()->pending_writes.fetch_sub(result.writes - (internal ? 0 : 1),
                                                          std::memory_order_acq_rel);
      if (internal) continue;
      call.in_place |= result.in_place;
      call.outputs.push_back(*result.operand);
    }
    call.params = programs_.get(key_, [&] { return program(group); });
    put(group, group.last(), std::move(call));
  }

  // The program of a wired group, of which what is `stored_` goes out.
  std::shared_ptr<const Program> program(const Group& group) {
    ProgramBuilder builder;
    std::vector<Reg> values = build(group, builder);
    std::vector<uint16_t> numbers(results_.size());  // of the results in Program::members
    uint16_t outputs = 0, others = static_cast<uint16_t>(results_.size());
    for (size_t i = 0; i < results_.size(); i++) {
      numbers[i] = stored_[i] ? outputs++ : --others;
      if (!stored_[i]) continue;
      builder.result(values[i]);
      builder.origin(calls_[results_[i].member]);
    }
    if (outputs > 1) {  // one result fails or does not
      for (Program::Member& member : members_) {
        for (uint16_t& read : member.reads)
          if (read >= Program::kWritten) read = Program::kWritten + numbers[read - Program::kWritten];
        member.writes = numbers[member.writes];
      }
      builder.members(members_);
    }
    return builder.finish();
  }

  // A reduction of what a group computes ends the group, if nothing else of it must be stored. If something must, the
  // reduction computes its input once more for itself where that is cheaper than reading it back.
  bool end_in_reduction(size_t i) {
    Record& call = calls_[i];
    why_[i] = "reduces something that no pass computes";
    if (call.inputs.size() != 1 || call.inputs[0].is_scalar() || call.inputs[0].size() == 0 || call.in_place)
      return false;
    const Operand& input = call.inputs[0];
    auto feeds = [&](const Group* group) { return group->writes_to(input.storage()); };
    auto feeding = std::find_if(open_.begin(), open_.end(), feeds);
    if (feeding == open_.end()) return false;
    Group& group = **feeding;
    if (!group.only_through(input.storage(), input) || calls_[group.members[0]].recorded_in != call.recorded_in)
      return false;
    wire(group);
    bool ends = true;
    size_t reduced = 0;
    for (size_t k = 0; k < results_.size(); k++) {
      bool is_input = results_[k].operand->storage() == input.storage();
      ends &= is_internal(results_[k], is_input);
      if (is_input) reduced = k;
    }
    key_.add(static_cast<uint64_t>(call.op->row) << 32 | static_cast<uint64_t>(call.compute) << 16 | reduced);
    key_.add(call.source);
    auto params = std::make_shared<ReducedProgram>();
    params->axes = call.as<ReduceParams>().axes;
    params->program = programs_.get(key_, [&] {
      ProgramBuilder builder;
      builder.result(build(group, builder)[reduced]);
      builder.origin(call);
      builder.reduce(call.op->row, is_half(call.compute) ? DType::f32 : call.compute);
      return builder.finish();
    });
    return ends ? reduce_group(i, group, std::move(params)) : reduce_again(i, group, std::move(params));
  }

  bool reduce_group(size_t i, Group& group, std::shared_ptr<ReducedProgram> params) {
    end(group);
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
      if (reads[i] && !inputs_[i]->contiguous() && inputs_[i]->shape.back() < kLongRow) return false;
    return cost <= kCheap;
  }

  // Does the group work on a product that nobody else reads? Then the product is never stored (tiles.h).
  bool is_epilogue(const std::vector<bool>& reads) const {
    for (size_t i : tiled_)
      for (size_t k = 0; k < inputs_.size(); k++)
        if (reads[k] && inputs_[k]->storage() == calls_[i].outputs[0].storage()) return true;
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
      if (reads[k]) again.inputs.push_back(*inputs_[k]);
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
  std::array<Group, kMaxOpen> groups_;
  SmallVec<Group*, kMaxOpen> open_;  // those that still take members, oldest first
  FusedPrograms& programs_;
  // Of the group that is being closed.
  std::vector<const Operand*> inputs_;
  std::vector<Result> results_;
  std::vector<bool> stored_;  // results that somebody outside can read
  std::vector<Program::Member> members_;
  ProgramKey key_;
};

}  // namespace

void fuse(Runtime& runtime, std::span<Record> calls, std::span<const size_t> tiled, std::span<const char*> why,
          std::vector<Record>& replaced, FusedPrograms& programs) {
  if (calls.size() > 1) Fuser(runtime, calls, tiled, why, replaced, programs).run();
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
