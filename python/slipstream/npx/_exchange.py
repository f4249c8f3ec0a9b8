"""Arrays from and for other libraries, by MXNet's names; and what CUDA says of a GPU."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy

from .. import _core, np
from .._core import ndarray
from ..device import resolve
from ..np._arguments import Capsule, borrow
from ..np._types import DeviceLike

__all__ = ["from_dlpack", "from_numpy", "get_cuda_compute_capability", "to_dlpack_for_read", "to_dlpack_for_write"]


def from_dlpack(dlpack: Any) -> ndarray:
    """An array over the memory of a DLPack capsule, or of an array that gives one: `np.from_dlpack(x, copy=False)`.

    >>> x = np.zeros(2)
    >>> y = npx.from_dlpack(npx.to_dlpack_for_write(x))
    >>> y += 1
    >>> x
    array([1., 1.])
    """
    if hasattr(dlpack, "__dlpack__"):
        return np.from_dlpack(dlpack, copy=False)
    return borrow(Capsule(dlpack), None, "from_dlpack", writable='"dltensor"' in repr(dlpack))  # the others say it


def to_dlpack_for_read(data: ndarray) -> Any:
    """The memory as a DLPack capsule: waits.

    >>> type(npx.to_dlpack_for_read(np.ones(2))).__name__
    'PyCapsule'
    """
    return data.__dlpack__()


def to_dlpack_for_write(data: ndarray) -> Any:
    """The memory as a DLPack capsule, for those who write to it: waits for everything that reads it too.

    >>> type(npx.to_dlpack_for_write(np.ones(2))).__name__
    'PyCapsule'
    """
    _core.wait_all()
    return data.__dlpack__()


def from_numpy(ndarray: numpy.ndarray[Any, Any], zero_copy: bool = True) -> Any:
    """An array over NumPy's memory, whose owner cannot write to it while it is read here; or a copy.

    >>> import numpy
    >>> a = numpy.ones(3)
    >>> x = npx.from_numpy(a)
    >>> a.flags.writeable
    False
    """
    if not isinstance(ndarray, numpy.ndarray):
        raise TypeError(f"from_numpy: expected a numpy.ndarray, not {type(ndarray).__name__}")
    return np.asarray(ndarray, copy=False) if zero_copy else np.array(ndarray)


def get_cuda_compute_capability(device: DeviceLike) -> int | None:
    """What CUDA code a GPU can run, such as 70 for version 7.0; None where no driver or GPU is found.

    >>> npx.get_cuda_compute_capability(npx.gpu(1000)) is None
    True
    """
    given = resolve(device)
    if given.device_type != "gpu":
        raise ValueError(f"get_cuda_compute_capability: {given} is no GPU")
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    number, version = ctypes.c_int(), [ctypes.c_int(), ctypes.c_int()]
    calls: list[Any] = [(driver.cuInit, 0), (driver.cuDeviceGet, ctypes.byref(number), given.device_id)]
    for attribute, into in zip((75, 76), version, strict=True):  # COMPUTE_CAPABILITY_MAJOR and _MINOR
        calls.append((driver.cuDeviceGetAttribute, ctypes.byref(into), attribute, number))
    if any(function(*args) for function, *args in calls):
        return None
    return 10 * version[0].value + version[1].value
