"""Metrics of classes: accuracy, F scores, correlation of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .. import np as xp
from .._core import ndarray
from .base import Pairwise, alias, check_label_shapes, plus, register, same_count


@register
@alias("acc")
class Accuracy(Pairwise):
    """The share of predictions that are right: classes, or scores of classes along `axis`.

    >>> m = Accuracy()
    >>> m.update(np.array([1, 0, 1]), np.array([1, 1, 1]))
    >>> round(m.get()[1], 3)
    0.667
    """

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, axis=axis)
        self.axis = axis

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        if pred.shape != label.shape:
            pred = pred.argmax(axis=self.axis)
        label, pred = same_count(label, pred, "Accuracy")
        return (label.astype("int64") == pred.astype("int64")).sum(), label.size


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(Pairwise):
    """The share of labels that are among the `top_k` highest scores; of equal scores the first class counts.

    >>> m = TopKAccuracy(top_k=2)
    >>> m.update(np.array([2]), np.array([[0.5, 0.1, 0.4]]))
    >>> m.get()
    ('top_k_accuracy_2', 1.0)
    """

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        if top_k < 1:
            raise ValueError(f"TopKAccuracy: top_k must be at least 1, not {top_k}")
        super().__init__(f"{name}_{top_k}", output_names, label_names, top_k=top_k)
        self.top_k = top_k

    def get_config(self) -> dict[str, Any]:
        """The settings: of the name, what was given."""
        return {**super().get_config(), "name": self.name.removesuffix(f"_{self.top_k}")}

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        if pred.ndim != 2 or pred.shape[0] != label.size:
            raise ValueError(f"TopKAccuracy: {label.size} labels, but scores of shape {pred.shape}")
        label = label.reshape(-1, 1)
        places = xp.arange(pred.shape[1], dtype=label.dtype, device=pred.device)
        own = xp.where(places == label, pred, -math.inf).max(axis=1, keepdims=True)
        before = (pred > own) | ((pred == own) & (places < label))
        known = (label >= 0) & (label < pred.shape[1])
        return ((before.sum(axis=1, keepdims=True) < self.top_k) & known).sum(), label.size


def predict_with_threshold(pred: ndarray, threshold: Any = 0.5) -> ndarray:
    """Which scores are above a threshold, one for all or one for each class.

    >>> predict_with_threshold(np.array([0.2, 0.7]))
    array([False,  True])
    """
    if isinstance(threshold, (float, int)):
        return pred > threshold
    limits = xp.asarray(threshold, device=pred.device)
    if limits.ndim and limits.shape[-1] != pred.shape[-1]:
        raise ValueError(f"predict_with_threshold: {limits.shape[-1]} thresholds for {pred.shape[-1]} classes")
    return pred > limits


def one_hot(idx: ndarray, num: int) -> ndarray:
    """Rows with a 1 at the place that `idx` names.

    >>> one_hot(np.array([1, 0]), 2)
    array([[0, 1],
           [1, 0]], dtype=int32)
    """
    return (xp.arange(num, dtype=idx.dtype, device=idx.device) == idx.reshape(-1, 1)).astype("int32")


class _Counts:
    """True and false positives and negatives of each class, as arrays: `[true+, false+, false-, true-, bad labels]`."""

    def __init__(self, class_type: str = "binary", threshold: Any = 0.5) -> None:
        if class_type not in ("binary", "multiclass", "multilabel"):
            raise ValueError(f"class_type {class_type!r} is none of 'binary', 'multiclass', 'multilabel'")
        self.class_type = class_type
        self.threshold = threshold
        self.total: Any = 0

    def _sides(self, label: ndarray, pred: ndarray) -> tuple[ndarray, ndarray, ndarray]:
        """Which labels and predictions are positive, in a column for each class; and labels that mean nothing."""
        classes = pred.shape[-1] if pred.ndim else 1
        if self.class_type == "binary":
            if pred.shape != label.shape and classes > 2:
                raise ValueError(f"a binary problem has two classes; the predictions have shape {pred.shape}")
            if pred.shape != label.shape and classes == 2:
                pred = pred.reshape(-1, 2)[:, 1]
            label, pred = same_count(label, pred, "a binary problem")
            above = predict_with_threshold(pred, self.threshold)
            return (label == 1).reshape(-1, 1), above.reshape(-1, 1), (label > 1).sum()
        if self.class_type == "multiclass":
            flat = label.astype("int64").reshape(-1)
            chosen = one_hot(pred.argmax(axis=-1).reshape(-1), classes)
            return one_hot(flat, classes) == 1, chosen == 1, (flat >= classes).sum()
        check_label_shapes(label, pred, shape=True)
        above = predict_with_threshold(pred, self.threshold).reshape(-1, classes)
        return (label == 1).reshape(-1, classes), above, (label > 1).sum()

    def add(self, label: ndarray, pred: ndarray) -> int:
        """Counts a batch; gives its number of rows."""
        real, said, bad = self._sides(label, pred)
        each = [real & said, ~real & said, real & ~said, ~real & ~said]
        sums = [part.sum(axis=0) for part in each]
        self.total = plus(self.total, xp.stack([*sums, bad + xp.zeros_like(sums[0])]))
        return int(real.shape[0])

    def values(self) -> numpy.ndarray[Any, Any]:
        """The four counts of each class. Waits for them."""
        found = self.total.asnumpy()
        if found[4].any():
            raise ValueError(f"{int(found[4].max())} labels name a class that the predictions do not have")
        return numpy.asarray(found[:4])


@register
class F1(Pairwise):
    """The harmonic mean of precision and recall.

    `average`: `"micro"` counts all classes together, `"macro"` is the mean over classes, None gives each class's.

    >>> m = F1()
    >>> m.update(np.array([0, 1, 1]), np.array([[0.3, 0.7], [0, 1], [0.4, 0.6]]))
    >>> m.get()
    ('f1', 0.8)
    """

    def __init__(
        self,
        name: str = "f1",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        class_type: str = "binary",
        threshold: Any = 0.5,
        average: str | None = "micro",
    ) -> None:
        if average not in ("micro", "macro", None):
            raise ValueError(f"{type(self).__name__}: average {average!r} is none of 'micro', 'macro', None")
        self.average = average
        self.beta = 1.0
        self._counted = (class_type, threshold)
        super().__init__(name, output_names, label_names, class_type=class_type, threshold=threshold, average=average)

    def reset(self) -> None:
        """Starts anew."""
        super().reset()
        self.metrics = _Counts(*self._counted)

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        return 0.0, self.metrics.add(label, pred)

    def get(self) -> tuple[str, Any]:
        """Name and score so far. Waits for it."""
        if not self.num_inst:
            return self.name, float("nan")
        counts = self.metrics.values()
        if self.average == "micro":
            counts = counts.sum(axis=1, keepdims=True)
        hit, false, missed, _ = counts
        precision, recall = hit / numpy.maximum(hit + false, 1e-12), hit / numpy.maximum(hit + missed, 1e-12)
        weight = self.beta**2
        score = (1 + weight) * precision * recall / numpy.maximum(weight * precision + recall, 1e-12)
        return self.name, score if self.average is None else float(score.mean())


@register
class Fbeta(F1):
    """The weighted harmonic mean of precision and recall: `beta` times as much weight for recall.

    >>> m = Fbeta(beta=2)
    >>> m.update(np.array([0, 1, 1]), np.array([[0.3, 0.7], [0, 1], [0.4, 0.6]]))
    >>> round(m.get()[1], 4)
    0.9091
    """

    def __init__(
        self,
        name: str = "fbeta",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        class_type: str = "binary",
        beta: float = 1,
        threshold: Any = 0.5,
        average: str | None = "micro",
    ) -> None:
        super().__init__(name, output_names, label_names, class_type, threshold, average)
        self.beta = beta


@register
class BinaryAccuracy(Pairwise):
    """The share of scores that are on the right side of a threshold.

    >>> m = BinaryAccuracy(threshold=0.6)
    >>> m.update(np.array([0, 1, 0]), np.array([0.7, 1, 0.55]))
    >>> round(m.get()[1], 3)
    0.667
    """

    def __init__(
        self,
        name: str = "binary_accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        threshold: Any = 0.5,
    ) -> None:
        super().__init__(name, output_names, label_names, threshold=threshold)
        self.threshold = threshold

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        label, said = same_count(label, predict_with_threshold(pred, self.threshold), "BinaryAccuracy")
        return (label.astype("int64") == said.astype("int64")).sum(), label.size


@register
class MCC(Pairwise):
    """Matthews' correlation coefficient of two classes: 1 always right, 0 no better than chance, -1 always wrong.

    >>> m = MCC()
    >>> m.update(np.array([0, 1, 1, 0]), np.array([0.1, 0.9, 0.8, 0.3]))
    >>> m.get()
    ('mcc', 1.0)
    """

    def __init__(
        self,
        name: str = "mcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def reset(self) -> None:
        """Starts anew."""
        super().reset()
        self._metrics = _Counts()

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        return 0.0, self._metrics.add(label, pred)

    def get(self) -> tuple[str, float]:
        """Name and coefficient so far. Waits for it."""
        if not self.num_inst:
            return self.name, float("nan")
        hit, false, missed, right = self._metrics.values()[:, 0].tolist()
        terms = [hit + false, hit + missed, right + false, right + missed]
        return self.name, (hit * right - false * missed) / math.sqrt(math.prod(term or 1.0 for term in terms))


@register
class PCC(Pairwise):
    """Matthews' correlation coefficient of any number of classes.

    Scores give the number of classes; predictions that are classes are waited for, to see the largest.

    >>> m = PCC()
    >>> m.update(np.array([0, 1, 2, 2]), np.array([[9, 0, 0], [0, 9, 0], [0, 0, 9], [0, 0, 9]]))
    >>> m.get()
    ('pcc', 1.0)
    """

    def __init__(
        self,
        name: str = "pcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def reset(self) -> None:
        """Starts anew."""
        super().reset()
        self._matrices: dict[int, Any] = {}  # by number of classes: how often which was said of which

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        if pred.shape != label.shape:
            classes = pred.shape[1]
            pred = pred.argmax(axis=1)
        else:
            classes = int(max(pred.max().item(), label.max().item())) + 1
        real, said = one_hot(label.astype("int64"), classes), one_hot(pred.astype("int64"), classes)
        matrix = xp.matmul(said.T.astype("float32"), real.astype("float32"))
        self._matrices[classes] = plus(self._matrices.get(classes, 0), matrix)
        return 0.0, label.size

    def get(self) -> tuple[str, float]:
        """Name and coefficient so far. Waits for it."""
        if not self.num_inst:
            return self.name, float("nan")
        total = numpy.zeros((max(self._matrices),) * 2)
        for classes, matrix in self._matrices.items():
            total[:classes, :classes] += matrix.asnumpy()
        n, said, real = total.sum(), total.sum(axis=1), total.sum(axis=0)
        spread = (said * (n - said)).sum() * (real * (n - real)).sum()
        together = (numpy.diagonal(total) * n - said * real).sum()
        return self.name, float(together / math.sqrt(spread)) if spread else float("nan")
