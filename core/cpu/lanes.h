// Lanes: the lines of an array along one axis, walked in strips of lines that lie side by side in memory.
#pragma once

#include <cstdlib>
#include <vector>

#include "../array.h"
#include "convert.h"

namespace slipstream::cpu {

class Lanes {
 public:
  // `out` has the input's axes; along `axis` it may have any length.
  Lanes(const Operand& in, const Operand& out, int axis)
      : n(in.shape[axis]), in_step(in.strides[axis]), out_step(out.strides[axis]), in_(in.data()), out_(out.data()) {
    for (int i = 0; i < in.ndim(); i++) {
      if (i == axis || in.shape[i] == 1) continue;
      others_.push_back({in.shape[i], in.strides[i], out.strides[i]});
      count *= in.shape[i];
    }
    if (count == 0) return;
    if (!others_.empty()) {
      auto nearest = std::min_element(others_.begin(), others_.end(),
                                      [](const Axis& a, const Axis& b) { return std::abs(a.in) < std::abs(b.in); });
      side_ = *nearest;
      others_.erase(nearest);
    }
    // Lines side by side share cache lines; long ones that are dense themselves gain nothing from company.
    bool dense = std::abs(in_step) < std::abs(side_.in) && n >= 64;
    width_ = std::min<int64_t>(side_.n, dense ? 8 : kWidest);
    per_side_ = chunks_of(side_.n, width_);
    strips = count / side_.n * per_side_;
  }

  static constexpr int64_t kWidest = 256;
  struct Strip {
    const char* in;
    char* out;
    int64_t width;
    int64_t first;  // number of its first lane, all lanes counted
  };
  Strip strip(int64_t index) const {
    int64_t at = index % per_side_ * width_, line = index / per_side_;
    Strip s{in_ + at * side_.in, out_ + at * side_.out, std::min(width_, side_.n - at), line * side_.n + at};
    for (auto axis = others_.rbegin(); axis != others_.rend(); ++axis) {
      s.in += line % axis->n * axis->in;
      s.out += line % axis->n * axis->out;
      line /= axis->n;
    }
    return s;
  }
  int64_t in_side() const { return side_.in; }  // bytes to the next lane of a strip
  int64_t out_side() const { return side_.out; }

  int64_t n;                  // length of a lane
  int64_t in_step, out_step;  // bytes along it
  int64_t count = 1;          // number of lanes
  int64_t strips = 0;

 private:
  struct Axis {
    int64_t n, in, out;
  };
  const char* in_;
  char* out_;
  std::vector<Axis> others_;
  Axis side_{1, 0, 0};
  int64_t width_ = 1, per_side_ = 1;
};

// A kernel's cut of lanes: long lanes into blocks of fixed length, short strips several to a chunk.
struct LaneCut {
  static constexpr int64_t kLong = 1 << 16;
  explicit LaneCut(const Lanes& lanes) : strips(lanes.strips), blocks(chunks_of(lanes.n, kLong)) {
    int64_t work = strips ? lanes.n * (lanes.count / strips) : 1;
    together =
        blocks > 1 ? 1 : std::clamp<int64_t>(kLong / 2 / std::max<int64_t>(work, 1), 1, std::max<int64_t>(strips, 1));
  }
  int64_t chunks() const { return blocks * chunks_of(strips, together); }
  // Calls f(strip, block) for all of a chunk.
  template <class F>
  void each(int64_t chunk, F f) const {
    int64_t block = chunk % blocks, first = chunk / blocks * together;
    for (int64_t s = first; s < std::min(strips, first + together); s++) f(s, block);
  }
  int64_t strips, blocks, together;
};

}  // namespace slipstream::cpu
