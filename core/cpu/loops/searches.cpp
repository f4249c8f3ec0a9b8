// The inner loops of argmin and argmax: columns side by side, each with the best so far and the row it was met in.
#include <algorithm>

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

template <size_t size>
struct IntegerOf;
template <>
struct IntegerOf<1> {
  using type = int8_t;
};
template <>
struct IntegerOf<2> {
  using type = int16_t;
};
template <>
struct IntegerOf<4> {
  using type = int32_t;
};
template <>
struct IntegerOf<8> {
  using type = int64_t;
};

// Does v come before the best so far? The first NaN beats everything.
template <bool largest, class T>
bool wins(T v, T best) {
  if constexpr (Float<T>)
    return (largest ? !(v <= best) : !(v >= best)) & (best == best);
  else
    return largest ? v > best : v < best;
}

template <class T>
using Count = typename IntegerOf<sizeof(T)>::type;  // as wide as the elements, so that one loop vectorises
template <class T>
constexpr int64_t kRows = std::min<int64_t>(std::numeric_limits<Count<T>>::max(), 1 << 20);

// The best of each column and the row it was met in; at most kRows rows.
template <bool largest, class T>
void columns(const char* from, int64_t pitch, int64_t rows, int64_t width, T* top, Count<T>* met) {
  std::copy_n(reinterpret_cast<const T*>(from), width, top);
  std::fill_n(met, width, Count<T>{0});
  for (int64_t i = 1; i < rows; i++) {
    auto* x = reinterpret_cast<const T*>(from + i * pitch);
    auto now = static_cast<Count<T>>(i);
#pragma GCC ivdep
    for (int64_t j = 0; j < width; j++) {
      T v = x[j], old = top[j];
      bool won = wins<largest>(v, old);
      top[j] = won ? v : old;
      met[j] = won ? now : met[j];
    }
  }
}

template <bool largest, class T>
void search(const char* from, int64_t pitch, int64_t rows, int64_t width, void* values, int64_t* at) {
  auto* best = static_cast<T*>(values);
  alignas(64) T top[cpu::kSearchWidth];
  alignas(64) Count<T> met[cpu::kSearchWidth];
  for (int64_t begin = 0; begin < rows; begin += kRows<T>) {
    columns<largest, T>(from + begin * pitch, pitch, std::min(rows - begin, kRows<T>), width, top, met);
    for (int64_t j = 0; j < width; j++) {
      if (begin > 0 && !wins<largest>(top[j], best[j])) continue;
      best[j] = top[j];
      at[j] = begin + met[j];
    }
  }
}

// A line as a table of a few columns, whose winners meet in pairs.
template <bool largest, class T>
int64_t find(const void* line, int64_t n, void* value) {
  constexpr int64_t lanes = 32;
  auto* x = static_cast<const T*>(line);
  T best = x[0];
  int64_t found = 0, whole = n / lanes * lanes;
  for (int64_t begin = 0; begin < whole; begin += kRows<T> * lanes) {
    alignas(64) T top[lanes];
    alignas(64) Count<T> met[lanes];
    int64_t at[lanes];
    columns<largest, T>(reinterpret_cast<const char*>(x + begin), lanes * sizeof(T),
                        std::min((whole - begin) / lanes, kRows<T>), lanes, top, met);
    for (int64_t j = 0; j < lanes; j++) at[j] = met[j] * lanes + j;
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; j++) {
        T a = top[j], b = top[j + half];
        bool second = wins<largest>(b, a) | (!wins<largest>(a, b) & (at[j + half] < at[j]));
        top[j] = second ? b : a;
        at[j] = second ? at[j + half] : at[j];
      }
    if (begin > 0 && !wins<largest>(top[0], best)) continue;
    best = top[0];
    found = begin + at[0];
  }
  for (int64_t i = whole; i < n; i++) {
    if (!wins<largest>(x[i], best)) continue;
    best = x[i];
    found = i;
  }
  *static_cast<T*>(value) = best;
  return found;
}

template <DType... D>
void fill_types(Loops& loops) {
  ((loops.search[false][static_cast<int>(D)] = {&search<false, loop_t<D>>, &find<false, loop_t<D>>},
    loops.search[true][static_cast<int>(D)] = {&search<true, loop_t<D>>, &find<true, loop_t<D>>}),
   ...);
}

}  // namespace

void fill_searches(Loops& loops) {
  using enum DType;
  fill_types<i8, i16, i32, i64, u8, u16, u32, u64, f32, f64>(loops);
  for (bool largest : {false, true})  // booleans are bytes of 0 and 1
    loops.search[largest][static_cast<int>(b1)] = loops.search[largest][static_cast<int>(u8)];
}

}  // namespace slipstream::SLIP_ISA
