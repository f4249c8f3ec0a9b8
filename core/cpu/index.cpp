// Positions: index arrays made offsets, checked on the way.
#include "index.h"

#include <cstdlib>

namespace slipstream::cpu {

Positions::Positions(const View& x, const View& other, std::span<const Operand> indices, const IndexParams& params,
                     bool writing)
    : indices_(indices), params_(params) {
  std::vector<Dim> dims;
  for (int d = 0; d < x.ndim(); d++) {
    if (x.shape[d] == 1) continue;
    Dim dim{x.shape[d], x.strides[d], other.strides[d], {}};
    for (const Operand& index : indices) dim.index.push_back(index.strides[d]);
    dims.push_back(std::move(dim));
  }
  auto is_index = [&](const Dim& d) {
    return (writing && d.x == 0) || std::any_of(d.index.begin(), d.index.end(), [](int64_t s) { return s != 0; });
  };
  auto merges = [&](const Dim& a, const Dim& b) {  // b lies within a
    bool fits = is_index(a) == is_index(b) && a.x == b.n * b.x && a.other == b.n * b.other;
    for (size_t i = 0; i < a.index.size(); i++) fits &= a.index[i] == b.n * b.index[i];
    return fits;
  };
  std::vector<Dim> merged;
  for (Dim& d : dims) {
    if (!merged.empty() && merges(merged.back(), d)) {
      d.n *= merged.back().n;
      merged.back() = std::move(d);
    } else {
      merged.push_back(std::move(d));
    }
  }
  bool last_is_copied = !merged.empty() && !is_index(merged.back());
  for (Dim& d : merged) {
    (is_index(d) ? choices_ : copies_) *= d.n;
    (is_index(d) ? index_dims_ : copy_dims_).push_back(std::move(d));
  }
  for (size_t d = index_dims_.size(); d-- > 0;) {
    if (d + 1 == index_dims_.size())
      linear_step_ = index_dims_[d].other;
    else
      linear_ &= index_dims_[d].other == index_dims_[d + 1].n * index_dims_[d + 1].other;
  }
  choose_run(itemsize(x.dtype), last_is_copied);
}

// The run is the last axis where that is copied and lies densely in x (or closer than the choices do); else, where
// there are few choices, the longest copied axis.
void Positions::choose_run(size_t itemsize, bool last_is_copied) {
  if (copy_dims_.empty() || copies_ == 0) return;
  auto item = static_cast<int64_t>(itemsize);
  auto at = copy_dims_.end();
  if (last_is_copied) {
    int64_t nearest = INT64_MAX;
    for (const IndexParams::Axis& axis : params_.axes) nearest = std::min(nearest, std::abs(axis.stride));
    const Dim& last = copy_dims_.back();
    if (std::abs(last.x) == item || std::abs(last.x) <= nearest) at = copy_dims_.end() - 1;
  }
  if (at == copy_dims_.end() && choices_ < 32) {
    at = std::max_element(copy_dims_.begin(), copy_dims_.end(), [](const Dim& a, const Dim& b) { return a.n < b.n; });
    if (at->n < 4 * choices_) at = copy_dims_.end();
  }
  if (at == copy_dims_.end()) return;
  run = {at->n, at->x, at->other};
  copies_ /= at->n;
  copy_dims_.erase(at);
}

namespace {

int64_t moved_into(int64_t index, int64_t size, IndexMode mode) {
  if (mode == IndexMode::clip) return std::clamp<int64_t>(index, 0, size - 1);
  return (index % size + size) % size;
}

// An index as a number; one beyond int64 is beyond every axis.
template <class T>
int64_t number(const char* at) {
  T v = load<T>(at);
  if constexpr (std::is_same_v<T, uint64_t>)
    if (v > static_cast<uint64_t>(INT64_MAX)) return INT64_MAX;
  return static_cast<int64_t>(v);
}

// Adds the offsets of n indices; false if one is out of range.
template <class T>
bool add_offsets(const char* at, int64_t step, int64_t n, const IndexParams::Axis& axis, int64_t* x) {
  int64_t size = axis.size, stride = axis.stride;
  bool bad = false;
  auto add = [&](int64_t i, int64_t v) {
    if constexpr (std::is_signed_v<T>) v += v < 0 ? size : 0;
    bad |= static_cast<uint64_t>(v) >= static_cast<uint64_t>(size);
    x[i] += static_cast<int64_t>(static_cast<uint64_t>(v) * static_cast<uint64_t>(stride));
  };
  if (step == static_cast<int64_t>(sizeof(T)))
    for (int64_t i = 0; i < n; i++) add(i, number<T>(at + i * static_cast<int64_t>(sizeof(T))));
  else
    for (int64_t i = 0; i < n; i++) add(i, number<T>(at + i * step));
  return !bad;
}

template <class T>
[[noreturn]] void report(const char* at, int64_t step, int64_t n, const IndexParams::Axis& axis) {
  for (int64_t i = 0; i < n; i++) {
    auto v = load<T>(at + i * step);
    int64_t index = number<T>(at + i * step);
    if (index >= -axis.size && index < axis.size) continue;
    fail(ErrorKind::index, "index ", +v, " is out of bounds for axis ", axis.number, " with size ", axis.size);
  }
  fail(ErrorKind::index, "an index is out of bounds for axis ", axis.number, " with size ", axis.size);
}

}  // namespace

void Positions::add_indices(size_t which, const char* at, int64_t step, int64_t n, int64_t* x) const {
  const IndexParams::Axis& axis = params_.axes[which];
  visit(indices_[which].dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      if (params_.mode != IndexMode::raise) {
        for (int64_t i = 0; i < n; i++)
          x[i] += moved_into(number<T>(at + i * step), axis.size, params_.mode) * axis.stride;
      } else if (!add_offsets<T>(at, step, n, axis, x)) {
        report<T>(at, step, n, axis);
      }
    }
  });
}

void Positions::resolve(int64_t begin, int64_t n, int64_t* x) const {
  for (int64_t done = 0; done < n;) {
    // A row of choices along the last axis, from where the rest of its place says.
    int64_t rest = begin + done, row_x = 0, length = n - done;
    int64_t from[kMaxDims] = {};
    for (size_t d = index_dims_.size(); d-- > 0;) {
      const Dim& dim = index_dims_[d];
      int64_t at = rest % dim.n;
      rest /= dim.n;
      row_x += at * dim.x;
      for (size_t i = 0; i < indices_.size(); i++) from[i] += at * dim.index[i];
      if (d + 1 == index_dims_.size()) length = std::min(length, dim.n - at);
    }
    const Dim* last = index_dims_.empty() ? nullptr : &index_dims_.back();
    int64_t step_x = last ? last->x : 0;
    for (size_t i = 0; i < indices_.size(); i++)  // the same for the whole row
      if (!last || last->index[i] == 0) add_indices(i, indices_[i].data() + from[i], 0, 1, &row_x);
    for (int64_t k = 0; k < length; k++) x[done + k] = row_x + k * step_x;
    for (size_t i = 0; last && i < indices_.size(); i++)
      if (last->index[i] != 0) add_indices(i, indices_[i].data() + from[i], last->index[i], length, x + done);
    done += length;
  }
}

Choices Positions::with_other(int64_t begin, int64_t n, const int64_t* x, int64_t* table, int64_t* base) const {
  *base = 0;
  if (linear_) {
    *base = begin * linear_step_;
    return {n, x, nullptr, linear_step_};
  }
  for (int64_t i = 0; i < n; i++) table[i] = other_at(begin + i);
  return {n, x, table, 0};
}

std::pair<int64_t, int64_t> Positions::reach() const {
  int64_t low = 0, high = 0;
  auto add = [&](int64_t n, int64_t step) { (step < 0 ? low : high) += (n - 1) * step; };
  for (const Dim& d : index_dims_) add(d.n, d.x);
  for (const IndexParams::Axis& axis : params_.axes) add(axis.size, axis.stride);
  return {low, high};
}

}  // namespace slipstream::cpu
