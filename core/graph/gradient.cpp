// Gradients of rows: the expressions of ops.def over arrays, so that what they record can be differentiated again.
#include "../elementwise.h"
#include "../ops/structural.h"
#include "../program.h"

namespace slipstream {

namespace {

struct NoGradient {};
constexpr NoGradient NONE;

// A value in a gradient expression: operators and functions record rows.
struct Var {
  Var(Arg arg) : arg(std::move(arg)) {}
  Var(Array array) : arg(std::move(array)) {}
  Var(int value) : arg(Scalar::of(static_cast<int64_t>(value))) {}
  Var(double value) : arg(Scalar::of(value)) {}
  Arg arg;
};

Var operator+(const Var& x, const Var& y) { return elementwise(Row::add, {x.arg, y.arg}); }
Var operator-(const Var& x, const Var& y) { return elementwise(Row::subtract, {x.arg, y.arg}); }
Var operator*(const Var& x, const Var& y) { return elementwise(Row::multiply, {x.arg, y.arg}); }
Var operator/(const Var& x, const Var& y) { return elementwise(Row::divide, {x.arg, y.arg}); }
Var operator-(const Var& x) { return elementwise(Row::negative, {x.arg}); }
Var operator<(const Var& x, const Var& y) { return elementwise(Row::less, {x.arg, y.arg}); }
Var operator<=(const Var& x, const Var& y) { return elementwise(Row::less_equal, {x.arg, y.arg}); }
Var operator>(const Var& x, const Var& y) { return elementwise(Row::greater, {x.arg, y.arg}); }
Var operator>=(const Var& x, const Var& y) { return elementwise(Row::greater_equal, {x.arg, y.arg}); }
Var operator==(const Var& x, const Var& y) { return elementwise(Row::equal, {x.arg, y.arg}); }

// Every row is a function of Vars; most are never called.
#define UNARY(name, ...) \
  [[maybe_unused]] Var name(const Var& x) { return elementwise(Row::name, {x.arg}); }
#define BINARY(name, ...) \
  [[maybe_unused]] Var name(const Var& x, const Var& y) { return elementwise(Row::name, {x.arg, y.arg}); }
#define TERNARY(name, ...)                                              \
  [[maybe_unused]] Var name(const Var& x, const Var& y, const Var& z) { \
    return elementwise(Row::name, {x.arg, y.arg, z.arg});               \
  }
#include "../ops.def"

// ---- the expressions: gradient of a row for input i

struct Call {
  Var g, r;
  std::vector<Var> x;
};
Array value_of(NoGradient) { return {}; }
Array value_of(const Var& v) { return v.arg.array; }

using Expression = Array (*)(const Call&);
struct Expressions {
  Expression of[3];
};

#define SLIP_NAMES1 [[maybe_unused]] const Var &g = call.g, &r = call.r, &x = call.x[0];
#define SLIP_NAMES2 SLIP_NAMES1 [[maybe_unused]] const Var& y = call.x[1];
#define SLIP_NAMES3 SLIP_NAMES2 [[maybe_unused]] const Var& z = call.x[2];
#define SLIP_GRADIENT(NAMES, G) [](const Call& call) -> Array { NAMES return value_of(G); }

const Expressions kGradients[] = {
#define UNARY(name, RULE, V, G, ...) {{SLIP_GRADIENT(SLIP_NAMES1, G), nullptr, nullptr}},
#define BINARY(name, RULE, V, GX, GY, ...) {{SLIP_GRADIENT(SLIP_NAMES2, GX), SLIP_GRADIENT(SLIP_NAMES2, GY), nullptr}},
#define TERNARY(name, RULE, V, GX, GY, GZ, ...) \
  {{SLIP_GRADIENT(SLIP_NAMES3, GX), SLIP_GRADIENT(SLIP_NAMES3, GY), SLIP_GRADIENT(SLIP_NAMES3, GZ)}},
#define REDUCE(name, RULE, identity, row, G, ...) {{SLIP_GRADIENT(SLIP_NAMES1, G), nullptr, nullptr}},
#include "../ops.def"
};

// A gradient in the shape of the broadcast result, summed back to the input's shape, in the input's type.
Array back_to(Array gradient, const Array& input) {
  int extra = gradient.ndim() - input.ndim();
  if (extra < 0 || (gradient.shape.size() == input.ndim() && count(gradient.shape) < count(input.shape)))
    gradient = copy(broadcast_to(gradient, input.shape)), extra = 0;
  ReduceOptions sum;
  sum.keepdims = true;
  for (int i = 0; i < gradient.ndim(); i++)
    if (i < extra || (input.shape[i - extra] == 1 && gradient.shape[i] != 1)) sum.axes |= 1u << i;
  if (sum.axes) gradient = reduce(Row::sum, gradient, sum);
  if (extra) {
    View v = gradient;
    for (int i = 0; i < extra; i++) {
      v.shape.erase(0);
      v.strides.erase(0);
    }
    gradient = gradient.view(std::move(v));
  }
  if (is_complex(gradient.dtype) && !is_complex(input.dtype)) gradient = elementwise(Row::real, {Arg(gradient)});
  return gradient.dtype == input.dtype ? gradient : astype(gradient, input.dtype);
}

}  // namespace

std::vector<Array> row_gradient(Row row, std::span<const Arg> inputs, const Array& result, const Array& g) {
  Call call{Var(g), Var(result), {}};
  DType compute = is_reduction(row) ? result.dtype : row_types(row, inputs).compute;
  for (const Arg& in : inputs)  // scalars as arrays without dimensions, so that functions of them alone can be recorded
    call.x.push_back(in.is_scalar() ? Var(full({}, in.scalar, compute, g.device())) : Var(in));
  std::vector<Array> gradients(inputs.size());
  for (size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i].is_scalar()) continue;
    const Array& in = inputs[i].array;
    if (!is_float(in.dtype) && !is_complex(in.dtype)) continue;
    Array gradient = kGradients[static_cast<int>(row)].of[i](call);
    if (gradient) gradients[i] = back_to(std::move(gradient), in);
  }
  return gradients;
}

}  // namespace slipstream
