"""What functions make of arguments: numbers and lists beside arrays, and clear errors for what makes no sense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from slipstream import engine, np, npx


@pytest.fixture
def numpy_types() -> Any:
    npx.set_np(dtype=True)
    yield
    npx.set_np()


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int32", "int64", "uint8"])
@pytest.mark.parametrize("values", [[0.1, 0.7], [[0.1], [1e-3]], [3, 5], [1 + 0.1j, 2]])
def test_lists_beside_arrays_lose_no_digit(dtype: str, values: Any) -> None:
    x = numpy.arange(2).astype(dtype)
    for function in ("add", "multiply", "maximum", "equal"):
        expected = getattr(numpy, function)(x, values)
        got = getattr(np, function)(np.array(x), values)
        if numpy.asarray(values).dtype.kind == "c" and dtype != "complex128":
            numpy.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-6)
            continue
        if numpy.asarray(values).dtype.kind == "f" and dtype == "uint8":  # float32 beside small integers
            numpy.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-6)
            continue
        assert got.dtype == expected.dtype
        numpy.testing.assert_array_equal(got.asnumpy(), expected)
        numpy.testing.assert_array_equal((np.array(x) + values).asnumpy(), x + values)
        numpy.testing.assert_array_equal((values + np.array(x)).asnumpy(), values + x)


def test_lists_beside_float32_stay_float32() -> None:
    assert (np.ones(2) + [0.1, 0.2]).dtype == np.float32
    assert (np.ones(2) + [1, 2]).dtype == np.float32


def test_joined_numbers_lose_no_digit() -> None:
    x = numpy.zeros(1)
    assert np.append(np.array(x), 0.1).tolist() == [0.0, 0.1]
    assert np.concatenate([np.array(x), [0.1]]).tolist() == [0.0, 0.1]
    assert np.stack([np.array(x), [0.1]]).tolist() == [[0.0], [0.1]]
    assert np.hstack([np.array(x), [0.1]]).tolist() == [0.0, 0.1]


def test_lists_of_integers_have_bits() -> None:
    assert np.gcd([4, 6], [6, 9]).tolist() == [2, 3]
    assert np.bitwise_and([6, 3], [3, 3]).dtype == np.int64
    assert np.bitwise_or([True], [False]).dtype == np.bool_


def test_dtype_of_numbers_alone() -> None:
    made = np.add(0.1, 0.2, dtype="float64")
    assert made.dtype == np.float64
    assert float(made) == 0.1 + 0.2
    assert np.add(1, 2, dtype="int8").dtype == np.int8


def test_where_with_numbers_alone(numpy_types: None) -> None:
    mask = numpy.array([True, False])
    for pair in ((1, 0), (1.0, 0), (True, False), (1j, 2), (0.1, 0.2)):
        got, expected = np.where(np.array(mask), *pair), numpy.where(mask, *pair)
        assert got.dtype == expected.dtype
        assert got.tolist() == expected.tolist()


def test_squared_booleans() -> None:
    x = numpy.array([True, False])
    for exponent in (2, 3, True):
        got, expected = np.array(x) ** exponent, x**exponent
        assert (got.dtype, got.tolist()) == (expected.dtype, expected.tolist())
    assert np.power(np.array(x), 2).dtype == numpy.power(x, 2).dtype


X = np.ones(2)
BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: np.add(X, X, casting="bogus"), ValueError, "add: casting 'bogus' is none of 'no', 'equiv'"),
    (lambda: np.add(X, X, order="Z"), ValueError, "order 'Z' is none of"),
    (lambda: np.sum(X, keepdims="a"), TypeError, "sum: keepdims must be True or False, not str"),
    (lambda: np.array([1], order="Z"), ValueError, "array: order 'Z'"),
    (lambda: np.empty(2, order="Z"), ValueError, "empty: order 'Z'"),
    (lambda: np.astype(X, "int8", casting="x"), ValueError, "astype: casting 'x'"),
    (lambda: npx.Device("foo"), ValueError, "Device: kind 'foo' is none of 'cpu', 'gpu'"),
    (lambda: np.zeros(None), TypeError, "a shape is an integer or a sequence of integers, got NoneType"),
    (lambda: np.zeros("ab"), TypeError, "a shape is an integer or a sequence of integers, got 'ab'"),
    (lambda: np.array(None), TypeError, "array: cannot make an array of numbers from NoneType"),
    (lambda: np.eye(2.5), TypeError, "eye: . must be an integer, not float"),
    (lambda: np.swapaxes(X, "a", 0), TypeError, "swapaxes: axis1 must be an integer, not str"),
    (lambda: np.concatenate(None), TypeError, "concatenate: a sequence of arrays is needed, not NoneType"),
    (lambda: np.concatenate([X], axis="a"), TypeError, "concatenate: axis must be an integer"),
    (lambda: np.allclose(np.ones(2), np.ones(3)), ValueError, r"allclose: shapes \(2,\) and \(3,\)"),
    (lambda: np.isclose(np.ones(2), np.ones(3)), ValueError, r"isclose: shapes \(2,\) and \(3,\)"),
    (lambda: np.broadcast_arrays(np.ones(2), np.ones(3)), ValueError, r"broadcast_arrays: shapes \(2,\)"),
    (lambda: np.dot(None, X), TypeError, "cannot make an array of NoneType"),
    (lambda: np.finfo("int8"), ValueError, "finfo: int8 is no floating-point type"),
    (lambda: X.__array_namespace__(api_version="1999.01"), ValueError, "version '1999.01' is none of"),
]


@pytest.mark.parametrize("case", BAD, ids=[case[2][:30] for case in BAD])
def test_bad_arguments(case: tuple[Callable[[], Any], type[Exception], str]) -> None:
    bad, error, message = case
    with pytest.raises(error, match=message):
        bad()


def test_exponents_of_ldexp_stay_integers_and_are_not_waited_for() -> None:
    x = np.array([1.5, 1.0])
    for exponents in (
        3,
        [3, 3],
        (3, 3),
        np.array([3, 3]),
        numpy.array([3, 3], "int8"),
        [np.array(3, dtype="int32")] * 2,
    ):
        with engine.sync_guard("raise"):
            made = np.ldexp(x, exponents)
        assert made.dtype == "float32" and made.tolist() == [12, 8]
    for exponents in (3.0, [3.0], 3j, np.array([3.0], dtype="float64"), numpy.array([3.0])):
        with pytest.raises(TypeError, match=r"ldexp: arrays of type float32 and .* exponents are integers"):
            np.ldexp(x, exponents)
