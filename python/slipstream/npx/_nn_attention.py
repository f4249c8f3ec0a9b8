"""Products of attention over heads whose queries, keys and values lie interleaved in one projection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .. import _core
from .._core import ndarray
from ..np._arguments import as_array, public
from ..np._types import ArrayLike


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


def interleaved_matmul_selfatt_qk(queries_keys_values: ArrayLike, heads: int) -> ndarray:
    """Scaled products of queries and keys, (batch * heads, length, length), of an interleaved projection.

    The projection is (length, batch, heads * 3 * size), with a query, a key and a value for each head in turn.

    >>> npx.interleaved_matmul_selfatt_qk(np.ones((2, 1, 3 * 4)), heads=1)
    array([[[2., 2.],
            [2., 2.]]])
    """
    parts = _parts(queries_keys_values, heads, 3, "interleaved_matmul_selfatt_qk")
    return _scores(parts[0], parts[1])


def interleaved_matmul_selfatt_valatt(queries_keys_values: ArrayLike, attention: ArrayLike, heads: int) -> ndarray:
    """Values weighted by attention, (length, batch, heads * size), of an interleaved projection.

    >>> x = np.ones((2, 1, 3 * 4))
    >>> npx.interleaved_matmul_selfatt_valatt(x, np.ones((1, 2, 2)) / 2, heads=1).shape
    (2, 1, 4)
    """
    values = _parts(queries_keys_values, heads, 3, "interleaved_matmul_selfatt_valatt")[2]
    return _context("interleaved_matmul_selfatt_valatt", attention, values, heads)


def interleaved_matmul_encdec_qk(queries: ArrayLike, keys_values: ArrayLike, heads: int) -> ndarray:
    """Scaled products of queries with the keys of another sequence, (batch * heads, length, other length).

    >>> npx.interleaved_matmul_encdec_qk(np.ones((1, 1, 4)), np.ones((2, 1, 2 * 4)), heads=1)
    array([[[2., 2.]]])
    """
    q = _parts(queries, heads, 1, "interleaved_matmul_encdec_qk")[0]
    return _scores(q, _parts(keys_values, heads, 2, "interleaved_matmul_encdec_qk")[0])


def interleaved_matmul_encdec_valatt(keys_values: ArrayLike, attention: ArrayLike, heads: int) -> ndarray:
    """Values of another sequence weighted by attention, (length, batch, heads * size).

    >>> npx.interleaved_matmul_encdec_valatt(np.ones((2, 1, 2 * 4)), np.ones((1, 1, 2)) / 2, heads=1).shape
    (1, 1, 4)
    """
    values = _parts(keys_values, heads, 2, "interleaved_matmul_encdec_valatt")[1]
    return _context("interleaved_matmul_encdec_valatt", attention, values, heads)


if not TYPE_CHECKING:
    __all__ = public(globals())
