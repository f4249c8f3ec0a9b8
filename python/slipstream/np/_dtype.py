"""Element types: their names, NumPy's questions about them, and what Python numbers become."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy

from .. import _core
from ._arguments import SUPPORTED as _SUPPORTED
from ._arguments import as_dtype as _as_dtype
from ._types import DTypeLike

_imported = set(globals())

float16 = numpy.float16
float32 = numpy.float32
float64 = numpy.float64
bfloat16 = ml_dtypes.bfloat16
complex64 = numpy.complex64
complex128 = numpy.complex128
int8 = numpy.int8
int16 = numpy.int16
int32 = numpy.int32
int64 = numpy.int64
uint8 = numpy.uint8
uint16 = numpy.uint16
uint32 = numpy.uint32
uint64 = numpy.uint64
bool_ = numpy.bool_
int_ = numpy.int64
intp = numpy.intp
half = numpy.float16
single = numpy.float32
double = numpy.float64
byte = numpy.byte
short = numpy.short
intc = numpy.intc
long = numpy.int64
longlong = numpy.longlong
ubyte = numpy.ubyte
ushort = numpy.ushort
uintc = numpy.uintc
uint = numpy.uint64
uintp = numpy.uintp
ulong = numpy.uint64
ulonglong = numpy.ulonglong
csingle = numpy.complex64
cdouble = numpy.complex128
dtype = numpy.dtype

# Classes of types, for issubdtype.
generic = numpy.generic
number = numpy.number
integer = numpy.integer
signedinteger = numpy.signedinteger
unsignedinteger = numpy.unsignedinteger
inexact = numpy.inexact
floating = numpy.floating
complexfloating = numpy.complexfloating

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
newaxis = None
euler_gamma = 0.5772156649015329

_OWN = ("float16", "bfloat16")  # types that the array API standard does not have
_STANDARD = tuple(name for name in _SUPPORTED if name not in _OWN)

# Names of types by kind of the array API standard.
_KINDS = {
    "bool": [name for name in _SUPPORTED if name == "bool"],
    "signed integer": [name for name in _SUPPORTED if name.startswith("int")],
    "unsigned integer": [name for name in _SUPPORTED if name.startswith("uint")],
    "integral": [name for name in _SUPPORTED if "int" in name],
    "real floating": [name for name in _SUPPORTED if "float" in name],
    "complex floating": [name for name in _SUPPORTED if name.startswith("complex")],
    "numeric": [name for name in _SUPPORTED if name != "bool"],
}

boolean_dtypes, integer_dtypes, floating_dtypes, numeric_dtypes = (
    [numpy.dtype(name).type for name in _KINDS[kind]] for kind in ("bool", "integral", "real floating", "numeric")
)


def _type_of(what: Any) -> numpy.dtype[Any]:
    return what.dtype if isinstance(what, (_core.ndarray, numpy.ndarray, numpy.generic)) else numpy.dtype(what)


def result_type(*arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """The type that NumPy 2 gives a result of these arrays, types and Python numbers (which adapt to the others).

    >>> np.result_type(np.int32, np.float16, 3.0)
    dtype('float64')
    """
    return _core.result_type(*arrays_and_dtypes)


def promote_types(type1: DTypeLike, type2: DTypeLike) -> numpy.dtype[Any]:
    """The smallest type that holds both.

    >>> np.promote_types("int32", "uint32")
    dtype('int64')
    """
    return _core.promote_types(_as_dtype(type1), _as_dtype(type2))


def can_cast(from_: Any, to: DTypeLike, casting: Any = "safe") -> bool:
    """Whether values of one type (or of an array) can become another under NumPy's casting rule.

    >>> np.can_cast("int32", "float32"), np.can_cast("int16", "float32")
    (False, True)
    """
    return numpy.can_cast(_type_of(from_), _as_dtype(to), casting=casting)


def issubdtype(arg1: DTypeLike, arg2: Any) -> bool:
    """Whether a type belongs to a class of types (or equals another type).

    >>> np.issubdtype(np.bfloat16, np.floating), np.issubdtype("int8", np.floating)
    (True, False)
    """
    if numpy.dtype(arg1) == bfloat16 and isinstance(arg2, type) and issubclass(arg2, numpy.generic):
        return arg2 is bfloat16 or issubclass(floating, arg2)
    return bool(numpy.issubdtype(arg1, arg2))


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Whether a type is of a kind of the array API standard, or is a given type, or is one of a tuple of these.

    >>> np.isdtype(np.float32, "real floating"), np.isdtype(np.int8, ("bool", "integral"))
    (True, True)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return numpy.dtype(dtype).name in _KINDS[kind]
    if isinstance(kind, str):
        raise ValueError(f"isdtype: kind {kind!r} is none of {', '.join(map(repr, _KINDS))}")
    return bool(numpy.dtype(dtype) == numpy.dtype(kind))


class _Limits:
    """What `finfo` gives."""

    def __init__(self, dtype: Any) -> None:
        own = _type_of(dtype)
        if own.name not in _KINDS["real floating"] + _KINDS["complex floating"]:
            raise ValueError(f"finfo: {own} is no floating-point type")
        self._limits = ml_dtypes.finfo(own)  # type: ignore[no-untyped-call]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._limits, name)
        return value if isinstance(value, (int, str, numpy.dtype)) else float(value)

    def __repr__(self) -> str:
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype={self.dtype})"


def finfo(dtype: Any) -> Any:
    """Limits of a floating-point type: `eps`, `max`, `min`, `smallest_normal`, ... Each is a Python number.

    >>> np.finfo(np.float32).eps
    1.1920928955078125e-07
    """
    return _Limits(dtype)


def iinfo(dtype: Any) -> Any:
    """Limits of an integer type: `min`, `max`, `bits`.

    >>> np.iinfo("int8").max
    127
    """
    return numpy.iinfo(_type_of(dtype))


if not TYPE_CHECKING:
    __all__ = [name for name in globals() if name not in _imported and name[0] != "_"]
