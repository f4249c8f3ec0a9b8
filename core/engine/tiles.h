// Epilogues: elementwise work on a product's result, done tile by tile while the tile is in the cache.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "../op.h"

namespace slipstream::engine {

// The calls with tiled kernels whose result nobody outside the batch can read. To be asked for before anything is
// merged, while the planner's count of operands tells.
std::vector<size_t> tiled_calls(std::span<const Record> calls);

// Pairs each of these with the elementwise call that alone reads its result. `groups` holds for each call the number of
// the group that it belongs to (rows.h), 0 for none; the pairs get numbers behind those. No call comes both after one
// of a pair and before the other.
void group_by_tiles(std::span<const Record> calls, const std::vector<size_t>& tiled, std::vector<uint32_t>& groups);

inline bool is_tiled(const Record& call) { return call.op->flags & kTiled; }

// Runs such a pair; the first call's result is never stored. Null if a result has no memory or an operand failed
// before: then the calls must run one by one.
std::unique_ptr<Kernel> make_tiles_kernel(std::span<Record> calls);

}  // namespace slipstream::engine
