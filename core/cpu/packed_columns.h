// The right side of products, packed into panels once for all that is multiplied by it.
#pragma once

#include <algorithm>

#include "matrix.h"
#include "panels.h"
#include "room.h"

namespace slipstream::cpu {

template <class T>
const PanelLoops<T>& panel_loops_of() {
  if constexpr (std::is_same_v<T, float>)
    return panel_loops().f32;
  else
    return panel_loops().f64;
}

template <class T>
class PackedColumns {
 public:
  // `depth` is that of a block of the sums; each block of the depth holds all columns.
  PackedColumns(Matrix<T> b, int64_t depth)
      : b_(b),
        depth_(depth),
        padded_(chunks_of(b.columns, loops().width) * loops().width),
        room_(padded_ * b.rows, 1) {}

  // Of the packing.
  int64_t chunks() const { return chunks_of(padded_, at_once()); }
  void pack(int64_t chunk) {
    int64_t first = chunk * at_once(), lines = std::min(at_once(), b_.columns - first);
    for (int64_t k = 0; k < b_.rows; k += depth_) {
      int64_t depth = std::min(depth_, b_.rows - k);
      pack(room_[0] + padded_ * k + first * depth, b_, first, lines, k, depth);
    }
  }
  // A block of the depth, from a panel's first column on.
  Columns<T> at(int64_t column, int64_t k, int64_t depth) {
    int64_t width = loops().width;
    return {room_[0] + padded_ * k + column * depth, width, width * depth};
  }

  // Columns that are packed at once: so many that going from line to line is worth it.
  static int64_t at_once() {
    return chunks_of(kStretch / static_cast<int64_t>(sizeof(T)), loops().width) * loops().width;
  }
  static void pack(T* to, const Matrix<T>& b, int64_t first, int64_t lines, int64_t k, int64_t depth) {
    if (b.layout.transposed)
      loops().turn_b(to, &b.at(k, first), lines, depth, b.right);
    else
      loops().pack_b(to, &b.at(k, first), lines, depth, b.down);
  }

 private:
  static constexpr int64_t kStretch = 192;  // bytes of a row that are worth going to the next one
  static const PanelLoops<T>& loops() { return panel_loops_of<T>(); }

  Matrix<T> b_;
  int64_t depth_, padded_;
  Room<T> room_;
};

}  // namespace slipstream::cpu
