// Chooses the vector loops by what the processor can run.
#include "dispatch.h"

#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>

#include "fft.h"
#include "norm.h"
#include "panels.h"
#include "recurrent.h"

namespace slipstream {

#define SLIP_FILLS(isa)                         \
  namespace isa {                               \
  void fill_f32(cpu::Loops&);                   \
  void fill_f64(cpu::Loops&);                   \
  void fill_c64(cpu::Loops&);                   \
  void fill_c128(cpu::Loops&);                  \
  void fill_signed(cpu::Loops&);                \
  void fill_unsigned(cpu::Loops&);              \
  void fill_casts(cpu::Loops&);                 \
  void fill_reductions(cpu::Loops&);            \
  void fill_moves(cpu::Loops&);                 \
  void fill_searches(cpu::Loops&);              \
  void fill_scans(cpu::Loops&);                 \
  void fill_sorts(cpu::Loops&);                 \
  void fill_pairs(cpu::Loops&);                 \
  void fill_products(cpu::Loops&);              \
  void fill_fft(cpu::FftLoops&);                \
  void fill_norms(cpu::AllNormLoops&);          \
  void fill_panels(cpu::AllPanelLoops&);        \
  void fill_recurrent(cpu::AllRecurrentLoops&); \
  void fill_conv(cpu::Loops&);                  \
  void fill_pools(cpu::Loops&);                 \
  inline void fill(cpu::Loops& to) {            \
    fill_f32(to);                               \
    fill_f64(to);                               \
    fill_c64(to);                               \
    fill_c128(to);                              \
    fill_signed(to);                            \
    fill_unsigned(to);                          \
    fill_casts(to);                             \
    fill_reductions(to);                        \
    fill_moves(to);                             \
    fill_searches(to);                          \
    fill_scans(to);                             \
    fill_sorts(to);                             \
    fill_pairs(to);                             \
    fill_products(to);                          \
    fill_conv(to);                              \
    fill_pools(to);                             \
  }                                             \
  }
#if defined(SLIP_HAVE_v2)
SLIP_FILLS(v2)
#endif
#if defined(SLIP_HAVE_v3)
SLIP_FILLS(v3)
#endif
#if defined(SLIP_HAVE_v4)
SLIP_FILLS(v4)
#endif
#if defined(SLIP_HAVE_base)
SLIP_FILLS(base)
#endif
#undef SLIP_FILLS

namespace cpu {

namespace {

struct Isa {
  const char* name;
  bool (*runs)();
  void (*fill)(Loops&);
  void (*fill_fft)(FftLoops&);
  void (*fill_norms)(AllNormLoops&);
  void (*fill_panels)(AllPanelLoops&);
  void (*fill_recurrent)(AllRecurrentLoops&);
};

#if defined(__x86_64__)
[[maybe_unused]] bool runs_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
}
[[maybe_unused]] bool runs_v4() {
  return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

// Best first; the build says which there are (core/CMakeLists.txt).
constexpr Isa kIsas[] = {
#if defined(SLIP_HAVE_v4)
    {"v4", runs_v4, v4::fill, v4::fill_fft, v4::fill_norms, v4::fill_panels, v4::fill_recurrent},
#endif
#if defined(SLIP_HAVE_v3)
    {"v3", runs_v3, v3::fill, v3::fill_fft, v3::fill_norms, v3::fill_panels, v3::fill_recurrent},
#endif
#if defined(SLIP_HAVE_v2)
    {"v2", [] { return true; }, v2::fill, v2::fill_fft, v2::fill_norms, v2::fill_panels, v2::fill_recurrent},
#endif
#if defined(SLIP_HAVE_base)
    {"base", [] { return true; }, base::fill, base::fill_fft, base::fill_norms, base::fill_panels,
     base::fill_recurrent},
#endif
};

struct Chosen {
  const Isa* isa;
  Loops loops;
  FftLoops fft;
  AllNormLoops norms;
  AllPanelLoops panels;
  AllRecurrentLoops recurrent;
};
std::atomic<const Chosen*> chosen{nullptr};

const Chosen* choose(const Isa& isa) {
  auto made = std::make_unique<Chosen>();
  made->isa = &isa;
  isa.fill(made->loops);
  isa.fill_fft(made->fft);
  isa.fill_norms(made->norms);
  isa.fill_panels(made->panels);
  isa.fill_recurrent(made->recurrent);
  return made.release();  // kept for the life of the process
}

const Chosen& current() {
  const Chosen* now = chosen.load(std::memory_order_acquire);
  if (now) return *now;
  const Isa* best = kIsas;
  while (!best->runs())
    if (++best == std::end(kIsas))
      fail(ErrorKind::runtime, "this processor runs none of the instruction sets that were built");
  const Chosen* made = choose(*best);
  if (chosen.compare_exchange_strong(now, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *now;
}

}  // namespace

const Loops& loops() { return current().loops; }
const FftLoops& fft_loops() { return current().fft; }
const AllNormLoops& norm_loops() { return current().norms; }
const AllPanelLoops& panel_loops() { return current().panels; }
const AllRecurrentLoops& recurrent_loops() { return current().recurrent; }
const char* isa() { return current().isa->name; }

void choose_isa(const char* name) {
  for (const Isa& isa : kIsas) {
    if (std::strcmp(isa.name, name) != 0) continue;
    if (!isa.runs()) fail(ErrorKind::value, "this processor cannot run the instruction set ", name);
    chosen.store(choose(isa), std::memory_order_release);
    return;
  }
  fail(ErrorKind::value, "there is no instruction set ", name);
}

}  // namespace cpu

}  // namespace slipstream
