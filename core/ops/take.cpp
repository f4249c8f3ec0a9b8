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
  return gather(kTake, choose("take", x, {{at, indices, at}}, at), mode, out);
}

Array take_along(const Array& x, const Array& indices, int64_t axis, IndexMode mode) {
  return gather(kTakeAlong, choose_along("take_along_axis", x, indices, axis), mode);
}

void put_along(const Array& x, const Array& indices, const Arg& value, int64_t axis, IndexMode mode, bool add) {
  scatter(add ? kIndexAdd : kIndexUpdate, choose_along("put_along_axis", x, indices, axis), value, mode);
}

namespace {

Chosen choose_first(const char* op, const Array& x, std::span<const Array> indices) {
  if (static_cast<int>(indices.size()) > x.ndim())
    fail(ErrorKind::index, op, ": ", indices.size(), " index arrays for an array of dimension ", x.ndim());
  std::vector<AxisIndex> given;
  for (const Array& index : indices) {
    int axis = static_cast<int>(given.size());
    given.push_back({axis, index, axis});
  }
  return choose(op, x, std::move(given), 0);
}

}  // namespace

Array gather(const Array& x, std::span<const Array> indices, IndexMode mode) {
  return gather(kIndex, choose_first("index", x, indices), mode);
}

void scatter(const Array& x, std::span<const Array> indices, const Arg& value, IndexMode mode, bool add) {
  const Op& op = add ? kIndexAdd : kIndexUpdate;
  scatter(op, choose_first(op.name, x, indices), value, mode);
}

}  // namespace slipstream
