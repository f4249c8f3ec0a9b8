// What vector sorts are made of, for the processors whose vectors can be permuted by a table: vectors of 32- and 64-bit
// numbers that are ordered against each other, merged, and divided at a pivot.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "loops.h"

namespace slipstream::SLIP_ISA {

#define SLIP_STATIC [[gnu::always_inline]] static inline

template <class E>
struct Vectors;

template <>
struct Vectors<uint32_t> {
  using V [[gnu::vector_size(32)]] = uint32_t;
  using Floats [[gnu::vector_size(32)]] = float;
  static constexpr int kWidth = 8;
  static constexpr uint32_t kFlip = 0;  // what numbers are xored with, to be ordered in a vector

  SLIP_STATIC V iota() { return V{0, 1, 2, 3, 4, 5, 6, 7}; }
  SLIP_STATIC V reverse(V v) { return __builtin_shuffle(v, V{7, 6, 5, 4, 3, 2, 1, 0}); }
  SLIP_STATIC void order(V& a, V& b) {
    V low = a < b ? a : b, high = a < b ? b : a;
    a = low, b = high;
  }
  // Sorts two vectors, each of which first rises and then falls, or the other way round.
  SLIP_STATIC void sort_bitonic(V& a, V& b) {
    halves(a, b);
    order(a, b);
    quarters(a, b);
    order(a, b);
    V even = as_floats(a, b, V{0, 2, 8, 10, 4, 6, 12, 14}), odd = as_floats(a, b, V{1, 3, 9, 11, 5, 7, 13, 15});
    order(even, odd);
    a = __builtin_shuffle(even, odd, V{0, 8, 1, 9, 4, 12, 5, 13});
    b = __builtin_shuffle(even, odd, V{2, 10, 3, 11, 6, 14, 7, 15});
    quarters(a, b);
    halves(a, b);
  }
  // One bit for every lane of a that is below b's.
  SLIP_STATIC unsigned below(V a, V b) {
    V lanes = reinterpret_cast<V>(a < b);
    return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
  }
  // Lanes whose bits are set come first.
  SLIP_STATIC V divided(V v, unsigned bits) {
    V lanes;
    std::memcpy(&lanes, kDivided[bits].data(), sizeof lanes);
    return __builtin_shuffle(v, lanes);
  }

 private:
  SLIP_STATIC void halves(V& a, V& b) {
    V low = __builtin_shuffle(a, b, V{0, 1, 2, 3, 8, 9, 10, 11});
    b = __builtin_shuffle(a, b, V{4, 5, 6, 7, 12, 13, 14, 15});
    a = low;
  }
  SLIP_STATIC void quarters(V& a, V& b) {
    V low = __builtin_shuffle(a, b, V{0, 1, 8, 9, 4, 5, 12, 13});
    b = __builtin_shuffle(a, b, V{2, 3, 10, 11, 6, 7, 14, 15});
    a = low;
  }
  // One instruction for floats, three for integers.
  SLIP_STATIC V as_floats(V a, V b, V lanes) {
    return reinterpret_cast<V>(__builtin_shuffle(reinterpret_cast<Floats>(a), reinterpret_cast<Floats>(b), lanes));
  }
  alignas(32) static constexpr auto kDivided = [] {
    std::array<std::array<uint32_t, 8>, 256> lanes{};
    for (size_t bits = 0; bits < 256; bits++) {
      size_t at = 0;
      for (bool set : {true, false})
        for (uint32_t lane = 0; lane < 8; lane++)
          if (((bits >> lane & 1) != 0) == set) lanes[bits][at++] = lane;
    }
    return lanes;
  }();
};

template <>
struct Vectors<uint64_t> {
  using V [[gnu::vector_size(32)]] = int64_t;
  using Halves [[gnu::vector_size(32)]] = uint32_t;
  static constexpr int kWidth = 4;
  static constexpr int64_t kFlip = INT64_MIN;  // only signed ones can be compared in one instruction

  SLIP_STATIC V iota() { return V{0, 1, 2, 3}; }
  SLIP_STATIC V reverse(V v) { return __builtin_shuffle(v, V{3, 2, 1, 0}); }
  SLIP_STATIC void order(V& a, V& b) {
    V below = a < b, low = below ? a : b, high = below ? b : a;
    a = low, b = high;
  }
  SLIP_STATIC void sort_bitonic(V& a, V& b) {
    halves(a, b);
    order(a, b);
    pairs(a, b);
    order(a, b);
    pairs(a, b);
    halves(a, b);
  }
  SLIP_STATIC unsigned below(V a, V b) {
    V lanes = a < b;
    return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(lanes)));
  }
  SLIP_STATIC V divided(V v, unsigned bits) {
    Halves lanes;
    std::memcpy(&lanes, kDivided[bits].data(), sizeof lanes);
    return reinterpret_cast<V>(__builtin_shuffle(reinterpret_cast<Halves>(v), lanes));
  }

 private:
  SLIP_STATIC void halves(V& a, V& b) {
    V low = __builtin_shuffle(a, b, V{0, 1, 4, 5});
    b = __builtin_shuffle(a, b, V{2, 3, 6, 7});
    a = low;
  }
  SLIP_STATIC void pairs(V& a, V& b) {
    V low = __builtin_shuffle(a, b, V{0, 4, 2, 6});
    b = __builtin_shuffle(a, b, V{1, 5, 3, 7});
    a = low;
  }
  alignas(32) static constexpr auto kDivided = [] {
    std::array<std::array<uint32_t, 8>, 16> lanes{};
    for (size_t bits = 0; bits < 16; bits++) {
      size_t at = 0;
      for (bool set : {true, false})
        for (uint32_t lane = 0; lane < 8; lane++)
          if (((bits >> lane / 2 & 1) != 0) == set) lanes[bits][at++] = lane;
    }
    return lanes;
  }();
};

// Vectors in and out of memory, and networks of many of them.
template <class E>
struct VectorTools : Vectors<E> {
  using Base = Vectors<E>;
  using V = typename Base::V;
  static constexpr int kWidth = Base::kWidth;
  static constexpr E kLast = static_cast<E>(-1);

  SLIP_STATIC V load(const E* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v ^ Base::kFlip;
  }
  SLIP_STATIC void store(E* to, V v) {
    v ^= Base::kFlip;
    std::memcpy(to, &v, sizeof v);
  }
  SLIP_STATIC V all(E e) {
    V v = {};
    return (v + static_cast<decltype(Base::kFlip)>(e)) ^ Base::kFlip;
  }
  // The lower half of both, sorted; the upper half stays in a.
  SLIP_STATIC V merge(V& a, V b) {
    V low = a, high = Base::reverse(b);
    Base::order(low, high);
    Base::sort_bitonic(low, high);
    a = high;
    return low;
  }

  // Batcher's network: which rows are ordered against which, one after another.
  template <int rows>
  static constexpr auto kNetwork = [] {
    constexpr auto walk = [](auto visit) {
      for (int p = 1; p < rows; p *= 2)
        for (int k = p; k >= 1; k /= 2)
          for (int j = k % p; j + k < rows; j += 2 * k)
            for (int i = j; i < j + k; i++)
              if (i / (2 * p) == (i + k) / (2 * p)) visit(i, i + k);
    };
    constexpr size_t size = [&] {
      size_t n = 0;
      walk([&](int, int) { n++; });
      return n;
    }();
    std::array<std::pair<int, int>, size> steps{};
    size_t n = 0;
    walk([&](int low, int high) { steps[n++] = {low, high}; });
    return steps;
  }();
  template <int rows>
  SLIP_STATIC void sort_columns(V* v) {
    [&]<size_t... k>(std::index_sequence<k...>) __attribute__((always_inline)) {
      (Base::order(v[kNetwork<rows>[k].first], v[kNetwork<rows>[k].second]), ...);
    }(std::make_index_sequence<kNetwork<rows>.size()>());
  }

  // Rows and columns of as many vectors as a vector has lanes change places.
  SLIP_STATIC void transpose(V* v) {
    if constexpr (kWidth == 8) exchange<4>(v);
    exchange<2>(v);
    exchange<1>(v);
  }

  // n vectors hold sorted runs of k vectors each; these are merged until there is one.
  template <int n, int k>
  SLIP_STATIC void merge_runs(V* v) {
    if constexpr (k < n) {
#pragma GCC unroll 16
      for (int run = 0; run < n; run += 2 * k) {
        V second[k];
#pragma GCC unroll 16
        for (int i = 0; i < k; i++) second[i] = Base::reverse(v[run + 2 * k - 1 - i]);
#pragma GCC unroll 16
        for (int i = 0; i < k; i++) {
          Base::order(v[run + i], second[i]);
          v[run + k + i] = second[i];
        }
      }
      order_at<n, k / 2>(v);
#pragma GCC unroll 16
      for (int i = 0; i < n; i += 2) Base::sort_bitonic(v[i], v[i + 1]);
      merge_runs<n, 2 * k>(v);
    }
  }

 private:
  template <int d>
  SLIP_STATIC void exchange(V* v) {
    V low = {}, high = {};
    for (int lane = 0; lane < kWidth; lane++) {
      low[lane] = lane & d ? kWidth + (lane ^ d) : lane;
      high[lane] = lane & d ? kWidth + lane : lane ^ d;
    }
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; i++) {
      if (i & d) continue;
      V a = v[i], b = v[i + d];
      v[i] = __builtin_shuffle(a, b, low);
      v[i + d] = __builtin_shuffle(a, b, high);
    }
  }
  template <int n, int d>
  SLIP_STATIC void order_at(V* v) {
    if constexpr (d > 0) {
#pragma GCC unroll 16
      for (int first = 0; first < n; first += 2 * d)
#pragma GCC unroll 16
        for (int i = first; i < first + d; i++) Base::order(v[i], v[i + d]);
      order_at<n, d / 2>(v);
    }
  }
};

}  // namespace slipstream::SLIP_ISA
#endif
