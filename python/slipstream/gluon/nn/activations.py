"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from ... import npx
from ..._core import ndarray
from ...npx._nn import _activation
from ..block import HybridBlock
from ..parameter import Parameter

__all__ = ["ELU", "GELU", "SELU", "Activation", "LeakyReLU", "PReLU", "SiLU", "Swish"]


class Activation(HybridBlock):
    """An activation function by its name: relu, sigmoid, log_sigmoid, tanh, softrelu, softsign, mish, gelu, silu.

    >>> from slipstream.gluon import nn
    >>> nn.Activation("relu")(np.array([-1.0, 1.0]))
    array([0., 1.])
    """

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._function = _activation(activation)
        self._act_type = activation  # _alias uses it
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def forward(self, x: ndarray) -> ndarray:
        """The function of every element."""
        return self._function(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"


class LeakyReLU(HybridBlock):
    """`x` where it is positive, `alpha * x` elsewhere.

    >>> from slipstream.gluon import nn
    >>> nn.LeakyReLU(0.25)(np.array([-4.0, 4.0]))
    array([-1.,  4.])
    """

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if alpha < 0:
            raise ValueError(f"LeakyReLU: the slope alpha={alpha} is negative")
        self._alpha = alpha

    def forward(self, x: ndarray) -> ndarray:
        """The function of every element."""
        return npx.leaky_relu(x, act_type="leaky", slope=self._alpha)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """`x` where it is positive, `alpha * x` elsewhere, with a learnt alpha: one, or one a channel (axis 1).

    >>> from slipstream.gluon import nn
    >>> layer = nn.PReLU()
    >>> layer.initialize()
    >>> layer(np.array([[-4.0, 4.0]]))
    array([[-1.,  4.]])
    """

    def __init__(self, alpha_initializer: Any = None, in_channels: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if alpha_initializer is None:
            from ... import initializer

            alpha_initializer = initializer.Constant(0.25)
        self.alpha = Parameter("alpha", shape=(in_channels,), init=alpha_initializer)

    def forward(self, x: ndarray) -> ndarray:
        """The function of every element."""
        alpha = self.alpha.data(x.device)
        if x.ndim > 1 and alpha.size > 1:
            alpha = alpha.reshape((-1,) + (1,) * (x.ndim - 2))
        return npx.leaky_relu(x, alpha, act_type="prelu")


class ELU(HybridBlock):
    """`x` where it is positive, `alpha * (exp(x) - 1)` elsewhere.

    >>> from slipstream.gluon import nn
    >>> nn.ELU()(np.array([0.0, 4.0]))
    array([0., 4.])
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def forward(self, x: ndarray) -> ndarray:
        """The function of every element."""
        return npx.leaky_relu(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """The scaled ELU that keeps mean and variance.

    >>> from slipstream.gluon import nn
    >>> nn.SELU()(np.array([0.0, 1.0]))
    array([0.      , 1.050701])
    """

    def forward(self, x: ndarray) -> ndarray:
        """The function of every element."""
        return npx.leaky_relu(x, act_type="selu")


class GELU(HybridBlock):
    """`x * Φ(x)`, exactly ('erf') or by the formula with tanh ('tanh').

    >>> from slipstream.gluon import nn
    >>> nn.GELU()(np.array([0.0, 1.0]))
    array([0.       , 0.8413447])
    """

    def __init__(self, approximation: str = "erf", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if approximation not in ("erf", "tanh"):
            raise ValueError(f"GELU: approximation={approximation!r} is none of 'erf', 'tanh'")
        self._approximation = approximation

    def forward(self, x: ndarray) -> ndarray:
        """The function of every element."""
        if self._approximation == "erf":
            return npx.gelu(x)
        return 0.5 * x * (1 + (0.7978845608028654 * (x + 0.044715 * x * x * x)).tanh())


class SiLU(HybridBlock):
    """`x * sigmoid(x)`.

    >>> from slipstream.gluon import nn
    >>> nn.SiLU()(np.zeros(1))
    array([0.])
    """

    def forward(self, x: ndarray) -> ndarray:
        """The function of every element."""
        return npx.silu(x)


class Swish(HybridBlock):
    """`x * sigmoid(beta * x)`.

    >>> from slipstream.gluon import nn
    >>> nn.Swish(2.0)(np.zeros(1))
    array([0.])
    """

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def forward(self, x: ndarray) -> ndarray:
        """The function of every element."""
        return x * npx.sigmoid(self._beta * x)
