"""Waiting for everything, and Python functions run by the back end in their turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import ndarray
from ..device import resolve
from ..np._types import ArrayLike, DeviceLike, DTypeLike


def waitall() -> None:
    """Waits until all work on all devices is done. Raises what failed and nobody has looked at yet, all together.

    >>> npx.waitall()
    """
    _core.wait_all()


def host_call(
    fn: Callable[..., Any],
    arrays: Sequence[ArrayLike],
    out_shape: Any,
    out_dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> Any:
    """Runs a Python function on a worker when its arrays are ready; returns at once.

    `fn` is called with the values as NumPy arrays (read-only) and returns the values of the result: one array of shape
    `out_shape` and type `out_dtype`, or several where `out_shape` is a list of shapes; with `out_shape=None` it is
    called for what it does. What it raises is raised where a result is read. It may use and wait for other arrays.
    Its results have no history, unless `autograd.with_gradient` gives them one.

    >>> x = np.arange(3)
    >>> npx.host_call(lambda a: a[::-1] * 2, [x], (3,), "float32")
    array([4., 2., 0.])
    """
    inputs = [arrays] if isinstance(arrays, ndarray) else list(arrays)
    place = None if device is None and ctx is None else resolve(device, ctx)
    return _core.host_call(fn, inputs, out_shape, out_dtype, place)
