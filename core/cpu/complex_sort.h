// Sorts of complex numbers, which have no images: by comparison, line by line. All of a line or the first of it.
#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include "../op.h"
#include "convert.h"
#include "images.h"

namespace slipstream::cpu {

// Complex numbers are compared by their real parts, then by their imaginary ones; any NaN comes behind all numbers, a
// NaN in the real part behind one in the imaginary part alone.
template <class R>
struct ComplexEntry {
  typename Image<R>::Key re, im;
  int64_t place;
  ComplexEntry(std::complex<R> v, int64_t place)
      : re(Image<R>::of_value(v.real())), im(Image<R>::of_value(v.imag())), place(place) {}
  int rank() const { return 2 * (re == Image<R>::kLast) + (im == Image<R>::kLast); }
  bool operator<(const ComplexEntry& o) const {
    if (rank() != o.rank()) return rank() < o.rank();
    if (re != o.re) return re < o.re;
    return im < o.im;
  }
};

template <class T, bool placed>
class SortComplex final : public Kernel {
  using R = typename T::value_type;
  using Out = std::conditional_t<placed, int64_t, T>;

 public:
  SortComplex(const Record& call, bool descending)
      : x_(reinterpret_cast<const T*>(call.inputs[0].data())),
        out_(reinterpret_cast<Out*>(call.outputs[0].data())),
        n_(call.inputs[0].shape.back()),
        most_(call.outputs[0].shape.back()),
        lines_(n_ ? call.inputs[0].size() / n_ : 0),
        per_chunk_(std::max<int64_t>(1, kSortChunk / std::max<int64_t>(n_, 1))),
        descending_(descending) {}

  int64_t chunks(int) const override { return chunks_of(lines_, per_chunk_); }

  void run(int, int64_t chunk) override {
    std::vector<ComplexEntry<R>> entries;
    for (int64_t line = chunk * per_chunk_; line < std::min(lines_, (chunk + 1) * per_chunk_); line++) {
      entries.clear();
      for (int64_t i = 0; i < n_; i++) entries.emplace_back(x_[line * n_ + i], i);
      std::stable_sort(entries.begin(), entries.end(),
                       [this](const auto& a, const auto& b) { return descending_ ? b < a : a < b; });
      for (int64_t i = 0; i < most_; i++) {
        int64_t place = entries[static_cast<size_t>(i)].place;
        if constexpr (placed)
          out_[line * most_ + i] = place;
        else
          out_[line * most_ + i] = x_[line * n_ + place];
      }
    }
  }

 private:
  const T* x_;
  Out* out_;
  int64_t n_, most_, lines_, per_chunk_;
  bool descending_;
};

}  // namespace slipstream::cpu
