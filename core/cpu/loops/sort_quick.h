// Vector sorts of 32- and 64-bit numbers: lines are divided at pivots until their parts fit a network of registers. And
// merges of two sorted runs, a vector at a time.
#pragma once

#include <algorithm>

#include "sort_vectors.h"

namespace slipstream::SLIP_ISA {

// All of a line is to be sorted.
struct WholeLine {
  bool none() const { return false; }
  WholeLine before(int64_t) const { return {}; }
  WholeLine from(int64_t) const { return {}; }
};

// Only what belongs at some places, in ascending order, must get there. Counted from the start of the line.
struct SomePlaces {
  const int64_t *first, *last;
  int64_t start = 0;  // of the part at hand
  bool none() const { return first == last; }
  SomePlaces before(int64_t n) const { return {first, split(n), start}; }
  SomePlaces from(int64_t n) const { return {split(n), last, start + n}; }
  const int64_t* split(int64_t n) const {
    const int64_t* at = first;
    while (at < last && *at < start + n) at++;
    return at;
  }
};

template <class E, E* (*fallback)(E*, E*, int64_t)>
struct QuickSort;
template <class E>
struct VectorMerge;

#if !defined(__AVX2__)
template <class E>
inline constexpr bool kByVectors = false;
#else
template <class E>
inline constexpr bool kByVectors = std::is_same_v<E, uint32_t> || std::is_same_v<E, uint64_t>;

// fallback(x, spare, n) sorts lines that pivots divide badly; the result lies in one of both.
template <class E, E* (*fallback)(E*, E*, int64_t)>
struct QuickSort {
  using X = VectorTools<E>;
  using V = typename X::V;
  static constexpr int kWidth = X::kWidth;
  static constexpr int64_t kSmall = 16 * kWidth;

  // Sorts n entries of x, or as much as puts the wanted ones right. Both have room for a vector behind n.
  template <class Wanted>
  static void run(E* x, E* spare, int64_t n, Wanted wanted) {
    divide(x, spare, n, true, 2 * static_cast<int>(std::bit_width(static_cast<uint64_t>(n))), wanted);
  }

 private:
  // The result goes to x if it stays, else to the same place of `other`. Parts are divided from one to the other.
  template <class Wanted>
  static void divide(E* x, E* other, int64_t n, bool stays, int depth, Wanted wanted) {
    for (; n > kSmall && !wanted.none(); stays = !stays) {
      if (depth-- == 0) return settle(fallback(x, other, n), stays ? x : other, n);
      E middle = pivot(x, n);
      int64_t k = part<false>(x, n, middle, other);
      if (k > 0) {
        divide(other, x, k, !stays, depth, wanted.before(k));
      } else {  // none is below the pivot: those that equal it are in place
        k = part<true>(x, n, middle, other);
        if (stays) std::fill_n(x, k, middle);
      }
      wanted = wanted.from(k);
      n -= k;
      E* rest = other + k;
      other = x + k;
      x = rest;
    }
    if (wanted.none())
      settle(x, stays ? x : other, n);
    else if (n <= kSmall / 2)
      sort_small<8>(x, n, stays ? x : other);
    else
      sort_small<16>(x, n, stays ? x : other);
  }

  static void settle(const E* from, E* to, int64_t n) {
    if (from != to) std::copy_n(from, n, to);
  }

  // ---- networks

  template <int rows>
  [[gnu::noinline]] static void sort_small(const E* x, int64_t n, E* out) {
    V v[rows], columns[rows];
    alignas(32) E filled[rows * kWidth];
    if (n < rows * kWidth) {
      fill(filled, rows, x, n);
      x = filled;
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) v[r] = X::load(x + r * kWidth);
    X::template sort_columns<rows>(v);
    constexpr int kDepth = rows / kWidth;  // vectors to a column
#pragma GCC unroll 16
    for (int r = 0; r < rows; r += kWidth) {
      X::transpose(v + r);
#pragma GCC unroll 16
      for (int c = 0; c < kWidth; c++) columns[c * kDepth + r / kWidth] = v[r + c];
    }
    X::template merge_runs<rows, kDepth>(columns);
    E* to = n < rows * kWidth ? filled : out;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) X::store(to + r * kWidth, columns[r]);
    if (to == filled) unfill(out, filled, n);
  }

  // x, and the last of all numbers behind it. Whole vectors are read, so that they are ready to be loaded again.
  static void fill(E* filled, int64_t rows, const E* x, int64_t n) {
    int64_t whole = n / kWidth * kWidth;
    for (int64_t i = 0; i < whole; i += kWidth) X::store(filled + i, X::load(x + i));
    auto past = X::iota() >= (V{} + static_cast<decltype(X::kFlip)>(n - whole));
    X::store(filled + whole, past ? X::all(X::kLast) : X::load(x + whole));
    for (int64_t i = whole + kWidth; i < rows * kWidth; i += kWidth) X::store(filled + i, X::all(X::kLast));
  }
  static void unfill(E* out, const E* filled, int64_t n) {
    if (n < kWidth) {
      for (int64_t i = 0; i < n; i++) out[i] = filled[i];
      return;
    }
    for (int64_t i = 0; i + kWidth <= n; i += kWidth) X::store(out + i, X::load(filled + i));
    X::store(out + n - kWidth, X::load(filled + n - kWidth));
  }

  // ---- pivots

  static E middle_of(E a, E b, E c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }
  static E middle_of_nine(const E* x, int64_t step) {
    return middle_of(middle_of(x[0], x[step], x[2 * step]), middle_of(x[3 * step], x[4 * step], x[5 * step]),
                     middle_of(x[6 * step], x[7 * step], x[8 * step]));
  }
  static E pivot(const E* x, int64_t n) {
    if (n < 1024) return middle_of_nine(x + n / 18, n / 9);
    int64_t step = n / 81;
    E middles[9];
    for (int64_t i = 0; i < 9; i++) middles[i] = middle_of_nine(x + step / 2 + i * step, 9 * step);
    return middle_of_nine(middles, 1);
  }

  // Entries below the pivot (with_equal: or equal to it) to the start of `to`, the others to its end; returns the
  // number of the former. Each vector is written whole to both sides: what is too much lies in the gap between them, as
  // long as that is so many whole vectors wide.
  template <bool with_equal>
  [[gnu::noinline]] static int64_t part(const E* x, int64_t n, E pivot, E* to) {
    E *low = to, *high = to + n;
    int64_t i = 0;
    for (; i < n % kWidth; i++) {
      E e = x[i];
      bool first = with_equal ? e <= pivot : e < pivot;
      *low = e;
      high[-1] = e;
      low += first;
      high -= !first;
    }
    V pivots = X::all(pivot);
    auto place = [&](V v) __attribute__((always_inline)) {
      unsigned first = with_equal ? X::below(pivots, v) ^ ((1u << kWidth) - 1) : X::below(v, pivots);
      V parted = X::divided(v, first);
      int64_t count = __builtin_popcount(first);
      X::store(low, parted);
      X::store(high - kWidth, parted);
      low += count;
      high -= kWidth - count;
    };
    for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
      V v[4];
      for (int k = 0; k < 4; k++) v[k] = X::load(x + i + k * kWidth);
      for (int k = 0; k < 4; k++) place(v[k]);
    }
    for (; i < n; i += kWidth) place(X::load(x + i));
    return low - to;
  }
};

// Two sorted runs on their way to one, a vector at a step. The vector at hand holds the least of what was read; the
// next comes from the run that begins with less.
template <class E>
struct VectorMerge {
  using X = VectorTools<E>;
  using V = typename X::V;
  static constexpr int64_t kWidth = X::kWidth;

  // What steps touch, few enough for registers.
  struct State {
    const E *a, *b;
    E* out;
    V rest;
    // Without a branch, which would be guessed wrong half of the time.
    [[gnu::always_inline]] V take() {
      auto from_b = -static_cast<int64_t>(*b < *a);
      auto at_a = reinterpret_cast<uintptr_t>(a), at_b = reinterpret_cast<uintptr_t>(b);
      V next = X::load(reinterpret_cast<const E*>(at_a ^ ((at_a ^ at_b) & static_cast<uintptr_t>(from_b))));
      b += from_b & kWidth;
      a += ~from_b & kWidth;
      return next;
    }
    [[gnu::always_inline]] void step() {
      X::store(out, X::merge(rest, take()));
      out += kWidth;
    }
  };

  State state;
  const E *a_end, *b_end;
  E* out_end;
  E a_tail[2 * kWidth], b_tail[2 * kWidth];

  void start(const E* a, const E* a_last, const E* b, const E* b_last, E* out) {
    state.a = a;
    state.b = b;
    state.out = out;
    a_end = a_last;
    b_end = b_last;
    out_end = out + (a_last - a) + (b_last - b);
    refill();
    state.rest = state.take();
  }
  // That are safe before the next refill.
  int64_t steps() const { return std::min(std::min(a_end - state.a, b_end - state.b), out_end - state.out) / kWidth; }
  void finish() {
    while (out_end - state.out >= kWidth) {
      refill();
      State s = state;
      for (int64_t n = steps(); n > 0; n--) s.step();
      state = s;
    }
    if (state.out == out_end) return;
    refill();
    E last[kWidth];
    X::store(last, X::merge(state.rest, state.take()));
    std::copy_n(last, out_end - state.out, state.out);
  }

 private:
  void refill() {
    refill(state.a, a_end, a_tail);
    refill(state.b, b_end, b_tail);
  }
  // A run that has no whole vector left goes on from its tail, which the last of all numbers follow.
  static void refill(const E*& at, const E*& end, E* tail) {
    if (end - at >= kWidth) return;
    std::fill(std::copy(at, end, tail), tail + 2 * kWidth, X::kLast);
    at = tail;
    end = tail + 2 * kWidth;
  }
};

#endif

}  // namespace slipstream::SLIP_ISA
