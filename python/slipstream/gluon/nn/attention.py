"""Attention: weighted means of values, whose weights are how well keys fit queries."""

from __future__ import annotations

import math
from typing import Any

from ... import np, npx
from ..._core import ndarray
from ..block import HybridBlock
from .basic import Dense

__all__ = ["DotProductAttention", "MultiHeadAttention", "scaled_dot_product_attention"]


def _allowed(
    queries: int, keys: int, ndim: int, mask: ndarray | None, valid_length: ndarray | None, causal: bool, device: Any
) -> ndarray | None:
    """Which keys a query may look at, to be broadcast against scores of `ndim` axes; None: all."""
    found = None if mask is None else mask.astype("bool")
    places = np.arange(keys, dtype="int64", device=device)
    if valid_length is not None:
        if valid_length.ndim not in (1, 2):
            raise ValueError(f"attention: valid_length is {valid_length.shape}, not (batch,) or (batch, queries)")
        rows = 1 if valid_length.ndim == 1 else valid_length.shape[1]
        lengths = valid_length.reshape((valid_length.shape[0],) + (1,) * (ndim - 3) + (rows, 1))
        short = places < lengths
        found = short if found is None else found & short
    if causal:
        earlier = places <= np.arange(queries, dtype="int64", device=device).reshape((-1, 1)) + (keys - queries)
        found = earlier if found is None else found & earlier
    return found


def _weights(scores: ndarray, allowed: ndarray | None) -> ndarray:
    """The softmax of scores over the keys that may be looked at; a query without any gets zeros."""
    if allowed is None:
        return npx.softmax(scores, axis=-1)
    lowest = -1e4 if scores.dtype.itemsize == 2 else -1e30
    weights: ndarray = np.where(allowed, npx.softmax(np.where(allowed, scores, lowest), axis=-1), 0.0)
    return weights


def scaled_dot_product_attention(
    query: ndarray,
    key: ndarray,
    value: ndarray,
    mask: ndarray | None = None,
    valid_length: ndarray | None = None,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
) -> ndarray:
    """`softmax(query @ key.T * scale) @ value` over the last two axes, (..., places, features).

    `mask` is true (or not 0) where a query may look at a key; `valid_length`, of shape (batch,) or (batch, queries),
    is how many keys count; `causal` hides later keys from a query. `scale` is 1 / sqrt(features) by default, and
    `dropout` drops weights while training.

    >>> from slipstream.gluon import nn
    >>> x = np.ones((1, 2, 4))
    >>> nn.scaled_dot_product_attention(x, x, x).shape
    (1, 2, 4)
    """
    flat = min(query.ndim, key.ndim, value.ndim) < 2
    if flat or query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"scaled_dot_product_attention: query {query.shape}, key {key.shape} and value {value.shape} do not fit"
        )
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = np.matmul(query * scale, key.swapaxes(-1, -2))
    allowed = _allowed(query.shape[-2], key.shape[-2], scores.ndim, mask, valid_length, causal, query.device)
    weights = _weights(scores, allowed)
    if dropout > 0:
        weights = npx.dropout(weights, p=dropout)
    return np.matmul(weights, value)


class DotProductAttention(HybridBlock):
    """Scaled dot-product attention as a layer; see `scaled_dot_product_attention`.

    >>> from slipstream.gluon import nn
    >>> nn.DotProductAttention()(np.ones((1, 2, 4)), np.ones((1, 3, 4)), np.ones((1, 3, 5))).shape
    (1, 2, 5)
    """

    def __init__(self, dropout: float = 0.0, causal: bool = False, scale: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._causal = causal
        self._scale = scale
        self._rate = dropout

    def forward(
        self,
        query: ndarray,
        key: ndarray,
        value: ndarray,
        valid_length: ndarray | None = None,
        mask: ndarray | None = None,
    ) -> ndarray:
        """The weighted means of the values."""
        return scaled_dot_product_attention(
            query, key, value, mask, valid_length, self._causal, self._scale, self._rate
        )


class MultiHeadAttention(HybridBlock):
    """Attention of several heads: each looks at its own projection of queries, keys and values.

    Arrays are (batch, places, features); the result has `units` features. Without `key` it is self-attention, without
    `value` the keys are the values. `valid_length`, `mask` and `causal` are as in `scaled_dot_product_attention`; a
    mask is (batch, queries, keys), or (batch, heads, queries, keys).

    >>> from slipstream.gluon import nn
    >>> layer = nn.MultiHeadAttention(8, num_heads=2)
    >>> layer.initialize()
    >>> layer(np.ones((3, 5, 8))).shape
    (3, 5, 8)
    """

    def __init__(
        self,
        units: int,
        num_heads: int,
        dropout: float = 0.0,
        use_bias: bool = True,
        causal: bool = False,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if units % num_heads:
            raise ValueError(f"MultiHeadAttention: units={units} do not split into {num_heads} heads")
        self._units = units
        self._num_heads = num_heads
        self._causal = causal
        self._rate = dropout

        def projection(inputs: int) -> Dense:
            return Dense(
                units,
                use_bias=use_bias,
                flatten=False,
                dtype=dtype,
                weight_initializer=weight_initializer,
                bias_initializer=bias_initializer,
                in_units=inputs,
            )

        self.query_proj = projection(in_units)
        self.key_proj = projection(in_units)
        self.value_proj = projection(in_units)
        self.out_proj = projection(units)

    def _split(self, x: ndarray) -> ndarray:
        """(batch, places, units) as (batch, heads, places, units / heads)."""
        batch, places, units = x.shape
        return x.reshape((batch, places, self._num_heads, units // self._num_heads)).transpose((0, 2, 1, 3))

    def forward(
        self,
        query: ndarray,
        key: ndarray | None = None,
        value: ndarray | None = None,
        valid_length: ndarray | None = None,
        mask: ndarray | None = None,
    ) -> ndarray:
        """The heads' weighted means, side by side, and a dense layer of them."""
        key = query if key is None else key
        value = key if value is None else value
        if not query.ndim == key.ndim == value.ndim == 3:
            shapes = f"{query.shape}, {key.shape} and {value.shape}"
            raise ValueError(f"MultiHeadAttention: shapes {shapes} are not all (batch, places, features)")
        if mask is not None and mask.ndim == 3:
            mask = np.expand_dims(mask, 1)
        out = scaled_dot_product_attention(
            self._split(self.query_proj(query)),
            self._split(self.key_proj(key)),
            self._split(self.value_proj(value)),
            mask,
            valid_length,
            self._causal,
            dropout=self._rate,
        )
        batch, _, places, _ = out.shape
        return self.out_proj(out.transpose((0, 2, 1, 3)).reshape((batch, places, self._units)))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(units={self._units}, heads={self._num_heads}, dropout={self._rate})"
