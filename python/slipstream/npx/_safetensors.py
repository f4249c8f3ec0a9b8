"""Arrays by name in the safetensors format: a header of JSON, checked whole before memory is taken, then the values."""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy

from ..np._arguments import as_array
from ..np._types import ArrayLike

LONGEST_HEADER = 100_000_000  # the format's own bound

_TYPES = {
    "BOOL": numpy.dtype("bool"),
    **{f"I{bits}": numpy.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"U{bits}": numpy.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    "F16": numpy.dtype("float16"),
    "BF16": numpy.dtype(ml_dtypes.bfloat16),
    "F32": numpy.dtype("float32"),
    "F64": numpy.dtype("float64"),
    "C64": numpy.dtype("complex64"),
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}


def write(file: str | os.PathLike[str], arrays: Mapping[str, ArrayLike]) -> None:
    """Writes arrays by name. Waits for them."""
    values = {name: numpy.asarray(as_array(a).asnumpy(), order="C") for name, a in arrays.items()}
    for name, value in values.items():
        if value.dtype not in _NAMES:
            raise TypeError(f"save: the format has no {value.dtype} ({name!r}); a name that ends with .npz has")
    header: dict[str, Any] = {name: {} for name in values}  # in the order given; values lie by their alignment
    order = sorted(values, key=lambda name: -values[name].dtype.itemsize)
    end = 0
    for name in order:
        begin, end = end, end + values[name].nbytes
        value = values[name]
        header[name] = {"dtype": _NAMES[value.dtype], "shape": list(value.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as to:
        to.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            to.write(values[name].tobytes())


def looks_like(head: bytes) -> bool:
    """Could a file that begins with these nine or more bytes be in the format?"""
    return len(head) > 8 and head[8:9] == b"{" and struct.unpack("<Q", head[:8])[0] <= LONGEST_HEADER


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found


def _entry(name: str, entry: Any, room: int) -> tuple[int, int, numpy.dtype[Any], tuple[int, ...]]:
    """Where an array lies, its type and shape, checked against each other and the size of the file."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{name!r} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = _TYPES.get(str(entry["dtype"])), entry["shape"], entry["data_offsets"]
    if dtype is None:
        raise ValueError(f"{name!r} has the unknown type {entry['dtype']!r:.20}")
    if not _are_counts(shape) or len(shape) > 32:
        raise ValueError(f"{name!r} has the shape {shape!r:.60}")
    if not _are_counts(offsets) or len(offsets) != 2:
        raise ValueError(f"{name!r} has the offsets {offsets!r:.60}")
    begin, end = offsets
    if end > room or end - begin != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{name!r} of shape {tuple(shape)}, {dtype} does not fit bytes {begin} to {end} of {room}")
    return begin, end, dtype, tuple(shape)


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(n) is int and n >= 0 for n in values)


def read(file: str | os.PathLike[str]) -> dict[str, numpy.ndarray[Any, Any]]:
    """Reads arrays by name; a bad file gives a ValueError that says why."""
    size = os.path.getsize(file)
    with open(file, "rb") as source:
        (length,) = struct.unpack("<Q", source.read(8))
        if length > min(size - 8, LONGEST_HEADER):
            raise ValueError(f"its header of {length} bytes is longer than the file")
        room = size - 8 - length
        try:
            header = json.loads(source.read(length).decode(), object_pairs_hook=_unique)
        except RecursionError:
            raise ValueError("its header is nested too deeply") from None
        header.pop("__metadata__", None)
        entries = {name: _entry(name, entry, room) for name, entry in header.items()}
        end = 0
        for name, entry in sorted(entries.items(), key=lambda item: item[1][:2]):
            if entry[0] != end:
                raise ValueError(f"{name!r} begins at byte {entry[0]}, not at {end}")
            end = entry[1]
        if end != room:
            raise ValueError(f"{room - end} bytes belong to no array")
        found = {}
        for name, (begin, end, dtype, shape) in entries.items():
            source.seek(8 + length + begin)
            found[name] = numpy.frombuffer(source.read(end - begin), dtype).reshape(shape)
    return found
