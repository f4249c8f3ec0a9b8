// Kernels of searchsorted and of distinct numbers.
#include <memory>

#include "../ops/search.h"
#include "backend.h"
#include "convert.h"
#include "images.h"

namespace slipstream::cpu {

namespace {

// ---- order, NaN last

template <class T>
bool missing(T v) {
  if constexpr (kIsHalf<T>) {
    return missing(to_float(v));
  } else if constexpr (kIsComplex<T>) {
    return missing(v.real()) | missing(v.imag());
  } else {
    return v != v;
  }
}

template <class T>
bool less(T a, T b) {
  if constexpr (kIsHalf<T>) {
    return less(to_float(a), to_float(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return (a < b) | ((b != b) & (a == a));
  } else if constexpr (kIsComplex<T>) {
    bool a_im = missing(a.imag()), b_im = missing(b.imag());
    int a_rank = 2 * missing(a.real()) + a_im, b_rank = 2 * missing(b.real()) + b_im;
    if (a_rank != b_rank) return a_rank < b_rank;
    return less(a.real(), b.real()) || (!less(b.real(), a.real()) && less(a.imag(), b.imag()));
  } else {
    return a < b;
  }
}

template <class T>
bool equal(T a, T b) {
  if constexpr (kIsHalf<T>) {
    return to_float(a) == to_float(b);
  } else {
    return a == b;
  }
}

// ---- searchsorted

// How many of a's elements come before each value. Several searches go side by side: alone, each would wait for memory.
template <class T, bool right, bool by_order>
void search(const T* a, int64_t size, const int64_t* order, const T* values, int64_t n, int64_t* out) {
  constexpr int64_t kTogether = 16;
  auto is_before = [&](int64_t i, T v) {
    T x = a[by_order ? order[i] : i];
    return right ? !less(v, x) : less(x, v);
  };
  for (int64_t first = 0; first < n; first += kTogether) {
    int64_t width = std::min(kTogether, n - first);
    int64_t base[kTogether] = {};
    T v[kTogether];
    for (int64_t k = 0; k < kTogether; k++) v[k] = values[first + std::min(k, width - 1)];
    for (int64_t left = size; left > 1;) {
      int64_t half = left / 2;
      // Without branches, which would be guesses.
#pragma GCC unroll 16
      for (int64_t k = 0; k < kTogether; k++)
        base[k] += half & -static_cast<int64_t>(is_before(base[k] + half - 1, v[k]));
      left -= half;
    }
    for (int64_t k = 0; k < width; k++) out[first + k] = base[k] + (size > 0 && is_before(base[k], v[k]));
  }
}

template <class T, bool right, bool by_order>
class Search final : public Kernel {
 public:
  explicit Search(const Record& call) : call_(call), n_(call.inputs[1].size()), size_(call.inputs[0].size()) {}

  int phases() const override { return by_order ? 2 : 1; }
  int64_t chunks(int phase) const override { return by_order && phase == 0 ? 1 : chunks_of(n_, kChunk); }

  void run(int phase, int64_t chunk) override {
    auto* order = by_order ? reinterpret_cast<const int64_t*>(call_.inputs[2].data()) : nullptr;
    if (by_order && phase == 0) return check(order);
    int64_t begin = chunk * kChunk;
    search<T, right, by_order>(reinterpret_cast<const T*>(call_.inputs[0].data()), size_, order,
                               reinterpret_cast<const T*>(call_.inputs[1].data()) + begin, std::min(kChunk, n_ - begin),
                               reinterpret_cast<int64_t*>(call_.outputs[0].data()) + begin);
  }

 private:
  static constexpr int64_t kChunk = 1 << 13;
  void check(const int64_t* order) const {
    for (int64_t i = 0; i < size_; i++)
      if (order[i] < 0 || order[i] >= size_)
        fail(ErrorKind::value, "searchsorted: sorter holds ", order[i], ", which is no place among ", size_,
             " numbers");
  }
  const Record& call_;
  int64_t n_, size_;
};

std::unique_ptr<Kernel> make_search(const Record& call) {
  bool right = call.as<SearchParams>().right, by_order = call.inputs.size() > 2;
  return visit(call.inputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if (by_order) {
      if (right) return std::make_unique<Search<T, true, true>>(call);
      return std::make_unique<Search<T, false, true>>(call);
    }
    if (right) return std::make_unique<Search<T, true, false>>(call);
    return std::make_unique<Search<T, false, false>>(call);
  });
}

// ---- distinct

template <class T>
class Distinct final : public Kernel {
  enum Phase { kCount, kAddUp, kWrite };
  static constexpr int64_t kBlock = 1 << 16;

 public:
  explicit Distinct(const Record& call)
      : x_(reinterpret_cast<const T*>(call.inputs[0].data())),
        order_(call.inputs.size() > 1 ? reinterpret_cast<const int64_t*>(call.inputs[1].data()) : nullptr),
        starts_(reinterpret_cast<int64_t*>(call.outputs[0].data())),
        number_(reinterpret_cast<int64_t*>(call.outputs[1].data())),
        inverse_(order_ ? reinterpret_cast<int64_t*>(call.outputs[2].data()) : nullptr),
        n_(call.inputs[0].size()),
        equal_nan_(call.as<DistinctParams>().equal_nan),
        before_(static_cast<size_t>(chunks_of(n_, kBlock))) {}

  int phases() const override { return 3; }
  int64_t chunks(int phase) const override { return phase == kAddUp ? 1 : chunks_of(n_, kBlock); }

  void run(int phase, int64_t chunk) override {
    int64_t begin = chunk * kBlock, end = std::min(n_, begin + kBlock);
    if (phase == kCount) {
      for (int64_t i = begin; i < end; i++) before_[static_cast<size_t>(chunk)] += is_first(i);
    } else if (phase == kAddUp) {
      int64_t sum = 0;
      for (int64_t& count : before_) sum += std::exchange(count, sum);
      *number_ = sum;
    } else {
      write(begin, end, before_[static_cast<size_t>(chunk)]);
    }
  }

 private:
  bool is_first(int64_t i) const {
    return i == 0 || !(equal(x_[i], x_[i - 1]) || (equal_nan_ && missing(x_[i]) && missing(x_[i - 1])));
  }
  void write(int64_t begin, int64_t end, int64_t number) {
    for (int64_t i = begin; i < end; i++) {
      if (is_first(i)) starts_[number++] = i;
      if (inverse_) inverse_[order_[i]] = number - 1;
    }
  }

  const T* x_;
  const int64_t* order_;
  int64_t *starts_, *number_, *inverse_;
  int64_t n_;
  bool equal_nan_;
  std::vector<int64_t> before_;
};

std::unique_ptr<Kernel> make_distinct(const Record& call) {
  return visit(call.inputs[0].dtype,
               [&](auto zero) -> std::unique_ptr<Kernel> { return std::make_unique<Distinct<decltype(zero)>>(call); });
}

}  // namespace

void register_search(engine::Backend& backend) {
  backend.provide(kSearchsorted, make_search);
  backend.provide(kDistinct, make_distinct);
}

}  // namespace slipstream::cpu
