"""Errors.

A call with wrong shapes, dtypes, devices or axes raises `ValueError`, `TypeError`, `IndexError` or NumPy's `AxisError`
at once. What fails later raises wherever a result is read: a `SlipstreamError` that is also of the class it would have
been at the call, and that names the operation and the line of Python that recorded it.

    >>> from slipstream import errors
    >>> issubclass(errors.OutOfMemoryError, MemoryError)
    True
"""

from __future__ import annotations

from numpy.exceptions import AxisError

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

# The core's classes are known, printed and pickled as what they are here.
for _class in (globals()[_name] for _name in __all__):
    if _class is not AxisError:
        _class.__module__ = __name__
