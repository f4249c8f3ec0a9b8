"""VGG networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import initializer
from ... import nn
from ._common import Classifier, Variant, without_weights

__all__ = ["VGG", "get_vgg", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"]

FILTERS = (64, 128, 256, 512, 512)
LAYERS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class VGG(Classifier):
    """VGG (Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition").

    Stage i has `layers[i]` convolutions of `filters[i]` channels; with `batch_norm` each is normalised.

    >>> from slipstream.gluon.model_zoo import vision
    >>> len(vision.VGG([1, 1], [8, 16], classes=10).features)
    10
    """

    def __init__(
        self,
        layers: Sequence[int],
        filters: Sequence[int],
        classes: int = 1000,
        batch_norm: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise ValueError(f"VGG: {len(layers)} layers for {len(filters)} filters")
        self.features = nn.HybridSequential()
        for count, channels in zip(layers, filters, strict=True):
            for _ in range(count):
                init = initializer.Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
                self.features.add(nn.Conv2D(channels, kernel_size=3, padding=1, weight_initializer=init))
                if batch_norm:
                    self.features.add(nn.BatchNorm())
                self.features.add(nn.Activation("relu"))
            self.features.add(nn.MaxPool2D(strides=2))
        for _ in range(2):
            self.features.add(nn.Dense(4096, activation="relu", weight_initializer="normal"), nn.Dropout(0.5))
        self.output = nn.Dense(classes, weight_initializer="normal")


def get_vgg(
    num_layers: int, pretrained: bool = False, device: Any = None, root: Any = None, ctx: Any = None, **kwargs: Any
) -> Any:
    """VGG with 11, 13, 16 or 19 layers, for images of 224×224.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.get_vgg(11, classes=10, batch_norm=True)
    """
    if num_layers not in LAYERS:
        raise ValueError(f"get_vgg: num_layers={num_layers} is none of {', '.join(map(str, LAYERS))}")
    return without_weights(VGG(LAYERS[num_layers], FILTERS, **kwargs), pretrained)


vgg11 = Variant("vgg11", get_vgg, 11)
vgg13 = Variant("vgg13", get_vgg, 13)
vgg16 = Variant("vgg16", get_vgg, 16)
vgg19 = Variant("vgg19", get_vgg, 19)
vgg11_bn = Variant("vgg11_bn", get_vgg, 11, batch_norm=True)
vgg13_bn = Variant("vgg13_bn", get_vgg, 13, batch_norm=True)
vgg16_bn = Variant("vgg16_bn", get_vgg, 16, batch_norm=True)
vgg19_bn = Variant("vgg19_bn", get_vgg, 19, batch_norm=True)
