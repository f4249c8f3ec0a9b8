// Recording reductions, and what is composed of them.
#include <bit>
#include <cmath>

#include "elementwise.h"
#include "engine/engine.h"
#include "graph/tape.h"
#include "ops/structural.h"
#include "program.h"

namespace slipstream {

namespace {

struct ReduceTypes {
  DType compute, result;
};

// The accumulator and the result: NumPy's, with 64-bit accumulators for integers and float32 for 16-bit floats.
ReduceTypes reduce_types(Row row, DType x, std::optional<DType> dtype) {
  Rule rule = row_rule(row);
  if (rule == Rule::TRUTH) return {DType::b1, dtype.value_or(DType::b1)};
  DType result = dtype.value_or(x);
  if (rule == Rule::SUM && !dtype && (is_integer(x) || x == DType::b1))
    result = x == DType::b1 || info(x).is_signed ? DType::i64 : DType::u64;
  DType compute = is_half(result) ? DType::f32 : result;
  if (rule == Rule::SUM && is_integer(result)) compute = info(result).is_signed ? DType::i64 : DType::u64;
  return {compute, result};
}

Shape kept_shape(const Shape& shape, uint32_t axes) {
  Shape kept = shape;
  for (int i = 0; i < shape.size(); i++)
    if (axes >> i & 1) kept[i] = 1;
  return kept;
}

int64_t reduced_count(const Shape& shape, uint32_t axes) {
  int64_t n = 1;
  for (int i = 0; i < shape.size(); i++)
    if (axes >> i & 1) n *= shape[i];
  return n;
}

View without_axes(const View& view, uint32_t axes) {
  View v{view.dtype, view.offset, {}, {}};
  for (int i = 0; i < view.ndim(); i++) {
    if (axes >> i & 1) continue;
    v.shape.push_back(view.shape[i]);
    v.strides.push_back(view.strides[i]);
  }
  return v;
}

// The output given by the caller, seen with an axis of size 1 for each reduced one.
Array with_axes(const Array& out, const Shape& kept, uint32_t axes, bool keepdims, const char* op) {
  View v{out.dtype, out.offset, kept, Strides(kept.size())};
  int from = 0;
  bool fits = true;
  for (int i = 0; i < kept.size(); i++) {
    if ((axes >> i & 1) && !keepdims) continue;
    fits &= from < out.ndim() && out.shape[from] == kept[i];
    if (fits) v.strides[i] = out.strides[from];
    from++;
  }
  if (!fits || from != out.ndim()) {
    Shape wanted;
    for (int i = 0; i < kept.size(); i++)
      if (keepdims || !(axes >> i & 1)) wanted.push_back(kept[i]);
    fail(ErrorKind::value, op, ": an output of shape ", out.shape, " cannot hold a result of shape ", wanted);
  }
  return out.view(std::move(v));
}

void check_type(bool fits, Row row, DType from, DType to) {
  if (!fits)
    fail(ErrorKind::type, row_op(row).name, ": a result of type ", from, " cannot be written to an array of type ", to,
         "; convert one with astype()");
}

// The record itself; `to` has the input's number of dimensions.
SourceId record_reduction(Row row, DType compute, const Array& x, uint32_t axes, const Array& to, bool in_place) {
  Record record;
  record.op = &row_op(row);
  record.compute = compute;
  record.in_place = in_place;
  auto params = std::make_shared<ReduceParams>();
  params->axes = axes;
  record.params = std::move(params);
  if (in_place && x.storage() == to.storage())
    record.inputs.emplace_back(copy(x));
  else
    record.inputs.emplace_back(x);
  if (in_place)
    record.outputs.emplace_back(to);
  else
    record.outputs.emplace_back(to, Operand::Fresh());
  return engine::record(std::move(record));
}

Array new_reduction(Row row, ReduceTypes types, const Array& x, uint32_t axes, const Shape& kept, bool keepdims) {
  Array result(kept, types.result, x.device());
  SourceId source = record_reduction(row, types.compute, x, axes, result, false);
  if (!keepdims) static_cast<View&>(result) = without_axes(result, axes);
  if (tape::recording()) tape::note_reduction(row, x, axes, result, source);
  return result;
}

// To `out`, where that is given.
Array deliver(Array result, const ReduceOptions& options) {
  if (!options.out) return result;
  check_type(kind(result.dtype) <= kind(options.out->dtype), Row::sum, result.dtype, options.out->dtype);
  if (!(result.shape == options.out->shape))
    fail(ErrorKind::value, "an output of shape ", options.out->shape, " cannot hold a result of shape ", result.shape);
  assign(*options.out, result);
  return *options.out;
}

// The same of a result that has kept its axes.
Array finish(Array result, const ReduceOptions& options) {
  if (!options.keepdims) result = reshape(result, without_axes(result, options.axes).shape);
  return deliver(std::move(result), options);
}

}  // namespace

Array reduce(Row row, const Array& x, const ReduceOptions& options) {
  const char* op = row_op(row).name;
  std::optional<Scalar> identity = reduction_identity(row);
  if (options.where) {
    if (!identity && !options.initial)
      fail(ErrorKind::value, op, ": with where, an initial value is needed, because ", op, " of nothing has no value");
    ReduceOptions rest = options;
    rest.where = nullptr;
    Arg filler = identity ? Arg(*identity) : Arg(full({}, *options.initial, x.dtype, x.device()));
    return reduce(row, elementwise(Row::where, {Arg(*options.where), Arg(x), filler}), rest);
  }
  if (options.dtype == DType::b1 && row_rule(row) == Rule::SUM) row = row == Row::sum ? Row::any : Row::all;
  ReduceTypes types = reduce_types(row, x.dtype, options.dtype);
  if (options.out && !options.dtype &&
      kind(types.result) <= kind(options.out->dtype))  // as NumPy: computed as it is stored
    types = reduce_types(row, x.dtype, options.out->dtype);
  Shape kept = kept_shape(x.shape, options.axes);
  bool nothing = reduced_count(x.shape, options.axes) == 0 && count(kept) > 0;
  if (nothing && !identity && !options.initial)
    fail(ErrorKind::value, op, ": zero-size array to reduction operation ", op, " which has no identity");
  if (options.initial || (nothing && !identity)) {
    if (nothing && !identity) return finish(full(kept, *options.initial, types.result, x.device()), options);
    ReduceOptions plain = options;
    plain.initial.reset();
    plain.out = nullptr;
    plain.keepdims = true;
    Array initial = full({}, *options.initial, types.result, x.device());  // takes the type, never gives it
    return finish(elementwise(combining_row(row), {Arg(reduce(row, x, plain)), Arg(initial)}), options);
  }
  if (options.out) {
    if (!(x.device() == options.out->device()))
      fail(ErrorKind::value, op, ": arrays are on different devices: ", x.device(), " and ", options.out->device(),
           "; copy one with to_device()");
    check_type(kind(types.result) <= kind(options.out->dtype), row, types.result, options.out->dtype);
    tape::check_write(op, *options.out);
    Array written = with_axes(*options.out, kept, options.axes, options.keepdims, op);
    if (tape::follows(x)) {  // the result has a history, which goes with it
      ReduceOptions fresh = options;
      fresh.out = nullptr;
      fresh.dtype = types.result;
      assign(*options.out, reduce(row, x, fresh));
      return *options.out;
    }
    record_reduction(row, types.compute, x, options.axes, written, true);
    return *options.out;
  }
  return new_reduction(row, types, x, options.axes, kept, options.keepdims);
}

// ---- composed
// ---------------------------------------------------------------------------------------------------------

namespace {

// The type means are computed in, and the type they are given in.
ReduceTypes mean_types(DType x, std::optional<DType> dtype) {
  DType result = dtype.value_or(is_float(x) || is_complex(x) ? x : DType::f64);
  return {is_half(result) ? DType::f32 : result, result};
}

ReduceOptions plain(const ReduceOptions& options, DType dtype, bool keepdims = true) {
  ReduceOptions o;
  o.axes = options.axes;
  o.keepdims = keepdims;
  o.where = options.where;
  o.dtype = dtype;
  return o;
}

// How many elements each result stands for, less `correction`: a number, or an array where a mask counts.
Arg element_count(const Array& x, const ReduceOptions& options, DType dtype, double correction, bool keepdims) {
  if (!options.where) {
    auto n = static_cast<double>(reduced_count(x.shape, options.axes));
    return Arg(Scalar::of(std::max(n - correction, 0.0)));
  }
  broadcast(options.where->shape, x.shape, "mean");
  Array mask = options.where->broadcast_to(x.shape);
  ReduceOptions counting = plain(options, dtype, keepdims);
  counting.where = nullptr;
  Array n = reduce(Row::sum, mask, counting);
  if (correction == 0) return Arg(n);
  return Arg(elementwise(
      Row::maximum, {Arg(elementwise(Row::subtract, {Arg(n), Arg(Scalar::of(correction))})), Arg(Scalar::of(0.0))}));
}

// The sum of `terms`, one for each element of x, by the number of those less `correction`.
Array average(const Array& x, const Array& terms, const ReduceOptions& options, double correction, DType compute,
              bool keepdims) {
  Array total = reduce(Row::sum, terms, plain(options, compute, keepdims));
  const Arg args[] = {Arg::lent(total), element_count(x, options, real_of(compute), correction, keepdims)};
  return elementwise(Row::divide, args);
}

Array as_type(Array x, DType dtype) {
  if (x.dtype == dtype) return x;
  return astype(x, dtype);
}

Array spread(const Array& x, const ReduceOptions& options, double correction, DType compute) {
  Array centre = average(x, x, options, 0, compute, true);
  Array away = elementwise(Row::subtract, {Arg(as_type(x, compute)), Arg(centre)});
  if (is_complex(compute)) away = elementwise(Row::abs, {Arg(away)});
  Array squares = elementwise(Row::square, {Arg(away)});
  return average(x, squares, options, correction, real_of(compute), options.keepdims);
}

}  // namespace

Array mean(const Array& x, const ReduceOptions& options) {
  ReduceTypes types = mean_types(x.dtype, options.dtype);
  return deliver(as_type(average(x, x, options, 0, types.compute, options.keepdims), types.result), options);
}

Array variance(const Array& x, const ReduceOptions& options, double correction) {
  ReduceTypes types = mean_types(x.dtype, options.dtype);
  return deliver(as_type(spread(x, options, correction, types.compute), real_of(types.result)), options);
}

Array deviation(const Array& x, const ReduceOptions& options, double correction) {
  ReduceTypes types = mean_types(x.dtype, options.dtype);
  Array root = elementwise(Row::sqrt, {Arg(spread(x, options, correction, types.compute))});
  return deliver(as_type(std::move(root), real_of(types.result)), options);
}

Array logsumexp(const Array& x, const ReduceOptions& options) {
  DType result = options.dtype.value_or(float_of(x.dtype));
  DType type = is_half(result) ? DType::f32 : result;  // the sum may be more than half a float can hold
  Array y = as_type(x, type);
  Arg lowest = Arg(Scalar::of(-INFINITY));
  if (options.where) y = elementwise(Row::where, {Arg(*options.where), Arg(y), lowest});
  if (y.size() == 0 || reduced_count(y.shape, options.axes) == 0) {
    ReduceOptions empty = plain(options, type);
    empty.where = nullptr;
    return finish(as_type(elementwise(Row::log, {Arg(reduce(Row::sum, y, empty))}), result), options);
  }
  ReduceOptions keep = plain(options, type);
  keep.where = nullptr;
  Array top = reduce(Row::max, y, keep);
  top = elementwise(Row::where, {Arg(elementwise(Row::isfinite, {Arg(top)})), Arg(top), Arg(Scalar::of(0.0))});
  Array parts = elementwise(Row::exp, {Arg(elementwise(Row::subtract, {Arg(y), Arg(top)}))});
  Array total = elementwise(Row::log, {Arg(reduce(Row::sum, parts, keep))});
  return finish(as_type(elementwise(Row::add, {Arg(total), Arg(top)}), result), options);
}

}  // namespace slipstream
