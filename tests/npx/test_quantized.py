"""Integers of 8 bits that stand for real numbers: what they stand for is near the real numbers and layers."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from slipstream import engine, np, npx


def real(parts: Any) -> Any:
    """What the numbers stand for."""
    x, low, high = (part.asnumpy() for part in parts)
    if x.dtype == numpy.uint8:
        return x * (high - low) / 255 + low
    levels = {"int8": 127, "int32": 2**31 - 1}[x.dtype.name]
    return x.astype("float64") * numpy.maximum(abs(low), abs(high)) / levels


def eight(values: Any, kind: str = "int8") -> Any:
    return npx.contrib_quantize_v2(np.array(values, dtype="float32"), kind)


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_round_trip(kind: str, rng: numpy.random.Generator) -> None:
    x = rng.uniform(-3, 2, (4, 5)).astype("float32")
    made = npx.contrib_quantize(np.array(x), np.array(-3.0), np.array([2.0]), kind)
    step = 6 / 254 if kind == "int8" else 5 / 255
    assert made[0].dtype == kind and numpy.abs(real(made) - x).max() <= step / 2 + 1e-6
    far = npx.contrib_quantize(np.array([-99.0, 99.0]), np.array(-3.0), np.array(2.0), kind)
    assert far[0].tolist() == ([-127, 127] if kind == "int8" else [0, 255])


def test_ranges() -> None:
    x = np.array([-1.0, 0.5, 2.0])
    assert [part.tolist() for part in npx.contrib_quantize_v2(x)][1:] == [[-2], [2]]
    made = npx.contrib_quantize_v2(x, "auto", min_calib_range=0.0, max_calib_range=2.0)
    assert made[0].dtype == np.uint8 and made[0].tolist() == [0, 64, 255]
    assert npx.contrib_quantize_v2(x, "auto")[0].dtype == np.int8
    with pytest.raises(ValueError, match="out_type 'int4' is none of"):
        npx.contrib_quantize_v2(x, "int4")
    wide = [np.array([2**30, -(2**29)], dtype="int32"), np.array(-8.0), np.array(8.0)]
    numpy.testing.assert_allclose(real(npx.requantize(*wide)), [4, -2], atol=0.02)
    numpy.testing.assert_allclose(
        real(npx.requantize(*wide, min_calib_range=-3, max_calib_range=3)), [3, -2], atol=0.02
    )


def test_layers(rng: numpy.random.Generator) -> None:
    x, w, b = rng.uniform(-1, 1, (3, 8)), rng.uniform(-1, 1, (4, 8)), rng.uniform(-1, 1, 4)
    qx, qw, qb = eight(x), eight(w), eight(b)
    made = npx.quantized_fully_connected(qx[0], qw[0], qb[0], *qx[1:], *qw[1:], *qb[1:], num_hidden=4)
    assert made[0].dtype == np.int32
    numpy.testing.assert_allclose(real(made), real(qx) @ real(qw).T + real(qb), atol=1e-3)
    image, kernel = rng.uniform(-1, 1, (2, 3, 6, 6)), rng.uniform(-1, 1, (4, 3, 3, 3))
    qi, qk = eight(image), eight(kernel)
    made = npx.quantized_conv(qi[0], qk[0], qb[0], *qi[1:], *qk[1:], *qb[1:], kernel=(3, 3), pad=(1, 1), num_filter=4)
    wanted = npx.convolution(
        np.array(real(qi)),
        np.array(real(qk)),
        np.array(real(qb)),
        kernel=(3, 3),
        pad=(1, 1),
        num_filter=4,
        no_bias=False,
    )
    numpy.testing.assert_allclose(real(made), wanted.asnumpy(), atol=1e-3)
    pooled = npx.quantized_pooling(*qi, kernel=(2, 2), stride=(2, 2), pool_type="avg")
    wanted = npx.pooling(np.array(real(qi)), kernel=(2, 2), stride=(2, 2), pool_type="avg")
    numpy.testing.assert_allclose(real(pooled), wanted.asnumpy(), atol=1 / 127)


def test_what_keeps_the_range(rng: numpy.random.Generator) -> None:
    parts = eight(rng.uniform(-1, 1, (2, 3, 4)))
    x = real(parts)
    numpy.testing.assert_array_equal(real(npx.quantized_flatten(*parts)), x.reshape(2, 12))
    numpy.testing.assert_array_equal(real(npx.quantized_reshape(*parts, newshape=(-5, -1))), x.reshape(6, 4))
    numpy.testing.assert_array_equal(real(npx.quantized_transpose(*parts, axes=(2, 0, 1))), x.transpose(2, 0, 1))
    numpy.testing.assert_array_equal(real(npx.quantized_act(*parts)), numpy.maximum(x, 0))
    table = eight(rng.uniform(-1, 1, (5, 2)))
    made = npx.quantized_embedding(np.array([3, 1]), *table, input_dim=5, output_dim=2)
    numpy.testing.assert_array_equal(real(made), real(table)[[3, 1]])
    with pytest.raises(ValueError, match="act_type 'tanh' is none of 'relu'"):
        npx.quantized_act(*parts, act_type="tanh")


def test_elementwise(rng: numpy.random.Generator) -> None:
    a, b = eight(rng.uniform(-1, 1, (3, 4))), eight(rng.uniform(-2, 2, (3, 4)))
    given = [a[0], b[0], *a[1:], *b[1:]]
    numpy.testing.assert_allclose(real(npx.quantized_elemwise_mul(*given)), real(a) * real(b), atol=1e-6)
    numpy.testing.assert_allclose(
        npx.quantized_elemwise_mul(*given, enable_float_output=True).asnumpy(), real(a) * real(b), atol=1e-6
    )
    scaled = npx.quantized_elemwise_mul(*given, min_calib_range=-2, max_calib_range=2)
    numpy.testing.assert_allclose(real(scaled), real(a) * real(b), atol=0.01)
    numpy.testing.assert_allclose(real(npx.quantized_elemwise_add(*given)), real(a) + real(b), atol=0.02)
    with pytest.raises(TypeError, match="an array of float32 is none of int8, uint8, int32"):
        npx.quantized_elemwise_mul(np.ones(2), np.ones(2), *given[2:])


def test_intgemm(rng: numpy.random.Generator) -> None:
    x, w, b = (rng.uniform(-2, 2, shape).astype("float32") for shape in ((3, 8), (4, 8), (4,)))
    ours = [np.array(v) for v in (x, w, b)]
    assert npx.intgemm_maxabsolute(ours[0]).tolist() == [abs(x).max()]
    weight = npx.intgemm_prepare_weight(ours[1])
    assert weight.dtype == np.int8 and npx.intgemm_prepare_weight(weight, already_quantized=True) is weight
    scale = abs(w).max() / 127
    made = npx.intgemm_fully_connected(ours[0], weight, scale, ours[2], num_hidden=4, no_bias=False)
    numpy.testing.assert_allclose(made.asnumpy(), x @ w.T + b, atol=0.2)
    whole = npx.intgemm_fully_connected(npx.intgemm_prepare_data(ours[0], 2.0), weight, out_type="int32")
    assert whole.dtype == np.int32
    numpy.testing.assert_allclose(whole.asnumpy() * (2 / 127) * scale, x @ w.T, atol=0.2)
    assert npx.intgemm_take_weight(weight, np.array([2])).tolist() == [weight[2].tolist()]


def test_calibration(rng: numpy.random.Generator) -> None:
    counts, edges = numpy.histogram(numpy.append(rng.normal(size=20_000), [30.0, -30.0]), 1001, (-30, 30))
    with engine.sync_guard("raise"):
        threshold, loss = npx.contrib_calibrate_entropy(np.array(counts), np.array(edges), 255)
    assert 2 < threshold.item() < 12 and 0 <= loss.item() < 1
    with pytest.raises(ValueError, match="both numbers of bins must be odd"):
        npx.contrib_calibrate_entropy(np.ones(10), np.ones(11))
