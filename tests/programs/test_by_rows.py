"""Calls that keep to their rows run together: same bits as one by one, less memory, the same failures."""

import numpy
import pytest

from slipstream import engine, np, npx
from slipstream.engine import stats

asynchronous = pytest.mark.skipif(engine.kind() == "sync", reason="the synchronous engine plans nothing")


def programs(x, scale):
    """Reductions over inner axes, and what uses them on the same rows."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    yield centred / np.sqrt(variance + 1e-5) * scale
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    yield powers / powers.sum(axis=-1, keepdims=True)
    yield npx.log_softmax(x * 2, axis=-1)
    yield npx.softmax(x * scale, axis=-1) * 3 - 1
    yield npx.layer_norm(x * 2 + 1, scale, scale).sum(axis=-1, keepdims=True) * x
    line = x * scale + 1
    yield line - line.sum(axis=-1)[..., None]
    yield line
    yield np.tanh(x.sum(axis=-1)) * 2
    yield x.max(axis=tuple(range(1, x.ndim)), keepdims=True) - x
    yield x.sum(axis=-1, keepdims=True) * np.flip(x, axis=-1)
    yield x.min(axis=0) + x


def values(shape, dtype):
    rng = numpy.random.default_rng(len(shape) * 1000 + shape[0])
    make = lambda *size: np.array((rng.normal(size=size) * 3).astype(dtype), dtype=dtype)  # noqa: E731
    return make(*shape), make(shape[-1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize(
    "shape",
    [(300, 200), (4096, 17), (64, 33, 65), (4, 16, 32, 32), (3, 40000), (40000, 3), (1, 5, 9000), (129, 1, 700)],
)
def test_same_bits_as_one_by_one(shape, dtype):
    x, scale = values(shape, dtype)
    together = [y.asnumpy() for y in list(programs(x, scale))]
    with engine.no_fuse():
        apart = [y.asnumpy() for y in programs(x, scale)]
    for a, b in zip(together, apart, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("key", [numpy.s_[::2], numpy.s_[:, ::-1], numpy.s_[5:-5, 3:]])
def test_views_of_any_strides(key):
    x, _ = values((700, 301), "float32")
    view = x[key]
    softmax = npx.softmax(view, axis=-1)
    given = x.asnumpy()[key]
    powers = numpy.exp(given - given.max(axis=-1, keepdims=True))
    assert numpy.allclose(softmax.asnumpy(), powers / powers.sum(axis=-1, keepdims=True), rtol=1e-5)


def planned_at_once(x):
    """Softmax until all its calls fell into one batch: when the planner looks is chance."""
    for _ in range(200):
        npx.waitall()
        engine.empty_cache()
        engine.reset_peaks()
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        y = powers / powers.sum(axis=-1, keepdims=True)
        del powers
        y.wait_to_read()
        if "last batch: 5 calls" in engine.explain():
            return y
    raise AssertionError("never planned together")


@asynchronous
def test_explain_says_so():
    x, _ = values((512, 512), "float32")
    planned_at_once(x)
    text = engine.explain()
    assert "block of rows by block of rows: max" in text
    assert text.count("task ") == 1


@asynchronous
def test_what_lies_between_is_never_stored_whole():
    x, _ = values((512, 1024), "float32")
    npx.waitall()
    before = engine.memory()["in_use"]
    y = planned_at_once(x)
    assert engine.memory()["peak"] - before < 1.5 * y.size * 4  # the result, and a little for the columns


@asynchronous
def test_a_failed_input_fails_what_depends_on_it_and_no_more():
    x, scale = values((300, 200), "float32")

    def fails(*_):
        raise ValueError("no scale today")

    bad = npx.host_call(fails, [scale], scale.shape, scale.dtype)
    top = x.max(axis=-1, keepdims=True)
    powers = np.exp(x - top)
    spoiled = powers * bad / powers.sum(axis=-1, keepdims=True)
    good = powers / powers.sum(axis=-1, keepdims=True)
    with pytest.raises(ValueError, match="no scale today"):
        spoiled.asnumpy()
    given = numpy.exp(x.asnumpy() - x.asnumpy().max(axis=-1, keepdims=True))
    assert numpy.allclose(good.asnumpy(), given / given.sum(axis=-1, keepdims=True), rtol=1e-5)


@asynchronous
def test_in_a_program_that_waits_every_call_tiny_calls_run_as_they_are_recorded():
    x = np.ones((1, 2))
    for _ in range(20):
        (x + 1).wait_to_read()
    y = x + 1
    assert y.is_ready()
    before = stats()["executed"]
    for _ in range(100):  # it stopped waiting: from here on calls are queued again
        y = y + 1
    npx.waitall()
    assert y.asnumpy().tolist() == [[102.0, 102.0]]
    assert stats()["executed"] - before == 100
