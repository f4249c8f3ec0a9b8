// Cumulative sums and products along an axis.
#pragma once

#include "../op.h"

namespace slipstream {

extern const Op kCumsum;   // AxisParams; input and output have one type
extern const Op kCumprod;  // AxisParams

// For each element the product of those before it along the axis; 1 for the first.
Array products_before(const Array& x, int axis);

struct AxisParams final : ComparedParams<AxisParams> {
  int axis = 0;
  bool operator==(const AxisParams&) const = default;
};

}  // namespace slipstream
