// Large blocks of the machine's memory, straight from the system and back to it.
#pragma once

#include <cstddef>

namespace slipstream::engine {

// They begin on a huge page and ask for such pages: fewer faults at the first touch, fewer misses of the address cache.
// Null if there is no memory.
void* map_pages(size_t nbytes);
void unmap_pages(void* memory, size_t nbytes);

}  // namespace slipstream::engine
