"""Stochastic gradient descent and its next of kin."""

from __future__ import annotations

import math
from typing import Any

from .. import np
from .._core import ndarray
from .base import Default, Optimizer, State, register, zeros


class _Momentum(Optimizer):
    """Optimizers that remember one array of momentum, if they have any."""

    def __init__(self, learning_rate: float, momentum: float, use_fused_step: bool, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.momentum = momentum

    def create_state(self, index: Any, weight: ndarray) -> State:
        """The momentum."""
        return zeros(weight) if self.momentum else None

    def _move(self, weight: ndarray, change: ndarray, momentum: ndarray | None) -> None:
        """`weight -= change`, through the momentum."""
        if momentum is None:
            weight -= change
        else:
            momentum *= self.momentum
            momentum -= change
            weight += momentum


@register
class SGD(_Momentum):
    """`weight -= lr * grad`, with momentum if it is not 0.

    >>> SGD(learning_rate=0.1, momentum=0.9).momentum
    0.9
    """

    def __init__(
        self,
        learning_rate: float = Default(0.1),
        momentum: float = 0.0,
        lazy_update: bool = False,
        multi_precision: bool = False,
        use_fused_step: bool = True,
        aggregate_num: int = 1,
        **kwargs: Any,
    ) -> None:
        kwargs.update(multi_precision=multi_precision, aggregate_num=aggregate_num)
        super().__init__(learning_rate, momentum, use_fused_step, **kwargs)
        self.lazy_update = lazy_update

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        self._move(weight, lr * grad, state)


@register
class NAG(_Momentum):
    """Nesterov's accelerated gradient: SGD that looks ahead along its momentum.

    >>> NAG().momentum
    0.9
    """

    def __init__(
        self,
        learning_rate: float = Default(0.1),
        momentum: float = 0.9,
        multi_precision: bool = False,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, momentum, use_fused_step, multi_precision=multi_precision, **kwargs)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        if state is None:
            weight -= lr * grad
        else:
            change = lr * grad
            state *= self.momentum
            state -= change
            weight += self.momentum * state - change


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics: half a step of SGD and noise of the size of the step.

    >>> SGLD().learning_rate
    0.1
    """

    def __init__(self, learning_rate: float = Default(0.1), use_fused_step: bool = False, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        noise = np.random.normal(0, math.sqrt(lr), size=weight.shape, device=weight.device).astype(weight.dtype)
        weight += noise - (lr / 2) * grad


@register
class Signum(_Momentum):
    """Steps of one size in the direction of the gradient's (or the momentum's) sign.

    `wd_lh` is weight decay that does not pass through the gradient (Loshchilov and Hutter).

    >>> Signum().wd_lh
    0.0
    """

    decays_gradient = False

    def __init__(
        self,
        learning_rate: float = Default(0.01),
        momentum: float = 0.9,
        wd_lh: float = 0.0,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, momentum, use_fused_step, **kwargs)
        self.wd_lh = wd_lh

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        if state is None:
            weight *= 1 - lr * (wd + self.wd_lh)
            weight -= lr * np.sign(grad)
        else:
            state *= self.momentum
            state -= (1 - self.momentum) * (grad + wd * weight)
            weight *= 1 - lr * self.wd_lh
            weight += lr * np.sign(state)


@register
class DCASGD(_Momentum):
    """Delay-compensated asynchronous SGD: makes up for gradients of weights that have moved on.

    >>> DCASGD().lamda
    0.04
    """

    def __init__(
        self,
        learning_rate: float = Default(0.1),
        momentum: float = 0.0,
        lamda: float = 0.04,
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, momentum, use_fused_step, **kwargs)
        self.lamda = lamda

    def create_state(self, index: Any, weight: ndarray) -> State:
        """The momentum and the last weight."""
        return super().create_state(index, weight), weight.copy()

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        momentum, previous = state
        change = lr * (grad + self.lamda * grad * grad * (weight - previous))
        previous[...] = weight
        self._move(weight, change, momentum)


@register
class LARS(_Momentum):
    """Layer-wise adaptive rate scaling: steps in proportion to each weight's own size.

    >>> LARS().eta
    0.001
    """

    def __init__(
        self,
        learning_rate: float = Default(0.1),
        momentum: float = 0.0,
        eta: float = 0.001,
        epsilon: float = 1e-8,
        lazy_update: bool = False,
        use_fused_step: bool = True,
        aggregate_num: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, momentum, use_fused_step, aggregate_num=aggregate_num, **kwargs)
        self.eta = eta
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def _ratio(self, weight: ndarray, grad: ndarray, wd: float) -> Any:
        """The factor of this layer's learning rate, as an array; `grad` is not prepared."""
        size, slope = np.sqrt((weight * weight).sum()), np.sqrt((grad * grad).sum()) * abs(self.rescale_grad)
        ratio = self.eta * size / (slope + wd * size + self.epsilon)
        return np.where((size > 0) & (slope > 0), ratio, 1.0)

    def step(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        """One update of many parameters; scales and shifts (gamma, beta, bias) keep their learning rate."""
        self._update_count(list(indices))
        rates, decays = self._get_lrs(indices), self._get_wds(indices)
        for i, weight, grad, state, lr, wd in zip(indices, weights, grads, states, rates, decays, strict=True):
            plain = self.idx2name.get(i, str(i)).endswith(("gamma", "beta", "bias"))
            rate = lr if plain else lr * self._ratio(weight, grad, wd).astype(weight.dtype)
            self._move(weight, rate * self._prepared(grad, weight, wd), state)
