// Calls of one batch that compute the same from the same values.
#pragma once

#include <span>
#include <vector>

#include "../op.h"

namespace slipstream::engine {

class Runtime;

// What `share` left to other calls: those that need not run, and those that only copy what another computes.
struct Shared {
  std::vector<const Op*> spared, copied;
  bool any() const { return !spared.empty() || !copied.empty(); }
};

// Of reductions, products and other calls that are more than elementwise, equal ones are computed once. Where nobody
// can name the result of one of them any more, who reads it reads the other's instead. Where the program holds both,
// the later becomes a copy of the earlier: they stay apart when one is written to. Equal elementwise calls are told to
// be equal and left as they are, for `fuse` to merge; those that nobody needs any more are dead. The planner has
// counted the batch's operands on every storage.
Shared share(Runtime& runtime, std::span<Record> calls);

}  // namespace slipstream::engine
