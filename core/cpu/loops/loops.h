// Dense loops made from the rows of ops.def, for one type at a time. Each file beside this one fills some types.
#pragma once

#include <array>
#include <tuple>

#include "../../rules.h"
#include "../dispatch.h"
#include "functions.h"

namespace slipstream::SLIP_ISA {

using cpu::Loops;

template <DType D>
struct LoopType {
  using type = typename CTypeOf<D>::type;
};
template <>
struct LoopType<DType::c64> {
  using type = cx<float>;
};
template <>
struct LoopType<DType::c128> {
  using type = cx<double>;
};
template <DType D>
using loop_t = typename LoopType<D>::type;

// ---- the values of the table as function objects
#define UNARY(name, RULE, V, ...) \
  struct value_##name {           \
    template <class T>            \
    static auto of(T x) {         \
      return V;                   \
    }                             \
  };
#define BINARY(name, RULE, V, ...) \
  struct value_##name {            \
    template <class T>             \
    static auto of(T x, T y) {     \
      return V;                    \
    }                              \
  };
#define TERNARY(name, RULE, V, ...) \
  struct value_##name {             \
    template <class C, class T>     \
    static auto of(C x, T y, T z) { \
      return V;                     \
    }                               \
  };
#include "../../ops.def"

// Vector functions and their scalar twins may differ in the last bit. So that an element has the same bits wherever it
// falls, such loops run whole vectors only, the last one through a copy.
constexpr int64_t whole_vectors(size_t itemsize) { return static_cast<int64_t>(64 / itemsize); }

constexpr bool needs_whole_vectors(Rule rule, DType t) {
  if (!is_float(t) && !is_complex(t)) return false;
  if (is_complex(t)) return rule != Rule::COMPARE && rule != Rule::TEST && rule != Rule::SELECT;
  return rule == Rule::FLOAT || rule == Rule::REAL || rule == Rule::LIFTED || rule == Rule::DOUBLE;
}

template <class F, class R, class... T>
[[gnu::noinline]] void body(R* out, int64_t n, const T*... in) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) out[i] = static_cast<R>(F::of(in[i]...));
}

// A choice by bits. Written with ?: it branches, which costs ten times as much where conditions are irregular.
template <class T>
[[gnu::noinline]] void choose(T* out, int64_t n, const bool* condition, const T* x, const T* y) {
  using Plain = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  typedef Plain Bits __attribute__((may_alias));
  auto *a = reinterpret_cast<const Bits*>(x), *b = reinterpret_cast<const Bits*>(y);
  auto* to = reinterpret_cast<Bits*>(out);
  auto* truth = reinterpret_cast<const uint8_t*>(condition);  // of bool the compiler makes no vectors
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    auto mask = static_cast<Plain>(-static_cast<Plain>(truth[i] != 0));
    to[i] = static_cast<Plain>((a[i] & mask) | (b[i] & static_cast<Plain>(~mask)));
  }
}

template <class F, class R, class... T>
void whole(R* out, int64_t n, const T*... in) {
  constexpr int64_t w = whole_vectors(sizeof(R));
  int64_t main = n & ~(w - 1), rest = n - main;
  if (main) body<F, R, T...>(out, main, in...);
  if (!rest) return;
  auto padded = [&](const auto*... from) {
    std::tuple<std::array<T, w>...> copies;
    auto fill = [&](auto& copy, const auto* x) {
      for (int64_t i = 0; i < w; i++) copy[static_cast<size_t>(i)] = x[i < rest ? i : rest - 1];
    };
    alignas(64) R last[w];
    std::apply(
        [&](auto&... copy) {
          (fill(copy, from), ...);
          body<F, R, T...>(last, w, copy.data()...);
        },
        copies);
    for (int64_t i = 0; i < rest; i++) out[main + i] = last[i];
  };
  padded(in + main...);
}

template <class F, Rule rule, DType D, class... T>
void run_loop(void* out, int64_t n, const T*... in) {
  constexpr DType given_type = given(rule, D);
  using R = loop_t<given_type>;
  if constexpr (needs_whole_vectors(rule, D))
    whole<F, R, T...>(static_cast<R*>(out), n, in...);
  else
    body<F, R, T...>(static_cast<R*>(out), n, in...);
}

template <class F, Rule rule, DType D>
void loop1(void* out, const void* const* in, int64_t n) {
  using T = loop_t<D>;
  run_loop<F, rule, D>(out, n, static_cast<const T*>(in[0]));
}
template <class F, Rule rule, DType D>
void loop2(void* out, const void* const* in, int64_t n) {
  using T = loop_t<D>;
  run_loop<F, rule, D>(out, n, static_cast<const T*>(in[0]), static_cast<const T*>(in[1]));
}
template <class F, Rule rule, DType D>
void loop3(void* out, const void* const* in, int64_t n) {
  using T = loop_t<D>;
  if constexpr (rule == Rule::SELECT && sizeof(T) <= 8)
    return choose(static_cast<T*>(out), n, static_cast<const bool*>(in[0]), static_cast<const T*>(in[1]),
                  static_cast<const T*>(in[2]));
  using C = std::conditional_t<info(rule).condition_first, bool, T>;
  run_loop<F, rule, D>(out, n, static_cast<const C*>(in[0]), static_cast<const T*>(in[1]),
                       static_cast<const T*>(in[2]));
}

// Every row of the table that computes in type D.
template <DType D>
void fill_rows(Loops& loops) {
  constexpr int d = static_cast<int>(D);
#define SLIP_FILL(name, RULE, loop) \
  if constexpr (computes(Rule::RULE, D)) loops.map[static_cast<int>(Row::name)][d] = &loop<value_##name, Rule::RULE, D>;
#define UNARY(name, RULE, ...) SLIP_FILL(name, RULE, loop1)
#define BINARY(name, RULE, ...) SLIP_FILL(name, RULE, loop2)
#define TERNARY(name, RULE, ...) SLIP_FILL(name, RULE, loop3)
#include "../../ops.def"
#undef SLIP_FILL
}

}  // namespace slipstream::SLIP_ISA
