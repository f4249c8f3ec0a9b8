"""Arrays and their memory: what they share, how they lie, the same bytes as another type, elements in one line."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_dims, as_dtype, public
from ._creation import array
from ._indexing import _fitting, _repeated
from ._manipulation import ravel
from ._types import ArrayLike, DeviceLike, DTypeLike, Shape


class _Place:
    """Where an array lies, as NumPy describes it; the address is made up, and never looked at."""

    def __init__(self, x: Any) -> None:
        if isinstance(x, ndarray):
            self.__array_interface__ = {
                "data": (2**61 + _core.memory(x)[2], True),
                "shape": x.shape,
                "strides": x.strides,
                "typestr": f"|V{x.itemsize}",
                "version": 3,
            }
        else:
            self.__array_interface__ = numpy.asarray(x).__array_interface__


def shares_memory(a: ArrayLike, b: ArrayLike, max_work: Any = None) -> bool:
    """Whether two arrays have an element in common.

    >>> x = np.zeros(4)
    >>> np.shares_memory(x[::2], x[1::2]), np.shares_memory(x, x[1:])
    (False, True)
    """
    if isinstance(a, ndarray) and isinstance(b, ndarray) and _core.memory(a)[0] != _core.memory(b)[0]:
        return False
    return bool(numpy.shares_memory(numpy.asarray(_Place(a)), numpy.asarray(_Place(b)), max_work))


def may_share_memory(a: ArrayLike, b: ArrayLike, max_work: Any = None) -> bool:
    """Whether the stretches of memory of two arrays overlap.

    >>> x = np.zeros(4)
    >>> np.may_share_memory(x[::2], x[1::2])
    True
    """
    if isinstance(a, ndarray) and isinstance(b, ndarray) and _core.memory(a)[0] != _core.memory(b)[0]:
        return False
    return bool(numpy.may_share_memory(numpy.asarray(_Place(a)), numpy.asarray(_Place(b)), max_work))


def isfortran(a: ndarray) -> bool:
    """Whether an array lies column by column, and not row by row.

    >>> np.isfortran(np.ones((2, 3)).T), np.isfortran(np.ones(3))
    (True, False)
    """
    flags = a.flags
    return bool(flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"])


def asfortranarray(a: ArrayLike, dtype: DTypeLike = None, *, device: DeviceLike = None) -> ndarray:
    """The argument as an array that lies column by column, itself if it does.

    >>> np.asfortranarray(np.ones((2, 3))).flags["F_CONTIGUOUS"]
    True
    """
    made = array(a, dtype, device, copy=None)
    return made if made.flags["F_CONTIGUOUS"] else array(made, order="F")


def asanyarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str | None = None,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
) -> ndarray:
    """`asarray`: there is one array type.

    >>> np.asanyarray([1, 2])
    array([1., 2.])
    """
    return array(a, dtype, device, copy=copy, order=order)


def asarray_chkfinite(a: ArrayLike, dtype: DTypeLike = None, order: str | None = None) -> ndarray:
    """`asarray`, which raises where a value is infinite or NaN. Waits.

    >>> np.asarray_chkfinite([1, 2])
    array([1., 2.])
    """
    made = array(a, dtype, copy=None, order=order)
    if made.dtype.kind in "fcV" and not bool(_core.all(_core.isfinite(made))):
        raise ValueError("asarray_chkfinite: the array holds infinities or NaN")
    return made


def require(a: ArrayLike, dtype: DTypeLike = None, requirements: Any = None) -> ndarray:
    """The argument as an array that lies as required: "C" or "F"; the others always hold.

    >>> np.require(np.ones((2, 3)), requirements="F").flags["F_CONTIGUOUS"]
    True
    """
    wanted = {str(r).upper()[0] for r in ([] if requirements is None else requirements)}
    if not wanted <= set("CFAWOE"):
        raise ValueError(f"require: {requirements!r} holds what is no requirement")
    if {"C", "F"} <= wanted:
        raise ValueError("require: an array cannot lie by rows and by columns at once")
    if "F" in wanted:
        return asfortranarray(a, dtype)
    made = array(a, dtype, copy=None)
    return _core.contiguous(made) if "C" in wanted else made


def resize(a: ArrayLike, new_shape: Shape) -> ndarray:
    """A new array of a shape, filled with the elements over and over.

    >>> np.resize(np.array([1, 2, 3]), (2, 2))
    array([[1., 2.],
           [3., 1.]])
    """
    x, dims = ravel(a), as_dims(new_shape)
    if any(n < 0 for n in dims):
        raise ValueError(f"resize: the shape {dims} holds a negative length")
    n = int(numpy.prod(dims, dtype="int64"))
    if x.size == 0 or n == 0:
        return _core.full(dims, 0, x.dtype, x.device)
    places = _core.arange(0, 1, n, numpy.dtype("int64"), x.device)
    return _core.reshape(_core.take(x, places, 0, "wrap"), dims)


def min_scalar_type(a: Any) -> numpy.dtype[Any]:
    """The smallest type that holds a number; an array's own type. Waits for a 0-d array.

    >>> np.min_scalar_type(300)
    dtype('uint16')
    """
    if isinstance(a, ndarray):
        return a.dtype if a.ndim else numpy.min_scalar_type(a.asnumpy()[()])
    return numpy.min_scalar_type(a)


def common_type(*arrays: ndarray) -> Any:
    """The floating-point type that arrays have together; integers count as float64.

    >>> np.common_type(np.ones(2), np.ones(2, dtype="int8"))
    <class 'numpy.float64'>
    """
    kinds = [numpy.dtype("float64") if a.dtype.kind in "iu" else a.dtype for a in map(as_array, arrays)]
    if any(kind.kind == "b" for kind in kinds):
        raise TypeError("common_type: booleans have no floating-point type in common with others")
    return _core.result_type(*kinds).type


# ---- methods


def view(self: ndarray, dtype: DTypeLike = None, type: Any = None) -> ndarray:
    """The same memory, seen as another type if one is given. As bool only bools are seen: use `x.astype(bool)`.

    >>> np.ones(1).view("int32")
    array([1065353216], dtype=int32)
    """
    return _core.reinterpret(self, self.dtype if dtype is None else as_dtype(dtype))


def byteswap(self: ndarray, inplace: bool = False) -> ndarray:
    """The elements with their bytes in reverse order.

    >>> np.array([1], dtype="int16").byteswap()
    array([256], dtype=int16)
    """
    if self.itemsize == 1:
        return self if inplace else _core.copy(self)
    size = self.itemsize if self.dtype.kind != "c" else self.itemsize // 2
    flat = _core.contiguous(self)
    raw = _core.reinterpret(_core.reshape(flat, (-1,)), numpy.dtype("uint8")) if self.size else flat
    mixed = _core.copy(_core.flip(_core.reshape(raw, (-1, size)), [1])) if self.size else raw
    made = _core.reshape(_core.reinterpret(_core.reshape(mixed, (-1,)), self.dtype), self.shape)
    if not inplace:
        return made
    _core.assign(self, made)
    return self


def _resize(self: ndarray, *new_shape: Any, refcheck: bool = True) -> None:
    """Gives the array another shape and memory of its own, in place: its elements in order, then zeros.

    Views of it keep the memory that they had, whether `refcheck` asks for it or not.

    >>> x = np.array([[1, 2], [3, 4]])
    >>> x.resize(2, 3)
    >>> x
    array([[1., 2., 3.],
           [4., 0., 0.]])
    """
    dims = as_dims(new_shape[0] if len(new_shape) == 1 else new_shape)
    if any(n < 0 for n in dims):
        raise ValueError(f"resize: the shape {dims} holds a negative length")
    made = _core.full(dims, 0, self.dtype, self.device)
    n = min(self.size, made.size)
    _core.assign(_core.reshape(made, (-1,))[:n], ravel(self)[:n])
    _core.rebind(self, made)


def setflags(self: ndarray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """NumPy's way to make an array read-only, which arrays here are not: `write=False` is refused.

    >>> np.ones(2).setflags(write=True)
    """
    if write is not None and bool(write) != self.flags["WRITEABLE"]:
        raise ValueError(
            f"setflags: write={write!r} cannot be set; arrays that borrow memory are read-only, others not"
        )


def tofile(self: ndarray, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Writes the values to a file, as bytes or text: waits.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     np.ones(2).tofile(file.name)
    """
    self.asnumpy().tofile(fid, sep, format)


def dumps(self: ndarray) -> bytes:
    """The pickled array: waits.

    >>> import pickle
    >>> pickle.loads(np.ones(2).dumps())
    array([1., 1.])
    """
    return pickle.dumps(self)


def dump(self: ndarray, file: Any) -> None:
    """Writes the pickled array to a file: waits.

    >>> import io
    >>> np.ones(2).dump(io.BytesIO())
    """
    if hasattr(file, "write"):
        file.write(pickle.dumps(self))
        return
    with open(file, "wb") as opened:
        opened.write(pickle.dumps(self))


class FlatIterator:
    """The elements of an array in one line, row by row: what `x.flat` is. Indexed, it reads and writes the array."""

    def __init__(self, x: ndarray) -> None:
        self.base = x
        self._next = 0

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(ravel(self.base))

    def __getitem__(self, key: Any) -> ndarray:
        return _core.copy(ravel(self.base)[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        view = _core.reshape_view(self.base, (-1,))
        line = _core.reshape(self.base, (-1,)) if view is None else view
        values = _fitting(value, self.base)
        if values.ndim:  # repeated where there are fewer
            places = _core.arange(0, 1, line.size, numpy.dtype("int64"), line.device)[key]
            repeated = _repeated(values, places.size)
            if repeated is None:
                return
            values = _core.reshape(repeated, places.shape)
        line[key] = values
        if view is None:
            _core.assign(self.base, _core.reshape(line, self.base.shape))

    def copy(self) -> ndarray:
        """The elements as a new array."""
        return _core.copy(ravel(self.base))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.base.asnumpy().reshape(-1).astype(dtype or self.base.dtype)


def _set_flat(self: ndarray, value: Any) -> None:
    values = ravel(value)
    places = _core.arange(0, 1, self.size, numpy.dtype("int64"), self.device)
    _core.assign(self, _core.reshape(_core.take(values, places, 0, "wrap"), self.shape))


def _base(self: ndarray) -> ndarray | None:
    """For a view, all of the memory it lies in, in one line; None for an array that covers all of its memory.

    >>> np.arange(4)[1:].base
    array([0., 1., 2., 3.])
    """
    _, nbytes, offset = _core.memory(self)
    if offset == 0 and nbytes == self.nbytes and self.flags["C_CONTIGUOUS"]:
        return None
    return _core.whole(self)


def _flat(self: ndarray) -> FlatIterator:
    """The elements in one line, row by row; it can be indexed and written.

    >>> np.eye(2).flat[1:3]
    array([0., 0.])
    """
    return FlatIterator(self)


class _AsItLies:
    """An array that is lent without a copy, also where it runs backwards."""

    def __init__(self, x: ndarray) -> None:
        self.x = x

    def __dlpack__(self, **options: Any) -> Any:
        return self.x.__dlpack__(**(options | {"copy": False}))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()


def _ctypes(self: ndarray) -> Any:
    """The memory for the module ctypes, as NumPy describes it: waits.

    >>> x = np.ones((2, 3))
    >>> tuple(x.ctypes.shape)
    (2, 3)
    """
    return numpy.from_dlpack(_AsItLies(self)).ctypes


def _data(self: ndarray) -> memoryview:
    """The memory as a memoryview that cannot be written: waits.

    >>> np.ones(2).data.tolist()
    [1.0, 1.0]
    """
    return memoryview(self)  # type: ignore[arg-type]


flat, base, ctypes, data = property(_flat, _set_flat), property(_base), property(_ctypes), property(_data)

METHODS: dict[str, Any] = {method.__name__: method for method in (view, byteswap, setflags, tofile, dumps, dump)} | {
    "resize": _resize,
    "flat": flat,
    "base": base,
    "ctypes": ctypes,
    "data": data,
}

if not TYPE_CHECKING:
    __all__ = [
        name for name in public(globals()) if globals()[name] is not METHODS.get(name) and name != "FlatIterator"
    ]
