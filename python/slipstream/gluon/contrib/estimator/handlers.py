"""Handlers of events: what is done when training, an epoch or a batch begins or ends."""

from __future__ import annotations

import math
import operator
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from ....metric import EvalMetric

# ---- events


class EventHandler:
    """The base of all handlers. Those with a lower `priority` act first."""

    priority: float = 0


class TrainBegin(EventHandler):
    """Acts before training.

    >>> class Told(TrainBegin):
    ...     def train_begin(self, estimator, *args, **kwargs):
    ...         print("train begin")
    >>> Told().train_begin(None)
    train begin
    """

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Training begins."""


class TrainEnd(EventHandler):
    """Acts after training.

    >>> class Told(TrainEnd):
    ...     def train_end(self, estimator, *args, **kwargs):
    ...         print("train end")
    >>> Told().train_end(None)
    train end
    """

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Training is over."""


class EpochBegin(EventHandler):
    """Acts before each epoch.

    >>> class Told(EpochBegin):
    ...     def epoch_begin(self, estimator, *args, **kwargs):
    ...         print("epoch begin")
    >>> Told().epoch_begin(None)
    epoch begin
    """

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """An epoch begins."""


class EpochEnd(EventHandler):
    """Acts after each epoch; what is true ends the training.

    >>> class Told(EpochEnd):
    ...     def epoch_end(self, estimator, *args, **kwargs):
    ...         print("epoch end")
    >>> Told().epoch_end(None)
    epoch end
    """

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """An epoch is over."""


class BatchBegin(EventHandler):
    """Acts before each batch.

    >>> class Told(BatchBegin):
    ...     def batch_begin(self, estimator, *args, **kwargs):
    ...         print("batch begin")
    >>> Told().batch_begin(None)
    batch begin
    """

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """A batch begins."""


class BatchEnd(EventHandler):
    """Acts after each batch; what is true ends the training.

    >>> class Told(BatchEnd):
    ...     def batch_end(self, estimator, *args, **kwargs):
    ...         print("batch end")
    >>> Told().batch_end(None)
    batch end
    """

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """A batch is over: `batch`, `pred`, `label` and `loss` are among the arguments."""


# ---- what every training has


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends the training after so many epochs or batches.

    >>> handler = StoppingHandler(max_batch=2)
    >>> handler.batch_end(None), handler.batch_end(None)
    (False, True)
    """

    priority = 1  # how much is left to do is known when the checkpoint handlers have begun

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_epoch = self.current_batch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Counts anew."""
        self.max_epoch, self.max_batch = estimator.max_epoch, estimator.max_batch
        self.current_epoch = self.current_batch = 0
        self.stop_training = False

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Counts a batch."""
        self.current_batch += 1
        self.stop_training |= self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Counts an epoch."""
        self.current_epoch += 1
        self.stop_training |= self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Adds every batch to the metrics, which start anew with each epoch. Does not wait.

    >>> from slipstream import metric
    >>> accuracy = metric.Accuracy()
    >>> MetricHandler([accuracy]).batch_end(None, pred=[np.array([[0, 1]])], label=[np.array([1])], loss=[np.zeros(1)])
    >>> accuracy.get()
    ('accuracy', 1.0)
    """

    def __init__(self, metrics: Sequence[EvalMetric], priority: float = -1000) -> None:
        self.metrics = list(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Starts the metrics anew."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Adds a batch."""
        from ....metric import Loss

        for metric in self.metrics:
            if isinstance(metric, Loss):
                metric.update(None, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])


class GradientUpdateHandler(BatchEnd):
    """Updates the parameters after each batch, before other handlers see it.

    >>> GradientUpdateHandler().priority < MetricHandler([]).priority  # it comes first
    True
    """

    def __init__(self, priority: float = -2000) -> None:
        self.priority = priority

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """A step of the trainer."""
        losses = kwargs["loss"]
        losses = losses if isinstance(losses, list) else [losses]
        estimator.trainer.step(sum(loss.shape[0] if loss.ndim else 1 for loss in losses))


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluates on other data, after so many epochs or batches.

    >>> handler = ValidationHandler([1, 2], lambda val_data, **_: print(len(val_data), "batches"), epoch_period=2)
    >>> handler.train_begin(None)
    >>> handler.epoch_end(None)
    >>> handler.epoch_end(None)
    2 batches
    """

    def __init__(
        self,
        val_data: Any,
        eval_fn: Callable[..., Any],
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ) -> None:
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.priority = priority
        self.event_handlers = event_handlers
        self.current_epoch = self.current_batch = 0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Counts anew."""
        self.current_epoch = self.current_batch = 0

    def _evaluate(self) -> None:
        self.eval_fn(val_data=self.val_data, event_handlers=self.event_handlers)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Counts a batch."""
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate()

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Counts an epoch."""
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate()


# ---- what it tells


def _shown(metrics: Sequence[EvalMetric]) -> str:
    pairs = [pair for metric in metrics for pair in metric.get_name_value()]
    return ", ".join(f"{name}: {value:.4f}" for name, value in pairs)


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchEnd):
    """Logs time and metrics: of each epoch, or also of every so many batches. Waits for what it shows.

    >>> LoggingHandler("epoch").log_interval
    'epoch'
    """

    def __init__(
        self,
        log_interval: str | int = "epoch",
        metrics: Sequence[EvalMetric] | None = None,
        priority: float = math.inf,
    ) -> None:
        if log_interval != "epoch" and not (isinstance(log_interval, int) and log_interval > 0):
            raise ValueError(f"LoggingHandler: log_interval must be 'epoch' or a number above 0, not {log_interval!r}")
        self.metrics = list(metrics or [])
        self.log_interval = log_interval
        self.priority = priority
        self.batch_index = self.current_epoch = 0
        self._start = self._epoch_start = 0.0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Notes the time."""
        self._start = time.monotonic()
        self.batch_index = self.current_epoch = 0
        rate = estimator.trainer.learning_rate
        estimator.logger.info("Training begins: optimizer learning rate %s", rate)

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Tells the time and the metrics."""
        spent = time.monotonic() - self._start
        estimator.logger.info("Training is over after %.1f s; %s", spent, _shown(self.metrics))

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Notes the time."""
        self._epoch_start = time.monotonic()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Tells the metrics every so many batches."""
        self.batch_index += 1
        if isinstance(self.log_interval, int) and self.batch_index % self.log_interval == 0:
            told = (self.current_epoch, self.batch_index, _shown(self.metrics))
            estimator.logger.info("[Epoch %d][Batch %d] %s", *told)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Tells the time and the metrics."""
        told = (self.current_epoch, time.monotonic() - self._epoch_start, _shown(self.metrics))
        estimator.logger.info("[Epoch %d] %.1f s; %s", *told)
        self.current_epoch += 1
        self.batch_index = 0


class ProgressHandler(TrainBegin, TrainEnd, BatchEnd, EpochEnd):
    """A progress bar in the terminal; the metrics appear at the end of each epoch, when they are waited for.

    >>> ProgressHandler().priority
    inf
    """

    priority = math.inf

    def __init__(self, metrics: Sequence[EvalMetric] | None = None) -> None:
        self.metrics = list(metrics or [])
        self._bar: Any = None
        self._task: Any = None

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Shows the bar."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        total = estimator.max_batch
        if total is None and estimator.max_epoch is not None and estimator.epoch_length is not None:
            total = estimator.max_epoch * estimator.epoch_length
        self._task = self._bar.add_task("training", total=total)
        self._bar.start()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """One more."""
        self._bar.advance(self._task)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Shows the metrics."""
        self._bar.update(self._task, description=_shown(self.metrics) or "training")

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Leaves the bar as it is."""
        self._bar.stop()


# ---- what depends on how it goes


class _Watch:
    """Whether a metric is better than it was: `mode` is `min`, `max`, or `auto` by its name."""

    def __init__(self, monitor: EvalMetric, mode: str, min_delta: float = 0.0) -> None:
        if not isinstance(monitor, EvalMetric):
            raise ValueError(f"monitor must be one of the estimator's metrics, not {monitor!r}")
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"mode {mode!r} is none of 'auto', 'min', 'max'")
        rises = any(word in monitor.name.lower() for word in ("acc", "f1", "fbeta", "mcc", "pcc", "pearson", "cos"))
        self.higher = mode == "max" or (mode == "auto" and rises)
        self.monitor = monitor
        self.min_delta = abs(min_delta)
        self.best = -math.inf if self.higher else math.inf

    def better(self) -> bool:
        """Looks at the metric, and waits for it."""
        value = self.monitor.get()[1]
        compare, delta = (operator.gt, -self.min_delta) if self.higher else (operator.lt, self.min_delta)
        if compare(value + delta, self.best):
            self.best = value
            return True
        return False


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Ends the training when a metric has not become better for `patience` epochs; `stopped_epoch` counts from 0.

    >>> from slipstream import metric
    >>> EarlyStoppingHandler(metric.Loss(), patience=2).patience
    2
    """

    def __init__(
        self,
        monitor: EvalMetric,
        min_delta: float = 0,
        patience: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
    ) -> None:
        self.monitor = monitor
        self.patience = patience
        self.baseline = baseline
        self._settings = (mode, min_delta)
        self._watch = _Watch(monitor, mode, min_delta)
        self.wait = self.current_epoch = 0
        self.stopped_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Starts anew."""
        self.wait = self.current_epoch = self.stopped_epoch = 0
        self.stop_training = False
        self._watch = _Watch(self.monitor, *self._settings)
        if self.baseline is not None:
            self._watch.best = self.baseline

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Looks at the metric, and waits for it."""
        if self._watch.better():
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Says why it was over."""
        if self.stop_training:
            told = (self.stopped_epoch, self.monitor.name, self._watch.best)
            estimator.logger.info("Stopped early after epoch %d: %s was best at %.4f", *told)


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Writes parameters and the trainer's states after so many epochs or batches, and the best ones if wanted.

    With `resume_from_checkpoint` the newest files are read first, if there are any, and the training does what is left
    of its epochs or batches.

    >>> import tempfile
    >>> CheckpointHandler(tempfile.mkdtemp(), model_prefix="net", max_checkpoints=3).max_checkpoints
    3
    """

    def __init__(
        self,
        model_dir: str,
        model_prefix: str = "model",
        monitor: EvalMetric | None = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ) -> None:
        if save_best and monitor is None:
            raise ValueError("CheckpointHandler: save_best needs a monitor: the metric to go by")
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.verbose = verbose
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints: list[str] = []
        self.current_epoch = self.current_batch = 0
        self._watch = _Watch(monitor, mode) if save_best and monitor is not None else None

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Makes the folder, and goes on from the newest checkpoint if that is wanted and there is one."""
        os.makedirs(self.model_dir, exist_ok=True)
        self.current_epoch = self.current_batch = 0
        if self.resume_from_checkpoint:
            self._resume(estimator)

    def _resume(self, estimator: Any) -> None:
        start, end = f"{self.model_prefix}-epoch", ".params"
        names = [name for name in os.listdir(self.model_dir) if name.startswith(start) and name.endswith(end)]
        if not names:
            estimator.logger.info("There is no checkpoint %s*%s in %r: from the beginning", start, end, self.model_dir)
            return
        newest = max(names, key=lambda name: [int(n) for n in name[len(start) : -len(end)].split("batch")])
        epoch, batch = newest[len(start) : -len(end)].split("batch")
        path = os.path.join(self.model_dir, newest)
        self._leave_rest(estimator, int(epoch) + 1, int(batch), path)
        estimator.net.load_parameters(path)
        estimator.trainer.load_states(path.removesuffix(end) + ".states")
        self.current_epoch, self.current_batch = int(epoch) + 1, int(batch)
        estimator.logger.info("Goes on from %s", path)

    def _leave_rest(self, estimator: Any, epochs: int, batches: int, path: str) -> None:
        """Takes what was done before off what the estimator is to do."""
        within = bool(estimator.epoch_length) and batches % estimator.epoch_length != 0
        if estimator.max_epoch is not None and (self.batch_period or within):
            raise ValueError(
                f"CheckpointHandler: {path} may be from within an epoch: to resume a training by epochs, save by "
                "epochs alone (batch_period=None)"
            )
        for what, limit, done in (("epochs", "max_epoch", epochs), ("batches", "max_batch", batches)):
            wanted = getattr(estimator, limit)
            if wanted is None:
                continue
            if wanted <= done:
                raise ValueError(
                    f"CheckpointHandler: nothing is left to train: {path} has {done} of {wanted} {what} behind it; "
                    "resume_from_checkpoint=False begins anew"
                )
            setattr(estimator, limit, wanted - done)

    def _save(self, estimator: Any, name: str) -> str:
        path = os.path.join(self.model_dir, f"{self.model_prefix}-{name}")
        estimator.net.save_parameters(path + ".params")
        estimator.trainer.save_states(path + ".states")
        if self.verbose:
            estimator.logger.info("Saved %s.params", path)
        return path

    def _checkpoint(self, estimator: Any) -> None:
        self.saved_checkpoints.append(self._save(estimator, f"epoch{self.current_epoch}batch{self.current_batch}"))
        if len(self.saved_checkpoints) > self.max_checkpoints:
            oldest = self.saved_checkpoints.pop(0)
            for end in (".params", ".states"):
                if os.path.exists(oldest + end):
                    os.unlink(oldest + end)
        if self._watch is not None and self._watch.better():
            self._save(estimator, "best")

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Counts a batch."""
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._checkpoint(estimator)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Counts an epoch."""
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._checkpoint(estimator)
        self.current_epoch += 1
