"""Distinct elements and sets of them against NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tests.compare import ALL, INTS, Draw, agree, same

from slipstream import engine, errors, np

Rng = numpy.random.Generator


@pytest.mark.parametrize("dtype", ALL)
def test_unique(dtype: str, rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(12):
        x = draw.array(draw.shape(most=12), dtype, 0, 9)
        agree("unique", [x])
        for names in (["return_index"], ["return_inverse"], ["return_counts"], ["return_index", "return_counts"]):
            agree("unique", [x], dict.fromkeys(names, True))
        agree("unique", [x], {"return_index": True, "return_inverse": True, "return_counts": True})


def test_unique_of_many(rng: Rng) -> None:
    for x in (rng.integers(0, 1000, 300_000), rng.standard_normal(200_000).astype("float32")):
        options = {"return_index": True, "return_inverse": True, "return_counts": True}
        same(np.unique(np.array(x), **options), numpy.unique(x, **options))
        same(np.unique(np.array(x)), numpy.unique(x))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("equal_nan", [False, True])
def test_unique_nan(dtype: str, equal_nan: bool) -> None:
    x = numpy.array([3, numpy.nan, 1, numpy.nan, 3, numpy.nan], dtype=dtype)
    options = {"return_index": True, "return_counts": True, "equal_nan": equal_nan}
    same(np.unique(np.array(x), **options), numpy.unique(x, **options))


def test_unique_along_an_axis(rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(20):
        shape = draw.shape(ndim=int(rng.integers(2, 4)), least=1, most=4)
        x = draw.array(shape, [*INTS, "float32"], 0, 2)
        axis = draw.axis(len(shape))
        options = {"return_index": True, "return_inverse": True, "return_counts": True, "axis": axis}
        agree("unique", [x], options)
    same(np.unique(np.ones((3, 0)), axis=0), numpy.unique(numpy.ones((3, 0), "float32"), axis=0))


def test_array_api_functions(rng: Rng) -> None:
    x = numpy.array([[3, 1, numpy.nan], [3, numpy.nan, 1]], dtype="float32")
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        ours, theirs = getattr(np, name)(np.array(x)), getattr(numpy, name)(x)
        assert ours._fields == theirs._fields
        for mine, other in zip(ours, theirs, strict=True):
            same(mine, other)
    values = rng.integers(0, 9, 40)
    same(np.unique_values(np.array(values)), numpy.sort(numpy.unique_values(values)))


@pytest.mark.parametrize("name", ["isin", "intersect1d", "union1d", "setdiff1d", "setxor1d"])
def test_sets(name: str, rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(40):
        kinds = draw.one(INTS[:4], ["float32", "float64"], ["bool"], ["complex64"])
        a, b = (draw.array(draw.shape(ndim=draw.one(1, 1, 2), most=8), kinds, 0, 6) for _ in range(2))
        agree(name, [a, b])
        if name == "isin":
            agree(name, [a, b], {"invert": True})
        if name == "intersect1d":
            agree(name, [a, b], {"return_indices": True})


def test_sets_of_unique_elements(rng: Rng) -> None:
    a, b = rng.permutation(20)[:9], rng.permutation(20)[:9]
    for name in ("intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(np, name)(np.array(a), np.array(b), True), getattr(numpy, name)(a, b, assume_unique=True))
    same(np.in1d(np.array([a, a]), np.array(b), invert=True), numpy.isin(numpy.array([a, a]).ravel(), b, invert=True))
    with pytest.raises(ValueError, match="kind 'hash'"):
        np.isin(np.array(a), np.array(b), kind="hash")


def test_waits_are_named() -> None:
    x = np.array([3, 1, 3])
    calls: list[tuple[str, Any]] = [
        ("unique", lambda: np.unique(x)),
        ("unique", lambda: np.unique(np.eye(2), axis=0)),
        ("union1d", lambda: np.union1d(x, x)),
        ("intersect1d", lambda: np.intersect1d(x, x)),
        ("setdiff1d", lambda: np.setdiff1d(x, x)),
        ("setxor1d", lambda: np.setxor1d(x, x)),
    ]
    for name, call in calls:
        with engine.sync_guard("raise"), pytest.raises(errors.SyncError, match=f"{name} waited"):
            call()
