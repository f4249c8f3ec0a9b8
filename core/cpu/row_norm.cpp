// Kernels of softmax and layer normalisation: a row at a time, which stays in the first cache from its sums to its
// results, while the next one is on its way there.
#include <algorithm>
#include <cmath>

#include "../moving.h"
#include "../ops/row_norm.h"
#include "backend.h"
#include "dispatch.h"
#include "norm.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kChunk = 1 << 17;  // elements, about

template <class T>
T* at(const Operand& x) {
  return reinterpret_cast<T*>(x.data());
}

// Rows one after another, so many in a chunk.
class ByRow : public MovingKernel {
 public:
  explicit ByRow(const Operand& x) : n_(x.shape[x.ndim() - 1]), rows_(n_ ? x.size() / n_ : 0) {
    together_ = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, n_));
  }
  int64_t chunks(int) const override { return std::max<int64_t>(1, (rows_ + together_ - 1) / together_); }
  void run(int, int64_t chunk) override { run_rows(chunk * together_, std::min(rows_, (chunk + 1) * together_)); }

 protected:
  virtual void run_rows(int64_t begin, int64_t end) = 0;
  int64_t n_, rows_;

 private:
  int64_t together_;
};

template <class T>
void shift_by(T*& p, int64_t bytes) {
  p = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) + static_cast<uintptr_t>(bytes));
}

// One value for all elements of a loop.
template <class T>
class Repeated {
 public:
  explicit Repeated(T value) { std::fill_n(values_, kRepeated, value); }
  operator Argument() const { return {values_, true}; }

 private:
  alignas(64) T values_[kRepeated];
};

// The rows of the table that a softmax is made of.
template <class T>
struct SoftmaxLoops {
  static constexpr DType type = sizeof(T) == 4 ? DType::f32 : DType::f64;
  static constexpr size_t paired(Row row) {
    return static_cast<size_t>(std::find(kPaired.begin(), kPaired.end(), row) - kPaired.begin());
  }
  static MapLoop of(Row row) { return loops().map[static_cast<int>(row)][static_cast<int>(type)]; }
  const ReduceLoops& max = loops().reduce[static_cast<int>(Row::max)][static_cast<int>(type)];
  const ReduceLoops& sum = loops().reduce[static_cast<int>(Row::sum)][static_cast<int>(type)];
  MapLoop subtract = of(Row::subtract), multiply = of(Row::multiply), exp = of(Row::exp);
  MapLoop subtract_exp = loops().pair[type == DType::f64][paired(Row::subtract)][paired(Row::exp)][0];  // or null
};

template <class T>
class Softmax final : public ByRow {
 public:
  explicit Softmax(const Record& call)
      : ByRow(call.inputs[0]),
        log_(call.as<SoftmaxParams>().log),
        x_(at<const T>(call.inputs[0])),
        out_(at<T>(call.outputs[0])) {}
  void shift(std::span<const int64_t> bytes) override {
    shift_by(x_, bytes[0]);
    shift_by(out_, bytes[1]);
  }

 private:
  static constexpr int64_t kPart = 1024 / sizeof(T);  // elements of a row that are done at once
  static constexpr int64_t kLeaf = 1024;              // elements that are added in the lanes of vectors

  void run_rows(int64_t begin, int64_t end) override {
    for (int64_t r = begin; r < end; r++) {
      int64_t next = r + 1 < end ? n_ : 0;
      log_ ? run_log(x_ + r * n_, out_ + r * n_, next) : run_row(x_ + r * n_, out_ + r * n_, next);
    }
  }

  T largest(const T* x) const {
    T value;
    loops_.max.leaves(&value, x, n_, 1);
    return value;
  }
  double total(const T* x, int64_t n) const {
    double sum = 0;
    for (int64_t i = 0; i < n; i += kLeaf) {
      T part;
      loops_.sum.leaves(&part, x + i, std::min(kLeaf, n - i), 1);
      sum += static_cast<double>(part);
    }
    return sum;
  }
  // out = exp(x - top).
  void powers(T* out, const T* x, const Repeated<T>& top, int64_t n) const {
    Argument args[] = {{x, false}, top};
    if (loops_.subtract_exp) return loops_.subtract_exp(out, args, n);
    loops_.subtract(out, args, n);
    args[0] = {out, false};
    loops_.exp(out, args, n);
  }

  void run_row(const T* x, T* out, int64_t next) const {
    Repeated<T> top(largest(x));
    for (int64_t i = 0; i < n_; i += kPart) {
      int64_t m = std::min(kPart, n_ - i);
      ahead(x + next + i, out + next + i, m);
      powers(out + i, x + i, top, m);
    }
    Repeated<T> factor(static_cast<T>(1 / total(out, n_)));
    Argument args[] = {{out, false}, factor};
    loops_.multiply(out, args, n_);
  }

  void run_log(const T* x, T* out, int64_t next) const {
    Repeated<T> top(largest(x));
    double sum = 0;
    alignas(64) T some[kPart];
    for (int64_t i = 0; i < n_; i += kPart) {
      int64_t m = std::min(kPart, n_ - i);
      ahead(x + next + i, out + next + i, m);
      powers(some, x + i, top, m);
      sum += total(some, m);
    }
    Repeated<T> logarithm(static_cast<T>(std::log(sum)));
    Argument args[] = {{x, false}, top}, moved[] = {{out, false}, logarithm};
    loops_.subtract(out, args, n_);
    loops_.subtract(out, moved, n_);
  }

  // Asks for part of the next row.
  static void ahead(const T* x, const T* out, int64_t n) {
    constexpr int64_t line = 64 / sizeof(T);
    for (int64_t i = 0; i < n; i += line) {
      __builtin_prefetch(x + i);
      __builtin_prefetch(out + i, 1);
    }
  }

  SoftmaxLoops<T> loops_;
  bool log_;
  const T* x_;
  T* out_;
};

template <class T>
class LayerNorm final : public ByRow {
 public:
  explicit LayerNorm(const Record& call)
      : ByRow(call.inputs[0]),
        eps_(call.as<LayerNormParams>().eps),
        x_(at<const T>(call.inputs[0])),
        gamma_(at<const T>(call.inputs[1])),
        beta_(at<const T>(call.inputs[2])),
        out_(at<T>(call.outputs[0])),
        mean_(at<T>(call.outputs[1])),
        inverse_(at<T>(call.outputs[2])) {}
  void shift(std::span<const int64_t> bytes) override {
    shift_by(x_, bytes[0]);
    shift_by(gamma_, bytes[1]);
    shift_by(beta_, bytes[2]);
    shift_by(out_, bytes[3]);
    shift_by(mean_, bytes[4]);
    shift_by(inverse_, bytes[5]);
  }

 private:
  void run_rows(int64_t begin, int64_t end) override {
    for (int64_t r = begin; r < end; r++) {
      const T* x = x_ + r * n_;
      auto n = static_cast<double>(n_);
      T mean = static_cast<T>(loops_.sum(x, n_) / n);
      T inverse = static_cast<T>(1 / std::sqrt(loops_.squares(x, n_, mean) / n + eps_));
      mean_[r] = mean;
      inverse_[r] = inverse;
      loops_.normalize(out_ + r * n_, x, gamma_, beta_, n_, mean, inverse);
    }
  }

  const NormLoops<T>& loops_ = norms<T>();
  double eps_;
  const T *x_, *gamma_, *beta_;
  T *out_, *mean_, *inverse_;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Record& call) {
  if (call.outputs[0].dtype == DType::f32) return std::make_unique<K<float>>(call);
  return std::make_unique<K<double>>(call);
}

}  // namespace

void register_row_norm(engine::Backend& backend) {
  backend.provide(kSoftmax, &make<Softmax>);
  backend.provide(kLayerNorm, &make<LayerNorm>);
}

}  // namespace slipstream::cpu
