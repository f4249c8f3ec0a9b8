// Fusing the calls of one batch.
#pragma once

#include <span>
#include <vector>

#include "../op.h"

namespace slipstream::engine {

class Planner;
class Runtime;

// Merges elementwise calls on one shape, and the reduction that ends them, into calls that run as one pass and store
// only what somebody can still read. The merged call takes the place of its last member; the others are moved to
// `dropped` and left with op == nullptr. The planner has counted the batch's operands on every storage.
void fuse(Runtime& runtime, std::span<Record> calls, std::vector<Record>& dropped);

// A merged call with a failed input: marks the results that depend on it, and leaves the rest to be run.
// False if nothing is left.
bool drop_failed_results(Record& call);

}  // namespace slipstream::engine
