"""MXNet's switches to NumPy's meaning. Only the default dtype is a choice here; the rest is always on."""

from __future__ import annotations

from typing import TypeVar

from .. import _core

T = TypeVar("T")


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """NumPy's meaning of shapes and arrays, which is always on here; `dtype=True` also for the types of new arrays.

    With it Python's floats become float64 and its integers int64, as in NumPy; without it both become float32.

    >>> npx.set_np(dtype=True)
    >>> np.ones(2).dtype
    dtype('float64')
    >>> npx.set_np()
    >>> np.ones(2).dtype
    dtype('float32')
    """
    if not (shape and array):
        raise ValueError("set_np: shape and array are always NumPy's here")
    _core.set_default_dtype_wide(dtype)


def reset_np() -> None:
    """The default dtype is float32 again.

    >>> npx.reset_np()
    """
    _core.set_default_dtype_wide(False)


def set_np_default_dtype(is_np_default_dtype: bool = True) -> bool:
    """Turns NumPy's default types on or off; gives whether they were on.

    >>> npx.set_np_default_dtype(False)
    False
    """
    before = _core.default_dtype_wide()
    _core.set_default_dtype_wide(is_np_default_dtype)
    return before


def is_np_default_dtype() -> bool:
    """Whether new arrays have NumPy's default types.

    >>> npx.is_np_default_dtype()
    False
    """
    return _core.default_dtype_wide()


def is_np_array() -> bool:
    """Whether arrays mean what NumPy's mean: always.

    >>> npx.is_np_array()
    True
    """
    return True


def is_np_shape() -> bool:
    """Whether shapes mean what NumPy's mean (0-d and empty arrays): always.

    >>> npx.is_np_shape()
    True
    """
    return True


def use_np(func: T) -> T:
    """MXNet's decorator for functions and classes that use NumPy's meaning: changes nothing.

    >>> @npx.use_np
    ... def f(x):
    ...     return x + 1
    """
    return func
