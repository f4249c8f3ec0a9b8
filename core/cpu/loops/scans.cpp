// Running sums and products of a dense line. Within a vector they grow by doubling, so that only one step in each
// vector waits for the vector before.
#include <cstring>
#include <utility>

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

template <class T>
struct Vector {
  static constexpr int lanes = 32 / sizeof(T);  // the same on every processor: the order of additions follows from it
  typedef T type __attribute__((vector_size(32)));
};

struct Sum {
  template <class T>
  static constexpr T identity = std::is_floating_point_v<T> ? T(-0.0) : T(0);
  template <class V>
  static void add(const V& before, V& x) {
    x = before + x;
  }
};
struct Product {
  template <class T>
  static constexpr T identity = T(1);
  template <class V>
  static void add(const V& before, V& x) {
    x = before * x;
  }
};

// Each lane with the one k before it. (By reference: how vectors are passed depends on the processor.)
template <class F, int k, class V, int... i>
void step(V& x, const V& identity, std::integer_sequence<int, i...>) {
  constexpr int lanes = sizeof...(i);
  V before = __builtin_shufflevector(x, identity, (i < k ? lanes + i : i - k)...);
  F::add(before, x);
}

template <class F, class T, class V>
void scan_vector(V& x, T before) {
  constexpr int lanes = Vector<T>::lanes;
  constexpr auto all = std::make_integer_sequence<int, lanes>();
  V identity = F::template identity<T> - V{};
  step<F, 1>(x, identity, all);
  step<F, 2>(x, identity, all);
  if constexpr (lanes > 4) step<F, 4>(x, identity, all);
  V start = before - V{};
  F::add(start, x);
}

template <class F, class T>
void scan(void* out, const void* in, int64_t n, void* carry) {
  using V = typename Vector<T>::type;
  constexpr int lanes = Vector<T>::lanes;
  auto* to = static_cast<T*>(out);
  auto* from = static_cast<const T*>(in);
  T before = *static_cast<T*>(carry);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V x;
    std::memcpy(&x, from + i, sizeof x);
    scan_vector<F>(x, before);
    std::memcpy(to + i, &x, sizeof x);
    before = x[lanes - 1];
  }
  if (i < n) {
    V x = F::template identity<T> - V{};
    for (int64_t j = 0; j < n - i; j++) x[j] = from[i + j];
    scan_vector<F>(x, before);
    for (int64_t j = 0; j < n - i; j++) to[i + j] = x[j];
    before = x[n - i - 1];
  }
  *static_cast<T*>(carry) = before;
}

template <DType... D>
void fill_types(Loops& loops) {
  ((loops.scan[0][static_cast<int>(D)] = &scan<Sum, loop_t<D>>,
    loops.scan[1][static_cast<int>(D)] = &scan<Product, loop_t<D>>),
   ...);
}

}  // namespace

void fill_scans(Loops& loops) {
  using enum DType;
  fill_types<i64, u64, f32, f64>(loops);
}

}  // namespace slipstream::SLIP_ISA
