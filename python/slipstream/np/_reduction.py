"""Reductions and scans composed of the core's: with NumPy's axis=None, weights, and versions that skip NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, deliver, normal_axes, public
from ._types import ArrayLike, Axes, DTypeLike

# ---- scans


def _cumulative(
    scan: Any, first: int, x: ArrayLike, axis: int | None, dtype: DTypeLike, out: ndarray | None, initial: bool
) -> ndarray:
    x = as_array(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an array of {x.ndim} dimensions needs an axis")
        axis = 0
    made = scan(x, axis, dtype)
    if initial:
        shape = list(made.shape)
        shape[axis] = 1
        made = _core.concatenate([_core.full(tuple(shape), first, made.dtype, made.device), made], axis)
    return deliver(made, out, "cumulative")


def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    include_initial: bool = False,
) -> ndarray:
    """The array API standard's `cumsum`, which can begin with 0.

    >>> np.cumulative_sum(np.array([1, 2, 3]), include_initial=True)
    array([0., 1., 3., 6.])
    """
    return _cumulative(_core.cumsum, 0, x, axis, dtype, out, include_initial)


def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    include_initial: bool = False,
) -> ndarray:
    """The array API standard's `cumprod`, which can begin with 1.

    >>> np.cumulative_prod(np.array([1, 2, 3]), include_initial=True)
    array([1., 1., 2., 6.])
    """
    return _cumulative(_core.cumprod, 1, x, axis, dtype, out, include_initial)


# ---- composed


def ptp(a: ArrayLike, axis: Axes = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """The largest element minus the smallest.

    >>> np.ptp(np.array([3, 9, 4]))
    array(6.)
    """
    a = as_array(a)
    return _core.subtract(
        _core.max(a, axis=axis, keepdims=keepdims), _core.min(a, axis=axis, keepdims=keepdims), out=out
    )


def count_nonzero(a: ArrayLike, axis: Axes = None, *, keepdims: bool = False) -> ndarray:
    """How many elements are not 0.

    >>> np.count_nonzero(np.eye(3))
    array(3, dtype=int64)
    """
    return _core.sum(_core.not_equal(as_array(a), 0), axis=axis, dtype=numpy.int64, keepdims=keepdims)


def average(
    a: ArrayLike,
    axis: Axes = None,
    weights: ArrayLike = None,
    returned: bool = False,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> Any:
    """The mean, or the mean by weights; with `returned` also the sum of the weights.

    >>> np.average(np.array([1, 2, 3]), weights=np.array([3, 0, 1]))
    array(1.5)
    """
    a = as_array(a)
    if weights is None:
        made = _core.mean(a, axis=axis, keepdims=keepdims)
        total: Any = _core.full(made.shape, a.size / max(made.size, 1), made.dtype, made.device)
    else:
        weights = as_array(weights, a.device)
        if weights.shape != a.shape:
            axes = normal_axes(axis, a.ndim, "average") if axis is not None else []
            if not axes or weights.shape != tuple(a.shape[i] for i in axes):
                raise ValueError(f"average: weights of shape {weights.shape} for an array {a.shape}, axis {axis}")
            order = sorted(range(len(axes)), key=axes.__getitem__)
            spread = [a.shape[i] if i in axes else 1 for i in range(a.ndim)]
            weights = _core.broadcast_to(_core.reshape(_core.transpose(weights, order), tuple(spread)), a.shape)
        kind = _core.result_type(a, weights, 1.0)
        total = _core.sum(weights, axis=axis, dtype=kind, keepdims=keepdims)
        made = _core.sum(_core.multiply(a, weights), axis=axis, dtype=kind, keepdims=keepdims) / total
    made = deliver(made, out, "average")
    return (made, total) if returned else made


# ---- variances


def _spread(
    reduce: Callable[..., ndarray],
    a: ArrayLike,
    axis: Axes,
    dtype: DTypeLike,
    out: ndarray | None,
    ddof: float,
    keepdims: bool,
    where: Any,
    mean: ArrayLike,
    correction: float | None,
) -> ndarray:
    """The variance or its root; around a mean that is known, in the shape that it has with `keepdims`."""
    if correction is not None:
        if ddof != 0:
            raise ValueError(f"{reduce.__name__}: ddof and correction mean the same: give one of them")
        ddof = correction
    if mean is None:
        return reduce(a, axis, dtype, out, ddof, keepdims, where)
    a = as_array(a)
    away = a - as_array(mean, a.device)
    square = _core.real(away * _core.conj(away)) if away.dtype.kind == "c" else away * away
    if dtype is None and a.dtype.kind in "biu":
        dtype = numpy.float64
    total = _core.sum(square, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if where is None or where is True:
        number: Any = a.size / max(total.size, 1)
    else:
        counted = _core.broadcast_to(as_array(where, a.device), a.shape)
        number = _core.sum(counted, axis=axis, dtype=_core.real(total).dtype, keepdims=keepdims)
    made = total / _core.maximum(number - ddof, 0)
    return deliver(_core.sqrt(made) if reduce is _core.std else made, out, reduce.__name__)


def var(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: ArrayLike = None,
    *,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> ndarray:
    """The mean of the squares of the distances from the mean, which may be given if it is known.

    >>> np.var(np.array([1, 2, 3, 4]))
    array(1.25)
    """
    if mean is None and correction is None:  # the usual call goes straight to the core
        return _core.var(a, axis, dtype, out, ddof, keepdims, where)
    return _spread(_core.var, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def std(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: ArrayLike = None,
    *,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> ndarray:
    """The square root of the variance.

    >>> np.std(np.array([1, 2, 3, 4]))
    array(1.118034)
    """
    if mean is None and correction is None:  # the usual call goes straight to the core
        return _core.std(a, axis, dtype, out, ddof, keepdims, where)
    return _spread(_core.std, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


# ---- without NaN


def _numbers(a: ndarray, where: Any) -> Any:
    """Which elements count: those that are not NaN, and chosen by `where`."""
    kept = _core.logical_not(_core.isnan(a))
    return kept if where is None or where is True else _core.logical_and(kept, where)


def _inexact(a: ndarray) -> bool:
    return a.dtype.kind in "fcV"


def nansum(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: ArrayLike = None,
) -> ndarray:
    """The sum, NaN counted as 0.

    >>> np.nansum(np.array([1, np.nan, 2]))
    array(3.)
    """
    a = as_array(a)
    kept = _numbers(a, where) if _inexact(a) else where
    return _core.sum(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=kept)


def nanprod(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: ArrayLike = None,
) -> ndarray:
    """The product, NaN counted as 1.

    >>> np.nanprod(np.array([3, np.nan, 2]))
    array(6.)
    """
    a = as_array(a)
    kept = _numbers(a, where) if _inexact(a) else where
    return _core.prod(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=kept)


def _extreme(
    reduce: Callable[..., ndarray], worst: float, a: Any, axis: Axes, out: Any, keepdims: bool, initial: Any, where: Any
) -> ndarray:
    a = as_array(a)
    if not _inexact(a):
        return reduce(a, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)
    missing = _core.isnan(a)
    found = reduce(_core.where(missing, worst, a), axis=axis, keepdims=keepdims, initial=initial, where=where)
    nothing = _core.all(missing, axis=axis, keepdims=keepdims, where=where)
    if initial is not None:
        return deliver(found, out, "nanmax")
    return deliver(_core.where(nothing, math.nan, found), out, "nanmax")


def nanmax(
    a: ArrayLike,
    axis: Axes = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: ArrayLike = None,
) -> ndarray:
    """The largest element that is not NaN; NaN if there is none.

    >>> np.nanmax(np.array([1, np.nan, 2]))
    array(2.)
    """
    return _extreme(_core.max, -math.inf, a, axis, out, keepdims, initial, where)


def nanmin(
    a: ArrayLike,
    axis: Axes = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: ArrayLike = None,
) -> ndarray:
    """The smallest element that is not NaN; NaN if there is none.

    >>> np.nanmin(np.array([1, np.nan, 2]))
    array(1.)
    """
    return _extreme(_core.min, math.inf, a, axis, out, keepdims, initial, where)


def nanmean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = None,
) -> ndarray:
    """The mean of the elements that are not NaN.

    >>> np.nanmean(np.array([1, np.nan, 2]))
    array(1.5)
    """
    a = as_array(a)
    kept = _numbers(a, where) if _inexact(a) else where
    return _core.mean(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=kept)


def nanvar(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = None,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> ndarray:
    """The variance of the elements that are not NaN.

    >>> np.nanvar(np.array([1, np.nan, 3]))
    array(1.)
    """
    a = as_array(a)
    kept = _numbers(a, where) if _inexact(a) else where
    return _spread(_core.var, a, axis, dtype, out, ddof, keepdims, kept, mean, correction)


def nanstd(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = None,
    mean: ArrayLike = None,
    correction: float | None = None,
) -> ndarray:
    """The standard deviation of the elements that are not NaN.

    >>> np.nanstd(np.array([1, np.nan, 3]))
    array(1.)
    """
    a = as_array(a)
    kept = _numbers(a, where) if _inexact(a) else where
    return _spread(_core.std, a, axis, dtype, out, ddof, keepdims, kept, mean, correction)


def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray:
    """`cumsum`, NaN counted as 0.

    >>> np.nancumsum(np.array([1, np.nan, 2]))
    array([1., 1., 3.])
    """
    a = as_array(a)
    return _core.cumsum(_core.where(_core.isnan(a), 0.0, a) if _inexact(a) else a, axis, dtype, out)


def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray:
    """`cumprod`, NaN counted as 1.

    >>> np.nancumprod(np.array([3, np.nan, 2]))
    array([3., 3., 6.])
    """
    a = as_array(a)
    return _core.cumprod(_core.where(_core.isnan(a), 1.0, a) if _inexact(a) else a, axis, dtype, out)


if not TYPE_CHECKING:
    __all__ = public(globals())
