"""Walks over elements one by one, arrays joined by indexing, and NumPy's settings of floating-point errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, check_broadcast, public
from ._by_numpy import by_numpy, plain
from ._conveniences import _line
from ._creation import array
from ._joining import concatenate
from ._types import ArrayLike

# ---- walks


def _writes(flags: Any) -> bool:
    return bool({"readwrite", "writeonly"} & set(flags))


@by_numpy("waits")
class nditer:  # noqa: N801 - NumPy's name
    """NumPy's walk over the elements of one or more arrays together: waits for them, and goes over their values.

    What is written to the elements of an operand with the flag "readwrite" or "writeonly" arrives in the array when
    the walk is closed: at the end of a `with`, or by `close`.

    >>> [float(v) for v in np.nditer(np.array([[1, 2], [3, 4]]))]
    [1.0, 2.0, 3.0, 4.0]
    >>> x = np.zeros(2)
    >>> with np.nditer(x, op_flags=["readwrite"]) as walk:
    ...     for v in walk:
    ...         v[...] = v + 1
    >>> x
    array([1., 1.])
    """

    def __init__(self, op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **options: Any) -> None:
        given = list(op) if isinstance(op, (list, tuple)) else [op]
        each = op_flags if op_flags and not isinstance(op_flags[0], str) else [op_flags or ["readonly"]] * len(given)
        values = [plain(x) for x in given]
        self._targets = [
            (x, value)
            for x, value, its in zip(given, values, each, strict=True)
            if isinstance(x, ndarray) and _writes(its)
        ]
        self._walk = numpy.nditer(values, flags or [], each, *args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._walk, name)

    def __iter__(self) -> nditer:
        return self

    def __next__(self) -> Any:
        return next(self._walk)

    def __len__(self) -> int:
        return len(self._walk)

    def __getitem__(self, key: Any) -> Any:
        return self._walk[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._walk[key] = value

    def __enter__(self) -> nditer:
        self._walk.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the walk; what was written arrives in the arrays."""
        self._walk.close()
        for x, value in self._targets:
            _core.assign(x, value)
        self._targets = []


class broadcast:  # noqa: N801 - NumPy's name
    """The shape that arrays have together; it can be walked over, which waits for them.

    >>> b = np.broadcast(np.array([[1], [2]]), np.array([3, 4]))
    >>> b.shape, b.size, b.ndim, b.numiter
    ((2, 2), 4, 2, 2)
    >>> [(float(x), float(y)) for x, y in b]
    [(1.0, 3.0), (1.0, 4.0), (2.0, 3.0), (2.0, 4.0)]
    """

    def __init__(self, *arrays: ArrayLike) -> None:
        self._arrays = [as_array(a) for a in arrays]
        self.shape = check_broadcast("broadcast", *self._arrays)
        self.nd = self.ndim = len(self.shape)
        self.numiter = len(arrays)
        self.size = numpy.prod(self.shape, dtype=int).item()
        self._walk: Any = None
        self.index = 0

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Any, ...]:
        if self._walk is None:
            self._walk = numpy.broadcast(*(a.asnumpy() for a in self._arrays))
        found: tuple[Any, ...] = next(self._walk)
        self.index += 1
        return found

    @property
    def iters(self) -> tuple[Iterator[Any], ...]:
        """A walk over the elements of each array, repeated to the shape."""
        return tuple(iter(_core.broadcast_to(a, self.shape).reshape(-1)) for a in self._arrays)

    def reset(self) -> None:
        """Starts the walk anew."""
        self._walk, self.index = None, 0


# ---- arrays joined by indexing


class _Joiner:
    """`np.r_[1:4, 0, x]`: slices, numbers and arrays joined along an axis, which a text in front can name."""

    def __init__(self, axis: int = 0, least: int = 1, place: int = -1) -> None:
        self._options = (axis, least, place)

    def __getitem__(self, key: Any) -> ndarray:
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, least, place = self._options
        if isinstance(parts[0], str):
            axis, least, place = self._read(parts.pop(0))
        return concatenate([self._part(part, least, place) for part in parts], axis)

    def _read(self, text: str) -> list[int]:
        """The axis, the least number of axes, and which of them a shorter array's first axis becomes."""
        try:
            numbers = [int(n) for n in text.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ValueError(f"r_: {text!r} is not 'axis', 'axis,ndmin' or 'axis,ndmin,place'; there are no matrices")
        return numbers + list(self._options[len(numbers) :])

    @staticmethod
    def _part(part: Any, least: int, place: int) -> ndarray:
        if isinstance(part, str):
            raise ValueError(f"r_: {part!r} must come first")
        x = _line(part) if isinstance(part, slice) else array(part, copy=None)
        if x.ndim >= least:
            return x
        missing = least - x.ndim
        front = min(place if place >= 0 else place + missing + 1, missing)
        return _core.reshape(x, (1,) * front + x.shape + (1,) * (missing - front))


r_ = _Joiner()
c_ = _Joiner(axis=-1, least=2, place=0)

# ---- floating-point errors

_KINDS = ("all", "divide", "over", "under", "invalid")
_QUIET = ("ignore", "warn", None)


class errstate(ContextDecorator):  # noqa: N801 - NumPy's name
    """NumPy's choice of what floating-point errors do. Here they do nothing: infinities and NaN tell.

    "ignore" and "warn" are accepted, and nothing warns; others are refused.

    >>> with np.errstate(divide="ignore"):
    ...     np.array([1.0]) / 0
    array([inf])
    """

    def __init__(self, *, call: Any = None, **kinds: str | None) -> None:
        for kind, action in kinds.items():
            if kind not in _KINDS:
                raise TypeError(f"errstate: {kind!r} is none of {', '.join(map(repr, _KINDS))}")
            if action not in _QUIET:
                raise ValueError(
                    f"errstate: {kind}={action!r}: values are not known at the call; look with np.isfinite"
                )

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def geterr() -> dict[str, str]:
    """What floating-point errors do: nothing. See `errstate`.

    >>> np.geterr()["divide"]
    'ignore'
    """
    return dict.fromkeys(_KINDS[1:], "ignore")


def seterr(
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> dict[str, str]:
    """NumPy's setting of what floating-point errors do: see `errstate`, which says what is accepted.

    >>> np.seterr(all="ignore")["over"]
    'ignore'
    """
    errstate(all=all, divide=divide, over=over, under=under, invalid=invalid)
    return geterr()


if not TYPE_CHECKING:
    __all__ = public(globals())
