"""Products that are packed for loops of our own: every layout, odd sizes, and bits that the length of a sum decides."""

import numpy
import pytest

from slipstream import engine, np

SHAPES = [(97, 131, 517), (16, 700, 100), (700, 16, 100), (513, 129, 16), (126, 128, 641), (150, 1601, 1100)]


def operand(rows, columns, turned, dtype, seed):
    values = numpy.random.default_rng(seed).normal(size=(rows, columns)).astype(dtype)
    array = np.array(numpy.ascontiguousarray(values.T), dtype=dtype).T if turned else np.array(values, dtype=dtype)
    return values.astype("float64"), array


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_layout_gives_the_product(shape, dtype):
    m, n, k = shape
    for turned_a in (False, True):
        for turned_b in (False, True):
            a, our_a = operand(m, k, turned_a, dtype, 1)
            b, our_b = operand(k, n, turned_b, dtype, 2)
            bound = numpy.abs(a) @ numpy.abs(b) * k * numpy.finfo(dtype).eps
            assert (numpy.abs((our_a @ our_b).asnumpy() - a @ b) <= bound).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_sums_of_wide_results_keep_their_bits(dtype):
    """Tiles that pack their own columns: at any number of workers, and with work on the result that follows."""
    _, a = operand(130, 1100, True, dtype, 1)
    _, b = operand(1100, 1601, False, dtype, 2)
    made = {}
    workers = engine.workers()
    try:
        for count in (1, 2, 5):
            engine.set_workers(count)
            made[count] = [(a @ b).asnumpy(), np.maximum(a @ b + 1, 0).asnumpy()]
    finally:
        engine.set_workers(workers)
    with engine.no_fuse():
        product = a @ b
        wanted = [product.asnumpy(), np.maximum(product + 1, 0).asnumpy()]
    for found in made.values():
        assert all(mine.tobytes() == value.tobytes() for mine, value in zip(found, wanted, strict=True))


def test_parts_of_matrices_and_a_given_place():
    a, our_a = operand(200, 300, False, "float32", 1)
    b, our_b = operand(300, 260, False, "float32", 2)
    out = np.zeros((150, 400))
    np.matmul(our_a[50:, :250], our_b[50:, 7:207], out=out[:, 100:300])
    expected = a[50:, :250] @ b[50:, 7:207]
    numpy.testing.assert_allclose(out.asnumpy()[:, 100:300], expected, rtol=1e-4, atol=1e-3)
    assert not out.asnumpy()[:, :100].any()
    assert not out.asnumpy()[:, 300:].any()


def test_what_is_not_finite_stays_in_its_row_and_column():
    a, b = numpy.ones((100, 120), "float32"), numpy.ones((120, 130), "float32")
    a[99, 0], b[5, 129] = numpy.inf, numpy.nan
    result = (np.array(a) @ np.array(b)).asnumpy()
    assert numpy.isinf(result[99, :129]).all()
    assert numpy.isnan(result[:, 129]).all()
    assert (result[:99, :129] == 120).all()


def test_bits_depend_on_the_length_of_the_sum_alone():
    _, a = operand(600, 700, False, "float32", 1)
    _, b = operand(700, 500, False, "float32", 2)
    whole = (a @ b).asnumpy()
    rows, columns = (a[101:333] @ b).asnumpy(), (a @ b[:, 33:222]).asnumpy()
    turned = (np.array(a.T.asnumpy()).T @ np.array(b.T.asnumpy()).T).asnumpy()
    if not numpy.array_equal(rows, whole[101:333]):
        pytest.skip("the processor's products come from BLAS, which promises less")
    assert numpy.array_equal(columns, whole[:, 33:222])
    assert numpy.array_equal(turned, whole)


@pytest.mark.skipif(engine.kind() == "sync", reason="it has no workers")
def test_the_number_of_workers_does_not_matter():
    _, a = operand(600, 700, True, "float32", 1)
    _, b = operand(700, 500, False, "float32", 2)
    before = engine.workers()
    try:
        results = []
        for workers in (1, 2, 5):
            engine.set_workers(workers)
            results.append((a @ b).asnumpy())
    finally:
        engine.set_workers(before)
    assert all(numpy.array_equal(results[0], other) for other in results[1:])
