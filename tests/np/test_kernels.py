"""Structural operations against NumPy at the sizes and layouts where their kernels change their way of working."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from slipstream import np

REAL = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
EVERY = [*REAL, "float16", "complex64", "complex128"]
LINES = [(1,), (7,), (63,), (64,), (200,), (5000,), (70000,)]
SHAPES = [*LINES, (3, 5), (300, 16), (9, 64), (4, 1000), (1000, 3), (2, 70000)]


def draw(rng: numpy.random.Generator, shape: Any, dtype: str, nan: bool = False) -> Any:
    """Few different values, so that ties are common."""
    x = rng.integers(0, 5, shape).astype(dtype)
    if nan and x.dtype.kind in "fc":
        x[rng.random(shape) < 0.01] = numpy.nan
    return x


def layouts(x: Any) -> list[tuple[Any, Any]]:
    """An array of both kinds: as it is, transposed, backwards."""
    ours = np.array(x, dtype=x.dtype)
    return [(ours, x), (ours.T, x.T), (ours[::-1], x[::-1])]


def same(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype and got.shape == want.shape
    assert numpy.array_equal(got.asnumpy(), want, equal_nan=want.dtype.kind in "fc")


# ---- places


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_ties_and_nan(name: str, dtype: str, rng: numpy.random.Generator) -> None:
    for shape in SHAPES:
        for nan in (False, True):
            for ours, theirs in layouts(draw(rng, shape, dtype, nan)):
                for axis in (None, *range(theirs.ndim)):
                    same(getattr(ours, name)(axis), numpy.asarray(getattr(theirs, name)(axis)))


@pytest.mark.parametrize("dtype", REAL[1:])
def test_place_of_a_lone_winner(dtype: str) -> None:
    """Wherever it is: in the first lanes, the last ones, at the ends of blocks, and past the whole vectors."""
    edges = [at + d for at in (32, 1024, 2048, 4064, 8128, 8192) for d in (-1, 0, 1)]
    for n in (15, 67, 259, 1000, 9000):
        for at in {0, 1, *edges, n - 9, n - 1}:
            if at >= n:
                continue
            low = numpy.full(n, 3, dtype) if dtype[0] == "u" else numpy.full(n, -3, dtype)
            low[at] += 2
            assert np.argmax(np.array(low, dtype=dtype)).item() == at
            high = numpy.full(n, 3, dtype)
            high[at] -= 2
            assert np.argmin(np.array(high, dtype=dtype)).item() == at
            if dtype[0] == "f":
                high[at:] = numpy.nan
                assert np.argmin(np.array(high, dtype=dtype)).item() == at
                assert np.argmax(np.array(high, dtype=dtype)).item() == at


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_places_among_infinities_and_zeros(dtype: str) -> None:
    infinity = numpy.full(5000, numpy.inf, dtype)
    zeros = numpy.copysign(numpy.zeros(5000, dtype), numpy.arange(5000, dtype=dtype) % 3 - 1)
    for x in (infinity, -infinity, zeros, -zeros):
        assert np.argmax(np.array(x, dtype=dtype)).item() == np.argmin(np.array(x, dtype=dtype)).item() == 0


# ---- scans


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "float32", "float64", "complex64"])
def test_scans(dtype: str, rng: numpy.random.Generator) -> None:
    for shape in SHAPES:
        x = draw(rng, shape, dtype)
        for ours, theirs in layouts(x):
            for axis in (None, *range(theirs.ndim)):
                same(np.cumsum(ours, axis), numpy.cumsum(theirs, axis, dtype=np.cumsum(ours, axis).dtype))
    ones = numpy.where(rng.random(3000) < 0.5, 1, -1).astype(dtype)
    same(np.cumprod(np.array(ones, dtype=dtype)), numpy.cumprod(ones, dtype=np.cumprod(np.array(ones)).dtype))


def test_scan_keeps_a_leading_negative_zero() -> None:
    for dtype in ("float32", "float64"):
        assert numpy.signbit(np.cumsum(np.array([-0.0, -0.0, 1.0], dtype=dtype)).asnumpy()).tolist() == [
            True,
            True,
            False,
        ]


def test_scan_spreads_infinities_and_nan() -> None:
    x = numpy.ones(100, "float32")
    x[20], x[50], x[80] = numpy.inf, -numpy.inf, 3
    with numpy.errstate(invalid="ignore"):
        same(np.cumsum(np.array(x)), numpy.cumsum(x))


# ---- truth


@pytest.mark.parametrize("dtype", EVERY)
def test_any_and_all_wherever_the_answer_is(dtype: str) -> None:
    for shape in [(3,), (5000,), (300000,), (40, 700), (700, 40), (3, 90, 70)]:
        for at in (0, -1, None):
            x = numpy.zeros(shape, dtype)
            if at is not None:
                x.reshape(-1)[at] = 1
            for ours, theirs in layouts(x):
                for axis in (None, *range(theirs.ndim)):
                    same(ours.any(axis), numpy.asarray(theirs.any(axis)))
                    same((ours == 0).all(axis), numpy.asarray((theirs == 0).all(axis)))


# ---- moves


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "int64", "complex128"])
def test_take_copies_and_joins(dtype: str, rng: numpy.random.Generator) -> None:
    for shape in SHAPES:
        for ours, theirs in layouts(draw(rng, shape, dtype)):
            for axis in range(theirs.ndim):
                index = rng.integers(-theirs.shape[axis], theirs.shape[axis], 50)
                same(np.take(ours, np.array(index), axis), numpy.take(theirs, index, axis))
                same(np.concatenate([ours, ours], axis), numpy.concatenate([theirs, theirs], axis))
                same(np.stack([ours, ours], axis), numpy.stack([theirs, theirs], axis))
                for shift in (1, 5, -3):
                    same(np.roll(ours, shift, axis), numpy.roll(theirs, shift, axis))
            same(np.stack([ours, ours], -1), numpy.stack([theirs, theirs], -1))
            same(ours.copy(), theirs.copy())


# ---- conversions


@pytest.mark.parametrize("dtype", REAL)
def test_conversions_of_whole_vectors_and_tails(dtype: str, rng: numpy.random.Generator) -> None:
    for n in (1, 15, 16, 17, 1000):
        x = rng.integers(0, 127, n).astype(dtype)
        for target in EVERY:
            same(np.array(x, dtype=dtype).astype(target), x.astype(target))


OUTSIDE = [-2.5, -12.0, numpy.inf, -numpy.inf, numpy.nan, 1e30, -1e30, 300.7, -300.7, 70000.3, 3e9, -3e9, 1e10, 1.2e19]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("target", [name for name in REAL if "int" in name])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_floats_that_no_integer_holds(dtype: str, target: str) -> None:
    """Of any length and by any way, as NumPy has them one by one (it knows others for whole vectors of uint32)."""
    values = numpy.array(OUTSIDE).astype(dtype)
    want = numpy.array([values[i : i + 1].astype(target)[0] for i in range(len(values))])
    many, wanted = np.array(numpy.tile(values, 7), dtype=dtype), numpy.tile(want, 7)
    same(many.astype(target), wanted)
    same(np.concatenate([many, many[1:]], dtype=target, casting="unsafe"), numpy.concatenate([wanted, wanted[1:]]))
    same(np.array(many, dtype=target), wanted)
    if values.dtype.kind == "f":
        same(np.array(numpy.tile(values, 7), dtype=target), wanted)
        written = np.zeros(many.shape, dtype=target)
        written[:] = many
        same(written, wanted)


@pytest.mark.parametrize("target", [name for name in REAL if "int" in name])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_full_of_a_float_that_no_integer_holds(target: str) -> None:
    for value in OUTSIDE:
        want = numpy.array([value]).astype(target)
        same(np.full(1, value, dtype=target), want)
        same(np.full_like(np.zeros(1, dtype=target), value), want)
        same(np.array([value], dtype="float64").astype(target), want)


def test_signalling_nans_become_quiet_at_every_place() -> None:
    """Half precision: vectors and what is left over are converted in different ways."""
    for n in (1, 7, 8, 9, 21):
        for bits, want in ((0x7C01, 0x7FC02000), (0xFD55, 0xFFEAA000), (0x7E01, 0x7FC02000), (0xFE00, 0xFFC00000)):
            x = np.array(numpy.full(n, bits, "uint16").view("float16")).astype("float32")
            assert x.asnumpy().view("uint32").tolist() == [want] * n
        for bits, want in ((0x7F800001, 0x7E00), (0xFF802000, 0xFE01), (0x7FC02000, 0x7E01)):
            y = np.array(numpy.full(n, bits, "uint32").view("float32")).astype("float16")
            assert y.asnumpy().view("uint16").tolist() == [want] * n


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("target", ["float32", "float64"])
def test_large_integers_round_once(dtype: str, target: str, rng: numpy.random.Generator) -> None:
    bits = rng.integers(0, 2**64, 20000, dtype="uint64") >> rng.integers(0, 64, 20000).astype("uint64")
    halves = (numpy.uint64(1) << rng.integers(25, 64, 2000).astype("uint64")) + rng.integers(0, 3, 2000).astype(
        "uint64"
    )
    near = halves + (halves >> numpy.uint64(24))  # just above and below halfway between two floats
    x = numpy.concatenate([bits, halves, near, near - numpy.uint64(1), near + numpy.uint64(1)]).view(dtype)
    if dtype == "int64":
        x = numpy.concatenate([x, -x, numpy.array([-(2**63), 2**63 - 1, -(2**53), 2**53 + 1])])
    same(np.array(x, dtype=dtype).astype(target), x.astype(target))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_small_matrices(dtype: str) -> None:
    rng = numpy.random.default_rng(4)
    for _ in range(200):
        m, n, k, batch = rng.integers(1, 45, 4)
        a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((batch, m, k), (batch, k, n)))
        expected = a.astype("float64") @ b
        tolerance = 1e-4 if dtype == "float32" else 1e-11
        for left in (np.array(a), np.swapaxes(np.swapaxes(np.array(a), 1, 2).copy(), 1, 2), np.array(a)[::-1][::-1]):
            made = (left @ np.array(b)).asnumpy()
            assert made.dtype == dtype
            numpy.testing.assert_allclose(made, expected, rtol=tolerance, atol=tolerance)


# ---- one value for all elements


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "uint64", "float16", "float32", "float64", "complex128"])
def test_one_value_gives_what_an_array_full_of_it_gives(dtype: str, rng: numpy.random.Generator) -> None:
    """A number, an array of one element, and a column across long rows: none of them is spread out in memory."""
    for n in (1, 15, 16, 63, 64, 65, 200, 1000):
        x = np.array(rng.integers(1, 5, (3, n)), dtype=dtype)
        column = np.array(rng.integers(1, 5, (3, 1)), dtype=dtype)
        full = column + np.zeros_like(x)
        for compute in (np.add, np.multiply, np.equal, np.maximum, np.divide):
            assert numpy.array_equal(compute(x, column).asnumpy(), compute(x, full).asnumpy())
            assert numpy.array_equal(compute(column, x).asnumpy(), compute(full, x).asnumpy())
            one = column[0]
            assert numpy.array_equal(compute(x, one).asnumpy(), compute(x, one + np.zeros_like(x)).asnumpy())
        chosen = np.where(x == column, column, x * column + column)
        assert numpy.array_equal(chosen.asnumpy(), np.where(x == full, full, x * full + full).asnumpy())
        assert numpy.array_equal(np.broadcast_to(column, (3, n)).copy().asnumpy(), full.asnumpy())


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("shape", [(1,), (31,), (65,), (5000,), (40, 70)])
def test_choices(dtype: str, shape: tuple[int, ...], rng: numpy.random.Generator) -> None:
    x, y = draw(rng, shape, dtype, nan=True), draw(rng, shape, dtype)
    truth = rng.integers(0, 4, shape).astype("uint8").view("bool")  # true is whatever is not 0
    for (chosen, given), (a, left), (b, right) in zip(layouts(truth), layouts(x), layouts(y), strict=True):
        same(np.where(chosen, a, b), numpy.where(given, left, right))
