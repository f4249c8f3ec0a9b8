"""Indices made and used: of diagonals and triangles, of grids, flat and by axis; elements put in and left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_dims, as_dtype, normal_axis, public
from ._indexing import _INT, _fitting
from ._manipulation import moveaxis, ravel
from ._types import ArrayLike, DeviceLike, DTypeLike, Shape


def _known(found: Any, device: DeviceLike = None) -> ndarray:
    """Indices that are known now, as an array."""
    return _core.array(numpy.asarray(found, _INT, order="C"), _INT, device, None)


# ---- diagonals and triangles


def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array with ndim axes of length n.

    >>> np.diag_indices(2)
    (array([0, 1], dtype=int64), array([0, 1], dtype=int64))
    """
    return (_core.arange(0, 1, n, _INT),) * ndim


def diag_indices_from(arr: ArrayLike) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array whose axes are of equal length.

    >>> np.diag_indices_from(np.eye(2))
    (array([0, 1], dtype=int64), array([0, 1], dtype=int64))
    """
    x = as_array(arr)
    if x.ndim < 2 or len(set(x.shape)) > 1:
        raise ValueError(f"diag_indices_from: the array has shape {x.shape}; its axes must be of equal length")
    return diag_indices(x.shape[0], x.ndim)


def tril_indices(n: int, k: int = 0, m: int | None = None, device: DeviceLike = None) -> tuple[ndarray, ndarray]:
    """The indices of the lower triangle of an n by m matrix, up to the k-th diagonal.

    >>> np.tril_indices(2)
    (array([0, 1, 1], dtype=int64), array([0, 0, 1], dtype=int64))
    """
    rows, columns = numpy.tril_indices(n, k, m)
    return _known(rows, device), _known(columns, device)


def triu_indices(n: int, k: int = 0, m: int | None = None, device: DeviceLike = None) -> tuple[ndarray, ndarray]:
    """The indices of the upper triangle of an n by m matrix, from the k-th diagonal on.

    >>> np.triu_indices(2)
    (array([0, 0, 1], dtype=int64), array([0, 1, 1], dtype=int64))
    """
    rows, columns = numpy.triu_indices(n, k, m)
    return _known(rows, device), _known(columns, device)


def _matrix(arr: ArrayLike, function: str) -> ndarray:
    x = as_array(arr)
    if x.ndim != 2:
        raise ValueError(f"{function}: the array has shape {x.shape}; it must be a matrix")
    return x


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[ndarray, ndarray]:
    """The indices of the lower triangle of a matrix, up to the k-th diagonal.

    >>> np.tril_indices_from(np.eye(2), -1)
    (array([1], dtype=int64), array([0], dtype=int64))
    """
    x = _matrix(arr, "tril_indices_from")
    return tril_indices(x.shape[0], k, x.shape[1])


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[ndarray, ndarray]:
    """The indices of the upper triangle of a matrix, from the k-th diagonal on.

    >>> np.triu_indices_from(np.eye(2), 1)
    (array([0], dtype=int64), array([1], dtype=int64))
    """
    x = _matrix(arr, "triu_indices_from")
    return triu_indices(x.shape[0], k, x.shape[1])


def mask_indices(n: int, mask_func: Callable[..., ndarray], k: Any = 0) -> tuple[ndarray, ...]:
    """Where a function such as np.triu leaves an n by n matrix of ones. Waits.

    >>> np.mask_indices(2, np.triu)
    (array([0, 0, 1], dtype=int64), array([0, 1, 1], dtype=int64))
    """
    return tuple(_core.nonzero(mask_func(_core.full((n, n), 1, _INT), k), "mask_indices"))


# ---- grids


def indices(
    dimensions: Sequence[int], dtype: DTypeLike = "int64", sparse: bool = False, *, device: DeviceLike = None
) -> Any:
    """The indices of every element of an array of a shape: for each axis an array of that shape, stacked.

    With sparse=True a tuple of arrays that broadcast to it.

    >>> np.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]], dtype=int64)
    """
    shape, found = as_dims(dimensions), []
    for axis, n in enumerate(shape):
        ones = [1] * len(shape)
        ones[axis] = n
        found.append(_core.reshape(_core.arange(0, 1, n, as_dtype(dtype), device), tuple(ones)))
    if sparse:
        return tuple(found)
    if not found:
        return _core.empty((0,), as_dtype(dtype), device)
    return _core.stack([_core.broadcast_to(part, shape) for part in found], 0)


def ix_(*args: ArrayLike) -> tuple[ndarray, ...]:
    """Index arrays shaped so that x[np.ix_(a, b)] has every pairing of a and b. Waits for masks among them.

    >>> np.arange(9).reshape(3, 3)[np.ix_([0, 2], [1, 2])]
    array([[1., 2.],
           [7., 8.]])
    """
    made = []
    for axis, given in enumerate(args):
        found = given if isinstance(given, ndarray) else numpy.asarray(given)
        if found.ndim != 1:
            raise ValueError(f"ix_: argument {axis} has {found.ndim} dimensions, it must have one")
        if not isinstance(found, ndarray):
            numbers = _known(found.nonzero()[0] if found.dtype.kind == "b" else found)
        else:
            numbers = _core.nonzero(found, "ix_")[0] if found.dtype.kind == "b" else found
        made.append(_core.reshape(numbers, (1,) * axis + (-1,) + (1,) * (len(args) - axis - 1)))
    return tuple(made)


# ---- flat and by axis


def _checked(numbers: ndarray, n: int) -> ndarray:
    """The numbers; one that is not in 0 .. n - 1 is an error of the result."""
    within = _core.broadcast_to(_core.full((1,), 0, _INT, numbers.device), (n,))
    return _core.astype(numbers, _INT) + _core.take(within, _core.astype(numbers, "uint64"), 0, "raise")


def _order(order: str, function: str) -> str:
    if order not in ("C", "F"):
        raise ValueError(f"{function}: order {order!r} is none of 'C', 'F'")
    return order


def unravel_index(indices: ArrayLike, shape: Shape, order: str = "C") -> tuple[ndarray, ...]:
    """Numbers of elements of a flattened array as indices, an array for each axis; out of range, the results fail.

    >>> np.unravel_index([5, 3], (2, 3))
    (array([1, 1], dtype=int64), array([2, 0], dtype=int64))
    """
    dims = as_dims(shape)
    given = as_array(indices) if isinstance(indices, ndarray) else _known(indices)
    size = 1
    for n in dims:
        size *= n
    rest, found = _checked(given, size), []
    for n in dims if _order(order, "unravel_index") == "F" else dims[::-1]:
        found.append(rest % n)
        rest = rest // n
    return tuple(found if order == "F" else found[::-1])


def ravel_multi_index(
    multi_index: Sequence[ArrayLike], dims: Shape, mode: str | tuple[str, ...] = "raise", order: str = "C"
) -> ndarray:
    """Indices, an array for each axis, as numbers of elements of the flattened array.

    An index out of range fails the result ("raise"), counts round the axis ("wrap") or is moved to its end ("clip").

    >>> np.ravel_multi_index(([1, 1], [2, 0]), (2, 3))
    array([5, 3], dtype=int64)
    """
    shape = as_dims(dims)
    modes = (mode,) * len(shape) if isinstance(mode, str) else tuple(mode)
    if not len(multi_index) == len(shape) == len(modes):
        raise ValueError(f"ravel_multi_index: {len(multi_index)} indices and {len(modes)} modes for shape {shape}")
    if any(m not in ("raise", "wrap", "clip") for m in modes):
        raise ValueError(f"ravel_multi_index: mode {mode!r} is none of 'raise', 'wrap', 'clip'")
    places = list(range(len(shape)))
    total: Any = 0
    for axis in places[::-1] if _order(order, "ravel_multi_index") == "F" else places:
        given = multi_index[axis]
        numbers = _core.astype(given if isinstance(given, ndarray) else _known(given), _INT)
        if modes[axis] == "wrap":
            numbers = numbers % shape[axis]
        elif modes[axis] == "clip":
            numbers = _core.clip(numbers, 0, shape[axis] - 1)
        else:
            numbers = _checked(numbers, shape[axis])
        total = total * shape[axis] + numbers
    return total if isinstance(total, ndarray) else _known(total)


# ---- elements put in and left out


def _host_places(obj: Any, n: int, function: str) -> Any:
    """Positions along an axis, known to the front end; waits where they are an array of ours."""
    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(n))
    found = obj.asnumpy() if isinstance(obj, ndarray) else numpy.asarray(obj)
    if found.dtype.kind == "b":
        if found.shape != (n,):
            raise ValueError(f"{function}: a mask of shape {found.shape} for an axis of length {n}")
        return found.nonzero()[0]
    if found.dtype.kind == "f" and (found.size == 0 or isinstance(obj, ndarray)):
        found = found.astype(_INT)
    if found.dtype.kind not in "iu":
        raise IndexError(f"{function}: {obj!r} holds no positions")
    return found


def _in_range(places: Any, n: int, top: int, function: str) -> Any:
    bad = places[(places < -n) | (places > top)]
    if bad.size:
        raise IndexError(f"{function}: position {bad[0]} is out of bounds for an axis of size {n}")
    return numpy.where(places < 0, places + n, places)


def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> ndarray:
    """A copy with values put in before the given positions along an axis. Waits if positions are an array of ours.

    >>> np.insert(np.array([1, 2, 3]), 1, 9)
    array([1., 9., 2., 3.])
    """
    x = as_array(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normal_axis(axis, x.ndim, "insert")
    n = x.shape[axis]
    given = _host_places(obj, n, "insert")
    places = _in_range(numpy.atleast_1d(given).astype(_INT), n, n, "insert")
    new = _fitting(values, x)
    new = _core.reshape(new, (1,) * (x.ndim - new.ndim) + new.shape)
    if given.ndim == 0:
        new = moveaxis(new, 0, axis)
    count = new.shape[axis] if places.size == 1 else places.size
    places = numpy.repeat(places, count) if places.size == 1 else places
    new = _core.broadcast_to(new, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    order = places.argsort(kind="stable")
    at = numpy.empty(count, _INT)
    at[order] = places[order] + numpy.arange(count)
    source = numpy.empty(n + count, _INT)
    is_new = numpy.zeros(n + count, bool)
    is_new[at] = True
    source[at] = n + numpy.arange(count)
    source[~is_new] = numpy.arange(n)
    return _core.take(_core.concatenate([x, new], axis), _known(source, x.device), axis, "raise")


def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> ndarray:
    """A copy without the given positions along an axis. Waits if positions are an array of ours.

    >>> np.delete(np.array([1, 2, 3]), [0, 2])
    array([2.])
    """
    x = as_array(arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normal_axis(axis, x.ndim, "delete")
    n = x.shape[axis]
    places = numpy.atleast_1d(_host_places(obj, n, "delete"))
    kept = numpy.ones(n, bool)
    kept[_in_range(places, n, n - 1, "delete")] = False
    return _core.take(x, _known(kept.nonzero()[0], x.device), axis, "raise")


if not TYPE_CHECKING:
    __all__ = public(globals())
