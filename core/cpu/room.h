// Room for a kernel's own work: some blocks of one size, not initialised, from the engine's memory.
#pragma once

#include <cstdint>

#include "../engine/allocator.h"

namespace slipstream::cpu {

template <class E>
class Room {
 public:
  Room(int64_t size, int64_t blocks)
      : size_(size),
        bytes_(static_cast<size_t>(size * blocks) * sizeof(E)),
        memory_(bytes_ ? static_cast<E*>(engine::allocate({}, bytes_)) : nullptr) {}
  ~Room() {
    if (memory_) engine::deallocate({}, memory_, bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  E* operator[](int64_t block) { return memory_ + block * size_; }

 private:
  int64_t size_;
  size_t bytes_;
  E* memory_;
};

}  // namespace slipstream::cpu
