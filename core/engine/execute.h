// Running calls: failures are inherited, memory is found, the kernel is made. The same for both engines.
#pragma once

#include <exception>
#include <memory>

#include "../op.h"

namespace slipstream::engine {

class Runtime;

struct Prepared {
  std::unique_ptr<Kernel> kernel;  // null: the call is not to run
  FailurePtr failure;              // why not
};

// Gives the outputs memory and makes the kernel. Raises nothing.
Prepared prepare(Runtime& runtime, Record& call);
// What an exception out of a call's kernel, or out of finding memory for an output, means for its results.
FailurePtr to_failure(Runtime& runtime, const Record& call, std::exception_ptr error, int output = 0);
// Every chunk, here and now. Null if it went well.
FailurePtr run_kernel(Runtime& runtime, const Record& call, Kernel& kernel);
// The call is over: its outputs are ready, or failed.
void conclude(Runtime& runtime, Record& call, const FailurePtr& failure);
// All of it, here and now. True if it failed.
bool run_whole(Runtime& runtime, Record& call);

}  // namespace slipstream::engine
