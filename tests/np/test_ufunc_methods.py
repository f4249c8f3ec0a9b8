"""NumPy's methods of its own functions, as methods of ours and of NumPy's on our arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import engine, np

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {  # of a namespace, an array of floats, and one of integers
    "add.reduce": lambda xp, x, i: xp.add.reduce(x),
    "add.reduce, all": lambda xp, x, i: xp.add.reduce(x, axis=None, keepdims=True),
    "add.reduce of a type": lambda xp, x, i: xp.add.reduce(i, 1, "float64"),
    "add.reduce from a start": lambda xp, x, i: xp.add.reduce(x, initial=5, where=x > 0),
    "maximum.reduce": lambda xp, x, i: xp.maximum.reduce(x, axis=(0, 1)),
    "logical_and.reduce": lambda xp, x, i: xp.logical_and.reduce([x > -1, x < 1]),
    "logical_xor.reduce": lambda xp, x, i: xp.logical_xor.reduce(x > 0, axis=1),
    "bitwise_or.reduce": lambda xp, x, i: xp.bitwise_or.reduce(i, axis=-1, keepdims=True),
    "subtract.reduce": lambda xp, x, i: xp.subtract.reduce(x, axis=1),
    "hypot.reduce": lambda xp, x, i: xp.hypot.reduce(x),
    "add.accumulate": lambda xp, x, i: xp.add.accumulate(x, 1),
    "maximum.accumulate": lambda xp, x, i: xp.maximum.accumulate(x, axis=1),
    "minimum.accumulate": lambda xp, x, i: xp.minimum.accumulate(i),
    "subtract.outer": lambda xp, x, i: xp.subtract.outer(x, i),
    "arctan2.outer": lambda xp, x, i: xp.arctan2.outer(x[0], x[1]),
    "left_shift.outer": lambda xp, x, i: xp.left_shift.outer(i[0], i[1]),
    "add.reduceat": lambda xp, x, i: xp.add.reduceat(x, [0, 2, 1], axis=1),
    "maximum.reduceat": lambda xp, x, i: xp.maximum.reduceat(i, [0, 2]),
}


@pytest.fixture
def arrays(rng: numpy.random.Generator) -> tuple[Any, Any]:
    return rng.normal(size=(3, 4)), rng.integers(0, 9, (3, 4))


@pytest.mark.parametrize("name", CALLS)
def test_against_numpy(name: str, arrays: tuple[Any, Any]) -> None:
    expected = CALLS[name](numpy, *arrays)
    mine = [np.array(a) for a in arrays]
    with engine.sync_guard("raise"):  # nothing waits
        made = CALLS[name](np, *mine)
    same(made, expected, 1e-12)
    same(CALLS[name](numpy, *mine), expected, 1e-12)


def test_at_counts_every_time_an_element_is_named() -> None:
    x, theirs = np.zeros((2, 3)), numpy.zeros((2, 3), "float32")
    for xp, a in ((np, x), (numpy, theirs)):
        xp.add.at(a, ([0, 0, 1], [1, 1, 2]), [1, 2, 3])
        xp.negative.at(a, (1, 2))
    same(x, theirs)
    with pytest.raises(TypeError, match=r"add\.at: the first argument must be an array, not list"):
        np.add.at([1], 0, 1)


def test_results_are_written_where_asked() -> None:
    total, x = np.zeros(2), np.array([[1, 2], [3, 4]])
    assert np.fmax.reduce(x, out=total) is total and total.tolist() == [3, 4]
    assert np.add.accumulate(x, out=(x,)) is x and x.tolist() == [[1, 2], [4, 6]]


def test_only_where_numpy_has_them() -> None:
    assert not hasattr(np.sin, "reduce") and not hasattr(np.sum, "at") and hasattr(np.sin, "at")
