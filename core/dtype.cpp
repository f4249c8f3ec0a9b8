// Promotion tables and conversions of the 16-bit floats.
#include "dtype.h"

namespace slipstream {

namespace {

DType signed_of_size(size_t bytes) {
  switch (bytes) {
    case 1: return DType::i8;
    case 2: return DType::i16;
    case 4: return DType::i32;
    default: return DType::i64;
  }
}

DType promote_integers(DType a, DType b) {
  if (info(a).is_signed == info(b).is_signed) return itemsize(a) >= itemsize(b) ? a : b;
  DType s = info(a).is_signed ? a : b, u = info(a).is_signed ? b : a;
  if (itemsize(s) > itemsize(u)) return s;
  if (itemsize(u) == 8) return DType::f64;
  return signed_of_size(itemsize(u) * 2);
}

DType promote_floats(DType a, DType b) {
  if (is_half(a) && is_half(b)) return DType::f32;  // float16 with bfloat16: neither holds the other
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

// The float that holds an integer type next to a 16-bit float.
DType float_beside_half(DType integer, DType half) {
  switch (itemsize(integer)) {
    case 1: return half;
    case 2: return DType::f32;
    default: return DType::f64;
  }
}

}  // namespace

DType float_of(DType t) {
  if (is_float(t) || is_complex(t)) return t;
  if (itemsize(t) == 1) return DType::f16;
  return itemsize(t) == 2 ? DType::f32 : DType::f64;
}

DType real_of(DType t) {
  if (t == DType::c64) return DType::f32;
  return t == DType::c128 ? DType::f64 : t;
}

DType complex_of(DType t) {
  if (is_complex(t)) return t;
  return t == DType::f64 || (!is_float(t) && itemsize(t) > 2) ? DType::c128 : DType::c64;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::b1) return b;
  if (b == DType::b1) return a;
  if (kind(a) > kind(b)) std::swap(a, b);
  if (is_integer(b)) return promote_integers(a, b);
  if (is_integer(a)) {
    if (is_half(b)) return float_beside_half(a, b);
    DType f = itemsize(a) <= 2 ? DType::f32 : DType::f64;
    return is_complex(b) ? promote(complex_of(f), b) : promote_floats(f, b);
  }
  if (is_complex(b)) {
    DType c = a == DType::f64 ? DType::c128 : (is_complex(a) ? a : DType::c64);
    return itemsize(c) >= itemsize(b) ? c : b;
  }
  return promote_floats(a, b);
}

DType promote_weak(DType a, Kind scalar) {
  if (scalar <= kind(a)) return a;
  switch (scalar) {
    case Kind::integer: return DType::i64;
    case Kind::real: return DType::f64;
    default: return is_float(a) ? complex_of(a) : DType::c128;
  }
}

float to_float(f16_t h) {
  uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
  uint32_t exponent = (h.bits >> 10) & 0x1fu, mantissa = h.bits & 0x3ffu, bits;
  if (exponent == 0x1f) {
    bits = sign | 0x7f800000u | (mantissa << 13) | (mantissa ? 0x400000u : 0u);  // quiet, as the processor's is
  } else if (exponent != 0) {
    bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  } else if (mantissa == 0) {
    bits = sign;
  } else {
    exponent = 113;
    while (!(mantissa & 0x400u)) {
      mantissa <<= 1;
      exponent--;
    }
    bits = sign | (exponent << 23) | ((mantissa & 0x3ffu) << 13);
  }
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

f16_t to_f16(double d) {
  uint64_t bits;
  std::memcpy(&bits, &d, 8);
  auto sign = static_cast<uint16_t>((bits >> 48) & 0x8000u);
  int64_t exponent = static_cast<int64_t>((bits >> 52) & 0x7ff) - 1023;
  uint64_t mantissa = bits & 0xfffffffffffffull;
  if (exponent == 1024) {  // infinity or NaN
    auto payload = static_cast<uint16_t>(mantissa ? 0x200u | (mantissa >> 42) : 0u);
    return {static_cast<uint16_t>(sign | 0x7c00u | payload)};
  }
  if (exponent < -25) return {sign};
  int shift = 42;  // keep 10 bits of the mantissa
  uint64_t value = mantissa;
  if (exponent < -14) {
    value |= 1ull << 52;
    shift += static_cast<int>(-14 - exponent);
  } else {
    value |= static_cast<uint64_t>(exponent + 15) << 52;
  }
  uint64_t rounded = value >> shift, rest = value & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  rounded += rest > half || (rest == half && (rounded & 1));
  if (rounded >= 0x7c00u) rounded = 0x7c00u;
  return {static_cast<uint16_t>(sign | rounded)};
}

f16_t to_f16(float f) { return to_f16(static_cast<double>(f)); }

bf16_t to_bf16(double d) {
  // Round to odd in float first, so that the second rounding sees whether anything was lost.
  float f = static_cast<float>(d);
  if (f == f && static_cast<double>(f) != d) {
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    double back = f;
    bool away = (d > 0) == (back > d);
    if (away) bits -= 1;
    bits |= 1;
    std::memcpy(&f, &bits, 4);
  }
  return to_bf16(f);
}

void Scalar::store(DType t, void* at) const {
  auto write = [at](auto v) { std::memcpy(at, &v, sizeof v); };
  bool whole = kind == Kind::boolean || kind == Kind::integer;
  visit(t, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      write(whole ? i != 0 : (re != 0 || im != 0));
    } else if constexpr (std::is_integral_v<T>) {
      write(whole ? static_cast<T>(is_unsigned ? u : static_cast<uint64_t>(i)) : truncated<T>(re));
    } else if constexpr (std::is_same_v<T, f16_t>) {
      write(to_f16(as_double()));
    } else if constexpr (std::is_same_v<T, bf16_t>) {
      write(to_bf16(as_double()));
    } else if constexpr (std::is_floating_point_v<T>) {
      write(static_cast<T>(as_double()));
    } else {
      using R = typename T::value_type;
      write(T(static_cast<R>(as_double()), static_cast<R>(kind == Kind::complex ? im : 0)));
    }
  });
}

}  // namespace slipstream
