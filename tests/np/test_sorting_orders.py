"""Sorting and partial sorting of lines in special order, of lengths around the sizes of vectors and blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from slipstream import np, npx

Rng = numpy.random.Generator

VECTORED = ["int32", "uint32", "float32", "int64", "uint64", "float64"]
SHORT = [7, 8, 9, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 130, 137, 255, 257, 600, 1023, 1024, 1025, 2049]
LONG = [1 << 17, (1 << 17) + 1, 200_003, 300_000]  # cut into blocks

ORDERS: dict[str, Callable[[Rng, int], Any]] = {
    "random": lambda rng, n: rng.integers(0, 1 << 31, n),
    "equal": lambda rng, n: numpy.full(n, 5),
    "two": lambda rng, n: rng.integers(0, 2, n),
    "few": lambda rng, n: rng.integers(0, 9, n),
    "rising": lambda rng, n: numpy.arange(n),
    "falling": lambda rng, n: numpy.arange(n)[::-1],
    "sawtooth": lambda rng, n: numpy.arange(n) % 27,
    "organ pipes": lambda rng, n: numpy.minimum(numpy.arange(n), numpy.arange(n)[::-1]),
    "rising, last first": lambda rng, n: numpy.roll(numpy.arange(n), 1),
    "two rising runs": lambda rng, n: numpy.arange(n) * 2 % n,
}


def line(rng: Rng, n: int, order: str, dtype: str, special: bool) -> Any:
    """Such a line; some elements of it are the largest and the least there are, for floats NaN and both zeros too."""
    x = ORDERS[order](rng, n).astype(dtype)
    if special:
        kind = numpy.finfo(dtype) if x.dtype.kind == "f" else numpy.iinfo(dtype)
        ends = [kind.max, kind.min]
        if x.dtype.kind == "f":
            ends += [numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0]
        at = rng.random(n) < 0.1
        x[at] = rng.choice(numpy.array(ends, dtype), int(at.sum()))
    return x


def same_bits(got: Any, expected: Any) -> None:
    """Zeros have their signs; any NaN is like another."""
    numpy.testing.assert_array_equal(got, expected)
    if expected.dtype.kind == "f":
        number = ~numpy.isnan(expected)
        numpy.testing.assert_array_equal(numpy.signbit(got[number]), numpy.signbit(expected[number]))


def check_sort(x: Any) -> None:
    y = np.array(x, dtype=str(x.dtype))
    same_bits(np.sort(y).asnumpy(), numpy.sort(x, kind="stable"))
    numpy.testing.assert_array_equal(np.argsort(y).asnumpy(), numpy.argsort(x, kind="stable"))


def check_select(x: Any, places: list[int]) -> None:
    y, full = np.array(x, dtype=str(x.dtype)), numpy.sort(x)
    order = np.argpartition(y, places).asnumpy()
    numpy.testing.assert_array_equal(numpy.sort(order), numpy.arange(x.size))
    for made in (np.partition(y, places).asnumpy(), x[order]):
        for begin, end in zip([0, *places], [*places, x.size], strict=True):
            numpy.testing.assert_array_equal(numpy.sort(made[begin:end]), full[begin:end])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", VECTORED)
def test_orders_of_short_lines(dtype: str, order: str, rng: Rng) -> None:
    for n in SHORT:
        x = line(rng, n, order, dtype, special=n % 2 == 1)
        check_sort(x)
        check_select(x, sorted({0, n // 3, n // 2, n - 1}))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_orders_of_long_lines(dtype: str, order: str, rng: Rng) -> None:
    for n in LONG:
        check_sort(line(rng, n, order, dtype, special=n % 2 == 1))
    check_select(line(rng, 70_001, order, dtype, special=True), [1, 35_000, 35_001])


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_lines_beside_each_other(dtype: str, rng: Rng) -> None:
    """A line that is sorted touches no other."""
    for n in (3, 20, 50, 100, 129, 1001):
        x = rng.standard_normal((40, n)) * 1000
        x = x.astype(dtype)
        y = np.array(x, dtype=dtype)
        numpy.testing.assert_array_equal(np.sort(y).asnumpy(), numpy.sort(x))
        numpy.testing.assert_array_equal(np.argsort(y).asnumpy(), numpy.argsort(x, kind="stable"))
        numpy.testing.assert_array_equal(np.sort(y, 0, descending=True).asnumpy(), -numpy.sort(-x, 0))
        numpy.testing.assert_array_equal(np.median(y, 1).asnumpy(), numpy.median(x, 1).astype(np.median(y, 1).dtype))
        k = (n + 2) // 3
        largest = numpy.argsort(-x, kind="stable")[:, :k]
        numpy.testing.assert_array_equal(npx.topk(y, k=k, dtype="int64").asnumpy(), largest)


def divides_badly(n: int, width: int) -> Any:
    """A line of which each pivot, the middle one of nine at even distances, has but three elements below it."""
    values = numpy.full(n, -1)
    at, least = list(range(n)), 0  # where the elements of the part at hand were; the least number not yet given
    while len(at) > 400:
        m = len(at)
        for sample in (0, 1, 3, 4):  # two of the first three, two of the next three
            place = at[m // 18 + sample * (m // 9)]
            if values[place] < 0:
                values[place] = least
                least += 1
        pivot = sorted(values[at[m // 18 + sample * (m // 9)]] for sample in (0, 1, 3, 4))[-1]
        above = [values[place] < 0 or values[place] >= pivot for place in at]
        # What is not below the pivot fills the end, vector by vector from behind.
        left: list[int] = []
        for i in range(m % width):
            if above[i]:
                left.insert(0, at[i])
        for i in range(m % width, m, width):
            left = [at[j] for j in range(i, i + width) if above[j]] + left
        at = left
    values[values < 0] = numpy.random.default_rng(2).permutation(int((values < 0).sum())) + least
    return values


@pytest.mark.parametrize(("dtype", "width"), [("int32", 8), ("int64", 4)])
def test_lines_that_pivots_divide_badly(dtype: str, width: int) -> None:
    x = divides_badly(1000, width).astype(dtype)
    check_sort(x)
    check_select(x, [500, 900])
