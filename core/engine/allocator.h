// Memory of devices: freed blocks are kept for reuse, within limits.
#pragma once

#include <cstdint>

#include "../array.h"

namespace slipstream::engine {

// Memory for at least `nbytes`, aligned to 64 bytes; never null. Raises Error(memory) if there is none.
void* allocate(Device device, size_t nbytes);
void deallocate(Device device, void* memory, size_t nbytes);
// No recorded call uses the storage any more: its bytes no longer count against the limit on results in flight.
void leave_flight(const Storage& storage);

}  // namespace slipstream::engine
