// The kernel of concatenate: one strided copy after another, their chunks numbered through.
#include "../ops/join.h"

#include "backend.h"
#include "copy.h"

namespace slipstream::cpu {

namespace {

class Join final : public Kernel {
 public:
  explicit Join(const Record& call) {
    const Operand& out = call.outputs[0];
    int axis = call.as<JoinParams>().axis;
    char* to = out.data();
    for (const Operand& x : call.inputs) {
      parts_.push_back({StridedCopy(x.shape, out.strides, x.strides, itemsize(x.dtype)), to, x.data(), chunks_});
      chunks_ += parts_.back().copy.chunks();
      to += x.shape[axis] * out.strides[axis];
    }
    // Many small arrays: several copies a chunk.
    per_chunk_ = std::max<int64_t>(1, chunks_ * kSmall / std::max<int64_t>(kSmall, out.size()));
  }

  int64_t chunks(int) const override { return (chunks_ + per_chunk_ - 1) / per_chunk_; }

  void run(int, int64_t chunk) override {
    int64_t begin = chunk * per_chunk_, end = std::min(chunks_, begin + per_chunk_);
    auto part =
        std::upper_bound(parts_.begin(), parts_.end(), begin, [](int64_t c, const Part& p) { return c < p.first; }) - 1;
    for (int64_t c = begin; c < end; c++) {
      while (c >= part->first + part->copy.chunks()) ++part;
      part->copy.run(c - part->first, part->to, part->from);
    }
  }

 private:
  static constexpr int64_t kSmall = 1 << 16;  // elements
  struct Part {
    StridedCopy copy;
    char* to;
    const char* from;
    int64_t first;  // number of its first chunk
  };
  std::vector<Part> parts_;
  int64_t chunks_ = 0, per_chunk_ = 1;
};

std::unique_ptr<Kernel> make_join(const Record& call) { return std::make_unique<Join>(call); }

}  // namespace

void register_join(engine::Backend& backend) { backend.provide(kConcatenate, make_join); }

}  // namespace slipstream::cpu
