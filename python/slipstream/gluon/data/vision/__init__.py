"""Datasets of images, and what is done to images before training.

>>> from slipstream.gluon.data import vision
>>> vision.MNIST.__name__
'MNIST'
"""

from . import datasets
from .datasets import (
    CIFAR10,
    CIFAR100,
    MNIST,
    FashionMNIST,
    ImageFolderDataset,
    ImageListDataset,
    ImageRecordDataset,
)

__all__ = ["CIFAR10", "CIFAR100", "MNIST", "FashionMNIST", "ImageFolderDataset", "ImageListDataset"]
__all__ += ["ImageRecordDataset", "datasets"]
