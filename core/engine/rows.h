// Calls that keep to their rows, run together: all of them on one block of rows, then on the next.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "../op.h"

namespace slipstream::engine {

// A reduction over inner axes, and what uses its result on the same rows, reads the same elements again and again:
// while they are in the cache, if every call does one block of rows before any does the next. Gives the number of the
// group that each call belongs to, 0 for none. The calls of a group are in their order, write nothing that existed
// before, and no call outside the group comes both after one of them and before another.
std::vector<uint32_t> group_by_rows(std::span<const Record> calls);

// Runs the calls of a group. Results that nobody else can read are kept for one block of rows only. Null if a result
// has no memory or an operand failed before: then the calls must run one by one.
std::unique_ptr<Kernel> make_rows_kernel(std::span<Record> calls);

}  // namespace slipstream::engine
