"""`np.add.reduce`, `np.maximum.accumulate`, `np.multiply.outer` and the like: NumPy's methods of its own functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, deliver, normal_axes, normal_axis
from ._by_numpy import behind, refuse_history
from ._rows import ALIASES, ROWS

# What of ours combines in the same way.
_REDUCE: dict[str, Callable[..., ndarray]] = {
    "add": _core.sum,
    "multiply": _core.prod,
    "maximum": _core.max,
    "minimum": _core.min,
    "logical_and": _core.all,
    "logical_or": _core.any,
}
_ACCUMULATE: dict[str, Callable[..., ndarray]] = {"add": _core.cumsum, "multiply": _core.cumprod}

_NAMES = {"abs": "absolute", "pow": "power", "bitwise_invert": "invert"}  # of ours, as NumPy's ufuncs have them


def method_of(name: str, method: str) -> Callable[..., Any]:
    """The method of one of our functions, where NumPy's function of the name has it."""
    ufunc = getattr(numpy, _NAMES.get(name, name), None)
    if not isinstance(ufunc, numpy.ufunc) or (ufunc.nin != 2 and method != "at"):
        raise AttributeError(f"np.{name} has no attribute {method!r}")
    return (
        functools.partial(outer, getattr(_core, name))
        if method == "outer"
        else functools.partial(_METHODS[method], ufunc)
    )


def _behind(ufunc: Any, method: str, x: ndarray, shape: Any, dtype: Any, *args: Any, **options: Any) -> ndarray:
    """NumPy's method on a worker; the result's type is that of a tiny example."""
    call = getattr(ufunc, method)
    if dtype is None:
        small = numpy.ones((1,) * x.ndim, x.dtype)
        dtype = call(small, *([0] for _ in args), axis=options["axis"]).dtype
    if not ROWS[ALIASES.get(ufunc.__name__, ufunc.__name__)]["gradient"]:
        x = x.detach()
    made: ndarray = behind(
        f"np.{ufunc.__name__}.{method}",
        lambda values, *rest: numpy.asarray(call(values, *rest, dtype=dtype, **options)),
        [x, *args],
        shape,
        numpy.dtype(dtype),
        x.device,
    )
    return made


def reduce(
    ufunc: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> ndarray:
    x, out = as_array(array), _one(out)
    given = {k: v for k, v in (("initial", initial), ("where", where)) if v is not None and v is not True}
    if ufunc.__name__ in _REDUCE:
        options = given | ({} if dtype is None else {"dtype": dtype})
        return _REDUCE[ufunc.__name__](x, axis=axis, out=out, keepdims=keepdims, **options)
    axes = range(x.ndim) if axis is None else normal_axes(axis, x.ndim, f"{ufunc.__name__}.reduce")
    shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
    given = {k: v.asnumpy() if isinstance(v, ndarray) else v for k, v in given.items()}
    made = _behind(ufunc, "reduce", x, tuple(shape), dtype, axis=tuple(axes), keepdims=keepdims, **given)
    return deliver(made, out, f"{ufunc.__name__}.reduce")


def accumulate(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> ndarray:
    x, out = as_array(array), _one(out)
    if ufunc.__name__ in _ACCUMULATE:
        return _ACCUMULATE[ufunc.__name__](x, axis=axis, dtype=dtype, out=out)
    axis = normal_axis(axis, x.ndim, f"{ufunc.__name__}.accumulate")
    return deliver(_behind(ufunc, "accumulate", x, x.shape, dtype, axis=axis), out, f"{ufunc.__name__}.accumulate")


def reduceat(ufunc: Any, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> ndarray:
    x, out = as_array(array), _one(out)
    starts = _core.astype(as_array(indices, x.device), numpy.dtype("int64"))
    axis = normal_axis(axis, x.ndim, f"{ufunc.__name__}.reduceat")
    shape = (*x.shape[:axis], starts.size, *x.shape[axis + 1 :])
    return deliver(_behind(ufunc, "reduceat", x, shape, dtype, starts, axis=axis), out, f"{ufunc.__name__}.reduceat")


def outer(function: Any, a: Any, b: Any, **options: Any) -> ndarray:
    first, second = as_arrays([a, b])
    if "out" in options:
        options["out"] = _one(options["out"])
    made: ndarray = function(first[(..., *[None] * second.ndim)], second, **options)
    return made


def at(ufunc: Any, a: ndarray, indices: Any, b: Any = None) -> None:
    """`a[indices] = ufunc(a[indices], b)`, once for each time an element is named. Waits."""
    if not isinstance(a, ndarray):
        raise TypeError(f"{ufunc.__name__}.at: the first argument must be an array, not {type(a).__name__}")
    refuse_history(f"np.{ufunc.__name__}.at", a, b)
    ufunc.at(a, indices, *([] if b is None else [b]))


def _one(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) else out


_METHODS = {method.__name__: method for method in (reduce, accumulate, reduceat, at)}
