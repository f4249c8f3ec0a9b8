// Kernels of recurrent layers: some rows of the batch go through all steps without meeting the others.
#include "recurrent.h"

#include <algorithm>

#include "../engine/thread_room.h"
#include "../ops/recurrent.h"
#include "backend.h"
#include "convert.h"
#include "packed_columns.h"

namespace slipstream::cpu {

namespace {

template <class T>
const RecurrentLoops<T>& loops_of() {
  if constexpr (sizeof(T) == 4)
    return recurrent_loops().f32;
  else
    return recurrent_loops().f64;
}

template <class T>
T* at(const Operand& x) {
  return reinterpret_cast<T*>(x.data());
}

// First the weight is packed. Then rows of the batch run on by themselves, some steps in a phase, so that no chunk
// takes long.
template <class T>
class BySteps : public Kernel {
 public:
  // Rows are multiplied by `weight`; `steps` is the shape of the gates.
  BySteps(const Record& call, const Shape& steps, Matrix<T> weight)
      : steps_(steps[0]),
        batch_(steps[1]),
        width_(steps[2] / 4),
        backwards_(call.as<LstmParams>().backwards),
        depth_(even_part(weight.rows, panel_loops_of<T>().depth, 8)),
        inner_(weight.rows),
        columns_(weight.columns),
        weight_(weight, depth_),
        together_(even_part(batch_, kRows, panel_loops_of<T>().height)) {
    constexpr int64_t kWork = int64_t{1} << 27;  // multiplications of a chunk, about
    at_once_ = std::clamp<int64_t>(kWork / std::max<int64_t>(1, together_ * inner_ * columns_), 1, steps_);
  }
  int phases() const override { return 1 + static_cast<int>(chunks_of(steps_, at_once_)); }
  int64_t chunks(int phase) const override { return phase == 0 ? weight_.chunks() : chunks_of(batch_, together_); }
  void run(int phase, int64_t chunk) override {
    if (phase == 0) return weight_.pack(chunk);
    int64_t first = chunk * together_, rows = std::min(together_, batch_ - first);
    int64_t begin = (phase - 1) * at_once_, end = std::min(steps_, begin + at_once_);
    for (int64_t i = begin; i < end; i++) run_step(i, first, rows);
  }

 protected:
  // Where some rows lie, in numbers of the width: of what belongs to the i-th step of the sequence as it was run, and
  // of states before and after it.
  struct Places {
    int64_t step, before, after;
  };
  Places places(int64_t i, int64_t first) const {
    int64_t t = backwards_ ? steps_ - 1 - i : i;
    auto place = [&](int64_t number) { return (number * batch_ + first) * width_; };
    return {place(t), place(backwards_ ? t + 1 : t), place(backwards_ ? t : t + 1)};
  }

  // The i-th step that this kernel does, for some rows.
  virtual void run_step(int64_t i, int64_t first, int64_t rows) = 0;

  // c = a weight, for rows that lie one after another.
  void multiply(const T* a, T* c, int64_t rows) {
    const PanelLoops<T>& loops = panel_loops_of<T>();
    engine::ThreadRoom<T> packed(chunks_of(rows, loops.height) * loops.height * depth_);
    for (int64_t k = 0; k < inner_; k += depth_) {
      int64_t depth = std::min(depth_, inner_ - k);
      loops.turn_a(packed.data(), a + k, rows, depth, inner_);
      Rows<T> left{packed.data(), 1, loops.height, loops.height * depth};
      loops.multiply({left, weight_.at(0, k, depth), c, rows, columns_, depth, columns_, false, k > 0});
    }
  }

  int64_t steps_, batch_, width_;
  bool backwards_;

 private:
  static constexpr int64_t kRows = 16;  // that read the weight together

  int64_t depth_, inner_, columns_;
  PackedColumns<T> weight_;
  int64_t together_, at_once_;
};

template <class T>
class Lstm final : public BySteps<T> {
 public:
  explicit Lstm(const Record& call)
      : BySteps<T>(call, call.inputs[0].shape, matrix<T>(call.inputs[1]).t()),
        projected_(at<const T>(call.inputs[0])),
        state_(at<const T>(call.inputs[2])),
        cell_(at<const T>(call.inputs[3])),
        states_(at<T>(call.outputs[0])),
        cells_(at<T>(call.outputs[1])),
        gates_(call.outputs.size() > 2 ? at<T>(call.outputs[2]) : nullptr) {}

 private:
  void run_step(int64_t i, int64_t first, int64_t rows) override {
    typename BySteps<T>::Places at = this->places(i, first);
    int64_t n = this->width_;
    if (i == 0) {
      std::copy_n(state_ + first * n, rows * n, states_ + at.before);
      std::copy_n(cell_ + first * n, rows * n, cells_ + at.before);
    }
    engine::ThreadRoom<T> own(gates_ ? 0 : rows * 4 * n);
    T* gates = gates_ ? gates_ + 4 * at.step : own.data();
    this->multiply(states_ + at.before, gates, rows);
    for (int64_t r = 0; r < rows * n; r += n) {
      loops_of<T>().lstm({projected_ + 4 * (at.step + r), gates + 4 * r, cells_ + at.before + r, cells_ + at.after + r,
                          states_ + at.after + r, n});
    }
  }

  const T *projected_, *state_, *cell_;
  T *states_, *cells_, *gates_;
};

// From the last step to the first. What a step hands on to the one before it lies in the gradients of the first state
// and cell: in the end it is these.
template <class T>
class LstmGradient final : public BySteps<T> {
 public:
  explicit LstmGradient(const Record& call)
      : BySteps<T>(call, call.inputs[0].shape, matrix<T>(call.inputs[2])),
        gates_(at<const T>(call.inputs[0])),
        cells_(at<const T>(call.inputs[1])),
        of_outputs_(at<const T>(call.inputs[3])),
        of_cells_(at<const T>(call.inputs[4])),
        slopes_(at<T>(call.outputs[0])),
        of_state_(at<T>(call.outputs[1])),
        of_cell_(at<T>(call.outputs[2])) {}

 private:
  void run_step(int64_t i, int64_t first, int64_t rows) override {
    typename BySteps<T>::Places at = this->places(this->steps_ - 1 - i, first);
    int64_t n = this->width_;
    T *carried = of_state_ + first * n, *of_before = of_cell_ + first * n;
    if (i == 0) {
      std::fill_n(carried, rows * n, T(0));
      std::fill_n(of_before, rows * n, T(0));
    }
    for (int64_t r = 0; r < rows * n; r += n) {
      int64_t row = at.step + r;
      loops_of<T>().lstm_slopes({gates_ + 4 * row, cells_ + at.before + r, cells_ + at.after + r, of_outputs_ + row,
                                 of_cells_ + row, carried + r, of_before + r, slopes_ + 4 * row, n});
    }
    this->multiply(slopes_ + 4 * at.step, carried, rows);
  }

  const T *gates_, *cells_, *of_outputs_, *of_cells_;
  T *slopes_, *of_state_, *of_cell_;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Record& call) {
  if (call.outputs[0].dtype == DType::f32) return std::make_unique<K<float>>(call);
  return std::make_unique<K<double>>(call);
}

}  // namespace

void register_recurrent(engine::Backend& backend) {
  backend.provide(kLstm, make<Lstm>);
  backend.provide(kLstmGradient, make<LstmGradient>);
}

}  // namespace slipstream::cpu
