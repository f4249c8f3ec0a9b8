"""Adam and its next of kin: optimizers with a mean of the gradients and one of their squares."""

from __future__ import annotations

import math
from typing import Any

from .. import np
from .._core import ndarray
from .base import Default, Optimizer, State, register, zeros


class _Moments(Optimizer):
    """Optimizers that remember the mean of recent gradients and the mean of their squares."""

    def __init__(
        self,
        learning_rate: float,
        beta1: float,
        beta2: float,
        epsilon: float,
        use_fused_step: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, use_fused_step=use_fused_step, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Any, weight: ndarray) -> State:
        """The two means."""
        return zeros(weight), zeros(weight)

    def _moments(self, grad: ndarray, state: State) -> tuple[ndarray, ndarray]:
        """The two means, with this gradient."""
        mean, squares = state
        mean *= self.beta1
        mean += (1 - self.beta1) * grad
        squares *= self.beta2
        squares += (1 - self.beta2) * grad * grad
        return mean, squares

    def _corrected(self, lr: float, t: int) -> float:
        """The learning rate that makes up for means that started at 0."""
        return lr * math.sqrt(1 - self.beta2**t) / (1 - self.beta1**t)


@register
class Adam(_Moments):
    """Steps of the mean gradient over the root of the mean square (Kingma and Ba, 2015).

    >>> Adam().beta2
    0.999
    """

    def __init__(
        self,
        learning_rate: float = Default(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = False,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_fused_step, **kwargs)
        self.lazy_update = lazy_update

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        mean, squares = self._moments(grad, state)
        weight -= self._corrected(lr, t) * mean / (np.sqrt(squares) + self.epsilon)


@register
class AdamW(_Moments):
    """Adam whose weight decay does not pass through the gradient (Loshchilov and Hutter, 2019).

    As in the paper, a weight decays by `lr * wd` of itself, before the step.

    >>> AdamW(wd=0.01).wd
    0.01
    """

    decays_gradient = False

    def __init__(
        self,
        learning_rate: float = Default(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        correct_bias: bool = True,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_fused_step, **kwargs)
        self.correct_bias = correct_bias

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        mean, squares = self._moments(grad, state)
        if wd:
            weight *= 1 - lr * wd
        rate = self._corrected(lr, t) if self.correct_bias else lr
        weight -= rate * mean / (np.sqrt(squares) + self.epsilon)


@register
class AdaBelief(_Moments):
    """Adam that divides by how far gradients are from their mean (Zhuang and others, 2020).

    >>> AdaBelief().epsilon
    1e-06
    """

    clips_decay = True

    def __init__(
        self,
        learning_rate: float = Default(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        correct_bias: bool = True,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_fused_step, **kwargs)
        self.correct_bias = correct_bias

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        mean, spread = state
        mean *= self.beta1
        mean += (1 - self.beta1) * grad
        away = grad - mean
        spread *= self.beta2
        spread += (1 - self.beta2) * away * away + self.epsilon
        rate = self._corrected(lr, t) if self.correct_bias else lr
        weight -= rate * mean / (np.sqrt(spread) + self.epsilon)


@register
class Adamax(_Moments):
    """Adam with the largest recent gradient instead of the mean square.

    >>> Adamax().learning_rate
    0.002
    """

    def __init__(
        self,
        learning_rate: float = Default(0.002),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_fused_step, **kwargs)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        mean, largest = state
        mean *= self.beta1
        mean += (1 - self.beta1) * grad
        np.maximum(self.beta2 * largest, np.abs(grad), out=largest)
        weight -= lr / (1 - self.beta1**t) * mean / (largest + self.epsilon)


@register
class Nadam(_Moments):
    """Adam with Nesterov's momentum (Dozat, 2016).

    >>> Nadam().schedule_decay
    0.004
    """

    def __init__(
        self,
        learning_rate: float = Default(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        use_fused_step: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_fused_step, **kwargs)
        self.schedule_decay = schedule_decay
        self._products = [1.0]  # of the momenta of the first t steps

    def _momentum(self, t: int) -> float:
        return self.beta1 * (1 - 0.5 * math.pow(0.96, t * self.schedule_decay))

    def _product(self, t: int) -> float:
        """The momenta of steps 1 to t, multiplied: the same for every parameter."""
        while len(self._products) <= t:
            self._products.append(self._products[-1] * self._momentum(len(self._products)))
        return self._products[t]

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        mean, squares = self._moments(grad, state)
        of_mean = self._momentum(t + 1) / (1 - self._product(t + 1))
        of_grad = (1 - self._momentum(t)) / (1 - self._product(t))
        ahead = of_mean * mean + of_grad * grad
        weight -= lr * ahead / (np.sqrt(squares / (1 - self.beta2**t)) + self.epsilon)


class _Layerwise(_Moments):
    """Adam with steps in proportion to the size of each weight."""

    decays_gradient = False

    def __init__(
        self,
        learning_rate: float,
        beta1: float,
        beta2: float,
        epsilon: float,
        lower_bound: float | None,
        upper_bound: float | None,
        aggregate_num: int,
        use_fused_step: bool,
        **kwargs: Any,
    ) -> None:
        kwargs["aggregate_num"] = aggregate_num
        super().__init__(learning_rate, beta1, beta2, epsilon, use_fused_step, **kwargs)
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def _size(self, weight: ndarray) -> ndarray:
        size = np.sqrt((weight * weight).sum())
        if self.lower_bound is None and self.upper_bound is None:
            return size
        return np.clip(size, self.lower_bound, self.upper_bound)

    def _trusted(self, size: ndarray, step: ndarray) -> ndarray:
        """The step, as long as the weight; as it is where one of them is 0."""
        length = np.sqrt((step * step).sum())
        ratio: ndarray = np.where((size > 0) & (length > 0), size / length, 1.0).astype(step.dtype)
        return ratio * step


@register
class LAMB(_Layerwise):
    """Adam for large batches: every layer moves in proportion to its size (You and others, 2020).

    >>> LAMB().bias_correction
    True
    """

    def __init__(
        self,
        learning_rate: float = Default(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        bias_correction: bool = True,
        aggregate_num: int = 4,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, aggregate_num, use_fused_step, **kwargs
        )
        self.bias_correction = bias_correction

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        mean, squares = self._moments(grad, state)
        of_mean, of_squares = (1 - self.beta1**t, 1 - self.beta2**t) if self.bias_correction else (1, 1)
        step = mean / of_mean / (np.sqrt(squares / of_squares) + self.epsilon) + wd * weight
        weight -= lr * self._trusted(self._size(weight), step)


@register
class LANS(_Layerwise):
    """LAMB with normalised gradients and Nesterov's momentum (Zheng and others, 2020).

    >>> LANS().aggregate_num
    4
    """

    def __init__(
        self,
        learning_rate: float = Default(0.001),
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        aggregate_num: int = 4,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, aggregate_num, use_fused_step, **kwargs
        )

    def _prepared(self, grad: ndarray, weight: ndarray, wd: float) -> ndarray:
        grad = grad * self.rescale_grad
        length = np.sqrt((grad * grad).sum())
        grad = grad / np.where(length > 0, length, 1.0).astype(grad.dtype)
        return grad if self.clip_gradient is None else np.clip(grad, -self.clip_gradient, self.clip_gradient)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """One step."""
        mean, squares = self._moments(grad, state)
        root = np.sqrt(squares / (1 - self.beta2**t)) + self.epsilon
        size = self._size(weight)
        weight -= lr * self.beta1 * self._trusted(size, mean / (1 - self.beta1**t) / root + wd * weight)
        weight -= lr * (1 - self.beta1) * self._trusted(size, grad / root + wd * weight)
