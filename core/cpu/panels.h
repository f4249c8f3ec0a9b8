// Matrix products from packed panels: what the vector loops of one instruction set do for the kernels.
#pragma once

#include <cstdint>

namespace slipstream::cpu {

// c (+)= a b. The rows of a lie in panels of `height`: for each step of the depth, that many numbers; the columns of b
// in the same way in panels of `width`. The last panels are filled up with zeros.
template <class T>
struct PanelProduct {
  const T *a, *b;
  T* c;
  int64_t rows, columns, depth;
  int64_t down;  // from row to row of c
  bool add;      // to what c holds
};

template <class T>
struct PanelLoops {
  int64_t height = 0, width = 0;  // 0: there are no such loops, BLAS is quicker
  int64_t depth = 0;              // of panels that are best for the caches
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
