// The vector loops of one instruction set, and the choice among them at run time.
#pragma once

#include <array>

#include "../dtype.h"
#include "../rows.h"
#include "conv_blocks.h"
#include "pool_rows.h"

namespace slipstream::cpu {

// An argument of a loop: dense elements, or one value for all of them, which stands there kRepeated times.
struct Argument {
  const void* data;
  bool repeated;
};
inline constexpr int64_t kRepeated = 64;

// out[i] = row(in[0][i], ...) for n dense elements. An input may be the output itself, but not overlap it otherwise.
using MapLoop = void (*)(void* out, const Argument* in, int64_t n);

// The pieces of a reduction's fixed tree.
struct ReduceLoops {
  // out[j] = the reduction of x[j * n .. (j + 1) * n), for j < rows, over a fixed number of lanes.
  void (*leaves)(void* out, const void* x, int64_t n, int64_t rows) = nullptr;
  // out[k] = x[k] op x[stride + k] op ... (rows of them), for k < width.
  void (*fold)(void* out, const void* x, int64_t stride, int64_t rows, int64_t width) = nullptr;
  // into[k] = into[k] op x[k].
  void (*combine)(void* into, const void* x, int64_t width) = nullptr;
  // Every NaN among n results becomes the same one; null where there are none. Which of two NaNs an operation gives is
  // the compiler's choice, another one in each of the loops above.
  void (*settle)(void* results, int64_t n) = nullptr;
};

// The pieces of argmin and argmax.
struct SearchLoops {
  // The best of each of `width` adjacent columns, whose `rows` elements are `pitch` bytes apart, and its first row.
  void (*columns)(const char* from, int64_t pitch, int64_t rows, int64_t width, void* best, int64_t* at) = nullptr;
  // The best of n dense elements; returns its first place.
  int64_t (*line)(const void* x, int64_t n, void* best) = nullptr;
};
inline constexpr int64_t kSearchWidth = 256;  // columns at most, to `columns`

// out[i] = carry + x[0] + ... + x[i]; the last of them is the new carry.
using ScanLoop = void (*)(void* out, const void* x, int64_t n, void* carry);

// What sorts move: unsigned numbers, or numbers with the place they came from below them, in as many bits again.
enum class Sorted : uint8_t { u8, u16, u32, u64, placed32, placed64 };
inline constexpr int kSortedKinds = 6;
struct SortLoops {
  // Sorts n entries (fewer than 2^32). x and spare have room for sort_room(n); the result lies in one of them.
  void* (*sort)(void* x, void* spare, int64_t n) = nullptr;
  // Puts those entries of x where sorting would that it would put at some places (ascending), smaller ones before and
  // others behind them. Room as above; the result lies in x.
  void (*select)(void* x, void* spare, int64_t n, const int64_t* places, const int64_t* places_end) = nullptr;
  // Entries first .. last - 1 of two sorted runs merged, to out[first ..].
  void (*merge)(const void* a, int64_t a_size, const void* b, int64_t b_size, int64_t first, int64_t last,
                void* out) = nullptr;
};
inline constexpr int64_t sort_room(int64_t n) { return n + n / 8 + 16; }

// c = a b. Rows of b and c are dense; distances in elements.
template <class T>
struct SmallProduct {
  const T *a, *b;
  T* c;
  int64_t rows, columns, depth;
  int64_t a_down, a_right, b_down, c_down;
};

// Rows of float32 and float64 that run two in one loop, but for two functions: storing what lies between would cost as
// much as computing it.
inline constexpr std::array kPaired = {Row::add,     Row::subtract, Row::multiply, Row::divide, Row::maximum,
                                       Row::minimum, Row::negative, Row::abs,      Row::square, Row::sqrt,
                                       Row::exp,     Row::tanh,     Row::relu};
constexpr bool is_function(Row row) { return row == Row::exp || row == Row::tanh; }
constexpr bool runs_as_pair(Row first, Row second) {
  if (first == Row::relu || second == Row::relu) return first == Row::add;  // a bias before it
  return !(is_function(first) && is_function(second));
}

struct Loops {
  MapLoop map[kRowCount][kDTypeCount] = {};      // by row and type of the arguments
  MapLoop cast[kDTypeCount][kDTypeCount] = {};  // by source and target; pairs without a loop go through another type
  // By type (1: float64), first and second row of kPaired, and whether the second takes the first's value on its right;
  // null where they do not run as a pair.
  MapLoop pair[2][kPaired.size()][kPaired.size()][2] = {};
  ReduceLoops reduce[kRowCount][kDTypeCount] = {};
  // to[r * pitch + c] = from[r * row_step + c * column_step] (steps in bytes, row_step small), by log2 of the size.
  void (*transpose[5])(void* to, int64_t pitch, const char* from, int64_t rows, int64_t columns, int64_t row_step,
                       int64_t column_step) = {};
  // to[i] = from[i * step] (step in bytes), by log2 of the size.
  void (*gather[5])(void* to, const char* from, int64_t step, int64_t n) = {};
  void (*small_f32)(const SmallProduct<float>&) = nullptr;
  void (*small_f64)(const SmallProduct<double>&) = nullptr;
  SearchLoops search[2][kDTypeCount] = {};  // [1]: for the largest
  ScanLoop scan[2][kDTypeCount] = {};  // [1]: products
  SortLoops sorts[kSortedKinds] = {};
  ConvLoops<float> conv_f32;
  ConvLoops<double> conv_f64;
  PoolLoops<float> pool_f32;
  PoolLoops<double> pool_f64;
};

// The loops in use: the best that the processor can run, unless one was chosen.
const Loops& loops();
// "v2", "v3", "v4" (x86-64 levels) or "base"; raises if the processor cannot run it. Before the first call that
// computes.
void choose_isa(const char* name);
const char* isa();

}  // namespace slipstream::cpu
