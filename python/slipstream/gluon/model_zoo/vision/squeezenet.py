"""SqueezeNet."""

from __future__ import annotations

from typing import Any

from ... import nn
from ._common import Classifier, Variant, without_weights

__all__ = ["SqueezeNet", "get_squeezenet", "squeezenet1_0", "squeezenet1_1"]

# The first convolution (channels, kernel), then fire modules by their squeezed channels; None is a pooling.
VERSIONS: dict[str, tuple[tuple[int, int], tuple[int | None, ...]]] = {
    "1.0": ((96, 7), (None, 16, 16, 32, None, 32, 48, 48, 64, None, 64)),
    "1.1": ((64, 3), (None, 16, 16, None, 32, 32, None, 48, 48, 64, 64)),
}


def _conv(channels: int, kernel_size: int, padding: int = 0) -> nn.HybridSequential:
    out = nn.HybridSequential()
    out.add(nn.Conv2D(channels, kernel_size, padding=padding), nn.Activation("relu"))
    return out


def _fire(squeezed: int) -> nn.HybridSequential:
    """Fewer channels by a 1×1 convolution, then eight times as many by 1×1 and 3×3 side by side."""
    expanded = nn.HybridConcatenate(axis=1)
    expanded.add(_conv(4 * squeezed, 1), _conv(4 * squeezed, 3, padding=1))
    out = nn.HybridSequential()
    out.add(_conv(squeezed, 1), expanded)
    return out


class SqueezeNet(Classifier):
    """SqueezeNet 1.0 or 1.1 (Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters").

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.SqueezeNet("1.1", classes=10)
    """

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if version not in VERSIONS:
            raise ValueError(f"SqueezeNet: version={version!r} is none of {', '.join(map(repr, VERSIONS))}")
        (channels, kernel), modules = VERSIONS[version]
        self.features = nn.HybridSequential()
        self.features.add(nn.Conv2D(channels, kernel_size=kernel, strides=2), nn.Activation("relu"))
        for squeezed in modules:
            pool = nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True)
            self.features.add(pool if squeezed is None else _fire(squeezed))
        self.features.add(nn.Dropout(0.5))
        self.output = nn.HybridSequential()
        self.output.add(nn.Conv2D(classes, kernel_size=1), nn.Activation("relu"), nn.AvgPool2D(13), nn.Flatten())


def get_squeezenet(
    version: str, pretrained: bool = False, device: Any = None, root: Any = None, ctx: Any = None, **kwargs: Any
) -> Any:
    """SqueezeNet '1.0' or '1.1', for images of 224×224.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.get_squeezenet("1.0", classes=10)
    """
    return without_weights(SqueezeNet(version, **kwargs), pretrained)


squeezenet1_0 = Variant("squeezenet1_0", get_squeezenet, "1.0", listed="squeezenet1.0")
squeezenet1_1 = Variant("squeezenet1_1", get_squeezenet, "1.1", listed="squeezenet1.1")
