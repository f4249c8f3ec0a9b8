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

namespace {

void check(const char* op, const Array& x) {
  if (x.ndim() < 1) fail(ErrorKind::value, op, ": data without axes has no rows");
  if (x.dtype != DType::f32 && x.dtype != DType::f64)
    fail(ErrorKind::type, op, ": dtype ", x.dtype, " is neither float32 nor float64");
}

Array row(Row row, const Array& a, const Arg& b) { return elementwise(row, {Arg(a), b}); }

ReduceOptions along_rows(const Array& x) {
  ReduceOptions over;
  over.keepdims = true;
  over.axes = 1u << (x.ndim() - 1);
  return over;
}

Array softmax_value(const Array& x, bool log) {
  auto params = std::make_shared<SoftmaxParams>();
  params->log = log;
  Record call;
  call.op = &kSoftmax;
  call.params = std::move(params);
  call.inputs.emplace_back(contiguous(x));
  return record_new(std::move(call), Array(x.shape, x.dtype, x.device()));
}

// y (g - sum(g y)); of the logarithm: g - exp(y) sum(g).
Array softmax_gradient(const Array& g, const Array& y, bool log) {
  ReduceOptions over = along_rows(y);
  if (log) return row(Row::subtract, g, row(Row::multiply, elementwise(Row::exp, {Arg(y)}), reduce(Row::sum, g, over)));
  return row(Row::multiply, y, row(Row::subtract, g, reduce(Row::sum, row(Row::multiply, g, y), over)));
}

struct LayerNormed {
  Array result;
  Array mean, inverse;  // of each row
};

LayerNormed layer_norm_value(const Array& x, const Array& gamma, const Array& beta, double eps) {
  auto params = std::make_shared<LayerNormParams>();
  params->eps = eps;
  Record call;
  call.op = &kLayerNorm;
  call.params = std::move(params);
  call.inputs.emplace_back(contiguous(x));
  for (const Array* p : {&gamma, &beta}) call.inputs.emplace_back(broadcast_to(contiguous(*p), x.shape));
  Shape rows = x.shape;
  rows[x.ndim() - 1] = 1;
  LayerNormed made{Array(x.shape, x.dtype, x.device()), Array(rows, x.dtype, x.device()),
                   Array(rows, x.dtype, x.device())};
  for (const Array* out : {&made.result, &made.mean, &made.inverse}) call.outputs.emplace_back(*out);
  engine::record(std::move(call));
  return made;
}

// What the kernel says of the rows, made of rows: it has a history.
LayerNormed moments(const Array& x, double eps) {
  ReduceOptions over = along_rows(x);
  Array middle = mean(x, over);
  Array variance = mean(elementwise(Row::square, {Arg(row(Row::subtract, x, middle))}), over);
  Array deviation = elementwise(Row::sqrt, {Arg(row(Row::add, variance, Scalar::of(eps)))});
  return {Array(), middle, elementwise(Row::reciprocal, {Arg(deviation)})};
}

// With n = (x - mean) / deviation and h = g gamma: (h - mean(h) - n mean(h n)) / deviation, then sums over g n and g.
std::vector<Array> layer_norm_gradient(const Array& g, const Array& x, const Array& gamma, const LayerNormed& known) {
  ReduceOptions over = along_rows(x), across;
  for (int i = 0; i < x.ndim() - 1; i++) across.axes |= 1u << i;
  Array normal = row(Row::multiply, row(Row::subtract, x, known.mean), known.inverse);
  Array h = row(Row::multiply, g, gamma);
  Array slope = mean(row(Row::multiply, h, normal), over);
  Array dx = row(Row::subtract, row(Row::subtract, h, mean(h, over)), row(Row::multiply, normal, slope));
  dx = row(Row::multiply, dx, known.inverse);
  Array dgamma = row(Row::multiply, g, normal), dbeta = g;
  if (across.axes) dgamma = reduce(Row::sum, dgamma, across), dbeta = reduce(Row::sum, g, across);
  return {dx, dgamma, dbeta};
}

}  // namespace

Array softmax(const Array& x, bool log) {
  const char* name = log ? "log_softmax" : "softmax";
  check(name, x);
  if (!tape::follows(x)) return softmax_value(x, log);
  Array made = softmax_value(x.detached(), log);
  auto gradient = [y = tape::Saved::result(made), log](const Array& g) {
    return std::vector<Array>{softmax_gradient(g, y.get(), log)};
  };
  tape::note(name, made, {&x}, std::move(gradient));
  return made;
}

Array layer_norm(const Array& x, const Array& gamma, const Array& beta, double eps) {
  const char* name = kLayerNorm.name;
  check(name, x);
  for (const Array* p : {&gamma, &beta}) {
    same_device(name, x, *p);
    if (p->dtype != x.dtype) fail(ErrorKind::type, name, ": dtypes ", x.dtype, " and ", p->dtype, " differ");
    if (p->ndim() != 1 || p->shape[0] != x.shape[x.ndim() - 1])
      fail(ErrorKind::value, name, ": a parameter has shape ", p->shape, ", but rows of data ", x.shape, " have ",
           x.shape[x.ndim() - 1], " elements");
  }
  const Array inputs[] = {x, gamma, beta};
  if (!tape::follows_any(inputs)) return layer_norm_value(x, gamma, beta, eps).result;
  LayerNormed made = layer_norm_value(x.detached(), gamma.detached(), beta.detached(), eps);
  auto gradient = [x = tape::Saved(x), gamma = tape::Saved(gamma), mean = tape::Saved(made.mean),
                   inverse = tape::Saved(made.inverse), eps](const Array& g) {
    Array data = x.get(), scale = gamma.get();
    bool again = tape::follows(g) || tape::follows(data) || tape::follows(scale);
    return layer_norm_gradient(g, data, scale,
                               again ? moments(data, eps) : LayerNormed{Array(), mean.get(), inverse.get()});
  };
  tape::note(name, made.result, std::span<const Array>(inputs), std::move(gradient));
  return made.result;
}

}  // namespace slipstream
