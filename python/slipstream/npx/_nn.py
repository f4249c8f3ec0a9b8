"""Functions of neural networks, composed of rows of the table; the planner fuses them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..np._arguments import as_array, normal_axis
from ..np._types import ArrayLike, DTypeLike


def _prepare(
    data: ArrayLike, axis: int, length: ArrayLike, temperature: float | None, use_length: bool, dtype: DTypeLike
) -> tuple[ndarray, ndarray | None]:
    """The argument of a softmax, and which elements count (None: all)."""
    x = as_array(data)
    if dtype is not None:
        x = _core.astype(x, dtype)
    elif x.dtype.kind in "iub":
        x = _core.astype(x, _core.result_type(x, 1.0))
    if temperature is not None and temperature != 1.0:
        x = x / temperature
    if length is None:
        if use_length:
            raise ValueError("softmax: use_length=True needs length")
        return x, None
    at = normal_axis(axis, x.ndim, "softmax")
    lengths = as_array(length, x.device)
    if lengths.shape != x.shape[:at] + x.shape[at + 1 :]:
        raise ValueError(f"softmax: length has shape {lengths.shape}, data {x.shape} with axis {axis} left out")
    places = _core.arange(0, 1, x.shape[at], numpy.dtype("int64"), x.device)
    places = _core.reshape(places, (x.shape[at],) + (1,) * (x.ndim - 1 - at))
    return x, _core.less(places, _core.expand_dims(lengths, [at]))


def softmax(
    data: ArrayLike,
    axis: int = -1,
    length: ArrayLike = None,
    temperature: float | None = None,
    use_length: bool = False,
    dtype: DTypeLike = None,
) -> ndarray:
    """`exp(x) / sum(exp(x))` along an axis; with `length`, elements from that place on count as 0.

    >>> npx.softmax(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    x, kept = _prepare(data, axis, length, temperature, use_length, dtype)
    if kept is None:
        e = _core.exp(x - _core.max(x, axis=axis, keepdims=True))
        return e / _core.sum(e, axis=axis, keepdims=True)
    x = _core.where(kept, x, -math.inf)
    top = _core.max(x, axis=axis, keepdims=True)
    e = _core.where(kept, _core.exp(x - top), 0.0)
    total = _core.sum(e, axis=axis, keepdims=True)
    return _core.where(kept, e / total, 0.0)


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
    x, kept = _prepare(data, axis, length, temperature, use_length, dtype)
    if kept is not None:
        x = _core.where(kept, x, -math.inf)
    shifted = x - _core.max(x, axis=axis, keepdims=True)
    return shifted - _core.log(_core.sum(_core.exp(shifted), axis=axis, keepdims=True))


def gelu(data: ArrayLike) -> ndarray:
    """`x * Φ(x)`: the argument times the normal distribution's share below it.

    >>> npx.gelu(np.array([0.0, 1.0]))
    array([0.       , 0.8413447])
    """
    x = as_array(data)
    return x * (0.5 * (1 + _core.erf(x * math.sqrt(0.5))))


def silu(data: ArrayLike) -> ndarray:
    """`x * sigmoid(x)`.

    >>> npx.silu(np.array([0.0]))
    array([0.])
    """
    x = as_array(data)
    return x * _core.sigmoid(x)


def leaky_relu(data: ArrayLike, gamma: ArrayLike = None, act_type: str = "leaky", slope: float = 0.25) -> ndarray:
    """relu with a slope for negative arguments (`leaky`, `prelu`), or `elu`, `selu`, `gelu`.

    >>> npx.leaky_relu(np.array([-4.0, 4.0]))
    array([-1.,  4.])
    """
    x = as_array(data)
    if act_type in ("leaky", "prelu"):
        return _core.where(_core.greater(x, 0), x, x * (slope if act_type == "leaky" else gamma))
    if act_type == "elu":
        return _core.where(_core.greater(x, 0), x, slope * _core.expm1(x))
    if act_type == "selu":
        return 1.0507009873554805 * _core.where(_core.greater(x, 0), x, 1.6732632423543772 * _core.expm1(x))
    if act_type == "gelu":
        return gelu(x)
    raise ValueError(f"leaky_relu: act_type {act_type!r} is none of 'leaky', 'prelu', 'elu', 'selu', 'gelu'")


_ACTIVATIONS: dict[str, Callable[..., ndarray]] = {
    "relu": _core.relu,
    "sigmoid": _core.sigmoid,
    "log_sigmoid": _core.log_sigmoid,
    "tanh": _core.tanh,
    "softrelu": _core.softplus,
    "softsign": _core.softsign,
    "gelu": gelu,
    "silu": silu,
}


def activation(data: ArrayLike, act_type: str = "relu", **_: Any) -> ndarray:
    """An activation function by its name.

    >>> npx.activation(np.array([-1.0, 1.0]), "relu")
    array([0., 1.])
    """
    if act_type not in _ACTIVATIONS:
        raise ValueError(f"activation: act_type {act_type!r} is none of {', '.join(map(repr, _ACTIVATIONS))}")
    return _ACTIVATIONS[act_type](data)
