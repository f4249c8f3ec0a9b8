// Indexing by arrays: one operation that gathers, one that scatters, both over the positions of a result.
#pragma once

#include <vector>

#include "../elementwise.h"
#include "../op.h"
#include "structural.h"

namespace slipstream {

// Gather: the output is row by row what the positions name. Inputs: x seen from the positions (stride 0 along axes that
// index arrays choose from), then the index arrays, broadcast to the positions. All have the output's shape.
extern const Op kIndex, kTake, kTakeAlong;
// Scatter, in place: the output is x seen from the positions, inputs are the values and the index arrays, of its shape.
extern const Op kIndexUpdate, kIndexAdd;

struct IndexParams final : OpParams {
  struct Axis {
    int64_t size, stride;  // of the array's axis; stride in bytes
    int number;            // for the error message
  };
  std::vector<Axis> axes;  // one for each index array
  IndexMode mode = IndexMode::raise;
  bool add = false;
  bool unique = false;  // no position is named twice
};

// Which elements of an array: index arrays for some of its axes.
struct AxisIndex {
  int axis;  // of the array
  Array index;
  int number;  // what an error calls the axis
};
struct Choice {
  std::vector<AxisIndex> indices;
  int place = 0;              // the indices' common shape stands before this one of the axes that stay
  std::vector<Shape> shapes;  // broadcast with the indices'
  bool along = false;  // one index array of the array's own dimensions: out[i, j] = x[index[i, j], j] for axis 0
  IndexMode mode = IndexMode::raise;
  bool unique = false;  // no element is named twice
};

// All raise IndexError where index arrays do not broadcast.
Array gather(const Op& op, const Array& x, const Choice& choice, const Array* out = nullptr);
// In place: x[choice] = value, or += with every one of equal indices (kIndexAdd).
void scatter(const Op& op, const Array& x, const Choice& choice, const Arg& value);
// The same on a copy of x.
Array scattered(const Op& op, const Array& x, const Choice& choice, const Arg& value);

// ---- masks

// Where a mask is true, found by waiting for it: how many before each block of kMaskBlock elements, and in all.
inline constexpr int64_t kMaskBlock = 1 << 14;
extern const Op kCountMask;  // input: a row-major mask; output: the number of each block
extern const Op kCompress;  // MaskParams; inputs: x and a mask of its shape, both row-major; output: 1-d
extern const Op kNonzero;  // MaskParams; input: a row-major mask; output: (ndim, number)

struct MaskParams final : OpParams {
  std::vector<int64_t> before;  // one for each block, and the number in all
};
struct FoundMask {
  Array mask;  // row-major
  std::shared_ptr<MaskParams> places;
  int64_t number() const { return places->before.back(); }
};
FoundMask find_mask(const Array& mask);
Array nonzero(const FoundMask& found);  // int64 (ndim, number)
Array compress(const Array& x, const FoundMask& found);  // x has the mask's shape

// ---- keys

// One item of a key, as the program wrote it.
struct KeyItem {
  enum Kind : uint8_t { integer, slice, newaxis, ellipsis, array, mask, flag } kind;
  int64_t start = 0, stop = 0, step = 1;  // slice: as Python's; integer: start; flag (a bool without axis): start
  Array value;  // array, mask
};
// x[key] and x[key] = value for keys with an array, a mask or a flag. `before_wait` is called before a mask is waited
// for.
Array get_item(const Array& x, std::span<const KeyItem> key, void (*before_wait)());
void set_item(const Array& x, std::span<const KeyItem> key, const Arg& value, void (*before_wait)());

}  // namespace slipstream
