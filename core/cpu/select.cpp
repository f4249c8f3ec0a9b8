// Kernels of partition, argpartition and topk: entries are dealt out by their highest digits that differ, and only
// those shares that hold a place asked for are looked at again.
#include <algorithm>
#include <bit>

#include "../ops/sort.h"
#include "backend.h"
#include "complex_sort.h"
#include "convert.h"
#include "images.h"
#include "room.h"

namespace slipstream::cpu {

namespace {

template <class E>
int highest_bit(E v) {
  if constexpr (sizeof(E) == 16) {
    auto high = static_cast<uint64_t>(v >> 64);
    return high ? 64 + static_cast<int>(std::bit_width(high))
                : static_cast<int>(std::bit_width(static_cast<uint64_t>(v)));
  } else {
    return static_cast<int>(std::bit_width(v));
  }
}

// Entries of which those at some places are put where sorting would put them, smaller ones before and others behind.
template <class E>
class Selection {
 public:
  Selection(const SortLoops& loops, E* x, E* spare) : loops_(loops), x_(x), spare_(spare) {}

  void run(int64_t begin, int64_t end, const int64_t* places, const int64_t* places_end) {
    int64_t n = end - begin;
    if (places == places_end || n <= 1) return;
    if (n < kShort) return sort(begin, n);
    E differ = 0;
    for (int64_t i = begin + 1; i < end; i++) differ = static_cast<E>(differ | (x_[i] ^ x_[begin]));
    if (differ == 0) return;
    int shift = std::max(0, highest_bit(differ) - kDigit);
    int64_t starts[kShares + 1] = {};
    auto share = [shift](const E& e) { return static_cast<size_t>(e >> shift) & (kShares - 1); };
    for (int64_t i = begin; i < end; i++) starts[share(x_[i]) + 1]++;
    for (size_t s = 0; s < kShares; s++) starts[s + 1] += starts[s];
    deal(begin, end, starts, share);
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

  void sort(int64_t begin, int64_t n) {
    std::copy_n(x_ + begin, n, spare_);
    std::copy_n(static_cast<E*>(loops_.sort(spare_, spare_ + sort_room(n), n)), n, x_ + begin);
  }

  static constexpr int64_t kShort = 256;

 private:
  static constexpr int kDigit = 8;
  static constexpr size_t kShares = size_t{1} << kDigit;

  template <class F>
  void deal(int64_t begin, int64_t end, int64_t* starts, F share) {
    for (int64_t i = begin; i < end; i++) spare_[starts[share(x_[i])]++] = x_[i];
    std::copy_n(spare_, end - begin, x_ + begin);
  }

  const SortLoops& loops_;
  E *x_, *spare_;
};

// All of a line, or the first entries in order.
template <class S, class T, bool top>
class Select final : public Kernel {
  using E = typename S::Entry;
  using Out = typename S::Out;

 public:
  explicit Select(const Record& call)
      : params_(call.as<SelectParams>()),
        x_(reinterpret_cast<const T*>(call.inputs[0].data())),
        out_(reinterpret_cast<Out*>(call.outputs[0].data())),
        n_(call.inputs[0].shape.back()),
        most_(call.outputs[0].shape.back()),
        lines_(n_ ? call.inputs[0].size() / n_ : 0),
        per_chunk_(std::max<int64_t>(1, kSortChunk / std::max<int64_t>(n_, 1))) {}

  int64_t chunks(int) const override { return chunks_of(lines_, per_chunk_); }

  void run(int, int64_t chunk) override {
    int64_t sorted = top ? std::max(most_, Selection<E>::kShort) : Selection<E>::kShort;
    Room<E> x(n_, 1), spare(std::max(n_, 2 * sort_room(sorted)), 1);
    const int64_t *places = params_.places.data(), *places_end = places + params_.places.size();
    Selection<E> selection(loops_, x[0], spare[0]);
    for (int64_t line = chunk * per_chunk_; line < std::min(lines_, (chunk + 1) * per_chunk_); line++) {
      S::load(x[0], x_ + line * n_, 0, n_, params_.descending);
      selection.run(0, n_, places, places_end);
      if constexpr (top) selection.sort(0, most_);
      S::store(out_ + line * most_, x[0], most_, params_.descending);
    }
  }

 private:
  const SortLoops& loops_ = loops().sorts[static_cast<int>(S::kKind)];
  const SelectParams& params_;
  const T* x_;
  Out* out_;
  int64_t n_, most_, lines_, per_chunk_;
};

template <bool placed, bool top>
std::unique_ptr<Kernel> make_select(const Record& call) {
  const Operand& x = call.inputs[0];
  return visit(x.dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (kIsComplex<T>) {
      return std::make_unique<SortComplex<T, placed>>(call, call.as<SelectParams>().descending);
    } else {
      return with_entries<placed, T>(x.shape.back(), [&](auto entries) -> std::unique_ptr<Kernel> {
        return std::make_unique<Select<decltype(entries), T, top>>(call);
      });
    }
  });
}

}  // namespace

void register_select(engine::Backend& backend) {
  backend.provide(kPartition, make_select<false, false>);
  backend.provide(kArgpartition, make_select<true, false>);
  backend.provide(kTop, make_select<true, true>);
}

}  // namespace slipstream::cpu
