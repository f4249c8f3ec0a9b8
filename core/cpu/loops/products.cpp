// Products of small matrices, for which a call of BLAS costs more than the work. Compiled with contraction: a product's
// sum is one operation, and rounds as it likes.
#include <cstring>

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64, kHeight = 8;
#else
constexpr int kBytes = 32, kHeight = 4;
#endif

template <class T, int bytes>
using Vector [[gnu::vector_size(bytes)]] = T;
template <class T, int bytes>
constexpr int64_t kLanes = bytes / static_cast<int64_t>(sizeof(T));

// height x (width vectors) of c = a b, with the sums in registers.
template <int height, int width, int bytes, class T>
void block(const cpu::SmallProduct<T>& p, int64_t row, int64_t column) {
  constexpr int64_t lanes = kLanes<T, bytes>;
  Vector<T, bytes> sums[height][width] = {};
  for (int64_t k = 0; k < p.depth; k++) {
    Vector<T, bytes> b[width];  // moved one by one, or it would not stay in registers
    for (int j = 0; j < width; j++) std::memcpy(&b[j], p.b + k * p.b_down + column + j * lanes, sizeof b[j]);
#pragma GCC unroll 8
    for (int i = 0; i < height; i++) {
      T a = p.a[(row + i) * p.a_down + k * p.a_right];
      for (int j = 0; j < width; j++) sums[i][j] += a * b[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < height; i++)
    for (int j = 0; j < width; j++)
      std::memcpy(p.c + (row + i) * p.c_down + column + j * lanes, &sums[i][j], sizeof sums[i][j]);
}

// All rows of as many columns as such strips fill, from the given one on; the first column that is left.
template <int width, int bytes, class T>
int64_t strips(const cpu::SmallProduct<T>& p, int64_t column) {
  constexpr int64_t across = width * kLanes<T, bytes>;
  for (; column + across <= p.columns; column += across) {
    int64_t row = 0;
    for (; row + kHeight <= p.rows; row += kHeight) block<kHeight, width, bytes>(p, row, column);
    for (; row < p.rows; row++) block<1, width, bytes>(p, row, column);
  }
  return column;
}

template <class T>
void small_product(const cpu::SmallProduct<T>& p) {
  int64_t column = strips<2, kBytes>(p, 0);
  column = strips<1, kBytes>(p, column);
  if constexpr (kBytes > 32) column = strips<1, 32>(p, column);
  for (; column < p.columns; column++) {
    for (int64_t row = 0; row < p.rows; row++) {
      T sum = 0;
      for (int64_t k = 0; k < p.depth; k++) sum += p.a[row * p.a_down + k * p.a_right] * p.b[k * p.b_down + column];
      p.c[row * p.c_down + column] = sum;
    }
  }
}

}  // namespace

void fill_products(Loops& loops) {
  loops.small_f32 = &small_product<float>;
  loops.small_f64 = &small_product<double>;
}

}  // namespace slipstream::SLIP_ISA
