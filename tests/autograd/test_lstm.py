"""An LSTM whose steps are all one call, against the same step by step."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from gradcheck import check

from slipstream import _core, autograd, np, npx

Values = Any

# steps, batch, inputs, size: rows that fill panels and not, long sequences that are run in parts
SIZES = [(1, 1, 2, 3), (5, 3, 2, 4), (7, 8, 3, 16), (4, 17, 5, 33), (3, 40, 8, 48), (70, 3, 4, 256)]


@pytest.fixture(params=["at once", "by steps"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "by steps":
        monkeypatch.setattr(_core, "lstm_pays", lambda *_: False)
    return str(request.param)


def given(
    rng: numpy.random.Generator, steps: int, batch: int, inputs: int, size: int, sides: int, dtype: str
) -> Values:
    length = sides * 4 * size * (inputs + size + 2)
    shapes = [(steps, batch, inputs), (length,), (sides, batch, size), (sides, batch, size)]
    scales = [1.0, size**-0.5, 1.0, 1.0]
    return [(rng.normal(size=shape) * scale).astype(dtype) for shape, scale in zip(shapes, scales, strict=True)]


def run(xs: Values, sides: int = 1) -> Values:
    size = xs[2].shape[2]
    return npx.rnn(*xs, mode="lstm", state_size=size, num_layers=1, bidirectional=sides == 2, state_outputs=True)


def run_and_differentiate(values: Values, weights: Values, sides: int) -> tuple[Values, Values]:
    xs = [np.array(v) for v in values]
    for x in xs:
        x.attach_grad()
    with autograd.record():
        made = run(xs, sides)
        loss = sum((y * np.array(w)).sum() for y, w in zip(made, weights, strict=True))
    loss.backward()
    return [y.asnumpy() for y in made], [x.grad.asnumpy() for x in xs]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("sizes", SIZES)
def test_at_once_is_step_by_step(
    rng: numpy.random.Generator, monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], sides: int, dtype: str
) -> None:
    values = given(rng, *sizes, sides, dtype)
    steps, batch, _, size = sizes
    shapes = [(steps, batch, sides * size), (sides, batch, size), (sides, batch, size)]
    weights = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    calls, expected = [], sides if has_loops() else 0
    at_once = _core.lstm
    monkeypatch.setattr(_core, "lstm", lambda *args: calls.append(1) or at_once(*args))
    ours, slopes = run_and_differentiate(values, weights, sides)
    assert len(calls) == expected
    monkeypatch.setattr(_core, "lstm_pays", lambda *_: False)
    wanted, wanted_slopes = run_and_differentiate(values, weights, sides)
    assert len(calls) == expected
    close = {"rtol": 1e-4, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-10, "atol": 1e-12}
    for mine, other in zip(ours + slopes, wanted + wanted_slopes, strict=True):
        numpy.testing.assert_allclose(mine, other, **close)


def has_loops() -> bool:
    """Does this processor have the loops that one call is made of? As the core says of something it would take."""
    return bool(_core.lstm_pays(np.ones((1, 1, 4)), np.ones((4, 1)), np.ones((1, 1)), np.ones((1, 1))))


@pytest.mark.parametrize("types", ["fdff", "ffdd", "ffhh", "dfff", "hfff", "fffd"])
def test_types_that_differ_are_promoted(rng: numpy.random.Generator, way: str, types: str) -> None:
    kinds = {"f": "float32", "d": "float64", "h": "float16"}
    values = given(rng, 3, 2, 5, 4, 1, "float64")
    xs = [np.array(v.astype(kinds[t])) for v, t in zip(values, types, strict=True)]
    for x in xs:
        x.attach_grad()
    with autograd.record():
        made = run(xs)
        loss = sum((y * y).sum() for y in made)
    loss.backward()
    assert made[0].dtype == numpy.dtype("float64" if "d" in types else "float32")
    for y, full in zip(made, run([np.array(v) for v in values]), strict=True):
        close = 1e-2 if "h" in types else 1e-5
        numpy.testing.assert_allclose(y.asnumpy(), full.asnumpy(), rtol=close, atol=close)
    assert all(x.grad.dtype == x.dtype and numpy.isfinite(x.grad.asnumpy()).all() for x in xs)


@pytest.mark.parametrize("sides", [1, 2])
def test_what_it_gives_may_be_written(rng: numpy.random.Generator, way: str, sides: int) -> None:
    values = given(rng, 3, 2, 5, 4, sides, "float64")
    slopes = []
    for write in (False, True):
        x, *others = (np.array(v) for v in values)
        x.attach_grad()
        with autograd.record():
            made = run([x, *others], sides)
            loss = (made[0] + 0).sum() + (made[1] + 0).sum()
        if write:
            for y in made:
                y[:] = 7
        loss.backward()
        slopes.append(x.grad.asnumpy())
    assert numpy.array_equal(*slopes)


def test_without_recording_it_is_the_same(rng: numpy.random.Generator, way: str) -> None:
    values = given(rng, 6, 5, 3, 20, 2, "float32")
    xs = [np.array(v) for v in values]
    plain = [y.asnumpy() for y in run(xs, 2)]
    for x in xs:
        x.attach_grad()
    with autograd.record():
        recorded = run(xs, 2)
    for mine, other in zip(plain, recorded, strict=True):
        numpy.testing.assert_array_equal(mine, other.asnumpy())


@pytest.mark.parametrize("sides", [1, 2])
def test_gradients(rng: numpy.random.Generator, way: str, sides: int) -> None:
    values = given(rng, 3, 2, 2, 3, sides, "float64")
    check(lambda *xs: run(xs, sides), values, rng, exact=False)


def test_gradient_of_some_arguments(rng: numpy.random.Generator, way: str) -> None:
    """What has no gradient is only read, and what nobody used of the results counts as 0."""
    values = given(rng, 4, 3, 2, 5, 1, "float64")
    alone = [np.array(v) for v in values]
    alone[1].attach_grad()
    with autograd.record():
        loss = (run(alone)[1] ** 2).sum()
    loss.backward()
    found, _ = run_and_differentiate(values, [0, 0, 0], 1)
    _, slopes = run_and_differentiate(values, [0, 2 * found[1], 0], 1)
    numpy.testing.assert_allclose(alone[1].grad.asnumpy(), slopes[1], rtol=1e-10)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_second_derivatives_by_some_arguments(rng: numpy.random.Generator, way: str, which: int) -> None:
    values = given(rng, 3, 2, 2, 3, 1, "float64")

    def some(x: np.ndarray) -> Any:
        xs = [np.array(v) for v in values]
        xs[which] = x
        return run(xs)

    check(some, [values[which]], rng, exact=False)


@pytest.mark.parametrize("which", [1, 2])
def test_writing_what_the_gradient_needs(rng: numpy.random.Generator, which: int) -> None:
    xs = [np.array(v) for v in given(rng, 4, 3, 2, 5, 1, "float32")]
    for x in xs:
        x.attach_grad()
    with autograd.record():
        loss = run(xs)[0].sum()
    xs[which][:] = 0
    with pytest.raises(RuntimeError, match=r"lstm|matmul"):
        loss.backward()


def test_long_parts_are_the_same_on_any_workers(rng: numpy.random.Generator) -> None:
    from slipstream import engine

    values = given(rng, 90, 40, 8, 128, 1, "float32")
    weights = [numpy.ones((90, 40, 128), "float32"), 0, 0]
    before, results = engine.workers(), []
    for workers in (1, 2, 5):
        engine.set_workers(workers)
        results.append(run_and_differentiate(values, weights, 1))
    engine.set_workers(before)
    for other in results[1:]:
        for mine, theirs in zip(results[0][0] + results[0][1], other[0] + other[1], strict=True):
            numpy.testing.assert_array_equal(mine, theirs)
