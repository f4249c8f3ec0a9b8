"""Losses: how far predictions are from labels, one number for each item of a batch.

>>> from slipstream import gluon, np
>>> loss = gluon.loss.L2Loss()
>>> loss(np.array([[1.0, 2.0]]), np.array([[0.0, 0.0]]))
array([1.25])
"""

from __future__ import annotations

import math
from typing import Any

from .. import np, npx
from .._core import ndarray
from .block import HybridBlock

__all__ = ["CTCLoss", "CosineEmbeddingLoss", "HingeLoss", "HuberLoss", "KLDivLoss", "L1Loss", "L2Loss", "LogisticLoss"]
__all__ += ["Loss", "PoissonNLLLoss", "SDMLLoss", "SigmoidBCELoss", "SigmoidBinaryCrossEntropyLoss", "SoftmaxCELoss"]
__all__ += ["SoftmaxCrossEntropyLoss", "SquaredHingeLoss", "TripletLoss"]


def _weigh(loss: ndarray, weight: Any = None, sample_weight: Any = None) -> ndarray:
    """A loss times the weights of its items, and times a number."""
    if sample_weight is not None:
        loss = loss * sample_weight
    return loss if weight is None else loss * weight


def _apply_weighting(*args: Any, **options: Any) -> ndarray:
    """`_weigh`, by the name that losses of users' own import; MXNet 1's have F before the loss."""
    return _weigh(*(args[1:] if args and not isinstance(args[0], ndarray) else args), **options)


def _reshape_like(F: Any, x: ndarray, y: ndarray) -> ndarray:
    """x in the shape of y, by the name that MXNet 1's losses import."""
    return x.reshape(y.shape)


class Loss(HybridBlock):
    """The base of all losses: `weight` is a factor of the whole loss, `batch_axis` the axis of the items.

    >>> L1Loss()
    L1Loss(batch_axis=0, w=None)
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _weighted(self, loss: ndarray, sample_weight: Any) -> ndarray:
        """The loss times the weights of its items and its own."""
        return _weigh(loss, self._weight, sample_weight)

    def _mean(self, loss: ndarray) -> ndarray:
        """The mean over all axes but the batch's."""
        at = self._batch_axis % loss.ndim if loss.ndim else 0
        axes = tuple(axis for axis in range(loss.ndim) if axis != at)
        return loss.mean(axis=axes) if axes else loss

    def _alike(self, label: ndarray, pred: ndarray) -> ndarray:
        """The label in the shape of the prediction."""
        if label.shape == pred.shape:
            return label
        if label.size != pred.size:
            raise ValueError(f"{type(self).__name__}: label {label.shape} and prediction {pred.shape} do not match")
        return label.reshape(pred.shape)


class L2Loss(Loss):
    """Half the mean of `(label - pred) ** 2`.

    >>> L2Loss()(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        away = self._alike(label, pred) - pred
        loss = away * away
        if sample_weight is not None:
            loss = loss * sample_weight
        factor = 0.5 if self._weight is None else self._weight / 2
        return self._mean(loss * factor)


class L1Loss(Loss):
    """The mean of `abs(label - pred)`.

    >>> L1Loss()(np.array([3.0]), np.array([1.0]))
    array([2.])
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        return self._mean(self._weighted(np.abs(self._alike(label, pred) - pred), sample_weight))


class SigmoidBinaryCrossEntropyLoss(Loss):
    """The cross entropy of two classes: of scores, or with `from_sigmoid` of probabilities.

    >>> SigmoidBCELoss()(np.array([0.0]), np.array([1.0]))
    array([0.6931472])
    """

    def __init__(
        self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None, pos_weight: Any = None) -> ndarray:
        """The loss of each item; `pos_weight` is a factor for positive labels."""
        label = self._alike(label, pred)
        if self._from_sigmoid:
            eps = 1e-12
            hit = np.log(pred + eps) * label
            loss = -((hit if pos_weight is None else hit * pos_weight) + np.log(1 - pred + eps) * (1 - label))
        elif pos_weight is None:
            loss = npx.relu(pred) - pred * label + np.log1p(np.exp(-np.abs(pred)))
        else:
            weight = 1 + (pos_weight - 1) * label
            loss = pred - pred * label + weight * (np.log1p(np.exp(-np.abs(pred))) + npx.relu(-pred))
        return self._mean(self._weighted(loss, sample_weight))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """The cross entropy of classes along `axis`: of scores, or with `from_logits` of logarithms of probabilities.

    Labels are classes, or with `sparse_label=False` probabilities of all of them.

    >>> SoftmaxCELoss()(np.zeros((1, 2)), np.array([1]))
    array([0.6931472])
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        logs = pred if self._from_logits else npx.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -npx.pick(logs, label, axis=self._axis, keepdims=True)
        else:
            loss = -(logs * self._alike(label, pred)).sum(axis=self._axis, keepdims=True)
        return self._mean(self._weighted(loss, sample_weight))


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The mean of `label * (log(label) - pred)`: how far a distribution is from another (Kullback and Leibler).

    `pred` holds logarithms of probabilities, or with `from_logits=False` scores along `axis`.

    >>> KLDivLoss()(np.log(np.array([[0.5, 0.5]])), np.array([[0.5, 0.5]]))
    array([0.])
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        logs = pred if self._from_logits else npx.log_softmax(pred, axis=self._axis)
        return self._mean(self._weighted(label * (np.log(label + 1e-12) - logs), sample_weight))


class CTCLoss(Loss):
    """Connectionist temporal classification: scores at each time, and a shorter sequence of labels (Graves, 2006).

    The last class is blank. `layout` and `label_layout` name the axes: N items, T times, C classes.

    >>> CTCLoss(layout="TNC")
    CTCLoss(batch_axis=1, w=None)
    """

    def __init__(
        self, layout: str = "NTC", label_layout: str = "NT", weight: float | None = None, **kwargs: Any
    ) -> None:
        if layout not in ("NTC", "TNC"):
            raise ValueError(f"CTCLoss: layout {layout!r} is neither 'NTC' nor 'TNC'")
        if label_layout not in ("NT", "TN"):
            raise ValueError(f"CTCLoss: label_layout {label_layout!r} is neither 'NT' nor 'TN'")
        super().__init__(weight, layout.index("N"), **kwargs)
        self._layout = layout
        self._label_layout = label_layout

    def forward(
        self,
        pred: ndarray,
        label: ndarray,
        pred_lengths: Any = None,
        label_lengths: Any = None,
        sample_weight: Any = None,
    ) -> ndarray:
        """The loss of each item; lengths say how many times and labels of it count (else: all, and those before -1)."""
        if self._layout == "NTC":
            pred = np.swapaxes(pred, 0, 1)
        if self._label_layout == "TN":
            label = np.swapaxes(label, 0, 1)
        loss = npx.ctc_loss(
            pred,
            label,
            pred_lengths,
            label_lengths,
            use_data_lengths=pred_lengths is not None,
            use_label_lengths=label_lengths is not None,
            blank_label="last",
        )
        return self._weighted(loss, sample_weight)


class HuberLoss(Loss):
    """`(label - pred) ** 2 / (2 * rho)` near the label, and linear beyond `rho`.

    >>> HuberLoss()(np.array([0.0, 0.0]), np.array([1.0, 3.0]))
    array([0.5, 2.5])
    """

    def __init__(self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        away = np.abs(self._alike(label, pred) - pred)
        loss = np.where(away > self._rho, away - 0.5 * self._rho, (0.5 / self._rho) * away * away)
        return self._mean(self._weighted(loss, sample_weight))


class HingeLoss(Loss):
    """The mean of `max(0, margin - pred * label)`; labels are -1 and 1.

    >>> HingeLoss()(np.array([0.5]), np.array([1.0]))
    array([0.5])
    """

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        loss = npx.relu(self._margin - pred * self._alike(label, pred))
        return self._mean(self._weighted(loss, sample_weight))


class SquaredHingeLoss(HingeLoss):
    """The mean of `max(0, margin - pred * label) ** 2`; labels are -1 and 1.

    >>> SquaredHingeLoss()(np.array([0.5]), np.array([1.0]))
    array([0.25])
    """

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        short = npx.relu(self._margin - pred * self._alike(label, pred))
        return self._mean(self._weighted(short * short, sample_weight))


class LogisticLoss(Loss):
    """The mean of `log(1 + exp(-pred * label))`; labels are -1 and 1 (`signed`), or 0 and 1 (`binary`).

    >>> LogisticLoss()(np.array([0.0]), np.array([1.0]))
    array([0.6931472])
    """

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, label_format: str = "signed", **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ValueError(f"LogisticLoss: label_format {label_format!r} is neither 'signed' nor 'binary'")
        self._label_format = label_format

    def forward(self, pred: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        label = self._alike(label, pred)
        if self._label_format == "signed":
            label = (label + 1) / 2
        loss = npx.relu(pred) - pred * label + np.log1p(np.exp(-np.abs(pred)))
        return self._mean(self._weighted(loss, sample_weight))


class TripletLoss(Loss):
    """`max(0, |pred - positive|² - |pred - negative|² + margin)`, with the squares summed over each item.

    >>> TripletLoss()(np.zeros((1, 2)), np.zeros((1, 2)), np.ones((1, 2)))
    array([0.])
    """

    def __init__(self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def forward(self, pred: ndarray, positive: ndarray, negative: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        near, far = self._alike(positive, pred) - pred, self._alike(negative, pred) - pred
        axes = tuple(axis for axis in range(pred.ndim) if axis != self._batch_axis % pred.ndim)
        loss = npx.relu((near * near - far * far).sum(axis=axes) + self._margin)
        return self._weighted(loss, sample_weight)


class PoissonNLLLoss(Loss):
    """How unlikely counts are under Poisson's distribution with mean `pred` (`exp(pred)` with `from_logits`).

    `compute_full` adds Stirling's approximation of the part that depends on the label alone.

    >>> PoissonNLLLoss()(np.array([0.0]), np.array([1.0]))
    array([1.])
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def forward(self, pred: ndarray, target: ndarray, sample_weight: Any = None, epsilon: float = 1e-8) -> ndarray:
        """The loss of each item."""
        target = self._alike(target, pred)
        if self._from_logits:
            loss = np.exp(pred) - target * pred
        else:
            loss = pred - target * np.log(pred + epsilon)
        if self._compute_full:
            safe = np.maximum(target, 1.0)
            stirling = safe * np.log(safe) - safe + 0.5 * np.log(2 * math.pi * safe)
            loss = loss + np.where(target > 1, stirling, 0.0)
        return self._mean(self._weighted(loss, sample_weight))


class CosineEmbeddingLoss(Loss):
    """`1 - cos(a, b)` where the label is 1, and `max(0, cos(a, b) - margin)` where it is -1.

    >>> CosineEmbeddingLoss()(np.ones((1, 2)), np.ones((1, 2)), np.array([-1.0])).round(4)
    array([1.])
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def forward(self, input1: ndarray, input2: ndarray, label: ndarray, sample_weight: Any = None) -> ndarray:
        """The loss of each item."""
        input1, label = self._alike(input1, input2), label.reshape(-1, 1)
        squares = (input1 * input1).sum(axis=-1) * (input2 * input2).sum(axis=-1)
        long = squares > 1e-24  # others have no direction; the root never sees them, whose slope at 0 has no end
        cosine = np.where(long, (input1 * input2).sum(axis=-1) / np.sqrt(np.where(long, squares, 1.0)), 0.0)
        cosine = cosine.reshape(-1, 1)
        loss = np.where(label == 1, 1 - cosine, npx.relu(cosine - self._margin))
        return self._mean(self._weighted(loss, sample_weight))


class SDMLLoss(Loss):
    """Smoothed deep metric learning: row i of one batch belongs to row i of the other, and to no other row.

    >>> SDMLLoss()(np.eye(3), np.eye(3)).shape
    (3,)
    """

    def __init__(
        self, smoothing_parameter: float = 0.3, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self.smoothing_parameter = smoothing_parameter
        self.kl_loss = KLDivLoss(from_logits=True)

    def forward(self, x1: ndarray, x2: ndarray) -> ndarray:
        """The loss of each row."""
        n = x1.shape[0]
        away = np.expand_dims(x1, 1) - np.expand_dims(x2, 0)
        distances = (away * away).sum(axis=2)
        smooth = self.smoothing_parameter / (n - 1) if n > 1 else 0.0
        gold = np.eye(n, dtype=x1.dtype, device=x1.device)
        labels = gold * (1 - self.smoothing_parameter) + (1 - gold) * smooth
        loss: ndarray = self.kl_loss(npx.log_softmax(-distances, axis=1), labels)
        return loss if self._weight is None else loss * self._weight
