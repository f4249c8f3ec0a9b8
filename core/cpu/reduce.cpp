// Kernels of reductions: fixed trees over the row-major order of the elements. The tree and the cut into chunks follow
// from the shape and the axes alone, so the result has the same bits however operands lie and threads run.
#include "reduce.h"

#include <algorithm>
#include <vector>

#include "../moving.h"
#include "evaluate.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kLeaf = 512;  // elements folded by one loop along the innermost axis, where order matters
constexpr int64_t kGroup = 8;  // rows folded by one loop where the innermost axis stays
constexpr int64_t kWidth = 512;  // columns handled together then
constexpr int64_t kSegment = 128 * 1024;  // elements of a chunk, about

// Combines values pairwise as they come: a value of 2^k leaves meets another of 2^k leaves.
class Pairwise {
 public:
  Pairwise(const ReduceLoops& loops, char* memory, size_t value_bytes, int64_t width)
      : loops_(loops), memory_(memory), bytes_(value_bytes), width_(width) {}
  static constexpr int64_t kDepth = 48;

  char* next() { return memory_ + static_cast<size_t>(depth_) * bytes_; }  // where to put the next value
  void push() {
    depth_++;
    for (uint64_t n = ++count_; !(n & 1); n >>= 1) merge();
  }
  const char* finish() {
    while (depth_ > 1) merge();
    return memory_;
  }

 private:
  void merge() {
    depth_--;
    loops_.combine(memory_ + static_cast<size_t>(depth_ - 1) * bytes_, memory_ + static_cast<size_t>(depth_) * bytes_,
                   width_);
  }
  const ReduceLoops& loops_;
  char* memory_;
  size_t bytes_;
  int64_t width_;
  int depth_ = 0;
  uint64_t count_ = 0;
};

// Some of the axes, merged: index k of them begins at element at(k) of the whole.
struct Axes {
  SmallVec<int64_t, 4> extents, steps;  // outermost first
  int64_t count = 1;
  void add(int64_t extent, int64_t step) {
    extents.push_back(extent);
    steps.push_back(step);
    count *= extent;
  }
  int64_t at(int64_t k) const {
    if (extents.size() == 1) return k * steps[0];
    int64_t p = 0;
    for (int i = extents.size() - 1; i >= 0; i--) {
      p += k % extents[i] * steps[i];
      k /= extents[i];
    }
    return p;
  }
};

struct Logical {
  Axes kept, reduced;
  int64_t inner = 1;  // extent of the innermost axis, taken out of its list
  bool inner_reduced = false;
};

Logical merge_axes(const Shape& shape, uint32_t axes) {
  SmallVec<int64_t, 8> extents;
  SmallVec<bool, 8> reduced;
  for (int i = 0; i < shape.size(); i++) {
    if (shape[i] == 1) continue;
    bool r = axes >> i & 1;
    if (!reduced.empty() && reduced[reduced.size() - 1] == r) {
      extents[extents.size() - 1] *= shape[i];
    } else {
      extents.push_back(shape[i]);
      reduced.push_back(r);
    }
  }
  Logical logical;
  int n = extents.size();
  if (n == 0) return logical;
  logical.inner = extents[n - 1];
  logical.inner_reduced = reduced[n - 1];
  int64_t step = logical.inner;
  SmallVec<int64_t, 8> steps;
  for (int i = n - 2; i >= 0; i--) {
    steps.push_back(step);
    step *= extents[i];
  }
  for (int i = 0; i < n - 1; i++) (reduced[i] ? logical.reduced : logical.kept).add(extents[i], steps[n - 2 - i]);
  return logical;
}

class ReduceKernel final : public MovingKernel {
 public:
  ReduceKernel(std::shared_ptr<const Program> program, const Record& record, std::span<Place> in, uint32_t axes)
      : program_(std::move(program)),
        row_(program_->reduction),
        type_(program_->accumulate),
        size_(itemsize(type_)),
        loops_(loops().reduce[static_cast<int>(row_)][static_cast<int>(type_)]),
        plan_(*program_, record.inputs[0].shape, in, {}, false),
        logical_(merge_axes(record.inputs[0].shape, axes)),
        leaf_(order_matters() ? kLeaf : plan_.block) {
    const Operand& out = record.outputs[0];
    outputs_ = out.size();
    empty_ = plan_.space.count() == 0;
    if (out.dtype == type_ && out.contiguous()) {
      results_ = out.data();
    } else {
      memory_.resize(static_cast<size_t>(outputs_) * size_);
      results_ = memory_.data();
      plan_store(out);
    }
    if (empty_) return;
    logical_.inner_reduced ? cut_rows() : cut_columns();
    if (segments_ > 1) partial_.resize(static_cast<size_t>(outputs_ * segments_) * size_);
  }

  void shift(std::span<const int64_t> bytes) override {
    plan_.shift(bytes);
    int64_t out[] = {0, bytes.back()};
    if (store_) store_->shift(out);
    if (!store_) results_ += bytes.back();
  }

  // Reduce, combine the segments if there are several, convert and store if the output wants it.
  int phases() const override { return 1 + (segments_ > 1) + (store_ ? 1 : 0); }

  int64_t chunks(int phase) const override {
    if (phase == phases() - 1 && store_) return std::max<int64_t>(1, (outputs_ + kSegment - 1) / kSegment);
    if (phase == 0) return empty_ ? 1 : (items_ + items_per_chunk_ - 1) / items_per_chunk_;
    return combine_chunks();
  }

  void run(int phase, int64_t chunk) override {
    if (phase == phases() - 1 && store_) return store(chunk);
    if (phase == 1) return combine_segments(chunk);
    if (empty_) return fill_identity();
    int64_t begin = chunk * items_per_chunk_, end = std::min(items_, begin + items_per_chunk_);
    logical_.inner_reduced ? reduce_rows(begin, end) : reduce_columns(begin, end);
  }

 private:
  // ---- the innermost axis is reduced: an item is one segment of one output
  void cut_rows() {
    int64_t outer = logical_.reduced.count, inner = logical_.inner;
    if (outer == 1) {
      segment_ = kSegment;
      segments_ = std::max<int64_t>(1, inner / segment_);
    } else {
      segment_ = std::max<int64_t>(1, kSegment / inner);
      segments_ = std::max<int64_t>(1, outer / segment_);
    }
    items_ = outputs_ * segments_;
    int64_t each = segments_ > 1 ? kSegment : outer * inner;
    items_per_chunk_ = std::max<int64_t>(1, kSegment / (each * plan_.cost) + 1);
  }

  void reduce_rows(int64_t begin, int64_t end) {
    size_t stack = Pairwise::kDepth * size_;
    Evaluator evaluator(plan_, plan_.block, stack);
    int64_t inner = logical_.inner;
    char* to = segments_ > 1 ? partial_.data() : results_;
    bool dense = logical_.reduced.count == 1 && logical_.kept.extents.size() <= 1;
    if (dense && inner <= std::min(leaf_, plan_.block)) {  // many short rows at once
      int64_t rows = plan_.block / inner;
      for (int64_t o = begin; o < end; o += rows) {
        int64_t n = std::min(rows, end - o);
        evaluator.run(o * inner, n * inner);
        char* values = to + static_cast<size_t>(o) * size_;
        loops_.leaves(values, evaluator.result(0), inner, n);
        settle(values, n);
      }
      return;
    }
    for (int64_t item = begin; item < end; item++) {
      int64_t o = item / segments_, segment = item % segments_;
      Pairwise tree(loops_, evaluator.extra(), size_, 1);
      int64_t start = logical_.kept.at(o);
      bool last = segment == segments_ - 1;
      if (logical_.reduced.count == 1) {
        reduce_run(evaluator, tree, start + segment * segment_, last ? inner - segment * segment_ : segment_);
      } else {
        int64_t q1 = last ? logical_.reduced.count : (segment + 1) * segment_;
        for (int64_t q = segment * segment_; q < q1; q++)
          if (reduce_run(evaluator, tree, start + logical_.reduced.at(q), inner)) break;
      }
      std::memcpy(to + static_cast<size_t>(item) * size_, tree.finish(), size_);
    }
    settle(to + static_cast<size_t>(begin) * size_, end - begin);
  }

  void settle(char* values, int64_t n) const {
    if (loops_.settle) loops_.settle(values, n);
  }

  bool order_matters() const { return is_float(type_) || is_complex(type_); }
  // any ends with the first true, all with the first false.
  bool decides(char value) const { return (row_ == Row::any && value) || (row_ == Row::all && !value); }

  // Returns whether the rest cannot change the result any more.
  bool reduce_run(Evaluator& evaluator, Pairwise& tree, int64_t p, int64_t n) {
    int64_t at_once = plan_.block > leaf_ ? plan_.block / leaf_ * leaf_ : plan_.block;  // whole leaves, or all there is
    for (int64_t done = 0; done < n;) {
      int64_t m = std::min(at_once, n - done);
      evaluator.run(p + done, m);
      auto* x = static_cast<const char*>(evaluator.result(0));
      for (int64_t i = 0; i < m; i += leaf_) {
        loops_.leaves(tree.next(), x + static_cast<size_t>(i) * size_, std::min(leaf_, m - i), 1);
        bool decided = decides(*tree.next());
        tree.push();
        if (decided) return true;
      }
      done += m;
    }
    return false;
  }

  // ---- the innermost axis stays: an item is one segment of the rows, for some columns of one outer output
  void cut_columns() {
    int64_t rows = logical_.reduced.count, width = std::min(kWidth, logical_.inner);
    plan_.band_columns = std::min(plan_.band_columns, kWidth);  // what lies across is transposed for one item at a time
    column_blocks_ = (logical_.inner + kWidth - 1) / kWidth;
    segment_ = std::max<int64_t>(64, kSegment / width / kGroup * kGroup);
    segments_ = std::max<int64_t>(1, rows / segment_);
    items_ = logical_.kept.count * column_blocks_ * segments_;
    int64_t each = (segments_ > 1 ? segment_ : rows) * width;
    items_per_chunk_ = std::max<int64_t>(1, kSegment / (each * plan_.cost) + 1);
  }

  void reduce_columns(int64_t begin, int64_t end) {
    size_t value = static_cast<size_t>(std::min(kWidth, logical_.inner)) * size_;
    value = (value + 63) & ~size_t{63};
    Evaluator evaluator(plan_, plan_.block, value * Pairwise::kDepth);
    for (int64_t item = begin; item < end; item++) {
      int64_t segment = item % segments_, b = item / segments_ % column_blocks_, o = item / segments_ / column_blocks_;
      int64_t c0 = b * kWidth, width = std::min(kWidth, logical_.inner - c0);
      Pairwise tree(loops_, evaluator.extra(), value, width);
      int64_t q = segment * segment_, q1 = segment == segments_ - 1 ? logical_.reduced.count : q + segment_;
      int64_t start = logical_.kept.at(o) + c0;
      while (q < q1) q += fold_rows(evaluator, tree, start, q, q1 - q, width);
      char* to =
          segments_ > 1
              ? partial_.data() + static_cast<size_t>((segment * logical_.kept.count + o) * logical_.inner + c0) * size_
              : results_ + static_cast<size_t>(o * logical_.inner + c0) * size_;
      std::memcpy(to, tree.finish(), static_cast<size_t>(width) * size_);
      settle(to, width);
    }
  }

  // Folds rows from q on, up to `left` of them, and returns how many.
  int64_t fold_rows(Evaluator& evaluator, Pairwise& tree, int64_t start, int64_t q, int64_t left, int64_t width) {
    const Axes& reduced = logical_.reduced;
    int64_t groups = plan_.block / (kGroup * logical_.inner);
    if (groups > 0 && reduced.extents.size() == 1 &&
        reduced.steps[0] == logical_.inner) {  // rows that follow each other
      int64_t rows = std::min(left, groups * kGroup);
      evaluator.run(start + q * width, rows * width);
      auto* x = static_cast<const char*>(evaluator.result(0));
      for (int64_t r = 0; r < rows; r += kGroup) {
        loops_.fold(tree.next(), x + static_cast<size_t>(r * width) * size_, width, std::min(kGroup, rows - r), width);
        tree.push();
      }
      return rows;
    }
    // Rows that lie evenly in memory are folded at once, others one after another: the order is the same.
    int64_t rows = std::min(left, kGroup), together = 0;
    const char* at[kGroup];
    for (int64_t r = 0; r < rows; r++) {
      evaluator.run(start + reduced.at(q + r), width);
      auto* x = static_cast<const char*>(evaluator.result(0));
      bool even = !evaluator.in_scratch(x) && (r < 2 || x - at[r - 1] == at[1] - at[0]);
      at[r] = x;
      if (together == r && even) {
        together++;
        continue;
      }
      if (r == 0) std::memcpy(tree.next(), x, static_cast<size_t>(width) * size_);
      if (r > 0 && together == r) fold_even(tree.next(), at, together, width);
      if (r > 0) loops_.combine(tree.next(), x, width);
    }
    if (together == rows) fold_even(tree.next(), at, rows, width);
    tree.push();
    return rows;
  }

  void fold_even(char* to, const char* const* at, int64_t rows, int64_t width) const {
    loops_.fold(to, at[0], rows > 1 ? (at[1] - at[0]) / static_cast<int64_t>(size_) : 0, rows, width);
  }

  // ---- segments
  int64_t combine_chunks() const { return std::max<int64_t>(1, outputs_ * segments_ / kSegment); }

  void combine_segments(int64_t chunk) {
    int64_t n = combine_chunks(), begin = outputs_ * chunk / n, end = outputs_ * (chunk + 1) / n;
    int64_t width = logical_.inner_reduced ? 1 : kWidth;
    size_t value = static_cast<size_t>(width) * size_;
    engine::ThreadBytes stack(value * Pairwise::kDepth);
    for (int64_t o = begin; o < end; o += width) {
      int64_t m = std::min(width, end - o);
      Pairwise tree(loops_, stack.data(), value, m);
      for (int64_t s = 0; s < segments_; s++) {
        int64_t at = logical_.inner_reduced ? o * segments_ + s : s * outputs_ + o;
        std::memcpy(tree.next(), partial_.data() + static_cast<size_t>(at) * size_, static_cast<size_t>(m) * size_);
        tree.push();
      }
      std::memcpy(results_ + static_cast<size_t>(o) * size_, tree.finish(), static_cast<size_t>(m) * size_);
    }
    settle(results_ + static_cast<size_t>(begin) * size_, end - begin);
  }

  void fill_identity() {
    alignas(16) char value[16];
    reduction_identity(row_).value_or(Scalar()).store(type_, value);
    for (int64_t i = 0; i < outputs_; i++) std::memcpy(results_ + static_cast<size_t>(i) * size_, value, size_);
  }

  // ---- results of another type, or into a view with gaps
  void plan_store(const Operand& out) {
    ProgramBuilder builder;
    builder.result(builder.convert(builder.input(type_), out.dtype));
    store_program_ = builder.finish();
    store_strides_ = row_major(out.shape, size_);
    Place from{results_, &store_strides_, type_, nullptr, results_}, to = place(out);
    store_ = std::make_unique<Plan>(*store_program_, out.shape, std::span(&from, 1), std::span(&to, 1), true);
  }

  void store(int64_t chunk) {
    int64_t begin = chunk * kSegment, end = std::min(outputs_, begin + kSegment);
    Evaluator evaluator(*store_, end - begin);
    for (int64_t p = begin; p < end; p += store_->block) evaluator.run(p, std::min(store_->block, end - p));
  }

  std::shared_ptr<const Program> program_, store_program_;
  Row row_;
  DType type_;
  size_t size_;
  const ReduceLoops& loops_;
  Plan plan_;
  Logical logical_;
  std::unique_ptr<Plan> store_;
  Strides store_strides_;
  std::vector<char> memory_, partial_;
  char* results_;
  bool empty_;
  int64_t leaf_;  // elements folded by one loop along the innermost axis
  int64_t outputs_, items_ = 0, items_per_chunk_ = 1, segment_ = 1, segments_ = 1, column_blocks_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> make_reduce(const Record& record) {
  if (record.outputs[0].size() == 0) return single_kernel([] {});
  auto& params = record.as<ReduceParams>();
  std::shared_ptr<const Program> program =
      record.op == &kReduce ? static_cast<const ReducedProgram&>(params).program : single_program(record);
  SmallVec<Place, 4> in;
  for (const Operand& operand : record.inputs) in.push_back(place(operand));
  return std::make_unique<ReduceKernel>(std::move(program), record,
                                        std::span(in.begin(), static_cast<size_t>(in.size())), params.axes);
}

void register_reduce(engine::Backend& backend) {
  backend.provide(kReduce, &make_reduce);
  for (int i = 0; i < kRowCount; i++)
    if (is_reduction(static_cast<Row>(i))) backend.provide(row_op(static_cast<Row>(i)), &make_reduce);
}

}  // namespace slipstream::cpu
