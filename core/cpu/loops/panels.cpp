// Products of packed panels, with the sums in registers. Compiled with contraction: a product's sum is one operation.
#include "../panels.h"

#include <algorithm>
#include <cstring>

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

// All registers but one or two: vectors of sums, of b, and one of a where an instruction cannot spread a number itself.
#if defined(__AVX512F__)
constexpr int kBytes = 64, kHeight = 8, kVectors = 3;
constexpr int64_t kDepth = 4096;  // in bytes: panels stay in the second cache
constexpr bool kAnyRows = true;
template <class T>
constexpr cpu::TileSizes kTiles =
    sizeof(T) == 4 ? cpu::TileSizes{64, 2048, 64, 192, 160e6} : cpu::TileSizes{128, 384, 64, 192, 26e6};
#else
constexpr int kBytes = 32, kHeight = 6, kVectors = 2;
constexpr int64_t kDepth = 1280;  // in bytes: a panel of b stays in the first cache
constexpr bool kAnyRows = false;  // lines of theirs would push it out
template <class T>
constexpr cpu::TileSizes kTiles = {256, 128, 256, 64, 26e6};
#endif

template <class T, int bytes = kBytes>
using Vector [[gnu::vector_size(bytes)]] = T;
template <class T, int bytes = kBytes>
using Anywhere [[gnu::vector_size(bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;  // in memory
template <class T, int bytes = kBytes>
constexpr int64_t kLanes = bytes / static_cast<int64_t>(sizeof(T));
template <class T>
constexpr int64_t kWidth = kVectors * kLanes<T>;

constexpr int kTurned = 32;  // bytes of a line of the squares that are turned at once

[[gnu::always_inline]] inline void turn_square(Vector<float, kTurned> (&x)[8]) {
  using S = Vector<float, kTurned>;
  using I = Vector<int32_t, kTurned>;
  S y[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    y[i] = __builtin_shuffle(x[i], x[i + 1], I{0, 8, 1, 9, 4, 12, 5, 13});
    y[i + 1] = __builtin_shuffle(x[i], x[i + 1], I{2, 10, 3, 11, 6, 14, 7, 15});
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    x[i] = __builtin_shuffle(y[i], y[i + 2], I{0, 1, 8, 9, 4, 5, 12, 13});
    x[i + 1] = __builtin_shuffle(y[i], y[i + 2], I{2, 3, 10, 11, 6, 7, 14, 15});
    x[i + 2] = __builtin_shuffle(y[i + 1], y[i + 3], I{0, 1, 8, 9, 4, 5, 12, 13});
    x[i + 3] = __builtin_shuffle(y[i + 1], y[i + 3], I{2, 3, 10, 11, 6, 7, 14, 15});
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    S low = __builtin_shuffle(x[i], x[i + 4], I{0, 1, 2, 3, 8, 9, 10, 11});
    x[i + 4] = __builtin_shuffle(x[i], x[i + 4], I{4, 5, 6, 7, 12, 13, 14, 15});
    x[i] = low;
  }
}

[[gnu::always_inline]] inline void turn_square(Vector<double, kTurned> (&x)[4]) {
  using S = Vector<double, kTurned>;
  using I = Vector<int64_t, kTurned>;
  S a = __builtin_shuffle(x[0], x[1], I{0, 4, 2, 6}), b = __builtin_shuffle(x[0], x[1], I{1, 5, 3, 7});
  S c = __builtin_shuffle(x[2], x[3], I{0, 4, 2, 6}), d = __builtin_shuffle(x[2], x[3], I{1, 5, 3, 7});
  x[0] = __builtin_shuffle(a, c, I{0, 1, 4, 5});
  x[1] = __builtin_shuffle(b, d, I{0, 1, 4, 5});
  x[2] = __builtin_shuffle(a, c, I{2, 3, 6, 7});
  x[3] = __builtin_shuffle(b, d, I{2, 3, 6, 7});
}

template <class T>
struct Target {
  T* data;
  int64_t down;
};

// One panel of a times the first vectors of one of b. `apart`: the rows of a lie apart, each along the depth. Moved by
// assignments of whole vectors, or the sums would not stay in registers; by pointers whose type is written out, since
// `auto` forgets that they may lie anywhere.
template <bool add, bool apart, int vectors, class T>
[[gnu::noinline]] void whole_block(cpu::Rows<T> rows, cpu::Columns<T> columns, int64_t depth, Target<T> c) {
  Vector<T> sums[kHeight][vectors];
#pragma GCC unroll 16
  for (int i = 0; i < kHeight; i++) {
    __builtin_prefetch(c.data + i * c.down, 1);
    __builtin_prefetch(c.data + i * c.down + vectors * kLanes<T> - 1, 1);
    for (int j = 0; j < vectors; j++) sums[i][j] = Vector<T>{};
  }
  constexpr int kTogether = 3;  // rows that an address reaches: 0, 1 and 2 steps away
  const T* a[(kHeight + kTogether - 1) / kTogether];
  for (int i = 0; i < kHeight; i += kTogether) a[i / kTogether] = rows.data + i * rows.down;
  const T* b = columns.data;
#pragma GCC unroll 4
  for (int64_t k = 0; k < depth; k++) {
    Vector<T> row[vectors];
    for (int j = 0; j < vectors; j++) row[j] = reinterpret_cast<const Anywhere<T>*>(b)[j];
#pragma GCC unroll 16
    for (int i = 0; i < kHeight; i++)
      for (int j = 0; j < vectors; j++)
        sums[i][j] += (apart ? a[i / kTogether][i % kTogether * rows.down] : a[0][i]) * row[j];
    asm volatile("" ::: "memory");  // without which loads of the next step push sums out of registers
#pragma GCC unroll 8
    for (const T*& some : a) some += apart ? 1 : rows.right;
    b += columns.down;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kHeight; i++) {
    Anywhere<T>* to = reinterpret_cast<Anywhere<T>*>(c.data + i * c.down);
    for (int j = 0; j < vectors; j++) to[j] = add ? sums[i][j] + to[j] : sums[i][j];
  }
}

template <bool add, int vectors, class T>
void block(const cpu::Rows<T>& a, const cpu::Columns<T>& b, int64_t depth, Target<T> c) {
  a.down == 1 ? whole_block<add, false, vectors>(a, b, depth, c) : whole_block<add, true, vectors>(a, b, depth, c);
}

template <class T>
void store(T& to, T sum, bool add) {
  to = add ? sum + to : sum;
}

// To columns of c, in squares where there are whole ones.
template <class T>
void store_turned(const cpu::PanelProduct<T>& p, const T* block, int64_t across, T* c, int64_t rows, int64_t columns) {
  constexpr int64_t lanes = kLanes<T, kTurned>;
  int64_t j = 0;
  if (rows == kHeight && kHeight % lanes == 0) {
    for (; j + lanes <= columns; j += lanes)
      for (int64_t i = 0; i < kHeight; i += lanes) {
        Vector<T, kTurned> square[lanes];
#pragma GCC unroll 8
        for (int64_t k = 0; k < lanes; k++)
          square[k] = *reinterpret_cast<const Anywhere<T, kTurned>*>(block + (i + k) * across + j);
        turn_square(square);
#pragma GCC unroll 8
        for (int64_t k = 0; k < lanes; k++) {
          Anywhere<T, kTurned>* to = reinterpret_cast<Anywhere<T, kTurned>*>(c + (j + k) * p.down + i);
          *to = p.add ? square[k] + *to : square[k];
        }
      }
  }
  for (; j < columns; j++)
    for (int64_t i = 0; i < rows; i++) store(c[j * p.down + i], block[i * across + j], p.add);
}

// A block of which only some rows and columns are wanted, or that is to be turned.
template <int vectors, class T>
void part_of_block(const cpu::PanelProduct<T>& p, const cpu::Rows<T>& a, const cpu::Columns<T>& b, T* c, int64_t rows,
                   int64_t columns) {
  constexpr int64_t kAcross = vectors * kLanes<T>;
  alignas(64) T whole[kHeight * kAcross];
  block<false, vectors>(a, b, p.depth, Target<T>{whole, kAcross});
  if (p.turned) return store_turned(p, whole, kAcross, c, rows, columns);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) store(c[i * p.down + j], whole[i * kAcross + j], p.add);
}

// Brings a block of what is needed next into the cache, line by line. Inline: calls of a function that does nothing but
// this the compiler leaves out as without effect.
template <class T>
[[gnu::always_inline]] inline void fetch(const cpu::NeededNext& next, int64_t row, int64_t column, int64_t rows,
                                         int64_t columns) {
  constexpr int64_t kLine = 64, kNumber = static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < next.count; i++) {
    const char* at = next.which[i].data + (next.first_row + row) * next.which[i].down + column * kNumber;
    for (int64_t r = 0; r < rows; r++, at += next.which[i].down)
      for (int64_t byte = 0; byte < columns * kNumber; byte += kLine) __builtin_prefetch(at + byte);
  }
}

// Some columns, at most so many vectors of them, and more than fit into one vector less.
template <int vectors, class T>
void multiply_columns(const cpu::PanelProduct<T>& p, int64_t column, int64_t columns) {
  if constexpr (vectors > 1)
    if (columns <= (vectors - 1) * kLanes<T>) return multiply_columns<vectors - 1>(p, column, columns);
  cpu::Columns<T> b = p.b.from(column / kWidth<T>);
  for (int64_t row = 0; row < p.rows; row += kHeight) {
    cpu::Rows<T> a = p.a.from(row / kHeight);
    T* c = p.turned ? p.c + column * p.down + row : p.c + row * p.down + column;
    int64_t rows = std::min<int64_t>(kHeight, p.rows - row);
    fetch<T>(p.needed_next, row, column, rows, columns);
    if (p.turned || rows < kHeight || columns < vectors * kLanes<T>)
      part_of_block<vectors>(p, a, b, c, rows, columns);
    else if (p.add)
      block<true, vectors>(a, b, p.depth, Target<T>{c, p.down});
    else
      block<false, vectors>(a, b, p.depth, Target<T>{c, p.down});
  }
}

template <class T>
void multiply(const cpu::PanelProduct<T>& p) {
  for (int64_t column = 0; column < p.columns; column += kWidth<T>)
    multiply_columns<kVectors>(p, column, std::min(kWidth<T>, p.columns - column));
}

// Line by line of memory, so that it is read in its order.
template <int64_t size, class T>
void pack(T* to, const T* from, int64_t lines, int64_t depth, int64_t step) {
  constexpr int64_t kAhead = 8;
  int64_t whole = lines / size, rest = lines % size;
  for (int64_t k = 0; k < depth; k++) {
    const T* x = from + k * step;
    T* at = to + k * size;
    for (int64_t panel = 0; panel < whole; panel++, x += size, at += depth * size) {
      __builtin_prefetch(x + kAhead * step);
      std::memcpy(at, x, size * sizeof(T));
    }
    if (rest == 0) continue;
    for (int64_t i = 0; i < size; i++) at[i] = i < rest ? x[i] : T(0);
  }
}

// The first `count` numbers of a vector.
template <int64_t count, class T, class V>
[[gnu::always_inline]] inline void store_some(T* to, const V& x) {
  if constexpr (count == kLanes<T, kTurned>) {
    *reinterpret_cast<Anywhere<T, kTurned>*>(to) = x;
  } else {
    for (int64_t i = 0; i < count; i++) to[i] = x[i];
  }
}

// The lines of one panel from `first` on, a square after another.
template <int64_t size, int64_t first, class T>
void turn_lines(T* to, const T* from, int64_t depth, int64_t step) {
  constexpr int64_t lanes = kLanes<T, kTurned>, count = std::min(lanes, size - first);
  const T* x = from + first * step;
  int64_t k = 0;
  for (; k + lanes <= depth; k += lanes) {
    Vector<T, kTurned> square[lanes];
#pragma GCC unroll 8
    for (int64_t i = 0; i < lanes; i++)
      square[i] = i < count ? *reinterpret_cast<const Anywhere<T, kTurned>*>(x + i * step + k) : Vector<T, kTurned>{};
    turn_square(square);
#pragma GCC unroll 8
    for (int64_t i = 0; i < lanes; i++) store_some<count>(to + (k + i) * size + first, square[i]);
  }
  for (; k < depth; k++)
    for (int64_t i = 0; i < count; i++) to[k * size + first + i] = x[i * step + k];
  if constexpr (first + count < size) turn_lines<size, first + count>(to, from, depth, step);
}

// Lines that lie one after another; `step` is from line to line.
template <int64_t size, class T>
void turn(T* to, const T* from, int64_t lines, int64_t depth, int64_t step) {
  int64_t line = 0;
  for (; line + size <= lines; line += size) turn_lines<size, 0>(to + line * depth, from + line * step, depth, step);
  if (line == lines) return;
  to += line * depth;
  for (int64_t k = 0; k < depth; k++)
    for (int64_t i = 0; i < size; i++) to[k * size + i] = line + i < lines ? from[(line + i) * step + k] : T(0);
}

template <class T>
void fill_type(cpu::PanelLoops<T>& loops) {
  loops = {kHeight,
           kWidth<T>,
           kLanes<T>,
           kAnyRows,
           kDepth / static_cast<int64_t>(sizeof(T)),
           kTiles<T>,
           &multiply<T>,
           &pack<kHeight, T>,
           &pack<kWidth<T>, T>,
           &turn<kHeight, T>,
           &turn<kWidth<T>, T>};
}

}  // namespace

// Without fused multiply-add BLAS knows better.
void fill_panels([[maybe_unused]] cpu::AllPanelLoops& loops) {
#if defined(__FMA__)
  fill_type(loops.f32);
  fill_type(loops.f64);
#endif
}

}  // namespace slipstream::SLIP_ISA
