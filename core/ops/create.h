// Operations that make an array from nothing but parameters.
#pragma once

#include "../op.h"

namespace slipstream {

extern const Op kEmpty;     // memory only
extern const Op kFull;      // scalars[0] everywhere
extern const Op kArange;    // ArangeParams
extern const Op kLinspace;  // LinspaceParams
extern const Op kEye;       // EyeParams

// As NumPy: both values are rounded to the array's type, and all others follow from them in that type.
struct ArangeParams final : OpParams {
  Scalar first, second;
};

// Computed in complex128 or float64 and then converted.
struct LinspaceParams final : OpParams {
  std::complex<double> start, stop;
  bool endpoint = true;
};

struct EyeParams final : OpParams {
  int64_t k = 0;  // the diagonal: 0 the main one, above it positive
};

}  // namespace slipstream
