// Conversions between element types. Pairs that are not here go through another type (program.cpp).
#include "loops.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace slipstream::SLIP_ISA {

namespace {

template <class To, class From>
To convert(From x) {
  if constexpr (is_cx<From> && std::is_same_v<To, bool>)
    return (x.re != 0) | (x.im != 0);
  else if constexpr (is_cx<From> && is_cx<To>)
    return {static_cast<decltype(To::re)>(x.re), static_cast<decltype(To::re)>(x.im)};
  else if constexpr (is_cx<From>)
    return static_cast<To>(x.re);
  else if constexpr (is_cx<To>)
    return {static_cast<decltype(To::re)>(x), 0};
  else if constexpr (std::is_same_v<To, bool>)
    return x != 0;
  else if constexpr (Float<From> && Integer<To> && sizeof(To) < 4)
    return static_cast<To>(static_cast<int32_t>(x));
  else if constexpr (Float<From> && std::is_same_v<To, uint32_t>)
    return static_cast<To>(static_cast<int64_t>(x));
  else
    return static_cast<To>(x);
}

template <DType S, DType D>
void cast(void* out, const void* const* in, int64_t n) {
  using From = loop_t<S>;
  using To = loop_t<D>;
  auto* to = static_cast<To*>(out);
  auto* from = static_cast<const From*>(in[0]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) to[i] = convert<To, From>(from[i]);
}

template <DType S, DType D>
void fill_cast(Loops& loops) {
  loops.cast[static_cast<int>(S)][static_cast<int>(D)] = &cast<S, D>;
}
template <DType S, DType... D>
void fill_from(Loops& loops) {
  (fill_cast<S, D>(loops), ...);
}
template <DType... S>
void fill_reals(Loops& loops) {
  (fill_from<S, S...>(loops), ...);
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
void half_to_f32(void* out, const void* const* in, int64_t n) {
  halves_to_floats(static_cast<float*>(out), static_cast<const H*>(in[0]), n);
}
template <class H>
void f32_to_half(void* out, const void* const* in, int64_t n) {
  floats_to_halves(static_cast<H*>(out), static_cast<const float*>(in[0]), n);
}
template <class H>
void f64_to_half(void* out, const void* const* in, int64_t n) {
  auto* to = static_cast<H*>(out);
  auto* from = static_cast<const double*>(in[0]);
  alignas(64) float odd[256];
  for (int64_t i = 0; i < n; i += 256) {
    int64_t m = std::min<int64_t>(256, n - i);
    for (int64_t j = 0; j < m; j++) odd[j] = round_to_odd(from[i + j]);
    floats_to_halves(to + i, odd, m);
  }
}

template <class H, DType D>
void fill_half(Loops& loops) {
  loops.cast[static_cast<int>(D)][static_cast<int>(DType::f32)] = &half_to_f32<H>;
  loops.cast[static_cast<int>(DType::f32)][static_cast<int>(D)] = &f32_to_half<H>;
  loops.cast[static_cast<int>(DType::f64)][static_cast<int>(D)] = &f64_to_half<H>;
}

}  // namespace

void fill_casts(Loops& loops) {
  using enum DType;
  fill_reals<b1, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64>(loops);
  fill_from<c64, b1, f32, c128>(loops);
  fill_from<c128, b1, f64, c64>(loops);
  fill_cast<f32, c64>(loops);
  fill_cast<f64, c128>(loops);
  fill_half<f16_t, f16>(loops);
  fill_half<bf16_t, bf16>(loops);
}

}  // namespace slipstream::SLIP_ISA
