"""Order statistics, covariances, histograms, counts, convolution and interpolation against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tests.compare import FLOATS, INTS, REAL, Draw, agree, same

from slipstream import engine, errors, np

Rng = numpy.random.Generator
METHODS = ["linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "closest_observation"]
METHODS += ["averaged_inverted_cdf", "interpolated_inverted_cdf", "hazen", "weibull"]
METHODS += ["median_unbiased", "normal_unbiased"]


def with_nan(draw: Draw, pair: Any) -> Any:
    """The same with some NaN in it, on both sides."""
    if pair.numpy.dtype.kind == "f":
        mask = draw.rng.random(pair.numpy.shape) < 0.2
        pair.numpy = numpy.where(mask, numpy.nan, pair.numpy).astype(pair.numpy.dtype)
        pair.ours = np.array(pair.numpy)
    return pair


# ---- quantiles


@pytest.mark.parametrize("method", METHODS)
def test_quantile_methods(method: str, rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(12):
        shape = draw.shape(ndim=int(rng.integers(1, 4)), least=1, most=6)
        x = draw.array(shape, [*INTS, "float32", "float64"])
        axis = draw.one(None, draw.axis(len(shape)))
        q = draw.one(0.3, numpy.array([0.0, 0.25, 1.0]), numpy.array([[0.1, 0.5], [0.75, 0.9]]))
        options = {"axis": axis, "method": method, "keepdims": draw.one(False, True)}
        agree("quantile", [x, q], options, tolerance=2e-6 if x.numpy.dtype == "float32" else None)
        agree("nanquantile", [with_nan(draw, draw.array(shape, "float64")), q], options)


def test_percentile_and_median(rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(40):
        shape = draw.shape(ndim=int(rng.integers(1, 4)), least=1, most=6)
        x = with_nan(draw, draw.array(shape, [*INTS, *FLOATS]))
        options = {"axis": draw.one(None, draw.axis(len(shape)), (0,)), "keepdims": draw.one(False, True)}
        rough = {"float16": 4e-3, "float32": 2e-6}.get(x.numpy.dtype.name)
        agree("percentile", [x, draw.one(50, 12.5, numpy.array([10.0, 90.0]))], options, tolerance=rough)
        agree("nanpercentile", [x, 40], options, tolerance=rough)
        agree("median", [x], options)
        agree("nanmedian", [x], options)


def test_quantiles_of_arrays_that_are_not_waited_for(rng: Rng) -> None:
    x, q = rng.standard_normal((5, 7)), numpy.array([0.2, 0.6])
    with engine.sync_guard("raise"):
        made = np.quantile(np.array(x), np.array(q), axis=1)
        beyond = np.quantile(np.array(x), np.array([0.5, 1.5]))
    same(made, numpy.quantile(x, q, axis=1))
    assert numpy.isnan(beyond.asnumpy()).tolist() == [False, True]


def test_quantile_arguments(rng: Rng) -> None:
    x = np.array(rng.standard_normal((4, 3)))
    with pytest.raises(ValueError, match="method 'best'"):
        np.quantile(x, 0.5, method="best")
    with pytest.raises(ValueError, match=r"1.5 is not between 0 and 1"):
        np.quantile(x, 1.5)
    with pytest.raises(ValueError, match=r"between 0 and 100"):
        np.percentile(x, [101])
    with pytest.raises(TypeError, match="complex"):
        np.quantile(np.ones(2, dtype="complex64"), 0.5)
    out = np.zeros(3, dtype="float64")
    assert np.quantile(x, 0.5, 0, out) is out
    same(out, numpy.quantile(x.asnumpy(), 0.5, 0))
    weights = rng.random(4)
    made = np.quantile(x, 0.4, 0, method="inverted_cdf", weights=np.array(weights))
    same(made, numpy.quantile(x.asnumpy(), 0.4, 0, method="inverted_cdf", weights=weights))
    assert numpy.isnan(np.median(np.zeros(0)).item())
    same(np.median(np.array([[True, False, True]]), axis=1), numpy.array([1.0]))


def test_nanarg(rng: Rng) -> None:
    draw = Draw(rng)
    for name in ("nanargmin", "nanargmax"):
        for axis in (None, 0, 1):
            x = draw.array((4, 5), [*INTS, *FLOATS])
            if x.numpy.dtype.kind == "f":
                x.numpy = x.numpy.copy()
                x.numpy[1:3, 1:3] = numpy.nan
                x.ours = np.array(x.numpy)
            agree(name, [x], {"axis": axis})


# ---- covariances


def test_cov_and_corrcoef(rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(15):
        shape = draw.one((5,), (3, 6), (1, 4))
        x = draw.array(shape, ["float32", "float64", "int32", "complex128"])
        y = draw.one(None, draw.array(shape, "float64"))
        options = {"rowvar": draw.one(True, False)}
        agree("corrcoef", [x, y], options)
        agree("cov", [x, y], options | {"bias": draw.one(True, False), "ddof": draw.one(None, 0, 1)})
    x = draw.array((2, 5), "float64")
    f, a = numpy.array([1, 2, 1, 3, 1]), rng.random(5)
    for weights in ({"fweights": f}, {"aweights": a}, {"fweights": f, "aweights": a}):
        agree("cov", [x], weights)
    with pytest.raises(ValueError, match="fweights have shape"):
        np.cov(x.ours, fweights=np.ones(3))


# ---- counts


def test_bincount(rng: Rng) -> None:
    for dtype in (*INTS, "bool"):
        x = rng.integers(0, 2 if dtype == "bool" else 20, 200).astype(dtype)
        same(np.bincount(np.array(x)), numpy.bincount(x.astype("int64")))
        w = rng.random(200)
        same(np.bincount(np.array(x), np.array(w), 30), numpy.bincount(x.astype("int64"), w, 30))
    many = rng.integers(0, 1000, 300_000)
    same(np.bincount(np.array(many), minlength=5), numpy.bincount(many))
    same(np.bincount(np.array([], dtype="int64"), minlength=3), numpy.bincount(numpy.zeros(0, int), minlength=3))
    same(np.bincount([2, 0]), numpy.bincount([2, 0]))
    with pytest.raises(TypeError, match="of integers"):
        np.bincount(np.ones(3))
    with pytest.raises(ValueError, match="-4 is negative"):
        np.bincount(np.array([-4, -5], dtype="int32"))
    with pytest.raises(ValueError, match="-4 is not between 0 and 5"):
        np.bincount(np.array([-4, 5], dtype="int32")).asnumpy()
    with engine.sync_guard("raise"), pytest.raises(errors.SyncError, match="bincount waited"):
        np.bincount(np.array([1], dtype="int32"))


def test_histogram(rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(40):
        x = draw.array(draw.shape(ndim=draw.one(1, 2), most=30), [*INTS, "float32", "float64"])
        bins = draw.one(10, 3, numpy.array([-2.0, -0.5, 0.0, 0.0, 2.5]))
        options = {"bins": bins, "density": draw.one(False, True), "range": draw.one(None, (-1, 2))}
        if x.numpy.size == 0:
            options["density"] = False
        agree("histogram", [x], options, tolerance=2e-6 if x.numpy.dtype == "float32" else None)
        agree("histogram_bin_edges", [x], {"bins": bins})
    x, w = draw.array((200,), "float64"), draw.array((200,), ["float32", "float64", "complex128", "int64"])
    agree("histogram", [x], {"weights": w})
    agree("histogram", [x], {"bins": "auto"})
    many = rng.standard_normal(200_000)
    same(np.histogram(np.array(many), 100), numpy.histogram(many, 100))
    same(np.histogram(np.array([3.0, 3.0]), 2)[1], numpy.histogram(numpy.float32([3, 3]), 2)[1])
    with pytest.raises(ValueError, match="do not increase"):
        np.histogram(np.ones(3), [3, 1])
    with pytest.raises(ValueError, match="0 bins"):
        np.histogram(np.ones(3), 0)
    with pytest.raises(ValueError, match="not finite"):
        np.histogram(np.array([1.0, numpy.nan]))[0].asnumpy()


def test_histograms_of_points(rng: Rng) -> None:
    x, y, w = rng.standard_normal(100), rng.standard_normal(100), rng.random(100)
    cases: list[dict[str, Any]] = [{}, {"bins": 4}, {"bins": [3, 5]}, {"bins": numpy.linspace(-1, 1, 4)}]
    cases += [{"range": [[-1, 1], [0, 2]]}, {"density": True}, {"weights": w}]
    for options in cases:
        ours = {k: np.array(v) if k == "weights" else v for k, v in options.items()}
        same(np.histogram2d(np.array(x), np.array(y), **ours), numpy.histogram2d(x, y, **options))
    points = rng.standard_normal((50, 3))
    ours, theirs = np.histogramdd(np.array(points), 3), numpy.histogramdd(points, 3)
    same(ours[0], theirs[0])
    same(list(ours[1]), list(theirs[1]))
    with pytest.raises(ValueError, match="for points of 3 coordinates"):
        np.histogramdd(np.array(points), [1, 2])


# ---- signals


def test_convolve_and_correlate(rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(60):
        a, v = (draw.array(draw.shape(ndim=1, least=1, most=9), [*REAL, "complex64", "complex128"]) for _ in range(2))
        for mode in ("full", "same", "valid"):
            agree("convolve", [a, v, mode])
            agree("correlate", [a, v, mode])
    agree("convolve", [draw.array((5000,), "float64"), draw.array((300,), "float64"), "same"])
    with pytest.raises(ValueError, match="mode 'half'"):
        np.convolve(np.ones(2), np.ones(2), "half")
    with pytest.raises(ValueError, match="empty"):
        np.convolve(np.ones(0), np.ones(2))


def test_interp(rng: Rng) -> None:
    xp, fp = numpy.sort(rng.random(8)), rng.standard_normal(8)
    x = numpy.concatenate([rng.uniform(-0.2, 1.2, 30), xp, [numpy.nan, numpy.inf, -numpy.inf]])
    cases: list[dict[str, Any]] = [{}, {"left": -9.0, "right": 9.0}, {"period": 0.5}]
    for options in cases:
        at = x[:-3] if "period" in options else x
        same(np.interp(np.array(at), np.array(xp), np.array(fp), **options), numpy.interp(at, xp, fp, **options))
        both = fp + 1j * fp[::-1]
        same(np.interp(np.array(at), np.array(xp), np.array(both), **options), numpy.interp(at, xp, both, **options))
    same(np.interp(0.5, np.array([1.0]), np.array([3.0])), numpy.interp(0.5, [1.0], [3.0]))
    same(np.trapz(np.array(fp), np.array(xp)), numpy.trapezoid(fp, xp))
    with pytest.raises(ValueError, match="lines of one length"):
        np.interp(1, np.ones(2), np.ones(3))


def test_these_do_not_wait(rng: Rng) -> None:
    x = np.array(rng.standard_normal((6, 8)))
    with engine.sync_guard("raise"):
        made = [np.median(x, 0), np.nanpercentile(x, 30), np.cov(x), np.histogram(x)[0]]
        made += [np.interp(x, x[0], x[1]), np.convolve(x[0], x[1])]
        made += [np.histogram2d(x[0], x[1])[0]]
    assert all(part.size for part in made)
