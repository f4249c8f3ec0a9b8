// StorageUse: the planner's memory of one storage, kept inside it.
#pragma once

#include <cstdint>

#include "../memory.h"

namespace slipstream::engine {

class Task;

// The task that last writes a storage and those that read what it wrote. Guarded by the planner's lock.
struct StorageUse {
  uint32_t generation = 0;  // of the engine whose tasks these are
  uint32_t operands = 0;    // on the storage, in the batch that was counted last
  Ref<Task> last_writer;
  SmallVec<Ref<Task>, 2> readers;
  uint64_t last_call = 0;   // number of the call that last writes it
  uint64_t needed_in = 0;   // number of the batch in which some kept call reads the storage
  uint64_t counted_in = 0;  // number of the batch that was counted last
  // Groups of calls that write and read it while they are put together, by number (fuse.cpp); 0 otherwise.
  uint8_t writing_groups = 0, reading_groups = 0;
};

}  // namespace slipstream::engine
