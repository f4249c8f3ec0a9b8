// Element types, their names and sizes, and NumPy 2's promotion rules.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "error.h"

namespace slipstream {

enum class DType : uint8_t { b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };
inline constexpr int kDTypeCount = 15;

enum class Kind : uint8_t { boolean, integer, real, complex };  // of a dtype or of a Python scalar, in promotion order

struct DTypeInfo {
  const char* name;
  uint8_t itemsize;
  Kind kind;
  bool is_signed;
};

inline constexpr std::array<DTypeInfo, kDTypeCount> kDTypes = {{
    {"bool", 1, Kind::boolean, false},
    {"int8", 1, Kind::integer, true},
    {"int16", 2, Kind::integer, true},
    {"int32", 4, Kind::integer, true},
    {"int64", 8, Kind::integer, true},
    {"uint8", 1, Kind::integer, false},
    {"uint16", 2, Kind::integer, false},
    {"uint32", 4, Kind::integer, false},
    {"uint64", 8, Kind::integer, false},
    {"float16", 2, Kind::real, true},
    {"bfloat16", 2, Kind::real, true},
    {"float32", 4, Kind::real, true},
    {"float64", 8, Kind::real, true},
    {"complex64", 8, Kind::complex, true},
    {"complex128", 16, Kind::complex, true},
}};

constexpr const DTypeInfo& info(DType t) { return kDTypes[static_cast<size_t>(t)]; }
constexpr size_t itemsize(DType t) { return info(t).itemsize; }
constexpr const char* name(DType t) { return info(t).name; }
constexpr Kind kind(DType t) { return info(t).kind; }
constexpr bool is_float(DType t) { return kind(t) == Kind::real; }
constexpr bool is_complex(DType t) { return kind(t) == Kind::complex; }
constexpr bool is_integer(DType t) { return kind(t) == Kind::integer; }
constexpr bool is_signed_integer(DType t) { return is_integer(t) && info(t).is_signed; }
constexpr bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }
inline std::ostream& operator<<(std::ostream& out, DType t) { return out << name(t); }

// The common type of two arrays.
DType promote(DType a, DType b);
// The common type of an array and a Python scalar of the given kind: the scalar is weak (NumPy 2).
DType promote_weak(DType a, Kind scalar);
// The real type of a complex one (itself otherwise), and the complex type of a float.
DType real_of(DType t);
DType complex_of(DType t);
// Smallest float that NumPy computes integers of this type in (int8: float16, int16: float32, others float64).
DType float_of(DType t);

// 16-bit floats are storage: arithmetic happens in float, rounded to nearest even after every operation.
struct f16_t {
  uint16_t bits;
};
struct bf16_t {
  uint16_t bits;
};
float to_float(f16_t h);
f16_t to_f16(float f);
f16_t to_f16(double f);  // rounds once
bf16_t to_bf16(double f);

inline float to_float(bf16_t h) {
  uint32_t bits = static_cast<uint32_t>(h.bits) << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
inline bf16_t to_bf16(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<uint16_t>(bits >> 16)};
}

// A float as an integer, everywhere in the same way, NumPy's: what does not fit an int32 (for narrower integers, too)
// or an int64 (for uint32, too) becomes the lowest of them, then wraps around. For uint64 not by one instruction: that
// of AVX-512 clamps. Always inline, since the vector loops compile it for several instruction sets.
template <class T, class W>
[[gnu::always_inline]] inline T truncated(W x) {
  if constexpr (sizeof(T) < 4) {
    return static_cast<T>(static_cast<int32_t>(x));
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return static_cast<T>(static_cast<int64_t>(x));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    bool high = x >= W(0x1p63);
    return static_cast<T>(static_cast<int64_t>(high ? x - W(0x1p63) : x)) ^ static_cast<T>(high) << 63;
  } else {
    return static_cast<T>(x);
  }
}

template <DType>
struct CTypeOf;
template <class>
struct DTypeOf;
#define SLIP_CTYPE(D, T)                     \
  template <>                                \
  struct CTypeOf<DType::D> {                 \
    using type = T;                          \
  };                                         \
  template <>                                \
  struct DTypeOf<T> {                        \
    static constexpr DType value = DType::D; \
  };
SLIP_CTYPE(b1, bool)
SLIP_CTYPE(i8, int8_t)
SLIP_CTYPE(i16, int16_t)
SLIP_CTYPE(i32, int32_t)
SLIP_CTYPE(i64, int64_t)
SLIP_CTYPE(u8, uint8_t)
SLIP_CTYPE(u16, uint16_t)
SLIP_CTYPE(u32, uint32_t)
SLIP_CTYPE(u64, uint64_t)
SLIP_CTYPE(f16, f16_t)
SLIP_CTYPE(bf16, bf16_t)
SLIP_CTYPE(f32, float)
SLIP_CTYPE(f64, double)
SLIP_CTYPE(c64, std::complex<float>)
SLIP_CTYPE(c128, std::complex<double>)
#undef SLIP_CTYPE

// visit(dtype, [](auto zero) { using T = decltype(zero); ... })
template <class F>
decltype(auto) visit(DType t, F&& f) {
  switch (t) {
    case DType::b1: return f(bool{});
    case DType::i8: return f(int8_t{});
    case DType::i16: return f(int16_t{});
    case DType::i32: return f(int32_t{});
    case DType::i64: return f(int64_t{});
    case DType::u8: return f(uint8_t{});
    case DType::u16: return f(uint16_t{});
    case DType::u32: return f(uint32_t{});
    case DType::u64: return f(uint64_t{});
    case DType::f16: return f(f16_t{});
    case DType::bf16: return f(bf16_t{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::c64: return f(std::complex<float>{});
    default: return f(std::complex<double>{});
  }
}

// A Python scalar: weak in promotion, converted to the operation's type when the call is recorded.
struct Scalar {
  Kind kind = Kind::real;
  bool is_unsigned = false;  // an integer above int64's range, held in `u`
  union {
    int64_t i;  // boolean and integer
    uint64_t u;
    double re;  // real and complex
  };
  double im = 0;

  Scalar() : re(0) {}
  static Scalar of(bool v) {
    Scalar s;
    s.kind = Kind::boolean;
    s.i = v;
    return s;
  }
  static Scalar of(int64_t v) {
    Scalar s;
    s.kind = Kind::integer;
    s.i = v;
    return s;
  }
  static Scalar of(uint64_t v) {
    Scalar s;
    s.kind = Kind::integer;
    s.u = v;
    s.is_unsigned = v > INT64_MAX;
    return s;
  }
  static Scalar of(double v) {
    Scalar s;
    s.re = v;
    return s;
  }
  static Scalar of(double re, double im) {
    Scalar s;
    s.kind = Kind::complex;
    s.re = re;
    s.im = im;
    return s;
  }

  double as_double() const {
    if (kind == Kind::boolean || kind == Kind::integer)
      return is_unsigned ? static_cast<double>(u) : static_cast<double>(i);
    return re;
  }
  // Writes the value as one element of type t. Values were range-checked when the call was recorded.
  void store(DType t, void* at) const;
};

}  // namespace slipstream
