// Rows of pooling: windows of a row side by side, for strides that the compiler knows and for others.
#include "../pool_rows.h"

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

struct Larger {
  template <class T>
  static T of(T x, T y) {
    return y > x || y != y ? y : x;
  }
};
struct Sum {
  template <class T>
  static T of(T x, T y) {
    return x + y;
  }
};

template <class F, class T>
void into(T* to, const T* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) to[i] = F::of(to[i], x[i]);
}

// Calls f with the stride as a constant, if it is a common one, else with 0.
template <class F>
void with_stride(int64_t stride, F f) {
  switch (stride) {
    case 1: return f(std::integral_constant<int64_t, 1>{});
    case 2: return f(std::integral_constant<int64_t, 2>{});
    case 3: return f(std::integral_constant<int64_t, 3>{});
    default: return f(std::integral_constant<int64_t, 0>{});
  }
}

template <class F, class T>
void windows(T* out, const T* row, int64_t n, int64_t kernel, int64_t stride) {
  with_stride(stride, [&](auto known) {
    const int64_t s = known.value ? known.value : stride;
    if (kernel == 2) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; i++) out[i] = F::of(row[i * s], row[i * s + 1]);
      return;
    }
    if (kernel == 3) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; i++) out[i] = F::of(F::of(row[i * s], row[i * s + 1]), row[i * s + 2]);
      return;
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < n; i++) out[i] = row[i * s];
    for (int64_t k = 1; k < kernel; k++) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; i++) out[i] = F::of(out[i], row[i * s + k]);
    }
  });
}

template <class T, class I>
void find(T* best, I* at, const T* row, int64_t n, int64_t kernel, int64_t stride, I first) {
  with_stride(stride, [&](auto known) {
    const int64_t s = known.value ? known.value : stride;
    for (int64_t k = 0; k < kernel; k++) {
      I here = first + static_cast<I>(k);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; i++) {
        T x = row[i * s + k], old = best[i];
        bool larger = (x > old) | (x != x);
        best[i] = larger ? x : old;
        at[i] = larger ? here : at[i];
      }
    }
  });
}

template <class T>
void spread(T* into, const T* values, int64_t n, int64_t kernel, int64_t stride) {
  with_stride(stride, [&](auto known) {
    const int64_t s = known.value ? known.value : stride;
    for (int64_t k = 0; k < kernel; k++) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; i++) into[i * s + k] += values[i];
    }
  });
}

template <class T>
void fill_pool(cpu::PoolLoops<T>& to) {
  to.max_into = &into<Larger, T>;
  to.add_into = &into<Sum, T>;
  to.max_windows = &windows<Larger, T>;
  to.sum_windows = &windows<Sum, T>;
  to.find = &find<T, typename cpu::PoolLoops<T>::Index>;
  to.spread = &spread<T>;
}

}  // namespace

void fill_pools(Loops& loops) {
  fill_pool(loops.pool_f32);
  fill_pool(loops.pool_f64);
}

}  // namespace slipstream::SLIP_ISA
