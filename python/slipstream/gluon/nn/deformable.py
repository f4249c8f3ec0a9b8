"""Deformable convolutions: convolutions that learn where to look."""

from __future__ import annotations

import math
from typing import Any

from ... import npx
from ..._core import ndarray
from .._sizes import Sizes, sizes, whole
from ..block import HybridBlock
from ..parameter import Parameter
from .activations import Activation

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


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
        channels = whole(channels, owner, "channels")
        groups = whole(groups, owner, "groups")
        if channels % groups or in_channels % groups or in_channels % num_deformable_group:
            raise ValueError(
                f"{owner}: {channels} channels from {in_channels} do not split into groups={groups}, "
                f"num_deformable_group={num_deformable_group}"
            )
        self._channels, self._groups, self._parts = channels, groups, num_deformable_group
        self._kernel = sizes(kernel_size, 2, owner, "kernel_size")
        self._strides = sizes(strides, 2, owner, "strides")
        self._padding = sizes(padding, 2, owner, "padding", 0)
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

    def _options(self) -> dict[str, Any]:
        return {
            "kernel": self._kernel,
            "stride": self._strides,
            "dilate": self._dilation,
            "pad": self._padding,
            "num_filter": self._channels,
            "num_group": self._groups,
            "num_deformable_group": self._parts,
            "no_bias": self.deformable_conv_bias is None,
        }

    def _learnt(self, device: Any) -> tuple[ndarray, ndarray | None]:
        bias = None if self.deformable_conv_bias is None else self.deformable_conv_bias.data(device)
        return self.deformable_conv_weight.data(device), bias

    def _convolved(self, x: ndarray, offset: ndarray) -> ndarray:
        return npx.deformable_convolution(x, offset, *self._learnt(x.device), **self._options())

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
        out = self._convolved(x, given)
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

    def _convolved(self, x: ndarray, offset: ndarray) -> ndarray:
        offsets = offset.shape[1] // 3 * 2
        mask = npx.sigmoid(offset[:, offsets:]) * 2
        return npx.modulated_deformable_convolution(
            x, offset[:, :offsets], mask, *self._learnt(x.device), **self._options()
        )
