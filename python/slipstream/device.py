"""Devices.

>>> from slipstream import np, npx
>>> with npx.cpu(1):
...     x = np.zeros(2)
>>> x.device
cpu(1)
"""

from __future__ import annotations

import re
from typing import Any

from . import _core

__all__ = [
    "Context",
    "Device",
    "cpu",
    "cpu_pinned",
    "current_context",
    "current_device",
    "gpu",
    "gpu_memory_info",
    "num_gpus",
    "resolve",
]

Device = _core.Device


class _OfDevices(type):
    """Devices are what is made by `Context(...)`, so they are its instances."""

    def __instancecheck__(cls, found: object) -> bool:
        return isinstance(found, Device)


class Context(metaclass=_OfDevices):
    """MXNet 1's name for `Device`, with MXNet's names of arguments; a device is given back as it is.

    >>> Context("cpu", 1), Context(device_type="cpu", device_id=1) == Context(cpu(1)), isinstance(cpu(), Context)
    (cpu(1), True, True)
    """

    def __new__(cls, device_type: Any = "cpu", device_id: int = 0) -> Device:  # type: ignore[misc]
        return device_type if isinstance(device_type, Device) else Device(device_type, device_id)


_CPU = Device("cpu", 0)
_stack = _core.device_stack  # the core asks it too


def cpu(device_id: int = 0) -> Device:
    """A CPU device. `cpu(0)`, `cpu(1)`, ... share the machine's cores, but each is a device with a queue of its own.

    >>> cpu(1)
    cpu(1)
    """
    return Device("cpu", device_id)


def gpu(device_id: int = 0) -> Device:
    """A GPU. It can be named anywhere; putting an array on one that is not there raises.

    >>> gpu(1)
    gpu(1)
    """
    return Device("gpu", device_id)


def cpu_pinned(device_id: int = 0) -> Device:
    """Host memory for fast copies to a GPU: without one, the same as `cpu`.

    >>> cpu_pinned()
    cpu(0)
    """
    return Device("cpu", device_id)


def num_gpus() -> int:
    """Number of GPUs.

    >>> num_gpus() >= 0
    True
    """
    return _core.device_count("gpu")


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Free and total bytes of a GPU; raises where there is none.

    >>> gpu_memory_info(1000)
    Traceback (most recent call last):
        ...
    ValueError: gpu(1000): this machine has no gpu
    """
    raise ValueError(f"gpu({device_id}): this machine has no gpu")


def current_device() -> Device:
    """The device of the innermost `with device:`, `cpu(0)` outside of any; of this thread or asyncio task.

    >>> with cpu(2):
    ...     print(current_device())
    cpu(2)
    """
    stack = _stack.get()
    return stack[-1] if stack else _CPU


current_context = current_device  # MXNet 1's name

_NAME = re.compile(r"([a-z_]+)(?:[:(](\d+)\)?)?")


def named(device: Any, ctx: Any) -> Any:
    """Of `device=` and `ctx=` the one that is given: what the core takes as a device. None: the current one.

    >>> named(None, None) is None
    True
    """
    return device if ctx is None else resolve(device, ctx)


def resolve(device: Any = None, ctx: Any = None) -> Device:
    """The device that the arguments `device=` and `ctx=` (MXNet 1's name for it) ask for.

    >>> resolve("cpu:1")
    cpu(1)
    """
    if ctx is not None:
        if device is not None and resolve(device) != resolve(ctx):
            raise TypeError(f"device={device} and ctx={ctx} name different devices: give one of them")
        device = ctx
    if device is None:
        return current_device()
    if isinstance(device, Device):
        return device
    if isinstance(device, str) and (match := _NAME.fullmatch(device)):
        return Device(match[1], int(match[2] or 0))
    raise TypeError(f"device: expected a Device such as npx.cpu(0), got {device!r}")


def _enter(self: Device) -> Device:
    _stack.set((*_stack.get(), self))
    return self


def _exit(self: Device, *_: object) -> None:
    _stack.set(_stack.get()[:-1])


Device.__enter__ = _enter  # type: ignore[method-assign]
Device.__exit__ = _exit  # type: ignore[method-assign]
