// A kernel that can go on to other elements of its operands.
#pragma once

#include <span>

#include "op.h"

namespace slipstream {

// Calls that run block by block make one kernel and move it, because making one costs as much as some thousand
// elements.
class MovingKernel : public Kernel {
 public:
  // The same work on other elements from now on: each operand (the outputs last) begins so many bytes further on.
  virtual void shift(std::span<const int64_t> bytes) = 0;
};

}  // namespace slipstream
