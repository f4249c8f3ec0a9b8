"""Shortcuts: plain calls go straight to the core, all others to the Python function, and nobody can tell."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import np, npx

A, B = numpy.arange(6.0, dtype="float32").reshape(2, 3), numpy.full((2, 3), 2, dtype="float32")

# Positional arguments of calls that have a shortcut, and of some that have none.
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "zeros": [(3,), ((2, 3),), ((),), ([2, 3],), ((2,), "int32"), ((0, 2),)],
    "ones": [(3,), ((2, 3),), ((numpy.int64(2), 3),), ((2,), "int8", "F")],
    "full": [(3, 1.5), ((2, 3), 2), ((2,), numpy.float32(4)), ((2,), [1.0, 2.0]), ((2,), 7, "int16")],
    "dot": [(A, A.T), (A, B[0]), (A, 2.0), ([1.0, 2.0], A)],
    "matmul": [(A, A.T), (A[0], B.T), (A, [1.0, 2.0, 3.0])],
    "concatenate": [([A, B],), ((A, B), 1), ([A, B], None), ([A, [[1.0, 2.0, 3.0]]],), ([A, B], -1)],
    "stack": [([A, B],), ((A, B), 2), ([A, [[1, 2, 3], [4, 5, 6]]],)],
    "expand_dims": [(A, 0), (A, -1), (A, (0, 2)), ([1.0], 0)],
    "squeeze": [(A[:1],), (A[:1], 0), ([[1.0]],)],
    "reshape": [(A, (3, 2)), (A, -1), (A, [6]), (A, (3, -1), "F"), ([1.0, 2.0], (2, 1))],
    "where": [(A > 2, A, B), (A > 2, 1.0, B), (A > 2,)],
}


def ours(argument: Any) -> Any:
    """NumPy's arrays as ours, in lists too; scalars stay."""
    if isinstance(argument, (list, tuple)):
        return type(argument)(ours(part) for part in argument)
    return np.array(argument) if isinstance(argument, numpy.ndarray) else argument


def theirs(name: str, arguments: tuple[Any, ...]) -> Any:
    made = getattr(numpy, name)(*arguments)
    own_type = name in ("zeros", "ones", "full") and len(arguments) < (3 if name == "full" else 2)
    return made.astype("float32") if own_type or not isinstance(made, (tuple, numpy.ndarray)) else made


@pytest.mark.parametrize(("name", "arguments"), [(name, call) for name, calls in CALLS.items() for call in calls])
def test_every_call_is_numpys(name: str, arguments: tuple[Any, ...]) -> None:
    made, expected = getattr(np, name)(*ours(arguments)), theirs(name, arguments)
    if isinstance(expected, tuple):
        for part, known in zip(made, expected, strict=True):
            assert numpy.array_equal(part.asnumpy(), known)
    else:
        same(made, numpy.asarray(expected, dtype="float32") if made.dtype == "float32" else expected)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: np.zeros((2, -1)), "negative"),
        (lambda: np.zeros(2**70), "too large|fit"),
        (lambda: np.dot(np.ones((2, 3)), np.ones((2, 3))), "do not align"),
        (lambda: np.concatenate([np.ones((2, 3)), np.ones((2, 2))]), "concatenate"),
        (lambda: np.stack([np.ones(2), np.ones(3)]), "different shapes"),
        (lambda: np.reshape(np.ones(4), (3,)), "does not fit"),
        (lambda: np.expand_dims(np.ones(4), 3), "out of bounds"),
        (lambda: np.where(np.ones(2), None, 1), "both"),
        (lambda: np.zeros(), "shape"),
        (lambda: np.matmul(np.ones(2)), "x2"),
    ],
)
def test_errors_are_those_of_the_function(call: Any, error: str) -> None:
    with pytest.raises(Exception, match=error):
        call()


@pytest.mark.parametrize("name", CALLS)
def test_a_shortcut_is_the_function_to_those_who_look(name: str) -> None:
    function = getattr(np, name)
    assert function.__name__ == function.__qualname__ == name
    assert ">>>" in function.__doc__
    assert inspect.signature(function) == inspect.signature(inspect.unwrap(function))
    assert name in repr(function)
    assert pickle.loads(pickle.dumps(function)) is function


def test_shortcuts_use_the_current_device_and_the_chosen_defaults() -> None:
    with npx.Device("cpu", 1):
        assert np.zeros(2).device == npx.Device("cpu", 1)
    npx.set_np(dtype=True)
    assert np.ones(2).dtype == "float64"
    assert np.full(2, 3).dtype == "int64"
