"""Dense layers, embeddings, dropout and flattening."""

from __future__ import annotations

import math
from typing import Any

from ... import npx
from ..._core import ndarray
from .._sizes import whole
from ..block import HybridBlock
from ..parameter import Parameter
from .activations import Activation

__all__ = ["Dense", "Dropout", "Embedding", "Flatten"]


class Dense(HybridBlock):
    """`activation(x @ weight.T + bias)`; with `flatten`, all axes of x but the first count as one.

    `weight` has the shape (units, in_units); `in_units=0` means that the first batch tells it.

    >>> from slipstream.gluon import nn
    >>> layer = nn.Dense(2, in_units=3, weight_initializer="ones")
    >>> layer.initialize()
    >>> layer(np.ones((1, 3)))
    array([[3., 3.]])
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        owner = type(self).__name__
        self._units = units = whole(units, owner, "units")
        in_units = max(whole(in_units, owner, "in_units", -1), 0)
        self._flatten = flatten
        self.weight = Parameter(
            "weight", shape=(units, in_units or -1), init=weight_initializer, dtype=dtype, allow_deferred_init=True
        )
        self.bias = (
            Parameter("bias", shape=(units,), init=bias_initializer, dtype=dtype, allow_deferred_init=True)
            if use_bias
            else None
        )
        self.act = Activation(activation) if activation is not None else None

    def infer_shape(self, x: ndarray, *args: Any) -> None:
        """The number of inputs is that of the first batch."""
        self.weight.shape = (self._units, math.prod(x.shape[1:]) if self._flatten else x.shape[-1])

    def forward(self, x: ndarray) -> ndarray:
        """The layer's result for a batch."""
        device = x.device
        weight = self.weight.data(device)
        bias = None if self.bias is None else self.bias.data(device)
        out = npx.fully_connected(x, weight, bias, self._units, bias is None, self._flatten)
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        inputs = (self.weight.shape or (0, -1))[1]
        act = "linear" if self.act is None else self.act._act_type
        return f"{type(self).__name__}({inputs if inputs > 0 else None} -> {self._units}, {act})"


class Embedding(HybridBlock):
    """Rows of a table: integers from 0 to input_dim - 1 become vectors of length output_dim.

    Gradients are dense here; `sparse_grad` is accepted and changes nothing.

    >>> from slipstream.gluon import nn
    >>> layer = nn.Embedding(10, 4)
    >>> layer.initialize()
    >>> layer(np.array([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._input_dim = input_dim = whole(input_dim, type(self).__name__, "input_dim")
        self._output_dim = output_dim = whole(output_dim, type(self).__name__, "output_dim")
        self.weight = Parameter(
            "weight", shape=(input_dim, output_dim), init=weight_initializer, dtype=dtype, allow_deferred_init=True
        )

    def forward(self, x: ndarray) -> ndarray:
        """The rows that x names."""
        return npx.embedding(x, self.weight.data(x.device), self._input_dim, self._output_dim)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._input_dim} -> {self._output_dim}, {self.weight.dtype})"


class Dropout(HybridBlock):
    """While training, sets a share `rate` of the elements to 0 and scales the others by 1 / (1 - rate).

    Along `axes` all elements share their fate.

    >>> from slipstream.gluon import nn
    >>> nn.Dropout(0.5)(np.ones(2))  # not training: nothing happens
    array([1., 1.])
    """

    def __init__(self, rate: float, axes: Any = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        try:
            possible = 0 <= rate < 1
        except TypeError:
            raise TypeError(f"Dropout: rate must be a number, not {rate!r}") from None
        if not possible:
            raise ValueError(f"Dropout: rate={rate} is not in [0, 1)")
        self._rate = rate
        self._axes = (axes,) if isinstance(axes, int) else tuple(axes)

    def forward(self, x: ndarray) -> ndarray:
        """The array, with elements dropped if autograd is training."""
        return npx.dropout(x, p=self._rate, axes=self._axes) if self._rate > 0 else x

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Flatten(HybridBlock):
    """Makes all axes but the first one.

    >>> from slipstream.gluon import nn
    >>> nn.Flatten()(np.ones((2, 3, 4))).shape
    (2, 12)
    """

    def forward(self, x: ndarray) -> ndarray:
        """The same elements with shape (batch, others)."""
        return x.reshape((x.shape[0], math.prod(x.shape[1:])))

    def __repr__(self) -> str:
        return type(self).__name__
