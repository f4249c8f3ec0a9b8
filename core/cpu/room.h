// Room for a kernel's own work: some blocks of one size, not initialised.
#pragma once

#include <cstdint>
#include <memory>

namespace slipstream::cpu {

template <class E>
class Room {
 public:
  Room(int64_t size, int64_t blocks)
      : size_(size), memory_(std::make_unique_for_overwrite<E[]>(static_cast<size_t>(size * blocks))) {}
  E* operator[](int64_t block) { return memory_.get() + block * size_; }

 private:
  int64_t size_;
  std::unique_ptr<E[]> memory_;
};

}  // namespace slipstream::cpu
