// Recording elementwise operations and assignments: dtype rules, broadcasting, overlap, and the call's errors.
#include "elementwise.h"

#include "engine/engine.h"
#include "graph/single.h"
#include "ops/structural.h"
#include "program.h"
#include "rules.h"

namespace slipstream {

// ---- the table, for the front end -----------------------------------------------------------------------------------

namespace {

struct Domain {
  double low, high;
};

const char* gradient_text(std::string_view text) {
  return text == "NONE" || text == "NONE, NONE" || text == "NONE, NONE, NONE" ? "" : text.data();
}
#define SLIP_TEXT(...) #__VA_ARGS__

const RowInfo kInfos[] = {
#define UNARY(name, RULE, V, G, DOMAIN, doc) \
  {#name, 1, false, #RULE, #V, gradient_text(#G), Domain DOMAIN.low, Domain DOMAIN.high, doc},
#define BINARY(name, RULE, V, GX, GY, DOMAIN, doc) \
  {#name, 2, false, #RULE, #V, gradient_text(SLIP_TEXT(GX, GY)), Domain DOMAIN.low, Domain DOMAIN.high, doc},
#define TERNARY(name, RULE, V, GX, GY, GZ, DOMAIN, doc) \
  {#name, 3, false, #RULE, #V, gradient_text(SLIP_TEXT(GX, GY, GZ)), Domain DOMAIN.low, Domain DOMAIN.high, doc},
#define REDUCE(name, RULE, identity, row, G, doc) {#name, 1, true, #RULE, #row, gradient_text(#G), 0.5, 2, doc},
#include "ops.def"
};

}  // namespace

const RowInfo& row_info(Row row) { return kInfos[static_cast<int>(row)]; }

// ---- types ----------------------------------------------------------------------------------------------------------

namespace {

const char* row_name(Row row) { return row_op(row).name; }

[[noreturn]] void refuse(Row row, DType t) {
  const char* hint = row == Row::subtract && t == DType::b1   ? "; use bitwise_xor or logical_xor"
                     : row == Row::negative && t == DType::b1 ? "; use bitwise_invert or logical_not"
                                                              : "";
  fail(ErrorKind::type, row_name(row), ": arrays of type ", t, " are not supported", hint);
}

// Can a result of type `from` be written to an array of type `to`? NumPy's "same_kind".
bool same_kind(DType from, DType to) {
  if (kind(from) != kind(to)) return kind(from) < kind(to);
  return !is_integer(from) || !info(from).is_signed || info(to).is_signed;
}

// The promoted type of the arguments before the rule lifts it. `floats`: integers among themselves turn into floats
// first; beside a float they promote as they are.
DType promoted(std::span<const Arg> args, bool floats) {
  bool any = false;
  DType raw = DType::b1;
  Kind scalar = Kind::boolean;
  for (const Arg& arg : args) {
    if (arg.is_scalar()) {
      scalar = std::max(scalar, arg.scalar.kind);
      continue;
    }
    DType own = arg.array().dtype;
    raw = !any || raw == own ? own : promote(raw, own);
    any = true;
  }
  DType t = raw;
  if (floats && any && kind(raw) <= Kind::integer) {
    any = false;
    for (const Arg& arg : args) {
      if (arg.is_scalar()) continue;
      DType own = float_of(arg.array().dtype);
      t = any ? promote(t, own) : own;
      any = true;
    }
  }
  if (!any)  // only scalars, as in where(mask, 1, 0): what an array made of them would be
    return scalar == Kind::boolean ? DType::b1 : (scalar == Kind::complex ? DType::c64 : DType::f32);
  if (scalar <= kind(raw)) return t;
  return floats ? float_of(promote_weak(raw, scalar)) : promote_weak(raw, scalar);
}

// The type of all arrays among the arguments, where no number and no lift changes it.
std::optional<DType> only_type(std::span<const Arg> args) {
  if (args[0].is_scalar()) return {};
  DType t = args[0].array().dtype;
  if (kind(t) <= Kind::integer) return {};
  for (const Arg& arg : args.subspan(1))
    if (arg.is_scalar() ? arg.scalar.kind > kind(t) : arg.array().dtype != t) return {};
  return t;
}

DType compute_type(Row row, std::span<const Arg> args) {
  const RuleInfo& rule = info(row_rule(row));
  if (rule.lift == Lift::to_bool) return DType::b1;
  if (rule.condition_first) args = args.subspan(1);
  std::optional<DType> only = only_type(args);
  DType t = only ? *only : promoted(args, rule.lift == Lift::to_float);
  uint8_t set = rule.computes;
  switch (kind(t)) {
    case Kind::boolean:
      if (set & kBool) return t;
      if (rule.lift == Lift::to_int8) return DType::i8;
      return rule.lift == Lift::to_f64 ? DType::f64 : (refuse(row, t), t);
    case Kind::integer:
      if (set & kInt) return t;
      return rule.lift == Lift::to_f64 ? DType::f64 : (refuse(row, t), t);
    case Kind::real:
      if (!(set & kReal)) refuse(row, t);
      return row_rule(row) == Rule::DOUBLE ? DType::f64 : t;
    default:
      if (!(set & kComplex)) refuse(row, t);
      return row_rule(row) == Rule::DOUBLE ? DType::c128 : t;
  }
}

}  // namespace

RowTypes row_types(Row row, std::span<const Arg> args) {
  DType compute = compute_type(row, args);
  return {compute, given(row_rule(row), compute)};
}

// ---- scalars --------------------------------------------------------------------------------------------------------

namespace {

bool fits(const Scalar& s, DType t) {
  if (s.kind != Kind::integer || !is_integer(t)) return true;
  auto bits = static_cast<int>(itemsize(t)) * 8;
  if (s.is_unsigned) return t == DType::u64;
  if (!info(t).is_signed) return s.i >= 0 && (bits == 64 || s.i < int64_t{1} << bits);
  return bits == 64 || (s.i >= -(int64_t{1} << (bits - 1)) && s.i < int64_t{1} << (bits - 1));
}

void check_fits(const Scalar& s, DType t, const char* op) {
  if (fits(s, t)) return;
  auto message = [&](auto value) {
    fail(ErrorKind::overflow, op, ": Python integer ", value, " is out of bounds for ", t);
  };
  s.is_unsigned ? message(s.u) : message(s.i);
}

// 16-bit types compute in float32: their scalars are rounded when the call is recorded.
Scalar rounded(const Scalar& s, DType t) {
  if (!is_half(t)) return s;
  double v = s.as_double();
  return Scalar::of(static_cast<double>(t == DType::f16 ? to_float(to_f16(v)) : to_float(to_bf16(v))));
}

// ---- overlap --------------------------------------------------------------------------------------------------------

struct Bytes {
  int64_t begin, end;
};
Bytes bytes_of(const View& v) {
  Bytes b{v.offset, v.offset + static_cast<int64_t>(itemsize(v.dtype))};
  for (int i = 0; i < v.ndim(); i++) {
    int64_t reach = (v.shape[i] - 1) * v.strides[i];
    (reach < 0 ? b.begin : b.end) += reach;
  }
  return b;
}

// Does element i of one lie exactly where element i of the other does?
bool same_elements(const View& a, const View& b) {
  if (a.offset != b.offset || itemsize(a.dtype) != itemsize(b.dtype) || !(a.shape == b.shape)) return false;
  for (int i = 0; i < a.ndim(); i++)
    if (a.shape[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

bool disturbs(const Array& out, const Array& in) {
  if (out.storage() != in.storage()) return false;
  Bytes a = bytes_of(out), b = bytes_of(in);
  return a.begin < b.end && b.begin < a.end && !same_elements(out, in);
}

void check_writable(const Array& out, const char* op) {
  for (int i = 0; i < out.ndim(); i++)
    if (out.shape[i] > 1 && out.strides[i] == 0)
      fail(ErrorKind::value, op, ": the output repeats elements (it is a broadcast view) and cannot be written");
}

// ---- recording ------------------------------------------------------------------------------------------------------

void add_changed_input(Record& record, const Array& in, const Shape& shape, const Array* out) {
  Array wide = in.shape == shape ? in : in.broadcast_to(shape);
  if (out && disturbs(*out, wide)) wide = copy(in).broadcast_to(shape);
  record.inputs.emplace_back(wide);
}

// Appends an operand that reads `in` as `shape`; a copy of it where writing `out` would disturb the reading.
void add_input(Record& record, const Array& in, const Shape& shape, const Array* out) {
  bool fits = &in.shape == &shape || in.shape == shape;
  if (fits && !(out && disturbs(*out, in)))
    record.inputs.emplace_back(in);
  else
    add_changed_input(record, in, shape, out);
}

void check_device(Device a, Device b, const char* op) {
  if (!(a == b))
    fail(ErrorKind::value, op, ": arrays are on different devices: ", a, " and ", b, "; copy one with to_device()");
}

// That of all arguments, or `wide`, to which they are broadcast.
const Shape& common_shape(Row row, std::span<const Arg> args, Shape* wide) {
  const Shape* first = nullptr;
  for (const Arg& arg : args) {
    if (arg.is_scalar()) continue;
    if (!first) {
      first = &arg.array().shape;
    } else if (!(*first == arg.array().shape)) {
      *wide = *first;
      for (const Arg& other : args)
        if (!other.is_scalar()) *wide = broadcast(*wide, other.array().shape, row_name(row));
      return *wide;
    }
  }
  return *first;
}

Device common_device(Row row, std::span<const Arg> args) {
  const Array* first = nullptr;
  for (const Arg& arg : args) {
    if (arg.is_scalar()) continue;
    if (first)
      check_device(first->device(), arg.array().device(), row_name(row));
    else
      first = &arg.array();
  }
  if (!first) fail(ErrorKind::type, row_name(row), ": one argument must be an array");
  return first->device();
}

// An integer power fails where an exponent is negative, which shows only when it runs.
const Op& op_of(Row row, DType compute, std::span<const Arg> args) {
  bool may_fail =
      row == Row::pow && is_signed_integer(compute) && !args[1].is_scalar() && is_signed_integer(args[1].array().dtype);
  return may_fail ? kIntegerPower : row_op(row);
}

void check_out(Row row, DType result, const Shape& shape, Device device, const Array& out) {
  check_device(device, out.device(), row_name(row));
  check_writable(out, row_name(row));
  tape::check_write(row_name(row), out);
  if (!(broadcast(shape, out.shape, row_name(row)) == out.shape))
    fail(ErrorKind::value, row_name(row), ": an output of shape ", out.shape, " cannot hold a result of shape ", shape);
  if (!same_kind(result, out.dtype))
    fail(ErrorKind::type, row_name(row), ": a result of type ", result, " cannot be written to an array of type ",
         out.dtype, "; convert one with astype()");
}

// The record of a row but for its output.
void fill_row(Record& record, Row row, DType compute, std::span<const Arg> args, const Shape& shape, const Array* out) {
  record.op = &op_of(row, compute, args);
  record.compute = compute;
  size_t scalars = 0;
  for (const Arg& arg : args) {
    if (arg.is_scalar()) {
      check_fits(arg.scalar, compute, row_name(row));
      if (scalars == record.scalars.size()) fail(ErrorKind::type, row_name(row), ": one argument must be an array");
      record.scalars[scalars++] = rounded(arg.scalar, compute);
      record.inputs.emplace_back();
    } else {
      add_input(record, arg.array(), shape, out);
    }
  }
}

Array record_new_row(Row row, DType compute, DType result, std::span<const Arg> args, const Shape& shape,
                     Device device) {
  Array made(shape, result, device);
  Record record;
  fill_row(record, row, compute, args, shape, nullptr);
  record.outputs.emplace_back(made, Operand::Fresh());
  SourceId source = engine::record(std::move(record));
  if (tape::recording()) tape::note_row(row, args, made, source);
  return made;
}

Array record_row(Row row, DType compute, DType result, std::span<const Arg> args, const Array* out) {
  Device device = common_device(row, args);
  Shape wide;
  const Shape& shape = common_shape(row, args, &wide);
  if (!out) return record_new_row(row, compute, result, args, shape, device);
  check_out(row, result, shape, device, *out);
  if (tape::recording() && tape::follows_any(args)) {  // the result has a history, which goes with it
    assign(*out, record_row(row, compute, result, args, nullptr));
    return *out;
  }
  Record record;
  fill_row(record, row, compute, args, out->shape, out);
  record.in_place = true;
  record.outputs.emplace_back(*out);
  engine::record(std::move(record));
  return *out;
}

// ---- comparisons of integers that no type holds together
// --------------------------------------------------------------

bool is_order(Row row) { return row_rule(row) == Rule::COMPARE; }

// The row with its sides exchanged: x < y is y > x.
Row mirrored(Row row) {
  switch (row) {
    case Row::less: return Row::greater;
    case Row::less_equal: return Row::greater_equal;
    case Row::greater: return Row::less;
    case Row::greater_equal: return Row::less_equal;
    default: return row;
  }
}

// x compared with an integer outside its type's range has the same answer everywhere.
Array compare_out_of_range(Row row, const Array& x, const Scalar& s, const ElementwiseOptions& options) {
  bool above = s.is_unsigned || s.i > 0;  // the scalar is above every element
  bool answer = row == Row::not_equal || (above && (row == Row::less || row == Row::less_equal)) ||
                (!above && (row == Row::greater || row == Row::greater_equal));
  return elementwise(answer ? Row::equal : Row::not_equal, {Arg(x), Arg(x)}, options);
}

// int64 against uint64: a negative number is below, the others compare as unsigned.
Array compare_signs(Row row, const Array& x, const Array& y, const ElementwiseOptions& options) {
  if (x.dtype == DType::u64) return compare_signs(mirrored(row), y, x, options);
  Array as_unsigned = elementwise(row, {Arg(astype(x, DType::u64)), Arg(y)});
  bool below = row == Row::less || row == Row::less_equal || row == Row::not_equal;
  Array negative = elementwise(Row::less, {Arg(x), Arg(Scalar::of(int64_t{0}))});
  if (below) return elementwise(Row::logical_or, {Arg(negative), Arg(as_unsigned)}, options);
  return elementwise(Row::greater, {Arg(as_unsigned), Arg(negative)}, options);
}

// ---- the call
// ---------------------------------------------------------------------------------------------------------

// Powers that are other rows, exactly or better; NumPy does the same.
Row cheaper_power(const Arg& exponent, DType compute) {
  if (exponent.scalar.kind == Kind::complex) return Row::pow;
  double y = exponent.scalar.as_double();
  if (y == 2) return Row::square;
  if (is_float(compute) && y == 0.5) return Row::sqrt;
  return is_float(compute) && y == -1 ? Row::reciprocal : Row::pow;
}

DType requested_type(Row row, DType natural, DType wanted) {
  Rule rule = row_rule(row);
  if (info(rule).gives == Gives::boolean) {
    if (wanted != DType::b1)
      fail(ErrorKind::type, row_name(row), ": gives booleans; dtype=", wanted, " is not possible");
    return natural;
  }
  if (!computes(rule, is_half(wanted) ? DType::f32 : wanted)) refuse(row, wanted);
  if (!same_kind(natural, wanted) && kind(natural) > kind(wanted))
    fail(ErrorKind::type, row_name(row), ": arguments of type ", natural, " cannot be computed in ", wanted);
  return wanted;
}

Array masked(Row row, std::span<const Arg> args, ElementwiseOptions options) {
  const Array mask = *options.where;
  const Array* out = options.out;
  options.where = nullptr;
  options.out = nullptr;
  Array value = elementwise(row, args, options);
  if (mask.dtype != DType::b1)
    fail(ErrorKind::type, row_name(row), ": where must be an array of bool, not ", mask.dtype);
  if (!out) return elementwise(Row::where, {Arg(mask), Arg(value), Arg(Scalar::of(false))});
  if (!same_kind(value.dtype, out->dtype))
    fail(ErrorKind::type, row_name(row), ": a result of type ", value.dtype, " cannot be written to an array of type ",
         out->dtype, "; convert one with astype()");
  Arg parts[] = {Arg(mask), Arg(value), Arg(*out)};
  return record_row(Row::where, out->dtype, out->dtype, parts, out);
}

}  // namespace

Array elementwise(Row row, std::span<const Arg> args, const ElementwiseOptions& options) {
  if (options.where) return masked(row, args, options);
  if (is_order(row) && args.size() == 2) {
    const Arg &x = args[0], &y = args[1];
    if (!x.is_scalar() && y.is_scalar() && !fits(y.scalar, x.array().dtype))
      return compare_out_of_range(row, x.array(), y.scalar, options);
    if (x.is_scalar() && !y.is_scalar() && !fits(x.scalar, y.array().dtype))
      return compare_out_of_range(mirrored(row), y.array(), x.scalar, options);
    if (!x.is_scalar() && !y.is_scalar() && is_integer(x.array().dtype) && is_integer(y.array().dtype) &&
        promote(x.array().dtype, y.array().dtype) == DType::f64) {
      DType wide = DType::i64;  // the signed side may be narrower
      const Array& s = info(x.array().dtype).is_signed ? x.array() : y.array();
      Array grown = s.dtype == wide ? s : astype(s, wide);
      return &s == &x.array() ? compare_signs(row, grown, y.array(), options)
                              : compare_signs(row, x.array(), grown, options);
    }
  }
  DType compute = compute_type(row, args);
  if (options.dtype) compute = requested_type(row, compute, *options.dtype);
  if (row == Row::pow && args[1].is_scalar() && !args[0].is_scalar()) {
    if (is_integer(compute) && args[1].scalar.kind == Kind::integer && !args[1].scalar.is_unsigned &&
        args[1].scalar.i < 0)
      fail(ErrorKind::value, "pow: integers to negative integer powers are not allowed; convert to a float type first");
    Row cheaper = cheaper_power(args[1], compute);
    if (cheaper != Row::pow) return record_row(cheaper, compute, compute, args.first(1), options.out);
  }
  return record_row(row, compute, given(row_rule(row), compute), args, options.out);
}

// ---- copies and assignments -----------------------------------------------------------------------------------------

namespace {

void record_copy(const Array& target, const Array& value, bool in_place) {
  Record record;
  record.op = &row_op(Row::cast);
  record.compute = value.dtype;
  record.in_place = in_place;
  add_input(record, value, target.shape, in_place ? &target : nullptr);
  if (in_place)
    record.outputs.emplace_back(target);
  else
    record.outputs.emplace_back(target, Operand::Fresh());
  engine::record(std::move(record));
}

// The gradient of a copy: summed back to the value's shape where that was broadcast, in its type.
void note_copy(const char* op, const Array& made, const Array& value) {
  if (kind(made.dtype) < Kind::real) return;
  tape::note_single(op, made, value, [shape = value.shape, dtype = value.dtype](const Array& g) {
    return tape::back_to(g, shape, dtype);
  });
}

// A float on its way into an integer array, as Python's int() takes it.
Scalar to_integer(const Scalar& value) {
  if (value.re != value.re) fail(ErrorKind::value, "assign: NaN cannot be converted to an integer");
  if (!(value.re >= -0x1p63 && value.re < 0x1p64))
    fail(ErrorKind::overflow, "assign: ", value.re, " is too large for an integer");
  if (value.re >= 0x1p63) return Scalar::of(static_cast<uint64_t>(value.re));
  return Scalar::of(static_cast<int64_t>(value.re));
}

void assign_scalar(const Array& target, Scalar value) {
  if (value.kind == Kind::real && is_integer(target.dtype)) value = to_integer(value);
  check_fits(value, target.dtype, "assign");
  if (value.kind == Kind::complex && !is_complex(target.dtype) && target.dtype != DType::b1)
    fail(ErrorKind::type, "assign: a complex number cannot be written to an array of type ", target.dtype);
  Record record;
  record.op = &row_op(Row::cast);
  record.compute = target.dtype;
  record.in_place = true;
  record.scalars[0] = rounded(value, target.dtype);
  record.inputs.emplace_back();
  record.outputs.emplace_back(target);
  engine::record(std::move(record));
}

}  // namespace

Array astype(const Array& x, DType dtype) {
  Array made(x.shape, dtype, x.device());
  record_copy(made, x, false);
  if (tape::follows(x)) note_copy("astype", made, x);
  return made;
}

Array copy(const Array& x, const View& part) {
  Array made(part.shape, part.dtype, x.device());
  Record record;
  record.op = &row_op(Row::cast);
  record.compute = part.dtype;
  record.inputs.emplace_back(x, part);
  record.outputs.emplace_back(made, Operand::Fresh());
  engine::record(std::move(record));
  return made;
}

Array contiguous(const Array& x) { return x.contiguous() ? x : copy(x); }

void assign(const Array& target, const Arg& value) {
  check_writable(target, "assign");
  tape::check_write("assign", target);
  if (value.is_scalar()) return assign_scalar(target, value.scalar);
  Array from = value.array();
  if (!(from.device() == target.device())) from = copy_to_device(from, target.device());
  while (from.ndim() > target.ndim() && from.shape[0] == 1) {  // NumPy lets leading axes of size 1 go
    from = select(from, 0, 0);
  }
  if (from.ndim() > target.ndim() || !(broadcast(from.shape, target.shape, "assign") == target.shape))
    fail(ErrorKind::value, "assign: a value of shape ", value.array().shape, " cannot be broadcast to ", target.shape);
  if (from.storage() == target.storage() && from.dtype == target.dtype && same_elements(from, target)) return;
  bool follows = tape::follows(from) && kind(target.dtype) >= Kind::real;
  record_copy(target, from, true);
  if (!follows) return;
  Array written = from;
  if (!(from.shape == target.shape) || from.dtype != target.dtype) {
    written = target.detached();
    note_copy("assign", written, from);
  }
  tape::store(target, written);
}

}  // namespace slipstream
