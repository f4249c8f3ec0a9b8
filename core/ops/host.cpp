// Host calls, done callbacks, and copies to the host and between devices.
#include "host.h"

#include "../engine/device.h"
#include "../engine/engine.h"
#include "../graph/tape.h"
#include "check.h"

namespace slipstream {

const Op kHostCall{"host_call", kObservable | kMayFail | kHost | kLong};
const Op kWhenDone{"when_done", kObservable | kAfterFailure | kHost};
const Op kToHost{"copy_to_host", kObservable};
const Op kToDevice{"copy_to_device"};

std::vector<Array> host_call(HostFunction fn, std::span<const Array> inputs, std::span<const Shape> shapes,
                             std::span<const DType> dtypes, Device device) {
  auto params = std::make_shared<HostCallParams>();
  params->fn = std::move(fn);
  Record call;
  call.op = &kHostCall;
  call.params = params;
  for (const Array& input : inputs) {
    if (!(input.device() == device))
      fail(ErrorKind::value, "host_call: an input is on ", input.device(), ", the call runs on ", device);
    call.inputs.emplace_back(input);
  }
  std::vector<Array> results;
  for (size_t i = 0; i < shapes.size(); i++) {
    results.emplace_back(shapes[i], dtypes[i], device);
    call.outputs.emplace_back(results.back());
  }
  engine::record(std::move(call));
  return results;
}

void when_done(const Array& x, std::function<void(FailurePtr)> fn) {
  auto params = std::make_shared<WhenDoneParams>();
  params->fn = std::move(fn);
  Record call;
  call.op = &kWhenDone;
  call.params = params;
  call.inputs.emplace_back(x);
  engine::record(std::move(call));
}

Array copy_to_host(const Array& x, void* to) {
  auto params = std::make_shared<ToHostParams>();
  params->to = to;
  Record call;
  call.op = &kToHost;
  call.params = params;
  call.inputs.emplace_back(x);
  return record_new(std::move(call), Array(Shape{0}, DType::u8, x.device()));
}

Array copy_to_device(const Array& x, Device device) {
  Record call;
  call.op = &kToDevice;
  call.inputs.emplace_back(x);
  Array made = record_new(std::move(call), Array(x.shape, x.dtype, device));
  if (tape::follows(x))
    tape::note("copy_to_device", made, {&x},
               [from = x.device()](const Array& g) { return std::vector<Array>{copy_to_device(g, from)}; });
  return made;
}

}  // namespace slipstream
