// OpenBLAS with 64-bit integers, loaded at the first product and called single-threaded.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

namespace slipstream::cpu {

// Loads the library once. Called where a product is recorded, so that a missing library is an error of that call.
// Returns false if no library was named (set_blas_path): products then use plain loops.
bool load_blas();
bool blas_loaded();
// The address of a function of the loaded library, by its name in Fortran ("dgesdd"); raises where there is none.
void* blas_symbol(const std::string& name);

// Row-major products that overwrite c: c (m x n) = a b, and y (m) = a x. `a_t`: a is stored transposed.
#define SLIP_BLAS(T)                                                                                                \
  void gemm(bool a_t, bool b_t, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb,  \
            T* c, int64_t ldc);                                                                                     \
  void gemv(bool a_t, int64_t m, int64_t k, const T* a, int64_t lda, const T* x, int64_t incx, T* y, int64_t incy); \
  T dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy);
SLIP_BLAS(float)
SLIP_BLAS(double)
SLIP_BLAS(std::complex<float>)
SLIP_BLAS(std::complex<double>)
#undef SLIP_BLAS

}  // namespace slipstream::cpu
