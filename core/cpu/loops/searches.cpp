// The inner loops of argmin and argmax: columns side by side, each with the best so far and the row it was met in.
#include <algorithm>
#include <cstring>

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

template <class T>
using Vector [[gnu::vector_size(64)]] = T;
template <class T>
using Anywhere [[gnu::vector_size(64), gnu::aligned(alignof(T)), gnu::may_alias]] = T;  // in memory
template <class T>
constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T));

// Is any bit of the vector set?
template <class V>
[[gnu::always_inline]] inline bool any(const V& mask) {
  int64_t words[sizeof(V) / 8], all = 0;
  std::memcpy(words, &mask, sizeof(V));
  for (int64_t word : words) all |= word;
  return all != 0;
}

// The best numbers of the lanes of a vector, and where NaNs were met.
template <bool largest, class T>
struct BestOfLanes {
  Vector<T> top;
  decltype(Vector<T>{} != Vector<T>{}) nan = {};

  [[gnu::always_inline]] void start(const T* x) { top = *reinterpret_cast<const Anywhere<T>*>(x); }
  [[gnu::always_inline]] void meet(const T* x) {
    Vector<T> v = *reinterpret_cast<const Anywhere<T>*>(x);
    top = (largest ? v > top : v < top) ? v : top;
    nan |= v != v;
  }
  [[gnu::always_inline]] void meet(const BestOfLanes& o) {
    top = (largest ? o.top > top : o.top < top) ? o.top : top;
    nan |= o.nan;
  }
  T best() const {
    alignas(64) T values[kLanes<T>];
    std::memcpy(values, &top, sizeof(top));
    for (int64_t half = kLanes<T> / 2; half > 0; half /= 2)
      for (int64_t i = 0; i < half; i++) {
        T a = values[i], b = values[i + half];
        values[i] = (largest ? b > a : b < a) ? b : a;
      }
    return any(nan) ? std::numeric_limits<T>::quiet_NaN() : values[0];
  }
};

// The best value of a line, NaN if there is one. So many vectors at a time; the last ones may overlap those before.
template <bool largest, int64_t vectors, class T>
T best_of(const T* x, int64_t n) {
  constexpr int64_t kStep = vectors * kLanes<T>;
  BestOfLanes<largest, T> best[vectors];
#pragma GCC unroll 4
  for (int64_t k = 0; k < vectors; k++) best[k].start(x + k * kLanes<T>);
  for (int64_t i = 0; i < n; i += kStep) {
    const T* at = x + std::min(i, n - kStep);
#pragma GCC unroll 4
    for (int64_t k = 0; k < vectors; k++) best[k].meet(at + k * kLanes<T>);
  }
#pragma GCC unroll 4
  for (int64_t k = 1; k < vectors; k++) best[0].meet(best[k]);
  return best[0].best();
}

template <bool largest, class T>
T best_of(const T* x, int64_t n) {
  if (n >= 4 * kLanes<T>) return best_of<largest, 4>(x, n);
  if (n >= kLanes<T>) return best_of<largest, 1>(x, n);
  T best = x[0];
  for (int64_t i = 1; i < n; i++) best = wins<largest>(x[i], best) ? x[i] : best;
  return best;
}

// Where the value, which is one of the line, is met first.
template <class T>
int64_t first_of(const T* x, int64_t n, T value) {
  constexpr int64_t kStep = 4 * kLanes<T>;
  bool nan = value != value;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    decltype(Vector<T>{} == Vector<T>{}) met = {};
#pragma GCC unroll 4
    for (int64_t k = 0; k < 4; k++) {
      Vector<T> v = *reinterpret_cast<const Anywhere<T>*>(x + i + k * kLanes<T>);
      met |= nan ? v != v : v == value;
    }
    if (any(met)) break;
  }
  while (i < n - 1 && !(nan ? x[i] != x[i] : x[i] == value)) i++;
  return i;
}

// A line block by block: a block's best value, and its place only where it beats those before.
template <bool largest, class T>
int64_t find(const void* line, int64_t n, void* value) {
  constexpr int64_t kBlock = 8192 / static_cast<int64_t>(sizeof(T));
  auto* x = static_cast<const T*>(line);
  T best = x[0];
  int64_t found = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    int64_t count = std::min(n - begin, kBlock);
    T top = best_of<largest>(x + begin, count);
    if (begin > 0 && !wins<largest>(top, best)) continue;
    best = top;
    found = begin + first_of(x + begin, count, top);
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
