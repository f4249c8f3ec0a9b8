// argmin and argmax: lanes side by side; long lanes in blocks, whose winners meet in a second phase.
#include "../ops/argreduce.h"

#include <bit>

#include "backend.h"
#include "dispatch.h"
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
    if constexpr (std::is_arithmetic_v<T>) {
      if (lanes_.in_side() == sizeof(T))
        return search_columns(strip, block, 0, strip.width, reinterpret_cast<const char*>(&element(strip, begin, 0)),
                              lanes_.in_step, begin, end);
      if (lanes_.in_step == sizeof(T))
        return lanes_.n < 64 ? search_short(strip) : search_dense(strip, block, begin, end);
    }
    Winner best[Lanes::kWidest];
    for (int64_t j = 0; j < strip.width; j++) best[j] = {comparable(element(strip, begin, j)), begin};
    for (int64_t i = begin + 1; i < end; i++)
      for (int64_t j = 0; j < strip.width; j++) {
        W v = comparable(element(strip, i, j));
        if (wins(v, best[j].value)) best[j] = {v, i};
      }
    for (int64_t j = 0; j < strip.width; j++) settle(strip, block, j, best[j]);
  }

  // Lanes first .. first + width - 1, which are columns of a dense table.
  void search_columns(const Lanes::Strip& strip, int64_t block, int64_t first, int64_t width, const char* from,
                      int64_t pitch, int64_t begin, int64_t end) {
    T values[Lanes::kWidest];
    int64_t at[Lanes::kWidest];
    loops_.columns(from, pitch, end - begin, width, values, at);
    for (int64_t j = 0; j < width; j++) settle(strip, block, first + j, {comparable(values[j]), begin + at[j]});
  }

  void search_dense(const Lanes::Strip& strip, int64_t block, int64_t begin, int64_t end) {
    for (int64_t j = 0; j < strip.width; j++) {
      T value;
      int64_t at = loops_.line(&element(strip, begin, j), end - begin, &value);
      settle(strip, block, j, {comparable(value), begin + at});
    }
  }

  // Short dense lanes: transposed, so that they become columns.
  void search_short(const Lanes::Strip& strip) {
    constexpr int64_t kTable = 2048;
    T table[kTable];
    int64_t n = lanes_.n, most = std::min(kTable / n, strip.width);
    auto transpose = loops().transpose[std::countr_zero(sizeof(T))];
    for (int64_t first = 0; first < strip.width; first += most) {
      int64_t width = std::min(most, strip.width - first);
      transpose(table, width, reinterpret_cast<const char*>(&element(strip, 0, first)), n, width, sizeof(T),
                lanes_.in_side());
      search_columns(strip, 0, first, width, reinterpret_cast<const char*>(table),
                     width * static_cast<int64_t>(sizeof(T)), 0, n);
    }
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

  const SearchLoops& loops_ = loops().search[kLargest][static_cast<int>(DTypeOf<T>::value)];
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
