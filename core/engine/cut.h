// Where a long stream of calls is cut into batches: what is planned apart cannot be merged.
#pragma once

#include <span>

#include "../op.h"

namespace slipstream::engine {

// How many of the first calls, at most `most` and nearly as many, make a batch: so many that the fewest passing values
// are made in it and read after it.
size_t length_of_batch(std::span<const Record> calls, size_t most);

}  // namespace slipstream::engine
