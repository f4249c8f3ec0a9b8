"""Metrics, where MXNet 2 keeps them: `gluon.metric.Accuracy()` is `metric.Accuracy()`.

>>> from slipstream.gluon import metric
>>> metric.create("acc").name
'accuracy'
"""

from ..metric import *  # noqa: F403
from ..metric import __all__ as __all__
