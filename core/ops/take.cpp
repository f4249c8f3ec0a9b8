// take: which indices are in range is only known when it runs, so an index out of range fails the result.
#include "take.h"

#include "../elementwise.h"
#include "check.h"

namespace slipstream {

const Op kTake{"take", kMayFail};

Array take(const Array& x, const Array& indices, int64_t axis, IndexMode mode, const Array* out) {
  if (x.ndim() == 0) {
    normalize_axis(axis, 1, "take");
    return take(reshape(x, Shape{1}), indices, 0, mode, out);
  }
  int at = normalize_axis(axis, x.ndim(), "take");
  same_device("take", x, indices);
  if (!is_integer(indices.dtype) && indices.dtype != DType::b1)
    fail(ErrorKind::type, "take: indices must be integers, not ", indices.dtype);
  if (x.shape[at] == 0 && indices.size() > 0)
    fail(ErrorKind::index, "take: cannot take ", indices.size(), " elements from axis ", at, " of size 0");
  Shape shape;
  for (int i = 0; i < at; i++) shape.push_back(x.shape[i]);
  for (int64_t n : indices.shape) shape.push_back(n);
  for (int i = at + 1; i < x.ndim(); i++) shape.push_back(x.shape[i]);
  Destination to = destination("take", shape, x.dtype, x.device(), out, {&x, &indices}, out && out->contiguous());
  auto params = std::make_shared<TakeParams>();
  params->axis = at;
  params->mode = mode;
  Record call;
  call.op = &kTake;
  call.params = params;
  call.inputs.emplace_back(x);
  call.inputs.emplace_back(contiguous(indices));
  return finish(std::move(call), to);
}

}  // namespace slipstream
