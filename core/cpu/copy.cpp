// StridedCopy, and the operations that are nothing but a copy: to the host, from another device, of an equal call.
#include "copy.h"

#include <cstdlib>
#include <cstring>

#include "../ops/host.h"
#include "../program.h"
#include "backend.h"
#include "convert.h"

namespace slipstream::cpu {

namespace {

constexpr int64_t kBlock = 1 << 16;  // elements a block holds at most, and a chunk at least where there are as many

struct Wide {
  uint64_t a, b;
};

// Long runs are copied slowly by some processors where the target lies a little past the source within a page; short
// ones are copied in another way.
void copy_run(char* to, const char* from, size_t n) {
  constexpr size_t kPage = 4096, kLittle = 64, kShort = 1024;
  if (static_cast<uintptr_t>(to - from) % kPage < kLittle)
    for (; n > kShort; n -= kShort, to += kShort, from += kShort) std::memcpy(to, from, kShort);
  std::memcpy(to, from, n);
}

template <class T>
void copy_plane(char* to, const char* from, int64_t rows, int64_t to_row, int64_t from_row, int64_t columns,
                int64_t to_column, int64_t from_column) {
  constexpr int64_t kItem = sizeof(T);
  if (to_column == kItem && from_column == kItem) {
    for (int64_t r = 0; r < rows; r++)
      copy_run(to + r * to_row, from + r * from_row, static_cast<size_t>(columns * kItem));
    return;
  }
  if (std::abs(from_row) >= std::abs(from_column)) {  // along the rows on both sides
    for (int64_t r = 0; r < rows; r++)
      for (int64_t c = 0; c < columns; c++)
        std::memcpy(to + r * to_row + c * to_column, from + r * from_row + c * from_column, sizeof(T));
    return;
  }
  // Squares of a cache line's width: every line that is touched is used up before it is evicted.
  constexpr int64_t kSide = std::max<int64_t>(64 / kItem, 8);
  for (int64_t r0 = 0; r0 < rows; r0 += kSide) {
    int64_t r1 = std::min(rows, r0 + kSide);
    for (int64_t c0 = 0; c0 < columns; c0 += kSide) {
      int64_t c1 = std::min(columns, c0 + kSide);
      for (int64_t r = r0; r < r1; r++)
        for (int64_t c = c0; c < c1; c++)
          std::memcpy(to + r * to_row + c * to_column, from + r * from_row + c * from_column, sizeof(T));
    }
  }
}

auto plane_function(size_t itemsize) {
  switch (itemsize) {
    case 1: return copy_plane<uint8_t>;
    case 2: return copy_plane<uint16_t>;
    case 4: return copy_plane<uint32_t>;
    case 8: return copy_plane<uint64_t>;
    default: return copy_plane<Wide>;
  }
}

}  // namespace

StridedCopy::StridedCopy(const Shape& shape, const Strides& to, const Strides& from, size_t itemsize)
    : itemsize_(itemsize) {
  for (int i = 0; i < shape.size(); i++) {
    empty_ |= shape[i] == 0;
    if (shape[i] != 1) outer_.push_back({shape[i], to[i], from[i]});
  }
  if (empty_) return;
  // Largest steps of the target first; axes that continue each other on both sides are one.
  std::stable_sort(outer_.begin(), outer_.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
  std::vector<Axis> merged;
  for (const Axis& axis : outer_) {
    if (!merged.empty() && merged.back().to == axis.to * axis.n && merged.back().from == axis.from * axis.n) {
      merged.back() = {merged.back().n * axis.n, axis.to, axis.from};
    } else {
      merged.push_back(axis);
    }
  }
  outer_ = std::move(merged);
  choose_plane();
}

void StridedCopy::choose_plane() {
  auto item = static_cast<int64_t>(itemsize_);
  columns_ = rows_ = {1, item, item};
  if (!outer_.empty()) {
    columns_ = outer_.back();
    outer_.pop_back();
  }
  if (!outer_.empty()) {
    auto row = outer_.end() - 1;
    if (columns_.from != item)
      row = std::min_element(outer_.begin(), outer_.end(),
                             [](const Axis& a, const Axis& b) { return std::abs(a.from) < std::abs(b.from); });
    rows_ = *row;
    outer_.erase(row);
  }
  bool straight = columns_.to == item && columns_.from == item;
  column_block_ = std::min(columns_.n, straight ? kBlock : std::max<int64_t>(256, kBlock / rows_.n));
  row_block_ = std::min(rows_.n, std::max<int64_t>(1, kBlock / column_block_));
  column_blocks_ = chunks_of(columns_.n, column_block_);
  row_blocks_ = chunks_of(rows_.n, row_block_);
  blocks_ = row_blocks_ * column_blocks_;
  for (const Axis& axis : outer_) blocks_ *= axis.n;
  per_chunk_ = std::max<int64_t>(1, kBlock / (row_block_ * column_block_));
  chunks_ = chunks_of(blocks_, per_chunk_);
}

void StridedCopy::run(int64_t chunk, char* to, const char* from) const {
  if (empty_) return;
  auto copy = plane_function(itemsize_);
  int64_t end = std::min(blocks_, (chunk + 1) * per_chunk_);
  for (int64_t block = chunk * per_chunk_; block < end; block++) {
    int64_t column = block % column_blocks_ * column_block_;
    int64_t rest = block / column_blocks_;
    int64_t row = rest % row_blocks_ * row_block_;
    rest /= row_blocks_;
    int64_t to_at = row * rows_.to + column * columns_.to;
    int64_t from_at = row * rows_.from + column * columns_.from;
    for (auto axis = outer_.rbegin(); axis != outer_.rend(); ++axis) {
      int64_t i = rest % axis->n;
      rest /= axis->n;
      to_at += i * axis->to;
      from_at += i * axis->from;
    }
    copy(to + to_at, from + from_at, std::min(row_block_, rows_.n - row), rows_.to, rows_.from,
         std::min(column_block_, columns_.n - column), columns_.to, columns_.from);
  }
}

namespace {

std::unique_ptr<Kernel> copy_kernel(const Operand& x, char* to, const Strides& strides) {
  StridedCopy copy(x.shape, strides, x.strides, itemsize(x.dtype));
  const char* from = x.data();
  return chunked_kernel(copy.chunks(), [=](int64_t chunk) { copy.run(chunk, to, from); });
}

std::unique_ptr<Kernel> make_to_host(const Record& call) {
  const Operand& x = call.inputs[0];
  return copy_kernel(x, static_cast<char*>(call.as<ToHostParams>().to), row_major(x.shape, itemsize(x.dtype)));
}

std::unique_ptr<Kernel> make_copy(const Record& call) {
  return copy_kernel(call.inputs[0], call.outputs[0].data(), call.outputs[0].strides);
}

}  // namespace

void register_copy(engine::Backend& backend) {
  backend.provide(kToHost, make_to_host);
  for (const Op* op : {&kToDevice, &kEqual}) backend.provide(*op, make_copy);
}

}  // namespace slipstream::cpu
