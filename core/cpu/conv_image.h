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

  // One channel of the band whose first row is `first`.
  template <class T>
  void fill(T* to, const T* from, int64_t first) const {
    Axes3 begin{}, at{};
    begin[static_cast<size_t>(cut)] = first;
    int64_t which = 0;
    for (at[0] = 0; at[0] < split[0]; at[0]++)
      for (at[1] = 0; at[1] < split[1]; at[1]++)
        for (at[2] = 0; at[2] < split[2]; at[2]++, which++) {
          if (!used_[static_cast<size_t>(which)]) continue;
          Axes3 source;
          for (size_t i = 0; i < 3; i++) source[i] = begin[i] * split[i] + at[i] - before[i];
          fill_part(to + which * part, from, source);
        }
  }

 private:
  std::vector<bool> used_;  // parts that some place lies in

  // Rows that begin at `source`. Where the last axis has one place, rows are those of the axis before it.
  template <class T>
  void fill_part(T* to, const T* from, const Axes3& source) const {
    bool thin = size[2] == 1 && rows[2] == 1 && split[2] == 1 && before[2] == 0;
    auto last = static_cast<size_t>(thin ? 1 : 2), middle = last - 1;
    int64_t outer = thin ? 1 : rows[0];
    for (int64_t d = 0; d < outer; d++) {
      int64_t z = thin ? 0 : source[0] + d * split[0];
      for (int64_t h = 0; h < rows[middle]; h++, to += rows[last]) {
        int64_t y = source[middle] + h * split[middle];
        bool inside = y >= 0 && y < size[middle] && (thin || (z >= 0 && z < size[0]));
        if (!inside)
          clear(to, rows[last]);
        else
          fill_row(to, rows[last], from + (z * size[middle] + y) * size[last], source[last], split[last], size[last]);
      }
    }
  }

  template <class T>
  static void fill_row(T* to, int64_t n, const T* from, int64_t first, int64_t step, int64_t size) {
    int64_t begin = first >= 0 ? 0 : std::min(n, (-first + step - 1) / step);
    int64_t end = std::clamp((size - first + step - 1) / step, begin, n);
    clear(to, begin);
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    if (step == 1)
      copy(to + begin, from + first + begin, end - begin);
    else
      loops().gather[std::countr_zero(sizeof(T))](
          to + begin, reinterpret_cast<const char*>(from + first + begin * step), step * item, end - begin);
    clear(to + end, n - end);
  }

  // Rows are short: a call of the library would cost more than the work.
  template <class T>
  static void copy(T* to, const T* from, int64_t n) {
    for (; n >= 8; n -= 8, to += 8, from += 8) std::memcpy(to, from, 8 * sizeof(T));
    for (; n > 0; n--) {
      *to++ = *from++;
      asm volatile("");  // or the compiler makes it a call
    }
  }
  template <class T>
  static void clear(T* to, int64_t n) {
    for (; n > 0; n--) {
      *to++ = T(0);
      asm volatile("");
    }
  }
};

}  // namespace slipstream::cpu
