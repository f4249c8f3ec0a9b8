// The inner blocks of convolutions: what the vector loops of one instruction set do for the kernels.
#pragma once

#include <cstdint>

namespace slipstream::cpu {

// Results of a few filters at `vectors` vectors of neighbouring places:
//   out[i * down + x] (+)= bias[i] + sum over k < depth of weights[k * height + i] * image[offsets[k] + x]
template <class T>
struct ConvBlock {
  const T* weights;
  const T* image;
  const int64_t* offsets;
  int64_t depth;
  T* out;
  int64_t down;
  const T* bias;  // or null
  bool add;       // to what `out` holds
};

// Gradients of a few weights for `vectors` vectors of filters:
//   out[i * down + j] += sum over y < rows, x < length of image[y * pitch + x + offsets[i]] * gradients[y, x, j]
template <class T>
struct ConvWeightBlock {
  const T* image;
  const int64_t* offsets;  // one for each weight
  const T* gradients;      // dense: for each place, one number for each filter
  int64_t rows, length, pitch;
  T* out;
  int64_t down;
};

// All results of one filter of one channel:
//   out[y * out_pitch + x] = bias + sum over k < taps of weights[k] * image[y * pitch + x + offsets[k]]
template <class T>
struct ConvRows {
  const T* weights;
  const T* image;
  const int64_t* offsets;
  int64_t taps;
  int64_t rows, length, pitch, out_pitch;
  T* out;
  T bias;
};

inline constexpr int kConvSums = 12;                  // vectors of sums that stay in registers
inline constexpr int kConvHeight = 6;                 // filters, or weights, of a block two vectors wide
inline constexpr int kConvVectors = 4;                // at most
inline constexpr int64_t kConvVector = 32;            // bytes

template <class T>
struct ConvLoops {
  // By height - 1 and vectors - 1; height * vectors is at most kConvSums.
  void (*blocks[kConvSums][kConvVectors])(const ConvBlock<T>&) = {};
  void (*weights[kConvSums][kConvVectors])(const ConvWeightBlock<T>&) = {};
  // For a single filter, with vectors of places; by the number of weights - 1.
  void (*one_filter[kConvSums])(const ConvWeightBlock<T>&) = {};
  void (*rows)(const ConvRows<T>&) = nullptr;
};

}  // namespace slipstream::cpu
