"""What NumPy's own functions do with our arrays: the same function of ours, where there is one."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import numpy

from .._core import ndarray

_NAMES = {"right_shift": "bitwise_right_shift", "left_shift": "bitwise_left_shift", "invert": "bitwise_invert"}


def _ours(name: str) -> Any:
    return getattr(importlib.import_module("slipstream.np"), name, None)


def array_ufunc(self: ndarray, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """`numpy.exp(x)`, `numpy_array + x` and the like."""
    function = _ours(_NAMES.get(ufunc.__name__, ufunc.__name__))
    out = options.get("out", ())
    if method != "__call__" or function is None or any(isinstance(o, numpy.ndarray) for o in out):
        return _through_numpy(getattr(ufunc, method), inputs, options)
    if len(out) == 1:
        options["out"] = out[0]
    return function(*inputs, **options)


def array_function(self: ndarray, function: Any, types: Iterable[type], args: Any, options: Any) -> Any:
    """`numpy.concatenate([x, y])`, `numpy.mean(x)` and the like."""
    ours = _ours(function.__name__) if function.__module__ == "numpy" else None
    if ours is not None:
        return ours(*args, **options)
    return _through_numpy(function, args, options)


def _through_numpy(function: Any, args: Any, options: Any) -> Any:
    """A function that only NumPy has: the arrays are waited for, and its result is NumPy's."""
    return function(*_plain(args), **{name: _plain(value) for name, value in options.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value.asnumpy()
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(item) for item in value)
    return value
