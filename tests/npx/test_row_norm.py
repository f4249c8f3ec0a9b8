"""Softmax and layer norm along rows of every length, against float64 formulas in NumPy; the bits that promises name."""

import numpy
import pytest

from slipstream import engine, np, npx

LENGTHS = [1, 2, 7, 10, 16, 33, 127, 128, 129, 255, 1000, 1024, 1025, 5000]
TOLERANCE = {"float32": 2e-6, "float64": 4e-15}


def rows(length, dtype, count=37):
    rng = numpy.random.default_rng(length)
    return (rng.normal(size=(count, length)) * 4 + 1).astype(dtype)


def softmax(x):
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_softmax_of_every_length(length, dtype):
    x = rows(length, dtype)
    expected = softmax(x.astype("longdouble"))
    made, logs = npx.softmax(np.array(x)), npx.log_softmax(np.array(x))
    assert made.dtype == logs.dtype == dtype
    tolerance = 4 * TOLERANCE[dtype]  # small powers carry the rounding of x - max
    numpy.testing.assert_allclose(made.asnumpy(), expected.astype("float64"), rtol=tolerance)
    numpy.testing.assert_allclose(logs.asnumpy(), numpy.log(expected).astype("float64"), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_layer_norm_of_every_length(length, dtype):
    x = rows(length, dtype)
    gamma, beta = rows(length, dtype, 2)
    wide = x.astype("float64")
    mean, deviation = wide.mean(-1, keepdims=True), numpy.sqrt(wide.var(-1, keepdims=True) + 1e-3)
    expected = (wide - mean) / deviation * gamma + beta
    given = np.array(x), np.array(gamma), np.array(beta)
    made, *moments = npx.layer_norm(*given, eps=1e-3, output_mean_var=True)
    tolerance = TOLERANCE[dtype] * 10
    for ours, theirs in ((made, expected), (moments[0], mean), (moments[1], deviation)):
        assert ours.dtype == dtype
        numpy.testing.assert_allclose(ours.asnumpy(), theirs, rtol=tolerance, atol=tolerance * 10)
    assert npx.layer_norm(*given, eps=1e-3).asnumpy().tobytes() == made.asnumpy().tobytes()


@pytest.mark.parametrize("length", [3, 127, 128, 700])
def test_a_row_has_the_same_bits_wherever_it_lies(length):
    x = rows(length, "float32", 600)
    whole, ones = np.array(x), np.array(rows(length, "float32", 1)[0])
    for f in (npx.softmax, npx.log_softmax, lambda x: npx.layer_norm(x, ones, ones)):
        expected = f(whole).asnumpy()
        for part in (slice(5, 6), slice(99, 350), slice(None, None, 7)):
            assert f(whole[part]).asnumpy().tobytes() == expected[part].tobytes()
        for shape in ((30, 20, length), (2, 3, 100, length)):
            assert f(whole.reshape(shape)).asnumpy().tobytes() == expected.tobytes()
        assert f(np.array(x, order="F")).asnumpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("length", [5, 300])
def test_special_values_stay_in_their_row(length):
    x = rows(length, "float32", 6)
    x[1, 2], x[2, 0], x[3, :] = numpy.nan, numpy.inf, -numpy.inf
    x[4, 1] = -numpy.inf
    for f in (npx.softmax, npx.log_softmax):
        made = f(np.array(x)).asnumpy()
        assert numpy.isnan(made[1:4]).all() and not numpy.isnan(made[[0, 4, 5]]).any()
    assert npx.softmax(np.array(x)).asnumpy()[4, 1] == 0
    made = npx.layer_norm(np.array(x), np.ones(length, dtype="float32"), np.zeros(length, dtype="float32")).asnumpy()
    assert numpy.isnan(made[1:5]).any(-1).all() and not numpy.isnan(made[[0, 5]]).any()


def test_large_values_do_not_overflow():
    x = np.array([[1e30, 1e30, 0.0], [3e38, -3e38, 3e38]], dtype="float32")
    assert npx.softmax(x).asnumpy().tolist() == [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]


def test_more_axes_than_rows_and_rows_of_nothing():
    x = rows(6, "float32", 4).reshape(2, 1, 2, 6)
    numpy.testing.assert_allclose(npx.softmax(np.array(x)).asnumpy(), softmax(x), rtol=1e-5)
    for shape in ((0, 5), (3, 0)):
        width = shape[-1]
        assert npx.softmax(np.ones(shape)).shape == shape
        assert npx.layer_norm(np.ones(shape), np.ones(width), np.zeros(width)).shape == shape


def test_errors_name_the_values():
    from slipstream import _core

    x, p = np.ones((2, 3), dtype="float32"), np.ones(3, dtype="float32")
    with pytest.raises(ValueError, match=r"a parameter has shape \(2,\), but rows of data \(2, 3\) have 3 elements"):
        _core.layer_norm(x, np.ones(2, dtype="float32"), p, 0.0)
    with pytest.raises(TypeError, match="dtypes float32 and float64 differ"):
        _core.layer_norm(x, p, np.ones(3, dtype="float64"), 0.0)
    with pytest.raises(TypeError, match="log_softmax: dtype int64 is neither float32 nor float64"):
        _core.softmax(np.ones(3, dtype="int64"), 0, True)
    with pytest.raises(IndexError, match="softmax: axis 2 is out of bounds for an array of dimension 1"):
        _core.softmax(np.ones(3, dtype="float32"), 2, False)
    with pytest.raises(ValueError, match="layer_norm: data without axes has no rows"):
        _core.layer_norm(np.array(1.0, dtype="float32"), p, p, 0.0)


def test_together_with_what_comes_before_and_after():
    """In one task with its neighbours, block of rows by block of rows: the same bits as alone."""
    x, p = np.array(rows(500, "float32", 300)), np.array(rows(500, "float32", 1)[0])

    def run():
        y = npx.layer_norm(x * 2 + 1, p, p) * p
        return npx.softmax(y - y.max(axis=-1, keepdims=True)) + 1

    together = run().asnumpy()
    with engine.no_fuse():
        assert run().asnumpy().tobytes() == together.tobytes()
