"""Networks that classify images. Their parameters have MXNet's names and shapes; weights do not come with them.

>>> from slipstream.gluon.model_zoo import vision
>>> net = vision.get_model("resnet18_v2", classes=10, thumbnail=True)
>>> net.initialize()
>>> net(np.ones((1, 3, 32, 32))).shape
(1, 10)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import alexnet as _alexnet
from . import densenet as _densenet
from . import inception as _inception
from . import mobilenet as _mobilenet
from . import resnet as _resnet
from . import squeezenet as _squeezenet
from . import vgg as _vgg
from .alexnet import *
from .densenet import *
from .inception import *
from .mobilenet import *
from .resnet import *
from .squeezenet import *
from .vgg import *

_FAMILIES = (_alexnet, _densenet, _inception, _mobilenet, _resnet, _squeezenet, _vgg)

if not TYPE_CHECKING:
    __all__ = ["get_model"]
    for _module in _FAMILIES:
        __all__ += _module.__all__


def _models() -> dict[str, Any]:
    """Every network by its name; MXNet's get_model writes some of them with dots."""
    from ._common import Variant

    found = {}
    for module in _FAMILIES:
        for value in vars(module).values():
            if isinstance(value, Variant):
                found[value.__name__] = value
                found[value.listed] = value
    return found


def get_model(name: str, **kwargs: Any) -> Any:
    """A network by its name.

    >>> from slipstream.gluon.model_zoo import vision
    >>> type(vision.get_model("mobilenet0.25", classes=10)).__name__
    'MobileNet'
    """
    models = _models()
    if name.lower() not in models:
        raise ValueError(f"get_model: {name!r} is none of {', '.join(sorted(models))}")
    return models[name.lower()](**kwargs)
