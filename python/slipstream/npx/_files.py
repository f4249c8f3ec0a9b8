"""Arrays on disk: NumPy's .npz, safetensors, and MXNet's own files, read with distrust (no pickles; sizes are checked
before memory is taken)."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

import numpy
from numpy.lib import format as npy

from ..errors import at_call
from ..np._arguments import as_array, as_dtype
from ..np._dtype import bfloat16
from ..np._types import ArrayLike
from . import _mxnet_files, _safetensors

if TYPE_CHECKING:
    import zipfile  # imported where it is used: it is slow to import

_LIST = b"list"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


# ---- writing


def _write(file: str | os.PathLike[str], named: Iterable[tuple[str, ArrayLike]], comment: bytes = b"") -> None:
    import zipfile

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = comment
        for name, value in named:
            values = as_array(value).asnumpy()
            member = zipfile.ZipInfo(f"{name}.npy")
            if values.dtype == bfloat16:  # unknown to the format: kept as its bits, with a note
                values, member.comment = values.view(numpy.uint16), b"bfloat16"
            with archive.open(member, "w", force_zip64=True) as to:
                npy.write_array(to, values, allow_pickle=False)


def _write_npy(file: str | os.PathLike[str], arr: ArrayLike) -> None:
    values = as_array(arr).asnumpy()
    if values.dtype == bfloat16:
        raise TypeError(f"save: the format of {os.fspath(file)!r} has no bfloat16; choose another name")
    with open(file, "wb") as to:
        npy.write_array(to, values, allow_pickle=False)


def save(file: str | os.PathLike[str], arr: Any) -> None:
    """Writes an array, a list of arrays, or a dict of them. Waits for them.

    The format is NumPy's .npz; a dict in a file whose name ends with .safetensors, and one array in a file whose name
    ends with .npy, are written in those formats.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x")
    >>> npx.save(path, {"x": np.ones(2)})
    >>> npx.load(path)
    {'x': array([1., 1.])}
    """
    if isinstance(arr, dict):
        if not all(isinstance(name, str) for name in arr):
            raise TypeError("save: the names of arrays must be strings")
        if os.fspath(file).endswith(".safetensors"):
            _safetensors.write(file, arr)
        else:
            _write(file, arr.items())
    else:
        if os.fspath(file).endswith(".safetensors"):
            raise TypeError(f"save: arrays in {os.fspath(file)!r} need names: give a dict")
        if os.fspath(file).endswith(".npy") and not isinstance(arr, (list, tuple)):
            _write_npy(file, arr)
            return
        arrays = arr if isinstance(arr, (list, tuple)) else [arr]
        _write(file, ((f"arr_{i}", a) for i, a in enumerate(arrays)), _LIST)


def savez(file: str | os.PathLike[str], *args: ArrayLike, **kwds: ArrayLike) -> None:
    """Writes arrays by name, and others as arr_0, arr_1, ..., as numpy.savez does. Waits for them.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npz")
    >>> npx.savez(path, np.ones(1), y=np.zeros(1))
    >>> sorted(npx.load(path))
    ['arr_0', 'y']
    """
    _write(file, [*((f"arr_{i}", a) for i, a in enumerate(args)), *kwds.items()])


# ---- reading


def _bad(file: Any, why: str) -> ValueError:
    return at_call(ValueError)(f"load: {os.fspath(file)!r} is not a file of arrays: {why}")


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: Any) -> numpy.ndarray[Any, Any]:
    if member.compress_type != 0 or member.flag_bits & 1:
        raise _bad(file, f"{member.filename!r} is compressed or encrypted")
    with archive.open(member) as source:
        values = _read_npy(source, member.file_size, member.filename, file)
    if member.comment == b"bfloat16":
        if values.dtype != numpy.uint16:
            raise _bad(file, f"{member.filename!r} is bfloat16 kept as {values.dtype}")
        values = values.view(bfloat16)
    return values


def _read_npy(source: IO[bytes], length: int, name: str, file: Any) -> numpy.ndarray[Any, Any]:
    """One array in NumPy's .npy format, which takes all of the source's `length` bytes."""
    head = io.BytesIO(source.read(min(length, 4096)))
    shape, fortran, dtype = _read_header(head, file, name)
    size = math.prod(shape) * dtype.itemsize
    if any(n < 0 for n in shape) or len(shape) > 32 or size != length - head.tell():
        raise _bad(file, f"{name!r} holds {length - head.tell()} bytes for shape {shape}, {dtype}")
    data = head.read() + _read_exactly(source, size)
    return numpy.frombuffer(data[:size], dtype).reshape(shape, order="F" if fortran else "C")


def _read_header(head: IO[bytes], file: Any, name: str) -> tuple[tuple[int, ...], bool, numpy.dtype[Any]]:
    try:
        read = _HEADERS[npy.read_magic(head)]
        shape, fortran, dtype = read(head, max_header_size=4096)
        as_dtype(dtype)
    except Exception as error:  # the parser of headers raises many things
        raise _bad(file, f"{name!r} has no good header ({error})") from None
    return shape, fortran, dtype


def _read_exactly(source: IO[bytes], most: int) -> bytes:
    parts = []
    while most > 0 and (part := source.read(min(most, 1 << 24))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def load(file: str | os.PathLike[str]) -> Any:
    """Reads what `save` wrote: a list or a dict of arrays, one array of a .npy file; also numpy.save's and savez's,
    safetensors' and MXNet's own files.

    A bad file gives a ValueError. Nothing in it is run, and no memory is taken that the file does not fill.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x")
    >>> npx.save(path, np.ones(2))
    >>> npx.load(path)
    [array([1., 1.])]
    """
    try:
        with open(file, "rb") as opened:
            head = opened.read(16)
    except OSError as error:
        raise at_call(type(error))(error.errno, error.strerror, error.filename) from None
    try:
        if _mxnet_files.looks_like(head):
            names, values = _mxnet_files.read(file)
            arrays = [as_array(value) for value in values]
            return dict(zip(names, arrays, strict=True)) if names else arrays
        if head.startswith(npy.MAGIC_PREFIX):
            with open(file, "rb") as source:
                return as_array(_read_npy(source, os.path.getsize(file), os.path.basename(os.fspath(file)), file))
        if _safetensors.looks_like(head):
            return {name: as_array(value) for name, value in _safetensors.read(file).items()}
    except ValueError as error:
        raise _bad(file, str(error)) from None
    return _load_archive(file)


def _load_archive(file: str | os.PathLike[str]) -> Any:
    import zipfile

    length = os.path.getsize(file)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > length:
                raise _bad(file, "it promises more than it holds")
            if not all(member.filename.endswith(".npy") for member in members):
                raise _bad(file, "it holds other things")
            arrays = {m.filename.removesuffix(".npy"): as_array(_read_member(archive, m, file)) for m in members}
            comment = archive.comment
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OverflowError, UnicodeDecodeError) as error:
        raise _bad(file, str(error)) from None
    return list(arrays.values()) if comment == _LIST else arrays
