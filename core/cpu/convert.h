// Small helpers of the scalar kernels: the type that arithmetic happens in, and cuts into chunks.
#pragma once

#include <algorithm>
#include <type_traits>

#include "../dtype.h"

namespace slipstream::cpu {

// Number of chunks of `size` that hold n; one for nothing, so that every kernel runs.
inline int64_t chunks_of(int64_t n, int64_t size) { return std::max<int64_t>(1, (n + size - 1) / size); }

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, f16_t> || std::is_same_v<T, bf16_t>;

template <class T>
struct ArithmeticOf {
  using type = T;
};
template <>
struct ArithmeticOf<f16_t> {
  using type = float;
};
template <>
struct ArithmeticOf<bf16_t> {
  using type = float;
};
// Signed integers wrap around as unsigned ones of the same size do (at least 32 bits, past C++'s promotions).
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
struct ArithmeticOf<T> {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};
template <class T>
using Arithmetic = typename ArithmeticOf<T>::type;

template <class T>
Arithmetic<T> widen(T v) {
  if constexpr (kIsHalf<T>) {
    return to_float(v);
  } else {
    return static_cast<Arithmetic<T>>(v);
  }
}

// An element of type T from a value of its arithmetic type, or from a double.
template <class T, class W>
T narrow(W v) {
  if constexpr (std::is_same_v<T, f16_t>) {
    return to_f16(v);
  } else if constexpr (std::is_same_v<T, bf16_t>) {
    return to_bf16(v);
  } else if constexpr (std::is_same_v<T, bool>) {
    return v != W{};
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<W>) {
    return truncated<T>(v);
  } else {
    return static_cast<T>(v);
  }
}

// An element's number as a value to compute with.
template <class W>
W from_index(int64_t i) {
  if constexpr (is_complex(DTypeOf<W>::value)) {
    return W(static_cast<typename W::value_type>(i));
  } else {
    return static_cast<W>(i);
  }
}

}  // namespace slipstream::cpu
