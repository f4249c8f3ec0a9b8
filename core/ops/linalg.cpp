// Linear algebra: checks of shapes and types, and the arrays that results are.
#include "linalg.h"

#include "../cpu/lapack.h"
#include "../engine/engine.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

namespace {

constexpr LinalgOp named(const char* name) { return {Op{name, kMayFail}, Op{name, kMayFail | kLong}}; }

}  // namespace

const LinalgOp kSolve = named("solve"), kTriangular = named("solve_triangular"), kInv = named("inv");
const LinalgOp kDet = named("det"), kSlogdet = named("slogdet"), kCholesky = named("cholesky"), kQr = named("qr");
const LinalgOp kSvd = named("svd"), kEigh = named("eigh"), kEig = named("eig"), kLstsq = named("lstsq");

namespace {

constexpr double kLongWork = 4e7;  // multiplications of one matrix, which LAPACK does in some 20 ms

int64_t rows(const Array& x) { return x.shape[x.ndim() - 2]; }
int64_t columns(const Array& x) { return x.shape[x.ndim() - 1]; }

Shape stack_of(const Array& x) {
  return Shape(std::span<const int64_t>(x.shape.begin(), static_cast<size_t>(x.ndim() - 2)));
}

Shape with(Shape stack, std::initializer_list<int64_t> axes) {
  for (int64_t n : axes) stack.push_back(n);
  return stack;
}

void check_matrices(const char* op, const Array& a) {
  if (a.ndim() < 2)
    fail(ErrorKind::linalg, op, ": an array of ", a.ndim(), " dimensions holds no matrices; at least two are needed");
  if (kind(a.dtype) < Kind::real || is_half(a.dtype))
    fail(ErrorKind::type, op, ": type ", a.dtype, " is not supported; convert to float32 or float64 first");
  if (a.device().kind != 0) fail(ErrorKind::value, op, ": not available on ", a.device(), "; copy to a CPU first");
  cpu::load_lapack();
}

void check_square(const char* op, const Array& a) {
  check_matrices(op, a);
  if (rows(a) != columns(a))
    fail(ErrorKind::linalg, op, ": the last two dimensions of shape ", a.shape, " are not equal");
}

class Call {
 public:
  Call(const LinalgOp& op, std::initializer_list<const Array*> inputs, double work) {
    record_.op = &op[work > kLongWork];
    for (const Array* input : inputs) record_.inputs.emplace_back(*input);
    device_ = (*inputs.begin())->device();
  }
  LinalgParams& params() { return *params_; }
  Array output(const Shape& shape, DType dtype) {
    Array made(shape, dtype, device_);
    record_.outputs.emplace_back(made);
    return made;
  }
  void record() {
    record_.params = params_;
    engine::record(std::move(record_));
  }

 private:
  Record record_;
  std::shared_ptr<LinalgParams> params_ = std::make_shared<LinalgParams>();
  Device device_;
};

double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

// Large single matrices are cut into blocks: no chunk takes long.
double blocked(double work) { return std::min(work, kLongWork); }

Array transposed(const Array& x) { return swapaxes(x, -1, -2); }

// The stacks of a matrix and its right-hand sides, broadcast.
std::array<Array, 2> broadcast_stacks(const char* op, const Array& a, const Array& b) {
  same_device(op, a, b);
  if (b.ndim() < 2 || rows(b) != rows(a))
    fail(ErrorKind::value, op, ": shapes ", a.shape, " and ", b.shape, " do not align: ", rows(a),
         " != ", b.ndim() < 2 ? b.size() : rows(b));
  if (b.dtype != a.dtype) fail(ErrorKind::type, op, ": types ", a.dtype, " and ", b.dtype, " differ");
  Shape stack = broadcast(stack_of(a), stack_of(b), op);
  return {a.broadcast_to(with(stack, {rows(a), columns(a)})), b.broadcast_to(with(stack, {rows(b), columns(b)}))};
}

Array solve_with(const LinalgOp& op, const Array& a, const Array& b, bool lower) {
  check_square(op[0].name, a);
  auto [left, right] = broadcast_stacks(op[0].name, a, b);
  Call call(op, {&left, &right}, blocked(cube(rows(a))));
  call.params().lower = lower;
  Array x = call.output(right.shape, a.dtype);
  call.record();
  return x;
}

}  // namespace

Array solve(const Array& a, const Array& b) { return solve_with(kSolve, a, b, true); }

Array solve_triangular(const Array& a, const Array& b, bool lower) { return solve_with(kTriangular, a, b, lower); }

Array inv(const Array& a, bool nan_if_singular) {
  check_square("inv", a);
  Call call(kInv, {&a}, blocked(cube(rows(a))));
  call.params().nan_if_singular = nan_if_singular;
  Array made = call.output(a.shape, a.dtype);
  call.record();
  return made;
}

Array det(const Array& a) {
  check_square("det", a);
  Call call(kDet, {&a}, blocked(cube(rows(a))));
  Array made = call.output(stack_of(a), a.dtype);
  call.record();
  return made;
}

std::array<Array, 2> slogdet(const Array& a) {
  check_square("slogdet", a);
  Call call(kSlogdet, {&a}, blocked(cube(rows(a))));
  Array sign = call.output(stack_of(a), a.dtype), logarithm = call.output(stack_of(a), real_of(a.dtype));
  call.record();
  return {sign, logarithm};
}

Array cholesky(const Array& a, bool upper) {
  check_square("cholesky", a);
  if (upper) return transposed(cholesky(transposed(a), false));
  Call call(kCholesky, {&a}, blocked(cube(rows(a))));
  Array made = call.output(a.shape, a.dtype);
  call.record();
  return made;
}

std::vector<Array> qr(const Array& a, QrMode mode) {
  check_matrices("qr", a);
  int64_t m = rows(a), n = columns(a), k = std::min(m, n);
  int64_t width = mode == QrMode::complete ? m : k;
  Call call(kQr, {&a}, blocked(cube(k)));
  call.params().mode = mode;
  std::vector<Array> made;
  if (mode == QrMode::raw) {
    made = {call.output(with(stack_of(a), {n, m}), a.dtype), call.output(with(stack_of(a), {k}), a.dtype)};
  } else {
    if (mode != QrMode::r) made.push_back(transposed(call.output(with(stack_of(a), {width, m}), a.dtype)));
    made.push_back(transposed(call.output(with(stack_of(a), {n, width}), a.dtype)));
  }
  call.record();
  return made;
}

std::vector<Array> svd(const Array& a, bool full, bool vectors) {
  check_matrices("svd", a);
  int64_t m = rows(a), n = columns(a), k = std::min(m, n);
  Call call(kSvd, {&a}, 8 * static_cast<double>(std::max(m, n)) * static_cast<double>(k) * static_cast<double>(k));
  call.params().full = full;
  call.params().vectors = vectors;
  std::vector<Array> made;
  if (vectors) made.push_back(call.output(with(stack_of(a), {m, full ? m : k}), a.dtype));
  made.push_back(call.output(with(stack_of(a), {k}), real_of(a.dtype)));
  if (vectors) made.push_back(call.output(with(stack_of(a), {full ? n : k, n}), a.dtype));
  call.record();
  return made;
}

std::vector<Array> eigh(const Array& a, bool upper, bool vectors) {
  check_square("eigh", a);
  Call call(kEigh, {&a}, 4 * cube(rows(a)));
  call.params().lower = !upper;
  call.params().vectors = vectors;
  std::vector<Array> made = {call.output(with(stack_of(a), {rows(a)}), real_of(a.dtype))};
  if (vectors) made.push_back(transposed(call.output(a.shape, a.dtype)));
  call.record();
  return made;
}

std::vector<Array> eig(const Array& a, bool vectors) {
  check_square("eig", a);
  Call call(kEig, {&a}, 20 * cube(rows(a)));
  call.params().vectors = vectors;
  std::vector<Array> made = {call.output(with(stack_of(a), {rows(a)}), complex_of(a.dtype))};
  if (vectors) made.push_back(transposed(call.output(a.shape, complex_of(a.dtype))));
  call.record();
  return made;
}

std::array<Array, 4> lstsq(const Array& a, const Array& b, double rcond) {
  check_matrices("lstsq", a);
  same_device("lstsq", a, b);
  if (a.ndim() != 2 || b.ndim() != 2 || rows(a) != rows(b) || a.dtype != b.dtype)
    fail(ErrorKind::linalg, "lstsq: shapes ", a.shape, " and ", b.shape, " do not fit");
  int64_t m = rows(a), n = columns(a), k = columns(b);
  Call call(kLstsq, {&a, &b}, 8 * cube(std::min(m, n)));
  call.params().rcond = rcond;
  Array x = transposed(call.output(Shape{k, n}, a.dtype)), residuals = call.output(Shape{k}, real_of(a.dtype));
  Array rank = call.output(Shape{}, DType::i64), s = call.output(Shape{std::min(m, n)}, real_of(a.dtype));
  call.record();
  return {x, residuals, rank, s};
}

}  // namespace slipstream
