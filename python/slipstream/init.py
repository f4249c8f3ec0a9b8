"""Initializers, by the short name of their module: `init.Xavier()` is `initializer.Xavier()`.

>>> from slipstream import init
>>> init.Normal(sigma=0.01)
Normal(sigma=0.01)
"""

from .initializer import *  # noqa: F403
from .initializer import __all__ as __all__
