// Blocks of convolutions, with their sums in registers. Compiled with contraction, like the products.
#include "../conv_blocks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

using cpu::ConvBlock;
using cpu::ConvWeightBlock;
using cpu::kConvHeight;
using cpu::kConvVectors;

// Sums in all registers but those of what they are made of.
#if defined(__AVX512F__)
constexpr int kBytes = 64, kSums = 24, kVectors = 3, kAcross = 4;
#else
constexpr int kBytes = 32, kSums = 12, kVectors = 2, kAcross = 2;
#endif

template <class T, int bytes = kBytes>
using Vector [[gnu::vector_size(bytes)]] = T;
template <class T, int bytes = kBytes>
constexpr int64_t kLanes = bytes / static_cast<int64_t>(sizeof(T));

// Not returned: that would be another way of calling on processors without vectors of this size.
template <class V, class T>
[[gnu::always_inline]] inline void load(V& to, const T* from) {
  std::memcpy(&to, from, sizeof to);
}

template <int height, int vectors, class T>
void block(const ConvBlock<T>& p) {
  Vector<T> sums[height][vectors] = {};
  const T* weights = p.weights;
  const T* image[vectors];
  for (int j = 0; j < vectors; j++) image[j] = p.places[j].image;
  for (int64_t k = 0; k < p.depth; k++, weights += height) {
    Vector<T> x[vectors];
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++) load(x[j], image[j] + p.offsets[k]);
#pragma GCC unroll 16
    for (int i = 0; i < height; i++)
      for (int j = 0; j < vectors; j++) sums[i][j] += weights[i] * x[j];
  }
#pragma GCC unroll 16
  for (int i = 0; i < height; i++) {
    T bias = p.bias ? p.bias[i] : T(0);
    for (int j = 0; j < vectors; j++) {
      T* to = p.places[j].out + i * p.places[j].down;
      Vector<T> sum = sums[i][j] + bias;
      if (p.places[j].add) {
        Vector<T> old;
        load(old, to);
        sum += old;
      }
      std::memcpy(to, &sum, sizeof sum);
    }
  }
}

template <int height, int vectors, class T>
void weight_block(const ConvWeightBlock<T>& p) {
  Vector<T> sums[height][vectors] = {};
  const T* g = p.gradients;
  for (int64_t y = 0; y < p.rows; y++) {
    const T* at[height];
#pragma GCC unroll 16
    for (int i = 0; i < height; i++) at[i] = p.image + y * p.pitch + p.offsets[i];
    for (int64_t x = 0; x < p.length; x++, g += vectors * kLanes<T>) {
      Vector<T> v[vectors];
#pragma GCC unroll 4
      for (int j = 0; j < vectors; j++) load(v[j], g + j * kLanes<T>);
#pragma GCC unroll 16
      for (int i = 0; i < height; i++)
        for (int j = 0; j < vectors; j++) sums[i][j] += at[i][x] * v[j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < height; i++)
    for (int j = 0; j < vectors; j++) {
      T* to = p.out + i * p.down + j * kLanes<T>;
      Vector<T> sum;
      load(sum, to);
      sum += sums[i][j];
      std::memcpy(to, &sum, sizeof sum);
    }
}

// What does not fill a vector at the end of a row is in the last lanes of one that ends with it, or in the first lanes
// of one that begins with the row; both sides are zero in the others.
template <int height, class T>
void one_filter(const ConvWeightBlock<T>& p) {
  Vector<T> sums[height] = {};
  const T* g = p.gradients;
  int64_t whole = p.length / kLanes<T> * kLanes<T>, rest = p.length - whole;
  int64_t last = std::max<int64_t>(0, p.length - kLanes<T>);
  Vector<T> lane;
  for (int64_t j = 0; j < kLanes<T>; j++) lane[j] = static_cast<T>(whole > 0 ? kLanes<T> - 1 - j : j);
  auto inside = lane < Vector<T>{} + static_cast<T>(rest);
  for (int64_t y = 0; y < p.rows; y++, g += p.length) {
    const T* image = p.image + y * p.pitch;
    for (int64_t x = 0; x < whole; x += kLanes<T>) {
      Vector<T> v;
      load(v, g + x);
#pragma GCC unroll 16
      for (int i = 0; i < height; i++) {
        Vector<T> there;
        load(there, image + p.offsets[i] + x);
        sums[i] += v * there;
      }
    }
    if (rest == 0) continue;
    Vector<T> v;
    if (whole > 0) {
      load(v, g + last);
      v = inside ? v : Vector<T>{};
    } else {  // not from memory, which may end with the row
      T some[kLanes<T>] = {};
      for (int64_t x = 0; x < rest; x++) some[x] = g[x];
      load(v, some);
    }
#pragma GCC unroll 16
    for (int i = 0; i < height; i++) {
      Vector<T> there;
      load(there, image + p.offsets[i] + last);
      sums[i] += v * (inside ? there : Vector<T>{});
    }
  }
  for (int i = 0; i < height; i++) {
    T sum = 0;
    for (int64_t j = 0; j < kLanes<T>; j++) sum += sums[i][j];
    p.out[i * p.down] += sum;
  }
}

template <int bytes, int vectors, class T>
[[gnu::always_inline]] inline int64_t strips(const cpu::ConvRows<T>& p, const T* image, T* out, int64_t x) {
  constexpr int64_t lanes = kLanes<T, bytes>;
  for (; x + vectors * lanes <= p.length; x += vectors * lanes) {
    Vector<T, bytes> sums[vectors];
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++) sums[j] = Vector<T, bytes>{} + p.bias;
    for (int64_t k = 0; k < p.taps; k++)
#pragma GCC unroll 4
      for (int j = 0; j < vectors; j++) {
        Vector<T, bytes> there;
        load(there, image + x + p.offsets[k] + j * lanes);
        sums[j] += p.weights[k] * there;
      }
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++) std::memcpy(out + x + j * lanes, &sums[j], sizeof sums[j]);
  }
  return x;
}

// The last vector of a row ends with it: some results are made twice. Rows shorter than a vector take smaller ones.
template <int bytes, class T>
void rows_of(const cpu::ConvRows<T>& p) {
  constexpr int64_t lanes = kLanes<T, bytes>;
  if constexpr (lanes > 1)
    if (p.length < lanes) return rows_of<bytes / 2>(p);
  for (int64_t y = 0; y < p.rows; y++) {
    const T* image = p.image + y * p.pitch;
    T* out = p.out + y * p.out_pitch;
    int64_t x = strips<bytes, 4>(p, image, out, 0);
    x = strips<bytes, 2>(p, image, out, x);
    x = strips<bytes, 1>(p, image, out, x);
    if (x < p.length) strips<bytes, 1>(p, image, out, p.length - lanes);
  }
}

template <int height, int vectors, class T>
void fill_block(cpu::ConvLoops<T>& to) {
  if constexpr (height * vectors <= kSums) {
    to.blocks[height - 1][vectors - 1] = &block<height, vectors, T>;
    to.weights[height - 1][vectors - 1] = &weight_block<height, vectors, T>;
  }
}

template <class T, int... i>
void fill_conv_type(cpu::ConvLoops<T>& to, std::integer_sequence<int, i...>) {
  to.lanes = kLanes<T>;
  to.sums = kSums;
  to.vectors = kVectors;
  to.across = kAcross;
  (fill_block<i / kConvVectors + 1, i % kConvVectors + 1>(to), ...);
  ((to.one_filter[i / kConvVectors] = &one_filter<i / kConvVectors + 1, T>), ...);
  to.rows = &rows_of<kBytes, T>;
}

}  // namespace

void fill_conv(Loops& loops) {
  constexpr auto all = std::make_integer_sequence<int, kConvHeight * kConvVectors>{};
  fill_conv_type(loops.conv_f32, all);
  fill_conv_type(loops.conv_f64, all);
}

}  // namespace slipstream::SLIP_ISA
