// Programs of merged calls, kept by what they were made of: a loop merges the same calls again and again.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "../program.h"

namespace slipstream::engine {

// All that a program is made from, in words of one meaning at each place.
class ProgramKey {
 public:
  void clear() { words_.clear(); }
  void add(uint64_t word) { words_.push_back(word); }
  void add(const Scalar& value) {
    add(static_cast<uint64_t>(value.kind) << 1 | value.is_unsigned);
    add(value.u);
    add(std::bit_cast<uint64_t>(value.im));
  }
  uint64_t hash() const {
    uint64_t hash = words_.size();
    for (uint64_t word : words_) hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
  }
  bool operator==(const ProgramKey&) const = default;

 private:
  std::vector<uint64_t> words_;
};

class FusedPrograms {
 public:
  // The program kept for the key, or made now.
  template <class Make>
  std::shared_ptr<const Program> get(const ProgramKey& key, Make make) {
    Kept& place = kept_[key.hash() % kept_.size()];
    if (place.program && place.key == key) return place.program;
    place.program = nullptr;
    place.key = key;
    return place.program = make();
  }

 private:
  struct Kept {
    ProgramKey key;
    std::shared_ptr<const Program> program;
  };
  std::array<Kept, 256> kept_;
};

}  // namespace slipstream::engine
