// Kernels of sort and argsort. Many lines: some to a chunk. A long line: blocks are sorted, then merged pair by pair,
// every merge cut into equal pieces of its result.
#include "../ops/sort.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "backend.h"
#include "complex_sort.h"
#include "convert.h"
#include "images.h"
#include "room.h"

namespace slipstream::cpu {

namespace {

// NaN has one image, so that its bits may change; zeros have two, though they are equal. This gives them the order that
// they had in x.
template <class T>
void restore_zeros(T* sorted, const T* x, int64_t n, bool descending) {
  if constexpr (kIsFloat<T>) {
    using I = Image<T>;
    auto key = [&](const T& v) { return static_cast<typename I::Key>(I::of(v) ^ (descending ? I::kLast : 0)); };
    auto edge = [&](typename I::Key k) {  // the first that is not before k
      return std::partition_point(sorted, sorted + n, [&](const T& v) { return key(v) < k; });
    };
    // Both zeros are neighbours among the images, whichever comes first: the second is kSign.
    constexpr auto first = static_cast<typename I::Key>(I::kSign - 1);
    T* middle = edge(I::kSign);
    if (middle == sorted || middle == sorted + n || key(middle[-1]) != first || key(*middle) != I::kSign) return;
    T *begin = edge(first), *end = edge(static_cast<typename I::Key>(I::kSign + 1));
    for (const T* v = x; begin < end; v++)
      if (I::of_value(*v) == I::kZero) *begin++ = *v;
  }
}

template <class S, class T, bool placed>
class SortLines final : public Kernel {
  using E = typename S::Entry;
  using Out = typename S::Out;

 public:
  explicit SortLines(const Record& call)
      : x_(reinterpret_cast<const T*>(call.inputs[0].data())),
        out_(reinterpret_cast<Out*>(call.outputs[0].data())),
        n_(call.inputs[0].shape.back()),
        lines_(n_ ? call.inputs[0].size() / n_ : 0),
        per_chunk_(std::max<int64_t>(1, kSortChunk / std::max<int64_t>(n_, 1))),
        descending_(call.as<SortParams>().descending) {}

  int64_t chunks(int) const override { return chunks_of(lines_, per_chunk_); }

  void run(int, int64_t chunk) override {
    Room<E> room(sort_room(n_), 2);
    for (int64_t line = chunk * per_chunk_; line < std::min(lines_, (chunk + 1) * per_chunk_); line++) {
      const T* x = x_ + line * n_;
      Out* out = out_ + line * n_;
      S::load(room[0], x, 0, n_, descending_);
      S::store(out, static_cast<E*>(loops_.sort(room[0], room[1], n_)), n_, descending_);
      if constexpr (!placed) restore_zeros(out, x, n_, descending_);
    }
  }

 private:
  const SortLoops& loops_ = loops().sorts[static_cast<int>(S::kKind)];
  const T* x_;
  Out* out_;
  int64_t n_, lines_, per_chunk_;
  bool descending_;
};

template <class S, class T, bool placed>
class SortLong final : public Kernel {
  using E = typename S::Entry;
  using Out = typename S::Out;
  static constexpr int64_t kPiece = 1 << 16;  // entries of a merge's result in one chunk

 public:
  explicit SortLong(const Record& call)
      : x_(reinterpret_cast<const T*>(call.inputs[0].data())),
        out_(reinterpret_cast<Out*>(call.outputs[0].data())),
        n_(call.inputs[0].shape.back()),
        lines_(call.inputs[0].size() / n_),
        blocks_(std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n_ / kPiece))), 1,
                                    kMostBlocks)),
        levels_(std::countr_zero(static_cast<uint64_t>(blocks_))),
        block_((n_ + blocks_ - 1) / blocks_),
        pieces_(chunks_of(n_, kPiece)),
        stride_(sort_room(block_)),  // so that a block has the room it needs
        descending_(call.as<SortParams>().descending),
        room_(lines_ * blocks_ * stride_, 2) {}

  int phases() const override { return 1 + levels_ + (!placed && kIsFloat<T>); }
  int64_t chunks(int phase) const override {
    if (phase == 0) return lines_ * blocks_;
    return phase <= levels_ ? lines_ * pieces_ : lines_;
  }

  void run(int phase, int64_t chunk) override {
    if (phase == 0) {
      sort_block(chunk);
    } else if (phase <= levels_) {
      merge_piece(phase, chunk / pieces_, chunk % pieces_);
    } else if constexpr (!placed) {
      restore_zeros(out_ + chunk * n_, x_ + chunk * n_, n_, descending_);
    }
  }

 private:
  // Runs of a level begin so far into their line's room. Sorted blocks have gaps between them, merged ones have none.
  int64_t run_at(int level, int64_t run) const {
    return level == 0 ? run * stride_ : std::min(n_, (run << level) * block_);
  }
  int64_t run_size(int level, int64_t run) const {
    return std::min(n_, ((run + 1) << level) * block_) - std::min(n_, (run << level) * block_);
  }
  E* line_room(int level, int64_t line) { return room_[level % 2] + line * blocks_ * stride_; }

  void sort_block(int64_t chunk) {
    int64_t line = chunk / blocks_, block = chunk % blocks_, n = run_size(0, block);
    E* x = line_room(0, line) + run_at(0, block);
    E* spare = line_room(1, line) + run_at(0, block);
    int64_t first = std::min(n_, block * block_);
    S::load(x, x_ + line * n_ + first, first, n, descending_);
    auto* sorted = static_cast<E*>(loops_.sort(x, spare, n));
    if (levels_ == 0)
      S::store(out_ + line * n_, sorted, n, descending_);
    else if (sorted != x)
      std::copy_n(sorted, n, x);
  }

  // Level by level, runs of the one before are merged in pairs; a piece may hold the end of one pair and the next.
  void merge_piece(int level, int64_t line, int64_t piece) {
    const E* from = line_room(level - 1, line);
    E* to = line_room(level, line);
    int64_t begin = piece * kPiece, end = std::min(n_, begin + kPiece);
    int64_t width = block_ << level;
    for (int64_t run = begin / width; run * width < end; run++) {
      int64_t start = run * width, first = std::max(begin, start) - start,
              last = std::min({end, n_, start + width}) - start;
      loops_.merge(from + run_at(level - 1, 2 * run), run_size(level - 1, 2 * run),
                   from + run_at(level - 1, 2 * run + 1), run_size(level - 1, 2 * run + 1), first, last, to + start);
    }
    if (level == levels_) S::store(out_ + line * n_ + begin, to + begin, end - begin, descending_);
  }

  static constexpr int64_t kMostBlocks = 64;
  const SortLoops& loops_ = loops().sorts[static_cast<int>(S::kKind)];
  const T* x_;
  Out* out_;
  int64_t n_, lines_, blocks_;
  int levels_;
  int64_t block_, pieces_, stride_;
  bool descending_;
  Room<E> room_;
};

// A long line is worth cutting where there are few of them, or where one alone would keep a thread for long.
bool is_long(int64_t n, int64_t lines) { return n >= (1 << 17) && (lines < 16 || n >= (1 << 21)); }

template <bool placed>
std::unique_ptr<Kernel> make_sort(const Record& call) {
  const Operand& x = call.inputs[0];
  int64_t n = x.shape.back();
  bool lengthy = n > 0 && is_long(n, x.size() / n);
  return visit(x.dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (kIsComplex<T>) {
      return std::make_unique<SortComplex<T, placed>>(call, call.as<SortParams>().descending);
    } else {
      return with_entries<placed, T>(n, [&](auto entries) -> std::unique_ptr<Kernel> {
        using S = decltype(entries);
        if (lengthy) return std::make_unique<SortLong<S, T, placed>>(call);
        return std::make_unique<SortLines<S, T, placed>>(call);
      });
    }
  });
}

}  // namespace

void register_sort(engine::Backend& backend) {
  backend.provide(kSort, make_sort<false>);
  backend.provide(kArgsort, make_sort<true>);
}

}  // namespace slipstream::cpu
