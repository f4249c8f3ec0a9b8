// Rows of batch and layer normalisation.
#include "../norm.h"

#include <algorithm>
#include <cstring>

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors larger than the registers never leave this file

namespace slipstream::SLIP_ISA {

namespace {

constexpr int64_t kBlock = 1024;  // elements that lanes take up before they go into the sum

// 128 bytes of lanes, as vectors small enough for registers.
template <class T>
struct Lanes {
  static constexpr int64_t width = 32 / sizeof(T), n = 4 * width;
  typedef T Vector __attribute__((vector_size(32)));
  Vector a{}, b{}, c{}, d{};

  static Vector load(const T* x) {
    Vector v;
    std::memcpy(&v, x, sizeof v);
    return v;
  }
  // Adds f(i) for lanes i, i + 1, ... of all.
  template <class F>
  [[gnu::always_inline]] void add(int64_t i, F f) {
    a += f(i);
    b += f(i + width);
    c += f(i + 2 * width);
    d += f(i + 3 * width);
  }
  // Adds values to the first lanes.
  void add_some(const T* values, int64_t count) {
    T all[n] = {};
    std::copy_n(values, count, all);
    add(0, [&](int64_t i) { return load(all + i); });
  }
  // Halves are added until one is left: a chain of additions would take longer than the vectors of a row.
  double total() const {
    T all[n];
    std::memcpy(all, &a, sizeof a);
    std::memcpy(all + width, &b, sizeof b);
    std::memcpy(all + 2 * width, &c, sizeof c);
    std::memcpy(all + 3 * width, &d, sizeof d);
    double parts[n];
    for (int64_t i = 0; i < n; i++) parts[i] = static_cast<double>(all[i]);
    return halve<n / 2>(parts);
  }
  template <int64_t half>
  static double halve(double* parts) {
    for (int64_t i = 0; i < half; i++) parts[i] += parts[i + half];
    if constexpr (half == 1)
      return parts[0];
    else
      return halve<half / 2>(parts);
  }
};

// The sum of value(i) over i < n, where value gives the vector that begins there; one(i) gives the i-th alone.
template <class T, class V, class O>
[[gnu::always_inline]] inline double sum_of(int64_t n, V value, O one) {
  using L = Lanes<T>;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    int64_t end = std::min(n, begin + kBlock), i = begin;
    L lanes;
    for (; i + L::n <= end; i += L::n) lanes.add(i, value);
    if (i < end) {
      T last[L::n];
      for (int64_t k = 0; i + k < end; k++) last[k] = one(i + k);
      lanes.add_some(last, end - i);
    }
    total += lanes.total();
  }
  return total;
}

template <class T>
double sum(const T* x, int64_t n) {
  return sum_of<T>(n, [=](int64_t i) { return Lanes<T>::load(x + i); }, [=](int64_t i) { return x[i]; });
}

template <class T>
double squares(const T* x, int64_t n, T mean) {
  auto square = [](auto away) { return away * away; };
  return sum_of<T>(
      n, [=](int64_t i) { return square(Lanes<T>::load(x + i) - mean); },
      [=](int64_t i) { return square(x[i] - mean); });
}

template <class T>
double product(const T* g, const T* x, int64_t n, T mean) {
  return sum_of<T>(
      n, [=](int64_t i) { return Lanes<T>::load(g + i) * (Lanes<T>::load(x + i) - mean); },
      [=](int64_t i) { return g[i] * (x[i] - mean); });
}

template <class T>
void slopes(const T* g, const T* x, int64_t n, T mean, double* sum_of_g, double* of_product) {
  for (int64_t begin = 0; begin < n; begin += kBlock) {  // both while the block is in the cache
    int64_t m = std::min(kBlock, n - begin);
    *sum_of_g += sum(g + begin, m);
    *of_product += product(g + begin, x + begin, m, mean);
  }
}

template <class T>
void apply(T* out, const T* x, int64_t n, T mean, T scale, T shift) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = (x[i] - mean) * scale + shift;
}

template <class T>
void normalize(T* out, const T* x, const T* gamma, const T* beta, int64_t n, T mean, T scale) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

template <class T>
void widen(T* out, const T* values, int64_t n, int64_t rows) {
  using L = Lanes<T>;
  for (int64_t r = 0; r < rows; r++) {
    typename L::Vector same = values[r] - typename L::Vector{};
    for (int64_t i = 0; i < n; i += L::width) std::memcpy(out + r * n + i, &same, sizeof same);
  }
}

template <class T>
void spread(T* out, const T* g, const T* x, int64_t n, T mean, T scale, T of_x, T shift) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = g[i] * scale + (x[i] - mean) * of_x + shift;
}

template <class T>
void fill(cpu::NormLoops<T>& to) {
  to = {&sum<T>, &squares<T>, &slopes<T>, &apply<T>, &normalize<T>, &widen<T>, &spread<T>};
}

}  // namespace

void fill_norms(cpu::AllNormLoops& loops) {
  fill(loops.f32);
  fill(loops.f64);
}

}  // namespace slipstream::SLIP_ISA
