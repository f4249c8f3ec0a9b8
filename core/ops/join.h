// Concatenation: one call with as many inputs as arrays are joined.
#pragma once

#include "../op.h"

namespace slipstream {

extern const Op kConcatenate;  // JoinParams; inputs have the output's type

struct JoinParams final : OpParams {
  int axis = 0;
};

}  // namespace slipstream
