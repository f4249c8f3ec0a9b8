// A matrix in memory, as the kernels of products see it.
#pragma once

#include "../array.h"
#include "../ops/matmul.h"

namespace slipstream::cpu {

// One matrix of a batch; steps in elements.
template <class T>
struct Matrix {
  T* data;
  int64_t rows, columns;
  int64_t down, right;
  MatrixLayout layout;

  Matrix t() const { return {data, columns, rows, right, down, {!layout.transposed, layout.ld}}; }
  Matrix block(int64_t row, int64_t column, int64_t n_rows, int64_t n_columns) const {
    return {data + row * down + column * right, n_rows, n_columns, down, right, layout};
  }
  T& at(int64_t row, int64_t column) const { return data[row * down + column * right]; }
};

template <class T>
Matrix<T> matrix(const Operand& x) {
  auto item = static_cast<int64_t>(sizeof(T));
  int last = x.ndim() - 1;
  return {reinterpret_cast<T*>(x.data()), x.shape[last - 1],      x.shape[last],
          x.strides[last - 1] / item,     x.strides[last] / item, *matrix_layout(x)};
}

// About `size`, a multiple of `unit`, so that the last part is not much smaller than the others.
inline int64_t even_part(int64_t n, int64_t size, int64_t unit) {
  int64_t parts = std::max<int64_t>(1, (n + size - 1) / size);
  return std::max<int64_t>(1, ((n + parts - 1) / parts + unit - 1) / unit) * unit;
}

}  // namespace slipstream::cpu
