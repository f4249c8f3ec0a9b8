// Gradients of rows: the expressions of ops.def over arrays, so that what they record can be differentiated again.
#include <bit>

#include "../elementwise.h"
#include "../ops/scan.h"
#include "../ops/structural.h"
#include "../program.h"
#include "tape.h"

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

// Numbers among themselves are numbers again; complex ones are left to the rows.
bool both_numbers(const Var& x, const Var& y) {
  return x.arg.is_scalar() && y.arg.is_scalar() && x.arg.scalar.kind != Kind::complex &&
         y.arg.scalar.kind != Kind::complex;
}
double number(const Var& x) { return x.arg.scalar.as_double(); }

Var operator+(const Var& x, const Var& y) {
  return both_numbers(x, y) ? Var(number(x) + number(y)) : elementwise(Row::add, {x.arg, y.arg});
}
Var operator-(const Var& x, const Var& y) {
  return both_numbers(x, y) ? Var(number(x) - number(y)) : elementwise(Row::subtract, {x.arg, y.arg});
}
Var operator*(const Var& x, const Var& y) {
  return both_numbers(x, y) ? Var(number(x) * number(y)) : elementwise(Row::multiply, {x.arg, y.arg});
}
Var operator/(const Var& x, const Var& y) {
  return both_numbers(x, y) ? Var(number(x) / number(y)) : elementwise(Row::divide, {x.arg, y.arg});
}
Var operator-(const Var& x) { return both_numbers(x, x) ? Var(-number(x)) : elementwise(Row::negative, {x.arg}); }
Var operator<(const Var& x, const Var& y) { return elementwise(Row::less, {x.arg, y.arg}); }
Var operator<=(const Var& x, const Var& y) { return elementwise(Row::less_equal, {x.arg, y.arg}); }
Var operator>(const Var& x, const Var& y) { return elementwise(Row::greater, {x.arg, y.arg}); }
Var operator>=(const Var& x, const Var& y) { return elementwise(Row::greater_equal, {x.arg, y.arg}); }
Var operator==(const Var& x, const Var& y) { return elementwise(Row::equal, {x.arg, y.arg}); }

const Var I(Arg(Scalar::of(0.0, 1.0)));

// Functions of numbers alone are recorded as functions of an array without dimensions.
Var of_row(Row row, std::initializer_list<Arg> args, const Array& like) {
  const Array& first = args.begin()->array();
  if (row == Row::conj && first && !is_complex(first.dtype)) return first;
  size_t first_value = row == Row::where ? 1 : 0;  // a condition says nothing of the type
  for (size_t i = first_value; i < args.size(); i++)
    if (!args.begin()[i].is_scalar()) return elementwise(row, args);
  SmallVec<Arg, 3> arrays;
  for (const Arg& arg : args)
    arrays.push_back(arg.is_scalar() ? Arg(full({}, arg.scalar, like.dtype, like.device())) : arg);
  return elementwise(row, std::span<const Arg>(arrays.begin(), args.size()));
}
// What an expression is evaluated for: the result's gradient, and for reductions the axes.
thread_local const Array* gradient_like = nullptr;
thread_local uint32_t reduced_axes = 0;

// Every row is a function of Vars; most are never called.
#define UNARY(name, ...) \
  [[maybe_unused]] Var name(const Var& x) { return of_row(Row::name, {x.arg}, *gradient_like); }
#define BINARY(name, ...) \
  [[maybe_unused]] Var name(const Var& x, const Var& y) { return of_row(Row::name, {x.arg, y.arg}, *gradient_like); }
#define TERNARY(name, ...)                                              \
  [[maybe_unused]] Var name(const Var& x, const Var& y, const Var& z) { \
    return of_row(Row::name, {x.arg, y.arg, z.arg}, *gradient_like);    \
  }
#include "../ops.def"

// Marks an expression: see Expression::applies.
Var complex_only(const Var& v) { return v; }

// For each element, the product of the others along the reduced axes. Not result / x, for x may be 0.
Var others(const Var& v) {
  const Array& x = v.arg.array();
  if (x.size() == 0) return v;
  std::vector<int64_t> order, back(static_cast<size_t>(x.ndim()));
  for (int reduced : {0, 1})
    for (int i = 0; i < x.ndim(); i++)
      if (static_cast<int>(reduced_axes >> i & 1) == reduced) order.push_back(i);
  for (size_t i = 0; i < order.size(); i++) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  Array moved = transpose(x, order);
  Shape flat;
  for (int i = 0; i < x.ndim(); i++)
    if (!(reduced_axes >> i & 1)) flat.push_back(x.shape[i]);
  flat.push_back(-1);
  Array rows = reshape(moved, flat);
  const int64_t last[] = {rows.ndim() - 1};
  int along = rows.ndim() - 1;
  Array after = flip(products_before(flip(rows, last), along), last);
  Array product = elementwise(Row::multiply, {Arg(products_before(rows, along)), Arg(after)});
  return transpose(reshape(product, moved.shape), back);
}

// ---- the expressions: gradient of a row for input i

struct Call {
  explicit Call(const Array& gradient, uint32_t axes) : g(gradient), r(0), x{0, 0, 0} {
    gradient_like = &gradient;
    reduced_axes = axes;
  }
  Var g, r;
  Var x[3];
};
Array value_of(NoGradient) { return {}; }
Array value_of(const Var& v) { return v.arg.array(); }

// Which values an expression names: bits 0 to 2 for x, y, z and bit 3 for r.
constexpr uint8_t kResult = 8;
constexpr uint8_t names(std::string_view text) {
  auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  uint8_t found = 0;
  for (size_t i = 0; i < text.size(); i++) {
    if ((i > 0 && in_word(text[i - 1])) || (i + 1 < text.size() && in_word(text[i + 1]))) continue;
    if (text[i] >= 'x' && text[i] <= 'z') found |= static_cast<uint8_t>(1 << (text[i] - 'x'));
    if (text[i] == 'r') found |= kResult;
  }
  return found;
}

struct Expression {
  Array (*value)(const Call&) = nullptr;
  uint8_t names = 0;
  bool complex_only = false;
  bool applies(DType t) const { return is_complex(t) || !complex_only; }  // else 0, for which nothing is kept
};
struct Expressions {
  Expression of[3];
};

#define SLIP_NAMES1 [[maybe_unused]] const Var &g = call.g, &r = call.r, &x = call.x[0];
#define SLIP_NAMES2 SLIP_NAMES1 [[maybe_unused]] const Var& y = call.x[1];
#define SLIP_NAMES3 SLIP_NAMES2 [[maybe_unused]] const Var& z = call.x[2];
#define SLIP_GRADIENT(NAMES, G)                                            \
  {[](const Call& call) -> Array { NAMES return value_of(G); }, names(#G), \
   std::string_view(#G).starts_with("complex_only(")}

constexpr Expressions kGradients[] = {
#define UNARY(name, RULE, V, G, ...) {{SLIP_GRADIENT(SLIP_NAMES1, G), {}, {}}},
#define BINARY(name, RULE, V, GX, GY, ...) {{SLIP_GRADIENT(SLIP_NAMES2, GX), SLIP_GRADIENT(SLIP_NAMES2, GY), {}}},
#define TERNARY(name, RULE, V, GX, GY, GZ, ...) \
  {{SLIP_GRADIENT(SLIP_NAMES3, GX), SLIP_GRADIENT(SLIP_NAMES3, GY), SLIP_GRADIENT(SLIP_NAMES3, GZ)}},
#define REDUCE(name, RULE, identity, row, G, ...) {{SLIP_GRADIENT(SLIP_NAMES1, G), {}, {}}},
#include "../ops.def"
};
const Expression& expression(Row row, int input) { return kGradients[static_cast<int>(row)].of[input]; }

bool differentiable(DType t) { return is_float(t) || is_complex(t); }

// ---- nodes

// An elementwise row or a reduction. Holds what the expressions of the inputs with a history name, and no more.
class RowNode final : public tape::Node {
 public:
  RowNode(Row row, std::span<const Arg> args, uint32_t axes, const Array& result)
      : row_(row), arity_(static_cast<uint8_t>(args.size())), axes_(axes) {
    uint8_t named = 0;
    for (int i = 0; i < arity_; i++) {
      const Arg& arg = args[static_cast<size_t>(i)];
      if (arg.is_scalar()) continue;
      const Array& x = arg.array();
      if (!x.node() || !differentiable(x.dtype)) continue;
      types_[i] = x.dtype;
      inputs_[i] = tape::ref_of(x);
      if (expression(row, i).applies(x.dtype)) named |= expression(row, i).names;
      if (!(x.shape == result.shape)) keep_shape(i, x.shape);
    }
    if (!named) return;
    for (int i = 0; i < arity_; i++)
      if (named >> i & 1) keep_value(i, args[static_cast<size_t>(i)]);
    if (named & kResult) values_.emplace_back(3, result);
  }

  const char* name() const override { return row_op(row_).name; }
  std::span<const Ref<tape::Node>> inputs() const override { return {inputs_, static_cast<size_t>(arity_)}; }
  void differentiate(tape::Spread& to) override {
    Array g = to.gradient();
    Shape kept;
    if (is_reduction(row_)) {
      kept = shape_of(0, g);
      for (int i = 0; i < kept.size(); i++)
        if (axes_ >> i & 1) kept[i] = 1;
      g = reshape(g, kept);
    }
    Call call(g, axes_);
    fill(call, kept);
    for (int i = 0; i < arity_; i++) {
      if (!inputs_[i] || !to.wants(i) || !expression(row_, i).applies(types_[i])) continue;
      Array gradient = expression(row_, i).value(call);
      if (gradient) to.add(i, tape::back_to(std::move(gradient), shape_of(i, g), types_[i]));
    }
  }
  void forget() override {
    for (Ref<tape::Node>& input : inputs_) input.reset();
    values_.clear();
    shapes_.clear();
  }

 private:
  struct Value {
    Value(int place, const Array& a) : place(place), kept(a) {}
    int place;  // 0 to 2: an argument; 3: the result
    tape::Kept kept;  // the history of the arguments is in inputs_, and the result's is this node
  };

  void keep_shape(int i, const Shape& shape) {
    shapes_.emplace_back(shape);
    other_shape_ |= static_cast<uint8_t>(1 << i);
  }
  const Shape& shape_of(int i, const Array& g) const {
    return other_shape_ >> i & 1 ? shapes_[std::popcount(other_shape_ & ((1u << i) - 1))] : g.shape;
  }
  void keep_value(int place, const Arg& arg) {
    if (arg.is_scalar()) {
      scalars_.emplace_back(arg.scalar);
      scalar_places_ |= static_cast<uint8_t>(1 << place);
    } else {
      values_.emplace_back(place, arg.array());
    }
  }
  void fill(Call& call, const Shape& kept) {
    int scalar = 0;
    for (int i = 0; i < arity_; i++)
      if (scalar_places_ >> i & 1) call.x[i] = Var(scalars_[scalar++]);
    for (const Value& v : values_) {
      Array value = v.kept.get(*this);
      if (tape::recording()) value.set_node(v.place == 3 ? Ref<tape::Node>(this) : inputs_[v.place]);
      if (v.place == 3)
        call.r = Var(is_reduction(row_) ? reshape(value, kept) : std::move(value));
      else
        call.x[v.place] = Var(std::move(value));
    }
  }

  Row row_;
  uint8_t arity_, scalar_places_ = 0, other_shape_ = 0;
  DType types_[3] = {};
  uint32_t axes_;  // that it reduces
  Ref<tape::Node> inputs_[3];
  SmallVec<Shape, 1> shapes_;  // of inputs that the result's does not tell
  SmallVec<Value, 2> values_;
  SmallVec<Scalar, 2> scalars_;
};

}  // namespace

namespace tape {

bool follows_any(std::span<const Arg> args) {
  bool any = false;
  for (const Arg& arg : args) any |= !arg.is_scalar() && history(arg.array());
  return any;
}

void note_row(Row row, std::span<const Arg> args, const Array& result, SourceId source) {
  if (follows_any(args) && differentiable(result.dtype)) enter(result, new RowNode(row, args, 0, result), source);
}

void note_reduction(Row row, const Array& x, uint32_t axes, const Array& result, SourceId source) {
  if (!history(x) || !differentiable(result.dtype)) return;
  const Arg arg = Arg::lent(x);
  enter(result, new RowNode(row, {&arg, 1}, axes, result), source);
}

namespace {

// Repeated along the axes where it is shorter than `shape`: gradients of reductions.
Array stretched(const Array& gradient, const Shape& shape) {
  int extra = gradient.ndim() - shape.size();
  if (extra < 0) return broadcast_to(gradient, shape);
  Shape wide = gradient.shape;
  for (int i = extra; i < wide.size(); i++)
    if (wide[i] == 1) wide[i] = shape[i - extra];
  return wide == gradient.shape ? gradient : broadcast_to(gradient, wide);
}

}  // namespace

Array back_to(Array gradient, const Shape& shape, DType dtype) {
  if (!(gradient.shape == shape)) {
    gradient = stretched(gradient, shape);
    int extra = gradient.ndim() - shape.size();
    ReduceOptions sum;
    sum.keepdims = true;
    for (int i = 0; i < gradient.ndim(); i++)
      if (i < extra || (shape[i - extra] == 1 && gradient.shape[i] != 1)) sum.axes |= 1u << i;
    if (sum.axes) gradient = reduce(Row::sum, gradient, sum);
    if (extra) gradient = reshape(gradient, shape);
  }
  if (is_complex(gradient.dtype) && !is_complex(dtype)) gradient = elementwise(Row::real, {Arg(gradient)});
  return gradient.dtype == dtype ? gradient : astype(gradient, dtype);
}

}  // namespace tape

}  // namespace slipstream
