// Conversions between element types. Pairs that are not here go through another type (program.cpp).
#include "loops.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace slipstream::SLIP_ISA {

namespace {

// 64-bit integers as floats by their bits, where vectors have no such instruction: each half is put into the fraction
// of a double whose exponent fits, and one addition rounds.
#if !defined(__AVX512DQ__)
inline double to_double(uint64_t x) {
  double high = std::bit_cast<double>(x >> 32 | 0x4530000000000000);          // 2^84 + high * 2^32
  double low = std::bit_cast<double>((x & 0xffffffff) | 0x4330000000000000);  // 2^52 + low
  return (high - 0x1.00000001p84) + low;
}
inline double to_double(int64_t x) {
  uint64_t moved = static_cast<uint64_t>(x) ^ 0x8000000000000000;  // x + 2^63
  double high = std::bit_cast<double>(moved >> 32 | 0x4530000000000000);
  double low = std::bit_cast<double>((moved & 0xffffffff) | 0x4330000000000000);
  return (high - 0x1.00000801p84) + low;  // 2^84 + 2^63 + 2^52
}
#else
inline double to_double(uint64_t x) { return static_cast<double>(x); }
inline double to_double(int64_t x) { return static_cast<double>(x); }
#endif
// What does not fit a double's fraction keeps one bit that says so: the second rounding then sees the truth.
template <class T>
float to_float_once(T x) {
  auto high = static_cast<T>(x >> 11), low = static_cast<T>(x & 0x7ff);
  auto odd = static_cast<T>((high | (low != 0)) << 11);
  auto top = static_cast<T>(x >> 53);
  bool fits = top == 0 || top == static_cast<T>(-1);
  return static_cast<float>(to_double(fits ? x : odd));
}

template <class To, class From>
To convert(From x) {
  if constexpr (is_cx<From> && std::is_same_v<To, bool>)
    return (x.re != 0) | (x.im != 0);
  else if constexpr (is_cx<From> && is_cx<To>)
    return {static_cast<decltype(To::re)>(x.re), static_cast<decltype(To::re)>(x.im)};
  else if constexpr (is_cx<From>)
    return static_cast<To>(x.re);
  else if constexpr (is_cx<To>)
    return {convert<decltype(To::re)>(x), 0};
  else if constexpr (std::is_same_v<To, bool>)
    return x != 0;
  else if constexpr (Float<From> && Integer<To>)
    return truncated<To>(x);
  else if constexpr (Integer<From> && sizeof(From) == 8 && std::is_same_v<To, double>)
    return to_double(x);
  else if constexpr (Integer<From> && sizeof(From) == 8 && std::is_same_v<To, float>)
    return to_float_once(x);
  else
    return static_cast<To>(x);
}

// Booleans are bytes of 0 and 1 here: they make better vectors.
template <DType D>
using byte_or = std::conditional_t<D == DType::b1, uint8_t, loop_t<D>>;

template <DType S, DType D>
void cast(byte_or<D>* to, const byte_or<S>* from, int64_t n) {
  using From = byte_or<S>;
  using To = byte_or<D>;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    if constexpr (D == DType::b1)
      to[i] = static_cast<To>(convert<bool, From>(from[i]));
    else
      to[i] = convert<To, From>(from[i]);
  }
}

// The loop of a function that converts dense elements.
template <auto convert_all>
struct CastLoop;
template <class To, class From, void (*convert_all)(To*, const From*, int64_t)>
struct CastLoop<convert_all> {
  static void run(void* out, const cpu::Argument* in, int64_t n) {
    auto* to = static_cast<To*>(out);
    auto* from = static_cast<const From*>(in[0].data);
    int64_t at_once = in[0].repeated ? cpu::kRepeated : n;
    for (int64_t i = 0; i < n; i += at_once) convert_all(to + i, from, std::min(at_once, n - i));
  }
};

template <DType S, DType D>
void fill_cast(Loops& loops) {
  loops.cast[static_cast<int>(S)][static_cast<int>(D)] = &CastLoop<&cast<S, D>>::run;
}
template <DType S, DType... D>
void fill_from(Loops& loops) {
  (fill_cast<S, D>(loops), ...);
}
template <DType... S>
void fill_reals(Loops& loops) {
  (fill_from<S, S..., DType::c64, DType::c128>(loops), ...);
}

void halves_to_floats(float* to, const f16_t* from, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
  for (; i < n; i++) to[i] = to_float(from[i]);
}
void floats_to_halves(f16_t* to, const float* from, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; i++) to[i] = to_f16(from[i]);
}
void halves_to_floats(float* to, const bf16_t* from, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) to[i] = std::bit_cast<float>(static_cast<uint32_t>(from[i].bits) << 16);
}
void floats_to_halves(bf16_t* to, const float* from, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    auto bits = std::bit_cast<uint32_t>(from[i]);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, nan = (bits >> 16) | 0x40u;
    to[i].bits = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
}

// Rounded to odd: a second rounding to fewer bits then gives what one rounding would have given.
inline float round_to_odd(double d) {
  auto f = static_cast<float>(d);
  auto back = static_cast<double>(f);
  auto bits = std::bit_cast<uint32_t>(f);
  bits -= (abs(back) > abs(d)) ? 1u : 0u;
  bits |= (back != d) & (d == d) ? 1u : 0u;
  return std::bit_cast<float>(bits);
}

template <class H>
void doubles_to_halves(H* to, const double* from, int64_t n) {
  alignas(64) float odd[256];
  for (int64_t i = 0; i < n; i += 256) {
    int64_t m = std::min<int64_t>(256, n - i);
    for (int64_t j = 0; j < m; j++) odd[j] = round_to_odd(from[i + j]);
    floats_to_halves(to + i, odd, m);
  }
}

template <class H, DType D>
void fill_half(Loops& loops) {
  loops.cast[static_cast<int>(D)][static_cast<int>(DType::f32)] =
      &CastLoop<static_cast<void (*)(float*, const H*, int64_t)>(&halves_to_floats)>::run;
  loops.cast[static_cast<int>(DType::f32)][static_cast<int>(D)] =
      &CastLoop<static_cast<void (*)(H*, const float*, int64_t)>(&floats_to_halves)>::run;
  loops.cast[static_cast<int>(DType::f64)][static_cast<int>(D)] = &CastLoop<&doubles_to_halves<H>>::run;
}

}  // namespace

void fill_casts(Loops& loops) {
  using enum DType;
  fill_reals<b1, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64>(loops);
  fill_from<c64, b1, f32, c128>(loops);
  fill_from<c128, b1, f64, c64>(loops);
  fill_half<f16_t, f16>(loops);
  fill_half<bf16_t, bf16>(loops);
}

}  // namespace slipstream::SLIP_ISA
