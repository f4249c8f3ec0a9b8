// Pooling, plane by plane and row by row: rows of a window are joined first, then windows within the row.
#include "../ops/pool.h"

#include <cmath>
#include <limits>

#include "backend.h"
#include "conv_image.h"
#include "dispatch.h"

namespace slipstream::cpu {

namespace {

template <class T>
const PoolLoops<T>& pool_loops() {
  if constexpr (std::is_same_v<T, float>)
    return loops().pool_f32;
  else
    return loops().pool_f64;
}

Axes3 sizes_of(const Operand& x) { return {x.shape[2], x.shape[3], x.shape[4]}; }

// What all pooling kernels share: the planes, the rows of a window, and the padded row.
template <class T>
class PoolPlanes : public Kernel {
 public:
  PoolPlanes(const Record& call, const Operand& data, const Operand& result)
      : params_(call.as<PoolParams>()), data_size_(sizes_of(data)), size_(sizes_of(result)) {
    planes_ = data.shape[0] * data.shape[1];
    for (size_t i = 0; i < 3; i++) counts_[i] = counts(i);
    padded_ = (size_[2] - 1) * params_.stride[2] + params_.kernel[2];
    inside_ = params_.pad[2] == 0 && padded_ <= data_size_[2];
    int64_t work = std::max(volume(data_size_), volume(size_) * std::min<int64_t>(volume(params_.kernel), 16));
    per_chunk_ = std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(work, 1));
  }

  int64_t chunks(int) const override { return chunks_of(planes_, per_chunk_); }
  void run(int, int64_t chunk) override {
    for (int64_t i = chunk * per_chunk_; i < std::min(planes_, (chunk + 1) * per_chunk_); i++) run_plane(i);
  }

 protected:
  virtual void run_plane(int64_t plane) = 0;

  // How many places of the windows along an axis count for the mean.
  std::vector<T> counts(size_t axis) const {
    std::vector<T> found;
    int64_t pad = params_.pad[axis], size = data_size_[axis];
    bool all = params_.kind != PoolKind::mean_inside;
    for (int64_t i = 0; i < size_[axis]; i++) {
      int64_t begin = i * params_.stride[axis] - pad, end = std::min(begin + params_.kernel[axis], size + pad);
      if (!all) begin = std::max<int64_t>(begin, 0), end = std::min(end, size);
      found.push_back(static_cast<T>(std::max<int64_t>(1, end - begin)));
    }
    return found;
  }
  bool divides() const { return params_.kind == PoolKind::mean || params_.kind == PoolKind::mean_inside; }

  // f(number of the row in the window, offset of the row in the plane) for the rows of windows (d, h) that exist.
  template <class F>
  void each_row(int64_t d, int64_t h, F f) const {
    int64_t number = 0;
    for (int64_t a = 0; a < params_.kernel[0]; a++)
      for (int64_t b = 0; b < params_.kernel[1]; b++, number++) {
        int64_t z = d * params_.stride[0] - params_.pad[0] + a, y = h * params_.stride[1] - params_.pad[1] + b;
        if (z < 0 || z >= data_size_[0] || y < 0 || y >= data_size_[1]) continue;
        f(number, (z * data_size_[1] + y) * data_size_[2]);
      }
  }
  template <class F>
  void each_result_row(F f) const {
    int64_t row = 0;
    for (int64_t d = 0; d < size_[0]; d++)
      for (int64_t h = 0; h < size_[1]; h++, row++) f(d, h, row * size_[2]);
  }
  // Elements of a row that windows reach.
  int64_t reached() const { return std::max<int64_t>(0, std::min(data_size_[2], padded_ - params_.pad[2])); }

  const PoolLoops<T>& loops_ = pool_loops<T>();
  const PoolParams& params_;
  Axes3 data_size_, size_;
  std::vector<T> counts_[3];
  int64_t planes_ = 0, per_chunk_ = 1;
  int64_t padded_ = 0;   // length of a row with what windows reach outside it
  bool inside_ = false;  // nothing
};

// ---- values

template <class T>
class Pool final : public PoolPlanes<T> {
 public:
  explicit Pool(const Record& call)
      : PoolPlanes<T>(call, call.inputs[0], call.outputs[0]),
        data_(reinterpret_cast<const T*>(call.inputs[0].data())),
        out_(reinterpret_cast<T*>(call.outputs[0].data())) {}

 private:
  using PoolPlanes<T>::params_, PoolPlanes<T>::size_, PoolPlanes<T>::loops_, PoolPlanes<T>::padded_;

  void run_plane(int64_t plane) override {
    const T* data = data_ + plane * volume(this->data_size_);
    T* out = out_ + plane * volume(size_);
    bool largest = params_.kind == PoolKind::max;
    T none = largest ? -std::numeric_limits<T>::infinity() : T(0);
    engine::ThreadRoom<T> row_room(padded_);
    T* row = row_room.data();
    std::fill_n(row, padded_, none);
    int64_t n = this->reached();
    this->each_result_row([&](int64_t d, int64_t h, int64_t at) {
      bool first = true;
      T* middle = row + params_.pad[2];
      this->each_row(d, h, [&](int64_t, int64_t from) {
        if (first)
          std::copy_n(data + from, n, middle);
        else
          (largest ? loops_.max_into : loops_.add_into)(middle, data + from, n);
        first = false;
      });
      if (first) std::fill_n(middle, n, none);
      (largest ? loops_.max_windows : loops_.sum_windows)(out + at, row, size_[2], params_.kernel[2],
                                                          params_.stride[2]);
      if (this->divides())
        divide(out + at, this->counts_[0][static_cast<size_t>(d)] * this->counts_[1][static_cast<size_t>(h)]);
    });
  }

  void divide(T* out, T rows) const {
    for (int64_t i = 0; i < size_[2]; i++) out[i] /= rows * this->counts_[2][static_cast<size_t>(i)];
  }

  const T* data_;
  T* out_;
};

// ---- gradients of sums and means

template <class T>
class SpreadPool final : public PoolPlanes<T> {
 public:
  explicit SpreadPool(const Record& call)
      : PoolPlanes<T>(call, call.outputs[0], call.inputs[0]),
        gradient_(reinterpret_cast<const T*>(call.inputs[0].data())),
        out_(reinterpret_cast<T*>(call.outputs[0].data())) {}

 private:
  using PoolPlanes<T>::params_, PoolPlanes<T>::size_, PoolPlanes<T>::loops_, PoolPlanes<T>::padded_;

  void run_plane(int64_t plane) override {
    const T* gradient = gradient_ + plane * volume(size_);
    T* out = out_ + plane * volume(this->data_size_);
    std::fill_n(out, volume(this->data_size_), T(0));
    engine::ThreadRoom<T> row_room(padded_), value_room(size_[2]);
    T *row = row_room.data(), *values = value_room.data();
    this->each_result_row([&](int64_t d, int64_t h, int64_t at) {
      T rows = this->counts_[0][static_cast<size_t>(d)] * this->counts_[1][static_cast<size_t>(h)];
      for (int64_t i = 0; i < size_[2]; i++)
        values[i] =
            this->divides() ? gradient[at + i] / (rows * this->counts_[2][static_cast<size_t>(i)]) : gradient[at + i];
      std::fill_n(row, padded_, T(0));
      loops_.spread(row, values, size_[2], params_.kernel[2], params_.stride[2]);
      this->each_row(d, h,
                     [&](int64_t, int64_t to) { loops_.add_into(out + to, row + params_.pad[2], this->reached()); });
    });
  }

  const T* gradient_;
  T* out_;
};

// ---- what goes with the largest elements: gradients to their places, values from them

template <class T, bool kToPlaces>
class LargestPool final : public PoolPlanes<T> {
  using Index = typename PoolLoops<T>::Index;

 public:
  explicit LargestPool(const Record& call)
      : PoolPlanes<T>(call, call.inputs[1], kToPlaces ? call.inputs[0] : call.outputs[0]),
        values_(reinterpret_cast<const T*>(call.inputs[0].data())),
        data_(reinterpret_cast<const T*>(call.inputs[1].data())),
        out_(reinterpret_cast<T*>(call.outputs[0].data())) {}

 private:
  using PoolPlanes<T>::params_, PoolPlanes<T>::size_, PoolPlanes<T>::loops_, PoolPlanes<T>::padded_;

  void run_plane(int64_t plane) override {
    int64_t data_plane = volume(this->data_size_), result_plane = volume(size_);
    const T* data = data_ + plane * data_plane;
    const T* values = values_ + plane * (kToPlaces ? result_plane : data_plane);
    T* out = out_ + plane * (kToPlaces ? data_plane : result_plane);
    if (kToPlaces) std::fill_n(out, data_plane, T(0));
    constexpr T none = -std::numeric_limits<T>::infinity();
    engine::ThreadRoom<T> row_room(padded_), best_room(size_[2]);
    engine::ThreadRoom<Index> tap_room(size_[2]);
    engine::ThreadRoom<int64_t> place_room(volume(params_.kernel));
    T *row = row_room.data(), *best = best_room.data();
    Index* tap = tap_room.data();
    // Where the taps of the window lie, from the place of the window's first column.
    int64_t* places = place_room.data();
    std::fill_n(row, padded_, none);
    int64_t wide = params_.kernel[2];
    this->each_result_row([&](int64_t d, int64_t h, int64_t at) {
      std::fill_n(best, size_[2], none);
      std::fill_n(tap, size_[2], Index(-1));
      this->each_row(d, h, [&](int64_t number, int64_t from) {
        for (int64_t k = 0; k < wide; k++) places[number * wide + k] = from + k - params_.pad[2];
        const T* line = data + from;
        if (!this->inside_) {
          std::copy_n(line, this->reached(), row + params_.pad[2]);
          line = row;
        }
        loops_.find(best, tap, line, size_[2], wide, params_.stride[2], static_cast<Index>(number * wide));
      });
      for (int64_t i = 0; i < size_[2]; i++) {
        int64_t place = tap[i] < 0 ? -1 : places[tap[i]] + i * params_.stride[2];
        if (kToPlaces && place >= 0) out[place] += values[at + i];
        if (!kToPlaces) out[at + i] = place >= 0 ? values[place] : T(0);
      }
    });
  }

  const T *values_, *data_;
  T* out_;
};

// ----

template <template <class> class K>
std::unique_ptr<Kernel> made(const Record& call) {
  if (call.outputs[0].dtype == DType::f32) return std::make_unique<K<float>>(call);
  return std::make_unique<K<double>>(call);
}

template <class T>
using Gather = LargestPool<T, false>;
template <class T>
using Scatter = LargestPool<T, true>;

std::unique_ptr<Kernel> make_gradient(const Record& call) {
  return call.as<PoolParams>().kind == PoolKind::max ? made<Scatter>(call) : made<SpreadPool>(call);
}

}  // namespace

void register_pool(engine::Backend& backend) {
  backend.provide(kPool, made<Pool>);
  backend.provide(kPoolGradient, make_gradient);
  backend.provide(kPoolPick, made<Gather>);
}

}  // namespace slipstream::cpu
