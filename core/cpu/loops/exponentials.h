// exp and tanh of our own: plain arithmetic, so that they run in one loop with their neighbours, in half of libmvec's
// time. Included by functions.h.
#pragma once

// A loop makes vectors only of what is inlined into it, however often that is.
#define SLIP_INLINE [[gnu::always_inline]] inline

namespace slipstream::SLIP_ISA {

#ifdef __FMA__
SLIP_INLINE float multiply_add(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
SLIP_INLINE double multiply_add(double x, double y, double z) { return __builtin_fma(x, y, z); }
#else
SLIP_INLINE float multiply_add(float x, float y, float z) { return x * y + z; }
SLIP_INLINE double multiply_add(double x, double y, double z) { return x * y + z; }
#endif

// What exp needs to know of a type. `largest`: beyond it, up and down, nothing is left but infinity and 0.
template <class T>
struct Powers;
template <>
struct Powers<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float largest = 104, one_from = 15;                            // tanh is 1 from one_from on
  static constexpr float log2_high = 0.693145752f, log2_low = 1.42860677e-6f;  // n * log2_high is exact
};
template <>
struct Powers<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double largest = 746, one_from = 20;
  static constexpr double log2_high = 0.69314718036912382, log2_low = 1.9082149292705877e-10;
};

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, fitted for the least relative error of exp(r).
SLIP_INLINE float exp_remainder(float r) {
  float z = r * r;
  float low = multiply_add(0.166665211f, r, 0.49999994f), high = multiply_add(0.00836872309f, r, 0.041668389f);
  return multiply_add(multiply_add(0.0013814565f, z, high), z, low);
}
SLIP_INLINE double exp_remainder(double r) {
  double z = r * r, y = z * z;
  double a = multiply_add(0.16666666666666674, r, 0.500000000000001);
  double b = multiply_add(0.008333333333322198, r, 0.041666666666521877);
  double c = multiply_add(0.0001984126988661821, r, 0.0013888888947856278);
  double d = multiply_add(2.7557242305901814e-6, r, 2.4801487285986974e-5);
  double e = multiply_add(2.5110061496155075e-8, r, 2.7632670844749689e-7);
  return multiply_add(multiply_add(e, y, multiply_add(d, z, c)), y, multiply_add(b, z, a));
}

// exp(x) = 2^n (1 + q) with x = n log(2) + r and q = exp(r) - 1.
template <class T>
struct Split {
  T q;
  typename Powers<T>::Bits biased;  // n + bias, in the low bits
};
// n is found from `limited`, which is x or the end of the range where n has a meaning. `roughly`: exp(x) may be off by
// n times 2e-9 of itself.
template <class T, int bias, bool roughly>
SLIP_INLINE Split<T> split(T x, T limited) {
  using P = Powers<T>;
  // Adding it leaves the nearest integer in the low bits.
  constexpr T to_integer = T(3) * (typename P::Bits(1) << (P::mantissa - 1)) + bias;
  T shifted = multiply_add(limited, T(1.4426950408889634), to_integer), n = shifted - to_integer;
  T r = multiply_add(n, roughly ? T(-0.6931471805599453) : -P::log2_high, x);
  if (!roughly) r = multiply_add(n, -P::log2_low, r);
  return {multiply_add(exp_remainder(r), r * r, r), std::bit_cast<typename P::Bits>(shifted)};
}

template <class T>
SLIP_INLINE T power_of_two(typename Powers<T>::Bits biased) {
  return std::bit_cast<T>(biased << Powers<T>::mantissa);
}

// Within 1.1 units in the last place. The power is applied in two halves, of which each is a normal number.
template <class T>
SLIP_INLINE T exp_of(T x) {
  using P = Powers<T>;
  using Int = std::make_signed_t<typename P::Bits>;
  constexpr T largest = P::largest;
  T low = x < -largest ? -largest : x;
  // The smaller as integers: a second choice between floats would be merged with the first into something slow. What is
  // too large keeps its value in r, which makes the result infinite; NaN stays in r, too.
  Int bits = std::bit_cast<Int>(low), most = std::bit_cast<Int>(largest);
  Split<T> s = split<T, 2 * P::bias, false>(low, std::bit_cast<T>(bits < most ? bits : most));
  using Bits = typename P::Bits;
  // Half of the exponent, rounded down: its lowest bit would fall into the mantissa.
  Bits half = (s.biased << (P::mantissa - 1)) & ~(Bits(1) << (P::mantissa - 1));
  Bits other = (s.biased << P::mantissa) - half;
  T power = std::bit_cast<T>(half);
  return multiply_add(power, s.q, power) * std::bit_cast<T>(other);
}

// e / (e + 2) with e = exp(2|x|) - 1, within 2.6 units in the last place.
template <class T>
SLIP_INLINE T tanh_of(T x) {
  using P = Powers<T>;
  using Bits = typename P::Bits;
  constexpr T most = 2 * P::one_from;
  T a = abs(x), twice = a + a, limited = most < twice ? most : twice;  // NaN stays
  Split<T> s = split<T, P::bias, sizeof(T) == 4>(limited, limited);
  T power = power_of_two<T>(s.biased);
  T e = multiply_add(power, s.q, power - 1), size = e / (e + 2);
  return std::bit_cast<T>(std::bit_cast<Bits>(size) | (std::bit_cast<Bits>(x) & std::bit_cast<Bits>(T(-0.0))));
}

SLIP_INLINE float exp(float x) { return exp_of(x); }
SLIP_INLINE double exp(double x) { return exp_of(x); }
SLIP_INLINE float tanh(float x) { return tanh_of(x); }
SLIP_INLINE double tanh(double x) { return tanh_of(x); }

}  // namespace slipstream::SLIP_ISA
