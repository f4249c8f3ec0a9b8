// Search in sorted numbers, and what is made of sorted or counted ones.
#pragma once

#include "../op.h"

namespace slipstream {

struct SearchParams final : OpParams {
  bool right = false;
};
extern const Op kSearchsorted;  // inputs: sorted numbers, what is looked for (one type); and the order that sorts them

struct DistinctParams final : OpParams {
  bool equal_nan = true;
};
// inputs: sorted numbers, and the order that sorted them where a third output is wanted. outputs, int64: where distinct
// numbers begin (as many as there are, of room for all); how many there are; the number of each unsorted element's own.
extern const Op kDistinct;

extern const Op kBincount;  // inputs: integers, and float64 weights; the output has the length of the counts
// inputs: numbers and edges of one type, and float64 weights. outputs: counts (float64 or complex with weights).
extern const Op kHistogram;

struct HistogramParams final : OpParams {
  bool equal_width = false;  // a bin can be computed, and is then at most one off
};

// c[k] = sum over j of a[k - j] b[j], for k from `first` on; a is not shorter than b. One type.
extern const Op kConvolve;
struct ConvolveParams final : ComparedParams<ConvolveParams> {
  int64_t first = 0;
  bool operator==(const ConvolveParams&) const = default;
};

}  // namespace slipstream
