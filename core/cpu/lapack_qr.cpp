// Cholesky factors, and QR factors by reflections.
#include "../ops/linalg.h"
#include "backend.h"
#include "lapack_blocks.h"

namespace slipstream::cpu {

namespace {

// ---- Cholesky
//
// The lower triangle in rows is the upper one in columns: A^T = U^H U, and U in columns is L in rows.

[[noreturn]] void not_positive() { fail(ErrorKind::linalg, "cholesky: the matrix is not positive definite"); }

template <class T>
void clear_other_triangle(T* a, int64_t n, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; i++) std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
}

// Steps: load; factor the first block; then for each block (solve the rest of its rows; update what is below, and
// factor the next block); clear.
template <class T>
class CholeskySteps {
 public:
  explicit CholeskySteps(const Record& call) : a_(call.inputs[0]), to_(call.outputs[0]), blocks_(a_.rows) {}

  int steps() const { return static_cast<int>(2 * blocks_.count) + 1; }
  int64_t chunks(int step) const {
    if (step == 0 || step == steps() - 1) return blocks_.count;
    if (step == 1) return 1;
    int64_t left = blocks_.count - step / 2;  // blocks after the one that is being worked with
    return step % 2 == 0 ? left : left * (left + 1) / 2;
  }

  void run(int64_t i, int step, int64_t chunk) {
    Columns a{result<T>(to_, i, blocks_.n * blocks_.n), blocks_.n};
    int64_t first = blocks_.begin(chunk);
    if (step == 0) return a_.load(i, a.at(0, first), first, blocks_.width(chunk));
    if (step == steps() - 1) return clear_other_triangle(a.data, a.n, first, first + blocks_.width(chunk));
    if (step == 1) return factor(a, 0);
    int64_t block = step / 2 - 1;
    if (step % 2 == 0) return solve(a, block, block + 1 + chunk);
    update_pair(a, block, chunk);
  }

 private:
  struct Columns {
    T* data;
    int64_t n;
    T* at(int64_t row, int64_t column) const { return data + row + column * n; }
  };

  void factor(Columns a, int64_t block) const {
    int64_t k = blocks_.begin(block);
    if (Lapack<T>::potrf('U', blocks_.width(block), a.at(k, k), a.n)) not_positive();
  }

  void solve(Columns a, int64_t by, int64_t block) const {
    int64_t k = blocks_.begin(by), column = blocks_.begin(block);
    Lapack<T>::trsm('L', 'U', 'C', 'N', blocks_.width(by), blocks_.width(block), T(1), a.at(k, k), a.n, a.at(k, column),
                    a.n);
  }

  // Pairs (row, column) of blocks after `by`, row <= column, counted column by column.
  void update_pair(Columns a, int64_t by, int64_t chunk) const {
    int64_t column = 0;
    while ((column + 1) * (column + 2) / 2 <= chunk) column++;
    int64_t row = chunk - column * (column + 1) / 2;
    update(a, by, by + 1 + row, by + 1 + column);
    if (chunk == 0) factor(a, by + 1);
  }

  void update(Columns a, int64_t by, int64_t row_block, int64_t column_block) const {
    int64_t k = blocks_.begin(by), row = blocks_.begin(row_block), column = blocks_.begin(column_block);
    Lapack<T>::gemm('C', 'N', blocks_.width(row_block), blocks_.width(column_block), blocks_.width(by), T(-1),
                    a.at(k, row), a.n, a.at(k, column), a.n, T(1), a.at(row, column), a.n);
  }

  Matrices<T> a_;
  const Operand& to_;
  Blocks blocks_;
};

template <class T>
struct Cholesky {
  static std::unique_ptr<Kernel> kernel(const Record& call) {
    Matrices<T> a(call.inputs[0]);
    int64_t n = a.rows, stack = stack_size(call.inputs[0]);
    if (Blocks::suit(n, stack)) return std::make_unique<BlockedKernel<CholeskySteps<T>>>(stack, CholeskySteps<T>(call));
    auto one = [=, &call](int64_t i, Scratch<T>&) {
      if (n == 0) return;
      T* matrix = result<T>(call.outputs[0], i, n * n);
      a.load(i, matrix);
      if (Lapack<T>::potrf('U', n, matrix, n)) not_positive();
      clear_other_triangle(matrix, n, 0, n);
    };
    return each_matrix<T>(stack, product(n, n, n) / 3, one);
  }
};

// ---- QR

// Where the factors of matrix i go: q (m x wide) and r (wide x n), both in columns.
template <class T>
struct QrResults {
  QrResults(const Record& call) : call(call), mode(call.as<LinalgParams>().mode) {
    const Shape& shape = call.inputs[0].shape;
    m = shape[shape.size() - 2], n = shape[shape.size() - 1], k = std::min(m, n);
    wide = mode == QrMode::complete ? m : k;
  }
  int64_t columns() const { return std::max(n, mode == QrMode::r ? 0 : wide); }

  // Columns first .. last - 1 of both, from the reflectors.
  void store(int64_t i, const T* a, const T* tau, int64_t first, int64_t last, Scratch<T>& room) const {
    T* r = result<T>(call.outputs[mode == QrMode::r ? 0 : 1], i, wide * n);
    for (int64_t column = first; column < std::min(last, n); column++) {
      int64_t filled = std::min(column + 1, k);
      std::copy_n(a + column * m, filled, r + column * wide);
      std::fill(r + column * wide + filled, r + (column + 1) * wide, T(0));
    }
    last = std::min(last, wide);
    if (mode == QrMode::r || first >= last) return;
    T* q = result<T>(call.outputs[0], i, m * wide) + first * m;
    std::fill_n(q, m * (last - first), T(0));
    for (int64_t j = 0; j < last - first; j++) q[j * m + first + j] = T(1);
    // Later reflectors leave these columns as they are.
    if (k > 0) Lapack<T>::ormqr(m, last - first, std::min(last, k), a, m, tau, q, m, room);
  }

  const Record& call;
  QrMode mode;
  int64_t m, n, k, wide;
};

// Steps: load, factor the first block, then (update the others with a block; factor the next one), store.
template <class T>
class QrSteps {
 public:
  explicit QrSteps(const Record& call)
      : a_(call.inputs[0]),
        results_(call),
        blocks_(results_.n),
        factored_(chunks_of(results_.k, Blocks::kWidth)),
        matrix_(static_cast<size_t>(results_.m * results_.n)),
        tau_(static_cast<size_t>(results_.k)),
        t_(static_cast<size_t>(Blocks::kWidth * results_.k)) {}

  int steps() const { return static_cast<int>(factored_) + 3; }
  int64_t chunks(int step) const {
    if (step == 0) return blocks_.count;
    if (step == steps() - 1) return chunks_of(results_.columns(), Blocks::kWidth);
    return std::max<int64_t>(1, blocks_.count - (step - 1));
  }

  void run(int64_t i, int step, int64_t chunk) {
    if (step == 0)
      return a_.load_columns(i, at(0, blocks_.begin(chunk)), blocks_.begin(chunk), blocks_.width(chunk), m());
    Scratch<T> room;
    if (step == steps() - 1)
      return results_.store(i, matrix_.data(), tau_.data(), chunk * Blocks::kWidth, (chunk + 1) * Blocks::kWidth, room);
    int64_t block = step - 1;
    if (block > 0 && block + chunk < blocks_.count) update(block - 1, block + chunk, room);
    if (chunk == 0 && block < factored_) factor(block, room);
  }

 private:
  int64_t m() const { return results_.m; }
  T* at(int64_t row, int64_t column) { return matrix_.data() + row + column * m(); }
  int64_t reflectors(int64_t block) const { return std::min(Blocks::kWidth, results_.k - blocks_.begin(block)); }
  T* triangle(int64_t block) { return t_.data() + blocks_.begin(block) * Blocks::kWidth; }

  void factor(int64_t block, Scratch<T>& room) {
    int64_t k = blocks_.begin(block), count = reflectors(block);
    Lapack<T>::geqrf(m() - k, blocks_.width(block), at(k, k), m(), tau_.data() + k, room);
    Lapack<T>::larft(m() - k, count, at(k, k), m(), tau_.data() + k, triangle(block), Blocks::kWidth);
  }

  void update(int64_t by, int64_t block, Scratch<T>& room) {
    int64_t k = blocks_.begin(by);
    Lapack<T>::larfb(m() - k, blocks_.width(block), reflectors(by), at(k, k), m(), triangle(by), Blocks::kWidth,
                     at(k, blocks_.begin(block)), m(), room);
  }

  Matrices<T> a_;
  QrResults<T> results_;
  Blocks blocks_;
  int64_t factored_;
  std::vector<T> matrix_, tau_, t_;
};

template <class T>
struct Qr {
  static std::unique_ptr<Kernel> kernel(const Record& call) {
    Matrices<T> a(call.inputs[0]);
    QrResults<T> results(call);
    int64_t m = a.rows, n = a.columns, k = std::min(m, n), stack = stack_size(call.inputs[0]);
    double work = 2 * product(m, n, k);
    if (results.mode == QrMode::raw)
      return each_matrix<T>(stack, work, [=, &call](int64_t i, Scratch<T>& room) {
        T* h = result<T>(call.outputs[0], i, m * n);
        a.load_columns(i, h);
        if (k > 0) Lapack<T>::geqrf(m, n, h, m, result<T>(call.outputs[1], i, k), room);
      });
    if (Blocks::suit(k, stack)) return std::make_unique<BlockedKernel<QrSteps<T>>>(stack, QrSteps<T>(call));
    return each_matrix<T>(stack, work, [=](int64_t i, Scratch<T>& room) {
      std::vector<T> matrix(static_cast<size_t>(m * n + 1)), tau(static_cast<size_t>(k + 1));
      a.load_columns(i, matrix.data());
      if (k > 0) Lapack<T>::geqrf(m, n, matrix.data(), m, tau.data(), room);
      results.store(i, matrix.data(), tau.data(), 0, results.columns(), room);
    });
  }
};

}  // namespace

void register_qr(engine::Backend& backend) {
  for (size_t slow : {0, 1}) {
    backend.provide(kCholesky[slow], make_lapack<Cholesky>);
    backend.provide(kQr[slow], make_lapack<Qr>);
  }
}

}  // namespace slipstream::cpu
