// What gather and scatter share: the positions of a result, split into those that index arrays choose and those that
// every choice copies.
#pragma once

#include <bit>
#include <cstring>
#include <vector>

#include "../ops/index.h"
#include "convert.h"

namespace slipstream::cpu {

// A row of copied elements.
struct Run {
  int64_t n = 1, x = 0, other = 0;  // elements, and bytes from one to the next on both sides
};

// Choices: where each lies in x, and in the other array (a table, or equal steps).
struct Choices {
  int64_t n = 0;
  const int64_t* x = nullptr;
  const int64_t* table = nullptr;
  int64_t step = 0;
  int64_t other(int64_t i) const { return table ? table[i] : i * step; }
};

class Positions {
 public:
  static constexpr int64_t kBlock = 1024;  // choices resolved at a time

  // `other` is the output of gather, the values of scatter. Writing, an axis along which x repeats is one of choices.
  Positions(const View& x, const View& other, std::span<const Operand> indices, const IndexParams& params,
            bool writing);

  int64_t choices() const { return choices_; }
  int64_t copies() const { return copies_ * run.n; }  // for each choice
  int64_t copied_rows() const { return copies_; }  // of a run each

  // Where the choices begin .. begin + n - 1 lie in x; raises IndexError.
  void resolve(int64_t begin, int64_t n, int64_t* x) const;
  // The other array's offsets: equal steps, or in a table that is filled.
  Choices with_other(int64_t begin, int64_t n, const int64_t* x, int64_t* table, int64_t* base) const;
  int64_t other_at(int64_t choice) const {
    if (linear_) return choice * linear_step_;
    int64_t at = 0;
    for (auto d = index_dims_.rbegin(); d != index_dims_.rend(); ++d) {
      at += choice % d->n * d->other;
      choice /= d->n;
    }
    return at;
  }
  // The lowest and highest offset that a choice can have.
  std::pair<int64_t, int64_t> reach() const;
  // Calls f(x offset, other offset) for the rows begin .. end - 1.
  template <class F>
  void rows(int64_t begin, int64_t end, F f) const {
    for (int64_t r = begin; r < end; r++) {
      int64_t rest = r, x = 0, other = 0;
      for (auto d = copy_dims_.rbegin(); d != copy_dims_.rend(); ++d) {
        x += rest % d->n * d->x;
        other += rest % d->n * d->other;
        rest /= d->n;
      }
      f(x, other);
    }
  }

  Run run;

 private:
  struct Dim {
    int64_t n, x, other;
    std::vector<int64_t> index;  // bytes to the next, of each index array
  };
  void choose_run(size_t itemsize, bool last_is_copied);
  void add_indices(size_t which, const char* at, int64_t step, int64_t n, int64_t* x) const;

  std::vector<Dim> index_dims_, copy_dims_;
  std::span<const Operand> indices_;
  const IndexParams& params_;
  int64_t choices_ = 1, copies_ = 1;
  bool linear_ = true;  // the other array's choices are equal steps apart
  int64_t linear_step_ = 0;
};

// How the work is cut: blocks of choices, of rows of copies, and of the run.
struct IndexCut {
  static constexpr int64_t kWork = 1 << 16;  // elements of a chunk
  IndexCut(const Positions& p, int64_t choices_at_most) {
    run_per = std::min(std::max<int64_t>(p.run.n, 1), kWork);
    run_parts = chunks_of(p.run.n, run_per);
    int64_t rows = std::max<int64_t>(p.copied_rows(), 1);
    choices_per = std::clamp<int64_t>(kWork / run_per, 1, std::max<int64_t>(choices_at_most, 1));
    if (rows > 1) choices_per = std::min(choices_per, 2 * Positions::kBlock);
    rows_per = std::min(rows, std::max<int64_t>(1, kWork / (choices_per * run_per)));
    choice_parts = chunks_of(p.choices(), choices_per);
    row_parts = chunks_of(rows, rows_per);
  }
  int64_t chunks() const { return choice_parts * row_parts * run_parts; }
  int64_t choices_per, rows_per, run_per, choice_parts, row_parts, run_parts;
};

template <class T>
T load(const char* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
template <class T>
void store(char* at, T v) {
  std::memcpy(at, &v, sizeof v);
}

// An element of any type, as bytes.
struct Wide {
  uint64_t a, b;
};
template <class F>
auto by_size(size_t itemsize, F f) {
  switch (itemsize) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(Wide{});
  }
}

}  // namespace slipstream::cpu
