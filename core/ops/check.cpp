// Checks of devices, values and `out`, and the end of every structural call.
#include "check.h"

#include "../elementwise.h"
#include "../engine/engine.h"
#include "../graph/tape.h"

namespace slipstream {

namespace {

// NumPy's "same_kind": never to a lower kind, and no sign is lost among integers.
bool castable(DType from, DType to) {
  if (kind(from) != kind(to)) return kind(from) < kind(to);
  return !(is_signed_integer(from) && is_integer(to) && !is_signed_integer(to));
}

void check_out(const char* op, const Shape& shape, DType dtype, Device device, const Array& out) {
  if (!(out.shape == shape)) fail(ErrorKind::value, op, ": out has shape ", out.shape, ", but the result has ", shape);
  if (!(out.device() == device))
    fail(ErrorKind::value, op, ": out is on ", out.device(), ", the inputs are on ", device);
  if (!castable(dtype, out.dtype))
    fail(ErrorKind::type, op, ": cannot cast the result from ", dtype, " to out's ", out.dtype);
}

}  // namespace

void same_device(const char* op, const Array& a, const Array& b) {
  if (a.device() == b.device()) return;
  fail(ErrorKind::value, op, ": arrays are on ", a.device(), " and ", b.device(), "; copy one with to_device() first");
}

void check_fits(const char* op, const Scalar& value, DType dtype) {
  if (value.kind != Kind::integer || !is_integer(dtype)) return;
  int bits = static_cast<int>(itemsize(dtype)) * 8;
  bool fits;
  if (is_signed_integer(dtype)) {
    int64_t top = INT64_MAX >> (64 - bits);
    fits = !value.is_unsigned && value.i >= -top - 1 && value.i <= top;
  } else {
    fits = value.is_unsigned ? bits == 64 : value.i >= 0 && value.u <= UINT64_MAX >> (64 - bits);
  }
  if (fits) return;
  if (value.is_unsigned) fail(ErrorKind::overflow, op, ": ", value.u, " is out of bounds for ", dtype);
  fail(ErrorKind::overflow, op, ": ", value.i, " is out of bounds for ", dtype);
}

Destination destination(const char* op, const Shape& shape, DType dtype, Device device, const Array* out,
                        std::initializer_list<const Array*> inputs, bool writable) {
  if (out) {
    check_out(op, shape, dtype, device, *out);
    tape::check_write(op, *out);
    bool direct = writable && out->dtype == dtype;
    for (const Array* input : inputs) direct &= input->storage() != out->storage();
    if (direct) return {*out, out};
  }
  return {Array(shape, dtype, device), out};
}

Array finish(Record&& call, Destination to, const Array* as) {
  call.outputs.emplace_back(as ? *as : to.array);
  call.in_place = to.direct();
  engine::record(std::move(call));
  if (!to.out) return std::move(to.array);
  if (!to.direct()) assign(*to.out, to.array);
  return *to.out;
}

Array written_to(const char* op, const Array* out, Array made) {
  if (!out) return made;
  destination(op, made.shape, made.dtype, made.device(), out, {});
  assign(*out, made);
  return *out;
}

Array record_new(Record&& call, Array result) {
  call.outputs.emplace_back(result, Operand::Fresh());
  engine::record(std::move(call));
  return result;
}

}  // namespace slipstream
