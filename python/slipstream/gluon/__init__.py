"""Neural networks: blocks that hold parameters, layers, losses, data, and the trainer."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Modules come when asked for, so that importing one does not read the others.
_MODULES: tuple[str, ...] = ()
_FROM: dict[str, tuple[str, ...]] = {}  # public names that live in a module
_HOME = {name: module for module, names in _FROM.items() for name in names}
__all__ = [*_MODULES, *_HOME]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module 'slipstream.gluon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
