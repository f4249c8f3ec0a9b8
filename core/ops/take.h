// Elements along an axis, chosen by an integer array.
#pragma once

#include "../op.h"
#include "structural.h"

namespace slipstream {

// inputs: x and the indices; the output's shape is x's with the indices' in place of the axis. All but x are row-major.
extern const Op kTake;

struct TakeParams final : OpParams {
  int axis = 0;
  IndexMode mode = IndexMode::raise;
};

}  // namespace slipstream
