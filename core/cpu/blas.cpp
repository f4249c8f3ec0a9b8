// Finding OpenBLAS, loading it without its threads, and its functions behind overloads.
#include "blas.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "../error.h"
#include "../ops/structural.h"
#include "dispatch.h"

namespace slipstream {

namespace {
std::function<std::string()> find_library;
}

void set_blas_path(std::function<std::string()> find) { find_library = std::move(find); }

}  // namespace slipstream

namespace slipstream::cpu {

namespace {

enum Order { kRowMajor = 101 };
enum Transpose { kNo = 111, kYes = 112 };
using Int = int64_t;

// Reals pass factors by value, complex numbers by address.
template <class T>
struct Factor {
  using type = T;
  static T of(const T& v) { return v; }
};
template <class R>
struct Factor<std::complex<R>> {
  using type = const void*;
  static const void* of(const std::complex<R>& v) { return &v; }
};

template <class T>
struct Functions {
  using F = typename Factor<T>::type;
  void (*gemm)(Order, Transpose, Transpose, Int, Int, Int, F, const T*, Int, const T*, Int, F, T*, Int);
  void (*gemv)(Order, Transpose, Int, Int, F, const T*, Int, const T*, Int, F, T*, Int);
  T (*dot)(Int, const T*, Int, const T*, Int);               // reals
  void (*dotu)(Int, const T*, Int, const T*, Int, T*);       // complex numbers
};

template <class T>
Functions<T> functions;
std::atomic<bool> loaded{false};
void* opened_library = nullptr;  // set before `loaded`

template <class F>
void find(void* library, const std::string& name, F& function) {
  std::string symbol = "scipy_cblas_" + name + "64_";
  function = reinterpret_cast<F>(dlsym(library, symbol.c_str()));
  if (!function) fail(ErrorKind::runtime, "matmul: the BLAS library has no function ", symbol);
}

template <class T>
void find_all(void* library, const std::string& letter) {
  find(library, letter + "gemm", functions<T>.gemm);
  find(library, letter + "gemv", functions<T>.gemv);
  if constexpr (std::is_floating_point_v<T>) {
    find(library, letter + "dot", functions<T>.dot);
  } else {
    find(library, letter + "dotu_sub", functions<T>.dotu);
  }
}

// The library reads its variables while it is loaded. They are what they were afterwards.
class WhileLoading {
 public:
  WhileLoading(const char* variable, const char* value) : variable_(variable) {
    if (const char* before = getenv(variable)) before_ = before;
    setenv(variable, value, 1);
  }
  ~WhileLoading() {
    if (before_) {
      setenv(variable_, before_->c_str(), 1);
    } else {
      unsetenv(variable_);
    }
  }
  WhileLoading(const WhileLoading&) = delete;
  WhileLoading& operator=(const WhileLoading&) = delete;

 private:
  const char* variable_;
  std::optional<std::string> before_;
};

constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
constexpr const char* kProcessor = "OPENBLAS_CORETYPE";

// AMD's processors with AVX-512 that are newer than the library get its loops for AVX2, which are half as quick there.
bool knows_too_little() {
#if defined(__x86_64__)
  return std::string_view(isa()) == "v4" && __builtin_cpu_is("amd") && !getenv(kProcessor);
#else
  return false;
#endif
}

bool open_library(const std::string& path) {
  WhileLoading one_thread(kThreads, "1");  // ours is the only pool
  std::optional<WhileLoading> processor;
  if (knows_too_little()) processor.emplace(kProcessor, "SkylakeX");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(ErrorKind::runtime, "matmul: cannot load the BLAS library: ", dlerror());
  find_all<float>(library, "s");
  find_all<double>(library, "d");
  find_all<std::complex<float>>(library, "c");
  find_all<std::complex<double>>(library, "z");
  auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "scipy_openblas_set_num_threads64_"));
  if (set_threads) set_threads(1);
  opened_library = library;
  loaded.store(true, std::memory_order_release);
  return true;
}

template <class T>
void gemm_of(bool a_t, bool b_t, Int m, Int n, Int k, const T* a, Int lda, const T* b, Int ldb, T* c, Int ldc) {
  T one(1), zero(0);
  functions<T>.gemm(kRowMajor, a_t ? kYes : kNo, b_t ? kYes : kNo, m, n, k, Factor<T>::of(one), a, lda, b, ldb,
                    Factor<T>::of(zero), c, ldc);
}

template <class T>
void gemv_of(bool a_t, Int m, Int k, const T* a, Int lda, const T* x, Int incx, T* y, Int incy) {
  T one(1), zero(0);
  functions<T>.gemv(kRowMajor, a_t ? kYes : kNo, a_t ? k : m, a_t ? m : k, Factor<T>::of(one), a, lda, x, incx,
                    Factor<T>::of(zero), y, incy);
}

template <class T>
T dot_of(Int n, const T* x, Int incx, const T* y, Int incy) {
  if constexpr (std::is_floating_point_v<T>) {
    return functions<T>.dot(n, x, incx, y, incy);
  } else {
    T sum;
    functions<T>.dotu(n, x, incx, y, incy, &sum);
    return sum;
  }
}

}  // namespace

bool blas_loaded() { return loaded.load(std::memory_order_acquire); }

void* blas_symbol(const std::string& name) {
  std::string symbol = "scipy_" + name + "_64_";
  void* found = dlsym(opened_library, symbol.c_str());
  if (!found) fail(ErrorKind::runtime, "linalg: the BLAS library has no function ", symbol);
  return found;
}

bool load_blas() {
  if (blas_loaded()) return true;
  if (!find_library) return false;
  // The front end is asked outside the guard of the static, which another of its threads might be waiting for.
  std::string path = find_library();
  static const bool opened = open_library(path);
  return opened;
}

#define SLIP_BLAS(T)                                                                                            \
  void gemm(bool a_t, bool b_t, Int m, Int n, Int k, const T* a, Int lda, const T* b, Int ldb, T* c, Int ldc) { \
    gemm_of<T>(a_t, b_t, m, n, k, a, lda, b, ldb, c, ldc);                                                      \
  }                                                                                                             \
  void gemv(bool a_t, Int m, Int k, const T* a, Int lda, const T* x, Int incx, T* y, Int incy) {                \
    gemv_of<T>(a_t, m, k, a, lda, x, incx, y, incy);                                                            \
  }                                                                                                             \
  T dot(Int n, const T* x, Int incx, const T* y, Int incy) { return dot_of<T>(n, x, incx, y, incy); }
SLIP_BLAS(float)
SLIP_BLAS(double)
SLIP_BLAS(std::complex<float>)
SLIP_BLAS(std::complex<double>)
#undef SLIP_BLAS

}  // namespace slipstream::cpu
