"""Fourier transforms against NumPy: all functions, lengths with small and large primes, types, axes, layouts, norms."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import Draw, Pair, agree, same

from slipstream import engine, np

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 30, 31, 37, 64, 97, 128, 210, 256, 509, 1000, 1024]
LONG = [16384, 20000, 3 * 8192, 17 * 1024, 65537]  # cut in two, or (the last) by a convolution
TYPES = ["float32", "float64", "complex64", "complex128"]
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
REAL_ONLY = ("rfft", "ihfft", "rfftn", "rfft2")


def tolerance(dtype: Any) -> float:
    return 3e-5 if numpy.dtype(dtype).name in ("float32", "complex64") else 1e-11


def alike(name: str, x: Pair, *rest: Any, **options: Any) -> None:
    ours, theirs = getattr(np.fft, name), getattr(numpy.fft, name)
    agree(f"fft.{name}", [x, *rest], options, ours, theirs, tolerance(x.numpy.dtype))


def types_of(name: str) -> list[str]:
    return TYPES[:2] if name in REAL_ONLY else TYPES


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", ONE)
def test_lengths(name: str, n: int, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for dtype in types_of(name):
        for lines in (1, 3, 9, 19):
            alike(name, draw.array((lines, n), dtype), n)
        alike(name, draw.array((n, 11), dtype), n, 0)


@pytest.mark.parametrize("n", LONG)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_long_lines(name: str, n: int, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for dtype in types_of(name)[::2]:
        alike(name, draw.array((n,), dtype, layout=False), n)
        alike(name, draw.array((2, n - 700), dtype), n)
    alike(name, draw.array((n + 5, 2), "float64"), n, 0, "ortho")


@pytest.mark.parametrize("name", ONE)
def test_cut_and_filled_up(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for dtype in types_of(name):
        for n in (1, 2, 5, 8, 9, 13, 32):
            for norm in (None, "backward", "ortho", "forward"):
                alike(name, draw.array((2, 9, 3), dtype), n, draw.one(0, 1, 2, -1), norm)


@pytest.mark.parametrize("name", MANY)
def test_several_axes(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for dtype in types_of(name):
        x = draw.array((3, 4, 6), dtype)
        alike(name, x)
        alike(name, x, None, (0, 1), norm="ortho")
        alike(name, x, (4, 5), (-1, 0))
        alike(name, draw.array((2, 5), dtype), norm="forward")


def test_types(rng: numpy.random.Generator) -> None:
    for dtype in ("int32", "bool", "uint8", "int64"):
        x = Draw(rng).array((3, 8), dtype)
        for name in ("fft", "rfft", "irfft"):
            found = getattr(np.fft, name)(x.ours)
            wanted = getattr(numpy.fft, name)(x.numpy.astype("float64"))
            same(found, wanted, 1e-11)
    with pytest.raises(TypeError, match="rfft: real numbers are needed, not complex64"):
        np.fft.rfft(np.ones(4, dtype="complex64"))


def test_empty_stacks_and_errors() -> None:
    assert np.fft.fft(np.ones((0, 8))).shape == (0, 8)
    assert np.fft.rfft(np.ones((0, 8))).shape == (0, 5)
    for call, message in (
        (lambda: np.fft.fft(np.ones((2, 0))), "fft: 0 points"),
        (lambda: np.fft.fft(np.ones(4), 0), "fft: 0 points"),
        (lambda: np.fft.irfft(np.ones(1)), "irfft: 0 points"),
        (lambda: np.fft.fft(np.ones(4), norm="none"), "norm is 'none'"),
        (lambda: np.fft.fftn(np.ones((4, 4)), (2,), (0, 1)), "1 lengths for 2 axes"),
        (lambda: np.fft.fft(np.ones(4), axis=1), "axis 1 is out of bounds"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_frequencies_and_shifts(rng: numpy.random.Generator) -> None:
    for n in (1, 2, 5, 8):
        same(np.fft.fftfreq(n, 0.1, dtype="float64"), numpy.fft.fftfreq(n, 0.1))
        same(np.fft.rfftfreq(n, 2.0, dtype="float64"), numpy.fft.rfftfreq(n, 2.0))
    draw = Draw(rng)
    for axes in (None, 0, (0, 1), -1):
        x = draw.array((4, 5), "float64")
        same(np.fft.fftshift(x.ours, axes), numpy.fft.fftshift(x.numpy, axes))
        same(np.fft.ifftshift(x.ours, axes), numpy.fft.ifftshift(x.numpy, axes))


def test_out_and_no_waits() -> None:
    x, out = np.ones(8, dtype="complex64"), np.zeros(8, dtype="complex64")
    with engine.sync_guard("raise"):
        assert np.fft.fft(x, out=out) is out
    assert out.tolist() == [8, *[0] * 7]


def test_floats_of_16_bits(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=8).astype("float16")
    for dtype in ("float16", "bfloat16"):
        given = np.array(x, dtype=dtype)
        same(np.fft.rfft(given), numpy.fft.rfft(given.astype("float32").asnumpy()), 1e-5)
