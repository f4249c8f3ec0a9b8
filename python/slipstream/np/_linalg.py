"""Products of vectors, matrices and tensors, composed of the core's matmul and dot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, deliver, normal_axes, normal_axis, public
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


def matmul(x1: ArrayLike, x2: ArrayLike, /, out: ndarray | None = None, *, dtype: DTypeLike = None) -> ndarray:
    """The matrix product `x1 @ x2`; axes before the last two are batches, and broadcast.

    >>> np.matmul(np.ones((2, 3)), np.ones((3, 2)))
    array([[3., 3.],
           [3., 3.]])
    """
    if dtype is not None:
        x1, x2 = (_core.astype(x, dtype) for x in as_arrays((x1, x2)))
    return _core.matmul(x1, x2, out)


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
    x1: ArrayLike, x2: ArrayLike, /, out: ndarray | None = None, *, axis: int = -1, keepdims: bool = False
) -> ndarray:
    """Inner products along an axis, the first argument conjugated; the other axes broadcast.

    >>> np.vecdot(np.ones((2, 3)), np.arange(3))
    array([3., 3.])
    """
    x1, x2 = (moveaxis(x, axis, -1) for x in as_arrays((x1, x2)))
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(f"vecdot: shapes {x1.shape} and {x2.shape} do not align: {x1.shape[-1]} != {x2.shape[-1]}")
    left = _core.conj(x1) if x1.dtype.kind == "c" else x1
    made = _core.matmul(_core.expand_dims(left, [left.ndim - 1]), _core.expand_dims(x2, [x2.ndim]))
    made = _core.squeeze(made, [made.ndim - 2, made.ndim - 1])
    return deliver(
        _core.expand_dims(made, [normal_axis(axis, made.ndim + 1, "vecdot")]) if keepdims else made, out, "vecdot"
    )


def matvec(x1: ArrayLike, x2: ArrayLike, /) -> ndarray:
    """Products of matrices and vectors.

    >>> np.matvec(np.eye(2), np.array([1, 2]))
    array([1., 2.])
    """
    x1, x2 = as_arrays((x1, x2))
    if x1.ndim < 2 or x2.ndim < 1:
        raise ValueError(f"matvec: a matrix and a vector are needed, not shapes {x1.shape} and {x2.shape}")
    return _core.squeeze(_core.matmul(x1, _core.expand_dims(x2, [x2.ndim])), [-1])


def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> ndarray:
    """Products of (conjugated) vectors and matrices.

    >>> np.vecmat(np.array([1, 2]), np.eye(2))
    array([1., 2.])
    """
    x1, x2 = as_arrays((x1, x2))
    if x1.ndim < 1 or x2.ndim < 2:
        raise ValueError(f"vecmat: a vector and a matrix are needed, not shapes {x1.shape} and {x2.shape}")
    left = _core.conj(x1) if x1.dtype.kind == "c" else x1
    return _core.squeeze(_core.matmul(_core.expand_dims(left, [x1.ndim - 1]), x2), [-2])


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
