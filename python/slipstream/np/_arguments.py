"""What functions make of their arguments: arrays, dtypes, axes, shapes and `out`. Shared by all modules of np."""

from __future__ import annotations

import operator
import weakref
from typing import Any, ClassVar

import ml_dtypes
import numpy
from numpy.exceptions import AxisError

from .. import _core
from .._core import ndarray
from ..device import resolve
from ._types import ArrayLike, DeviceLike, DTypeLike

_NUMBERED = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
SUPPORTED = ("bool", *_NUMBERED, "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def public(names: dict[str, Any]) -> list[str]:
    """The public functions that a module defines itself: its `__all__`."""
    own = names["__name__"]
    return [name for name, value in names.items() if name[0] != "_" and getattr(value, "__module__", None) == own]


# ---- dtypes

_B1, _I64, _F32, _F64 = (numpy.dtype(name) for name in ("bool", "int64", "float32", "float64"))
_C64, _C128 = numpy.dtype("complex64"), numpy.dtype("complex128")

# What dtype arguments mean, looked up before NumPy is asked.
_KNOWN: dict[Any, numpy.dtype[Any]] = {bool: _B1, int: _I64, float: _F64, complex: _C128}
for _name in SUPPORTED:
    _found = numpy.dtype(getattr(ml_dtypes, _name, _name))
    _KNOWN |= {_name: _found, _found: _found, _found.type: _found}


def default_dtype(kind: str = "f") -> numpy.dtype[Any]:
    """What Python numbers of a kind ("b", "i", "f" or "c") become in a new array: see `npx.set_np`."""
    wide = _core.default_dtype_wide()
    if kind == "f":
        return _F64 if wide else _F32
    if kind == "b":
        return _B1
    if kind == "c":
        return _C128 if wide else _C64
    return _I64 if wide else _F32


def as_dtype(given: DTypeLike, default: str = "f") -> numpy.dtype[Any]:
    """A dtype argument as a NumPy dtype that arrays can have; None is the default of a kind."""
    if given is None:
        return default_dtype(default)
    try:
        return _KNOWN[given]
    except (KeyError, TypeError):
        found = numpy.dtype(given).newbyteorder("=")
    if found not in _KNOWN:
        raise TypeError(f"dtype {found} is not supported; there are {', '.join(SUPPORTED)}")
    return found


# ---- arrays


def is_number(value: Any) -> bool:
    """Is it a number of Python's own, which has no type that it would keep?"""
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, numpy.generic)


def _first_leaf(value: Any) -> Any:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return 0.0 if isinstance(value, (list, tuple, range)) else value


def _holds_arrays(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, ndarray) or _holds_arrays(v) for v in value)


def _join(values: Any, dtype: DTypeLike, device: DeviceLike) -> ndarray:
    """Lists that hold arrays, without waiting for any; numbers beside them are of the dtype, if one is given."""
    parts = [v if isinstance(v, ndarray) else from_values(v, dtype, device, None) for v in values]
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError(f"array: the elements have different shapes {[part.shape for part in parts]}")
    return _core.concatenate([_core.expand_dims(part, [0]) for part in parts], 0)


def _can_be_unlocked(source: Any) -> bool:
    """Whether NumPy would make an array writable again: not one over memory whose owner does not let it."""
    if (base := source.base) is None:
        return True
    while isinstance(base, numpy.ndarray):
        if base.flags.writeable or id(base) in _Loan._count:
            return True
        base = base.base
    try:
        return not memoryview(base).readonly
    except TypeError:  # such as a capsule of DLPack
        return False


def _unlocked(source: Any) -> bool:
    try:
        source.flags.writeable = True
    except ValueError:  # a view of an array that is lent itself
        return False
    return True


class _Loan:
    """Keeps memory that is not ours while it is read here; a NumPy array that has it cannot be written meanwhile."""

    _count: ClassVar[dict[int, int]] = {}  # loans of an array that could be written, by its id
    _waiting: ClassVar[list[weakref.ref[Any]]] = []  # arrays whose loans have ended, but not those of their base

    def __init__(self, source: Any, values: Any) -> None:
        self.values, self.source, self.locks = values, source, False
        if not isinstance(source, numpy.ndarray):
            return
        if id(source) in self._count or (source.flags.writeable and _can_be_unlocked(source)):
            self.locks = True
            self._count[id(source)] = self._count.get(id(source), 0) + 1
            source.flags.writeable = False

    def __del__(self) -> None:
        if self.locks:
            self._count[id(self.source)] -= 1
            if not self._count[id(self.source)]:
                del self._count[id(self.source)]
                self._unlock()

    def _unlock(self) -> None:
        ended = [weakref.ref(self.source), *self._waiting]  # what views wait for comes before them
        self._waiting[:] = [
            r for r in ended if (a := r()) is not None and id(a) not in self._count and not _unlocked(a)
        ]


class Capsule:
    """A DLPack capsule, as an array that gives it once."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_capsule(source: Any) -> Any:
    """What an array gives by DLPack, as NumPy's array over the same memory; bfloat16 too, which NumPy refuses."""
    try:
        return numpy.from_dlpack(source)
    except (RuntimeError, BufferError):
        if source.__dlpack_device__()[0] != 1:
            raise
        try:
            capsule = source.__dlpack__(max_version=(1, 0))
        except TypeError:  # of DLPack before version 1
            capsule = source.__dlpack__()
        if not _core.dlpack_as_bits(capsule):
            raise
        return numpy.from_dlpack(Capsule(capsule)).view(as_dtype("bfloat16"))


def borrow(source: Any, device: DeviceLike, function: str, writable: bool = False) -> ndarray:
    """An array over another library's memory, without a copy: by DLPack, or the buffer protocol.

    `writable`: it is known that it may be written, where NumPy does not say so.
    """
    if isinstance(source, numpy.ndarray):
        values = source.view(numpy.ndarray)
    else:
        values = from_capsule(source) if hasattr(source, "__dlpack__") else numpy.asarray(memoryview(source))
    if values.dtype not in _KNOWN or not values.flags.aligned:
        raise ValueError(f"{function}: copy=False, but memory of {values.dtype} cannot be used as it is")
    if values.dtype == bool and values.size and values.view("uint8").max() > 1:
        raise ValueError(f"{function}: copy=False, but the memory holds bools whose bytes are not 0 or 1")
    place = resolve(device)
    if place.device_type != "cpu":
        raise ValueError(f"{function}: copy=False, but {place} needs a copy")
    if not values.size:
        return _core.array(values, None, place, True)
    read_only = not (writable or values.flags.writeable)
    return _core.borrow(values, _Loan(source, values), read_only)


class NotNumbersError(TypeError):
    """An argument is no number and no array of numbers: text, None, objects."""


def _as_numpy(value: Any, dtype: Any = None) -> Any:
    try:
        return numpy.asarray(value, dtype=dtype)
    except TypeError:  # a type that its library knows no NumPy array of, such as PyTorch's bfloat16
        if not hasattr(value, "__dlpack__"):
            raise
        return numpy.asarray(from_capsule(value), dtype=dtype)


def from_values(value: Any, dtype: DTypeLike, device: DeviceLike, copy: bool | None) -> ndarray:
    """An array from numbers, nested lists or another library's array."""
    if copy is False:
        if not isinstance(value, (numpy.ndarray, bytes, bytearray, memoryview)) and not hasattr(value, "__dlpack__"):
            raise ValueError(f"array: copy=False, but an array of {type(value).__name__} values is always a copy")
        borrowed = borrow(value, device, "array")
        if dtype is not None and as_dtype(dtype) != borrowed.dtype:
            raise ValueError(f"array: copy=False, but {borrowed.dtype} to {as_dtype(dtype)} needs a copy")
        return borrowed
    if (made := _core.from_numbers(value, dtype, device)) is not None:
        return made
    if _holds_arrays(value):
        joined = _join(value, dtype, device)
        return joined if dtype is None else _core.astype(joined, as_dtype(dtype))
    leaf = _first_leaf(value)
    if dtype is not None:
        wanted = as_dtype(dtype)
        given = value.dtype if isinstance(value, numpy.ndarray) else None
        if given is not None and given in _KNOWN and given.kind == "f" and wanted.kind in "iu":
            return _core.astype(_core.array(value, given, device, copy), wanted)  # as floats of ours, to the bit
        found = _as_numpy(value, wanted)
    else:
        found = _as_numpy(value)
        if found.dtype.hasobject and found.size and all(is_number(v) for v in found.flat):
            # Some are beyond 64 bits. The kind of all together decides; an array of integers cannot hold those.
            kinds = {"i" if isinstance(v, int) else numpy.asarray(v).dtype.kind for v in found.flat}
            return from_values(value, default_dtype(max(kinds, key="biufc".find)), device, copy)
        if found.dtype.hasobject or found.dtype.kind in "SUMm":
            raise NotNumbersError(f"array: cannot make an array of numbers from {type(leaf).__name__} values")
        usual = default_dtype(found.dtype.kind) if is_number(leaf) else as_dtype(found.dtype)
        fits = found.dtype.kind != "u" or usual.kind != "i"  # else it is beyond int64, and uint64 as in NumPy
        found = found.astype(usual, copy=False) if fits else found
    return _core.array(found, found.dtype, device, copy)


def as_array(a: ArrayLike, device: DeviceLike = None) -> ndarray:
    """An argument of a function as an array; numbers and NumPy arrays go to `device`."""
    return a if isinstance(a, ndarray) else from_values(a, None, device, None)


def as_arrays(given: Any) -> list[ndarray]:
    """Arguments of one function as arrays, on the device of the first; Python's numbers adapt to the others' types."""
    values: list[Any] = list(given)
    if all(isinstance(v, ndarray) for v in values):
        return values
    first = next((v for v in values if isinstance(v, ndarray)), None)
    if first is None:
        return [as_array(v) for v in values]
    strong = [v.dtype for v in values if isinstance(v, (ndarray, numpy.ndarray, numpy.generic))]

    def beside(value: Any) -> ndarray:
        if is_number(value):
            return from_values(value, _core.result_type(*strong, value), first.device, None)
        if isinstance(value, (list, tuple)):
            made = _core.from_numbers(value, None, first.device, first)
            return as_array(value, first.device) if made is None else made
        return as_array(value, first.device)

    return [v if isinstance(v, ndarray) else beside(v) for v in values]


CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")
ORDERS = ("K", "A", "C", "F")


def check_choice(function: str, name: str, given: Any, choices: tuple[Any, ...]) -> None:
    """Raises where an argument is none of those it can be."""
    if given not in choices:
        raise ValueError(f"{function}: {name} {given!r} is none of {', '.join(map(repr, choices))}")


def check_broadcast(function: str, *arrays: ndarray) -> tuple[int, ...]:
    """The shape that the arrays have together; an error names the function that was called."""
    try:
        return numpy.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = " and ".join(str(a.shape) for a in arrays)
        raise ValueError(f"{function}: shapes {shapes} cannot be broadcast together") from None


def deliver(result: ndarray, out: Any, function: str, casting: Any = "same_kind") -> ndarray:
    """A composed function's result, put into `out` where one is given."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is None:
        return result
    if not isinstance(out, ndarray):
        raise TypeError(f"{function}: out must be an ndarray, not {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError(f"{function}: out has shape {out.shape}, the result {result.shape}")
    if not numpy.can_cast(result.dtype, out.dtype, casting=casting):
        raise TypeError(f"{function}: cannot cast the result from {result.dtype} to out's {out.dtype}")
    _core.assign(out, result)
    return out


# ---- axes and shapes


def normal_axis(axis: Any, ndim: int, function: str) -> int:
    """An axis counted from the front; raises NumPy's AxisError where there is no such axis."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(f"{function}: axis {axis} is out of bounds for an array of dimension {ndim}")
    return axis % ndim if ndim else 0


def normal_axes(axes: Any, ndim: int, function: str) -> list[int]:
    """One or more axes counted from the front, each at most once."""
    given = list(axes) if isinstance(axes, (tuple, list)) else [axes]
    found = [normal_axis(axis, ndim, function) for axis in given]
    if len(set(found)) != len(found):
        raise ValueError(f"{function}: an axis is named twice in {axes}")
    return found


def as_dims(given: Any) -> tuple[int, ...]:
    """A shape argument, an int or a sequence of ints, as a tuple."""
    if isinstance(given, (tuple, list)):
        return tuple(operator.index(n) for n in given)
    return (operator.index(given),)
