// Dims: a short list of sizes or strides (inline up to 4, 32 at most), and the arithmetic of shapes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <span>
#include <vector>

#include "error.h"

namespace slipstream {

inline constexpr int kMaxDims = 32;

class Dims {
 public:
  Dims() {}  // not defaulted, here and in what holds Dims: unused room would be filled with zeros
  explicit Dims(int n, int64_t fill = 0) { resize(n, fill); }
  Dims(std::initializer_list<int64_t> values) { assign(values.begin(), static_cast<int>(values.size())); }
  explicit Dims(std::span<const int64_t> values) { assign(values.data(), static_cast<int>(values.size())); }
  Dims(const Dims& o) {
    if (o.heap())
      assign(o.heap_, o.n_);
    else
      copy_inline(o);
  }
  Dims(Dims&& o) noexcept { steal(o); }
  Dims& operator=(const Dims& o) {
    if (heap() || o.heap())
      assign(o.data(), o.n_);
    else
      copy_inline(o);
    return *this;
  }
  Dims& operator=(Dims&& o) noexcept {
    if (this != &o) {
      release();
      steal(o);
    }
    return *this;
  }
  ~Dims() { release(); }

  int size() const { return n_; }
  bool empty() const { return n_ == 0; }
  int64_t* data() { return heap() ? heap_ : inline_; }
  const int64_t* data() const { return heap() ? heap_ : inline_; }
  int64_t& operator[](int i) { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + n_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + n_; }
  int64_t back() const { return data()[n_ - 1]; }

  void push_back(int64_t v) {
    if (n_ < kInline)
      inline_[n_++] = v;
    else
      resize(n_ + 1, v);
  }
  void resize(int n, int64_t fill = 0);
  void insert(int at, int64_t v) {
    push_back(v);
    std::rotate(begin() + at, end() - 1, end());
  }
  void reverse() {
    int64_t* at = data();
    for (int i = 0, j = n_ - 1; i < j; i++, j--) std::swap(at[i], at[j]);
  }
  void erase(int at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    resize(n_ - 1);
  }
  bool operator==(const Dims& o) const {
    if (n_ != o.n_) return false;
    const int64_t *a = data(), *b = o.data();
    for (int i = 0; i < n_; i++)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  static constexpr int kInline = 4;
  bool heap() const { return n_ > kInline; }
  void release() {
    if (heap()) delete[] heap_;
    n_ = 0;
  }
  void assign(const int64_t* from, int n);
  // One by one: a wide load of what was just written number by number would wait until that has left the processor.
  void copy_inline(const Dims& o) {
    n_ = o.n_;
    if (n_ < 1) return;
    inline_[0] = o.inline_[0];
    if (n_ < 2) return;
    inline_[1] = o.inline_[1];
    if (n_ < 3) return;
    inline_[2] = o.inline_[2];
    inline_[3] = o.inline_[3];
  }
  void steal(Dims& o) {
    copy_inline(o);
    if (o.heap()) o.n_ = 0;
  }

  union {
    int64_t inline_[kInline];
    int64_t* heap_;
  };
  int n_ = 0;
};

using Shape = Dims;
using Strides = Dims;  // in bytes

std::ostream& operator<<(std::ostream& out, const Dims& dims);  // (2, 3), (4,), ()

// Number of elements; raises on overflow of int64.
int64_t count_with_care(const Shape& shape);
inline int64_t count(const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (static_cast<uint64_t>(n | d) >> 31) return count_with_care(shape);
    n *= d;
  }
  return n >> 58 ? count_with_care(shape) : n;
}
// Row-major strides in bytes.
inline Strides row_major(const Shape& shape, size_t itemsize) {
  Strides strides = shape;  // of its length
  int64_t* to = strides.data();
  auto step = static_cast<int64_t>(itemsize);
  for (int i = shape.size() - 1; i >= 0; i--) {
    int64_t length = to[i];
    to[i] = step;
    step *= std::max<int64_t>(length, 1);
  }
  return strides;
}
// NumPy's broadcasting of two shapes; raises and names the operation if they do not fit.
Shape broadcast(const Shape& a, const Shape& b, const char* op);
// Strides that read an array of `shape` as one of `target`, with 0 where it repeats.
Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target);
// Strides that read the same elements in the same order under another shape of equal size; none if there are none.
std::optional<Strides> reshaped_strides(const Shape& shape, const Strides& strides, size_t itemsize,
                                        const Shape& target);
// Axis in [-ndim, ndim) made non-negative; raises "sum: axis 3 is out of bounds for an array of dimension 2".
int normalize_axis(int64_t axis, int ndim, const char* op);

}  // namespace slipstream
