// Batch normalisation by the batch's own statistics, and its gradient.
#pragma once

#include "../op.h"

namespace slipstream {

// Arrays are row-major, of one float type: x, the result and gradients (n, c, places), all others (c).
extern const Op kBatchNorm;          // x, beta, gamma if there is one; gives the result, means and variances
extern const Op kBatchNormFixed;     // x, means, variances, beta, gamma if there is one; gives the result
extern const Op kBatchNormGradient;  // g, x, means, variances, gamma; gives the gradients of x, beta and gamma

struct BatchNormParams final : ComparedParams<BatchNormParams> {
  double eps = 0;
  bool operator==(const BatchNormParams&) const = default;
};

struct BatchNormed {
  Array result;
  Array mean, variance;  // of each channel; they have no history
};
// x (n, c, ...) by channel: (x - mean) / sqrt(variance + eps) * gamma + beta. float32 or float64, one type for all.
BatchNormed batch_norm(const Array& x, const Array* gamma, const Array& beta, double eps);
// The same by given statistics, for x without a history: x * scale + (beta - mean * scale), scale = gamma / deviation.
Array batch_norm_fixed(const Array& x, const Array* gamma, const Array& beta, const Array& mean, const Array& variance,
                       double eps);

}  // namespace slipstream
