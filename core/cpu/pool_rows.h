// The inner loops of pooling: what the vector loops of one instruction set do with rows for the kernels.
#pragma once

#include <cstdint>
#include <type_traits>

namespace slipstream::cpu {

template <class T>
struct PoolLoops {
  using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;  // as wide as the element, for the vectors' sake
  // into[i] = the larger of it and x[i] (NaN if one is NaN), or their sum.
  void (*max_into)(T* into, const T* x, int64_t n) = nullptr;
  void (*add_into)(T* into, const T* x, int64_t n) = nullptr;
  // out[i] = the largest, or the sum, of row[i * stride] .. row[i * stride + kernel - 1].
  void (*max_windows)(T* out, const T* row, int64_t n, int64_t kernel, int64_t stride) = nullptr;
  void (*sum_windows)(T* out, const T* row, int64_t n, int64_t kernel, int64_t stride) = nullptr;
  // Goes on with the search for the largest: `at` becomes first + k where row[i * stride + k] is larger than best[i].
  void (*find)(T* best, Index* at, const T* row, int64_t n, int64_t kernel, int64_t stride, Index first) = nullptr;
  // into[i * stride + k] += values[i] for all k < kernel.
  void (*spread)(T* into, const T* values, int64_t n, int64_t kernel, int64_t stride) = nullptr;
};

}  // namespace slipstream::cpu
