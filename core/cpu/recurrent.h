// The inner loops of recurrent layers: what the vector loops of one instruction set do with a row of a batch.
#pragma once

#include <cstdint>

namespace slipstream::cpu {

// One row of an LSTM's batch in one step. Its gates lie one after another, `n` numbers each: entry, forget, new, leave.
template <class T>
struct LstmRow {
  const T* projected;  // what the input says of the gates
  T* gates;            // read as what the state says of them, written as they act
  const T* before;     // the cell before the step
  T *cell, *out;
  int64_t n;
};
template <class T>
struct LstmRowSlopes {
  const T *gates, *before, *cell;
  const T *of_out, *of_cell;  // what the program says of this step
  const T* carried;           // what the next step says of `out`
  T* of_before;               // what the next step says of `cell`; becomes what this one says of `before`
  T* slopes;                  // of the gates' products
  int64_t n;
};

template <class T>
struct RecurrentLoops {
  void (*lstm)(const LstmRow<T>&) = nullptr;
  void (*lstm_slopes)(const LstmRowSlopes<T>&) = nullptr;
};

struct AllRecurrentLoops {
  RecurrentLoops<float> f32;
  RecurrentLoops<double> f64;
};
const AllRecurrentLoops& recurrent_loops();  // of the instruction set in use, beside those of dispatch.h

}  // namespace slipstream::cpu
