// take, and choices along an axis: cases of gather and scatter.
#include "check.h"
#include "index.h"

namespace slipstream {

const Op kTake{"take", kMayFail};

Array take(const Array& x, const Array& indices, int64_t axis, IndexMode mode, const Array* out) {
  if (x.ndim() == 0) {
    normalize_axis(axis, 1, "take");
    return take(reshape(x, Shape{1}), indices, 0, mode, out);
  }
  int at = normalize_axis(axis, x.ndim(), "take");
  Choice choice;
  choice.indices.push_back({at, indices, at});
  choice.place = at;
  choice.mode = mode;
  return gather(kTake, x, choice, out);
}

namespace {

Choice along(const char* op, const Array& x, const Array& indices, int64_t axis, IndexMode mode) {
  int at = normalize_axis(axis, x.ndim(), op);
  Choice choice;
  choice.indices.push_back({at, indices, at});
  choice.along = true;
  choice.mode = mode;
  return choice;
}

Choice of_first_axes(const char* op, const Array& x, std::span<const Array> indices, IndexMode mode) {
  if (static_cast<int>(indices.size()) > x.ndim())
    fail(ErrorKind::index, op, ": ", indices.size(), " index arrays for an array of dimension ", x.ndim());
  Choice choice;
  choice.mode = mode;
  for (const Array& index : indices) {
    int axis = static_cast<int>(choice.indices.size());
    choice.indices.push_back({axis, index, axis});
  }
  return choice;
}

const Op& scatter_op(bool add) { return add ? kIndexAdd : kIndexUpdate; }

}  // namespace

Array take_along(const Array& x, const Array& indices, int64_t axis, IndexMode mode) {
  return gather(kTakeAlong, x, along("take_along_axis", x, indices, axis, mode));
}

void put_along(const Array& x, const Array& indices, const Arg& value, int64_t axis, IndexMode mode, bool add) {
  scatter(scatter_op(add), x, along("put_along_axis", x, indices, axis, mode), value);
}

Array gather(const Array& x, std::span<const Array> indices, IndexMode mode) {
  return gather(kIndex, x, of_first_axes("index", x, indices, mode));
}

void scatter(const Array& x, std::span<const Array> indices, const Arg& value, IndexMode mode, bool add) {
  const Op& op = scatter_op(add);
  scatter(op, x, of_first_axes(op.name, x, indices, mode), value);
}

Array scattered(const Array& x, std::span<const Array> indices, const Arg& value, IndexMode mode, bool add) {
  const Op& op = scatter_op(add);
  return scattered(op, x, of_first_axes(op.name, x, indices, mode), value);
}

}  // namespace slipstream
