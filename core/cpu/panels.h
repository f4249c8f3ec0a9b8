// Matrix products from packed panels: what the vector loops of one instruction set do for the kernels.
#pragma once

#include <cstdint>

#include "../memory_rows.h"

namespace slipstream::cpu {

// Rows of a product's left side in panels of `height`, columns of its right side in panels of `width`. Packed, a panel
// holds that many numbers for each step of the depth, and the last one is filled up with zeros. Where they are not
// packed, rows fill whole panels and columns whole vectors.
template <class T>
struct Rows {
  const T* data;
  int64_t down, right;  // from row to row and along the depth, one of the two 1
  int64_t panel;        // from panel to panel
  Rows from(int64_t number) const { return {data + number * panel, down, right, panel}; }
};
template <class T>
struct Columns {
  const T* data;
  int64_t down;   // along the depth; numbers of a panel lie side by side
  int64_t panel;  // from panel to panel
  Columns from(int64_t number) const { return {data + number * panel, down, panel}; }
};

// Memory at the places of a result that is needed right after it, to be brought into the cache meanwhile.
struct NeededNext {
  const MemoryRows* which = nullptr;
  int64_t count = 0;
  int64_t first_row = 0;  // of theirs, beside the result's first
};

// c (+)= a b.
template <class T>
struct PanelProduct {
  Rows<T> a;
  Columns<T> b;
  T* c;
  int64_t rows, columns, depth;
  int64_t down;  // from row to row of c, or, turned, from column to column, where rows lie side by side
  bool turned;
  bool add;      // to what c holds
  NeededNext needed_next = {};
};

// Tiles of a product that are best for the caches, how far to shrink those that are more work than `most`, in
// multiplications of float32.
struct TileSizes {
  int64_t rows, columns, least_rows, least_columns;
  double most;
};

template <class T>
struct PanelLoops {
  int64_t height = 0, width = 0;  // 0: there are no such loops, BLAS is quicker
  int64_t lanes = 0;              // numbers of a vector
  bool any_rows = false;          // are rows that lie apart as quick as packed ones?
  int64_t depth = 0;              // of panels that are best for the caches
  TileSizes tiles = {};
  void (*multiply)(const PanelProduct<T>&) = nullptr;
  // Packs lines (rows of a, columns of b) that lie side by side, into panels of a's height or of b's width;
  // `step` is from one number of a line to the next.
  void (*pack_a)(T* to, const T* from, int64_t lines, int64_t depth, int64_t step) = nullptr;
  void (*pack_b)(T* to, const T* from, int64_t lines, int64_t depth, int64_t step) = nullptr;
  // The same for lines that lie one after another; `step` is from line to line.
  void (*turn_a)(T* to, const T* from, int64_t lines, int64_t depth, int64_t step) = nullptr;
  void (*turn_b)(T* to, const T* from, int64_t lines, int64_t depth, int64_t step) = nullptr;
};

struct AllPanelLoops {
  PanelLoops<float> f32;
  PanelLoops<double> f64;
};

const AllPanelLoops& panel_loops();

}  // namespace slipstream::cpu
