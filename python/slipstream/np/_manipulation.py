"""Another shape or order of the same elements: mostly views, which cost nothing and share memory with their array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy
from numpy.exceptions import AxisError

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, as_dims, check_broadcast, deliver, normal_axes, normal_axis, public
from ._types import ArrayLike, Axes, Shape


def shape(a: ArrayLike) -> tuple[int, ...]:
    """The shape.

    >>> np.shape([[1, 2, 3]])
    (1, 3)
    """
    return a.shape if isinstance(a, ndarray) else numpy.shape(a)


def ndim(a: ArrayLike) -> int:
    """Number of dimensions.

    >>> np.ndim([[1, 2, 3]])
    2
    """
    return len(shape(a))


def size(a: ArrayLike, axis: Axes = None) -> int:
    """Number of elements, or the length of one axis, or of several together.

    >>> np.size(np.ones((2, 3))), np.size(np.ones((2, 3)), 0)
    (6, 2)
    """
    dims = shape(a)
    if axis is not None:
        dims = tuple(dims[i] for i in normal_axes(axis, len(dims), "size"))
    return int(numpy.prod(dims, dtype=numpy.int64))


# ---- shape


def reshape(
    a: ArrayLike,
    /,
    shape: Any = None,
    order: str = "C",
    *,
    newshape: Any = None,
    copy: bool | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The same elements in another shape; one length may be -1, and follows from the others.

    A view where the memory allows it, else a copy (`copy=True`: always, `copy=False`: never, raises instead).

    >>> np.reshape(np.arange(6), (2, -1))
    array([[0., 1., 2.],
           [3., 4., 5.]])
    """
    wanted = newshape if shape is None else shape
    if wanted is None:
        raise TypeError("reshape: no shape is given")
    made = _core.reshape(a, wanted, order, copy)
    return made if out is None else deliver(made, out, "reshape")


def ravel(a: ArrayLike, order: str = "C") -> ndarray:
    """The elements in one dimension, one after another in memory: a view if they lie so, else a copy.

    >>> np.ravel(np.eye(2))
    array([1., 0., 0., 1.])
    """
    return as_array(a).ravel(order)


def expand_dims(a: ArrayLike, axis: Axes) -> ndarray:
    """A view with axes of length 1 put in; `axis` says where they are in the result.

    >>> np.expand_dims(np.ones(3), (0, 2)).shape
    (1, 3, 1)
    """
    return _core.expand_dims(a, axis)


def squeeze(a: ArrayLike, axis: Axes = None, out: ndarray | None = None) -> ndarray:
    """A view without axes of length 1: all of them, or those named.

    >>> np.squeeze(np.ones((1, 3, 1))).shape
    (3,)
    """
    made = _core.squeeze(a, axis)
    return made if out is None else deliver(made, out, "squeeze")


def broadcast_to(array: ArrayLike, shape: Shape, subok: bool = False) -> ndarray:
    """A view in which the array repeats along new axes and axes of length 1. Do not write into it.

    >>> np.broadcast_to(np.array([1, 2]), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    return _core.broadcast_to(array, shape)


def broadcast_shapes(*args: Shape) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together.

    >>> np.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return numpy.broadcast_shapes(*(as_dims(shape) for shape in args))


def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> list[ndarray]:
    """Views of the arrays in the shape that they have together.

    >>> [x.shape for x in np.broadcast_arrays(np.ones((2, 1)), np.ones(3))]
    [(2, 3), (2, 3)]
    """
    arrays = as_arrays(args)
    shape = check_broadcast("broadcast_arrays", *arrays)
    return [_core.broadcast_to(a, shape) for a in arrays]


def _at_least(arrays: tuple[ArrayLike, ...], places: dict[int, tuple[int, ...]]) -> Any:
    made = [_core.expand_dims(a, places[a.ndim]) if a.ndim in places else a for a in map(as_array, arrays)]
    return made[0] if len(made) == 1 else tuple(made)


def atleast_1d(*arys: ArrayLike) -> Any:
    """Arrays of at least one dimension.

    >>> np.atleast_1d(3)
    array([3.])
    """
    return _at_least(arys, {0: (0,)})


def atleast_2d(*arys: ArrayLike) -> Any:
    """Arrays of at least two dimensions.

    >>> np.atleast_2d(np.ones(3)).shape
    (1, 3)
    """
    return _at_least(arys, {0: (0, 1), 1: (0,)})


def atleast_3d(*arys: ArrayLike) -> Any:
    """Arrays of at least three dimensions.

    >>> np.atleast_3d(np.ones(3)).shape
    (1, 3, 1)
    """
    return _at_least(arys, {0: (0, 1, 2), 1: (0, 2), 2: (2,)})


# ---- order of axes


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> ndarray:
    """A view with the axes reversed, or in the order given.

    >>> np.transpose(np.ones((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    return _core.transpose(a, axes)


def permute_dims(a: ArrayLike, axes: Sequence[int] | None = None) -> ndarray:
    """The array API standard's name of `transpose`.

    >>> np.permute_dims(np.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return transpose(a, axes)


def matrix_transpose(x: ArrayLike, /) -> ndarray:
    """A view with the last two axes exchanged.

    >>> np.matrix_transpose(np.ones((2, 3, 4))).shape
    (2, 4, 3)
    """
    x = as_array(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: the argument has {x.ndim} dimensions; it must have at least 2")
    return swapaxes(x, -1, -2)


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> ndarray:
    """A view with two axes exchanged.

    >>> np.swapaxes(np.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    return _core.swapaxes(a, axis1, axis2)


def moveaxis(a: ArrayLike, source: Axes, destination: Axes) -> ndarray:
    """A view with axes moved to other places; the others keep their order.

    >>> np.moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = as_array(a)
    start, end = normal_axes(source, a.ndim, "moveaxis"), normal_axes(destination, a.ndim, "moveaxis")
    if len(start) != len(end):
        raise ValueError(f"moveaxis: {len(start)} axes to move, {len(end)} places for them")
    axes = [axis for axis in range(a.ndim) if axis not in start]
    for place, axis in sorted(zip(end, start, strict=True)):
        axes.insert(place, axis)
    return _core.transpose(a, axes)


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> ndarray:
    """A view with an axis moved back until it lies before the axis `start`.

    >>> np.rollaxis(np.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = as_array(a)
    axis = normal_axis(axis, a.ndim, "rollaxis")
    place = start + a.ndim if start < 0 else start
    if not 0 <= place <= a.ndim:
        raise AxisError(f"rollaxis: start {start} is out of bounds for an array of dimension {a.ndim}")
    return moveaxis(a, axis, place - 1 if axis < place else place)


# ---- order of elements


def flip(m: ArrayLike, axis: Axes = None, *, out: ndarray | None = None) -> ndarray:
    """A view with the elements in reverse order along all axes, or those given.

    >>> np.flip(np.arange(3))
    array([2., 1., 0.])
    """
    m = as_array(m)
    view = _core.flip(m, axis)
    if out is None:
        return view
    _core.assign(out, view)
    return out


def flipud(m: ArrayLike) -> ndarray:
    """A view with the first axis reversed.

    >>> np.flipud(np.arange(2))
    array([1., 0.])
    """
    return flip(m, 0)


def fliplr(m: ArrayLike) -> ndarray:
    """A view with the second axis reversed.

    >>> np.fliplr(np.eye(2))
    array([[0., 1.],
           [1., 0.]])
    """
    return flip(m, 1)


def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> ndarray:
    """A view turned by k times 90 degrees, from the first of two axes towards the second.

    >>> np.rot90(np.array([[1, 2], [3, 4]]))
    array([[2., 4.],
           [1., 3.]])
    """
    x = as_array(m)
    turned = normal_axes(tuple(axes), x.ndim, "rot90")
    if len(turned) != 2:
        raise ValueError(f"rot90: axes {axes} are not two")
    first, second = turned
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return flip(x, (first, second))
    return swapaxes(flip(x, second), first, second) if k == 1 else flip(swapaxes(x, first, second), second)


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """A view of a diagonal of two axes, which becomes the last axis.

    >>> np.diagonal(np.array([[1, 2], [3, 4]]))
    array([1., 4.])
    """
    a = as_array(a)
    if a.ndim < 2:
        raise ValueError(f"diagonal: the argument has {a.ndim} dimensions; it must have at least 2")
    first, second = normal_axis(axis1, a.ndim, "diagonal"), normal_axis(axis2, a.ndim, "diagonal")
    if first == second:
        raise ValueError(f"diagonal: axis1 and axis2 are the same axis {axis1}")
    return _core.diagonal(a, offset, first, second)


if not TYPE_CHECKING:
    # Plain calls go straight to the core.
    reshape, expand_dims, squeeze = map(_core.shortcut, (reshape, expand_dims, squeeze))
    __all__ = public(globals())
