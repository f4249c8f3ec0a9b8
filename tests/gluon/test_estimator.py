"""The estimator: it learns, its handlers act when they should, and it goes on from a checkpoint."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy
import pytest

from slipstream import autograd, gluon, metric, np, npx
from slipstream.gluon.contrib import estimator as E


def data(batch_size: int = 16) -> gluon.data.DataLoader:
    rng = numpy.random.default_rng(1)
    x = rng.normal(size=(64, 3)).astype("float32")
    y = x @ numpy.array([[1.0], [-2.0], [0.5]], "float32") + 0.25
    return gluon.data.DataLoader(gluon.data.ArrayDataset(np.array(x), np.array(y)), batch_size)


def made(**settings: Any) -> E.Estimator:
    np.random.seed(2)
    net = gluon.nn.Dense(1)
    net.initialize(device=settings.get("device"))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2})
    return E.Estimator(net, gluon.loss.L2Loss(), train_metrics=[metric.MAE()], trainer=trainer, **settings)


@pytest.mark.parametrize("devices", [[npx.cpu(0)], [npx.cpu(0), npx.cpu(1)]])
def test_it_learns(devices: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    est = made(device=devices)
    est.fit(data(), val_data=data(), epochs=12)
    assert est.train_metrics[-1].get()[1] < 1e-3
    assert [m.name for m in est.val_metrics] == ["validation mae", "validation loss"]
    assert est.val_metrics[0].get()[1] < 0.05
    shown = capsys.readouterr().out
    assert "[Epoch 11]" in shown
    assert "validation mae" in shown
    assert not autograd.is_recording()


def test_events_come_in_their_order() -> None:
    seen: list[str] = []

    class All(E.TrainBegin, E.TrainEnd, E.EpochBegin, E.EpochEnd, E.BatchBegin, E.BatchEnd):
        def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            seen.append("train")

        def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            seen.append("end")

        def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            seen.append("epoch")

        def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            seen.append("epoch end")

        def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            seen.append("batch")

        def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            assert kwargs["loss"][0].shape == (32,)
            seen.append("batch end")

    made().fit(data(32), epochs=1, event_handlers=[All()])
    assert seen == ["train", "epoch", "batch", "batch end", "batch", "batch end", "epoch end", "end"]
    seen.clear()
    made().fit(data(32), batches=3, event_handlers=All())
    assert seen.count("batch") == 3
    assert seen[-3:] == ["batch end", "epoch end", "end"]  # the last epoch ends too, though in its middle


class Counted(E.EpochEnd, E.BatchEnd):
    """How many epochs and batches there were."""

    def __init__(self) -> None:
        self.epochs = self.batches = 0

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.epochs += 1

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.batches += 1


@pytest.mark.parametrize(("batches", "epochs"), [(6, 2), (8, 2), (3, 1)])
def test_so_many_batches(batches: int, epochs: int) -> None:
    seen = Counted()
    made().fit(data(), batches=batches, event_handlers=seen)
    assert (seen.batches, seen.epochs) == (batches, epochs)


def test_batches_that_a_generator_does_not_have() -> None:
    est = made()
    with pytest.raises(ValueError, match=r"fit: train_data has no batches left, and fewer than batches=9 in all"):
        est.fit((batch for batch in data()), batches=9)
    assert est.trainer.optimizer.num_update == 4
    est.fit((batch for batch in data()), batches=4)


def test_a_device_without_rows() -> None:
    rng = numpy.random.default_rng(1)
    x = np.array(rng.normal(size=(17, 3)), dtype="float32")
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x, x.sum(axis=1, keepdims=True)), 16)
    devices = [npx.cpu(0), npx.cpu(1)]
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(4), gluon.nn.BatchNorm(), gluon.nn.Dense(1))
    net.initialize(device=devices)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    E.Estimator(net, gluon.loss.L2Loss(), trainer=trainer, device=devices).fit(loader, epochs=2)
    for parameter in net.collect_params().values():
        assert all(np.isfinite(value).all() for value in parameter.list_data())


def test_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    est = made()
    for handlers in (None, [], [Counted()]):
        est.fit(data(), epochs=1, event_handlers=handlers)
        assert capsys.readouterr().out.count("[Epoch 0]") == 1
    handler = E.LoggingHandler(2, est.train_metrics[-1:])
    est.fit(data(), epochs=1, event_handlers=[handler])
    assert (handler.current_epoch, handler.batch_index) == (1, 0)  # the next epoch has had no batch yet
    shown = capsys.readouterr().out
    assert "[Epoch 0][Batch 4] training loss: " in shown
    assert "mae" not in shown
    est.fit(data(), epochs=1, event_handlers=[E.ProgressHandler()])
    assert "[Epoch 0]" not in capsys.readouterr().out
    est.logger.setLevel("WARNING")
    est.fit(data(), epochs=1)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("patience", "last"), [(0, 1), (1, 1), (2, 2)])
def test_early_stopping(patience: int, last: int, capsys: pytest.CaptureFixture[str]) -> None:
    est, seen = made(), Counted()
    est.trainer.set_learning_rate(0.0)
    stop = E.EarlyStoppingHandler(est.train_metrics[-1], patience=patience)
    est.fit(data(), epochs=50, event_handlers=[stop, seen])
    assert stop.stopped_epoch == last
    assert seen.epochs == last + 1
    assert f"Stopped early after epoch {last}: training loss" in capsys.readouterr().out


def test_checkpoints(tmp_path: Path) -> None:
    est = made()
    keep = E.CheckpointHandler(
        str(tmp_path), "m", monitor=est.train_metrics[-1], save_best=True, max_checkpoints=2, epoch_period=1
    )
    est.fit(data(), epochs=3, event_handlers=[keep])
    names = sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".params")
    assert names == ["m-best.params", "m-epoch1batch8.params", "m-epoch2batch12.params"]


def test_resuming(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def go_on(**limit: int) -> tuple[E.Estimator, Counted]:
        est, seen = made(), Counted()
        resume = E.CheckpointHandler(str(tmp_path), "m", resume_from_checkpoint=True)
        est.fit(data(), event_handlers=[E.StoppingHandler(), resume, seen], **limit)
        return est, seen

    _, first = go_on(epochs=4)
    assert first.epochs == 4
    assert "There is no checkpoint m-epoch*.params in" in capsys.readouterr().out
    est, rest = go_on(epochs=6)
    assert (rest.epochs, rest.batches) == (2, 8)
    assert est.train_metrics[-1].get()[1] < 0.01
    assert "Goes on from " in capsys.readouterr().out
    assert (tmp_path / "m-epoch5batch24.params").exists()
    with pytest.raises(ValueError, match=r"nothing is left to train: .*m-epoch5batch24.params has 6 of 6 epochs"):
        go_on(epochs=6)
    assert go_on(batches=30)[1].batches == 6
    by_batches = E.CheckpointHandler(str(tmp_path), "m", batch_period=2, resume_from_checkpoint=True)
    with pytest.raises(ValueError, match=r"save by epochs alone \(batch_period=None\)"):
        made().fit(data(), epochs=9, event_handlers=[by_batches])
    with pytest.raises(ValueError, match="may be from within an epoch"):
        go_on(epochs=9)  # 30 batches are no whole epochs


def test_copies() -> None:
    est = made()
    for copied in (copy.deepcopy(est), pickle.loads(pickle.dumps(est))):
        copied.fit(data(), epochs=1)
        assert copied.logger is not est.logger


def test_first_values_and_trainer() -> None:
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(2, in_units=3), gluon.nn.Dense(1, in_units=2))
    net[0].initialize("ones")
    with pytest.warns(UserWarning, match=r"no trainer is given: SGD with learning rate 0\.001 is used"):
        est = E.Estimator(net, gluon.loss.L2Loss(), initializer="zeros")
    assert type(est.trainer.optimizer).__name__ == "SGD"
    assert est.trainer.learning_rate == 0.001
    assert net[0].weight.data().sum().item() == 6  # what had values keeps them
    assert net[1].weight.data().sum().item() == 0
    with pytest.warns(UserWarning, match="the initializer is not used"):
        E.Estimator(net, gluon.loss.L2Loss(), initializer="zeros", trainer=est.trainer)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"loss": "foo"}, r"loss must be a gluon\.loss\.Loss, not 'foo'"),
        ({"val_loss": "foo"}, r"val_loss must be a gluon\.loss\.Loss, not 'foo'"),
        ({"train_metrics": "acc"}, "train_metrics must be an EvalMetric or a list of them, not 'acc'"),
        ({"val_metrics": ["acc"]}, "val_metrics must be an EvalMetric or a list of them, not 'acc'"),
        ({"trainer": "sgd"}, r"trainer must be a gluon\.Trainer, not 'sgd'"),
        ({"batch_processor": 3}, r"batch_processor must have fit_batch\(\) and evaluate_batch\(\), not be 3"),
    ],
)
def test_wrong_arguments(given: dict[str, Any], match: str) -> None:
    est = made()
    with pytest.raises(ValueError, match=match):
        E.Estimator(**{"net": est.net, "loss": est.loss, "trainer": est.trainer, **given})


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: E.EarlyStoppingHandler(metric.MSE(), mode="up"), "mode 'up' is none of 'auto', 'min', 'max'"),
        (lambda: E.EarlyStoppingHandler("acc"), "monitor must be one of the estimator's metrics, not 'acc'"),
        (lambda: E.CheckpointHandler("x", monitor="acc", save_best=True), "monitor must be one of the estimator's"),
        (lambda: E.LoggingHandler(0), "log_interval must be 'epoch' or a number above 0, not 0"),
        (lambda: E.LoggingHandler("batch"), "log_interval must be 'epoch' or a number above 0, not 'batch'"),
    ],
)
def test_handlers_are_checked_when_they_are_made(make: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make()


def test_progress_and_errors() -> None:
    est = made()
    est.fit(data(), epochs=1, event_handlers=[E.ProgressHandler(est.train_metrics)])
    with pytest.raises(ValueError, match="give either epochs or batches"):
        est.fit(data())
    with pytest.raises(ValueError, match="epochs=0, batches=None: there must be at least one"):
        est.fit(data(), epochs=0)
    with pytest.raises(ValueError, match=r"a batch is \(data, label\), as a DataLoader gives it, not int"):
        est.fit([1, 2], epochs=1)
    with pytest.raises(ValueError, match="train_data must be a DataLoader, not int"):
        est.fit(3, epochs=1)
    with pytest.raises(TypeError, match="is not a handler"):
        est.fit(data(), epochs=1, event_handlers=[print])
    with pytest.raises(ValueError, match="save_best needs a monitor"):
        E.CheckpointHandler("x", save_best=True)
    with pytest.raises(ValueError, match="log_interval must be"):
        E.LoggingHandler("minute")
