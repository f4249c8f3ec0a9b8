// Factorizations of large single matrices, cut into blocks of columns so that all threads can help.
#pragma once

#include "lapack_stack.h"

namespace slipstream::cpu {

// Blocks of the columns of an n x n (or m x n) matrix.
struct Blocks {
  static constexpr int64_t kWidth = 128, kLeast = 256, kFew = 4;

  explicit Blocks(int64_t n) : n(n), count(chunks_of(n, kWidth)) {}
  // Is a matrix of this size worth it? Stacks keep the threads busy by themselves.
  static bool suit(int64_t n, int64_t stack) { return n >= kLeast && stack < kFew; }

  int64_t begin(int64_t block) const { return block * kWidth; }
  int64_t width(int64_t block) const { return std::min(kWidth, n - block * kWidth); }

  int64_t n, count;
};

// The steps of one matrix after another, each with its own number of chunks.
//   Steps::steps(), Steps::chunks(step), Steps::run(matrix, step, chunk)
template <class Steps>
class BlockedKernel final : public Kernel {
 public:
  BlockedKernel(int64_t matrices, Steps steps) : matrices_(matrices), steps_(std::move(steps)) {}
  int phases() const override { return static_cast<int>(matrices_) * steps_.steps(); }
  int64_t chunks(int phase) const override { return steps_.chunks(phase % steps_.steps()); }
  void run(int phase, int64_t chunk) override { steps_.run(phase / steps_.steps(), phase % steps_.steps(), chunk); }

 private:
  int64_t matrices_;
  Steps steps_;
};

}  // namespace slipstream::cpu
