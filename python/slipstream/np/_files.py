"""Arrays from and to bytes, text and NumPy's files. NumPy reads and writes; nothing here runs code from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from .._core import ndarray
from ._arguments import as_array, as_dtype, public
from ._by_numpy import by_numpy, plain
from ._creation import array
from ._types import ArrayLike, DeviceLike, DTypeLike


def _read(found: numpy.ndarray[Any, Any], device: DeviceLike) -> ndarray:
    """NumPy's array as ours. Its files do not know bfloat16: they keep two bytes without a meaning."""
    return array(found.view(as_dtype("bfloat16")) if found.dtype == "V2" else found, device=device)


def frombuffer(
    buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0, *, device: DeviceLike = None
) -> ndarray:
    """An array from the bytes of a buffer: a copy.

    >>> np.frombuffer(b"abc", dtype="uint8")
    array([97, 98, 99], dtype=uint8)
    """
    return _read(numpy.frombuffer(buffer, as_dtype(dtype), count, offset), device)


def fromiter(iter: Iterable[Any], dtype: DTypeLike, count: int = -1, *, device: DeviceLike = None) -> ndarray:
    """A one-dimensional array from what an iterable gives.

    >>> np.fromiter((i * i for i in range(3)), dtype="int32")
    array([0, 1, 4], dtype=int32)
    """
    return _read(numpy.fromiter(iter, as_dtype(dtype), count), device)


def fromstring(
    string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str, device: DeviceLike = None
) -> ndarray:
    """An array from numbers in a text.

    >>> np.fromstring("1, 2, 3", dtype="int32", sep=",")
    array([1, 2, 3], dtype=int32)
    """
    if not sep:
        raise ValueError("fromstring: sep is empty: for bytes use frombuffer")
    return _read(numpy.fromstring(string, as_dtype(dtype), count, sep=sep), device)


def fromfile(
    file: Any, dtype: DTypeLike = float, count: int = -1, sep: str = "", offset: int = 0, *, device: DeviceLike = None
) -> ndarray:
    """An array from the bytes (or the text) of a file.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     np.array([1, 2], dtype="int16").tofile(file.name)
    ...     print(np.fromfile(file.name, dtype="int16"))
    [1 2]
    """
    return _read(numpy.fromfile(file, as_dtype(dtype), count, sep, offset), device)


@by_numpy("waits")
def loadtxt(fname: Any, dtype: DTypeLike = float, *args: Any, device: DeviceLike = None, **options: Any) -> ndarray:
    """An array from a text file, with NumPy's options.

    >>> import io
    >>> np.loadtxt(io.StringIO("1 2"), dtype="float32")
    array([1., 2.])
    """
    return _read(numpy.loadtxt(fname, as_dtype(dtype), *args, **options), device)


@by_numpy("waits")
def genfromtxt(fname: Any, dtype: DTypeLike = float, *args: Any, device: DeviceLike = None, **options: Any) -> ndarray:
    """An array from a text file in which values may be missing, with NumPy's options.

    >>> import io
    >>> np.genfromtxt(io.StringIO("1,,3"), dtype="float32", delimiter=",")
    array([ 1., nan,  3.])
    """
    return _read(numpy.genfromtxt(fname, as_dtype(dtype), *args, **options), device)


@by_numpy("waits")
def savetxt(fname: Any, X: ArrayLike, *args: Any, **options: Any) -> None:
    """Writes an array to a text file, with NumPy's options. Waits for it.

    >>> import io
    >>> file = io.StringIO()
    >>> np.savetxt(file, np.array([1, 2]), fmt="%d")
    >>> file.getvalue()
    '1\\n2\\n'
    """
    numpy.savetxt(fname, plain(as_array(X)), *args, **options)


def save(file: Any, arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Writes an array to a file in NumPy's format `.npy`. Waits for it.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.ones(2))
    >>> _ = file.seek(0)
    >>> np.load(file)
    array([1., 1.])
    """
    numpy.save(file, plain(as_array(arr)), allow_pickle=False)


def _save_several(write: Callable[..., None], file: Any, args: tuple[Any, ...], arrays: Mapping[str, Any]) -> None:
    write(file, *(plain(as_array(a)) for a in args), **{name: plain(as_array(a)) for name, a in arrays.items()})


def savez(file: Any, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """Writes several arrays to one file in NumPy's format `.npz`: `arr_0`, `arr_1`, ..., or by name. Waits for them.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez(file, x=np.ones(2))
    >>> _ = file.seek(0)
    >>> np.load(file)["x"]
    array([1., 1.])
    """
    _save_several(numpy.savez, file, args, kwds)


def savez_compressed(file: Any, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """`savez`, compressed.

    >>> import io
    >>> np.savez_compressed(io.BytesIO(), np.ones(2))
    """
    _save_several(numpy.savez_compressed, file, args, kwds)


class Archive(Mapping[str, ndarray]):
    """The arrays of an `.npz` file by name, read when they are asked for."""

    def __init__(self, file: Any, device: DeviceLike) -> None:
        self._file = file
        self._device = device
        self.files = list(file.files)

    def __getitem__(self, name: str) -> ndarray:
        return _read(self._file[name], self._device)

    def __iter__(self) -> Any:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def load(file: Any, mmap_mode: Any = None, allow_pickle: bool = False, *, device: DeviceLike = None) -> Any:
    """An array from an `.npy` file, or the arrays of an `.npz` file by name. Objects that a file pickled are refused.

    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.array([1, 2], dtype="int8"))
    >>> _ = file.seek(0)
    >>> np.load(file)
    array([1, 2], dtype=int8)
    """
    if allow_pickle:
        raise ValueError("load: allow_pickle=True: files that run code are not read")
    found = numpy.load(file, mmap_mode=mmap_mode, allow_pickle=False)
    return Archive(found, device) if isinstance(found, numpy.lib.npyio.NpzFile) else _read(numpy.asarray(found), device)


if not TYPE_CHECKING:
    __all__ = [name for name in public(globals()) if name != "Archive"]
