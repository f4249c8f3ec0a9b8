// The kernel of gather: blocks of indices are made offsets, then elements or rows are copied.
#include "backend.h"
#include "index.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kAhead = 8;  // rows that are fetched before their turn

template <class T>
void copy_elements(char* to, const char* from, const Choices& c) {
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  if (c.table)
    for (int64_t i = 0; i < c.n; i++) store(to + c.table[i], load<T>(from + c.x[i]));
  else if (c.step == size)
    for (int64_t i = 0; i < c.n; i++) store(to + i * size, load<T>(from + c.x[i]));
  else
    for (int64_t i = 0; i < c.n; i++) store(to + i * c.step, load<T>(from + c.x[i]));
}

template <class T>
void copy_runs(char* to, const char* from, const Choices& c, const Run& run) {
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  bool dense = run.x == size && run.other == size;
  for (int64_t i = 0; i < c.n; i++) {
    const char* row = from + c.x[i];
    char* into = to + c.other(i);
    if (dense) {
      if (i + kAhead < c.n) __builtin_prefetch(from + c.x[i + kAhead]);
      std::memcpy(into, row, static_cast<size_t>(run.n * size));
    } else {
      for (int64_t k = 0; k < run.n; k++) store(into + k * run.other, load<T>(row + k * run.x));
    }
  }
}

class Gather final : public Kernel {
 public:
  explicit Gather(const Record& call)
      : x_(call.inputs[0].data()),
        out_(call.outputs[0].data()),
        itemsize_(itemsize(call.outputs[0].dtype)),
        positions_(call.inputs[0], call.outputs[0], std::span(call.inputs.begin() + 1, call.inputs.end()),
                   call.as<IndexParams>(), false),
        cut_(positions_, positions_.choices()) {}

  int64_t chunks(int) const override { return cut_.chunks(); }

  void run(int, int64_t chunk) override {
    Run run = positions_.run;
    int64_t part = chunk % cut_.run_parts * cut_.run_per;
    run.n = std::min(run.n - part, cut_.run_per);
    int64_t rest = chunk / cut_.run_parts;
    int64_t row = rest % cut_.row_parts * cut_.rows_per, rows = std::min(positions_.copied_rows(), row + cut_.rows_per);
    int64_t first = rest / cut_.row_parts * cut_.choices_per;
    int64_t end = std::min(positions_.choices(), first + cut_.choices_per);
    int64_t offsets[Positions::kBlock], table[Positions::kBlock], base;
    for (int64_t begin = first; begin < end; begin += Positions::kBlock) {
      int64_t n = std::min(Positions::kBlock, end - begin);
      positions_.resolve(begin, n, offsets);
      Choices choices = positions_.with_other(begin, n, offsets, table, &base);
      positions_.rows(row, rows, [&](int64_t x, int64_t out) {
        copy(out_ + out + base + part * run.other, x_ + x + part * run.x, choices, run);
      });
    }
  }

 private:
  void copy(char* to, const char* from, const Choices& choices, const Run& run) const {
    by_size(itemsize_, [&](auto zero) {
      using T = decltype(zero);
      if (run.n == 1)
        copy_elements<T>(to, from, choices);
      else
        copy_runs<T>(to, from, choices, run);
    });
  }

  const char* x_;
  char* out_;
  size_t itemsize_;
  Positions positions_;
  IndexCut cut_;
};

std::unique_ptr<Kernel> make_gather(const Record& call) { return std::make_unique<Gather>(call); }

}  // namespace

void register_gather(engine::Backend& backend) {
  for (const Op* op : {&kIndex, &kTake, &kTakeAlong}) backend.provide(*op, make_gather);
}

}  // namespace slipstream::cpu
