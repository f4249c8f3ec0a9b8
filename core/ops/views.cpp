// Views: another shape, other strides, the same storage. Only reshape may have to copy.
#include <numeric>

#include "../elementwise.h"
#include "../graph/single.h"
#include "structural.h"

namespace slipstream {

namespace {

// A view of all elements of x, each once; `back` brings a gradient into x's order.
template <class F>
Array rearranged(const char* op, const Array& x, View v, F back) {
  Array made = x.view(std::move(v));
  if (tape::follows_views(x)) tape::note_single(op, made, x, std::move(back));
  return made;
}

// Of the same storage, without axes.
View empty_view(const View& x) { return View(x.dtype, x.offset, {}, {}); }

struct BackToShape {
  Shape shape;
  Array operator()(const Array& g) const { return reshape(g, shape); }
};
BackToShape back_to_shape(const Array& x) { return {x.shape}; }

// The axes made non-negative; raises where one repeats.
std::vector<int> distinct_axes(std::span<const int64_t> axes, int ndim, const char* op) {
  std::vector<int> out;
  uint64_t seen = 0;
  for (int64_t axis : axes) {
    int a = normalize_axis(axis, ndim, op);
    if (seen >> a & 1) fail(ErrorKind::value, op, ": axis ", a, " is given twice");
    seen |= uint64_t{1} << a;
    out.push_back(a);
  }
  return out;
}

// The shape with its -1 filled in; raises if the number of elements does not fit.
Shape resolve_shape(const Shape& wanted, int64_t size) {
  Shape shape = wanted;
  int unknown = -1;
  for (int i = 0; i < shape.size(); i++) {
    if (shape[i] >= 0) continue;
    if (shape[i] != -1) fail(ErrorKind::value, "reshape: negative dimensions are not allowed: ", wanted);
    if (unknown >= 0) fail(ErrorKind::value, "reshape: only one dimension can be -1: ", wanted);
    unknown = i;
    shape[i] = 1;
  }
  int64_t known = count(shape);
  if (unknown >= 0 && known > 0 && size % known == 0) {
    shape[unknown] = size / known;
    known = size;
  } else if (unknown >= 0) {
    known = -1;
  }
  if (known != size) fail(ErrorKind::value, "reshape: an array of size ", size, " does not fit into shape ", wanted);
  return shape;
}

}  // namespace

Array transpose(const Array& x, std::span<const int64_t> axes) {
  if (static_cast<int>(axes.size()) != x.ndim())
    fail(ErrorKind::value, "transpose: ", axes.size(), " axes given for an array of dimension ", x.ndim());
  View v = empty_view(x);
  std::vector<int64_t> inverse(axes.size());
  for (int a : distinct_axes(axes, x.ndim(), "transpose")) {
    inverse[static_cast<size_t>(a)] = v.ndim();
    v.shape.push_back(x.shape[a]);
    v.strides.push_back(x.strides[a]);
  }
  return rearranged("transpose", x, std::move(v),
                    [inverse = std::move(inverse)](const Array& g) { return transpose(g, inverse); });
}

Array transpose(const Array& x) {
  Array made = x.detached();
  made.shape.reverse();
  made.strides.reverse();
  if (tape::follows_views(x)) tape::note_single("transpose", made, x, [](const Array& g) { return transpose(g); });
  return made;
}

Array swapaxes(const Array& x, int64_t axis1, int64_t axis2) {
  int a = normalize_axis(axis1, x.ndim(), "swapaxes"), b = normalize_axis(axis2, x.ndim(), "swapaxes");
  View v = x;
  std::swap(v.shape[a], v.shape[b]);
  std::swap(v.strides[a], v.strides[b]);
  return rearranged("swapaxes", x, std::move(v), [a, b](const Array& g) { return swapaxes(g, a, b); });
}

std::optional<Array> reshape_view(const Array& x, const Shape& wanted) {
  Shape shape = resolve_shape(wanted, x.size());
  std::optional<Strides> strides = reshaped_strides(x.shape, x.strides, itemsize(x.dtype), shape);
  if (!strides) return std::nullopt;
  View v = empty_view(x);
  v.shape = shape;
  v.strides = *strides;
  return rearranged("reshape", x, std::move(v), back_to_shape(x));
}

Array reshape(const Array& x, const Shape& shape) {
  if (std::optional<Array> view = reshape_view(x, shape)) return std::move(*view);
  return *reshape_view(copy(x), shape);
}

Array expand_dims(const Array& x, std::span<const int64_t> axes) {
  int ndim = x.ndim() + static_cast<int>(axes.size());
  std::vector<int> at = distinct_axes(axes, ndim, "expand_dims");
  std::sort(at.begin(), at.end());
  View v = x;
  for (int a : at) {
    v.strides.insert(a, a < v.ndim() ? v.shape[a] * v.strides[a] : static_cast<int64_t>(itemsize(x.dtype)));
    v.shape.insert(a, 1);
  }
  return rearranged("expand_dims", x, std::move(v), back_to_shape(x));
}

Array squeeze(const Array& x, std::optional<std::vector<int64_t>> axes) {
  View v = empty_view(x);
  uint64_t drop = 0;
  if (x.ndim() == 0 && axes && axes->size() == 1 && (axes->front() == 0 || axes->front() == -1)) axes.reset();  // NumPy
  if (axes) {
    for (int a : distinct_axes(*axes, x.ndim(), "squeeze")) {
      if (x.shape[a] != 1)
        fail(ErrorKind::value, "squeeze: axis ", a, " has size ", x.shape[a], ", only axes of size 1 can be dropped");
      drop |= uint64_t{1} << a;
    }
  }
  for (int i = 0; i < x.ndim(); i++) {
    if (axes ? (drop >> i & 1) : x.shape[i] == 1) continue;
    v.shape.push_back(x.shape[i]);
    v.strides.push_back(x.strides[i]);
  }
  return rearranged("squeeze", x, std::move(v), back_to_shape(x));
}

Array broadcast_to(const Array& x, const Shape& shape) {
  count(shape);
  int skip = shape.size() - x.ndim();
  bool fits = skip >= 0;
  for (int i = 0; fits && i < x.ndim(); i++) fits = x.shape[i] == 1 || x.shape[i] == shape[skip + i];
  if (!fits) fail(ErrorKind::value, "broadcast_to: an array of shape ", x.shape, " cannot be broadcast to ", shape);
  Array made = x.broadcast_to(shape);
  if (tape::follows_views(x))
    tape::note_single("broadcast_to", made, x,
                      [from = x.shape](const Array& g) { return tape::back_to(g, from, g.dtype); });
  return made;
}

Array flip(const Array& x, std::span<const int64_t> axes) {
  View v = x;
  for (int a : distinct_axes(axes, x.ndim(), "flip")) {
    if (v.shape[a] > 0) v.offset += (v.shape[a] - 1) * v.strides[a];
    v.strides[a] = -v.strides[a];
  }
  return rearranged("flip", x, std::move(v),
                    [axes = std::vector<int64_t>(axes.begin(), axes.end())](const Array& g) { return flip(g, axes); });
}

Array slice(const Array& x, int axis, int64_t start, int64_t step, int64_t length) {
  return tape::selected("slice", x, [=](View v) {
    if (length > 0) v.offset += start * v.strides[axis];
    v.shape[axis] = length;
    v.strides[axis] *= length > 1 ? step : 1;
    return v;
  });
}

Array select(const Array& x, int axis, int64_t index) {
  int64_t n = x.shape[axis];
  if (index < -n || index >= n)
    fail(ErrorKind::index, "index ", index, " is out of bounds for axis ", axis, " with size ", n);
  return tape::selected("select", x, [=](View v) {
    v.offset += (index < 0 ? index + n : index) * v.strides[axis];
    v.shape.erase(axis);
    v.strides.erase(axis);
    return v;
  });
}

Array reinterpret(const Array& x, DType dtype) {
  if (dtype == DType::b1 && x.dtype != DType::b1)
    fail(ErrorKind::type, "view: bytes of ", x.dtype, " need not be 0 or 1, as those of bool are; use x.astype(bool)");
  auto from = static_cast<int64_t>(itemsize(x.dtype)), to = static_cast<int64_t>(itemsize(dtype));
  View v = x;
  v.dtype = dtype;
  if (from != to) {
    int last = x.ndim() - 1;
    if (last < 0 || (x.shape[last] != 1 && x.strides[last] != from))
      fail(ErrorKind::value, "view: to see ", x.dtype, " as ", dtype, ", the last axis must be contiguous");
    if (x.shape[last] * from % to)
      fail(ErrorKind::value, "view: ", x.shape[last], " elements of ", x.dtype, " along the last axis are no whole ",
           dtype);
    v.shape[last] = x.shape[last] * from / to;
    v.strides[last] = to;
  }
  bool aligned = v.offset % to == 0;
  for (int i = 0; i < v.ndim(); i++) aligned = aligned && (v.shape[i] < 2 || v.strides[i] % to == 0);
  if (!aligned) fail(ErrorKind::value, "view: elements of ", dtype, " would not be aligned; copy the array first");
  return x.view(std::move(v));
}

Array diagonal(const Array& x, int64_t offset, int axis1, int axis2) {
  if (x.ndim() < 2) fail(ErrorKind::value, "diagonal: needs at least two dimensions, not shape ", x.shape);
  int a = normalize_axis(axis1, x.ndim(), "diagonal"), b = normalize_axis(axis2, x.ndim(), "diagonal");
  if (a == b) fail(ErrorKind::value, "diagonal: axis1 and axis2 are both ", a);
  int64_t rows = x.shape[a], columns = x.shape[b];
  int64_t n = offset >= 0 ? std::min(rows, columns - std::min(offset, columns))
                          : std::min(rows - std::min(-offset, rows), columns);
  return tape::selected("diagonal", x, [=](View v) {
    if (n > 0) v.offset += offset >= 0 ? offset * v.strides[b] : -offset * v.strides[a];
    int64_t step = v.strides[a] + v.strides[b];
    v.shape.erase(std::max(a, b));
    v.shape.erase(std::min(a, b));
    v.strides.erase(std::max(a, b));
    v.strides.erase(std::min(a, b));
    v.shape.push_back(n);
    v.strides.push_back(step);
    return v;
  });
}

}  // namespace slipstream
