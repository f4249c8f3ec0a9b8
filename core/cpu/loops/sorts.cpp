// Sorting in memory: by vectors where the processor can; else short lines by a network over columns and merges of equal
// runs, long ones digit by digit. And merges of sorted runs. Equal entries cannot be told from each other, since they
// hold their places where these matter: every way gives the same.
#include <algorithm>
#include <array>
#include <utility>

#include "loops.h"
#include "sort_quick.h"
#include "sort_select.h"

namespace slipstream::SLIP_ISA {

namespace {

// Bits that are sorted by: all of a bare number, the upper half of one with a place below it.
template <class E, bool placed>
struct Sorter {
  static constexpr int kBits = static_cast<int>(8 * sizeof(E)) / (placed ? 2 : 1);
  static constexpr int kShift = placed ? kBits : 0;

  template <int kDigit>
  static size_t digit(E e, int pass) {
    return static_cast<size_t>(e >> (kShift + pass * kDigit)) & ((size_t{1} << kDigit) - 1);
  }

  // ---- merging

  // Two sorted runs on their way to one, an entry at a step.
  struct EntryMerge {
    struct State {
      const E *a, *b;
      E* out;
      void step() {
        E from_a = *a, from_b = *b;
        bool second = from_b < from_a;
        *out++ = second ? from_b : from_a;
        b += second;
        a += !second;
      }
    };
    State state;
    const E *a_end, *b_end;

    void start(const E* a, const E* a_last, const E* b, const E* b_last, E* out) {
      state = {a, b, out};
      a_end = a_last;
      b_end = b_last;
    }
    int64_t steps() const { return std::min(a_end - state.a, b_end - state.b); }  // safe without a look at the ends
    void finish() {
      for (int64_t n = steps(); n > 0; n = steps())
        for (; n > 0; n--) state.step();
      std::copy(state.b, b_end, std::copy(state.a, a_end, state.out));
    }
  };

  // How many of the first `n` entries of the merged runs come from `a`.
  static int64_t merged_from(const E* a, int64_t a_size, const E* b, int64_t b_size, int64_t n) {
    int64_t low = std::max<int64_t>(0, n - b_size), high = std::min(n, a_size);
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (b[n - middle - 1] < a[middle])
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  static auto merge_kind() {
    if constexpr (kByVectors<E>)
      return VectorMerge<E>{};
    else
      return EntryMerge{};
  }

  // Entries first .. last - 1 of the merged runs, to out[first ..]. Four pieces go side by side: one alone would spend
  // its time waiting for the comparison before.
  static void merge(const void* of_a, int64_t a_size, const void* of_b, int64_t b_size, int64_t first, int64_t last,
                    void* to) {
    auto *a = static_cast<const E*>(of_a), *b = static_cast<const E*>(of_b);
    E* out = static_cast<E*>(to);
    using Merge = decltype(merge_kind());
    Merge p[4];
    int64_t from = first, from_a = merged_from(a, a_size, b, b_size, from);
    for (int i = 0; i < 4; i++) {
      int64_t end = first + (last - first) * (i + 1) / 4, end_a = merged_from(a, a_size, b, b_size, end);
      p[i].start(a + from_a, a + end_a, b + (from - from_a), b + (end - end_a), out + from);
      from = end;
      from_a = end_a;
    }
    auto steps = [&] { return std::min(std::min(p[0].steps(), p[1].steps()), std::min(p[2].steps(), p[3].steps())); };
    for (int64_t n = steps(); n > 0; n = steps()) {
      auto p0 = p[0].state, p1 = p[1].state, p2 = p[2].state, p3 = p[3].state;  // in registers
      for (; n > 0; n--) {
        p0.step();
        p1.step();
        p2.step();
        p3.step();
      }
      p[0].state = p0, p[1].state = p1, p[2].state = p2, p[3].state = p3;
    }
    for (Merge& one : p) one.finish();
  }

  // Two runs of equal length, from both ends: no end can be passed before all is done.
  struct Ends {
    const E *a, *b, *a_last, *b_last;
    E *out, *out_last;
    Ends(const E* x, E* to, int64_t width)
        : a(x), b(x + width), a_last(b - 1), b_last(b + width - 1), out(to), out_last(to + 2 * width - 1) {}
    void step() {
      E x = *a, y = *b, u = *a_last, v = *b_last;
      bool second = y < x, last = u <= v;
      *out++ = second ? y : x;
      *out_last-- = last ? v : u;
      b += second;
      a += !second;
      b_last -= last;
      a_last -= !last;
    }
  };

  // Neighbouring runs of `width` entries become runs of twice that; there are an even number of them.
  static void merge_neighbours(const E* x, E* out, int64_t n, int64_t width) {
    int64_t i = 0;
    for (; i + 4 * width <= n; i += 4 * width) {
      Ends one(x + i, out + i, width), two(x + i + 2 * width, out + i + 2 * width, width);
      for (int64_t k = 0; k < width; k++) {
        one.step();
        two.step();
      }
    }
    if (i < n) {
      Ends one(x + i, out + i, width);
      for (int64_t k = 0; k < width; k++) one.step();
    }
  }

  // ---- short lines

  static constexpr int64_t kRun = 16, kColumns = 32;

  // Batcher's network: sorts the columns of a table of 16 rows.
  template <int64_t width>
  static void sort_columns(E (&table)[kRun][kColumns]) {
    for (int64_t p = 1; p < kRun; p *= 2)
      for (int64_t k = p; k >= 1; k /= 2)
        for (int64_t j = k % p; j + k < kRun; j += 2 * k)
          for (int64_t i = 0; i < k; i++) {
            if ((i + j) / (2 * p) != (i + j + k) / (2 * p)) continue;
            E *low = table[i + j], *high = table[i + j + k];
            for (int64_t c = 0; c < width; c++) {
              E a = low[c], b = high[c];
              low[c] = a < b ? a : b;
              high[c] = a < b ? b : a;
            }
          }
  }

  // Sorted runs of `rows` entries, of which there are `columns`.
  static void make_runs(const E* x, E* out, int64_t rows, int64_t columns) {
    E table[kRun][kColumns] = {};
    for (int64_t first = 0; first < columns; first += kColumns) {
      int64_t width = std::min(kColumns, columns - first);
      for (int64_t r = 0; r < kRun; r++) {
        if (r < rows)
          std::copy_n(x + r * columns + first, width, table[r]);
        else
          std::fill_n(table[r], width, static_cast<E>(-1));
      }
      width <= 4 ? sort_columns<4>(table) : width <= 8 ? sort_columns<8>(table) : sort_columns<kColumns>(table);
      for (int64_t c = 0; c < width; c++)
        for (int64_t r = 0; r < rows; r++) out[(first + c) * rows + r] = table[r][c];
    }
  }

  static E* merge_sort(E* x, E* spare, int64_t n) {
    int64_t columns = 1;
    while (columns * kRun < n) columns *= 2;
    int64_t rows = (n + columns - 1) / columns, all = rows * columns;
    std::fill(x + n, x + all, static_cast<E>(-1));
    make_runs(x, spare, rows, columns);
    for (int64_t width = rows; width < all; width *= 2) {
      std::swap(x, spare);
      merge_neighbours(x, spare, all, width);
    }
    return spare;
  }

  static void insertion_sort(E* x, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
      E e = x[i];
      int64_t j = i;
      for (; j > 0 && e < x[j - 1]; j--) x[j] = x[j - 1];
      x[j] = e;
    }
  }

  // ---- long lines

  // Digits from the lowest; those that all entries share are passed over.
  template <int kDigit>
  static E* radix_sort(E* x, E* spare, int64_t n) {
    constexpr int kPasses = (kBits + kDigit - 1) / kDigit;
    uint32_t counts[kPasses][size_t{1} << kDigit] = {};
    for (int64_t i = 0; i < n; i++)
      for (int p = 0; p < kPasses; p++) counts[p][digit<kDigit>(x[i], p)]++;
    for (int p = 0; p < kPasses; p++) {
      if (counts[p][digit<kDigit>(x[0], p)] == n) continue;
      uint32_t at = 0;
      for (uint32_t& start : counts[p]) at += std::exchange(start, at);
      for (int64_t i = 0; i < n; i++) spare[counts[p][digit<kDigit>(x[i], p)]++] = x[i];
      std::swap(x, spare);
    }
    return x;
  }

  static void* sort(void* entries, void* room, int64_t n) {
    auto *x = static_cast<E*>(entries), *spare = static_cast<E*>(room);
    if (n <= (kByVectors<E> ? 8 : kRun)) {
      insertion_sort(x, n);
      return x;
    }
    if constexpr (kByVectors<E>) {
      QuickSort<E, &radix_sort<11>>::run(x, spare, n, WholeLine{});
      return x;
    }
    // Where digits begin to be faster, as measured.
    constexpr int64_t kMerged = kBits <= 8 ? 64 : kBits <= 16 ? 256 : kBits <= 32 ? 3000 : placed ? 1500 : 32768;
    if (n <= kMerged) return merge_sort(x, spare, n);
    return kBits > 16 ? radix_sort<11>(x, spare, n) : radix_sort<8>(x, spare, n);
  }

  static void select(void* entries, void* room, int64_t n, const int64_t* places, const int64_t* places_end) {
    auto *x = static_cast<E*>(entries), *spare = static_cast<E*>(room);
    if constexpr (kByVectors<E>)
      QuickSort<E, &radix_sort<11>>::run(x, spare, n, SomePlaces{places, places_end});
    else
      Selection<E, &sort>(x, spare).run(0, n, places, places_end);
  }

  static constexpr cpu::SortLoops kLoops = {&sort, &select, &merge};
};

}  // namespace

void fill_sorts(Loops& loops) {
  using enum cpu::Sorted;
  auto at = [&](cpu::Sorted kind) -> cpu::SortLoops& { return loops.sorts[static_cast<int>(kind)]; };
  at(u8) = Sorter<uint8_t, false>::kLoops;
  at(u16) = Sorter<uint16_t, false>::kLoops;
  at(u32) = Sorter<uint32_t, false>::kLoops;
  at(u64) = Sorter<uint64_t, false>::kLoops;
  at(placed32) = Sorter<uint64_t, true>::kLoops;
  at(placed64) = Sorter<unsigned __int128, true>::kLoops;
}

}  // namespace slipstream::SLIP_ISA
