// Rooms lie one after another in one block of the thread.
#include "thread_room.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "../error.h"
#include "pages.h"

namespace slipstream::engine {

namespace {

constexpr size_t kAlign = 64;
constexpr size_t kLeast = size_t{64} << 10;
// From this size on on huge pages. Where a block lies on small ones is chance, and with it which of its lines push each
// other out of the second cache: a product was now and then a quarter slower.
constexpr size_t kLarge = size_t{512} << 10, kHugePage = size_t{2} << 20;

[[noreturn]] void out_of_memory(size_t nbytes) {
  fail(ErrorKind::memory, "out of memory: ", nbytes, " bytes of room for a thread's work");
}

// The rooms of a thread lie one after another. One that no longer fits is a block of its own; when all are given up,
// the next one finds as much memory as was once used together.
struct Rooms {
  char* memory = nullptr;
  size_t size = 0, used = 0, most = 0;

  ~Rooms() { release(); }

  void release() {
    if (size >= kLarge)
      unmap_pages(memory, size);
    else
      std::free(memory);
    memory = nullptr;
    size = 0;
  }

  void grow() {
    release();
    size_t wanted = std::bit_ceil(std::max(most, kLeast));
    if (wanted >= kLarge) wanted = (most + kHugePage - 1) / kHugePage * kHugePage;
    memory = static_cast<char*>(wanted >= kLarge ? map_pages(wanted) : std::aligned_alloc(kAlign, wanted));
    if (!memory) out_of_memory(std::exchange(most, 0));
    size = wanted;
  }
};

thread_local Rooms rooms;

}  // namespace

ThreadBytes::ThreadBytes(size_t nbytes) : nbytes_((nbytes + kAlign - 1) / kAlign * kAlign) {
  size_t together = rooms.used + nbytes_;
  if (together > rooms.most) rooms.most = together;
  if (rooms.used == 0 && rooms.most > rooms.size) rooms.grow();
  own_ = !kShareBlock || together > rooms.size;
  void* block = nullptr;
  if (own_ && posix_memalign(&block, kAlign, nbytes) != 0) out_of_memory(nbytes);
  data_ = own_ ? static_cast<char*>(block) : rooms.memory + rooms.used;
  rooms.used = together;
}

ThreadBytes::~ThreadBytes() {
  rooms.used -= nbytes_;
  if (own_) std::free(data_);
}

}  // namespace slipstream::engine
