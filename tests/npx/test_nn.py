"""Functions of layers against formulas in NumPy: activations, softmax, normalisation, dropout, attention."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import autograd, gluon, np, npx

Values = Any


# ---- activations

ACTIVATIONS: dict[str, Any] = {
    "mish": lambda x: x * numpy.tanh(numpy.log1p(numpy.exp(x))),
    "silu": lambda x: x / (1 + numpy.exp(-x)),
    "hard_sigmoid": lambda x: numpy.clip(0.2 * x + 0.5, 0, 1),
    "hard_swish": lambda x: x * numpy.clip(x + 3, 0, 6) / 6,
    "smooth_l1": lambda x: numpy.where(abs(x) < 1, x * x / 2, abs(x) - 0.5),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(rng: numpy.random.Generator, name: str) -> None:
    x = rng.normal(size=(4, 5)) * 3
    same(getattr(npx, name)(np.array(x)), ACTIVATIONS[name](x))


def test_gelu(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=7)
    exact = numpy.array([v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x])
    same(npx.gelu(np.array(x)), exact)
    approximate = 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    same(npx.gelu(np.array(x), "tanh"), approximate)
    same(npx.leaky_relu(np.array(x), act_type="gelu_tanh"), approximate)
    with pytest.raises(ValueError, match="approximation 'sin'"):
        npx.gelu(np.array(x), "sin")


def test_leaky_relu_family(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 4))
    slopes = rng.uniform(size=3)
    bent = numpy.where(x > 0, x, x * slopes[:, None])
    same(npx.leaky_relu(np.array(x), np.array(slopes), "prelu"), bent)
    same(npx.leaky_relu(np.array(x), np.array(slopes[:, None]), "prelu"), bent)
    each = numpy.stack([slopes, slopes])  # of each example
    same(npx.leaky_relu(np.array(x), np.array(each), "prelu"), bent)
    same(npx.leaky_relu(np.array(x), act_type="rrelu"), numpy.where(x > 0, x, x * (0.125 + 0.334) / 2))
    with autograd.train_mode():
        drawn = npx.leaky_relu(-np.ones(1000), act_type="rrelu").asnumpy()
    assert -0.334 <= drawn.min() < -0.3 and -0.15 < drawn.max() <= -0.125
    selu = 1.0507009873554805 * numpy.where(x > 0, x, 1.6732632423543772 * numpy.expm1(x))
    same(npx.leaky_relu(np.array(x), act_type="selu"), selu)
    with pytest.raises(ValueError, match="prelu needs gamma"):
        npx.leaky_relu(np.array(x), act_type="prelu")
    with pytest.raises(ValueError, match=r"gamma has shape \(5,\)"):
        npx.leaky_relu(np.array(x), np.ones(5), "prelu")


# ---- softmax


def softmax(x: Values, axis: int = -1) -> Values:
    e = numpy.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def test_masked_softmax(rng: numpy.random.Generator) -> None:
    x, mask = rng.normal(size=(3, 4, 5)), rng.uniform(size=(4, 5)) < 0.6
    mask[0] = False
    kept = numpy.where(mask, numpy.exp(x / 2), 0)
    total = kept.sum(-1, keepdims=True)
    expected = kept / numpy.where(total > 0, total, 1)
    same(npx.masked_softmax(np.array(x), np.array(mask), temperature=2.0), expected)
    with numpy.errstate(divide="ignore"):
        same(npx.masked_log_softmax(np.array(x), np.array(mask), temperature=2.0), numpy.log(expected))
    with pytest.raises(ValueError, match=r"mask of shape \(3,\)"):
        npx.masked_softmax(np.array(x), np.ones(3))


COLUMNS = [(3, 64), (1, 70), (1000, 65), (7, 1500), (2, 5, 8, 9), (3, 33, 10, 100), (2000, 64), (5, 63)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", COLUMNS)
def test_softmax_of_columns(shape: tuple[int, ...], dtype: str, rng: numpy.random.Generator) -> None:
    """Along axes that others follow, at sizes on both sides of where the kernel changes; views as data, too."""
    x = (rng.normal(size=shape) * 20).astype(dtype)
    bound = 1e-5 if dtype == "float32" else 1e-13
    for axis in range(len(shape) - 1):
        for ours, theirs in ((np.array(x, dtype=dtype), x), (np.array(x, dtype=dtype)[::-1], x[::-1])):
            exact = theirs.astype("float64")
            made, logs = npx.softmax(ours, axis=axis), npx.log_softmax(ours, axis=axis - len(shape))
            assert made.dtype == logs.dtype == dtype
            assert abs(made.asnumpy() - softmax(exact, axis)).max() < bound
            moved = exact - exact.max(axis, keepdims=True)
            wanted = moved - numpy.log(numpy.exp(moved).sum(axis, keepdims=True))
            assert abs(logs.asnumpy() - wanted).max() < 100 * bound


def test_softmax_of_columns_with_nan_and_infinity(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(50, 80))
    x[3, 5], x[4, 6], x[:, 7], x[9, 8] = numpy.nan, -numpy.inf, -numpy.inf, numpy.inf
    with numpy.errstate(invalid="ignore"):
        expected = softmax(x, 0)
    for dtype in ("float32", "float64"):
        made = npx.softmax(np.array(x, dtype=dtype), axis=0).asnumpy()
        assert (numpy.isnan(made) == numpy.isnan(expected)).all()
        assert abs(numpy.nan_to_num(made - expected)).max() < 1e-6


def test_softmin_and_positions(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(3, 4))
    same(npx.softmin(np.array(x)), softmax(-x))
    same(npx.softmax(np.array(x), 0), softmax(x, 0))
    same(npx.softmax(np.array(x), np.array([4, 4, 4]), use_length=True), softmax(x))
    assert npx.softmax(np.ones((0, 3))).shape == (0, 3)


# ---- normalisation


def normalized(x: Values, axes: Any, eps: float) -> Values:
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / numpy.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)


@pytest.mark.parametrize("axis", [1, -1])
def test_batch_norm(rng: numpy.random.Generator, axis: int) -> None:
    x = rng.normal(size=(4, 3, 5, 3)) * 2 + 1
    gamma, beta, mean, var = (rng.uniform(0.5, 2, 3) for _ in range(4))
    axes = tuple(i for i in range(4) if i != axis % 4)
    shape = [3 if i == axis % 4 else 1 for i in range(4)]
    ours = [np.array(v) for v in (gamma, beta, mean, var)]

    made = npx.batch_norm(np.array(x), *ours, eps=1e-3, fix_gamma=False, axis=axis)
    g, b, m, v = (a.reshape(shape) for a in (gamma, beta, mean, var))
    same(made, (x - m) / numpy.sqrt(v + 1e-3) * g + b)
    same(ours[2], mean)

    with autograd.train_mode():
        made = npx.batch_norm(np.array(x), *ours, eps=1e-3, momentum=0.8, fix_gamma=True, axis=axis)
        same(made, normalized(x, axes, 1e-3) + b)
        same(ours[2], 0.8 * mean + 0.2 * x.mean(axes))
        same(ours[3], 0.8 * var + 0.2 * x.var(axes))
        before = ours[2].asnumpy()
        npx.batch_norm(np.array(x), *ours, use_global_stats=True, axis=axis)
        same(ours[2], before)
        made, batch_mean, inverse = npx.batch_norm(np.array(x), *ours, eps=1e-3, output_mean_var=True, axis=axis)
        same(batch_mean, x.mean(axes))
        same(inverse, 1 / numpy.sqrt(x.var(axes) + 1e-3))
    with pytest.raises(ValueError, match=r"gamma has shape \(4,\), but axis 1 has 3 elements"):
        npx.batch_norm(np.ones((2, 3)), np.ones(4), *ours[1:])


def test_layer_group_and_instance_norm(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 6, 4))
    gamma, beta = rng.normal(size=6), rng.normal(size=6)
    columns = gamma[:, None], beta[:, None]
    expected = normalized(x, 1, 1e-5) * columns[0] + columns[1]
    same(npx.layer_norm(np.array(x), np.array(gamma), np.array(beta), axis=1), expected)
    made, mean, deviation = npx.layer_norm(np.array(x), np.ones(4), np.zeros(4), eps=0.1, output_mean_var=True)
    same(made, normalized(x, 2, 0.1))
    same(mean, x.mean(2, keepdims=True))
    same(deviation, numpy.sqrt(x.var(2, keepdims=True) + 0.1))
    for half in npx.layer_norm(np.array(x, dtype="float16"), np.ones(4), np.zeros(4), output_mean_var=True)[1:]:
        assert (half.shape, half.dtype) == ((2, 6, 1), numpy.float16)

    parts = normalized(x.reshape(2, 3, 2, 4), (2, 3), 1e-3).reshape(x.shape)
    made = npx.group_norm(np.array(x), np.array(gamma), np.array(beta), num_groups=3)
    same(made, parts * columns[0] + columns[1])
    by_group = npx.group_norm(np.array(x), np.array(gamma[:3]), np.array(beta[:3]), num_groups=3)
    same(by_group, parts * gamma[:3].repeat(2)[:, None] + beta[:3].repeat(2)[:, None])
    made = npx.instance_norm(np.array(x), np.array(gamma), np.array(beta), eps=0.01)
    same(made, normalized(x, 2, 0.01) * columns[0] + columns[1])
    with pytest.raises(ValueError, match="cannot be cut into 4 groups"):
        npx.group_norm(np.array(x), np.ones(6), np.zeros(6), num_groups=4)
    with pytest.raises(ValueError, match=r"layer_norm: gamma has shape \(5,\)"):
        npx.layer_norm(np.array(x), np.ones(5), np.zeros(5))


def test_norms_of_short_floats_are_summed_as_float32(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 500)) + 20
    made = npx.layer_norm(np.array(x, dtype="float16"), np.ones(500), np.zeros(500))
    assert made.dtype == numpy.float16
    assert abs(made.asnumpy() - normalized(x.astype("float16").astype("float64"), 1, 1e-5)).max() < 5e-3


def test_l2_normalization_and_lrn(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 7, 3, 4))
    for mode, axes in (("instance", (1, 2, 3)), ("channel", (1,)), ("spatial", (2, 3))):
        expected = x / numpy.sqrt((x**2).sum(axes, keepdims=True) + 1e-10)
        same(npx.l2_normalization(np.array(x), mode=mode), expected)
    sums = numpy.zeros(x.shape)
    for c in range(7):
        sums[:, c] = (x[:, max(0, c - 2) : c + 3] ** 2).sum(1)
    same(npx.lrn(np.array(x), alpha=0.1, nsize=5), x / (2 + 0.1 / 5 * sums) ** 0.75)


def test_dropout() -> None:
    x = np.ones((200, 50))
    assert npx.dropout(x, 0.3) is x
    npx.seed(3)
    with autograd.train_mode():
        made = npx.dropout(x, 0.3).asnumpy()
        again = npx.dropout(x, 0.3).asnumpy()
        npx.seed(3)
        assert (npx.dropout(x, 0.3).asnumpy() == made).all() and (again != made).any()
        shared = npx.dropout(x, 0.5, axes=(1,)).asnumpy()
    assert set(numpy.unique(made)) == {0, numpy.float32(1 / 0.7)}
    assert abs((made == 0).mean() - 0.3) < 0.02
    assert (shared == shared[:, :1]).all() and len(numpy.unique(shared)) == 2
    assert (npx.dropout(x, 0.5, mode="always").asnumpy() == 0).any()
    with pytest.raises(ValueError, match=r"p is 1\.5"):
        npx.dropout(x, 1.5)


# ---- products


def test_fully_connected(rng: numpy.random.Generator) -> None:
    x, w, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(5, 12)), rng.normal(size=5)
    made = npx.fully_connected(np.array(x), np.array(w), np.array(b), num_hidden=5, no_bias=False)
    same(made, x.reshape(2, 12) @ w.T + b)
    same(npx.fully_connected(np.array(x), np.array(w[:, :4]), flatten=False), x @ w[:, :4].T)
    with pytest.raises(ValueError, match="num_hidden is 6"):
        npx.fully_connected(np.array(x), np.array(w), num_hidden=6)
    with pytest.raises(ValueError, match=r"shape \(2, 12\) does not fit weight of shape \(5, 11\)"):
        npx.fully_connected(np.array(x), np.array(w[:, :11]))


def test_interleaved_attention(rng: numpy.random.Generator) -> None:
    length, batch, heads, size = 4, 2, 3, 5
    q, k, v = (rng.normal(size=(length, batch, heads, size)) for _ in range(3))
    packed = np.array(numpy.stack([q, k, v], 3).reshape(length, batch, -1))
    scores = numpy.einsum("ibhd,jbhd->bhij", q, k).reshape(batch * heads, length, length) / math.sqrt(size)
    same(npx.interleaved_matmul_selfatt_qk(packed, heads=heads), scores)
    context = numpy.einsum("bhij,jbhd->ibhd", scores.reshape(batch, heads, length, length), v).reshape(
        length, batch, -1
    )
    same(npx.interleaved_matmul_selfatt_valatt(packed, np.array(scores), heads=heads), context)
    pairs = np.array(numpy.stack([k, v], 3).reshape(length, batch, -1))
    queries = np.array(q.reshape(length, batch, -1))
    same(npx.interleaved_matmul_encdec_qk(queries, pairs, heads=heads), scores)
    same(npx.interleaved_matmul_encdec_valatt(pairs, np.array(scores), heads=heads), context)


@pytest.mark.parametrize("symmetric", [True, False])
def test_sliding_windows(rng: numpy.random.Generator, symmetric: bool) -> None:
    batch, length, heads, size, w = 2, 6, 2, 3, 2
    q, k, v = (rng.normal(size=(batch, length, heads, size)) for _ in range(3))
    dilation, ends = [1, 2], [6, 4]
    window = 2 * w + 1 if symmetric else w + 1
    scores, mask = numpy.zeros((2, batch, length, heads, window))
    context = numpy.zeros(v.shape)
    for b, i, h, j in numpy.ndindex(batch, length, heads, window):
        at = i + (j - w) * dilation[h]
        if 0 <= at < length:
            scores[b, i, h, j] = q[b, i, h] @ k[b, at, h]
            context[b, i, h] += scores[b, i, h, j] * v[b, at, h]
            mask[b, i, h, j] = at < ends[b] and i < ends[b]
    options: Any = {"w": w, "symmetric": symmetric}
    gaps = np.array(dilation)
    same(npx.sldwin_atten_score(np.array(q), np.array(k), gaps, **options), scores)
    same(npx.sldwin_atten_context(np.array(scores), np.array(v), gaps, **options), context)
    same(npx.sldwin_atten_mask_like(np.array(scores), gaps, np.array(ends), **options), mask)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_softmax_of_rows_whose_sum_half_floats_cannot_hold(dtype: str) -> None:
    n = 70000
    x, all_count = np.zeros((1, n), dtype=dtype), np.ones((1, n), dtype=bool)
    for made in (npx.softmax(x), npx.softmin(x), npx.masked_softmax(x, all_count), npx.softmax(x.T, axis=0)):
        assert made.dtype == x.dtype
        assert abs(float(made.astype("float32").sum()) - 1) < 0.01
    logs = [npx.log_softmax(x), npx.log_softmax(x.T, axis=0), npx.masked_log_softmax(x, all_count)]
    logs += [-npx.logsumexp(x), -gluon.loss.SoftmaxCELoss()(x, np.array([3]))]
    for made in logs:
        assert made.dtype == x.dtype
        assert abs(float(made.astype("float32").min()) + math.log(n)) < 0.05
    assert abs(float(npx.softmax(x, np.array([66000]), use_length=True).astype("float32").sum()) - 1) < 0.01
    x.attach_grad()
    with autograd.record():
        loss = gluon.loss.SoftmaxCELoss()(x, np.array([3]))
    loss.backward()
    assert abs(float(x.grad[0, 3]) + 1) < 1e-2 and abs(float(x.grad[0, 4]) * n - 1) < 1e-2


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64"])
def test_gate_lets_through_where_the_other_is_positive(dtype: str, rng: numpy.random.Generator) -> None:
    x, y = (rng.integers(-3, 4, (5, 67)).astype(dtype) for _ in range(2))
    if x.dtype.kind == "f":
        y[0, :9] = numpy.nan
        x[0, 5:14] = numpy.nan
    got = npx.gate(np.array(x, dtype=dtype), np.array(y, dtype=dtype))
    assert got.dtype == x.dtype
    assert numpy.array_equal(got.asnumpy(), numpy.where(y > 0, x, 0), equal_nan=x.dtype.kind == "f")


def test_slope_of_relu_is_that_of_its_result(rng: numpy.random.Generator) -> None:
    """At 0, below it, and for NaN there is none."""
    x = np.array([-1.5, -0.0, 0.0, 2.0, numpy.nan])
    x.attach_grad()
    with autograd.record():
        y = npx.relu(x)
        (slope,) = autograd.grad(y.sum(), [x], create_graph=True, retain_graph=True)
        curve = (slope * x).sum()
    curve.backward()
    assert slope.tolist() == [0, 0, 0, 1, 0]
    assert x.grad.tolist() == [0, 0, 0, 1, 0]
