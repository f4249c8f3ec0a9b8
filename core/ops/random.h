// Random numbers: what a call needs to know of its generator.
#pragma once

#include "../op.h"

namespace slipstream {

extern const Op kUniform;      // RandomParams: from a up to b, b excluded
extern const Op kNormal;       // RandomParams: mean a, deviation b
extern const Op kIntegers;     // IntegersParams
extern const Op kPermutation;  // RandomParams, of which a and b are not used

// Element i depends on key, first + the group i falls in, and its place there: on nothing else.
struct RandomParams : OpParams {
  uint64_t key = 0;
  uint64_t first = 0;  // the first group of numbers this call may use
  double a = 0, b = 1;
};

struct IntegersParams final : RandomParams {
  uint64_t low = 0;    // two's complement
  uint64_t range = 0;  // how many values there are; 0: all 2^64
};

}  // namespace slipstream
