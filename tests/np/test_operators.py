"""Operators: reflected, in place, chained, with NumPy's and Python's values on either side."""

from __future__ import annotations

import operator
from typing import Any

import numpy
import pytest
from compare import ALL, Draw, Pair, agree, same

from slipstream import np, npx

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne"]
BITS = ["and_", "or_", "xor", "lshift", "rshift"]
UNARY = ["neg", "pos", "abs", "invert"]


def positive(draw: Draw, dtype: str, shape: Any = (2, 3)) -> Pair:
    return draw.array(shape, dtype, 1, 4)


@pytest.mark.parametrize("name", ARITHMETIC + BITS)
def test_binary(name: str, rng: numpy.random.Generator) -> None:
    draw, function = Draw(rng), getattr(operator, name)
    for _ in range(40):
        x, y = positive(draw, draw.one(*ALL)), positive(draw, draw.one(*ALL), draw.one((2, 3), (3,), ()))
        agree(name, [x, y], ours=function, theirs=function)
        for scalar in (3, 1.5, True):
            agree(name, [x, scalar], ours=function, theirs=function)
            agree(name, [scalar, x], ours=function, theirs=function)


@pytest.mark.parametrize("name", ARITHMETIC[:7] + BITS)
def test_in_place(name: str, rng: numpy.random.Generator) -> None:
    draw, function = Draw(rng), getattr(operator, "i" + name.rstrip("_"))

    def kept(x: Any, y: Any) -> Any:
        result = function(x, y)
        assert result is x
        return x

    for _ in range(30):
        x, y = positive(draw, draw.one(*ALL)), positive(draw, draw.one(*ALL), draw.one((2, 3), (3,), ()))
        x = Pair(x.numpy.copy(), x.ours)
        agree(name, [x, y], ours=kept, theirs=kept)


def test_in_place_cannot_grow() -> None:
    x = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"\(4, 2, 3\)"):
        x += np.ones((4, 2, 3))
    with pytest.raises(TypeError, match="int32"):
        y = np.ones(2, dtype="int32")
        y += 1.5


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, rng: numpy.random.Generator) -> None:
    draw, function = Draw(rng), getattr(operator, name)
    for dtype in ALL:
        agree(name, [positive(draw, dtype)], ours=function, theirs=function)


def test_matmul_and_divmod(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    x, y = draw.array((3, 4), "float64"), draw.array((4, 2), "float64")
    agree("matmul", [x, y], ours=operator.matmul, theirs=operator.matmul)
    agree("divmod", [x, 0.7], ours=divmod, theirs=divmod)
    agree("divmod", [0.7, x], ours=divmod, theirs=divmod)
    square = draw.array((4, 4), "float64")
    z = x.ours.copy()
    z @= square.ours
    same(z, x.numpy @ square.numpy)
    with pytest.raises(ValueError, match="matmul"):
        x.ours @ 2


@pytest.mark.parametrize("other", [numpy.ones(3), numpy.float64(2), numpy.int16(2), numpy.array(2.0), [1, 2, 3]])
def test_numpys_values_are_ours_then(other: Any) -> None:
    x = np.array([1, 2, 3])
    for function in (operator.add, operator.sub, operator.mul, operator.truediv, operator.lt):
        for left, right in ((x, other), (other, x)):
            result = function(left, right)
            assert isinstance(result, np.ndarray), (left, right)
            theirs = [a.asnumpy() if isinstance(a, np.ndarray) else a for a in (left, right)]
            if isinstance(other, list):
                theirs = [numpy.asarray(a, "float32") for a in theirs]
            same(result, function(*theirs))


def test_chains_and_truth() -> None:
    x = np.array(2.0)
    assert 1 < x < 3
    assert not (2 < x < 3)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(np.ones(2))
    assert (x == None).item() is False  # noqa: E711
    assert (np.ones(2) == "a").tolist() == [False, False]
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        hash(x)


def test_conversions() -> None:
    x = np.array(2.5)
    assert (float(x), int(x), complex(x), bool(x), x.item()) == (2.5, 2, 2.5 + 0j, True, 2.5)
    assert operator.index(np.array(3, dtype="int64")) == 3
    assert round(np.array(2.567), 1).item() == pytest.approx(2.6)
    with pytest.raises(TypeError):
        operator.index(x)
    with pytest.raises(TypeError):
        float(np.ones(2))
    assert np.array([[1, 2]]).tolist() == [[1.0, 2.0]]
    assert np.array([[1, 2]]).item(0, 1) == 2.0
    with pytest.raises(ValueError, match="item"):
        np.ones(2).item()


def test_devices_do_not_mix() -> None:
    x, y = np.ones(2), np.ones(2, device=npx.cpu(1))
    for function in (operator.add, np.dot, np.maximum):
        with pytest.raises(ValueError, match=r"cpu\(0\).*cpu\(1\)|cpu\(1\).*cpu\(0\)"):
            function(x, y)


def test_numpys_functions_on_our_arrays() -> None:
    x = np.array([1.0, 4.0])
    assert isinstance(numpy.sqrt(x), np.ndarray)
    same(numpy.sqrt(x), numpy.array([1, 2], "float32"))
    assert isinstance(numpy.mean(x), np.ndarray)
    assert isinstance(numpy.concatenate([x, x]), np.ndarray)
    assert isinstance(numpy.add(numpy.ones(2), x), np.ndarray)
    assert numpy.unique(x).tolist() == [1.0, 4.0]
    numpy.testing.assert_allclose(x, [1, 4])
