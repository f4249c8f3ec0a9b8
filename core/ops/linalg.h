// Linear algebra through LAPACK: factors, solutions, eigenvalues and singular values of stacks of matrices.
#pragma once

#include <array>
#include <vector>

#include "../op.h"

namespace slipstream {

// Arrays are float32, float64, complex64 or complex128, their last two axes matrices, the others a stack. What is wrong
// with shapes and types raises at the call; a singular matrix or an iteration without end fails the results.

Array solve(const Array& a, const Array& b);  // b: (..., n, k), its stack broadcast with a's
Array solve_triangular(const Array& a, const Array& b, bool lower);
Array inv(const Array& a, bool nan_if_singular = false);
Array det(const Array& a);
std::array<Array, 2> slogdet(const Array& a);  // sign, logarithm
Array cholesky(const Array& a, bool upper);    // from that triangle alone

enum class QrMode { reduced, complete, r, raw };
std::vector<Array> qr(const Array& a, QrMode mode);  // q, r; r; or the reflectors as LAPACK has them (transposed), tau

std::vector<Array> svd(const Array& a, bool full, bool vectors);  // u, s, vh; or s
std::vector<Array> eigh(const Array& a, bool upper, bool vectors);  // w, v; or w
std::vector<Array> eig(const Array& a, bool vectors);  // w, v; or w; always complex

// One matrix and its right-hand sides (m, k). x, squared residuals (as if the rank were full), rank, singular values.
std::array<Array, 4> lstsq(const Array& a, const Array& b, double rcond);

// ---- what is recorded

// An operation, and the same for matrices so large that one chunk takes long (kLong).
using LinalgOp = std::array<Op, 2>;
extern const LinalgOp kSolve, kTriangular, kInv, kDet, kSlogdet, kCholesky, kQr, kSvd, kEigh, kEig, kLstsq;

struct LinalgParams final : OpParams {
  bool lower = true;
  bool vectors = true;
  bool full = false;
  bool nan_if_singular = false;
  QrMode mode = QrMode::reduced;
  double rcond = 0;
};

// Outputs are dense, one matrix after another. Those named "in columns" hold the transposed matrix:
//   qr: q and r in columns (raw: h, tau); eigh, eig: vectors in columns; lstsq: x in columns.

}  // namespace slipstream
