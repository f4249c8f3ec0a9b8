"""AlexNet."""

from __future__ import annotations

from typing import Any

from ... import nn
from ._common import Classifier, Variant, without_weights

__all__ = ["AlexNet", "alexnet"]


class AlexNet(Classifier):
    """AlexNet in the form for one device (Krizhevsky, "One weird trick for parallelizing convolutional neural
    networks").

    >>> from slipstream.gluon.model_zoo import vision
    >>> len(vision.AlexNet(classes=10).features)
    13
    """

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.features = nn.HybridSequential()
        self.features.add(
            nn.Conv2D(64, kernel_size=11, strides=4, padding=2, activation="relu"),
            nn.MaxPool2D(pool_size=3, strides=2),
            nn.Conv2D(192, kernel_size=5, padding=2, activation="relu"),
            nn.MaxPool2D(pool_size=3, strides=2),
            nn.Conv2D(384, kernel_size=3, padding=1, activation="relu"),
            nn.Conv2D(256, kernel_size=3, padding=1, activation="relu"),
            nn.Conv2D(256, kernel_size=3, padding=1, activation="relu"),
            nn.MaxPool2D(pool_size=3, strides=2),
            nn.Flatten(),
            nn.Dense(4096, activation="relu"),
            nn.Dropout(0.5),
            nn.Dense(4096, activation="relu"),
            nn.Dropout(0.5),
        )
        self.output = nn.Dense(classes)


def _make(pretrained: bool = False, device: Any = None, root: Any = None, ctx: Any = None, **kwargs: Any) -> Any:
    """AlexNet for images of 224×224."""
    return without_weights(AlexNet(**kwargs), pretrained)


alexnet = Variant("alexnet", _make)
