"""Fourier transforms: NumPy's `fft`, on the engine's threads, in the precision of the argument.

float32 and complex64 stay in 32 bits, as the array API asks, and 16-bit floats become float32; integers are computed in
float64, as in NumPy. `norm` says which way is divided by the number of points n: "backward" (the default: the way
back), "forward", or "ortho" (both, by its root).

>>> np.fft.fft(np.array([1, 0, 0, 0])).real
array([1., 1., 1., 1.])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import ndarray
from ..device import resolve
from ._arguments import as_array, as_dtype, deliver, normal_axes, normal_axis, public
from ._joining import roll
from ._types import ArrayLike, Axes, DeviceLike, DTypeLike

_LONG = 1 << 14  # real lines from this length on are transformed as complex ones, which are cut in two
_VERY_LONG, _LARGE_PRIME = 1 << 16, 1 << 12  # lengths with such a prime are transformed through another length


# ---- one axis


def _typed(a: ArrayLike, complex_numbers: bool) -> ndarray:
    """In a type that can be transformed."""
    x: ndarray = as_array(a)
    if x.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        x = _core.astype(x, "float32" if x.itemsize == 2 and x.dtype.kind in "fV" else "float64")
    if complex_numbers and x.dtype.kind != "c":
        x = _core.astype(x, "complex64" if x.dtype == "float32" else "complex128")
    return x


def _factor(norm: str | None, n: int, back: bool, function: str) -> float:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"{function}: norm is {norm!r}, but must be 'backward', 'ortho' or 'forward'")
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") != back else 1.0


def _length(a: ndarray, n: Any, axis: int, function: str, default: int | None = None) -> int:
    points = (a.shape[axis] if default is None else default) if n is None else int(n)
    if points < 1:
        raise ValueError(f"{function}: {points} points; at least one is needed")
    return points


def _noted(name: str, made: ndarray, a: ndarray, back: Callable[[ndarray], ndarray]) -> ndarray:
    """With the gradient that `back` makes of the result's."""
    if not _core.is_recording():
        return made
    noted: ndarray = _core.note_function(name, [made], [a], back, False)[0]
    return noted


def _fitted(g: ndarray, length: int, axis: int) -> ndarray:
    """Cut, or filled up with zeros, to a length."""
    if g.shape[axis] >= length:
        return g if g.shape[axis] == length else _core.slice(g, axis, 0, 1, length)
    shape = list(g.shape)
    shape[axis] = length - g.shape[axis]
    return _core.concatenate([g, _core.full(tuple(shape), 0, g.dtype, g.device)], axis)


@lru_cache(64)
def _largest_prime(n: int) -> int:
    largest, prime = 1, 2
    while prime * prime <= n:
        if n % prime:
            prime += 1
        else:
            largest, n = prime, n // prime
    return max(largest, n)


def _chirped(a: ndarray, n: int, axis: int, factor: float) -> ndarray:
    """A long line with a large prime in its length: a convolution with a chirp, by transforms of a power of 2."""
    wide = 1 << (2 * n - 2).bit_length()
    steps = _core.arange(0, 1, n, "int64", a.device)
    angles = _core.astype(_core.remainder(steps * steps, 2 * n), "float64") * (-math.pi / n)
    chirp = _core.astype(_core.exp(angles * 1j), a.dtype)
    against = _core.conj(chirp)
    gap = _core.full((wide - 2 * n + 1,), 0, a.dtype, a.device)
    around = _core.flip(_core.slice(against, 0, 1, 1, n - 1), [0])
    answer = _full(_core.concatenate([against, gap, around], 0), wide, 0, "forward", 1.0)
    beside = [1] * a.ndim
    beside[axis] = -1
    column, filtered = _core.reshape(chirp, tuple(beside)), _core.reshape(answer, tuple(beside))
    spread = _full(_fitted(a, n, axis) * column, wide, axis, "forward", 1.0)
    made = _full(spread * filtered, wide, axis, "backward", factor / wide)
    return _core.slice(made, axis, 0, 1, n) * column


def _full(a: ndarray, n: int, axis: int, kind: str, factor: float) -> ndarray:
    """Complex to complex. The matrix of the transform is symmetric: the gradient is transformed the same way."""
    if n >= _VERY_LONG and _largest_prime(n) > _LARGE_PRIME:
        if kind == "forward":
            return _chirped(a, n, axis, factor)
        return _core.conj(_chirped(_core.conj(a), n, axis, factor))
    length = a.shape[axis]
    made = _core.fft(a, n, axis, kind, factor)
    return _noted("fft", made, a, lambda g: _fitted(_full(g, n, axis, kind, factor), length, axis))


def _half(a: ndarray, n: int, axis: int, factor: float) -> ndarray:
    """Real to the first half of the transform."""
    if n >= _LONG:
        wide = _core.astype(a, "complex64" if a.dtype == "float32" else "complex128")
        return _core.copy(_core.slice(_full(wide, n, axis, "forward", factor), axis, 0, 1, n // 2 + 1))
    length = a.shape[axis]
    made = _core.fft(a, n, axis, "real", factor)

    def back(g: ndarray) -> ndarray:
        whole = _full(_fitted(g, n, axis), n, axis, "forward", factor)
        return _fitted(_core.real(whole), length, axis)

    return _noted("rfft", made, a, back)


def _mirrored(a: ndarray, n: int, axis: int) -> ndarray:
    """The whole transform of a real line from its first half."""
    half = _fitted(a, n // 2 + 1, axis)
    middle = _core.slice(half, axis, 1, 1, (n - 1) // 2)
    ends = [_core.slice(half, axis, 0, 1, 1)]
    edge = [_core.slice(half, axis, n // 2, 1, 1)] if n % 2 == 0 and n > 1 else []
    back = _core.flip(_core.conj(middle), [axis])
    return _core.concatenate([*ends, middle, *edge, back], axis)


def _real(a: ndarray, n: int, axis: int, factor: float) -> ndarray:
    """From the first half of the transform back to a real line."""
    if n >= _LONG or _core.is_recording():
        # The first number and, of an even length, the last count as real: only real parts come out.
        return _core.real(_full(_mirrored(a, n, axis), n, axis, "backward", factor))
    return _core.fft(a, n, axis, "half", factor)


def _along(a: ndarray, axis: Any, function: str) -> int:
    return normal_axis(axis, a.ndim, function)


def fft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The Fourier transform along an axis, of `n` points: the axis is cut or filled up with zeros to that length.

    >>> np.fft.fft(np.array([1, 2, 3, 4])).real
    array([10., -2., -2., -2.])
    """
    a = _typed(a, True)
    at = _along(a, axis, "fft")
    n = _length(a, n, at, "fft")
    return deliver(_full(a, n, at, "forward", _factor(norm, n, False, "fft")), out, "fft")


def ifft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The inverse of `fft`.

    >>> np.fft.ifft(np.array([4, 0, 0, 0])).real
    array([1., 1., 1., 1.])
    """
    a = _typed(a, True)
    at = _along(a, axis, "ifft")
    n = _length(a, n, at, "ifft")
    return deliver(_full(a, n, at, "backward", _factor(norm, n, True, "ifft")), out, "ifft")


def rfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The first `n // 2 + 1` numbers of the transform of real numbers; the others are their conjugates.

    >>> np.fft.rfft(np.array([1, 2, 3, 4])).real
    array([10., -2., -2.])
    """
    a = as_array(a)
    if a.dtype.kind == "c":
        raise TypeError(f"rfft: real numbers are needed, not {a.dtype}")
    a = _typed(a, False)
    at = _along(a, axis, "rfft")
    n = _length(a, n, at, "rfft")
    return deliver(_half(a, n, at, _factor(norm, n, False, "rfft")), out, "rfft")


def irfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The inverse of `rfft`: `n` real numbers, by default `2 * (m - 1)` for m given ones.

    >>> np.fft.irfft(np.array([4, 0, 0]))
    array([1., 1., 1., 1.])
    """
    a = _typed(a, True)
    at = _along(a, axis, "irfft")
    n = _length(a, n, at, "irfft", 2 * (a.shape[at] - 1))
    return deliver(_real(a, n, at, _factor(norm, n, True, "irfft")), out, "irfft")


def hfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The (real) transform of a line whose second half is the conjugate of its first.

    >>> np.fft.hfft(np.array([1, 2, 3]))
    array([ 8., -2.,  0., -2.])
    """
    a = _typed(a, True)
    at = _along(a, axis, "hfft")
    n = _length(a, n, at, "hfft", 2 * (a.shape[at] - 1))
    return deliver(_real(_core.conj(a), n, at, _factor(norm, n, False, "hfft")), out, "hfft")


def ihfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The inverse of `hfft`.

    >>> np.fft.ihfft(np.array([8, -2, 0, -2])).real
    array([1., 2., 3.])
    """
    a = as_array(a)
    if a.dtype.kind == "c":
        raise TypeError(f"ihfft: real numbers are needed, not {a.dtype}")
    a = _typed(a, False)
    at = _along(a, axis, "ihfft")
    n = _length(a, n, at, "ihfft")
    return deliver(_core.conj(_half(a, n, at, _factor(norm, n, True, "ihfft"))), out, "ihfft")


# ---- several axes


def _sides(a: ndarray, s: Sequence[int | None] | None, axes: Any, function: str) -> tuple[list[int | None], list[int]]:
    """Lengths and axes, in pairs; an axis may be named twice."""
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(a.ndim)
    found = [normal_axis(axis, a.ndim, function) for axis in axes]
    lengths: list[int | None] = [None] * len(found) if s is None else list(s)
    if len(lengths) != len(found):
        raise ValueError(f"{function}: {len(lengths)} lengths for {len(found)} axes")
    return [a.shape[at] if n == -1 else n for n, at in zip(lengths, found, strict=True)], found


def fftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The transform along several axes (all, by default), `s` points each.

    >>> np.fft.fftn(np.ones((2, 2))).real
    array([[4., 0.],
           [0., 0.]])
    """
    made = _typed(a, True)
    lengths, found = _sides(made, s, axes, "fftn")
    for n, axis in reversed(list(zip(lengths, found, strict=True))):
        made = fft(made, n, axis, norm)
    return deliver(made, out, "fftn")


def ifftn(
    a: ArrayLike, s: Any = None, axes: Any = None, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The inverse of `fftn`.

    >>> np.fft.ifftn(np.ones((2, 2))).real
    array([[1., 0.],
           [0., 0.]])
    """
    made = _typed(a, True)
    lengths, found = _sides(made, s, axes, "ifftn")
    for n, axis in reversed(list(zip(lengths, found, strict=True))):
        made = ifft(made, n, axis, norm)
    return deliver(made, out, "ifftn")


def rfftn(
    a: ArrayLike, s: Any = None, axes: Any = None, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The transform of real numbers along several axes; of the last one, the first half.

    >>> np.fft.rfftn(np.ones((2, 3))).shape
    (2, 2)
    """
    a = as_array(a)
    lengths, found = _sides(a, s, axes, "rfftn")
    if not found:
        raise IndexError("rfftn: at least one axis is needed")
    made = rfft(a, lengths[-1], found[-1], norm)
    for n, axis in reversed(list(zip(lengths[:-1], found[:-1], strict=True))):
        made = fft(made, n, axis, norm)
    return deliver(made, out, "rfftn")


def irfftn(
    a: ArrayLike, s: Any = None, axes: Any = None, norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The inverse of `rfftn`.

    >>> np.fft.irfftn(np.ones((2, 2))).shape
    (2, 2)
    """
    made = _typed(a, True)
    lengths, found = _sides(made, s, axes, "irfftn")
    if not found:
        raise IndexError("irfftn: at least one axis is needed")
    for n, axis in zip(lengths[:-1], found[:-1], strict=True):
        made = ifft(made, n, axis, norm)
    return deliver(irfft(made, lengths[-1] if s is not None else None, found[-1], norm), out, "irfftn")


def fft2(
    a: ArrayLike, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The transform along the last two axes.

    >>> np.fft.fft2(np.ones((5, 2, 2))).shape
    (5, 2, 2)
    """
    return fftn(a, s, axes, norm, out)


def ifft2(
    a: ArrayLike, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The inverse of `fft2`.

    >>> np.fft.ifft2(np.ones((5, 2, 2))).shape
    (5, 2, 2)
    """
    return ifftn(a, s, axes, norm, out)


def rfft2(
    a: ArrayLike, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The transform of real numbers along the last two axes; of the last one, the first half.

    >>> np.fft.rfft2(np.ones((5, 2, 4))).shape
    (5, 2, 3)
    """
    return rfftn(a, s, axes, norm, out)


def irfft2(
    a: ArrayLike, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: ndarray | None = None
) -> ndarray:
    """The inverse of `rfft2`.

    >>> np.fft.irfft2(np.ones((5, 2, 3))).shape
    (5, 2, 4)
    """
    return irfftn(a, s, axes, norm, out)


# ---- frequencies and shifts


def _frequencies(first: int, count: int, n: int, d: float, dtype: DTypeLike, device: DeviceLike) -> ndarray:
    kind = as_dtype(dtype)
    steps = _core.arange(first, 1, count, kind, resolve(device, None))
    return _core.divide(steps, float(n * d))


def fftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike = None, device: DeviceLike = None) -> ndarray:
    """The frequencies of the numbers that `fft` gives for n points, d apart.

    >>> np.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    if not isinstance(n, int):
        raise ValueError(f"fftfreq: n is {n!r}, but must be an integer")
    ahead = (n - 1) // 2 + 1
    parts = [
        _frequencies(0, ahead, n, d, dtype, device),
        _frequencies(-(n // 2), n - ahead, n, d, dtype, device),
    ]
    return _core.concatenate(parts, 0)


def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike = None, device: DeviceLike = None) -> ndarray:
    """The frequencies of the numbers that `rfft` gives for n points, d apart.

    >>> np.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    if not isinstance(n, int):
        raise ValueError(f"rfftfreq: n is {n!r}, but must be an integer")
    return _frequencies(0, n // 2 + 1, n, d, dtype, device)


def fftshift(x: ArrayLike, axes: Axes = None) -> ndarray:
    """The frequency 0 moved to the middle.

    >>> np.fft.fftshift(np.array([0, 1, 2, -2, -1]))
    array([-2., -1.,  0.,  1.,  2.])
    """
    x = as_array(x)
    found = list(range(x.ndim)) if axes is None else normal_axes(axes, x.ndim, "fftshift")
    return roll(x, tuple(x.shape[axis] // 2 for axis in found), tuple(found))


def ifftshift(x: ArrayLike, axes: Axes = None) -> ndarray:
    """The inverse of `fftshift`.

    >>> np.fft.ifftshift(np.array([-2, -1, 0, 1, 2]))
    array([ 0.,  1.,  2., -2., -1.])
    """
    x = as_array(x)
    found = list(range(x.ndim)) if axes is None else normal_axes(axes, x.ndim, "ifftshift")
    return roll(x, tuple(-(x.shape[axis] // 2) for axis in found), tuple(found))


if not TYPE_CHECKING:
    __all__ = public(globals())
