// Rows of batch normalisation.
#include "../norm.h"

#include <algorithm>
#include <cstring>

namespace slipstream::SLIP_ISA {

namespace {

constexpr int64_t kBlock = 1024;  // elements that lanes take up before they go into the sum

template <class T>
struct Lanes {
  static constexpr int64_t n = 128 / sizeof(T);
  typedef T Vector __attribute__((vector_size(128)));
  Vector sums{};

  static Vector load(const T* x) {
    Vector v;
    std::memcpy(&v, x, sizeof v);
    return v;
  }
  void into(double& total) const {
    for (int64_t i = 0; i < n; i++) total += static_cast<double>(sums[i]);
  }
};

template <class T>
double sum(const T* x, int64_t n) {
  using L = Lanes<T>;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    int64_t end = std::min(n, begin + kBlock), i = begin;
    L lanes;
    for (; i + L::n <= end; i += L::n) lanes.sums += L::load(x + i);
    for (int64_t k = 0; i < end; i++, k++) lanes.sums[k] += x[i];
    lanes.into(total);
  }
  return total;
}

template <class T>
double squares(const T* x, int64_t n, T mean) {
  using L = Lanes<T>;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    int64_t end = std::min(n, begin + kBlock), i = begin;
    L lanes;
    for (; i + L::n <= end; i += L::n) {
      auto away = L::load(x + i) - mean;
      lanes.sums += away * away;
    }
    for (int64_t k = 0; i < end; i++, k++) lanes.sums[k] += (x[i] - mean) * (x[i] - mean);
    lanes.into(total);
  }
  return total;
}

template <class T>
void slopes(const T* g, const T* x, int64_t n, T mean, double* sum, double* product) {
  using L = Lanes<T>;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    int64_t end = std::min(n, begin + kBlock), i = begin;
    L plain, times;
    for (; i + L::n <= end; i += L::n) {
      auto slope = L::load(g + i);
      plain.sums += slope;
      times.sums += slope * (L::load(x + i) - mean);
    }
    for (int64_t k = 0; i < end; i++, k++) {
      plain.sums[k] += g[i];
      times.sums[k] += g[i] * (x[i] - mean);
    }
    plain.into(*sum);
    times.into(*product);
  }
}

template <class T>
void apply(T* out, const T* x, int64_t n, T mean, T scale, T shift) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = (x[i] - mean) * scale + shift;
}

template <class T>
void spread(T* out, const T* g, const T* x, int64_t n, T mean, T scale, T of_x, T shift) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = g[i] * scale + (x[i] - mean) * of_x + shift;
}

template <class T>
void fill(cpu::NormLoops<T>& to) {
  to = {&sum<T>, &squares<T>, &slopes<T>, &apply<T>, &spread<T>};
}

}  // namespace

void fill_norms(cpu::AllNormLoops& loops) {
  fill(loops.f32);
  fill(loops.f64);
}

}  // namespace slipstream::SLIP_ISA
