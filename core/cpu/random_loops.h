// The vector loops of random numbers, one table per instruction set; all give the same bits.
#pragma once

#include <cstdint>

namespace slipstream::cpu {

// Philox4x32-10 turns (key, block number) into four 32-bit words. Sixteen blocks are a group, the unit that generators
// count in: its 64 words lie in the order word 0 of all blocks, word 1 of all blocks, ... so that vectors need no
// shuffles.
inline constexpr int64_t kGroupBlocks = 16;
inline constexpr int64_t kGroupWords = 4 * kGroupBlocks;

struct RandomLoops {
  // Each fills `groups` groups, from group `first` of the generator on.
  void (*words)(uint32_t* out, uint64_t key, uint64_t first, int64_t groups);
  // low + u * range, where u in [0, 1) has 24 bits, or 53; values that round up to high become `below`.
  void (*uniform32)(float* out, uint64_t key, uint64_t first, int64_t groups, float low, float range, float below);
  void (*uniform64)(double* out, uint64_t key, uint64_t first, int64_t groups, double low, double range, double below);
  // mean + deviation * z, where z is normal: 64 floats a group, 32 doubles a group.
  void (*normal32)(float* out, uint64_t key, uint64_t first, int64_t groups, float mean, float deviation);
  void (*normal64)(double* out, uint64_t key, uint64_t first, int64_t groups, double mean, double deviation);
};
const RandomLoops& random_loops();

// One block, for the few elements that need more numbers than their share.
void philox(uint64_t key, uint64_t block, uint32_t attempt, uint32_t out[4]);

}  // namespace slipstream::cpu
