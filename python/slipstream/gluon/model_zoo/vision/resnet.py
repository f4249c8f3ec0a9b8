"""Residual networks, of both versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import npx
from ... import nn
from ...block import HybridBlock
from ._common import Classifier, Variant, without_weights

__all__ = [
    "BasicBlockV1",
    "BasicBlockV2",
    "BottleneckV1",
    "BottleneckV2",
    "ResNetV1",
    "ResNetV2",
    "get_resnet",
    "resnet18_v1",
    "resnet18_v2",
    "resnet34_v1",
    "resnet34_v2",
    "resnet50_v1",
    "resnet50_v2",
    "resnet101_v1",
    "resnet101_v2",
    "resnet152_v1",
    "resnet152_v2",
]


def _conv3x3(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    return nn.Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels)


def _conv1x1(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    return nn.Conv2D(channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels)


class _ResidualV1(HybridBlock):
    """`relu(body(x) + x)`; with `downsample` the x that is added goes through a convolution of its own."""

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.body = nn.HybridSequential()
        self._fill(channels, stride, in_channels)
        self.downsample = None
        if downsample:
            self.downsample = nn.HybridSequential()
            self.downsample.add(_conv1x1(channels, stride, in_channels), nn.BatchNorm())

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        raise NotImplementedError

    def forward(self, x: Any) -> Any:
        """The block's result for a batch."""
        skipped = x if self.downsample is None else self.downsample(x)
        return npx.relu(self.body(x) + skipped)


class BasicBlockV1(_ResidualV1):
    """Two 3×3 convolutions and what skips them: the block of ResNet V1 with 18 and 34 layers.

    >>> from slipstream.gluon.model_zoo import vision
    >>> block = vision.BasicBlockV1(8, stride=1)
    """

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        self.body.add(_conv3x3(channels, stride, in_channels), nn.BatchNorm(), nn.Activation("relu"))
        self.body.add(_conv3x3(channels, 1, channels), nn.BatchNorm())


class BottleneckV1(_ResidualV1):
    """Convolutions 1×1, 3×3, 1×1 and what skips them: the block of ResNet V1 with 50 and more layers.

    >>> from slipstream.gluon.model_zoo import vision
    >>> block = vision.BottleneckV1(8, stride=1)
    """

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        inner = channels // 4
        self.body.add(nn.Conv2D(inner, kernel_size=1, strides=stride), nn.BatchNorm(), nn.Activation("relu"))
        self.body.add(_conv3x3(inner, 1, inner), nn.BatchNorm(), nn.Activation("relu"))
        self.body.add(nn.Conv2D(channels, kernel_size=1, strides=1), nn.BatchNorm())


class _ResidualV2(HybridBlock):
    """Normalisation and relu before each convolution, nothing after the sum."""

    downsample: nn.Conv2D | None

    def _end(self, x: Any, convs: list[tuple[Any, Any]]) -> Any:
        skipped = x
        for place, (norm, conv) in enumerate(convs):
            x = npx.relu(norm(x))
            if place == 0 and self.downsample is not None:
                skipped = self.downsample(x)
            x = conv(x)
        return x + skipped


class BasicBlockV2(_ResidualV2):
    """Two 3×3 convolutions and what skips them: the block of ResNet V2 with 18 and 34 layers.

    >>> from slipstream.gluon.model_zoo import vision
    >>> block = vision.BasicBlockV2(8, stride=1)
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = _conv3x3(channels, stride, in_channels)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels, 1, channels)
        self.downsample = _conv1x1(channels, stride, in_channels) if downsample else None

    def forward(self, x: Any) -> Any:
        """The block's result for a batch."""
        return self._end(x, [(self.bn1, self.conv1), (self.bn2, self.conv2)])


class BottleneckV2(_ResidualV2):
    """Convolutions 1×1, 3×3, 1×1 and what skips them: the block of ResNet V2 with 50 and more layers.

    >>> from slipstream.gluon.model_zoo import vision
    >>> block = vision.BottleneckV2(8, stride=1)
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        inner = channels // 4
        self.bn1 = nn.BatchNorm()
        self.conv1 = nn.Conv2D(inner, kernel_size=1, strides=1, use_bias=False)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(inner, stride, inner)
        self.bn3 = nn.BatchNorm()
        self.conv3 = nn.Conv2D(channels, kernel_size=1, strides=1, use_bias=False)
        self.downsample = _conv1x1(channels, stride, in_channels) if downsample else None

    def forward(self, x: Any) -> Any:
        """The block's result for a batch."""
        return self._end(x, [(self.bn1, self.conv1), (self.bn2, self.conv2), (self.bn3, self.conv3)])


def _stem(features: Any, channels: int, thumbnail: bool) -> None:
    """The first layers: one convolution for small images, else one that makes them four times smaller."""
    if thumbnail:
        features.add(_conv3x3(channels, 1, 0))
        return
    features.add(nn.Conv2D(channels, kernel_size=7, strides=2, padding=3, use_bias=False), nn.BatchNorm())
    features.add(nn.Activation("relu"), nn.MaxPool2D(pool_size=3, strides=2, padding=1))


def _stages(features: Any, block: Any, layers: Sequence[int], channels: Sequence[int]) -> None:
    for i, count in enumerate(layers):
        before, after = channels[i], channels[i + 1]
        stage = nn.HybridSequential()
        stage.add(block(after, 1 if i == 0 else 2, after != before, in_channels=before))
        stage.add(*(block(after, 1, False, in_channels=after) for _ in range(count - 1)))
        features.add(stage)


def _check(owner: str, layers: Sequence[int], channels: Sequence[int]) -> None:
    if len(layers) != len(channels) - 1:
        raise ValueError(f"{owner}: {len(layers)} stages need {len(layers) + 1} channels, not {len(channels)}")


class ResNetV1(Classifier):
    """ResNet (He et al., "Deep Residual Learning for Image Recognition").

    Stage i has `layers[i]` blocks of `channels[i + 1]` channels; `thumbnail` is for small images.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.ResNetV1(vision.BasicBlockV1, [1, 1], [8, 8, 16], classes=10)
    """

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        _check("ResNetV1", layers, channels)
        self.features = nn.HybridSequential()
        _stem(self.features, channels[0], thumbnail)
        _stages(self.features, block, layers, channels)
        self.features.add(nn.GlobalAvgPool2D())
        self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(Classifier):
    """ResNet with normalisation first (He et al., "Identity Mappings in Deep Residual Networks").

    Stage i has `layers[i]` blocks of `channels[i + 1]` channels; `thumbnail` is for small images.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.ResNetV2(vision.BasicBlockV2, [1, 1], [8, 8, 16], classes=10)
    """

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        _check("ResNetV2", layers, channels)
        self.features = nn.HybridSequential()
        self.features.add(nn.BatchNorm(scale=False, center=False))
        _stem(self.features, channels[0], thumbnail)
        _stages(self.features, block, layers, channels)
        self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Flatten())
        self.output = nn.Dense(classes, in_units=channels[-1])


LAYERS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
NARROW, WIDE = (64, 64, 128, 256, 512), (64, 256, 512, 1024, 2048)
NETS: dict[int, tuple[Any, Any, Any]] = {
    1: (ResNetV1, BasicBlockV1, BottleneckV1),
    2: (ResNetV2, BasicBlockV2, BottleneckV2),
}


def get_resnet(
    version: int,
    num_layers: int,
    pretrained: bool = False,
    device: Any = None,
    root: Any = None,
    ctx: Any = None,
    **kwargs: Any,
) -> Any:
    """ResNet of version 1 or 2 with 18, 34, 50, 101 or 152 layers.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.get_resnet(2, 18, classes=10)
    """
    if version not in NETS or num_layers not in LAYERS:
        raise ValueError(
            f"get_resnet: version={version}, num_layers={num_layers}: there are versions {', '.join(map(str, NETS))} "
            f"with {', '.join(map(str, LAYERS))} layers"
        )
    net, basic, bottleneck = NETS[version]
    block, channels = (basic, NARROW) if num_layers < 50 else (bottleneck, WIDE)
    return without_weights(net(block, LAYERS[num_layers], channels, **kwargs), pretrained)


resnet18_v1 = Variant("resnet18_v1", get_resnet, 1, 18)
resnet34_v1 = Variant("resnet34_v1", get_resnet, 1, 34)
resnet50_v1 = Variant("resnet50_v1", get_resnet, 1, 50)
resnet101_v1 = Variant("resnet101_v1", get_resnet, 1, 101)
resnet152_v1 = Variant("resnet152_v1", get_resnet, 1, 152)
resnet18_v2 = Variant("resnet18_v2", get_resnet, 2, 18)
resnet34_v2 = Variant("resnet34_v2", get_resnet, 2, 34)
resnet50_v2 = Variant("resnet50_v2", get_resnet, 2, 50)
resnet101_v2 = Variant("resnet101_v2", get_resnet, 2, 101)
resnet152_v2 = Variant("resnet152_v2", get_resnet, 2, 152)
