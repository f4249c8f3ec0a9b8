"""Errors.

A call with wrong shapes, dtypes, devices or axes raises `ValueError`, `TypeError`, `IndexError` or NumPy's `AxisError`
at once. What fails later raises wherever a result is read: a `SlipstreamError` that is also of the class it would have
been at the call, and that names the operation and the line of Python that recorded it.

    >>> from slipstream import errors
    >>> issubclass(errors.OutOfMemoryError, MemoryError)
    True
"""

from __future__ import annotations

from typing import TypeVar

from numpy.exceptions import AxisError

from . import _core
from ._core import (
    LateIndexError,
    LateLinAlgError,
    LateOverflowError,
    LateTypeError,
    LateValueError,
    OutOfMemoryError,
    SlipstreamError,
    SyncError,
    SyncWarning,
)

__all__ = [
    "AxisError",
    "LateIndexError",
    "LateLinAlgError",
    "LateOverflowError",
    "LateTypeError",
    "LateValueError",
    "OutOfMemoryError",
    "SlipstreamError",
    "SyncError",
    "SyncWarning",
]

E = TypeVar("E", bound=Exception)

_instead: dict[type[Exception], type[Exception]] = {}


def set_call_errors(instead: dict[type[Exception], type[Exception]]) -> None:
    """Has classes of another library, where its programs run, stand for those of errors at the call."""
    _instead.update(instead)
    _core.set_call_errors(instead)


def at_call(usual: type[E]) -> type[E]:
    """The class that stands for that of an error at the call.

    >>> errors.at_call(KeyError)
    <class 'KeyError'>
    """
    return _instead.get(usual, usual)  # type: ignore[return-value]


_TRIED = """
>>> try:
...     {call}
... except errors.{name} as error:
...     print(error.operation, error.line)
{shown}
"""

_FAILING = {  # calls that raise them, with the operation and the line of Python that recorded it
    "SlipstreamError": ("np.take(np.ones(3), np.array([7])).item()", "take 2"),
    "LateIndexError": ("np.ones(3)[np.array([7])].item()", "index 2"),
    "LateLinAlgError": ("np.linalg.inv(np.zeros((2, 2))).item(0)", "inv 2"),
    "LateValueError": ("np.pow(np.array([2], dtype='int32'), np.array([-1], dtype='int32')).item()", "pow 2"),
    "OutOfMemoryError": ("np.empty(2**40).item(0)", "empty 2"),
}

_OTHERS = {
    "LateOverflowError": "\n>>> issubclass(errors.LateOverflowError, OverflowError)\nTrue\n",
    "LateTypeError": "\n>>> issubclass(errors.LateTypeError, TypeError)\nTrue\n",
    "SyncError": """
>>> from slipstream import engine
>>> with engine.sync_guard("raise"):
...     np.ones(1).item()
Traceback (most recent call last):
slipstream.errors.SyncError: item() waited here
""",
    "SyncWarning": """
>>> import warnings
>>> from slipstream import engine
>>> with warnings.catch_warnings(record=True) as seen, engine.sync_guard("warn"):
...     warnings.simplefilter("always")
...     _ = np.ones(1).item()
>>> seen[0].category.__name__
'SyncWarning'
""",
}


def _example(name: str) -> str:
    if name in _OTHERS:
        return _OTHERS[name]
    call, shown = _FAILING[name]
    return _TRIED.format(call=call, name=name, shown=shown)


# The core's classes are known, printed and pickled as what they are here, and have their examples.
for _class in (globals()[_name] for _name in __all__):
    if _class is not AxisError:
        _class.__module__ = __name__
        _class.__doc__ += "\n" + _example(_class.__name__)
