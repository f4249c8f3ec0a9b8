"""Gradients of indexing against finite differences: reads, writes, gather and scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from gradcheck import check, leaf

from slipstream import autograd, np, npx

I = np.array([2, 0, 2, -1], dtype="int64")  # noqa: E741
J = np.array([[1], [0]], dtype="int32")
MASK = np.array([[True, False, True, True], [False, False, True, False], [True, True, False, False]])

READS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: x[I] ** 2,
    "a list": lambda x: x[[0, 0, 1]] * x[[1, 0, 2]],
    "columns": lambda x: x[:, I] ** 2,
    "pairs": lambda x: x[I, J] ** 3,
    "beside a slice": lambda x: x[1:, I % 2, None] ** 2,
    "beside a number": lambda x: x[1, I] ** 2,
    "a mask": lambda x: x[MASK] ** 2,
    "a mask of rows": lambda x: x[np.array([True, False, True])] ** 2,
    "a mask and numbers": lambda x: x[np.array([True, False, True]), [0, 3]] ** 2,
    "a view's": lambda x: x.T[::2][[0, 1, 0]] ** 2,
    "take": lambda x: np.take(x, I, axis=1) ** 2,
    "take of all": lambda x: np.take(x, [[0, 11], [5, 5]]) ** 2,
    "take wraps": lambda x: np.take(x, [7, -9], axis=0, mode="wrap") ** 2,
    "take_along_axis": lambda x: np.take_along_axis(x, np.array([[0, 0], [1, 3], [2, 2]], dtype="int64"), 1) ** 2,
    "pick": lambda x: npx.pick(x, np.array([1, 9, 0])) ** 2,
    "embedding": lambda x: npx.embedding(np.array([[1, 1], [2, 0]]), x) ** 2,
    "gather_nd": lambda x: npx.gather_nd(x, np.array([[0, 2, 0], [1, 3, 1]])) ** 2,
    "sequence_last": lambda x: npx.sequence_last(x, np.array([1, 3, 2, 1]), True) ** 2,
    "sequence_reverse": lambda x: npx.sequence_reverse(x, np.array([1, 3, 2, 1]), True) * x,
    "sequence_mask": lambda x: npx.sequence_mask(x, np.array([1, 3, 2, 1]), True, value=2) * x,
    "choose": lambda x: np.choose(np.array([0, 1, 2, 1]), list(x)) ** 2,
}


@pytest.mark.parametrize("name", READS)
def test_reads(name: str, rng: numpy.random.Generator) -> None:
    check(READS[name], [rng.normal(size=(3, 4))], rng)


def assigned(key: Any) -> Callable[[Any], Any]:
    """A function that writes its argument to a part of a new array."""

    def f(v: Any) -> Any:
        x = np.ones((3, 4), dtype="float64")
        x[key] = v * 2
        return x * x

    return f


def put_along(v: Any) -> Any:
    x = np.zeros((3, 4), dtype="float64")
    np.put_along_axis(x, np.array([[0, 1], [3, 3], [2, 0]], dtype="int64"), v, 1)
    return x * x


WRITES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "rows": (assigned([0, 2]), (2, 4)),
    "equal rows": (assigned([1, 1, 0]), (3, 4)),
    "a row for all": (assigned([1, 2]), (4,)),
    "columns": (assigned((slice(None), [3, 0])), (3, 2)),
    "pairs": (assigned((I, J)), (2, 4)),
    "beside a slice": (assigned((slice(1, None), [3, 0])), (2, 2)),
    "a mask": (assigned(MASK), ()),
    "a mask of rows": (assigned(np.array([True, False, True])), (4,)),
    "a mask of columns": (assigned((slice(None), np.array([True, False, True, False]))), (3, 1)),
    "values of a mask": (assigned(MASK), (6,)),
    "put_along_axis": (put_along, (3, 2)),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str, rng: numpy.random.Generator) -> None:
    f, shape = WRITES[name]
    check(f, [rng.normal(size=shape)], rng)


@pytest.mark.parametrize("function", [npx.index_update, npx.index_add])
@pytest.mark.parametrize("shape", [(3, 4), (4,), (), (3, 1)])
def test_scatter(function: Any, shape: tuple[int, ...], rng: numpy.random.Generator) -> None:
    numbers = np.array([[0, 1, 0]], dtype="int64")
    check(lambda a, v: function(a, numbers, v) ** 2, [rng.normal(size=(2, 4)), rng.normal(size=shape)], rng)


def test_scatter_nd(rng: numpy.random.Generator) -> None:
    check(lambda v: npx.scatter_nd(v, np.array([[0, 1], [1, 1]]), (2, 3)) ** 2, [rng.normal(size=2)], rng)


def test_equal_rows_of_a_table_add_up() -> None:
    table = leaf(numpy.zeros((3, 2)))
    with autograd.record():
        npx.embedding(np.array([2, 2, 0]), table).sum().backward()
    assert table.grad.tolist() == [[1, 1], [0, 0], [2, 2]]


def test_indices_written_since_are_named() -> None:
    x, i = leaf(numpy.ones(3)), np.array([0, 1], dtype="int64")
    with autograd.record():
        y = x[i].sum()
    i[0] = 2
    with pytest.raises(RuntimeError, match="written in place"):
        y.backward()


def test_writes_to_an_array_with_a_history_raise() -> None:
    x = leaf(numpy.ones(3))
    with autograd.record():
        for write in (
            lambda y: y.__setitem__([0, 1], 2),
            lambda y: y.__setitem__(np.array([True, False, True]), 2),
            lambda y: np.put(y, [0], [1]),
            lambda y: np.put_along_axis(y, [0], 1, 0),
        ):
            with pytest.raises(RuntimeError, match="while recording"):
                write(x * 2)
