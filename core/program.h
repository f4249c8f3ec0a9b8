// Program: a tree of elementwise rows, run block by block without storing what lies between. What the planner makes
// of several records; a single record is a program of one instruction.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "op.h"
#include "rules.h"

namespace slipstream {

struct Instr {
  Row row;           // an elementwise row, or Row::cast
  DType type;        // type of the arguments (for cast: of the source)
  DType result;      // type of the value
  uint16_t args[3];  // registers
  uint16_t slot;     // where the value is kept: slots are shared by values that do not live at the same time
  uint8_t arity;
};

// Registers: first the record's inputs, then the constants, then one for the value of each instruction.
// Arguments have exactly the types that the instruction asks for; conversions are instructions of their own.
struct Program final : OpParams {
  struct Constant {
    Scalar value;
    DType type;
  };
  std::vector<DType> inputs;
  std::vector<Constant> constants;
  std::vector<Instr> code;
  std::vector<uint16_t> results;  // register that output i stores; its type is the output's
  std::vector<uint8_t> slots;     // bytes an element takes in each slot
  // The call that each output comes from, where several were merged: what errors and traces speak of.
  struct Origin {
    const Op* op;
    SourceId source;
  };
  std::vector<Origin> origins;
  // The merged calls in their order, each with what it read and wrote: an array by its number among the inputs, or
  // kWritten + its number among the arrays that were written, those that are outputs first. Tells who shares a failure.
  struct Member {
    std::array<uint16_t, 3> reads;
    uint16_t count;  // of reads
    uint16_t writes;
  };
  static constexpr uint16_t kWritten = 1 << 15;
  std::vector<Member> members;
  // A program may end in one reduction of its only result, over the axes given by the record's ReduceParams.
  Row reduction = Row::none;
  DType accumulate = DType::f32;  // type of the reduction's accumulator

  uint16_t first_value() const { return static_cast<uint16_t>(inputs.size() + constants.size()); }
  size_t registers() const { return inputs.size() + constants.size() + code.size(); }
};

// Puts a program together. Equal instructions are kept once.
class ProgramBuilder {
 public:
  struct Reg {
    enum Kind : uint8_t { none, input, constant, value } kind = none;
    uint16_t index = 0;
    DType type = DType::f32;
    bool rounded = false;  // already holds a value of the record's 16-bit type
    bool operator==(const Reg&) const = default;
  };

  Reg input(DType type);
  Reg constant(const Scalar& value, DType type);
  // The register converted to another type, by as many casts as it takes.
  Reg convert(Reg from, DType to);
  // The value of one elementwise record, in its output's type. `args` are the registers of its array inputs (those of
  // scalars are ignored: they become constants).
  Reg append(const Record& record, std::span<const Reg> args);
  // The same from its parts; arguments are converted to the type the row computes in.
  Reg apply(Row row, DType compute, DType result, std::span<const Reg> args);
  void result(Reg reg) { results_.push_back(reg); }
  void origin(const Record& call) { origins_.push_back({call.op, call.source}); }
  void members(std::vector<Program::Member> members) { members_ = std::move(members); }
  // Ends the program in a reduction of its one result.
  void reduce(Row row, DType accumulate);
  size_t size() const { return code_.size(); }
  std::shared_ptr<const Program> finish();

 private:
  struct Step {
    Instr instr;
    Reg args[3];
  };
  Reg emit(Row row, DType type, DType result, std::span<const Reg> args);
  Reg round_to(Reg from, DType type);
  void drop_unused();
  void assign_slots(Program& program) const;

  std::vector<DType> inputs_;
  std::vector<Program::Constant> constants_;
  std::vector<Step> code_;
  std::vector<Reg> results_;
  std::vector<Program::Origin> origins_;
  std::vector<Program::Member> members_;
  Row reduction_ = Row::none;
  DType accumulate_ = DType::f32;
};

// Parameters of a reduction. Its output's view has the input's number of dimensions, with 1 where it reduces.
struct ReduceParams : OpParams {
  uint32_t axes = 0;  // bit i: axis i is reduced
  bool same(const OpParams& others) const override { return axes == static_cast<const ReduceParams&>(others).axes; }
};

// "multiply+add+tanh" for a merged call, the operation's name for others.
std::string call_name(const Record& call);
// The call that output i of a record comes from.
Program::Origin origin_of(const Record& call, int output);

extern const Op kMap;     // outputs = program(inputs), elementwise; params: Program
extern const Op kReduce;  // output = reduction of program(inputs); params: ReducedProgram
extern const Op kEqual;  // output = first input, which an equal call computes from the other inputs; params: EqualCall

extern const Op kIntegerPower;  // the row pow for signed integers; fails where an exponent is negative

struct ReducedProgram : ReduceParams {
  std::shared_ptr<const Program> program;
  bool same(const OpParams& /*others*/) const override { return false; }
};

struct EqualCall : OpParams {
  explicit EqualCall(const Op* op) : op(op) {}
  const Op* op;  // what the program called
};

// What the table says of a row, beyond its RowInfo.
struct RowFacts {
  Op op;
  Rule rule;
  uint8_t arity;
  bool reduction;
  Row combining;  // the elementwise row a reduction repeats: sum -> add
  std::optional<Scalar> identity;
};
extern const RowFacts kRowFacts[];
inline const RowFacts& facts(Row row) { return kRowFacts[static_cast<int>(row)]; }
inline const Op& row_op(Row row) { return facts(row).op; }  // of Row::cast: a copy that converts
inline Rule row_rule(Row row) { return facts(row).rule; }
inline int row_arity(Row row) { return facts(row).arity; }
inline bool is_reduction(Row row) { return row != Row::none && facts(row).reduction; }
// Is it a row of the table, or a fused program of such, that works element by element?
inline bool is_elementwise(const Op& op) { return &op == &kMap || (op.row != Row::none && !is_reduction(op.row)); }
inline Row combining_row(Row reduction) { return facts(reduction).combining; }
inline std::optional<Scalar> reduction_identity(Row reduction) { return facts(reduction).identity; }
int row_cost(Row row, DType type);  // relative to one addition, for cutting work

// The program of one elementwise record (op->row is an elementwise row) or of one reduction record. Kept, so asking
// again costs a look-up. Scalars of the record count as inputs here, of the type that scalar_type tells.
const std::shared_ptr<const Program>& single_program(const Record& record);
// The type in which a scalar argument of an elementwise row is stored.
DType scalar_type(Row row, DType compute, int argument);

}  // namespace slipstream
