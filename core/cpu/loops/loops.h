// Dense loops made from the rows of ops.def, for one type at a time. Each file beside this one fills some types.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
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
// Which of two NaNs a sum or a product gives depends on the order that the compiler chose for them, and it rewrites
// what is around them as if all NaNs were one. So that a value has the same bits whichever loop computes it, rows with
// the mark one_nan(...) give but one NaN, once Settled; all others hand on the one they are given.
template <class T>
SLIP_INLINE T one_nan(T x) {
  return x;
}
constexpr bool is_marked(std::string_view value) { return value.starts_with("one_nan("); }

#define UNARY(name, RULE, V, ...)                        \
  struct value_##name {                                  \
    static constexpr bool gives_one_nan = is_marked(#V); \
    template <class T>                                   \
    SLIP_INLINE static auto of(T x) {                    \
      return V;                                          \
    }                                                    \
  };
#define BINARY(name, RULE, V, ...)                       \
  struct value_##name {                                  \
    static constexpr bool gives_one_nan = is_marked(#V); \
    template <class T>                                   \
    SLIP_INLINE static auto of(T x, T y) {               \
      return V;                                          \
    }                                                    \
  };
#define TERNARY(name, RULE, V, ...)                      \
  struct value_##name {                                  \
    static constexpr bool gives_one_nan = is_marked(#V); \
    template <class C, class T>                          \
    SLIP_INLINE static auto of(C x, T y, T z) {          \
      return V;                                          \
    }                                                    \
  };
#include "../../ops.def"

template <class T>
SLIP_INLINE T with_one_nan(T x) {
  if constexpr (is_cx<T>)
    return {with_one_nan(x.re), with_one_nan(x.im)};
  else if constexpr (Float<T>)
    return x == x ? x : std::numeric_limits<T>::quiet_NaN();
  else
    return x;
}
template <class F>
struct Settled {
  template <class... T>
  SLIP_INLINE static auto of(T... x) {
    if constexpr (F::gives_one_nan)
      return with_one_nan(F::of(x...));
    else
      return F::of(x...);
  }
};

// Vector functions and their scalar twins may differ in the last bit. So that an element has the same bits wherever it
// falls, such loops run whole vectors only, the last one through a copy.
constexpr bool needs_whole_vectors(Rule rule, DType t) {
  if (!is_float(t) && !is_complex(t)) return false;
  if (is_complex(t)) return rule != Rule::COMPARE && rule != Rule::TEST && rule != Rule::SELECT;
  return rule == Rule::FLOAT || rule == Rule::REAL || rule == Rule::LIFTED || rule == Rule::DOUBLE;
}

// An argument as the loops see it: it goes on by `step` elements after each line of the loop.
template <class T>
struct In {
  const T* at;
  int64_t step;
};

// Elements that a loop does at once: a cache line of the smallest type. For the rest: one of the largest.
template <class... T>
inline constexpr int64_t kLine = static_cast<int64_t>(64 / std::min({sizeof(T)...}));
template <class... T>
inline constexpr int64_t kShortLine = static_cast<int64_t>(64 / std::max({sizeof(T)...}));
static_assert(kLine<bool> <= cpu::kRepeated);

template <int64_t w, class F, class R, class... T>
[[gnu::noinline, gnu::noclone]] void lines(R* out, int64_t count, In<T>... in) {
  for (; count > 0; count--) {
#pragma GCC ivdep
#pragma GCC unroll 1  // unrolled, it would no longer be made of vectors
    for (int64_t i = 0; i < w; i++) out[i] = static_cast<R>(F::of(in.at[i]...));
    out += w;
    ((in.at += in.step), ...);
  }
}

// Fewer than a line.
template <class F, class R, class... T>
void rest_of(R* out, int64_t n, const T*... in) {
  for (int64_t i = 0; i < n; i++) {
    asm volatile("");  // vectors would not pay
    out[i] = static_cast<R>(F::of(in[i]...));
  }
}

template <class F, class R, class... T>
void last_line(R* out, int64_t n, const T*... in) {
  constexpr int64_t w = kLine<R, T...>;
  std::tuple<std::array<T, w>...> copies;
  auto fill = [&](auto& copy, const auto* x) {
    for (int64_t i = 0; i < w; i++) copy[static_cast<size_t>(i)] = x[i < n ? i : n - 1];
  };
  alignas(64) R last[w];
  std::apply(
      [&](auto&... copy) {
        (fill(copy, in), ...);
        lines<w, F, R, T...>(last, 1, In<T>{copy.data(), 0}...);
      },
      copies);
  for (int64_t i = 0; i < n; i++) out[i] = last[i];
}

template <class F, bool whole, class R, class... T>
void run_loop(void* to, int64_t n, In<T>... in) {
  constexpr int64_t w = kLine<R, T...>, s = kShortLine<R, T...>;
  auto* out = static_cast<R*>(to);
  int64_t count = n / w, rest = n % w;
  if (count) lines<w, F, R, T...>(out, count, in...);
  if (!rest) return;
  out += count * w;
  ((in.at += count * in.step), ...);
  if constexpr (whole) {
    last_line<F, R, T...>(out, rest, in.at...);
  } else {
    if constexpr (s < w) {
      int64_t more = rest / s;
      if (more) lines<s, F, R, T...>(out, more, In<T>{in.at, in.step ? s : 0}...);
      out += more * s;
      ((in.at += in.step ? more * s : 0), ...);
      rest -= more * s;
    }
    rest_of<F, R, T...>(out, rest, in.at...);
  }
}

template <int64_t line, class T>
In<T> typed(const cpu::Argument& argument) {
  return {static_cast<const T*>(argument.data), argument.repeated ? 0 : line};
}

template <class F, Rule rule, DType D, class... T>
void run_row(void* out, const cpu::Argument* in, int64_t n) {
  using R = loop_t<given(rule, D)>;
  constexpr int64_t w = kLine<R, T...>;
  int i = 0;
  std::tuple<In<T>...> args{typed<w, T>(in[i++])...};  // in their order, because of the braces
  std::apply([&](auto... arg) { run_loop<F, needs_whole_vectors(rule, D), R, T...>(out, n, arg...); }, args);
}

struct Choice {
  template <class T>
  SLIP_INLINE static T of(uint8_t x, T y, T z) {
    return choose(x != 0, y, z);  // a bool lent to others may hold anything
  }
};

template <class F, Rule rule, DType D>
void loop1(void* out, const cpu::Argument* in, int64_t n) {
  run_row<F, rule, D, loop_t<D>>(out, in, n);
}
template <class F, Rule rule, DType D>
void loop2(void* out, const cpu::Argument* in, int64_t n) {
  run_row<F, rule, D, loop_t<D>, loop_t<D>>(out, in, n);
}
template <class F, Rule rule, DType D>
void loop3(void* out, const cpu::Argument* in, int64_t n) {
  if constexpr (info(rule).condition_first)
    run_row<Choice, rule, D, uint8_t, loop_t<D>, loop_t<D>>(out, in, n);
  else
    run_row<F, rule, D, loop_t<D>, loop_t<D>, loop_t<D>>(out, in, n);
}

// Every row of the table that computes in type D.
template <DType D>
void fill_rows(Loops& loops) {
  constexpr int d = static_cast<int>(D);
#define SLIP_FILL(name, RULE, loop)      \
  if constexpr (computes(Rule::RULE, D)) \
    loops.map[static_cast<int>(Row::name)][d] = &loop<Settled<value_##name>, Rule::RULE, D>;
#define UNARY(name, RULE, ...) SLIP_FILL(name, RULE, loop1)
#define BINARY(name, RULE, ...) SLIP_FILL(name, RULE, loop2)
#define TERNARY(name, RULE, ...) SLIP_FILL(name, RULE, loop3)
#include "../../ops.def"
#undef SLIP_FILL
}

}  // namespace slipstream::SLIP_ISA
