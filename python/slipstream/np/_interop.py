"""What NumPy's own functions do with our arrays: the same function of ours, where there is one."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from typing import Any

import numpy

from .._core import ndarray
from ._arguments import NotNumbersError

_NAMES = {"right_shift": "bitwise_right_shift", "left_shift": "bitwise_left_shift", "invert": "bitwise_invert"}

# Functions of NumPy that write to their first argument, and its name.
_WRITES = {"copyto": "dst", "put": "a", "putmask": "a", "place": "arr", "put_along_axis": "arr"}


def _ours(name: str, module: str = "numpy") -> Any:
    """Our function of a name: of np, or of its part that stands for a part of NumPy's."""
    found: Any = importlib.import_module("slipstream.np")
    for part in [*module.split(".")[1:], name]:
        found = getattr(found, part, None)
    return found


def _combined(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`numpy.add.reduce(x)`, `numpy.add.accumulate(x)` and `numpy.add.outer(x, y)` by our functions; None: not ours."""
    if any(isinstance(value, numpy.ndarray) for value in options.get("out", ())):
        return None
    function = _ours(_NAMES.get(ufunc.__name__, ufunc.__name__))
    return None if function is None else getattr(function, method)(*inputs, **options)


def array_ufunc(self: ndarray, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """`numpy.exp(x)`, `numpy_array + x` and the like."""
    function = _ours(_NAMES.get(ufunc.__name__, ufunc.__name__))
    out = options.get("out", ())
    if method in ("reduce", "accumulate", "reduceat", "outer"):
        combined = _combined(ufunc, method, inputs, options)
        if combined is not None:
            return combined
    if method != "__call__" or function is None or len(out) > 1 or any(isinstance(o, numpy.ndarray) for o in out):
        return _through_numpy(getattr(ufunc, method), inputs, options, inputs[0] if method == "at" else out)
    if len(out) == 1:
        options["out"] = out[0]
    return function(*inputs, **options)


def array_function(self: ndarray, function: Any, types: Iterable[type], args: Any, options: Any) -> Any:
    """`numpy.concatenate([x, y])`, `numpy.mean(x)` and the like."""
    home = function.__module__ or ""
    ours = _ours(function.__name__, home) if home in ("numpy", "numpy.linalg", "numpy.fft") else None
    target = _written(function, args, options) if function.__name__ in _WRITES else None
    if ours is not None and not isinstance(target, numpy.ndarray):
        try:
            return ours(*args, **options)
        except NotNumbersError:  # None, text or objects among the arguments: NumPy knows what they mean
            pass
    return _through_numpy(function, args, options, _written(function, args, options))


def _written(function: Any, args: Any, options: Any) -> Any:
    """The argument that a function of NumPy writes to: `out`, or the first of those that are made for writing."""
    name = _WRITES.get(function.__name__) if function.__module__ == "numpy" else None
    if name is not None:
        return args[0] if args else options[name]
    if "out" in options:
        return options["out"]
    try:
        return inspect.signature(function).bind(*args, **options).arguments.get("out")
    except (TypeError, ValueError):  # a signature that is not known: `out` is given by its name
        return None


def _through_numpy(function: Any, args: Any, options: Any, written: Any) -> Any:
    """A function that only NumPy has: the arrays are waited for, and its result is NumPy's.

    NumPy works on copies. Those of the arrays that it writes to are written back.
    """
    targets = [x for x in (written if isinstance(written, tuple) else (written,)) if isinstance(x, ndarray)]
    copies = {id(x): x.asnumpy() for x in targets}
    result = function(*_plain(args, copies), **{name: _plain(value, copies) for name, value in options.items()})
    for x in targets:
        x[...] = copies[id(x)]
    given = {id(copies[id(x)]): x for x in targets}
    if given and isinstance(result, tuple):
        return tuple(given.get(id(part), part) for part in result)
    return given.get(id(result), result)


def _plain(value: Any, copies: dict[int, Any]) -> Any:
    """The value with NumPy's arrays in place of ours: the copies that are there, or new ones."""
    if isinstance(value, ndarray):
        return copies[id(value)] if id(value) in copies else value.asnumpy()
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(item, copies) for item in value)
    return value
