// Convolutions and their two gradients, which are sums over the same places: each is a gradient of the others.
#pragma once

#include <array>

#include "../op.h"

namespace slipstream {

// Inputs and outputs are row-major, of one float type, with three spatial axes (fewer are filled up with ones).
extern const Op kConvolution;  // data (n, c, ...), weight (o, c / groups, ...), maybe bias (o); gives (n, o, ...)
extern const Op kConvolutionData;  // gradient of the result, weight; gives the gradient of data
extern const Op kConvolutionWeight;  // gradient of the result, data; gives the gradient of weight

using Axes3 = std::array<int64_t, 3>;

struct ConvParams final : ComparedParams<ConvParams> {
  Axes3 stride, dilate, pad;
  int64_t groups = 1;
  bool operator==(const ConvParams&) const = default;
};

}  // namespace slipstream
