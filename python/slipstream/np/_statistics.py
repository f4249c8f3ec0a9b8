"""Order statistics, covariances, histograms and counts, composed of sorts, searches and sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_dtype, deliver, is_number, normal_axes, public
from ._by_numpy import behind, by_numpy
from ._joining import concatenate
from ._manipulation import moveaxis
from ._sorting import _gather
from ._types import ArrayLike, Axes, DTypeLike

_F64, _I64 = numpy.dtype("float64"), numpy.dtype("int64")

# ---- quantiles


def _lines(a: ArrayLike, axis: Axes, function: str) -> tuple[ndarray, tuple[int, ...]]:
    """The array with the axes to reduce as its last one, and the shape of a result that keeps them."""
    x = as_array(a)
    axes = list(range(x.ndim)) if axis is None else normal_axes(axis, x.ndim, function)
    rest = [i for i in range(x.ndim) if i not in axes]
    shape = tuple(x.shape[i] for i in rest)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    n = math.prod(x.shape[i] for i in axes)
    return _core.reshape(_core.transpose(x, rest + axes), (*shape, n)), kept


def _boundary(index: Any, upwards: Callable[[Any, Any], Any], xp: Any) -> Any:
    low = xp.floor(index)
    return xp.maximum(xp.where(upwards(index - low, low), low, low + 1), 0.0)


def _plotting(alpha: float, beta: float) -> Callable[[Any, Any, Any], Any]:
    return lambda n, q, xp: n * q + (alpha + q * (1 - alpha - beta)) - 1


# For each method the place of a quantile among n sorted numbers, counted from 0, and what fractions of places become.
# `xp` is NumPy, for places that are known at the call, or the core.
_METHODS: dict[str, tuple[Callable[[Any, Any, Any], Any], Callable[[Any, Any, Any], Any] | None]] = {
    "linear": (lambda n, q, xp: (n - 1) * q, None),
    "lower": (lambda n, q, xp: xp.floor((n - 1) * q), None),
    "higher": (lambda n, q, xp: xp.ceil((n - 1) * q), None),
    "nearest": (lambda n, q, xp: xp.rint((n - 1) * q), None),
    "midpoint": (
        lambda n, q, xp: 0.5 * (xp.floor((n - 1) * q) + xp.ceil((n - 1) * q)),
        lambda part, place, xp: xp.where(part == 0, 0.0, 0.5),
    ),
    "inverted_cdf": (lambda n, q, xp: _boundary(n * q - 1, lambda part, low: part == 0, xp), None),
    "closest_observation": (
        lambda n, q, xp: _boundary(n * q - 1.5, lambda part, low: (part == 0) & (low % 2 == 1), xp),
        None,
    ),
    "averaged_inverted_cdf": (
        lambda n, q, xp: n * q - 1,
        lambda part, place, xp: xp.where(part == 0, 0.5, 1.0),
    ),
    "interpolated_inverted_cdf": (_plotting(0, 1), None),
    "hazen": (_plotting(0.5, 0.5), None),
    "weibull": (_plotting(0, 0), None),
    "median_unbiased": (_plotting(1 / 3, 1 / 3), None),
    "normal_unbiased": (_plotting(3 / 8, 3 / 8), None),
}
_DISCRETE = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def _places(method: str, n: Any, q: Any, xp: Any) -> tuple[Any, Any, Any]:
    """The places before and behind each quantile, and how far it lies between them."""
    place, fraction = _METHODS[method]
    at = place(n, q, xp)
    low = xp.floor(at)
    part = at - low
    if fraction is not None:
        part = fraction(part, at, xp)
    top = n - 1.0
    inside = xp.where(at >= top, 0.0, xp.where(at < 0, 0.0, part))
    return xp.maximum(xp.minimum(low, top), 0.0), xp.maximum(xp.minimum(low + 1, top), 0.0), inside


def _between(low: ndarray, high: ndarray, part: ndarray) -> ndarray:
    """From low to high by a part of the way, exact at both ends."""
    step = high - low
    return _core.where(_core.greater_equal(part, 0.5), high - step * (1 - part), low + step * part)


def _quantile(
    a: ArrayLike, q: Any, axis: Axes, out: Any, method: str, keepdims: bool, skip: bool, function: str
) -> ndarray:
    if method not in _METHODS:
        raise ValueError(f"{function}: method {method!r} is none of {', '.join(_METHODS)}")
    x, kept = _lines(a, axis, function)
    if x.dtype.kind == "c":
        raise TypeError(f"{function}: complex numbers have no quantiles")
    weak = is_number(q)
    wanted: Any
    percent = 100.0 if "percentile" in function else 1.0
    dtype = x.dtype if method in _DISCRETE else _core.result_type(x, 1.0 if weak else _type_of(q))
    if isinstance(q, ndarray):
        shape, wanted = q.shape, _core.reshape(_core.astype(q, _F64), (-1,)) / percent
        outside = _core.logical_not(_core.logical_and(_core.greater_equal(wanted, 0), _core.less_equal(wanted, 1)))
    else:
        values = numpy.asarray(q, _F64) / percent
        if not (numpy.all(values >= 0) and numpy.all(values <= 1)):
            raise ValueError(f"{function}: {q} is not between 0 and {int(percent)}")
        shape, wanted, outside = values.shape, values.reshape(-1), None
    made = _found(x, wanted, method, dtype, skip) if x.shape[-1] else _nothing(x, math.prod(shape), dtype)
    if outside is not None and dtype.kind in "fV":
        made = _core.where(outside, math.nan, made)
    made = moveaxis(made, -1, 0)
    return deliver(_core.reshape(made, (*shape, *(kept if keepdims else x.shape[:-1]))), out, function)


def _type_of(q: Any) -> Any:
    return q.dtype if isinstance(q, (ndarray, numpy.ndarray, numpy.generic)) else as_dtype(None)


def _nothing(x: ndarray, number: int, dtype: Any) -> ndarray:
    if dtype.kind not in "fV":
        raise IndexError(f"an axis of size 0 in an array of shape {x.shape} has no quantiles")
    return _core.full((*x.shape[:-1], number), math.nan, dtype, x.device)


def _found(x: ndarray, q: Any, method: str, dtype: Any, skip: bool) -> ndarray:
    """Quantiles of lines, one after another in the last axis."""
    n, last, inexact = x.shape[-1], x.ndim - 1, x.dtype.kind in "fV"
    if isinstance(q, ndarray) or (skip and inexact):
        line = _core.sort(x, last)
        missing = _core.isnan(x) if inexact else None
        count: Any = float(n)
        if skip and missing is not None:
            count = n - _core.sum(missing, axis=last, dtype=_F64, keepdims=True)
        wanted = q if isinstance(q, ndarray) else _core.array(q, _F64, x.device, None)
        low, high, part = _places(method, count, wanted, _core)
        many = (*x.shape[:-1], wanted.size)
        places = [_core.astype(_core.broadcast_to(place, many), _I64) for place in (low, high)]
        first, second = (_gather(line, place, last) for place in places)
        bad = None
        if missing is not None:
            over = _core.all if skip else _core.any
            bad = over(missing, axis=last, keepdims=True)
    else:
        low, high, known = _places(method, float(n), q, numpy)
        kth = numpy.unique(numpy.concatenate([low, high, [n - 1]])).astype(int).tolist()
        line = _core.partition(x, kth, last)
        first, second = (
            _core.take(line, _core.array(place.astype(_I64), _I64, x.device, None), last, "raise")
            for place in (low, high)
        )
        bad = _core.isnan(line[..., -1:]) if inexact else None
        part = _core.array(known, _F64, x.device, None)
    made = first
    if method not in _DISCRETE:
        if x.dtype.kind == "b":
            raise TypeError(f"quantile: there is nothing between two bools; use one of {', '.join(_DISCRETE)}")
        made = _between(_core.astype(first, dtype), _core.astype(second, dtype), _core.astype(part, dtype))
    return made if bad is None else _core.where(bad, math.nan, made)


def _weighted(a: ArrayLike, q: Any, axis: Axes, method: str, keepdims: bool, weights: Any, function: str) -> ndarray:
    """Quantiles by weights, which NumPy computes."""
    if method != "inverted_cdf":
        raise ValueError(f"{function}: method {method!r} knows no weights; 'inverted_cdf' does")
    x = as_array(a)
    shape = numpy.shape(q) + getattr(numpy, function)(numpy.zeros(x.shape), 0.5, axis=axis, keepdims=keepdims).shape
    call = getattr(numpy, function)
    made: ndarray = behind(
        f"np.{function}",
        lambda x, w, q=q: call(x, q, axis=axis, method=method, keepdims=keepdims, weights=w),
        [x, as_array(weights, x.device), *([q] if isinstance(q, ndarray) else [])],
        shape,
        x.dtype,
    )
    return made


@by_numpy("behind", "with `weights`")
def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: ndarray | None = None,
    overwrite_input: bool | None = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike = None,
    interpolation: str | None = None,
) -> ndarray:
    """The numbers below which lie given parts (0 to 1) of the elements; NaN where there is one among them.

    A `q` that is an array of ours is not waited for: where it is out of range, the result is NaN.

    >>> np.quantile(np.array([1, 2, 3, 4]), 0.5)
    array(2.5)
    """
    method = interpolation or method
    if weights is not None:
        return deliver(_weighted(a, q, axis, method, keepdims, weights, "quantile"), out, "quantile")
    return _quantile(a, q, axis, out, method, keepdims, False, "quantile")


@by_numpy("behind", "with `weights`")
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: ndarray | None = None,
    overwrite_input: bool | None = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike = None,
    interpolation: str | None = None,
) -> ndarray:
    """`np.quantile` of parts in percent (0 to 100).

    >>> np.percentile(np.array([1, 2, 3, 4, 5]), 25)
    array(2.)
    """
    method = interpolation or method
    if weights is not None:
        return deliver(_weighted(a, q, axis, method, keepdims, weights, "percentile"), out, "percentile")
    return _quantile(a, q, axis, out, method, keepdims, False, "percentile")


@by_numpy("behind", "with `weights`")
def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike = None,
    interpolation: str | None = None,
) -> ndarray:
    """`np.quantile` of the elements that are not NaN.

    >>> np.nanquantile(np.array([1, np.nan, 3]), 0.5)
    array(2.)
    """
    method = interpolation or method
    if weights is not None:
        return deliver(_weighted(a, q, axis, method, keepdims, weights, "nanquantile"), out, "nanquantile")
    return _quantile(a, q, axis, out, method, keepdims, True, "nanquantile")


@by_numpy("behind", "with `weights`")
def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike = None,
    interpolation: str | None = None,
) -> ndarray:
    """`np.percentile` of the elements that are not NaN.

    >>> np.nanpercentile(np.array([1, np.nan, 3]), 50)
    array(2.)
    """
    method = interpolation or method
    if weights is not None:
        return deliver(_weighted(a, q, axis, method, keepdims, weights, "nanpercentile"), out, "nanpercentile")
    return _quantile(a, q, axis, out, method, keepdims, True, "nanpercentile")


def median(
    a: ArrayLike,
    axis: Axes = None,
    out: ndarray | None = None,
    overwrite_input: bool | None = False,
    keepdims: bool = False,
) -> ndarray:
    """The middle element, or the mean of both middle ones; NaN where there is one among them.

    >>> np.median(np.array([[10, 7, 4], [3, 2, 1]]), axis=1)
    array([7., 2.])
    """
    x, kept = _lines(a, axis, "median")
    n, last = x.shape[-1], x.ndim - 1
    if n == 0:
        made = _core.full(x.shape[:-1], math.nan, _core.result_type(x, 1.0), x.device)
    else:
        low = (n - 1) // 2
        line = _core.partition(x, sorted({low, n // 2, n - 1}), last)
        made = _core.mean(line[..., low : n // 2 + 1], axis=last)
        if x.dtype.kind in "fcV":
            made = _core.where(_core.isnan(line[..., -1]), math.nan, made)
    return deliver(_core.reshape(made, kept) if keepdims else made, out, "median")


def nanmedian(
    a: ArrayLike, axis: Axes = None, out: ndarray | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> ndarray:
    """The median of the elements that are not NaN.

    >>> np.nanmedian(np.array([1, np.nan, 3, 8]))
    array(3.)
    """
    x = as_array(a)
    if x.dtype.kind not in "fV":
        return median(x, axis, out, keepdims=keepdims)
    return _quantile(x, 0.5, axis, out, "linear", keepdims, True, "nanmedian")


# ---- places of extremes


def _nanarg(function: str, a: Any, axis: int | None, out: Any, keepdims: bool) -> ndarray:
    x = as_array(a)
    search, worst = (_core.argmax, -math.inf) if function == "nanargmax" else (_core.argmin, math.inf)
    if x.dtype.kind not in "fcV":
        return deliver(search(x, axis=axis, keepdims=keepdims), out, function)
    missing = _core.isnan(x)
    found = search(_core.where(missing, worst, x), axis=axis, keepdims=keepdims)
    lost = _core.all(missing, axis=axis, keepdims=keepdims)

    def check(places: Any, lost: Any) -> Any:
        if lost.any():
            raise ValueError(f"{function}: all elements of a line are NaN")
        return places

    made = behind(f"np.{function}", check, [found, lost], found.shape, found.dtype, found.device)
    return deliver(made, out, function)


@by_numpy("behind", "the check for lines that are all NaN")
def nanargmax(a: ArrayLike, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
    """The place of the largest element that is not NaN. Where there is none, reading the result raises ValueError.

    >>> np.nanargmax(np.array([1, np.nan, 3]))
    array(2, dtype=int64)
    """
    return _nanarg("nanargmax", a, axis, out, keepdims)


@by_numpy("behind", "the check for lines that are all NaN")
def nanargmin(a: ArrayLike, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
    """The place of the smallest element that is not NaN. Where there is none, reading the result raises ValueError.

    >>> np.nanargmin(np.array([np.nan, 5, 3]))
    array(2, dtype=int64)
    """
    return _nanarg("nanargmin", a, axis, out, keepdims)


# ---- covariances


def _variables(m: ArrayLike, rowvar: bool, dtype: Any, first: bool) -> ndarray:
    """Variables as rows. A single row of the second array is one variable in any case, as in NumPy."""
    x = _core.astype(as_array(m), dtype)
    if x.ndim > 2:
        raise ValueError(f"cov: an array of shape {x.shape} has more than 2 dimensions")
    if x.ndim < 2:
        return _core.reshape(x, (1, -1))
    return x if rowvar or (x.shape[0] == 1 and not first) else _core.transpose(x)


def cov(
    m: ArrayLike,
    y: ArrayLike = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike = None,
    aweights: ArrayLike = None,
    *,
    dtype: DTypeLike = None,
) -> ndarray:
    """Covariances of variables, which are rows (or columns: rowvar=False) of observations.

    >>> np.cov(np.array([[0, 1, 2], [2, 1, 0]]))
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float64)
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"cov: ddof={ddof} is not an integer")
    given = [as_array(part) for part in (m, y) if part is not None]
    kind = as_dtype(dtype) if dtype is not None else _core.result_type(*given, _F64)
    parts = [_variables(part, rowvar, kind, part is given[0]) for part in given]
    x = concatenate(parts) if len(parts) > 1 else parts[0]
    weights: Any = None
    for name, part in (("fweights", fweights), ("aweights", aweights)):
        if part is not None:
            part = as_array(part, x.device)
            if part.shape != (x.shape[1],):
                raise ValueError(f"cov: {name} have shape {part.shape}, but there are {x.shape[1]} observations")
            weights = _core.astype(part, _F64) if weights is None else weights * part
    ddof = (0 if bias else 1) if ddof is None else int(ddof)
    total = _core.sum(weights) if weights is not None else float(x.shape[1])
    if weights is None:
        mean = _core.mean(x, axis=1, keepdims=True) if x.shape[1] else math.nan
        factor: Any = total - ddof
    else:
        mean = _core.sum(x * weights, axis=1, keepdims=True) / total
        spread = _core.sum(weights * aweights) if aweights is not None else total
        factor = total - ddof * spread / total
    if is_number(factor) and factor <= 0:
        factor = 0.0
    x = x - mean
    other = _core.transpose(x if weights is None else x * weights)
    made = _core.matmul(x, _core.conj(other) if kind.kind == "c" else other)
    made = made / (_core.full((), factor, _F64, x.device) if is_number(factor) else factor)
    return _core.squeeze(_core.astype(made, kind))


def corrcoef(x: ArrayLike, y: ArrayLike = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> ndarray:
    """Correlations of variables, as `np.cov` takes them.

    >>> np.corrcoef(np.array([[0, 1, 2], [4, 2, 0]]))
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float64)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    scale = _core.sqrt(_core.diagonal(c, 0, 0, 1).real)
    c = c / _core.reshape(scale, (-1, 1)) / scale
    if c.dtype.kind == "c":
        return _core.clip(c.real, -1, 1) + _core.clip(c.imag, -1, 1) * 1j
    return _core.clip(c, -1, 1)


if not TYPE_CHECKING:
    __all__ = public(globals())
