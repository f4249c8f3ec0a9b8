// Cumulative sums and products: lanes side by side; long lanes in blocks, whose totals are added up first.
#include "../ops/scan.h"

#include "backend.h"
#include "dispatch.h"
#include "lanes.h"

namespace slipstream::cpu {

namespace {

struct Add {
  static constexpr int kLoop = 0;
  static constexpr Row kTotal = Row::sum;
  template <class W>
  static W identity() {
    if constexpr (std::is_floating_point_v<W>) return W(-0.0);  // 0 would change the sign of a leading -0
    return W(0);
  }
  template <class W>
  static W apply(W a, W b) {
    if constexpr (std::is_same_v<W, bool>) return a || b;
    return static_cast<W>(a + b);
  }
};

struct Multiply {
  static constexpr int kLoop = 1;
  static constexpr Row kTotal = Row::prod;
  template <class W>
  static W identity() {
    return W(1);
  }
  template <class W>
  static W apply(W a, W b) {
    if constexpr (std::is_same_v<W, bool>) {
      return a && b;
    } else if constexpr (std::is_integral_v<W> || std::is_floating_point_v<W>) {
      return a * b;
    } else {  // without std::complex's repair of infinities, as NumPy
      return W(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    }
  }
};

template <class T, class O>
class Scan final : public Kernel {
  using W = Arithmetic<T>;
  enum Phase { kTotals, kCarries, kWrite };

 public:
  explicit Scan(const Record& call)
      : lanes_(call.inputs[0], call.outputs[0], call.as<AxisParams>().axis),
        cut_(lanes_),
        totals_(cut_.blocks > 1 ? static_cast<size_t>(lanes_.count * cut_.blocks) : 0) {}

  int phases() const override { return cut_.blocks > 1 ? 3 : 1; }
  int64_t chunks(int phase) const override { return at(phase) == kCarries ? 1 : cut_.chunks(); }

  void run(int phase, int64_t chunk) override {
    if (at(phase) == kCarries) return add_up();
    cut_.each(chunk, [&](int64_t strip, int64_t block) { walk(at(phase), lanes_.strip(strip), block); });
  }

 private:
  Phase at(int phase) const { return cut_.blocks > 1 ? static_cast<Phase>(phase) : kWrite; }
  W& total(int64_t lane, int64_t block) { return totals_[static_cast<size_t>(lane * cut_.blocks + block)].value; }

  // Each total becomes what all blocks before its own come to.
  void add_up() {
    for (int64_t lane = 0; lane < lanes_.count; lane++) {
      W sum = O::template identity<W>();
      for (int64_t block = 0; block < cut_.blocks; block++) {
        W next = O::apply(sum, total(lane, block));
        total(lane, block) = sum;
        sum = next;
      }
    }
  }

  // Dense lines one by one, in vectors; what a block comes to is found by a reduction.
  void walk_dense(Phase phase, const Lanes::Strip& strip, int64_t block, int64_t begin, int64_t end) {
    for (int64_t j = 0; j < strip.width; j++) {
      const char* in = strip.in + j * lanes_.in_side() + begin * lanes_.in_step;
      char* out = strip.out + j * lanes_.out_side() + begin * lanes_.out_step;
      if (phase == kTotals) {
        total_(&total(strip.first + j, block), in, end - begin, 1);
      } else {
        W carry = start(phase, strip.first + j, block);
        loop_(out, in, end - begin, &carry);
      }
    }
  }

  W start(Phase phase, int64_t lane, int64_t block) {
    return phase == kWrite && cut_.blocks > 1 ? total(lane, block) : O::template identity<W>();
  }

  void walk(Phase phase, const Lanes::Strip& strip, int64_t block) {
    int64_t begin = block * LaneCut::kLong, end = std::min(lanes_.n, begin + LaneCut::kLong);
    if (loop_ && lanes_.in_step == sizeof(T) && lanes_.out_step == sizeof(T))
      return walk_dense(phase, strip, block, begin, end);
    W sums[Lanes::kWidest];
    for (int64_t j = 0; j < strip.width; j++) sums[j] = start(phase, strip.first + j, block);
    const char* in = strip.in + begin * lanes_.in_step;
    char* out = strip.out + begin * lanes_.out_step;
    for (int64_t i = begin; i < end; i++, in += lanes_.in_step, out += lanes_.out_step) {
      for (int64_t j = 0; j < strip.width; j++) {
        sums[j] = O::apply(sums[j], widen(*reinterpret_cast<const T*>(in + j * lanes_.in_side())));
        if (phase == kWrite) *reinterpret_cast<T*>(out + j * lanes_.out_side()) = narrow<T>(sums[j]);
      }
    }
    if (phase == kTotals)
      for (int64_t j = 0; j < strip.width; j++) total(strip.first + j, block) = sums[j];
  }

  struct Total {  // not a bare W: a vector of bool has no elements
    W value;
  };
  static constexpr int kType = static_cast<int>(DTypeOf<T>::value);
  ScanLoop loop_ = loops().scan[O::kLoop][kType];
  decltype(ReduceLoops::leaves) total_ = loops().reduce[static_cast<int>(O::kTotal)][kType].leaves;
  Lanes lanes_;
  LaneCut cut_;
  std::vector<Total> totals_;
};

template <class O>
std::unique_ptr<Kernel> make_scan(const Record& call) {
  return visit(call.outputs[0].dtype,
               [&](auto zero) -> std::unique_ptr<Kernel> { return std::make_unique<Scan<decltype(zero), O>>(call); });
}

}  // namespace

void register_scan(engine::Backend& backend) {
  backend.provide(kCumsum, make_scan<Add>);
  backend.provide(kCumprod, make_scan<Multiply>);
}

}  // namespace slipstream::cpu
