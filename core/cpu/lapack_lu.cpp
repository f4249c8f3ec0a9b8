// LU factors and what comes of them: solutions, inverses, determinants. And triangular systems.
//
// A matrix in rows is its transpose in columns, which is what is factored: A^T = P L U. A X = B is X^T P L U = B^T,
// where B^T in columns is B in rows; so nothing is transposed, and right-hand sides (columns of B) are solved for in
// groups.
#include <cmath>
#include <limits>

#include "../ops/linalg.h"
#include "backend.h"
#include "lapack_blocks.h"

namespace slipstream::cpu {

namespace {

// ---- what is made of the factors

template <class T>
struct Factors {
  int64_t n;
  const T* lu;
  const int64_t* pivots;  // from 1, as LAPACK counts
  bool singular;
};

// X P L U = rows of B^T, in place: the columns first .. last - 1 of a row-major n x width matrix.
template <class T>
void solve_columns(const Factors<T>& f, T* x, int64_t width, int64_t first, int64_t last, int64_t zeros = 0) {
  int64_t count = last - first, n = f.n, left = n - zeros;
  if (n == 0 || count == 0) return;
  T* at = x + first;
  // The first `zeros` unknowns of the first step are 0.
  Lapack<T>::trsm('R', 'U', 'N', 'N', count, left, T(1), f.lu + zeros * (n + 1), n, at + zeros * width, width);
  Lapack<T>::trsm('R', 'L', 'N', 'U', count, n, T(1), f.lu, n, at, width);
  for (int64_t i = n - 1; i >= 0; i--) {
    int64_t j = f.pivots[i] - 1;
    if (j != i) std::swap_ranges(at + i * width, at + i * width + count, at + j * width);
  }
}

// What is done with factors: for a group of columns of the result, of which there are `columns`.
template <class T>
struct Solve {
  Solve(const Record& call) : b(call.inputs[1]), call(call), columns(b.columns) {}
  void operator()(int64_t i, const Factors<T>& f, int64_t first, int64_t last) const {
    if (f.singular) fail(ErrorKind::linalg, "solve: the matrix is singular");
    solve_columns(f, result<T>(call.outputs[0], i, f.n * columns), columns, first, last);
  }
  void begin(int64_t i, int64_t n) const { b.load(i, result<T>(call.outputs[0], i, n * columns)); }

  Matrices<T> b;
  const Record& call;
  int64_t columns;
};

template <class T>
struct Inverse {
  Inverse(const Record& call) : call(call), columns(call.inputs[0].shape[call.inputs[0].ndim() - 1]) {}
  void operator()(int64_t i, const Factors<T>& f, int64_t first, int64_t last) const {
    T* x = result<T>(call.outputs[0], i, f.n * f.n);
    bool unknown = f.singular && call.as<LinalgParams>().nan_if_singular;
    if (f.singular && !unknown) fail(ErrorKind::linalg, "inv: the matrix is singular");
    T start(unknown ? std::numeric_limits<Real<T>>::quiet_NaN() : Real<T>(0));
    for (int64_t row = 0; row < f.n; row++) std::fill(x + row * f.n + first, x + row * f.n + last, start);
    if (unknown) return;
    for (int64_t k = first; k < last; k++) x[k * f.n + k] = T(1);
    solve_columns(f, x, f.n, first, last, first);
  }
  void begin(int64_t, int64_t) const {}

  const Record& call;
  int64_t columns;
};

// The product of the diagonal: a number of size about 1, and a power of 2, so that nothing overflows on the way.
template <class T>
struct Scaled {
  T value{1};
  int64_t power = 0;
};

template <class T>
Scaled<T> diagonal_product(const Factors<T>& f) {
  Scaled<T> made;
  for (int64_t i = 0; i < f.n; i++) {
    made.value *= f.lu[i * (f.n + 1)];
    if (f.pivots[i] - 1 != i) made.value = -made.value;
    Real<T> size = std::max(std::abs(std::real(made.value)), std::abs(std::imag(made.value)));
    if (size == 0 || !std::isfinite(size)) continue;
    int power;
    std::frexp(size, &power);
    made.value *= std::ldexp(Real<T>(1), -power);
    made.power += power;
  }
  return made;
}

template <class T>
struct Determinant {
  Determinant(const Record& call) : call(call) {}
  void operator()(int64_t i, const Factors<T>& f, int64_t, int64_t) const {
    Scaled<T> product = diagonal_product(f);
    auto power = static_cast<int>(std::clamp<int64_t>(product.power, -5000, 5000));
    T& to = *result<T>(call.outputs[0], i, 1);
    if constexpr (kIsComplex<T>) {
      to = T(std::ldexp(product.value.real(), power), std::ldexp(product.value.imag(), power));
    } else {
      to = std::ldexp(product.value, power);
    }
  }
  void begin(int64_t, int64_t) const {}

  const Record& call;
  int64_t columns = 1;
};

template <class T>
struct LogDeterminant {
  LogDeterminant(const Record& call) : call(call) {}
  void operator()(int64_t i, const Factors<T>& f, int64_t, int64_t) const {
    Scaled<T> product = diagonal_product(f);
    Real<T> size = std::abs(product.value);
    *result<T>(call.outputs[0], i, 1) = size == 0 ? T(0) : product.value / size;
    auto& logarithm = *result<Real<T>>(call.outputs[1], i, 1);
    logarithm = static_cast<Real<T>>(std::log(static_cast<double>(size)) + static_cast<double>(product.power) * M_LN2);
  }
  void begin(int64_t, int64_t) const {}

  const Record& call;
  int64_t columns = 1;
};

// ---- the factors

// Steps: load, factor the first block, then (update the others with a block; factor the next one), swap, use.
template <class T, class Use>
class LuSteps {
 public:
  explicit LuSteps(const Record& call)
      : a_(call.inputs[0]),
        use_(call),
        blocks_(a_.rows),
        lu_(static_cast<size_t>(a_.rows * a_.rows)),
        pivots_(static_cast<size_t>(a_.rows)) {}

  int steps() const { return static_cast<int>(blocks_.count) + 3; }
  int64_t chunks(int step) const {
    if (step == 0 || step == swap()) return blocks_.count;
    if (step == swap() + 1) return chunks_of(use_.columns, Blocks::kWidth);
    return step == 1 ? 1 : blocks_.count - (step - 1);
  }

  void run(int64_t i, int step, int64_t chunk) {
    if (step == 0) return load(i, chunk);
    if (step == swap()) return swap_rows(chunk);
    if (step == swap() + 1) {
      int64_t first = chunk * Blocks::kWidth, last = std::min(use_.columns, first + Blocks::kWidth);
      return use_(i, Factors<T>{n(), lu_.data(), pivots_.data(), singular_}, first, last);
    }
    int64_t block = step - 1;  // factored in this step, once it is updated; chunk 0 is the longest way
    if (block > 0) update(block - 1, block + chunk);
    if (chunk == 0) factor(block);
  }

 private:
  int64_t n() const { return blocks_.n; }
  int swap() const { return static_cast<int>(blocks_.count) + 1; }
  T* at(int64_t row, int64_t column) { return lu_.data() + row + column * n(); }

  void load(int64_t i, int64_t block) {
    a_.load(i, at(0, blocks_.begin(block)), blocks_.begin(block), blocks_.width(block));
    if (block == 0) {
      singular_ = false;
      use_.begin(i, n());
    }
  }

  void factor(int64_t block) {
    int64_t k = blocks_.begin(block), width = blocks_.width(block);
    if (Lapack<T>::getrf(n() - k, width, at(k, k), n(), pivots_.data() + k)) singular_ = true;
    for (int64_t j = k; j < k + width; j++) pivots_[static_cast<size_t>(j)] += k;
  }

  void update(int64_t by, int64_t block) {
    int64_t k = blocks_.begin(by), depth = blocks_.width(by), next = k + depth;
    int64_t column = blocks_.begin(block), width = blocks_.width(block);
    Lapack<T>::laswp(width, at(0, column), n(), k, next, pivots_.data());
    Lapack<T>::trsm('L', 'L', 'N', 'U', depth, width, T(1), at(k, k), n(), at(k, column), n());
    Lapack<T>::gemm('N', 'N', n() - next, width, depth, T(-1), at(next, k), n(), at(k, column), n(), T(1),
                    at(next, column), n());
  }

  void swap_rows(int64_t block) {
    int64_t column = blocks_.begin(block), width = blocks_.width(block);
    Lapack<T>::laswp(width, at(0, column), n(), column + width, n(), pivots_.data());
  }

  Matrices<T> a_;
  Use use_;
  Blocks blocks_;
  std::vector<T> lu_;
  std::vector<int64_t> pivots_;
  bool singular_ = false;
};

template <class T, class Use>
std::unique_ptr<Kernel> lu_kernel(const Record& call) {
  Matrices<T> a(call.inputs[0]);
  int64_t n = a.rows, stack = stack_size(call.inputs[0]);
  if (Blocks::suit(n, stack)) return std::make_unique<BlockedKernel<LuSteps<T, Use>>>(stack, LuSteps<T, Use>(call));
  Use use(call);
  auto one = [=](int64_t i, Scratch<T>& room) {
    room.work.resize(static_cast<size_t>(n * n + 1));
    room.whole.resize(static_cast<size_t>(n + 1));
    a.load(i, room.work.data());
    bool singular = n > 0 && Lapack<T>::getrf(n, n, room.work.data(), n, room.whole.data()) > 0;
    use.begin(i, n);
    if (use.columns > 0) use(i, Factors<T>{n, room.work.data(), room.whole.data(), singular}, 0, use.columns);
  };
  return each_matrix<T>(stack, product(n, n, n + use.columns), one);
}

template <template <class> class Use>
struct WithLu {
  template <class T>
  struct Make {
    static std::unique_ptr<Kernel> kernel(const Record& call) { return lu_kernel<T, Use<T>>(call); }
  };
};

// ---- triangular systems

template <class T>
struct Triangular {
  static std::unique_ptr<Kernel> kernel(const Record& call) {
    Matrices<T> a(call.inputs[0]), b(call.inputs[1]);
    bool lower = call.as<LinalgParams>().lower;
    int64_t n = a.rows, k = b.columns;
    auto one = [=, &call](int64_t i, Scratch<T>& room) {
      if (n == 0 || k == 0) return;
      room.work.resize(static_cast<size_t>(n * n));
      a.load(i, room.work.data());
      T* x = result<T>(call.outputs[0], i, n * k);
      b.load(i, x);
      for (int64_t j = 0; j < n; j++)
        if (room.work[static_cast<size_t>(j * (n + 1))] == T(0))
          fail(ErrorKind::linalg, "solve_triangular: the matrix is singular");
      Lapack<T>::trsm('R', lower ? 'U' : 'L', 'N', 'N', k, n, T(1), room.work.data(), n, x, k);
    };
    return each_matrix<T>(stack_size(call.inputs[0]), product(n, n, k + 1), one);
  }
};

}  // namespace

void register_lu(engine::Backend& backend) {
  for (size_t slow : {0, 1}) {
    backend.provide(kSolve[slow], make_lapack<WithLu<Solve>::Make>);
    backend.provide(kInv[slow], make_lapack<WithLu<Inverse>::Make>);
    backend.provide(kDet[slow], make_lapack<WithLu<Determinant>::Make>);
    backend.provide(kSlogdet[slow], make_lapack<WithLu<LogDeterminant>::Make>);
    backend.provide(kTriangular[slow], make_lapack<Triangular>);
  }
}

}  // namespace slipstream::cpu
