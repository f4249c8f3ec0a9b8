"""Elementwise functions composed of rows of the table, and rows with NumPy's further arguments."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, check_broadcast, default_dtype, deliver, normal_axis, public
from ._dtype import finfo
from ._joining import concatenate
from ._manipulation import broadcast_to
from ._types import ArrayLike

# ---- rows with more arguments


def where(condition: ArrayLike, x: ArrayLike = None, y: ArrayLike = None, /) -> Any:
    """Elements of `x` where the condition holds, of `y` elsewhere. With the condition alone: `np.nonzero`, which waits.

    >>> np.where(np.array([True, False]), 1.0, np.array([5, 6]))
    array([1., 6.])
    """
    if x is None and y is None:
        from ._indexing import nonzero

        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("where: give both x and y, or neither")
    return _core.where(condition, x, y)


def clip(
    a: ArrayLike,
    min: ArrayLike = None,
    max: ArrayLike = None,
    out: ndarray | None = None,
    *,
    a_min: ArrayLike = None,
    a_max: ArrayLike = None,
    **options: Any,
) -> ndarray:
    """The array with elements below `min` raised to it and those above `max` lowered to it (None: no bound).

    >>> np.clip(np.arange(4), 1, 2)
    array([1., 1., 2., 2.])
    """
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("clip: a bound is given twice")
    low, high = a_min if min is None else min, a_max if max is None else max
    if getattr(getattr(a, "dtype", None), "kind", "") in ("i", "u"):
        low, high = _in_range(low, a.dtype), _in_range(high, a.dtype)
    if low is None and high is None:
        return _core.positive(a, out=out, **options)
    if high is None:
        return _core.maximum(a, low, out=out, **options)
    if low is None:
        return _core.minimum(a, high, out=out, **options)
    return _core.clip(a, low, high, out=out, **options)


def _in_range(bound: Any, dtype: numpy.dtype[Any]) -> Any:
    """A bound that an integer type cannot hold is no bound tighter than the type's own."""
    if isinstance(bound, int) and not isinstance(bound, bool):
        limits = numpy.iinfo(dtype)
        return builtins.min(builtins.max(bound, limits.min), limits.max)
    return bound


def round(a: ArrayLike, decimals: int = 0, out: ndarray | None = None) -> ndarray:
    """The nearest number of so many decimals, halves to even.

    >>> np.round(np.array([0.5, 1.5, 2.46]), 1)
    array([0.5, 1.5, 2.5])
    """
    a = as_array(a)
    if decimals == 0:
        return _core.rint(a, out=out) if a.dtype.kind == "b" else _core.round(a, out=out)
    if a.dtype.kind in "iub":
        if decimals > 0:
            return _core.positive(a, out=out) if a.dtype.kind != "b" else _core.astype(a, numpy.float16)
        return deliver(_core.astype(_core.round(a / 10.0**-decimals) * 10.0**-decimals, a.dtype), out, "round")
    scale = 10.0 ** abs(decimals)
    rounded = _core.round(a * scale) / scale if decimals > 0 else _core.round(a / scale) * scale
    return deliver(rounded, out, "round")


around = round


def real(val: ArrayLike) -> ndarray:
    """The real part: a view of a complex array, else the array itself.

    >>> np.real(np.array([1 + 2j]))
    array([1.])
    """
    return as_array(val).real


def imag(val: ArrayLike) -> ndarray:
    """The imaginary part: a view of a complex array, else zeros.

    >>> np.imag(np.array([1 + 2j]))
    array([2.])
    """
    return as_array(val).imag


# ---- several results


def divmod(x1: ArrayLike, x2: ArrayLike, out: Any = (None, None)) -> tuple[ndarray, ndarray]:
    """`x1 // x2` and `x1 % x2`.

    >>> np.divmod(np.array([7, 8]), 3)
    (array([2., 2.]), array([1., 2.]))
    """
    return _both("divmod", (_core.floor_divide(x1, x2), _core.remainder(x1, x2)), out)


def _both(function: str, made: tuple[ndarray, ndarray], out: Any) -> tuple[ndarray, ndarray]:
    """Two results, put into the two of `out`."""
    first, second = (None, None) if out is None else out
    return deliver(made[0], first, function), deliver(made[1], second, function)


def modf(x: ArrayLike, out: Any = (None, None)) -> tuple[ndarray, ndarray]:
    """The fraction and the integer part, both with the sign of the argument.

    >>> np.modf(np.array([2.5, -2.5]))
    (array([ 0.5, -0.5]), array([ 2., -2.]))
    """
    x = as_array(x)
    whole = _core.rint(_core.trunc(x)) if x.dtype.kind in "iub" else _core.trunc(x)
    fraction = _core.where(_core.isinf(whole), 0.0, x - whole)
    return _both("modf", (_core.copysign(fraction, x), _core.copysign(whole, x)), out)


def ldexp(x1: ArrayLike, x2: ArrayLike, out: ndarray | None = None) -> ndarray:
    """`x1 * 2**x2`.

    >>> np.ldexp(np.array([1.5]), np.array([2]))
    array([6.])
    """
    x1 = as_array(x1)
    power = _exponents(x2, x1)
    if x1.dtype.kind == "c" or not (numpy.can_cast(power.dtype, "int64") or power.dtype == default_dtype("i")):
        raise TypeError(f"ldexp: arrays of type {x1.dtype} and {power.dtype} are not supported; exponents are integers")
    rest = _core.clip(_core.astype(power, numpy.float64), -2200.0, 2200.0)  # farther than float64 reaches
    steps = []
    for _ in range(3):  # each a power of 2 that float64 has; the large ones last, so that one step rounds at most
        steps.append(_core.clip(rest, -1022.0, 1023.0))
        rest = rest - steps[-1]
    made = _core.astype(x1, numpy.float64)
    for step in reversed(steps):
        made = made * _core.exp2(step)
    return deliver(_core.astype(made, _core.float_of(x1.dtype)), out, "ldexp")


def _exponents(values: ArrayLike, beside: ndarray) -> ndarray:
    """Python's integers stay integers here, whatever creation makes of them."""
    if isinstance(values, ndarray):
        return values
    made = _core.from_numbers(values, None, beside.device, _core.empty((0,), "int64"))
    return as_array(values, beside.device) if made is None else made


# ---- tests


def isposinf(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Is it positive infinity?

    >>> np.isposinf(np.array([np.inf, -np.inf, 1]))
    array([ True, False, False])
    """
    return _core.equal(x, math.inf, out=out)


def isneginf(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Is it negative infinity?

    >>> np.isneginf(np.array([np.inf, -np.inf, 1]))
    array([False,  True, False])
    """
    return _core.equal(x, -math.inf, out=out)


def isreal(x: ArrayLike) -> ndarray:
    """Is the imaginary part 0?

    >>> np.isreal(np.array([1 + 0j, 1j]))
    array([ True, False])
    """
    return _core.equal(imag(x), 0)


def iscomplex(x: ArrayLike) -> ndarray:
    """Is the imaginary part not 0?

    >>> np.iscomplex(np.array([1 + 0j, 1j]))
    array([False,  True])
    """
    return _core.not_equal(imag(x), 0)


def iscomplexobj(x: ArrayLike) -> bool:
    """Whether the type is complex.

    >>> np.iscomplexobj(np.ones(2))
    False
    """
    return as_array(x).dtype.kind == "c"


def isrealobj(x: ArrayLike) -> bool:
    """Whether the type is not complex.

    >>> np.isrealobj(np.ones(2))
    True
    """
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether it is a number, not an array.

    >>> np.isscalar(3.0), np.isscalar(np.array(3.0))
    (True, False)
    """
    return bool(numpy.isscalar(element))


def isclose(a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> ndarray:
    """Is `abs(a - b) <= atol + rtol * abs(b)`? Infinities are close to themselves; NaNs if `equal_nan`.

    >>> np.isclose(np.array([1.0, 1.1]), np.array([1.0 + 1e-7, 1.2]))
    array([ True, False])
    """
    a, b = as_arrays((a, b))
    check_broadcast("isclose", a, b)
    if b.dtype.kind in "iub":
        b = _core.astype(b, _core.result_type(b, 1.0))
    near = _core.less_equal(_core.abs(a - b), atol + rtol * _core.abs(b))
    close = _core.logical_or(_core.equal(a, b), _core.logical_and(near, _core.isfinite(b)))
    if equal_nan:
        close = _core.logical_or(close, _core.logical_and(_core.isnan(a), _core.isnan(b)))
    return close


def allclose(a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> ndarray:
    """Are all elements close (see `isclose`)? A 0-d array of bool, which waits only where it is looked at.

    >>> bool(np.allclose(np.array([1e10, 1e-8]), np.array([1.000001e10, 1e-9])))
    True
    """
    a, b = as_arrays((a, b))
    check_broadcast("allclose", a, b)
    return _core.all(isclose(a, b, rtol, atol, equal_nan))


def _constant(value: bool) -> ndarray:
    return as_array(value)


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> ndarray:
    """Have both the same shape and the same elements? A 0-d array of bool.

    >>> bool(np.array_equal(np.ones(2), np.ones(3)))
    False
    """
    a1, a2 = as_arrays((a1, a2))
    if a1.shape != a2.shape:
        return _constant(False)
    same = _core.equal(a1, a2)
    if equal_nan:
        same = _core.logical_or(same, _core.logical_and(_core.isnan(a1), _core.isnan(a2)))
    return _core.all(same)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """Are they equal once broadcast to one shape? A 0-d array of bool.

    >>> bool(np.array_equiv(np.ones(2), np.ones((3, 2))))
    True
    """
    a1, a2 = as_arrays((a1, a2))
    try:
        numpy.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return _constant(False)
    return _core.all(_core.equal(a1, a2))


# ---- others


def nan_to_num(x: ArrayLike, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> ndarray:
    """NaN replaced by `nan`, infinities by the largest and smallest numbers of the type or by what is given.

    >>> np.nan_to_num(np.array([np.nan, 1, np.inf]), posinf=9)
    array([0., 1., 9.])
    """
    x = as_array(x)
    if x.dtype.kind in "iub":
        return _core.astype(x, x.dtype) if copy else x

    def cleaned(part: ndarray) -> ndarray:
        limits = finfo(part.dtype)
        high = float(limits.max) if posinf is None else posinf
        low = float(limits.min) if neginf is None else neginf
        kept = _core.where(_core.isnan(part), nan, part)
        kept = _core.where(_core.equal(part, math.inf), high, kept)
        kept = _core.where(_core.equal(part, -math.inf), low, kept)
        return kept if kept.dtype == part.dtype else _core.astype(kept, part.dtype)

    if copy and x.dtype.kind != "c":
        return cleaned(x)
    made = _core.astype(x, x.dtype) if copy else x
    for part in (made.real, made.imag) if x.dtype.kind == "c" else (made,):
        _core.assign(part, cleaned(part))
    return made


def angle(z: ArrayLike, deg: bool = False) -> ndarray:
    """The angle of complex numbers, in radians or degrees.

    >>> np.angle(np.array([1j]), deg=True)
    array([90.])
    """
    z = as_array(z)
    made = _core.atan2(imag(z), real(z))
    return _core.rad2deg(made) if deg else made


def sinc(x: ArrayLike) -> ndarray:
    """`sin(pi * x) / (pi * x)`, and 1 at 0.

    >>> np.sinc(np.array([0.0, 0.5]))
    array([1.        , 0.63661975])
    """
    y = math.pi * as_array(x)
    zero = _core.equal(y, 0)
    return _core.where(zero, 1.0, _core.sin(y) / _core.where(zero, 1.0, y))


def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike = None, append: ArrayLike = None) -> ndarray:
    """Differences of neighbours along an axis, n times.

    >>> np.diff(np.array([1, 4, 9]))
    array([3., 5.])
    """
    x = as_array(a)
    if n < 0:
        raise ValueError(f"diff: n={n} is negative")
    if x.ndim == 0:
        raise ValueError("diff: the argument has no dimensions; it must have at least 1")
    axis = normal_axis(axis, x.ndim, "diff")
    one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    parts = as_arrays(part for part in (prepend, x, append) if part is not None)
    if n and len(parts) > 1:
        x = concatenate([part if part.ndim else broadcast_to(part, one) for part in parts], axis)
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(0, -1))]
        x = _core.not_equal(later, earlier) if x.dtype.kind == "b" else later - earlier
    return x


def ediff1d(ary: ArrayLike, to_end: ArrayLike = None, to_begin: ArrayLike = None) -> ndarray:
    """Differences of neighbours of the flattened array, with values put before and behind.

    >>> np.ediff1d(np.array([1, 4, 9]), to_end=0)
    array([3., 5., 0.])
    """
    made = diff(_core.reshape(as_array(ary), (-1,)))
    parts = [made]
    for name, more, place in (("to_begin", to_begin, 0), ("to_end", to_end, 2)):
        if more is None:
            continue
        given = more if isinstance(more, ndarray) else numpy.asarray(more)
        if not numpy.can_cast(given.dtype, made.dtype, "same_kind"):
            raise TypeError(f"ediff1d: {name} of {given.dtype} does not fit among differences of {made.dtype}")
        parts.insert(place, _core.reshape(as_array(given, made.device).astype(made.dtype, copy=False), (-1,)))
    return concatenate(parts) if len(parts) > 1 else made


def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> ndarray:
    """For each element the choice of the first condition that holds, else the default.

    >>> x = np.arange(3)
    >>> np.select([x < 1, x < 2], [x - 10, x + 10], 5)
    array([-10.,  11.,   5.])
    """
    condlist, choicelist = list(condlist), list(choicelist)  # of an array: along its first axis
    if len(condlist) != len(choicelist):
        raise ValueError(f"select: {len(condlist)} conditions for {len(choicelist)} choices")
    if not condlist:
        raise ValueError("select: no conditions are given")
    dtype = _core.result_type(*choicelist, default)
    made: Any = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        made = _core.where(condition, as_array(choice).astype(dtype, copy=False), made)
    return as_array(made)


if not TYPE_CHECKING:
    # Plain calls go straight to the core.
    where = _core.shortcut(where)
    __all__ = public(globals())
