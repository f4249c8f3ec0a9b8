"""Data for training: datasets, the order in which they are read, and loaders that make batches of them.

>>> from slipstream import gluon, np
>>> data = gluon.data.ArrayDataset(np.arange(4), np.arange(4) * 10)
>>> for x, y in gluon.data.DataLoader(data, batch_size=2):
...     print(x, y)
[0. 1.] [ 0. 10.]
[2. 3.] [20. 30.]
"""

from . import batchify, vision
from ._progress import progress
from .dataloader import DataLoader
from .dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset
from .sampler import BatchSampler, FilterSampler, IntervalSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["ArrayDataset", "BatchSampler", "DataLoader", "Dataset", "FilterSampler", "IntervalSampler"]
__all__ += ["RandomSampler", "RecordFileDataset", "Sampler", "SequentialSampler", "SimpleDataset"]
__all__ += ["batchify", "progress", "vision"]
