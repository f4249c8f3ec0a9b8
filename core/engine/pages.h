// Large blocks of the machine's memory, straight from the system and back to it.
#pragma once

#include <cstddef>

namespace slipstream::engine {

// They begin on a huge page and ask for such pages: fewer faults at the first touch, fewer misses of the address cache.
// Null if there is no memory.
void* map_pages(size_t nbytes);
void* map_small_pages(size_t nbytes);  // of the usual size and place; throws std::bad_alloc
void unmap_pages(void* memory, size_t nbytes);

// Memory of vectors that are larger than what they hold: small pages, each there when it is first touched.
template <class T>
struct OnPages {
  using value_type = T;
  T* allocate(size_t n) { return static_cast<T*>(map_small_pages(n * sizeof(T))); }
  void deallocate(T* memory, size_t n) { unmap_pages(memory, n * sizeof(T)); }
  bool operator==(const OnPages&) const = default;
};

}  // namespace slipstream::engine
