"""Norms of vectors and matrices, rank and condition, composed of reductions and singular values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from . import _linalg_factors
from ._arguments import as_array, normal_axes, public
from ._linalg import as_inexact
from ._manipulation import moveaxis
from ._types import ArrayLike, Axes

_INF = float("inf")


def _floating(x: ArrayLike) -> ndarray:
    """Norms of integers are float64's; 16-bit floats stay what they are."""
    x = as_array(x)
    return _core.astype(x, "float64") if x.dtype.kind in "biu" else x


def _squared(x: ndarray) -> ndarray:
    return _core.square(_core.real(x)) + _core.square(_core.imag(x)) if x.dtype.kind == "c" else _core.square(x)


def _root(sums: ndarray) -> ndarray:
    """The square root of sums of squares; where these are 0 its gradient is 0, as PyTorch's, not without end."""
    if not _core.is_recording():
        return _core.sqrt(sums)
    zero = _core.equal(sums, 0)
    return _core.where(zero, 0, _core.sqrt(_core.where(zero, 1, sums)))


def _vector(x: ndarray, order: Any, axis: Any, keepdims: bool) -> ndarray:
    """The norm of all elements along axes."""
    if order is None or order == 2:
        return _root(_core.sum(_squared(x), axis=axis, keepdims=keepdims))
    if isinstance(order, str):
        raise ValueError(f"norm: {order!r} is no order of a vector norm")
    if order == 0:
        made = _core.sum(_core.not_equal(x, 0), axis=axis, keepdims=keepdims)
        return _core.astype(made, _core.abs(x).dtype)
    sizes = _core.abs(x)
    if order in (_INF, -_INF):
        if order > 0 and x.size == 0 and (axis is None or not any(n == 0 for n in _kept(x, axis))):
            return _core.sum(sizes, axis=axis, keepdims=keepdims)
        return (_core.max if order > 0 else _core.min)(sizes, axis=axis, keepdims=keepdims)
    if order == 1:
        return _core.sum(sizes, axis=axis, keepdims=keepdims)
    return _core.pow(_core.sum(_core.pow(sizes, order), axis=axis, keepdims=keepdims), 1.0 / order)


def _kept(x: ndarray, axis: Any) -> list[int]:
    """Lengths of the axes that stay."""
    gone = normal_axes(axis, x.ndim, "norm")
    return [n for i, n in enumerate(x.shape) if i not in gone]


def _matrix(x: ndarray, order: Any, axis: Any, keepdims: bool) -> ndarray:
    """The norm of the matrices along two axes."""
    row, column = normal_axes(list(axis), x.ndim, "norm")
    if order in (None, "fro", "f"):
        return _vector(x, 2, (row, column), keepdims)
    if order in (2, -2, "nuc"):
        values = _linalg_factors.svd(as_inexact(moveaxis(x, (row, column), (-2, -1))), False, False)[0]
        made = (_core.max if order == 2 else _core.min if order == -2 else _core.sum)(values, axis=-1)
        return _core.expand_dims(made, sorted((row, column))) if keepdims else made
    if order not in (1, -1, _INF, -_INF):
        raise ValueError(f"norm: {order!r} is no order of a matrix norm")
    summed, left = (row, column) if abs(order) == 1 else (column, row)
    sums = _core.sum(_core.abs(x), axis=summed, keepdims=True)
    made = (_core.max if order > 0 else _core.min)(sums, axis=left, keepdims=True)
    return made if keepdims else _core.squeeze(made, [row, column])


def norm(x: ArrayLike, ord: Any = None, axis: Axes = None, keepdims: bool = False) -> ndarray:
    """The norm of vectors (one axis), of matrices (two axes), or of all elements (no axis and no order).

    Orders of vectors: a number, inf, -inf, 0 (how many are not 0). Orders of matrices: "fro", "nuc", 2, -2 (singular
    values), 1, -1 (columns), inf, -inf (rows).

    >>> np.linalg.norm(np.array([3, 4]))
    array(5.)
    """
    x = _floating(x)
    if axis is None:
        if ord is None:
            made = _vector(_core.reshape(x, (-1,)), 2, None, False)
            return _core.reshape(made, (1,) * x.ndim) if keepdims else made
        axis = tuple(range(x.ndim))
    axes = normal_axes(axis, x.ndim, "norm")
    if len(axes) == 1:
        return _vector(x, ord, axes[0], keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: an order of norms is for one or two axes, not for {len(axes)}")
    return _matrix(x, ord, axes, keepdims)


def vector_norm(x: ArrayLike, /, ord: Any = 2, axis: Axes = None, keepdims: bool = False) -> ndarray:
    """The norm of the elements along axes, or of all elements, as of one vector.

    >>> np.linalg.vector_norm(np.array([[3, 4], [6, 8]]), axis=1)
    array([ 5., 10.])
    """
    x = _floating(x)
    if axis is None:
        made = _vector(_core.reshape(x, (-1,)), ord, 0, False)
        return _core.reshape(made, (1,) * x.ndim) if keepdims else made
    return _vector(x, ord, tuple(normal_axes(axis, x.ndim, "vector_norm")), keepdims)


def matrix_norm(x: ArrayLike, /, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False) -> ndarray:
    """The norm of each matrix; for the orders see `norm`.

    >>> np.linalg.matrix_norm(np.ones((5, 2, 2)))
    array([2., 2., 2., 2., 2.])
    """
    x = _floating(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_norm: an array of {x.ndim} dimensions holds no matrices")
    if not isinstance(axis, (tuple, list)) or len(axis) != 2:
        raise ValueError(f"matrix_norm: axis must be the two axes of the matrices, not {axis!r}")
    return _matrix(x, ord, axis, keepdims)


def matrix_rank(A: ArrayLike, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ndarray:
    """How many singular values are larger than `tol`, or than `rtol` times the largest.

    Without either, `rtol` is the larger side of the matrix times the type's `eps`.

    >>> int(np.linalg.matrix_rank(np.ones((3, 3))))
    1
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: `tol` and `rtol` can't be both set.")
    a = as_array(A)
    if a.ndim < 2:
        return _core.astype(_core.any(_core.not_equal(a, 0)), "int64")
    a = as_inexact(a)
    if 0 in a.shape[-2:]:
        return _core.full(a.shape[:-2], 0, "int64", a.device)
    values = (
        _core.abs(_linalg_factors.eigh(a, False, False)[0]) if hermitian else _linalg_factors.svd(a, False, False)[0]
    )
    if tol is None:
        limit = max(a.shape[-2:]) * float(numpy.finfo(a.dtype).eps) if rtol is None else _column(rtol, a)
        tol = _core.max(values, axis=-1, keepdims=True) * limit
    else:
        tol = _column(tol, a)
    return _core.sum(_core.greater(values, tol), axis=-1)


def _column(limit: Any, beside: ndarray) -> Any:
    """A limit for each matrix of a stack, to be compared with the values of each."""
    if isinstance(limit, (int, float)):
        return limit
    given = as_array(limit, beside.device)
    return _core.expand_dims(given, [-1])


def cond(x: ArrayLike, p: Any = None) -> ndarray:
    """The condition of each matrix: the norm of order `p` times that of the inverse; None: of singular values.

    >>> np.linalg.cond(np.array([[1, 0], [0, 4]]))
    array(4.)
    """
    x = as_inexact(x)
    if x.size == 0 and 0 in x.shape[-2:]:
        raise numpy.linalg.LinAlgError(f"cond: shape {x.shape} holds no elements")
    if x.ndim < 2:
        raise numpy.linalg.LinAlgError(f"cond: an array of {x.ndim} dimensions holds no matrices")
    if p is None or p in (2, -2):
        values = _linalg_factors.svd(x, False, False)[0]
        first, last = _core.select(values, values.ndim - 1, 0), _core.select(values, values.ndim - 1, -1)
        made = last / first if p == -2 else first / last
    else:
        made = _matrix(x, p, (-2, -1), False) * _matrix(_linalg_factors.inv(x, True), p, (-2, -1), False)
    unknown = _core.any(_core.isnan(x), axis=(-2, -1))
    return _core.where(_core.logical_and(_core.isnan(made), _core.logical_not(unknown)), _INF, made)


if not TYPE_CHECKING:
    __all__ = public(globals())
