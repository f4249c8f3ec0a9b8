"""Losses against NumPy, and their gradients against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from slipstream import autograd, engine, np
from slipstream.gluon import loss as L

A = numpy.ndarray[Any, Any]


def log_softmax(x: A, axis: int = -1) -> A:
    return x - numpy.log(numpy.exp(x).sum(axis=axis, keepdims=True))


def sigmoid(x: A) -> A:
    return 1 / (1 + numpy.exp(-x))


def kl(pred: A, label: A) -> A:
    return (label * (numpy.log(label) - pred)).mean(axis=1)


def sdml(a: A, b: A) -> A:
    n = len(a)
    distance = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    labels = numpy.where(numpy.eye(n) == 1, 0.7, 0.3 / (n - 1))
    return kl(log_softmax(-distance), labels)


def cosine(a: A, b: A, y: A) -> A:
    cos = (a * b).sum(1) / numpy.sqrt((a**2).sum(1) * (b**2).sum(1))
    return numpy.where(y == 1, 1 - cos, numpy.maximum(cos - 0.1, 0))


def stirling(y: A) -> A:
    return numpy.where(y > 1, y * numpy.log(y) - y + 0.5 * numpy.log(2 * numpy.pi * y), 0)


def bce(p: A, y: A) -> A:
    return -(y * numpy.log(p) + (1 - y) * numpy.log(1 - p))


NORMAL, SIGN, UNIT, COUNT = "normal", "sign", "unit", "count"
CASES: list[tuple[L.Loss, list[str], Callable[..., A]]] = [
    (L.L2Loss(), [NORMAL, NORMAL], lambda p, y: ((p - y) ** 2).mean(1) / 2),
    (L.L2Loss(weight=3.0), [NORMAL, NORMAL], lambda p, y: 1.5 * ((p - y) ** 2).mean(1)),
    (L.L1Loss(), [NORMAL, NORMAL], lambda p, y: abs(p - y).mean(1)),
    (L.SigmoidBCELoss(), [NORMAL, UNIT], lambda p, y: bce(sigmoid(p), y).mean(1)),
    (L.SigmoidBCELoss(from_sigmoid=True), [UNIT, UNIT], lambda p, y: bce(p, y).mean(1)),
    (L.SoftmaxCELoss(sparse_label=False), [NORMAL, UNIT], lambda p, y: -(log_softmax(p) * y).sum(1)),
    (L.KLDivLoss(from_logits=False), [NORMAL, UNIT], lambda p, y: kl(log_softmax(p), y)),
    (L.KLDivLoss(), [NORMAL, UNIT], kl),
    (
        L.HuberLoss(rho=0.7),
        [NORMAL, NORMAL],
        lambda p, y: numpy.where(abs(p - y) > 0.7, abs(p - y) - 0.35, (p - y) ** 2 / 1.4).mean(1),
    ),
    (L.HingeLoss(), [NORMAL, SIGN], lambda p, y: numpy.maximum(0, 1 - p * y).mean(1)),
    (L.SquaredHingeLoss(), [NORMAL, SIGN], lambda p, y: (numpy.maximum(0, 1 - p * y) ** 2).mean(1)),
    (L.LogisticLoss(), [NORMAL, SIGN], lambda p, y: numpy.log1p(numpy.exp(-p * y)).mean(1)),
    (
        L.TripletLoss(margin=2),
        [NORMAL, NORMAL, NORMAL],
        lambda p, a, b: numpy.maximum(0, ((a - p) ** 2 - (b - p) ** 2).sum(1) + 2),
    ),
    (L.PoissonNLLLoss(), [NORMAL, COUNT], lambda p, y: (numpy.exp(p) - y * p).mean(1)),
    (
        L.PoissonNLLLoss(from_logits=False, compute_full=True),
        [UNIT, COUNT],
        lambda p, y: (p - y * numpy.log(p) + stirling(numpy.maximum(y, 1)) * (y > 1)).mean(1),
    ),
    (L.CosineEmbeddingLoss(margin=0.1), [NORMAL, NORMAL, "sign1"], cosine),
    (L.SDMLLoss(), [NORMAL, NORMAL], sdml),
]


def drawn(kind: str, rng: numpy.random.Generator) -> A:
    shape = (4,) if kind.endswith("1") else (4, 3)
    if kind == NORMAL:
        return rng.normal(size=shape)
    if kind == UNIT:
        return rng.uniform(0.1, 0.9, size=shape)
    if kind == COUNT:
        return rng.integers(0, 6, size=shape).astype(float)
    return rng.choice([-1.0, 1.0], size=shape)


@pytest.mark.parametrize(("loss", "kinds", "formula"), CASES, ids=[type(case[0]).__name__ for case in CASES])
def test_values_and_gradients(loss: Any, kinds: list[str], formula: Any, rng: numpy.random.Generator) -> None:
    values = [drawn(kind, rng) for kind in kinds]
    arrays = [np.array(v, dtype="float64") for v in values]
    arrays[0].attach_grad()
    with engine.sync_guard("raise"), autograd.record():
        found = loss(*arrays)
    assert found.shape == (4,)
    numpy.testing.assert_allclose(found.asnumpy(), formula(*values), rtol=1e-7, atol=1e-9)
    found.backward()
    step, slopes = 1e-6, numpy.zeros_like(values[0])
    for place in numpy.ndindex(values[0].shape):
        up, down = values[0].copy(), values[0].copy()
        up[place] += step
        down[place] -= step
        slopes[place] = (formula(up, *values[1:]) - formula(down, *values[1:])).sum() / (2 * step)
    numpy.testing.assert_allclose(arrays[0].grad.asnumpy(), slopes, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("axis", [-1, 1])
def test_softmax_cross_entropy_of_classes(axis: int, rng: numpy.random.Generator) -> None:
    shape = (4, 3, 5)
    scores = rng.normal(size=shape)
    labels = rng.integers(shape[axis], size=[n for i, n in enumerate(shape) if i != axis % 3])
    logs = log_softmax(scores, axis)
    expected = -numpy.take_along_axis(logs, numpy.expand_dims(labels, axis), axis).mean(axis=(1, 2))
    x = np.array(scores, dtype="float64")
    found = L.SoftmaxCrossEntropyLoss(axis=axis)(x, np.array(labels))
    numpy.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-7)
    from_logits = L.SoftmaxCELoss(axis=axis, from_logits=True)(np.array(logs, dtype="float64"), np.array(labels))
    numpy.testing.assert_allclose(from_logits.asnumpy(), expected, rtol=1e-7)


def test_weights(rng: numpy.random.Generator) -> None:
    p, y, w = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), numpy.array([[1.0], [0], [2], [0.5]])
    arrays = [np.array(v, dtype="float64") for v in (p, y, w)]
    numpy.testing.assert_allclose(L.L1Loss(weight=2)(*arrays).asnumpy(), (2 * w * abs(p - y)).mean(1), rtol=1e-9)
    t = (y > 0).astype(float)
    pos = numpy.array([[1.0, 2.0, 3.0]])
    found = L.SigmoidBCELoss()(arrays[0], np.array(t, dtype="float64"), None, np.array(pos, dtype="float64"))
    expected = -(pos * t * numpy.log(sigmoid(p)) + (1 - t) * numpy.log(1 - sigmoid(p)))
    numpy.testing.assert_allclose(found.asnumpy(), expected.mean(1), rtol=1e-7)
    binary = L.LogisticLoss(label_format="binary")(arrays[0], np.array(t, dtype="float64"))
    numpy.testing.assert_allclose(binary.asnumpy(), bce(sigmoid(p), t).mean(1), rtol=1e-7)


def test_one_number_for_each_item_and_labels_in_another_shape() -> None:
    assert L.L2Loss()(np.ones((3, 1)), np.zeros(3)).shape == (3,)
    assert L.L2Loss(batch_axis=1)(np.ones((3, 2)), np.zeros((3, 2))).shape == (2,)
    with pytest.raises(ValueError, match=r"L2Loss: label \(4,\) and prediction \(3,\) do not match"):
        L.L2Loss()(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="layout 'NCT' is neither"):
        L.CTCLoss("NCT")
    with pytest.raises(ValueError, match="label_format 'x' is neither"):
        L.LogisticLoss(label_format="x")


def test_ctc_of_one_path() -> None:
    """Two times, one label: the paths are label-label, label-blank, blank-label."""
    scores = numpy.log(numpy.array([[[0.6, 0.4]], [[0.3, 0.7]]]))  # (time, item, class); the last class is blank
    expected = -numpy.log(0.6 * 0.3 + 0.6 * 0.7 + 0.4 * 0.3)
    found = L.CTCLoss("TNC")(np.array(scores, dtype="float32"), np.array([[0]]))
    numpy.testing.assert_allclose(found.asnumpy(), [expected], rtol=1e-5)


def test_cosines_of_vectors_without_direction() -> None:
    a, b = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[1.0, 2.0], [0.0, 0.0]])
    for x in (a, b):
        x.attach_grad()
    with autograd.record():
        out = L.CosineEmbeddingLoss()(a, b, np.array([1.0, 1.0]))
    out.backward()
    assert out.tolist() == [1, 1]
    assert not a.grad.any()
    assert not b.grad.any()
