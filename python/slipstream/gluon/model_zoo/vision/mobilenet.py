"""MobileNets, of three versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import np, npx
from ... import nn
from ...block import HybridBlock
from ._common import Classifier, Variant, without_weights

__all__ = [
    "MobileNet",
    "MobileNetV2",
    "MobileNetV3",
    "get_mobilenet",
    "get_mobilenet_v2",
    "get_mobilenet_v3",
    "mobilenet0_5",
    "mobilenet0_25",
    "mobilenet0_75",
    "mobilenet1_0",
    "mobilenet_v2_0_5",
    "mobilenet_v2_0_25",
    "mobilenet_v2_0_75",
    "mobilenet_v2_1_0",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
]


class _ReLU6(HybridBlock):
    """Limits to the range from 0 to 6."""

    def forward(self, x: Any) -> Any:
        """The function of every element."""
        return np.clip(x, 0, 6)


class _HardSwish(HybridBlock):
    """`x * relu6(x + 3) / 6`."""

    def forward(self, x: Any) -> Any:
        """The function of every element."""
        return x * np.clip(x + 3, 0, 6) / 6


_ACTIVATIONS: dict[str, Callable[[], HybridBlock]] = {
    "relu": lambda: nn.Activation("relu"),
    "relu6": _ReLU6,
    "hard_swish": _HardSwish,
}


def _conv(out: Any, channels: int, kernel: int = 1, stride: int = 1, groups: int = 1, act: str | None = "relu") -> None:
    """Adds a convolution that keeps or halves the size, its normalisation, and an activation."""
    out.add(nn.Conv2D(channels, kernel, stride, kernel // 2, groups=groups, use_bias=False), nn.BatchNorm())
    if act is not None:
        out.add(_ACTIVATIONS[act]())


# ---- version 1

V1_CHANNELS = (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)
V1_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)


class MobileNet(Classifier):
    """MobileNet (Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications").

    All numbers of channels are multiplied by `multiplier`.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.MobileNet(0.25, classes=10)
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.features = nn.HybridSequential()
        before = int(32 * multiplier)
        _conv(self.features, before, kernel=3, stride=2)
        for channels, stride in zip(V1_CHANNELS, V1_STRIDES, strict=True):
            _conv(self.features, before, kernel=3, stride=stride, groups=before)
            before = int(channels * multiplier)
            _conv(self.features, before)
        self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
        self.output = nn.Dense(classes)


# ---- version 2

# Expansion, channels, blocks, stride of the first block.
V2_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class _LinearBottleneck(HybridBlock):
    """More channels, a 3×3 convolution of each channel, fewer channels; the input is added where it fits."""

    def __init__(self, in_channels: int, channels: int, expansion: int, stride: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._adds = stride == 1 and in_channels == channels
        inner = in_channels * expansion
        self.out = nn.HybridSequential()
        _conv(self.out, inner, act="relu6")
        _conv(self.out, inner, kernel=3, stride=stride, groups=inner, act="relu6")
        _conv(self.out, channels, act=None)

    def forward(self, x: Any) -> Any:
        """The block's result for a batch."""
        return self.out(x) + x if self._adds else self.out(x)


class MobileNetV2(Classifier):
    """MobileNet V2 (Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks").

    All numbers of channels but the last are multiplied by `multiplier`.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.MobileNetV2(0.25, classes=10)
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.features = nn.HybridSequential()
        before = int(32 * multiplier)
        _conv(self.features, before, kernel=3, stride=2, act="relu6")
        for expansion, channels, blocks, stride in V2_STAGES:
            after = int(channels * multiplier)
            for i in range(blocks):
                self.features.add(_LinearBottleneck(before, after, expansion, stride if i == 0 else 1))
                before = after
        _conv(self.features, int(1280 * max(multiplier, 1.0)), act="relu6")
        self.features.add(nn.GlobalAvgPool2D())
        self.output = nn.HybridSequential()
        self.output.add(nn.Conv2D(classes, 1, use_bias=False), nn.Flatten())


# ---- version 3

# Kernel, inner channels, channels, squeeze and excite, activation, stride.
V3_LARGE = (
    (3, 16, 16, False, "relu", 1),
    (3, 64, 24, False, "relu", 2),
    (3, 72, 24, False, "relu", 1),
    (5, 72, 40, True, "relu", 2),
    (5, 120, 40, True, "relu", 1),
    (5, 120, 40, True, "relu", 1),
    (3, 240, 80, False, "hard_swish", 2),
    (3, 200, 80, False, "hard_swish", 1),
    (3, 184, 80, False, "hard_swish", 1),
    (3, 184, 80, False, "hard_swish", 1),
    (3, 480, 112, True, "hard_swish", 1),
    (3, 672, 112, True, "hard_swish", 1),
    (5, 672, 160, True, "hard_swish", 2),
    (5, 960, 160, True, "hard_swish", 1),
    (5, 960, 160, True, "hard_swish", 1),
)
V3_SMALL = (
    (3, 16, 16, True, "relu", 2),
    (3, 72, 24, False, "relu", 2),
    (3, 88, 24, False, "relu", 1),
    (5, 96, 40, True, "hard_swish", 2),
    (5, 240, 40, True, "hard_swish", 1),
    (5, 240, 40, True, "hard_swish", 1),
    (5, 120, 48, True, "hard_swish", 1),
    (5, 144, 48, True, "hard_swish", 1),
    (5, 288, 96, True, "hard_swish", 2),
    (5, 576, 96, True, "hard_swish", 1),
    (5, 576, 96, True, "hard_swish", 1),
)
V3_SIZES = {"large": (V3_LARGE, 960, 1280), "small": (V3_SMALL, 576, 1024)}


def _whole(channels: float) -> int:
    """The nearest multiple of 8, not more than a tenth below."""
    found = max(8, int(channels + 4) // 8 * 8)
    return found + 8 if found < 0.9 * channels else found


class _SqueezeExcite(HybridBlock):
    """Scales every channel by a number that all channels' means decide."""

    def __init__(self, channels: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.squeeze = nn.Conv2D(_whole(channels / 4), 1, activation="relu")
        self.excite = nn.Conv2D(channels, 1)

    def forward(self, x: Any) -> Any:
        """The scaled batch."""
        means = npx.pooling(x, kernel=(1, 1), pool_type="avg", global_pool=True)
        return x * (np.clip(self.excite(self.squeeze(means)) + 3, 0, 6) / 6)


class _BottleneckV3(HybridBlock):
    """The inverted residual of version 3."""

    def __init__(
        self,
        in_channels: int,
        kernel: int,
        inner: int,
        channels: int,
        excite: bool,
        act: str,
        stride: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._adds = stride == 1 and in_channels == channels
        self.out = nn.HybridSequential()
        if inner != in_channels:
            _conv(self.out, inner, act=act)
        _conv(self.out, inner, kernel=kernel, stride=stride, groups=inner, act=act)
        if excite:
            self.out.add(_SqueezeExcite(inner))
        _conv(self.out, channels, act=None)

    def forward(self, x: Any) -> Any:
        """The block's result for a batch."""
        return self.out(x) + x if self._adds else self.out(x)


class MobileNetV3(Classifier):
    """MobileNet V3, 'large' or 'small' (Howard et al., "Searching for MobileNetV3").

    All numbers of channels but the last are multiplied by `multiplier`.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.MobileNetV3("small", classes=10)
    """

    def __init__(self, size: str = "large", multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if size not in V3_SIZES:
            raise ValueError(f"MobileNetV3: size={size!r} is neither 'large' nor 'small'")
        blocks, last, hidden = V3_SIZES[size]
        before = _whole(16 * multiplier)
        self.features = nn.HybridSequential()
        _conv(self.features, before, kernel=3, stride=2, act="hard_swish")
        for kernel, inner, channels, excite, act, stride in blocks:
            wide, after = _whole(inner * multiplier), _whole(channels * multiplier)
            self.features.add(_BottleneckV3(before, kernel, wide, after, excite, act, stride))
            before = after
        _conv(self.features, _whole(last * multiplier), act="hard_swish")
        self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
        self.output = nn.HybridSequential()
        self.output.add(nn.Dense(hidden), _HardSwish(), nn.Dropout(0.2), nn.Dense(classes))


# ---- by name


def get_mobilenet(
    multiplier: float, pretrained: bool = False, device: Any = None, root: Any = None, ctx: Any = None, **kwargs: Any
) -> Any:
    """MobileNet with a multiplier of its channels.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.get_mobilenet(0.5, classes=10)
    """
    return without_weights(MobileNet(multiplier, **kwargs), pretrained)


def get_mobilenet_v2(
    multiplier: float, pretrained: bool = False, device: Any = None, root: Any = None, ctx: Any = None, **kwargs: Any
) -> Any:
    """MobileNet V2 with a multiplier of its channels.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.get_mobilenet_v2(0.5, classes=10)
    """
    return without_weights(MobileNetV2(multiplier, **kwargs), pretrained)


def get_mobilenet_v3(
    size: str, pretrained: bool = False, device: Any = None, root: Any = None, ctx: Any = None, **kwargs: Any
) -> Any:
    """MobileNet V3, 'large' or 'small'.

    >>> from slipstream.gluon.model_zoo import vision
    >>> net = vision.get_mobilenet_v3("small", classes=10)
    """
    return without_weights(MobileNetV3(size, **kwargs), pretrained)


mobilenet1_0 = Variant("mobilenet1_0", get_mobilenet, 1.0, listed="mobilenet1.0")
mobilenet0_75 = Variant("mobilenet0_75", get_mobilenet, 0.75, listed="mobilenet0.75")
mobilenet0_5 = Variant("mobilenet0_5", get_mobilenet, 0.5, listed="mobilenet0.5")
mobilenet0_25 = Variant("mobilenet0_25", get_mobilenet, 0.25, listed="mobilenet0.25")
mobilenet_v2_1_0 = Variant("mobilenet_v2_1_0", get_mobilenet_v2, 1.0, listed="mobilenetv2_1.0")
mobilenet_v2_0_75 = Variant("mobilenet_v2_0_75", get_mobilenet_v2, 0.75, listed="mobilenetv2_0.75")
mobilenet_v2_0_5 = Variant("mobilenet_v2_0_5", get_mobilenet_v2, 0.5, listed="mobilenetv2_0.5")
mobilenet_v2_0_25 = Variant("mobilenet_v2_0_25", get_mobilenet_v2, 0.25, listed="mobilenetv2_0.25")
mobilenet_v3_large = Variant("mobilenet_v3_large", get_mobilenet_v3, "large", listed="mobilenetv3_large")
mobilenet_v3_small = Variant("mobilenet_v3_small", get_mobilenet_v3, "small", listed="mobilenetv3_small")
