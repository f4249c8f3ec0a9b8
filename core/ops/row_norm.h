// Softmax along an axis and layer normalisation along the last one: each line of the result is made of the same line of
// the data.
#pragma once

#include "../op.h"

namespace slipstream {

// Arrays are row-major, of one float type, and have the shape of x; parameters are spread over it.
extern const Op kSoftmax;  // x; gives the result
extern const Op kLayerNorm;  // x, gamma, beta; gives the result, and the mean and deviation of each row

struct SoftmaxParams final : ComparedParams<SoftmaxParams> {
  int axis = 0;
  bool log = false;  // the logarithm of the result
  bool operator==(const SoftmaxParams&) const = default;
};
struct LayerNormParams final : ComparedParams<LayerNormParams> {
  double eps = 0;
  bool operator==(const LayerNormParams&) const = default;
};
// Is it one of the two?
bool is_row_norm(const Op& op);
// The axis along which such a call goes.
int row_norm_axis(const Record& call);

// exp(x) / sum(exp(x)) over the axis, or its logarithm. float32 or float64.
Array softmax(const Array& x, int axis, bool log);

struct LayerNormed {
  Array result;
  Array mean, deviation;  // of each row: the last axis has length 1
};
// (x - mean) / deviation * gamma + beta with deviation = sqrt(variance + eps), over the last axis, whose length gamma
// and beta have. float32 or float64, one type for all.
LayerNormed layer_norm(const Array& x, const Array& gamma, const Array& beta, double eps);

}  // namespace slipstream
