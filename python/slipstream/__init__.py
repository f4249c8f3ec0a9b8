"""Slipstream: NumPy's arrays on an asynchronous back end. Python says what to compute and runs ahead.

>>> from slipstream import np
>>> x = np.ones((1, 2))
>>> x * x + 2
array([[3., 3.]])
"""

from __future__ import annotations

import atexit
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _core, config, errors

if TYPE_CHECKING:
    from . import autograd as autograd
    from . import device as device
    from . import engine as engine
    from . import gluon as gluon
    from . import image as image
    from . import init as init
    from . import initializer as initializer
    from . import kvstore as kvstore
    from . import lr_scheduler as lr_scheduler
    from . import metric as metric
    from . import np as np
    from . import npx as npx
    from . import optimizer as optimizer
    from . import profiler as profiler
    from .device import Context as Context
    from .device import Device as Device
    from .device import cpu as cpu
    from .device import current_context as current_context
    from .device import current_device as current_device
    from .device import gpu as gpu
    from .device import num_gpus as num_gpus

__version__ = "0.1.0"

_MODULES: tuple[str, ...] = ("config", "device", "engine", "errors", "gluon", "np", "npx", "profiler")
_MODULES += ("autograd",)
_MODULES += ("init", "initializer", "kvstore", "lr_scheduler", "metric", "optimizer")
_MODULES += ("image",)
_FROM_DEVICE = ("Context", "Device", "cpu", "current_context", "current_device", "gpu", "num_gpus")
__all__ = [*_MODULES, *_FROM_DEVICE]

config.apply()
atexit.register(lambda: _core.shutdown(config.exit_seconds))
os.register_at_fork(before=_core.quiesce)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _FROM_DEVICE:
        return getattr(import_module(f"{__name__}.device"), name)
    raise AttributeError(f"module 'slipstream' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
