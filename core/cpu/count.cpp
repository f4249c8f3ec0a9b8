// Kernels that count: bincount and histogram. Blocks count for themselves, then the counts of all blocks are added up
// in their order.
#include <algorithm>
#include <cmath>

#include "../ops/search.h"
#include "backend.h"
#include "convert.h"
#include "room.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kBlock = 1 << 16;

// Counts or sums of weights, of which `bin(i)` says where element i belongs (-1: nowhere).
template <class C, class Bins>
class Count final : public Kernel {
 public:
  Count(const Record& call, Bins bins, const double* weights)
      : bins_(std::move(bins)),
        weights_(weights),
        out_(reinterpret_cast<C*>(call.outputs[0].data())),
        n_(call.inputs[0].size()),
        length_(call.outputs[0].size()),
        blocks_(std::clamp<int64_t>(n_ / std::max(length_, kBlock), 1, 64)),
        counts_(length_, blocks_ > 1 ? blocks_ : 0) {}

  int phases() const override { return blocks_ > 1 ? 2 : 1; }
  int64_t chunks(int phase) const override { return phase == 0 ? blocks_ : chunks_of(length_, kBlock); }

  void run(int phase, int64_t chunk) override {
    if (phase == 1) return add_up(chunk * kBlock, std::min(length_, (chunk + 1) * kBlock));
    C* counts = blocks_ > 1 ? counts_[chunk] : out_;
    std::fill_n(counts, length_, C{0});
    bins_.check();
    int64_t begin = n_ * chunk / blocks_, end = n_ * (chunk + 1) / blocks_;
    for (int64_t i = begin; i < end; i++) {
      int64_t bin = bins_(i);
      if (bin < 0) continue;
      if constexpr (std::is_same_v<C, double>)
        counts[bin] += weights_[i];
      else
        counts[bin]++;
    }
  }

 private:
  void add_up(int64_t begin, int64_t end) {
    std::copy(counts_[0] + begin, counts_[0] + end, out_ + begin);
    for (int64_t block = 1; block < blocks_; block++)
      for (int64_t i = begin; i < end; i++) out_[i] += counts_[block][i];
  }

  Bins bins_;
  const double* weights_;
  C* out_;
  int64_t n_, length_, blocks_;
  Room<C> counts_;
};

template <class Bins>
std::unique_ptr<Kernel> make_count(const Record& call, Bins bins, int weights_at) {
  if (call.inputs.size() > weights_at)
    return std::make_unique<Count<double, Bins>>(call, bins,
                                                 reinterpret_cast<const double*>(call.inputs[weights_at].data()));
  return std::make_unique<Count<int64_t, Bins>>(call, bins, nullptr);
}

// ---- bincount

template <class T>
struct OwnBin {
  const T* x;
  int64_t length;
  void check() const {}
  int64_t operator()(int64_t i) const {
    auto v = static_cast<uint64_t>(x[i]);  // negative numbers are too large as well
    if (v >= static_cast<uint64_t>(length))
      fail(ErrorKind::value, "bincount: ", static_cast<int64_t>(v), " is not between 0 and ", length - 1);
    return static_cast<int64_t>(v);
  }
};

std::unique_ptr<Kernel> make_bincount(const Record& call) {
  return visit(call.inputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      OwnBin<T> bins{reinterpret_cast<const T*>(call.inputs[0].data()), call.outputs[0].size()};
      return make_count(call, bins, 1);
    } else {
      return nullptr;
    }
  });
}

// ---- histogram

// Bins are half open, but for the last, which holds its upper edge. Numbers beyond the edges and NaN are in none.
template <class T>
struct EdgeBin {
  using W = std::conditional_t<kIsHalf<T>, float, T>;
  const T *x, *edges;
  int64_t bins;
  bool equal_width;

  static W value(T v) {
    if constexpr (kIsHalf<T>) {
      return to_float(v);
    } else {
      return v;
    }
  }
  W edge(int64_t i) const { return value(edges[i]); }

  // Edges that were computed from the numbers themselves are only known here.
  void check() const {
    if constexpr (!std::is_integral_v<T>)
      if (equal_width && !(std::isfinite(edge(0)) && std::isfinite(edge(bins))))
        fail(ErrorKind::value, "histogram: the range from ", static_cast<double>(edge(0)), " to ",
             static_cast<double>(edge(bins)), " is not finite");
    for (int64_t i = 0; i < bins; i++)
      if (edge(i + 1) < edge(i))
        fail(ErrorKind::value, "histogram: the edges do not increase: ", static_cast<double>(edge(i)), ", ",
             static_cast<double>(edge(i + 1)));
  }
  int64_t operator()(int64_t i) const {
    W v = value(x[i]);
    if (bins == 0 || !(v >= edge(0) && v <= edge(bins))) return -1;
    if (v == edge(bins)) return bins - 1;
    if (!equal_width)
      return std::upper_bound(edges, edges + bins, v, [](W a, T b) { return a < value(b); }) - edges - 1;
    double low = static_cast<double>(edge(0)), high = static_cast<double>(edge(bins));
    auto guess = static_cast<int64_t>((static_cast<double>(v) - low) / (high - low) * static_cast<double>(bins));
    guess = std::clamp<int64_t>(guess, 0, bins - 1);
    while (v < edge(guess)) guess--;
    while (v >= edge(guess + 1)) guess++;
    return guess;
  }
};

std::unique_ptr<Kernel> make_histogram(const Record& call) {
  return visit(call.inputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (is_complex(DTypeOf<T>::value)) {
      return nullptr;
    } else {
      EdgeBin<T> bins{reinterpret_cast<const T*>(call.inputs[0].data()),
                      reinterpret_cast<const T*>(call.inputs[1].data()), call.outputs[0].size(),
                      call.as<HistogramParams>().equal_width};
      return make_count(call, bins, 2);
    }
  });
}

}  // namespace

void register_count(engine::Backend& backend) {
  backend.provide(kBincount, make_bincount);
  backend.provide(kHistogram, make_histogram);
}

}  // namespace slipstream::cpu
