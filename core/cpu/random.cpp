// Kernels of random arrays: groups of counter-based numbers, written straight into the result.
#include "../ops/random.h"

#include <cmath>
#include <cstring>
#include <string_view>

#include "backend.h"
#include "convert.h"
#include "dispatch.h"
#include "random_loops.h"

namespace slipstream {

#define SLIP_DECLARE(isa)                     \
  namespace isa {                             \
  extern const cpu::RandomLoops kRandomLoops; \
  }
SLIP_DECLARE(v2)
SLIP_DECLARE(v3)
SLIP_DECLARE(v4)
SLIP_DECLARE(base)
#undef SLIP_DECLARE

}  // namespace slipstream

namespace slipstream::cpu {

namespace {

// Those that were compiled.
constexpr struct {
  std::string_view name;
  const RandomLoops* loops;
} kTables[] = {
#ifdef SLIP_HAVE_v2
    {"v2", &v2::kRandomLoops},
#endif
#ifdef SLIP_HAVE_v3
    {"v3", &v3::kRandomLoops},
#endif
#ifdef SLIP_HAVE_v4
    {"v4", &v4::kRandomLoops},
#endif
#ifdef SLIP_HAVE_base
    {"base", &base::kRandomLoops},
#endif
};

}  // namespace

const RandomLoops& random_loops() {
  for (const auto& table : kTables)
    if (table.name == isa()) return *table.loops;
  fail(ErrorKind::runtime, "random: no loops for the instruction set ", isa());
}

void philox(uint64_t key, uint64_t block, uint32_t attempt, uint32_t out[4]) {
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  uint32_t x[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), attempt, 0};
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = uint64_t{0xD2511F53u} * x[0], p1 = uint64_t{0xCD9E8D57u} * x[2];
    uint32_t next[4] = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
                        static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
    std::memcpy(x, next, sizeof x);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  std::memcpy(out, x, sizeof x);
}

namespace {

constexpr int64_t kGroups = 1024;  // of a chunk

// A kernel that fills an array group by group: fill(to, first group, number of groups). The last group may be cut.
template <class T, class F>
std::unique_ptr<Kernel> group_kernel(const Operand& out, int64_t per_group, uint64_t first, F fill) {
  auto* to = reinterpret_cast<T*>(out.data());
  int64_t n = out.size(), per_chunk = kGroups * per_group;
  return chunked_kernel(chunks_of(n, per_chunk), [=](int64_t chunk) {
    int64_t begin = chunk * per_chunk, end = std::min(n, begin + per_chunk);
    int64_t whole = (end - begin) / per_group, rest = (end - begin) % per_group;
    uint64_t group = first + static_cast<uint64_t>(chunk * kGroups);
    fill(to + begin, group, whole);
    if (rest == 0) return;
    alignas(64) T last[kGroupWords];
    fill(last, group + static_cast<uint64_t>(whole), 1);
    std::memcpy(to + begin + whole * per_group, last, static_cast<size_t>(rest) * sizeof(T));
  });
}

template <class T>
std::unique_ptr<Kernel> uniform_kernel(const Record& call) {
  const auto& params = call.as<RandomParams>();
  const RandomLoops& loops = random_loops();
  auto low = static_cast<T>(params.a), high = static_cast<T>(params.b);
  auto range = static_cast<T>(params.b - params.a);
  T below = high > low ? std::nextafter(high, low) : high;
  return group_kernel<T>(call.outputs[0], kGroupWords * 4 / static_cast<int64_t>(sizeof(T)), params.first,
                         [=, &loops, key = params.key](T* to, uint64_t group, int64_t groups) {
                           if constexpr (sizeof(T) == 4)
                             loops.uniform32(to, key, group, groups, low, range, below);
                           else
                             loops.uniform64(to, key, group, groups, low, range, below);
                         });
}

template <class T>
std::unique_ptr<Kernel> normal_kernel(const Record& call) {
  const auto& params = call.as<RandomParams>();
  const RandomLoops& loops = random_loops();
  auto mean = static_cast<T>(params.a), deviation = static_cast<T>(params.b);
  return group_kernel<T>(call.outputs[0], kGroupWords * 4 / static_cast<int64_t>(sizeof(T)), params.first,
                         [=, &loops, key = params.key](T* to, uint64_t group, int64_t groups) {
                           if constexpr (sizeof(T) == 4)
                             loops.normal32(to, key, group, groups, mean, deviation);
                           else
                             loops.normal64(to, key, group, groups, mean, deviation);
                         });
}

std::unique_ptr<Kernel> make_uniform(const Record& call) {
  return call.outputs[0].dtype == DType::f64 ? uniform_kernel<double>(call) : uniform_kernel<float>(call);
}

std::unique_ptr<Kernel> make_normal(const Record& call) {
  return call.outputs[0].dtype == DType::f64 ? normal_kernel<double>(call) : normal_kernel<float>(call);
}

// 64-bit numbers of a generator, 32 a group; element i of a group is made of words 2h and 2h+1 of block j.
class Draws {
 public:
  static constexpr int64_t kPerGroup = kGroupWords / 2;
  explicit Draws(uint64_t key) : key_(key) {}

  void load(uint64_t group) {
    group_ = group;
    random_loops().words(words_, key_, group, 1);
  }
  // Number i of the group, spread evenly over 0 .. range - 1 (0: all). The product with the range keeps its high half;
  // the few low halves that would favour some values are drawn again, from the same block's further attempts.
  uint64_t below(int64_t i, uint64_t range) const {
    int64_t half = i / kGroupBlocks * 2, lane = i % kGroupBlocks;
    uint64_t bits = join(words_[half * kGroupBlocks + lane], words_[(half + 1) * kGroupBlocks + lane]);
    if (range == 0) return bits;
    unsigned __int128 product = static_cast<unsigned __int128>(bits) * range;
    if (static_cast<uint64_t>(product) < range) {
      uint64_t unfair = -range % range;
      for (uint32_t attempt = 1; static_cast<uint64_t>(product) < unfair; attempt++) {
        uint32_t more[4];
        philox(key_, group_ * static_cast<uint64_t>(kGroupBlocks) + static_cast<uint64_t>(lane), attempt, more);
        product = static_cast<unsigned __int128>(join(more[half], more[half + 1])) * range;
      }
    }
    return static_cast<uint64_t>(product >> 64);
  }

 private:
  static uint64_t join(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }
  uint64_t key_, group_ = 0;
  uint32_t words_[kGroupWords];
};

std::unique_ptr<Kernel> make_integers(const Record& call) {
  const auto& params = call.as<IntegersParams>();
  return visit(call.outputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) {
      return nullptr;  // refused when recorded
    } else {
      return group_kernel<T>(
          call.outputs[0], Draws::kPerGroup, params.first,
          [low = params.low, range = params.range, key = params.key](T* to, uint64_t group, int64_t groups) {
            Draws draws(key);
            for (int64_t g = 0; g < groups; g++) {
              draws.load(group + static_cast<uint64_t>(g));
              for (int64_t i = 0; i < Draws::kPerGroup; i++) *to++ = static_cast<T>(low + draws.below(i, range));
            }
          });
    }
  });
}

// Fisher and Yates: a random one of those left comes next.
std::unique_ptr<Kernel> make_permutation(const Record& call) {
  const auto& params = call.as<RandomParams>();
  auto* to = reinterpret_cast<int64_t*>(call.outputs[0].data());
  int64_t n = call.outputs[0].size();
  return single_kernel([=, key = params.key, first = params.first] {
    for (int64_t i = 0; i < n; i++) to[i] = i;
    Draws draws(key);
    for (int64_t i = 0; i < n; i++) {
      if (i % Draws::kPerGroup == 0) draws.load(first + static_cast<uint64_t>(i / Draws::kPerGroup));
      auto other = i + static_cast<int64_t>(draws.below(i % Draws::kPerGroup, static_cast<uint64_t>(n - i)));
      std::swap(to[i], to[other]);
    }
  });
}

}  // namespace

void register_random(engine::Backend& backend) {
  backend.provide(kUniform, make_uniform);
  backend.provide(kNormal, make_normal);
  backend.provide(kIntegers, make_integers);
  backend.provide(kPermutation, make_permutation);
}

}  // namespace slipstream::cpu
