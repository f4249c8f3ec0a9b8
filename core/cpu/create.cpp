// Kernels of creation: outputs are new and row-major, so they are filled front to back, a chunk at a time.
#include "../ops/create.h"

#include <cmath>

#include "backend.h"
#include "convert.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kChunk = 1 << 18;  // elements

// A kernel that gives element i the value f(i).
template <class T, class F>
std::unique_ptr<Kernel> fill_kernel(const Operand& out, F f) {
  int64_t n = out.size();
  auto* to = reinterpret_cast<T*>(out.data());
  return chunked_kernel(chunks_of(n, kChunk), [=](int64_t chunk) {
    int64_t end = std::min(n, (chunk + 1) * kChunk);
    for (int64_t i = chunk * kChunk; i < end; i++) to[i] = f(i);
  });
}

template <class T>
T value_of(const Scalar& s) {
  T v;
  s.store(DTypeOf<T>::value, &v);
  return v;
}

std::unique_ptr<Kernel> make_empty(const Record&) {
  return single_kernel([] {});
}

std::unique_ptr<Kernel> make_full(const Record& call) {
  const Operand& out = call.outputs[0];
  return visit(out.dtype, [&](auto zero) {
    auto value = value_of<decltype(zero)>(call.scalars[0]);
    return fill_kernel<decltype(zero)>(out, [value](int64_t) { return value; });
  });
}

std::unique_ptr<Kernel> make_arange(const Record& call) {
  const auto& params = call.as<ArangeParams>();
  const Operand& out = call.outputs[0];
  return visit(out.dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    using W = Arithmetic<T>;
    T first = value_of<T>(params.first), second = value_of<T>(params.second);
    if constexpr (std::is_same_v<T, bool>) {
      return fill_kernel<T>(out, [=](int64_t i) { return i ? second : first; });
    } else {
      W start = widen(first);
      W step = static_cast<W>(widen(second) - start);
      return fill_kernel<T>(out, [=](int64_t i) { return narrow<T>(static_cast<W>(start + from_index<W>(i) * step)); });
    }
  });
}

// Element i of n in float64 or complex128, step by step as NumPy computes it.
template <class W>
struct Spaced {
  W start, stop, delta, step;
  double div;
  int64_t last;  // the element that is exactly stop; -1: none

  Spaced(W start, W stop, int64_t n, bool endpoint)
      : start(start),
        stop(stop),
        delta(stop - start),
        div(static_cast<double>(endpoint ? n - 1 : n)),
        last(endpoint && n > 1 ? n - 1 : -1) {
    step = div > 0 ? delta / div : W(1);
  }
  W operator()(int64_t i) const {
    if (i == last) return stop;
    auto x = static_cast<double>(i);
    if (!(div > 0)) return x * delta + start;
    return (step == W(0) ? x / div * delta : x * step) + start;
  }
};

std::unique_ptr<Kernel> make_linspace(const Record& call) {
  const auto& params = call.as<LinspaceParams>();
  const Operand& out = call.outputs[0];
  int64_t n = out.size();
  return visit(out.dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (is_complex(DTypeOf<T>::value)) {
      Spaced<std::complex<double>> at(params.start, params.stop, n, params.endpoint);
      return fill_kernel<T>(out, [=](int64_t i) { return static_cast<T>(at(i)); });
    } else {
      Spaced<double> at(params.start.real(), params.stop.real(), n, params.endpoint);
      return fill_kernel<T>(out, [=](int64_t i) {
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return narrow<T>(std::floor(at(i)));
        return narrow<T>(at(i));
      });
    }
  });
}

std::unique_ptr<Kernel> make_eye(const Record& call) {
  const Operand& out = call.outputs[0];
  int64_t columns = out.shape[1], k = call.as<EyeParams>().k;
  return visit(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    T one = value_of<T>(Scalar::of(true));
    int64_t n = out.size();
    auto* to = reinterpret_cast<T*>(out.data());
    return chunked_kernel(chunks_of(n, kChunk), [=](int64_t chunk) {
      int64_t begin = chunk * kChunk, end = std::min(n, begin + kChunk);
      for (int64_t i = begin; i < end; i++) to[i] = T{};
      if (begin >= end) return;
      for (int64_t row = begin / columns; row <= (end - 1) / columns; row++) {
        int64_t i = row * columns + row + k;
        if (row + k >= 0 && row + k < columns && i >= begin && i < end) to[i] = one;
      }
    });
  });
}

}  // namespace

void register_create(engine::Backend& backend) {
  backend.provide(kEmpty, make_empty);
  backend.provide(kFull, make_full);
  backend.provide(kArange, make_arange);
  backend.provide(kLinspace, make_linspace);
  backend.provide(kEye, make_eye);
}

}  // namespace slipstream::cpu
