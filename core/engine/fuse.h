// Fusing the calls of one batch.
#pragma once

#include <span>
#include <vector>

#include "../op.h"
#include "fused_programs.h"

namespace slipstream::engine {

class Planner;
class Runtime;

// Merges elementwise calls on one shape, and the reduction that ends them, into calls that run as one pass and store
// only what somebody can still read. The merged call takes the place of its last member, which moves to `replaced`; the
// others are left with op == nullptr. `why` tells for each call that was not merged why not. Programs are kept in
// `programs`. The planner has counted
// the batch's operands on every storage, and found its tiled calls (tiles.h).
void fuse(Runtime& runtime, std::span<Record> calls, std::span<const size_t> tiled, std::span<const char*> why,
          std::vector<Record>& replaced, FusedPrograms& programs);

// For a merged call of several results, by output. What each fails with: by inputs and outputs that failed before the
// call, or have no memory, as `failures` tells; the rest is null.
std::vector<FailurePtr> spread_failures(const Record& call, std::vector<FailurePtr> failures);
// Marks those results, and leaves them out of the call, which goes on with the rest. False if nothing is left.
bool drop_failed_results(Record& call, const std::vector<FailurePtr>& failures);

}  // namespace slipstream::engine
