"""Gradients of the functions that layers use, first and second order, against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from gradcheck import check

from slipstream import _core, autograd, engine, np, npx, profiler

# Name: function, shapes of its arguments.
CASES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "convolution 1": (lambda x, w, b: npx.convolution(x, w, b, stride=2, pad=1), [(2, 3, 9), (4, 3, 3), (4,)]),
    "convolution 2": (
        lambda x, w, b: npx.convolution(x, w, b, stride=(2, 1), dilate=(1, 2), pad=(1, 2), num_group=2),
        [(2, 4, 6, 7), (6, 2, 3, 2), (6,)],
    ),
    "convolution 3": (lambda x, w: npx.convolution(x, w, no_bias=True), [(1, 2, 3, 4, 5), (2, 2, 2, 2, 2)]),
    "depthwise": (lambda x, w: npx.convolution(x, w, num_group=3, pad=1, no_bias=True), [(2, 3, 5, 5), (3, 1, 3, 3)]),
    "channels last": (lambda x, w: npx.convolution(x, w, layout="NHWC"), [(2, 5, 5, 3), (2, 2, 2, 3)]),
    "deconvolution": (
        lambda x, w, b: npx.deconvolution(x, w, b, stride=2, pad=1, adj=1),
        [(2, 3, 4, 4), (3, 2, 3, 3), (2,)],
    ),
    "max pooling": (lambda x: npx.pooling(x, (3, 2), (2, 2), (1, 0)), [(2, 2, 6, 6)]),
    "average pooling": (
        lambda x: npx.pooling(x, (3, 2), (2, 1), (1, 1), pool_type="avg", count_include_pad=False) ** 2,
        [(2, 2, 6, 5)],
    ),
    "lp pooling": (lambda x: npx.pooling(x + 3, (2, 2), pool_type="lp", p_value=3), [(1, 2, 3, 3)]),
    "global pooling": (lambda x: npx.pooling(x, global_pool=True, pool_type="avg") ** 2, [(2, 3, 4, 4)]),
    "adaptive pooling": (lambda x: npx.adaptive_avg_pool2d(x, (2, 3)) ** 2, [(1, 2, 5, 4)]),
    "resize": (lambda x: npx.bilinear_resize2d(x, 5, 3) ** 2, [(1, 2, 3, 4)]),
    "upsampling": (lambda x: npx.upsampling(x, 2) ** 2, [(1, 2, 2, 3)]),
    "dense": (lambda x, w, b: npx.fully_connected(x, w, b, no_bias=False) ** 2, [(2, 3, 2), (4, 6), (4,)]),
    "softmax": (npx.softmax, [(3, 4)]),
    "softmax with lengths": (
        lambda x: npx.softmax(x, np.array([2, 4, 1]), use_length=True, temperature=2.0),
        [(3, 4)],
    ),
    "log_softmax": (npx.log_softmax, [(3, 4)]),
    "masked_softmax": (lambda x: npx.masked_softmax(x, np.array([[1, 0, 1], [0, 0, 0]])), [(2, 3)]),
    "softmax of long rows": (npx.softmax, [(2, 3, 130)]),
    "log_softmax of long rows": (npx.log_softmax, [(2, 3, 130)]),
    "softmax of many columns": (lambda x: npx.softmax(x, axis=1), [(2, 3, 70)]),
    "log_softmax of many columns": (lambda x: npx.log_softmax(x, axis=-2), [(3, 70)]),
    "layer_norm": (npx.layer_norm, [(3, 5), (5,), (5,)]),
    "layer_norm of long rows": (npx.layer_norm, [(2, 2, 130), (130,), (130,)]),
    "layer_norm of one row": (npx.layer_norm, [(5,), (5,), (5,)]),
    "layer_norm with moments": (lambda x, g, b: npx.layer_norm(x, g, b, output_mean_var=True), [(3, 5), (5,), (5,)]),
    "moments of layer_norm": (lambda x, g, b: npx.layer_norm(x, g, b, output_mean_var=True)[1:], [(3, 5), (5,), (5,)]),
    "group_norm": (lambda x, g, b: npx.group_norm(x, g, b, num_groups=2), [(2, 4, 3), (4,), (4,)]),
    "instance_norm": (npx.instance_norm, [(2, 3, 4), (3,), (3,)]),
    "l2_normalization": (npx.l2_normalization, [(2, 5)]),
    "lrn": (lambda x: npx.lrn(x, alpha=0.5, nsize=3), [(2, 4, 3)]),
    "gelu": (npx.gelu, [(7,)]),
    "gelu tanh": (lambda x: npx.gelu(x, "tanh"), [(7,)]),
    "mish": (npx.mish, [(7,)]),
    "silu": (npx.silu, [(7,)]),
    "prelu": (lambda x, g: npx.leaky_relu(x, g, "prelu"), [(2, 3, 2), (3,)]),
    "elu": (lambda x: npx.leaky_relu(x, act_type="elu"), [(7,)]),
    "selu": (lambda x: npx.leaky_relu(x, act_type="selu"), [(7,)]),
    "smooth_l1": (npx.smooth_l1, [(7,)]),
    "ctc_loss": (lambda x: npx.ctc_loss(x, np.array([[1, 2], [2, 2]])), [(5, 2, 3)]),
    "box_iou": (lambda a, b: npx.box_iou(a * 0.1 + 1, b * 0.1 + 1, format="center"), [(2, 4), (3, 4)]),
    "box_nms": (lambda x: npx.box_nms(x * 0.1 + 1, 0.3, topk=3) ** 2, [(2, 4, 6)]),
    "box_nms of centers": (
        lambda x: npx.box_nms(x * 0.1 + 1, 0.9, in_format="center", out_format="corner") ** 2,
        [(4, 6)],
    ),
    "deformable": (
        lambda x, o, m, w, b: npx.modulated_deformable_convolution(x, o * 0.1 + 0.3, m, w, b, pad=1),
        [(1, 2, 4, 4), (1, 8, 5, 5), (1, 4, 5, 5), (3, 2, 2, 2), (3,)],
    ),
    "sliding window": (lambda q, k: npx.sldwin_atten_score(q, k, np.array([1, 2]), w=1), [(1, 4, 2, 3)] * 2),
    "attention": (lambda x: npx.interleaved_matmul_selfatt_qk(x, heads=2), [(3, 2, 12)]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(rng: numpy.random.Generator, name: str) -> None:
    function, shapes = CASES[name]
    check(function, [rng.normal(size=shape) for shape in shapes], rng, tolerance=2e-5)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(rng: numpy.random.Generator, training: bool) -> None:
    def normalize(x: Any, gamma: Any, beta: Any) -> Any:
        mean, var = np.zeros(3, dtype="float64"), np.ones(3, dtype="float64")
        with autograd.train_mode() if training else autograd.predict_mode():
            return npx.batch_norm(x, gamma, beta, mean, var, fix_gamma=False)

    check(normalize, [rng.normal(size=(4, 3, 2)), rng.normal(size=3), rng.normal(size=3)], rng, tolerance=2e-5)


@pytest.mark.parametrize("fixed", [True, False])
def test_batch_norm_by_channel(rng: numpy.random.Generator, fixed: bool) -> None:
    """Channels with many places have a kernel of their own; its gradient has one, too."""

    def normalize(x: Any, gamma: Any, beta: Any) -> Any:
        mean, var = np.zeros(2, dtype="float64"), np.ones(2, dtype="float64")
        with autograd.train_mode():
            made = npx.batch_norm(x, gamma, beta, mean, var, fix_gamma=fixed)
        return made + gamma.sum()  # with fix_gamma nobody else would read it

    values = [rng.normal(size=(3, 2, 3, 5)), rng.normal(size=2), rng.normal(size=2)]
    check(normalize, values, rng, tolerance=2e-5, exact=False)  # to be differentiated again it is made of rows


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 3, 8), (5, 1, 3, 7), (1, 2, 1100), (3, 17, 40, 33), (2, 2, 3, 4, 5)])
def test_batch_norm_by_channel_is_the_composed_one(
    rng: numpy.random.Generator, shape: tuple[int, ...], dtype: str
) -> None:
    values = [rng.normal(3, 2, size=shape), *(rng.normal(size=shape[1]) for _ in range(2)), rng.normal(size=shape)]
    found = []
    for composed in (False, True):
        x, gamma, beta, head = (np.array(v, dtype=dtype) for v in values)
        mean, var = np.zeros(shape[1], dtype=dtype), np.ones(shape[1], dtype=dtype)
        for v in (x, gamma, beta):
            v.attach_grad()
        with autograd.record():
            made = npx.batch_norm(x, gamma, beta, mean, var, fix_gamma=False, output_mean_var=composed)
            made = made[0] if composed else made
        made.backward(head)
        found.append([v.asnumpy() for v in (made, mean, var, x.grad, gamma.grad, beta.grad)])
    for a, b in zip(*found, strict=True):
        numpy.testing.assert_allclose(a, b, rtol=1e-9 if dtype == "float64" else 2e-4, atol=1e-4 * abs(b).max())


@pytest.mark.parametrize("steps", [1, 4])
def test_the_gradient_of_a_weight_of_many_steps_is_one_product(rng: numpy.random.Generator, steps: int) -> None:
    def run(x: Any, weight: Any) -> Any:
        for _ in range(steps):
            x = np.tanh(_core.shared_product(x, weight))
        return x

    check(run, [rng.normal(size=(3, 4)), rng.normal(size=(4, 4))], rng, tolerance=2e-5)
    x, weight = np.array(rng.normal(size=(3, 4))), np.array(rng.normal(size=(4, 4)))
    weight.attach_grad()
    with autograd.record():
        out = run(x, weight)
    with profiler.trace() as trace, engine.no_skip():
        out.backward()
        npx.waitall()
    shapes = [e["shapes"] for e in trace.events if e["type"] == "record" and e["name"] == "matmul"]
    assert sum(text.startswith(f"(4, {3 * steps}) ") for text in shapes) == 1
    assert len(shapes) == steps


@pytest.mark.parametrize("mode", ["rnn_tanh", "gru", "lstm"])
def test_rnn(rng: numpy.random.Generator, mode: str) -> None:
    gates = {"rnn_tanh": 1, "gru": 3, "lstm": 4}[mode]
    count = 2 * gates * 2 * (3 + 2 + 2) + 2 * gates * 2 * (4 + 2 + 2)
    state = rng.normal(size=(4, 2, 2))

    def run(x: Any, parameters: Any, *states: Any) -> Any:
        return npx.rnn(x, parameters, *states, mode=mode, state_size=2, num_layers=2, bidirectional=True)

    states = [state, state] if mode == "lstm" else [state]
    exact = mode != "lstm"  # to be differentiated again, that one is made of its steps
    check(run, [rng.normal(size=(3, 2, 3)), rng.normal(size=count) / 2, *states], rng, tolerance=2e-5, exact=exact)


def test_dropout_scales_gradients() -> None:
    x = np.ones(1000)
    x.attach_grad()
    with autograd.record():
        y = npx.dropout(x, 0.4)
        z = (y * 3).sum()
    z.backward()
    numpy.testing.assert_allclose(x.grad.asnumpy(), 3 * y.asnumpy(), rtol=1e-6)


def test_running_statistics_are_no_part_of_the_graph() -> None:
    x, ones = np.random.normal(size=(4, 3)), np.ones(3)
    mean, var = np.zeros(3), np.ones(3)
    x.attach_grad()
    for _ in range(2):  # the second call reads what the first wrote
        with autograd.record():
            y = npx.batch_norm(x, ones, 0 * ones, mean, var)
            loss = (y * y * y).sum()
        loss.backward()
    assert numpy.isfinite(x.grad.asnumpy()).all()
    assert (mean.asnumpy() != 0).all()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gradients_have_the_types_of_their_inputs(dtype: str) -> None:
    x, w = np.ones((1, 2, 4, 4), dtype=dtype), np.ones((3, 2, 2, 2), dtype="float32")
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        y = npx.pooling(npx.convolution(x, w, no_bias=True), (2, 2))
    y.backward()
    assert x.grad.dtype == x.dtype and w.grad.dtype == w.dtype
    assert (w.grad.asnumpy() == 4).all()
