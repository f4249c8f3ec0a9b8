// Batch normalisation: checks, the calls of its kernels, and a gradient made of rows for whoever differentiates it
// again.
#include "norm.h"

#include "../elementwise.h"
#include "../engine/engine.h"
#include "../graph/tape.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kBatchNorm{"batch_norm"};
const Op kBatchNormFixed{"batch_norm_fixed"};
const Op kBatchNormGradient{"batch_norm_gradient"};

namespace {

void check(const Array& x, std::initializer_list<const Array*> parameters) {
  const char* op = kBatchNorm.name;
  if (x.ndim() < 2) fail(ErrorKind::value, op, ": shape ", x.shape, " has no channels: axis 1 is missing");
  if (x.dtype != DType::f32 && x.dtype != DType::f64)
    fail(ErrorKind::type, op, ": dtype ", x.dtype, " is neither float32 nor float64");
  for (const Array* p : parameters) {
    if (!p) continue;
    same_device(op, x, *p);
    if (p->dtype != x.dtype) fail(ErrorKind::type, op, ": dtypes ", x.dtype, " and ", p->dtype, " differ");
    if (p->ndim() != 1 || p->shape[0] != x.shape[1])
      fail(ErrorKind::value, op, ": a parameter has shape ", p->shape, ", but data ", x.shape, " has ", x.shape[1],
           " channels");
  }
}

Shape three_axes(const Shape& shape) {
  int64_t places = 1;
  for (int i = 2; i < shape.size(); i++) places *= shape[i];
  return Shape{shape[0], shape[1], places};
}

Array prepared(const Array& x) { return reshape(contiguous(x), three_axes(x.shape)); }

class Call {
 public:
  Call(const Op& op, double eps) {
    auto params = std::make_shared<BatchNormParams>();
    params->eps = eps;
    record_.op = &op;
    record_.params = std::move(params);
  }
  void input(const Array& x) { record_.inputs.emplace_back(x); }
  // The array that is written as (n, c, places) or (c), in the shape the user sees.
  Array output(const Shape& shape, const Array& like) {
    Array made(shape, like.dtype, like.device());
    record_.outputs.emplace_back(shape.size() == 1 ? made : reshape(made, three_axes(shape)));
    return made;
  }
  void record() { engine::record(std::move(record_)); }

 private:
  Record record_;
};

BatchNormed value(const Array& x, const Array* gamma, const Array& beta, double eps) {
  Call call(kBatchNorm, eps);
  call.input(prepared(x));
  call.input(contiguous(beta));
  if (gamma) call.input(contiguous(*gamma));
  Shape channels{x.shape[1]};
  Array result = call.output(x.shape, x), mean = call.output(channels, x), variance = call.output(channels, x);
  call.record();
  return {result, mean, variance};
}

// ---- the gradient: of x, beta, and gamma if there is one

using Arrays = std::vector<Array>;

Arrays fused_gradient(const Array& g, const Array& x, const Array* gamma, const Array& mean, const Array& variance,
                      double eps) {
  Call call(kBatchNormGradient, eps);
  for (const Array* in : {&g, &x}) call.input(prepared(*in));
  for (const Array* in : {&mean, &variance}) call.input(*in);
  if (gamma) call.input(contiguous(*gamma));
  Shape channels{x.shape[1]};
  Arrays found{call.output(x.shape, x), call.output(channels, x), call.output(channels, x)};
  call.record();
  if (!gamma) found.pop_back();
  return found;
}

// The same, made of rows: they have gradients themselves.
Arrays composed_gradient(const Array& g, const Array& x, const Array* gamma, double eps) {
  auto row = [](Row row, const Array& a, const Arg& b) { return elementwise(row, {Arg(a), b}); };
  ReduceOptions over;
  over.keepdims = true;
  Shape channels{x.shape[1]}, across = x.shape;
  for (int i = 0; i < x.ndim(); i++)
    if (i != 1) over.axes |= 1u << i, across[i] = 1;
  Array centred = row(Row::subtract, x, mean(x, over));
  Array variance = mean(elementwise(Row::square, {Arg(centred)}), over);
  Array deviation = elementwise(Row::sqrt, {Arg(row(Row::add, variance, Scalar::of(eps)))});
  Array normal = row(Row::divide, centred, deviation), slope = row(Row::multiply, g, normal);
  Array dx = row(Row::subtract, row(Row::subtract, g, mean(g, over)), row(Row::multiply, normal, mean(slope, over)));
  dx = row(Row::divide, dx, deviation);
  if (gamma) dx = row(Row::multiply, dx, reshape(*gamma, across));
  Arrays found{dx, reshape(reduce(Row::sum, g, over), channels)};
  if (gamma) found.push_back(reshape(reduce(Row::sum, slope, over), channels));
  return found;
}

}  // namespace

BatchNormed batch_norm(const Array& x, const Array* gamma, const Array& beta, double eps) {
  check(x, {&beta, gamma});
  std::vector<Array> inputs{x, beta};
  if (gamma) inputs.push_back(*gamma);
  if (!tape::follows_any(inputs)) return value(x, gamma, beta, eps);
  std::optional<Array> plain = gamma ? std::optional(gamma->detached()) : std::nullopt;
  BatchNormed made = value(x.detached(), plain ? &*plain : nullptr, beta.detached(), eps);
  auto gradient = [x = tape::Saved(x), gamma = gamma ? tape::Saved(*gamma) : tape::Saved(),
                   mean = tape::Saved(made.mean), variance = tape::Saved(made.variance), eps](const Array& g) {
    Array data = x.get();
    std::optional<Array> scale = gamma ? std::optional(gamma.get()) : std::nullopt;
    const Array* factor = scale ? &*scale : nullptr;
    bool again = tape::follows(g) || tape::follows(data) || (factor && tape::follows(*factor));
    return again ? composed_gradient(g, data, factor, eps)
                 : fused_gradient(g, data, factor, mean.get(), variance.get(), eps);
  };
  tape::note(kBatchNorm.name, made.result, std::span<const Array>(inputs), std::move(gradient));
  return made;
}

Array batch_norm_fixed(const Array& x, const Array* gamma, const Array& beta, const Array& mean, const Array& variance,
                       double eps) {
  check(x, {&mean, &variance, &beta, gamma});
  Call call(kBatchNormFixed, eps);
  call.input(prepared(x));
  for (const Array* in : {&mean, &variance, &beta}) call.input(contiguous(*in));
  if (gamma) call.input(contiguous(*gamma));
  Array result = call.output(x.shape, x);
  call.record();
  return result;
}

}  // namespace slipstream
