"""Metrics against plain NumPy; they add up without waiting; what they refuse."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy
import pytest

from slipstream import engine, metric, np, npx
from slipstream.gluon import metric as of_gluon

Batch = tuple[Any, Any]


def measured(m: metric.EvalMetric, batches: list[Batch]) -> Any:
    with engine.sync_guard("raise"):
        for i, (label, pred) in enumerate(batches):
            m.update([np.array(label, device=npx.cpu(i % 2))], [np.array(pred)])
    return m.get()[1]


def scores(rng: numpy.random.Generator, classes: int, batches: int = 3) -> list[Batch]:
    made = []
    for i in range(batches):
        n = 20 + i
        pred = rng.dirichlet(numpy.ones(classes), size=n).astype("float32")
        made.append((rng.integers(classes, size=n), pred))
    return made


def joined(batches: list[Batch]) -> Batch:
    return numpy.concatenate([b[0] for b in batches]), numpy.concatenate([b[1] for b in batches])


def test_accuracy(rng: numpy.random.Generator) -> None:
    batches = scores(rng, 4)
    label, pred = joined(batches)
    assert measured(metric.Accuracy(), batches) == (pred.argmax(1) == label).mean()
    assert measured(metric.Accuracy(), [(b[0], b[1].argmax(1)) for b in batches]) == (pred.argmax(1) == label).mean()
    image = (rng.integers(3, size=(2, 5)), rng.normal(size=(2, 3, 5)))
    assert measured(metric.Accuracy(axis=1), [image]) == (image[1].argmax(1) == image[0]).mean()


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_top_k(k: int, rng: numpy.random.Generator) -> None:
    batches = [(label, numpy.round(pred, 1)) for label, pred in scores(rng, 5)]  # with ties
    label, pred = joined(batches)
    best = numpy.argsort(-pred, axis=1, kind="stable")[:, :k]
    m = metric.TopKAccuracy(top_k=k)
    assert m.name == f"top_k_accuracy_{k}"
    assert measured(m, batches) == (best == label[:, None]).any(1).mean()


def f_beta(real: Any, said: Any, beta: float) -> Any:
    hit, false, missed = (real & said).sum(0), (~real & said).sum(0), (real & ~said).sum(0)
    return (1 + beta**2) * hit / numpy.maximum((1 + beta**2) * hit + beta**2 * missed + false, 1e-12)


def test_f1_binary(rng: numpy.random.Generator) -> None:
    batches = scores(rng, 2)
    label, pred = joined(batches)
    real, said = (label == 1)[:, None], (pred[:, 1] > 0.5)[:, None]
    assert math.isclose(measured(metric.F1(), batches), f_beta(real, said, 1)[0])
    flat = [(b[0], b[1][:, 1]) for b in batches]
    assert math.isclose(measured(metric.Fbeta(beta=2), flat), f_beta(real, said, 2)[0])
    assert measured(metric.BinaryAccuracy(), flat) == (real == said).mean()


@pytest.mark.parametrize("average", ["micro", "macro", None])
@pytest.mark.parametrize("kind", ["multiclass", "multilabel"])
def test_f1_of_many_classes(kind: str, average: str | None, rng: numpy.random.Generator) -> None:
    batches = scores(rng, 3)
    if kind == "multilabel":
        batches = [((rng.uniform(size=p.shape) < 0.4).astype(int), p) for _, p in batches]
    label, pred = joined(batches)
    real = label == 1 if kind == "multilabel" else label[:, None] == numpy.arange(3)
    said = pred > 0.3 if kind == "multilabel" else pred.argmax(1)[:, None] == numpy.arange(3)
    each = f_beta(real, said, 1)
    expected = each if average is None else each.mean()
    if average == "micro":
        expected = f_beta(real.reshape(-1, 1), said.reshape(-1, 1), 1)[0]
    numpy.testing.assert_allclose(
        measured(metric.F1(class_type=kind, threshold=0.3, average=average), batches), expected, rtol=1e-9
    )


def test_mcc_and_pcc(rng: numpy.random.Generator) -> None:
    batches = scores(rng, 2)
    label, pred = joined(batches)
    expected = numpy.corrcoef(label, pred[:, 1] > 0.5)[0, 1]
    assert math.isclose(measured(metric.MCC(), batches), expected)
    assert math.isclose(measured(metric.PCC(), batches), expected)
    assert measured(metric.MCC(), [([1, 1], [0.9, 0.8])]) == 0
    m = metric.PCC()
    m.update(np.array([0, 2, 1]), np.array([0, 2, 1]))
    assert m.get()[1] == 1


def test_regression(rng: numpy.random.Generator) -> None:
    batches = [(rng.normal(size=(n, 3)), rng.normal(size=(n, 3))) for n in (4, 7)]
    label, pred = joined(batches)
    away = label - pred
    length = numpy.linalg.norm
    cosine = (label * pred).sum(1) / (length(label, axis=1) * length(pred, axis=1))
    for m, expected in [
        (metric.MAE(), abs(away).mean()),
        (metric.MSE(), (away**2).mean()),
        (metric.RMSE(), math.sqrt((away**2).mean())),
        (metric.MeanPairwiseDistance(), length(away, axis=1).mean()),
        (metric.MeanPairwiseDistance(p=3), length(away, ord=3, axis=1).mean()),
        (metric.MeanCosineSimilarity(), cosine.mean()),
        (metric.PearsonCorrelation(), numpy.corrcoef(label.ravel(), pred.ravel())[0, 1]),
    ]:
        assert math.isclose(measured(m, batches), expected, rel_tol=1e-5), m.name


def test_cross_entropy(rng: numpy.random.Generator) -> None:
    batches = scores(rng, 4)
    label, pred = joined(batches)
    logs = numpy.log(pred[numpy.arange(len(label)), label])
    assert math.isclose(measured(metric.CrossEntropy(), batches), -logs.mean(), rel_tol=1e-5)
    assert math.isclose(measured(metric.NegativeLogLikelihood(), batches), -logs.mean(), rel_tol=1e-5)
    kept = label != 2
    assert math.isclose(
        measured(metric.Perplexity(ignore_label=2), batches), math.exp(-logs[kept].mean()), rel_tol=1e-5
    )
    shifted = [(b[0], numpy.log(b[1]) + 3) for b in batches]
    assert math.isclose(measured(metric.CrossEntropy(from_logits=True), shifted), -logs.mean(), rel_tol=1e-5)
    image = (rng.integers(3, size=(2, 5)), rng.dirichlet(numpy.ones(3), size=(2, 5)).transpose(0, 2, 1))
    rows = numpy.take_along_axis(image[1], image[0][:, None], 1)
    assert math.isclose(measured(metric.CrossEntropy(axis=1), [image]), -numpy.log(rows).mean(), rel_tol=1e-5)


def test_labels_out_of_range_are_told() -> None:
    m = metric.CrossEntropy()
    with pytest.raises(IndexError, match="5"):
        m.update(np.array([0, 5]), np.array([[0.5, 0.5], [0.5, 0.5]]))
        m.get()


def test_loss_and_custom() -> None:
    m = metric.Loss()
    m.update(None, [np.array([1.0, 2.0]), np.array(6.0)])
    assert m.get() == ("loss", 3.0)
    own = metric.create(lambda label, pred: (abs(label - pred).sum(), label.size))
    assert own.name == "custom(<lambda>)"
    assert measured(own, [([1, 2], [2, 4]), ([0], [3])]) == 2.0

    def same(label: Any, pred: Any) -> float:
        assert isinstance(label, numpy.ndarray)
        return float((label == pred).mean())

    m = metric.np(same)
    m.update(np.array([1, 2]), np.array([1, 3]))
    assert m.get() == ("same", 0.5)


def test_composite_names_and_dicts() -> None:
    both = metric.create(["acc", metric.Loss()])
    both.add("mse")
    assert both.get()[0] == ["accuracy", "loss", "mse"]
    assert all(math.isnan(v) for v in both.get()[1])
    one = metric.Accuracy(output_names=["y"], label_names=["t"])
    one.update_dict({"t": np.array([1])}, {"x": np.array([0]), "y": np.array([1])})
    assert one.get_name_value() == [("accuracy", 1.0)]
    one.reset()
    assert math.isnan(one.get()[1])
    assert both.get_metric(2).name == "mse"
    assert of_gluon.Accuracy is metric.Accuracy
    assert metric.create(metric.Accuracy(axis=2).get_config()["metric"]).name == "accuracy"


def test_nothing_waits_and_the_device_stays() -> None:
    m = metric.Accuracy()
    m.update(np.zeros(3, device=npx.cpu(1)), np.zeros((3, 2)))
    assert m.sum_metric.device == npx.cpu(1)
    assert m.num_inst == 3


def test_errors() -> None:
    with pytest.raises(ValueError, match="the labels' number 2 does not match the predictions' 1"):
        metric.Accuracy().update([np.zeros(2), np.zeros(2)], [np.zeros(2)])
    with pytest.raises(ValueError, match="Accuracy: 2 labels"):
        metric.Accuracy().update(np.zeros(2), np.zeros((3, 2)))
    m = metric.F1()
    m.update(np.array([2, 1]), np.array([0.1, 0.9]))
    with pytest.raises(ValueError, match="1 labels name a class"):
        m.get()
    with pytest.raises(ValueError, match="metric 'bogus' is none of"):
        metric.create("bogus")
    with pytest.raises(ValueError, match="top_k must be at least 1, not 0"):
        metric.TopKAccuracy(0)
    with pytest.raises(ValueError, match="get_metric: index 3 is out of range"):
        metric.create(["acc"]).get_metric(3)


@pytest.mark.parametrize(
    "made",
    [
        lambda: metric.Accuracy(axis=0, name="a"),
        lambda: metric.Perplexity(axis=-1),
        lambda: metric.CompositeEvalMetric([metric.F1(), metric.TopKAccuracy(top_k=3)]),
        lambda: metric.NegativeLogLikelihood(eps=1e-9),
    ],
)
def test_made_again_from_its_settings(made: Any) -> None:
    settings = made().get_config()
    for given in (settings, json.dumps(settings)):
        again = metric.create(given)
        assert type(again) is type(made()) and again.get_config() == settings
    with pytest.raises(ValueError, match=r"metric: the settings .* do not name a class as 'metric'"):
        metric.create({"axis": 1})
