// Programs: made from records, with conversions spelled out and scratch space shared.
#include "program.h"

#include <algorithm>
#include <atomic>

namespace slipstream {

const Op kMap{"map"};
const Op kReduce{"reduce"};
const Op kEqual{"copy"};
const Op kIntegerPower{"pow", kMayFail, Row::pow};

// ---- the table --------------------------------------------------------------------------------------------------

namespace {

struct NoIdentity {};
constexpr NoIdentity NONE;
std::optional<Scalar> identity_of(NoIdentity) { return {}; }
std::optional<Scalar> identity_of(int value) { return Scalar::of(static_cast<int64_t>(value)); }

}  // namespace

const RowFacts kRowFacts[] = {
#define UNARY(name, RULE, ...) {{#name, kPure, Row::name}, Rule::RULE, 1, false, Row::none, {}},
#define BINARY(name, RULE, ...) {{#name, kPure, Row::name}, Rule::RULE, 2, false, Row::none, {}},
#define TERNARY(name, RULE, ...) {{#name, kPure, Row::name}, Rule::RULE, 3, false, Row::none, {}},
#define REDUCE(name, RULE, identity, row, ...) \
  {{#name, kPure, Row::name}, Rule::RULE, 1, true, Row::row, identity_of(identity)},
#include "ops.def"
    {{"copy", kPure, Row::cast}, Rule::ALL, 1, false, Row::none, {}},
};

int row_cost(Row row, DType type) {
  int size = is_complex(type) ? 4 : 1;
  if (row == Row::cast || facts(row).reduction) return size;
  switch (facts(row).rule) {
    case Rule::FLOAT:
    case Rule::REAL:
    case Rule::LIFTED:
    case Rule::DOUBLE: return 6 * size;
    case Rule::DIVMOD: return 8;
    default: return size;
  }
}

// ---- building ---------------------------------------------------------------------------------------------------

namespace {

// The type that rows of 16-bit floats compute in.
DType loop_type(Row row, DType compute) {
  if (row_rule(row) == Rule::LOGICAL) return DType::b1;
  return is_half(compute) && !computes(row_rule(row), compute) ? DType::f32 : compute;
}

// The next type on the way of a conversion; conversions that have a loop of their own take one step.
DType next_type(DType from, DType to) {
  if (is_half(from)) return DType::f32;
  if (is_half(to))
    return from == DType::f32 || from == DType::f64 ? to : (from == DType::c128 ? DType::f64 : DType::f32);
  if (is_complex(from)) return to == DType::b1 || is_complex(to) ? to : real_of(from);
  if (is_complex(to)) return from == real_of(to) ? to : real_of(to);
  return to;
}

bool holds_exactly(DType half, DType from) { return from == half || (itemsize(from) == 1); }

}  // namespace

DType scalar_type(Row row, DType compute, int argument) {
  if (argument == 0 && info(row_rule(row)).condition_first) return DType::b1;
  return loop_type(row, compute);
}

ProgramBuilder::Reg ProgramBuilder::input(DType type) {
  inputs_.push_back(type);
  return {Reg::input, static_cast<uint16_t>(inputs_.size() - 1), type};
}

ProgramBuilder::Reg ProgramBuilder::constant(const Scalar& value, DType type) {
  constants_.push_back({value, type});
  return {Reg::constant, static_cast<uint16_t>(constants_.size() - 1), type};
}

ProgramBuilder::Reg ProgramBuilder::emit(Row row, DType type, DType result, std::span<const Reg> args) {
  Step step{{row, type, result, {}, 0, static_cast<uint8_t>(args.size())}, {}};
  std::copy(args.begin(), args.end(), step.args);
  for (size_t i = 0; i < code_.size(); i++) {
    const Step& old = code_[i];
    if (old.instr.row == row && old.instr.type == type && old.instr.result == result &&
        std::equal(old.args, old.args + 3, step.args))
      return {Reg::value, static_cast<uint16_t>(i), result};
  }
  code_.push_back(step);
  return {Reg::value, static_cast<uint16_t>(code_.size() - 1), result};
}

ProgramBuilder::Reg ProgramBuilder::convert(Reg from, DType to) {
  while (from.type != to) from = emit(Row::cast, from.type, next_type(from.type, to), {&from, 1});
  return from;
}

// A 16-bit type keeps a value in float32, but rounded as if it had been stored.
ProgramBuilder::Reg ProgramBuilder::round_to(Reg from, DType type) {
  if (!is_half(type) || holds_exactly(type, from.type) || from.rounded) return from;
  return convert(from, type);
}

ProgramBuilder::Reg ProgramBuilder::apply(Row row, DType compute, DType result, std::span<const Reg> args) {
  if (row == Row::cast) return convert(args[0], result);
  DType type = loop_type(row, compute);
  Reg ready[3];
  for (size_t i = 0; i < args.size(); i++) {
    DType wanted = scalar_type(row, compute, static_cast<int>(i));
    ready[i] = convert(wanted == DType::b1 ? args[i] : round_to(args[i], compute), wanted);
  }
  Rule rule = row_rule(row);
  Reg value = emit(row, type, given(rule, type), {ready, args.size()});
  DType natural = given(rule, compute);
  if (is_half(natural)) value = convert(value, natural);
  return convert(value, result);
}

ProgramBuilder::Reg ProgramBuilder::append(const Record& record, std::span<const Reg> args) {
  Reg regs[3];
  size_t scalar = 0;
  Row row = record.op->row;
  for (int i = 0; i < record.inputs.size(); i++) {
    if (!record.inputs[i].is_scalar()) {
      regs[i] = args[static_cast<size_t>(i)];
      continue;
    }
    regs[i] = constant(record.scalars[scalar++], scalar_type(row, record.compute, i));
    regs[i].rounded = true;
  }
  return apply(row, record.compute, record.outputs[0].dtype, {regs, static_cast<size_t>(record.inputs.size())});
}

void ProgramBuilder::reduce(Row row, DType accumulate) {
  reduction_ = row;
  accumulate_ = accumulate;
  results_[0] = convert(results_[0], accumulate);
}

// Instructions whose value goes into no result: it was needed by calls that compute it for themselves.
void ProgramBuilder::drop_unused() {
  std::vector<bool> used(code_.size());
  auto use = [&](const Reg& reg) {
    if (reg.kind == Reg::value) used[reg.index] = true;
  };
  for (const Reg& reg : results_) use(reg);
  for (size_t i = code_.size(); i-- > 0;)
    if (used[i]) std::for_each(code_[i].args, code_[i].args + code_[i].instr.arity, use);
  if (std::find(used.begin(), used.end(), false) == used.end()) return;
  std::vector<uint16_t> number(code_.size());
  uint16_t next = 0;
  for (size_t i = 0; i < code_.size(); i++) number[i] = used[i] ? next++ : uint16_t{0};
  auto renumber = [&](Reg& reg) {
    if (reg.kind == Reg::value) reg.index = number[reg.index];
  };
  for (size_t i = 0; i < code_.size(); i++) {
    if (!used[i]) continue;
    std::for_each(code_[i].args, code_[i].args + code_[i].instr.arity, renumber);
    code_[number[i]] = code_[i];
  }
  code_.resize(next);
  std::for_each(results_.begin(), results_.end(), renumber);
}

std::shared_ptr<const Program> ProgramBuilder::finish() {
  drop_unused();
  auto program = std::make_shared<Program>();
  program->inputs = inputs_;
  program->constants = constants_;
  program->reduction = reduction_;
  program->accumulate = accumulate_;
  program->origins = std::move(origins_);
  program->members = std::move(members_);
  auto number = [&](const Reg& reg) {
    size_t base =
        reg.kind == Reg::input ? 0 : (reg.kind == Reg::constant ? inputs_.size() : inputs_.size() + constants_.size());
    return static_cast<uint16_t>(base + reg.index);
  };
  for (const Step& step : code_) {
    Instr instr = step.instr;
    for (int i = 0; i < instr.arity; i++) instr.args[i] = number(step.args[i]);
    program->code.push_back(instr);
  }
  for (const Reg& reg : results_) program->results.push_back(number(reg));
  assign_slots(*program);
  return program;
}

// A value's slot is free again after its last use; the instruction of that use may already write over it, if elements
// have the same size. Results live to the end.
void ProgramBuilder::assign_slots(Program& program) const {
  size_t first = program.first_value(), n = program.code.size();
  std::vector<size_t> last(n, 0);
  for (size_t i = 0; i < n; i++)
    for (int a = 0; a < program.code[i].arity; a++)
      if (program.code[i].args[a] >= first) last[program.code[i].args[a] - first] = i;
  for (uint16_t reg : program.results)
    if (reg >= first) last[reg - first] = n;
  std::vector<uint16_t> unused;
  for (size_t i = 0; i < n; i++) {
    Instr& instr = program.code[i];
    for (int a = 0; a < instr.arity; a++) {
      size_t value = instr.args[a] - first;
      bool again = std::find(instr.args, instr.args + a, instr.args[a]) != instr.args + a;
      if (instr.args[a] >= first && last[value] == i && !again) unused.push_back(program.code[value].slot);
    }
    auto size = static_cast<uint8_t>(itemsize(instr.result));
    auto fits = std::find_if(unused.begin(), unused.end(), [&](uint16_t s) { return program.slots[s] == size; });
    if (fits != unused.end()) {
      instr.slot = *fits;
      unused.erase(fits);
    } else {
      instr.slot = static_cast<uint16_t>(program.slots.size());
      program.slots.push_back(size);
    }
  }
}

// ---- programs of single records -----------------------------------------------------------------------------------

namespace {

std::shared_ptr<const Program> make_single(const Record& record) {
  ProgramBuilder builder;
  Row row = record.op->row;
  ProgramBuilder::Reg regs[3];
  for (int i = 0; i < record.inputs.size(); i++) {
    const Operand& in = record.inputs[i];
    regs[i] = builder.input(in.is_scalar() ? scalar_type(row, record.compute, i) : in.dtype);
    regs[i].rounded = in.is_scalar();
  }
  if (is_reduction(row)) {
    builder.result(regs[0]);
    builder.reduce(row, is_half(record.compute) ? DType::f32 : record.compute);
  } else {
    builder.result(
        builder.apply(row, record.compute, record.outputs[0].dtype, {regs, static_cast<size_t>(record.inputs.size())}));
  }
  return builder.finish();
}

// Never 0: the row is one more than its number.
uint64_t key_of(const Record& record) {
  uint64_t key = static_cast<uint64_t>(record.op->row) + 1;
  key = key << 4 | static_cast<uint64_t>(record.compute);
  key = key << 4 | static_cast<uint64_t>(record.outputs[0].dtype);
  for (int i = 0; i < 3; i++) {
    bool scalar = i >= record.inputs.size() || record.inputs[i].is_scalar();
    key = key << 5 | (scalar ? 31 : static_cast<uint64_t>(record.inputs[i].dtype));
  }
  return key;
}

struct Kept {
  uint64_t key;
  std::shared_ptr<const Program> program;
};
constexpr size_t kKept = 1 << 16;
std::atomic<const Kept*> kept[kKept];  // open addressing; entries are added and never removed

}  // namespace

const std::shared_ptr<const Program>& single_program(const Record& record) {
  uint64_t key = key_of(record);
  size_t at = (key * 0x9e3779b97f4a7c15ull) >> 48;
  const Kept* made = nullptr;
  for (int probes = 0; probes < 64; probes++, at = (at + 1) % kKept) {
    const Kept* found = kept[at].load(std::memory_order_acquire);
    if (!found) {
      if (!made) made = new Kept{key, make_single(record)};
      if (kept[at].compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made->program;
    }
    if (found->key == key) {
      delete made;
      return found->program;
    }
  }
  thread_local std::shared_ptr<const Program> unkept;  // no room left near its place
  unkept = make_single(record);
  delete made;
  return unkept;
}

namespace {

const Program* merged_program(const Record& call) {
  if (call.op == &kMap) return &call.as<Program>();
  return call.op == &kReduce ? call.as<ReducedProgram>().program.get() : nullptr;
}

}  // namespace

std::string call_name(const Record& call) {
  constexpr size_t kShown = 6;
  const Program* program = merged_program(call);
  if (!program) return call.op->name;
  std::string name;
  auto add = [&name](const char* part) {
    if (!name.empty()) name += '+';
    name += part;
  };
  size_t shown = 0;
  for (const Instr& instr : program->code) {
    if (instr.row == Row::cast) continue;
    if (++shown > kShown) {
      add("...");
      break;
    }
    add(row_op(instr.row).name);
  }
  if (program->reduction != Row::none) add(row_op(program->reduction).name);
  return name.empty() ? "copy" : name;
}

Program::Origin origin_of(const Record& call, int output) {
  const Program* program = merged_program(call);
  if (program && static_cast<size_t>(output) < program->origins.size())
    return program->origins[static_cast<size_t>(output)];
  return {call.op == &kEqual ? call.as<EqualCall>().op : call.op, call.source};
}

}  // namespace slipstream
