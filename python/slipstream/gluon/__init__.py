"""Neural networks: blocks that hold parameters, layers, losses, data, and the trainer.

>>> from slipstream import gluon, np
>>> net = gluon.nn.Dense(3)
>>> net.initialize()
>>> net(np.ones((2, 5))).shape
(2, 3)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import block as block
    from . import contrib as contrib
    from . import data as data
    from . import loss as loss
    from . import metric as metric
    from . import model_zoo as model_zoo
    from . import nn as nn
    from . import parameter as parameter
    from . import rnn as rnn
    from . import trainer as trainer
    from . import utils as utils
    from .block import Block as Block
    from .block import HybridBlock as HybridBlock
    from .block import SymbolBlock as SymbolBlock
    from .parameter import Constant as Constant
    from .parameter import DeferredInitializationError as DeferredInitializationError
    from .parameter import Parameter as Parameter
    from .parameter import ParameterDict as ParameterDict
    from .parameter import tensor_types as tensor_types
    from .trainer import Trainer as Trainer

# Modules come when asked for, so that importing one does not read the others.
_MODULES: tuple[str, ...] = ("block", "model_zoo", "nn", "parameter", "rnn", "trainer")
_MODULES += ("contrib", "data", "loss", "metric", "utils")
_FROM = {
    "block": ("Block", "HybridBlock", "SymbolBlock"),
    "parameter": ("Constant", "DeferredInitializationError", "Parameter", "ParameterDict", "tensor_types"),
    "trainer": ("Trainer",),
}
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
