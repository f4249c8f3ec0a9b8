"""Counts of numbers: bincount and histograms. Edges that follow from values are not waited for."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, public
from ._by_numpy import by_numpy, ours, refuse_history
from ._joining import concatenate
from ._sorting import searchsorted
from ._types import ArrayLike

_F64, _I64 = numpy.dtype("float64"), numpy.dtype("int64")


def bincount(x: ArrayLike, /, weights: ArrayLike = None, minlength: int = 0) -> ndarray:
    """How often each number from 0 to the largest occurs (or the sum of its weights). Waits for the largest.

    >>> np.bincount(np.array([1, 3, 1], dtype="int32"))
    array([0, 2, 0, 1], dtype=int64)
    """
    x = x if isinstance(x, ndarray) else _core.array(numpy.asarray(x), None, None, None)
    if x.size == 0 and x.dtype.kind == "f":
        x = _core.astype(x, _I64)
    if x.dtype.kind not in "iub":
        raise TypeError(f"bincount: the array must be of integers, not of {x.dtype}")
    if x.ndim != 1:
        raise ValueError(f"bincount: the array has shape {x.shape}, but must have one dimension")
    least = operator.index(minlength)
    if least < 0:
        raise ValueError(f"bincount: minlength={least} is negative")
    largest = _core.read_number(_core.max(x), "bincount") if x.size else -1
    if x.size and largest < 0:
        raise ValueError(f"bincount: {largest} is negative")
    return _core.bincount(x, max(least, largest + 1), None if weights is None else as_array(weights, x.device))


# ---- edges


def _static_edges(bins: Any, ends: Any, dtype: Any, device: Any, function: str) -> ndarray:
    """Edges of equal bins between ends that are known."""
    if not (math.isfinite(ends[0]) and math.isfinite(ends[1])):
        raise ValueError(f"{function}: the range {tuple(ends)} is not finite")
    if ends[0] > ends[1]:
        raise ValueError(f"{function}: the range {tuple(ends)} falls")
    edges = numpy.histogram_bin_edges(numpy.zeros(0), bins, (float(ends[0]), float(ends[1])))
    return _core.array(edges.astype(dtype), dtype, device, None)


def _edges(a: ndarray, bins: Any, ends: Any, weights: Any, function: str) -> tuple[ndarray, bool]:
    """The edges of bins, and whether these are equally wide. `bins` is a number, a rule's name, or edges."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(f"{function}: the rule {bins!r} knows no weights")
        refuse_history(f"np.{function}", a)
        values = _core.read_values(a, function)
        return ours(numpy.histogram_bin_edges(values, bins, ends), a.device), True
    if bins.ndim if isinstance(bins, ndarray) else numpy.ndim(bins):
        edges = as_array(bins if isinstance(bins, ndarray) else numpy.asarray(bins), a.device)
        if edges.ndim != 1:
            raise ValueError(f"{function}: the edges have shape {edges.shape}, but must have one dimension")
        if not isinstance(bins, ndarray) and numpy.any(numpy.diff(numpy.asarray(bins)) < 0):
            raise ValueError(f"{function}: the edges {bins} do not increase")
        return edges, False
    number = operator.index(bins)
    if number < 1:
        raise ValueError(f"{function}: {number} bins; there must be at least 1")
    dtype = _core.result_type(a, 1.0)
    if ends is not None or a.size == 0:
        return _static_edges(number, (0.0, 1.0) if ends is None else ends, dtype, a.device, function), True
    low, high = (_core.astype(part, _F64) for part in (_core.min(a), _core.max(a)))
    flat = _core.equal(low, high)
    low, high = _core.where(flat, low - 0.5, low), _core.where(flat, high + 0.5, high)
    steps = _core.arange(0, 1, number, _F64, a.device) * ((high - low) / number) + low
    return _core.astype(concatenate([steps, _core.reshape(high, (1,))]), dtype), True


@by_numpy("waits", "a rule's name as `bins`")
def histogram_bin_edges(a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike = None) -> ndarray:
    """The edges of the bins of `np.histogram`. Waits only where `bins` is the name of a rule.

    >>> np.histogram_bin_edges(np.array([0, 1, 4]), 4)
    array([0., 1., 2., 3., 4.])
    """
    x = as_array(a)
    return _edges(_countable(x), bins, range, weights, "histogram_bin_edges")[0]


def _countable(x: ndarray) -> ndarray:
    x = _core.reshape(x, (-1,))
    return _core.astype(x, numpy.uint8) if x.dtype.kind == "b" else x


# ---- histograms


def _sums(counts: Any, weights: ndarray) -> ndarray:
    """Sums of weights in the weights' own type; `counts` sums real ones."""
    if weights.dtype.kind == "c":
        made = counts(weights.real) + counts(weights.imag) * 1j
    else:
        made = counts(weights)
    return _core.astype(made, weights.dtype)


def histogram(
    a: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike = None,
) -> tuple[ndarray, ndarray]:
    """How many elements fall in each bin, and the edges of the bins. Waits only where `bins` is the name of a rule.

    >>> np.histogram(np.array([1, 2, 1]), bins=[0, 1, 2, 3])
    (array([0, 2, 1], dtype=int64), array([0, 1, 2, 3], dtype=int64))
    """
    x = as_array(a)
    by = None if weights is None else as_array(weights, x.device)
    if by is not None and by.shape != x.shape:
        raise ValueError(f"histogram: weights have shape {by.shape}, the array has {x.shape}")
    x = _countable(x)
    edges, equal = _edges(x, bins, range, by, "histogram")
    if by is None:
        made = _core.histogram(x, edges, None, equal)
    else:
        made = _sums(lambda w: _core.histogram(x, edges, w, equal), _core.reshape(by, (-1,)))
    if density:
        widths = _core.astype(edges[1:] - edges[:-1], _F64)
        made = made / widths / _core.sum(made)
    return made, edges


def _sample(sample: Any) -> list[ndarray]:
    """The coordinates of points: columns of a table, or a list of lines."""
    if isinstance(sample, (list, tuple)):
        return [_core.reshape(as_array(line), (-1,)) for line in sample]
    table = as_array(sample)
    if table.ndim == 1:
        table = _core.reshape(table, (-1, 1))
    if table.ndim != 2:
        raise ValueError(f"histogramdd: the sample has shape {table.shape}, but must be a table of points")
    return [table[:, i] for i in builtins_range(table.shape[1])]


builtins_range = range


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: ArrayLike = None
) -> tuple[ndarray, tuple[ndarray, ...]]:
    """How many points (rows of `sample`) fall in each bin, and the edges of the bins of each coordinate.

    >>> h, edges = np.histogramdd(np.array([[0, 0], [1, 1], [1, 1]]), bins=2)
    >>> h
    array([[1., 0.],
           [0., 2.]], dtype=float64)
    """
    columns = _sample(sample)
    dims = len(columns)
    each = list(bins) if isinstance(bins, (list, tuple)) else [bins] * dims
    ends = [None] * dims if range is None else list(range)
    if len(each) != dims or len(ends) != dims:
        raise ValueError(f"histogramdd: {len(each)} bins and {len(ends)} ranges for points of {dims} coordinates")
    columns = [_countable(column) for column in columns]
    edges = tuple(_edges(c, b, r, None, "histogramdd")[0] for c, b, r in zip(columns, each, ends, strict=True))
    place: Any = 0
    for column, edge in zip(columns, edges, strict=True):
        found = searchsorted(edge, column, "right") - _core.astype(_core.equal(column, edge[-1]), _I64)
        place = place * (edge.size + 1) + found
    shape = tuple(edge.size + 1 for edge in edges)
    total = math.prod(shape)
    if weights is None:
        made = _core.bincount(place, total)
    else:
        made = _core.bincount(place, total, as_array(weights, place.device))
    made = _core.reshape(_core.astype(made, _F64), shape)[(slice(1, -1),) * dims]
    if density:
        everything = _core.sum(made)
        for i, edge in enumerate(edges):
            widths = _core.astype(edge[1:] - edge[:-1], _F64)
            made = made / _core.reshape(widths, tuple(-1 if j == i else 1 for j in builtins_range(dims)))
        made = made / everything
    return made, edges


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike = None,
) -> tuple[ndarray, ndarray, ndarray]:
    """How many points fall in each cell of a grid, and the edges of its columns and rows.

    >>> np.histogram2d(np.array([0, 1, 1]), np.array([0, 1, 1]), bins=2)[0]
    array([[1., 0.],
           [0., 2.]], dtype=float64)
    """
    lines = [as_array(x), as_array(y)]
    if lines[0].size != lines[1].size:
        raise ValueError(f"histogram2d: x has {lines[0].size} elements, y has {lines[1].size}")
    pair = isinstance(bins, Sequence) and not isinstance(bins, str) and len(bins) == 2
    if not pair and not isinstance(bins, (int, numpy.integer)):
        bins = [bins, bins]
    made, (first, second) = histogramdd(lines, bins, range, density, weights)
    return made, first, second


if not TYPE_CHECKING:
    __all__ = [name for name in public(globals()) if name != "builtins_range"]
