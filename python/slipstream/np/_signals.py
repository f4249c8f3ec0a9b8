"""Lines of samples: convolution, correlation and interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, public
from ._joining import concatenate
from ._numerics import trapezoid
from ._sorting import searchsorted
from ._types import ArrayLike

_F64 = numpy.dtype("float64")

# ---- convolution


def _convolve(a: ndarray, v: ndarray, mode: str, function: str) -> ndarray:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{function}: mode {mode!r} is none of 'full', 'same', 'valid'")
    if a.ndim > 1 or v.ndim > 1:
        raise ValueError(f"{function}: shapes {a.shape} and {v.shape}; both must have one dimension")
    a, v = _core.reshape(a, (-1,)), _core.reshape(v, (-1,))
    if a.size == 0 or v.size == 0:
        raise ValueError(f"{function}: shapes {a.shape} and {v.shape}; neither may be empty")
    long, short = max(a.size, v.size), min(a.size, v.size)
    first, n = {
        "full": (0, long + short - 1),
        "same": (short - 1 - short // 2, long),
        "valid": (short - 1, long - short + 1),
    }[mode]
    return _core.convolve(a, v, first, n)


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> ndarray:
    """The convolution of two lines: all of it, as much as the longer has ("same"), or where both overlap ("valid").

    >>> np.convolve(np.array([1, 2, 3]), np.array([0, 1, 0.5]))
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    a, v = as_arrays((a, v))
    return _convolve(a, v, mode, "convolve")


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> ndarray:
    """The cross-correlation of two lines; the second is conjugated.

    >>> np.correlate(np.array([1, 2, 3]), np.array([0, 1, 0.5]))
    array([3.5])
    """
    a, v = as_arrays((a, v))
    other = _core.conj(v) if v.dtype.kind == "c" else v
    if a.size < v.size and a.ndim == v.ndim == 1:  # NumPy exchanges both, and turns the result round
        return _convolve(other, a[::-1], mode, "correlate")[::-1]
    return _convolve(a, other[::-1] if v.ndim == 1 else other, mode, "correlate")


# ---- interpolation


def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: Any = None, right: Any = None, period: float | None = None
) -> ndarray:
    """Values of the line through the points (xp, fp), whose xp increase, at x; `left` and `right` of it others.

    >>> np.interp(2.5, np.array([1, 2, 3]), np.array([3, 2, 0]))
    array(1., dtype=float64)
    """
    fp = as_array(fp)
    x, xp = (_core.astype(as_array(part, fp.device), _F64) for part in (x, xp))
    fp = _core.astype(fp, _core.result_type(fp, _F64))
    if xp.ndim != 1 or fp.shape != xp.shape:
        raise ValueError(f"interp: xp has shape {xp.shape}, fp {fp.shape}; both must be lines of one length")
    if xp.size == 0:
        raise ValueError("interp: xp and fp have no points")
    if period is not None:
        if period == 0:
            raise ValueError("interp: period is 0")
        period = abs(period)
        x, xp, left, right = x % period, xp % period, None, None
        order = _core.argsort(xp, 0)
        xp, fp = _core.take(xp, order, 0, "raise"), _core.take(fp, order, 0, "raise")
        xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = concatenate([fp[-1:], fp, fp[:1]])
    low = fp[0] if left is None else left
    high = fp[-1] if right is None else right
    made = _through(x, xp, fp) if xp.size > 1 else _core.broadcast_to(fp[0], x.shape)
    made = _core.where(_core.less(x, xp[0]), low, _core.where(_core.greater(x, xp[-1]), high, made))
    return _core.where(_core.isnan(x), x, made)


def _through(x: ndarray, xp: ndarray, fp: ndarray) -> ndarray:
    at = _core.clip(searchsorted(xp, x, "right") - 1, 0, xp.size - 2)
    x0, x1, f0, f1 = (_core.take(p, at + i, 0, "clip") for p in (xp, fp) for i in (0, 1))
    slope = (f1 - f0) / (x1 - x0)
    made = slope * (x - x0) + f0
    made = _core.where(_core.isnan(made), slope * (x - x1) + f1, made)
    made = _core.where(_core.logical_and(_core.isnan(made), _core.equal(f0, f1)), f0, made)
    return _core.where(_core.equal(x, x0), f0, _core.where(_core.equal(x, x1), f1, made))


def trapz(y: ArrayLike, x: ArrayLike = None, dx: Any = 1.0, axis: int = -1) -> ndarray:
    """NumPy 1's name of `np.trapezoid`.

    >>> np.trapz(np.array([1, 2, 3]), dx=2)
    array(8.)
    """
    return trapezoid(y, x, dx, axis)


if not TYPE_CHECKING:
    __all__ = public(globals())
