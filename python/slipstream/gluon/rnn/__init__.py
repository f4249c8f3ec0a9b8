"""Recurrent layers, and cells that are called step by step.

>>> from slipstream.gluon import rnn
>>> layer = rnn.LSTM(8, num_layers=2)
>>> layer.initialize()
>>> layer(np.ones((5, 3, 4))).shape  # (time, batch, features)
(5, 3, 8)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import cells, conv_cells, layers, modifiers
from .cells import *
from .conv_cells import *
from .layers import *
from .modifiers import *

if not TYPE_CHECKING:
    __all__ = [*cells.__all__, *conv_cells.__all__, *layers.__all__, *modifiers.__all__]
