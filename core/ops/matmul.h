// Matrix products: one call for a whole batch.
#pragma once

#include <optional>

#include "../op.h"

namespace slipstream {

// inputs (..., m, k) and (..., k, n), output (..., m, n); leading axes are already broadcast, all have one type, and
// the last two axes of each have a MatrixLayout. 16-bit floats are recorded as float32 between conversions.
extern const Op kMatmul;

// How a matrix (the last two axes of a view) lies in memory: rows one after another, or columns (transposed).
struct MatrixLayout {
  bool transposed;
  int64_t ld;  // elements from one row (column) to the next
};
std::optional<MatrixLayout> matrix_layout(const View& x);

}  // namespace slipstream
