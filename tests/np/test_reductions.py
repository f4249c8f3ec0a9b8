"""Reductions and scans against NumPy: axes, keepdims, dtype, out, where, initial."""

from __future__ import annotations

import ml_dtypes
import numpy
import pytest
from compare import ALL, BOOL, COMPLEX, FLOATS, INTS, REAL, Draw, Pair, agree, same

from slipstream import engine, np, npx

SUMS = ["sum", "prod"]
EXTREMES = ["max", "min"]
TRUTHS = ["any", "all"]
MOMENTS = ["mean", "var", "std"]


@pytest.mark.parametrize("name", SUMS + EXTREMES + TRUTHS + MOMENTS)
def test_axes_and_keepdims(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    dtypes = REAL if name in EXTREMES else ALL
    for _ in range(60):
        shape = draw.shape(least=1)
        x = draw.array(shape, dtypes)
        agree(name, [x], {"axis": draw.axes(len(shape)), "keepdims": draw.one(True, False)})


@pytest.mark.parametrize("name", SUMS + MOMENTS)
def test_dtype(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(20):
        x = draw.array((3, 4), INTS + FLOATS, 0, 3)
        kinds = ["float32", "float64"] if name in ("var", "std") else ["float32", "float64", "complex128"]
        agree(name, [x], {"axis": draw.one(None, 0, 1), "dtype": draw.one(*kinds)})


@pytest.mark.parametrize("name", SUMS + EXTREMES + TRUTHS + MOMENTS)
def test_out(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    x = draw.array((3, 4), "float64")
    expected = getattr(numpy, name)(x.numpy, axis=1)
    out = np.zeros(3, dtype=expected.dtype)
    assert getattr(np, name)(x.ours, axis=1, out=out) is out
    same(out, expected)


@pytest.mark.parametrize("name", SUMS + TRUTHS + MOMENTS)
def test_where(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(10):
        x = draw.array((3, 4, 5), FLOATS)
        mask = draw.array(draw.one((3, 4, 5), (5,), (4, 1)), BOOL)
        agree(name, [x], {"axis": draw.axes(3), "where": mask})


@pytest.mark.parametrize("name", SUMS + EXTREMES)
def test_initial(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(10):
        x = draw.array((3, 4), ["int32", "float32", "float64"])
        agree(name, [x], {"axis": draw.axes(2), "initial": 2})
        agree(name, [x], {"axis": draw.axes(2), "initial": 2, "where": draw.array((3, 4), BOOL)})


@pytest.mark.parametrize("name", SUMS + EXTREMES + TRUTHS)
def test_empty(name: str) -> None:
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 3)):
        for dtype in ("int8", "float32", "bool"):
            x = numpy.zeros(shape, dtype)
            for axis in (None, 0, -1):
                agree(name, [Pair(x, np.array(x))], {"axis": axis})


def test_min_of_nothing_says_so() -> None:
    with pytest.raises(ValueError, match="min"):
        np.min(np.zeros(0))


@pytest.mark.parametrize("name", MOMENTS[1:])
@pytest.mark.parametrize("ddof", [0, 1, 0.5])
def test_ddof(name: str, ddof: float, rng: numpy.random.Generator) -> None:
    agree(name, [Draw(rng).array((4, 5), FLOATS)], {"axis": 0, "ddof": ddof})


def test_nan_is_seen(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(5, 7))
    x[2, 3] = numpy.nan
    for name in EXTREMES + ["argmax", "argmin", "sum"]:
        agree(name, [Pair(x, np.array(x))])
        agree(name, [Pair(x, np.array(x))], {"axis": 1})


@pytest.mark.parametrize("dtype", [*FLOATS, "bfloat16", *COMPLEX])
@pytest.mark.parametrize("name", SUMS + EXTREMES + ["mean"])
def test_nan_is_the_same_however_it_came_about(name: str, dtype: str, rng: numpy.random.Generator) -> None:
    """0 * inf is another NaN to processors than numpy.nan, and which of two a sum gives is up to its loop."""
    kind = numpy.dtype(getattr(ml_dtypes, dtype, dtype))
    parts = kind if kind.kind != "c" else numpy.empty(0, kind).real.dtype
    words = numpy.dtype(f"uint{8 * parts.itemsize}")
    plain = numpy.array(numpy.nan, parts).view(words)
    for shape in ((64, 257), (300, 3), (2, 3000), (5, 40, 9), (2, 140_000)):
        x, y = (np.array(rng.choice([0, 1, -1, numpy.inf, -numpy.inf, numpy.nan, 2], shape), dtype=kind) for _ in "xy")
        for axis in (None, 0, 1):
            fused = getattr(np, name)(x * y, axis=axis).asnumpy()
            with engine.no_fuse():
                alone = getattr(np, name)(x * y, axis=axis).asnumpy()
            assert fused.tobytes() == alone.tobytes()
            values = fused.reshape(-1).view(parts)
            assert (values.view(words)[numpy.isnan(values)] == plain).all()


@pytest.mark.parametrize("name", [n for n in np.__all__ if n.startswith("nan") and n not in ("nan", "nan_to_num")])
def test_nan_is_skipped(name: str, rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(4, 6)).astype("float32")
    x[rng.random(x.shape) < 0.3] = numpy.nan
    if not name.startswith("nanarg"):  # which raise in NumPy where a line has nothing else: ours wait for no value
        x[1] = numpy.nan
    for axis in (None, 0, 1):
        agree(name, [Pair(x, np.array(x))], {"axis": axis})
    counts = rng.integers(0, 5, (3, 4))
    agree(name, [Pair(counts, np.array(counts))], {"axis": 0})


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(40):
        shape = draw.shape(least=1)
        x = draw.array(shape, REAL)
        axis = draw.axis(len(shape)) if shape and draw.one(True, False) else None
        agree(name, [x], {"axis": axis, "keepdims": draw.one(True, False)})
    with pytest.raises(ValueError, match=name):
        getattr(np, name)(np.zeros((0, 3)), axis=0)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(30):
        shape = draw.shape()
        x = draw.array(shape, ALL, 0, 2)
        axis = draw.axis(len(shape)) if shape and draw.one(True, False) else None
        agree(name, [x], {"axis": axis})
        agree(name, [x], {"axis": axis, "dtype": "complex128"})


def test_logsumexp(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(3, 4)) * 100
    top = x.max(1, keepdims=True)
    expected = numpy.log(numpy.exp(x - top).sum(1, keepdims=True)) + top
    same(np.logsumexp(np.array(x), axis=1, keepdims=True), expected)
    same(npx.logsumexp(np.array([-numpy.inf, 0.0])), numpy.float32(0))


def test_average(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    x, w = draw.array((3, 4), ["float32", "int32"]), draw.array((3, 4), "float64", 0.1, 2)
    agree("average", [x], {"axis": 0})
    agree("average", [x], {"axis": 0, "weights": w})
    agree("average", [x], {"axis": 1, "weights": draw.array((4,), "float64", 0.1, 2), "returned": True})
    agree("average", [x], {"weights": w, "returned": True})
    agree("average", [x], {"axis": 1, "weights": draw.array((3,), "float64", 0.1, 2)})


def test_ptp_and_count_nonzero(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for axis in (None, 0, (0, 1)):
        agree("ptp", [draw.array((3, 4), INTS + FLOATS)], {"axis": axis})
        assert np.count_nonzero(np.eye(3), axis=axis).asnumpy().sum() == 3


def test_half_precision_sums_in_single() -> None:
    assert np.ones(100_000, dtype="float16").mean().item() == 1.0
    assert np.ones(70_000, dtype="bfloat16").sum().item() == pytest.approx(70_000, rel=4e-3)


def test_bad_axes() -> None:
    x = np.ones((2, 3))
    for name in SUMS + EXTREMES + TRUTHS + MOMENTS + ["argmax", "cumsum"]:
        with pytest.raises(numpy.exceptions.AxisError, match=name):
            getattr(np, name)(x, axis=2)
    with pytest.raises(ValueError, match="sum"):
        np.sum(x, axis=(0, 0))


@pytest.mark.skipif(numpy.__version__ < "2", reason="NumPy 1 takes no mean")
@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_variances_around_a_known_mean(name: str, rng: numpy.random.Generator) -> None:
    draw, mask = Draw(rng), rng.uniform(size=(4, 1, 3)) < 0.8
    for dtype in ("float32", "float64", "int32", "complex128"):
        for axis in (None, 1, (0, 2)):
            for options in ({}, {"ddof": 1}, {"correction": 1, "keepdims": True}, {"where": mask}):
                x = draw.array((4, 5, 3), dtype, layout=False)
                mean = x.numpy.mean(axis=axis, keepdims=True)
                agree(name, [x], {"axis": axis, "mean": Pair(mean, np.array(mean)), **options})
    same(np.ones(3).var(mean=2.0), numpy.float32(1))
    with pytest.raises(ValueError, match="ddof and correction mean the same"):
        np.var(np.ones(3), ddof=1, correction=1)
