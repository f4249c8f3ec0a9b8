// The functions that values in ops.def call, for every type they meet: vector math, NumPy's integer rules, complex
// numbers.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../../dtype.h"

namespace slipstream::SLIP_ISA {

// Complex numbers with plain arithmetic (std::complex multiplies through a slow call that repairs infinities).
template <class R>
struct cx {
  R re, im;
};
template <class T>
inline constexpr bool is_cx = false;
template <class R>
inline constexpr bool is_cx<cx<R>> = true;
template <class T>
concept Integer = std::is_integral_v<T>;
template <class T>
concept Float = std::is_floating_point_v<T>;

// ---- vector math: scalar functions whose vector twins the compiler finds in libmvec; exp and tanh are our own
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SLIP_VECTOR __attribute__((simd("notinbranch"), const, nothrow))
#else
#define SLIP_VECTOR __attribute__((const, nothrow))
#endif
#define SLIP_MATH1(name)                                               \
  extern "C" SLIP_VECTOR float vm_##name##f(float) __asm__(#name "f"); \
  extern "C" SLIP_VECTOR double vm_##name(double) __asm__(#name);      \
  inline float name(float x) { return vm_##name##f(x); }               \
  inline double name(double x) { return vm_##name(x); }
#define SLIP_MATH2(name)                                                      \
  extern "C" SLIP_VECTOR float vm_##name##f(float, float) __asm__(#name "f"); \
  extern "C" SLIP_VECTOR double vm_##name(double, double) __asm__(#name);     \
  inline float name(float x, float y) { return vm_##name##f(x, y); }          \
  inline double name(double x, double y) { return vm_##name(x, y); }
// clang-format off
SLIP_MATH1(acos) SLIP_MATH1(acosh) SLIP_MATH1(asin) SLIP_MATH1(asinh) SLIP_MATH1(atan) SLIP_MATH1(atanh)
SLIP_MATH1(cbrt) SLIP_MATH1(cos) SLIP_MATH1(cosh) SLIP_MATH1(erf) SLIP_MATH1(erfc) SLIP_MATH1(exp2)
SLIP_MATH1(expm1) SLIP_MATH1(log) SLIP_MATH1(log10) SLIP_MATH1(log1p) SLIP_MATH1(log2) SLIP_MATH1(sin) SLIP_MATH1(sinh)
SLIP_MATH1(tan) SLIP_MATH2(atan2) SLIP_MATH2(hypot) SLIP_MATH2(pow)
// clang-format on
#undef SLIP_MATH1
#undef SLIP_MATH2
                inline float sqrt(float x) {
  return __builtin_sqrtf(x);
}
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline double floor(double x) { return __builtin_floor(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline double ceil(double x) { return __builtin_ceil(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline double trunc(double x) { return __builtin_trunc(x); }
inline float round(float x) { return __builtin_rintf(x); }
inline double round(double x) { return __builtin_rint(x); }
inline float copysign(float x, float y) { return __builtin_copysignf(x, y); }
inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
}  // namespace slipstream::SLIP_ISA

#include "exponentials.h"

namespace slipstream::SLIP_ISA {

template <Integer T>
T abs(T x) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(x < 0 ? -x : x);
  else
    return x;
}
template <Integer T>
T floor(T x) {
  return x;
}
template <Integer T>
T ceil(T x) {
  return x;
}
template <Integer T>
T trunc(T x) {
  return x;
}
template <Integer T>
T round(T x) {
  return x;
}

// ---- tests
template <class T>
bool isnan(T x) {
  if constexpr (is_cx<T>)
    return (x.re != x.re) | (x.im != x.im);
  else
    return x != x;
}
template <class T>
bool isinf(T x) {
  if constexpr (is_cx<T>)
    return isinf(x.re) | isinf(x.im);
  else if constexpr (Float<T>)
    return abs(x) == std::numeric_limits<T>::infinity();
  else
    return false;
}
template <class T>
bool isfinite(T x) {
  if constexpr (is_cx<T>)
    return isfinite(x.re) & isfinite(x.im);
  else if constexpr (Float<T>)
    return abs(x) < std::numeric_limits<T>::infinity();
  else
    return true;
}
inline bool signbit(float x) { return std::bit_cast<int32_t>(x) < 0; }
inline bool signbit(double x) { return std::bit_cast<int64_t>(x) < 0; }
template <Integer T>
bool signbit(T x) {
  return x < 0;
}

// ---- order: NaN wins in maximum and minimum, loses in fmax and fmin. Two choices in a row, the first made of the
// comparison alone: chains of them stay free of branches.
template <class T>
T larger(T x, T y) {
  return x > y ? x : y;
}
template <class T>
T smaller(T x, T y) {
  return x < y ? x : y;
}
template <class T>
T maximum(T x, T y) {
  T r = larger(x, y);
  return isnan(x) ? x : r;
}
template <class T>
T minimum(T x, T y) {
  T r = smaller(x, y);
  return isnan(x) ? x : r;
}
template <class T>
T fmax(T x, T y) {
  T r = larger(x, y);
  return isnan(y) ? x : r;
}
template <class T>
T fmin(T x, T y) {
  T r = smaller(x, y);
  return isnan(y) ? x : r;
}
template <class T>
T sign(T x) {
  if constexpr (Float<T>)
    return x != x ? x : static_cast<T>((x > 0) - (x < 0));
  else if constexpr (Integer<T>)
    return static_cast<T>((x > 0) - (x < 0));
  else
    return sign_of_complex(x);
}
template <class T>
T heaviside(T x, T y) {
  return x != x ? x : (x < 0 ? T(0) : (x > 0 ? T(1) : y));
}

// x ? y : z, for x of 0 or 1, by their bits: a plain choice may load only one of the two, which vectors cannot.
template <class T>
SLIP_INLINE T choose(uint8_t x, T y, T z) {
  if constexpr (is_cx<T>) {
    return {choose(x, y.re, z.re), choose(x, y.im, z.im)};
  } else {
    using Bits = std::conditional_t<
        sizeof(T) == 8, uint64_t,
        std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
    auto a = std::bit_cast<Bits>(y), b = std::bit_cast<Bits>(z), mask = static_cast<Bits>(-static_cast<Bits>(x));
    return std::bit_cast<T>(static_cast<Bits>(b ^ ((a ^ b) & mask)));
  }
}

// ---- division: NumPy's, with the sign of the divisor
template <Integer T>
T floor_divide(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return static_cast<T>(-x);
    T q = static_cast<T>(x / y);
    return static_cast<T>(q - ((x % y != 0) & ((x < 0) != (y < 0))));
  } else {
    return static_cast<T>(x / y);
  }
}
template <Integer T>
T fmod(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (y == -1) return 0;
  return static_cast<T>(x % y);
}
template <Integer T>
T remainder(T x, T y) {
  T m = fmod(x, y);
  if constexpr (std::is_signed_v<T>)
    if (m != 0 && (m < 0) != (y < 0)) m = static_cast<T>(m + y);
  return m;
}
inline float fmod(float x, float y) { return __builtin_fmodf(x, y); }
inline double fmod(double x, double y) { return __builtin_fmod(x, y); }
template <Float T>
T remainder(T x, T y) {
  T m = fmod(x, y);
  if (y == 0) return m;
  if (m == 0) return copysign(T(0), y);
  return (m < 0) != (y < 0) ? m + y : m;
}
template <Float T>
T floor_divide(T x, T y) {
  if (y == 0 || isinf(x) || isinf(y)) return x / y;  // as the array API standard has it; NumPy: NaN, or -1
  T m = fmod(x, y), q = (x - m) / y;
  if (m != 0 && (m < 0) != (y < 0)) q -= 1;
  if (q == 0) return copysign(T(0), x / y);
  T whole = floor(q);
  return q - whole > T(0.5) ? whole + 1 : whole;
}
// Unsigned, so that the smallest integer has one, too.
template <Integer T>
std::make_unsigned_t<T> magnitude(T x) {
  using U = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<U>(-static_cast<U>(x)) : static_cast<U>(x);
}
// Euclid's, on magnitudes.
template <Integer T>
T gcd(T x, T y) {
  using U = std::make_unsigned_t<T>;
  U a = magnitude(x), b = magnitude(y);
  while (b) {
    U rest = static_cast<U>(a % b);
    a = b;
    b = rest;
  }
  return static_cast<T>(a);
}
template <Integer T>
T lcm(T x, T y) {
  auto common = magnitude(gcd(x, y));
  return common == 0 ? T(0) : static_cast<T>(magnitude(x) / common * magnitude(y));  // wraps as NumPy's
}
template <Integer T>
T reciprocal(T x) {
  return x == 0 ? (std::is_signed_v<T> && sizeof(T) >= 4 ? std::numeric_limits<T>::min() : T(0))
                : static_cast<T>(1 / x);
}
template <Float T>
T reciprocal(T x) {
  return 1 / x;
}
template <Integer T>
T pow(T x, T y) {
  if constexpr (std::is_signed_v<T>)
    if (y < 0) return static_cast<T>(x == 1 ? 1 : (x == -1 ? (y & 1 ? -1 : 1) : 0));
  using W = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;  // wraps without promotion to int
  W base = static_cast<W>(x), r = 1;
  for (auto e = static_cast<std::make_unsigned_t<T>>(y); e; e = static_cast<decltype(e)>(e >> 1), base *= base)
    if (e & 1) r *= base;
  return static_cast<T>(r);
}

// ---- bits: shifting by the width or more moves everything out
template <Integer T>
T left_shift(T x, T y) {
  constexpr unsigned width = sizeof(T) * 8;
  auto n = static_cast<std::make_unsigned_t<T>>(y);
  using U = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
  return n < width ? static_cast<T>(static_cast<U>(x) << (n & (width - 1))) : T(0);
}
template <Integer T>
T right_shift(T x, T y) {
  constexpr unsigned width = sizeof(T) * 8;
  auto n = static_cast<std::make_unsigned_t<T>>(y);
  return static_cast<T>(x >> (n < width ? n & (width - 1) : width - 1)) &
         (std::is_signed_v<T> || n < width ? T(-1) : T(0));
}
template <Integer T>
T bitwise_invert(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return !x;
  else
    return static_cast<T>(~x);
}

// ---- logarithms of sums
template <Float T>
SLIP_INLINE T logaddexp(T x, T y) {
  T d = abs(x - y), m = x > y ? x : y;
  T r = m + log1p(exp(-d));
  return choose(x == y, x + T(0.6931471805599453), r + choose(d != d, d, T(0)));
}
template <Float T>
SLIP_INLINE T logaddexp2(T x, T y) {
  T d = abs(x - y), m = x > y ? x : y;
  T r = m + log1p(exp2(-d)) * T(1.4426950408889634);
  return x == y ? x + 1 : r + (d != d ? d : T(0));
}

// Below 0 through exp(x): 1 / (1 + exp(-x)) would be 0 too early.
template <Float T>
SLIP_INLINE T sigmoid(T x) {
  T e = exp(-abs(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

// ---- special functions, computed in double
inline double gamma(double x) { return x < 0 && std::floor(x) == x ? NAN : std::tgamma(x); }
inline float gamma(float x) { return static_cast<float>(gamma(static_cast<double>(x))); }
extern "C" double slip_lgamma_r(double, int*) __asm__("lgamma_r");  // std::lgamma writes a global
inline double gammaln(double x) {
  int sign;
  return slip_lgamma_r(x, &sign);
}
inline float gammaln(float x) { return static_cast<float>(gammaln(static_cast<double>(x))); }

// In long double, because the terms nearly cancel around 1.46.
inline double digamma(double given) {
  long double x = given, r = 0;
  if (x <= 0) {
    if (std::floor(x) == x) return x == 0 ? -std::copysign(INFINITY, given) : NAN;
    constexpr long double pi = 3.14159265358979323846264338327950288L;
    r = -pi / std::tan(pi * std::remainder(x, 1.0L));  // reflection
    x = 1 - x;
  }
  for (; x < 20; x += 1) r -= 1 / x;
  long double f = 1 / (x * x), series = 0;
  for (long double term : {1 / 12.L, 691 / 32760.L, 1 / 132.L, 1 / 240.L, 1 / 252.L, 1 / 120.L, 1 / 12.L})
    series = f * (term - series);
  return static_cast<double>(r + std::log(x) - 0.5L / x - series);
}
inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

// n! times the sum of 1 / (x + k)^(n + 1) over k = 0, 1, ...: the first terms, then Euler's formula for the rest.
inline double polygamma(double order, double given) {
  if (order == 0) return digamma(given);
  if (!(order > 0 && order < INFINITY) || std::floor(order) != order || !(given >= 0)) return NAN;
  if (given == 0) return INFINITY;
  long double first = given, x = first, s = order + 1, sum = 0;  // in units of the first term
  for (long double term = 1; x < 20 + 2 * s && term > sum * 1e-24L; x += 1) sum += term = std::pow(x / first, -s);
  long double last = std::pow(x / first, -s);
  sum += last * (x / (s - 1) + 0.5L);
  long double factor = s * last / x, i = s;
  for (long double bernoulli :
       {1 / 12.L, -1 / 720.L, 1 / 30240.L, -1 / 1209600.L, 1 / 47900160.L, -691 / 1307674368000.L, 1 / 74724249600.L}) {
    sum += bernoulli * factor;
    factor *= (i + 1) * (i + 2) / (x * x);
    i += 2;
  }
  constexpr long double kMost = 1700;  // whose factorial there is
  long double scale = s < kMost ? std::tgamma(s) * std::pow(first, -s) : std::exp(std::lgamma(s) - s * std::log(first));
  long double value = scale * sum;
  return static_cast<double>(std::fmod(order, 2.0) == 0 ? -value : value);
}
inline float polygamma(float order, float x) {
  return static_cast<float>(polygamma(static_cast<double>(order), static_cast<double>(x)));
}

inline double erfinv(double y) {
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? std::copysign(INFINITY, y) : NAN;
  if (y == 0) return y;
  double a = std::fabs(y), w = -std::log((1 - a) * (1 + a));
  double b = 4.3307467508 - w / 2;  // a first guess, then Halley's steps on erf or, near 1, on erfc
  double x = std::sqrt(std::sqrt(b * b + w / 0.147) - b);
  for (int step = 0; step < 3; step++) {
    double miss = a < 0.5 ? std::erf(x) - a : (1 - a) - std::erfc(x);
    double e = miss / (1.1283791670955126 * std::exp(-x * x));
    x -= e / (1 + x * e);
  }
  return std::copysign(x, y);
}
inline float erfinv(float y) { return static_cast<float>(erfinv(static_cast<double>(y))); }

// ---- next floats
inline float nextafter(float x, float y) { return __builtin_nextafterf(x, y); }
inline double nextafter(double x, double y) { return __builtin_nextafter(x, y); }
template <class H>
  requires(std::is_same_v<H, f16_t> || std::is_same_v<H, bf16_t>)
H nextafter(H x, H y) {
  float a = to_float(x), b = to_float(y);
  if (a != a) return x;
  if (b != b || a == b) return y;
  if (a == 0) return H{static_cast<uint16_t>((y.bits & 0x8000u) | 1u)};
  return H{static_cast<uint16_t>((a < b) == (a > 0) ? x.bits + 1 : x.bits - 1)};
}

// ---- parts
template <class T>
auto real(T x) {
  if constexpr (is_cx<T>)
    return x.re;
  else
    return x;
}
template <class T>
auto imag(T x) {
  if constexpr (is_cx<T>)
    return x.im;
  else
    return T(0);
}
template <class T>
T conj(T x) {
  if constexpr (is_cx<T>)
    return {x.re, -x.im};
  else
    return x;
}

}  // namespace slipstream::SLIP_ISA

#include "complex.h"
