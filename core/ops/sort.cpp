// sort, argsort, partition, argpartition and topk along any axis: the kernels see rows, so that other axes are copied
// to the end and back.
#include "sort.h"

#include <algorithm>

#include "../elementwise.h"
#include "../graph/tape.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kSort{"sort"};
const Op kArgsort{"argsort"};
const Op kPartition{"partition"};
const Op kArgpartition{"argpartition"};
const Op kTop{"topk"};

namespace {

// One call on lines along `axis`; each line of the result has n elements.
Array along(const Op& op, const Array& x, int axis, int64_t n, DType dtype, std::shared_ptr<const OpParams> params,
            const Array* out) {
  int last = x.ndim() - 1;
  Shape shape = x.shape;
  shape[axis] = n;
  Destination to = destination(op.name, shape, dtype, x.device(), out, {&x}, axis == last && out && out->contiguous());
  Record call;
  call.op = &op;
  call.params = std::move(params);
  call.inputs.emplace_back(contiguous(axis == last ? x : swapaxes(x, axis, last)));
  if (axis == last) return finish(std::move(call), to);
  std::swap(shape[axis], shape[last]);
  Array lines = swapaxes(record_new(std::move(call), Array(shape, dtype, x.device())), axis, last);
  if (!out) return contiguous(lines);
  assign(*out, lines);
  return *out;
}

// The elements of lines along `axis` at the given places, which are as many as there are lines.
Array gather(const Array& x, const Array& places, int axis) {
  int last = x.ndim() - 1;
  Array lines = swapaxes(x, axis, last), at = swapaxes(places, axis, last);
  if (at.size() == 0) return copy(x);
  int64_t n = lines.shape[last], count = at.size() / at.shape[last];
  Array starts = arange(Scalar::of(int64_t{0}), Scalar::of(n), count, DType::i64, x.device());
  Array flat = elementwise(Row::add, {Arg(reshape(at, Shape{count, -1})), Arg(reshape(starts, Shape{count, 1}))});
  return swapaxes(reshape(take(reshape(lines, Shape{-1}), flat, 0, IndexMode::raise), at.shape), axis, last);
}

// Where a history is kept, all elements are found by their places, and their gradients by the reverse of these.
Array ordered(const Op& op, const Array& x, const Array& order, int64_t axis) {
  int at = normalize_axis(axis, x.ndim(), op.name);
  Array made = gather(x.detached(), order, at);
  tape::note(op.name, made, {&x}, [order = tape::Saved(order), at](const Array& g) {
    return std::vector<Array>{gather(g, argsort(order.get(), at, false), at)};
  });
  return made;
}

Array sorted(const Op& op, const Array& x, int64_t axis, bool descending, DType dtype, const Array* out) {
  int at = normalize_axis(axis, x.ndim(), op.name);
  auto params = std::make_shared<SortParams>();
  params->descending = descending;
  return along(op, x, at, x.shape[at], dtype, params, out);
}

Array parted(const Op& op, const Array& x, std::span<const int64_t> places, int64_t axis, DType dtype) {
  int at = normalize_axis(axis, x.ndim(), op.name);
  int64_t n = x.shape[at];
  auto params = std::make_shared<SelectParams>();
  for (int64_t place : places) {
    if (place < -n || place >= n)
      fail(ErrorKind::value, op.name, ": kth=", place, " is out of bounds for axis ", at, " with size ", n);
    params->places.push_back(place < 0 ? place + n : place);
  }
  std::sort(params->places.begin(), params->places.end());
  return along(op, x, at, n, dtype, params, nullptr);
}

}  // namespace

Array sort(const Array& x, int64_t axis, bool descending, const Array* out) {
  if (tape::follows(x) && !out) return ordered(kSort, x, argsort(x.detached(), axis, descending), axis);
  return sorted(kSort, x, axis, descending, x.dtype, out);
}

Array argsort(const Array& x, int64_t axis, bool descending) {
  return sorted(kArgsort, x, axis, descending, DType::i64, nullptr);
}

Array partition(const Array& x, std::span<const int64_t> places, int64_t axis) {
  if (tape::follows(x)) return ordered(kPartition, x, argpartition(x.detached(), places, axis), axis);
  return parted(kPartition, x, places, axis, x.dtype);
}

Array argpartition(const Array& x, std::span<const int64_t> places, int64_t axis) {
  return parted(kArgpartition, x, places, axis, DType::i64);
}

Array topk(const Array& x, int64_t k, int64_t axis, bool ascending) {
  int at = normalize_axis(axis, x.ndim(), "topk");
  if (k < 1 || k > x.shape[at])
    fail(ErrorKind::value, "topk: k=", k, " is not between 1 and ", x.shape[at], ", the size of axis ", at);
  if (k == x.shape[at]) return argsort(x, axis, !ascending);
  auto params = std::make_shared<SelectParams>();
  params->places = {k - 1};
  params->descending = !ascending;
  return along(kTop, x, at, k, DType::i64, params, nullptr);
}

}  // namespace slipstream
