// The inner loops of reductions: fixed trees, so that a result depends on the shape alone.
#include "loops.h"

namespace slipstream::SLIP_ISA {

namespace {

template <class F, class T>
T both(T a, T b) {
  return static_cast<T>(F::of(a, b));
}

template <class F, int width, class T>
T halve(T* acc) {
  for (int j = 0; j < width; j++) acc[j] = both<F, T>(acc[j], acc[j + width]);
  if constexpr (width == 1)
    return acc[0];
  else
    return halve<F, width / 2>(acc);
}

// Lane j takes elements j, j + lanes, ...; then halves of the lanes are combined until one is left.
template <class F, int lanes, class T>
T lane_tree(const T* x, int64_t n) {
  T acc[lanes];
  int64_t i = lanes;
  if (n == lanes) {  // a mere copy would not stay in registers
    for (int j = 0; j < lanes / 2; j++) acc[j] = both<F, T>(x[j], x[lanes / 2 + j]);
    return halve<F, lanes / 4>(acc);
  }
  if (n >= 2 * lanes) {
    for (int j = 0; j < lanes; j++) acc[j] = both<F, T>(x[j], x[lanes + j]);
    i += lanes;
  } else {
    for (int j = 0; j < lanes; j++) acc[j] = x[j];
  }
  for (; i + lanes <= n; i += lanes)
    for (int j = 0; j < lanes; j++) acc[j] = both<F, T>(acc[j], x[i + j]);
  for (int j = 0; i + j < n; j++) acc[j] = both<F, T>(acc[j], x[i + j]);
  return halve<F, lanes / 2>(acc);
}

template <class F, class T>
T sequence(const T* x, int64_t n) {
  T acc = x[0];
  for (int64_t i = 1; i < n; i++) acc = both<F, T>(acc, x[i]);
  return acc;
}

template <class F, class T>
void leaves(void* out, const void* in, int64_t n, int64_t rows) {
  auto* to = static_cast<T*>(out);
  auto* x = static_cast<const T*>(in);
  constexpr int lanes = sizeof(T) >= 16 ? 16 : (sizeof(T) == 1 ? 64 : 32);
  if (n >= lanes) {
    for (int64_t j = 0; j < rows; j++) to[j] = lane_tree<F, lanes, T>(x + j * n, n);
  } else if (n >= 8) {
    for (int64_t j = 0; j < rows; j++) to[j] = lane_tree<F, 8, T>(x + j * n, n);
  } else {
    for (int64_t j = 0; j < rows; j++) to[j] = sequence<F, T>(x + j * n, n);
  }
}

template <class F, class T>
void fold(void* out, const void* in, int64_t stride, int64_t rows, int64_t width) {
  auto* to = static_cast<T*>(out);
  auto* x = static_cast<const T*>(in);
  if (rows == 8) {  // a whole group in registers
#pragma GCC ivdep
    for (int64_t k = 0; k < width; k++) {
      T a = both<F, T>(x[k], x[stride + k]);
      a = both<F, T>(a, x[2 * stride + k]);
      a = both<F, T>(a, x[3 * stride + k]);
      a = both<F, T>(a, x[4 * stride + k]);
      a = both<F, T>(a, x[5 * stride + k]);
      a = both<F, T>(a, x[6 * stride + k]);
      to[k] = both<F, T>(a, x[7 * stride + k]);
    }
    return;
  }
  for (int64_t k = 0; k < width; k++) to[k] = x[k];
  for (int64_t r = 1; r < rows; r++) {
#pragma GCC ivdep
    for (int64_t k = 0; k < width; k++) to[k] = both<F, T>(to[k], x[r * stride + k]);
  }
}

template <class F, class T>
void combine(void* into, const void* in, int64_t width) {
  auto* to = static_cast<T*>(into);
  auto* x = static_cast<const T*>(in);
#pragma GCC ivdep
  for (int64_t k = 0; k < width; k++) to[k] = both<F, T>(to[k], x[k]);
}

template <class R>
void settle_reals(R* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t k = 0; k < n; k++) x[k] = with_one_nan(x[k]);
}

template <class T>
void settle(void* results, int64_t n) {
  if constexpr (is_cx<T>)  // each part by itself
    settle_reals(static_cast<decltype(T::re)*>(results), 2 * n);
  else
    settle_reals(static_cast<T*>(results), n);
}

// Sums of integers are taken in 64 bits (they wrap alike), so no narrower loops are needed for them.
constexpr bool reduces(Rule rule, DType t) {
  if (!computes(rule, t) || is_half(t)) return false;
  return rule != Rule::SUM || itemsize(t) >= 4;
}

template <class F, Rule rule, DType D>
void fill_type(cpu::ReduceLoops* row) {
  if constexpr (reduces(rule, D)) {
    using T = std::conditional_t<D == DType::b1, uint8_t, loop_t<D>>;  // bytes of 0 and 1 make better vectors
    auto& loops = row[static_cast<int>(D)];
    loops = {&leaves<F, T>, &fold<F, T>, &combine<F, T>, nullptr};
    if constexpr (is_float(D) || is_complex(D)) loops.settle = &settle<T>;
  }
}
template <class F, Rule rule, DType... D>
void fill_types(cpu::ReduceLoops* row) {
  (fill_type<F, rule, D>(row), ...);
}

}  // namespace

void fill_reductions(Loops& loops) {
  using enum DType;
#define REDUCE(name, RULE, identity, row, ...)                                                        \
  fill_types<value_##row, Rule::RULE, b1, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128>( \
      loops.reduce[static_cast<int>(Row::name)]);
#include "../../ops.def"
}

}  // namespace slipstream::SLIP_ISA
