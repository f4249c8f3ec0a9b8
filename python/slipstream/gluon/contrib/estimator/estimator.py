"""The estimator: a net, a loss, a trainer and metrics, trained and evaluated in one call."""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .... import autograd
from ....device import current_device
from ....metric import CompositeEvalMetric, EvalMetric
from ....metric import Loss as LossMetric
from ...loss import Loss
from ...parameter import ParameterDict
from ...trainer import Trainer
from ...utils import split_and_load
from .handlers import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    ProgressHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
)


class BatchProcessor:
    """What is done with a batch; a subclass may do it otherwise.

    >>> hasattr(BatchProcessor(), "fit_batch")
    True
    """

    def _parts(self, data_batch: Any, device: Sequence[Any], batch_axis: int) -> tuple[list[Any], list[Any]]:
        if not isinstance(data_batch, Sequence) or len(data_batch) < 2:
            raise ValueError(
                f"Estimator: a batch is (data, label), as a DataLoader gives it, not {type(data_batch).__name__}; "
                "a batch_processor of your own may take others"
            )
        data = split_and_load(data_batch[0], device, batch_axis, even_split=False)
        label = split_and_load(data_batch[1], device, batch_axis, even_split=False)
        return data, label

    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> tuple[Any, ...]:
        """Data, labels, predictions and losses of a batch, as lists over the devices."""
        data, label = self._parts(val_batch, estimator.device, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(p, y) for p, y in zip(pred, label, strict=True)]
        return data, label, pred, loss

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> tuple[Any, ...]:
        """The same, with gradients."""
        data, label = self._parts(train_batch, estimator.device, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label, strict=True)]
        autograd.backward(loss)
        return data, label, pred, loss


# ---- checked arguments


def _metrics(given: Any, name: str) -> list[EvalMetric]:
    given = list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
    for metric in given:
        if not isinstance(metric, EvalMetric):
            raise ValueError(f"Estimator: {name} must be an EvalMetric or a list of them, not {metric!r}")
    return [part for one in given for part in (one.metrics if isinstance(one, CompositeEvalMetric) else [one])]


def _loss(given: Any, name: str) -> Loss:
    if not isinstance(given, Loss):
        raise ValueError(f"Estimator: {name} must be a gluon.loss.Loss, not {given!r}")
    return given


def _trainer(given: Any, net: Any) -> Trainer:
    if given is None:
        warnings.warn("Estimator: no trainer is given: SGD with learning rate 0.001 is used", stacklevel=3)
        return Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001})
    if not isinstance(given, Trainer):
        raise ValueError(f"Estimator: trainer must be a gluon.Trainer, not {given!r}")
    return given


def _processor(given: Any) -> Any:
    if given is None:
        return BatchProcessor()
    if not callable(getattr(given, "fit_batch", None)) or not callable(getattr(given, "evaluate_batch", None)):
        raise ValueError(f"Estimator: batch_processor must have fit_batch() and evaluate_batch(), not be {given!r}")
    return given


class _Logger(logging.Logger):
    """A logger that shows what is told to it: those of `getLogger` show nothing until the program sets them up."""

    def __init__(self) -> None:
        super().__init__("Estimator", logging.INFO)
        self.addHandler(logging.StreamHandler(sys.stdout))

    def __reduce__(self) -> Any:  # loggers are found by their names, but nobody else knows this one
        return _Logger, ()

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802
        # Loggers remember their answers, and setLevel() makes only those of `getLogger` forget them.
        return not self.disabled and self.manager.disable < level >= self.level


class Estimator:
    """Trains a net: `fit` goes over the data and calls handlers, `evaluate` measures on other data.

    `train_metrics` measure the training, `val_metrics` (copies of them, if not given) the evaluation; both end with the
    loss. `logger` writes to the standard output; its level and handlers are yours to change. Nothing waits for values
    but the handlers that show or compare them.

    >>> from slipstream import gluon, metric
    >>> net = gluon.nn.Dense(1)
    >>> trainer = gluon.Trainer(net.collect_params(), "adam")
    >>> estimator = Estimator(net, gluon.loss.L2Loss(), train_metrics=metric.MAE(), trainer=trainer)
    >>> [m.name for m in estimator.val_metrics]
    ['validation mae', 'validation loss']
    """

    def __init__(
        self,
        net: Any,
        loss: Any,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Any = None,
        trainer: Trainer | None = None,
        device: Any = None,
        val_net: Any = None,
        val_loss: Any = None,
        batch_processor: BatchProcessor | None = None,
        *,
        context: Any = None,
    ) -> None:
        self.net = net
        self.loss = _loss(loss, "loss")
        self.val_net = val_net if val_net is not None else net
        self.val_loss = _loss(val_loss, "val_loss") if val_loss is not None else self.loss
        devices = device if device is not None else context
        self.device = list(devices) if isinstance(devices, (list, tuple)) else [devices or current_device()]
        self.logger = _Logger()
        self.batch_processor = _processor(batch_processor)
        self._train_metrics = _metrics(train_metrics, "train_metrics")
        self._val_metrics = _metrics(val_metrics, "val_metrics")
        if val_metrics is None:
            self._val_metrics = copy.deepcopy(self._train_metrics)
        self._train_metrics.append(LossMetric("training loss"))
        for metric in self._val_metrics:
            metric.name = f"validation {metric.name}"
        self._val_metrics.append(LossMetric("validation loss"))
        self._initialize(initializer)
        self.trainer = _trainer(trainer, net)
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.epoch_length: int | None = None

    def _initialize(self, initializer: Any) -> None:
        """Gives values to the parameters that have none."""
        parameters = self.net.collect_params().items()
        fresh = {name: p for name, p in parameters if p._data is None and p._deferred is None}
        ParameterDict(fresh).initialize(initializer, self.device)
        if initializer is not None and not fresh:
            warnings.warn(
                "Estimator: the net has its values already, the initializer is not used; to begin anew call "
                "net.initialize(..., force_reinit=True)",
                stacklevel=3,
            )

    @property
    def train_metrics(self) -> list[EvalMetric]:
        """The metrics of training; the last one is the loss."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[EvalMetric]:
        """The metrics of evaluation; the last one is the loss."""
        return self._val_metrics

    # ---- evaluation

    def evaluate(self, val_data: Any, batch_axis: int = 0, event_handlers: Any = None) -> None:
        """Measures the net on data: see `val_metrics`. Does not wait."""
        handlers = _in_order([*_as_list(event_handlers), MetricHandler(self.val_metrics)])
        _call(handlers, EpochBegin, "epoch_begin", self)
        for batch in val_data:
            _call(handlers, BatchBegin, "batch_begin", self, batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            _call(handlers, BatchEnd, "batch_end", self, batch=batch, pred=pred, label=label, loss=loss)
        _call(handlers, EpochEnd, "epoch_end", self)

    # ---- training

    def fit(
        self,
        train_data: Any,
        val_data: Any = None,
        epochs: int | None = None,
        event_handlers: Any = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Trains for so many epochs, or so many batches.

        The metrics of each epoch are logged, unless `event_handlers` have a `LoggingHandler` or a `ProgressHandler`.
        """
        if (epochs is None) == (batches is None):
            raise ValueError(f"fit: give either epochs or batches, not epochs={epochs} and batches={batches}")
        if (epochs or batches or 0) < 1:
            raise ValueError(f"fit: epochs={epochs}, batches={batches}: there must be at least one")
        if not hasattr(train_data, "__iter__"):
            raise ValueError(f"fit: train_data must be a DataLoader, not {type(train_data).__name__}")
        self.max_epoch, self.max_batch = epochs, batches
        self.epoch_length = len(train_data) if hasattr(train_data, "__len__") else None
        handlers = self._handlers(event_handlers, val_data)
        _call(handlers, TrainBegin, "train_begin", self)
        try:
            while not self._epoch(handlers, train_data, batch_axis):
                pass
        finally:
            _call(handlers, TrainEnd, "train_end", self)

    def _epoch(self, handlers: list[EventHandler], train_data: Any, batch_axis: int) -> bool:
        """One pass over the data; tells whether the training is over."""
        over = found = False
        _call(handlers, EpochBegin, "epoch_begin", self)
        for batch in train_data:
            found = True
            _call(handlers, BatchBegin, "batch_begin", self, batch=batch)
            _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
            if _call(handlers, BatchEnd, "batch_end", self, batch=batch, pred=pred, label=label, loss=loss):
                over = True
                break
        if self.max_batch is not None and not found:  # there would be no end of such passes
            raise ValueError(
                f"fit: train_data has no batches left, and fewer than batches={self.max_batch} in all; "
                "a generator gives its own once: use a DataLoader to go over them again"
            )
        return _call(handlers, EpochEnd, "epoch_end", self) or over

    def _handlers(self, given: Any, val_data: Any) -> list[EventHandler]:
        """The handlers that are given, and those that every training needs."""
        handlers = _as_list(given)
        for needed, make in (
            (StoppingHandler, StoppingHandler),
            (GradientUpdateHandler, GradientUpdateHandler),
            (MetricHandler, lambda: MetricHandler(self.train_metrics)),
        ):
            if not any(isinstance(handler, needed) for handler in handlers):
                handlers.append(make())
        if val_data is not None and not any(isinstance(handler, ValidationHandler) for handler in handlers):
            handlers.append(ValidationHandler(val_data, self.evaluate))
        if not any(isinstance(handler, (LoggingHandler, ProgressHandler)) for handler in handlers):
            shown = self.train_metrics + (self.val_metrics if val_data is not None else [])
            handlers.append(LoggingHandler(metrics=shown))
        return _in_order(handlers)


def _as_list(handlers: Any) -> list[EventHandler]:
    given = [] if handlers is None else list(handlers) if isinstance(handlers, (list, tuple)) else [handlers]
    for handler in given:
        if not isinstance(handler, EventHandler):
            raise TypeError(f"event_handlers: {handler!r} is not a handler: derive it from TrainBegin, BatchEnd, ...")
    return given


def _in_order(handlers: list[EventHandler]) -> list[EventHandler]:
    return sorted(handlers, key=lambda handler: handler.priority)


def _call(handlers: list[EventHandler], kind: type[Any], event: str, estimator: Estimator, **about: Any) -> bool:
    """Tells all handlers of an event; tells whether one of them wants to stop."""
    answers = [getattr(handler, event)(estimator, **about) for handler in handlers if isinstance(handler, kind)]
    return any(answers)
