// Singular values, eigenvalues and least squares: one call of LAPACK for each matrix.
#include <cmath>

#include "../ops/linalg.h"
#include "backend.h"
#include "lapack_stack.h"

namespace slipstream::cpu {

namespace {

template <class V>
size_t room_for(V n) {
  return static_cast<size_t>(std::max<V>(n, 1));
}

// Rows in memory are columns to LAPACK, which gets the transposed matrix: its left vectors are our right ones.
template <class T>
struct Svd {
  static std::unique_ptr<Kernel> kernel(const Record& call) {
    const auto& params = call.as<LinalgParams>();
    Matrices<T> a(call.inputs[0]);
    int64_t m = a.rows, n = a.columns, k = std::min(m, n);
    char job = !params.vectors ? 'N' : params.full ? 'A' : 'S';
    int64_t wide_u = params.full ? m : k, tall_v = params.full ? n : k;
    auto one = [=, &call](int64_t i, Scratch<T>& room) {
      T* u = params.vectors ? result<T>(call.outputs[0], i, m * wide_u) : nullptr;
      T* v = params.vectors ? result<T>(call.outputs[2], i, tall_v * n) : nullptr;
      if (k == 0) {
        if (params.vectors) set_identity(u, m, wide_u), set_identity(v, tall_v, n);
        return;
      }
      auto* s = result<Real<T>>(call.outputs[params.vectors ? 1 : 0], i, k);
      std::vector<T> copy(room_for(m * n));
      a.load(i, copy.data());
      int64_t ldu = std::max<int64_t>(wide_u, 1);
      if (Lapack<T>::gesdd(job, n, m, copy.data(), n, s, v, n, u, ldu, room))
        fail(ErrorKind::linalg, "svd: no convergence");
    };
    return each_matrix<T>(stack_size(call.inputs[0]), 8 * product(m, n, k), one);
  }
};

template <class T>
struct Eigh {
  static std::unique_ptr<Kernel> kernel(const Record& call) {
    const auto& params = call.as<LinalgParams>();
    Matrices<T> a(call.inputs[0]);
    int64_t n = a.rows;
    auto one = [=, &call](int64_t i, Scratch<T>& room) {
      if (n == 0) return;
      std::vector<T> copy(params.vectors ? 0 : room_for(n * n));
      T* matrix = params.vectors ? result<T>(call.outputs[1], i, n * n) : copy.data();
      a.load(i, matrix);
      // What LAPACK sees is the transposed matrix: the conjugate one.
      if constexpr (kIsComplex<T>)
        for (int64_t j = 0; j < n * n; j++) matrix[j] = std::conj(matrix[j]);
      auto* w = result<Real<T>>(call.outputs[0], i, n);
      if (Lapack<T>::syevd(params.vectors ? 'V' : 'N', params.lower ? 'U' : 'L', n, matrix, n, w, room))
        fail(ErrorKind::linalg, "eigh: the eigenvalues did not converge");
    };
    return each_matrix<T>(stack_size(call.inputs[0]), 4 * product(n, n, n), one);
  }
};

// LAPACK's vectors of a real matrix: a pair of conjugate eigenvalues has the real and the imaginary part of one vector.
template <class R>
void unpack_vectors(int64_t n, const std::complex<R>* w, const R* packed, std::complex<R>* to) {
  for (int64_t j = 0; j < n; j++) {
    bool pair = w[j].imag() != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; i++) {
      std::complex<R> value(packed[j * n + i], pair ? packed[(j + 1) * n + i] : R(0));
      to[j * n + i] = value;
      if (pair) to[(j + 1) * n + i] = std::conj(value);
    }
    j += pair;
  }
}

template <class T>
struct Eig {
  using C = std::complex<Real<T>>;

  static void check_finite(const std::vector<T>& matrix) {
    for (const T& x : matrix)
      if (!std::isfinite(std::real(x)) || !std::isfinite(std::imag(x)))
        fail(ErrorKind::linalg, "eig: the matrix holds infinities or NaNs");
  }

  static std::unique_ptr<Kernel> kernel(const Record& call) {
    bool vectors = call.as<LinalgParams>().vectors;
    Matrices<T> a(call.inputs[0]);
    int64_t n = a.rows;
    auto one = [=, &call](int64_t i, Scratch<T>& room) {
      if (n == 0) return;
      std::vector<T> copy(room_for(n * n)), packed(vectors && !kIsComplex<T> ? room_for(n * n) : 0);
      a.load_columns(i, copy.data());
      check_finite(copy);
      C* w = result<C>(call.outputs[0], i, n);
      C* v = vectors ? result<C>(call.outputs[1], i, n * n) : nullptr;
      T* to = packed.data();
      if constexpr (kIsComplex<T>) to = v;
      if (Lapack<T>::geev(vectors ? 'V' : 'N', n, copy.data(), n, w, to, n, room))
        fail(ErrorKind::linalg, "eig: the eigenvalues did not converge");
      if constexpr (!kIsComplex<T>)
        if (vectors) unpack_vectors(n, w, packed.data(), v);
    };
    return each_matrix<T>(stack_size(call.inputs[0]), 20 * product(n, n, n), one);
  }
};

template <class T>
struct Lstsq {
  static std::unique_ptr<Kernel> kernel(const Record& call) {
    Matrices<T> a(call.inputs[0]), b(call.inputs[1]);
    auto rcond = static_cast<Real<T>>(call.as<LinalgParams>().rcond);
    auto one = [=, &call](int64_t, Scratch<T>& room) {
      int64_t m = a.rows, n = a.columns, k = b.columns, tall = std::max<int64_t>({m, n, 1});
      T* x = result<T>(call.outputs[0], 0, 0);
      auto* residuals = result<Real<T>>(call.outputs[1], 0, 0);
      auto& rank = *result<int64_t>(call.outputs[2], 0, 0);
      std::vector<T> matrix(room_for(m * n)), sides(room_for(tall * k));
      a.load_columns(0, matrix.data());
      b.load_columns(0, sides.data(), 0, k, tall);
      rank = 0;
      if (std::min(m, n) > 0) {
        auto* s = result<Real<T>>(call.outputs[3], 0, 0);
        if (Lapack<T>::gelsd(m, n, k, matrix.data(), m, sides.data(), tall, s, rcond, &rank, room))
          fail(ErrorKind::linalg, "lstsq: the singular values did not converge");
      } else {
        std::fill_n(x, n * k, T(0));
      }
      for (int64_t j = 0; j < k; j++) {
        const T* column = sides.data() + j * tall;
        if (m > 0) std::copy_n(column, n, x + j * n);
        residuals[j] = 0;
        for (int64_t i = n; i < m; i++) residuals[j] += std::norm(column[i]);
      }
    };
    return each_matrix<T>(1, 8 * product(a.rows, a.columns, std::min(a.rows, a.columns)), one);
  }
};

}  // namespace

void register_spectral(engine::Backend& backend) {
  for (size_t slow : {0, 1}) {
    backend.provide(kSvd[slow], make_lapack<Svd>);
    backend.provide(kEigh[slow], make_lapack<Eigh>);
    backend.provide(kEig[slow], make_lapack<Eig>);
    backend.provide(kLstsq[slow], make_lapack<Lstsq>);
  }
}

}  // namespace slipstream::cpu
