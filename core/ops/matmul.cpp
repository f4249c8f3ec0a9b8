// matmul and dot: NumPy's rules for shapes and types.
#include "matmul.h"

#include <numeric>

#include "../cpu/blas.h"
#include "../elementwise.h"
#include "../engine/engine.h"
#include "../graph/tape.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kMatmul{"matmul", kTiled};

std::optional<MatrixLayout> matrix_layout(const View& x) {
  auto item = static_cast<int64_t>(itemsize(x.dtype));
  int last = x.ndim() - 1;
  int64_t rows = x.shape[last - 1], columns = x.shape[last];
  int64_t down = x.strides[last - 1], right = x.strides[last];
  auto fits = [item](int64_t n, int64_t step, int64_t width) {
    return n <= 1 || (step >= std::max<int64_t>(width, 1) * item && step % item == 0);
  };
  auto ld = [item](int64_t n, int64_t step, int64_t width) {
    return n <= 1 ? std::max<int64_t>(width, 1) : step / item;
  };
  if ((columns <= 1 || right == item) && fits(rows, down, columns)) return MatrixLayout{false, ld(rows, down, columns)};
  if ((rows <= 1 || down == item) && fits(columns, right, rows)) return MatrixLayout{true, ld(columns, right, rows)};
  return std::nullopt;
}

namespace {

// An array's last two axes kept, its leading ones broadcast.
Operand broadcast_batch(const Array& x, const Shape& batch) {
  if (batch.empty()) return Operand(x);
  Shape shape = batch;
  shape.push_back(x.shape[x.ndim() - 2]);
  shape.push_back(x.shape[x.ndim() - 1]);
  return Operand(x, View{x.dtype, x.offset, shape, broadcast_strides(x.shape, x.strides, shape)});
}

Shape batch_of(const Array& x) {
  return Shape(std::span<const int64_t>(x.shape.begin(), static_cast<size_t>(x.ndim() - 2)));
}

// A vector argument is a row or a column of the product.
Array add_axes(const Array& x, bool row, bool column) {
  if (!row && !column) return x;
  View v = x;
  int at = row ? v.ndim() - 1 : v.ndim();
  v.shape.insert(at, 1);
  v.strides.insert(at, static_cast<int64_t>(itemsize(x.dtype)));
  return x.view(std::move(v));
}

void record_matrices(const Array& a, const Array& b, const Array& c, bool in_place) {
  Shape batch = batch_of(c);
  Record call;
  call.op = &kMatmul;
  call.inputs.push_back(broadcast_batch(a, batch));
  call.inputs.push_back(broadcast_batch(b, batch));
  call.outputs.emplace_back(c);
  call.in_place = in_place;
  engine::record(std::move(call));
}

// The product of arrays of one type with at least two axes, written to `c`, which has room for it. A stack of matrices
// times one matrix is one product if the stack's rows follow each other.
void record_product(const Array& a, const Array& b, const Array& c, bool in_place) {
  if (!matrix_layout(a)) return record_product(copy(a), b, c, in_place);
  if (!matrix_layout(b)) return record_product(a, copy(b), c, in_place);
  if (b.ndim() == 2 && a.ndim() > 2 && a.size() > 0 && c.size() > 0) {
    std::optional<Array> tall = reshape_view(a, Shape{-1, a.shape[a.ndim() - 1]});
    std::optional<Array> result = reshape_view(c, Shape{-1, c.shape[c.ndim() - 1]});
    std::optional<MatrixLayout> layout = result ? matrix_layout(*result) : std::nullopt;
    if (tall && matrix_layout(*tall) && layout && !layout->transposed)
      return record_matrices(*tall, b, *result, in_place);
  }
  record_matrices(a, b, c, in_place);
}

void check_aligned(const char* op, const Array& a, const Array& b, const Shape& shape_a, const Shape& shape_b) {
  int64_t left = a.shape[a.ndim() - 1], right = b.shape[b.ndim() - 2];
  if (left != right)
    fail(ErrorKind::value, op, ": shapes ", shape_a, " and ", shape_b, " do not align: ", left, " != ", right);
}

Shape product_batch(const char* op, const Array& a, const Array& b) {
  try {
    return broadcast(batch_of(a), batch_of(b), op);
  } catch (const Error&) {
    fail(ErrorKind::value, op, ": shapes ", a.shape, " and ", b.shape, " do not align: the leading axes ", batch_of(a),
         " and ", batch_of(b), " cannot be broadcast");
  }
}

// `out` with the axes of vector arguments, if the kernel can write the product there.
std::optional<Array> matrix_of(const Array& out, const Shape& shape, bool row, bool column) {
  if (!(out.shape == shape)) return std::nullopt;
  Array wide = add_axes(add_axes(out, false, column), row, false);
  std::optional<MatrixLayout> layout = matrix_layout(wide);
  return layout && !layout->transposed ? std::optional(wide) : std::nullopt;
}

Array turned(const Array& x) { return swapaxes(x, -1, -2); }
Array tall(const Array& x) {
  return reshape(x, Shape{x.size() / std::max<int64_t>(x.shape[x.ndim() - 1], 1), x.shape[x.ndim() - 1]});
}

// With vectors as the rows and columns they stand for.
Array as_matrix(const Array& x, bool row, bool column) {
  std::array<int64_t, 1> at{row ? x.ndim() - 1 : x.ndim()};
  return row || column ? expand_dims(x, at) : x;
}

bool lies_turned(const Array& x) {
  std::optional<MatrixLayout> layout = x.ndim() == 2 ? matrix_layout(x) : std::nullopt;
  return layout && layout->transposed;
}

// a b, computed so that it lies in memory row by row, or column by column.
Array product_lying(bool turned_over, const Array& a, const Array& b) {
  return turned_over ? turned(matmul(turned(b), turned(a))) : matmul(a, b);
}

// g times the other side, turned; summed over what was broadcast. Each lies as its argument does: the gradient of a
// transposed weight goes back through the transpose as it is.
class ProductNode final : public tape::Node {
 public:
  ProductNode(const char* op, const Array& x, const Array& y)
      : op_(op), row_(x.ndim() == 1), column_(y.ndim() == 1), inputs_{tape::ref_of(x), tape::ref_of(y)} {
    if (inputs_[0]) keep(0, x, y);
    if (inputs_[1]) keep(1, y, x);
  }
  const char* name() const override { return op_; }
  std::span<const Ref<tape::Node>> inputs() const override { return {inputs_, 2}; }
  void differentiate(tape::Spread& to) override {
    Array g = as_matrix(as_matrix(to.gradient(), false, column_), row_, false);
    if (inputs_[0] && to.wants(0)) {
      Array other = as_matrix(other_side(0), false, column_);
      Shape shape = sides_[0]->shape;
      if (row_) shape.insert(0, 1);
      add(to, 0, product_lying(sides_[0]->turned, g, turned(other)), shape);
    }
    if (inputs_[1] && to.wants(1)) {
      Array other = as_matrix(other_side(1), row_, false);
      Shape shape = sides_[1]->shape;
      if (column_) shape.push_back(1);
      // A stack times one matrix: its gradient is one product, not a sum of many.
      bool stacked = shape.size() == 2 && other.ndim() > 2 && other.size() > 0;
      bool over = sides_[1]->turned;
      add(to, 1, stacked ? product_lying(over, turned(tall(other)), tall(g)) : product_lying(over, turned(other), g),
          shape);
    }
  }
  void forget() override {
    for (int i : {0, 1}) {
      inputs_[i].reset();
      sides_[i].reset();
    }
  }

 private:
  // What the gradient of an argument with a history needs.
  struct Side {
    Side(const Array& x, const Array& other) : other(other), shape(x.shape), type(x.dtype), turned(lies_turned(x)) {}
    tape::Kept other;  // its history is in inputs_
    Shape shape;
    DType type;
    bool turned;
  };

  void keep(int i, const Array& x, const Array& other) { sides_[i].emplace(x, other); }
  Array other_side(int i) const {
    Array other = sides_[i]->other.get(*this);
    if (tape::recording()) other.set_node(inputs_[1 - i]);
    return other;
  }
  void add(tape::Spread& to, int i, Array&& product, const Shape& shape) {
    to.add(i, reshape(tape::back_to(std::move(product), shape, sides_[i]->type), sides_[i]->shape));
  }

  const char* op_;
  bool row_, column_;
  Ref<tape::Node> inputs_[2];
  std::optional<Side> sides_[2];
};

Array product_value(const char* op, const Array& x, const Array& y, const Array* out) {
  same_device(op, x, y);
  bool row = x.ndim() == 1, column = y.ndim() == 1;
  Array left, right, result;  // x, y and what is made, where they are not taken as they are
  const Array* a = row ? &(left = add_axes(x, true, false)) : &x;
  const Array* b = column ? &(right = add_axes(y, false, true)) : &y;
  check_aligned(op, *a, *b, x.shape, y.shape);
  Shape shape = product_batch(op, *a, *b);
  if (!row) shape.push_back(a->shape[a->ndim() - 2]);
  if (!column) shape.push_back(b->shape[b->ndim() - 1]);
  DType type = promote(x.dtype, y.dtype);
  DType compute = is_half(type) ? DType::f32 : type;
  if (x.device().kind == 0 && kind(compute) >= Kind::real) cpu::load_blas();

  std::optional<Array> target;
  if (out && compute == type) target = matrix_of(*out, shape, row, column);
  Destination to = destination(op, shape, compute, x.device(), out, {&x, &y}, target.has_value());
  const Array* c = &to.array;
  if (to.direct())
    c = &*target;
  else if (row || column)
    c = &(result = add_axes(add_axes(to.array, false, column), row, false));
  if (a->dtype != compute) a = &(left = astype(*a, compute));
  if (b->dtype != compute) b = &(right = astype(*b, compute));
  record_product(*a, *b, *c, to.direct());
  if (out && !to.direct()) assign(*out, to.array);
  if (out) return *out;
  if (compute != type) return astype(to.array, type);
  return std::move(to.array);
}

Array noted_product(const char* op, const Array& x, const Array& y) {
  tape::Pause pause;
  Array made = product_value(op, x, y, nullptr);
  tape::enter(made, new ProductNode(op, x, y), tape::here());
  return made;
}

Array product(const char* op, const Array& x, const Array& y, const Array* out) {
  bool follows = tape::follows(x);
  if (!tape::follows(y) && !follows) return product_value(op, x, y, out);
  return out ? written_to(op, out, noted_product(op, x, y)) : noted_product(op, x, y);
}

}  // namespace

Array matmul(const Array& a, const Array& b, const Array* out) {
  if (a.ndim() == 0 || b.ndim() == 0)
    fail(ErrorKind::value, "matmul: shapes ", a.shape, " and ", b.shape,
         ": both need at least one dimension (use multiply)");
  return product("matmul", a, b, out);
}

Array dot(const Array& a, const Array& b, const Array* out) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    ElementwiseOptions options;
    options.out = out;
    return elementwise(Row::multiply, {a, b}, options);
  }
  if (b.ndim() <= 2) return product("dot", a, b, out);
  // Sums over the last axis of a and the last but one of b: b becomes one wide matrix.
  int64_t k = b.shape[b.ndim() - 2];
  Array left = add_axes(a, a.ndim() == 1, false);
  check_aligned("dot", left, b, a.shape, b.shape);
  std::vector<int64_t> axes{b.ndim() - 2};
  Shape shape(std::span<const int64_t>(a.shape.begin(), static_cast<size_t>(a.ndim() - 1)));
  int64_t wide = 1;
  for (int i = 0; i < b.ndim(); i++) {
    if (i == b.ndim() - 2) continue;
    axes.push_back(i);
    shape.push_back(b.shape[i]);
    wide *= b.shape[i];
  }
  Array result = reshape(product("dot", a, reshape(transpose(b, axes), Shape{k, wide}), nullptr), shape);
  if (!out) return result;
  destination("dot", shape, result.dtype, a.device(), out, {}, false);
  assign(*out, result);
  return *out;
}

}  // namespace slipstream
