// Kernels of batch normalisation: a channel at a time, which mostly stays in the cache from its sums to its results.
#include "norm.h"

#include <cmath>

#include "../ops/norm.h"
#include "backend.h"
#include "convert.h"

namespace slipstream::cpu {

namespace {

template <class T>
T* at(const Operand& x) {
  return reinterpret_cast<T*>(x.data());
}

// Images, channels and places of the data, and the cut: so many channels at a time.
class ByChannel : public Kernel {
 public:
  explicit ByChannel(const Record& call, const Operand& x)
      : eps_(call.as<BatchNormParams>().eps), images_(x.shape[0]), channels_(x.shape[1]), places_(x.shape[2]) {
    together_ = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, images_ * places_));
  }
  int64_t chunks(int) const override { return std::max<int64_t>(1, chunks_of(channels_, together_)); }
  void run(int, int64_t chunk) override {
    for (int64_t c = chunk * together_; c < std::min(channels_, (chunk + 1) * together_); c++) run_channel(c);
  }

 protected:
  virtual void run_channel(int64_t channel) = 0;

  // Where the channel begins in each image.
  template <class F>
  void each_row(int64_t channel, F f) const {
    for (int64_t i = 0; i < images_; i++) f((i * channels_ + channel) * places_);
  }
  double count() const { return static_cast<double>(images_) * static_cast<double>(places_); }

  double eps_;
  int64_t images_, channels_, places_;

 private:
  static constexpr int64_t kChunk = 1 << 16;
  int64_t together_;
};

template <class T>
class Forward final : public ByChannel {
 public:
  explicit Forward(const Record& call)
      : ByChannel(call, call.inputs[0]),
        x_(at<T>(call.inputs[0])),
        beta_(at<T>(call.inputs[1])),
        gamma_(call.inputs.size() > 2 ? at<T>(call.inputs[2]) : nullptr),
        out_(at<T>(call.outputs[0])),
        mean_(at<T>(call.outputs[1])),
        variance_(at<T>(call.outputs[2])) {}

 private:
  void run_channel(int64_t c) override {
    double sum = 0, squares = 0;
    each_row(c, [&](int64_t row) { sum += loops_.sum(x_ + row, places_); });
    T mean = static_cast<T>(sum / count());
    each_row(c, [&](int64_t row) { squares += loops_.squares(x_ + row, places_, mean); });
    double variance = squares / count();
    auto scale = static_cast<T>((gamma_ ? static_cast<double>(gamma_[c]) : 1.0) / std::sqrt(variance + eps_));
    mean_[c] = mean;
    variance_[c] = static_cast<T>(variance);
    each_row(c, [&](int64_t row) { loops_.apply(out_ + row, x_ + row, places_, mean, scale, beta_[c]); });
  }

  const NormLoops<T>& loops_ = norms<T>();
  const T *x_, *beta_, *gamma_;
  T *out_, *mean_, *variance_;
};

template <class T>
class Fixed final : public ByChannel {
 public:
  explicit Fixed(const Record& call)
      : ByChannel(call, call.inputs[0]),
        x_(at<T>(call.inputs[0])),
        mean_(at<T>(call.inputs[1])),
        variance_(at<T>(call.inputs[2])),
        beta_(at<T>(call.inputs[3])),
        gamma_(call.inputs.size() > 4 ? at<T>(call.inputs[4]) : nullptr),
        out_(at<T>(call.outputs[0])) {}

 private:
  // In the steps of the rows that compute the same where there is a history: the bits are the same, too.
  void run_channel(int64_t c) override {
    T scale = T(1) / std::sqrt(variance_[c] + static_cast<T>(eps_));
    if (gamma_) scale = scale * gamma_[c];
    T shift = beta_[c] - mean_[c] * scale;
    each_row(c, [&](int64_t row) { loops_.apply(out_ + row, x_ + row, places_, T(0), scale, shift); });
  }

  const NormLoops<T>& loops_ = norms<T>();
  const T *x_, *mean_, *variance_, *beta_, *gamma_;
  T* out_;
};

template <class T>
class Backward final : public ByChannel {
 public:
  explicit Backward(const Record& call)
      : ByChannel(call, call.inputs[1]),
        g_(at<T>(call.inputs[0])),
        x_(at<T>(call.inputs[1])),
        mean_(at<T>(call.inputs[2])),
        variance_(at<T>(call.inputs[3])),
        gamma_(call.inputs.size() > 4 ? at<T>(call.inputs[4]) : nullptr),
        dx_(at<T>(call.outputs[0])),
        dbeta_(at<T>(call.outputs[1])),
        dgamma_(at<T>(call.outputs[2])) {}

 private:
  // dx = scale * (g - mean of g - (x - mean) / (variance + eps) * mean of g * (x - mean)), scale = gamma / deviation.
  void run_channel(int64_t c) override {
    double sum = 0, product = 0;
    each_row(c, [&](int64_t row) { loops_.slopes(g_ + row, x_ + row, places_, mean_[c], &sum, &product); });
    double square = static_cast<double>(variance_[c]) + eps_, deviation = std::sqrt(square);
    double scale = (gamma_ ? static_cast<double>(gamma_[c]) : 1.0) / deviation;
    dbeta_[c] = static_cast<T>(sum);
    dgamma_[c] = static_cast<T>(product / deviation);
    auto of_x = static_cast<T>(-scale * product / square / count()), shift = static_cast<T>(-scale * sum / count());
    each_row(c, [&](int64_t row) {
      loops_.spread(dx_ + row, g_ + row, x_ + row, places_, mean_[c], static_cast<T>(scale), of_x, shift);
    });
  }

  const NormLoops<T>& loops_ = norms<T>();
  const T *g_, *x_, *mean_, *variance_, *gamma_;
  T *dx_, *dbeta_, *dgamma_;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Record& call) {
  if (call.outputs[0].dtype == DType::f32) return std::make_unique<K<float>>(call);
  return std::make_unique<K<double>>(call);
}

}  // namespace

void register_norm(engine::Backend& backend) {
  backend.provide(kBatchNorm, &make<Forward>);
  backend.provide(kBatchNormFixed, &make<Fixed>);
  backend.provide(kBatchNormGradient, &make<Backward>);
}

}  // namespace slipstream::cpu
