"""Training in one call, with handlers that act at the beginning and end of training, epochs and batches.

>>> from slipstream import gluon, np
>>> from slipstream.gluon.contrib.estimator import Estimator
>>> net = gluon.nn.Dense(1)
>>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
>>> estimator = Estimator(net, gluon.loss.L2Loss(), initializer="zeros", trainer=trainer)
>>> estimator.logger.setLevel("WARNING")  # it tells the metrics of each epoch otherwise
>>> data = gluon.data.DataLoader(gluon.data.ArrayDataset(np.ones((8, 2)), np.ones((8, 1))), batch_size=4)
>>> estimator.fit(data, epochs=2)
>>> estimator.train_metrics[0].name
'training loss'
"""

from .estimator import BatchProcessor, Estimator
from .handlers import (
    BatchBegin,
    BatchEnd,
    CheckpointHandler,
    EarlyStoppingHandler,
    EpochBegin,
    EpochEnd,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    ProgressHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
)

__all__ = ["BatchBegin", "BatchEnd", "BatchProcessor", "CheckpointHandler", "EarlyStoppingHandler", "EpochBegin"]
__all__ += ["EpochEnd", "Estimator", "GradientUpdateHandler", "LoggingHandler", "MetricHandler", "ProgressHandler"]
__all__ += ["StoppingHandler", "TrainBegin", "TrainEnd", "ValidationHandler"]
