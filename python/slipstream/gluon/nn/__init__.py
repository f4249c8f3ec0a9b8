"""Layers, and blocks that hold layers.

>>> from slipstream.gluon import nn
>>> net = nn.HybridSequential()
>>> net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
>>> net.initialize()
>>> net(np.ones((3, 5))).shape
(3, 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..block import Block, HybridBlock, SymbolBlock
from . import activations, attention, basic, containers, conv, deformable, norm, pooling
from .activations import *
from .attention import *
from .basic import *
from .containers import *
from .conv import *
from .deformable import *
from .norm import *
from .pooling import *

if not TYPE_CHECKING:
    __all__ = ["Block", "HybridBlock", "SymbolBlock"]
    for _module in (activations, attention, basic, containers, conv, deformable, norm, pooling):
        __all__ += _module.__all__
