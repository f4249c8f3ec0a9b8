"""How far each float function is from the true value, in units of the last place, and that it is the same everywhere.

The true values come from 80-bit floats; where NumPy lacks the function, from the C library's own 80-bit version.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy
import pytest
from numpy import longdouble as wide

from slipstream import _core, np
from slipstream.np._rows import ALIASES, ROWS

pytestmark = pytest.mark.skipif(numpy.finfo(wide).nmant < 63, reason="there is no longer float to compare with")

# ULP at most, by row. A row of floats without a bound is an error: see test_every_row_has_a_bound.
ROUNDED = (  # the true value, rounded once
    *("add", "subtract", "multiply", "divide", "negative", "positive", "abs", "fabs", "square", "reciprocal", "sqrt"),
    *("maximum", "minimum", "fmax", "fmin", "clip", "floor", "ceil", "trunc", "rint", "round", "real", "conj"),
    *("copysign", "gate", "relu", "sign"),
)
VECTOR = (  # what the vector library promises, or less
    *("pow", "float_power", "cbrt", "hypot", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("deg2rad", "rad2deg", "erf", "erfc", "erfinv", "sigmoid", "softsign", "gamma"),
)
BOUNDS: dict[str, float] = {
    **dict.fromkeys(ROUNDED, 0.5),
    **dict.fromkeys(VECTOR, 4),
    "log_sigmoid": 5,  # two vector functions, one after another
    "softplus": 5,
    "gammaln": 4,
    "digamma": 4,
    "logaddexp": 4,
    "logaddexp2": 4,
}
# A sum of terms that may cancel: the place that counts is the one of the largest term.
CANCELS: dict[str, Callable[..., Any]] = {
    "logaddexp": lambda x, y: numpy.maximum(abs(x), abs(y)),
    "logaddexp2": lambda x, y: numpy.maximum(abs(x), abs(y)),
    "digamma": lambda x: numpy.full_like(x, 0.01),  # near its zero at 1.46
}
# Tested against NumPy.
EXACT = ("COMPARE", "TEST", "LOGICAL", "BITS", "SHIFT", "WHOLE", "SIGNBIT", "SELECT", "STEP", "DIVMOD")
NO_BOUND = ("heaviside", "imag", "polygamma")


def test_every_row_has_a_bound() -> None:
    floats = {name for name, row in ROWS.items() if not row["is_reduction"] and row["types"] not in EXACT}
    assert floats - set(NO_BOUND) == set(BOUNDS)


# ---- true values

PI = wide("3.14159265358979323846264338327950288")
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def of_libm(name: str) -> Callable[[Any], Any]:
    function = getattr(LIBM, name)
    function.argtypes, function.restype = [ctypes.c_longdouble], ctypes.c_longdouble
    return lambda x: numpy.array([function(float(v)) for v in x], dtype=wide)


ERF, ERFC = of_libm("erfl"), of_libm("erfcl")


def erfinv(y: Any) -> Any:
    """Newton's steps on erf, or on erfc near 1."""
    a = abs(y)
    near = [-NormalDist().inv_cdf(float(1 - v) / 2) / math.sqrt(2) if 1e-3 < v < 1 else 0.0 for v in a]
    x = numpy.where(a > 1e-3, numpy.array(near, dtype=wide), a * numpy.sqrt(PI) / 2 * (1 + PI / 12 * a * a))
    for _ in range(2):
        miss = numpy.where(a < 0.5, ERF(x) - a, (1 - a) - ERFC(x))
        x = x - miss * numpy.sqrt(PI) / 2 * numpy.exp(x * x)
    return numpy.copysign(numpy.where(a < 1, x, numpy.where(a == 1, numpy.inf, numpy.nan)), y)


def digamma(x: Any) -> Any:
    """Up to 40 by the recurrence, from there by the asymptotic series."""
    r = numpy.zeros_like(x)
    for _ in range(40):
        small = x < 40
        r, x = numpy.where(small, r - 1 / x, r), numpy.where(small, x + 1, x)
    f, series = 1 / (x * x), wide(0)
    for n, d in ((1, 12), (691, 32760), (1, 132), (1, 240), (1, 252), (1, 120), (1, 12)):
        series = f * (wide(n) / d - series)
    return r + numpy.log(x) - wide(1) / 2 / x - series


def softplus(x: Any) -> Any:
    return numpy.maximum(x, 0) + numpy.log1p(numpy.exp(-abs(x)))


TRUE: dict[str, Callable[..., Any]] = {
    "erf": ERF,
    "erfc": ERFC,
    "erfinv": erfinv,
    "gamma": of_libm("tgammal"),
    "gammaln": of_libm("lgammal"),
    "digamma": digamma,
    "gate": lambda x, y: numpy.where(y > 0, x, 0),
    "relu": lambda x: numpy.where(x < 0, 0, x),
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "softplus": softplus,
    "log_sigmoid": lambda x: -softplus(-x),
    "deg2rad": lambda x: x * (PI / 180),
    "rad2deg": lambda x: x * (180 / PI),
    "float_power": numpy.power,
}
NAMES = {row: name for name, row in ALIASES.items() if name != "fix"}


def true_value(name: str) -> Callable[..., Any]:
    return TRUE.get(name) or getattr(numpy, name, None) or getattr(numpy, NAMES[name])


# ---- arguments

POSITIVE = ("gamma", "gammaln", "digamma")  # elsewhere they have poles at every integer


def sample(name: str, dtype: Any, rng: numpy.random.Generator, n: int) -> list[Any]:
    """Arguments from the row's sample domain, of all magnitudes, and at the ends of what a float can be."""
    row, info = ROWS[name], numpy.finfo(dtype)
    ends = [0.0, 1.0, 0.5, 1 - info.epsneg, 1 + info.eps, info.eps, info.tiny, info.smallest_subnormal, info.max]
    ends += [-v for v in ends] + [math.inf, -math.inf, math.nan]
    arguments = []
    for _ in range(row["arity"]):
        inside = rng.uniform(row["low"], row["high"], n)
        medium = rng.choice([-1, 1], n) * 10 ** rng.uniform(-4, 3, n)
        exponents = rng.integers(info.minexp - info.nmant, info.maxexp, n)
        extreme = numpy.ldexp(rng.uniform(1, 2, n) * rng.choice([-1, 1], n), exponents)
        x = numpy.concatenate([inside, medium, rng.permutation(extreme), rng.permutation(ends)]).astype(dtype)
        arguments.append(abs(x) if name in POSITIVE else x)
    if name == "clip":
        arguments[1:] = [numpy.minimum(*arguments[1:]), numpy.maximum(*arguments[1:])]
    return arguments


def ulps(name: str, got: Any, arguments: list[Any]) -> Any:
    """The distance of each result from the true value. What is infinite or not a number must be exactly that."""
    exact = [x.astype(wide) for x in arguments]
    with numpy.errstate(all="ignore"):
        want = numpy.asarray(true_value(name)(*exact), dtype=wide)
        rounded = want.astype(got.dtype)
        scale = abs(rounded)
        if name in CANCELS:
            scale = numpy.fmax(scale, CANCELS[name](*exact).astype(got.dtype))
        error = abs(got - want) / numpy.spacing(scale)
        same = (got == rounded) | (numpy.isnan(got) & numpy.isnan(rounded))
    return numpy.where(same, 0.5, numpy.where(numpy.isnan(error), numpy.inf, error))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BOUNDS)
def test_bound(name: str, dtype: str, rng: numpy.random.Generator) -> None:
    arguments = sample(name, numpy.dtype(dtype).type, rng, 4000)
    got = getattr(_core, name)(*(np.array(x, dtype=dtype) for x in arguments)).asnumpy()
    error = ulps(name, got, arguments)
    worst = int(numpy.argmax(error))
    at = ", ".join(repr(float(x[worst])) for x in arguments)
    assert error[worst] <= BOUNDS[name], f"{name}({at}) = {got[worst]!r} is {float(error[worst]):.3g} ULP off"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BOUNDS)
def test_same_bits_wherever_an_element_falls(name: str, dtype: str, rng: numpy.random.Generator) -> None:
    row = ROWS[name]
    arguments = [np.array(rng.uniform(row["low"], row["high"], 64), dtype=dtype) for _ in range(row["arity"])]
    whole = getattr(_core, name)(*arguments).asnumpy()
    for length in range(1, 41):
        for offset in (0, 1, 3, 8, 23):
            part = slice(offset, offset + length)
            got = getattr(_core, name)(*(x[part] for x in arguments)).asnumpy()
            assert got.tobytes() == whole[part].tobytes(), f"{length} elements from {offset} on"
