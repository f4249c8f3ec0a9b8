// Products of floating-point matrices with loops of our own. BLAS packs both operands anew for each tile that it is
// given; here they are packed once for all tiles and threads.
#pragma once

#include <algorithm>
#include <memory>

#include "matrix.h"
#include "panels.h"
#include "room.h"

namespace slipstream::cpu {

// First all rows are packed into panels, and all columns where more than one tile needs them. Then each tile
// multiplies, a block of the depth at a time; columns that it alone needs it packs there, so that they stay in the
// cache. A result's bits depend on the length of its sum alone, which is added up in blocks.
template <class T>
class PackedProduct final : public TiledKernel {
 public:
  static bool suits(const Record& call) {
    constexpr double kLeast = 1e6;
    const Operand& out = call.outputs[0];
    if (out.ndim() != 2 || loops().height == 0) return false;
    int64_t m = out.shape[0], n = out.shape[1], k = call.inputs[0].shape[1];
    return m >= 16 && n >= 16 && k >= 16 && m * k <= kMost && work(m, n, k) >= kLeast;
  }

  explicit PackedProduct(const Record& call)
      : a_(matrix<T>(call.inputs[0])),
        b_(matrix<T>(call.inputs[1])),
        c_(matrix<T>(call.outputs[0])),
        depth_(even_part(a_.columns, loops().depth, 8)),
        rows_(kRows),
        columns_(kColumns),
        padded_rows_(padded(c_.rows, loops().height)),
        padded_columns_(shares_columns() ? padded(c_.columns, loops().width) : 0),
        packed_rows_(padded_rows_ * a_.columns, 1),
        packed_columns_(padded_columns_ * a_.columns, 1) {
    while (work(std::min(rows_, c_.rows), columns_, a_.columns) < kLeastTile && columns_ < c_.columns) columns_ *= 2;
    if (tiles() < kEnough && work(rows_, columns_ / 2, a_.columns) >= kLeastTile) columns_ /= 2;
    if (tiles() < kEnough && work(rows_ / 2, columns_, a_.columns) >= kLeastTile) rows_ /= 2;
    rows_ = even_part(c_.rows, rows_, loops().height);
    columns_ = even_part(c_.columns, columns_, loops().width);
  }

  int phases() const override { return 2; }
  int64_t chunks(int phase) const override { return phase == 0 ? row_chunks() + column_chunks() : tiles(); }

  void run(int phase, int64_t chunk) override {
    if (phase == 0) return chunk < row_chunks() ? pack_rows(chunk) : pack_columns(chunk - row_chunks());
    Box where = box(chunk);
    multiply(where, &c_.at(where.begin[1], where.begin[2]), c_.down);
  }

  Box box(int64_t chunk) const override {
    int64_t across = chunks_of(c_.columns, columns_);
    int64_t row = chunk / across * rows_, column = chunk % across * columns_;
    return {{0, row, column}, {1, std::min(rows_, c_.rows - row), std::min(columns_, c_.columns - column)}};
  }

  void run_to(int64_t chunk, char* to) override {
    Box where = box(chunk);
    multiply(where, reinterpret_cast<T*>(to), where.size[2]);
  }

 private:
  static constexpr int64_t kBlock = sizeof(T) == 4 ? 20 : 10;  // panels of rows that stay in the second cache
  // Many tiles, so that threads end at one time.
  static constexpr int64_t kRows = 256, kColumns = 128, kEnough = 16;
  static constexpr int64_t kMost = (64 << 20) / sizeof(T);  // packed numbers: the copy is not to fill the memory
  static constexpr double kLeastTile = 2e6;

  static const PanelLoops<T>& loops() {
    if constexpr (std::is_same_v<T, float>)
      return panel_loops().f32;
    else
      return panel_loops().f64;
  }
  static int64_t padded(int64_t n, int64_t panel) { return (n + panel - 1) / panel * panel; }
  // In multiplications of float32.
  static double work(int64_t m, int64_t n, int64_t k) {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * (sizeof(T) / 4);
  }
  bool shares_columns() const { return c_.rows > kRows && c_.columns * a_.columns <= kMost; }
  int64_t tiles() const { return chunks_of(c_.rows, rows_) * chunks_of(c_.columns, columns_); }
  static int64_t rows_at_once() { return loops().height * 16; }
  static int64_t columns_at_once() { return loops().width * 3; }
  int64_t row_chunks() const { return chunks_of(c_.rows, rows_at_once()); }
  int64_t column_chunks() const { return padded_columns_ ? chunks_of(padded_columns_, columns_at_once()) : 0; }

  void pack_rows(int64_t chunk) {
    int64_t first = chunk * rows_at_once(), lines = std::min(rows_at_once(), a_.rows - first);
    for (int64_t k = 0; k < a_.columns; k += depth_) {
      int64_t depth = std::min(depth_, a_.columns - k);
      T* to = packed_rows_[0] + padded_rows_ * k + first * depth;
      if (a_.layout.transposed)
        loops().pack_a(to, &a_.at(first, k), lines, depth, a_.right);
      else
        loops().turn_a(to, &a_.at(first, k), lines, depth, a_.down);
    }
  }

  void pack_columns(int64_t chunk) {
    int64_t first = chunk * columns_at_once(), lines = std::min(columns_at_once(), c_.columns - first);
    for (int64_t k = 0; k < a_.columns; k += depth_) {
      int64_t depth = std::min(depth_, a_.columns - k);
      pack_columns(packed_columns_[0] + padded_columns_ * k + first * depth, first, lines, k, depth);
    }
  }

  void pack_columns(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) {
    if (b_.layout.transposed)
      loops().turn_b(to, &b_.at(k, first), lines, depth, b_.right);
    else
      loops().pack_b(to, &b_.at(k, first), lines, depth, b_.down);
  }

  // A block of the depth of some columns, packed.
  T* columns_of(int64_t first, int64_t lines, int64_t k, int64_t depth) {
    if (padded_columns_ > 0) return packed_columns_[0] + padded_columns_ * k + first * depth;
    T* packed = room(columns_ * depth_);
    pack_columns(packed, first, lines, k, depth);
    return packed;
  }

  void multiply(const Box& where, T* to, int64_t down) {
    int64_t row = where.begin[1], rows = where.size[1], columns = where.size[2];
    int64_t block = kBlock * loops().height;
    for (int64_t k = 0; k < a_.columns; k += depth_) {
      int64_t depth = std::min(depth_, a_.columns - k);
      const T* packed = columns_of(where.begin[2], columns, k, depth);
      for (int64_t i = 0; i < rows; i += block)
        loops().multiply({packed_rows_[0] + padded_rows_ * k + (row + i) * depth, packed, to + i * down,
                          std::min(block, rows - i), columns, depth, down, k > 0});
    }
  }

  // For columns, of the calling thread.
  static T* room(int64_t size) {
    constexpr int64_t kAlign = 64;
    thread_local std::unique_ptr<T[]> memory;
    thread_local int64_t there = 0;
    if (there < size) {
      memory = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(size) + kAlign / sizeof(T));
      there = size;
    }
    auto at = reinterpret_cast<uintptr_t>(memory.get());
    return reinterpret_cast<T*>((at + kAlign - 1) / kAlign * kAlign);
  }

  Matrix<T> a_, b_, c_;
  int64_t depth_, rows_, columns_;  // of a tile
  int64_t padded_rows_, padded_columns_;  // of what is packed for all tiles; 0 where each packs its own columns
  Room<T> packed_rows_, packed_columns_;
};

}  // namespace slipstream::cpu
