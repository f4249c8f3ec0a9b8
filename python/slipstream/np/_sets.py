"""Distinct elements, and sets of them. How many there are depends on the values, so all but `isin` wait for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, normal_axis, public
from ._joining import concatenate
from ._manipulation import moveaxis
from ._sorting import lexsort, searchsorted, sort
from ._types import ArrayLike

_INT = numpy.dtype("int64")


class UniqueAllResult(NamedTuple):
    """What `np.unique_all` gives."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """What `np.unique_counts` gives."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """What `np.unique_inverse` gives."""

    values: ndarray
    inverse_indices: ndarray


class _Distinct(NamedTuple):
    values: ndarray
    starts: ndarray  # places of the first of each, among the sorted
    order: ndarray | None  # that sorts
    inverse: ndarray | None  # for each element, which of the distinct ones it is


def _distinct(x: ndarray, ordered: bool, equal_nan: bool, function: str) -> _Distinct:
    """The distinct elements of a line. Waits for their number."""
    order = _core.argsort(x, 0) if ordered else None
    line = _core.sort(x, 0) if order is None else _core.take(x, order, 0, "raise")
    starts, number, *inverse = _core.distinct(line, order, equal_nan)
    starts = starts[: _core.read_number(number, function)]
    return _Distinct(_core.take(line, starts, 0, "raise"), starts, order, inverse[0] if inverse else None)


def _distinct_rows(x: ndarray, function: str) -> _Distinct:
    """The distinct rows of a table, in the order of their elements. Waits for their number."""
    rows = _core.reshape(x, (x.shape[0], -1)) if x.size else _core.reshape(x, (x.shape[0], 0))
    if rows.shape[1]:
        order = lexsort([rows[:, i] for i in reversed(range(rows.shape[1]))])
    else:
        order = _core.arange(0, 1, rows.shape[0], _INT, x.device)
    table = _core.take(rows, order, 0, "raise")
    new = _core.any(_core.not_equal(table[1:], table[:-1]), axis=1)
    first = _core.full((min(1, x.shape[0]),), True, numpy.bool_, x.device)
    number = _core.cumsum(concatenate([first, new]), 0, _INT)
    starts = _chosen(number, function)
    inverse = _core.take(number - 1, _core.argsort(order, 0), 0, "raise")
    return _Distinct(_core.take(x, _core.take(order, starts, 0, "raise"), 0, "raise"), starts, order, inverse)


def _chosen(numbers: ndarray, function: str) -> ndarray:
    """The places where a count goes up. Waits for how many there are."""
    if numbers.size == 0:
        return _core.empty((0,), _INT, numbers.device)
    total = _core.read_number(numbers[-1], function)
    return searchsorted(numbers, _core.arange(1, 1, total, _INT, numbers.device))


def _where(x: ndarray, mask: ndarray, function: str) -> ndarray:
    return _core.take(x, _chosen(_core.cumsum(mask, 0, _INT), function), 0, "raise")


def _counts(starts: ndarray, n: int) -> ndarray:
    end = _core.full((min(1, starts.size),), n, _INT, starts.device)
    return concatenate([starts[1:], end]) - starts


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The distinct elements, sorted (or distinct slices along an axis). Waits, for their number is not known before.

    On request also: where each was met first, which of them each element is, and how often each was met.

    >>> np.unique(np.array([3, 1, 3]), return_counts=True)
    (array([1., 3.]), array([1, 2], dtype=int64))
    """
    x = as_array(ar)
    if axis is None:
        found = _distinct(_core.reshape(x, (-1,)), return_index or return_inverse, equal_nan, "unique")
        n, values, shape = x.size, found.values, x.shape
    else:
        at = normal_axis(axis, x.ndim, "unique")
        found = _distinct_rows(moveaxis(x, at, 0), "unique")
        n, values, shape = x.shape[at], moveaxis(found.values, 0, at), (x.shape[at],)
    results = [values]
    if return_index and found.order is not None:
        results.append(_core.take(found.order, found.starts, 0, "raise"))
    if return_inverse and found.inverse is not None:
        results.append(_core.reshape(found.inverse, shape))
    if return_counts:
        results.append(_counts(found.starts, n))
    return results[0] if len(results) == 1 else tuple(results)


def unique_all(x: ArrayLike) -> UniqueAllResult:
    """The array API standard's `unique` with all that it can tell; each NaN is distinct. Waits.

    >>> np.unique_all(np.array([3, 1, 3])).inverse_indices
    array([1, 0, 1], dtype=int64)
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: ArrayLike) -> UniqueCountsResult:
    """The distinct elements and how often each was met; each NaN is distinct. Waits.

    >>> np.unique_counts(np.array([3, 1, 3])).counts
    array([1, 2], dtype=int64)
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: ArrayLike) -> UniqueInverseResult:
    """The distinct elements and which of them each element is; each NaN is distinct. Waits.

    >>> np.unique_inverse(np.array([3, 1, 3])).inverse_indices
    array([1, 0, 1], dtype=int64)
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: ArrayLike) -> ndarray:
    """The distinct elements, sorted; each NaN is distinct. Waits.

    >>> np.unique_values(np.array([3, 1, 3]))
    array([1., 3.])
    """
    made: ndarray = unique(x, equal_nan=False)
    return made


# ---- sets


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> ndarray:
    """For each element whether it is among others (or with `invert` whether it is not). Does not wait.

    >>> np.isin(np.array([1, 2, 3]), np.array([3, 1]))
    array([ True, False,  True])
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"isin: kind {kind!r} is none of None, 'sort', 'table'")
    element, others = as_arrays((element, test_elements))
    if others.size == 0:
        return _core.full(element.shape, invert, numpy.bool_, element.device)
    others = sort(others, None)
    near = _core.take(others, searchsorted(others, element), 0, "clip")
    return _core.not_equal(near, element) if invert else _core.equal(near, element)


def in1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, invert: bool = False) -> ndarray:
    """`np.isin` of the flattened array.

    >>> np.in1d(np.array([[1, 2]]), np.array([2]))
    array([False,  True])
    """
    return isin(_core.reshape(as_array(ar1), (-1,)), ar2, assume_unique, invert)


def _lines(ar1: ArrayLike, ar2: ArrayLike) -> tuple[ndarray, ndarray]:
    """Both flattened, in one type."""
    one, two = (_core.reshape(part, (-1,)) for part in as_arrays((ar1, ar2)))
    dtype = _core.result_type(one, two)
    return one.astype(dtype, copy=False), two.astype(dtype, copy=False)


def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements that are in both, sorted; on request also where they are in each. Waits.

    >>> np.intersect1d(np.array([1, 2, 3]), np.array([3, 2, 9]))
    array([2., 3.])
    """
    parts = [_distinct(part, True, True, "intersect1d") for part in _lines(ar1, ar2)]
    one, two = parts
    common = _where(one.values, isin(one.values, two.values), "intersect1d")
    if not return_indices:
        return common
    where = []
    for part in parts:
        starts = _core.take(part.starts, searchsorted(part.values, common), 0, "clip")
        where.append(_core.take(part.order, starts, 0, "raise"))
    return (common, *where)


def union1d(ar1: ArrayLike, ar2: ArrayLike) -> ndarray:
    """The elements that are in either, sorted. Waits.

    >>> np.union1d(np.array([1, 2]), np.array([2, 3]))
    array([1., 2., 3.])
    """
    return _distinct(concatenate(_lines(ar1, ar2)), False, True, "union1d").values


def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> ndarray:
    """The elements of the first that are not in the second: sorted, or in their order if they are unique. Waits.

    >>> np.setdiff1d(np.array([3, 2, 1]), np.array([2]))
    array([1., 3.])
    """
    one, two = (_core.reshape(part, (-1,)) for part in as_arrays((ar1, ar2)))
    if not assume_unique:
        one = _distinct(one, False, True, "setdiff1d").values
    return _where(one, isin(one, two, invert=True), "setdiff1d")


def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> ndarray:
    """The elements that are in one of both alone, sorted. Waits.

    >>> np.setxor1d(np.array([1, 2]), np.array([2, 3]))
    array([1., 3.])
    """
    parts = _lines(ar1, ar2)
    if not assume_unique:
        one, two = (_distinct(part, False, True, "setxor1d").values for part in parts)
    else:
        one, two = parts
    alone = [(one, isin(one, two, invert=True)), (two, isin(two, one, invert=True))]
    return sort(concatenate([_where(part, mask, "setxor1d") for part, mask in alone]))


if not TYPE_CHECKING:
    __all__ = [name for name in public(globals()) if not name.endswith("Result")]
