"""Inception v3."""

from __future__ import annotations

from typing import Any

from ... import nn
from ._common import Classifier, Variant, without_weights

__all__ = ["Inception3", "inception_v3"]

ROW, COLUMN = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))  # the two halves of a 7×7 convolution


def _conv(channels: int, kernel: Any, stride: int = 1, padding: Any = 0) -> nn.HybridSequential:
    out = nn.HybridSequential()
    out.add(nn.Conv2D(channels, kernel, stride, padding, use_bias=False))
    out.add(nn.BatchNorm(epsilon=0.001), nn.Activation("relu"))
    return out


def _branch(*convs: Any, first: Any = None) -> nn.HybridSequential:
    out = nn.HybridSequential()
    if first is not None:
        out.add(first)
    out.add(*(_conv(*conv) for conv in convs))
    return out


def _side_by_side(*branches: Any) -> nn.HybridConcatenate:
    out = nn.HybridConcatenate(axis=1)
    out.add(*branches)
    return out


def _mean() -> nn.AvgPool2D:
    return nn.AvgPool2D(pool_size=3, strides=1, padding=1)


def _module_a(pooled: int) -> nn.HybridConcatenate:
    return _side_by_side(
        _branch((64, 1)),
        _branch((48, 1), (64, 5, 1, 2)),
        _branch((64, 1), (96, 3, 1, 1), (96, 3, 1, 1)),
        _branch((pooled, 1), first=_mean()),
    )


def _module_b() -> nn.HybridConcatenate:
    return _side_by_side(
        _branch((384, 3, 2)),
        _branch((64, 1), (96, 3, 1, 1), (96, 3, 2)),
        _branch(first=nn.MaxPool2D(pool_size=3, strides=2)),
    )


def _module_c(n: int) -> nn.HybridConcatenate:
    return _side_by_side(
        _branch((192, 1)),
        _branch((n, 1), (n, *ROW), (192, *COLUMN)),
        _branch((n, 1), (n, *COLUMN), (n, *ROW), (n, *COLUMN), (192, *ROW)),
        _branch((192, 1), first=_mean()),
    )


def _module_d() -> nn.HybridConcatenate:
    return _side_by_side(
        _branch((192, 1), (320, 3, 2)),
        _branch((192, 1), (192, *ROW), (192, *COLUMN), (192, 3, 2)),
        _branch(first=nn.MaxPool2D(pool_size=3, strides=2)),
    )


def _split(*convs: Any) -> nn.HybridSequential:
    """Convolutions, then a row and a column of three side by side."""
    out = nn.HybridSequential()
    ends = _side_by_side(_branch((384, (1, 3), 1, (0, 1))), _branch((384, (3, 1), 1, (1, 0))))
    out.add(_branch(*convs), ends)
    return out


def _module_e() -> nn.HybridConcatenate:
    return _side_by_side(
        _branch((320, 1)),
        _split((384, 1)),
        _split((448, 1), (384, 3, 1, 1)),
        _branch((192, 1), first=_mean()),
    )


class Inception3(Classifier):
    """Inception v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision"), for 299×299.

    >>> from slipstream.gluon.model_zoo import vision
    >>> len(vision.Inception3(classes=10).features)
    20
    """

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.features = nn.HybridSequential()
        self.features.add(_conv(32, 3, 2), _conv(32, 3), _conv(64, 3, 1, 1), nn.MaxPool2D(pool_size=3, strides=2))
        self.features.add(_conv(80, 1), _conv(192, 3), nn.MaxPool2D(pool_size=3, strides=2))
        self.features.add(_module_a(32), _module_a(64), _module_a(64), _module_b())
        self.features.add(_module_c(128), _module_c(160), _module_c(160), _module_c(192), _module_d())
        self.features.add(_module_e(), _module_e(), nn.AvgPool2D(pool_size=8), nn.Dropout(0.5))
        self.output = nn.Dense(classes)


def _make(pretrained: bool = False, device: Any = None, root: Any = None, ctx: Any = None, **kwargs: Any) -> Any:
    """Inception v3 for images of 299×299."""
    return without_weights(Inception3(**kwargs), pretrained)


inception_v3 = Variant("inception_v3", _make, listed="inceptionv3")
