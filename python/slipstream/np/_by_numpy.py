"""The functions that NumPy computes for us, in one register: docs/numpy.md lists them from it.

`waits`: the shape of the result depends on values, or Python code is called; the arguments are waited for.
`behind`: a host call, off the Python thread; nothing waits.

The tape cannot follow either. An argument that changes the result by steps alone is given detached; any other one that
has a history is refused while recording, where the result is of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy

from .. import _core
from .._core import ndarray

F = TypeVar("F", bound=Callable[..., Any])

REGISTER: dict[str, tuple[str, str]] = {}  # public name of the function: "waits" or "behind", and when (always: "")

_HOMES = {"np._discrete": "np.random", "np.random": "np.random"}  # where modules' functions are public: np or npx


def by_numpy(how: str, when: str = "") -> Callable[[F], F]:
    """Notes a function as one that NumPy computes, how, and under which conditions."""

    def note(function: F) -> F:
        home = function.__module__.removeprefix("slipstream.")
        REGISTER[f"{_HOMES.get(home, home.split('.')[0])}.{function.__name__}"] = (how, when)
        return function

    return note


def table() -> str:
    """The register as it stands in docs/numpy.md."""
    lines = ["| function | how |", "| --- | --- |"]
    for name, (how, when) in sorted(REGISTER.items()):
        lines.append(f"| `{name}`{f' ({when})' if when else ''} | {how} |")
    return "\n".join(lines) + "\n"


def plain(value: Any) -> Any:
    """The value with NumPy's arrays in place of ours, which are waited for."""
    if isinstance(value, ndarray):
        return value.asnumpy()
    if isinstance(value, (tuple, list)):
        return type(value)(plain(item) for item in value)
    return value


def ours(value: Any, device: Any = None) -> Any:
    """NumPy's result as ours: arrays and NumPy's numbers become arrays, tuples and lists keep their form."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return _core.array(numpy.asarray(value), None, device, None)
    if isinstance(value, (tuple, list)):
        return type(value)(ours(item, device) for item in value)
    return value


def _arrays(value: Any) -> Iterator[Any]:
    """The arrays in nested tuples and lists, ours and NumPy's."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, (ndarray, numpy.ndarray, numpy.generic)):
        yield value


def is_inexact(dtype: numpy.dtype[Any]) -> bool:
    """Whether numbers of the type can have gradients: floats, bfloat16 and complex numbers."""
    return dtype.kind in "fcV"


def refuse_history(function: str, *given: Any) -> None:
    """Raises if the tape follows one of the arguments of a function that it cannot follow."""
    if _core.is_recording() and any(isinstance(x, ndarray) and _core.follows(x) for x in _arrays(given)):
        raise RuntimeError(
            f"{function} has no gradient here, for NumPy computes it, but an argument depends on arrays with "
            "gradients: detach() the argument, or call the function under autograd.pause()"
        )


def called(name: str, function: Callable[..., Any], args: Any, options: dict[str, Any]) -> Any:
    """What a function of NumPy's, for ours of that name, gives for the values of the arguments."""
    made = function(*map(plain, args), **{name: plain(value) for name, value in options.items()})
    if any(is_inexact(part.dtype) for part in _arrays(made)):
        refuse_history(name, args, list(options.values()))
    return made


def waiting(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """NumPy's function on the values of the arguments, its result as ours, on the device of the first array."""
    device = next((a.device for a in args if isinstance(a, ndarray)), None)
    return ours(called(f"np.{function.__name__}", function, args, options), device)


def behind(
    function: str, run: Callable[..., Any], inputs: Sequence[ndarray], shape: Any, dtype: Any, device: Any = None
) -> Any:
    """`run` on the values of the inputs, on a worker: `_core.host_call` for a public function of that name."""
    if is_inexact(numpy.dtype(dtype)):
        refuse_history(function, list(inputs))
    return _core.host_call(run, inputs, shape, dtype, device)
