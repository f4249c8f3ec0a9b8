"""Deformable convolutions: convolutions that learn where to look."""

from __future__ import annotations

import math
from typing import Any

from ... import np, npx
from ..._core import ndarray
from ..block import HybridBlock
from ..parameter import Parameter
from .activations import Activation
from .conv import Sizes, sizes

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]

Pair = tuple[int, int]


def _sampled(rows: ndarray, base: ndarray, y: ndarray, x: ndarray, space: Pair) -> ndarray:
    """Pixels at places between pixels, by bilinear interpolation; outside of the image they are 0.

    `rows` has a row of channels for every pixel; `base` is the row of the first pixel of the image that a place is in.
    """
    height, width = space
    top, left = np.floor(y), np.floor(x)
    total = None
    for down in (0, 1):
        for right in (0, 1):
            py, px = top + down, left + right
            weight = (1 - abs(y - py)) * (1 - abs(x - px))
            inside = (py >= 0) & (py < height) & (px >= 0) & (px < width)
            place = np.clip(py, 0, height - 1) * width + np.clip(px, 0, width - 1)
            pixels = np.take(rows, base + place.astype("int64"), axis=0)
            part = pixels * np.expand_dims(np.where(inside, weight, 0.0), -1)
            total = part if total is None else total + part
    assert total is not None
    return total


def _columns(data: ndarray, offset: ndarray, mask: ndarray | None, kernel: Pair, stride: Pair, options: Any) -> ndarray:
    """What the kernel sees at every place: (batch, channels * kernel, places)."""
    (pad, dilate, parts) = options
    n, c, height, width = data.shape
    k, device = math.prod(kernel), data.device
    out_h, out_w = offset.shape[2:]

    def steps(count: int) -> ndarray:
        return np.arange(count, dtype="float32", device=device)

    rows = data.reshape((n, parts, c // parts, height * width)).transpose((0, 1, 3, 2)).reshape((-1, c // parts))
    moved = offset.reshape((n, parts, k, 2, out_h, out_w))
    ky = np.repeat(steps(kernel[0]) * dilate[0], kernel[1]).reshape((k, 1, 1))
    kx = np.tile(steps(kernel[1]) * dilate[1], kernel[0]).reshape((k, 1, 1))
    y = moved[:, :, :, 0] + (ky + (steps(out_h) * stride[0] - pad[0]).reshape((-1, 1)))
    x = moved[:, :, :, 1] + (kx + (steps(out_w) * stride[1] - pad[1]))
    images = np.arange(n * parts, dtype="int64", device=device) * (height * width)
    pixels = _sampled(rows, images.reshape((n, parts, 1, 1, 1)), y, x, (height, width))
    if mask is not None:
        pixels = pixels * np.expand_dims(mask.reshape((n, parts, k, out_h, out_w)), -1)
    return pixels.transpose((0, 1, 5, 2, 3, 4)).reshape((n, c * k, out_h * out_w))


class DeformableConvolution(HybridBlock):
    """A convolution (NCHW) whose every step looks beside its place, by offsets that another convolution learns.

    With `num_deformable_group` above 1, groups of channels have offsets of their own.

    >>> from slipstream.gluon import nn
    >>> layer = nn.DeformableConvolution(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 8, 8))).shape
    (2, 4, 8, 8)
    """

    _per_place = 2  # numbers that the offsets' convolution gives for each element of the kernel

    def __init__(
        self,
        channels: int,
        kernel_size: Sizes = (1, 1),
        strides: Sizes = (1, 1),
        padding: Sizes = (0, 0),
        dilation: Sizes = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        owner = type(self).__name__
        if layout != "NCHW":
            raise ValueError(f"{owner}: layout={layout!r}: it has to be 'NCHW'")
        if channels % groups or in_channels % groups or in_channels % num_deformable_group:
            raise ValueError(
                f"{owner}: {channels} channels from {in_channels} do not split into groups={groups}, "
                f"num_deformable_group={num_deformable_group}"
            )
        self._channels, self._groups, self._parts = channels, groups, num_deformable_group
        self._kernel = sizes(kernel_size, 2, owner, "kernel_size")
        self._strides = sizes(strides, 2, owner, "strides")
        self._padding = sizes(padding, 2, owner, "padding")
        self._dilation = sizes(dilation, 2, owner, "dilation")
        offsets = self._per_place * math.prod(self._kernel) * num_deformable_group
        inner = in_channels // groups or -1

        def parameter(name: str, shape: tuple[int, ...], init: Any) -> Parameter:
            return Parameter(name, shape=shape, init=init, allow_deferred_init=True)

        self.offset_weight = parameter(
            "offset_weight", (offsets, in_channels or -1, *self._kernel), offset_weight_initializer
        )
        self.offset_bias = parameter("offset_bias", (offsets,), offset_bias_initializer) if offset_use_bias else None
        self.deformable_conv_weight = parameter(
            "deformable_conv_weight", (channels, inner, *self._kernel), weight_initializer
        )
        self.deformable_conv_bias = (
            parameter("deformable_conv_bias", (channels,), bias_initializer) if use_bias else None
        )
        self.act = Activation(activation) if activation is not None else None

    def infer_shape(self, x: ndarray, *args: Any) -> None:
        """The number of input channels is that of the first batch."""
        found = x.shape[1]
        if found % self._groups or found % self._parts:
            raise ValueError(f"{type(self).__name__}: {found} channels do not split into the groups")
        self.offset_weight.shape = (self.offset_weight.shape or ())[:1] + (found, *self._kernel)
        self.deformable_conv_weight.shape = (self._channels, found // self._groups, *self._kernel)

    def _split(self, given: ndarray) -> tuple[ndarray, ndarray | None]:
        """Offsets, and how much each element of the kernel counts; None: all the same."""
        return given, None

    def forward(self, x: ndarray) -> ndarray:
        """The convolution, and the activation of it."""
        device = x.device
        given = npx.convolution(
            x,
            self.offset_weight.data(device),
            None if self.offset_bias is None else self.offset_bias.data(device),
            kernel=self._kernel,
            stride=self._strides,
            dilate=self._dilation,
            pad=self._padding,
            num_filter=(self.offset_weight.shape or (0,))[0],
            no_bias=self.offset_bias is None,
        )
        offset, mask = self._split(given)
        options = (self._padding, self._dilation, self._parts)
        seen = _columns(x, offset, mask, self._kernel, self._strides, options)  # type: ignore[arg-type]
        n, g = x.shape[0], self._groups
        weight = self.deformable_conv_weight.data(device).reshape((g, self._channels // g, -1))
        out = np.matmul(weight, seen.reshape((n, g, seen.shape[1] // g, seen.shape[2])))
        out = out.reshape((n, self._channels, *offset.shape[2:]))
        if self.deformable_conv_bias is not None:
            out = out + self.deformable_conv_bias.data(device).reshape((-1, 1, 1))
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        found = (self.offset_weight.shape or (0, -1))[1]
        ends = f"{found if found > 0 else None} -> {self._channels}"
        return f"{type(self).__name__}({ends}, kernel_size={self._kernel}, stride={self._strides})"


class ModulatedDeformableConvolution(DeformableConvolution):
    """A deformable convolution that also learns how much each element of the kernel counts, from 0 to 2.

    >>> from slipstream.gluon import nn
    >>> layer = nn.ModulatedDeformableConvolution(4, kernel_size=3)
    >>> layer.initialize()
    >>> layer(np.ones((2, 3, 8, 8))).shape
    (2, 4, 6, 6)
    """

    _per_place = 3

    def _split(self, given: ndarray) -> tuple[ndarray, ndarray | None]:
        offsets = given.shape[1] // 3 * 2
        return given[:, :offsets], npx.sigmoid(given[:, offsets:]) * 2
