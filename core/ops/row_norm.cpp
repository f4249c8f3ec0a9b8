// Softmax and layer normalisation: checks, the calls of their kernels, and gradients made of rows.
#include "row_norm.h"

#include "../elementwise.h"
#include "../engine/engine.h"
#include "../graph/tape.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kSoftmax{"softmax"};
const Op kLayerNorm{"layer_norm"};

bool is_row_norm(const Op& op) { return &op == &kSoftmax || &op == &kLayerNorm; }

int row_norm_axis(const Record& call) {
  return call.op == &kSoftmax ? call.as<SoftmaxParams>().axis : call.outputs[0].ndim() - 1;
}

namespace {

void check(const char* op, const Array& x) {
  if (x.dtype != DType::f32 && x.dtype != DType::f64)
    fail(ErrorKind::type, op, ": dtype ", x.dtype, " is neither float32 nor float64");
}

Array row(Row row, const Array& a, const Arg& b) { return elementwise(row, {Arg(a), b}); }

ReduceOptions along(int axis) {
  ReduceOptions over;
  over.keepdims = true;
  over.axes = 1u << axis;
  return over;
}

Record call_on_rows(const Op& op, std::shared_ptr<OpParams> params, const Array& x) {
  Record call;
  call.op = &op;
  call.params = std::move(params);
  call.inputs.emplace_back(contiguous(x));
  return call;
}

Array softmax_value(const Array& x, int axis, bool log) {
  auto params = std::make_shared<SoftmaxParams>();
  params->axis = axis;
  params->log = log;
  Record call = call_on_rows(kSoftmax, std::move(params), x);
  return record_new(std::move(call), Array(x.shape, x.dtype, x.device()));
}

// y (g - sum(g y)); of the logarithm: g - exp(y) sum(g).
Array softmax_gradient(const Array& g, const Array& y, int axis, bool log) {
  ReduceOptions over = along(axis);
  if (log) return row(Row::subtract, g, row(Row::multiply, elementwise(Row::exp, {Arg(y)}), reduce(Row::sum, g, over)));
  return row(Row::multiply, y, row(Row::subtract, g, reduce(Row::sum, row(Row::multiply, g, y), over)));
}

LayerNormed layer_norm_value(const Array& x, const Array& gamma, const Array& beta, double eps) {
  auto params = std::make_shared<LayerNormParams>();
  params->eps = eps;
  Record call = call_on_rows(kLayerNorm, std::move(params), x);
  for (const Array* p : {&gamma, &beta}) call.inputs.emplace_back(broadcast_to(contiguous(*p), x.shape));
  Shape rows = x.shape;
  rows[x.ndim() - 1] = 1;
  LayerNormed made{Array(x.shape, x.dtype, x.device()), Array(rows, x.dtype, x.device()),
                   Array(rows, x.dtype, x.device())};
  for (const Array* out : {&made.result, &made.mean, &made.deviation}) call.outputs.emplace_back(*out);
  engine::record(std::move(call));
  return made;
}

// What the gradient knows of the call. Its results have a history while somebody differentiates again.
struct LayerNormSaved {
  tape::Saved x, gamma, mean, deviation;
};

// With n = (x - mean) / deviation, over rows of a length: that of the result g gives, with h = g gamma,
// (h - mean(h) - n mean(h n)) / deviation; those of mean and deviation give themselves and n, over the length.
Array gradient_of_data(std::span<const Array> gs, const Array& normal, const LayerNormSaved& saved) {
  ReduceOptions over = along(normal.ndim() - 1);
  Array total;
  auto add = [&](const Array& part) { total = total ? row(Row::add, total, part) : part; };
  if (gs[0]) {
    Array h = row(Row::multiply, gs[0], saved.gamma.get());
    Array slope = mean(row(Row::multiply, h, normal), over);
    Array inner = row(Row::subtract, row(Row::subtract, h, mean(h, over)), row(Row::multiply, normal, slope));
    add(row(Row::divide, inner, saved.deviation.get()));
  }
  Scalar length = Scalar::of(static_cast<double>(normal.shape[normal.ndim() - 1]));
  if (gs[1]) add(broadcast_to(row(Row::divide, gs[1], length), normal.shape));
  if (gs[2]) add(row(Row::multiply, normal, row(Row::divide, gs[2], length)));
  return total;
}

std::vector<Array> layer_norm_gradient(std::span<const Array> gs, const LayerNormSaved& saved) {
  Array normal = row(Row::divide, row(Row::subtract, saved.x.get(), saved.mean.get()), saved.deviation.get());
  std::vector<Array> found(3);
  if (tape::wanted(0)) found[0] = gradient_of_data(gs, normal, saved);
  if (!gs[0]) return found;
  ReduceOptions across;
  across.axes = (1u << (normal.ndim() - 1)) - 1;
  auto sum = [&](const Array& x) { return across.axes ? reduce(Row::sum, x, across) : x; };
  if (tape::wanted(1)) found[1] = sum(row(Row::multiply, gs[0], normal));
  if (tape::wanted(2)) found[2] = sum(gs[0]);
  return found;
}

}  // namespace

Array softmax(const Array& x, int axis, bool log) {
  const char* name = log ? "log_softmax" : "softmax";
  check(name, x);
  axis = normalize_axis(axis, x.ndim(), name);
  if (!tape::follows(x)) return softmax_value(x, axis, log);
  Array made = softmax_value(x.detached(), axis, log);
  auto gradient = [y = tape::Saved::result(made), axis, log](const Array& g) {
    return std::vector<Array>{softmax_gradient(g, y.get(), axis, log)};
  };
  tape::note(name, made, {&x}, std::move(gradient));
  return made;
}

LayerNormed layer_norm(const Array& x, const Array& gamma, const Array& beta, double eps) {
  const char* name = kLayerNorm.name;
  check(name, x);
  if (x.ndim() < 1) fail(ErrorKind::value, name, ": data without axes has no rows");
  for (const Array* p : {&gamma, &beta}) {
    same_device(name, x, *p);
    if (p->dtype != x.dtype) fail(ErrorKind::type, name, ": dtypes ", x.dtype, " and ", p->dtype, " differ");
    if (p->ndim() != 1 || p->shape[0] != x.shape[x.ndim() - 1])
      fail(ErrorKind::value, name, ": a parameter has shape ", p->shape, ", but rows of data ", x.shape, " have ",
           x.shape[x.ndim() - 1], " elements");
  }
  const Array inputs[] = {x, gamma, beta};
  if (!tape::follows_any(inputs)) return layer_norm_value(x, gamma, beta, eps);
  LayerNormed made = layer_norm_value(x.detached(), gamma.detached(), beta.detached(), eps);
  LayerNormSaved saved{tape::Saved(x), tape::Saved(gamma), tape::Saved::result(made.mean, 1),
                       tape::Saved::result(made.deviation, 2)};
  const Array results[] = {made.result, made.mean, made.deviation};
  tape::note_all(name, results, inputs,
                 [saved = std::move(saved)](std::span<const Array> gs) { return layer_norm_gradient(gs, saved); });
  return {results[0], results[1], results[2]};
}

}  // namespace slipstream
