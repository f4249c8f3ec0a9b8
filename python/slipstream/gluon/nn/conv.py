"""Convolutions, transposed convolutions, and layers that move pixels."""

from __future__ import annotations

import math
from typing import Any

from ... import np, npx
from ..._core import ndarray
from .._sizes import Sizes, sizes, spatial_layout, whole
from ..block import HybridBlock
from ..parameter import Parameter
from .activations import Activation

__all__ = [
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
    "ReflectionPad2D",
]


class _Conv(HybridBlock):
    """What all convolutions share. `ndim` is the number of spatial axes."""

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes,
        padding: Sizes,
        dilation: Sizes,
        groups: int,
        layout: str,
        in_channels: int,
        activation: str | None,
        use_bias: bool,
        weight_initializer: Any,
        bias_initializer: Any,
        ndim: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        owner = type(self).__name__
        channels = whole(channels, owner, "channels")
        groups = whole(groups, owner, "groups")
        in_channels = max(whole(in_channels, owner, "in_channels", -1), 0)
        if channels % groups or in_channels % groups:
            raise ValueError(f"{owner}: {channels} channels from {in_channels} do not split into {groups} groups")
        self._channels = channels
        self._in_channels = in_channels
        self._groups = groups
        self._kernel = sizes(kernel_size, ndim, owner, "kernel_size")
        self._strides = sizes(strides, ndim, owner, "strides")
        self._padding = sizes(padding, ndim, owner, "padding", 0)
        self._dilation = sizes(dilation, ndim, owner, "dilation")
        self._layout = spatial_layout(layout, ndim, owner)
        self.weight = Parameter(
            "weight", shape=self._weight_shape(in_channels), init=weight_initializer, allow_deferred_init=True
        )
        self.bias = (
            Parameter("bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True) if use_bias else None
        )
        self.act = Activation(activation) if activation is not None else None

    def _weight_shape(self, in_channels: int) -> tuple[int, ...]:
        inner = in_channels // self._groups if in_channels else -1
        if self._layout[1] == "C":
            return (self._channels, inner, *self._kernel)
        return (self._channels, *self._kernel, inner)

    def infer_shape(self, x: ndarray, *args: Any) -> None:
        """The number of input channels is that of the first batch."""
        found = x.shape[self._layout.index("C")]
        if found % self._groups:
            raise ValueError(f"{type(self).__name__}: {found} channels do not split into {self._groups} groups")
        self._in_channels = found
        self.weight.shape = self._weight_shape(found)

    def _options(self) -> dict[str, Any]:
        return {
            "kernel": self._kernel,
            "stride": self._strides,
            "dilate": self._dilation,
            "pad": self._padding,
            "num_filter": self._channels,
            "num_group": self._groups,
            "no_bias": self.bias is None,
            "layout": self._layout,
        }

    def forward(self, x: ndarray) -> ndarray:
        """The convolution, and the activation of it."""
        device = x.device
        bias = None if self.bias is None else self.bias.data(device)
        out = npx.convolution(x, self.weight.data(device), bias, **self._options())
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        ends = f"{self._in_channels or None} -> {self._channels}, kernel_size={self._kernel}, stride={self._strides}"
        more = "" if set(self._padding) == {0} else f", padding={self._padding}"
        more += "" if set(self._dilation) == {1} else f", dilation={self._dilation}"
        more += "" if self._groups == 1 else f", groups={self._groups}"
        more += "" if self.bias is not None else ", bias=False"
        more += "" if self.act is None else f", {self.act!r}"
        return f"{type(self).__name__}({ends}{more})"


class Conv1D(_Conv):
    """Convolution along one axis. `x` is (batch, channels, width) in the layout NCW, or NWC.

    >>> from slipstream.gluon import nn
    >>> layer = nn.Conv1D(4, kernel_size=3)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 8))).shape
    (2, 4, 6)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        layout: str = "NCW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
            weight_initializer, bias_initializer, 1, **kwargs,
        )  # fmt: skip


class Conv2D(_Conv):
    """Convolution along two axes. `x` is (batch, channels, height, width) in the layout NCHW, or NHWC.

    >>> from slipstream.gluon import nn
    >>> layer = nn.Conv2D(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 8, 8))).shape
    (2, 4, 8, 8)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
        dilation: Sizes = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
            weight_initializer, bias_initializer, 2, **kwargs,
        )  # fmt: skip


class Conv3D(_Conv):
    """Convolution along three axes. `x` is (batch, channels, depth, height, width) in the layout NCDHW, or NDHWC.

    >>> from slipstream.gluon import nn
    >>> layer = nn.Conv3D(4, kernel_size=2)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 4, 4, 4))).shape
    (2, 4, 3, 3, 3)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1, 1),
        padding: Sizes = (0, 0, 0),
        dilation: Sizes = (1, 1, 1),
        groups: int = 1,
        layout: str = "NCDHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
            weight_initializer, bias_initializer, 3, **kwargs,
        )  # fmt: skip


class _ConvTranspose(_Conv):
    """What all transposed convolutions share: the gradient of a convolution, as a layer."""

    def __init__(self, *args: Any, output_padding: Sizes, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._output_padding = sizes(output_padding, len(self._kernel), type(self).__name__, "output_padding", 0)

    def _weight_shape(self, in_channels: int) -> tuple[int, ...]:
        outer, inner = in_channels or -1, self._channels // self._groups
        return (outer, inner, *self._kernel) if self._layout[1] == "C" else (outer, *self._kernel, inner)

    def forward(self, x: ndarray) -> ndarray:
        """The transposed convolution, and the activation of it."""
        device = x.device
        bias = None if self.bias is None else self.bias.data(device)
        out = npx.deconvolution(x, self.weight.data(device), bias, adj=self._output_padding, **self._options())
        return out if self.act is None else self.act(out)


class Conv1DTranspose(_ConvTranspose):
    """Transposed convolution along one axis.

    >>> from slipstream.gluon import nn
    >>> layer = nn.Conv1DTranspose(4, kernel_size=3, strides=2)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 8))).shape
    (2, 4, 17)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        layout: str = "NCW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
            weight_initializer, bias_initializer, 1, output_padding=output_padding, **kwargs,
        )  # fmt: skip


class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution along two axes.

    >>> from slipstream.gluon import nn
    >>> layer = nn.Conv2DTranspose(4, kernel_size=2, strides=2)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 4, 4))).shape
    (2, 4, 8, 8)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
        output_padding: Sizes = (0, 0),
        dilation: Sizes = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
            weight_initializer, bias_initializer, 2, output_padding=output_padding, **kwargs,
        )  # fmt: skip


class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution along three axes.

    >>> from slipstream.gluon import nn
    >>> layer = nn.Conv3DTranspose(4, kernel_size=2)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 4, 4, 4))).shape
    (2, 4, 5, 5, 5)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1, 1),
        padding: Sizes = (0, 0, 0),
        output_padding: Sizes = (0, 0, 0),
        dilation: Sizes = (1, 1, 1),
        groups: int = 1,
        layout: str = "NCDHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            channels, kernel_size, strides, padding, dilation, groups, layout, in_channels, activation, use_bias,
            weight_initializer, bias_initializer, 3, output_padding=output_padding, **kwargs,
        )  # fmt: skip


class ReflectionPad2D(HybridBlock):
    """Adds the mirror image at the borders of height and width (axes 2 and 3).

    `padding` is one number, or MXNet's eight: before and after, for each of the four axes.

    >>> from slipstream.gluon import nn
    >>> nn.ReflectionPad2D(1)(np.arange(4).reshape(1, 1, 2, 2))[0, 0, 0]
    array([3., 2., 3., 2.])
    """

    def __init__(self, padding: Sizes = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        flat = (0, 0, 0, 0, *(padding,) * 4) if isinstance(padding, int) else tuple(padding)
        if len(flat) != 8:
            raise ValueError(f"ReflectionPad2D: padding={padding} is neither one number nor eight")
        self._pairs = [(flat[i], flat[i + 1]) for i in range(0, 8, 2)]

    def forward(self, x: ndarray) -> ndarray:
        """The larger array."""
        for axis, (before, after) in enumerate(self._pairs):
            if max(before, after) >= x.shape[axis] and before + after > 0:
                raise ValueError(f"ReflectionPad2D: {max(before, after)} more for axis {axis} of {x.shape}")
            if before or after:
                x = np.concatenate(_with_mirrors(x, axis, before, after), axis=axis)
        return x


def _with_mirrors(x: ndarray, axis: int, before: int, after: int) -> list[ndarray]:
    """The array between its mirror images along an axis; the element at a border is not repeated."""
    ahead = (slice(None),) * axis
    size = x.shape[axis]
    parts = [x]
    if before:
        parts.insert(0, np.flip(x[(*ahead, slice(1, before + 1))], axis))
    if after:
        parts.append(np.flip(x[(*ahead, slice(size - 1 - after, size - 1))], axis))
    return parts


class _PixelShuffle(HybridBlock):
    """Channels become pixels: (N, f1 * ... * fk * C, d1, ..., dk) becomes (N, C, f1 * d1, ..., fk * dk)."""

    _ndim = 1

    def __init__(self, factor: Sizes, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._factors = sizes(factor, self._ndim, type(self).__name__, "factor")

    def forward(self, x: ndarray) -> ndarray:
        """The larger array."""
        k, factors = self._ndim, self._factors
        n, c, space = x.shape[0], x.shape[1], x.shape[2:]
        count = math.prod(factors)
        if x.ndim != k + 2 or c % count:
            raise ValueError(f"{type(self).__name__}: {x.shape} does not split into pixels of {factors}")
        x = x.reshape((n, c // count, *factors, *space))
        pairs = [axis for i in range(k) for axis in (2 + k + i, 2 + i)]
        x = x.transpose((0, 1, *pairs))
        return x.reshape((n, c // count, *(f * d for f, d in zip(factors, space, strict=True))))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors[0] if self._ndim == 1 else self._factors})"


class PixelShuffle1D(_PixelShuffle):
    """(N, f * C, W) becomes (N, C, f * W).

    >>> from slipstream.gluon import nn
    >>> nn.PixelShuffle1D(2)(np.ones((1, 8, 3))).shape
    (1, 4, 6)
    """


class PixelShuffle2D(_PixelShuffle):
    """(N, f1 * f2 * C, H, W) becomes (N, C, f1 * H, f2 * W).

    >>> from slipstream.gluon import nn
    >>> nn.PixelShuffle2D((2, 3))(np.ones((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    """

    _ndim = 2


class PixelShuffle3D(_PixelShuffle):
    """(N, f1 * f2 * f3 * C, D, H, W) becomes (N, C, f1 * D, f2 * H, f3 * W).

    >>> from slipstream.gluon import nn
    >>> nn.PixelShuffle3D(2)(np.ones((1, 8, 3, 5, 7))).shape
    (1, 1, 6, 10, 14)
    """

    _ndim = 3
