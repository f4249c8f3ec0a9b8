"""What the array API standard lets a program ask of this namespace."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from .. import device as _device
from ..device import Device, resolve
from ._arguments import default_dtype
from ._dtype import _STANDARD, isdtype
from ._types import DeviceLike


class Info:
    """What `np.__array_namespace_info__()` gives: capabilities, devices and types.

    >>> np.__array_namespace_info__().default_device()
    cpu(0)
    """

    def capabilities(self) -> dict[str, Any]:
        """What is optional in the standard, and whether it is here.

        >>> np.__array_namespace_info__().capabilities()["boolean indexing"]
        True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": _core.max_dimensions()}

    def default_device(self) -> Device:
        """Where new arrays are made: the current device.

        >>> np.__array_namespace_info__().default_device()
        cpu(0)
        """
        return _device.current_device()

    def devices(self) -> list[Device]:
        """The devices of this machine.

        >>> np.__array_namespace_info__().devices()[0]
        cpu(0)
        """
        found = [_device.cpu(), *(_device.gpu(i) for i in range(_device.num_gpus()))]
        current = _device.current_device()
        return found if current in found else [*found, current]

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, numpy.dtype[Any]]:
        """The types that new arrays have: see `npx.set_np`, without which Python's integers become float32 too.

        >>> np.__array_namespace_info__().default_dtypes()["real floating"]
        dtype('float32')
        """
        resolve(device)
        return {
            "real floating": default_dtype("f"),
            "complex floating": default_dtype("c"),
            "integral": numpy.dtype("int64"),
            "indexing": numpy.dtype("int64"),
        }

    def dtypes(self, *, device: DeviceLike = None, kind: Any = None) -> dict[str, numpy.dtype[Any]]:
        """The types of the standard, all or those of a kind, by their names.

        >>> list(np.__array_namespace_info__().dtypes(kind="complex floating"))
        ['complex64', 'complex128']
        """
        resolve(device)
        found = {name: numpy.dtype(name) for name in _STANDARD}
        return found if kind is None else {name: own for name, own in found.items() if isdtype(own, kind)}


def namespace_info() -> Info:
    """What this namespace has: the array API standard's inspection."""
    return Info()
