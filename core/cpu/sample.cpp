// Kernels of distributions by rejection. Each element has a stream of its own, so that nothing depends on the cut.
#include "../ops/sample.h"

#include <cmath>
#include <limits>

#include "backend.h"
#include "convert.h"
#include "random_loops.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kPerChunk = 4096;

// The numbers of one element.
class Stream {
 public:
  Stream(uint64_t key, uint64_t block) : key_(key), block_(block) {}

  double unit() {  // in (0, 1)
    if (used_ == 4) {
      philox(key_, block_, attempt_++, words_);
      used_ = 0;
    }
    uint64_t bits = uint64_t{words_[used_]} << 21 | words_[used_ + 1] >> 11;
    used_ += 2;
    return (static_cast<double>(bits) + 0.5) * 0x1p-53;
  }
  double normal() {  // by Marsaglia's polar method
    for (;;) {
      double x = 2 * unit() - 1, y = 2 * unit() - 1, s = x * x + y * y;
      if (s < 1 && s > 0) return x * std::sqrt(-2 * std::log(s) / s);
    }
  }

 private:
  uint64_t key_, block_;
  uint32_t words_[4];
  uint32_t attempt_ = 0;
  int used_ = 4;
};

double log_factorial(double k) {
  int sign;
  return lgamma_r(k + 1, &sign);
}

// Marsaglia and Tsang: a cube of a shifted normal number, accepted nearly always.
double gamma(Stream& draws, double shape) {
  if (!(shape >= 0)) fail(ErrorKind::value, "gamma: shape must not be negative: ", shape);
  if (shape == 0) return 0;
  if (std::isinf(shape)) return shape;
  double boost = shape < 1 ? std::pow(draws.unit(), 1 / shape) : 1;
  double d = (shape < 1 ? shape + 1 : shape) - 1. / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x = draws.normal(), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    double u = draws.unit();
    if (u < 1 - 0.0331 * x * x * x * x || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v * boost;
  }
}

// Hörmann's transformed rejection: a hat of the form (2a / (0.5 - |u|) + b) u + c.
struct Hat {
  double a, b, centre, quick;
  // A candidate; `sure` says that it needs no further test, `us` and `v` serve that test.
  double draw(Stream& draws, double* us, double* v, bool* sure) const {
    double u = draws.unit() - 0.5;
    *v = draws.unit();
    *us = 0.5 - std::fabs(u);
    *sure = *us >= 0.07 && *v <= quick;
    return std::floor((2 * a / *us + b) * u + centre);
  }
};

double poisson(Stream& draws, double mean) {
  if (!(mean >= 0 && mean < 9.2e18)) fail(ErrorKind::value, "poisson: lam must lie between 0 and 9.2e18: ", mean);
  if (mean == 0) return 0;
  if (mean < 10) {  // how many uniform numbers multiply to less than exp(-mean)
    double limit = std::exp(-mean), product = draws.unit(), k = 0;
    for (; product > limit; k++) product *= draws.unit();
    return k;
  }
  double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  Hat hat{a, b, mean + 0.43, 0.9277 - 3.6224 / (b - 2)};
  double scale = std::log(1.1239 + 1.1328 / (b - 3.4)), log_mean = std::log(mean);
  for (;;) {
    double us, v;
    bool sure;
    double k = hat.draw(draws, &us, &v, &sure);
    if (sure) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + scale - std::log(a / (us * us) + b) <= k * log_mean - mean - log_factorial(k)) return k;
  }
}

double binomial(Stream& draws, double n, double p) {
  if (!(n >= 0 && n < 9.2e18)) fail(ErrorKind::value, "binomial: n must lie between 0 and 9.2e18: ", n);
  if (!(p >= 0 && p <= 1)) fail(ErrorKind::value, "binomial: p must lie between 0 and 1: ", p);
  n = std::trunc(n);
  if (p > 0.5) return n - binomial(draws, n, 1 - p);
  if (n == 0 || p == 0) return 0;
  if (n * p < 10) {  // from success to success
    double step = std::log1p(-p), at = 0, successes = 0;
    for (;;) {
      at += std::floor(std::log(draws.unit()) / step) + 1;
      if (at > n) return successes;
      successes++;
    }
  }
  double deviation = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  Hat hat{a, b, n * p + 0.5, 0.92 - 4.2 / b};
  double scale = (2.83 + 5.1 / b) * deviation, odds = std::log(p / (1 - p)), mode = std::floor((n + 1) * p);
  double peak = log_factorial(mode) + log_factorial(n - mode);
  for (;;) {
    double us, v;
    bool sure;
    double k = hat.draw(draws, &us, &v, &sure);
    if (k < 0 || k > n) continue;
    if (sure) return k;
    double height = peak - log_factorial(k) - log_factorial(n - k) + (k - mode) * odds;
    if (std::log(v * scale / (a / (us * us) + b)) <= height) return k;
  }
}

double at(const Operand& x, int64_t i) {  // element i, counted row by row
  int64_t offset = 0;
  for (int d = x.ndim() - 1; d >= 0; d--) {
    offset += i % x.shape[d] * x.strides[d];
    i /= x.shape[d];
  }
  return *reinterpret_cast<const double*>(x.data() + offset);
}

std::unique_ptr<Kernel> make_sample(const Record& call) {
  const auto& params = call.as<SampleParams>();
  int64_t n = call.outputs[0].size();
  return chunked_kernel(chunks_of(n, kPerChunk), [&call, &params, n](int64_t chunk) {
    char* to = call.outputs[0].data();
    uint64_t block = params.first * static_cast<uint64_t>(kGroupBlocks);
    for (int64_t i = chunk * kPerChunk; i < std::min(n, (chunk + 1) * kPerChunk); i++) {
      Stream draws(params.key, block + static_cast<uint64_t>(i));
      double a = at(call.inputs[0], i);
      if (params.distribution == Distribution::gamma)
        reinterpret_cast<double*>(to)[i] = gamma(draws, a);
      else
        reinterpret_cast<int64_t*>(to)[i] = static_cast<int64_t>(params.distribution == Distribution::poisson
                                                                     ? poisson(draws, a)
                                                                     : binomial(draws, a, at(call.inputs[1], i)));
    }
  });
}

}  // namespace

void register_sample(engine::Backend& backend) { backend.provide(kSample, make_sample); }

}  // namespace slipstream::cpu
