"""Optimizers: how parameters follow their gradients.

An update is a few elementwise expressions in place, which the planner runs as one pass; nothing waits.

>>> from slipstream import np, optimizer
>>> sgd = optimizer.create("sgd", learning_rate=0.5)
>>> w = np.ones(2)
>>> sgd.update([0], [w], [np.array([1, 2])], [sgd.create_state(0, w)])
>>> w
array([0.5, 0. ])
"""

from .adam import LAMB, LANS, AdaBelief, Adam, Adamax, AdamW, Nadam
from .base import Optimizer, Test, create, register
from .history import FTML, AdaDelta, AdaGrad, Ftrl, RMSProp
from .sgd import DCASGD, LARS, NAG, SGD, SGLD, Signum
from .updater import Updater, get_updater

__all__ = ["DCASGD", "FTML", "LAMB", "LANS", "LARS", "NAG", "SGD", "SGLD", "AdaBelief", "AdaDelta", "AdaGrad", "Adam"]
__all__ += ["AdamW", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSProp", "Signum", "Test", "Updater"]
__all__ += ["create", "get_updater", "register"]
