// Gather and scatter: what they check and record. Which indices are in range is only known when they run, so that an
// index out of range fails the result.
#include "index.h"

#include "../engine/engine.h"
#include "check.h"

namespace slipstream {

const Op kIndex{"index", kMayFail}, kTakeAlong{"take_along_axis", kMayFail};
const Op kIndexUpdate{"index_update", kMayFail}, kIndexAdd{"index_add", kMayFail};

namespace {

// Integers as they are; floats, as MXNet's programs use them, are cut to integers.
Array as_indices(const char* op, const Array& x, const Array& index) {
  same_device(op, x, index);
  if (is_complex(index.dtype)) fail(ErrorKind::index, op, ": an array of ", index.dtype, " holds no indices");
  return is_float(index.dtype) ? astype(index, DType::i64) : index;
}

void add_axis(const char* op, Chosen& chosen, Array&& index, const IndexParams::Axis& axis) {
  if (axis.size == 0 && index.size() > 0)
    fail(ErrorKind::index, op, ": no index is in range for axis ", axis.number, " with size 0");
  chosen.indices.push_back(std::move(index));
  chosen.axes.push_back(axis);
}

std::shared_ptr<IndexParams> params_of(const Chosen& chosen, IndexMode mode) {
  auto params = std::make_shared<IndexParams>();
  params->axes = chosen.axes;
  params->mode = mode;
  params->unique = chosen.unique;
  return params;
}

Shape common_shape(const char* op, std::span<const Shape> shapes) {
  try {
    Shape common;
    for (const Shape& s : shapes) common = broadcast(common, s, op);
    return common;
  } catch (const Error&) {
    std::ostringstream all;
    for (const Shape& s : shapes) all << ' ' << s;
    fail(ErrorKind::index, op, ": index arrays of the shapes", all.str(), " cannot be broadcast together");
  }
}

}  // namespace

Chosen choose(const char* op, const Array& x, std::vector<AxisIndex> given, int place, std::vector<Shape> shapes) {
  for (AxisIndex& i : given) {
    i.index = as_indices(op, x, i.index);
    shapes.push_back(i.index.shape);
  }
  Shape common = common_shape(op, shapes);
  Chosen chosen;
  View view{x.dtype, x.offset, {}, {}};
  auto add_common = [&] {
    for (int64_t n : common) {
      view.shape.push_back(n);
      view.strides.push_back(0);
    }
  };
  uint64_t indexed = 0;
  for (const AxisIndex& i : given) indexed |= uint64_t{1} << i.axis;
  int kept = 0;
  for (int a = 0; a < x.ndim(); a++) {
    if (indexed >> a & 1) continue;
    if (kept++ == place) add_common();
    view.shape.push_back(x.shape[a]);
    view.strides.push_back(x.strides[a]);
  }
  if (kept <= place) add_common();
  if (view.shape.size() > kMaxDims)
    fail(ErrorKind::index, op, ": the result has ", view.shape.size(), " dimensions, at most ", kMaxDims, " can be");
  count(view.shape);
  int after = view.shape.size() - place - common.size();
  for (AxisIndex& i : given) {
    View v{i.index.dtype, i.index.offset, view.shape, Strides(place, 0)};
    for (int64_t s : broadcast_strides(i.index.shape, i.index.strides, common)) v.strides.push_back(s);
    v.strides.resize(v.strides.size() + after, 0);
    add_axis(op, chosen, i.index.view(std::move(v)), {x.shape[i.axis], x.strides[i.axis], i.number});
  }
  chosen.x = x.view(std::move(view));
  return chosen;
}

Chosen choose_along(const char* op, const Array& x, const Array& index, int64_t axis) {
  int at = normalize_axis(axis, x.ndim(), op);
  if (index.ndim() != x.ndim())
    fail(ErrorKind::value, op, ": the indices have ", index.ndim(), " dimensions, the array has ", x.ndim());
  Shape without = x.shape;
  without[at] = 1;
  Shape shape = common_shape(op, std::array{without, index.shape});
  Chosen chosen;
  View view{x.dtype, x.offset, shape, Strides(x.ndim(), 0)};
  for (int a = 0; a < x.ndim(); a++)
    if (a != at && x.shape[a] == shape[a]) view.strides[a] = x.strides[a];
  add_axis(op, chosen, as_indices(op, x, index).broadcast_to(shape), {x.shape[at], x.strides[at], at});
  chosen.x = x.view(std::move(view));
  return chosen;
}

Array gather(const Op& op, Chosen&& chosen, IndexMode mode, const Array* out) {
  const Array& x = chosen.x;
  bool apart = true;
  for (const Array& index : chosen.indices) apart &= !out || index.storage() != out->storage();
  Destination to = destination(op.name, x.shape, x.dtype, x.device(), out, {&x}, apart);
  Record call;
  call.op = &op;
  call.params = params_of(chosen, mode);
  call.inputs.emplace_back(x);
  for (const Array& index : chosen.indices) call.inputs.emplace_back(index);
  return finish(std::move(call), to);
}

void scatter(const Op& op, Chosen&& chosen, const Arg& value, IndexMode mode) {
  const Array& x = chosen.x;
  Array from = value.array;
  if (value.is_scalar()) {
    from = Array(Shape{}, x.dtype, x.device());
    assign(from, value);
  }
  if (!(from.device() == x.device())) from = copy_to_device(from, x.device());
  if (from.dtype != x.dtype) from = astype(from, x.dtype);
  while (from.ndim() > x.ndim() && from.shape[0] == 1) from = select(from, 0, 0);
  bool fits = from.ndim() <= x.ndim();
  for (int i = 0, skip = x.ndim() - from.ndim(); fits && i < from.ndim(); i++)
    fits = from.shape[i] == 1 || from.shape[i] == x.shape[skip + i];
  if (!fits)
    fail(ErrorKind::value, op.name, ": values of shape ", value.array.shape, " cannot be broadcast to the ",
         "indexed elements' shape ", x.shape);
  if (from.storage() == x.storage()) from = copy(from);
  auto params = params_of(chosen, mode);
  params->add = &op == &kIndexAdd;
  Record call;
  call.op = &op;
  call.params = params;
  call.in_place = true;
  call.inputs.emplace_back(from.broadcast_to(x.shape));
  for (const Array& index : chosen.indices) {
    if (index.storage() == x.storage())
      call.inputs.emplace_back(copy(index));
    else
      call.inputs.emplace_back(index);
  }
  call.outputs.emplace_back(x);
  engine::record(std::move(call));
}

}  // namespace slipstream
