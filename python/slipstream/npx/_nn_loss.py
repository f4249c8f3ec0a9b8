"""The connectionist temporal classification loss, composed of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..np._arguments import as_array, public
from ..np._types import ArrayLike
from ._nn import log_softmax
from ._out import with_out

_NEVER = -1e30  # the logarithm of 0, but with a gradient


def _counts_before_padding(labels: ndarray, padding: int) -> ndarray:
    """How many labels stand before the first padding, for each row."""
    kept = _core.astype(_core.not_equal(labels, padding), "int64")
    return _core.sum(_core.cumprod(kept, 1), axis=1)


def _one_hot(indices: ndarray, depth: int, dtype: Any) -> ndarray:
    numbers = _core.arange(0, 1, depth, numpy.dtype("int64"), indices.device)
    return _core.astype(_core.equal(_core.expand_dims(indices, [indices.ndim]), numbers), dtype)


def _moved(x: ndarray, by: int) -> ndarray:
    """Columns moved to the right; what comes in is impossible."""
    n, columns = x.shape
    by = min(by, columns)
    new = _core.full((n, by), _NEVER, x.dtype, x.device)
    return _core.concatenate([new, _core.slice(x, 1, 0, 1, columns - by)], 1)


@with_out
def ctc_loss(
    data: ArrayLike = None,
    label: ArrayLike = None,
    data_lengths: ArrayLike = None,
    label_lengths: ArrayLike = None,
    use_data_lengths: bool = False,
    use_label_lengths: bool = False,
    blank_label: str = "first",
) -> ndarray:
    """The negative log-probability of each label sequence, over all ways to stretch it with repeats and blanks.

    `data` is (length, batch, classes) before softmax, `label` (batch, most labels). The blank is class 0, and labels
    count from 1 and are padded with 0; with `blank_label="last"` it is the last class, and labels are padded with -1.
    Lengths are taken from the padding unless they are given and `use_label_lengths`, `use_data_lengths` say so.

    >>> npx.ctc_loss(np.zeros((2, 1, 2)), np.array([[1]])).round(3)  # one, one; one, blank; blank, one: 3 / 4
    array([0.288])
    """
    x = as_array(data)
    if blank_label not in ("first", "last"):
        raise ValueError(f"ctc_loss: blank_label {blank_label!r} is neither 'first' nor 'last'")
    labels = as_array(label, x.device)
    if x.ndim != 3 or labels.ndim != 2 or labels.shape[0] != x.shape[1]:
        raise ValueError(f"ctc_loss: data of shape {x.shape} and label of shape {labels.shape} do not fit: "
                         "(length, batch, classes) and (batch, labels)")  # fmt: skip
    length, batch, classes = x.shape
    blank, padding = (0, 0) if blank_label == "first" else (classes - 1, -1)
    labels = _core.astype(labels, "int64")
    counts = _counts_before_padding(labels, padding)
    if use_label_lengths:
        counts = _core.astype(as_array(label_lengths, x.device), "int64")

    # Labels with blanks around them, and the log-probability of each at each step.
    many = labels.shape[1]
    blanks = _core.full((batch, many), blank, numpy.dtype("int64"), x.device)
    pairs = _core.reshape(_core.stack([blanks, labels], 2), (batch, 2 * many))
    path = _core.concatenate([pairs, _core.full((batch, 1), blank, numpy.dtype("int64"), x.device)], 1)
    logs = _core.transpose(log_softmax(x), (1, 0, 2))
    steps = _core.matmul(logs, _core.swapaxes(_one_hot(path, classes, logs.dtype), 1, 2))

    # A label may follow the one before it without a blank, unless they are the same.
    places = _core.arange(0, 1, 2 * many + 1, numpy.dtype("int64"), x.device)
    before = _core.concatenate([_core.full((batch, 2), -2, numpy.dtype("int64"), x.device), path], 1)
    before = _core.slice(before, 1, 0, 1, 2 * many + 1)
    jumps = _core.logical_and(_core.not_equal(path, blank), _core.not_equal(path, before))
    jumps = _core.logical_and(jumps, _core.greater_equal(places, 2))

    reached = _core.where(_core.less(places, 2), _core.select(steps, 1, 0), _NEVER)
    ends = as_array(data_lengths, x.device) if use_data_lengths else None
    for t in range(1, length):
        come = _core.logaddexp(reached, _moved(reached, 1))
        come = _core.logaddexp(come, _core.where(jumps, _moved(reached, 2), _NEVER))
        new = come + _core.select(steps, 1, t)
        reached = new if ends is None else _core.where(_core.reshape(_core.greater(ends, t), (-1, 1)), new, reached)
    last = _core.reshape(2 * counts, (-1, 1))
    final = _core.where(_core.logical_or(_core.equal(places, last), _core.equal(places, last - 1)), reached, _NEVER)
    return -_core.logsumexp(final, axis=1)


if not TYPE_CHECKING:
    __all__ = public(globals())
