// Evaluation of programs block by block: operands of any strides are brought into dense blocks, vector loops run over
// them, results go out again. Elementwise kernels store every block; reductions fold it.
#pragma once

#include "../engine/thread_room.h"
#include "../program.h"
#include "dispatch.h"

namespace slipstream::cpu {

// An operand in memory, or a scalar.
struct Place {
  char* data = nullptr;
  const Strides* strides = nullptr;
  DType type = DType::f32;
  const Scalar* scalar = nullptr;
  const void* buffer = nullptr;  // start of its storage, to see which operands share one
};
Place place(const Operand& operand);

// Dimensions without those of size 1, neighbours merged where every operand allows it; the last one is innermost.
class Space {
 public:
  // `sorted`: order the axes by the strides of the first of `outputs`, so that it is written along memory.
  Space(const Shape& shape, std::span<Place> inputs, std::span<Place> outputs, bool sorted);

  int ndim() const { return ndim_; }
  int64_t count() const { return count_; }
  const int64_t* dims() const { return table_.begin(); }
  const int64_t* strides(int operand) const { return table_.begin() + (operand + 1) * kept_; }
  int64_t inner() const { return dims()[ndim_ - 1]; }

 private:
  int64_t* row(int i) { return table_.begin() + i * kept_; }
  void sort_axes(int first_output, int operands);
  void merge_axes(int operands);

  int ndim_ = 0, kept_ = 0;
  int64_t count_ = 1;
  SmallVec<int64_t, 20> table_;  // dims, then the strides of each operand
};

// A program bound to memory. Made once per kernel, used by all its chunks.
class Plan {
 public:
  Plan(const Program& program, const Shape& shape, std::span<Place> inputs, std::span<Place> outputs, bool sorted);
  Plan(const Plan&) = delete;  // operands point into the space

  enum class Mode : uint8_t {
    flat,    // dense over the whole space: used in place
    fixed,   // the same everywhere: repeated
    cyclic,  // every row is the same: repeated once into a block and a row more, used from the right place on
    rows,    // in a block that lies in one row: used in place if the row is dense, repeated if it is one value. Else
             // gathered
    staged,  // lies across the rows: transposed band by band
  };
  struct Bound {
    Place place;
    Mode mode;
    uint8_t size;            // bytes of an element
    const int64_t* strides;
    size_t buffer = 0;       // scratch for a gathered block
    size_t stage = 0;        // scratch for a transposed band
    bool stored = false;     // is itself a result: never repeated, always a whole block
  };

  const Program& program;
  Space space;
  SmallVec<Bound, 4> inputs, outputs;
  bool is_result(int reg) const;
  // Goes on to other elements of the same operands: each (the outputs last) so many bytes further on.
  void shift(std::span<const int64_t> bytes);

  // One instruction of the program, or two that run as one.
  struct Step {
    MapLoop loop;
    uint16_t args[4];
    uint8_t arity;
    bool pair = false;
    int8_t direct = -1;  // the output that it may write at once, one of the first kMostDirect
    uint16_t slot;
    uint16_t value;      // the register of its value
  };
  static constexpr int kMostDirect = 128;
  SmallVec<Step, 4> steps;
  SmallVec<size_t, 4> slots;      // scratch of each slot
  SmallVec<size_t, 4> constants;  // scratch of each constant, repeated
  int64_t block = 0;         // elements evaluated at once at most
  bool has_staged = false, needs_index = false;
  int64_t band_rows = 1, band_columns = 0, pitch = 0;  // of staged operands
  size_t scratch = 0;        // bytes
  int cost = 1;              // of an element, in additions

 private:
  void bind(const Place& place, int operand, bool is_output);
  void choose_bands(bool sorted);
  void find_steps();
  bool pair_with_last(const Instr& instr, uint16_t value);
  void find_direct();
  void lay_out(int64_t least_block);
};

class Evaluator {
 public:
  // `elements`: no more than these will be evaluated at once. `extra`: bytes of scratch for the caller.
  Evaluator(const Plan& plan, int64_t elements, size_t extra = 0);

  // Evaluates elements [p, p + n) of the space, n <= plan.block, and stores the outputs.
  void run(int64_t p, int64_t n);
  // The value of result i in the block evaluated last.
  const void* result(int i) const { return values_[plan_.program.results[static_cast<size_t>(i)]]; }
  bool in_scratch(const void* p) const { return p >= scratch_ && p < scratch_ + plan_.scratch; }
  char* extra() const { return scratch_ + plan_.scratch; }

 private:
  void fill_constants(int64_t n);
  void fill_cycle(const Plan::Bound& operand, int64_t n);
  void set(int reg, Argument value);
  void find_index(int64_t p);
  void advance_index(int64_t n);
  const char* address(const Plan::Bound& operand) const;
  Argument load(const Plan::Bound& operand, int64_t p, int64_t n);
  const void* gather(const Plan::Bound& operand, int64_t n);
  const void* load_staged(const Plan::Bound& operand, int64_t p, int64_t n);
  void* store_address(const Plan::Bound& operand, int64_t p, int64_t n) const;
  void store(const Plan::Bound& operand, const void* from, int64_t p, int64_t n);

  const Plan& plan_;
  engine::ThreadBytes room_;
  char* scratch_;
  // The registers, as two lists: written in parts and read as a whole, an Argument would wait for its parts.
  SmallVec<const void*, 16> values_;
  SmallVec<bool, 16> repeated_;
  int64_t index_[kMaxDims];
  int64_t index_of_ = -1;  // the element that it belongs to
  SmallVec<int64_t, 4> staged_;  // by input: where the band that it holds begins, -1 for none
};

}  // namespace slipstream::cpu
