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
// Which NaN the first one gives does not matter where the second one gives its own.
template <Row first, Row second, bool right, class T>
struct Pair {
  using First = typename RowValue<first>::type;
  using Second = typename RowValue<second>::type;
  using F = std::conditional_t<Second::gives_one_nan, First, Settled<First>>;
  using G = Settled<Second>;
  SLIP_INLINE static T after(T value) { return static_cast<T>(G::of(value)); }
  SLIP_INLINE static T after(T value, T z) { return static_cast<T>(right ? G::of(z, value) : G::of(value, z)); }
  template <class... More>
  SLIP_INLINE static T of(T x, More... more) {
    if constexpr (RowValue<first>::arity == 1)
      return after(static_cast<T>(F::of(x)), more...);
    else
      return of_two(x, more...);
  }
  template <class... More>
  SLIP_INLINE static T of_two(T x, T y, More... more) {
    return after(static_cast<T>(F::of(x, y)), more...);
  }
};

template <Row first, Row second, bool right, class T, size_t... i>
void pair_of(void* to, const cpu::Argument* in, int64_t n, std::index_sequence<i...>) {
  run_loop<Pair<first, second, right, T>, false, T>(to, n, typed<kLine<T>, T>(in[i])...);
}

template <Row first, Row second, bool right, class T>
void pair_loop(void* to, const cpu::Argument* in, int64_t n) {
  constexpr size_t arity = RowValue<first>::arity + RowValue<second>::arity - 1;
  pair_of<first, second, right, T>(to, in, n, std::make_index_sequence<arity>());
}

constexpr bool commutes(Row row) { return row == Row::add || row == Row::multiply; }

template <size_t first, size_t second, DType D>
void fill_pair(Loops& loops) {
  constexpr Row a = cpu::kPaired[first], b = cpu::kPaired[second];
  auto& pair = loops.pair[D == DType::f64][first][second];
  if constexpr (cpu::runs_as_pair(a, b)) {
    pair[0] = &pair_loop<a, b, false, loop_t<D>>;
    pair[1] = &pair_loop < a, b, RowValue<b>::arity == 2 && !commutes(b), loop_t < D >> ;
  }
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

// Old processors go without, for all these loops take long to compile.
void fill_pairs([[maybe_unused]] Loops& loops) {
#if defined(__AVX2__) || !defined(__x86_64__)
  constexpr auto all = std::make_index_sequence<cpu::kPaired.size()>();
  fill_firsts<DType::f32>(loops, all);
  fill_firsts<DType::f64>(loops, all);
#endif
}

}  // namespace slipstream::SLIP_ISA
