// Arrays of float32 on the CPU, for tests of the planner on real kernels.
#pragma once

#include <vector>

#include "../../core/elementwise.h"
#include "../../core/engine/device.h"
#include "../../core/engine/engine.h"
#include "../../core/ops/structural.h"

namespace slipstream {

inline std::vector<float> values(const Array& x) {
  std::vector<float> out(static_cast<size_t>(x.size()));
  engine::wait(copy_to_host(x, out.data()));
  return out;
}

inline Array wave(const Shape& shape) {
  Array flat = arange(Scalar::of(0.0), Scalar::of(0.37), count(shape), DType::f32, engine::device("cpu", 0));
  return reshape(elementwise(Row::sin, {flat}), shape);
}

}  // namespace slipstream
