"""Products of attention: over heads that lie interleaved in one projection, and in windows that slide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..np._arguments import as_array, public
from ..np._types import ArrayLike
from ._out import with_out


def _parts(x: ArrayLike, heads: int, parts: int, function: str) -> ndarray:
    """(length, batch, heads * parts * size) as (parts, batch * heads, length, size)."""
    a = as_array(x)
    if a.ndim != 3 or heads < 1 or a.shape[2] % (heads * parts):
        raise ValueError(f"{function}: shape {a.shape} must be (length, batch, {parts} * heads * size), heads={heads}")
    length, batch, wide = a.shape
    split = _core.reshape(a, (length, batch, heads, parts, wide // (heads * parts)))
    return _core.reshape(_core.transpose(split, (3, 1, 2, 0, 4)), (parts, batch * heads, length, -1))


def _scores(queries: ndarray, keys: ndarray) -> ndarray:
    return _core.matmul(queries * (1 / math.sqrt(queries.shape[-1])), _core.swapaxes(keys, 1, 2))


def _context(function: str, attention: ArrayLike, values: ndarray, heads: int) -> ndarray:
    """(batch * heads, length, other) times values, as (length, batch, heads * size)."""
    weights = as_array(attention, values.device)
    if weights.ndim != 3 or weights.shape[0] != values.shape[0] or weights.shape[2] != values.shape[1]:
        raise ValueError(f"{function}: attention of shape {weights.shape} does not fit values of shape {values.shape}")
    made = _core.matmul(weights, values)
    batch, length, size = made.shape[0] // heads, made.shape[1], made.shape[2]
    made = _core.transpose(_core.reshape(made, (batch, heads, length, size)), (2, 0, 1, 3))
    return _core.reshape(made, (length, batch, heads * size))


@with_out
def interleaved_matmul_selfatt_qk(queries_keys_values: ArrayLike, heads: int) -> ndarray:
    """Scaled products of queries and keys, (batch * heads, length, length), of an interleaved projection.

    The projection is (length, batch, heads * 3 * size), with a query, a key and a value for each head in turn.

    >>> npx.interleaved_matmul_selfatt_qk(np.ones((2, 1, 3 * 4)), heads=1)
    array([[[2., 2.],
            [2., 2.]]])
    """
    parts = _parts(queries_keys_values, heads, 3, "interleaved_matmul_selfatt_qk")
    return _scores(parts[0], parts[1])


@with_out
def interleaved_matmul_selfatt_valatt(queries_keys_values: ArrayLike, attention: ArrayLike, heads: int) -> ndarray:
    """Values weighted by attention, (length, batch, heads * size), of an interleaved projection.

    >>> x = np.ones((2, 1, 3 * 4))
    >>> npx.interleaved_matmul_selfatt_valatt(x, np.ones((1, 2, 2)) / 2, heads=1).shape
    (2, 1, 4)
    """
    values = _parts(queries_keys_values, heads, 3, "interleaved_matmul_selfatt_valatt")[2]
    return _context("interleaved_matmul_selfatt_valatt", attention, values, heads)


@with_out
def interleaved_matmul_encdec_qk(queries: ArrayLike, keys_values: ArrayLike, heads: int) -> ndarray:
    """Scaled products of queries with the keys of another sequence, (batch * heads, length, other length).

    >>> npx.interleaved_matmul_encdec_qk(np.ones((1, 1, 4)), np.ones((2, 1, 2 * 4)), heads=1)
    array([[[2., 2.]]])
    """
    q = _parts(queries, heads, 1, "interleaved_matmul_encdec_qk")[0]
    return _scores(q, _parts(keys_values, heads, 2, "interleaved_matmul_encdec_qk")[0])


@with_out
def interleaved_matmul_encdec_valatt(keys_values: ArrayLike, attention: ArrayLike, heads: int) -> ndarray:
    """Values of another sequence weighted by attention, (length, batch, heads * size).

    >>> npx.interleaved_matmul_encdec_valatt(np.ones((2, 1, 2 * 4)), np.ones((1, 1, 2)) / 2, heads=1).shape
    (1, 1, 4)
    """
    values = _parts(keys_values, heads, 2, "interleaved_matmul_encdec_valatt")[1]
    return _context("interleaved_matmul_encdec_valatt", attention, values, heads)


# ---- attention in a window that slides along the sequence, with gaps that differ by head


def _window(shape: tuple[int, ...], dilation: ArrayLike, w: int, symmetric: bool, device: Any) -> ndarray:
    """Which place each step sees through its window: (length, heads, window), some outside of the sequence."""
    length, heads = shape[1:3]
    gaps = as_array(dilation, device)
    if gaps.shape != (heads,):
        raise ValueError(f"sliding window: dilation has shape {gaps.shape}, but there are {heads} heads")
    kind = numpy.dtype("int64")
    steps = _core.arange(-w, 1, 2 * w + 1 if symmetric else w + 1, kind, device)
    moved = _core.reshape(_core.astype(gaps, kind), (heads, 1)) * steps
    return _core.reshape(_core.arange(0, 1, length, kind, device), (length, 1, 1)) + moved


def _inside(places: ndarray, length: int) -> ndarray:
    return _core.logical_and(_core.greater_equal(places, 0), _core.less(places, length))


def _seen(x: ndarray, places: ndarray) -> ndarray:
    """What each step sees of x (batch, length, heads, size): (batch, length, heads, window, size), 0 outside."""
    batch, length, heads, size = x.shape
    kind = numpy.dtype("int64")
    first = _core.reshape(_core.arange(0, length, batch, kind, x.device), (batch, 1, 1, 1))
    head = _core.reshape(_core.arange(0, 1, heads, kind, x.device), (heads, 1))
    at = (first + _core.clip(places, 0, length - 1)) * heads + head
    found = _core.take(_core.reshape(x, (batch * length * heads, size)), at, 0, "clip")
    return _core.where(_core.expand_dims(_inside(places, length), [3]), found, 0)


def _check_heads(function: str, x: ndarray) -> None:
    if x.ndim != 4:
        raise ValueError(f"{function}: shape {x.shape} must be (batch, length, heads, size)")


@with_out
def sldwin_atten_score(
    query: ArrayLike, key: ArrayLike, dilation: ArrayLike, w: int = 1, symmetric: bool = True
) -> ndarray:
    """Products of queries with the keys within `w` places (before them, if not `symmetric`), `dilation` apart.

    Arrays are (batch, length, heads, size), dilations (heads,); gives (batch, length, heads, window), 0 outside.

    >>> x = np.ones((1, 3, 1, 2))
    >>> npx.sldwin_atten_score(x, x, np.array([1]), w=1)[0, :, 0]
    array([[0., 2., 2.],
           [2., 2., 2.],
           [2., 2., 0.]])
    """
    q = as_array(query)
    k = as_array(key, q.device)
    _check_heads("sldwin_atten_score", q)
    if q.shape != k.shape:
        raise ValueError(f"sldwin_atten_score: query and key have shapes {q.shape} and {k.shape}")
    seen = _seen(k, _window(q.shape, dilation, w, symmetric, q.device))
    return _core.sum(_core.expand_dims(q, [3]) * seen, axis=4)


@with_out
def sldwin_atten_mask_like(
    score: ArrayLike, dilation: ArrayLike, valid_length: ArrayLike, w: int = 1, symmetric: bool = True
) -> ndarray:
    """1 where a score of `sldwin_atten_score` is of two places within the sequence's valid length (batch,), else 0.

    >>> npx.sldwin_atten_mask_like(np.zeros((1, 2, 1, 3)), np.array([1]), np.array([2]), w=1)[0, :, 0]
    array([[0., 1., 1.],
           [1., 1., 0.]])
    """
    s = as_array(score)
    _check_heads("sldwin_atten_mask_like", s)
    places = _window(s.shape, dilation, w, symmetric, s.device)
    ends = _core.reshape(as_array(valid_length, s.device), (-1, 1, 1, 1))
    steps = _core.reshape(_core.arange(0, 1, s.shape[1], numpy.dtype("int64"), s.device), (s.shape[1], 1, 1))
    valid = _core.logical_and(_core.less(places, ends), _core.less(steps, ends))
    kept = _core.logical_and(_core.greater_equal(places, 0), valid)
    return _core.astype(_core.broadcast_to(kept, s.shape), s.dtype)


@with_out
def sldwin_atten_context(
    score: ArrayLike, value: ArrayLike, dilation: ArrayLike, w: int = 1, symmetric: bool = True
) -> ndarray:
    """Values within the window weighted by scores, (batch, length, heads, size).

    >>> values = np.ones((1, 3, 1, 2))
    >>> npx.sldwin_atten_context(np.ones((1, 3, 1, 3)), values, np.array([1]), w=1)[0, :, 0, 0]
    array([2., 3., 2.])
    """
    s = as_array(score)
    v = as_array(value, s.device)
    _check_heads("sldwin_atten_context", v)
    seen = _seen(v, _window(v.shape, dilation, w, symmetric, v.device))
    if s.shape != seen.shape[:-1]:
        raise ValueError(f"sldwin_atten_context: score has shape {s.shape}, not {seen.shape[:-1]}")
    return _core.sum(_core.expand_dims(s, [4]) * seen, axis=3)


if not TYPE_CHECKING:
    __all__ = public(globals())
