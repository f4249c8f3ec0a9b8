// concatenate: checks shapes, finds the common type, records one call.
#include "join.h"

#include "../elementwise.h"
#include "../graph/tape.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kConcatenate{"concatenate"};

namespace {

Shape joined_shape(std::span<const Array> arrays, int axis) {
  Shape shape = arrays[0].shape;
  for (size_t i = 1; i < arrays.size(); i++) {
    const Shape& other = arrays[i].shape;
    bool fits = other.size() == shape.size();
    for (int d = 0; fits && d < shape.size(); d++) fits = d == axis || other[d] == shape[d];
    if (!fits)
      fail(ErrorKind::value, "concatenate: shapes ", arrays[0].shape, " and ", other, " (array ", i,
           ") differ in more than axis ", axis);
    shape[axis] += other[axis];
  }
  return shape;
}

// From the highest kind down, as NumPy: int16, uint16 and float16 give float32, though int32 and float16 do not.
DType common_type(std::span<const Array> arrays) {
  std::optional<DType> type;
  for (Kind k : {Kind::complex, Kind::real, Kind::integer, Kind::boolean})
    for (const Array& x : arrays)
      if (kind(x.dtype) == k) type = type ? promote(*type, x.dtype) : x.dtype;
  return *type;
}

// Each array's gradient is its part of the result's.
void note_parts(const Array& result, std::span<const Array> arrays, int axis) {
  std::vector<std::pair<int64_t, DType>> parts;
  for (const Array& x : arrays) parts.emplace_back(x.shape[axis], x.dtype);
  tape::note("concatenate", result, arrays, [parts = std::move(parts), axis](const Array& g) {
    std::vector<Array> gradients(parts.size());
    int64_t start = 0;
    for (size_t i = 0; i < parts.size(); i++) {
      auto [length, dtype] = parts[i];
      if (tape::wanted(static_cast<int>(i))) {
        Array part = slice(g, axis, start, 1, length);
        gradients[i] = tape::back_to(part, part.shape, dtype);
      }
      start += length;
    }
    return gradients;
  });
}

}  // namespace

Array concatenate(std::span<const Array> arrays, int64_t axis, const Array* out, std::optional<DType> dtype) {
  if (arrays.empty()) fail(ErrorKind::value, "concatenate: needs at least one array");
  if (arrays[0].ndim() == 0) fail(ErrorKind::value, "concatenate: arrays without dimensions cannot be joined");
  int at = normalize_axis(axis, arrays[0].ndim(), "concatenate");
  if (out && tape::follows_any(arrays))
    return written_to("concatenate", out, concatenate(arrays, axis, nullptr, dtype));
  Shape shape = joined_shape(arrays, at);
  bool overlaps = false;
  for (const Array& x : arrays) {
    same_device("concatenate", arrays[0], x);
    overlaps |= out && out->storage() == x.storage();
  }
  DType type = dtype ? *dtype : common_type(arrays);
  Destination to = destination("concatenate", shape, type, arrays[0].device(), out, {}, !overlaps);
  auto params = std::make_shared<JoinParams>();
  params->axis = at;
  Record call;
  call.op = &kConcatenate;
  call.params = std::move(params);
  for (const Array& x : arrays) {
    if (x.dtype == type)
      call.inputs.emplace_back(x);
    else
      call.inputs.emplace_back(astype(x.detached(), type));
  }
  Array made = finish(std::move(call), std::move(to));
  if (tape::follows_any(arrays)) note_parts(made, arrays, at);
  return made;
}

Array stack(std::span<const Array> arrays, int64_t axis, const Array* out, std::optional<DType> dtype) {
  if (arrays.empty()) fail(ErrorKind::value, "stack: needs at least one array");
  int64_t at = normalize_axis(axis, arrays[0].ndim() + 1, "stack");
  std::vector<Array> parts;
  for (const Array& x : arrays) {
    if (!(x.shape == arrays[0].shape))
      fail(ErrorKind::value, "stack: the arrays have different shapes ", arrays[0].shape, " and ", x.shape);
    parts.push_back(expand_dims(x, std::span(&at, 1)));
  }
  return concatenate(parts, at, out, dtype);
}

}  // namespace slipstream
