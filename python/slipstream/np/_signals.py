"""Lines of samples: convolution, differences and integrals, interpolation, window functions, phases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..device import resolve
from ._arguments import as_array, as_arrays, as_dtype, normal_axes, normal_axis, public
from ._elementwise import diff
from ._joining import concatenate
from ._sorting import searchsorted
from ._types import ArrayLike, DeviceLike, DTypeLike

_F64 = numpy.dtype("float64")

# ---- convolution


def _convolve(a: ndarray, v: ndarray, mode: str, function: str) -> ndarray:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{function}: mode {mode!r} is none of 'full', 'same', 'valid'")
    if a.ndim > 1 or v.ndim > 1:
        raise ValueError(f"{function}: shapes {a.shape} and {v.shape}; both must have one dimension")
    a, v = _core.reshape(a, (-1,)), _core.reshape(v, (-1,))
    if a.size == 0 or v.size == 0:
        raise ValueError(f"{function}: shapes {a.shape} and {v.shape}; neither may be empty")
    long, short = max(a.size, v.size), min(a.size, v.size)
    first, n = {
        "full": (0, long + short - 1),
        "same": (short - 1 - short // 2, long),
        "valid": (short - 1, long - short + 1),
    }[mode]
    return _core.convolve(a, v, first, n)


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> ndarray:
    """The convolution of two lines: all of it, as much as the longer has ("same"), or where both overlap ("valid").

    >>> np.convolve(np.array([1, 2, 3]), np.array([0, 1, 0.5]))
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    a, v = as_arrays((a, v))
    return _convolve(a, v, mode, "convolve")


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> ndarray:
    """The cross-correlation of two lines; the second is conjugated.

    >>> np.correlate(np.array([1, 2, 3]), np.array([0, 1, 0.5]))
    array([3.5])
    """
    a, v = as_arrays((a, v))
    other = _core.conj(v) if v.dtype.kind == "c" else v
    if a.size < v.size and a.ndim == v.ndim == 1:  # NumPy exchanges both, and turns the result round
        return _convolve(other, a[::-1], mode, "correlate")[::-1]
    return _convolve(a, other[::-1] if v.ndim == 1 else other, mode, "correlate")


# ---- differences and integrals


def _part(x: ndarray, axis: int, start: int | None, stop: int | None) -> ndarray:
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _spacings(given: tuple[Any, ...], axes: list[int], x: ndarray) -> list[Any]:
    """For each axis a step or the coordinates of its points."""
    if len(given) not in (0, 1, len(axes)):
        raise TypeError(f"gradient: {len(given)} spacings for {len(axes)} axes")
    each: list[Any] = [1.0] * len(axes) if not given else list(given) * (len(axes) if len(given) == 1 else 1)
    for i, axis in enumerate(axes):
        if (each[i].ndim if isinstance(each[i], ndarray) else numpy.ndim(each[i])) == 0:
            continue
        points = as_array(each[i], x.device)
        if points.ndim != 1:
            raise ValueError(f"gradient: distances of shape {points.shape}; they must be numbers or lines")
        if points.size != x.shape[axis]:
            raise ValueError(f"gradient: {points.size} coordinates for axis {axis} of size {x.shape[axis]}")
        each[i] = diff(points)
    return each


def _edge(x: ndarray, axis: int, steps: Any, order: int, last: bool) -> Any:
    """The gradient at one end, of first or second order."""

    def at(i: int) -> ndarray:  # the i-th from that end
        return _part(x, axis, i, i + 1) if not last else _part(x, axis, x.shape[axis] - 1 - i, x.shape[axis] - i)

    even = not (isinstance(steps, ndarray) and steps.ndim)
    one = steps if even else steps[-1] if last else steps[0]
    if order == 1:
        return (at(0) - at(1)) / one if last else (at(1) - at(0)) / one
    two = steps if even else steps[-2] if last else steps[1]
    sign = -1.0 if last else 1.0
    a, b, c = -(2 * one + two) / (one * (one + two)), (one + two) / (one * two), -one / (two * (one + two))
    return (a * at(0) + b * at(1) + c * at(2)) * sign


def _gradient(x: ndarray, steps: Any, axis: int, order: int) -> ndarray:
    before, here, behind = _part(x, axis, None, -2), _part(x, axis, 1, -1), _part(x, axis, 2, None)
    if isinstance(steps, ndarray) and steps.ndim:
        shape = tuple(-1 if i == axis else 1 for i in range(x.ndim))
        left, right = _core.reshape(steps[:-1], shape), _core.reshape(steps[1:], shape)
        a, b = -right / (left * (left + right)), (right - left) / (left * right)
        c = left / (right * (left + right))
        inner = a * before + b * here + c * behind
    else:
        inner = (behind - before) / (2.0 * steps)
    return concatenate([_edge(x, axis, steps, order, False), inner, _edge(x, axis, steps, order, True)], axis)


def gradient(f: ArrayLike, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences along each axis (one-sided at the ends), for a step or for coordinates of the points.

    >>> np.gradient(np.array([1, 2, 4, 7]))
    array([1. , 1.5, 2.5, 3. ])
    """
    x = as_array(f)
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order={edge_order} is neither 1 nor 2")
    axes = list(range(x.ndim)) if axis is None else normal_axes(axis, x.ndim, "gradient")
    spacings = _spacings(varargs, axes, x)
    if x.dtype.kind in "iub":
        x = _core.astype(x, _F64)
    for i in axes:
        if x.shape[i] < edge_order + 1:
            raise ValueError(f"gradient: axis {i} has {x.shape[i]} elements; {edge_order + 1} are needed")
    made = [_gradient(x, steps, i, edge_order) for i, steps in zip(axes, spacings, strict=True)]
    return made[0] if len(made) == 1 else tuple(made)


def trapezoid(y: ArrayLike, x: ArrayLike = None, dx: Any = 1.0, axis: int = -1) -> ndarray:
    """The integral along an axis by the trapezoidal rule.

    >>> np.trapezoid(np.array([1, 2, 3]))
    array(4.)
    """
    y = as_array(y)
    at = normal_axis(axis, y.ndim, "trapezoid")
    steps: Any = dx
    if x is not None:
        x = as_array(x, y.device)
        steps = diff(x, axis=0 if x.ndim == 1 else at)
        if x.ndim == 1:
            steps = _core.reshape(steps, tuple(-1 if i == at else 1 for i in range(y.ndim)))
    return _core.sum(steps * (_part(y, at, 1, None) + _part(y, at, None, -1)) / 2.0, axis=at)


def trapz(y: ArrayLike, x: ArrayLike = None, dx: Any = 1.0, axis: int = -1) -> ndarray:
    """NumPy 1's name of `np.trapezoid`.

    >>> np.trapz(np.array([1, 2, 3]), dx=2)
    array(8.)
    """
    return trapezoid(y, x, dx, axis)


# ---- interpolation


def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: Any = None, right: Any = None, period: float | None = None
) -> ndarray:
    """Values of the line through the points (xp, fp), whose xp increase, at x; `left` and `right` of it others.

    >>> np.interp(2.5, np.array([1, 2, 3]), np.array([3, 2, 0]))
    array(1., dtype=float64)
    """
    fp = as_array(fp)
    x, xp = (_core.astype(as_array(part, fp.device), _F64) for part in (x, xp))
    fp = _core.astype(fp, _core.result_type(fp, _F64))
    if xp.ndim != 1 or fp.shape != xp.shape:
        raise ValueError(f"interp: xp has shape {xp.shape}, fp {fp.shape}; both must be lines of one length")
    if xp.size == 0:
        raise ValueError("interp: xp and fp have no points")
    if period is not None:
        if period == 0:
            raise ValueError("interp: period is 0")
        period = abs(period)
        x, xp, left, right = x % period, xp % period, None, None
        order = _core.argsort(xp, 0)
        xp, fp = _core.take(xp, order, 0, "raise"), _core.take(fp, order, 0, "raise")
        xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = concatenate([fp[-1:], fp, fp[:1]])
    low = fp[0] if left is None else left
    high = fp[-1] if right is None else right
    made = _through(x, xp, fp) if xp.size > 1 else _core.broadcast_to(fp[0], x.shape)
    made = _core.where(_core.less(x, xp[0]), low, _core.where(_core.greater(x, xp[-1]), high, made))
    return _core.where(_core.isnan(x), x, made)


def _through(x: ndarray, xp: ndarray, fp: ndarray) -> ndarray:
    at = _core.clip(searchsorted(xp, x, "right") - 1, 0, xp.size - 2)
    x0, x1, f0, f1 = (_core.take(p, at + i, 0, "clip") for p in (xp, fp) for i in (0, 1))
    slope = (f1 - f0) / (x1 - x0)
    made = slope * (x - x0) + f0
    made = _core.where(_core.isnan(made), slope * (x - x1) + f1, made)
    made = _core.where(_core.logical_and(_core.isnan(made), _core.equal(f0, f1)), f0, made)
    return _core.where(_core.equal(x, x0), f0, _core.where(_core.equal(x, x1), f1, made))


# ---- windows


def _window(m: Any, shape: Any, dtype: DTypeLike, device: DeviceLike, ctx: DeviceLike) -> ndarray:
    """Values of a window: `shape` gives them for an array n of 1 - M, 3 - M ..., M - 1."""
    place = None if device is None and ctx is None else resolve(device, ctx)
    count = max(0, math.ceil(m))
    if count == 1 or count == 0:
        return _core.full((count,), 1.0, as_dtype(dtype), place)
    n = _core.arange(1 - count, 2, count, _F64, place)
    return _core.astype(shape(n, count - 1), as_dtype(dtype))


def bartlett(M: Any, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> ndarray:
    """A triangle from 0 to 1 and back to 0, of M points.

    >>> np.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window(M, lambda n, top: 1 - _core.abs(n) / top, dtype, device, ctx)


def blackman(M: Any, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> ndarray:
    """The Blackman window of M points.

    >>> np.round(np.blackman(3), 3)
    array([-0.,  1., -0.])
    """

    def shape(n: ndarray, top: int) -> ndarray:
        return 0.42 + 0.5 * _core.cos(math.pi * n / top) + 0.08 * _core.cos(2 * math.pi * n / top)

    return _window(M, shape, dtype, device, ctx)


def hamming(M: Any, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> ndarray:
    """The Hamming window of M points.

    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _window(M, lambda n, top: 0.54 + 0.46 * _core.cos(math.pi * n / top), dtype, device, ctx)


def hanning(M: Any, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> ndarray:
    """The Hann window of M points.

    >>> np.hanning(3)
    array([0., 1., 0.])
    """
    return _window(M, lambda n, top: 0.5 + 0.5 * _core.cos(math.pi * n / top), dtype, device, ctx)


def kaiser(M: Any, beta: float, dtype: DTypeLike = None, device: DeviceLike = None, ctx: DeviceLike = None) -> ndarray:
    """The Kaiser window of M points and shape `beta`.

    >>> np.kaiser(3, 0.0)
    array([1., 1., 1.])
    """

    def shape(n: ndarray, top: int) -> ndarray:
        inside = _core.sqrt(_core.maximum(1 - _core.square(n / top), 0.0))
        return i0(beta * inside) / i0(_core.full((), float(beta), _F64, n.device))

    return _window(M, shape, dtype, device, ctx)


# ---- functions of samples


def _series_terms(x: Any, terms: int) -> Any:
    """I0(x) = sum of (x^2 / 4)^k / (k!)^2, summed from its smallest terms (Horner)."""
    quarter = _core.square(x) / 4.0
    made: Any = 1.0
    for k in range(terms, 0, -1):
        made = 1.0 + made * quarter / float(k * k)
    return made


def _scaled_terms(x: Any, terms: int) -> Any:
    """I0(x) / (exp(x) / sqrt(2 pi x)) for large x: sum of ((2k - 1)!!)^2 / (k! (8 x)^k)."""
    inverse = 1.0 / (8.0 * x)
    made: Any = 1.0
    for k in range(terms, 0, -1):
        made = 1.0 + made * inverse * (float((2 * k - 1) ** 2) / k)
    return made


def i0(x: ArrayLike) -> ndarray:
    """The modified Bessel function of the first kind, order 0.

    >>> np.i0(np.array([0.0, 1.0]))
    array([1.       , 1.2660658])
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise TypeError("i0: the argument is complex; i0 is of real numbers")
    dtype = _core.result_type(x, 1.0)
    size = _core.abs(_core.astype(x, _F64))
    near = _core.minimum(size, 20.0)
    far = _core.maximum(size, 20.0)
    large = _core.exp(far) / _core.sqrt(2 * math.pi * far) * _scaled_terms(far, 24)
    return _core.astype(_core.where(_core.less_equal(size, 20.0), _series_terms(near, 48), large), dtype)


def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: Any = 2 * math.pi) -> ndarray:
    """Phases without jumps: steps of more than half a period are made smaller by whole periods.

    >>> np.unwrap(np.array([0, 3, -3]))
    array([0.       , 3.       , 3.2831855])
    """
    x = as_array(p)
    at = normal_axis(axis, x.ndim, "unwrap")
    steps = diff(x, axis=at)
    whole = x.dtype.kind in "iu" and isinstance(period, int)
    if not whole:
        x = _core.astype(x, _core.result_type(x, 1.0))
        steps = _core.astype(steps, _core.result_type(steps, 1.0))
    half = period // 2 if whole else period / 2
    low = -half
    ambiguous = period % 2 == 0 if whole else True
    wrapped = (steps - low) % period + low
    if ambiguous:
        wrapped = _core.where(_core.logical_and(_core.equal(wrapped, low), _core.greater(steps, 0)), half, wrapped)
    limit = half if discont is None else discont
    fix = _core.where(_core.less(_core.abs(steps), limit), 0, wrapped - steps)
    return concatenate([_part(x, at, None, 1), _part(x, at, 1, None) + _core.cumsum(fix, at, fix.dtype)], at)


if not TYPE_CHECKING:
    __all__ = public(globals())
