"""Numbers of 8 bits that stand for real ones in a range, and layers on them, by MXNet's names.

An array with a range (min, max) stands for its integers times a step: max(|min|, |max|) / 127 for int8, (max - min) /
255 from `min` on for uint8, max(|min|, |max|) / (2**31 - 1) for int32. Layers multiply the integers exactly, as int32.
They are here for programs that have them; float32 layers are quicker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..np._arguments import as_array, check_choice, public
from ..np._by_numpy import behind, by_numpy
from ..np._types import ArrayLike
from ._index import embedding
from ._nn_norm import fully_connected
from ._nn_spatial import convolution, pooling
from ._out import with_out
from ._shapes import reshape

_I8, _U8, _I32, _F32 = (numpy.dtype(name) for name in ("int8", "uint8", "int32", "float32"))
_LEVELS = {_I8: 127, _U8: 255, _I32: 2**31 - 1}


def _number(x: ArrayLike, beside: ndarray) -> ndarray:
    """An end of a range, as an array without dimensions."""
    return _core.astype(_core.reshape(as_array(x, beside.device), ()), _F32)


def _ends(low: ArrayLike, high: ArrayLike, beside: ndarray) -> tuple[ndarray, ndarray]:
    return _number(low, beside), _number(high, beside)


def _reach(low: ndarray, high: ndarray) -> ndarray:
    return _core.maximum(_core.abs(low), _core.abs(high))


def _step(x: ndarray, low: ArrayLike, high: ArrayLike) -> ndarray:
    """What one of the integers stands for. The ranges of uint8 begin at 0 in layers, as after relu."""
    if x.dtype not in _LEVELS:
        raise TypeError(f"quantized: an array of {x.dtype} is none of int8, uint8, int32")
    return _reach(*_ends(low, high, x)) / _LEVELS[x.dtype]


def _with_range(x: ndarray, step: ndarray) -> list[ndarray]:
    """int32 numbers, and the range that gives them their step."""
    end = _core.reshape(step * _LEVELS[_I32], (1,))
    return [_core.astype(x, _I32), -end, end]


def _passed(x: ndarray, *ends: ArrayLike) -> list[ndarray]:
    return [x, *(_core.reshape(_number(end, x), (1,)) for end in ends)]


def _to_bits(x: ndarray, low: ndarray, high: ndarray, kind: str) -> list[ndarray]:
    if kind == "uint8":
        made = _core.floor((x - low) * (255 / (high - low)) + 0.5)
        return _passed(_core.astype(_core.clip(made, 0, 255), _U8), low, high)
    end = _reach(low, high)
    made = _core.floor(_core.minimum(_core.abs(x) * (127 / end) + 0.5, 127)) * _core.sign(x)
    return _passed(_core.astype(made, _I8), -end, end)


# ---- to 8 bits


@with_out
def contrib_quantize(
    data: ArrayLike, min_range: ArrayLike, max_range: ArrayLike, out_type: str = "uint8"
) -> list[ndarray]:
    """Real numbers as integers of 8 bits ("uint8" or "int8") that stand for a range; and the ends of the range.

    >>> npx.contrib_quantize(np.array([0.0, 0.5, 1.0]), np.array([0.0]), np.array([1.0]))[0]
    array([  0, 128, 255], dtype=uint8)
    """
    check_choice("contrib_quantize", "out_type", out_type, ("uint8", "int8"))
    x = as_array(data)
    return _to_bits(x, *_ends(min_range, max_range, x), out_type)


@with_out
def contrib_quantize_v2(
    data: ArrayLike,
    out_type: str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
) -> list[ndarray]:
    """As `contrib_quantize`, with the range of the values themselves where none is given.

    "auto" is uint8 where the range that is given has no negative numbers, else int8.

    >>> npx.contrib_quantize_v2(np.array([-1.0, 0.5, 2.0]))[0]
    array([-64,  32, 127], dtype=int8)
    """
    check_choice("contrib_quantize_v2", "out_type", out_type, ("uint8", "int8", "auto"))
    x = as_array(data)
    known = min_calib_range is not None and max_calib_range is not None
    if out_type == "auto":
        out_type = "uint8" if min_calib_range is not None and known and min_calib_range >= 0 else "int8"
    ends = _ends(min_calib_range, max_calib_range, x) if known else (_core.min(x), _core.max(x))
    return _to_bits(x, *ends, out_type)


@with_out
def requantize(
    data: ArrayLike,
    min_range: ArrayLike,
    max_range: ArrayLike,
    out_type: str = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
) -> list[ndarray]:
    """int32 numbers of a range as integers of 8 bits of a smaller one: that of their values, or one that is given.

    >>> x, low, high = npx.requantize(np.array([2**30, -(2**29)], dtype="int32"), np.array(-8.0), np.array(8.0))
    >>> x, high
    (array([127, -64], dtype=int8), array([4.]))
    """
    x = as_array(data)
    real = _core.astype(x, _F32) * _step(x, min_range, max_range)
    made: list[ndarray] = contrib_quantize_v2(real, out_type, min_calib_range, max_calib_range)
    return made


@by_numpy("behind")
@with_out
def contrib_calibrate_entropy(hist: ArrayLike, hist_edges: ArrayLike, num_quantized_bins: int = 255) -> list[ndarray]:
    """The threshold at which numbers with a symmetric histogram lose least by being cut and quantized; and the loss.

    The loss is the Kullback-Leibler divergence of the histogram after from that before.

    >>> threshold, loss = npx.contrib_calibrate_entropy(np.ones(511), np.linspace(-1, 1, 512), 255)
    >>> bool(threshold[0] > 0.9)
    True
    """
    counts, edges = as_array(hist), as_array(hist_edges)
    if counts.ndim != 1 or edges.shape != (counts.size + 1,) or counts.size % 2 == 0 or num_quantized_bins % 2 == 0:
        raise ValueError(
            f"contrib_calibrate_entropy: hist of shape {counts.shape} with edges of shape {edges.shape} and "
            f"{num_quantized_bins} bins: both numbers of bins must be odd, and the edges one more"
        )

    def run(h: Any, e: Any) -> Any:
        found = _best_threshold(h.astype("float64"), e, num_quantized_bins)
        return [numpy.array([part], "float32") for part in found]

    name = "npx.contrib_calibrate_entropy"
    return list(behind(name, run, [counts, edges], [(1,), (1,)], "float32", counts.device))


def _best_threshold(counts: Any, edges: Any, bins: int) -> tuple[float, float]:
    middle = counts.size // 2
    best = (float(edges[-1]), numpy.inf)
    for half in range(bins // 2, middle + 1):
        start, stop = middle - half, middle + half + 1
        part = counts[start:stop]
        cut = part.copy()
        cut[0] += counts[:start].sum()
        cut[-1] += counts[stop:].sum()
        groups = numpy.minimum(numpy.arange(part.size) // (part.size // bins), bins - 1)
        filled = part != 0
        size = numpy.bincount(groups, filled, bins)
        level = numpy.bincount(groups, part, bins) / numpy.maximum(size, 1)
        after = numpy.where(filled, level[groups], 0)
        loss = _divergence(_smooth(cut), _smooth(after))
        if loss < best[1]:
            best = (float(edges[stop]), loss)
    return best


def _smooth(counts: Any, least: float = 1e-4) -> Any:
    """Counts with a little moved from where there are some to where there are none."""
    empty = counts == 0
    if empty.all() or not empty.any():
        return counts
    return numpy.where(empty, least, counts - least * empty.sum() / (~empty).sum())


def _divergence(before: Any, after: Any) -> float:
    if not after.any() or (after < 0).any() or (before < 0).any():
        return float(numpy.inf)
    p, q = before / before.sum(), after / after.sum()
    kept = p > 0
    return float((p[kept] * numpy.log(p[kept] / q[kept])).sum())


# ---- layers


@with_out
def quantized_flatten(data: ArrayLike, min_data: ArrayLike, max_data: ArrayLike) -> list[ndarray]:
    """All axes but the first as one; the range stays.

    >>> npx.quantized_flatten(np.ones((2, 3, 4), dtype="int8"), np.array(-1.0), np.array(1.0))[0].shape
    (2, 12)
    """
    x = as_array(data)
    return _passed(_core.reshape(x, (x.shape[0], -1)), min_data, max_data)


@with_out
def quantized_reshape(
    data: ArrayLike,
    min_data: ArrayLike,
    max_data: ArrayLike,
    newshape: Any = None,
    reverse: bool = False,
    order: str = "C",
) -> list[ndarray]:
    """`npx.reshape`; the range stays.

    >>> npx.quantized_reshape(np.ones((2, 3), dtype="int8"), np.array(-1.0), np.array(1.0), newshape=(3, 2))[0].shape
    (3, 2)
    """
    return _passed(reshape(data, newshape, reverse, order), min_data, max_data)


@with_out
def quantized_transpose(data: ArrayLike, min_data: ArrayLike, max_data: ArrayLike, axes: Any = None) -> list[ndarray]:
    """The axes in another order; the range stays.

    >>> npx.quantized_transpose(np.ones((2, 3), dtype="int8"), np.array(-1.0), np.array(1.0))[0].shape
    (3, 2)
    """
    x = as_array(data)
    return _passed(_core.transpose(x, axes) if axes else _core.transpose(x), min_data, max_data)


@with_out
def quantized_act(data: ArrayLike, min_data: ArrayLike, max_data: ArrayLike, act_type: str = "relu") -> list[ndarray]:
    """relu, the one activation that integers of a range know; the range stays.

    >>> npx.quantized_act(np.array([-3, 3], dtype="int8"), np.array(-1.0), np.array(1.0))[0]
    array([0, 3], dtype=int8)
    """
    check_choice("quantized_act", "act_type", act_type, ("relu",))
    return _passed(_core.maximum(as_array(data), 0), min_data, max_data)


@with_out
def quantized_pooling(data: ArrayLike, min_data: ArrayLike, max_data: ArrayLike, **options: Any) -> list[ndarray]:
    """`npx.pooling` with its options; averages are rounded, and the range stays.

    >>> x = np.arange(4).reshape(1, 1, 2, 2).astype("int8")
    >>> npx.quantized_pooling(x, np.array(-1.0), np.array(1.0), kernel=(2, 2), pool_type="max")[0].item()
    3
    """
    x = as_array(data)
    return _passed(_core.astype(_core.rint(pooling(_core.astype(x, _F32), **options)), x.dtype), min_data, max_data)


@with_out
def quantized_embedding(
    data: ArrayLike,
    weight: ArrayLike,
    min_weight: ArrayLike,
    max_weight: ArrayLike,
    input_dim: int | None = None,
    output_dim: int | None = None,
    dtype: Any = None,
    sparse_grad: bool = False,
) -> list[ndarray]:
    """`npx.embedding` of a table with a range, which stays.

    >>> npx.quantized_embedding(np.array([1]), np.array([[1], [2]], dtype="int8"), np.array(-1.0), np.array(1.0))[0]
    array([[2]], dtype=int8)
    """
    return _passed(embedding(data, weight, input_dim, output_dim), min_weight, max_weight)


def _sums(made: ndarray, step: ndarray, bias: ArrayLike, ends: tuple[Any, Any], shape: Any) -> list[ndarray]:
    """Sums of products of integers, with a bias that is rounded to their step."""
    if bias is None:
        return _with_range(made, step)
    b = as_array(bias, made.device)
    added = _core.rint(_core.astype(b, _F32) * _step(b, *ends) / step)
    return _with_range(made + _core.reshape(_core.astype(added, _I32), shape), step)


@with_out
def quantized_fully_connected(
    data: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    min_data: ArrayLike = None,
    max_data: ArrayLike = None,
    min_weight: ArrayLike = None,
    max_weight: ArrayLike = None,
    min_bias: ArrayLike = None,
    max_bias: ArrayLike = None,
    num_hidden: int | None = None,
    no_bias: bool = False,
    flatten: bool = True,
) -> list[ndarray]:
    """`npx.fully_connected` of integers with ranges: int32 sums, and the range that gives them their step.

    >>> x, w = np.array([[100, 50]], dtype="int8"), np.array([[127, 127]], dtype="int8")
    >>> low, high = np.array(-1.0), np.array(1.0)
    >>> npx.quantized_fully_connected(x, w, None, low, high, low, high, num_hidden=1, no_bias=True)[0]
    array([[19050]], dtype=int32)
    """
    x, w = as_array(data), as_array(weight)
    step = _step(x, min_data, max_data) * _step(w, min_weight, max_weight)
    made = fully_connected(_core.astype(x, _I32), _core.astype(w, _I32), None, num_hidden, True, flatten)
    return _sums(made, step, None if no_bias else bias, (min_bias, max_bias), (-1,))


@with_out
def quantized_conv(
    data: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    min_data: ArrayLike = None,
    max_data: ArrayLike = None,
    min_weight: ArrayLike = None,
    max_weight: ArrayLike = None,
    min_bias: ArrayLike = None,
    max_bias: ArrayLike = None,
    kernel: Any = None,
    stride: Any = None,
    dilate: Any = None,
    pad: Any = None,
    num_filter: int = 1,
    num_group: int = 1,
    no_bias: bool = False,
    layout: str | None = None,
    **_: Any,
) -> list[ndarray]:
    """`npx.convolution` of integers with ranges, channels first: int32 sums, and the range that gives them their step.

    >>> x, w = np.full((1, 1, 2, 2), 2, dtype="int8"), np.full((1, 1, 2, 2), 3, dtype="int8")
    >>> low, high = np.array(-1.0), np.array(1.0)
    >>> npx.quantized_conv(x, w, None, low, high, low, high, kernel=(2, 2), num_filter=1, no_bias=True)[0].item()
    24
    """
    x, w = as_array(data), as_array(weight)
    step = _step(x, min_data, max_data) * _step(w, min_weight, max_weight)
    exact = numpy.dtype("float64")  # holds the sums of products of 8 bits without rounding
    made = convolution(
        _core.astype(x, exact),
        _core.astype(w, exact),
        kernel=kernel,
        stride=stride,
        dilate=dilate,
        pad=pad,
        num_filter=num_filter,
        num_group=num_group,
        no_bias=True,
        layout=layout,
    )
    shape = (-1, *(1,) * (x.ndim - 2))
    return _sums(_core.astype(made, _I32), step, None if no_bias else bias, (min_bias, max_bias), shape)


@with_out
def quantized_elemwise_mul(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_min: ArrayLike,
    lhs_max: ArrayLike,
    rhs_min: ArrayLike,
    rhs_max: ArrayLike,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    enable_float_output: bool = False,
) -> Any:
    """The product of integers with ranges: int32; int8 in a range that is given; or the real numbers.

    >>> x, low, high = np.array([127], dtype="int8"), np.array(-2.0), np.array(2.0)
    >>> npx.quantized_elemwise_mul(x, x, low, high, low, high, enable_float_output=True)
    array([4.])
    """
    a, b = as_array(lhs), as_array(rhs)
    step = _step(a, lhs_min, lhs_max) * _step(b, rhs_min, rhs_max)
    made = _core.astype(a, _I32) * _core.astype(b, _I32)
    if enable_float_output:
        return _core.astype(made, _F32) * step
    found = _with_range(made, step)
    if min_calib_range is None or max_calib_range is None:
        return found
    return requantize(found[0], found[1], found[2], "int8", min_calib_range, max_calib_range)


@with_out
def quantized_elemwise_add(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_min: ArrayLike,
    lhs_max: ArrayLike,
    rhs_min: ArrayLike,
    rhs_max: ArrayLike,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
) -> list[ndarray]:
    """The sum of integers with ranges, as int8 in a range: the sum of theirs, or one that is given.

    >>> x, low, high = np.array([127], dtype="int8"), np.array(-2.0), np.array(2.0)
    >>> made, _, end = npx.quantized_elemwise_add(x, x, low, high, low, high)
    >>> made, end
    (array([127], dtype=int8), array([4.]))
    """
    a, b = as_array(lhs), as_array(rhs)
    real = _core.astype(a, _F32) * _step(a, lhs_min, lhs_max) + _core.astype(b, _F32) * _step(b, rhs_min, rhs_max)
    if min_calib_range is not None and max_calib_range is not None:
        return _to_bits(real, *_ends(min_calib_range, max_calib_range, a), "int8")
    end = _reach(*_ends(lhs_min, lhs_max, a)) + _reach(*_ends(rhs_min, rhs_max, a))
    return _to_bits(real, -end, end, "int8")


# ---- intgemm: products of int8 with one factor


@with_out
def intgemm_maxabsolute(data: ArrayLike) -> ndarray:
    """The largest absolute value, as an array of one.

    >>> npx.intgemm_maxabsolute(np.array([1.0, -3.0]))
    array([3.])
    """
    return _core.reshape(_core.max(_core.abs(as_array(data))), (1,))


@with_out
def intgemm_prepare_data(data: ArrayLike, maxabs: ArrayLike) -> ndarray:
    """Real numbers as int8 that stand for them in steps of `maxabs / 127`.

    >>> npx.intgemm_prepare_data(np.array([1.0, -2.0]), np.array([2.0]))
    array([  64, -127], dtype=int8)
    """
    x = as_array(data)
    return _core.astype(_core.clip(_core.rint(x * (127 / _number(maxabs, x))), -127, 127), _I8)


@with_out
def intgemm_prepare_weight(weight: ArrayLike, maxabs: ArrayLike = None, already_quantized: bool = False) -> ndarray:
    """Weights as int8, by rows as they are: see `intgemm_prepare_data`. int8 weights are given back.

    >>> npx.intgemm_prepare_weight(np.array([[1.0, -2.0]]), np.array([2.0]))
    array([[  64, -127]], dtype=int8)
    """
    if already_quantized:
        return as_array(weight)
    made: ndarray = intgemm_prepare_data(weight, intgemm_maxabsolute(weight) if maxabs is None else maxabs)
    return made


@with_out
def intgemm_take_weight(weight: ArrayLike, indices: ArrayLike) -> ndarray:
    """Rows of prepared weights by their numbers.

    >>> npx.intgemm_take_weight(np.array([[1], [2]], dtype="int8"), np.array([1]))
    array([[2]], dtype=int8)
    """
    return embedding(indices, weight)


@with_out
def intgemm_fully_connected(
    data: ArrayLike,
    weight: ArrayLike,
    scaling: ArrayLike = None,
    bias: ArrayLike = None,
    num_hidden: int | None = None,
    no_bias: bool = True,
    flatten: bool = True,
    out_type: str = "float32",
) -> ndarray:
    """`npx.fully_connected` of int8 data and prepared weights, times `scaling`; or the int32 sums.

    Data of float32 are prepared here, and `scaling` is then that of the weights alone.

    >>> x, w = np.array([[2, 3]], dtype="int8"), np.array([[4, 5]], dtype="int8")
    >>> npx.intgemm_fully_connected(x, w, np.array(0.5))
    array([[11.5]])
    """
    check_choice("intgemm_fully_connected", "out_type", out_type, ("float32", "int32"))
    x, w = as_array(data), as_array(weight)
    factor: Any = 1.0 if scaling is None else _number(scaling, x)
    if x.dtype != _I8:
        top = intgemm_maxabsolute(x)
        x, factor = intgemm_prepare_data(x, top), factor * _number(top, x) / 127
    made = fully_connected(_core.astype(x, _I32), _core.astype(w, _I32), None, num_hidden, True, flatten)
    if out_type == "float32":
        made = _core.astype(made, _F32) * factor
    return made if no_bias or bias is None else made + as_array(bias, x.device)


if not TYPE_CHECKING:
    __all__ = public(globals())
