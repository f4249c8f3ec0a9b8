// The CPU backend: memory of the machine, and the kernels of this folder.
#include "backend.h"

#include <cstdlib>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "map.h"
#include "reduce.h"

namespace slipstream::cpu {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr int kDevices = 64;  // queues side by side over the same cores

class CpuBackend final : public engine::Backend {
 public:
  CpuBackend() : Backend("cpu") {}
  int count() const override { return kDevices; }

  // Large blocks ask for huge pages: fewer page faults at the first touch, fewer misses of the address cache.
  void* allocate(size_t nbytes) override {
    size_t alignment = nbytes >= 2 * kHugePage ? kHugePage : kAlignment;
    void* p = nullptr;
    if (posix_memalign(&p, alignment, nbytes ? nbytes : 1) != 0) return nullptr;
#if defined(__linux__)
    if (alignment == kHugePage) madvise(p, nbytes, MADV_HUGEPAGE);
#endif
    return p;
  }
  void free(void* p, size_t) override { std::free(p); }
};

}  // namespace

std::unique_ptr<engine::Backend> make_cpu_backend() {
  auto backend = std::make_unique<CpuBackend>();
  for (auto provide : {register_map, register_reduce, register_create, register_copy, register_join, register_matmul,
                       register_scan, register_argreduce, register_take, register_random, register_host})
    provide(*backend);
  return backend;
}

}  // namespace slipstream::cpu
