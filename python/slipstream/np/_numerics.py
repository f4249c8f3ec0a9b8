"""Derivatives, integrals and phases of sampled functions; parts and neighbours of floats; bits of integers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, check_choice, deliver, normal_axes, normal_axis, public
from ._by_numpy import by_numpy, waiting
from ._elementwise import _both, diff
from ._manipulation import moveaxis, ravel
from ._types import ArrayLike, Axes

# ---- sampled functions


def _spacings(varargs: tuple[Any, ...], axes: list[int], x: ndarray) -> list[Any]:
    """For each axis the distance of its points: a number, or the distances of neighbours."""
    if not varargs:
        return [1.0] * len(axes)
    if len(varargs) == 1 and numpy.ndim(varargs[0]) == 0:
        return list(varargs) * len(axes)
    if len(varargs) != len(axes):
        raise TypeError(f"gradient: {len(varargs)} distances for {len(axes)} axes")
    found: list[Any] = []
    for given, axis in zip(varargs, axes, strict=True):
        if numpy.ndim(given) == 0:
            found.append(given)
            continue
        points = as_arrays((x, given))[1]
        if points.shape != (x.shape[axis],):
            raise ValueError(f"gradient: points of shape {points.shape} for an axis of length {x.shape[axis]}")
        found.append(diff(points if points.dtype.kind in "fc" else _core.astype(points, numpy.float64)))
    return found


def _slope(f: ndarray, dx: Any, edge_order: int) -> ndarray:
    """The derivative along the last axis."""
    even = not isinstance(dx, ndarray) or dx.ndim == 0
    before, at, after = f[..., :-2], f[..., 1:-1], f[..., 2:]
    first: Any
    last: Any
    if even:
        inner = (after - before) / (2.0 * dx)
        first = last = dx
        starts: list[Any] = [-1.5 / dx, 2.0 / dx, -0.5 / dx]
        ends = [0.5 / dx, -2.0 / dx, 1.5 / dx]
    else:
        left, right = dx[:-1], dx[1:]
        inner = (
            -right / (left * (left + right)) * before
            + (right - left) / (left * right) * at
            + left / (right * (left + right)) * after
        )
        first, last = dx[0], dx[-1]
        if edge_order == 2:
            a, b, c, d = dx[0], dx[1], dx[-2], dx[-1]
            starts = [-(2.0 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))]
            ends = [d / (c * (c + d)), -(d + c) / (c * d), (2.0 * d + c) / (d * (c + d))]
    if edge_order == 1:
        begin, end = (f[..., 1:2] - f[..., :1]) / first, (f[..., -1:] - f[..., -2:-1]) / last
    else:
        begin = starts[0] * f[..., 0:1] + starts[1] * f[..., 1:2] + starts[2] * f[..., 2:3]
        end = ends[0] * f[..., -3:-2] + ends[1] * f[..., -2:-1] + ends[2] * f[..., -1:]
    return _core.concatenate([begin, inner, end], -1)


def gradient(f: ArrayLike, *varargs: Any, axis: Axes = None, edge_order: int = 1) -> Any:
    """The derivative of sampled values along each axis: differences of neighbours on both sides, one at the edges.

    >>> np.gradient(np.array([1, 2, 4, 7]))
    array([1. , 1.5, 2.5, 3. ])
    """
    x = as_array(f)
    axes = list(range(x.ndim)) if axis is None else normal_axes(axis, x.ndim, "gradient")
    check_choice("gradient", "edge_order", edge_order, (1, 2))
    if any(x.shape[a] < edge_order + 1 for a in axes):
        raise ValueError(f"gradient: an axis of {x.shape} is too short: at least {edge_order + 1} points are needed")
    if x.dtype.kind in "iub":
        x = _core.astype(x, numpy.float64)
    made = [
        moveaxis(_slope(moveaxis(x, a, -1), dx, edge_order), -1, a)
        for a, dx in zip(axes, _spacings(varargs, axes, x), strict=True)
    ]
    return made[0] if len(axes) == 1 else tuple(made)


def trapezoid(y: ArrayLike, x: ArrayLike = None, dx: Any = 1.0, axis: int = -1) -> ndarray:
    """The integral of sampled values along an axis, by trapezoids.

    >>> np.trapezoid(np.array([1, 2, 3]))
    array(4.)
    """
    y = as_array(y)
    axis = normal_axis(axis, y.ndim, "trapezoid")
    values = moveaxis(y, axis, -1)
    if x is None:
        width: Any = dx
    else:
        points = as_arrays((y, x))[1]
        width = diff(points) if points.ndim == 1 else diff(moveaxis(points, axis, -1))
    return _core.sum(width * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)


def unwrap(p: ArrayLike, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> ndarray:
    """Angles without jumps: where neighbours are more than `discont` apart, whole periods are added.

    >>> np.unwrap(np.array([0, 3, 6]), period=4)
    array([ 0., -1., -2.])
    """
    p = as_array(p)
    steps = diff(p, axis=axis)
    kind = _core.result_type(steps, period)
    half = period / 2
    jump = half if discont is None else discont
    ambiguous = True
    if kind.kind in "iu":
        half, rest = divmod(period, 2)
        ambiguous = rest == 0
    inside = _core.remainder(steps + half, period) - half
    if ambiguous:
        inside = _core.where(_core.logical_and(inside == -half, steps > 0), half, inside)
    added = _core.where(_core.abs(steps) < jump, 0, inside - steps)
    made = _core.astype(p, kind)
    later = (slice(None),) * normal_axis(axis, p.ndim, "unwrap") + (slice(1, None),)
    made[later] = p[later] + _core.cumsum(added, normal_axis(axis, p.ndim, "unwrap"))
    return made


@by_numpy("waits")
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Any = None) -> ndarray:
    """The array without zeros at its front ("f") and back ("b"). Waits, for their number is not known before.

    >>> np.trim_zeros(np.array([0, 1, 0, 2, 0]))
    array([1., 0., 2.])
    """
    options = {} if axis is None else {"axis": axis}
    made: ndarray = waiting(numpy.trim_zeros, as_array(filt), trim, **options)
    return made


# ---- parts of floats


def frexp(x: ArrayLike, out: Any = (None, None)) -> tuple[ndarray, ndarray]:
    """Mantissas between 0.5 and 1 (with a sign) and exponents to base 2, whose product is the argument.

    >>> np.frexp(np.array([1.0, 6.0]))
    (array([0.5 , 0.75]), array([1, 3], dtype=int32))
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise TypeError(f"frexp: arrays of type {x.dtype} are not supported")
    kind = _core.float_of(x.dtype)
    wide = numpy.dtype("float64") if kind.itemsize == 8 else numpy.dtype("float32")
    integer, shift, bias = (numpy.dtype("int64"), 52, 1022) if wide.itemsize == 8 else (numpy.dtype("int32"), 23, 126)
    values = _core.astype(x, wide)
    tiny = _core.less(_core.abs(values), 2.0 ** (1 - bias))
    bits = _core.reinterpret(_core.where(tiny, values * 2.0**64, values), integer)
    field = 2 * bias + 3
    power = _core.bitwise_and(_core.bitwise_right_shift(bits, shift), field)
    plain = _core.logical_and(_core.isfinite(values), _core.not_equal(values, 0))
    mantissa = _core.reinterpret(_core.bitwise_or(_core.bitwise_and(bits, ~(field << shift)), bias << shift), wide)
    exponent = _core.where(plain, power - bias - _core.where(tiny, 64, 0).astype(integer), 0)
    parts = _core.astype(_core.where(plain, mantissa, values), kind), _core.astype(exponent, numpy.dtype("int32"))
    return _both("frexp", parts, out)


def spacing(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """The distance from a float to the next one, away from 0.

    >>> bool(np.spacing(np.array(1.0)) == np.finfo(np.float32).eps)
    True
    """
    x = as_array(x)
    x = x.astype(_core.float_of(x.dtype), copy=False)
    away = _core.nextafter(x, _core.copysign(math.inf, x))
    return _core.where(_core.isfinite(x), away - x, math.nan, out=out)


@by_numpy("waits")
def real_if_close(a: ArrayLike, tol: float = 100) -> ndarray:
    """The real part of complex numbers if all imaginary parts are near 0. Waits, for the type depends on values.

    >>> np.real_if_close(np.array([1 + 0j]))
    array([1.])
    """
    a = as_array(a)
    made: ndarray = waiting(numpy.real_if_close, a, tol) if a.dtype.kind == "c" else a
    return made


# ---- bits


def bitwise_count(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """How many bits of an integer's magnitude are set.

    >>> np.bitwise_count(np.array([7, 8], dtype="int32"))
    array([3, 1], dtype=uint8)
    """
    x = as_array(x)
    if x.dtype.kind not in "iub":
        raise TypeError(f"bitwise_count: arrays of type {x.dtype} are not supported")
    v = _core.astype(x if x.dtype.kind in "ub" else _core.abs(x), numpy.dtype("uint64"))
    if x.dtype.kind == "i" and x.dtype.itemsize < 8:  # the smallest integer is its own negative
        v = _core.bitwise_and(v, 2 ** (8 * x.dtype.itemsize) - 1)
    v = v - ((v >> 1) & 0x5555555555555555)
    v = (v & 0x3333333333333333) + ((v >> 2) & 0x3333333333333333)
    v = (v + (v >> 4)) & 0x0F0F0F0F0F0F0F0F
    return deliver(_core.astype((v * 0x0101010101010101) >> 56, numpy.dtype("uint8")), out, "bitwise_count")


_BYTE = numpy.dtype("uint8")


def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> ndarray:
    """Eight elements as the bits of one byte (set where they are not 0), along an axis or of the flattened array.

    >>> np.packbits(np.array([1, 0, 1], dtype="uint8"))
    array([160], dtype=uint8)
    """
    check_choice("packbits", "bitorder", bitorder, ("big", "little"))
    x = as_array(a)
    if x.dtype.kind not in "iub":
        raise TypeError(f"packbits: arrays of type {x.dtype} are not supported; bits are of bool or integers")
    if axis is None:
        x, axis = ravel(x), 0
    bits = _core.astype(moveaxis(_core.not_equal(x, 0), axis, -1), _BYTE)
    missing = -bits.shape[-1] % 8
    zeros = _core.full((*bits.shape[:-1], missing), 0, _BYTE, x.device)
    groups = _core.reshape(_core.concatenate([bits, zeros], -1), (*bits.shape[:-1], -(-bits.shape[-1] // 8), 8))
    weights = 2 ** numpy.arange(8) if bitorder == "little" else 2 ** numpy.arange(7, -1, -1)
    made = _core.sum(groups * _core.array(weights.astype(_BYTE), None, x.device), axis=-1, dtype=_BYTE)
    return moveaxis(made, -1, axis)


def unpackbits(a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> ndarray:
    """The bits of bytes, one by one, along an axis or of the flattened array; `count` of them (negative: but the last).

    >>> np.unpackbits(np.array([160], dtype="uint8"), count=4)
    array([1, 0, 1, 0], dtype=uint8)
    """
    check_choice("unpackbits", "bitorder", bitorder, ("big", "little"))
    x = as_array(a)
    if x.dtype != _BYTE:
        raise TypeError(f"unpackbits: an array of uint8 is needed, not of {x.dtype}")
    if axis is None:
        x, axis = ravel(x), 0
    lines = _core.expand_dims(moveaxis(x, axis, -1), [x.ndim])
    shifts = numpy.arange(8, dtype=_BYTE) if bitorder == "little" else numpy.arange(7, -1, -1).astype(_BYTE)
    bits = _core.bitwise_and(_core.bitwise_right_shift(lines, _core.array(shifts, None, x.device)), 1)
    flat = _core.reshape(bits, (*lines.shape[:-2], lines.shape[-2] * 8))
    if count is not None:
        total = flat.shape[-1]
        kept = count if count >= 0 else max(total + count, 0)
        more = _core.full((*flat.shape[:-1], max(kept - total, 0)), 0, _BYTE, x.device)
        flat = _core.concatenate([flat[..., :kept], more], -1)
    return moveaxis(flat, -1, axis)


if not TYPE_CHECKING:
    __all__ = public(globals())
