// Host calls and done callbacks: one chunk that runs the front end's function.
#include "../ops/host.h"

#include "backend.h"

namespace slipstream::cpu {

namespace {

std::unique_ptr<Kernel> make_host_call(const Record& call) {
  return single_kernel([&call] { call.as<HostCallParams>().fn(call); });
}

std::unique_ptr<Kernel> make_when_done(const Record& call) {
  return single_kernel([&call] { call.as<WhenDoneParams>().fn(call.inputs[0].storage()->failure()); });
}

}  // namespace

void register_host(engine::Backend& backend) {
  backend.provide(kHostCall, make_host_call);
  backend.provide(kWhenDone, make_when_done);
}

}  // namespace slipstream::cpu
