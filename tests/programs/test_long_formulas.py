"""Formulas of many calls: merged into passes as long as they may be, cut where they must be, with the same bits."""

import random
from typing import Any

import numpy
import pytest
from batches import one_batch

from slipstream import engine, np

UNARY = ["negative", "sqrt", "tanh", "exp", "floor", "square", "abs"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "divide"]


def formula(rng: random.Random, given: list[Any], calls: int, kept: int) -> list[Any]:
    """So many random calls on the arrays and on each other's results; some of these, and the last one."""
    values, shown = list(given), []
    for number in range(calls):
        recent = values[-4:] + given
        if rng.random() < 0.4:
            value = getattr(np, rng.choice(UNARY))(rng.choice(recent))
        else:
            other = rng.choice([*recent, rng.uniform(-2, 2)])
            value = getattr(np, rng.choice(BINARY))(rng.choice(recent), other)
        values.append(value)
        if number < calls - 1 and rng.random() < kept / calls:
            shown.append(value)
    return [*shown, values[-1]]


@pytest.mark.parametrize("shape", [(2000,), (70, 90)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("calls", [39, 41, 60, 95, 96, 97, 98, 193, 400])
def test_same_bits(rng: numpy.random.Generator, calls: int, dtype: str, shape: tuple[int, ...]) -> None:
    given = [np.array(rng.normal(size=shape).astype(dtype)) for _ in range(rng.integers(1, 5))]
    for seed in range(4):
        made = [v.asnumpy() for v in formula(random.Random(seed), given, calls, kept=seed * 5)]
        with engine.no_fuse():
            wanted = [v.asnumpy() for v in formula(random.Random(seed), given, calls, kept=seed * 5)]
        for mine, value in zip(made, wanted, strict=True):
            assert mine.tobytes() == value.tobytes()


def test_a_formula_of_sixty_calls_is_one_pass() -> None:
    if engine.kind() == "sync":
        pytest.skip("of the asynchronous engine")
    x = np.arange(100_000) / 1e5
    with one_batch():
        y = x
        for number in range(30):
            y = np.maximum(y * 1.5, x) if number % 2 else np.tanh(y) + number
    assert "60 calls fused into one pass" in engine.explain()
