"""The estimator: it learns, its handlers act when they should, and it goes on from a checkpoint."""

from __future__ import annotations

import logging
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
def test_it_learns(devices: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    est = made(device=devices)
    with caplog.at_level(logging.INFO, "slipstream.estimator"):
        est.fit(data(), val_data=data(), epochs=12)
    assert est.train_metrics[-1].get()[1] < 1e-3
    assert [m.name for m in est.val_metrics] == ["validation mae", "validation loss"]
    assert est.val_metrics[0].get()[1] < 0.05
    assert "[Epoch 11]" in caplog.text
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
    assert seen[-1] == "end"


def test_early_stopping() -> None:
    est = made()
    est.trainer.set_learning_rate(0.0)
    stop = E.EarlyStoppingHandler(est.train_metrics[-1], patience=2)
    est.fit(data(), epochs=50, event_handlers=[stop])
    assert stop.stopped_epoch == 4


def test_checkpoints(tmp_path: Path) -> None:
    est = made()
    keep = E.CheckpointHandler(
        str(tmp_path), "m", monitor=est.train_metrics[-1], save_best=True, max_checkpoints=2, epoch_period=1
    )
    est.fit(data(), epochs=3, event_handlers=[keep])
    names = sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".params")
    assert names == ["m-best.params", "m-epoch1batch8.params", "m-epoch2batch12.params"]
    again = made()
    resume = E.CheckpointHandler(str(tmp_path), "m", resume_from_checkpoint=True)
    again.fit(data(), batches=1, event_handlers=[resume])
    assert again.train_metrics[-1].get()[1] < 0.05
    with pytest.raises(FileNotFoundError, match="there is no checkpoint x-epoch"):
        E.CheckpointHandler(str(tmp_path), "x", resume_from_checkpoint=True).train_begin(made())


def test_progress_and_errors() -> None:
    est = made()
    est.fit(data(), epochs=1, event_handlers=[E.ProgressHandler(est.train_metrics)])
    with pytest.raises(ValueError, match="give either epochs or batches"):
        est.fit(data())
    with pytest.raises(TypeError, match="is not a handler"):
        est.fit(data(), epochs=1, event_handlers=[print])
    with pytest.raises(ValueError, match="save_best needs a monitor"):
        E.CheckpointHandler("x", save_best=True)
    with pytest.raises(ValueError, match="log_interval must be"):
        E.LoggingHandler("minute")
