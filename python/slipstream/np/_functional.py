"""Functions of Python applied to arrays: by lines, by elements, by pieces, by coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_dims, default_dtype, normal_axis, public
from ._by_numpy import by_numpy, called, is_inexact, ours, plain, refuse_history
from ._manipulation import expand_dims, moveaxis
from ._types import ArrayLike, DTypeLike, Shape


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> ndarray:
    """A function of one-dimensional arrays, called for each line along an axis with that line (a view of ours).

    >>> np.apply_along_axis(lambda line: line.sum(), 1, np.ones((2, 3)))
    array([3., 3.])
    """
    x = as_array(arr)
    axis = normal_axis(axis, x.ndim, "apply_along_axis")
    lines = moveaxis(x, axis, -1)
    outer = lines.shape[:-1]
    if 0 in outer:
        raise ValueError(f"apply_along_axis: an array of shape {x.shape} has no lines along axis {axis}")
    made = [as_array(func1d(lines[place], *args, **kwargs), x.device) for place in numpy.ndindex(*outer)]
    joined = _core.reshape(_core.stack(made), (*outer, *made[0].shape))
    inner = range(len(outer), joined.ndim)
    return moveaxis(joined, tuple(inner), tuple(axis + i for i in range(len(inner))))


def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: Any) -> ndarray:
    """A function of an array and an axis, applied for one axis after another; axes that go are put back.

    >>> np.apply_over_axes(np.sum, np.ones((2, 3)), [0, 1]).shape
    (1, 1)
    """
    made = as_array(a)
    ndim = made.ndim
    for axis in as_dims(axes):
        axis = normal_axis(axis, ndim, "apply_over_axes")
        found = as_array(func(made, axis), made.device)
        made = found if found.ndim == ndim else expand_dims(found, axis)
        if made.ndim != ndim:
            raise ValueError(f"apply_over_axes: the function gave {found.ndim} dimensions of {ndim}")
    return made


@by_numpy("waits")
class vectorize:  # noqa: N801
    """A function of numbers made to take arrays: NumPy's, called with each element. Waits for its arguments.

    >>> np.vectorize(lambda a: a + 1)(np.array([1, 5]))
    array([2., 6.])
    """

    def __init__(self, pyfunc: Callable[..., Any], **options: Any) -> None:
        self._function = numpy.vectorize(pyfunc, **options)
        self.pyfunc = pyfunc
        self.__doc__ = options.get("doc", pyfunc.__doc__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function for each element."""
        first = next((a for a in args if isinstance(a, ndarray)), None)
        made = called("np.vectorize", self._function, args, kwargs)
        if first is not None and first.dtype.kind == "f" and getattr(made, "dtype", None) == numpy.float64:
            made = made.astype(first.dtype)
        return ours(made, None if first is None else first.device)


@by_numpy("waits")
def frompyfunc(func: Callable[..., Any], nin: int, nout: int, *, identity: Any = None) -> Callable[..., Any]:
    """A function of numbers made to take arrays, with so many arguments and results. Waits for its arguments.

    >>> np.frompyfunc(lambda a: a + 1, 1, 1)(np.array([1, 2]))
    array([2., 3.])
    """
    elementwise = numpy.frompyfunc(func, nin, nout)

    def call(*args: Any) -> Any:
        made = elementwise(*map(plain, args))
        results = made if isinstance(made, tuple) else (made,)
        arrays = tuple(as_array(r.tolist() if isinstance(r, numpy.ndarray) else r) for r in results)
        if any(is_inexact(a.dtype) for a in arrays):
            refuse_history("np.frompyfunc", args)
        return arrays if nout > 1 else arrays[0]

    return call


def piecewise(x: ArrayLike, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> ndarray:
    """A function given by pieces: where a condition holds, its function of `x` (or its number). The last one wins.

    Every function is called with all of `x`, and its results are chosen by the conditions: nothing waits. One more
    function than conditions is for where none holds.

    >>> x = np.array([-2, 1, 3])
    >>> np.piecewise(x, [x < 0, x > 2], [lambda v: -v, 10])
    array([ 2.,  0., 10.])
    """
    x = as_array(x)
    several = isinstance(condlist, (list, tuple)) or getattr(condlist, "ndim", 0) > x.ndim
    conditions = list(condlist) if several else [condlist]
    if conditions and not isinstance(conditions[0], (ndarray, numpy.ndarray, list, tuple)) and x.ndim:
        conditions = [conditions]
    chosen = [_core.astype(as_array(c, x.device), numpy.bool_) for c in conditions]
    if len(funclist) == len(chosen) + 1:
        rest = _core.logical_not(chosen[0])
        for c in chosen[1:]:
            rest = _core.logical_and(rest, _core.logical_not(c))
        chosen.append(rest)
    if len(funclist) != len(chosen):
        raise ValueError(f"piecewise: {len(funclist)} functions for {len(conditions)} conditions")
    made = _core.full(x.shape, 0, x.dtype, x.device)
    for condition, function in zip(chosen, funclist, strict=True):
        value = function(x, *args, **kw) if callable(function) else function
        made = _core.where(condition, _core.astype(as_array(value, x.device), x.dtype), made)
    return made


def fromfunction(function: Callable[..., Any], shape: Shape, *, dtype: DTypeLike = None, **kwargs: Any) -> Any:
    """What a function gives for the coordinates of an array: it is called once, with one array for each axis.

    >>> np.fromfunction(lambda i, j: i + j, (2, 2))
    array([[0., 1.],
           [1., 2.]])
    """
    dims = as_dims(shape)
    kind = default_dtype() if dtype is None else numpy.dtype(dtype)
    grids = []
    for axis, n in enumerate(dims):
        line = _core.arange(0, 1, n, kind, None)
        column = _core.reshape(line, (1,) * axis + (n,) + (1,) * (len(dims) - axis - 1))
        grids.append(_core.copy(_core.broadcast_to(column, dims)))
    return function(*grids, **kwargs)


if not TYPE_CHECKING:
    __all__ = public(globals())
