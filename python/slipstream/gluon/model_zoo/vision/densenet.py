"""Densely connected networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import nn
from ._common import Classifier, Variant, without_weights

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201", "get_densenet"]

# First channels, channels that each layer adds, layers of each block.
SIZES = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}


def _layer(growth_rate: int, bn_size: int, dropout: float) -> nn.HybridConcatenate:
    """The input, and beside it the channels that a layer adds."""
    new = nn.HybridSequential()
    new.add(nn.BatchNorm(), nn.Activation("relu"))
    new.add(nn.Conv2D(bn_size * growth_rate, kernel_size=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    new.add(nn.Conv2D(growth_rate, kernel_size=3, padding=1, use_bias=False))
    if dropout:
        new.add(nn.Dropout(dropout))
    out = nn.HybridConcatenate(axis=1)
    out.add(nn.Identity(), new)
    return out


def _transition(channels: int) -> nn.HybridSequential:
    """Fewer channels and a quarter of the pixels."""
    out = nn.HybridSequential()
    out.add(nn.BatchNorm(), nn.Activation("relu"))
    out.add(nn.Conv2D(channels, kernel_size=1, use_bias=False), nn.AvgPool2D(pool_size=2, strides=2))
    return out


class DenseNet(Classifier):
    """DenseNet-BC (Huang et al., "Densely Connected Convolutional Networks"), for images of 224×224.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.DenseNet(8, 4, [2, 2], classes=10)
    """

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: Sequence[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.features = nn.HybridSequential()
        self.features.add(nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False))
        self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(pool_size=3, strides=2, padding=1))
        channels = num_init_features
        for i, count in enumerate(block_config):
            block = nn.HybridSequential()
            block.add(*(_layer(growth_rate, bn_size, dropout) for _ in range(count)))
            self.features.add(block)
            channels += count * growth_rate
            if i + 1 < len(block_config):
                channels //= 2
                self.features.add(_transition(channels))
        self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(pool_size=7), nn.Flatten())
        self.output = nn.Dense(classes)


def get_densenet(
    num_layers: int, pretrained: bool = False, device: Any = None, root: Any = None, ctx: Any = None, **kwargs: Any
) -> Any:
    """DenseNet with 121, 161, 169 or 201 layers, for images of 224×224.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.get_densenet(121, classes=10)
    """
    if num_layers not in SIZES:
        raise ValueError(f"get_densenet: num_layers={num_layers} is none of {', '.join(map(str, SIZES))}")
    return without_weights(DenseNet(*SIZES[num_layers], **kwargs), pretrained)


densenet121 = Variant("densenet121", get_densenet, 121)
densenet161 = Variant("densenet161", get_densenet, 161)
densenet169 = Variant("densenet169", get_densenet, 169)
densenet201 = Variant("densenet201", get_densenet, 201)
