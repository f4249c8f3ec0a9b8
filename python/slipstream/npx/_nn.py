"""Activations and softmax, most of them composed of rows of the table, which the planner fuses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..errors import at_call
from ..np._arguments import as_array, normal_axis, public
from ..np._types import ArrayLike, DTypeLike
from ._nn_mode import constant, is_training
from ._out import with_out

# ---- softmax


def _as_float(x: ndarray) -> ndarray:
    return _core.astype(x, _core.result_type(x, 1.0)) if x.dtype.kind in "iub" else x


def _prepare(
    function: str,
    data: ArrayLike,
    axis: int,
    length: ArrayLike,
    temperature: float | None,
    use_length: bool,
    dtype: DTypeLike,
) -> tuple[ndarray, ndarray | None]:
    """The argument of a softmax, and which elements count (None: all)."""
    x = as_array(data)
    at = normal_axis(axis, x.ndim, function)
    x = _core.astype(x, dtype) if dtype is not None else _as_float(x)
    if temperature is not None and temperature != 1.0:
        x = x / temperature
    if length is None:
        if use_length:
            raise ValueError(f"{function}: use_length=True needs length")
        return x, None
    lengths = as_array(length, x.device)
    if lengths.shape != x.shape[:at] + x.shape[at + 1 :]:
        raise ValueError(f"{function}: length has shape {lengths.shape}, data {x.shape} with axis {axis} left out")
    places = _core.arange(0, 1, x.shape[at], numpy.dtype("int64"), x.device)
    places = _core.reshape(places, (x.shape[at],) + (1,) * (x.ndim - 1 - at))
    return x, _core.less(places, _core.expand_dims(lengths, [at]))


def _shifted(x: ndarray, axis: int) -> ndarray:
    """x less its largest element along the axis, which changes nothing but keeps exp in range."""
    return x - constant(_core.max(x, axis=axis, keepdims=True))


def _is_one_kernel(x: ndarray, axis: int) -> bool:
    """Is it a case for the kernel that goes over the data once? It does as many columns at a time as stay in the cache;
    where these are few, passes over all of them are quicker."""
    columns = math.prod(x.shape[axis:][1:])
    return x.dtype in ("float32", "float64") and (columns == 1 or (columns >= 64 and x.shape[axis] <= 1024))


def _in_float32(function: Callable[..., ndarray], x: ndarray, axis: int, kept: ndarray | None) -> ndarray:
    """For types of 16 bits: the sum of a row may be more than they can hold, though no result is."""
    return _core.astype(function(_core.astype(x, numpy.dtype("float32")), axis, kept), x.dtype)


def _softmax(x: ndarray, axis: int, kept: ndarray | None) -> ndarray:
    if x.size == 0:
        return x
    if x.dtype.itemsize == 2:
        return _in_float32(_softmax, x, axis, kept)
    if kept is None and _is_one_kernel(x, axis):
        return _core.softmax(x, axis, False)
    if kept is None:
        e = _core.exp(_shifted(x, axis))
        return e / _core.sum(e, axis=axis, keepdims=True)
    # What does not count is moved out of the way before exp, so that its gradient is 0 and not NaN.
    low = _core.where(kept, x, -math.inf)
    top = constant(_core.max(low, axis=axis, keepdims=True))
    e = _core.where(kept, _core.exp(_core.where(kept, x - top, 0.0)), 0.0)
    total = _core.sum(e, axis=axis, keepdims=True)
    return _core.where(kept, e / _core.where(_core.greater(total, 0), total, 1.0), 0.0)


def _log_softmax(x: ndarray, axis: int, kept: ndarray | None) -> ndarray:
    if x.size == 0:
        return x
    if x.dtype.itemsize == 2:
        return _in_float32(_log_softmax, x, axis, kept)
    if kept is None and _is_one_kernel(x, axis):
        return _core.softmax(x, axis, True)
    if kept is None:
        moved = _shifted(x, axis)
        return moved - _core.log(_core.sum(_core.exp(moved), axis=axis, keepdims=True))
    low = _core.where(kept, x, -math.inf)
    top = constant(_core.max(low, axis=axis, keepdims=True))
    moved = _core.where(kept, x - top, 0.0)
    total = _core.sum(_core.where(kept, _core.exp(moved), 0.0), axis=axis, keepdims=True)
    return _core.where(kept, moved - _core.log(_core.where(_core.greater(total, 0), total, 1.0)), -math.inf)


def softmax(
    data: ArrayLike,
    length: Any = None,
    axis: int = -1,
    temperature: float | None = None,
    use_length: bool = False,
    dtype: DTypeLike = None,
) -> ndarray:
    """`exp(x) / sum(exp(x))` along an axis; with `length`, elements from that place on count as 0.

    An int in the place of `length` is the axis.

    >>> npx.softmax(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    if isinstance(length, int):
        length, axis = None, length
    x, kept = _prepare("softmax", data, axis, length, temperature, use_length, dtype)
    return _softmax(x, axis, kept)


def log_softmax(
    data: ArrayLike,
    axis: int = -1,
    length: ArrayLike = None,
    temperature: float | None = None,
    use_length: bool = False,
    dtype: DTypeLike = None,
) -> ndarray:
    """`log(softmax(x))`, accurate where softmax is near 0.

    >>> npx.log_softmax(np.array([0.0, 0.0]))
    array([-0.6931472, -0.6931472])
    """
    x, kept = _prepare("log_softmax", data, axis, length, temperature, use_length, dtype)
    return _log_softmax(x, axis, kept)


def softmin(
    data: ArrayLike,
    axis: int = -1,
    length: ArrayLike = None,
    temperature: float | None = None,
    use_length: bool = False,
    dtype: DTypeLike = None,
) -> ndarray:
    """`softmax(-x)`: the smallest element counts most.

    >>> npx.softmin(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    x, kept = _prepare("softmin", data, axis, length, temperature, use_length, dtype)
    return _softmax(-x, axis, kept)


def _masked(
    function: str, data: ArrayLike, mask: ArrayLike, axis: int, temperature: float | None
) -> tuple[ndarray, ndarray]:
    x = _as_float(as_array(data))
    normal_axis(axis, x.ndim, function)
    kept = as_array(mask, x.device)
    kept = kept if kept.dtype.kind == "b" else _core.not_equal(kept, 0)
    try:
        shape = numpy.broadcast_shapes(x.shape, kept.shape)
    except ValueError:
        shape = ()
    if shape != x.shape:
        raise ValueError(f"{function}: mask of shape {kept.shape} cannot be broadcast to data of shape {x.shape}")
    if temperature is not None and temperature != 1.0:
        x = x / temperature
    return x, kept


def masked_softmax(
    data: ArrayLike, mask: ArrayLike, axis: int = -1, temperature: float = 1.0, normalize: bool = True
) -> ndarray:
    """softmax over the elements where `mask` is true; 0 elsewhere.

    >>> npx.masked_softmax(np.array([1.0, 1.0, 5.0]), np.array([True, True, False]))
    array([0.5, 0.5, 0. ])
    """
    x, kept = _masked("masked_softmax", data, mask, axis, temperature)
    return _softmax(x, axis, kept)


def masked_log_softmax(
    data: ArrayLike, mask: ArrayLike, axis: int = -1, temperature: float = 1.0, normalize: bool = True
) -> ndarray:
    """log_softmax over the elements where `mask` is true; -inf elsewhere.

    >>> npx.masked_log_softmax(np.array([1.0, 1.0, 5.0]), np.array([True, True, False]))
    array([-0.6931472, -0.6931472,       -inf])
    """
    x, kept = _masked("masked_log_softmax", data, mask, axis, temperature)
    return _log_softmax(x, axis, kept)


# ---- activations


def gelu(data: ArrayLike, approximation: str = "erf") -> ndarray:
    """`x * Φ(x)`: the argument times the normal distribution's share below it; `tanh` approximates it.

    >>> npx.gelu(np.array([0.0, 1.0]))
    array([0.       , 0.8413447])
    """
    x = as_array(data)
    if approximation == "tanh":
        return x * (0.5 * (1 + _core.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))))
    if approximation != "erf":
        raise ValueError(f"gelu: approximation {approximation!r} is neither 'erf' nor 'tanh'")
    return x * (0.5 * (1 + _core.erf(x * math.sqrt(0.5))))


def silu(data: ArrayLike) -> ndarray:
    """`x * sigmoid(x)`.

    >>> npx.silu(np.array([0.0]))
    array([0.])
    """
    x = as_array(data)
    return x * _core.sigmoid(x)


def mish(data: ArrayLike) -> ndarray:
    """`x * tanh(log(1 + exp(x)))`.

    >>> npx.mish(np.array([0.0]))
    array([0.])
    """
    x = as_array(data)
    return x * _core.tanh(_core.softplus(x))


def hard_sigmoid(data: ArrayLike, alpha: float = 0.2, beta: float = 0.5) -> ndarray:
    """`alpha * x + beta`, limited to the range from 0 to 1.

    >>> npx.hard_sigmoid(np.array([-5.0, 0.0, 5.0]))
    array([0. , 0.5, 1. ])
    """
    return _core.clip(alpha * as_array(data) + beta, 0, 1)


def hard_swish(data: ArrayLike) -> ndarray:
    """`x * clip(x + 3, 0, 6) / 6`.

    >>> npx.hard_swish(np.array([-3.0, 3.0]))
    array([-0.,  3.])
    """
    x = as_array(data)
    return x * (_core.clip(x + 3, 0, 6) / 6)


def _slopes(gamma: ArrayLike, x: ndarray) -> ndarray:
    """One slope for all elements, or one for each channel (axis 1), or of each example (axes 0 and 1, and so on)."""
    slopes = as_array(gamma, x.device)
    if slopes.ndim == 1 and x.ndim > 1 and slopes.size > 1:
        if slopes.size != x.shape[1]:
            raise ValueError(f"leaky_relu: gamma has shape {slopes.shape}, data {x.shape} has {x.shape[1]} channels")
        return _core.reshape(slopes, (-1, *(1,) * (x.ndim - 2)))
    if 1 < slopes.ndim < x.ndim and slopes.shape == x.shape[: slopes.ndim]:
        return _core.reshape(slopes, (*slopes.shape, *(1,) * (x.ndim - slopes.ndim)))
    return slopes


def leaky_relu(
    data: ArrayLike = None,
    gamma: ArrayLike = None,
    act_type: str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    **_: Any,
) -> ndarray:
    """relu with a slope for negative arguments, or another of its family, by name.

    `leaky` takes `slope`, `prelu` the array `gamma` (one slope, or one for each channel), `rrelu` draws slopes between
    the bounds while training and takes their mean otherwise; `elu` is `slope * (exp(x) - 1)` there; and `selu`, `gelu`.

    >>> npx.leaky_relu(np.array([-4.0, 4.0]))
    array([-1.,  4.])
    """
    x = as_array(data)
    above = _core.greater(x, 0)
    if act_type == "leaky":
        return _core.where(above, x, x * slope)
    if act_type == "prelu":
        if gamma is None:
            raise ValueError("leaky_relu: prelu needs gamma")
        return _core.where(above, x, x * _slopes(gamma, x))
    if act_type == "rrelu":
        middle: Any = (lower_bound + upper_bound) / 2
        if is_training():
            middle = _core.random_uniform(None, lower_bound, upper_bound, x.shape, x.dtype, x.device)
        return _core.where(above, x, x * middle)
    if act_type == "elu":
        return _core.where(above, x, slope * _core.expm1(_core.minimum(x, 0)))
    if act_type == "selu":
        bent = 1.6732632423543772 * _core.expm1(_core.minimum(x, 0))
        return 1.0507009873554805 * _core.where(above, x, bent)
    if act_type in ("gelu", "gelu_erf"):
        return gelu(x)
    if act_type == "gelu_tanh":
        return gelu(x, "tanh")
    known = "'leaky', 'prelu', 'rrelu', 'elu', 'selu', 'gelu', 'gelu_erf', 'gelu_tanh'"
    raise ValueError(f"leaky_relu: act_type {act_type!r} is none of {known}")


_ACTIVATIONS: dict[str, Callable[..., ndarray]] = {
    "relu": _core.relu,
    "sigmoid": _core.sigmoid,
    "log_sigmoid": _core.log_sigmoid,
    "mish": mish,
    "tanh": _core.tanh,
    "softrelu": _core.softplus,
    "softsign": _core.softsign,
    "gelu": gelu,
    "silu": silu,
}


def _activation(act_type: str) -> Callable[..., ndarray]:
    """An activation function by its name."""
    if act_type not in _ACTIVATIONS:
        raise at_call(ValueError)(f"activation: act_type {act_type!r} is none of {', '.join(map(repr, _ACTIVATIONS))}")
    return _ACTIVATIONS[act_type]


def activation(data: ArrayLike, act_type: str = "relu", **_: Any) -> ndarray:
    """An activation function by its name.

    >>> npx.activation(np.array([-1.0, 1.0]), "relu")
    array([0., 1.])
    """
    return _activation(act_type)(data)


@with_out
def smooth_l1(data: ArrayLike, scalar: float = 1.0) -> ndarray:
    """`(s x)² / 2` where `abs(x) < 1 / s²`, else `abs(x) - 0.5 / s²`, s being `scalar`.

    >>> npx.smooth_l1(np.array([0.5, 2.0]))
    array([0.125, 1.5  ])
    """
    x = as_array(data)
    square = scalar * scalar
    size = _core.abs(x)
    return _core.where(_core.less(size, 1 / square), 0.5 * square * x * x, size - 0.5 / square)


if not TYPE_CHECKING:
    __all__ = public(globals())
