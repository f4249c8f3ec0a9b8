// The padded image of one channel, as convolutions read it: neighbours along every axis lie a fixed distance apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "../engine/thread_room.h"
#include "../ops/conv.h"
#include "convert.h"
#include "dispatch.h"

namespace slipstream::cpu {

template <class T>
const ConvLoops<T>& conv_loops() {
  if constexpr (std::is_same_v<T, float>)
    return loops().conv_f32;
  else
    return loops().conv_f64;
}

inline int64_t volume(const Axes3& size) { return size[0] * size[1] * size[2]; }

// Places that a stride visits one after another lie together: the image is split into one part for each remainder of a
// place by the stride. Bands of it are made along one axis.
class ConvImage {
 public:
  Axes3 size;          // of the source
  Axes3 split;         // the strides
  Axes3 before{};      // zeros before the source
  Axes3 rows{};        // of one part
  int cut = 1;         // the axis along which bands are cut
  int64_t part = 0, plane = 0;

  // Where a place of the padded image (counted from its first zero) lies.
  int64_t offset(const Axes3& at) const {
    int64_t which = 0, place = 0;
    for (size_t i = 0; i < 3; i++) {
      which = which * split[i] + at[i] % split[i];
      place = place * rows[i] + at[i] / split[i];
    }
    return which * part + place;
  }

  // Room for `steps` results in a row along each axis, read at these places and so many strides behind.
  void fit(const Axes3& steps, const std::vector<Axes3>& places) {
    Axes3 reach{};
    for (const Axes3& at : places)
      for (size_t i = 0; i < 3; i++) reach[i] = std::max(reach[i], at[i] / split[i]);
    for (size_t i = 0; i < 3; i++) rows[i] = steps[i] + reach[i];
    part = volume(rows);
    plane = volume(split) * part;
    if (plane % 1024 < 64) plane += 64;  // channels a page apart would share their places in the cache
    used_.assign(static_cast<size_t>(volume(split)), false);
    for (const Axes3& at : places) used_[static_cast<size_t>(offset(at) / part)] = true;
  }

  // So many channels of the band whose first row is `first`.
  template <class T>
  void fill(T* to, const T* from, int64_t channels, int64_t first) const {
    Axes3 begin{}, at{};
    begin[static_cast<size_t>(cut)] = first;
    int64_t which = 0;
    for (at[0] = 0; at[0] < split[0]; at[0]++)
      for (at[1] = 0; at[1] < split[1]; at[1]++)
        for (at[2] = 0; at[2] < split[2]; at[2]++, which++) {
          if (!used_[static_cast<size_t>(which)]) continue;
          Axes3 source;
          for (size_t i = 0; i < 3; i++) source[i] = begin[i] * split[i] + at[i] - before[i];
          fill_part(to + which * part, from, channels, source);
        }
  }

  // Rows are short: a call of the library would cost more than the work. The last few are written twice where they do
  // not fill a step.
  template <int64_t few = 8, class T>
  static void copy(T* to, const T* from, int64_t n) {
    if (n >= few) {
      for (int64_t i = 0; i + few <= n; i += few) std::memcpy(to + i, from + i, few * sizeof(T));
      std::memcpy(to + n - few, from + n - few, few * sizeof(T));
    } else if constexpr (few > 1) {
      copy<few / 2>(to, from, n);
    }
  }

 private:
  static constexpr int64_t kShort = 16;  // below it, a call to gather costs more than the work

  std::vector<bool> used_;  // parts that some place lies in

  // Of n places from `first` on, so many apart, those that lie in the source.
  struct Inside {
    int64_t begin = 0, end = 0;
    Inside() = default;
    Inside(int64_t n, int64_t first, int64_t step, int64_t size)
        : begin(first >= 0 ? 0 : std::min(n, (-first + step - 1) / step)),
          end(first >= size ? begin : std::clamp((size - first + step - 1) / step, begin, n)) {}
  };

  // Rows of n places, `step` apart in the source, of which those in `x` lie inside; `pitch` is from row to row there.
  template <class T>
  struct Rows {
    int64_t n, step, pitch;
    Inside x;
    bool dense;  // and so are the source's

    void fill(T* to, const T* from, int64_t count) const {
      if (dense) {
        std::memcpy(to, from, static_cast<size_t>(count * n) * sizeof(T));
        return;
      }
      int64_t inside = x.end - x.begin;
      for (; count > 0; count--, to += n, from += pitch) {
        clear(to, x.begin);
        if (step == 1)
          copy(to + x.begin, from, inside);
        else
          pick(to + x.begin, from, step, inside);
        clear(to + x.end, n - x.end);
      }
    }
  };

  // Rows that begin at `source`. Where the last axis has one place, rows are those of the axis before it.
  template <class T>
  void fill_part(T* to, const T* from, int64_t channels, const Axes3& source) const {
    bool thin = size[2] == 1 && rows[2] == 1 && split[2] == 1 && before[2] == 0;
    auto last = static_cast<size_t>(thin ? 1 : 2), middle = last - 1;
    int64_t n = rows[last], slice = rows[middle] * n, slices = thin ? 1 : rows[0];
    Inside x(n, source[last], split[last], size[last]), y(rows[middle], source[middle], split[middle], size[middle]), z;
    z = thin ? Inside(1, 0, 1, 1) : Inside(rows[0], source[0], split[0], size[0]);
    Rows<T> all{n, split[last], split[middle] * size[last], x,
                x.end - x.begin == n && n == size[last] && split[middle] == 1};
    int64_t begin =
        ((thin ? 0 : source[0] + z.begin * split[0]) * size[middle] + source[middle] + y.begin * split[middle]) *
            size[last] +
        source[last] + x.begin * split[last];
    for (int64_t c = 0; c < channels; c++, to += plane, from += volume(size)) {
      clear(to, z.begin * slice);
      for (int64_t d = z.begin; d < z.end; d++) {
        T* at = to + d * slice;
        clear(at, y.begin * n);
        all.fill(at + y.begin * n, from + begin + (d - z.begin) * split[0] * size[1] * size[2], y.end - y.begin);
        clear(at + y.end * n, slice - y.end * n);
      }
      clear(to + z.end * slice, (slices - z.end) * slice);
    }
  }

  template <class T>
  static void pick(T* to, const T* from, int64_t step, int64_t n) {
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    if (n > kShort)
      return loops().gather[std::countr_zero(sizeof(T))](to, reinterpret_cast<const char*>(from), step * item, n);
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; i++) to[i] = from[i * step];
  }
  template <int64_t few = 8, class T>
  static void clear(T* to, int64_t n) {
    if (n >= few) {
      for (int64_t i = 0; i + few <= n; i += few) std::memset(to + i, 0, few * sizeof(T));
      std::memset(to + n - few, 0, few * sizeof(T));
    } else if constexpr (few > 1) {
      clear<few / 2>(to, n);
    }
  }
};

}  // namespace slipstream::cpu
