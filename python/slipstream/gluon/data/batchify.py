"""How items become a batch.

>>> from slipstream.gluon.data import batchify
>>> batchify.Pad()([[1, 2], [3]])
array([[1, 2],
       [3, 0]], dtype=int64)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from numbers import Number
from typing import Any

import numpy

from ... import np
from ..._core import ndarray

__all__ = ["Append", "AsList", "Group", "Pad", "Stack"]

_is_array = (ndarray, numpy.ndarray)


def _made(values: Any) -> ndarray:
    values = numpy.asarray(values)
    return np.array(values, dtype=values.dtype)


class Stack:
    """Items of one shape, along a new first axis; those that are tuples part by part.

    >>> Stack()([np.ones(2), np.zeros(2)]).shape
    (2, 2)
    >>> Stack()([(np.ones(2), 3), (np.zeros(2), 4)])[1]
    array([3, 4], dtype=int64)
    """

    def __init__(self, use_shared_mem: bool = False) -> None:
        self._use_shared_mem = use_shared_mem

    def __call__(self, data: Sequence[Any]) -> Any:
        if isinstance(data[0], ndarray):
            return np.stack(list(data))
        if isinstance(data[0], tuple):
            return [self(part) for part in _parts(data)]
        try:
            return _made(data)
        except ValueError:
            shapes = sorted({numpy.shape(item) for item in data})
            raise ValueError(f"Stack: the items have different shapes: {shapes[:4]}; use Pad") from None


class Pad:
    """Items of different lengths, filled up to the longest (or to `round_to` of it) with `val`.

    >>> Pad(val=-1, round_to=4)([[1], [2, 3]])
    array([[ 1, -1, -1, -1],
           [ 2,  3, -1, -1]], dtype=int64)
    """

    def __init__(
        self,
        val: float = 0,
        dtype: Any = None,
        round_to: int | None = None,
        use_shared_mem: bool = False,
        axis: int | None = None,
        ret_length: bool = False,
    ) -> None:
        self._val = val
        self._dtype = dtype
        self._round_to = round_to
        self._axis = axis  # None: all of them
        self._ret_length = ret_length

    def __call__(self, data: Sequence[Any]) -> Any:
        arrays = [item.asnumpy() if isinstance(item, ndarray) else numpy.asarray(item) for item in data]
        if len({a.ndim for a in arrays}) > 1:
            raise ValueError(f"Pad: the items have different numbers of dimensions: {[a.ndim for a in arrays]}")
        longest = [max(lengths) for lengths in zip(*(a.shape for a in arrays), strict=True)]
        padded = range(len(longest)) if self._axis is None else [self._axis % len(longest)]
        if self._round_to:
            for axis in padded:
                longest[axis] = math.ceil(longest[axis] / self._round_to) * self._round_to
        for axis in set(range(len(longest))) - set(padded):
            if len({a.shape[axis] for a in arrays}) > 1:
                raise ValueError(f"Pad: axis {axis} is not padded, but its lengths differ")
        made = numpy.full((len(arrays), *longest), self._val, dtype=self._dtype or arrays[0].dtype)
        for to, a in zip(made, arrays, strict=True):
            to[tuple(map(slice, a.shape))] = a
        result = np.array(made, dtype=made.dtype)
        if not self._ret_length:
            return result
        axis = 0 if self._axis is None else self._axis
        return result, _made(numpy.array([a.shape[axis] for a in arrays], dtype=numpy.int32))


class Append:
    """A list of arrays, each with a first axis of length 1 (`expand`).

    >>> [x.shape for x in Append()([[1, 2], [3]])]
    [(1, 2), (1, 1)]
    """

    def __init__(self, expand: bool = True, batch_axis: int = 0, use_shared_mem: bool = False) -> None:
        self._expand = expand
        self._batch_axis = batch_axis

    def __call__(self, data: Sequence[Any]) -> list[ndarray]:
        arrays = [item if isinstance(item, ndarray) else _made(item) for item in data]
        return [np.expand_dims(a, self._batch_axis) for a in arrays] if self._expand else arrays


class AsList:
    """The items as they are, in a list.

    >>> AsList()(("a", "b"))
    ['a', 'b']
    """

    def __call__(self, data: Sequence[Any]) -> list[Any]:
        return list(data)


class Group:
    """Items that are tuples: a function for each part.

    >>> Group(Stack(), AsList())([(1, "a"), (2, "b")])
    (array([1, 2], dtype=int64), ['a', 'b'])
    """

    def __init__(self, fn: Any, *args: Callable[..., Any]) -> None:
        self._fn = tuple(fn) if isinstance(fn, (list, tuple)) else (fn, *args)
        if not all(callable(one) for one in self._fn):
            raise TypeError(f"Group: expected functions, got {self._fn}")

    def __call__(self, data: Sequence[Any]) -> tuple[Any, ...]:
        if len(data[0]) != len(self._fn):
            raise ValueError(f"Group: items have {len(data[0])} parts, but there are {len(self._fn)} functions")
        return tuple(fn([item[i] for item in data]) for i, fn in enumerate(self._fn))


def _parts(data: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """The first parts of all items, the second, and so on."""
    if len(counts := {len(item) for item in data}) > 1:
        raise ValueError(f"items of a batch have {sorted(counts)} parts; batchify_fn=batchify.Pad() fills up")
    return zip(*data, strict=True)


def _is_row(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(x, (Number, numpy.generic)) for x in part)


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """Arrays and numbers stacked; items that are tuples or lists part by part. A part that lists numbers is an array.

    >>> default_batchify_fn([(1, 2), (3, 4)])
    [array([1, 3], dtype=int64), array([2, 4], dtype=int64)]
    >>> default_batchify_fn([(1, [2, 5]), (3, [4, 6])])[1]
    array([[2, 5],
           [4, 6]], dtype=int64)
    """
    first = data[0]
    if isinstance(first, (tuple, list)):
        return [Stack()(part) if all(map(_is_row, part)) else default_batchify_fn(part) for part in _parts(data)]
    if isinstance(first, str):
        return list(data)
    if isinstance(first, dict):
        return {key: default_batchify_fn([item[key] for item in data]) for key in first}
    return Stack()(data)
