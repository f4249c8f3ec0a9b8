"""Products of vectors, matrices and tensors, composed of the core's matmul and dot."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import (
    CASTING,
    ORDERS,
    as_array,
    as_arrays,
    as_dtype,
    check_choice,
    deliver,
    normal_axes,
    normal_axis,
    public,
)
from ._manipulation import diagonal, moveaxis, ravel
from ._types import ArrayLike, DTypeLike


def as_inexact(a: ArrayLike) -> ndarray:
    """An array that LAPACK takes: integers as float64."""
    a = as_array(a)
    return _core.astype(a, "float64") if a.dtype.kind in "biu" else a


def transposed(x: ndarray) -> ndarray:
    """The last two axes exchanged, a view."""
    return _core.swapaxes(x, -1, -2)


def adjoint(x: ndarray) -> ndarray:
    """The last two axes exchanged, and conjugated."""
    return _core.swapaxes(_core.conj(x) if x.dtype.kind == "c" else x, -1, -2)


def dot(a: ArrayLike, b: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Inner product of vectors, matrix product; in general over the last axis of `a` and the last but one of `b`.

    >>> np.dot(np.array([1, 2]), np.array([3, 4]))
    array(11.)
    """
    return _core.dot(a, b, out)


Counts = tuple[int, int, int]  # the axes that a product is over: of its arguments, and those of its result


def _product(
    function: str,
    multiply: Callable[[ndarray, ndarray], ndarray],
    counts: Counts,
    given: tuple[ArrayLike, ArrayLike],
    out: ndarray | None,
    axes: Any,
    casting: str,
    order: str,
    dtype: DTypeLike,
) -> ndarray:
    """A product of the last axes of its arguments, with the keywords that NumPy's have."""
    check_choice(function, "casting", casting, CASTING)
    check_choice(function, "order", order, ORDERS)
    x1, x2 = as_arrays(given)
    if dtype is not None or casting != "same_kind":
        kind = _core.result_type(x1, x2) if dtype is None else as_dtype(dtype)
        for x in (x1, x2):
            if not numpy.can_cast(x.dtype, kind, casting):  # type: ignore[arg-type]
                raise TypeError(f"{function}: cannot cast from {x.dtype} to {kind} with casting={casting!r}")
        x1, x2 = _core.astype(x1, kind), _core.astype(x2, kind)
    if axes is None:
        return deliver(multiply(x1, x2), out, function, casting)
    named = [tuple(part) if isinstance(part, (tuple, list)) else (part,) for part in axes]
    named += [()] * (len(named) == 2 and not counts[2])
    if tuple(map(len, named)) != counts:
        raise ValueError(f"{function}: axes {axes} must name {counts[0]}, {counts[1]} and {counts[2]} axes")
    ends = [tuple(range(-count, 0)) for count in counts]
    made = multiply(moveaxis(x1, named[0], ends[0]), moveaxis(x2, named[1], ends[1]))
    return deliver(moveaxis(made, ends[2], named[2]), out, function, casting)


def matmul(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: ndarray | None = None,
    *,
    axes: Any = None,
    casting: str = "same_kind",
    order: str = "K",
    dtype: DTypeLike = None,
) -> ndarray:
    """The matrix product `x1 @ x2`; axes before the last two are batches, and broadcast.

    >>> np.matmul(np.ones((2, 3)), np.ones((3, 2)))
    array([[3., 3.],
           [3., 3.]])
    """
    if axes is None and dtype is None and casting == "same_kind" and order == "K":
        return _core.matmul(x1, x2, out)
    return _product("matmul", _core.matmul, (2, 2, 2), (x1, x2), out, axes, casting, order, dtype)


def vdot(a: ArrayLike, b: ArrayLike, /) -> ndarray:
    """Inner product of the flattened arrays, the first conjugated.

    >>> np.vdot(np.eye(2), np.eye(2))
    array(2.)
    """
    a, b = as_arrays((a, b))
    return _core.dot(ravel(_core.conj(a) if a.dtype.kind == "c" else a), ravel(b))


def inner(a: ArrayLike, b: ArrayLike, /) -> ndarray:
    """Sum over the last axes of both.

    >>> np.inner(np.array([1, 2]), np.array([[3, 4], [5, 6]]))
    array([11., 17.])
    """
    a, b = as_arrays((a, b))
    return a * b if a.ndim == 0 or b.ndim == 0 else tensordot(a, b, (-1, -1))


def outer(a: ArrayLike, b: ArrayLike, out: ndarray | None = None) -> ndarray:
    """The product of each element of one with each of the other, both flattened.

    >>> np.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3., 4.],
           [6., 8.]])
    """
    a, b = as_arrays((a, b))
    return _core.multiply(_core.reshape(a, (-1, 1)), _core.reshape(b, (1, -1)), out=out)


def _summed_axes(axes: Any, first: int, second: int) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        if axes < 0 or axes > min(first, second):
            raise ValueError(f"tensordot: {axes} axes for arrays of {first} and {second} dimensions")
        return list(range(first - axes, first)), list(range(axes))
    left, right = axes
    return normal_axes(left, first, "tensordot"), normal_axes(right, second, "tensordot")


def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> ndarray:
    """Sum over pairs of axes: the last so many of `a` and the first of `b`, or those of a pair of lists.

    >>> np.tensordot(np.ones((2, 3, 4)), np.ones((4, 3, 5)), ([1, 2], [1, 0])).shape
    (2, 5)
    """
    a, b = as_arrays((a, b))
    left, right = _summed_axes(axes, a.ndim, b.ndim)
    if len(left) != len(right) or any(a.shape[i] != b.shape[j] for i, j in zip(left, right, strict=True)):
        raise ValueError(f"tensordot: shapes {a.shape} and {b.shape} do not fit along axes {left} and {right}")
    rows = [i for i in range(a.ndim) if i not in left]
    columns = [j for j in range(b.ndim) if j not in right]
    kept_a, kept_b = tuple(a.shape[i] for i in rows), tuple(b.shape[j] for j in columns)
    summed = math.prod(a.shape[i] for i in left)
    matrix_a = _core.reshape(_core.transpose(a, rows + left), (math.prod(kept_a), summed))
    matrix_b = _core.reshape(_core.transpose(b, right + columns), (summed, math.prod(kept_b)))
    return _core.reshape(_core.dot(matrix_a, matrix_b), kept_a + kept_b)


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: ndarray | None = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    casting: str = "same_kind",
    order: str = "K",
    dtype: DTypeLike = None,
) -> ndarray:
    """Inner products along an axis, the first argument conjugated; the other axes broadcast.

    >>> np.vecdot(np.ones((2, 3)), np.arange(3))
    array([3., 3.])
    """
    if axes is not None and (axis is not None or keepdims):
        raise TypeError("vecdot: give axes, or axis and keepdims")
    at = -1 if axis is None else axis

    def multiply(x1: ndarray, x2: ndarray) -> ndarray:
        if axes is None:
            x1, x2 = moveaxis(x1, at, -1), moveaxis(x2, at, -1)
        if x1.shape[-1] != x2.shape[-1]:
            raise ValueError(f"vecdot: shapes {x1.shape} and {x2.shape} do not align: {x1.shape[-1]} != {x2.shape[-1]}")
        left = _core.conj(x1) if x1.dtype.kind == "c" else x1
        made = _core.matmul(_core.expand_dims(left, [left.ndim - 1]), _core.expand_dims(x2, [x2.ndim]))
        made = _core.squeeze(made, [made.ndim - 2, made.ndim - 1])
        return _core.expand_dims(made, [normal_axis(at, made.ndim + 1, "vecdot")]) if keepdims else made

    return _product("vecdot", multiply, (1, 1, 0), (x1, x2), out, axes, casting, order, dtype)


def matvec(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: ndarray | None = None,
    *,
    axes: Any = None,
    casting: str = "same_kind",
    order: str = "K",
    dtype: DTypeLike = None,
) -> ndarray:
    """Products of matrices and vectors.

    >>> np.matvec(np.eye(2), np.array([1, 2]))
    array([1., 2.])
    """

    def multiply(x1: ndarray, x2: ndarray) -> ndarray:
        if x1.ndim < 2 or x2.ndim < 1:
            raise ValueError(f"matvec: a matrix and a vector are needed, not shapes {x1.shape} and {x2.shape}")
        return _core.squeeze(_core.matmul(x1, _core.expand_dims(x2, [x2.ndim])), [-1])

    return _product("matvec", multiply, (2, 1, 1), (x1, x2), out, axes, casting, order, dtype)


def vecmat(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: ndarray | None = None,
    *,
    axes: Any = None,
    casting: str = "same_kind",
    order: str = "K",
    dtype: DTypeLike = None,
) -> ndarray:
    """Products of (conjugated) vectors and matrices.

    >>> np.vecmat(np.array([1, 2]), np.eye(2))
    array([1., 2.])
    """

    def multiply(x1: ndarray, x2: ndarray) -> ndarray:
        if x1.ndim < 1 or x2.ndim < 2:
            raise ValueError(f"vecmat: a vector and a matrix are needed, not shapes {x1.shape} and {x2.shape}")
        left = _core.conj(x1) if x1.dtype.kind == "c" else x1
        return _core.squeeze(_core.matmul(_core.expand_dims(left, [x1.ndim - 1]), x2), [-2])

    return _product("vecmat", multiply, (1, 2, 1), (x1, x2), out, axes, casting, order, dtype)


def kron(a: ArrayLike, b: ArrayLike) -> ndarray:
    """The Kronecker product: blocks of `b`, each scaled by an element of `a`.

    >>> np.kron(np.eye(2), np.ones((1, 2)))
    array([[1., 1., 0., 0.],
           [0., 0., 1., 1.]])
    """
    a, b = as_arrays((a, b))
    ndim = max(a.ndim, b.ndim)
    left, right = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    outer_shape = tuple(n for pair in zip(left, (1,) * ndim, strict=True) for n in pair)
    inner_shape = tuple(n for pair in zip((1,) * ndim, right, strict=True) for n in pair)
    made = _core.multiply(_core.reshape(a, outer_shape), _core.reshape(b, inner_shape))
    return _core.reshape(made, tuple(n * m for n, m in zip(left, right, strict=True)))


def _parts(x: ndarray, axis: int) -> list[ndarray]:
    """The elements of vectors along an axis: views, without the axis."""
    return [_core.select(x, axis, i) for i in range(x.shape[axis])]


def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> ndarray:
    """Cross products of vectors of two or three elements (of two and two: the third element of the product alone).

    >>> np.cross(np.array([1, 2, 3]), np.array([4, 5, 6]))
    array([-3.,  6., -3.])
    """
    a, b = as_arrays((a, b))
    if axis is not None:
        axisa = axisb = axisc = axis
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(f"cross: shapes {a.shape} and {b.shape}: at least one dimension is needed")
    at_a, at_b = normal_axis(axisa, a.ndim, "cross"), normal_axis(axisb, b.ndim, "cross")
    if a.shape[at_a] not in (2, 3) or b.shape[at_b] not in (2, 3):
        raise ValueError(f"cross: shapes {a.shape} and {b.shape}: vectors of two or three elements are needed")
    x, y = _parts(a, at_a), _parts(b, at_b)
    last = x[0] * y[1] - x[1] * y[0]
    if len(x) == 2 and len(y) == 2:
        return last
    zero = _core.multiply(last, 0)
    first = (x[1] * y[2] if len(y) == 3 else zero) - (x[2] * y[1] if len(x) == 3 else zero)
    second = (x[2] * y[0] if len(x) == 3 else zero) - (x[0] * y[2] if len(y) == 3 else zero)
    return _core.stack([first, second, last], normal_axis(axisc, last.ndim + 1, "cross"))


def trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: ndarray | None = None
) -> ndarray:
    """The sum of a diagonal.

    >>> np.trace(np.eye(3))
    array(3.)
    """
    return _core.sum(diagonal(as_array(a), offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


if not TYPE_CHECKING:
    # Plain calls go straight to the core.
    dot, matmul = map(_core.shortcut, (dot, matmul))
    __all__ = [name for name in public(globals()) if name not in ("adjoint", "as_inexact", "transposed")]
