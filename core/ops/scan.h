// Cumulative sums and products along an axis.
#pragma once

#include "../op.h"

namespace slipstream {

extern const Op kCumsum;   // AxisParams; input and output have one type
extern const Op kCumprod;  // AxisParams

struct AxisParams final : OpParams {
  int axis = 0;
};

}  // namespace slipstream
