// Kernels of softmax and layer normalisation: a row at a time, which stays in the first cache from its sums to its
// results, while the next one is on its way there; or some columns, which stay in the second.
#include <algorithm>
#include <cmath>

#include "../engine/thread_room.h"
#include "../moving.h"
#include "../ops/row_norm.h"
#include "backend.h"
#include "convert.h"
#include "dispatch.h"
#include "norm.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kChunk = 1 << 17;  // elements, about

template <class T>
T* at(const Operand& x) {
  return reinterpret_cast<T*>(x.data());
}

// Rows one after another, so many in a chunk. Short ones go through the loops many at once.
class ByRow : public MovingKernel {
 public:
  explicit ByRow(const Operand& x, int axis) : n_(x.shape[axis]), rows_(n_ ? x.size() / n_ : 0) {
    together_ = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, n_));
  }
  int64_t chunks(int) const override { return std::max<int64_t>(1, (rows_ + together_ - 1) / together_); }
  void run(int, int64_t chunk) override {
    int64_t begin = chunk * together_, end = std::min(rows_, begin + together_);
    if (begin < end) n_ < kLong ? run_short(begin, end) : run_long(begin, end);
  }

 protected:
  virtual void run_short(int64_t begin, int64_t end) const = 0;
  virtual void run_long(int64_t begin, int64_t end) const = 0;
  int64_t n_;

 private:
  static constexpr int64_t kLong = 128;
  int64_t rows_, together_;
};

template <class T>
void shift_by(T*& p, int64_t bytes) {
  p = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) + static_cast<uintptr_t>(bytes));
}

// Asks for memory that is to be read, or written, soon.
enum class For { reading, writing };
template <For purpose, class T>
void ask(const T* p, int64_t n) {
  constexpr int64_t line = 64 / sizeof(T);
  for (int64_t i = 0; i < n; i += line) __builtin_prefetch(p + i, purpose == For::writing);
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

// The rows of the table that the kernels are made of.
template <class T>
struct TableLoops {
  static constexpr DType type = sizeof(T) == 4 ? DType::f32 : DType::f64;
  static constexpr size_t paired(Row row) {
    return static_cast<size_t>(std::find(kPaired.begin(), kPaired.end(), row) - kPaired.begin());
  }
  static MapLoop of(Row row) { return loops().map[static_cast<int>(row)][static_cast<int>(type)]; }
  static const ReduceLoops& reducing(Row row) { return loops().reduce[static_cast<int>(row)][static_cast<int>(type)]; }
  const ReduceLoops &max = reducing(Row::max), &sum = reducing(Row::sum);
  MapLoop add = of(Row::add), subtract = of(Row::subtract), multiply = of(Row::multiply), square = of(Row::square),
          exp = of(Row::exp), log = of(Row::log);
  MapLoop subtract_exp = loops().pair[type == DType::f64][paired(Row::subtract)][paired(Row::exp)][0];  // or null

  // out = exp(x - top).
  void powers(T* out, const T* x, Argument top, int64_t n) const {
    Argument args[] = {{x, false}, top};
    if (subtract_exp) return subtract_exp(out, args, n);
    subtract(out, args, n);
    args[0] = {out, false};
    exp(out, args, n);
  }
};

// Room for short rows. What is one value for a row is repeated along it before they go through a loop.
template <class T>
struct ShortRows {
  static constexpr int64_t kElements = 1024;
  alignas(64) T values[kElements];             // one for each row
  alignas(64) T wide[kElements + 32];  // the same along the rows; or something else

  void widen(int64_t n, int64_t rows) { norms<T>().widen(wide, values, n, rows); }
  static void run(MapLoop loop, T* out, const T* x, const T* y, int64_t n) {
    Argument args[] = {{x, false}, {y, false}};
    loop(out, args, n);
  }
};

template <class T>
class Softmax final : public ByRow {
 public:
  explicit Softmax(const Record& call)
      : ByRow(call.inputs[0], row_norm_axis(call)),
        log_(call.as<SoftmaxParams>().log),
        x_(at<const T>(call.inputs[0])),
        out_(at<T>(call.outputs[0])) {}
  void shift(std::span<const int64_t> bytes) override {
    shift_by(x_, bytes[0]);
    shift_by(out_, bytes[1]);
  }

 private:
  using Short = ShortRows<T>;
  static constexpr int64_t kPart = 1024 / sizeof(T);  // elements of a row that are done at once
  static constexpr int64_t kLeaf = 1024;              // elements that are added in the lanes of vectors

  void run_long(int64_t begin, int64_t end) const override {
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
  void run_row(const T* x, T* out, int64_t next) const {
    Repeated<T> top(largest(x));
    for (int64_t i = 0; i < n_; i += kPart) {
      int64_t m = std::min(kPart, n_ - i);
      ask<For::reading>(x + next + i, m);
      ask<For::writing>(out + next + i, m);
      loops_.powers(out + i, x + i, top, m);
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
      ask<For::reading>(x + next + i, m);
      ask<For::writing>(out + next + i, m);
      loops_.powers(some, x + i, top, m);
      sum += total(some, m);
    }
    Repeated<T> logarithm(static_cast<T>(std::log(sum)));
    Argument args[] = {{x, false}, top}, moved[] = {{out, false}, logarithm};
    loops_.subtract(out, args, n_);
    loops_.subtract(out, moved, n_);
  }

  void run_short(int64_t begin, int64_t end) const override {
    Short some;
    for (int64_t r = begin, together = Short::kElements / n_; r < end; r += together) {
      int64_t rows = std::min(together, end - r), m = rows * n_;
      const T* x = x_ + r * n_;
      T* out = out_ + r * n_;
      loops_.max.leaves(some.values, x, n_, rows);
      some.widen(n_, rows);
      if (log_) {
        Short::run(loops_.subtract, out, x, some.wide, m);
        Short::run(loops_.exp, some.wide, out, nullptr, m);
        loops_.sum.leaves(some.values, some.wide, n_, rows);
        Short::run(loops_.log, some.values, some.values, nullptr, rows);
      } else {
        loops_.powers(out, x, {some.wide, false}, m);
        loops_.sum.leaves(some.values, out, n_, rows);
        for (int64_t i = 0; i < rows; i++) some.values[i] = 1 / some.values[i];
      }
      some.widen(n_, rows);
      Short::run(log_ ? loops_.subtract : loops_.multiply, out, out, some.wide, m);
    }
  }

  TableLoops<T> loops_;
  bool log_;
  const T* x_;
  T* out_;
};

// Along an axis that others follow: a few of the columns at a time.
template <class T>
class ColumnSoftmax final : public MovingKernel {
 public:
  explicit ColumnSoftmax(const Record& call)
      : log_(call.as<SoftmaxParams>().log), x_(at<const T>(call.inputs[0])), out_(at<T>(call.outputs[0])) {
    const Shape& shape = call.outputs[0].shape;
    int axis = call.as<SoftmaxParams>().axis;
    n_ = shape[axis];
    for (int i = axis + 1; i < shape.size(); i++) inner_ *= shape[i];
    int64_t fit = kStrip / std::max<int64_t>(1, n_) / kLine * kLine;
    width_ = std::clamp(fit, kLine, std::min(kWidest, (inner_ + kLine - 1) / kLine * kLine));
    across_ = chunks_of(inner_, width_);
    strips_ = n_ ? count(shape) / (n_ * inner_) * across_ : 0;
    together_ = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, n_ * std::min(width_, inner_)));
  }
  int64_t chunks(int) const override { return chunks_of(strips_, together_); }
  void run(int, int64_t chunk) override {
    for (int64_t i = chunk * together_; i < std::min(strips_, (chunk + 1) * together_); i++) {
      int64_t column = i % across_ * width_, begin = i / across_ * n_ * inner_ + column;
      run_strip(x_ + begin, out_ + begin, std::min(width_, inner_ - column));
    }
  }
  void shift(std::span<const int64_t> bytes) override {
    shift_by(x_, bytes[0]);
    shift_by(out_, bytes[1]);
  }

 private:
  static constexpr int64_t kLine = 64 / sizeof(T);
  static constexpr int64_t kStrip = (512 << 10) / sizeof(T);  // elements of a strip
  static constexpr int64_t kWidest = 1024;
  static constexpr int64_t kTogether = 32;  // rows that are added up in T

  void run_strip(const T* x, T* out, int64_t width) const {
    alignas(64) T top[kWidest], sums[kWidest];
    double totals[kWidest];
    std::fill_n(totals, width, 0.0);
    loops_.max.fold(top, x, inner_, n_, width);
    for (int64_t r = 0; r < n_; r += kTogether) {
      int64_t rows = std::min(kTogether, n_ - r);
      add_powers(sums, x + r * inner_, out + r * inner_, top, rows, width);
      for (int64_t j = 0; j < width; j++) totals[j] += static_cast<double>(sums[j]);
    }
    for (int64_t j = 0; j < width; j++) sums[j] = static_cast<T>(log_ ? std::log(totals[j]) : 1 / totals[j]);
    MapLoop last = log_ ? loops_.subtract : loops_.multiply;
    for (int64_t i = 0; i < n_; i++) {
      Argument args[] = {{out + i * inner_, false}, {sums, false}};
      last(out + i * inner_, args, width);
    }
  }

  // The powers of some rows go to `out` and their sums to `sums`; for the logarithm `out` is what the powers are of.
  void add_powers(T* sums, const T* x, T* out, const T* top, int64_t rows, int64_t width) const {
    if (!log_) {
      for (int64_t i = 0; i < rows; i++) loops_.powers(out + i * inner_, x + i * inner_, {top, false}, width);
      return loops_.sum.fold(sums, out, inner_, rows, width);
    }
    engine::ThreadRoom<T> powers(rows * width);
    for (int64_t i = 0; i < rows; i++) {
      T* to = out + i * inner_;
      Argument args[] = {{x + i * inner_, false}, {top, false}}, moved[] = {{to, false}};
      loops_.subtract(to, args, width);
      loops_.exp(powers.data() + i * width, moved, width);
    }
    loops_.sum.fold(sums, powers.data(), width, rows, width);
  }

  TableLoops<T> loops_;
  bool log_;
  const T* x_;
  T* out_;
  int64_t n_ = 0, inner_ = 1;  // elements along the axis; columns
  int64_t width_, across_, strips_, together_;
};

template <class T>
class LayerNorm final : public ByRow {
 public:
  explicit LayerNorm(const Record& call)
      : ByRow(call.inputs[0], row_norm_axis(call)),
        eps_(call.as<LayerNormParams>().eps),
        x_(at<const T>(call.inputs[0])),
        gamma_(at<const T>(call.inputs[1])),
        beta_(at<const T>(call.inputs[2])),
        out_(at<T>(call.outputs[0])),
        mean_(at<T>(call.outputs[1])),
        deviation_(at<T>(call.outputs[2])) {}
  void shift(std::span<const int64_t> bytes) override {
    shift_by(x_, bytes[0]);
    shift_by(gamma_, bytes[1]);
    shift_by(beta_, bytes[2]);
    shift_by(out_, bytes[3]);
    shift_by(mean_, bytes[4]);
    shift_by(deviation_, bytes[5]);
  }

 private:
  using Short = ShortRows<T>;
  static constexpr int64_t kNear = 16384 / sizeof(T);  // longer rows would push each other out of the first cache

  void run_long(int64_t begin, int64_t end) const override {
    auto n = static_cast<double>(n_);
    for (int64_t r = begin; r < end; r++) {
      const T* x = x_ + r * n_;
      T mean = static_cast<T>(loops_.sum(x, n_) / n);
      bool asks = r + 1 < end && n_ <= kNear;
      if (asks) ask<For::reading>(x + n_, n_);
      double deviation = std::sqrt(loops_.squares(x, n_, mean) / n + eps_);
      mean_[r] = mean;
      deviation_[r] = static_cast<T>(deviation);
      if (asks) ask<For::writing>(out_ + (r + 1) * n_, n_);
      loops_.normalize(out_ + r * n_, x, gamma_, beta_, n_, mean, static_cast<T>(1 / deviation));
    }
  }

  void run_short(int64_t begin, int64_t end) const override {
    int64_t together = Short::kElements / n_;
    Short some;
    alignas(64) T gammas[Short::kElements], betas[Short::kElements];
    for (int64_t i = 0; i < std::min(together, end - begin) * n_; i++) {
      gammas[i] = gamma_[i % n_];
      betas[i] = beta_[i % n_];
    }
    for (int64_t r = begin; r < end; r += together) {
      int64_t rows = std::min(together, end - r), m = rows * n_;
      T* out = out_ + r * n_;
      centre(r, rows, some);
      Short::run(table_.square, some.wide, out, nullptr, m);
      table_.sum.leaves(some.values, some.wide, n_, rows);
      for (int64_t i = 0; i < rows; i++) {
        double deviation = std::sqrt(static_cast<double>(some.values[i]) / static_cast<double>(n_) + eps_);
        deviation_[r + i] = static_cast<T>(deviation);
        some.values[i] = static_cast<T>(1 / deviation);
      }
      some.widen(n_, rows);
      Short::run(table_.multiply, out, out, some.wide, m);
      Short::run(table_.multiply, out, out, gammas, m);
      Short::run(table_.add, out, out, betas, m);
    }
  }

  // Writes the rows without their means.
  void centre(int64_t r, int64_t rows, Short& some) const {
    const T* x = x_ + r * n_;
    table_.sum.leaves(some.values, x, n_, rows);
    for (int64_t i = 0; i < rows; i++) mean_[r + i] = some.values[i] = some.values[i] / static_cast<T>(n_);
    some.widen(n_, rows);
    Short::run(table_.subtract, out_ + r * n_, x, some.wide, rows * n_);
  }

  const NormLoops<T>& loops_ = norms<T>();
  TableLoops<T> table_;
  double eps_;
  const T *x_, *gamma_, *beta_;
  T *out_, *mean_, *deviation_;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Record& call) {
  if (call.outputs[0].dtype == DType::f32) return std::make_unique<K<float>>(call);
  return std::make_unique<K<double>>(call);
}

std::unique_ptr<Kernel> make_softmax(const Record& call) {
  const Shape& shape = call.outputs[0].shape;
  bool rows =
      std::all_of(shape.begin() + call.as<SoftmaxParams>().axis + 1, shape.end(), [](int64_t d) { return d == 1; });
  return rows ? make<Softmax>(call) : make<ColumnSoftmax>(call);
}

}  // namespace

void register_row_norm(engine::Backend& backend) {
  backend.provide(kSoftmax, &make_softmax);
  backend.provide(kLayerNorm, &make<LayerNorm>);
}

}  // namespace slipstream::cpu
