"""Metrics of numbers: distances, similarity, correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import np as xp
from .._core import ndarray
from .base import WIDE, Pairwise, alias, check_label_shapes, register, same_count, values


class _Difference(Pairwise):
    """Means over rows of what a subclass makes of `label - pred`."""

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _of(self, difference: ndarray) -> ndarray:
        raise NotImplementedError

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        if label.shape != pred.shape:
            same_count(label, pred, type(self).__name__)
            pred = pred.reshape(label.shape)
        rows = label.shape[0] if label.ndim else 1
        each = self._of(label - pred).astype(WIDE)
        return each.sum() * (rows / label.size if label.size else 0.0), rows


@register
class MAE(_Difference):
    """The mean absolute error.

    >>> m = MAE()
    >>> m.update(np.array([1, 2]), np.array([2, 4]))
    >>> m.get()
    ('mae', 1.5)
    """

    def __init__(self, name: str = "mae", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)

    def _of(self, difference: ndarray) -> ndarray:
        return xp.abs(difference)


@register
class MSE(_Difference):
    """The mean squared error.

    >>> m = MSE()
    >>> m.update(np.array([1, 2]), np.array([2, 4]))
    >>> m.get()
    ('mse', 2.5)
    """

    def __init__(self, name: str = "mse", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)

    def _of(self, difference: ndarray) -> ndarray:
        return difference * difference


@register
class RMSE(MSE):
    """The root of the mean squared error.

    >>> m = RMSE()
    >>> m.update(np.array([1, 1]), np.array([3, 3]))
    >>> m.get()
    ('rmse', 2.0)
    """

    def __init__(self, name: str = "rmse", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)

    def get(self) -> tuple[str, float]:
        """Name and value so far. Waits for it."""
        return self.name, math.sqrt(super().get()[1])


@register
class MeanPairwiseDistance(Pairwise):
    """The mean distance of rows: the p-norm of their difference.

    >>> m = MeanPairwiseDistance()
    >>> m.update(np.array([[0, 0]]), np.array([[3, 4]]))
    >>> m.get()
    ('mpd', 5.0)
    """

    def __init__(
        self,
        name: str = "mpd",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        p: float = 2,
    ) -> None:
        super().__init__(name, output_names, label_names, p=p)
        self.p = p

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        check_label_shapes(label, pred, shape=True)
        apart = xp.abs(label - pred).reshape(label.shape[0], -1)
        return ((apart**self.p).sum(axis=-1) ** (1 / self.p)).sum(), label.shape[0]


@register
class MeanCosineSimilarity(Pairwise):
    """The mean cosine of the angles between rows.

    >>> m = MeanCosineSimilarity()
    >>> m.update(np.array([[3, 4]]), np.array([[3, 4]]))
    >>> round(m.get()[1], 6)
    1.0
    """

    def __init__(
        self,
        name: str = "cos_sim",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(name, output_names, label_names, eps=eps)
        self.eps = eps

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        check_label_shapes(label, pred, shape=True)
        lengths = xp.sqrt((label * label).sum(axis=-1)) * xp.sqrt((pred * pred).sum(axis=-1))
        cosines = (label * pred).sum(axis=-1) / xp.maximum(lengths, self.eps)
        return cosines.sum(), cosines.size


@register
@alias("pearsonr")
class PearsonCorrelation(Pairwise):
    """Pearson's coefficient of correlation, of all batches together.

    >>> m = PearsonCorrelation()
    >>> m.update(np.array([1, 2, 3]), np.array([2, 4, 6]))
    >>> round(m.get()[1], 6)
    1.0
    """

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def reset(self) -> None:
        """Starts anew."""
        super().reset()
        self._means: Any = None  # of labels and predictions
        self._moments: Any = None  # their sums of squares and of products, about the means

    def _measure(self, label: ndarray, pred: ndarray) -> tuple[Any, Any]:
        check_label_shapes(label, pred, shape=True)
        both = xp.stack([values(label).reshape(-1), values(pred).reshape(-1)]).astype(WIDE)
        count, seen = both.shape[1], self.num_inst
        means = both.mean(axis=1)
        away = both - means.reshape(2, 1)
        moments = xp.stack([(away * away).sum(axis=1), (away[0] * away[1]).sum() + xp.zeros_like(means)])
        if self._means is not None:
            place = self._means.device
            means, moments = means.as_in_device(place), moments.as_in_device(place)
            shift = means - self._means
            share = seen * count / (seen + count)
            apart = xp.stack([shift * shift, shift * shift[::-1]])
            moments = self._moments + moments + share * apart
            means = self._means + shift * (count / (seen + count))
        self._means, self._moments = means, moments
        return 0.0, count

    def get(self) -> tuple[str, float]:
        """Name and coefficient so far. Waits for it."""
        if not self.num_inst:
            return self.name, float("nan")
        (of_labels, of_preds), (together, _) = self._moments.tolist()
        root = math.sqrt(of_labels * of_preds)
        return self.name, together / root if root else float("nan")
