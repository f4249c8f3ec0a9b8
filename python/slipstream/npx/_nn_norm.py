"""Normalisation, dropout and dense layers, composed of rows of the table; the planner fuses them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import ndarray
from ..np._arguments import as_array, as_dims, normal_axis, public
from ..np._types import ArrayLike
from ._nn_mode import is_training, outside_the_tape
from ._out import with_out


def fully_connected(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike = None,
    num_hidden: int | None = None,
    no_bias: bool = True,
    flatten: bool = True,
    **_: Any,
) -> ndarray:
    """`x @ weight.T`, plus `bias` with `no_bias=False`; with `flatten`, all axes of `x` but the first are one.

    >>> npx.fully_connected(np.ones((1, 3)), np.ones((2, 3)), np.array([0, 1]), num_hidden=2, no_bias=False)
    array([[3., 4.]])
    """
    if not no_bias and bias is None:
        raise ValueError("fully_connected: no_bias=False needs bias")
    if not isinstance(x, ndarray):
        x = as_array(x)
    if not isinstance(weight, ndarray):
        weight = as_array(weight, x.device)
    return _core.fully_connected(x, weight, None if no_bias else bias, num_hidden, flatten)


# ---- normalisation


def _moments(x: ndarray, axes: Any) -> tuple[ndarray, ndarray]:
    """Mean and variance over axes, which stay as axes of length 1."""
    mean = _core.mean(x, axis=axes, keepdims=True)
    return mean, _core.mean(_core.square(x - mean), axis=axes, keepdims=True)


def _statistics_type(x: ndarray) -> ndarray:
    """16-bit floats are summed as float32."""
    return _core.astype(x, "float32") if x.dtype.itemsize == 2 else x


def _follow(running_mean: ndarray, mean: ndarray, running_var: ndarray, var: ndarray, momentum: float) -> None:
    """Moves the running statistics towards those of a batch."""
    with outside_the_tape():
        for running, now in ((running_mean, mean), (running_var, var)):
            _core.assign(running, running * momentum + _core.reshape(now, running.shape) * (1 - momentum))


def _by_channel(x: ndarray, axis: int, *parameters: Any) -> bool:
    """Is it a case for the kernel that goes channel by channel? Places of a channel lie side by side there."""
    alike = all(isinstance(p, ndarray) and p.dtype == x.dtype for p in parameters)
    return axis == 1 and x.dtype.kind == "f" and math.prod(x.shape[2:]) >= 8 and x.size > 0 and alike


def batch_norm(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    running_mean: ndarray,
    running_var: ndarray,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: Any = None,
    max_calib_range: Any = None,
) -> Any:
    """`(x - mean) / sqrt(var + eps) * gamma + beta`, with mean and variance over all axes but `axis`.

    While training, they are the batch's own, and `running_mean` and `running_var` move towards them, in place, by
    `1 - momentum`; otherwise, with `use_global_stats`, or where the batch is empty, the running ones are used.
    `fix_gamma` takes gamma as 1.
    With `output_mean_var` the mean and `1 / sqrt(var + eps)` are given too.

    >>> x = np.array([[1.0], [3.0]])
    >>> npx.batch_norm(x, np.ones(1), np.zeros(1), np.ones(1), np.ones(1), eps=0)
    array([[0.],
           [2.]])
    """
    a = as_array(x)
    at = normal_axis(axis, a.ndim, "batch_norm")
    shape = tuple(n if i == at else 1 for i, n in enumerate(a.shape))
    for name, given in (("gamma", gamma), ("beta", beta), ("running_mean", running_mean), ("running_var", running_var)):
        if tuple(getattr(given, "shape", shape[at : at + 1])) != a.shape[at : at + 1]:
            raise ValueError(f"batch_norm: {name} has shape {given.shape}, but axis {axis} has {a.shape[at]} elements")
    wide = _statistics_type(a)
    batch = is_training() and not use_global_stats and a.size > 0  # no elements have no mean
    statistics = () if batch else (running_mean, running_var)
    free = not output_mean_var and (batch or not _core.is_recording())
    if free and _by_channel(wide, at, gamma, beta, *statistics):
        factor = None if fix_gamma else gamma
        if batch:
            made, mean, var = _core.batch_norm(wide, factor, beta, eps)
            _follow(running_mean, mean, running_var, var, momentum)
        else:
            made = _core.batch_norm_fixed(wide, factor, beta, running_mean, running_var, eps)
        return made if made.dtype == a.dtype else _core.astype(made, a.dtype)
    if batch:
        mean, var = _moments(wide, tuple(i for i in range(a.ndim) if i != at))
        _follow(running_mean, mean, running_var, var, momentum)
    else:
        mean, var = (_core.reshape(as_array(v, a.device), shape) for v in (running_mean, running_var))
    inverse = 1 / _core.sqrt(var + eps)
    scale = inverse if fix_gamma else inverse * _core.reshape(as_array(gamma, a.device), shape)
    shift = _core.reshape(as_array(beta, a.device), shape)
    # The batch's own mean is taken away first, for accuracy; a constant one goes into the shift, for speed.
    made = (wide - mean) * scale + shift if batch else wide * scale + (shift - mean * scale)
    made = made if made.dtype == a.dtype else _core.astype(made, a.dtype)
    return (made, _core.reshape(mean, (-1,)), _core.reshape(inverse, (-1,))) if output_mean_var else made


@with_out
def sync_batch_norm(
    data: ArrayLike, gamma: ArrayLike, beta: ArrayLike, moving_mean: ndarray, moving_var: ndarray, **options: Any
) -> Any:
    """`batch_norm`, for one device; `ndev` and `key` are ignored.

    >>> npx.sync_batch_norm(np.ones((1, 1)), np.ones(1), np.zeros(1), np.ones(1), np.ones(1))
    array([[0.]])
    """
    kept = {name: value for name, value in options.items() if name not in ("ndev", "key")}
    return batch_norm(data, gamma, beta, moving_mean, moving_var, **kept)


@with_out
def batch_norm_with_relu(
    data: ArrayLike, gamma: ArrayLike, beta: ArrayLike, moving_mean: ndarray, moving_var: ndarray, **options: Any
) -> Any:
    """`relu(batch_norm(...))`.

    >>> npx.batch_norm_with_relu(-np.ones((1, 1)), np.ones(1), np.zeros(1), np.zeros(1), np.ones(1))
    array([[0.]])
    """
    made = batch_norm(data, gamma, beta, moving_mean, moving_var, **options)
    return (_core.relu(made[0]), *made[1:]) if isinstance(made, tuple) else _core.relu(made)


def _normalized(
    function: str, x: ndarray, axes: Any, shape: tuple[int, ...], gamma: Any, beta: Any, eps: float
) -> tuple[ndarray, ndarray, ndarray]:
    """x with mean 0 and variance 1 over axes, then scaled and moved by parameters of a shape; and its moments."""
    wide = _statistics_type(x)
    mean, var = _moments(wide, axes)
    deviation = _core.sqrt(var + eps)
    made = (wide - mean) / deviation
    scaled = []
    for name, given in (("gamma", gamma), ("beta", beta)):
        p = as_array(given, x.device)
        if p.size != math.prod(shape):
            raise ValueError(f"{function}: {name} has shape {p.shape}, data {x.shape}")
        scaled.append(_core.reshape(p, shape))
    made = made * scaled[0] + scaled[1]
    return made if made.dtype == x.dtype else _core.astype(made, x.dtype), mean, deviation


def _by_row(x: ndarray, axis: int, *parameters: Any) -> bool:
    """Is it a case for the kernel that goes row by row?"""
    alike = all(isinstance(p, ndarray) and p.dtype == x.dtype and p.shape == x.shape[axis:] for p in parameters)
    return axis == x.ndim - 1 and x.dtype in ("float32", "float64") and x.size > 0 and alike


def layer_norm(
    data: ArrayLike = None,
    gamma: ArrayLike = None,
    beta: ArrayLike = None,
    axis: int | None = None,
    eps: float | None = None,
    output_mean_var: bool | None = None,
) -> Any:
    """Mean 0 and variance 1 along an axis (the last), then times `gamma` plus `beta`, which have the axis' length.

    With `output_mean_var` the mean and the standard deviation are given too; the axis has length 1 in them.

    >>> npx.layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=0.0)
    array([[-1.,  1.]])
    """
    x = as_array(data)
    at = normal_axis(-1 if axis is None else axis, x.ndim, "layer_norm")
    shape = tuple(n if i == at else 1 for i, n in enumerate(x.shape))
    eps = 1e-5 if eps is None else eps
    if _by_row(x, at, gamma, beta):
        made, mean, deviation = _core.layer_norm(x, gamma, beta, eps)
    else:
        made, mean, deviation = _normalized("layer_norm", x, at, shape, gamma, beta, eps)
    return (made, _core.astype(mean, x.dtype), _core.astype(deviation, x.dtype)) if output_mean_var else made


def group_norm(
    data: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    num_groups: int = 1,
    eps: float = 1e-3,
    output_mean_var: bool = False,
) -> Any:
    """Mean 0 and variance 1 over groups of channels (axis 1) and all axes behind them, then `gamma` and `beta`.

    These have one element for each channel, or for each group.

    >>> npx.group_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=0.0)
    array([[-1.,  1.]])
    """
    x = as_array(data)
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ValueError(f"group_norm: data of shape {x.shape} cannot be cut into {num_groups} groups of channels")
    n, channels = x.shape[:2]
    parts = _core.reshape(x, (n, num_groups, channels // num_groups, math.prod(x.shape[2:])))
    per_group = as_array(gamma, x.device).size == num_groups != channels
    shape = (num_groups, 1, 1) if per_group else (num_groups, channels // num_groups, 1)
    made, mean, deviation = _normalized("group_norm", parts, (2, 3), shape, gamma, beta, eps)
    made = _core.reshape(made, x.shape)
    sizes = (n, num_groups)
    return (made, _core.reshape(mean, sizes), _core.reshape(deviation, sizes)) if output_mean_var else made


@with_out
def instance_norm(data: ArrayLike, gamma: ArrayLike, beta: ArrayLike, eps: float = 1e-3) -> ndarray:
    """Mean 0 and variance 1 over all axes behind the channels (axis 1), then times `gamma` plus `beta` by channel.

    >>> npx.instance_norm(np.array([[[1.0, 3.0]]]), np.ones(1), np.zeros(1), eps=0.0)
    array([[[-1.,  1.]]])
    """
    x = as_array(data)
    if x.ndim < 3:
        raise ValueError(f"instance_norm: data of shape {x.shape} has no axes behind the channels")
    shape = (x.shape[1], *(1,) * (x.ndim - 2))
    return _normalized("instance_norm", x, tuple(range(2, x.ndim)), shape, gamma, beta, eps)[0]


def l2_normalization(data: ArrayLike, eps: float = 1e-10, mode: str = "instance") -> ndarray:
    """Divided by the root of the sum of squares: of each sample, of each place (`channel`) or channel (`spatial`).

    >>> npx.l2_normalization(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    x = as_array(data)
    axes = {"instance": tuple(range(1, x.ndim)), "channel": (1,), "spatial": tuple(range(2, x.ndim))}
    if mode not in axes:
        raise ValueError(f"l2_normalization: mode {mode!r} is none of 'instance', 'channel', 'spatial'")
    if x.ndim < (3 if mode == "spatial" else 2):
        raise ValueError(f"l2_normalization: data of shape {x.shape} has too few axes for mode {mode!r}")
    return x / _core.sqrt(_core.sum(_core.square(x), axis=axes[mode], keepdims=True) + eps)


def lrn(data: ArrayLike, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0, nsize: int = 5) -> ndarray:
    """Divided by `(knorm + alpha / nsize * s) ** beta`, s the sum of squares of the `nsize` channels around.

    >>> npx.lrn(np.ones((1, 1, 1, 1)), alpha=1.0, beta=1.0, knorm=1.0, nsize=1)
    array([[[[0.5]]]])
    """
    x = as_array(data)
    if x.ndim < 2 or nsize < 1 or nsize % 2 == 0:
        raise ValueError(f"lrn: nsize {nsize} must be odd, and data of shape {x.shape} have channels")
    n, channels = x.shape[:2]
    lines = _core.transpose(_core.reshape(_core.square(x), (n, channels, -1)), (0, 2, 1))
    pads, size = (nsize // 2,), (channels,)
    sums = _core.pool(lines, "sum", (nsize,), (1,), pads, size)
    sums = _core.reshape(_core.transpose(sums, (0, 2, 1)), x.shape)
    return x / (knorm + (alpha / nsize) * sums) ** beta


# ---- dropout


def dropout(
    data: ArrayLike, p: float = 0.5, mode: str = "training", axes: Any = None, cudnn_off: bool = False, **_: Any
) -> ndarray:
    """While training (or with `mode="always"`): each element is 0 with probability `p`, the others divided by `1 - p`.

    Elements that differ in `axes` alone share their fate. Otherwise the array itself.

    >>> npx.dropout(np.ones(3), 0.5)
    array([1., 1., 1.])
    """
    x = as_array(data)
    if mode not in ("training", "always"):
        raise ValueError(f"dropout: mode {mode!r} is neither 'training' nor 'always'")
    if not 0 <= p < 1:
        raise ValueError(f"dropout: p is {p}, but must be at least 0 and below 1")
    if p == 0 or (mode == "training" and not is_training()):
        return x
    shared = () if axes is None else [normal_axis(a, x.ndim, "dropout") for a in as_dims(axes)]
    shape = tuple(1 if i in shared else n for i, n in enumerate(x.shape))
    drawn = _core.random_uniform(None, 0.0, 1.0, shape, "float32", x.device)
    return _core.where(_core.greater_equal(drawn, p), x * (1 / (1 - p)), 0)


if not TYPE_CHECKING:
    __all__ = public(globals())
