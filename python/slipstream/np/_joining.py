"""Joining, splitting and repeating arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, as_dtype, normal_axis, public
from ._manipulation import atleast_3d, broadcast_to, moveaxis, ravel
from ._types import ArrayLike, Axes, DTypeLike

# ---- join


def _joined_type(arrays: list[ndarray], out: Any, dtype: DTypeLike, casting: Any, function: str) -> Any:
    """The type that `out` or `dtype` asks for, if `casting` lets all arrays have it; None: what they have together."""
    if dtype is not None and out is not None:
        raise TypeError(f"{function}: give dtype or out, not both")
    if dtype is None and out is None:
        return None
    target = out.dtype if out is not None else as_dtype(dtype)
    for a in arrays:
        if not numpy.can_cast(a.dtype, target, casting=casting):
            raise TypeError(f"{function}: cannot cast from {a.dtype} to {target} by the rule {casting!r}")
    return target


def concatenate(
    arrays: Sequence[ArrayLike],
    /,
    axis: int | None = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> ndarray:
    """Arrays one after another along an axis (None: all of them in one dimension first).

    >>> np.concatenate((np.zeros(2), np.ones(1)))
    array([0., 0., 1.])
    """
    if axis is not None and dtype is None and out is None:
        return _core.concatenate(arrays, axis)
    parts = as_arrays(arrays)
    if axis is None:
        parts, axis = [ravel(part) for part in parts], 0
    return _core.concatenate(parts, axis, out, _joined_type(parts, out, dtype, casting, "concatenate"))


def concat(
    arrays: Sequence[ArrayLike],
    /,
    axis: int | None = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> ndarray:
    """The array API standard's name of `concatenate`.

    >>> np.concat((np.zeros(2), np.ones(1)))
    array([0., 0., 1.])
    """
    return concatenate(arrays, axis, out, dtype=dtype, casting=casting)


def stack(
    arrays: Sequence[ArrayLike],
    axis: int = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> ndarray:
    """Arrays of one shape along a new axis.

    >>> np.stack((np.zeros(2), np.ones(2)), axis=1)
    array([[0., 1.],
           [0., 1.]])
    """
    if dtype is None and out is None:
        return _core.stack(arrays, axis)
    parts = as_arrays(arrays)
    return _core.stack(parts, axis, out, _joined_type(parts, out, dtype, casting, "stack"))


def _joined(arrays: Any, least: int, axis: int, out: ndarray | None, dtype: DTypeLike, casting: str) -> ndarray:
    """Arrays of at least so many dimensions, 1 or 2, joined."""
    parts = [part if part.ndim >= least else _core.reshape(part, (1, -1)[-least:]) for part in as_arrays(arrays)]
    return concatenate(parts, axis, out, dtype=dtype, casting=casting)


def vstack(
    tup: Sequence[ArrayLike], *, out: ndarray | None = None, dtype: DTypeLike = None, casting: str = "same_kind"
) -> ndarray:
    """Arrays below one another; one-dimensional ones are rows.

    >>> np.vstack((np.zeros(2), np.ones(2)))
    array([[0., 0.],
           [1., 1.]])
    """
    return _joined(tup, 2, 0, out, dtype, casting)


row_stack = vstack


def hstack(
    tup: Sequence[ArrayLike], *, out: ndarray | None = None, dtype: DTypeLike = None, casting: str = "same_kind"
) -> ndarray:
    """Arrays beside one another, along the second axis (the first, if they have only one).

    >>> np.hstack((np.zeros((2, 1)), np.ones((2, 1))))
    array([[0., 1.],
           [0., 1.]])
    """
    parts = as_arrays(tup)
    flat = bool(parts) and all(part.ndim <= 1 for part in parts[:1])
    return _joined(parts, 1, 0 if flat else 1, out, dtype, casting)


def dstack(tup: Sequence[ArrayLike]) -> ndarray:
    """Arrays behind one another, along the third axis.

    >>> np.dstack((np.zeros(2), np.ones(2))).shape
    (1, 2, 2)
    """
    return concatenate([atleast_3d(part) for part in as_arrays(tup)], 2)


def column_stack(tup: Sequence[ArrayLike]) -> ndarray:
    """Arrays beside one another; one-dimensional ones are columns.

    >>> np.column_stack((np.zeros(2), np.ones(2)))
    array([[0., 1.],
           [0., 1.]])
    """
    return concatenate([_core.reshape(p, (p.size, 1)) if p.ndim < 2 else p for p in as_arrays(tup)], 1)


def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> ndarray:
    """A new array with values at the end of an axis (None: both in one dimension first).

    >>> np.append(np.zeros(2), 1)
    array([0., 0., 1.])
    """
    return concatenate((arr, values), axis)


# ---- split


def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of parts along an axis: nearly equal ones, or those between the places given.

    >>> np.array_split(np.arange(3), 2)
    [array([0., 1.]), array([2.])]
    """
    ary = as_array(ary)
    axis = normal_axis(axis, ary.ndim, "split")
    length = ary.shape[axis]
    if isinstance(indices_or_sections, (int, numpy.integer)):
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError(f"split: {sections} sections; there must be at least 1")
        small, larger = divmod(length, sections)
        ends = [small * i + min(i, larger) for i in range(sections + 1)]
    else:
        places = indices_or_sections
        places = places.tolist() if hasattr(places, "tolist") else list(places)
        ends = [0, *(int(place) for place in places), length]
    before = (slice(None),) * axis
    return [ary[(*before, slice(start, end))] for start, end in pairwise(ends)]


def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of parts along an axis: equal ones (raises if they cannot be), or those between the places given.

    >>> np.split(np.arange(4), [1, 3])
    [array([0.]), array([1., 2.]), array([3.])]
    """
    ary = as_array(ary)
    axis = normal_axis(axis, ary.ndim, "split")
    sections, length = indices_or_sections, ary.shape[axis]
    if isinstance(sections, (int, numpy.integer)) and sections > 0 and length % sections:
        raise ValueError(f"split: axis {axis} of length {length} cannot be split into {sections} equal parts")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """`split` along the second axis (the first, if there is only one).

    >>> [part.shape for part in np.hsplit(np.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    ary = as_array(ary)
    if ary.ndim == 0:
        raise ValueError("hsplit: the argument has no dimensions; it must have at least 1")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """`split` along the first axis.

    >>> [part.shape for part in np.vsplit(np.ones((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    ary = as_array(ary)
    if ary.ndim < 2:
        raise ValueError(f"vsplit: the argument has {ary.ndim} dimensions; it must have at least 2")
    return split(ary, indices_or_sections, 0)


def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """`split` along the third axis.

    >>> [part.shape for part in np.dsplit(np.ones((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    ary = as_array(ary)
    if ary.ndim < 3:
        raise ValueError(f"dsplit: the argument has {ary.ndim} dimensions; it must have at least 3")
    return split(ary, indices_or_sections, 2)


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Views of the slices along an axis.

    >>> np.unstack(np.eye(2))
    (array([1., 0.]), array([0., 1.]))
    """
    return tuple(moveaxis(x, axis, 0))


# ---- repeat


def tile(A: ArrayLike, reps: Any) -> ndarray:
    """The array laid out several times along each axis.

    >>> np.tile(np.array([1, 2]), (2, 2))
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]])
    """
    a = as_array(A)
    times = tuple(int(n) for n in reps) if isinstance(reps, (tuple, list)) else (int(reps),)
    if any(n < 0 for n in times):
        raise ValueError(f"tile: {reps} holds a negative number of times")
    ndim = max(a.ndim, len(times))
    dims = (1,) * (ndim - a.ndim) + a.shape
    times = (1,) * (ndim - len(times)) + times
    if all(n == 1 for n in times):
        return _core.reshape(_core.astype(a, a.dtype), dims)
    paired = [n for pair in zip((1,) * ndim, dims, strict=True) for n in pair]
    spread = [n for pair in zip(times, dims, strict=True) for n in pair]
    repeated = _core.copy(_core.broadcast_to(_core.reshape(a, tuple(paired)), tuple(spread)))
    return _core.reshape(repeated, tuple(n * d for n, d in zip(times, dims, strict=True)))


def _counts(repeats: Any) -> numpy.ndarray[Any, Any]:
    counts = repeats.asnumpy() if isinstance(repeats, ndarray) else numpy.asarray(repeats)
    if counts.dtype.kind == "f" and (counts == numpy.trunc(counts)).all():
        counts = counts.astype(numpy.int64)
    if counts.dtype.kind not in "iub":
        raise TypeError(f"repeat: the numbers of times must be integers, not {counts.dtype}")
    if (counts < 0).any():
        raise ValueError("repeat: a number of times is negative")
    return counts.astype(numpy.int64).reshape(-1)


def repeat(a: ArrayLike, repeats: Any, axis: int | None = None) -> ndarray:
    """Each element several times in a row: all the same number of times, or by a list (an array is waited for).

    >>> np.repeat(np.array([1, 2]), 2)
    array([1., 1., 2., 2.])
    >>> np.repeat(np.array([1, 2]), [1, 3])
    array([1., 2., 2., 2.])
    """
    a = as_array(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = normal_axis(axis, a.ndim, "repeat")
    counts = _counts(repeats)
    length = a.shape[axis]
    if counts.size == 1:
        n = int(counts[0])
        dims = (*a.shape[: axis + 1], n, *a.shape[axis + 1 :])
        spread = _core.copy(broadcast_to(_core.expand_dims(a, [axis + 1]), dims))
        made = _core.reshape(spread, (*a.shape[:axis], length * n, *a.shape[axis + 1 :]))
        return _core.astype(a, a.dtype) if n == 1 else made
    if counts.size != length:
        raise ValueError(f"repeat: {counts.size} numbers of times for an axis of length {length}")
    places = _core.array(numpy.repeat(numpy.arange(length), counts), None, a.device, None)
    return _core.take(a, places, axis, "raise")


def roll(a: ArrayLike, shift: Any, axis: Axes = None) -> ndarray:
    """The elements moved along axes; those that leave at the end come in at the start.

    >>> np.roll(np.arange(4), 1)
    array([3., 0., 1., 2.])
    """
    a = as_array(a)
    if axis is None:
        return _core.reshape(roll(ravel(a), shift, 0), a.shape)
    axes = [normal_axis(one, a.ndim, "roll") for one in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    if len(axes) == 1 and len(shifts) > 1:
        axes *= len(shifts)
    if len(axes) != len(shifts):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    moved: dict[int, int] = {}
    for one, by in zip(axes, shifts, strict=True):
        moved[one] = moved.get(one, 0) + int(by)
    made = a
    for one, by in moved.items():
        length = a.shape[one]
        if length and by % length:
            before = (slice(None),) * one
            cut = length - by % length
            made = _core.concatenate([made[(*before, slice(cut, None))], made[(*before, slice(0, cut))]], one)
    return _core.astype(a, a.dtype) if made is a else made


if not TYPE_CHECKING:
    # Plain calls go straight to the core.
    concatenate, stack = map(_core.shortcut, (concatenate, stack))
    __all__ = public(globals())
