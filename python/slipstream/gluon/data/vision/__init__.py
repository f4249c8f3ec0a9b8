"""Datasets of images, and what is done to images before training.

>>> from slipstream.gluon.data import vision
>>> vision.transforms.ToTensor()(np.zeros((4, 4, 3), dtype="uint8")).shape
(3, 4, 4)
"""

from . import datasets, transforms
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
__all__ += ["ImageRecordDataset", "datasets", "transforms"]
