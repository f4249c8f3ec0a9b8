"""Known networks, ready to be trained or to be filled with `load_parameters`.

>>> from slipstream.gluon import model_zoo
>>> net = model_zoo.vision.resnet18_v1(classes=10)
"""

from __future__ import annotations

from . import vision as vision
from .vision import get_model as get_model

__all__ = ["get_model", "vision"]
