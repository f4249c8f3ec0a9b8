// The inner loops of normalisation: what the vector loops of one instruction set do with rows, of a channel or whole.
#pragma once

#include <cstdint>

namespace slipstream::engine {
class Backend;
}

namespace slipstream::cpu {

// Sums go through a fixed number of lanes, then into double, so that they are the same in every instruction set.
template <class T>
struct NormLoops {
  double (*sum)(const T* x, int64_t n) = nullptr;
  double (*squares)(const T* x, int64_t n, T mean) = nullptr;  // of (x - mean)^2
  // Adds the sums of g and of g * (x - mean).
  void (*slopes)(const T* g, const T* x, int64_t n, T mean, double* sum, double* product) = nullptr;
  // out = (x - mean) * scale + shift.
  void (*apply)(T* out, const T* x, int64_t n, T mean, T scale, T shift) = nullptr;
  // out = (x - mean) * scale * gamma + beta.
  void (*normalize)(T* out, const T* x, const T* gamma, const T* beta, int64_t n, T mean, T scale) = nullptr;
  // Rows of length n, each of one value. Up to 32 bytes behind them are overwritten.
  void (*widen)(T* out, const T* values, int64_t n, int64_t rows) = nullptr;
  // out = g * scale + (x - mean) * of_x + shift.
  void (*spread)(T* out, const T* g, const T* x, int64_t n, T mean, T scale, T of_x, T shift) = nullptr;
};

struct AllNormLoops {
  NormLoops<float> f32;
  NormLoops<double> f64;
};
const AllNormLoops& norm_loops();  // of the instruction set in use, beside those of dispatch.h

template <class T>
const NormLoops<T>& norms() {
  if constexpr (sizeof(T) == 4)
    return norm_loops().f32;
  else
    return norm_loops().f64;
}

void register_norm(engine::Backend& backend);
void register_row_norm(engine::Backend& backend);

}  // namespace slipstream::cpu
