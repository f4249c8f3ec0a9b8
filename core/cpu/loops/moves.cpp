// Transposing copies in small squares, so that every cache line is read once.
#include <algorithm>

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

template <class T>
void transpose(void* out, int64_t pitch, const char* from, int64_t rows, int64_t columns, int64_t row_step,
               int64_t column_step) {
  auto* to = static_cast<T*>(out);
  if constexpr (sizeof(T) == 4) {
    if (row_step == 4) {
      int64_t whole_rows = rows & ~3, whole_columns = columns & ~3;
      for (int64_t c = 0; c < whole_columns; c += 4) {
        for (int64_t i = 0; i < 4; i++) prefetch(from + (c + i) * column_step, rows, 4, column_step);
        for (int64_t r = 0; r < whole_rows; r += 4)
          square(to + r * pitch + c, from + r * 4 + c * column_step, column_step, pitch);
      }
      strip(to + whole_columns, from + whole_columns * column_step, whole_rows, columns - whole_columns, row_step,
            column_step, pitch);
      strip(to + whole_rows * pitch, from + whole_rows * 4, rows - whole_rows, columns, row_step, column_step, pitch);
      return;
    }
  }
  strip(to, from, rows, columns, row_step, column_step, pitch);
}

}  // namespace

void fill_moves(Loops& loops) {
  loops.transpose[0] = &transpose<uint8_t>;
  loops.transpose[1] = &transpose<uint16_t>;
  loops.transpose[2] = &transpose<uint32_t>;
  loops.transpose[3] = &transpose<uint64_t>;
  loops.transpose[4] = &transpose<Wide>;
}

}  // namespace slipstream::SLIP_ISA
