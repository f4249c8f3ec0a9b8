"""Datasets: things with a length and items by number, and what can be made of them."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy

from ... import np
from ..._core import ndarray
from .sampler import FilterSampler, Sampler, SequentialSampler


class Dataset:
    """The base of all datasets: a subclass has `__getitem__` and `__len__`.

    >>> class Squares(Dataset):
    ...     def __getitem__(self, i):
    ...         return i * i
    ...     def __len__(self):
    ...         return 10
    >>> len(Squares().filter(lambda x: x > 30))
    4
    """

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")

    def filter(self, fn: Callable[[Any], Any]) -> Dataset:
        """The items for which `fn` is true. Looks at every item now."""
        return _Chosen(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Part `index` of `num_shards`; the first ones are longer by one where it does not divide evenly."""
        if not 0 <= index < num_shards:
            raise ValueError(f"shard: index {index} is not among {num_shards} shards")
        length, longer = divmod(len(self), num_shards)
        start = length * index + min(index, longer)
        return _Chosen(self, SequentialSampler(length + (index < longer), start))

    def take(self, count: int | None) -> Dataset:
        """The first `count` items (all of them: None)."""
        if count is not None and count < 0:
            raise ValueError(f"take: count must be at least 0, not {count}")
        return _Chosen(self, SequentialSampler(len(self) if count is None else min(count, len(self))))

    def sample(self, sampler: Sampler | Iterable[int]) -> Dataset:
        """The items that a sampler names, in its order."""
        return _Chosen(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Each item through a function; an item that is a tuple becomes its arguments. `lazy=False` does it now."""
        made = _Transformed(self, fn)
        return made if lazy else SimpleDataset([made[i] for i in range(len(made))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """The first part of each item through a function; labels stay as they are."""
        return self.transform(_First(fn), lazy)


class _First:
    """A function of the first argument; the others pass. A class, so that it can go to another process."""

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self.fn = fn

    def __call__(self, first: Any, *others: Any) -> Any:
        return (self.fn(first), *others) if others else self.fn(first)


class _Transformed(Dataset):
    """A dataset through a function."""

    def __init__(self, data: Dataset, fn: Callable[..., Any]) -> None:
        self._data = data
        self._fn = fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _Chosen(Dataset):
    """Some items of a dataset."""

    def __init__(self, data: Dataset, chosen: Iterable[int]) -> None:
        self._data = data
        self._places = list(chosen)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[self._places[idx]]


class SimpleDataset(Dataset):
    """A list, or anything with a length and items.

    >>> SimpleDataset([3, 1, 2])[1]
    1
    """

    def __init__(self, data: Sequence[Any]) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """Arrays, lists or datasets of one length, side by side: item i is what they hold at i.

    >>> ArrayDataset([1, 2], ["a", "b"])[1]
    (2, 'b')
    """

    def __init__(self, *args: Any) -> None:
        if not args:
            raise ValueError("ArrayDataset: nothing is given")
        lengths = [len(a) for a in args]
        if len(set(lengths)) > 1:
            raise ValueError(f"ArrayDataset: the lengths differ: {lengths}")
        self._data = args

    def __len__(self) -> int:
        return len(self._data[0])

    def __getitem__(self, idx: Any) -> Any:
        return self._data[0][idx] if len(self._data) == 1 else tuple(data[idx] for data in self._data)

    def batch(self, indices: Sequence[int]) -> Any:
        """The items at these places as arrays, or None where not all parts are arrays: quicker than one by one."""
        if not all(isinstance(data, (ndarray, numpy.ndarray)) for data in self._data):
            return None
        places = numpy.asarray(indices, dtype=numpy.int64)
        on = {data.device: np.array(places, dtype=places.dtype, device=data.device) for data in self._arrays()}
        parts = [
            data[on[data.device]] if isinstance(data, ndarray) else np.array(data[places], dtype=data.dtype)
            for data in self._data
        ]
        return parts[0] if len(parts) == 1 else parts

    def _arrays(self) -> list[ndarray]:
        return [data for data in self._data if isinstance(data, ndarray)]


_MAGIC = 0xCED7230A
_LENGTH = (1 << 29) - 1


class RecordFileDataset(Dataset):
    """The records of a RecordIO file, each as bytes. Where they begin says `name.idx` beside it, if it is there.

    >>> RecordFileDataset("missing.rec")
    Traceback (most recent call last):
    FileNotFoundError: RecordFileDataset: there is no file 'missing.rec'
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        self._path = os.fspath(filename)
        if not os.path.isfile(self._path):
            raise FileNotFoundError(f"RecordFileDataset: there is no file {self._path!r}")
        self._size = os.path.getsize(self._path)
        self._places = self._from_index() or self._from_records()

    def _bad(self, at: int, why: str) -> ValueError:
        return ValueError(f"RecordFileDataset: {self._path!r} is no RecordIO file: {why} at byte {at}")

    def _from_index(self) -> list[int]:
        """Where records begin, from the text file of keys and places."""
        path = os.path.splitext(self._path)[0] + ".idx"
        if not os.path.isfile(path):
            return []
        with open(path) as file:
            rows = [line.split("\t") for line in file if line.strip()]
        try:
            return [int(row[1]) for row in rows]
        except (ValueError, IndexError):
            raise ValueError(f"RecordFileDataset: {path!r} is not an index of keys and places") from None

    def _from_records(self) -> list[int]:
        places, at = [], 0
        with open(self._path, "rb") as file:
            while at < self._size:
                part, length = self._head(file, at)
                if part in (0, 1):
                    places.append(at)
                at += 8 + (length + 3) // 4 * 4
        return places

    def _head(self, file: Any, at: int) -> tuple[int, int]:
        """Which part of a record begins here (0 all, 1 first, 2 middle, 3 last), and its length."""
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            raise self._bad(at, "half a head")
        magic, word = struct.unpack("<II", head)
        if magic != _MAGIC:
            raise self._bad(at, "no mark of a record")
        if word & _LENGTH > self._size - at - 8:
            raise self._bad(at, f"a record of {word & _LENGTH} bytes in a file of {self._size}")
        return word >> 29, word & _LENGTH

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, idx: Any) -> bytes:
        at, parts = self._places[idx], []
        with open(self._path, "rb") as file:
            while True:
                part, length = self._head(file, at)
                parts.append(file.read(length))
                if part in (0, 3):
                    # A record is cut where its data holds the mark, which is left out.
                    return struct.pack("<I", _MAGIC).join(parts)
                at += 8 + (length + 3) // 4 * 4
