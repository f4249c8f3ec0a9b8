// Products of floating-point matrices with loops of our own. BLAS packs both operands anew for each tile that it is
// given; here they are packed once for all tiles and threads, and a large one beside a small one not at all.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "../engine/thread_room.h"
#include "matrix.h"
#include "packed_columns.h"
#include "panels.h"
#include "room.h"

namespace slipstream::cpu {

// First all rows are packed into panels, but for those that lie row after row where the loops take them as they are,
// and all columns where more than one tile needs them. Then each tile multiplies, a block of the depth at a time;
// columns that it alone needs it packs there, so that they stay in the cache. Where one side of the result is short,
// the other operand is read where it lies: packed, it would be used too few times. If it lies row after row it is made
// the left one, if need be by turning everything. A result's bits depend on the length of its sum alone, which is added
// up in blocks.
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
      : PackedProduct(matrix<T>(call.inputs[0]), matrix<T>(call.inputs[1]), matrix<T>(call.outputs[0])) {}

  int phases() const override { return 2; }
  int64_t chunks(int phase) const override { return phase == 0 ? row_chunks() + column_chunks() : tiles(); }

  void run(int phase, int64_t chunk) override {
    if (phase == 0) return chunk < row_chunks() ? pack_rows(chunk) : packed_columns_->pack(chunk - row_chunks());
    Part rows = down_.part(chunk / across_.parts), columns = across_.part(chunk % across_.parts);
    if (turned_) return multiply_turned(rows, columns);
    multiply(rows, columns, &c_.at(rows.begin, columns.begin), c_.down);
  }

  Box box(int64_t chunk) const override {
    Part rows = down_.part(chunk / across_.parts), columns = across_.part(chunk % across_.parts);
    if (turned_) std::swap(rows, columns);
    return {{0, rows.begin, columns.begin}, {1, rows.size, columns.size}};
  }

  void run_to(int64_t chunk, char* to, std::span<const MemoryRows> needed_next) override {
    Part rows = down_.part(chunk / across_.parts), columns = across_.part(chunk % across_.parts);
    if (turned_) needed_next = {};
    multiply(rows, columns, reinterpret_cast<T*>(to), turned_ ? rows.size : columns.size, needed_next);
  }

 private:
  static constexpr int64_t kBlock = sizeof(T) == 4 ? 20 : 10;  // panels of rows that stay in the second cache
  static constexpr int64_t kEnough = 32, kMany = 64;        // tiles, so that threads end at one time
  static constexpr int64_t kAlone = sizeof(T) == 4 ? 2 : 4;    // panels of columns that a tile packs for itself
  static constexpr int64_t kShared = (16 << 20) / sizeof(T);  // numbers of rows that all tiles go through
  static constexpr int64_t kShort = 64;  // lines of the short side, at most
  static constexpr int64_t kMost = (64 << 20) / sizeof(T);  // packed numbers: the copy is not to fill the memory
  static constexpr double kLeastTile = 1e6;

  struct Part {
    int64_t begin, size;
  };
  // Lines cut into parts of about one size, between panels.
  struct Cut {
    int64_t lines = 0, panel = 1, panels = 0, parts = 1;
    Cut() = default;
    Cut(int64_t lines, int64_t panel, int64_t most)
        : lines(lines),
          panel(panel),
          panels(chunks_of(lines, panel)),
          parts(std::min(chunks_of(lines, most), panels)) {}
    int64_t begin(int64_t part) const { return std::min(lines, part * panels / parts * panel); }
    Part part(int64_t i) const { return {begin(i), begin(i + 1) - begin(i)}; }
    int64_t largest() const { return chunks_of(panels, parts) * panel; }
  };

  PackedProduct(Matrix<T> a, Matrix<T> b, Matrix<T> c)
      : turned_(c.rows < c.columns && c.rows <= kShort && b.layout.transposed),
        rows_in_place_(turned_ || (!a.layout.transposed && (loops().any_rows || c.columns <= kShort))),
        columns_in_place_(!turned_ && c.rows <= kShort && !b.layout.transposed && c.columns % loops().lanes == 0 &&
                          PackedColumns<T>::at_once() == loops().width),
        a_(turned_ ? b.t() : a),
        b_(turned_ ? a.t() : b),
        c_(turned_ ? c.t() : c),
        depth_(even_part(a_.columns, loops().depth, 8)),
        whole_rows_(rows_in_place_ ? c_.rows / loops().height * loops().height : 0) {
    cut();
    padded_rows_ = shares_rows() ? padded(c_.rows - whole_rows_, loops().height) : 0;
    packed_rows_.emplace(padded_rows_ * a_.columns, 1);
    if (shares_columns()) packed_columns_.emplace(b_, depth_);
  }

  // Into tiles.
  void cut() {
    const TileSizes& best = loops().tiles;
    int64_t rows = best.rows, columns = c_.columns <= kShort ? c_.columns : best.columns;
    auto tiles = [&] { return chunks_of(c_.rows, rows) * chunks_of(c_.columns, columns); };
    while (work(std::min(rows, c_.rows), columns, a_.columns) < kLeastTile && columns < c_.columns) columns *= 2;
    while (work(rows, columns, a_.columns) < kLeastTile && rows < c_.rows) rows *= 2;
    if (tiles() < kEnough && work(rows, columns / 2, a_.columns) >= kLeastTile && columns > kShort) columns /= 2;
    if (tiles() < kEnough && work(rows / 2, columns, a_.columns) >= kLeastTile) rows /= 2;
    double most = std::max(best.most, work(c_.rows, c_.columns, a_.columns) / kMany);
    while (work(rows, columns, a_.columns) > most && rows > best.least_rows) rows /= 2;
    while (work(rows, columns, a_.columns) > most && columns > best.least_columns) columns /= 2;
    if (packs_columns_alone()) rows = c_.rows, columns = kAlone * loops().width;
    down_ = Cut(c_.rows, loops().height, rows);
    across_ = Cut(c_.columns, loops().width, columns);
  }

  // Where both sides are packed, a tile that has all rows packs its columns, those of a larger side, for itself: they
  // stay in its own cache. Not where the rows, which every such tile goes through, are more than the last cache holds,
  // or sums so short that writing the result counts.
  bool packs_columns_alone() const {
    int64_t columns = kAlone * loops().width;
    return loops().any_rows && !rows_in_place_ && c_.rows > kShort && 3 * c_.rows <= 2 * c_.columns &&
           c_.rows * a_.columns <= kShared && c_.columns >= kEnough / 2 * columns && a_.columns >= loops().depth / 2 &&
           work(c_.rows, columns, a_.columns) >= kLeastTile;
  }

  static const PanelLoops<T>& loops() { return panel_loops_of<T>(); }
  static int64_t padded(int64_t n, int64_t panel) { return (n + panel - 1) / panel * panel; }
  // In multiplications of float32.
  static double work(int64_t m, int64_t n, int64_t k) {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * (sizeof(T) / 4);
  }
  bool shares_rows() const { return across_.parts > 1; }
  bool shares_columns() const {
    if (columns_in_place_) return false;
    return c_.columns <= kShort || (down_.parts > 1 && c_.columns * a_.columns <= kMost);
  }
  int64_t tiles() const { return down_.parts * across_.parts; }
  // Few panels at once: their lines lie on the same few places of the first cache.
  static int64_t rows_at_once() { return loops().height * 6; }
  int64_t row_chunks() const { return padded_rows_ ? chunks_of(c_.rows - whole_rows_, rows_at_once()) : 0; }
  int64_t column_chunks() const { return packed_columns_ ? packed_columns_->chunks() : 0; }

  void pack_rows(int64_t chunk) {
    int64_t begin = chunk * rows_at_once(), first = whole_rows_ + begin;
    int64_t lines = std::min(rows_at_once(), a_.rows - first);
    for (int64_t k = 0; k < a_.columns; k += depth_) {
      int64_t depth = std::min(depth_, a_.columns - k);
      pack_rows((*packed_rows_)[0] + padded_rows_ * k + begin * depth, first, lines, k, depth);
    }
  }

  void pack_rows(T* to, int64_t first, int64_t lines, int64_t k, int64_t depth) {
    if (a_.layout.transposed)
      loops().pack_a(to, &a_.at(first, k), lines, depth, a_.right);
    else
      loops().turn_a(to, &a_.at(first, k), lines, depth, a_.down);
  }

  // A block of the depth of some columns, packed in `own` where this tile alone needs them.
  Columns<T> columns_of(Part columns, int64_t k, int64_t depth, T* own) {
    int64_t width = loops().width;
    if (columns_in_place_) return {&b_.at(k, columns.begin), b_.down, width};
    if (packed_columns_) return packed_columns_->at(columns.begin, k, depth);
    PackedColumns<T>::pack(own, b_, columns.begin, columns.size, k, depth);
    return {own, width, width * depth};
  }

  // A block of the depth of some rows: where they lie, or packed, in `own` where this tile alone needs them.
  Rows<T> rows_of(Part rows, int64_t k, int64_t depth, T* own) {
    int64_t height = loops().height;
    if (rows.begin < whole_rows_) return {&a_.at(rows.begin, k), a_.down, a_.right, a_.down * height};
    if (padded_rows_ > 0)
      return {(*packed_rows_)[0] + padded_rows_ * k + (rows.begin - whole_rows_) * depth, 1, height, height * depth};
    pack_rows(own, rows.begin, rows.size, k, depth);
    return {own, 1, height, height * depth};
  }

  void multiply(Part rows, Part columns, T* to, int64_t down, std::span<const MemoryRows> needed_next = {}) {
    int64_t most = kBlock * loops().height;
    int64_t own_columns = columns_in_place_ || packed_columns_ ? 0 : across_.largest() * depth_;
    int64_t own_rows = whole_rows_ == c_.rows || padded_rows_ > 0 ? 0 : std::min(most, down_.largest()) * depth_;
    engine::ThreadRoom<T> own(own_columns + own_rows);
    for (int64_t k = 0; k < a_.columns; k += depth_) {
      int64_t depth = std::min(depth_, a_.columns - k);
      Columns<T> b = columns_of(columns, k, depth, own.data());
      for (int64_t i = 0, n = 0; i < rows.size; i += n) {
        n = std::min(most, rows.size - i);
        if (rows.begin + i < whole_rows_) n = std::min(n, whole_rows_ - rows.begin - i);
        Rows<T> a = rows_of({rows.begin + i, n}, k, depth, own.data() + own_columns);
        PanelProduct<T> part{a, b, to + (turned_ ? i : i * down), n, columns.size, depth, down, turned_, k > 0};
        if (k + depth == a_.columns) part.needed_next = {needed_next.data(), std::ssize(needed_next), i};
        loops().multiply(part);
      }
    }
  }

  // In a place of its own first: lines of the result that are a power of two apart fall onto few of the cache.
  void multiply_turned(Part rows, Part columns) {
    int64_t pitch = rows.size + 16;
    engine::ThreadRoom<T> block(pitch * columns.size);
    multiply(rows, columns, block.data(), pitch);
    for (int64_t j = 0; j < columns.size; j++)
      std::copy_n(block.data() + j * pitch, rows.size, &c_.at(rows.begin, columns.begin + j));
  }

  bool turned_;  // is the result made in columns
  bool rows_in_place_, columns_in_place_;
  Matrix<T> a_, b_, c_;
  int64_t depth_;  // of a block of the sums
  Cut down_, across_;  // into tiles
  int64_t whole_rows_;  // that are read where they lie; the rest is packed
  int64_t padded_rows_;  // of what is packed for all tiles
  std::optional<Room<T>> packed_rows_;
  std::optional<PackedColumns<T>> packed_columns_;  // none where each tile packs its own
};

}  // namespace slipstream::cpu
