"""Order: sorting, partial sorting, and search in what is sorted. All of it runs behind Python's back.

Sorts keep the order of equal elements, whatever `kind` asks for. NaN counts as the largest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, normal_axis, public
from ._types import ArrayLike

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _line(a: ArrayLike, axis: int | None, function: str) -> tuple[ndarray, int]:
    """The array and the axis to work along; without an axis, all elements in one line."""
    x = as_array(a)
    if axis is None:
        return _core.reshape(x, (-1,)), 0
    return x, normal_axis(axis, x.ndim, function)


def _check_kind(function: str, kind: Any, order: Any, stable: bool | None) -> None:
    if kind not in _KINDS:
        raise ValueError(f"{function}: kind {kind!r} is none of {', '.join(map(repr, _KINDS[1:]))}")
    if kind is not None and stable is not None:
        raise ValueError(f"{function}: kind and stable are both given; give one")
    if order is not None:
        raise ValueError(f"{function}: order={order!r} names fields, but arrays of numbers have none")


def sort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> ndarray:
    """A sorted copy, along an axis or of all elements (axis None).

    >>> np.sort(np.array([[3, 1, 2], [9, 8, 7]]))
    array([[1., 2., 3.],
           [7., 8., 9.]])
    """
    _check_kind("sort", kind, order, stable)
    x, at = _line(a, axis, "sort")
    return _core.sort(x, at, descending)


def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> ndarray:
    """The places of the elements in sorted order.

    >>> np.argsort(np.array([30, 10, 20]))
    array([1, 2, 0], dtype=int64)
    """
    _check_kind("argsort", kind, order, stable)
    x = as_array(a)
    x, at = _line(_core.reshape(x, (1,)) if x.ndim == 0 else x, axis, "argsort")
    return _core.argsort(x, at, descending)


def msort(a: ArrayLike) -> ndarray:
    """A copy sorted along the first axis.

    >>> np.msort(np.array([[3, 1], [2, 4]]))
    array([[2., 1.],
           [3., 4.]])
    """
    return sort(a, 0)


def sort_complex(a: ArrayLike) -> ndarray:
    """A copy sorted by the real part, then by the imaginary part, as complex numbers.

    >>> np.sort_complex(np.array([2, 1]))
    array([1.+0.j, 2.+0.j])
    """
    made = sort(a)
    if made.dtype.kind == "c":
        return made
    return _core.astype(made, "complex64" if made.dtype.itemsize <= 2 or made.dtype == "float32" else "complex128")


def _places(kth: Any, function: str) -> list[int]:
    """Places are a part of the call: an array of them is waited for."""
    found = numpy.asarray(kth)
    if found.size and (found.dtype.kind not in "iu" or found.ndim > 1):
        raise TypeError(f"{function}: kth must be an integer or a sequence of integers, not {kth!r}")
    return [int(k) for k in numpy.atleast_1d(found)]


def _check_introselect(function: str, kind: str, order: Any) -> None:
    if kind != "introselect":
        raise ValueError(f"{function}: kind {kind!r} is not 'introselect'")
    _check_kind(function, None, order, None)


def partition(
    a: ArrayLike, kth: int | Sequence[int], axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> ndarray:
    """A copy in which element `kth` is where sorting would put it; smaller ones are before it, larger ones behind it.

    >>> float(np.partition(np.array([7, 1, 5, 3]), 2)[2])
    5.0
    """
    _check_introselect("partition", kind, order)
    x, at = _line(a, axis, "partition")
    places = _places(kth, "partition")
    return _core.partition(x, places, at) if x.size else _core.copy(x)  # NumPy looks for nothing there


def argpartition(
    a: ArrayLike, kth: int | Sequence[int], axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> ndarray:
    """The places of the elements in the order of `np.partition`.

    >>> int(np.argpartition(np.array([7, 1, 5, 3]), 2)[2])
    2
    """
    _check_introselect("argpartition", kind, order)
    x = as_array(a)
    x, at = _line(_core.reshape(x, (1,)) if x.ndim == 0 else x, axis, "argpartition")
    places = _places(kth, "argpartition")
    if not x.size:
        return _core.full(x.shape, 0, numpy.dtype("int64"), x.device)
    return _core.argpartition(x, places, at)


def _gather(x: ndarray, places: ndarray, axis: int) -> ndarray:
    """For each line along an axis its elements at given places: the lines of both lie alike."""
    last = x.ndim - 1
    lines, places = (_core.swapaxes(part, axis, last) for part in (x, places))
    n, m = lines.shape[-1], places.shape[-1]
    if lines.size == 0 or places.size == 0:
        return _core.swapaxes(_core.empty(places.shape, x.dtype, x.device), axis, last)
    rows = lines.size // n
    starts = _core.reshape(_core.arange(0, n, rows, numpy.int64, x.device), (rows, 1))
    flat = _core.add(_core.reshape(places, (rows, m)), starts)
    made = _core.take(_core.reshape(lines, (-1,)), flat, 0, "raise")
    return _core.swapaxes(_core.reshape(made, places.shape), axis, last)


def lexsort(keys: Any, axis: int = -1) -> ndarray:
    """The places of the elements in the order of the last key; equal ones are in the order of the key before it, ...

    >>> np.lexsort((np.array([1, 2, 0]), np.array([5, 5, 4])))
    array([2, 0, 1], dtype=int64)
    """
    parts = [keys[i] for i in range(len(keys))] if isinstance(keys, ndarray) else list(keys)
    if not parts:
        raise TypeError("lexsort: there is no key; give at least one")
    parts = as_arrays(parts)
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError(f"lexsort: the keys have different shapes {[part.shape for part in parts]}")
    if parts[0].ndim == 0:
        return _core.full((), 0, numpy.int64, parts[0].device)
    at = normal_axis(axis, parts[0].ndim, "lexsort")
    order = _core.argsort(parts[0], at)
    for part in parts[1:]:
        order = _gather(order, _core.argsort(_gather(part, order, at), at), at)
    return order


def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike = None) -> ndarray:
    """Where values belong in a sorted line: before equal elements (side "left") or behind them ("right").

    `sorter` is the order that sorts `a`, as `np.argsort` gives it.

    >>> np.searchsorted(np.array([1, 3, 5]), np.array([0, 3, 9]))
    array([0, 1, 3], dtype=int64)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side {side!r} is neither 'left' nor 'right'")
    a, v = as_arrays((a, v))
    if sorter is not None and not isinstance(sorter, ndarray):
        sorter = _core.array(numpy.asarray(sorter), numpy.int64, a.device, None)
    return _core.searchsorted(a, v, side == "right", sorter)


def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> ndarray:
    """The number of the bin of each value. Bins rise or fall and hold their lower edge, or (`right`) the upper one.

    >>> np.digitize(np.array([0.5, 1, 2.5]), np.array([0, 1, 2]))
    array([1, 2, 3], dtype=int64)
    """
    side = "left" if right else "right"
    if not isinstance(bins, ndarray):
        edges = numpy.asarray(bins)
        steps = numpy.diff(edges.astype("float64")) if edges.ndim == 1 else numpy.zeros(0)
        if not (numpy.all(steps >= 0) or numpy.all(steps <= 0)):
            raise ValueError(f"digitize: the bins {bins} neither rise nor fall all the way")
    x, bins = as_arrays((x, bins))
    if x.dtype.kind == "c":
        raise TypeError("digitize: complex numbers belong to no bin")
    if bins.ndim != 1:
        raise ValueError(f"digitize: the bins have shape {bins.shape}, but must have one dimension")
    rising = searchsorted(bins, x, side)
    if bins.size < 2:
        return rising
    falling = _core.subtract(bins.size, searchsorted(bins[::-1], x, side))
    return _core.where(_core.greater(bins[0], bins[-1]), falling, rising)


# ---- methods


def sort_in_place(
    self: ndarray,
    axis: int = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> None:
    """Sorts the array itself along an axis.

    >>> x = np.array([3, 1, 2])
    >>> x.sort()
    >>> x
    array([1., 2., 3.])
    """
    _core.assign(self, sort(self, axis, kind, order, stable=stable, descending=descending))


def partition_in_place(
    self: ndarray, kth: int | Sequence[int], axis: int = -1, kind: str = "introselect", order: Any = None
) -> None:
    """`np.partition` of the array itself.

    >>> x = np.array([7, 1, 5, 3])
    >>> x.partition(2)
    >>> float(x[2])
    5.0
    """
    _core.assign(self, partition(self, kth, axis, kind, order))


IN_PLACE = {"sort": sort_in_place, "partition": partition_in_place}

if not TYPE_CHECKING:
    __all__ = [name for name in public(globals()) if not name.endswith("_in_place")]
