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

void note_scan(const Op& op, const Array& made, const Array& x, int axis) {
  if (&op == &kCumsum) {
    tape::note(op.name, made, {&x}, [axis, shape = x.shape, dtype = x.dtype](const Array& g) {
      return std::vector<Array>{tape::back_to(sums_from(g, axis), shape, dtype)};
    });
    return;
  }
  tape::note(op.name, made, {&x}, [axis, x = tape::Saved(x), r = tape::Saved::result(made)](const Array& g) {
    Array value = x.get();
    Array sums = sums_from(elementwise(Row::multiply, {Arg(g), Arg(r.get())}), axis);
    return std::vector<Array>{
        tape::back_to(elementwise(Row::divide, {Arg(sums), Arg(value)}), value.shape, value.dtype)};
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

Array cumsum(const Array& x, int64_t axis, std::optional<DType> dtype, const Array* out) {
  return scan(kCumsum, x, axis, dtype, out);
}

Array cumprod(const Array& x, int64_t axis, std::optional<DType> dtype, const Array* out) {
  return scan(kCumprod, x, axis, dtype, out);
}

}  // namespace slipstream
