// Kernels of partition, argpartition and topk, line by line.
#include <algorithm>

#include "../ops/sort.h"
#include "backend.h"
#include "complex_sort.h"
#include "convert.h"
#include "images.h"
#include "room.h"

namespace slipstream::cpu {

namespace {

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
    Room<E> room(sort_room(n_), 2);
    const int64_t *places = params_.places.data(), *places_end = places + params_.places.size();
    for (int64_t line = chunk * per_chunk_; line < std::min(lines_, (chunk + 1) * per_chunk_); line++) {
      S::load(room[0], x_ + line * n_, 0, n_, params_.descending);
      loops_.select(room[0], room[1], n_, places, places_end);
      const E* found = room[0];
      if constexpr (top) found = static_cast<E*>(loops_.sort(room[0], room[1], most_));
      S::store(out_ + line * most_, found, most_, params_.descending);
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
