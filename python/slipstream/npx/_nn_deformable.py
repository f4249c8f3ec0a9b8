"""Deformable convolutions: each tap reads beside its place, by an offset that is an input too. Composed of gathers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..np._arguments import as_array, public
from ..np._types import ArrayLike
from ._nn_mode import constant
from ._nn_spatial import _check_images, _check_weight, _spatial
from ._out import with_out


def _grid(size: int, kernel: int, count: int, stride: int, dilate: int, pad: int) -> Any:
    """Where the taps of a kernel lie along one axis without an offset: (kernel, count)."""
    return numpy.arange(kernel)[:, None] * dilate + numpy.arange(count) * stride - pad


def _sampled(x: ndarray, down: ndarray, across: ndarray) -> ndarray:
    """Images (n, c, h, w) between their places, 0 outside: at (n, taps, places) gives (n, taps, places, c)."""
    n, c, h, w = x.shape
    table = _core.reshape(_core.transpose(x, (0, 2, 3, 1)), (n * h * w, c))
    first = _core.reshape(_core.arange(0, h * w, n, numpy.dtype("int64"), x.device), (n, 1, 1))
    top, left = constant(_core.floor(down)), constant(_core.floor(across))
    total: Any = 0
    for row in (0, 1):
        for column in (0, 1):
            y, z = top + row, left + column
            inside = _core.logical_and(_core.greater_equal(y, 0), _core.less(y, h))
            inside = _core.logical_and(inside, _core.logical_and(_core.greater_equal(z, 0), _core.less(z, w)))
            near = (down - top if row else 1 - (down - top)) * (across - left if column else 1 - (across - left))
            at = _core.astype(_core.clip(y, 0, h - 1) * w + _core.clip(z, 0, w - 1), "int64") + first
            share = _core.expand_dims(_core.where(inside, near, 0), [3])
            total = total + _core.take(table, at, 0, "clip") * share
    return total  # type: ignore[no-any-return]


def _deformed(
    function: str,
    data: ArrayLike,
    offset: ArrayLike,
    mask: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike,
    options: dict[str, Any],
    num_group: int,
    parts: int,
) -> ndarray:
    x = as_array(data)
    w, moved = as_array(weight, x.device), as_array(offset, x.device)
    if _check_images(x, function) != 2:
        raise ValueError(f"{function}: data of shape {x.shape} must have four axes")
    _check_weight(w, options["kernel"], 2, function)
    stride, dilate, pad = (
        _spatial(options[name], 2, 0 if name == "pad" else 1, name, function) for name in ("stride", "dilate", "pad")
    )
    n, channels = x.shape[:2]
    kernel = w.shape[2:]
    taps = math.prod(kernel)
    size = [(x.shape[i + 2] + 2 * pad[i] - dilate[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)]
    if moved.shape != (n, 2 * parts * taps, *size):
        raise ValueError(f"{function}: offset has shape {moved.shape}, not {(n, 2 * parts * taps, *size)}")
    if channels % parts or channels % num_group or channels // num_group != w.shape[1]:
        raise ValueError(f"{function}: {channels} channels do not fit weight of shape {w.shape} and {parts} parts")
    places = size[0] * size[1]
    grids = [_grid(x.shape[i + 2], kernel[i], size[i], stride[i], dilate[i], pad[i]) for i in (0, 1)]
    rows = numpy.broadcast_to(grids[0][:, None, :, None], (*kernel, *size)).reshape(taps, places).astype(x.dtype)
    columns = numpy.broadcast_to(grids[1][None, :, None, :], (*kernel, *size)).reshape(taps, places).astype(x.dtype)
    moved = _core.reshape(moved, (n, parts, taps, 2, places))
    found = []
    for part in range(parts):
        own = _core.select(moved, 1, part)
        down = _core.select(own, 2, 0) + _core.array(rows, x.dtype, x.device)
        across = _core.select(own, 2, 1) + _core.array(columns, x.dtype, x.device)
        width = channels // parts
        sampled = _sampled(_core.slice(x, 1, part * width, 1, width), down, across)
        if mask is not None:
            shares = _core.reshape(as_array(mask, x.device), (n, parts, taps, places, 1))
            sampled = sampled * _core.select(shares, 1, part)
        found.append(sampled)
    whole = found[0] if parts == 1 else _core.concatenate(found, 3)
    whole = _core.transpose(whole, (0, 2, 3, 1))  # (n, places, channels, taps)
    filters, width = w.shape[0] // num_group, channels // num_group
    made = []
    for group in range(num_group):
        own = _core.reshape(_core.slice(whole, 2, group * width, 1, width), (n, places, width * taps))
        flat = _core.reshape(_core.slice(w, 0, group * filters, 1, filters), (filters, width * taps))
        made.append(_core.matmul(own, _core.transpose(flat, None)))
    result = made[0] if num_group == 1 else _core.concatenate(made, 2)
    if bias is not None:
        result = result + as_array(bias, x.device)
    return _core.reshape(_core.transpose(result, (0, 2, 1)), (n, w.shape[0], *size))


@with_out
def deformable_convolution(
    data: ArrayLike,
    offset: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    kernel: Any = None,
    stride: Any = None,
    dilate: Any = None,
    pad: Any = None,
    num_filter: int = 1,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    layout: str | None = None,
) -> ndarray:
    """A convolution over two axes whose taps read beside their places, between which the image is interpolated.

    `offset` is (batch, 2 * num_deformable_group * taps, height, width) of the result: how far down and across each tap
    moves. Channels are cut into `num_deformable_group` parts with offsets of their own.

    >>> x, weight = np.arange(9).reshape(1, 1, 3, 3), np.ones((1, 1, 1, 1))
    >>> npx.deformable_convolution(x, np.full((1, 2, 3, 3), 0.5), weight, kernel=(1, 1), no_bias=True)[0, 0, :2, :2]
    array([[2., 3.],
           [5., 6.]])
    """
    options = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad}
    bias = None if no_bias else bias
    return _deformed(
        "deformable_convolution", data, offset, None, weight, bias, options, num_group, num_deformable_group
    )


@with_out
def modulated_deformable_convolution(
    data: ArrayLike,
    offset: ArrayLike,
    mask: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    kernel: Any = None,
    stride: Any = None,
    dilate: Any = None,
    pad: Any = None,
    num_filter: int = 1,
    num_group: int = 1,
    num_deformable_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    im2col_step: int = 64,
    layout: str | None = None,
) -> ndarray:
    """A deformable convolution whose taps count by `mask`, (batch, num_deformable_group * taps, height, width).

    >>> x, ones = np.arange(4).reshape(1, 1, 2, 2), np.ones((1, 1, 1, 1))
    >>> offset, mask = np.zeros((1, 2, 2, 2)), np.full((1, 1, 2, 2), 0.5)
    >>> npx.modulated_deformable_convolution(x, offset, mask, ones, kernel=(1, 1), no_bias=True)
    array([[[[0. , 0.5],
             [1. , 1.5]]]])
    """
    options = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad}
    bias = None if no_bias else bias
    return _deformed(
        "modulated_deformable_convolution", data, offset, mask, weight, bias, options, num_group, num_deformable_group
    )


if not TYPE_CHECKING:
    __all__ = public(globals())
