"""What all metrics have in common, and several of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

from .. import np as xp  # `np` is the name of a metric here
from .._core import ndarray
from .._registry import Registry

WIDE = numpy.dtype("float64")


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> tuple[Any, Any]:
    """Raises unless there are as many labels as predictions (`shape`: of one shape); `wrap` makes lists of arrays.

    >>> check_label_shapes([1, 2], [3, 4])
    ([1, 2], [3, 4])
    """
    if wrap and isinstance(labels, ndarray):
        labels = [labels]
    if wrap and isinstance(preds, ndarray):
        preds = [preds]
    found = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if found[0] != found[1]:
        what = "shape" if shape else "number"
        raise ValueError(f"the labels' {what} {found[0]} does not match the predictions' {found[1]}")
    return labels, preds


class EvalMetric:
    """The base of all metrics. A subclass adds to `sum_metric` (a number or an array) and `num_inst` in `update`.

    >>> str(EvalMetric("mine"))
    "EvalMetric: {'mine': nan}"
    """

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._kwargs = kwargs
        self.num_inst: Any = 0
        self.sum_metric: Any = 0.0
        self.reset()

    def __str__(self) -> str:
        return f"{type(self).__name__}: {dict(self.get_name_value())}"

    def get_config(self) -> dict[str, Any]:
        """The settings, by which a metric can be made again."""
        names = {"name": self.name, "output_names": self.output_names, "label_names": self.label_names}
        return {"metric": type(self).__name__, **self._kwargs, **names}

    def update_dict(self, label: Mapping[str, ndarray], pred: Mapping[str, ndarray]) -> None:
        """Adds a batch whose arrays have names; `label_names` and `output_names` choose among them."""
        preds = [pred[name] for name in self.output_names] if self.output_names else list(pred.values())
        labels = [label[name] for name in self.label_names] if self.label_names else list(label.values())
        self.update(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds a batch. Does not wait."""
        raise NotImplementedError(f"{type(self).__name__} has no update")

    def reset(self) -> None:
        """Starts anew."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def _add(self, value: Any, count: Any) -> None:
        """Adds to the sum and the count, on the device where they began."""
        self.sum_metric = plus(self.sum_metric, value)
        self.num_inst = plus(self.num_inst, count)

    def get(self) -> tuple[Any, Any]:
        """Name and value so far. Waits for it."""
        count = float(self.num_inst)
        return self.name, float(self.sum_metric) / count if count else float("nan")

    def get_name_value(self) -> list[tuple[str, Any]]:
        """Names and values so far, as a list of pairs. Waits for them."""
        name, value = self.get()
        names, values = (name, value) if isinstance(name, list) else ([name], [value])
        return list(zip(names, values, strict=True))


def values(x: ndarray) -> ndarray:
    """An array without its history: a metric keeps no graph alive."""
    return x.detach()


def plus(total: Any, value: Any) -> Any:
    """A sum of numbers and arrays, on the device of the first array."""
    if not isinstance(value, ndarray):
        return total + value
    value = values(value).astype(WIDE)
    if not isinstance(total, ndarray):
        return value if total == 0 else value + total
    return total + (value if value.device == total.device else value.as_in_device(total.device))


_registry: Registry[EvalMetric] = Registry(EvalMetric, "metric")
alias = _registry.alias


def register(klass: Any, name: str | None = None) -> Any:
    """Lets a metric be created by its name.

    >>> @register
    ... class Mine(EvalMetric):
    ...     pass
    >>> create("mine", name="m").name
    'm'
    """
    return _registry.register(klass, name)


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """A metric by its name, of a function `(label, pred)`, or of a list of these.

    >>> create(["acc", "mse"]).metrics[1].name
    'mse'
    """
    if isinstance(metric, (list, tuple)):
        return CompositeEvalMetric([create(one, *args, **kwargs) for one in metric])
    if callable(metric) and not isinstance(metric, (EvalMetric, type)):
        from .losses import CustomMetric

        return CustomMetric(metric, *args, **kwargs)
    return _registry.create(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics at once.

    >>> both = CompositeEvalMetric(["acc", "f1"])
    >>> both.get()[0]
    ['accuracy', 'f1']
    """

    def __init__(
        self,
        metrics: Iterable[Any] | None = None,
        name: str = "composite",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names)

    def add(self, metric: Any) -> None:
        """Adds one more."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """The metric at this place."""
        if not -len(self.metrics) <= index < len(self.metrics):
            raise ValueError(f"get_metric: index {index} is out of range; there are {len(self.metrics)} metrics")
        return self.metrics[index]

    def update_dict(self, label: Mapping[str, ndarray], pred: Mapping[str, ndarray]) -> None:
        """Adds a batch whose arrays have names."""
        for metric in self.metrics:
            metric.update_dict(label, pred)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds a batch. Does not wait."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """Starts all anew."""
        for metric in self.metrics:
            metric.reset()

    def get(self) -> tuple[list[str], list[Any]]:
        """Names and values so far. Waits for them."""
        pairs = [pair for metric in self.metrics for pair in metric.get_name_value()]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get_config(self) -> dict[str, Any]:
        """The settings of all."""
        return {**super().get_config(), "metrics": [metric.get_config() for metric in self.metrics]}


class Pairwise(EvalMetric):
    """Metrics that see one label and its prediction at a time: a subclass gives `_measure`, a sum and a count."""

    def update(self, labels: Any, preds: Any) -> None:
        """Adds a batch. Does not wait."""
        for label, pred in zip(*check_label_shapes(labels, preds, True), strict=True):
            label, pred = xp.asarray(label), xp.asarray(pred)
            self._add(*self._measure(label, pred if pred.device == label.device else pred.as_in_device(label.device)))

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        raise NotImplementedError


def same_count(label: ndarray, pred: ndarray, metric: str) -> tuple[ndarray, ndarray]:
    """Labels and predictions in one dimension, as many of the ones as of the others."""
    if label.size != pred.size:
        raise ValueError(f"{metric}: {label.size} labels of shape {label.shape}, but {pred.size} predictions")
    return label.reshape(-1), pred.reshape(-1)
