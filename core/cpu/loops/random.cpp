// Philox and the transformations to uniform and normal numbers. Only +, *, / and sqrt are used on floats, so every
// instruction set, vector body and tail rounds the same way.
#include "../random_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace slipstream::SLIP_ISA {

namespace {

using cpu::kGroupBlocks;
constexpr int kLanes = static_cast<int>(kGroupBlocks);

struct Group {
  alignas(64) uint32_t word[4][kLanes];
};

// Vectors of 64-bit lanes. Products need only the low halves of their factors, so the high halves may hold anything.
#if defined(__AVX512F__)
typedef uint64_t Vector __attribute__((vector_size(64)));
inline Vector multiply(Vector x, Vector y) { return (Vector)_mm512_mul_epu32((__m512i)x, (__m512i)y); }
#elif defined(__AVX2__)
typedef uint64_t Vector __attribute__((vector_size(32)));
inline Vector multiply(Vector x, Vector y) { return (Vector)_mm256_mul_epu32((__m256i)x, (__m256i)y); }
#elif defined(__SSE2__)
typedef uint64_t Vector __attribute__((vector_size(16)));
inline Vector multiply(Vector x, Vector y) { return (Vector)_mm_mul_epu32((__m128i)x, (__m128i)y); }
#else
typedef uint64_t Vector __attribute__((vector_size(16)));
inline Vector multiply(Vector x, Vector y) { return (x & 0xffffffffu) * (y & 0xffffffffu); }
#endif
constexpr int kVector = sizeof(Vector) / 8;

struct Blocks {
  Vector x0, x1, x2, x3;

  void round(uint64_t key0, uint64_t key1) {
    Vector p0 = multiply(x0, Vector{} + 0xD2511F53u), p1 = multiply(x2, Vector{} + 0xCD9E8D57u);
    x0 = (p1 >> 32) ^ x1 ^ key0;
    x1 = p1;
    x2 = (p0 >> 32) ^ x3 ^ key1;
    x3 = p0;
  }
};

// The low halves of both, in turn.
inline void interleave(uint32_t* out, Vector even, Vector odd) {
  Vector both = (even & 0xffffffffu) | (odd << 32);
  __builtin_memcpy(out, &both, sizeof both);
}

inline void philox_group(Group& g, uint64_t key, uint64_t group) {
  const uint64_t block = group * kLanes;
  for (int j = 0; j < kLanes; j += 2 * kVector) {
    Vector number;
    for (int i = 0; i < kVector; i++) number[i] = static_cast<uint32_t>(block) + static_cast<uint64_t>(j + 2 * i);
    Blocks even{number, Vector{} + (block >> 32), Vector{}, Vector{}};
    Blocks odd{number + 1, Vector{} + (block >> 32), Vector{}, Vector{}};
    auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
      even.round(key0, key1);
      odd.round(key0, key1);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    interleave(g.word[0] + j, even.x0, odd.x0);
    interleave(g.word[1] + j, even.x1, odd.x1);
    interleave(g.word[2] + j, even.x2, odd.x2);
    interleave(g.word[3] + j, even.x3, odd.x3);
  }
}

void words(uint32_t* out, uint64_t key, uint64_t first, int64_t groups) {
  Group g;
  for (int64_t i = 0; i < groups; i++) {
    philox_group(g, key, first + static_cast<uint64_t>(i));
    for (int w = 0; w < 4; w++)
      for (int j = 0; j < kLanes; j++) *out++ = g.word[w][j];
  }
}

// ---- uniform

void uniform32(float* out, uint64_t key, uint64_t first, int64_t groups, float low, float range, float below) {
  Group g;
  for (int64_t i = 0; i < groups; i++, out += 4 * kLanes) {
    philox_group(g, key, first + static_cast<uint64_t>(i));
    for (int w = 0; w < 4; w++)
      for (int j = 0; j < kLanes; j++) {
        float v = low + static_cast<float>(static_cast<int32_t>(g.word[w][j] >> 8)) * 0x1p-24f * range;
        out[w * kLanes + j] = v > below && range > 0 ? below : v;
      }
  }
}

// 53 bits in [0, 1): both halves are exact, and so is their sum.
inline double unit53(uint32_t high, uint32_t low) {
  return static_cast<double>(static_cast<int32_t>(high >> 5)) * 0x1p-27 +
         static_cast<double>(static_cast<int32_t>(low >> 6)) * 0x1p-53;
}

void uniform64(double* out, uint64_t key, uint64_t first, int64_t groups, double low, double range, double below) {
  Group g;
  for (int64_t i = 0; i < groups; i++, out += 2 * kLanes) {
    philox_group(g, key, first + static_cast<uint64_t>(i));
    for (int w = 0; w < 2; w++)
      for (int j = 0; j < kLanes; j++) {
        double v = low + unit53(g.word[2 * w][j], g.word[2 * w + 1][j]) * range;
        out[w * kLanes + j] = v > below && range > 0 ? below : v;
      }
  }
}

// ---- normal, by Box and Muller: radius from one uniform number, direction from another

// -log(u) for 0 < u <= 1: exponent and mantissa apart, then log(m) = 2 atanh((m - 1) / (m + 1)) as a series.
inline float minus_log(float u) {
  int32_t bits;
  __builtin_memcpy(&bits, &u, 4);
  int32_t exponent = (bits - 0x3f3504f3) >> 23;  // so that m lies between sqrt(1/2) and sqrt(2)
  bits -= exponent * (1 << 23);
  float m;
  __builtin_memcpy(&m, &bits, 4);
  float s = (m - 1) / (m + 1), z = s * s;
  float series = z * (1.f / 3 + z * (1.f / 5 + z * (1.f / 7 + z * (1.f / 9 + z * (1.f / 11)))));
  return static_cast<float>(exponent) * -0.693147180559945f - 2 * (s + s * series);
}

inline double minus_log(double u) {
  int64_t bits;
  __builtin_memcpy(&bits, &u, 8);
  auto top = static_cast<int32_t>(bits >> 32);
  int32_t exponent = (top - 0x3fe6a09e) >> 20;
  bits -= static_cast<int64_t>(exponent) * (int64_t{1} << 52);
  double m;
  __builtin_memcpy(&m, &bits, 8);
  double s = (m - 1) / (m + 1), z = s * s;
  double series = 1. / 23;
  series = 1. / 21 + z * series;
  series = 1. / 19 + z * series;
  series = 1. / 17 + z * series;
  series = 1. / 15 + z * series;
  series = 1. / 13 + z * series;
  series = 1. / 11 + z * series;
  series = 1. / 9 + z * series;
  series = 1. / 7 + z * series;
  series = 1. / 5 + z * series;
  series = z * (1. / 3 + z * series);
  return static_cast<double>(exponent) * -0.69314718055994530942 - 2 * (s + s * series);
}

// The sine and cosine of `turn` / 2^32 of a full turn: the nearest quarter is exact, Taylor series do the rest.
template <class T>
struct Direction {
  T x, y;
};

inline float sine(float a, float z) {
  return a + a * z * (-1.f / 6 + z * (1.f / 120 + z * (-1.f / 5040 + z * (1.f / 362880))));
}
inline float cosine(float z) {
  return 1 + z * (-.5f + z * (1.f / 24 + z * (-1.f / 720 + z * (1.f / 40320 + z * (-1.f / 3628800)))));
}
inline double sine(double a, double z) {
  double series = 1. / 355687428096000;
  series = -1. / 1307674368000 + z * series;
  series = 1. / 6227020800 + z * series;
  series = -1. / 39916800 + z * series;
  series = 1. / 362880 + z * series;
  series = -1. / 5040 + z * series;
  series = 1. / 120 + z * series;
  series = -1. / 6 + z * series;
  return a + a * z * series;
}
inline double cosine(double z) {
  double series = -1. / 6402373705728000;
  series = 1. / 20922789888000 + z * series;
  series = -1. / 87178291200 + z * series;
  series = 1. / 479001600 + z * series;
  series = -1. / 3628800 + z * series;
  series = 1. / 40320 + z * series;
  series = -1. / 720 + z * series;
  series = 1. / 24 + z * series;
  return 1 + z * (-.5 + z * series);
}

template <class T>
inline Direction<T> direction(uint32_t turn) {
  uint32_t quarter = (turn + (1u << 29)) >> 30;
  auto rest = static_cast<int32_t>(turn - (quarter << 30));
  T a = static_cast<T>(rest) * static_cast<T>(1.57079632679489661923 * 0x1p-30), z = a * a;
  T s = sine(a, z), c = cosine(z);
  bool swap = quarter & 1;
  T x = swap ? s : c, y = swap ? c : s;
  return {((quarter + 1) & 2) ? -x : x, (quarter & 2) ? -y : y};
}

void normal32(float* out, uint64_t key, uint64_t first, int64_t groups, float mean, float deviation) {
  Group g;
  for (int64_t i = 0; i < groups; i++, out += 4 * kLanes) {
    philox_group(g, key, first + static_cast<uint64_t>(i));
    for (int w = 0; w < 4; w += 2)
      for (int j = 0; j < kLanes; j++) {
        float u = static_cast<float>(static_cast<int32_t>(g.word[w][j] >> 1)) * 0x1p-31f + 0x1p-32f;
        float radius = deviation * __builtin_sqrtf(2 * minus_log(u));
        Direction<float> d = direction<float>(g.word[w + 1][j]);
        out[w * kLanes + j] = mean + radius * d.x;
        out[(w + 1) * kLanes + j] = mean + radius * d.y;
      }
  }
}

// Four words make two numbers: 64 bits for the radius (so that the tail is fine), 32 and 32 for the direction's angle.
void normal64(double* out, uint64_t key, uint64_t first, int64_t groups, double mean, double deviation) {
  Group g;
  for (int64_t i = 0; i < groups; i++, out += 2 * kLanes) {
    philox_group(g, key, first + static_cast<uint64_t>(i));
    for (int j = 0; j < kLanes; j++) {
      double u = unit53(g.word[0][j], g.word[1][j]) + 0x1p-54;
      double radius = deviation * __builtin_sqrt(2 * minus_log(u));
      Direction<double> d = direction<double>(g.word[2][j]);
      // A further turn by less than 2^-32, to first order: it makes the angle as fine as the type.
      double fine = static_cast<double>(static_cast<int32_t>(g.word[3][j])) * (6.28318530717958647693 * 0x1p-64);
      out[j] = mean + radius * (d.x - d.y * fine);
      out[kLanes + j] = mean + radius * (d.y + d.x * fine);
    }
  }
}

}  // namespace

extern const cpu::RandomLoops kRandomLoops;
const cpu::RandomLoops kRandomLoops{words, uniform32, uniform64, normal32, normal64};

}  // namespace slipstream::SLIP_ISA
