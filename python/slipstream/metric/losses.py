"""Metrics that are means of losses, and metrics from functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import np as xp
from .. import npx
from .._core import ndarray
from .base import WIDE, EvalMetric, Pairwise, alias, check_label_shapes, register, values


@register
@alias("ce")
class CrossEntropy(Pairwise):
    """The mean of `-log` of the probability that was given to the right class.

    `from_logits=True` takes scores and makes probabilities of them; labels equal to `ignore_label` do not count.

    >>> m = CrossEntropy()
    >>> m.update(np.array([0]), np.array([[0.5, 0.5]]))
    >>> round(m.get()[1], 4)
    0.6931
    """

    def __init__(
        self,
        eps: float = 1e-12,
        ignore_label: int | None = None,
        axis: int = -1,
        from_logits: bool = False,
        name: str = "cross-entropy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        settings = {"eps": eps, "ignore_label": ignore_label, "axis": axis, "from_logits": from_logits}
        super().__init__(name, output_names, label_names, **settings)
        self.eps = eps
        self.ignore_label = ignore_label
        self.axis = axis
        self.from_logits = from_logits

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        classes = pred.shape[self.axis]
        if label.size * classes != pred.size:
            raise ValueError(f"{type(self).__name__}: labels {label.shape}, but predictions {pred.shape}")
        rows = xp.moveaxis(values(pred), self.axis, -1).reshape(-1, classes)
        label, count = label.reshape(-1).astype("int64"), label.size
        kept = None if self.ignore_label is None else label != self.ignore_label
        chosen = label if kept is None else xp.where(kept, label, 0)
        places = xp.arange(rows.shape[0], dtype="int64", device=rows.device)
        if self.from_logits:
            logs = npx.log_softmax(rows, axis=-1)[places, chosen]
            logs = xp.maximum(logs, math.log(self.eps)) if self.eps > 0 else logs
        else:
            logs = xp.log(xp.maximum(rows[places, chosen], self.eps))
        if kept is None:
            return -logs.sum(), count
        return -xp.where(kept, logs, 0).sum(), kept.sum()


@register
class Perplexity(CrossEntropy):
    """`exp` of the cross entropy: among how many equal choices the model wavers.

    >>> m = Perplexity()
    >>> m.update(np.array([0]), np.array([[0.5, 0.5]]))
    >>> round(m.get()[1], 4)
    2.0
    """

    def __init__(
        self,
        eps: float = 1e-12,
        ignore_label: int | None = None,
        axis: int = -1,
        from_logits: bool = False,
        name: str = "perplexity",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(eps, ignore_label, axis, from_logits, name, output_names, label_names)

    def get(self) -> tuple[str, float]:
        """Name and value so far. Waits for it."""
        return self.name, math.exp(super().get()[1])


@register
@alias("nll_loss", "nll-loss")
class NegativeLogLikelihood(CrossEntropy):
    """The mean of `-log` of the probability that was given to the right class (MXNet 1's name of it).

    >>> m = NegativeLogLikelihood()
    >>> m.update(np.array([1]), np.array([[0.0, 1.0]]))
    >>> abs(m.get()[1]) < 1e-6
    True
    """

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "nll-loss",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(eps, name=name, output_names=output_names, label_names=label_names)
        self._kwargs = {"eps": eps}


@register
class Loss(EvalMetric):
    """The mean of all elements of the losses.

    >>> m = Loss()
    >>> m.update(None, np.array([1.0, 2.0]))
    >>> m.get()
    ('loss', 1.5)
    """

    def __init__(
        self,
        name: str = "loss",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds the losses of a batch. Does not wait."""
        for pred in [preds] if isinstance(preds, ndarray) else preds:
            self._add(values(pred).astype(WIDE).sum(), pred.size)


@register
class Torch(Loss):
    """`Loss` by an old name.

    >>> Torch().name
    'torch'
    """

    def __init__(self, name: str = "torch", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)


@register
class CustomMetric(EvalMetric):
    """The mean of what a function `(label, pred)` gives: a value, or a sum and a count.

    >>> m = CustomMetric(lambda label, pred: abs(label - pred).mean(), name="mine")
    >>> m.update(np.array([1, 2]), np.array([2, 4]))
    >>> m.get()
    ('mine', 1.5)
    """

    def __init__(
        self,
        feval: Callable[[Any, Any], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        own = getattr(feval, "__name__", type(feval).__name__)
        name = name or (f"custom({own})" if "<" in own else own)
        super().__init__(name, output_names, label_names, feval=feval, allow_extra_outputs=allow_extra_outputs)
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        """Adds a batch. Waits only if the function does."""
        if self._allow_extra_outputs:
            labels, preds = ([x] if isinstance(x, ndarray) else x for x in (labels, preds))
        else:
            labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds, strict=False):
            pred = pred if pred.device == label.device else pred.as_in_device(label.device)
            value = self._feval(label, pred)
            self._add(*value) if isinstance(value, tuple) else self._add(value, 1)

    def get_config(self) -> dict[str, Any]:
        """A function cannot be written down: raises."""
        raise NotImplementedError("CustomMetric: a function cannot be written down")


def np(numpy_feval: Callable[[Any, Any], Any], name: str | None = None, allow_extra_outputs: bool = False) -> Any:
    """A metric from a function of NumPy arrays `(label, pred)`. Waits for each batch.

    >>> from slipstream import metric
    >>> m = metric.np(lambda label, pred: float((label == pred).mean()), name="same")
    >>> m.get()
    ('same', nan)
    """

    def feval(label: ndarray, pred: ndarray) -> Any:
        return numpy_feval(label.asnumpy(), pred.asnumpy())

    feval.__name__ = getattr(numpy_feval, "__name__", "numpy_feval")
    return CustomMetric(feval, name, allow_extra_outputs)
