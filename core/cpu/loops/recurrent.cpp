// Rows of recurrent layers.
#include "../recurrent.h"

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

template <class T>
void lstm(const cpu::LstmRow<T>& row) {
  int64_t n = row.n;
  T *entry = row.gates, *forget = entry + n, *fresh = forget + n, *leave = fresh + n, *cell = row.cell, *out = row.out;
  const T *to_entry = row.projected, *to_forget = to_entry + n, *to_fresh = to_forget + n, *to_leave = to_fresh + n;
  const T* before = row.before;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    T e = sigmoid(to_entry[i] + entry[i]), f = sigmoid(to_forget[i] + forget[i]);
    T x = tanh(to_fresh[i] + fresh[i]), l = sigmoid(to_leave[i] + leave[i]);
    T c = f * before[i] + e * x;
    entry[i] = e;
    forget[i] = f;
    fresh[i] = x;
    leave[i] = l;
    cell[i] = c;
    out[i] = l * tanh(c);
  }
}

template <class T>
void lstm_slopes(const cpu::LstmRowSlopes<T>& row) {
  int64_t n = row.n;
  const T *entry = row.gates, *forget = entry + n, *fresh = forget + n, *leave = fresh + n, *before = row.before;
  const T *cell = row.cell, *of_out = row.of_out, *of_cell = row.of_cell, *carried = row.carried;
  T *of_entry = row.slopes, *of_forget = of_entry + n, *of_fresh = of_forget + n, *of_leave = of_fresh + n;
  T* of_before = row.of_before;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    T e = entry[i], f = forget[i], x = fresh[i], l = leave[i], t = tanh(cell[i]);
    T g = of_out[i] + carried[i], c = of_before[i] + of_cell[i] + g * l * (1 - t * t);
    of_entry[i] = c * x * (e * (1 - e));
    of_forget[i] = c * before[i] * (f * (1 - f));
    of_fresh[i] = c * e * (1 - x * x);
    of_leave[i] = g * t * (l * (1 - l));
    of_before[i] = c * f;
  }
}

template <class T>
void fill(cpu::RecurrentLoops<T>& to) {
  to = {&lstm<T>, &lstm_slopes<T>};
}

}  // namespace

void fill_recurrent(cpu::AllRecurrentLoops& loops) {
  fill(loops.f32);
  fill(loops.f64);
}

}  // namespace slipstream::SLIP_ISA
