// The kernel of scatter. Choices that name one element must be written in their order, whoever writes them: many of
// them are first sorted into buckets by where they write, and a bucket is one chunk's.
#include "backend.h"
#include "index.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kSorted = 1 << 14;  // choices sorted together
constexpr int64_t kMany = 1 << 14;    // from so many choices on they are sorted
constexpr int kBuckets = 64;          // at most

struct Set {
  template <class T>
  static T value(T, T given) {
    return given;
  }
};
struct Add {
  template <class T>
  static T value(T there, T given) {
    if constexpr (std::is_same_v<T, bool>)
      return there || given;
    else
      return narrow<T>(widen(there) + widen(given));
  }
};

template <class T, class How>
void write(char* x, const char* values, const Choices& c, const Run& run) {
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  bool dense = run.x == size && run.other == size;
  for (int64_t i = 0; i < c.n; i++) {
    char* to = x + c.x[i];
    const char* from = values + c.other(i);
    if (run.n == 1) {
      store(to, How::value(load<T>(to), load<T>(from)));
    } else if (dense && std::is_same_v<How, Set>) {
      std::memcpy(to, from, static_cast<size_t>(run.n * size));
    } else if (dense) {
      for (int64_t k = 0; k < run.n; k++)
        store(to + k * size, How::value(load<T>(to + k * size), load<T>(from + k * size)));
    } else {
      for (int64_t k = 0; k < run.n; k++)
        store(to + k * run.x, How::value(load<T>(to + k * run.x), load<T>(from + k * run.other)));
    }
  }
}

using Write = void (*)(char*, const char*, const Choices&, const Run&);
Write writer(DType dtype, bool add) {
  if (!add) return by_size(itemsize(dtype), [](auto zero) -> Write { return write<decltype(zero), Set>; });
  return visit(dtype, [](auto zero) -> Write { return write<decltype(zero), Add>; });
}

class Scatter final : public Kernel {
 public:
  explicit Scatter(const Record& call)
      : x_(call.outputs[0].data()),
        values_(call.inputs[0].data()),
        write_(writer(call.outputs[0].dtype, call.as<IndexParams>().add)),
        positions_(call.outputs[0], call.inputs[0], std::span(call.inputs.begin() + 1, call.inputs.end()),
                   call.as<IndexParams>(), true),
        cut_(positions_, call.as<IndexParams>().unique ? positions_.choices() : INT64_MAX) {
    int64_t n = positions_.choices();
    bool free = call.as<IndexParams>().unique || n == 1;
    if (!free) {
      cut_.choices_per = std::max<int64_t>(n, 1);
      cut_.choice_parts = 1;
      split_copies();
    }
    if (!free && n >= kMany && positions_.copies() > 0) prepare_buckets();
  }

  int phases() const override { return buckets_ ? 2 : 1; }
  int64_t chunks(int phase) const override {
    if (!buckets_) return cut_.chunks();
    return phase == 0 ? chunks_of(positions_.choices(), kSorted) : buckets_ * cut_.chunks();
  }

  void run(int phase, int64_t chunk) override {
    if (!buckets_)
      write_part(chunk, -1);
    else if (phase == 0)
      sort(chunk);
    else
      write_part(chunk / buckets_, static_cast<int>(chunk % buckets_));
  }

 private:
  // Chunks that all go over every choice share the copies among them, in pieces that are worth it.
  void split_copies() {
    int64_t n = std::max<int64_t>(positions_.choices(), 1);
    int64_t piece = std::max<int64_t>(32, IndexCut::kWork / n);
    const Run& run = positions_.run;
    cut_.run_per = std::clamp<int64_t>(piece, 1, std::max<int64_t>(run.n, 1));
    cut_.run_parts = chunks_of(run.n, cut_.run_per);
    int64_t rows = std::max<int64_t>(positions_.copied_rows(), 1);
    cut_.rows_per = std::clamp<int64_t>(piece / std::max<int64_t>(run.n, 1), 1, rows);
    cut_.row_parts = chunks_of(rows, cut_.rows_per);
  }

  void prepare_buckets() {
    auto [low, high] = positions_.reach();
    low_ = low;
    auto bits = std::bit_width(static_cast<uint64_t>(high - low));
    shift_ = std::max(0, static_cast<int>(bits) - std::countr_zero(static_cast<unsigned>(kBuckets)));
    buckets_ = static_cast<int>((high - low) >> shift_) + 1;
    // Rows are written whole, unless they are very long: sorted choices keep the chunks apart.
    cut_.run_per = std::min(std::max<int64_t>(positions_.run.n, 1), IndexCut::kWork);
    cut_.run_parts = chunks_of(positions_.run.n, cut_.run_per);
    cut_.rows_per = std::max<int64_t>(positions_.copied_rows(), 1);
    cut_.row_parts = 1;
    auto n = static_cast<size_t>(positions_.choices());
    offsets_ = std::make_unique_for_overwrite<int64_t[]>(n);
    which_ = std::make_unique_for_overwrite<uint16_t[]>(n);
    starts_.resize(static_cast<size_t>(chunks_of(positions_.choices(), kSorted)) * (kBuckets + 1));
  }

  // The choices of one part by bucket, in their order within each.
  void sort(int64_t part) {
    int64_t begin = part * kSorted, n = std::min(kSorted, positions_.choices() - begin);
    auto found = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(n));
    positions_.resolve(begin, n, found.get());
    uint32_t* start = &starts_[static_cast<size_t>(part) * (kBuckets + 1)];
    uint32_t next[kBuckets + 1] = {};
    auto bucket = [&](int64_t offset) { return static_cast<size_t>((offset - low_) >> shift_); };
    for (int64_t i = 0; i < n; i++) next[bucket(found[static_cast<size_t>(i)]) + 1]++;
    for (int b = 0; b < kBuckets; b++) next[b + 1] += next[b];
    std::copy(next, next + kBuckets + 1, start);
    for (int64_t i = 0; i < n; i++) {
      int64_t offset = found[static_cast<size_t>(i)];
      auto at = static_cast<size_t>(begin) + next[bucket(offset)]++;
      offsets_[at] = offset;
      which_[at] = static_cast<uint16_t>(i);
    }
  }

  void write_part(int64_t chunk, int bucket) {
    Run run = positions_.run;
    int64_t part = chunk % cut_.run_parts * cut_.run_per;
    run.n = std::min(run.n - part, cut_.run_per);
    int64_t rest = chunk / cut_.run_parts;
    int64_t row = rest % cut_.row_parts * cut_.rows_per, rows = std::min(positions_.copied_rows(), row + cut_.rows_per);
    char* x = x_ + part * run.x;
    const char* values = values_ + part * run.other;
    auto write_rows = [&](const Choices& choices, int64_t base) {
      positions_.rows(row, rows, [&](int64_t to, int64_t from) { write_(x + to, values + from + base, choices, run); });
    };
    if (bucket >= 0) return write_bucket(bucket, write_rows);
    int64_t first = rest / cut_.row_parts * cut_.choices_per;
    int64_t end = std::min(positions_.choices(), first + cut_.choices_per);
    int64_t offsets[Positions::kBlock], table[Positions::kBlock], base;
    for (int64_t begin = first; begin < end; begin += Positions::kBlock) {
      int64_t n = std::min(Positions::kBlock, end - begin);
      positions_.resolve(begin, n, offsets);
      Choices choices = positions_.with_other(begin, n, offsets, table, &base);
      write_rows(choices, base);
    }
  }

  template <class F>
  void write_bucket(int bucket, F write_rows) const {
    int64_t table[Positions::kBlock];
    for (int64_t part = 0; part < chunks_of(positions_.choices(), kSorted); part++) {
      const uint32_t* start = &starts_[static_cast<size_t>(part * (kBuckets + 1) + bucket)];
      int64_t begin = part * kSorted;
      for (int64_t at = start[0]; at < start[1];) {
        int64_t n = std::min<int64_t>(Positions::kBlock, start[1] - at);
        for (int64_t i = 0; i < n; i++)
          table[i] = positions_.other_at(begin + which_[static_cast<size_t>(begin + at + i)]);
        write_rows({n, &offsets_[static_cast<size_t>(begin + at)], table, 0}, 0);
        at += n;
      }
    }
  }

  char* x_;
  const char* values_;
  Write write_;
  Positions positions_;
  IndexCut cut_;
  int64_t low_ = 0;
  int shift_ = 0, buckets_ = 0;
  std::unique_ptr<int64_t[]> offsets_;
  std::unique_ptr<uint16_t[]> which_;
  std::vector<uint32_t> starts_;
};

std::unique_ptr<Kernel> make_scatter(const Record& call) { return std::make_unique<Scatter>(call); }

}  // namespace

void register_scatter(engine::Backend& backend) {
  for (const Op* op : {&kIndexUpdate, &kIndexAdd}) backend.provide(*op, make_scatter);
}

}  // namespace slipstream::cpu
