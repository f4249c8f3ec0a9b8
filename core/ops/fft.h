// Fourier transforms along one axis.
#pragma once

#include "../op.h"

namespace slipstream {

// forward, backward: complex to complex. real: the first half of the transforms of real lines. half: the way back.
enum class FftKind : uint8_t { forward, backward, real, half };

// Lines along the axis, cut or filled up with zeros to n elements (half: n is the length of the real result),
// multiplied by `factor` afterwards. x is complex64 or complex128 (real: float32 or float64).
Array fft(const Array& x, int64_t n, int64_t axis, FftKind kind, double factor);

extern const Op kFft;  // outputs: the result, and room for what long lines need on the way

struct FftParams final : ComparedParams<FftParams> {
  FftKind kind = FftKind::forward;
  int axis = 0;
  int64_t n = 0;
  double factor = 1;
  std::shared_ptr<const void> plan, second;  // of type FftPlan<float or double>; second: long lines are cut in two
  bool operator==(const FftParams&) const = default;
};

}  // namespace slipstream
