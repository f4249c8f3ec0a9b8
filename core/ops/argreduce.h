// Positions of the smallest and largest elements along an axis.
#pragma once

#include "scan.h"

namespace slipstream {

extern const Op kArgmin;  // AxisParams; the output is int64 and has length 1 along the axis
extern const Op kArgmax;  // AxisParams

}  // namespace slipstream
