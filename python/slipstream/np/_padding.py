"""pad, in all of NumPy's modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, check_choice, public
from ._by_numpy import by_numpy, waiting
from ._types import ArrayLike

# Modes whose new elements are elements of the array, and what else each mode takes.
_COPIES = ("edge", "reflect", "symmetric", "wrap")
_REDUCED: dict[str, Any] = {"maximum": _core.max, "minimum": _core.min, "mean": _core.mean}
_TAKES: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",),
    "linear_ramp": ("end_values",),
    **dict.fromkeys(("maximum", "minimum", "mean", "median"), ("stat_length",)),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "edge": (),
    "wrap": (),
    "empty": (),
}


def _pairs(given: Any, ndim: int, what: str) -> list[tuple[Any, Any]]:
    """NumPy's forms of a pair for each axis: a number, one pair, a pair for each axis, or a dict by axis."""
    if isinstance(given, dict):
        found: list[tuple[Any, Any]] = [(0, 0)] * ndim
        for axis, pair in given.items():
            found[axis] = (pair, pair) if isinstance(pair, int) else tuple(pair)
        return found
    values = numpy.asarray(given.tolist() if isinstance(given, ndarray) else given, dtype=object)
    try:
        return [(low, high) for low, high in numpy.broadcast_to(values, (ndim, 2)).tolist()]
    except ValueError:
        raise ValueError(f"pad: {what}={given} does not give a pair for each of {ndim} axes") from None


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    pairs = _pairs(pad_width, ndim, "pad_width")
    for low, high in pairs:
        if not all(isinstance(n, (int, numpy.integer)) for n in (low, high)):
            raise TypeError(f"pad: pad_width={pad_width} holds something that is no integer")
        if low < 0 or high < 0:
            raise ValueError(f"pad: pad_width={pad_width} holds a negative width")
    return [(int(low), int(high)) for low, high in pairs]


def _places(n: int, low: int, high: int, mode: str) -> numpy.ndarray[Any, Any]:
    """Which elements of an axis of length n its padded form shows."""
    at = numpy.arange(-low, n + high)
    if mode == "edge":
        return at.clip(0, n - 1)
    if mode == "wrap":
        return at % n
    if mode == "symmetric":
        at = at % (2 * n)
        return numpy.minimum(at, 2 * n - 1 - at)
    if n == 1:
        return numpy.zeros_like(at)
    at = at % (2 * n - 2)
    return numpy.minimum(at, 2 * n - 2 - at)


def _along(x: ndarray, axis: int, start: int | None, stop: int | None) -> ndarray:
    return x[(*[slice(None)] * axis, slice(start, stop))]


def _joined(x: ndarray, axis: int, before: ndarray, after: ndarray) -> ndarray:
    return _core.concatenate([before, x, after], axis)


def _repeated(x: ndarray, axis: int, n: int) -> ndarray:
    return _core.broadcast_to(x, (*x.shape[:axis], n, *x.shape[axis + 1 :]))


def _fitting(x: ndarray, value: Any) -> ndarray:
    return _core.astype(as_array(value, x.device), x.dtype)


def _constant(x: ndarray, axis: int, width: tuple[int, int], values: tuple[Any, Any]) -> ndarray:
    ends = [_core.broadcast_to(_fitting(x, v), (*x.shape[:axis], 1, *x.shape[axis + 1 :])) for v in values]
    return _joined(x, axis, *(_repeated(end, axis, n) for end, n in zip(ends, width, strict=True)))


def _ramp(x: ndarray, axis: int, width: tuple[int, int], values: tuple[Any, Any]) -> ndarray:
    """From the edge of the array evenly to the end value."""
    made: list[ndarray] = []
    for n, end, edge in zip(width, values, (_along(x, axis, 0, 1), _along(x, axis, -1, None)), strict=True):
        step = (edge - end) / float(max(n, 1))
        count = _core.reshape(_core.arange(0, 1, n, step.dtype, x.device), (n,) + (1,) * (x.ndim - axis - 1))
        line = count * step + end
        line = _fitting(x, _core.floor(line) if x.dtype.kind in "iu" else line)
        made.append(_core.flip(line, [axis]) if made else line)
    return _joined(x, axis, *made)


def _statistic(x: ndarray, axis: int, width: tuple[int, int], mode: str, lengths: tuple[Any, Any]) -> ndarray:
    """The largest, smallest or mean of the elements next to each edge."""
    n = x.shape[axis]
    ends = []
    for i, length in enumerate(lengths):
        count = n if length is None else min(int(length), n)
        if count < 1:
            raise ValueError(f"pad: stat_length={length} takes no element")
        part = _along(x, axis, 0, count) if i == 0 else _along(x, axis, n - count, None)
        found = _REDUCED[mode](part, axis=axis, keepdims=True)
        ends.append(_fitting(x, _core.rint(found) if mode == "mean" and x.dtype.kind in "iu" else found))
    return _joined(x, axis, *(_repeated(end, axis, w) for end, w in zip(ends, width, strict=True)))


@by_numpy("waits", "a function as mode, `median`, odd reflections")
def pad(array: ArrayLike, pad_width: Any = None, mode: Any = "constant", **options: Any) -> ndarray:
    """The array with elements put before and behind it along each axis.

    `mode` says which: "constant" (`constant_values`, 0), "edge", "reflect" and "symmetric" (`reflect_type`), "wrap",
    "linear_ramp" (`end_values`), "maximum", "minimum", "mean" and "median" (`stat_length`), "empty", or a function as
    NumPy's. A function, "median" and odd reflections are NumPy's work, and wait.

    >>> np.pad(np.array([1, 2]), (1, 2), mode="edge")
    array([1., 1., 2., 2., 2.])
    """
    x = as_array(array)
    if pad_width is None:
        raise TypeError("pad: pad_width is missing")
    if callable(mode) or mode == "median" or options.get("reflect_type") == "odd":
        made: ndarray = waiting(numpy.pad, x, pad_width, mode, **options)
        return made
    check_choice("pad", "mode", mode, tuple(_TAKES))
    if unknown := set(options) - set(_TAKES[mode]):
        raise ValueError(f"pad: mode {mode!r} takes no {', '.join(sorted(unknown))}")
    widths = _widths(pad_width, x.ndim)
    values = _pairs(options.get("constant_values", options.get("end_values", 0)), x.ndim, "constant_values")
    lengths = _pairs(options.get("stat_length"), x.ndim, "stat_length")
    for axis, (low, high) in enumerate(widths):
        if low == high == 0:
            continue
        if x.shape[axis] == 0 and mode not in ("constant", "empty"):
            raise ValueError(f"pad: axis {axis} is empty: mode {mode!r} has nothing to take")
        if mode in _COPIES:
            places = _core.array(_places(x.shape[axis], low, high, mode), None, x.device)
            x = _core.take(x, places, axis, "raise")
        elif mode in _REDUCED:
            x = _statistic(x, axis, (low, high), mode, lengths[axis])
        elif mode == "linear_ramp":
            x = _ramp(x, axis, (low, high), values[axis])
        else:
            x = _constant(x, axis, (low, high), values[axis])
    return _core.copy(x) if x is array else x


if not TYPE_CHECKING:
    __all__ = public(globals())
