// Blocks of convolutions, with their sums in registers. Compiled with contraction, like the products.
#include "../conv_blocks.h"

#include <cstring>
#include <utility>

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

using cpu::ConvBlock;
using cpu::ConvWeightBlock;
using cpu::kConvSums;
using cpu::kConvVectors;

template <class T>
using Vector [[gnu::vector_size(cpu::kConvVector)]] = T;
template <class T>
constexpr int64_t kLanes = cpu::kConvVector / static_cast<int64_t>(sizeof(T));

// Not returned: that would be another way of calling on processors without vectors of this size.
template <class V, class T>
[[gnu::always_inline]] inline void load(V& to, const T* from) {
  std::memcpy(&to, from, sizeof to);
}

template <int height, int vectors, class T>
void block(const ConvBlock<T>& p) {
  Vector<T> sums[height][vectors] = {};
  const T* weights = p.weights;
  for (int64_t k = 0; k < p.depth; k++, weights += height) {
    const T* at = p.image + p.offsets[k];
    Vector<T> x[vectors];
    for (int j = 0; j < vectors; j++) load(x[j], at + j * kLanes<T>);
    for (int i = 0; i < height; i++)
      for (int j = 0; j < vectors; j++) sums[i][j] += weights[i] * x[j];
  }
  for (int i = 0; i < height; i++) {
    T* to = p.out + i * p.down;
    T bias = p.bias ? p.bias[i] : T(0);
    for (int j = 0; j < vectors; j++) {
      Vector<T> sum = sums[i][j] + bias;
      if (p.add) {
        Vector<T> old;
        load(old, to + j * kLanes<T>);
        sum += old;
      }
      std::memcpy(to + j * kLanes<T>, &sum, sizeof sum);
    }
  }
}

template <int height, int vectors, class T>
void weight_block(const ConvWeightBlock<T>& p) {
  Vector<T> sums[height][vectors] = {};
  const T* g = p.gradients;
  for (int64_t y = 0; y < p.rows; y++) {
    const T* at[height];
    for (int i = 0; i < height; i++) at[i] = p.image + y * p.pitch + p.offsets[i];
    for (int64_t x = 0; x < p.length; x++, g += vectors * kLanes<T>) {
      Vector<T> v[vectors];
      for (int j = 0; j < vectors; j++) load(v[j], g + j * kLanes<T>);
      for (int i = 0; i < height; i++)
        for (int j = 0; j < vectors; j++) sums[i][j] += at[i][x] * v[j];
    }
  }
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
  if constexpr (height * vectors <= kConvSums) {
    to.blocks[height - 1][vectors - 1] = &block<height, vectors, T>;
    to.weights[height - 1][vectors - 1] = &weight_block<height, vectors, T>;
  }
}

template <class T, int... i>
void fill_conv_type(cpu::ConvLoops<T>& to, std::integer_sequence<int, i...>) {
  (fill_block<i / kConvVectors + 1, i % kConvVectors + 1>(to), ...);
  to.rows = &rows<T>;
  ((to.one_filter[i / kConvVectors] = &one_filter<i / kConvVectors + 1, T>), ...);
}

}  // namespace

void fill_conv(Loops& loops) {
  constexpr auto all = std::make_integer_sequence<int, kConvSums * kConvVectors>{};
  fill_conv_type(loops.conv_f32, all);
  fill_conv_type(loops.conv_f64, all);
}

}  // namespace slipstream::SLIP_ISA
