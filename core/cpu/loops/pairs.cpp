// Two cheap rows in one loop: storing what lies between and loading it again would cost as much as computing it.
#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

template <Row row>
struct RowValue;
#define UNARY(name, ...)            \
  template <>                       \
  struct RowValue<Row::name> {      \
    using type = value_##name;      \
    static constexpr int arity = 1; \
  };
#define BINARY(name, ...)           \
  template <>                       \
  struct RowValue<Row::name> {      \
    using type = value_##name;      \
    static constexpr int arity = 2; \
  };
#include "../../ops.def"

// The first row's arguments come first, then what else the second one takes; `right`: it takes the value on its right.
template <Row first, Row second, bool right, class T>
void pair_loop(void* to, const void* const* in, int64_t n) {
  using F = typename RowValue<first>::type;
  using G = typename RowValue<second>::type;
  constexpr int a = RowValue<first>::arity, b = RowValue<second>::arity;
  auto* out = static_cast<T*>(to);
  auto* x = static_cast<const T*>(in[0]);
  auto* y = static_cast<const T*>(in[a - 1]);
  auto* z = static_cast<const T*>(in[a + b - 2]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    T value;
    if constexpr (a == 1)
      value = static_cast<T>(F::of(x[i]));
    else
      value = static_cast<T>(F::of(x[i], y[i]));
    if constexpr (b == 1)
      out[i] = static_cast<T>(G::of(value));
    else if constexpr (right)
      out[i] = static_cast<T>(G::of(z[i], value));
    else
      out[i] = static_cast<T>(G::of(value, z[i]));
  }
}

template <size_t first, size_t second, DType D>
void fill_pair(Loops& loops) {
  constexpr Row a = cpu::kPaired[first], b = cpu::kPaired[second];
  auto& pair = loops.pair[D == DType::f64][first][second];
  pair[0] = &pair_loop<a, b, false, loop_t<D>>;
  pair[1] = &pair_loop<a, b, RowValue<b>::arity == 2, loop_t<D>>;
}

template <size_t first, DType D, size_t... second>
void fill_seconds(Loops& loops, std::index_sequence<second...>) {
  (fill_pair<first, second, D>(loops), ...);
}

template <DType D, size_t... first>
void fill_firsts(Loops& loops, std::index_sequence<first...> all) {
  (fill_seconds<first, D>(loops, all), ...);
}

}  // namespace

void fill_pairs(Loops& loops) {
  constexpr auto all = std::make_index_sequence<cpu::kPaired.size()>();
  fill_firsts<DType::f32>(loops, all);
  fill_firsts<DType::f64>(loops, all);
}

}  // namespace slipstream::SLIP_ISA
