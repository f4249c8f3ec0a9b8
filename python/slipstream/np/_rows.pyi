# Made by tools/make_stubs.py from the compiled module. Do not edit.

from typing import Any

from .._core import ndarray

ALIASES: dict[str, str]
COMPOSED: tuple[str, ...]
ONLY_NPX: tuple[str, ...]
ROWS: dict[str, dict[str, Any]]
WRAPPED: tuple[str, ...]

def docstring(name: str, doc: str) -> str: ...
def abs(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def absolute(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def acos(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def acosh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def add(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def all(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None) -> ndarray: ...
def amax(
    a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> ndarray: ...
def amin(
    a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> ndarray: ...
def any(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None) -> ndarray: ...
def arccos(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def arccosh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def arcsin(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def arcsinh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def arctan(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def arctan2(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def arctanh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def argmax(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
def argmin(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
def asin(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def asinh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def atan(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def atan2(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def atanh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_and(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_invert(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_left_shift(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_not(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_or(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_right_shift(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_xor(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def cbrt(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def ceil(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def conj(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def conjugate(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def copysign(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def cos(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def cosh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: ndarray | None = None) -> ndarray: ...
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: ndarray | None = None) -> ndarray: ...
def deg2rad(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def degrees(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def divide(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def equal(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def exp(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def exp2(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def expm1(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fabs(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fix(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def float_power(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def floor(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def floor_divide(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fmax(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fmin(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fmod(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def gcd(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def greater(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def greater_equal(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def heaviside(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def hypot(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def invert(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def isfinite(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def isinf(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def isnan(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def lcm(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def left_shift(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def less(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def less_equal(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log10(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log1p(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log2(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logaddexp(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logaddexp2(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logical_and(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logical_not(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logical_or(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logical_xor(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logsumexp(
    a: Any, axis: Any = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None
) -> ndarray: ...
def max(
    a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> ndarray: ...
def maximum(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None
) -> ndarray: ...
def min(
    a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> ndarray: ...
def minimum(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def mod(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def multiply(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def negative(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def nextafter(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def not_equal(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def positive(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def pow(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def power(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> ndarray: ...
def rad2deg(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def radians(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def reciprocal(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def remainder(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def right_shift(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def rint(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sign(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def signbit(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sin(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sinh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sqrt(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def square(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def subtract(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> ndarray: ...
def tan(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def tanh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def true_divide(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def trunc(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
