// cumsum and cumprod: NumPy's types (small integers add up in 64 bits), any axis.
#include "scan.h"

#include "../elementwise.h"
#include "../graph/tape.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kCumsum{"cumsum"};
const Op kCumprod{"cumprod"};

namespace {

DType scan_type(DType t) {
  if (t == DType::b1 || is_signed_integer(t)) return DType::i64;
  return is_integer(t) ? DType::u64 : t;
}

// Sums of all elements from each on.
Array sums_from(const Array& x, int axis) {
  std::array<int64_t, 1> along{axis};
  return flip(cumsum(flip(x, along), axis, x.dtype), along);
}

// Moved towards the start of the axis; zeros come in at its end.
Array moved_up(const Array& x, int axis, int64_t steps) {
  Shape shape = x.shape;
  shape[axis] = steps;
  const Array parts[] = {slice(x, axis, steps, 1, x.shape[axis] - steps),
                         full(shape, Scalar::of(int64_t{0}), x.dtype, x.device())};
  return concatenate(parts, axis);
}

// g[i] + x[i+1] g[i+1] + x[i+1] x[i+2] g[i+2] + ...: in steps that double, and right where x is 0.
Array weighted_by_products(const Array& g, const Array& x, int axis) {
  int64_t n = x.shape[axis];
  if (n == 0) return g;
  Array sums = g, factors = moved_up(x, axis, 1);
  for (int64_t step = 1; step < n; step *= 2) {
    Array more = elementwise(Row::multiply, {Arg(factors), Arg(moved_up(sums, axis, step))});
    sums = elementwise(Row::add, {Arg(sums), Arg(more)});
    factors = elementwise(Row::multiply, {Arg(factors), Arg(moved_up(factors, axis, step))});
  }
  return sums;
}

void note_scan(const Op& op, const Array& made, const Array& x, int axis) {
  if (&op == &kCumsum) {
    tape::note(op.name, made, {&x}, [axis, shape = x.shape, dtype = x.dtype](const Array& g) {
      return std::vector<Array>{tape::back_to(sums_from(g, axis), shape, dtype)};
    });
    return;
  }
  tape::note(op.name, made, {&x}, [axis, x = tape::Saved(x)](const Array& g) {
    Array value = x.get();
    Array gradient =
        elementwise(Row::multiply, {Arg(products_before(value, axis)), Arg(weighted_by_products(g, value, axis))});
    return std::vector<Array>{tape::back_to(gradient, value.shape, value.dtype)};
  });
}

Array scan(const Op& op, const Array& x, int64_t axis, std::optional<DType> dtype, const Array* out) {
  if (x.ndim() == 0) return scan(op, reshape(x, Shape{1}), axis, dtype, out);  // NumPy's result has one dimension
  int at = normalize_axis(axis, x.ndim(), op.name);
  DType type = dtype ? *dtype : scan_type(x.dtype);
  if (out && !dtype) {
    destination(op.name, x.shape, x.dtype, x.device(), out, {});  // raises if out cannot hold the elements
    type = out->dtype;
  }
  if (out && tape::follows(x)) return written_to(op.name, out, scan(op, x, axis, type, nullptr));
  Destination to = destination(op.name, x.shape, type, x.device(), out, {&x});
  auto params = std::make_shared<AxisParams>();
  params->axis = at;
  Record call;
  call.op = &op;
  call.params = params;
  call.inputs.emplace_back(x.dtype == type ? x : astype(x.detached(), type));
  Array made = finish(std::move(call), to);
  if (tape::follows(x) && kind(type) >= Kind::real) note_scan(op, made, x, at);
  return made;
}

}  // namespace

Array products_before(const Array& x, int axis) {
  Shape shape = x.shape;
  if (shape[axis] == 0) return x;
  shape[axis] = 1;
  const Array parts[] = {full(shape, Scalar::of(int64_t{1}), x.dtype, x.device()),
                         cumprod(slice(x, axis, 0, 1, x.shape[axis] - 1), axis, x.dtype)};
  return concatenate(parts, axis);
}

Array cumsum(const Array& x, int64_t axis, std::optional<DType> dtype, const Array* out) {
  return scan(kCumsum, x, axis, dtype, out);
}

Array cumprod(const Array& x, int64_t axis, std::optional<DType> dtype, const Array* out) {
  return scan(kCumprod, x, axis, dtype, out);
}

}  // namespace slipstream
