// Distributions that need an unknown number of draws for each element: gamma, Poisson, binomial.
#pragma once

#include "random.h"

namespace slipstream {

enum class Distribution : uint8_t { gamma, poisson, binomial };

// Inputs: one or two float64 arrays of parameters, in the shape of the result. Element i draws from blocks of its own,
// first * kGroupBlocks + i, as many attempts as it takes.
extern const Op kSample;
struct SampleParams final : RandomParams {
  Distribution distribution = Distribution::gamma;
};

// One group of the generator's numbers for every kGroupBlocks elements.
struct RandomState;
std::shared_ptr<SampleParams> take_sample_numbers(RandomState& state, int64_t n);

}  // namespace slipstream
