// The kernel of take: indices are checked and made offsets first, then slices are copied.
#include "../ops/take.h"

#include <cstring>

#include "backend.h"
#include "convert.h"
#include "copy.h"

namespace slipstream::cpu {

namespace {

Dims part(const Dims& dims, int begin, int end) {
  return Dims(std::span<const int64_t>(dims.begin() + begin, static_cast<size_t>(end - begin)));
}

struct Wide {
  uint64_t a, b;
};

template <class T>
void gather(char* to, const char* from, const int64_t* offsets, int64_t n) {
  for (int64_t k = 0; k < n; k++) std::memcpy(to + k * static_cast<int64_t>(sizeof(T)), from + offsets[k], sizeof(T));
}

auto gather_function(size_t itemsize) {
  switch (itemsize) {
    case 1: return gather<uint8_t>;
    case 2: return gather<uint16_t>;
    case 4: return gather<uint32_t>;
    case 8: return gather<uint64_t>;
    default: return gather<Wide>;
  }
}

class Take final : public Kernel {
 public:
  explicit Take(const Record& call)
      : x_(call.inputs[0]),
        indices_(call.inputs[1]),
        out_(call.outputs[0].data()),
        params_(call.as<TakeParams>()),
        axis_(params_.axis),
        n_(indices_.size()),
        inner_shape_(part(x_.shape, axis_ + 1, x_.ndim())),
        slice_(inner_shape_, row_major(inner_shape_, itemsize(x_.dtype)), part(x_.strides, axis_ + 1, x_.ndim()),
               itemsize(x_.dtype)),
        dense_(slice_.dense()),
        offsets_(std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(n_))) {
    inner_ = count(inner_shape_);
    for (int i = 0; i < axis_; i++) outer_ *= x_.shape[i];
    per_chunk_ = std::max<int64_t>(1, kChunk / std::max<int64_t>(inner_, 1));
  }

  int phases() const override { return 2; }
  int64_t chunks(int phase) const override {
    return phase == 0 ? chunks_of(n_, kChunk) : chunks_of(outer_ * n_, per_chunk_);
  }

  void run(int phase, int64_t chunk) override {
    if (phase == 0) return resolve(chunk * kChunk, std::min(n_, (chunk + 1) * kChunk));
    copy(chunk * per_chunk_, std::min(outer_ * n_, (chunk + 1) * per_chunk_));
  }

 private:
  static constexpr int64_t kChunk = 1 << 16;
  static constexpr int64_t kAhead = 8;  // slices that are fetched before their turn

  // Indices as byte offsets along the axis.
  void resolve(int64_t begin, int64_t end) {
    visit(indices_.dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {
        const T* indices = reinterpret_cast<const T*>(indices_.data());
        for (int64_t i = begin; i < end; i++) {
          bool huge = std::is_same_v<T, uint64_t> && indices[i] > static_cast<T>(INT64_MAX);
          offsets_[static_cast<size_t>(i)] =
              in_range(huge ? INT64_MAX : static_cast<int64_t>(indices[i])) * x_.strides[axis_];
        }
      }
    });
  }

  int64_t in_range(int64_t index) const {
    int64_t size = x_.shape[axis_];
    if (static_cast<uint64_t>(index) < static_cast<uint64_t>(size)) return index;
    switch (params_.mode) {
      case IndexMode::clip: return index < 0 ? 0 : size - 1;
      case IndexMode::wrap: return (index % size + size) % size;
      default: break;
    }
    if (index >= -size && index < 0) return index + size;
    fail(ErrorKind::index, "take: index ", index, " is out of bounds for axis ", axis_, " with size ", size);
  }

  // Slices begin .. end - 1 of the result, which lies row-major: for each place before the axis, one per index.
  void copy(int64_t begin, int64_t end) const {
    auto bytes = inner_ * static_cast<int64_t>(itemsize(x_.dtype));
    auto gather = gather_function(itemsize(x_.dtype));
    for (int64_t i = begin; i < end;) {
      int64_t line = i / n_, first = i - line * n_, n = std::min(end - i, n_ - first);
      const char* from = x_.data() + before(line);
      const int64_t* offsets = offsets_.get() + first;
      if (inner_ == 1) {
        gather(out_ + i * bytes, from, offsets, n);
      } else if (dense_) {
        for (int64_t k = 0; k < n; k++) {
          if (k + kAhead < n) __builtin_prefetch(from + offsets[k + kAhead]);
          std::memcpy(out_ + (i + k) * bytes, from + offsets[k], static_cast<size_t>(bytes));
        }
      } else {
        for (int64_t k = 0; k < n; k++) slice_.run_all(out_ + (i + k) * bytes, from + offsets[k]);
      }
      i += n;
    }
  }

  // Byte offset of a place before the axis.
  int64_t before(int64_t line) const {
    int64_t offset = 0;
    for (int d = axis_ - 1; d >= 0; d--) {
      offset += line % x_.shape[d] * x_.strides[d];
      line /= x_.shape[d];
    }
    return offset;
  }

  const Operand &x_, &indices_;
  char* out_;
  const TakeParams& params_;
  int axis_;
  int64_t n_;
  Shape inner_shape_;
  StridedCopy slice_;  // of one index
  bool dense_;         // whether that is one run of memory
  std::unique_ptr<int64_t[]> offsets_;
  int64_t inner_ = 1, outer_ = 1, per_chunk_ = 1;
};

std::unique_ptr<Kernel> make_take(const Record& call) { return std::make_unique<Take>(call); }

}  // namespace

void register_take(engine::Backend& backend) { backend.provide(kTake, make_take); }

}  // namespace slipstream::cpu
