// Partial sorting: entries are dealt out by their highest digits that differ, and only those shares that hold a place
// asked for are looked at again.
#pragma once

#include <algorithm>
#include <bit>

#include "loops.h"

namespace slipstream::SLIP_ISA {

// sort(x, spare, n) sorts entries, with cpu::sort_room(n) in both; the result lies in one of them.
template <class E, void* (*sort)(void*, void*, int64_t)>
class Selection {
 public:
  Selection(E* x, E* spare) : x_(x), spare_(spare) {}

  void run(int64_t begin, int64_t end, const int64_t* places, const int64_t* places_end) {
    int64_t n = end - begin;
    if (places == places_end || n <= 1) return;
    if (n < kShort) return sort_short(begin, n);
    E differ = 0;
    for (int64_t i = begin + 1; i < end; i++) differ = static_cast<E>(differ | (x_[i] ^ x_[begin]));
    if (differ == 0) return;
    int shift = std::max(0, highest_bit(differ) - kDigit);
    int64_t starts[kShares + 1] = {};
    auto share = [shift](const E& e) { return static_cast<size_t>(e >> shift) & (kShares - 1); };
    for (int64_t i = begin; i < end; i++) starts[share(x_[i]) + 1]++;
    for (size_t s = 0; s < kShares; s++) starts[s + 1] += starts[s];
    for (int64_t i = begin; i < end; i++) spare_[starts[share(x_[i])]++] = x_[i];
    std::copy_n(spare_, n, x_ + begin);
    // Dealing moved every start to the start of the next share.
    int64_t first = begin;
    for (size_t s = 0; s < kShares && places < places_end; s++) {
      int64_t last = begin + starts[s];
      const int64_t* mine = places;
      while (places < places_end && *places < last) places++;
      run(first, last, mine, places);
      first = last;
    }
  }

 private:
  static constexpr int64_t kShort = 256;
  static constexpr int kDigit = 8;
  static constexpr size_t kShares = size_t{1} << kDigit;

  static int highest_bit(E v) {
    if constexpr (sizeof(E) == 16) {
      auto high = static_cast<uint64_t>(v >> 64);
      return high ? 64 + static_cast<int>(std::bit_width(high))
                  : static_cast<int>(std::bit_width(static_cast<uint64_t>(v)));
    } else {
      return static_cast<int>(std::bit_width(v));
    }
  }

  // Elsewhere, since what follows must not be touched.
  void sort_short(int64_t begin, int64_t n) {
    E here[cpu::sort_room(kShort)], there[cpu::sort_room(kShort)];
    std::copy_n(x_ + begin, n, here);
    std::copy_n(static_cast<E*>(sort(here, there, n)), n, x_ + begin);
  }

  E *x_, *spare_;
};

}  // namespace slipstream::SLIP_ISA
