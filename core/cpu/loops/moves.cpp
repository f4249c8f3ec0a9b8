// Transposing copies in small squares, so that every cache line is read once.
#include <algorithm>

#include <cstring>

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

struct Wide {
  uint64_t a, b;
};

// Columns lie far apart, so the processor does not see by itself what comes next.
constexpr int64_t kAhead = 16;
void prefetch(const char* from, int64_t rows, int64_t row_step, int64_t column_step) {
  for (int64_t byte = 0, all = rows * row_step; byte < all; byte += 64)
    __builtin_prefetch(from + kAhead * column_step + byte);
}

template <class T>
void strip(T* to, const char* from, int64_t rows, int64_t columns, int64_t row_step, int64_t column_step,
           int64_t width) {
  for (int64_t c = 0; c < columns; c++) {
    prefetch(from + c * column_step, rows, row_step, column_step);
    for (int64_t r = 0; r < rows; r++)
      to[r * width + c] = *reinterpret_cast<const T*>(from + r * row_step + c * column_step);
  }
}

// Squares of 4 x 4 elements of 4 bytes in vector registers.
using Four = uint32_t __attribute__((vector_size(16), aligned(4)));

void square(uint32_t* to, const char* from, int64_t column_step, int64_t width) {
  Four a = *reinterpret_cast<const Four*>(from), b = *reinterpret_cast<const Four*>(from + column_step);
  Four c = *reinterpret_cast<const Four*>(from + 2 * column_step),
       d = *reinterpret_cast<const Four*>(from + 3 * column_step);
  Four low_ab = __builtin_shuffle(a, b, Four{0, 4, 1, 5}), high_ab = __builtin_shuffle(a, b, Four{2, 6, 3, 7});
  Four low_cd = __builtin_shuffle(c, d, Four{0, 4, 1, 5}), high_cd = __builtin_shuffle(c, d, Four{2, 6, 3, 7});
  *reinterpret_cast<Four*>(to) = __builtin_shuffle(low_ab, low_cd, Four{0, 1, 4, 5});
  *reinterpret_cast<Four*>(to + width) = __builtin_shuffle(low_ab, low_cd, Four{2, 3, 6, 7});
  *reinterpret_cast<Four*>(to + 2 * width) = __builtin_shuffle(high_ab, high_cd, Four{0, 1, 4, 5});
  *reinterpret_cast<Four*>(to + 3 * width) = __builtin_shuffle(high_ab, high_cd, Four{2, 3, 6, 7});
}

// The same of 8 bytes.
using FourWide = uint64_t __attribute__((vector_size(32), aligned(8)));

void square(uint64_t* to, const char* from, int64_t column_step, int64_t width) {
  FourWide a = *reinterpret_cast<const FourWide*>(from), b = *reinterpret_cast<const FourWide*>(from + column_step);
  FourWide c = *reinterpret_cast<const FourWide*>(from + 2 * column_step),
           d = *reinterpret_cast<const FourWide*>(from + 3 * column_step);
  FourWide even_ab = __builtin_shuffle(a, b, FourWide{0, 4, 2, 6}),
           odd_ab = __builtin_shuffle(a, b, FourWide{1, 5, 3, 7});
  FourWide even_cd = __builtin_shuffle(c, d, FourWide{0, 4, 2, 6}),
           odd_cd = __builtin_shuffle(c, d, FourWide{1, 5, 3, 7});
  *reinterpret_cast<FourWide*>(to) = __builtin_shuffle(even_ab, even_cd, FourWide{0, 1, 4, 5});
  *reinterpret_cast<FourWide*>(to + width) = __builtin_shuffle(odd_ab, odd_cd, FourWide{0, 1, 4, 5});
  *reinterpret_cast<FourWide*>(to + 2 * width) = __builtin_shuffle(even_ab, even_cd, FourWide{2, 3, 6, 7});
  *reinterpret_cast<FourWide*>(to + 3 * width) = __builtin_shuffle(odd_ab, odd_cd, FourWide{2, 3, 6, 7});
}

template <class T>
void transpose(void* out, int64_t pitch, const char* from, int64_t rows, int64_t columns, int64_t row_step,
               int64_t column_step) {
  auto* to = static_cast<T*>(out);
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    constexpr int64_t item = sizeof(T);
    if (row_step == item) {
      int64_t whole_rows = rows & ~3, whole_columns = columns & ~3;
      for (int64_t c = 0; c < whole_columns; c += 4) {
        for (int64_t i = 0; i < 4; i++) prefetch(from + (c + i) * column_step, rows, item, column_step);
        for (int64_t r = 0; r < whole_rows; r += 4)
          square(to + r * pitch + c, from + r * item + c * column_step, column_step, pitch);
      }
      strip(to + whole_columns, from + whole_columns * column_step, whole_rows, columns - whole_columns, row_step,
            column_step, pitch);
      strip(to + whole_rows * pitch, from + whole_rows * item, rows - whole_rows, columns, row_step, column_step,
            pitch);
      return;
    }
  }
  strip(to, from, rows, columns, row_step, column_step, pitch);
}

// Every k-th element, with k known to the compiler.
template <class T, int64_t k>
void pick(T* to, const T* from, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) to[i] = from[i * k];
}

template <class T>
void gather(void* out, const char* from, int64_t step, int64_t n) {
  if (step == 0) {  // the same for all
    T value;
    std::memcpy(&value, from, sizeof value);
    auto* to = static_cast<T*>(out);
    for (int64_t i = 0; i < n; i++) to[i] = value;
    return;
  }
  auto* to = static_cast<T*>(out);
  auto* x = reinterpret_cast<const T*>(from);
  constexpr auto item = static_cast<int64_t>(sizeof(T));
  if (step == -item) return pick<T, -1>(to, x, n);
  if (step == 2 * item) return pick<T, 2>(to, x, n);
  if (step == 3 * item) return pick<T, 3>(to, x, n);
  if (step == 4 * item) return pick<T, 4>(to, x, n);
  for (int64_t i = 0; i < n; i++) to[i] = *reinterpret_cast<const T*>(from + i * step);
}

template <class T>
void fill_size(Loops& loops, int log2) {
  loops.transpose[log2] = &transpose<T>;
  loops.gather[log2] = &gather<T>;
}

}  // namespace

void fill_moves(Loops& loops) {
  fill_size<uint8_t>(loops, 0);
  fill_size<uint16_t>(loops, 1);
  fill_size<uint32_t>(loops, 2);
  fill_size<uint64_t>(loops, 3);
  fill_size<Wide>(loops, 4);
}

}  // namespace slipstream::SLIP_ISA
