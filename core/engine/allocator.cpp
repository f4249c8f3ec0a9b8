// The caching allocator: freed blocks wait in lists by size class for the next allocation of that class.
#include "allocator.h"

#include <unistd.h>

#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

#include "device.h"
#include "engine.h"
#include "runtime.h"

namespace slipstream::engine {

namespace {

// Classes grow by an eighth of a power of two, so at most 12.5% of a block is unused.
size_t class_size(size_t nbytes) {
  if (nbytes <= 1024) return nbytes <= 64 ? 64 : (nbytes + 63) / 64 * 64;
  size_t step = std::bit_floor(nbytes - 1) / 8;
  return (nbytes + step - 1) / step * step;
}

// An empty array needs an address but no memory.
alignas(64) char nothing[64];

}  // namespace

int64_t machine_memory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  if (FILE* file = fopen("/sys/fs/cgroup/memory.max", "r")) {
    long long limit = 0;
    if (fscanf(file, "%lld", &limit) == 1 && limit > 0 && limit < bytes) bytes = limit;
    fclose(file);
  }
  return bytes;
}

void* Allocator::take_cached(Device device, size_t size) {
  auto it = free_.find({device.kind, device.id, size});
  if (it == free_.end() || it->second.empty()) return nullptr;
  void* memory = it->second.back();
  it->second.pop_back();
  cached_ -= static_cast<int64_t>(size);
  return memory;
}

void Allocator::release_cached() {
  for (auto& [key, blocks] : free_) {
    for (void* block : blocks) backend({key.kind, key.id}).free(block, key.size);
    cached_ -= static_cast<int64_t>(key.size * blocks.size());
    blocks.clear();
  }
}

void* Allocator::allocate(Device device, size_t nbytes, const Limits& limits) {
  if (nbytes == 0) return nothing;
  size_t size = class_size(nbytes);
  auto wanted = static_cast<int64_t>(size);
  std::lock_guard hold(mutex_);
  allocations_++;
  void* memory = nullptr;
  if (fail_every_ == 0 || allocations_ % fail_every_ != 0) {
    memory = take_cached(device, size);
    if (!memory && in_use_ + cached_ + wanted > limits.memory) release_cached();
    if (!memory && in_use_ + wanted <= limits.memory) {
      memory = backend(device).allocate(size);
      if (!memory && cached_ > 0) {
        release_cached();
        memory = backend(device).allocate(size);
      }
    }
  }
  if (!memory)
    fail(ErrorKind::memory, "out of memory: cannot allocate ", nbytes, " bytes on ", device, " (", in_use_,
         " in use, limit ", limits.memory, ")");
  in_use_ += wanted;
  peak_ = std::max(peak_, in_use_);
  return memory;
}

void Allocator::deallocate(Device device, void* memory, size_t nbytes, const Limits& limits) {
  if (nbytes == 0) return;
  size_t size = class_size(nbytes);
  {
    std::lock_guard hold(mutex_);
    in_use_ -= static_cast<int64_t>(size);
    if (cached_ + static_cast<int64_t>(size) <= limits.cache) {
      free_[{device.kind, device.id, size}].push_back(memory);
      cached_ += static_cast<int64_t>(size);
      return;
    }
  }
  backend(device).free(memory, size);
}

MemoryStats Allocator::stats() {
  std::lock_guard hold(mutex_);
  return {in_use_, cached_, peak_};
}

void Allocator::empty_cache() {
  std::lock_guard hold(mutex_);
  release_cached();
}

void Allocator::reset_peak() {
  std::lock_guard hold(mutex_);
  peak_ = in_use_;
}

void Allocator::fail_every(int64_t n) {
  std::lock_guard hold(mutex_);
  fail_every_ = n;
  allocations_ = 0;
}

void Allocator::inherit(const Allocator& parent) { in_use_ = peak_ = parent.in_use_; }

void* allocate(Device device, size_t nbytes) {
  Runtime& runtime = Runtime::get();
  return runtime.allocator.allocate(device, nbytes, runtime.limits.load());
}

void deallocate(Device device, void* memory, size_t nbytes) {
  Runtime& runtime = Runtime::get();
  runtime.allocator.deallocate(device, memory, nbytes, runtime.limits.load());
}

}  // namespace slipstream::engine
