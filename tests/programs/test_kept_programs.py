"""Merged calls are put together once and kept: groups that differ in one detail never get each other's program."""

import itertools
import operator
import random
from typing import Any

import numpy
import pytest

from slipstream import engine, np

Module = Any

NOTHING = operator.itemgetter(...)
SCALARS = [2.0, 3.0, 0.0, -0.0, float("nan"), 2]
INPUTS = ["ab", "ba", "aa"]
DTYPES = [("float32", "float32"), ("float64", "float64"), ("float64", "int32"), ("float64", "int16")]
SECOND = ["sqrt", "square", "negative"]
ENDS = [NOTHING, operator.methodcaller("max"), operator.methodcaller("min"), operator.methodcaller("max", axis=0)]
KEPT = [(2,), (0, 2), (1, 2), (0, 1, 2)]


def results(m: Module, inputs: list[Any], *details: Any) -> list[Any]:
    """Some values of a chain whose operations are all rounded once and in one way: NumPy's bits are ours."""
    (p, q), (scalar, second, end, kept) = inputs, details
    # In one line: calls of different lines are never taken for each other.
    values = [s := p * scalar + q, t := getattr(m, second)(m.abs(s)), end(t - p)]
    del s, t
    return [values[i] for i in kept]


@pytest.mark.parametrize("shape", [(40, 40), (7, 300)])
def test_groups_that_differ_in_one_detail(rng: numpy.random.Generator, shape: tuple[int, int]) -> None:
    dtypes = {dtype for pair in DTYPES for dtype in pair}
    theirs = {(name, dtype): rng.integers(-20, 20, shape).astype(dtype) for name in "ab" for dtype in sorted(dtypes)}
    ours = {key: np.array(value) for key, value in theirs.items()}
    details: list[tuple[Any, ...]] = list(itertools.product(DTYPES, INPUTS, SCALARS, SECOND, ENDS, KEPT))
    random.Random(5).shuffle(details)
    before = engine.stats()["fused"]
    made = []
    for pair, names, *rest in details:
        made.append(results(np, [ours[key] for key in zip(names, pair, strict=True)], *rest))
    for (pair, names, *rest), got in zip(details, made, strict=True):
        with numpy.errstate(all="ignore"):
            wanted = results(numpy, [theirs[key] for key in zip(names, pair, strict=True)], *rest)
        for mine, value in zip(got, wanted, strict=True):
            what = f"{names} {rest} of {pair}"
            numpy.testing.assert_array_equal(mine.asnumpy(), value, what)
            if mine.shape == shape:  # which of two zeros is the larger is not said
                bits = [numpy.where(numpy.isnan(x), 0, x).view(f"i{x.itemsize}") for x in (mine.asnumpy(), value)]
                numpy.testing.assert_array_equal(bits[0], bits[1], what)
    assert engine.kind() == "sync" or engine.stats()["fused"] > before
