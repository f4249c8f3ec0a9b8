"""Elements chosen by arrays: the core calls `getitem` and `setitem` for keys that hold arrays, lists or masks.

Integer arrays: no wait; an index out of range is an error of the result. Masks: the shape of `x[mask]` depends on
values, so it waits for the mask; `x[mask] = number` does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, deliver, from_values, normal_axis, public
from ._manipulation import moveaxis, ravel
from ._types import ArrayLike

_INT = numpy.dtype("int64")


def take(
    a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: ndarray | None = None, mode: str = "raise"
) -> ndarray:
    """Elements along an axis (or of the flattened array) by their numbers.

    A number out of range is an error of the result (mode "raise"), counts round the axis ("wrap"), or is moved to its
    end ("clip").

    >>> np.take(np.array([10, 20, 30]), np.array([2, 0]))
    array([30., 10.])
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"take: mode {mode!r} is none of 'raise', 'wrap', 'clip'")
    a = as_array(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = normal_axis(axis, a.ndim, "take")
    return deliver(_core.take(a, _numbers(indices, a, "take"), axis, mode), out, "take")


def _numbers(key: Any, x: ndarray, function: str) -> ndarray:
    """Indices as integers; floats, as MXNet's programs use them, are cut to integers."""
    if not isinstance(key, ndarray):
        found = numpy.asarray(key)
        if found.size == 0 and found.dtype.kind == "f":
            found = found.astype(_INT)
        if found.dtype.kind not in "iuf":
            raise IndexError(f"{function}: {key!r} holds no indices")
        return _core.array(found.astype(_INT, copy=False), _INT, x.device, None)
    if key.dtype.kind in "cb":
        raise IndexError(f"{function}: an array of {key.dtype} holds no indices")
    return key if key.dtype.kind in "iu" else _core.astype(key, _INT)


# ---- masks


def nonzero(a: ArrayLike) -> tuple[ndarray, ...]:
    """Where the elements are not 0: for each axis an array of indices. Waits, for their number is not known before.

    >>> np.nonzero(np.array([3, 0, 4]))
    (array([0, 2], dtype=int64),)
    """
    a = as_array(a)
    if a.ndim == 0:
        raise ValueError("nonzero: the argument has no dimensions; use np.atleast_1d")
    return tuple(_core.array(found, _INT, a.device, None) for found in a.asnumpy().nonzero())


def flatnonzero(a: ArrayLike) -> ndarray:
    """Where the elements of the flattened array are not 0. Waits.

    >>> np.flatnonzero(np.eye(2))
    array([0, 3], dtype=int64)
    """
    return nonzero(ravel(a))[0]


def argwhere(a: ArrayLike) -> ndarray:
    """Where the elements are not 0: a row of indices for each. Waits.

    >>> np.argwhere(np.eye(2))
    array([[0, 0],
           [1, 1]], dtype=int64)
    """
    a = as_array(a)
    return _core.array(numpy.argwhere(a.asnumpy()), _INT, a.device, None)


def extract(condition: ArrayLike, arr: ArrayLike) -> ndarray:
    """The elements of the flattened array where the condition holds. Waits.

    >>> x = np.arange(4)
    >>> np.extract(x > 1, x)
    array([2., 3.])
    """
    return take(arr, flatnonzero(condition))


def _is_mask(item: Any) -> bool:
    if isinstance(item, (ndarray, numpy.ndarray, numpy.generic)):
        return item.dtype.kind == "b"
    return isinstance(item, bool) or (isinstance(item, list) and bool(item) and numpy.asarray(item).dtype.kind == "b")


def _check_mask(x: ndarray, mask: ndarray, axis: int) -> None:
    if mask.ndim > x.ndim - axis or mask.shape != x.shape[axis : axis + mask.ndim]:
        raise IndexError(f"a mask of shape {mask.shape} does not fit an array of shape {x.shape} at axis {axis}")


def _masked(x: ndarray, mask: Any, axis: int) -> ndarray:
    mask = as_array(mask, x.device)
    _check_mask(x, mask, axis)
    chosen = _core.array(numpy.flatnonzero(mask.asnumpy()), _INT, x.device, None)
    flat = _core.reshape(x, (*x.shape[:axis], mask.size, *x.shape[axis + mask.ndim :]))
    return _core.take(flat, chosen, axis, "raise")


def _fitting(value: Any, x: ndarray) -> ndarray:
    """A value that is written to `x`, in the type of `x`; a number that does not fit the type raises."""
    if isinstance(value, ndarray):
        return _core.astype(value, x.dtype)
    if isinstance(value, (list, tuple, range)) or numpy.ndim(value):
        return from_values(value, x.dtype, x.device, None)
    made = _core.full((), 0, x.dtype, x.device)
    made[...] = value
    return made


def _assign_masked(x: ndarray, mask: Any, value: Any) -> None:
    mask = as_array(mask, x.device)
    _check_mask(x, mask, 0)
    value = _fitting(value, x)
    rest = x.ndim - mask.ndim
    if value.ndim > rest and value.shape[value.ndim - rest - 1] != 1:
        value = _spread(mask, value, rest)
    elif value.ndim > rest:
        value = _core.reshape(value, value.shape[value.ndim - rest :])
    spread = _core.reshape(mask, mask.shape + (1,) * rest)
    _core.where(_core.broadcast_to(spread, x.shape), value, x, out=x)


def _spread(mask: ndarray, value: ndarray, rest: int) -> ndarray:
    """Values for the true elements of a mask, in their order, each at its element's place. Waits for their number."""
    given = value.shape[value.ndim - rest - 1]
    number = int(_core.sum(mask, dtype=_INT))
    if value.ndim != rest + 1 or given != number:
        raise ValueError(f"cannot assign values of shape {value.shape} to the {number} elements of a mask")
    places = _core.cumsum(_core.reshape(mask, (-1,)), 0, _INT) - 1
    values = _core.take(value, places, 0, "clip")
    return _core.reshape(values, mask.shape + value.shape[1:])


# ---- keys


def _shown(key: Any) -> str:
    items = key if isinstance(key, tuple) else (key,)
    shown = [f"array of {i.dtype} {i.shape}" if hasattr(i, "dtype") and hasattr(i, "shape") else repr(i) for i in items]
    return ", ".join(shown)


def _expand(x: ndarray, key: Any) -> list[Any]:
    """The key as a list with one item for each axis (and for each None)."""
    items = list(key) if isinstance(key, tuple) else [key]
    used = 0
    for item in items:
        if item is None or item is Ellipsis:
            continue
        used += numpy.ndim(item) if _is_mask(item) else 1
    if used > x.ndim:
        raise IndexError(f"too many indices: the array has {x.ndim} dimensions, the key [{_shown(key)}] is for {used}")
    full = [slice(None)] * (x.ndim - used)
    at = next((i for i, item in enumerate(items) if item is Ellipsis), None)
    return items + full if at is None else items[:at] + full + items[at + 1 :]


def _is_basic(item: Any) -> bool:
    return item is None or (isinstance(item, (slice, int, numpy.integer)) and not isinstance(item, bool))


def getitem(x: ndarray, key: Any) -> ndarray:
    """`x[key]` for keys with an array, a list or a mask on one axis; other items are integers, slices or None."""
    if isinstance(key, tuple) and not any(_is_mask(i) for i in key):
        key = tuple(_scalar(i) for i in key)
    items = _expand(x, key)
    chosen = [i for i, item in enumerate(items) if not _is_basic(item)]
    if len(chosen) > 1 or (chosen and isinstance(items[chosen[0]], (str, bytes, float, dict))):
        raise IndexError(
            f"indexing by [{_shown(key)}] is not supported: one array at most, and integers, slices and None"
        )
    if not chosen:
        return x[tuple(items)]
    at = chosen[0]
    by = items[at]
    if _is_mask(by):
        if any(isinstance(item, (int, numpy.integer)) for item in items):
            raise IndexError(f"indexing by [{_shown(key)}] is not supported: a mask beside integers")
        mask = as_array(by, x.device)
        basic = x[(*items[:at], *[slice(None)] * mask.ndim, *items[at + 1 :])]
        return _masked(basic, mask, at)
    basic = x[(*items[:at], slice(None), *items[at + 1 :])]
    axis = sum(not isinstance(item, (int, numpy.integer)) for item in items[:at])
    numbers = _numbers(by, x, "index")
    made = _core.take(basic, numbers, axis, "raise")
    if axis and _apart(items, at):  # NumPy puts the chosen axes first where a slice parts them from an integer
        made = moveaxis(made, tuple(range(axis, axis + numbers.ndim)), tuple(range(numbers.ndim)))
    return made


def _scalar(item: Any) -> Any:
    """0-d arrays of integers or floats in a key stand for their number, which is waited for only if it must be."""
    if isinstance(item, ndarray) and item.ndim == 0 and item.dtype.kind == "f":
        return _core.astype(item, _INT)
    return item


def _apart(items: list[Any], at: int) -> bool:
    advanced = [i for i, item in enumerate(items) if i == at or isinstance(item, (int, numpy.integer))]
    return advanced[-1] - advanced[0] + 1 != len(advanced)


def setitem(x: ndarray, key: Any, value: Any) -> None:
    """`x[key] = value` for a mask over the first axes."""
    items = list(key) if isinstance(key, tuple) else [key]
    while len(items) > 1 and (items[-1] is Ellipsis or (isinstance(items[-1], slice) and items[-1] == slice(None))):
        items.pop()
    if len(items) == 1 and _is_mask(items[0]):
        _assign_masked(x, items[0], value)
        return
    raise IndexError(f"assignment to [{_shown(key)}] is not supported: integers, slices, None, or one mask")


def fill_diagonal(a: ndarray, val: ArrayLike, wrap: bool = False) -> None:
    """Writes values to the main diagonal, in place.

    >>> x = np.zeros((2, 2))
    >>> np.fill_diagonal(x, 5)
    >>> x
    array([[5., 0.],
           [0., 5.]])
    """
    if a.ndim != 2 or (wrap and a.shape[0] > a.shape[1]):
        raise ValueError(f"fill_diagonal: the array has shape {a.shape}; it must be a matrix (wrap: not a tall one)")
    view = _core.diagonal(a, 0, 0, 1)
    value = _fitting(val, a)
    if value.ndim:
        value = _core.take(ravel(value), _core.arange(0, 1, view.size, _INT, a.device), 0, "wrap")
    _core.assign(view, value)


if not TYPE_CHECKING:
    __all__ = [name for name in public(globals()) if name not in ("getitem", "setitem")]
