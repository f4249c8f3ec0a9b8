"""Making arrays: from Python's and NumPy's values, filled, counted, and shaped like others."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..device import Device, named, resolve
from ._arguments import (
    CASTING,
    as_array,
    as_arrays,
    as_dims,
    as_dtype,
    borrow,
    check_choice,
    deliver,
    from_capsule,
    from_values,
    is_number,
    public,
)
from ._types import ArrayLike, DeviceLike, DTypeLike, Shape

_ORDERS = ("C", "F", "A", "K", None)

# ---- from values


def array(
    object: ArrayLike,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    ctx: DeviceLike = None,
) -> ndarray:
    """A new array from numbers, nested lists of them, or another array.

    Python's numbers become float32 (bool and complex64 for those; after `npx.set_np(dtype=True)` what NumPy makes of
    them); NumPy arrays keep their type. Lists may hold arrays: nothing waits for them.

    >>> np.array([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    check_choice("array", "order", order, _ORDERS)
    if isinstance(object, ndarray):
        made = object if device is None and ctx is None else object.to_device(resolve(device, ctx))
        if dtype is not None and as_dtype(dtype) != made.dtype:
            made = _core.astype(made, as_dtype(dtype))
        if made is object and copy:
            made = _core.astype(object, object.dtype)
        elif made is not object and copy is False:
            raise ValueError("array: copy=False, but another type or device needs a copy")
    else:
        made = from_values(object, dtype, named(device, ctx), copy)
    if order == "F" and made.ndim > 1:
        made = _core.transpose(_core.contiguous(_core.transpose(made)))
    if ndmin and ndmin > made.ndim:
        made = _core.reshape(made, (1,) * (ndmin - made.ndim) + made.shape)
    return made


def asarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str | None = None,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
    ctx: DeviceLike = None,
) -> ndarray:
    """The argument itself if it is an array of that type and device, else an array made from it.

    >>> x = np.ones(2)
    >>> np.asarray(x) is x
    True
    """
    return array(a, dtype, device, copy=copy, order=order, ctx=ctx)


def ascontiguousarray(a: ArrayLike, dtype: DTypeLike = None, *, device: DeviceLike = None) -> ndarray:
    """The argument as a row-major array of at least one dimension, itself if it is one.

    >>> np.ascontiguousarray(np.ones((2, 3)).T).flags["C_CONTIGUOUS"]
    True
    """
    return _core.contiguous(array(a, dtype, device, copy=None, ndmin=1))


def asnumpy(a: ArrayLike) -> numpy.ndarray[Any, Any]:
    """Waits for an array and gives its values as a NumPy array.

    >>> np.asnumpy(np.ones(2)).tolist()
    [1.0, 1.0]
    """
    return as_array(a).asnumpy()


def from_dlpack(x: Any, /, *, device: DeviceLike = None, copy: bool | None = None) -> ndarray:
    """An array from another library's array, by DLPack: a copy, or with `copy=False` an array over its memory.

    Memory that is borrowed must not be written by its owner while arrays here, or calls that are not done, read it; a
    NumPy array is made read-only for that time. Where its owner lets nobody write it, it cannot be written here either.

    >>> import numpy
    >>> np.from_dlpack(numpy.arange(3, dtype="int32"))
    array([0, 1, 2], dtype=int32)
    >>> a = numpy.zeros(3)
    >>> x = np.from_dlpack(a, copy=False)
    >>> x += 1
    >>> a.tolist()
    [1.0, 1.0, 1.0]
    """
    if isinstance(x, ndarray):
        return array(x, device=device, copy=copy)
    if copy is False:
        return borrow(x, device, "from_dlpack")
    return _core.array(from_capsule(x), None, resolve(device), copy)


def copy(a: ArrayLike, order: str = "K", subok: bool = False, *, out: ndarray | None = None) -> ndarray:
    """A copy.

    >>> x = np.zeros(2)
    >>> y = np.copy(x)
    >>> x += 1
    >>> y
    array([0., 0.])
    """
    if out is not None:
        return deliver(as_array(a), out, "copy")
    return array(a, copy=True, order=order)


def astype(
    x: ArrayLike,
    dtype: DTypeLike,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """The values as another type. With copy=False the array itself, if it has that type already.

    >>> np.astype(np.array([1.7, -1.7]), np.int32)
    array([ 1, -1], dtype=int32)
    """
    x, target = as_array(x), as_dtype(dtype)
    check_choice("astype", "casting", casting, CASTING)
    check_choice("astype", "order", order, _ORDERS)
    if casting != "unsafe" and not numpy.can_cast(x.dtype, target, casting=casting):  # type: ignore[arg-type]
        raise TypeError(f"astype: cannot cast from {x.dtype} to {target} by the rule {casting!r}")
    if device is not None:
        x = x.to_device(resolve(device))
    return x if not copy and x.dtype == target else _core.astype(x, target)


# ---- filled


def empty(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", device: DeviceLike = None, *, ctx: DeviceLike = None
) -> ndarray:
    """A new array whose values are not set.

    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    if order == "C":
        return _core.empty(shape, dtype, named(device, ctx))
    check_choice("empty", "order", order, _ORDERS)
    reversed_shape = as_dims(shape)[::-1]
    return _core.transpose(_core.empty(reversed_shape, dtype, named(device, ctx)))


def zeros(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", device: DeviceLike = None, *, ctx: DeviceLike = None
) -> ndarray:
    """A new array of zeros.

    >>> np.zeros((2, 2))
    array([[0., 0.],
           [0., 0.]])
    """
    return _core.full(shape, 0.0, dtype, named(device, ctx), order)


def ones(
    shape: Shape, dtype: DTypeLike = None, order: str = "C", device: DeviceLike = None, *, ctx: DeviceLike = None
) -> ndarray:
    """A new array of ones.

    >>> np.ones(3, dtype="int32")
    array([1, 1, 1], dtype=int32)
    """
    return _core.full(shape, 1.0, dtype, named(device, ctx), order)


def full(
    shape: Shape,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "C",
    device: DeviceLike = None,
    out: ndarray | None = None,
    *,
    ctx: DeviceLike = None,
) -> ndarray:
    """A new array of one value (or of an array that is broadcast to the shape).

    >>> np.full((2,), 7)
    array([7., 7.])
    """
    if out is None and is_number(fill_value):
        return _core.full(shape, fill_value, dtype, named(device, ctx), order)
    value = as_array(fill_value, resolve(device, ctx))
    made = empty(shape, dtype or value.dtype, device=resolve(device, ctx)) if out is None else out
    _core.assign(made, value)
    return made


def _like(
    a: ArrayLike, dtype: DTypeLike, shape: Shape | None, device: DeviceLike, ctx: DeviceLike
) -> tuple[Shape, numpy.dtype[Any], Device]:
    a = as_array(a)
    place = a.device if device is None and ctx is None else resolve(device, ctx)
    return a.shape if shape is None else shape, a.dtype if dtype is None else as_dtype(dtype), place


def empty_like(
    prototype: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> ndarray:
    """A new array, not set, with the shape, type and device of another.

    >>> np.empty_like(np.ones((2, 3), dtype="int8")).dtype
    dtype('int8')
    """
    return _core.empty(*_like(prototype, dtype, shape, device, ctx))


def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: ndarray | None = None,
) -> ndarray:
    """A new array of one value, with the shape, type and device of another.

    >>> np.full_like(np.zeros(2), 3)
    array([3., 3.])
    """
    if out is None and order != "F" and is_number(fill_value):
        return _core.full_like(a, fill_value, dtype, shape, named(device, ctx))
    shape, dtype, place = _like(a, dtype, shape, device, ctx)
    return full(shape, fill_value, dtype, "F" if order == "F" else "C", place, out)


def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: ndarray | None = None,
) -> ndarray:
    """A new array of zeros, with the shape, type and device of another.

    >>> np.zeros_like(np.ones(2))
    array([0., 0.])
    """
    return full_like(a, 0, dtype, order, subok, shape, device=device, ctx=ctx, out=out)


def ones_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
    out: ndarray | None = None,
) -> ndarray:
    """A new array of ones, with the shape, type and device of another.

    >>> np.ones_like(np.zeros(2), dtype=bool)
    array([ True,  True])
    """
    return full_like(a, 1, dtype, order, subok, shape, device=device, ctx=ctx, out=out)


# ---- counted


def _number(value: Any, name: str) -> Any:
    """A number argument that decides a shape: Python's number of it (an array is waited for)."""
    if isinstance(value, (ndarray, numpy.ndarray, numpy.generic)):
        return value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"arange: {name} must be a number, got {type(value).__name__}")
    return value


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> ndarray:
    """The numbers from `start` (0 if only one is given) up to, not including, `stop`, `step` apart.

    >>> np.arange(4)
    array([0., 1., 2., 3.])
    >>> np.arange(1, 2, 0.25, dtype="float64")
    array([1.  , 1.25, 1.5 , 1.75], dtype=float64)
    """
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    if not type(start) is type(stop) is type(step) is int:
        start, stop, step = _number(start, "start"), _number(stop, "stop"), _number(step, "step")
    if step == 0:
        raise ValueError("arange: step is 0")
    span = (stop - start) / step
    target = as_dtype(dtype, "f" if isinstance(start + stop + step, float) else "i")
    n = max(0, math.ceil(span))
    if target.kind in "iu":  # as NumPy: the first two numbers are rounded, and decide
        start, step = int(start), int(start + step) - int(start)
    return _core.arange(start, step, n, target, named(device, ctx))


def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`; with `retstep` also their distance.

    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    try:
        num = operator.index(num)
    except TypeError:
        raise TypeError(f"linspace: num must be a whole number, not {num!r}") from None
    if num < 0:
        raise ValueError(f"linspace: num={num} is negative")
    steps = num - 1 if endpoint else num
    place = resolve(device, ctx)
    simple = all(isinstance(v, (bool, int, float)) for v in (start, stop))
    if simple:
        target = as_dtype(dtype)
        made = _core.linspace(start, stop, num, endpoint, target, place)
        step: Any = (stop - start) / steps if steps > 0 else math.nan
    else:
        first, last = as_array(start, place), as_array(stop, place)
        distance = _core.subtract(last, first, dtype=_core.result_type(first, last, 1.0))
        target = distance.dtype if dtype is None else as_dtype(dtype)
        step = distance / steps if steps > 0 else distance * math.nan
        count = _core.reshape(_core.arange(0, 1, num, distance.dtype, place), (num,) + (1,) * distance.ndim)
        made = first + (count * step if steps > 0 else count * distance)
        if endpoint and num > 1:
            made = _core.where(_core.equal(count, num - 1), last, made)
        if axis != 0:
            made = _core.transpose(made, _moved(made.ndim, axis))
        if target.kind in "iu":
            made = _core.floor(made)
        made = made if made.dtype == target else _core.astype(made, target)
    return (made, step) if retstep else made


def _moved(ndim: int, axis: int) -> list[int]:
    axes = list(range(1, ndim))
    axes.insert(axis if axis >= 0 else ndim + axis, 0)
    return axes


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> ndarray:
    """`num` numbers from `base**start` to `base**stop`, evenly spaced in their exponents.

    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis, device=device, ctx=ctx)
    made: ndarray = _core.pow(base, exponents)
    return made if dtype is None else _core.astype(made, as_dtype(dtype))


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> ndarray:
    """`num` numbers from `start` to `stop`, each a constant multiple of the last.

    >>> np.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    if isinstance(start, (int, float)) and isinstance(stop, (int, float)):
        if start == 0 or stop == 0 or (start < 0) != (stop < 0):
            raise ValueError(f"geomspace: start={start} and stop={stop} must have one sign and not be 0")
        sign = -1 if start < 0 else 1
        low, high = math.log2(abs(start)), math.log2(abs(stop))
        made = sign * logspace(low, high, num, endpoint, 2.0, None, axis, device=device, ctx=ctx)
    else:
        first, last = as_arrays([start, stop])
        made = _powers(first, last, linspace(0, 1, num, endpoint, device=device, ctx=ctx), axis)
    return made if dtype is None else _core.astype(made, as_dtype(dtype))


def _powers(start: ndarray, stop: ndarray, parts: ndarray, axis: int) -> ndarray:
    """`start * (stop / start) ** part` for each part, along a new axis."""
    ratio = _core.divide(stop, start)
    steps = _core.reshape(parts, (-1, *(1,) * ratio.ndim))
    made = _core.multiply(start, _core.pow(ratio, steps))
    return _core.transpose(made, _moved(made.ndim, axis))


# ---- matrices


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = None,
    order: str = "C",
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> ndarray:
    """A matrix with ones on the k-th diagonal, zeros elsewhere.

    >>> np.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    return _core.eye(N, N if M is None else M, _near(k), dtype, named(device, ctx))


def identity(n: int, dtype: DTypeLike = None, *, device: DeviceLike = None, ctx: DeviceLike = None) -> ndarray:
    """The n×n matrix with ones on the diagonal.

    >>> np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype, device=device, ctx=ctx)


def _near(k: Any) -> Any:
    """The number of a diagonal, kept within what 64 bits count: all those far outside are alike."""
    return max(-(2**62), min(k, 2**62)) if isinstance(k, int) else k


def _lower(rows: int, columns: int, k: int, device: Device) -> ndarray:
    """True at and below the k-th diagonal of a matrix."""
    down = _core.arange(_near(k), 1, rows, numpy.dtype("int64"), device)
    across = _core.arange(0, 1, columns, numpy.dtype("int64"), device)
    return _core.reshape(down, (rows, 1)) >= across


def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> ndarray:
    """A matrix with ones at and below the k-th diagonal, zeros elsewhere.

    >>> np.tri(2, 3)
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    return _core.astype(_lower(N, N if M is None else M, k, resolve(device, ctx)), as_dtype(dtype))


def tril(m: ArrayLike, k: int = 0) -> ndarray:
    """The lower triangle: a copy with zeros above the k-th diagonal of the last two axes.

    >>> np.tril(np.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    m = as_array(m)
    if m.ndim < 2:
        m = _core.broadcast_to(m, (m.size, m.size))
    return _core.where(_lower(m.shape[-2], m.shape[-1], k, m.device), m, _core.full((), 0, m.dtype, m.device))


def triu(m: ArrayLike, k: int = 0) -> ndarray:
    """The upper triangle: a copy with zeros below the k-th diagonal of the last two axes.

    >>> np.triu(np.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    m = as_array(m)
    if m.ndim < 2:
        m = _core.broadcast_to(m, (m.size, m.size))
    return _core.where(_lower(m.shape[-2], m.shape[-1], k - 1, m.device), _core.full((), 0, m.dtype, m.device), m)


def diag(v: ArrayLike, k: int = 0) -> ndarray:
    """The k-th diagonal of a matrix, or the matrix that has a vector there.

    >>> np.diag(np.array([1, 2]))
    array([[1., 0.],
           [0., 2.]])
    """
    v = as_array(v)
    if v.ndim == 2:
        return _core.diagonal(v, k, 0, 1)
    if v.ndim != 1:
        raise ValueError(f"diag: the argument has {v.ndim} dimensions; it must have 1 or 2")
    n = v.size + abs(k)
    made = _core.full((n, n), 0, v.dtype, v.device)
    _core.assign(_core.diagonal(made, k, 0, 1), v)
    return made


def diagflat(v: ArrayLike, k: int = 0) -> ndarray:
    """The matrix that has the values of an array on its k-th diagonal.

    >>> np.diagflat([[1, 2]])
    array([[1., 0.],
           [0., 2.]])
    """
    return diag(_core.reshape(as_array(v), (-1,)), k)


def meshgrid(*xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[ndarray]:
    """Coordinate arrays of a grid from the coordinates of its axes.

    >>> np.meshgrid(np.array([1, 2]), np.array([3, 4]))[0]
    array([[1., 2.],
           [1., 2.]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing {indexing!r} is neither 'xy' nor 'ij'")
    n = len(xi)
    grids = []
    for i, x in enumerate(as_arrays(xi)):
        place = 1 - i if indexing == "xy" and i < 2 <= n else i
        grids.append(_core.reshape(x, (1,) * place + (-1,) + (1,) * (n - 1 - place)))
    if not sparse:
        shape = numpy.broadcast_shapes(*(g.shape for g in grids))
        grids = [_core.broadcast_to(g, shape) for g in grids]
    return [_core.astype(g, g.dtype) for g in grids] if copy else grids


if not TYPE_CHECKING:
    # Plain calls go straight to the core.
    zeros, ones, full = map(_core.shortcut, (zeros, ones, full))
    __all__ = public(globals())
