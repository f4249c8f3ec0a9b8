// Plans of Fourier transforms, and the kernel: lines in groups as wide as a vector; long lines as matrices.
#include "fft.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../ops/fft.h"
#include "backend.h"
#include "convert.h"

namespace slipstream::cpu {

namespace {

constexpr int kLargestPrime = 31;

// Factors 4 and 2 first: their passes are the cheapest, and the first ones need no twiddles.
std::vector<int> factors(int64_t n) {
  std::vector<int> found;
  for (int radix : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, kLargestPrime})
    for (; n % radix == 0; n /= radix) found.push_back(radix);
  if (n > 1) found.clear();
  return found;
}

// exp(-2 pi i k / n), exact to the last bit or so for any k and n.
template <class T>
void add_root(std::vector<T>& to, int64_t k, int64_t n) {
  double angle = -2 * M_PI * static_cast<double>(k % n) / static_cast<double>(n);
  to.push_back(static_cast<T>(std::cos(angle)));
  to.push_back(static_cast<T>(std::sin(angle)));
}

int64_t place(int64_t i, int64_t n, const std::vector<int>& radices) {
  int64_t at = 0;
  for (size_t k = radices.size(); k-- > 0;) {
    n /= radices[k];
    at += i % radices[k] * n;
    i /= radices[k];
  }
  return at;
}

template <class T>
void forward(const FftPlan<T>& plan, const std::vector<T>& from, std::vector<T>& to, T factor) {
  FftJob<T> job;
  std::vector<T> room(static_cast<size_t>(plan.room()) + 64 / sizeof(T));
  job.plan = &plan;
  job.lines = 1;
  job.in[0] = reinterpret_cast<const char*>(from.data());
  job.out[0] = reinterpret_cast<char*>(to.data());
  job.in_step = job.out_step = 2 * sizeof(T);
  job.in_length = job.out_length = plan.n;
  job.factor = factor;
  auto address = reinterpret_cast<uintptr_t>(room.data());
  job.room = reinterpret_cast<T*>((address + 63) / 64 * 64);
  run_job(job);
}

}  // namespace

template <class T>
FftPlan<T>::FftPlan(int64_t n) : n(n) {
  std::vector<int> radices = factors(n);
  if (radices.empty() && n > 1) {
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    wide = of(m);
    std::vector<T> conjugate(static_cast<size_t>(2 * m));
    for (int64_t i = 0; i < n; i++) {
      add_root(chirp,
               static_cast<int64_t>(static_cast<unsigned __int128>(i) * static_cast<uint64_t>(i) %
                                    static_cast<uint64_t>(2 * n)),
               2 * n);
      auto at = static_cast<size_t>(2 * i), mirror = static_cast<size_t>(2 * ((m - i) % m));
      conjugate[at] = conjugate[mirror] = chirp[at];
      conjugate[at + 1] = conjugate[mirror + 1] = -chirp[at + 1];
    }
    filter.resize(static_cast<size_t>(2 * m));
    forward(*wide, conjugate, filter, static_cast<T>(1.0 / static_cast<double>(m)));
    return;
  }
  int64_t length = 1;
  for (int radix : radices) {
    passes.push_back({radix, length, static_cast<int64_t>(twiddles.size() / 2)});
    for (int64_t j = 0; j < length; j++)
      for (int q = 1; q < radix; q++) add_root(twiddles, j * q, length * radix);
    if (radix != 4 && radix != 2)
      for (int q = 0; q < radix; q++) add_root(twiddles, q, radix);
    length *= radix;
  }
  for (int64_t i = 0; i < n; i++) position.push_back(place(i, n, radices));
}

template <class T>
std::shared_ptr<const FftPlan<T>> FftPlan<T>::of(int64_t n) {
  constexpr size_t kKept = 8;
  thread_local std::vector<std::shared_ptr<const FftPlan>> known;
  for (size_t i = 0; i < known.size(); i++)
    if (known[i]->n == n) {
      std::rotate(known.begin(), known.begin() + static_cast<int64_t>(i), known.begin() + static_cast<int64_t>(i) + 1);
      return known[0];
    }
  auto made = std::make_shared<const FftPlan>(n);
  known.insert(known.begin(), made);
  if (known.size() > kKept) known.pop_back();
  return made;
}

template struct FftPlan<float>;
template struct FftPlan<double>;

namespace {

// Memory that starts on a cache line.
template <class T>
class Room {
 public:
  explicit Room(int64_t n)
      : data_(static_cast<T*>(std::aligned_alloc(64, (static_cast<size_t>(n) * sizeof(T) + 63) / 64 * 64))) {
    if (!data_) throw std::bad_alloc();
  }
  ~Room() { std::free(data_); }
  Room(const Room&) = delete;
  T* data() const { return data_; }

 private:
  T* data_;
};

// The lines of an operand along an axis.
class Lines {
 public:
  Lines(const Operand& x, int axis) : x_(x), axis_(axis), step(x.strides[axis]), length(x.shape[axis]) {
    for (int i = 0; i < x.ndim(); i++)
      if (i != axis) count *= x.shape[i];
  }
  char* at(int64_t line) const {
    int64_t offset = 0;
    for (int i = x_.ndim() - 1; i >= 0; i--) {
      if (i == axis_) continue;
      offset += line % x_.shape[i] * x_.strides[i];
      line /= x_.shape[i];
    }
    return x_.data() + offset;
  }

 private:
  const Operand& x_;
  int axis_;

 public:
  int64_t step, length, count = 1;
};

template <class T>
const FftPlan<T>& plan_of(const std::shared_ptr<const void>& plan) {
  return *static_cast<const FftPlan<T>*>(plan.get());
}

// Groups of whole lines.
template <class T>
class ShortLines final : public Kernel {
 public:
  explicit ShortLines(const Record& call)
      : params_(call.as<FftParams>()),
        plan_(plan_of<T>(params_.plan)),
        in_(call.inputs[0], params_.axis),
        out_(call.outputs[0], params_.axis),
        group_(kFftLanes<T> * (params_.kind >= FftKind::real ? 2 : 1)) {
    constexpr int64_t kChunk = 1 << 15;
    groups_ = std::max<int64_t>(1, kChunk / (group_ * plan_.n));
  }
  int64_t chunks(int) const override { return chunks_of(out_.count, group_ * groups_); }

  void run(int, int64_t chunk) override {
    Room<T> room(plan_.room());
    FftJob<T> job;
    job.plan = &plan_;
    job.room = room.data();
    job.factor = static_cast<T>(params_.factor);
    job.in_step = in_.step, job.out_step = out_.step;
    job.in_length = in_.length, job.out_length = out_.length;
    bool back = params_.kind == FftKind::backward;
    job.from = params_.kind == FftKind::real   ? FftSide::real
               : params_.kind == FftKind::half ? FftSide::half
               : back                          ? FftSide::swapped
                                               : FftSide::complex;
    job.to = params_.kind == FftKind::real   ? FftSide::half
             : params_.kind == FftKind::half ? FftSide::real
             : back                          ? FftSide::swapped
                                             : FftSide::complex;
    int64_t last = std::min(out_.count, (chunk + 1) * group_ * groups_);
    for (int64_t line = chunk * group_ * groups_; line < last; line += group_) {
      job.lines = static_cast<int>(std::min(group_, last - line));
      for (int i = 0; i < job.lines; i++) job.in[i] = in_.at(line + i), job.out[i] = out_.at(line + i);
      run_job(job);
    }
  }

 private:
  const FftParams& params_;
  const FftPlan<T>& plan_;
  Lines in_, out_;
  int64_t group_, groups_ = 1;
};

// Long lines, one by one: a line is a matrix of `rows` rows. Columns are transformed and turned by the roots of the
// whole length, into the room; then its rows, to every rows-th place of the result.
template <class T>
class LongLines final : public Kernel {
  static constexpr int64_t kLanes = kFftLanes<T>;
  static constexpr int64_t kItem = 2 * sizeof(T);

 public:
  explicit LongLines(const Record& call)
      : params_(call.as<FftParams>()),
        columns_plan_(plan_of<T>(params_.second)),
        rows_plan_(plan_of<T>(params_.plan)),
        in_(call.inputs[0], params_.axis),
        out_(call.outputs[0], params_.axis),
        between_(call.outputs[1].data()),
        rows_(columns_plan_.n),
        columns_(rows_plan_.n) {
    int64_t n = rows_ * columns_;
    coarse_ = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    for (int64_t i = 0; i < coarse_; i++) add_root(fine_roots_, i, n);
    for (int64_t i = 0; i * coarse_ < n; i++) add_root(coarse_roots_, i * coarse_, n);
  }
  int phases() const override { return 2; }
  int64_t chunks(int phase) const override {
    return in_.count * (phase == 0 ? chunks_of(columns_, width(rows_)) : chunks_of(rows_, width(columns_)));
  }

  void run(int phase, int64_t chunk) override {
    int64_t each = chunks(phase) / in_.count, line = chunk / each;
    phase == 0 ? transform_columns(line, chunk % each) : transform_rows(line, chunk % each);
  }

 private:
  // Lines of a chunk.
  static int64_t width(int64_t length) { return kLanes * std::max<int64_t>(1, (1 << 15) / (kLanes * length)); }
  bool back() const { return params_.kind == FftKind::backward; }

  std::complex<double> root(int64_t k) const {
    auto low = static_cast<size_t>(k % coarse_), high = static_cast<size_t>(k / coarse_);
    return std::complex<double>(fine_roots_[2 * low], fine_roots_[2 * low + 1]) *
           std::complex<double>(coarse_roots_[2 * high], coarse_roots_[2 * high + 1]);
  }

  // The powers of the roots of columns first, first + 1, ...: to `count` of them, `step` apart, in lanes.
  void powers(int64_t first, int64_t step, int64_t count, T* to) const {
    int64_t n = rows_ * columns_;
    for (int64_t i = 0; i < count; i++)
      for (int64_t l = 0; l < kLanes; l++) {
        std::complex<double> r = root((first + l) * step * i % n);
        to[i * 2 * kLanes + l] = static_cast<T>(r.real());
        to[i * 2 * kLanes + kLanes + l] = static_cast<T>(r.imag());
      }
  }

  void transform_columns(int64_t line, int64_t chunk) const {
    constexpr int64_t kTwist = FftJob<T>::kTwist;
    int64_t highs = chunks_of(rows_, kTwist);
    Room<T> room(columns_plan_.room() + 2 * kLanes * (kTwist + highs));
    T *low = room.data() + columns_plan_.room(), *high = low + 2 * kLanes * kTwist;
    FftJob<T> job;
    job.plan = &columns_plan_;
    job.room = room.data();
    job.twist_low = low, job.twist_high = high;
    job.from = back() ? FftSide::swapped : FftSide::complex;
    job.in_step = in_.step * columns_, job.out_step = columns_ * kItem;
    job.out_length = rows_;
    const char* from = in_.at(line);
    char* to = between_ + line * rows_ * columns_ * kItem;
    int64_t last = std::min(columns_, (chunk + 1) * width(rows_));
    for (int64_t column = chunk * width(rows_); column < last; column += kLanes) {
      job.lines = static_cast<int>(std::min(kLanes, last - column));
      powers(column, 1, kTwist, low);
      powers(column, kTwist, highs, high);
      // Where the line is shorter than its transform, the last row is not full.
      int64_t full = in_.length / columns_, rest = in_.length - full * columns_;
      bool same = rest <= column || rest >= column + job.lines || full >= rows_;
      for (int i = 0; i < job.lines; i++)
        job.in[i] = from + (column + i) * in_.step, job.out[i] = to + (column + i) * kItem;
      job.in_length = std::min(rows_, full + (rest > column));
      if (same)
        run_job(job);
      else
        run_ragged(job, full, rest - column);
    }
  }

  // Some lanes have an element more than the others: they go apart.
  static void run_ragged(const FftJob<T>& whole, int64_t full, int64_t longer) {
    for (int i = 0; i < whole.lines; i++) {
      FftJob<T> job = whole;
      job.in_length = full + (i < longer);
      for (int j = 0; j < whole.lines; j++) job.in[j] = whole.in[i];
      std::vector<T> out(static_cast<size_t>(2 * whole.plan->n * whole.lines));
      for (int j = 0; j < whole.lines; j++)
        job.out[j] = reinterpret_cast<char*>(out.data()) + j * whole.plan->n * kItem;
      job.out_step = kItem;
      run_job(job);
      for (int64_t k = 0; k < whole.plan->n; k++)
        std::memcpy(whole.out[i] + k * whole.out_step, job.out[i] + k * kItem, kItem);
    }
  }

  void transform_rows(int64_t line, int64_t chunk) const {
    Room<T> room(rows_plan_.room());
    FftJob<T> job;
    job.plan = &rows_plan_;
    job.room = room.data();
    job.to = back() ? FftSide::swapped : FftSide::complex;
    job.factor = static_cast<T>(params_.factor);
    job.in_step = kItem, job.out_step = out_.step * rows_;
    job.in_length = job.out_length = columns_;
    const char* from = between_ + line * rows_ * columns_ * kItem;
    char* to = out_.at(line);
    int64_t last = std::min(rows_, (chunk + 1) * width(columns_));
    for (int64_t row = chunk * width(columns_); row < last; row += kLanes) {
      job.lines = static_cast<int>(std::min(kLanes, last - row));
      for (int i = 0; i < job.lines; i++)
        job.in[i] = from + (row + i) * columns_ * kItem, job.out[i] = to + (row + i) * out_.step;
      run_job(job);
    }
  }

  const FftParams& params_;
  const FftPlan<T>&columns_plan_, &rows_plan_;
  Lines in_, out_;
  char* between_;
  int64_t rows_, columns_, coarse_ = 1;
  std::vector<double> fine_roots_, coarse_roots_;
};

template <class T>
std::unique_ptr<Kernel> make(const Record& call) {
  if (call.outputs[0].size() == 0) return single_kernel([] {});
  if (call.as<FftParams>().second) return std::make_unique<LongLines<T>>(call);
  return std::make_unique<ShortLines<T>>(call);
}

std::unique_ptr<Kernel> make_fft(const Record& call) {
  return real_of(call.inputs[0].dtype) == DType::f32 ? make<float>(call) : make<double>(call);
}

}  // namespace

void register_fft(engine::Backend& backend) { backend.provide(kFft, make_fft); }

}  // namespace slipstream::cpu
