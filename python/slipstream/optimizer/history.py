"""Optimizers that divide each step by what the gradients were so far."""

from __future__ import annotations

from typing import Any

from .. import np
from .._core import ndarray
from .base import Default, Optimizer, State, register, zeros


@register
class AdaGrad(Optimizer):
    """Divides by the root of the sum of all squared gradients (Duchi and others, 2011).

    >>> AdaGrad().epsilon
    1e-06
    """

    def __init__(
        self,
        learning_rate: float = Default(0.01),
        epsilon: float = 1e-6,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.epsilon = epsilon

    def create_state(self, index: Any, weight: ndarray) -> State:
        """The sum of squared gradients."""
        return zeros(weight)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        state += grad * grad
        weight -= lr * grad / (np.sqrt(state) + self.epsilon)


@register
class AdaDelta(Optimizer):
    """Steps of the size of recent steps, divided by the size of recent gradients (Zeiler, 2012).

    >>> AdaDelta().rho
    0.9
    """

    def __init__(
        self,
        learning_rate: float = Default(1.0),
        rho: float = 0.9,
        epsilon: float = 1e-6,
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index: Any, weight: ndarray) -> State:
        """Means of squared gradients and of squared steps."""
        return zeros(weight), zeros(weight)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        squares, steps = state
        squares *= self.rho
        squares += (1 - self.rho) * grad * grad
        change = np.sqrt(steps + self.epsilon) / np.sqrt(squares + self.epsilon) * grad
        steps *= self.rho
        steps += (1 - self.rho) * change * change
        weight -= lr * change


@register
class RMSProp(Optimizer):
    """Divides by the root of the mean of recent squared gradients (Tieleman and Hinton, 2012).

    `centered=True` takes the variance instead of the square and adds momentum (Graves, 2013).

    >>> RMSProp(centered=True).momentum
    0.9
    """

    def __init__(
        self,
        learning_rate: float = Default(0.001),
        rho: float = 0.9,
        momentum: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        use_fused_step: bool = True,
        gamma1: float | None = None,
        gamma2: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.rho = rho if gamma1 is None else gamma1  # gamma1, gamma2: MXNet 1's names
        self.momentum = momentum if gamma2 is None else gamma2
        self.epsilon = epsilon
        self.centered = centered
        self.clip_weights = clip_weights

    def create_state(self, index: Any, weight: ndarray) -> State:
        """The mean square; centered: mean, mean square, momentum."""
        return (zeros(weight), zeros(weight), zeros(weight)) if self.centered else zeros(weight)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        squares = state[1] if self.centered else state
        squares *= self.rho
        squares += (1 - self.rho) * grad * grad
        if self.centered:
            mean, _, momentum = state
            mean *= self.rho
            mean += (1 - self.rho) * grad
            momentum *= self.momentum
            momentum -= lr * grad / np.sqrt(squares - mean * mean + self.epsilon)
            weight += momentum
        else:
            weight -= lr * grad / (np.sqrt(squares) + self.epsilon)
        if self.clip_weights:
            np.clip(weight, -self.clip_weights, self.clip_weights, out=weight)


@register
class Ftrl(Optimizer):
    """Follow the regularised leader, for sparse weights: `lamda1` is the strength of L1 (McMahan and others, 2013).

    >>> Ftrl().lamda1
    0.01
    """

    decays_gradient = False

    def __init__(
        self,
        learning_rate: float = Default(0.1),
        lamda1: float = 0.01,
        beta: float = 1.0,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index: Any, weight: ndarray) -> State:
        """z and n of the paper."""
        return zeros(weight), zeros(weight)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        z, n = state
        before = np.sqrt(n)
        n += grad * grad
        now = np.sqrt(n)
        z += grad - (now - before) / lr * weight
        shrunk = np.sign(z) * np.maximum(np.abs(z) - self.lamda1, 0)
        weight[...] = -shrunk / ((now + self.beta) / lr + wd)


@register
class FTML(Optimizer):
    """Follow the moving leader (Zheng and Kwok, 2017).

    >>> FTML().beta1
    0.6
    """

    def __init__(
        self,
        learning_rate: float = Default(0.0025),
        beta1: float = 0.6,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Any, weight: ndarray) -> State:
        """d, v and z of the paper."""
        return zeros(weight), zeros(weight), zeros(weight)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        d, v, z = state
        v *= self.beta2
        v += (1 - self.beta2) * grad * grad
        now = (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon) * ((1 - self.beta1**t) / lr)
        sigma = now - self.beta1 * d
        d[...] = now
        z *= self.beta1
        z += (1 - self.beta1) * grad - sigma * weight
        weight[...] = -z / now
