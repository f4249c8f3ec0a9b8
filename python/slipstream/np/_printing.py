"""How arrays look: NumPy's format, without the dtype where np.array would give it anyway."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy

from .._core import Device, ndarray
from ._arguments import default_dtype, public

_HOME = Device("cpu", 0)

# The core waits for an array and calls these three with it and its values.


def show_repr(x: ndarray, values: numpy.ndarray[Any, Any]) -> str:
    text = numpy.array2string(values, separator=", ", prefix="array(")
    notes = [] if values.size or values.shape == (0,) else [f"shape={values.shape}"]
    if not values.size or values.dtype.kind == "V" or values.dtype != default_dtype(values.dtype.kind):
        notes.append(f"dtype={values.dtype.name}")
    if x.device != _HOME:
        notes.append(f"device={x.device}")
    if not notes:
        return f"array({text})"
    joined = f"array({text}, {', '.join(notes)})"
    last = len(joined) - joined.rfind("\n") - 1
    if last <= numpy.get_printoptions()["linewidth"]:
        return joined
    return f"array({text},\n      {', '.join(notes)})"


def show_str(x: ndarray, values: numpy.ndarray[Any, Any]) -> str:
    return str(values)


def show_format(x: ndarray, values: numpy.ndarray[Any, Any], spec: str) -> str:
    if values.ndim == 0:
        return format(values.item(), spec)
    if spec:
        raise TypeError(f"format: an array of {values.size} elements takes no format {spec!r}")
    return str(values)


# NumPy's functions for showing arrays.


def array_repr(
    arr: Any, max_line_width: Any = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """`repr(x)`, with other options. Waits for the array.

    >>> np.array_repr(np.ones(2))
    'array([1., 1.])'
    """
    with printoptions(linewidth=max_line_width, precision=precision, suppress=suppress_small):
        return repr(arr)


def array_str(
    a: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None
) -> str:
    """`str(x)`, with other options. Waits for the array.

    >>> np.array_str(np.array([0.123456]), precision=2)
    '[0.12]'
    """
    with printoptions(linewidth=max_line_width, precision=precision, suppress=suppress_small):
        return str(a)


def array2string(a: Any, *args: Any, **options: Any) -> str:
    """NumPy's array2string. Waits for the array.

    >>> np.array2string(np.arange(3), separator=",")
    '[0.,1.,2.]'
    """
    return numpy.array2string(a.asnumpy() if isinstance(a, ndarray) else a, *args, **options)


def set_printoptions(precision: int | None = None, threshold: int | None = None, **options: Any) -> None:
    """NumPy's print options, which are ours too.

    >>> np.set_printoptions(precision=8)
    """
    numpy.set_printoptions(precision, threshold, **options)


def get_printoptions() -> dict[str, Any]:
    """The print options.

    >>> np.get_printoptions()["precision"]
    8
    """
    return dict(numpy.get_printoptions())


def printoptions(**options: Any) -> AbstractContextManager[Any]:
    """Print options for a `with` block.

    >>> with np.printoptions(precision=2):
    ...     print(np.array([0.123456]))
    [0.12]
    """
    return numpy.printoptions(**{name: value for name, value in options.items() if value is not None})


if not TYPE_CHECKING:
    __all__ = [name for name in public(globals()) if not name.startswith("show_")]
