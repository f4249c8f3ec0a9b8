// Recording samples of distributions whose parameters are arrays.
#include "sample.h"

#include "../elementwise.h"
#include "check.h"
#include "structural.h"

namespace slipstream {

const Op kSample{"random_sample", kMayFail};

Array random_sample(RandomState& state, Distribution distribution, std::span<const Array> parameters,
                    const Shape& shape) {
  Device device = parameters[0].device();
  Array result(shape, distribution == Distribution::gamma ? DType::f64 : DType::i64, device);
  auto params = take_sample_numbers(state, result.size());
  params->distribution = distribution;
  Record call;
  call.op = &kSample;
  for (const Array& p : parameters) {
    same_device("random", parameters[0], p);
    call.inputs.emplace_back(broadcast_to(p.dtype == DType::f64 ? p : astype(p, DType::f64), shape));
  }
  call.params = std::move(params);
  return record_new(std::move(call), std::move(result));
}

}  // namespace slipstream
