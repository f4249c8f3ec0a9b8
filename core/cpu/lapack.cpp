// Finding LAPACK's functions, and calling them with room of the size they ask for.
#include "lapack.h"

#include <string>

#include "../error.h"
#include "blas.h"

namespace slipstream::cpu {

namespace {

using I = int64_t;

// The length of a character argument, which Fortran takes at the end.
using Length = size_t;

// Reals and complex numbers take different arguments where the complex ones need real room as well.
template <class T, class R = Real<T>>
struct Functions {
  void (*gemm)(const char*, const char*, const I*, const I*, const I*, const T*, const T*, const I*, const T*, const I*,
               const T*, T*, const I*, Length, Length);
  void (*trsm)(const char*, const char*, const char*, const char*, const I*, const I*, const T*, const T*, const I*, T*,
               const I*, Length, Length, Length, Length);
  void (*getrf)(const I*, const I*, T*, const I*, I*, I*);
  void (*laswp)(const I*, T*, const I*, const I*, const I*, const I*, const I*);
  void (*potrf)(const char*, const I*, T*, const I*, I*, Length);
  void (*geqrf)(const I*, const I*, T*, const I*, T*, T*, const I*, I*);
  void (*larft)(const char*, const char*, const I*, const I*, const T*, const I*, const T*, T*, const I*, Length,
                Length);
  void (*larfb)(const char*, const char*, const char*, const char*, const I*, const I*, const I*, const T*, const I*,
                const T*, const I*, T*, const I*, T*, const I*, Length, Length, Length, Length);
  void (*ormqr)(const char*, const char*, const I*, const I*, const I*, const T*, const I*, const T*, T*, const I*, T*,
                const I*, I*, Length, Length);
  void *gesdd, *syevd, *geev, *gelsd;  // called through the types below
};

template <class T>
Functions<T> functions;

template <class F>
void find(F& function, const std::string& name) {
  function = reinterpret_cast<F>(blas_symbol(name));
}

template <class T>
void find_all(const std::string& letter) {
  Functions<T>& f = functions<T>;
  find(f.gemm, letter + "gemm");
  find(f.trsm, letter + "trsm");
  find(f.getrf, letter + "getrf");
  find(f.laswp, letter + "laswp");
  find(f.potrf, letter + "potrf");
  find(f.geqrf, letter + "geqrf");
  find(f.larft, letter + "larft");
  find(f.larfb, letter + "larfb");
  find(f.ormqr, letter + (kIsComplex<T> ? "unmqr" : "ormqr"));
  find(f.gesdd, letter + "gesdd");
  find(f.syevd, letter + (kIsComplex<T> ? "heevd" : "syevd"));
  find(f.geev, letter + "geev");
  find(f.gelsd, letter + "gelsd");
}

bool find_types() {
  find_all<float>("s");
  find_all<double>("d");
  find_all<std::complex<float>>("c");
  find_all<std::complex<double>>("z");
  return true;
}

template <class F, class... Args>
void call(void* function, Args... args) {
  reinterpret_cast<F>(function)(args...);
}

template <class V>
void at_least(std::vector<V>& room, I n) {
  if (static_cast<I>(room.size()) < n) room.resize(static_cast<size_t>(std::max<I>(n, 1)));
}

// The answer to a question for room, which comes as a number of the matrix's type.
template <class T>
I asked(T answer) {
  return static_cast<I>(std::real(answer)) + 1;
}

}  // namespace

void load_lapack() {
  if (!load_blas()) fail(ErrorKind::runtime, "linalg: there is no LAPACK library");
  static const bool found = find_types();
  (void)found;
}

template <class T>
void Lapack<T>::gemm(char ta, char tb, I m, I n, I k, T alpha, const T* a, I lda, const T* b, I ldb, T beta, T* c,
                     I ldc) {
  functions<T>.gemm(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc, 1, 1);
}

template <class T>
void Lapack<T>::trsm(char side, char uplo, char trans, char diag, I m, I n, T alpha, const T* a, I lda, T* b, I ldb) {
  functions<T>.trsm(&side, &uplo, &trans, &diag, &m, &n, &alpha, a, &lda, b, &ldb, 1, 1, 1, 1);
}

template <class T>
int64_t Lapack<T>::getrf(I m, I n, T* a, I lda, I* pivots) {
  I info = 0;
  functions<T>.getrf(&m, &n, a, &lda, pivots, &info);
  return info;
}

template <class T>
void Lapack<T>::laswp(I n, T* a, I lda, I first, I last, const I* pivots, bool backwards) {
  I from = first + 1, step = backwards ? -1 : 1;
  if (n > 0 && last > first) functions<T>.laswp(&n, a, &lda, &from, &last, pivots, &step);
}

template <class T>
int64_t Lapack<T>::potrf(char uplo, I n, T* a, I lda) {
  I info = 0;
  functions<T>.potrf(&uplo, &n, a, &lda, &info, 1);
  return info;
}

template <class T>
int64_t Lapack<T>::geqrf(I m, I n, T* a, I lda, T* tau, Scratch<T>& room) {
  I info = 0, size = std::max<I>(1, n) * 64;
  at_least(room.work, size);
  functions<T>.geqrf(&m, &n, a, &lda, tau, room.work.data(), &size, &info);
  return info;
}

template <class T>
void Lapack<T>::larft(I m, I k, const T* v, I ldv, const T* tau, T* t, I ldt) {
  functions<T>.larft("F", "C", &m, &k, v, &ldv, tau, t, &ldt, 1, 1);
}

template <class T>
void Lapack<T>::larfb(I m, I n, I k, const T* v, I ldv, const T* t, I ldt, T* c, I ldc, Scratch<T>& room) {
  at_least(room.work, n * k);
  functions<T>.larfb("L", "C", "F", "C", &m, &n, &k, v, &ldv, t, &ldt, c, &ldc, room.work.data(), &n, 1, 1, 1, 1);
}

template <class T>
void Lapack<T>::ormqr(I m, I n, I k, const T* a, I lda, const T* tau, T* c, I ldc, Scratch<T>& room) {
  I info = 0, size = std::max<I>(1, n) * 64 + 65 * 64;
  at_least(room.work, size);
  functions<T>.ormqr("L", "N", &m, &n, &k, a, &lda, tau, c, &ldc, room.work.data(), &size, &info, 1, 1);
}

template <class T>
int64_t Lapack<T>::gesdd(char job, I m, I n, T* a, I lda, R* s, T* u, I ldu, T* vt, I ldvt, Scratch<T>& room) {
  I info = 0, size = -1, least = std::min(m, n), most = std::max(m, n);
  T answer{};
  at_least(room.whole, 8 * least);
  auto run = [&](T* work) {
    if constexpr (kIsComplex<T>) {
      using F = void (*)(const char*, const I*, const I*, T*, const I*, R*, T*, const I*, T*, const I*, T*, const I*,
                         R*, I*, I*, Length);
      at_least(room.real, job == 'N' ? 7 * least : least * std::max(5 * least + 7, 2 * most + 2 * least + 1));
      call<F>(functions<T>.gesdd, &job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &size, room.real.data(),
              room.whole.data(), &info, Length{1});
    } else {
      using F = void (*)(const char*, const I*, const I*, T*, const I*, R*, T*, const I*, T*, const I*, T*, const I*,
                         I*, I*, Length);
      call<F>(functions<T>.gesdd, &job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &size, room.whole.data(), &info,
              Length{1});
    }
  };
  run(&answer);
  size = asked(answer);
  at_least(room.work, size);
  run(room.work.data());
  return info;
}

template <class T>
int64_t Lapack<T>::syevd(char job, char uplo, I n, T* a, I lda, R* w, Scratch<T>& room) {
  I info = 0, size = -1, real_size = -1, whole_size = -1, whole_answer = 0;
  T answer{};
  R real_answer{};
  auto run = [&](T* work, R* real, I* whole) {
    if constexpr (kIsComplex<T>) {
      using F = void (*)(const char*, const char*, const I*, T*, const I*, R*, T*, const I*, R*, const I*, I*, const I*,
                         I*, Length, Length);
      call<F>(functions<T>.syevd, &job, &uplo, &n, a, &lda, w, work, &size, real, &real_size, whole, &whole_size, &info,
              Length{1}, Length{1});
    } else {
      using F = void (*)(const char*, const char*, const I*, T*, const I*, R*, T*, const I*, I*, const I*, I*, Length,
                         Length);
      call<F>(functions<T>.syevd, &job, &uplo, &n, a, &lda, w, work, &size, whole, &whole_size, &info, Length{1},
              Length{1});
    }
  };
  run(&answer, &real_answer, &whole_answer);
  size = asked(answer);
  real_size = asked(real_answer);
  whole_size = whole_answer;
  at_least(room.work, size);
  at_least(room.real, real_size);
  at_least(room.whole, whole_size);
  run(room.work.data(), room.real.data(), room.whole.data());
  return info;
}

template <class T>
int64_t Lapack<T>::geev(char job, I n, T* a, I lda, std::complex<R>* w, T* vectors, I ldv, Scratch<T>& room) {
  I info = 0, size = -1, one = 1;
  T answer{};
  at_least(room.real, 2 * n);
  auto run = [&](T* work) {
    if constexpr (kIsComplex<T>) {
      using F = void (*)(const char*, const char*, const I*, T*, const I*, T*, T*, const I*, T*, const I*, T*, const I*,
                         R*, I*, Length, Length);
      call<F>(functions<T>.geev, "N", &job, &n, a, &lda, w, static_cast<T*>(nullptr), &one, vectors, &ldv, work, &size,
              room.real.data(), &info, Length{1}, Length{1});
    } else {
      using F = void (*)(const char*, const char*, const I*, T*, const I*, T*, T*, T*, const I*, T*, const I*, T*,
                         const I*, I*, Length, Length);
      call<F>(functions<T>.geev, "N", &job, &n, a, &lda, room.real.data(), room.real.data() + n,
              static_cast<T*>(nullptr), &one, vectors, &ldv, work, &size, &info, Length{1}, Length{1});
    }
  };
  run(&answer);
  size = asked(answer);
  at_least(room.work, size);
  run(room.work.data());
  if constexpr (!kIsComplex<T>)
    for (I i = 0; i < n; i++) w[i] = {room.real[static_cast<size_t>(i)], room.real[static_cast<size_t>(n + i)]};
  return info;
}

template <class T>
int64_t Lapack<T>::gelsd(I m, I n, I nrhs, T* a, I lda, T* b, I ldb, R* s, R rcond, I* rank, Scratch<T>& room) {
  I info = 0, size = -1, whole_answer = 0;
  T answer{};
  R real_answer{};
  auto run = [&](T* work, R* real, I* whole) {
    if constexpr (kIsComplex<T>) {
      using F = void (*)(const I*, const I*, const I*, T*, const I*, T*, const I*, R*, const R*, I*, T*, const I*, R*,
                         I*, I*);
      call<F>(functions<T>.gelsd, &m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &size, real, whole, &info);
    } else {
      using F =
          void (*)(const I*, const I*, const I*, T*, const I*, T*, const I*, R*, const R*, I*, T*, const I*, I*, I*);
      call<F>(functions<T>.gelsd, &m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &size, whole, &info);
    }
  };
  run(&answer, &real_answer, &whole_answer);
  size = asked(answer);
  at_least(room.work, size);
  at_least(room.real, asked(real_answer));
  at_least(room.whole, whole_answer);
  run(room.work.data(), room.real.data(), room.whole.data());
  return info;
}

template struct Lapack<float>;
template struct Lapack<double>;
template struct Lapack<std::complex<float>>;
template struct Lapack<std::complex<double>>;

}  // namespace slipstream::cpu
