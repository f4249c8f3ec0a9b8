"""Pooling layers."""

from __future__ import annotations

from typing import Any

from ... import npx
from ..._core import ndarray
from .._sizes import Sizes, sizes, spatial_layout
from ..block import HybridBlock

__all__ = [
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
]


class _Pool(HybridBlock):
    """What all poolings share. `ceil_mode` keeps a last window that is only partly there: see `npx.pooling`."""

    def __init__(
        self,
        pool_type: str,
        pool_size: Sizes,
        strides: Sizes | None,
        padding: Sizes,
        ceil_mode: bool,
        layout: str,
        ndim: int,
        global_pool: bool = False,
        count_include_pad: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        owner = type(self).__name__
        kernel = sizes(pool_size, ndim, owner, "pool_size")
        self._options: dict[str, Any] = {
            "kernel": kernel,
            "stride": kernel if strides is None else sizes(strides, ndim, owner, "strides"),
            "pad": sizes(padding, ndim, owner, "padding", 0),
            "pool_type": pool_type,
            "global_pool": global_pool,
            "pooling_convention": "full" if ceil_mode else "valid",
            "layout": spatial_layout(layout, ndim, owner),
        }
        if count_include_pad is not None:
            self._options["count_include_pad"] = count_include_pad

    def forward(self, x: ndarray) -> ndarray:
        """The pooled array."""
        return npx.pooling(x, **self._options)

    def __repr__(self) -> str:
        o = self._options
        ceil = o["pooling_convention"] == "full"
        return (
            f"{type(self).__name__}(size={o['kernel']}, stride={o['stride']}, padding={o['pad']}, ceil_mode={ceil}, "
            f"global_pool={o['global_pool']}, pool_type={o['pool_type']}, layout={o['layout']})"
        )


class MaxPool1D(_Pool):
    """The largest element of every window; x is (batch, channels, width) in the layout NCW.

    >>> from slipstream.gluon import nn
    >>> nn.MaxPool1D()(np.ones((2, 3, 8))).shape
    (2, 3, 4)
    """

    def __init__(
        self,
        pool_size: Sizes = 2,
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__("max", pool_size, strides, padding, ceil_mode, layout, 1, **kwargs)


class MaxPool2D(_Pool):
    """The largest element of every window; x is (batch, channels, height, width) in the layout NCHW.

    >>> from slipstream.gluon import nn
    >>> nn.MaxPool2D()(np.ones((2, 3, 8, 8))).shape
    (2, 3, 4, 4)
    """

    def __init__(
        self,
        pool_size: Sizes = (2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCHW",
        ceil_mode: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__("max", pool_size, strides, padding, ceil_mode, layout, 2, **kwargs)


class MaxPool3D(_Pool):
    """The largest element of every window; x is (batch, channels, depth, height, width) in the layout NCDHW.

    >>> from slipstream.gluon import nn
    >>> nn.MaxPool3D()(np.ones((2, 3, 8, 8, 8))).shape
    (2, 3, 4, 4, 4)
    """

    def __init__(
        self,
        pool_size: Sizes = (2, 2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        **kwargs: Any,
    ) -> None:
        super().__init__("max", pool_size, strides, padding, ceil_mode, layout, 3, **kwargs)


class AvgPool1D(_Pool):
    """The mean of every window; x is (batch, channels, width) in the layout NCW.

    `count_include_pad` counts the padding too.

    >>> from slipstream.gluon import nn
    >>> nn.AvgPool1D()(np.ones((2, 3, 8))).shape
    (2, 3, 4)
    """

    def __init__(
        self,
        pool_size: Sizes = 2,
        strides: Sizes | None = None,
        padding: Sizes = 0,
        layout: str = "NCW",
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            "avg", pool_size, strides, padding, ceil_mode, layout, 1, count_include_pad=count_include_pad, **kwargs
        )


class AvgPool2D(_Pool):
    """The mean of every window; x is (batch, channels, height, width) in the layout NCHW.

    `count_include_pad` counts the padding too.

    >>> from slipstream.gluon import nn
    >>> nn.AvgPool2D()(np.ones((2, 3, 8, 8))).shape
    (2, 3, 4, 4)
    """

    def __init__(
        self,
        pool_size: Sizes = (2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            "avg", pool_size, strides, padding, ceil_mode, layout, 2, count_include_pad=count_include_pad, **kwargs
        )


class AvgPool3D(_Pool):
    """The mean of every window; x is (batch, channels, depth, height, width) in the layout NCDHW.

    `count_include_pad` counts the padding too.

    >>> from slipstream.gluon import nn
    >>> nn.AvgPool3D()(np.ones((2, 3, 8, 8, 8))).shape
    (2, 3, 4, 4, 4)
    """

    def __init__(
        self,
        pool_size: Sizes = (2, 2, 2),
        strides: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        layout: str = "NCDHW",
        count_include_pad: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            "avg", pool_size, strides, padding, ceil_mode, layout, 3, count_include_pad=count_include_pad, **kwargs
        )


class GlobalMaxPool1D(_Pool):
    """The largest element of every channel; the spatial axes become 1.

    >>> from slipstream.gluon import nn
    >>> nn.GlobalMaxPool1D()(np.ones((2, 3, 8))).shape
    (2, 3, 1)
    """

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__("max", 1, None, 0, True, layout, 1, global_pool=True, **kwargs)


class GlobalMaxPool2D(_Pool):
    """The largest element of every channel; the spatial axes become 1.

    >>> from slipstream.gluon import nn
    >>> nn.GlobalMaxPool2D()(np.ones((2, 3, 8, 8))).shape
    (2, 3, 1, 1)
    """

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__("max", 1, None, 0, True, layout, 2, global_pool=True, **kwargs)


class GlobalMaxPool3D(_Pool):
    """The largest element of every channel; the spatial axes become 1.

    >>> from slipstream.gluon import nn
    >>> nn.GlobalMaxPool3D()(np.ones((2, 3, 8, 8, 8))).shape
    (2, 3, 1, 1, 1)
    """

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__("max", 1, None, 0, True, layout, 3, global_pool=True, **kwargs)


class GlobalAvgPool1D(_Pool):
    """The mean of every channel; the spatial axes become 1.

    >>> from slipstream.gluon import nn
    >>> nn.GlobalAvgPool1D()(np.ones((2, 3, 8))).shape
    (2, 3, 1)
    """

    def __init__(self, layout: str = "NCW", **kwargs: Any) -> None:
        super().__init__("avg", 1, None, 0, True, layout, 1, global_pool=True, **kwargs)


class GlobalAvgPool2D(_Pool):
    """The mean of every channel; the spatial axes become 1.

    >>> from slipstream.gluon import nn
    >>> nn.GlobalAvgPool2D()(np.ones((2, 3, 8, 8))).shape
    (2, 3, 1, 1)
    """

    def __init__(self, layout: str = "NCHW", **kwargs: Any) -> None:
        super().__init__("avg", 1, None, 0, True, layout, 2, global_pool=True, **kwargs)


class GlobalAvgPool3D(_Pool):
    """The mean of every channel; the spatial axes become 1.

    >>> from slipstream.gluon import nn
    >>> nn.GlobalAvgPool3D()(np.ones((2, 3, 8, 8, 8))).shape
    (2, 3, 1, 1, 1)
    """

    def __init__(self, layout: str = "NCDHW", **kwargs: Any) -> None:
        super().__init__("avg", 1, None, 0, True, layout, 3, global_pool=True, **kwargs)
