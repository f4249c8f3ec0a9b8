// LAPACK of the loaded OpenBLAS, behind one name for all four types. Matrices lie in columns, as Fortran has them.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace slipstream::cpu {

// Finds all functions once. Called where a call is recorded, so that a missing library is an error of that call.
void load_lapack();

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool kIsComplex = !std::is_floating_point_v<T>;

// Room that a thread needs for calls of one shape.
template <class T>
struct Scratch {
  std::vector<T> work;
  std::vector<Real<T>> real;
  std::vector<int64_t> whole;
};

// Each returns LAPACK's `info`: 0, or the number of what went wrong. `q` functions say what room the others need.
template <class T>
struct Lapack {
  using I = int64_t;
  using R = Real<T>;

  static void gemm(char ta, char tb, I m, I n, I k, T alpha, const T* a, I lda, const T* b, I ldb, T beta, T* c, I ldc);
  // b = alpha op(a)^-1 b (side L) or alpha b op(a)^-1 (side R), a triangular.
  static void trsm(char side, char uplo, char trans, char diag, I m, I n, T alpha, const T* a, I lda, T* b, I ldb);
  static I getrf(I m, I n, T* a, I lda, I* pivots);
  // Swaps of rows first .. last - 1 (from 0), in order or backwards.
  static void laswp(I n, T* a, I lda, I first, I last, const I* pivots, bool backwards = false);
  static I potrf(char uplo, I n, T* a, I lda);
  static I geqrf(I m, I n, T* a, I lda, T* tau, Scratch<T>& room);
  static void larft(I m, I k, const T* v, I ldv, const T* tau, T* t, I ldt);
  // c = (I - V T V^H)^H c, of m x n.
  static void larfb(I m, I n, I k, const T* v, I ldv, const T* t, I ldt, T* c, I ldc, Scratch<T>& room);
  // c = Q c, of m x n, with the first k reflectors.
  static void ormqr(I m, I n, I k, const T* a, I lda, const T* tau, T* c, I ldc, Scratch<T>& room);
  static I gesdd(char job, I m, I n, T* a, I lda, R* s, T* u, I ldu, T* vt, I ldvt, Scratch<T>& room);
  static I syevd(char job, char uplo, I n, T* a, I lda, R* w, Scratch<T>& room);
  // Eigenvalues as complex numbers; vectors in LAPACK's form (pairs of real columns for pairs of complex ones).
  static I geev(char job, I n, T* a, I lda, std::complex<R>* w, T* vectors, I ldv, Scratch<T>& room);
  static I gelsd(I m, I n, I nrhs, T* a, I lda, T* b, I ldb, R* s, R rcond, I* rank, Scratch<T>& room);
};

}  // namespace slipstream::cpu
