// Complex arithmetic, order and functions, as NumPy has them. Included by functions.h.
#pragma once

namespace slipstream::SLIP_ISA {

template <class R>
std::complex<R> to_std(cx<R> x) {
  return {x.re, x.im};
}
template <class R>
cx<R> from_std(std::complex<R> x) {
  return {x.real(), x.imag()};
}

template <class R>
cx<R> operator+(cx<R> x, cx<R> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class R>
cx<R> operator-(cx<R> x, cx<R> y) {
  return {x.re - y.re, x.im - y.im};
}
template <class R>
cx<R> operator-(cx<R> x) {
  return {-x.re, -x.im};
}
template <class R>
cx<R> operator*(cx<R> x, cx<R> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
// Scaled by the larger part of the divisor, so that nothing overflows on the way.
template <class R>
cx<R> operator/(cx<R> x, cx<R> y) {
  R re = abs(y.re), im = abs(y.im);
  if (re >= im) {
    if (re == 0 && im == 0) return {x.re / re, x.im / re};
    R ratio = y.im / y.re, scale = 1 / (y.re + y.im * ratio);
    return {(x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale};
  }
  R ratio = y.re / y.im, scale = 1 / (y.im + y.re * ratio);
  return {(x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale};
}
template <class R>
cx<R> reciprocal(cx<R> x) {
  return cx<R>{1, 0} / x;
}

// Lexicographic order; a NaN part compares false.
template <class R>
bool operator==(cx<R> x, cx<R> y) {
  return (x.re == y.re) & (x.im == y.im);
}
template <class R>
bool operator!=(cx<R> x, cx<R> y) {
  return (x.re != y.re) | (x.im != y.im);
}
template <class R>
bool operator<(cx<R> x, cx<R> y) {
  return ((x.re < y.re) & (x.im == x.im) & (y.im == y.im)) | ((x.re == y.re) & (x.im < y.im));
}
template <class R>
bool operator<=(cx<R> x, cx<R> y) {
  return ((x.re < y.re) & (x.im == x.im) & (y.im == y.im)) | ((x.re == y.re) & (x.im <= y.im));
}
template <class R>
bool operator>(cx<R> x, cx<R> y) {
  return y < x;
}
template <class R>
bool operator>=(cx<R> x, cx<R> y) {
  return y <= x;
}

template <class R>
R abs(cx<R> x) {
  return hypot(x.re, x.im);
}
template <class R>
cx<R> sign_of_complex(cx<R> x) {
  R size = abs(x);
  if (size == 0) return {0, 0};
  if (isinf(size)) {
    if (isinf(x.re) && isinf(x.im)) return {NAN, NAN};
    return isinf(x.re) ? cx<R>{sign(x.re), 0} : cx<R>{0, sign(x.im)};
  }
  return {x.re / size, x.im / size};
}
template <class R>
cx<R> round(cx<R> x) {
  return {round(x.re), round(x.im)};
}

#define SLIP_COMPLEX(name)                    \
  template <class R>                          \
  cx<R> name(cx<R> x) {                       \
    return from_std<R>(std::name(to_std(x))); \
  }
// clang-format off
SLIP_COMPLEX(exp) SLIP_COMPLEX(log) SLIP_COMPLEX(sqrt) SLIP_COMPLEX(sin) SLIP_COMPLEX(cos) SLIP_COMPLEX(tan)
SLIP_COMPLEX(asin) SLIP_COMPLEX(acos) SLIP_COMPLEX(atan) SLIP_COMPLEX(sinh) SLIP_COMPLEX(cosh)
SLIP_COMPLEX(asinh) SLIP_COMPLEX(acosh) SLIP_COMPLEX(atanh)
// clang-format on
#undef SLIP_COMPLEX

            template <class R>
            cx<R> tanh(cx<R> x) {
  if (isinf(x.re) && isfinite(x.im)) return {copysign(R(1), x.re), copysign(R(0), x.im)};  // the standard's zero
  return from_std<R>(std::tanh(to_std(x)));
}
template <class R>
cx<R> exp2(cx<R> x) {
  constexpr R ln2 = R(0.6931471805599453);
  return exp(cx<R>{x.re * ln2, x.im * ln2});
}
template <class R>
cx<R> expm1(cx<R> x) {
  if (x.im == 0) return {std::expm1(x.re) + 0, x.im};  // -0 becomes 0, as the standard says
  if (!isfinite(x.re) || !isfinite(x.im)) {  // what exp gives of infinities and NaN
    cx<R> r = exp(x);
    return {r.re - 1, r.im};
  }
  R half = std::sin(x.im / 2);
  return {std::expm1(x.re) * std::cos(x.im) - 2 * half * half, std::exp(x.re) * std::sin(x.im)};
}
template <class R>
cx<R> log1p(cx<R> x) {
  R size = std::hypot(x.re + 1, x.im);
  return {std::log(size), std::atan2(x.im, x.re + 1)};
}
template <class R>
cx<R> log2(cx<R> x) {
  cx<R> r = log(x);
  constexpr R scale = R(1.4426950408889634);
  return {r.re * scale, r.im * scale};
}
template <class R>
cx<R> log10(cx<R> x) {
  cx<R> r = log(x);
  constexpr R scale = R(0.4342944819032518);
  return {r.re * scale, r.im * scale};
}
// Small whole powers by multiplication, the rest through the logarithm.
template <class R>
cx<R> pow(cx<R> x, cx<R> y) {
  if (y.re == 0 && y.im == 0) return {1, 0};
  if (x.re == 0 && x.im == 0) return y.re > 0 ? cx<R>{0, 0} : cx<R>{NAN, NAN};
  if (y.im == 0 && std::fabs(y.re) < 100 && std::floor(y.re) == y.re) {
    int n = static_cast<int>(std::fabs(y.re));
    cx<R> r{1, 0}, base = x;
    for (; n; n >>= 1, base = base * base)
      if (n & 1) r = r * base;
    return y.re < 0 ? reciprocal(r) : r;
  }
  return from_std<R>(std::pow(to_std(x), to_std(y)));
}

}  // namespace slipstream::SLIP_ISA
