// Products of small matrices, for which a call of BLAS costs more than the work. Compiled with contraction: a product's
// sum is one operation, and rounds as it likes.
#include <cstring>

#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

template <class T>
using Vector [[gnu::vector_size(32)]] = T;
template <class T>
constexpr int64_t kLanes = 32 / sizeof(T);

// height x (width vectors) of c = a b, with the sums in registers.
template <int height, int width, class T>
void block(const cpu::SmallProduct<T>& p, int64_t row, int64_t column) {
  Vector<T> sums[height][width] = {};
  for (int64_t k = 0; k < p.depth; k++) {
    Vector<T> b[width];  // moved one by one, or it would not stay in registers
    for (int j = 0; j < width; j++) std::memcpy(&b[j], p.b + k * p.b_down + column + j * kLanes<T>, sizeof b[j]);
    for (int i = 0; i < height; i++) {
      T a = p.a[(row + i) * p.a_down + k * p.a_right];
      for (int j = 0; j < width; j++) sums[i][j] += a * b[j];
    }
  }
  for (int i = 0; i < height; i++)
    for (int j = 0; j < width; j++)
      std::memcpy(p.c + (row + i) * p.c_down + column + j * kLanes<T>, &sums[i][j], sizeof sums[i][j]);
}

template <int width, class T>
void strip(const cpu::SmallProduct<T>& p, int64_t column) {
  int64_t row = 0;
  for (; row + 4 <= p.rows; row += 4) block<4, width>(p, row, column);
  for (; row < p.rows; row++) block<1, width>(p, row, column);
}

template <class T>
void small_product(const cpu::SmallProduct<T>& p) {
  int64_t column = 0;
  for (; column + 2 * kLanes<T> <= p.columns; column += 2 * kLanes<T>) strip<2>(p, column);
  if (column + kLanes<T> <= p.columns) {
    strip<1>(p, column);
    column += kLanes<T>;
  }
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
