// The inner blocks of convolutions: what the vector loops of one instruction set do for the kernels.
#pragma once

#include <cstdint>

namespace slipstream::cpu {

inline constexpr int kConvVectors = 4;  // of a block, at most
inline constexpr int kConvSums = 24;    // vectors of sums, at most
inline constexpr int kConvHeight = 12;  // filters, or weights, of a block, at most

// A vector of neighbouring places: where it is read, and where the results of the filters go.
template <class T>
struct ConvPlaces {
  const T* image;
  T* out;
  int64_t down;
  bool add;  // to what `out` holds
};

// Results of a few filters at some vectors of places:
//   out[i * down + x] (+)= bias[i] + sum over k < depth of weights[k * height + i] * image[offsets[k] + x]
template <class T>
struct ConvBlock {
  const T* weights;
  const int64_t* offsets;
  int64_t depth;
  const T* bias;  // or null
  ConvPlaces<T> places[kConvVectors];
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

template <class T>
struct ConvLoops {
  int64_t lanes = 0;  // numbers of a vector
  int sums = 0;       // vectors of sums that stay in registers
  int vectors = 0;    // of a block that is best where there are filters enough
  int across = 0;     // vectors of filters, where they are side by side, at most
  // By height - 1 and vectors - 1; height * vectors is at most `sums`.
  void (*blocks[kConvHeight][kConvVectors])(const ConvBlock<T>&) = {};
  void (*weights[kConvHeight][kConvVectors])(const ConvWeightBlock<T>&) = {};
  // For a single filter, with vectors of places; by the number of weights - 1.
  void (*one_filter[kConvHeight])(const ConvWeightBlock<T>&) = {};
  void (*rows)(const ConvRows<T>&) = nullptr;
  int height(int with) const { return sums / with < kConvHeight ? sums / with : kConvHeight; }
};

}  // namespace slipstream::cpu
