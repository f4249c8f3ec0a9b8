"""Small helpers of NumPy's: blocks, grids by indexing, walks over indices, numbers as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import CASTING, as_array, as_arrays, check_choice, public
from ._creation import arange, linspace, meshgrid
from ._joining import concatenate
from ._types import ArrayLike

ndindex = numpy.ndindex
s_ = numpy.s_
index_exp = numpy.index_exp
base_repr = numpy.base_repr
binary_repr = numpy.binary_repr
format_float_positional = numpy.format_float_positional
format_float_scientific = numpy.format_float_scientific
typename = numpy.typename
mintypecode = numpy.mintypecode


def copyto(dst: ndarray, src: ArrayLike, casting: str = "same_kind", where: ArrayLike = True) -> None:
    """Writes values into an array, where a mask is true; they are broadcast.

    >>> x = np.zeros(3)
    >>> np.copyto(x, 5, where=np.array([True, False, True]))
    >>> x
    array([5., 0., 5.])
    """
    check_choice("copyto", "casting", casting, CASTING)
    if not isinstance(dst, ndarray):
        raise TypeError(f"copyto: dst must be an ndarray, not {type(dst).__name__}")
    values = as_arrays((dst, src))[1]
    strong = isinstance(src, (ndarray, numpy.ndarray, numpy.generic))
    if strong and not numpy.can_cast(values.dtype, dst.dtype, casting=casting):  # type: ignore[arg-type]
        raise TypeError(f"copyto: cannot cast from {values.dtype} to {dst.dtype} by the rule {casting!r}")
    if where is True:
        _core.assign(dst, values if strong else src)
        return
    mask = as_array(where, dst.device)
    if mask.dtype.kind != "b":
        raise TypeError(f"copyto: where must be an array of bool, not of {mask.dtype}")
    _core.where(_core.broadcast_to(mask, dst.shape), _core.astype(values, dst.dtype), dst, out=dst)


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("block: a list is empty")
    depths = {_depth(part) for part in arrays}
    if len(depths) > 1:
        raise ValueError("block: the lists are not nested to one depth")
    return 1 + depths.pop()


def _joined(arrays: Any, depth: int, ndim: int) -> ndarray:
    if depth == 0:
        x = as_array(arrays)
        return _core.reshape(x, (1,) * (ndim - x.ndim) + x.shape)
    return concatenate([_joined(part, depth - 1, ndim) for part in arrays], -depth)


def _leaves(arrays: Any) -> Iterator[Any]:
    if isinstance(arrays, list):
        for part in arrays:
            yield from _leaves(part)
    else:
        yield arrays


def block(arrays: Any) -> ndarray:
    """An array put together from nested lists of blocks: the innermost lists along the last axis.

    >>> np.block([[np.eye(2), np.zeros((2, 1))], [np.ones((1, 3))]])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [1., 1., 1.]])
    """
    depth = _depth(arrays)
    ndim = max(depth, *(as_array(leaf).ndim for leaf in _leaves(arrays)), 0)
    made = _joined(arrays, depth, ndim)
    return _core.copy(made) if depth == 0 else made


def ndenumerate(arr: ArrayLike) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Indices and elements of an array, one by one. Waits.

    >>> list(np.ndenumerate(np.array([[5, 6]])))
    [((0, 0), 5.0), ((0, 1), 6.0)]
    """
    values = as_array(arr).asnumpy()
    return ((place, values[place].item()) for place in numpy.ndindex(values.shape))


def iterable(y: Any) -> bool:
    """Whether one can iterate over it.

    >>> np.iterable(np.ones(2)), np.iterable(3)
    (True, False)
    """
    return y.ndim > 0 if isinstance(y, ndarray) else bool(numpy.iterable(y))


class _Grid:
    """`np.mgrid[0:3, 0:1:5j]`: coordinates of a grid, from slices; an imaginary step is a number of points."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        lines = [_line(part) for part in (key if isinstance(key, tuple) else (key,))]
        if not isinstance(key, tuple):
            return lines[0]
        kind = _core.result_type(*lines)
        grids = meshgrid(*(line.astype(kind, copy=False) for line in lines), sparse=self._sparse, indexing="ij")
        return tuple(grids) if self._sparse else _core.stack(grids)


def _line(part: slice) -> ndarray:
    start, step = part.start or 0, 1 if part.step is None else part.step
    if isinstance(step, complex):
        points: ndarray = linspace(start, part.stop, int(abs(step)))
        return points
    return arange(start, part.stop, step)


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)

if not TYPE_CHECKING:
    __all__ = [*public(globals()), "ndindex", "s_", "index_exp", "base_repr", "binary_repr"]
    __all__ += ["format_float_positional", "format_float_scientific", "mintypecode", "typename"]
