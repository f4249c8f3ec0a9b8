// Pooling and its gradients.
#pragma once

#include "conv.h"
#include "structural.h"

namespace slipstream {

// Inputs and outputs are row-major, of one float type, with three spatial axes (fewer are filled up with ones).
extern const Op kPool;          // data (n, c, ...); gives (n, c, ...)
extern const Op
    kPoolGradient;  // gradient of the result, for the largest elements also data; gives the gradient of data
extern const Op kPoolPick;      // values and data; gives the values where data is largest

struct PoolParams final : ComparedParams<PoolParams> {
  PoolKind kind = PoolKind::max;
  Axes3 kernel, stride, pad;
  bool operator==(const PoolParams&) const = default;
};

}  // namespace slipstream
