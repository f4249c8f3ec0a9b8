"""NaNs have the same bits whether calls run in one loop or one by one: of both signs, with payloads, at every place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from slipstream import engine, np, npx

BINARY = ["add", "subtract", "multiply", "true_divide", "maximum", "minimum"]
UNARY = ["negative", "abs", "square", "sqrt", "exp", "tanh"]
SHAPE = (67, 141)  # enough to be planned; whole vectors and a rest


def with_nans(rng: numpy.random.Generator, dtype: str) -> Any:
    """A third each of numbers and infinities, NaNs of both signs, and NaNs that carry something."""
    x = rng.choice([-1.5, -0.0, 0.5, 2.0, numpy.inf, -numpy.inf], SHAPE).astype(dtype)
    parts = x.view(x.real.dtype)
    bits = parts.view(f"u{parts.itemsize}")
    kind = rng.integers(0, 6, parts.shape)
    parts[kind == 2] = numpy.nan
    parts[kind == 3] = -numpy.nan
    bits[kind == 4] = numpy.array(numpy.nan, parts.dtype).view(bits.dtype) + rng.integers(1, 200, dtype=bits.dtype)
    bits[kind == 5] = numpy.array(-numpy.nan, parts.dtype).view(bits.dtype) + rng.integers(1, 200, dtype=bits.dtype)
    return x


def bits_of(program: Callable[..., Any], arrays: list[Any]) -> bytes:
    ours = [np.array(x, dtype=x.dtype) for x in arrays]
    npx.waitall()
    return bytes(program(*ours).asnumpy().tobytes())


def check_bits(program: Callable[..., Any], arrays: list[Any], what: str) -> None:
    with engine.no_fuse():
        alone = bits_of(program, arrays)
    assert bits_of(program, arrays) == alone, what


def then(first: Any, second: str, z: Any, right: bool) -> Any:
    if second in UNARY:
        return getattr(np, second)(first)
    return getattr(np, second)(z, first) if right else getattr(np, second)(first, z)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("first", BINARY + UNARY)
def test_two_calls_in_one_loop(first: str, dtype: str, rng: numpy.random.Generator) -> None:
    arrays = [with_nans(rng, dtype) for _ in range(3)]
    for second in BINARY + UNARY:
        for right in (False, True):

            def program(x: Any, y: Any, z: Any, second: str = second, right: bool = right) -> Any:
                inner = getattr(np, first)(x) if first in UNARY else getattr(np, first)(x, y)
                return then(inner, second, z, right)

            check_bits(program, arrays, f"{second} of {first}, {right=}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_layouts_and_neighbours(dtype: str, rng: numpy.random.Generator) -> None:
    programs: list[Callable[..., Any]] = [
        lambda x, y, z: z + x * y,
        lambda x, y, z: (x + y) * (z + y),
        lambda x, y, z: x * y * z,
        lambda x, y, z: (x + y[::-1, ::-1]) * z[:1] + x[:, :1],
        lambda x, y, z: -(x * y) / (z - 1.5),
        lambda x, y, z: (x.T * y.T + z.T).T - x,
        lambda x, y, z: (x * y + z).mean(axis=0) - x * z,
        lambda x, y, z: np.where(np.isnan(x), y + z, y * z) - (y + z),
        lambda x, y, z: np.dot(x, (y * z).T) * 2 + 1,
    ]
    arrays = [with_nans(rng, dtype) for _ in range(3)]
    for i, program in enumerate(programs):
        check_bits(program, arrays, f"program {i}")


def test_what_arithmetic_gives_has_no_sign(rng: numpy.random.Generator) -> None:
    x, y = (np.array(with_nans(rng, "float32")) for _ in range(2))
    for result in (x + y, x - y, x * y, x / y, x // y, x % y, np.square(x), x.sum(axis=0), x.prod(axis=1)):
        got = result.asnumpy()
        assert numpy.isnan(got).any()
        assert not numpy.signbit(got[numpy.isnan(got)]).any()


def test_what_hands_values_on_keeps_their_sign() -> None:
    x = np.array([numpy.nan, -numpy.nan], dtype="float32")
    assert np.signbit(x).tolist() == [False, True]
    assert np.signbit(-x).tolist() == [True, False]
    assert np.signbit(np.abs(x)).tolist() == [False, False]
    assert np.signbit(np.copysign(x, np.array([-1.0, 1.0]))).tolist() == [True, False]
    assert np.signbit(np.where(np.array([True, False]), x, x)).tolist() == [False, True]
    assert np.signbit(np.maximum(x, 0)).tolist() == [False, True]
