// Blocks of convolutions, with their sums in registers. Compiled with contraction, like the products.
#include "../conv_blocks.h"

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

template <class T>
using Vector [[gnu::vector_size(kBytes)]] = T;
template <class T>
constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(T));

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

// What does not fill a vector is added up on its own.
template <int height, class T>
void one_filter(const ConvWeightBlock<T>& p) {
  Vector<T> sums[height] = {};
  T rest[height] = {};
  const T* g = p.gradients;
  int64_t whole = p.length / kLanes<T> * kLanes<T>;
  for (int64_t y = 0; y < p.rows; y++, g += p.length) {
    const T* image = p.image + y * p.pitch;
    for (int64_t x = 0; x < whole; x += kLanes<T>) {
      Vector<T> v;
      load(v, g + x);
      for (int i = 0; i < height; i++) {
        Vector<T> there;
        load(there, image + p.offsets[i] + x);
        sums[i] += v * there;
      }
    }
    for (int64_t x = whole; x < p.length; x++)
      for (int i = 0; i < height; i++) rest[i] += g[x] * image[p.offsets[i] + x];
  }
  for (int i = 0; i < height; i++) {
    for (int64_t j = 0; j < kLanes<T>; j++) rest[i] += sums[i][j];
    p.out[i * p.down] += rest[i];
  }
}

template <int vectors, class T>
[[gnu::always_inline]] inline int64_t strips(const cpu::ConvRows<T>& p, const T* image, T* out, int64_t x) {
  for (; x + vectors * kLanes<T> <= p.length; x += vectors * kLanes<T>) {
    Vector<T> sums[vectors];
    for (int j = 0; j < vectors; j++) sums[j] = Vector<T>{} + p.bias;
    for (int64_t k = 0; k < p.taps; k++)
      for (int j = 0; j < vectors; j++) {
        Vector<T> there;
        load(there, image + x + p.offsets[k] + j * kLanes<T>);
        sums[j] += p.weights[k] * there;
      }
    for (int j = 0; j < vectors; j++) std::memcpy(out + x + j * kLanes<T>, &sums[j], sizeof sums[j]);
  }
  return x;
}

template <class T>
void rows(const cpu::ConvRows<T>& p) {
  for (int64_t y = 0; y < p.rows; y++) {
    const T* image = p.image + y * p.pitch;
    T* out = p.out + y * p.out_pitch;
    int64_t x = strips<4>(p, image, out, 0);
    x = strips<2>(p, image, out, x);
    x = strips<1>(p, image, out, x);
    for (; x < p.length; x++) {
      T sum = p.bias;
      for (int64_t k = 0; k < p.taps; k++) sum += p.weights[k] * image[x + p.offsets[k]];
      out[x] = sum;
    }
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
  to.rows = &rows<T>;
}

}  // namespace

void fill_conv(Loops& loops) {
  constexpr auto all = std::make_integer_sequence<int, kConvHeight * kConvVectors>{};
  fill_conv_type(loops.conv_f32, all);
  fill_conv_type(loops.conv_f64, all);
}

}  // namespace slipstream::SLIP_ISA
