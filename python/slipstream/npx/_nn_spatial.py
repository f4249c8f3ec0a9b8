"""Functions of images and sequences: convolution, pooling, changes of size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..np._arguments import as_array, as_dims, public
from ..np._types import ArrayLike

_FIRST = {3: "NCW", 4: "NCHW", 5: "NCDHW"}
_LAST = {3: "NWC", 4: "NHWC", 5: "NDHWC"}


def _channels_last(layout: str | None, ndim: int, function: str) -> bool:
    """Do channels come last? Raises where the layout is none of this many axes."""
    if layout is None or layout == _FIRST.get(ndim):
        return False
    if layout == _LAST.get(ndim):
        return True
    raise ValueError(
        f"{function}: layout {layout!r} is neither {_FIRST.get(ndim)!r} nor {_LAST.get(ndim)!r} (data has {ndim} axes)"
    )


def _to_first(x: ndarray) -> ndarray:
    return _core.transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def _to_last(x: ndarray) -> ndarray:
    return _core.transpose(x, (0, *range(2, x.ndim), 1))


def _spatial(given: Any, count: int, default: int, name: str, function: str) -> tuple[int, ...]:
    """One number for each spatial axis; none, or an empty tuple, means the default."""
    if given is None or (isinstance(given, (tuple, list)) and not given):
        return (default,) * count
    found = as_dims(given)
    if len(found) == 1 and not isinstance(given, (tuple, list)):
        return found * count
    if len(found) != count:
        raise ValueError(f"{function}: {name} {found} must have {count} numbers, one for each spatial axis")
    return found


def _check_images(x: ndarray, function: str) -> int:
    if not 3 <= x.ndim <= 5:
        raise ValueError(f"{function}: data of shape {x.shape} must have 1 to 3 axes besides batch and channels")
    return x.ndim - 2


def _check_weight(weight: ndarray, kernel: Any, count: int, function: str) -> None:
    if weight.ndim != count + 2:
        raise ValueError(f"{function}: weight of shape {weight.shape} must have {count + 2} axes, as data has")
    if kernel is not None and _spatial(kernel, count, 1, "kernel", function) != weight.shape[2:]:
        raise ValueError(f"{function}: kernel is {kernel}, but weight has shape {weight.shape}")


# ---- convolution


def convolution(
    data: ArrayLike = None,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    kernel: Any = None,
    stride: Any = None,
    dilate: Any = None,
    pad: Any = None,
    num_filter: int = 1,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    cudnn_tune: Any = None,
    cudnn_off: bool = False,
    layout: str | None = None,
) -> ndarray:
    """Convolution (cross-correlation) over one, two or three spatial axes, with strides, gaps, padding and groups.

    `data` is (batch, channels, ...), `weight` (filters, channels / num_group, *kernel), `bias` (filters,). With a
    layout that ends in "C", channels come last in `data` and in `weight`. `kernel` and `num_filter` may be left out:
    `weight` knows them. What is said about workspaces and cuDNN is ignored.

    >>> x = np.arange(9).reshape(1, 1, 3, 3)
    >>> npx.convolution(x, np.ones((1, 1, 2, 2)), kernel=(2, 2), no_bias=True)
    array([[[[ 8., 12.],
             [20., 24.]]]])
    """
    x = as_array(data)
    w = as_array(weight, x.device)
    count = _check_images(x, "convolution")
    last = _channels_last(layout, x.ndim, "convolution")
    if last:
        x, w = _to_first(x), _to_first(w) if w.ndim == x.ndim else w
    _check_weight(w, kernel, count, "convolution")
    if num_filter not in (1, w.shape[0]):
        raise ValueError(f"convolution: num_filter is {num_filter}, but weight has {w.shape[0]} filters")
    strides = _spatial(stride, count, 1, "stride", "convolution")
    gaps = _spatial(dilate, count, 1, "dilate", "convolution")
    zeros = _spatial(pad, count, 0, "pad", "convolution")
    made = _core.convolution(x, w, None if no_bias else bias, strides, gaps, zeros, num_group)
    return _to_last(made) if last else made


def deconvolution(
    data: ArrayLike = None,
    weight: ArrayLike = None,
    bias: ArrayLike = None,
    kernel: Any = None,
    stride: Any = None,
    dilate: Any = None,
    pad: Any = None,
    adj: Any = None,
    target_shape: Any = None,
    num_filter: int = 1,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    cudnn_tune: Any = None,
    cudnn_off: bool = False,
    layout: str | None = None,
) -> ndarray:
    """Transposed convolution: what a convolution of this stride, pad and dilate hands back to its data.

    `weight` is (channels, filters / num_group, *kernel). `adj` adds rows at the end, fewer than the stride;
    `target_shape` is the spatial size wanted, from which `pad` and `adj` follow.

    >>> npx.deconvolution(np.ones((1, 1, 2)), np.ones((1, 1, 2)), kernel=(2,), stride=(2,), no_bias=True)
    array([[[1., 1., 1., 1.]]])
    """
    x = as_array(data)
    w = as_array(weight, x.device)
    count = _check_images(x, "deconvolution")
    last = _channels_last(layout, x.ndim, "deconvolution")
    if last:
        x, w = _to_first(x), _to_first(w) if w.ndim == x.ndim else w
    _check_weight(w, kernel, count, "deconvolution")
    if num_filter not in (1, w.shape[1] * num_group):
        raise ValueError(f"deconvolution: num_filter is {num_filter}, but weight has {w.shape[1] * num_group} filters")
    strides = _spatial(stride, count, 1, "stride", "deconvolution")
    gaps = _spatial(dilate, count, 1, "dilate", "deconvolution")
    zeros = _spatial(pad, count, 0, "pad", "deconvolution")
    more = _spatial(adj, count, 0, "adj", "deconvolution")
    full = [(x.shape[i + 2] - 1) * strides[i] + gaps[i] * (w.shape[i + 2] - 1) + 1 for i in range(count)]
    wanted = () if target_shape is None else as_dims(target_shape)
    if any(wanted):
        too_many = [n - size for n, size in zip(full, wanted, strict=True)]
        if min(too_many) < 0:
            raise ValueError(f"deconvolution: target_shape {wanted} is larger than the full size {tuple(full)}")
        zeros, more = tuple((n + 1) // 2 for n in too_many), tuple(n % 2 for n in too_many)
    if any(a >= s for a, s in zip(more, strides, strict=True)):
        raise ValueError(f"deconvolution: adj {more} must be smaller than stride {strides}")
    size = tuple(n - 2 * z + a for n, z, a in zip(full, zeros, more, strict=True))
    made = _core.convolution_data(x, w, size, strides, gaps, zeros, num_group)
    if bias is not None and not no_bias:
        made = made + _core.reshape(as_array(bias, x.device), (-1, *(1,) * count))
    return _to_last(made) if last else made


# ---- pooling


def _pooled_size(size: int, kernel: int, stride: int, pad: int, convention: str) -> int:
    room = size + 2 * pad - kernel
    if convention == "same":
        windows = -(-(size + 2 * pad) // stride)
    elif room < 0:
        return 0
    else:
        windows = (room // stride if convention == "valid" else -(-room // stride)) + 1
    return min(windows, -(-(size + pad) // stride))  # one that begins in the padding after the data holds nothing


def _pool_everything(x: ndarray, pool_type: str, power: int) -> ndarray:
    axes = tuple(range(2, x.ndim))
    if pool_type == "max":
        return _core.max(x, axis=axes, keepdims=True)
    if pool_type == "avg":
        return _core.mean(x, axis=axes, keepdims=True)
    if pool_type == "sum":
        return _core.sum(x, axis=axes, keepdims=True)
    return _core.sum(_core.abs(x) ** power, axis=axes, keepdims=True) ** (1 / power)


def pooling(
    data: ArrayLike = None,
    kernel: Any = None,
    stride: Any = None,
    pad: Any = None,
    pool_type: str = "max",
    pooling_convention: str = "valid",
    global_pool: bool = False,
    cudnn_off: bool = False,
    p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: str | None = None,
    **_: Any,
) -> ndarray:
    """The largest element, the mean, the sum or the p-norm (`max`, `avg`, `sum`, `lp`) of windows of the spatial axes.

    `pooling_convention` says what becomes of a last window that does not fit: `valid` leaves it out, `full` and `same`
    take what there is of it, unless it would begin in the padding after the data (MXNet gives such a window too, of
    nothing: the lowest number, or 0). Padding counts for the mean, unless `count_include_pad=False`.

    >>> npx.pooling(np.arange(4).reshape(1, 1, 2, 2), (2, 2), pool_type="avg")
    array([[[[1.5]]]])
    """
    x = as_array(data)
    count = _check_images(x, "pooling")
    if pool_type not in ("max", "avg", "sum", "lp"):
        raise ValueError(f"pooling: pool_type {pool_type!r} is none of 'max', 'avg', 'sum', 'lp'")
    if pooling_convention not in ("valid", "full", "same"):
        raise ValueError(f"pooling: pooling_convention {pooling_convention!r} is none of 'valid', 'full', 'same'")
    last = _channels_last(layout, x.ndim, "pooling")
    x = _to_first(x) if last else x
    power = 2 if p_value is None else p_value
    if global_pool:
        made = _pool_everything(x, pool_type, power)
        return _to_last(made) if last else made
    if kernel is None:
        raise ValueError("pooling: kernel is missing (or global_pool=True)")
    windows = _spatial(kernel, count, 1, "kernel", "pooling")
    strides = _spatial(stride, count, 1, "stride", "pooling")
    pads = _spatial(pad, count, 0, "pad", "pooling")
    sizes = [_pooled_size(*each, pooling_convention) for each in zip(x.shape[2:], windows, strides, pads, strict=True)]
    kind = {"max": "max", "sum": "sum", "lp": "sum", "avg": "mean_inside" if count_include_pad is False else "mean"}
    if pool_type == "lp":
        x = _core.abs(x) ** power
    made = _core.pool(x, kind[pool_type], windows, strides, pads, sizes)
    if pool_type == "lp":
        made = made ** (1 / power)
    return _to_last(made) if last else made


def _shares(size: int, parts: int) -> numpy.ndarray[Any, Any]:
    """The matrix that takes means of `parts` stretches, each from floor(i n / parts) to ceil((i + 1) n / parts)."""
    shares = numpy.zeros((parts, size))
    for i in range(parts):
        begin, end = i * size // parts, -(-(i + 1) * size // parts)
        shares[i, begin:end] = 1 / (end - begin)
    return shares


def adaptive_avg_pool2d(data: ArrayLike, output_size: Any = 1) -> ndarray:
    """Means over a grid of `output_size` windows that cover the image (batch, channels, height, width) evenly.

    >>> npx.adaptive_avg_pool2d(np.arange(4).reshape(1, 1, 1, 4), (1, 2))
    array([[[[0.5, 2.5]]]])
    """
    x = as_array(data)
    if x.ndim != 4:
        raise ValueError(f"adaptive_avg_pool2d: data of shape {x.shape} must have four axes")
    wanted = _spatial(output_size, 2, 1, "output_size", "adaptive_avg_pool2d")
    size = x.shape[2:]
    if min(wanted) < 1 or min(size) < 1:
        raise ValueError(f"adaptive_avg_pool2d: output_size {wanted} for data of shape {x.shape}")
    if all(n % parts == 0 for n, parts in zip(size, wanted, strict=True)):
        windows = tuple(n // parts for n, parts in zip(size, wanted, strict=True))
        return _core.pool(x, "mean", windows, windows, (0, 0), wanted)
    kind = x.dtype
    down = _core.array(_shares(size[0], wanted[0]).astype(kind), kind, x.device)
    across = _core.array(_shares(size[1], wanted[1]).T.astype(kind), kind, x.device)
    return _core.matmul(down, _core.matmul(x, across))


# ---- changes of size


def _weights_between(size: int, wanted: int, align_corners: bool) -> numpy.ndarray[Any, Any]:
    """The matrix that interpolates `wanted` places between `size` ones."""
    places = numpy.arange(wanted)
    if align_corners:
        at = places * ((size - 1) / (wanted - 1)) if wanted > 1 else places * 0.0
    else:
        at = numpy.clip((places + 0.5) * (size / wanted) - 0.5, 0, size - 1)
    low = numpy.minimum(at.astype(int), size - 1)
    high = numpy.minimum(low + 1, size - 1)
    weights = numpy.zeros((wanted, size))
    weights[places, low] += 1 - (at - low)
    weights[places, high] += at - low
    return weights


def bilinear_resize2d(
    data: ArrayLike,
    height: int | None = None,
    width: int | None = None,
    scale_height: float | None = None,
    scale_width: float | None = None,
    align_corners: bool = True,
) -> ndarray:
    """Images (batch, channels, height, width) in another size, interpolated linearly along both axes.

    >>> npx.bilinear_resize2d(np.array([[[[0.0, 2.0]]]]), 1, 3)
    array([[[[0., 1., 2.]]]])
    """
    x = as_array(data)
    if x.ndim != 4:
        raise ValueError(f"bilinear_resize2d: data of shape {x.shape} must have four axes")
    wanted = []
    axes = (x.shape[2], height, scale_height, "height"), (x.shape[3], width, scale_width, "width")
    for size, given, scale, name in axes:
        if given is None and scale is None:
            raise ValueError(f"bilinear_resize2d: {name} or scale_{name} is missing")
        wanted.append(int(given) if given is not None else int(size * float(scale or 0)))
        if wanted[-1] < 1:
            raise ValueError(f"bilinear_resize2d: {name} would be {wanted[-1]}")
    kind = x.dtype
    down = _weights_between(x.shape[2], wanted[0], align_corners).astype(kind)
    across = _weights_between(x.shape[3], wanted[1], align_corners).T.astype(kind)
    return _core.matmul(_core.array(down, kind, x.device), _core.matmul(x, _core.array(across, kind, x.device)))


def upsampling(data: ArrayLike, scale: int = 2, sample_type: str = "nearest") -> ndarray:
    """Images (batch, channels, height, width) `scale` times as large: elements repeated, or interpolated (`bilinear`).

    >>> npx.upsampling(np.array([[[[1.0, 2.0]]]]), 2)
    array([[[[1., 1., 2., 2.],
             [1., 1., 2., 2.]]]])
    """
    x = as_array(data)
    if x.ndim != 4:
        raise ValueError(f"upsampling: data of shape {x.shape} must have four axes")
    n, c, h, w = x.shape
    if sample_type == "bilinear":
        return bilinear_resize2d(x, h * scale, w * scale, align_corners=False)
    if sample_type != "nearest":
        raise ValueError(f"upsampling: sample_type {sample_type!r} is neither 'nearest' nor 'bilinear'")
    wide = _core.broadcast_to(_core.reshape(x, (n, c, h, 1, w, 1)), (n, c, h, scale, w, scale))
    return _core.reshape(wide, (n, c, h * scale, w * scale))


def depth_to_space(data: ArrayLike, block_size: int) -> ndarray:
    """Channels become blocks of places: (n, c, h, w) becomes (n, c / b², h b, w b).

    >>> npx.depth_to_space(np.arange(4).reshape(1, 4, 1, 1), 2)
    array([[[[0., 1.],
             [2., 3.]]]])
    """
    x, b = as_array(data), int(block_size)
    if x.ndim != 4 or b < 1 or x.shape[1] % (b * b):
        raise ValueError(f"depth_to_space: shape {x.shape} cannot be cut into blocks of {block_size}")
    n, c, h, w = x.shape
    parts = _core.reshape(x, (n, b, b, c // (b * b), h, w))
    return _core.reshape(_core.transpose(parts, (0, 3, 4, 1, 5, 2)), (n, c // (b * b), h * b, w * b))


def space_to_depth(data: ArrayLike, block_size: int) -> ndarray:
    """Blocks of places become channels: (n, c, h, w) becomes (n, c b², h / b, w / b).

    >>> npx.space_to_depth(np.arange(4).reshape(1, 1, 2, 2), 2).reshape(4)
    array([0., 1., 2., 3.])
    """
    x, b = as_array(data), int(block_size)
    if x.ndim != 4 or b < 1 or x.shape[2] % b or x.shape[3] % b:
        raise ValueError(f"space_to_depth: shape {x.shape} cannot be cut into blocks of {block_size}")
    n, c, h, w = x.shape
    parts = _core.reshape(x, (n, c, h // b, b, w // b, b))
    return _core.reshape(_core.transpose(parts, (0, 3, 5, 1, 2, 4)), (n, c * b * b, h // b, w // b))


if not TYPE_CHECKING:
    __all__ = public(globals())
