"""How arrays look."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from slipstream import np, npx


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: np.ones((1, 2)) * np.ones((1, 2)) + 2, "array([[3., 3.]])"),
        (lambda: np.array(1.5), "array(1.5)"),
        (lambda: np.array([True, False]), "array([ True, False])"),
        (lambda: np.array([1, 2], dtype="int32"), "array([1, 2], dtype=int32)"),
        (lambda: np.array([1, 2], dtype="int64"), "array([1, 2], dtype=int64)"),
        (lambda: np.array([1, 2], dtype="float64"), "array([1., 2.], dtype=float64)"),
        (lambda: np.array([1j]), "array([0.+1.j])"),
        (lambda: np.array([1.5], dtype="bfloat16"), "array([1.5], dtype=bfloat16)"),
        (lambda: np.zeros(0), "array([], dtype=float32)"),
        (lambda: np.zeros((0, 3)), "array([], shape=(0, 3), dtype=float32)"),
        (lambda: np.ones(1, device=npx.cpu(1)), "array([1.], device=cpu(1))"),
        (lambda: np.array([[1, 2], [3, 4]]), "array([[1., 2.],\n       [3., 4.]])"),
    ],
)
def test_repr(make: Any, text: str) -> None:
    assert repr(make()) == text


def test_numpys_defaults_are_not_shown_when_they_are_ours() -> None:
    npx.set_np(dtype=True)
    assert repr(np.array([1, 2])) == "array([1, 2])"
    assert repr(np.array([1.0])) == "array([1.])"
    assert repr(np.array([1.0], dtype="float32")) == "array([1.], dtype=float32)"


def test_str_is_numpys(rng: numpy.random.Generator) -> None:
    for shape in ((), (3,), (2, 3), (2, 2, 2), (1200,), (0,)):
        values = rng.normal(size=shape).astype("float32")
        assert str(np.array(values)) == str(values)


def test_long_arrays_break_like_numpys() -> None:
    x = numpy.arange(40)
    assert repr(np.array(x)) == repr(x.astype("int32")).replace("dtype=int32", "dtype=int64")


def test_format() -> None:
    x = np.array(3.14159)
    assert f"{x:.2f}" == "3.14"
    assert f"{x}" == f"{numpy.array(3.14159, 'float32')}"
    assert f"{np.ones(2)}" == "[1. 1.]"
    with pytest.raises(TypeError, match="format"):
        f"{np.ones(2):.2f}"


def test_options() -> None:
    with np.printoptions(precision=2):
        assert str(np.array([0.123456])) == "[0.12]"
    assert np.array_str(np.array([0.123456]), precision=2) == "[0.12]"
    assert np.array2string(np.arange(2), separator=",") == "[0.,1.]"
    assert np.array_repr(np.ones(2)) == "array([1., 1.])"
