// Kernels over masks: how many elements of each block are true, which elements they choose, and where they are.
#include "backend.h"
#include "index.h"

namespace slipstream::cpu {

namespace {

// Bytes of 0 and 1, eight at a time; a byte of the sum holds 255 of them.
int64_t count_true(const uint8_t* mask, int64_t n) {
  int64_t total = 0, i = 0;
  while (i + 8 <= n) {
    uint64_t sum = 0;
    for (int k = 0; k < 255 && i + 8 <= n; k++, i += 8) sum += load<uint64_t>(reinterpret_cast<const char*>(mask + i));
    for (; sum; sum >>= 8) total += static_cast<int64_t>(sum & 255);
  }
  for (; i < n; i++) total += mask[i];
  return total;
}

const uint8_t* mask_of(const Operand& mask) { return reinterpret_cast<const uint8_t*>(mask.data()); }

std::unique_ptr<Kernel> make_count(const Record& call) {
  const uint8_t* mask = mask_of(call.inputs[0]);
  int64_t size = call.inputs[0].size();
  auto* counts = reinterpret_cast<int64_t*>(call.outputs[0].data());
  constexpr int64_t kTogether = 16;  // blocks of a chunk
  int64_t blocks = chunks_of(size, kMaskBlock);
  return chunked_kernel(chunks_of(blocks, kTogether), [=](int64_t chunk) {
    for (int64_t b = chunk * kTogether; b < std::min(blocks, (chunk + 1) * kTogether); b++)
      counts[b] = count_true(mask + b * kMaskBlock, std::min(kMaskBlock, size - b * kMaskBlock));
  });
}

// Calls f for every block, several a chunk: its first element, and the number of its true ones before and after it.
template <class F>
std::unique_ptr<Kernel> over_blocks(const Record& call, int64_t size, F f) {
  const std::vector<int64_t>& before = call.as<MaskParams>().before;
  auto blocks = static_cast<int64_t>(before.size()) - 1;
  constexpr int64_t kTogether = 4;
  return chunked_kernel(chunks_of(blocks, kTogether), [=, &before](int64_t chunk) {
    for (int64_t b = chunk * kTogether; b < std::min(blocks, (chunk + 1) * kTogether); b++) {
      auto at = static_cast<size_t>(b);
      f(b * kMaskBlock, std::min(size, (b + 1) * kMaskBlock), before[at], before[at + 1]);
    }
  });
}

// Every element is written and the place moves on after the true ones: no branch depends on the mask.
std::unique_ptr<Kernel> make_compress(const Record& call) {
  const Operand &x = call.inputs[0], &m = call.inputs[1];
  return by_size(itemsize(x.dtype), [&](auto zero) {
    using T = decltype(zero);
    const char* from = x.data();
    char* to = call.outputs[0].data();
    const uint8_t* mask = mask_of(m);
    return over_blocks(call, m.size(), [=](int64_t i, int64_t, int64_t at, int64_t end) {
      constexpr auto size = static_cast<int64_t>(sizeof(T));
      for (; at < end; i++) {
        store(to + at * size, load<T>(from + i * size));
        at += mask[i];
      }
    });
  });
}

std::unique_ptr<Kernel> make_nonzero(const Record& call) {
  const Operand& m = call.inputs[0];
  auto* out = reinterpret_cast<int64_t*>(call.outputs[0].data());
  const uint8_t* mask = mask_of(m);
  int64_t number = call.outputs[0].shape[1];
  if (m.ndim() <= 1)
    return over_blocks(call, m.size(), [=](int64_t i, int64_t, int64_t at, int64_t end) {
      for (; at < end; i++) {
        out[at] = i;
        at += mask[i];
      }
    });
  return over_blocks(call, m.size(), [=, shape = m.shape](int64_t i, int64_t, int64_t at, int64_t end) {
    int64_t row = shape.back();
    while (at < end) {
      int64_t rest = i / row, column = i % row, first = at;
      for (i -= column; at < end && column < row; column++) {
        out[(shape.size() - 1) * number + at] = column;
        at += mask[i + column];
      }
      i += column;
      for (int d = shape.size() - 2; d >= 0; d--) {
        std::fill(out + d * number + first, out + d * number + at, rest % shape[d]);
        rest /= shape[d];
      }
    }
  });
}

}  // namespace

void register_masks(engine::Backend& backend) {
  backend.provide(kCountMask, make_count);
  backend.provide(kCompress, make_compress);
  backend.provide(kNonzero, make_nonzero);
}

}  // namespace slipstream::cpu
