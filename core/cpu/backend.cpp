// The CPU backend: memory of the machine, and the kernels of this folder.
#include "backend.h"

#include <cstdlib>

#include "../engine/pages.h"
#include "fft.h"
#include "map.h"
#include "norm.h"
#include "reduce.h"

namespace slipstream::cpu {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMapped = size_t{1} << 20;  // blocks from this size on are the system's own mappings
constexpr int kDevices = 64;  // queues side by side over the same cores

class CpuBackend final : public engine::Backend {
 public:
  CpuBackend() : Backend("cpu") {}
  int count() const override { return kDevices; }

  void* allocate(size_t nbytes) override {
    if (nbytes >= kMapped) return engine::map_pages(nbytes);
    void* p = nullptr;
    return posix_memalign(&p, kAlignment, nbytes ? nbytes : 1) == 0 ? p : nullptr;
  }
  void free(void* p, size_t nbytes) override {
    if (nbytes >= kMapped)
      engine::unmap_pages(p, nbytes);
    else
      std::free(p);
  }
};

}  // namespace

std::unique_ptr<engine::Backend> make_cpu_backend() {
  auto backend = std::make_unique<CpuBackend>();
  for (auto provide : {
           register_map,      register_reduce, register_create,    register_copy,      register_join,
           register_matmul,   register_scan,   register_argreduce, register_gather,    register_scatter,
           register_masks,    register_sort,   register_select,    register_search,    register_count,
           register_convolve, register_random, register_sample,    register_conv,      register_conv_weight,
           register_pool,     register_lu,     register_qr,        register_spectral,  register_host,
           register_fft,      register_norm,   register_row_norm,  register_recurrent,
       })
    provide(*backend);
  return backend;
}

}  // namespace slipstream::cpu
