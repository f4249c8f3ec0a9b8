"""Elements by their numbers and by masks. `x[key]` itself is the core's; these are NumPy's functions beside it.

Integer arrays do not wait: an index out of range is an error of the result. Arrays of floats, which creation makes of
Python's numbers unless told otherwise, are taken as indices too, cut to integers. What has as many elements as a mask
has true ones waits for the mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, deliver, from_values, normal_axis, public
from ._manipulation import ravel
from ._types import ArrayLike

_INT = numpy.dtype("int64")


def _mode(mode: str, function: str) -> str:
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"{function}: mode {mode!r} is none of 'raise', 'wrap', 'clip'")
    return mode


def _numbers(key: Any, x: ndarray, function: str) -> ndarray:
    """Indices as an array of integers, or of floats that hold them."""
    if not isinstance(key, ndarray):
        found = numpy.asarray(key)
        if found.size == 0 and found.dtype.kind == "f":
            found = found.astype(_INT)
        if found.dtype.kind not in "iubf":
            raise TypeError(f"{function}: {key!r} holds no indices")
        return _core.array(found.astype(_INT, copy=False), _INT, x.device, None)
    if key.dtype.kind == "c":
        raise TypeError(f"{function}: an array of {key.dtype} holds no indices")
    return key


def _target(a: Any, function: str) -> ndarray:
    if not isinstance(a, ndarray):
        raise TypeError(f"{function}: writes to an ndarray, not to {type(a).__name__}")
    return a


def _fitting(value: Any, x: ndarray) -> ndarray:
    """A value that is written to `x`, in the type of `x`; a number that does not fit the type raises."""
    if isinstance(value, ndarray):
        return _core.astype(value, x.dtype)
    if isinstance(value, (list, tuple, range)) or numpy.ndim(value):
        return from_values(value, x.dtype, x.device, None)
    made = _core.full((), 0, x.dtype, x.device)
    made[...] = value
    return made


# ---- by numbers


def take(
    a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: ndarray | None = None, mode: str = "raise"
) -> ndarray:
    """Elements along an axis (or of the flattened array) by their numbers.

    A number out of range is an error of the result (mode "raise"), counts round the axis ("wrap"), or is moved to its
    end ("clip").

    >>> np.take(np.array([10, 20, 30]), np.array([2, 0]))
    array([30., 10.])
    """
    a = as_array(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = normal_axis(axis, max(a.ndim, 1), "take")
    return deliver(_core.take(a, _numbers(indices, a, "take"), axis, _mode(mode, "take")), out, "take")


def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> ndarray:
    """Elements along an axis by numbers of their own for every line, as argmax and argsort give them.

    >>> x = np.array([[10, 30, 20], [60, 40, 50]])
    >>> np.take_along_axis(x, x.argmax(axis=1, keepdims=True), axis=1)
    array([[30.],
           [60.]])
    """
    a = as_array(arr)
    numbers = _numbers(indices, a, "take_along_axis")
    if axis is None:
        a, axis = ravel(a), 0
    return _core.take_along(a, numbers, normal_axis(axis, a.ndim, "take_along_axis"))


def put_along_axis(arr: ndarray, indices: ArrayLike, values: ArrayLike, axis: int | None, mode: str = "assign") -> None:
    """Writes values along an axis, in place, at numbers of their own for every line; with mode "add" adds them.

    >>> x = np.zeros((2, 3))
    >>> np.put_along_axis(x, np.array([[1], [2]]), 9, axis=1)
    >>> x
    array([[0., 9., 0.],
           [0., 0., 9.]])
    """
    x = _target(arr, "put_along_axis")
    if mode not in ("assign", "add"):
        raise ValueError(f"put_along_axis: mode {mode!r} is none of 'assign', 'add'")
    numbers = _numbers(indices, x, "put_along_axis")
    value = _fitting(values, x)
    if axis is not None:
        _core.put_along(x, numbers, value, normal_axis(axis, x.ndim, "put_along_axis"), add=mode == "add")
    elif (flat := _core.reshape_view(x, (-1,))) is not None:
        _core.put_along(flat, numbers, value, 0, add=mode == "add")
    else:
        flat = ravel(x)
        _core.put_along(flat, numbers, value, 0, add=mode == "add")
        _core.assign(x, _core.reshape(flat, x.shape))


def put(a: ndarray, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """Writes values at numbers of the flattened array, in place; values are repeated where there are fewer.

    >>> x = np.zeros(4)
    >>> np.put(x, [0, 2], [5, 7])
    >>> x
    array([5., 0., 7., 0.])
    """
    x = _target(a, "put")
    numbers = ravel(_numbers(ind, x, "put"))
    value = _repeated(_fitting(v, x), numbers.size)
    if value is None:
        return
    view = _core.reshape_view(x, (-1,))
    flat = ravel(x) if view is None else view
    _core.scatter(flat, [numbers], value, _mode(mode, "put"))
    if view is None:
        _core.assign(x, _core.reshape(flat, x.shape))


def _repeated(value: ndarray, n: int) -> ndarray | None:
    """The values of a flattened array, over and over until there are n; none if there are none."""
    flat = ravel(value)
    if flat.size == 0 or n == 0:
        return None
    if flat.size == n:
        return flat
    if flat.size > n:
        return flat[:n]
    return _core.take(flat, _core.arange(0, 1, n, _INT, value.device), 0, "wrap")


def choose(a: ArrayLike, choices: Any, out: ndarray | None = None, mode: str = "raise") -> ndarray:
    """For each place an element of one of several arrays, by its number.

    >>> np.choose(np.array([0, 1, 0]), [np.array([1, 2, 3]), np.array([10, 20, 30])])
    array([ 1., 20.,  3.])
    """
    numbers = as_array(a)
    parts = as_arrays(choices)
    dtype = _core.result_type(*(part.dtype for part in parts))
    shape = numpy.broadcast_shapes(numbers.shape, *(part.shape for part in parts))
    stacked = _core.stack([_core.broadcast_to(_core.astype(part, dtype), shape) for part in parts], 0)
    wanted = _core.expand_dims(_core.broadcast_to(_numbers(numbers, stacked, "choose"), shape), [0])
    return deliver(_core.take_along(stacked, wanted, 0, _mode(mode, "choose"))[0], out, "choose")


# ---- by masks


def nonzero(a: ArrayLike) -> tuple[ndarray, ...]:
    """Where the elements are not 0: for each axis an array of indices. Waits, for their number is not known before.

    >>> np.nonzero(np.array([3, 0, 4]))
    (array([0, 2], dtype=int64),)
    """
    a = as_array(a)
    if a.ndim == 0:
        raise ValueError("nonzero: the argument has no dimensions; use np.atleast_1d")
    return tuple(_core.nonzero(a, "nonzero"))


def flatnonzero(a: ArrayLike) -> ndarray:
    """Where the elements of the flattened array are not 0. Waits.

    >>> np.flatnonzero(np.eye(2))
    array([0, 3], dtype=int64)
    """
    return _core.nonzero(ravel(a), "flatnonzero")[0]


def argwhere(a: ArrayLike) -> ndarray:
    """Where the elements are not 0: a row of indices for each. Waits.

    >>> np.argwhere(np.eye(2))
    array([[0, 0],
           [1, 1]], dtype=int64)
    """
    a = as_array(a)
    if a.ndim == 0:
        return _core.nonzero(_core.reshape(a, (1,)), "argwhere").T[:, :0]
    return _core.nonzero(a, "argwhere").T


def _truth(condition: ArrayLike) -> ndarray:
    found = as_array(condition)
    return found if found.dtype.kind == "b" else _core.not_equal(found, 0)


def extract(condition: ArrayLike, arr: ArrayLike) -> ndarray:
    """The elements of the flattened array where the condition holds. Waits.

    >>> x = np.arange(4)
    >>> np.extract(x > 1, x)
    array([2., 3.])
    """
    return compress(ravel(condition), ravel(arr))


def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Slices along an axis (elements of the flattened array) where a condition holds. Waits for the condition.

    >>> np.compress([False, True], np.array([[1, 2], [3, 4]]), axis=0)
    array([[3., 4.]])
    """
    x, mask = as_array(a), _truth(condition)
    if mask.ndim != 1:
        raise ValueError(f"compress: the condition has {mask.ndim} dimensions, it must have one")
    if axis is None:
        x, axis = ravel(x), 0
    axis = normal_axis(axis, x.ndim, "compress")
    if mask.shape[0] == x.shape[axis]:
        return deliver(x[(slice(None),) * axis + (mask,)], out, "compress")
    return deliver(_core.take(x, _core.nonzero(mask, "compress")[0], axis, "raise"), out, "compress")


def place(arr: ndarray, mask: ArrayLike, vals: ArrayLike) -> None:
    """Writes values, repeated where there are fewer, to the true elements of a mask, in place. Does not wait.

    >>> x = np.zeros(4)
    >>> np.place(x, [True, False, True, True], [1, 2])
    >>> x
    array([1., 0., 2., 1.])
    """
    x, truth = _target(arr, "place"), _truth(mask)
    if truth.size != x.size:
        raise ValueError(f"place: the mask has {truth.size} elements, the array {x.size}")
    if x.size == 0:
        return
    values = ravel(_fitting(vals, x))
    if values.size == 0:
        raise ValueError("place: there are no values to write")
    truth = ravel(truth)
    numbers = _core.cumsum(truth, 0, _INT) - 1
    chosen = _core.take(values, numbers, 0, "wrap")
    _core.where(_core.reshape(truth, x.shape), _core.reshape(chosen, x.shape), x, out=x)


def putmask(a: ndarray, mask: ArrayLike, values: ArrayLike) -> None:
    """Writes the values that stand at the true elements of a mask, in place; values are repeated to the array's size.

    >>> x = np.arange(4)
    >>> np.putmask(x, x > 1, [-1, -2])
    >>> x
    array([ 0.,  1., -1., -2.])
    """
    x, truth = _target(a, "putmask"), _truth(mask)
    if truth.size != x.size:
        raise ValueError(f"putmask: the mask has {truth.size} elements, the array {x.size}")
    chosen = _repeated(_fitting(values, x), x.size)
    if chosen is not None:
        _core.where(_core.reshape(truth, x.shape), _core.reshape(chosen, x.shape), x, out=x)


# ---- diagonals


def fill_diagonal(a: ndarray, val: ArrayLike, wrap: bool = False) -> None:
    """Writes values to the main diagonal, in place; with `wrap` the diagonal of a tall matrix begins again below.

    >>> x = np.zeros((2, 2))
    >>> np.fill_diagonal(x, 5)
    >>> x
    array([[5., 0.],
           [0., 5.]])
    """
    x = _target(a, "fill_diagonal")
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal: the array has shape {x.shape}; it must have at least two dimensions")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise ValueError(f"fill_diagonal: the array has shape {x.shape}; its dimensions must be of equal length")
    value = _fitting(val, x)
    if x.ndim == 2 and not (wrap and x.shape[0] > x.shape[1] + 1):
        view = _core.diagonal(x, 0, 0, 1)
        if view.size:
            _core.assign(view, _repeated(value, view.size) if value.ndim else value)
        return
    rows = _core.arange(0, 1, x.shape[0], _INT, x.device)
    if x.ndim > 2:
        numbers = [rows] * x.ndim
    else:  # after a whole block comes one row without
        block = x.shape[1] + 1
        rows = _core.arange(0, 1, x.shape[0] - x.shape[0] // block, _INT, x.device)
        numbers = [rows + rows // x.shape[1], rows % x.shape[1]]
    written = _repeated(value, numbers[0].size)
    if written is not None:
        _core.scatter(x, numbers, written)


if not TYPE_CHECKING:
    __all__ = public(globals())
