"""Parts, paddings and shapes by MXNet's names and codes, for programs that were written for them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core, np
from .._core import ndarray
from ..np._arguments import as_array, as_dtype, deliver, normal_axes, normal_axis, public
from ..np._types import ArrayLike, Axes, DTypeLike

# ---- parts


def _key(function: str, x: ndarray, begin: Any, end: Any, step: Any) -> tuple[builtins.slice, ...]:
    """The slices that lists of begins, ends and steps mean; None in them stands for where an axis begins or ends."""
    lists = [[given] if isinstance(given, int) else list(given) for given in (begin, end, step or ())]
    if len(lists[0]) != len(lists[1]) or len(lists[0]) > x.ndim or len(lists[2]) not in (0, len(lists[0])):
        raise ValueError(f"{function}: begin={begin}, end={end}, step={step} do not fit the shape {x.shape}")
    steps = lists[2] or [None] * len(lists[0])
    return tuple(builtins.slice(*part) for part in zip(lists[0], lists[1], steps, strict=True))


def slice(data: ArrayLike, begin: Any, end: Any, step: Any = None, out: ndarray | None = None, name: Any = None) -> Any:
    """`data[begin[0]:end[0]:step[0], begin[1]:end[1]:step[1], ...]`; None stands for an axis's own begin or end.

    >>> npx.slice(np.arange(6).reshape(2, 3), begin=(0, 1), end=(None, 3))
    array([[1., 2.],
           [4., 5.]])
    """
    x = as_array(data)
    return deliver(x[_key("slice", x, begin, end, step)], out, "slice")


def slice_axis(data: ArrayLike, axis: int, begin: int | None, end: int | None) -> ndarray:
    """A part along one axis: from `begin` up to, not including, `end`; None is the end of the axis.

    >>> npx.slice_axis(np.arange(4), axis=0, begin=1, end=-1)
    array([1., 2.])
    """
    x = as_array(data)
    at = normal_axis(axis, x.ndim, "slice_axis")
    made: ndarray = x[(builtins.slice(None),) * at + (builtins.slice(begin, end),)]
    return made


def slice_assign(data: ArrayLike, value: ArrayLike, begin: Any, end: Any, step: Any = None) -> ndarray:
    """A copy with the values of an array in place of a part: see `slice`.

    >>> npx.slice_assign(np.zeros(4), np.array([7, 8]), begin=(1,), end=(3,))
    array([0., 7., 8., 0.])
    """
    made = _core.copy(as_array(data))
    made[_key("slice_assign", made, begin, end, step)] = value
    return made


def slice_assign_scalar(data: ArrayLike, scalar: float, begin: Any, end: Any, step: Any = None) -> ndarray:
    """A copy with one number in place of a part: see `slice`.

    >>> npx.slice_assign_scalar(np.zeros(4), 7, begin=(1,), end=(3,))
    array([0., 7., 7., 0.])
    """
    return slice_assign(data, scalar, begin, end, step)


def split_v2(data: ArrayLike, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Any:
    """Parts along an axis, as `np.split`; a single part is given as such.

    >>> npx.split_v2(np.arange(4), 2)
    [array([0., 1.]), array([2., 3.])]
    """
    parts = [np.squeeze(part, axis) if squeeze_axis else part for part in np.split(data, indices_or_sections, axis)]
    return parts[0] if len(parts) == 1 else parts


# ---- sizes


def size_array(data: ArrayLike) -> ndarray:
    """The number of elements, as an array of one int64.

    >>> npx.size_array(np.ones((2, 3)))
    array([6], dtype=int64)
    """
    x = as_array(data)
    return _core.full((1,), x.size, numpy.dtype("int64"), x.device)


def broadcast_axes(data: ArrayLike, axis: Any = (), size: Any = ()) -> ndarray:
    """A view in which axes of length 1 are repeated to the lengths given.

    >>> npx.broadcast_axes(np.ones((1, 2)), axis=0, size=3).shape
    (3, 2)
    """
    x = as_array(data)
    axes = normal_axes(axis, x.ndim, "broadcast_axes")
    sizes = [size] if isinstance(size, int) else list(size)
    if len(axes) != len(sizes) or any(x.shape[at] != 1 for at in axes):
        raise ValueError(f"broadcast_axes: axis={axis} of shape {x.shape} cannot be repeated to {size}; they must be 1")
    shape = list(x.shape)
    for at, length in zip(axes, sizes, strict=True):
        shape[at] = length
    return _core.broadcast_to(x, tuple(shape))


def argmax_channel(data: ArrayLike) -> ndarray:
    """The place of the largest element along axis 1, in the array's own type.

    >>> npx.argmax_channel(np.array([[1, 5, 2], [7, 0, 3]]))
    array([1., 0.])
    """
    x = as_array(data)
    return _core.astype(_core.argmax(x, axis=normal_axis(1, x.ndim, "argmax_channel")), x.dtype)


# ---- shapes with codes


class _Codes:
    """Reads a shape with MXNet's codes from the front to the back."""

    def __init__(self, old: Sequence[int], new: Sequence[int]) -> None:
        self.old, self.new, self.at, self.made = list(old), list(new), 0, list[int]()
        self.guessed: int | None = None  # where -1 stands

    def fail(self, why: str) -> ValueError:
        return ValueError(f"reshape: shape {tuple(self.old)} to {tuple(self.new)}: {why}")

    def next(self) -> int:
        if self.at >= len(self.old):
            raise self.fail("a code stands for an axis that is not there")
        self.at += 1
        return self.old[self.at - 1]

    def guess(self, length: int) -> int:
        if length == -1:
            if self.guessed is not None:
                raise self.fail("-1 stands twice")
            self.guessed = len(self.made)
        return length

    def split(self, codes: list[int]) -> None:
        whole = self.next()
        first, second = codes.pop(0), codes.pop(0)
        if first == -1:
            first = whole // second if second > 0 else -1
        if second == -1:
            second = whole // first if first > 0 else -1
        if first * second != whole:
            raise self.fail(f"an axis of {whole} cannot be split into {first} and {second}")
        self.made += [first, second]

    def read(self) -> list[int]:
        codes = list(self.new)
        while codes:
            code = codes.pop(0)
            if code == -2:
                self.made.append(self.next())
            elif code == -3:
                if self.next() != 1:
                    raise self.fail("-3 leaves out an axis that is not 1")
            elif code == -4:
                self.made += self.old[self.at :]
                self.at = len(self.old)
            elif code == -5:
                self.made.append(self.next() * self.next())
            elif code == -6 and len(codes) >= 2:
                self.split(codes)
            elif code < -1:
                raise self.fail(f"{code} is no code")
            else:
                self.made.append(self.guess(code))
                self.at += 1
        if self.guessed is not None:
            rest = math.prod(n for i, n in enumerate(self.made) if i != self.guessed)
            self.made[self.guessed] = math.prod(self.old) // rest if rest else 0
        return self.made


def reshape(a: ArrayLike, newshape: Any, reverse: bool = False, order: str = "C") -> ndarray:
    """The same elements in another shape, in which codes stand for axes of the old one.

    -1: what is left; -2: the next axis as it is; -3: leaves out the next axis, which is 1; -4: all axes that remain;
    -5: the next two axes as one; -6: the next axis as the two lengths that follow. `reverse` reads all from the back.

    >>> npx.reshape(np.ones((2, 3, 8)), (-2, -2, 2, -1)).shape
    (2, 3, 2, 4)
    >>> npx.reshape(np.ones((8, 3, 3, 3, 4, 4)), (-6, 2, -1, -4)).shape
    (2, 4, 3, 3, 3, 4, 4)
    """
    x = as_array(a)
    new = [newshape] if isinstance(newshape, int) else list(newshape)
    if not reverse:
        return np.reshape(x, tuple(_Codes(x.shape, new).read()), order)
    return np.reshape(x, tuple(_Codes(x.shape[::-1], new[::-1]).read()[::-1]), order)


# ---- padding and norms

_PADDING = ("constant", "edge", "reflect")


def pad(
    data: ArrayLike,
    mode: str = "constant",
    pad_width: Any = (),
    constant_value: float = 0.0,
    out: ndarray | None = None,
    name: Any = None,
) -> ndarray:
    """`np.pad` with the widths in one line: before and after each axis. Modes are "constant", "edge" and "reflect".

    >>> npx.pad(np.ones((1, 2)), pad_width=(0, 0, 1, 1))
    array([[0., 1., 1., 0.]])
    """
    x = as_array(data)
    widths = tuple(pad_width)
    if mode not in _PADDING:
        raise ValueError(f"pad: mode {mode!r} is none of {', '.join(map(repr, _PADDING))}")
    if len(widths) != 2 * x.ndim:
        raise ValueError(f"pad: pad_width {widths} must hold two numbers for each axis of the shape {x.shape}")
    options = {"constant_values": constant_value} if mode == "constant" else {}
    return deliver(np.pad(x, list(zip(widths[::2], widths[1::2], strict=True)), mode, **options), out, "pad")


def norm(
    data: ArrayLike,
    ord: int = 2,
    axis: Axes = None,
    out_dtype: DTypeLike = None,
    keepdims: bool = False,
    out: ndarray | None = None,
    name: Any = None,
) -> ndarray:
    """The sum of absolute values (`ord=1`) or the root of the sum of squares (`ord=2`), of all or along axes.

    >>> npx.norm(np.array([[3, 4], [6, 8]]), axis=1)
    array([ 5., 10.])
    """
    if ord not in (1, 2):
        raise ValueError(f"norm: ord is {ord}; here it is 1 or 2, others are in np.linalg.norm")
    x = as_array(data)
    made = np.linalg.vector_norm(x, ord, axis, keepdims)
    return deliver(made if out_dtype is None else _core.astype(made, as_dtype(out_dtype)), out, "norm")


# ---- powers


def rsqrt(data: ArrayLike) -> ndarray:
    """`1 / sqrt(x)`.

    >>> npx.rsqrt(np.array([4, 16]))
    array([0.5 , 0.25])
    """
    return 1 / _core.sqrt(as_array(data))


def rcbrt(data: ArrayLike) -> ndarray:
    """`1 / cbrt(x)`.

    >>> npx.rcbrt(np.array([8, 64]))
    array([0.5 , 0.25])
    """
    return 1 / _core.cbrt(as_array(data))


if not TYPE_CHECKING:
    __all__ = public(globals())
