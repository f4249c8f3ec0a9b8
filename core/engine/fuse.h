// Fusing the calls of one batch.
#pragma once

#include <span>
#include <vector>

#include "../op.h"

namespace slipstream::engine {

class Planner;
class Runtime;

// Merges elementwise calls on one shape, and the reduction that ends them, into calls that run as one pass and store
// only what somebody can still read. The merged call takes the place of its last member, which moves to `replaced`; the
// others are left with op == nullptr. The planner has counted the batch's operands on every storage.
void fuse(Runtime& runtime, std::span<Record> calls, std::vector<Record>& replaced);

// For a merged call of several results. The first marks the results that depend on failed inputs or on each other; the
// second leaves those out of the call, which goes on with the rest. False if nothing is left.
void spread_failures(const Record& call);
bool drop_failed_results(Record& call);

}  // namespace slipstream::engine
