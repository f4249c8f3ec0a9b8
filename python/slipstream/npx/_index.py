"""Elements by index arrays, as MXNet names the functions: pick, gather, scatter, embeddings, and sequences."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..device import named
from ..np._arguments import as_array, as_dtype, deliver, normal_axes, normal_axis
from ..np._indexing import _numbers, argwhere, compress
from ..np._types import ArrayLike, Axes, DeviceLike, DTypeLike, Shape
from ._out import with_out

_INT = numpy.dtype("int64")

# ---- gather and scatter


def _columns(indices: ArrayLike, x: ndarray, function: str) -> list[ndarray]:
    """The rows of an array of indices: one for each of the first axes of x."""
    found = _numbers(indices, x, function)
    if found.ndim == 0:  # one place along the first axis
        return [found]
    if found.shape[0] > x.ndim:
        raise ValueError(f"{function}: indices of shape {found.shape} are for {found.shape[0]} axes of {x.ndim}")
    return [_core.select(found, 0, i) for i in range(found.shape[0])]


def gather_nd(data: ArrayLike, indices: ArrayLike, out: ndarray | None = None, name: Any = None) -> ndarray:
    """`data[indices[0], indices[1], ...]`; an index out of range is an error of the result.

    >>> npx.gather_nd(np.array([[1, 2], [3, 4]]), np.array([[0, 1], [1, 0]]))
    array([2., 3.])
    """
    x = as_array(data)
    return deliver(_core.gather(x, _columns(indices, x, "gather_nd")), out, "gather_nd")


def scatter_nd(data: ArrayLike, indices: ArrayLike, shape: Shape) -> ndarray:
    """Zeros of a shape, but `data` at `indices[0], indices[1], ...`; of equal indices the last counts.

    >>> npx.scatter_nd(np.array([7, 8]), np.array([[0, 1], [1, 0]]), (2, 2))
    array([[0., 7.],
           [8., 0.]])
    """
    values = as_array(data)
    made = _core.full(shape, 0, values.dtype, values.device)
    _core.scatter(made, _columns(indices, made, "scatter_nd"), values)
    return made


def index_update(a: ArrayLike, ind: ArrayLike, val: ArrayLike) -> ndarray:
    """A copy of `a` with `val` at `ind[0], ind[1], ...`; of equal indices the last counts.

    >>> npx.index_update(np.zeros((2, 2)), np.array([[0, 1], [1, 0]]), np.array([7, 8]))
    array([[0., 7.],
           [8., 0.]])
    """
    x = as_array(a)
    return _core.scattered(x, _columns(ind, x, "index_update"), val)


def index_add(a: ArrayLike, ind: ArrayLike, val: ArrayLike) -> ndarray:
    """A copy of `a` with `val` added at `ind[0], ind[1], ...`; equal indices add up, in their order.

    >>> npx.index_add(np.zeros(3), np.array([[0, 2, 2]]), np.array([1, 2, 3]))
    array([1., 0., 5.])
    """
    x = as_array(a)
    return _core.scattered(x, _columns(ind, x, "index_add"), val, add=True)


def pick(
    data: ArrayLike, index: ArrayLike, axis: int | None = -1, mode: str = "clip", keepdims: bool = False
) -> ndarray:
    """One element of each line along an axis, by its number there; beyond the end it is moved ("clip") or wraps.

    >>> npx.pick(np.array([[1, 2], [3, 4]]), np.array([0, 1]))
    array([1., 4.])
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"pick: mode {mode!r} is none of 'clip', 'wrap', 'raise'")
    x = as_array(data)
    numbers = _numbers(index, x, "pick")
    if axis is None:
        return _core.take(_core.reshape(x, (-1,)), numbers, 0, mode)
    at = normal_axis(axis, x.ndim, "pick")
    if numbers.ndim == x.ndim - 1:
        numbers = _core.expand_dims(numbers, [at])
    wanted = x.shape[:at] + (1,) + x.shape[at + 1 :]
    if numbers.shape != wanted:
        raise ValueError(f"pick: index has shape {numbers.shape}, data {x.shape}; axis {axis} must be left out or be 1")
    made = _core.take_along(x, numbers, at, mode)
    return made if keepdims else _core.squeeze(made, [at])


def embedding(
    data: ArrayLike,
    weight: ArrayLike,
    input_dim: int | None = None,
    output_dim: int | None = None,
    dtype: DTypeLike = None,
    sparse_grad: bool = False,
) -> ndarray:
    """The rows of a table by their numbers. One out of range is an error of the result (MXNet moves it into range).

    >>> npx.embedding(np.array([1, 0]), np.array([[1, 2], [3, 4]]))
    array([[3., 4.],
           [1., 2.]])
    """
    table = as_array(weight)
    if table.ndim != 2:
        raise ValueError(f"embedding: weight has shape {table.shape}; it must be a matrix")
    for axis, given in enumerate((input_dim, output_dim)):
        if given is not None and given != table.shape[axis]:
            raise ValueError(
                f"embedding: weight has shape {table.shape}, but input_dim, output_dim are {input_dim}, {output_dim}"
            )
    return _core.take(table, _numbers(data, table, "embedding"), 0, "raise")


def one_hot(
    data: ArrayLike, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: DTypeLike = "float32"
) -> ndarray:
    """For each number a row of length `depth` with `on_value` at its place; out of range, there is none.

    >>> npx.one_hot(np.array([1, 0]), 3)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    numbers = as_array(data)
    if numbers.dtype.kind == "f":
        numbers = _core.astype(numbers, _INT)
    places = _core.arange(0, 1, depth, _INT, numbers.device)
    hot = _core.equal(_core.expand_dims(numbers, [numbers.ndim]), places)
    target = as_dtype(dtype)
    on, off = (_core.full((), value, target, numbers.device) for value in (on_value, off_value))
    return _core.where(hot, on, off)


# ---- masks


def boolean_mask(data: ArrayLike, index: ArrayLike, axis: int = 0) -> ndarray:
    """The slices along an axis where `index` is not 0. Waits for the index.

    >>> npx.boolean_mask(np.array([[1, 2], [3, 4]]), np.array([0, 1]))
    array([[3., 4.]])
    """
    return compress(index, data, axis)


def nonzero(a: ArrayLike) -> ndarray:
    """Where the elements are not 0: a row of indices for each, as `np.argwhere`. Waits.

    >>> npx.nonzero(np.array([[0, 5], [6, 0]]))
    array([[0, 1],
           [1, 0]], dtype=int64)
    """
    return argwhere(a)


# ---- like another array


def arange_like(
    data: ArrayLike,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: DeviceLike = None,
    axis: int | None = None,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """Numbers from `start` on in the shape of an array, or for the places along one of its axes, each `repeat` times.

    >>> npx.arange_like(np.zeros((2, 3)))
    array([[0., 1., 2.],
           [3., 4., 5.]])
    """
    x = as_array(data)
    n = x.size if axis is None else x.shape[normal_axis(axis, x.ndim, "arange_like")]
    place = named(device, ctx) or x.device
    made = _core.arange(start, step, -(-n // repeat), x.dtype, place)
    if repeat != 1:
        made = _core.take(made, _core.arange(0, 1, n, _INT, place) // repeat, 0, "raise")
    return _core.reshape(made, x.shape) if axis is None else made


def _span(begin: int | None, end: int | None, ndim: int) -> tuple[int, int]:
    first, last, _ = slice(begin, end).indices(ndim)
    return first, max(first, last)


@with_out
def reshape_like(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
) -> ndarray:
    """The elements of `lhs` in the shape of `rhs`; or the axes from begin to end of one in place of those of the other.

    >>> npx.reshape_like(np.ones((30, 7)), np.ones((15, 2, 4)), lhs_end=1, rhs_end=2).shape
    (15, 2, 7)
    """
    x, like = as_array(lhs), as_array(rhs)
    first, last = _span(lhs_begin, lhs_end, x.ndim)
    begin, end = _span(rhs_begin, rhs_end, like.ndim)
    return _core.reshape(x, x.shape[:first] + like.shape[begin:end] + x.shape[last:])


def broadcast_like(lhs: ArrayLike, rhs: ArrayLike, lhs_axes: Axes = None, rhs_axes: Axes = None) -> ndarray:
    """`lhs` repeated to the shape of `rhs`, or the given axes to the length of the other's given axes.

    >>> npx.broadcast_like(np.ones((1, 3)), np.ones((5, 6)), lhs_axes=(0,), rhs_axes=(1,)).shape
    (6, 3)
    """
    x, like = as_array(lhs), as_array(rhs)
    if lhs_axes is None and rhs_axes is None:
        return _core.broadcast_to(x, like.shape)
    mine, other = (normal_axes(axes, a.ndim, "broadcast_like") for axes, a in ((lhs_axes, x), (rhs_axes, like)))
    if len(mine) != len(other):
        raise ValueError(f"broadcast_like: lhs_axes {lhs_axes} and rhs_axes {rhs_axes} are not equally many")
    shape = list(x.shape)
    for a, b in zip(mine, other, strict=True):
        shape[a] = like.shape[b]
    return _core.broadcast_to(x, tuple(shape))


# ---- sequences


def _lengths(data: ndarray, sequence_length: ArrayLike, axis: int, function: str) -> ndarray:
    """How long each sequence of a batch is, shaped to stand beside the data."""
    if axis not in (0, 1) or data.ndim < 2:
        raise ValueError(f"{function}: axis is {axis} and data has shape {data.shape}; axis 0 or 1 of at least two")
    lengths = as_array(sequence_length, data.device)
    if lengths.shape != (data.shape[1 - axis],):
        raise ValueError(f"{function}: sequence_length has shape {lengths.shape}, the batch {data.shape[1 - axis]}")
    shape = [1] * data.ndim
    shape[1 - axis] = lengths.shape[0]
    return _core.reshape(lengths, tuple(shape))


def _times(data: ndarray, axis: int) -> ndarray:
    shape = [1] * data.ndim
    shape[axis] = data.shape[axis]
    return _core.reshape(_core.arange(0, 1, data.shape[axis], _INT, data.device), tuple(shape))


@with_out
def sequence_mask(
    data: ArrayLike,
    sequence_length: ArrayLike = None,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
) -> ndarray:
    """Sequences with `value` after their end; the axis of time is 0 or 1, the batch is the other.

    >>> npx.sequence_mask(np.ones((2, 3)), np.array([1, 3]), use_sequence_length=True, axis=1)
    array([[1., 0., 0.],
           [1., 1., 1.]])
    """
    x = as_array(data)
    if not use_sequence_length or sequence_length is None:
        return x
    lengths = _lengths(x, sequence_length, axis, "sequence_mask")
    kept = _core.less(_times(x, axis), lengths)
    return _core.where(kept, x, _core.full((), value, x.dtype, x.device))


@with_out
def sequence_last(
    data: ArrayLike, sequence_length: ArrayLike = None, use_sequence_length: bool = False, axis: int = 0
) -> ndarray:
    """The last element of each sequence; the axis of time is 0 or 1, the batch is the other.

    >>> npx.sequence_last(np.array([[1, 2], [3, 4]]), np.array([1, 2]), use_sequence_length=True)
    array([1., 4.])
    """
    x = as_array(data)
    if not use_sequence_length or sequence_length is None:
        return _core.select(x, normal_axis(axis, x.ndim, "sequence_last"), -1)
    last = _core.astype(_lengths(x, sequence_length, axis, "sequence_last"), _INT) - 1
    return _core.squeeze(_core.take_along(x, last, axis), [axis])


@with_out
def sequence_reverse(
    data: ArrayLike, sequence_length: ArrayLike = None, use_sequence_length: bool = False, axis: int = 0
) -> ndarray:
    """Each sequence backwards, what comes after its end as it is; the axis of time is 0, the batch is 1.

    >>> npx.sequence_reverse(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 3]), use_sequence_length=True)
    array([[3., 6.],
           [1., 4.],
           [5., 2.]])
    """
    x = as_array(data)
    if not use_sequence_length or sequence_length is None:
        return _core.flip(x, axis)
    lengths = _core.astype(_lengths(x, sequence_length, axis, "sequence_reverse"), _INT)
    times = _times(x, axis)
    return _core.take_along(x, _core.where(_core.less(times, lengths), lengths - 1 - times, times), axis)
