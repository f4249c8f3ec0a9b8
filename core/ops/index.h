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

// An array as its positions see it.
struct Chosen {
  Array x;                     // over the positions' shape
  std::vector<Array> indices;  // over the positions' shape
  std::vector<IndexParams::Axis> axes;
  bool unique = false;
};

struct AxisIndex {
  int axis;  // of x
  Array index;
  int number;  // what an error calls the axis
};
// The indexed axes leave x; the indices' common shape (`shapes` broadcast too) stands before its axis `place` that
// stays. Raises IndexError where they do not broadcast.
Chosen choose(const char* op, const Array& x, std::vector<AxisIndex> given, int place, std::vector<Shape> shapes = {});
// Indices of x's own dimensions: out[i, j] = x[index[i, j], j] for axis 0.
Chosen choose_along(const char* op, const Array& x, const Array& index, int64_t axis);

Array gather(const Op& op, Chosen&& chosen, IndexMode mode = IndexMode::raise, const Array* out = nullptr);
void scatter(const Op& op, Chosen&& chosen, const Arg& value, IndexMode mode = IndexMode::raise);

// ---- masks

// Where a mask is true, found by waiting for it: how many before each block of kMaskBlock elements, and in all.
inline constexpr int64_t kMaskBlock = 1 << 14;
extern const Op kCountMask;  // input: a row-major mask; output: the number of each block
extern const Op kCompress;   // MaskParams; inputs: x and a mask of its shape, both row-major; output: 1-d
extern const Op kNonzero;    // MaskParams; input: a row-major mask; output: (ndim, number)

struct MaskParams final : OpParams {
  std::vector<int64_t> before;  // one for each block, and the number in all
};
struct FoundMask {
  Array mask;  // row-major
  std::shared_ptr<MaskParams> places;
  int64_t number() const { return places->before.back(); }
};
FoundMask find_mask(const Array& mask);
Array nonzero(const FoundMask& found);                       // int64 (ndim, number)
Array compress(const Array& x, const FoundMask& found);  // x has the mask's shape

// ---- keys

// One item of a key, as the program wrote it.
struct KeyItem {
  enum Kind : uint8_t { integer, slice, newaxis, ellipsis, array, mask, flag } kind;
  int64_t start = 0, stop = 0, step = 1;  // slice: as Python's; integer: start; flag (a bool without axis): start
  Array value;                            // array, mask
};
using Key = std::vector<KeyItem>;
// x[key] and x[key] = value for keys with an array, a mask or a flag. `before_wait` is called before a mask is waited
// for.
Array get_item(const Array& x, const Key& key, void (*before_wait)());
void set_item(const Array& x, const Key& key, const Arg& value, void (*before_wait)());

}  // namespace slipstream
