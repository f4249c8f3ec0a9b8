"""Functions that take and make indices, against NumPy; what they write, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import ALL, Draw, Pair, agree, same

from slipstream import engine, np


def ready(function: Any) -> Any:
    """A function of ours that raises what its result raises."""

    def call(*args: Any, **options: Any) -> Any:
        made = function(*args, **options)
        for part in made if isinstance(made, tuple) else [made]:
            part.wait_to_read()
        return made

    return call


def numbers(draw: Draw, n: int, shape: tuple[int, ...], dtype: str = "int64") -> Pair:
    found = draw.rng.integers(-n, n, shape).astype(dtype)
    return Pair(found, np.array(found))


def test_take(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(80):
        x = draw.array(draw.shape(int(rng.integers(1, 4)), 1, 4), ALL)
        axis = draw.one(None, draw.axis(x.numpy.ndim))
        n = x.numpy.size if axis is None else x.numpy.shape[axis]
        i = numbers(draw, n + 2 * int(rng.integers(0, 2)), draw.shape(least=0, most=3))
        options = {"axis": axis, "mode": draw.one("raise", "wrap", "clip")}
        agree("take", [x, i], options, ours=ready(np.take))
    x = np.arange(4)
    out = np.zeros(2)
    assert np.take(x, [1, 3], out=out) is out
    assert out.tolist() == x.take([1, 3]).tolist() == [1, 3]
    with pytest.raises(ValueError, match="'up'"):
        np.take(x, 0, mode="up")


def test_along_an_axis(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(60):
        x = draw.array(draw.shape(int(rng.integers(1, 4)), 1, 4), ALL)
        axis = draw.axis(x.numpy.ndim)
        shape = list(x.numpy.shape)
        shape[axis] = int(rng.integers(0, 5))
        i = numbers(draw, x.numpy.shape[axis], tuple(shape), draw.one("int64", "int32", "int8"))
        agree("take_along_axis", [x, i], {"axis": axis}, ours=ready(np.take_along_axis))
        value = draw.array(shape, "float32").numpy.astype(x.numpy.dtype.name.replace("uint", "int"))
        theirs = numpy.array(x.numpy)
        numpy.put_along_axis(theirs, i.numpy, value, axis)
        np.put_along_axis(x.ours, i.ours, np.array(value), axis)
        same(x.ours, theirs)
    x = np.zeros((2, 2)).T
    np.put_along_axis(x, [0, 3, 0], [1, 2, 5], None, mode="add")
    assert x.tolist() == [[6, 0], [0, 2]]


def test_put_and_place(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(40):
        x = draw.array(draw.shape(2, 1, 4), ["int32", "float32", "complex64"])
        i = numbers(draw, x.numpy.size, draw.shape(int(rng.integers(1, 3)), 0, 3))
        values = draw.values((int(rng.integers(1, 5)),), "int8")
        mask = rng.random(x.numpy.shape) < 0.5
        for name, args in (("put", (i, values)), ("place", (mask, values)), ("putmask", (mask, values))):
            theirs, ours = numpy.array(x.numpy), x.ours.copy().T.copy().T
            getattr(numpy, name)(theirs, *(a.numpy if isinstance(a, Pair) else a for a in args))
            getattr(np, name)(ours, *(a.ours if isinstance(a, Pair) else a for a in args))
            same(ours, theirs, where=name)
    x = np.zeros(3)
    x.put([0, 7], [1, 2], mode="clip")
    assert x.tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="2 elements, the array 3"):
        np.place(x, [True, False], [1])
    with pytest.raises(TypeError, match="list"):
        np.put([1, 2], 0, 1)


def test_choose_compress_extract(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(30):
        shape = draw.shape(2, 1, 4)
        parts = [draw.array(shape[draw.one(0, 1) :], ["int32", "float32", "float64"]) for _ in range(3)]
        at = rng.integers(0, 3, shape)
        agree("choose", [Pair(at, np.array(at)), parts], ours=ready(np.choose))
        x = draw.array(shape, ALL)
        axis = draw.one(None, 0, 1)
        n = x.numpy.size if axis is None else shape[axis]
        condition = rng.random(int(rng.integers(0, n + 1))) < 0.5
        agree("compress", [condition, x], {"axis": axis})
        agree("extract", [rng.random(shape) < 0.5, x])
        for name in ("nonzero", "flatnonzero", "argwhere"):
            agree(name, [x])
    with pytest.raises(IndexError, match="5"):
        np.choose(np.array([0, 5]), [1, 2]).asnumpy()
    same(np.choose(np.array([0, 5, -1]), [1, 2], mode="wrap"), numpy.array([1, 2, 2], "float32"))


MAKERS: list[tuple[str, tuple[Any, ...]]] = [
    *[("diag_indices", (3,)), ("diag_indices", (2, 3)), ("tril_indices", (3,)), ("tril_indices", (3, 1, 4))],
    *[("triu_indices", (3,)), ("triu_indices", (3, -1, 2)), ("indices", ((2, 3),)), ("indices", ((2, 0),))],
    *[("indices", ((),)), ("indices", ((2, 3), "int32")), ("indices", ((2, 3), "int64", True))],
    *[("ix_", ([0, 2], [1])), ("ix_", ([True, False], [1, 2, 3])), ("ix_", ([[1]],)), ("ix_", ([], [1]))],
    *[("unravel_index", ([5, 0, 3], (2, 3))), ("unravel_index", (4, (2, 3), "F")), ("unravel_index", ([[1]], (7,)))],
    *[("ravel_multi_index", (([1, 0], [2, 1]), (2, 3))), ("ravel_multi_index", (([5, 0], [2, -1]), (2, 3), "wrap"))],
    *[("ravel_multi_index", (([5, 0], [2, -1]), (2, 3), ("clip", "wrap"), "F"))],
    *[("ravel_multi_index", (([1],), (2, 3)))],
]


@pytest.mark.parametrize(("name", "args"), MAKERS, ids=str)
def test_makers(name: str, args: Any) -> None:
    agree(name, args)


def test_makers_from_arrays() -> None:
    x = numpy.ones((3, 4))
    for name in ("tril_indices_from", "triu_indices_from"):
        agree(name, [Pair(x, np.array(x))], {"k": 1})
    agree("diag_indices_from", [Pair(x[:, :3], np.array(x[:, :3]))])
    agree("diag_indices_from", [Pair(x, np.array(x))])
    same(np.mask_indices(3, np.tril, -1), numpy.mask_indices(3, numpy.tril, -1))
    assert list(np.ndindex(2, 1)) == list(numpy.ndindex(2, 1))
    assert list(np.ndenumerate(x)) == list(numpy.ndenumerate(x))


@pytest.mark.parametrize("index", [[6], [-1]])
def test_flat_numbers_out_of_range(index: list[int]) -> None:
    for made in (np.unravel_index(index, (2, 3))[0], np.ravel_multi_index((index, [0]), (2, 3))):
        with pytest.raises(IndexError, match="out of bounds"):
            made.asnumpy()


def test_insert_and_delete(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(60):
        x = draw.array(draw.shape(int(rng.integers(1, 4)), 1, 4), ["int32", "float32"])
        axis = draw.one(None, draw.axis(x.numpy.ndim))
        n = x.numpy.size if axis is None else x.numpy.shape[axis]
        some = rng.integers(-n, n, int(rng.integers(0, 4))).tolist()
        for where in (int(rng.integers(-n, n)), some, slice(0, n, 2), (rng.random(n) < 0.5)):
            agree("delete", [x, where], {"axis": axis})
            agree("insert", [x, where, 7], {"axis": axis})
    grid = numpy.arange(6).reshape(2, 3)
    for where, values, axis in ((1, [8, 9], 1), (1, [7, 8, 9], 0), ([0, 2], [[1, 2], [3, 4]], 1), ([1], [[5], [6]], 1)):
        agree("insert", [Pair(grid, np.array(grid)), where, values], {"axis": axis})
    for call in (lambda: np.delete(np.ones(3), 3), lambda: np.insert(np.ones(3), 5, 0)):
        with pytest.raises(IndexError, match="out of bounds for an axis of size 3"):
            call()


def test_flat(rng: numpy.random.Generator) -> None:
    values = rng.random((3, 4)).astype("float32")
    for ours, theirs in ((np.array(values), values.copy()), (np.array(values).T, values.copy().T)):
        assert len(ours.flat) == 12
        for key in (3, slice(1, 9, 2), [0, 11, 5], slice(None)):
            same(ours.flat[key], theirs.flat[key])
            value = 1 if key == 3 else [1, 2]
            ours.flat[key] = value
            theirs.flat[key] = value
            same(ours, theirs)
        assert [float(v) for v in ours.flat] == [float(v) for v in theirs.flat]
        ours.flat = 5
        assert ours.tolist() == [[5.0] * ours.shape[1]] * ours.shape[0]


def test_what_does_not_wait() -> None:
    x, mask = np.arange(6), np.arange(6) > 2
    with engine.sync_guard("raise"):
        np.place(x, mask, [1, 2])
        np.putmask(x, mask, [3])
        np.put(x, np.array([0]), 9)
        np.unravel_index(np.array([1, 2]), (2, 3))
        np.choose(np.array([0, 1]), [np.ones(2), np.zeros(2)])
        np.insert(x, 1, 2)
        np.delete(x, [0])
