"""Datasets of images on disk. Sizes are checked before anything is kept, and nothing in a file is run."""

from __future__ import annotations

import gzip
import math
import os
import struct
import tarfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy

from .... import image, np
from ...._core import ndarray
from ...utils import download
from ..dataset import Dataset, RecordFileDataset

_SOURCE = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/gluon/dataset"
_Raw = numpy.ndarray[Any, Any]


class _Images(Dataset):
    """Images and labels from files in a folder, downloaded if they are not there and it is possible."""

    _name: str

    def __init__(self, root: str, train: bool, transform: Callable[..., Any] | None) -> None:
        self._root = Path(root).expanduser()
        self._train = train
        self._transform = transform
        values, labels = self._read()
        if len(values) != len(labels):
            raise ValueError(f"{type(self).__name__}: {len(values)} images, but {len(labels)} labels in {self._root}")
        self._data: ndarray = np.array(values, dtype=values.dtype)
        self._label: ndarray = np.array(labels, dtype=labels.dtype)

    def _read(self) -> tuple[_Raw, _Raw]:
        raise NotImplementedError

    def _fetch(self, name: str, sha1: str) -> Path:
        """Downloads a file; if that fails, says which files belong where."""
        self._root.mkdir(parents=True, exist_ok=True)
        try:
            return Path(download(f"{_SOURCE}/{self._name}/{name}", str(self._root / name), sha1_hash=sha1, retries=1))
        except OSError as error:
            raise FileNotFoundError(
                f"{type(self).__name__}: {name!r} is not in {str(self._root)!r} and cannot be downloaded ({error}); "
                "put the file there, or name its folder as root"
            ) from None

    def __len__(self) -> int:
        return len(self._label)

    def __getitem__(self, idx: Any) -> Any:
        item = self._data[idx], self._label[idx]
        return item if self._transform is None else self._transform(*item)


def read_idx(path: str | os.PathLike[str], ndim: int) -> _Raw:
    """The bytes of an IDX file (MNIST's format), packed by gzip or not, with `ndim` dimensions."""
    packed = os.fspath(path).endswith(".gz")
    open_it: Callable[..., Any] = gzip.open if packed else open
    try:
        with open_it(path, "rb") as file:
            head = file.read(4 + 4 * ndim)
            if len(head) < 4 + 4 * ndim or head[:4] != bytes([0, 0, 8, ndim]):
                raise ValueError(f"its head is {head[:4].hex()!r}")
            shape = struct.unpack(f">{ndim}I", head[4:])
            size = math.prod(shape)
            data = bytearray()  # grows with what is there, not with what is promised
            while len(data) <= size and (part := file.read(min(1 << 20, size + 1 - len(data)))):
                data += part
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{os.fspath(path)!r} is no IDX file of {ndim} dimensions: {error}") from None
    if len(data) != size:
        more = "more than" if len(data) > size else f"{len(data)} of"
        raise ValueError(f"{os.fspath(path)!r} is no IDX file of {ndim} dimensions: it holds {more} {size} bytes")
    return numpy.frombuffer(bytes(data), numpy.uint8).reshape(shape)


class MNIST(_Images):
    """Handwritten digits: images of (28, 28, 1) uint8 and labels of int32, from the four files of MNIST.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> head = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])
    >>> _ = (folder / "train-images-idx3-ubyte").write_bytes(head + bytes(28 * 28))
    >>> _ = (folder / "train-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    >>> image, label = MNIST(folder)[0]
    >>> image.shape, int(label)
    ((28, 28, 1), 7)
    """

    _name = "mnist"
    _files = (
        ("train-images-idx3-ubyte.gz", "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d"),
        ("train-labels-idx1-ubyte.gz", "2a80914081dc54586dbdf242f9805a6b8d2a15fc"),
        ("t10k-images-idx3-ubyte.gz", "c3a25af1f52dad7f726cce8cacb138654b760d48"),
        ("t10k-labels-idx1-ubyte.gz", "763e7fa3757d93b0cdec073cef058b2004252c17"),
    )

    def __init__(
        self,
        root: str = "~/.mxnet/datasets/mnist",
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, train, transform)

    def _find(self, name: str, sha1: str) -> Path:
        for path in (self._root / name, self._root / name.removesuffix(".gz")):
            if path.is_file():
                return path
        return self._fetch(name, sha1)

    def _read(self) -> tuple[_Raw, _Raw]:
        images, labels = self._files[:2] if self._train else self._files[2:]
        values, marks = read_idx(self._find(*images), 3), read_idx(self._find(*labels), 1)
        return values[..., None], marks.astype(numpy.int32)


class FashionMNIST(MNIST):
    """Pictures of clothes, in the format of MNIST.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> head = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])
    >>> _ = (folder / "train-images-idx3-ubyte").write_bytes(head + bytes(28 * 28))
    >>> _ = (folder / "train-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    >>> image, label = FashionMNIST(folder)[0]
    >>> image.shape, int(label)
    ((28, 28, 1), 7)
    """

    _name = "fashion-mnist"
    _files = (
        ("train-images-idx3-ubyte.gz", "0cf37b0d40ed5169c6b3aba31069a9770ac9043d"),
        ("train-labels-idx1-ubyte.gz", "236021d52f1e40852b06a4c3008d8de8aef1e40b"),
        ("t10k-images-idx3-ubyte.gz", "626ed6a7c06dd17c0eec72fa3be1740f146a2863"),
        ("t10k-labels-idx1-ubyte.gz", "17f9ab60e7257a1620f4ad76bbbaf857c3920701"),
    )

    def __init__(
        self,
        root: str = "~/.mxnet/datasets/fashion-mnist",
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, train, transform)


class CIFAR10(_Images):
    """Small photographs of ten things: images of (32, 32, 3) uint8, labels of int32, from CIFAR-10's binary files.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "test_batch.bin").write_bytes(bytes([6]) + bytes(3 * 32 * 32))
    >>> image, label = CIFAR10(folder, train=False)[0]
    >>> image.shape, int(label)
    ((32, 32, 3), 6)
    """

    _name = "cifar10"
    _archive = ("cifar-10-binary.tar.gz", "fab780a1e191a7eda0f345501ccd62d20f7ed891")
    _parts = ([f"data_batch_{i}.bin" for i in range(1, 6)], ["test_batch.bin"])
    _marks: tuple[int, ...] = (10,)  # bytes of labels before each image, and how many classes they tell apart
    _mark = 0  # the one of them that is the label

    def __init__(
        self,
        root: str = "~/.mxnet/datasets/cifar10",
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, train, transform)

    def _find(self, name: str) -> Path:
        for folder in (self._root, *sorted(path for path in self._root.glob("cifar-*") if path.is_dir())):
            if (folder / name).is_file():
                return folder / name
        with tarfile.open(self._fetch(*self._archive)) as archive:
            archive.extractall(self._root, filter="data")
        found = next(self._root.rglob(name), None)
        if found is None:
            raise FileNotFoundError(f"{type(self).__name__}: {name!r} is not in {self._archive[0]!r}")
        return found

    def _read_one(self, path: Path) -> _Raw:
        row = len(self._marks) + 3072
        if path.stat().st_size == 0 or path.stat().st_size % row:
            raise ValueError(f"{str(path)!r} is no file of {type(self).__name__}: its size is no multiple of {row}")
        rows = numpy.fromfile(path, numpy.uint8).reshape(-1, row)
        for i, classes in enumerate(self._marks):
            if rows[:, i].max() >= classes:
                raise ValueError(f"{str(path)!r} is no file of {type(self).__name__}: a label is {rows[:, i].max()}")
        return rows

    def _read(self) -> tuple[_Raw, _Raw]:
        rows = numpy.concatenate([self._read_one(self._find(name)) for name in self._parts[not self._train]])
        images = rows[:, len(self._marks) :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return numpy.ascontiguousarray(images), rows[:, self._mark].astype(numpy.int32)


class CIFAR100(CIFAR10):
    """Small photographs of a hundred things; `fine_label=False` gives labels of twenty groups of them.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "test.bin").write_bytes(bytes([6, 30]) + bytes(3 * 32 * 32))
    >>> image, label = CIFAR100(folder, fine_label=True, train=False)[0]
    >>> image.shape, int(label)
    ((32, 32, 3), 30)
    """

    _name = "cifar100"
    _archive = ("cifar-100-binary.tar.gz", "a0bb982c76b83111308126cc779a992fa506b90b")
    _parts = (["train.bin"], ["test.bin"])
    _marks = (20, 100)

    def __init__(
        self,
        root: str = "~/.mxnet/datasets/cifar100",
        fine_label: bool = False,
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        self._mark = int(fine_label)
        super().__init__(root, train, transform)


_ENDINGS = (".jpg", ".jpeg", ".png", ".ppm", ".pgm", ".npy")


class _Files(Dataset):
    """Image files with labels: `items` holds paths and labels."""

    items: list[tuple[str, Any]]

    def __init__(self, flag: int, transform: Callable[..., Any] | None) -> None:
        self._flag = flag
        self._transform = transform

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, idx: Any) -> Any:
        path, label = self.items[idx]
        item = image.imread(path, self._flag), label
        return item if self._transform is None else self._transform(*item)


class ImageFolderDataset(_Files):
    """Images in folders: the name of a folder is the class of its images. `synsets` holds the names in their order.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "cats").mkdir()
    >>> _ = (folder / "cats" / "tom.pgm").write_bytes(b"P5 2 1 255 " + bytes([7, 9]))
    >>> images = ImageFolderDataset(folder)
    >>> images.synsets, images[0][0].shape, images[0][1]
    (['cats'], (1, 2, 3), 0)
    """

    def __init__(self, root: str, flag: int = 1, transform: Callable[..., Any] | None = None) -> None:
        super().__init__(flag, transform)
        self._root = os.path.expanduser(root)
        if not os.path.isdir(self._root):
            raise FileNotFoundError(f"ImageFolderDataset: there is no folder {self._root!r}")
        folders = sorted(entry.name for entry in os.scandir(self._root) if entry.is_dir())
        self.synsets = folders
        self.items = []
        for label, folder in enumerate(folders):
            for name in sorted(os.listdir(os.path.join(self._root, folder))):
                if name.lower().endswith(_ENDINGS):
                    self.items.append((os.path.join(self._root, folder, name), label))


class ImageListDataset(_Files):
    """Images from a list of `[label, ..., path]`, or from a file of lines `number, label, ..., path` set by tabs.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "tom.pgm").write_bytes(b"P5 2 1 255 " + bytes([7, 9]))
    >>> image, label = ImageListDataset(str(folder), [[3, "tom.pgm"]])[0]
    >>> image.shape, float(label)
    ((1, 2, 3), 3.0)
    """

    def __init__(self, root: str = ".", imglist: str | Sequence[Any] | None = None, flag: int = 1) -> None:
        super().__init__(flag, None)
        self._root = os.path.expanduser(root)
        if isinstance(imglist, str):
            with open(os.path.join(self._root, imglist)) as file:
                rows = [line.rstrip("\n").split("\t")[1:] for line in file if line.strip()]
        elif imglist is not None:
            rows = [list(row) for row in imglist]
        else:
            raise ValueError("ImageListDataset: imglist is missing: a list, or the name of a file of lines")
        self.items = [self._item(row) for row in rows]

    def _item(self, row: list[Any]) -> tuple[str, Any]:
        try:
            *given, name = row
            labels = numpy.array(given, dtype=numpy.float32).ravel()
        except ValueError:
            raise ValueError(f"ImageListDataset: expected labels and a path, got {row}") from None
        if not labels.size:
            raise ValueError(f"ImageListDataset: {name!r} has no label")
        return os.path.join(self._root, name), labels[0] if labels.size == 1 else np.array(labels)


class ImageRecordDataset(RecordFileDataset):
    """Images and labels from a RecordIO file.

    >>> import tempfile
    >>> record = struct.pack("<IfQQ", 0, 3.0, 0, 0) + b"P5 2 1 255 " + bytes([7, 9])
    >>> path = Path(tempfile.mkdtemp()) / "images.rec"
    >>> _ = path.write_bytes(struct.pack("<II", 0xCED7230A, len(record)) + record + bytes(-len(record) % 4))
    >>> image, label = ImageRecordDataset(path)[0]
    >>> image.shape, label
    ((1, 2, 3), 3.0)
    """

    def __init__(self, filename: str, flag: int = 1, transform: Callable[..., Any] | None = None) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx: Any) -> Any:
        record = super().__getitem__(idx)
        if len(record) < 24:
            raise ValueError(f"ImageRecordDataset: record {idx} holds no image")
        count, first = struct.unpack_from("<If", record)
        if count * 4 > len(record) - 24:
            raise ValueError(f"ImageRecordDataset: record {idx} promises {count} labels in {len(record)} bytes")
        label = np.array(numpy.frombuffer(record, numpy.float32, count, 24)) if count else first
        item = image.imdecode(record[24 + 4 * count :], self._flag), label
        return item if self._transform is None else self._transform(*item)
