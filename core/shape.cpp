// Dims and the arithmetic of shapes.
#include "shape.h"

namespace slipstream {

void Dims::resize(int n, int64_t fill) {
  if (n > kMaxDims) fail(ErrorKind::value, "an array has at most ", kMaxDims, " dimensions, not ", n);
  int old = n_;
  if (n <= kInline && heap()) {
    int64_t* from = heap_;
    int64_t kept[kInline];
    std::copy(from, from + n, kept);
    delete[] from;
    std::copy(kept, kept + n, inline_);
  } else if (n > kInline) {
    auto* grown = new int64_t[static_cast<size_t>(n)];
    std::copy(data(), data() + std::min(old, n), grown);
    if (heap()) delete[] heap_;
    heap_ = grown;
  }
  n_ = n;
  for (int i = old; i < n; i++) data()[i] = fill;
}

void Dims::assign(const int64_t* from, int n) {
  if (n > kMaxDims) fail(ErrorKind::value, "an array has at most ", kMaxDims, " dimensions, not ", n);
  if (n > kInline) {
    auto* copy = new int64_t[static_cast<size_t>(n)];
    std::copy(from, from + n, copy);
    release();
    heap_ = copy;
  } else {
    release();
    std::copy(from, from + n, inline_);
  }
  n_ = n;
}

std::ostream& operator<<(std::ostream& out, const Dims& dims) {
  out << '(';
  for (int i = 0; i < dims.size(); i++) out << (i ? ", " : "") << dims[i];
  return out << (dims.size() == 1 ? ",)" : ")");
}

int64_t count_with_care(const Shape& shape) {
  int64_t n = 1;
  bool overflow = false, zero = false;
  for (int64_t d : shape) {
    if (d < 0) fail(ErrorKind::value, "negative dimensions are not allowed: ", shape);
    zero |= d == 0;
    overflow |= __builtin_mul_overflow(n, d == 0 ? 1 : d, &n);
  }
  if (zero) return 0;
  if (overflow || n > INT64_MAX / 16) fail(ErrorKind::value, "array is too big: shape ", shape);
  return n;
}

Shape broadcast(const Shape& a, const Shape& b, const char* op) {
  if (a == b) return a;
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  int skip = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); i++) {
    int64_t x = longer[skip + i], y = shorter[i];
    if (x == y || y == 1) continue;
    if (x != 1) fail(ErrorKind::value, op, ": shapes ", a, " and ", b, " cannot be broadcast: ", x, " != ", y);
    out[skip + i] = y;
  }
  return out;
}

Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target) {
  Strides out(target.size());
  int skip = target.size() - shape.size();
  for (int i = 0; i < shape.size(); i++) out[skip + i] = shape[i] == 1 && target[skip + i] != 1 ? 0 : strides[i];
  return out;
}

std::optional<Strides> reshaped_strides(const Shape& shape, const Strides& strides, size_t itemsize,
                                        const Shape& target) {
  if (count(target) == 0) return row_major(target, itemsize);
  Shape from;  // without axes of length 1, whose strides mean nothing
  Strides steps;
  for (int i = 0; i < shape.size(); i++) {
    if (shape[i] == 1) continue;
    from.push_back(shape[i]);
    steps.push_back(strides[i]);
  }
  Strides out(target.size(), static_cast<int64_t>(itemsize));
  int i = 0, j = 0;
  while (i < from.size() && j < target.size()) {
    // The shortest runs of axes on both sides that hold equally many elements.
    int i_end = i + 1, j_end = j + 1;
    int64_t old_size = from[i], new_size = target[j];
    while (old_size != new_size) {
      if (old_size < new_size) {
        old_size *= from[i_end++];
      } else {
        new_size *= target[j_end++];
      }
    }
    for (int k = i; k + 1 < i_end; k++)
      if (steps[k] != from[k + 1] * steps[k + 1]) return std::nullopt;
    int64_t step = steps[i_end - 1];
    for (int k = j_end - 1; k >= j; k--) {
      out[k] = step;
      step *= target[k];
    }
    i = i_end;
    j = j_end;
  }
  return out;  // what is left of the new shape are ones
}

int normalize_axis(int64_t axis, int ndim, const char* op) {
  if (axis < -ndim || axis >= ndim)
    fail(ErrorKind::axis, op, ": axis ", axis, " is out of bounds for an array of dimension ", ndim);
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace slipstream
