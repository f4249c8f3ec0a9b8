"""Measures of how well a model does. They add up on the device as batches come, and wait only when asked: `get()`.

>>> from slipstream import metric, np
>>> accuracy = metric.Accuracy()
>>> accuracy.update(labels=[np.array([0, 1])], preds=[np.array([[0.9, 0.1], [0.8, 0.2]])])
>>> accuracy.get()
('accuracy', 0.5)
"""

from .base import CompositeEvalMetric, EvalMetric, alias, check_label_shapes, create, register
from .classification import (
    F1,
    MCC,
    PCC,
    Accuracy,
    BinaryAccuracy,
    Fbeta,
    TopKAccuracy,
    one_hot,
    predict_with_threshold,
)
from .losses import CrossEntropy, CustomMetric, Loss, NegativeLogLikelihood, Perplexity, Torch, np
from .regression import MAE, MSE, RMSE, MeanCosineSimilarity, MeanPairwiseDistance, PearsonCorrelation

__all__ = ["F1", "MAE", "MCC", "MSE", "PCC", "RMSE", "Accuracy", "BinaryAccuracy", "CompositeEvalMetric"]
__all__ += ["CrossEntropy", "CustomMetric", "EvalMetric", "Fbeta", "Loss", "MeanCosineSimilarity"]
__all__ += ["MeanPairwiseDistance", "NegativeLogLikelihood", "PearsonCorrelation", "Perplexity", "TopKAccuracy"]
__all__ += ["Torch", "alias", "check_label_shapes", "create", "np", "one_hot", "predict_with_threshold", "register"]
