// argmin and argmax: lanes side by side; long lanes in blocks, whose winners meet in a second phase.
#include "../ops/argreduce.h"

#include "backend.h"
#include "lanes.h"

namespace slipstream::cpu {

namespace {

template <class W>
bool is_nan(W v) {
  if constexpr (std::is_integral_v<W>) {
    return false;
  } else {
    return v != v;
  }
}

template <class W>
bool less(W a, W b) {
  if constexpr (std::is_integral_v<W> || std::is_floating_point_v<W>) {
    return a < b;
  } else {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
  }
}

// Elements are compared as themselves, 16-bit floats as float32.
template <class T>
auto comparable(T v) {
  if constexpr (kIsHalf<T>) {
    return to_float(v);
  } else {
    return v;
  }
}

// The best of a dense line: first the best of a block of it, which vectors find fast, and only if that wins, its place.
template <class T, bool kLargest>
int64_t first_best(const T* x, int64_t n) {
  constexpr int64_t kLanes = 32, kBlock = 2048;
  T best = x[0];
  int64_t at = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    int64_t end = std::min(n, begin + kBlock), whole = begin + (end - begin) / kLanes * kLanes;
    T top[kLanes];
    T nan[kLanes] = {};  // the last NaN met, if any: as wide as the elements, so that one loop vectorises
    for (int64_t j = 0; j < kLanes; j++) top[j] = best;
    for (int64_t i = begin; i < whole; i += kLanes)
      for (int64_t j = 0; j < kLanes; j++) {
        T v = x[i + j];
        top[j] = (kLargest ? v > top[j] : v < top[j]) ? v : top[j];
        nan[j] = is_nan(v) ? v : nan[j];
      }
    T winner = best;
    bool any_nan = is_nan(best);
    for (int64_t i = whole; i < end; i++) {
      if (kLargest ? x[i] > winner : x[i] < winner) winner = x[i];
      any_nan |= is_nan(x[i]);
    }
    for (int64_t j = 0; j < kLanes; j++) {
      if (kLargest ? top[j] > winner : top[j] < winner) winner = top[j];
      any_nan |= is_nan(nan[j]);
    }
    if (any_nan) {
      while (!is_nan(x[begin])) begin++;
      return begin;
    }
    if (winner != best) {
      best = winner;
      for (at = begin; x[at] != best;) at++;
    }
  }
  return at;
}

template <class T, bool kLargest>
class ArgReduce final : public Kernel {
  using W = decltype(comparable(T{}));
  struct Winner {
    W value;
    int64_t at;
  };

 public:
  explicit ArgReduce(const Record& call)
      : lanes_(call.inputs[0], call.outputs[0], call.as<AxisParams>().axis),
        cut_(lanes_),
        winners_(cut_.blocks > 1 ? static_cast<size_t>(lanes_.count * cut_.blocks) : 0) {}

  int phases() const override { return cut_.blocks > 1 ? 2 : 1; }
  int64_t chunks(int phase) const override { return phase == 0 ? cut_.chunks() : 1; }

  void run(int phase, int64_t chunk) override {
    if (phase == 1) {
      for (int64_t s = 0; s < lanes_.strips; s++) meet(lanes_.strip(s));
    } else {
      cut_.each(chunk, [&](int64_t strip, int64_t block) { search(lanes_.strip(strip), block); });
    }
  }

 private:
  // Does v come before the best so far? The first NaN beats everything.
  static bool wins(W v, W best) { return (kLargest ? less(best, v) : less(v, best)) || (is_nan(v) && !is_nan(best)); }

  const T& element(const Lanes::Strip& strip, int64_t i, int64_t j) const {
    return *reinterpret_cast<const T*>(strip.in + i * lanes_.in_step + j * lanes_.in_side());
  }
  Winner& winner(int64_t lane, int64_t block) { return winners_[static_cast<size_t>(lane * cut_.blocks + block)]; }
  void store(const Lanes::Strip& strip, int64_t j, int64_t at) const {
    *reinterpret_cast<int64_t*>(strip.out + j * lanes_.out_side()) = at;
  }

  void search(const Lanes::Strip& strip, int64_t block) {
    int64_t begin = block * LaneCut::kLong, end = std::min(lanes_.n, begin + LaneCut::kLong);
    Winner best[Lanes::kWidest];
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      if (lanes_.in_step == sizeof(T)) {
        for (int64_t j = 0; j < strip.width; j++) {
          int64_t at = begin + first_best<T, kLargest>(&element(strip, begin, j), end - begin);
          settle(strip, block, j, {element(strip, at, j), at});
        }
        return;
      }
    }
    for (int64_t j = 0; j < strip.width; j++) best[j] = {comparable(element(strip, begin, j)), begin};
    for (int64_t i = begin + 1; i < end; i++)
      for (int64_t j = 0; j < strip.width; j++) {
        W v = comparable(element(strip, i, j));
        if (wins(v, best[j].value)) best[j] = {v, i};
      }
    for (int64_t j = 0; j < strip.width; j++) settle(strip, block, j, best[j]);
  }

  void settle(const Lanes::Strip& strip, int64_t block, int64_t j, const Winner& best) {
    if (cut_.blocks > 1) {
      winner(strip.first + j, block) = best;
    } else {
      store(strip, j, best.at);
    }
  }

  void meet(const Lanes::Strip& strip) {
    for (int64_t j = 0; j < strip.width; j++) {
      Winner best = winner(strip.first + j, 0);
      for (int64_t block = 1; block < cut_.blocks; block++)
        if (const Winner& other = winner(strip.first + j, block); wins(other.value, best.value)) best = other;
      store(strip, j, best.at);
    }
  }

  Lanes lanes_;
  LaneCut cut_;
  std::vector<Winner> winners_;
};

template <bool kLargest>
std::unique_ptr<Kernel> make_argreduce(const Record& call) {
  return visit(call.inputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    return std::make_unique<ArgReduce<decltype(zero), kLargest>>(call);
  });
}

}  // namespace

void register_argreduce(engine::Backend& backend) {
  backend.provide(kArgmin, make_argreduce<false>);
  backend.provide(kArgmax, make_argreduce<true>);
}

}  // namespace slipstream::cpu
