"""Functions that NumPy computes: rarely used ones, for which a kernel of our own is not worth its length.

`run_by_numpy` runs them on a worker, in their turn, and does not wait. Where the shape of the result depends on values,
`wait_and_run` waits for the arguments and says so. docs/numpy.md lists both from the registries here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array
from ._types import ArrayLike

# Name: what is run by NumPy. A function that is not here is refused.
BEHIND = {
    "polyfit": "all of it (with `full` or `cov` it waits)",
    "quantile": "with `weights`",
    "percentile": "with `weights`",
}
WAITING = {
    "histogram_bin_edges": "with the name of a rule as `bins`",
    "poly": "of complex zeros or of a matrix",
    "polydiv": "all of it",
    "polyfit": "with `full` or `cov`",
    "polymul": "all of it",
    "roots": "all of it",
}


def run_by_numpy(
    function: str, call: Callable[..., Any], arrays: Sequence[ndarray], shape: tuple[int, ...], dtype: Any
) -> ndarray:
    """A NumPy call on a worker, whose result has a shape and a type that are known now."""
    assert function in BEHIND, function
    made: ndarray = _core.host_call(call, list(arrays), shape, dtype, None)
    return made


def wait_and_run(function: str, call: Callable[..., Any], arrays: Sequence[ArrayLike]) -> Any:
    """A NumPy call on this thread, once its arguments are there. Its results become arrays beside them."""
    assert function in WAITING, function
    given = [as_array(a) for a in arrays]
    return _wrap(call(*(_core.read_values(a, function) for a in given)), given[0].device)


def _wrap(result: Any, device: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(_wrap(part, device) for part in result)
    return _core.array(result, result.dtype, device, None) if isinstance(result, numpy.ndarray) else result


def markdown() -> str:
    """The section of docs/numpy.md."""
    lines = ["## Run by NumPy", "", "These run NumPy on a worker thread, in their turn; they do not wait:", ""]
    lines += [f"- `np.{name}`: {what}" for name, what in sorted(BEHIND.items())]
    lines += ["", "The shapes of these depend on values; they wait for their arguments and run NumPy:", ""]
    lines += [f"- `np.{name}`: {what}" for name, what in sorted(WAITING.items())]
    return "\n".join(lines) + "\n"
