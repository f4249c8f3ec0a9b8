"""Walks over elements, arrays joined by indexing, settings of errors, and methods that change an array in place."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import autograd, engine, np


def test_nditer_reads_as_numpys() -> None:
    x, y = numpy.arange(6.0).reshape(2, 3), numpy.array([10.0, 20.0, 30.0])
    ours = [np.array(x), np.array(y)]
    for order in "CF":
        assert [float(v) for v in np.nditer(ours[0], order=order)] == [float(v) for v in numpy.nditer(x, order=order)]
    theirs = [(float(a), float(b)) for a, b in numpy.nditer([x, y])]
    assert [(float(a), float(b)) for a, b in np.nditer(ours)] == theirs
    walk = np.nditer(ours[0], flags=["multi_index"])
    found = {}
    while not walk.finished:
        found[walk.multi_index] = float(walk[0])
        walk.iternext()
    assert found == {place: float(v) for place, v in numpy.ndenumerate(x)}
    assert np.nditer(ours[0]).itersize == 6 and len(np.nditer(ours)) == 2


def test_nditer_writes() -> None:
    x, y = np.arange(4).reshape(2, 2).T, np.zeros((2, 2))
    with np.nditer([x, y], op_flags=[["readonly"], ["writeonly"]]) as walk:
        for a, b in walk:
            b[...] = a * 10
    same(y, x.asnumpy() * 10)
    walk = np.nditer(y, op_flags=["readwrite"])
    for v in walk:
        v[...] = v + 1
    walk.close()
    same(y, x.asnumpy() * 10 + 1)
    with pytest.raises(ValueError, match="read-only"):
        next(np.nditer(y))[...] = 5


def test_broadcast() -> None:
    shapes = [(2, 1, 3), (4, 1), ()]
    ours, theirs = (module.broadcast(*(module.ones(s) for s in shapes)) for module in (np, numpy))
    for name in ("shape", "size", "nd", "ndim", "numiter", "index"):
        assert getattr(ours, name) == getattr(theirs, name), name
    x, y = np.array([[1.0], [2.0]]), np.array([3.0, 4.0])
    made = np.broadcast(x, y)
    assert [float(a + b) for a, b in made] == [4, 5, 5, 6] and made.index == 4
    made.reset()
    assert [float(v) for v in next(made)] == [1, 3]
    assert [float(v) for v in made.iters[0]] == [1, 1, 2, 2]
    with pytest.raises(ValueError, match=r"broadcast: shapes \(2,\) and \(3,\)"):
        np.broadcast(np.ones(2), np.ones(3))


def test_broadcast_waits_only_for_walks() -> None:
    with engine.sync_guard("raise"):
        assert np.broadcast(np.ones((2, 1)), np.ones(3)).shape == (2, 3)


KEYS: list[Any] = [
    lambda m, a: m.r_[a, 0, a],
    lambda m, a: m.r_[1.0:4.0, 0, 4],
    lambda m, a: m.r_[0.0:1.0:5j, a],
    lambda m, a: m.r_["0,2", a, a],
    lambda m, a: m.r_["-1", m.ones((2, 2)), m.zeros((2, 1))],
    lambda m, a: m.r_["0,2,0", a, a],
    lambda m, a: m.r_["1,2,0", a, a],
    lambda m, a: m.r_["0,3,1", a, a],
    lambda m, a: m.r_["0,3,-2", a, a],
    lambda m, a: m.r_["1,3,0", a, m.ones((3, 2, 1))],
    lambda m, a: m.r_[m.ones((1, 3)), m.zeros((2, 3))],
    lambda m, a: m.c_[a, a],
    lambda m, a: m.c_[m.ones((3, 2)), a],
    lambda m, a: m.c_[1.0:4.0, a],
    lambda m, a: m.c_[5.0],
]


@pytest.mark.parametrize("number", range(len(KEYS)))
def test_joined_by_indexing(number: int) -> None:
    made = KEYS[number](np, np.array([7.0, 8.0, 9.0]))
    same(made.astype("float64"), KEYS[number](numpy, numpy.array([7.0, 8.0, 9.0])), 1e-6)


def test_joined_by_indexing_errors() -> None:
    with pytest.raises(ValueError, match=r"r_: 'r' is not 'axis'.*no matrices"):
        np.r_["r", np.ones(2)]
    with pytest.raises(ValueError, match="'0' must come first"):
        np.r_[np.ones(2), "0"]


def test_floating_point_errors_are_silent() -> None:
    with np.errstate(divide="ignore", invalid="warn"):
        assert (np.array([1.0]) / 0).item() == numpy.inf
    assert set(np.geterr().values()) == {"ignore"} == set(np.seterr(all="warn").values())
    with pytest.raises(ValueError, match="divide='raise': values are not known at the call"):
        np.errstate(divide="raise")
    with pytest.raises(TypeError, match="'divided' is none of"):
        np.errstate(divided="ignore")

    @np.errstate(all="ignore")
    def quotient() -> float:
        return float((np.array([0.0]) / 0).item())

    assert numpy.isnan(quotient())


@pytest.mark.parametrize("shape", [(2, 3), (3,), (0,), (), (4, 4), 5])
def test_resize_in_place(shape: Any) -> None:
    theirs = numpy.arange(6.0).reshape(2, 3).copy()
    ours = np.array(theirs)
    row = ours[1]
    theirs.resize(shape, refcheck=False)
    ours.resize(shape)
    same(ours, theirs)
    ours += 1
    assert row.tolist() == [3, 4, 5]  # a view keeps the memory it had


def test_resize_errors() -> None:
    x = np.ones(2)
    with pytest.raises(ValueError, match=r"resize: the shape \(-1,\) holds a negative length"):
        x.resize(-1)
    x.attach_grad()
    with pytest.raises(RuntimeError, match=r"resize: the array has a gradient.*use np\.resize"):
        x.resize(3)
    with autograd.record():
        y = x * 2
    with pytest.raises(RuntimeError, match="resize"):
        y.resize(3)


def test_memory_for_c() -> None:
    x = np.array([1.0, 2.0, 3.0])[::-1]
    pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    assert pointer[0] == 3.0
    assert tuple(x.ctypes.shape) == (3,) and tuple(x.ctypes.strides) == (-4,)
    assert np.arange(3).data.tolist() == [0, 1, 2] and np.arange(3).data.readonly


def test_flags_that_cannot_be_set() -> None:
    x = np.ones(2)
    x.setflags(write=True)
    assert x.writable and x.stype == "default" and x.flags.writeable
    with pytest.raises(ValueError, match="write=False cannot be set"):
        x.setflags(write=False)


@pytest.mark.parametrize("function", ["nanargmax", "nanargmin"])
def test_lines_of_nan_have_no_place(function: str) -> None:
    nan = numpy.nan
    x = np.array([[1.0, nan], [nan, nan]])
    made = getattr(np, function)(x, axis=1)
    with pytest.raises(ValueError, match=f"{function}: all elements of a line are NaN"):
        made.tolist()
    assert getattr(np, function)(x[:, :1], axis=0, keepdims=True).tolist() == [[0]]
    assert getattr(np, function)(x).item() == 0
    with pytest.raises(ValueError):
        getattr(np, function)(np.array([nan])).item()


def test_places_out_of_range_fail_late() -> None:
    made = np.unravel_index(np.array([5]), (2, 2))
    with pytest.raises((IndexError, ValueError), match="5"):
        made[0].tolist()
