"""Reads MXNet's own binary files of arrays (`.params`, `mx.nd.save`), of all its versions; sizes are checked first."""

from __future__ import annotations

import math
import os
import struct
from typing import IO, Any, NamedTuple

import ml_dtypes
import numpy

MAGIC = 0x112  # of a file; each array has its own
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA

_TYPES = [
    *("float32", "float64", "float16", "uint8", "int32", "int8", "int64"),
    *("bool", "int16", "uint16", "uint32", "uint64"),
    ml_dtypes.bfloat16,
]


def looks_like(head: bytes) -> bool:
    """Does a file that begins with these bytes hold MXNet's arrays?"""
    return len(head) >= 8 and struct.unpack("<Q", head[:8])[0] == MAGIC


class _Source:
    """A file that knows how many bytes are left, and gives no more."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self.left = size

    def _use(self, count: int) -> None:
        if count > self.left:
            raise ValueError(f"it promises {count} bytes where {self.left} are left")
        self.left -= count

    def take(self, count: int) -> bytes:
        self._use(count)
        return self._file.read(count)

    def skip(self, count: int) -> int:
        """Passes over bytes; tells where they begin."""
        self._use(count)
        return self._file.seek(count, os.SEEK_CUR) - count

    def numbers(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def number(self, layout: str) -> int:
        return int(self.numbers(layout)[0])


def _dims(source: _Source, ndim: int, layout: str) -> tuple[int, ...]:
    if not 0 <= ndim <= 32:
        raise ValueError(f"an array has {ndim} axes")
    shape = source.numbers(f"{ndim}{layout}")
    if any(n < 0 for n in shape):
        raise ValueError(f"an array has the shape {shape}")
    return shape


def _shape(source: _Source) -> tuple[int, ...] | None:
    """What stands before an array's values; None where there is no array."""
    magic = source.number("I")
    if magic == V1:
        return _dims(source, source.number("I"), "q") or None
    if magic not in (V2, V3):
        return _dims(source, magic, "I") or None  # the oldest form begins with the number of axes
    kind = source.number("i")
    if kind in (1, 2):
        raise ValueError(f"it holds a sparse array ({'row_sparse' if kind == 1 else 'csr'}): arrays are dense here")
    if kind not in (-1, 0):
        raise ValueError(f"an array has the unknown storage type {kind}")
    ndim = source.number("i")
    if magic == V3:
        return None if ndim == -1 else _dims(source, ndim, "q")
    return _dims(source, ndim, "q") or None


class _Place(NamedTuple):
    """Where an array's values are in the file, and what they are."""

    begin: int
    size: int
    dtype: numpy.dtype[Any]
    shape: tuple[int, ...]

    def read(self, file: IO[bytes]) -> numpy.ndarray[Any, Any]:
        file.seek(self.begin)
        return numpy.frombuffer(file.read(self.size), self.dtype).reshape(self.shape)


def _place(source: _Source) -> _Place:
    shape = _shape(source)
    if shape is None:
        raise ValueError("an array in it has no values")
    source.numbers("ii")  # the device it was on
    kind = source.number("i")
    if not 0 <= kind < len(_TYPES):
        raise ValueError(f"an array has the unknown type {kind}")
    dtype = numpy.dtype(_TYPES[kind])
    size = math.prod(shape) * dtype.itemsize
    return _Place(source.skip(size), size, dtype, shape)


def read(file: str | os.PathLike[str]) -> tuple[list[str], list[numpy.ndarray[Any, Any]]]:
    """The names (none, if the arrays have no names) and the arrays; a bad file gives a ValueError that says why.

    No values are read before the whole file is known to be good.
    """
    with open(file, "rb") as opened:
        source = _Source(opened, os.path.getsize(file))
        if source.number("Q") != MAGIC:
            raise ValueError("it does not begin as MXNet's files do")
        source.numbers("Q")
        count = source.number("Q")
        if count > source.left // 4:
            raise ValueError(f"it promises {count} arrays in {source.left} bytes")
        places = [_place(source) for _ in range(count)]
        named = source.number("Q")
        if named not in (0, count):
            raise ValueError(f"it has {named} names for {count} arrays")
        names = [source.take(source.number("Q")).decode() for _ in range(named)]
        if source.left:
            raise ValueError(f"{source.left} bytes are left after its end")
        if len(set(names)) != len(names):
            raise ValueError("a name is there twice")
        return names, [place.read(opened) for place in places]
