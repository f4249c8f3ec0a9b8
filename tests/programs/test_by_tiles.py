"""Elementwise work on a product's result, tile by tile: same bits as one by one, nothing stored, the same failures."""

import numpy
import pytest

from slipstream import engine, np, npx, profiler

asynchronous = pytest.mark.skipif(engine.kind() == "sync", reason="the synchronous engine plans nothing")

M, K, N = 300, 70, 290  # several tiles, none of them whole


def make(*shape, dtype="float32", seed=0):
    rng = numpy.random.default_rng(seed + sum(shape))
    return np.array((rng.normal(size=shape) * 3).astype(dtype), dtype=dtype)


def programs(xp, a, b, row, column, residual):
    """What may and what may not be done tile by tile: results of `xp`, NumPy or ours."""
    yield xp.maximum(a @ b + row, 0)
    yield (a @ b) * 2 + column
    yield residual - (a @ b)
    p = a @ b
    yield p * p + p
    yield (a @ b).T + residual.T
    yield xp.reshape(a @ b, (M // 10, 10, N)) * 2 + row
    yield xp.reshape(a @ b, (N, M)) + 1
    yield (a @ b)[::-1] + residual
    yield (a @ b)[3:] * 2
    yield (a @ b) + (a @ b) * 3
    p = a @ b
    yield p + 1
    yield p - residual
    yield (a @ b + residual) > 0
    kept = a @ b
    yield xp.abs(kept) + 1
    yield kept
    yield xp.where(residual > 0, a @ b, row)
    yield (a @ b).sum(axis=0) + 1
    yield xp.abs(a @ b + row).sum(axis=1)
    top = xp.abs((a @ b) * 2)
    yield top.sum(axis=0)
    yield top


def written(xp, a, b, row, residual):
    """Writes into what exists: by the elementwise work, to the product's arguments, and in between."""
    a, residual = a + 0, residual + 0
    residual += a @ b
    yield residual + 0
    residual[:] = a @ b + row
    yield residual + 0
    p = a @ b
    a += 1
    yield p * 2 + a[:, :1]
    square = a @ a.T
    a -= square[:, : a.shape[1]]
    yield a + 0
    p = a @ b
    residual += 1
    yield p + residual
    residual *= a @ b
    yield residual


def arguments(dtype):
    return make(M, K, dtype=dtype), make(K, N, dtype=dtype), make(N, dtype=dtype), make(M, 1), make(M, N, dtype=dtype)


def all_of(a, b, row, column, residual):
    column = column.astype(row.dtype)
    results = list(programs(np, a, b, row, column, residual)) + list(written(np, a, b, row, residual))
    return [y.asnumpy() for y in results]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "complex64"])
def test_same_bits_as_one_by_one(dtype):
    if dtype == "complex64":
        given = [make(M, K) + 1j * make(M, K, seed=1), make(K, N) * 1j, make(N) * (1 + 0j), make(M, N) * (1 + 0j)]

        def run():
            a, b, row, residual = given
            return [y.asnumpy() for y in ((a @ b) * 2 + row, residual - a @ b, np.abs(a @ b + 1))]
    else:

        def run():
            return all_of(*arguments(dtype))

    together = run()
    with engine.no_fuse():
        apart = run()
    for one, other in zip(together, apart, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def test_same_values_as_numpy():
    given = arguments("float64")
    plain = [x.asnumpy() for x in given]
    expected = [*programs(numpy, *plain), *written(numpy, *plain[:3], plain[4])]
    for ours, theirs in zip(all_of(*given), expected, strict=True):
        assert ours.shape == theirs.shape
        assert numpy.allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("left", "right", "other"),
    [
        ((700, 20, 30), (700, 30, 10), (10,)),
        ((700, 20, 30), (700, 30, 10), (700, 20, 1)),
        ((3, 260, 40), (3, 40, 280), (3, 1, 280)),
        ((2, 3, 100, 40), (3, 40, 120), (2, 1, 100, 120)),
        ((6, 50, 40), (40, 300), (50, 1)),
        ((600, 300), (300,), (600,)),
        ((2, 30), (30, 40000), (40000,)),
        ((40000, 3), (3, 2), (2,)),
        ((300, 0), (0, 300), (300,)),
        ((60, 9001), (9001, 70), (70,)),  # the sums are cut, too
    ],
)
def test_stacks_and_thin_products(left, right, other):
    a, b, c = make(*left, dtype="float64"), make(*right, dtype="float64"), make(*other, dtype="float64")
    y = np.maximum(a @ b + c, 0) * 2
    with engine.no_fuse():
        apart = (np.maximum(a @ b + c, 0) * 2).asnumpy()
    assert y.asnumpy().tobytes() == apart.tobytes()
    expected = numpy.maximum(a.asnumpy() @ b.asnumpy() + c.asnumpy(), 0) * 2
    assert numpy.allclose(y.asnumpy(), expected, rtol=1e-9, atol=1e-9)


def planned_at_once(program):
    """Runs it until its calls fell into one batch and were paired: when the planner looks is chance."""
    for _ in range(300):
        npx.waitall()
        engine.empty_cache()
        engine.reset_peaks()
        y = program()
        y.wait_to_read()
        text = engine.explain()
        if "tile by tile" in text:
            return y, text
    raise AssertionError(f"never planned together:\n{text}")


@asynchronous
def test_explain_says_so_and_the_product_is_never_stored():
    a, b, c = make(600, 40), make(40, 700), make(700)
    npx.waitall()
    before = engine.memory()["in_use"]
    y, text = planned_at_once(lambda: npx.relu(a @ b + c))
    assert "tile by tile: matmul -> (600, 700)" in text
    assert "then 2 calls fused into one pass (add relu; 1 stored) -> (600, 700)" in text
    assert text.count("task ") == 1
    assert engine.memory()["peak"] - before < 1.5 * y.size * 4


@asynchronous
@pytest.mark.parametrize("kept", ["by a handle", "by another reader", "transposed", "not fused"])
def test_a_result_that_is_needed_elsewhere_is_stored(kept):
    a, b = make(600, 40), make(40, 700)
    for _ in range(20):
        npx.waitall()
        if kept == "by a handle":
            p = a @ b
            y = p * 2
        elif kept == "by another reader":
            p = a @ b
            y, z = p * 2, p.sum()
            del p
            z.wait_to_read()
        elif kept == "transposed":
            y = (a @ b).T * 2
        else:
            with engine.no_fuse():
                y = (a @ b) * 2
                y.wait_to_read()
        y.wait_to_read()
        assert "tile by tile" not in engine.explain()


@asynchronous
def test_traces_name_both():
    a, b, c = make(600, 40), make(40, 700), make(700)
    for _ in range(300):
        with profiler.trace() as trace:
            npx.relu(a @ b + c).wait_to_read()
        names = {event["name"] for event in trace.events if event["type"] == "run"}
        if "matmul, add+relu" in names:
            return
    raise AssertionError(f"never planned together: {names}")


@asynchronous
def test_failures_stay_where_they_belong():
    a, b, residual = make(M, K), make(K, N), make(M, N)

    def fails(*_):
        raise ValueError("no bias today")

    bad = npx.host_call(fails, [residual], residual.shape, residual.dtype)
    spoiled = np.maximum(a @ b + bad, 0)
    good = np.maximum(a @ b + residual, 0)
    with pytest.raises(ValueError, match="no bias today"):
        spoiled.asnumpy()
    assert numpy.allclose(good.asnumpy(), numpy.maximum(a.asnumpy() @ b.asnumpy() + residual.asnumpy(), 0), atol=1e-3)


@asynchronous
def test_without_memory_the_calls_fail_one_by_one():
    a, b, c = make(600, 40), make(40, 700), make(700)
    expected = npx.relu(a @ b + c).asnumpy()
    failures = 0
    for every in range(1, 5):
        npx.waitall()
        with engine._fail_allocations(every):
            y = npx.relu(a @ b + c)
            try:
                assert y.asnumpy().tobytes() == expected.tobytes()
            except MemoryError:
                failures += 1
    assert failures
    assert npx.relu(a @ b + c).asnumpy().tobytes() == expected.tobytes()
