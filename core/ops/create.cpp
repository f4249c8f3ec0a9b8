// Creation: empty, full, arange, linspace, eye; and from_bytes, the only one that does its work at once.
#include "create.h"

#include "../engine/engine.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kEmpty{"empty"};
const Op kFull{"full"};
const Op kArange{"arange"};
const Op kLinspace{"linspace"};
const Op kEye{"eye"};

namespace {

Record call_of(const Op& op, std::shared_ptr<const OpParams> params = nullptr) {
  Record call;
  call.op = &op;
  call.params = std::move(params);
  return call;
}

std::complex<double> as_complex(const Scalar& s) { return {s.as_double(), s.kind == Kind::complex ? s.im : 0.0}; }

// a + b as Python adds them, wrapping where int64 does.
Scalar add(const Scalar& a, const Scalar& b) {
  if (a.kind == Kind::complex || b.kind == Kind::complex) {
    std::complex<double> sum = as_complex(a) + as_complex(b);
    return Scalar::of(sum.real(), sum.imag());
  }
  if (a.kind == Kind::real || b.kind == Kind::real) return Scalar::of(a.as_double() + b.as_double());
  Scalar sum = Scalar::of(static_cast<int64_t>(static_cast<uint64_t>(a.i) + static_cast<uint64_t>(b.i)));
  sum.is_unsigned = a.is_unsigned || b.is_unsigned;
  return sum;
}

// A float at the ends of a range of integers, so that it can be seen whether it fits.
Scalar to_whole(const Scalar& s, DType dtype) {
  if (s.kind < Kind::real || !is_integer(dtype)) return s;
  if (s.re >= 0x1p63 && s.re < 0x1p64 && dtype == DType::u64) return Scalar::of(static_cast<uint64_t>(s.re));
  return Scalar::of(s.re >= -0x1p63 && s.re < 0x1p63 ? static_cast<int64_t>(s.re) : INT64_MIN);
}

int64_t checked_length(const char* op, int64_t n) {
  if (n < 0) fail(ErrorKind::value, op, ": the number of samples must not be negative: ", n);
  return n;
}

}  // namespace

Array empty(const Shape& shape, DType dtype, Device device) {
  return record_new(call_of(kEmpty), Array(shape, dtype, device));
}

Array full(const Shape& shape, Scalar value, DType dtype, Device device) {
  check_fits("full", value, dtype);
  Record call = call_of(kFull);
  call.scalars[0] = value;
  return record_new(std::move(call), Array(shape, dtype, device));
}

Array arange(Scalar start, Scalar step, int64_t n, DType dtype, Device device) {
  checked_length("arange", n);
  if (dtype == DType::b1 && n > 2)
    fail(ErrorKind::type, "arange: bool has only two values, the result would have ", n, " elements");
  auto params = std::make_shared<ArangeParams>();
  params->first = to_whole(start, dtype);
  params->second = to_whole(add(start, step), dtype);
  if (n > 0) check_fits("arange", params->first, dtype);
  if (n > 1) check_fits("arange", params->second, dtype);
  return record_new(call_of(kArange, params), Array(Shape{n}, dtype, device));
}

Array linspace(Scalar start, Scalar stop, int64_t n, bool endpoint, DType dtype, Device device) {
  checked_length("linspace", n);
  auto params = std::make_shared<LinspaceParams>();
  params->start = as_complex(start);
  params->stop = as_complex(stop);
  params->endpoint = endpoint;
  return record_new(call_of(kLinspace, params), Array(Shape{n}, dtype, device));
}

Array eye(int64_t rows, int64_t columns, int64_t k, DType dtype, Device device) {
  auto params = std::make_shared<EyeParams>();
  params->k = k;
  return record_new(call_of(kEye, params), Array(Shape{rows, columns}, dtype, device));
}

Array from_bytes(const void* data, const Shape& shape, DType dtype, Device device) {
  Device host;
  bool here = device.kind == host.kind;
  Array x(shape, dtype, here ? device : host);
  x.storage()->allocate();
  auto* from = static_cast<const uint8_t*>(data);
  char* to = x.storage()->data();
  size_t n = x.storage()->nbytes;
  if (dtype == DType::b1)  // for others any byte but 0 is true, for our loops 1 is
    std::transform(from, from + n, to, [](uint8_t byte) { return byte != 0; });
  else if (n)
    std::memcpy(to, from, n);
  return here ? x : copy_to_device(x, device);
}

}  // namespace slipstream
