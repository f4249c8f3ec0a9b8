// The kernel of convolve: each piece of the result takes the shorter line's numbers one by one, along the longer line.
#include <algorithm>
#include <vector>

#include "../ops/search.h"
#include "backend.h"
#include "convert.h"

namespace slipstream::cpu {

namespace {

template <class W>
W times(W a, W b) {
  if constexpr (std::is_same_v<W, bool>) {
    return a && b;
  } else if constexpr (is_complex(DTypeOf<W>::value)) {  // without std::complex's repair of infinities
    return W(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return static_cast<W>(a * b);
  }
}

template <class T>
class Convolve final : public Kernel {
  using W = Arithmetic<T>;
  struct Sum {  // not a bare W: a vector of bool has no elements
    W value;
  };

 public:
  explicit Convolve(const Record& call)
      : a_(reinterpret_cast<const T*>(call.inputs[0].data())),
        b_(reinterpret_cast<const T*>(call.inputs[1].data())),
        out_(reinterpret_cast<T*>(call.outputs[0].data())),
        a_size_(call.inputs[0].size()),
        b_size_(call.inputs[1].size()),
        first_(call.as<ConvolveParams>().first),
        n_(call.outputs[0].size()),
        per_chunk_(std::clamp<int64_t>((1 << 20) / b_size_, 256, 1 << 14)) {}

  int64_t chunks(int) const override { return chunks_of(n_, per_chunk_); }

  void run(int, int64_t chunk) override {
    int64_t begin = first_ + chunk * per_chunk_, end = std::min(first_ + n_, begin + per_chunk_);
    std::vector<Sum> sums(static_cast<size_t>(std::max<int64_t>(end - begin, 0)));
    for (int64_t j = 0; j < b_size_; j++) {
      W factor = widen(b_[j]);
      int64_t from = std::max(begin, j), to = std::min(end, a_size_ + j);
      const T* a = a_ - j;
      Sum* sum = sums.data() - begin;
      for (int64_t k = from; k < to; k++) sum[k].value = static_cast<W>(sum[k].value + times<W>(widen(a[k]), factor));
    }
    for (int64_t k = begin; k < end; k++) out_[k - first_] = narrow<T>(sums[static_cast<size_t>(k - begin)].value);
  }

 private:
  const T *a_, *b_;
  T* out_;
  int64_t a_size_, b_size_, first_, n_, per_chunk_;
};

std::unique_ptr<Kernel> make_convolve(const Record& call) {
  return visit(call.outputs[0].dtype,
               [&](auto zero) -> std::unique_ptr<Kernel> { return std::make_unique<Convolve<decltype(zero)>>(call); });
}

}  // namespace

void register_convolve(engine::Backend& backend) { backend.provide(kConvolve, make_convolve); }

}  // namespace slipstream::cpu
