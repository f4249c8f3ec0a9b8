// argmin and argmax, along an axis or over all elements in row-major order.
#include "argreduce.h"

#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kArgmin{"argmin"};
const Op kArgmax{"argmax"};

namespace {

Array argreduce(const Op& op, const Array& x, std::optional<int64_t> axis, bool keepdims, const Array* out) {
  if (!axis || x.ndim() == 0) {
    if (axis) normalize_axis(*axis, 1, op.name);
    if (x.size() == 0)
      fail(ErrorKind::value, op.name, ": an array of shape ", x.shape, " has no elements to choose from");
    std::optional<Array> flat;
    Shape shape(keepdims ? x.ndim() : 0, 1);
    if (out) {
      destination(op.name, shape, DType::i64, x.device(), out, {});
      flat = reshape(*out, Shape{});
    }
    Array result = argreduce(op, reshape(x, Shape{x.size()}), 0, false, flat ? &*flat : nullptr);
    if (out) return *out;
    return keepdims ? reshape(result, shape) : result;
  }
  int at = normalize_axis(*axis, x.ndim(), op.name);
  if (x.shape[at] == 0)
    fail(ErrorKind::value, op.name, ": axis ", at, " of shape ", x.shape, " has no elements to choose from");
  Shape shape = x.shape;
  shape[at] = 1;
  Shape visible = shape;
  if (!keepdims) visible.erase(at);
  Destination to = destination(op.name, visible, DType::i64, x.device(), out, {&x});
  auto params = std::make_shared<AxisParams>();
  params->axis = at;
  Record call;
  call.op = &op;
  call.params = params;
  call.inputs.emplace_back(x);
  // The kernel sees the axis it reduces; the caller does not.
  Array written = keepdims ? to.array : expand_dims(to.array, std::array<int64_t, 1>{at});
  return finish(std::move(call), to, &written);
}

}  // namespace

Array argmin(const Array& x, std::optional<int64_t> axis, bool keepdims, const Array* out) {
  return argreduce(kArgmin, x, axis, keepdims, out);
}

Array argmax(const Array& x, std::optional<int64_t> axis, bool keepdims, const Array* out) {
  return argreduce(kArgmax, x, axis, keepdims, out);
}

}  // namespace slipstream
