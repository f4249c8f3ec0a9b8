// Matrix products in tiles: cut by shape alone, each tile one single-threaded call of BLAS, or loops of our own.
#include "../ops/matmul.h"

#include <vector>

#include "backend.h"
#include "blas.h"
#include "convert.h"
#include "dispatch.h"
#include "matrix.h"
#include "packed_product.h"
#include "room.h"

namespace slipstream::cpu {

namespace {

template <class T>
inline constexpr bool kBlas = is_float(DTypeOf<T>::value) || is_complex(DTypeOf<T>::value);

template <class T>
void zero(const Matrix<T>& c) {
  for (int64_t i = 0; i < c.rows; i++)
    for (int64_t j = 0; j < c.columns; j++) c.at(i, j) = T{};
}

// sums += x * row.
template <class T, class W>
void add_scaled(W* sums, W x, const T* row, int64_t step, int64_t n) {
  for (int64_t j = 0; j < n; j++) {
    if constexpr (std::is_same_v<T, bool>) {
      sums[j] |= x & row[j * step];
    } else {
      sums[j] += x * widen(row[j * step]);
    }
  }
}

// c = a b without BLAS: rows of b are scaled and added up in a strip of accumulators.
template <class T>
void loop_product(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  using W = Arithmetic<T>;
  constexpr int64_t kStrip = 256;
  W sums[kStrip];
  for (int64_t j0 = 0; j0 < c.columns; j0 += kStrip) {
    int64_t width = std::min(kStrip, c.columns - j0);
    for (int64_t i = 0; i < c.rows; i++) {
      std::fill_n(sums, kStrip, W{});
      for (int64_t k = 0; k < a.columns; k++) {
        const T* row = &b.at(k, j0);
        if (b.right == 1) {
          add_scaled(sums, widen(a.at(i, k)), row, 1, width);
        } else {
          add_scaled(sums, widen(a.at(i, k)), row, b.right, width);
        }
      }
      T* to = &c.at(i, j0);  // results lie in rows
      for (int64_t j = 0; j < width; j++) to[j] = narrow<T>(sums[j]);
    }
  }
}

// c = a b with b one column.
template <class T>
void vector_product(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  int64_t x_step = b.rows > 1 ? b.down : 1, y_step = c.rows > 1 ? c.down : 1;
  if (c.rows == 1) {
    c.data[0] = dot(b.rows, a.data, a.columns > 1 ? a.right : 1, b.data, x_step);
    return;
  }
  gemv(a.layout.transposed, a.rows, a.columns, a.data, a.layout.ld, b.data, x_step, c.data, y_step);
}

// So small that a call of BLAS costs more than the work; false where it is not, or rows do not lie dense.
template <class T>
bool small_product(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  constexpr int64_t kSmall = 40;
  if (c.rows > kSmall || c.columns > kSmall || a.columns > kSmall || b.right != 1 || c.right != 1) return false;
  SmallProduct<T> p{a.data, b.data, c.data, c.rows, c.columns, a.columns, a.down, a.right, b.down, c.down};
  if constexpr (std::is_same_v<T, float>)
    loops().small_f32(p);
  else
    loops().small_f64(p);
  return true;
}

template <class T>
void product(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  if (a.columns == 0) return zero(c);
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    if (small_product(a, b, c)) return;
  if constexpr (kBlas<T>) {
    if (blas_loaded()) {
      if (c.columns == 1) return vector_product(a, b, c);
      if (c.rows == 1) return vector_product(b.t(), a.t(), c.t());
      return gemm(a.layout.transposed, b.layout.transposed, c.rows, c.columns, a.columns, a.data, a.layout.ld, b.data,
                  b.layout.ld, c.data, c.layout.ld);
    }
  }
  loop_product(a, b, c);
}

struct Tiles {
  int64_t rows, columns;  // of a tile
  int64_t down, across;   // number of tiles
};

// Tiles by shape alone. BLAS packs its operands anew for each, which costs some 4% more with 256 x 256 than with
// 512 x 512, and least in multiples of 16; but there are to be tiles for eight threads. `cost` is that of one
// multiply-add, in those of float32, of which a core does about 40 in a nanosecond.
Tiles tiles(int64_t m, int64_t n, int64_t k, double cost) {
  constexpr double kLeast = 2e6, kMost = 32e6, kHuge = 1e9;
  constexpr int64_t kEnough = 8;
  int64_t rows = std::clamp<int64_t>(m, 1, 256), columns = std::clamp<int64_t>(n, 1, 256);
  auto work = [&] { return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(k) * cost; };
  auto number = [&](int64_t r, int64_t c) { return chunks_of(m, r) * chunks_of(n, c); };
  while (work() < kLeast && (rows < m || columns < n)) (columns < n ? columns : rows) *= 2;
  while (work() > kMost && number(rows, columns) < kEnough && std::max(rows, columns) >= 128)
    (rows >= columns ? rows : columns) /= 2;
  if (rows == 256 && columns == 256) {
    if (number(rows, 512) >= kEnough && 2 * work() < kHuge) columns = 512;
    if (number(512, columns) >= kEnough && 2 * work() < kHuge) rows = 512;
  }
  rows = even_part(m, rows, 16);
  columns = even_part(n, columns, 16);
  return {rows, columns, chunks_of(m, rows), chunks_of(n, columns)};
}

template <class T>
constexpr double cost_of() {
  double each = is_complex(DTypeOf<T>::value) ? 4 : 1;
  if (!kBlas<T>) return 8;
  return each * (sizeof(T) / (is_complex(DTypeOf<T>::value) ? 2 : 1)) / 4;
}

template <class T>
class Product final : public TiledKernel {
 public:
  explicit Product(const Record& call)
      : a_(matrix<T>(call.inputs[0])),
        b_(matrix<T>(call.inputs[1])),
        c_(matrix<T>(call.outputs[0])),
        call_(call),
        tiles_{c_.rows, c_.columns, 1, 1} {
    bool vector = c_.rows == 1 || c_.columns == 1;
    if (!kBlas<T> || !vector) tiles_ = tiles(c_.rows, c_.columns, a_.columns, cost());
    for (int i = 0; i < call.outputs[0].ndim() - 2; i++) batch_ *= call.outputs[0].shape[i];
    empty_ = c_.rows == 0 || c_.columns == 0 || batch_ == 0;
    double work =
        static_cast<double>(c_.rows) * static_cast<double>(c_.columns) * static_cast<double>(a_.columns) * cost();
    if (tiles_.down * tiles_.across == 1)  // many small ones at once, but so that several threads have some
      per_chunk_ = even_part(batch_, std::clamp<int64_t>(static_cast<int64_t>(5e5 / (work + 1)), 1, 1024), 1);
  }

  int64_t chunks(int) const override {
    return empty_ ? 1 : chunks_of(batch_, per_chunk_) * tiles_.down * tiles_.across;
  }

  void run(int, int64_t chunk) override {
    if (!empty_) run_box(box(chunk), [this](const Box& box, int64_t i) { return block(c_, call_.outputs[0], box, i); });
  }

  Box box(int64_t chunk) const override {
    int64_t tile = chunk % (tiles_.down * tiles_.across), first = chunk / (tiles_.down * tiles_.across) * per_chunk_;
    int64_t row = tile / tiles_.across * tiles_.rows, column = tile % tiles_.across * tiles_.columns;
    return {{first, row, column},
            {std::min(per_chunk_, batch_ - first), std::min(tiles_.rows, c_.rows - row),
             std::min(tiles_.columns, c_.columns - column)}};
  }

  void run_to(int64_t chunk, char* to, std::span<const MemoryRows> /*needed_next*/) override {
    run_box(box(chunk), [to](const Box& box, int64_t i) {
      int64_t rows = box.size[1], columns = box.size[2];
      T* data = reinterpret_cast<T*>(to) + (i - box.begin[0]) * rows * columns;
      return Matrix<T>{data, rows, columns, columns, 1, {false, columns}};
    });
  }

 private:
  // Products with a vector wait for memory: each element of the matrix counts for more.
  double cost() const { return c_.rows == 1 || c_.columns == 1 ? 16 * cost_of<T>() : cost_of<T>(); }

  // One product for each matrix of the box, to where `target` says.
  template <class Target>
  void run_box(const Box& box, const Target& target) {
    for (int64_t i = box.begin[0]; i < box.begin[0] + box.size[0]; i++) {
      product(matrix_at(a_, call_.inputs[0], i).block(box.begin[1], 0, box.size[1], a_.columns),
              matrix_at(b_, call_.inputs[1], i).block(0, box.begin[2], b_.rows, box.size[2]), target(box, i));
    }
  }

  static Matrix<T> block(const Matrix<T>& m, const Operand& x, const Box& box, int64_t index) {
    return matrix_at(m, x, index).block(box.begin[1], box.begin[2], box.size[1], box.size[2]);
  }

  static Matrix<T> matrix_at(Matrix<T> m, const Operand& x, int64_t index) {
    int64_t offset = 0;
    for (int i = x.ndim() - 3; i >= 0; i--) {
      offset += index % x.shape[i] * x.strides[i];
      index /= x.shape[i];
    }
    m.data = reinterpret_cast<T*>(reinterpret_cast<char*>(m.data) + offset);
    return m;
  }

  Matrix<T> a_, b_, c_;
  const Record& call_;
  Tiles tiles_;
  int64_t batch_ = 1, per_chunk_ = 1;
  bool empty_ = false;
};

// A matrix times a vector waits for memory, so it is cut into stretches of memory: blocks of rows, or, where columns
// are what lies together, blocks of columns, whose results are added up in order.
template <class T>
class VectorProduct final : public Kernel {
  static constexpr int64_t kStretch = (1 << 20) / sizeof(T), kTall = 1 << 14, kRows = 1 << 13;

 public:
  explicit VectorProduct(const Record& call)
      : a_(matrix<T>(call.inputs[0])), b_(matrix<T>(call.inputs[1])), c_(matrix<T>(call.outputs[0])) {
    if (c_.rows == 1) {
      std::swap(a_, b_);
      a_ = a_.t(), b_ = b_.t(), c_ = c_.t();
    }
    by_columns_ = c_.rows == 1 || (a_.layout.transposed && c_.rows < kTall);
    int64_t others = by_columns_ ? a_.rows : a_.columns;
    block_ = std::max<int64_t>(16, kStretch / others / 16 * 16);
    if (!by_columns_ && a_.layout.transposed) block_ = std::max(block_, kRows);
    blocks_ = chunks_of(by_columns_ ? a_.columns : a_.rows, block_);
    if (by_columns_ && blocks_ > 1) parts_.resize(static_cast<size_t>(blocks_ * c_.rows));
  }

  int phases() const override { return parts_.empty() ? 1 : 2; }
  int64_t chunks(int phase) const override { return phase == 0 ? blocks_ : 1; }

  void run(int phase, int64_t chunk) override {
    if (phase == 1) return add_up();
    int64_t begin = chunk * block_;
    if (!by_columns_) {
      int64_t n = std::min(block_, a_.rows - begin);
      return product(a_.block(begin, 0, n, a_.columns), b_, c_.block(begin, 0, n, 1));
    }
    int64_t n = std::min(block_, a_.columns - begin);
    product(a_.block(0, begin, a_.rows, n), b_.block(begin, 0, n, 1), parts_.empty() ? c_ : part(chunk));
  }

 private:
  Matrix<T> part(int64_t chunk) { return {parts_.data() + chunk * c_.rows, c_.rows, 1, 1, 1, {false, 1}}; }

  void add_up() {
    for (int64_t i = 0; i < c_.rows; i++) c_.at(i, 0) = parts_[static_cast<size_t>(i)];
    for (int64_t chunk = 1; chunk < blocks_; chunk++) {
      Matrix<T> next = part(chunk);
      for (int64_t i = 0; i < c_.rows; i++) c_.at(i, 0) += next.data[i];
    }
  }

  Matrix<T> a_, b_, c_;
  bool by_columns_;
  int64_t block_, blocks_;
  std::vector<T> parts_;  // results of blocks of columns
};

// A small result of long sums: too few tiles to go round, so the sums are cut instead, and the parts added up in order.
template <class T>
class DeepProduct final : public Kernel {
 public:
  // Results that could be worth an epilogue (engine/tiles.cpp) stay with Product.
  static bool suits(const Record& call) {
    int64_t m = call.outputs[0].shape[0], n = call.outputs[0].shape[1], k = call.inputs[0].shape[1];
    return m > 0 && n > 0 && m * n < 32 * 1024 && k >= 8 * std::max(m, n) && blocks(m, n, k) > 1;
  }

  explicit DeepProduct(const Record& call)
      : a_(matrix<T>(call.inputs[0])),
        b_(matrix<T>(call.inputs[1])),
        c_(matrix<T>(call.outputs[0])),
        block_(even_part(a_.columns, (a_.columns + blocks() - 1) / blocks(), 16)),
        blocks_(chunks_of(a_.columns, block_)),
        parts_(c_.rows * c_.columns, blocks_) {}

  int phases() const override { return 2; }
  int64_t chunks(int phase) const override { return phase == 0 ? blocks_ : 1; }

  void run(int phase, int64_t chunk) override {
    if (phase == 1) return add_up();
    int64_t begin = chunk * block_, n = std::min(block_, a_.columns - begin);
    product(a_.block(0, begin, a_.rows, n), b_.block(begin, 0, n, b_.columns),
            {parts_[chunk], c_.rows, c_.columns, c_.columns, 1, {false, c_.columns}});
  }

 private:
  static int64_t blocks(int64_t m, int64_t n, int64_t k) {
    constexpr double kBlock = 8e6;
    double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * cost_of<T>();
    return static_cast<int64_t>(std::clamp(work / kBlock, 1.0, 8.0));
  }
  int64_t blocks() const { return blocks(c_.rows, c_.columns, a_.columns); }

  void add_up() {
    int64_t size = c_.rows * c_.columns;
    T* sums = parts_[0];
    for (int64_t chunk = 1; chunk < blocks_; chunk++)
      for (int64_t i = 0; i < size; i++) sums[i] += parts_[chunk][i];
    for (int64_t i = 0; i < size; i++) c_.at(i / c_.columns, i % c_.columns) = sums[i];
  }

  Matrix<T> a_, b_, c_;
  int64_t block_, blocks_;
  Room<T> parts_;
};

bool is_one_vector_product(const Operand& out) {
  int last = out.ndim() - 1;
  int64_t m = out.shape[last - 1], n = out.shape[last];
  return (m == 1 || n == 1) && m * n > 0 && out.size() == m * n;
}

std::unique_ptr<Kernel> make_matmul(const Record& call) {
  return visit(call.outputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (kIsHalf<T>) {
      return nullptr;  // recorded as float32
    } else {
      if constexpr (kBlas<T>) {
        bool vector = is_one_vector_product(call.outputs[0]) && call.inputs[0].size() > 0;
        if (vector && blas_loaded()) return std::make_unique<VectorProduct<T>>(call);
        if (call.outputs[0].ndim() == 2 && DeepProduct<T>::suits(call)) return std::make_unique<DeepProduct<T>>(call);
        if constexpr (std::is_floating_point_v<T>)
          if (PackedProduct<T>::suits(call)) return std::make_unique<PackedProduct<T>>(call);
      }
      return std::make_unique<Product<T>>(call);
    }
  });
}

}  // namespace

void register_matmul(engine::Backend& backend) { backend.provide(kMatmul, make_matmul); }

}  // namespace slipstream::cpu
