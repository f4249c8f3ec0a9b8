"""What the networks share: features and an output, named variants, and what asking for weights gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...block import HybridBlock


class Classifier(HybridBlock):
    """A network of two parts: `features`, and `output`, which gives a number for each class."""

    features: HybridBlock
    output: HybridBlock

    def forward(self, x: Any) -> Any:
        """The classes' numbers for each image of a batch."""
        return self.output(self.features(x))


class Variant:
    """A function that makes one variant of a network: `resnet18_v1(classes=10)`."""

    def __init__(self, name: str, make: Callable[..., Any], *args: Any, listed: str = "", **options: Any) -> None:
        self.__name__ = name
        self.__module__ = make.__module__
        self.listed = listed or name  # what MXNet's get_model calls it
        self._make, self._args, self._options = make, args, options
        self.__doc__ = (
            f"`{make.__name__}({', '.join(map(repr, args))})`: {(make.__doc__ or '').splitlines()[0]}\n\n"
            f">>> from slipstream.gluon.model_zoo import vision\n>>> net = vision.{name}(classes=10)\n"
        )

    def __call__(self, **kwargs: Any) -> Any:
        return self._make(*self._args, **{**self._options, **kwargs})

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


def without_weights(net: HybridBlock, pretrained: Any) -> Any:
    """The network, or the error for those who want its weights too."""
    if pretrained:
        raise NotImplementedError(
            f"{type(net).__name__}: pretrained={pretrained}: weights do not come with the networks and cannot be "
            "downloaded; net.load_parameters(file) reads MXNet's files"
        )
    return net
