// The inner loop of argmin and argmax: columns side by side, each with the best so far and the row it was met in.
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

template <bool largest, class T>
void search(const char* from, int64_t pitch, int64_t rows, int64_t width, void* values, int64_t* at) {
  using Count = typename IntegerOf<sizeof(T)>::type;  // as wide as the elements, so that one loop vectorises
  constexpr int64_t kRows = std::min<int64_t>(std::numeric_limits<Count>::max(), 1 << 20);
  auto* best = static_cast<T*>(values);
  alignas(64) T top[cpu::kSearchWidth];
  alignas(64) Count met[cpu::kSearchWidth];
  for (int64_t begin = 0; begin < rows; begin += kRows) {
    int64_t n = std::min(rows - begin, kRows);
    std::copy_n(reinterpret_cast<const T*>(from + begin * pitch), width, top);
    std::fill_n(met, width, Count{0});
    for (int64_t i = 1; i < n; i++) {
      auto* x = reinterpret_cast<const T*>(from + (begin + i) * pitch);
      auto now = static_cast<Count>(i);
      for (int64_t j = 0; j < width; j++) {
        T v = x[j], old = top[j];
        bool won = wins<largest>(v, old);
        top[j] = won ? v : old;
        met[j] = won ? now : met[j];
      }
    }
    for (int64_t j = 0; j < width; j++) {
      if (begin > 0 && !wins<largest>(top[j], best[j])) continue;
      best[j] = top[j];
      at[j] = begin + met[j];
    }
  }
}

template <DType... D>
void fill_types(Loops& loops) {
  ((loops.search[false][static_cast<int>(D)] = &search<false, loop_t<D>>,
    loops.search[true][static_cast<int>(D)] = &search<true, loop_t<D>>),
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
