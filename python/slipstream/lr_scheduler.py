"""Learning rates that change with the number of updates.

>>> schedule = FactorScheduler(step=10, factor=0.5, base_lr=1.0)
>>> schedule(5), schedule(15), schedule(25)
(1.0, 0.5, 0.25)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

__all__ = ["CosineScheduler", "FactorScheduler", "LRScheduler", "MultiFactorScheduler", "PolyScheduler"]


class LRScheduler:
    """The base: `scheduler(num_update)` is the learning rate. Over `warmup_steps` it rises from `warmup_begin_lr`.

    >>> LRScheduler(base_lr=1.0, warmup_steps=4).get_warmup_lr(1)
    0.25
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        name = type(self).__name__
        if not isinstance(warmup_steps, int) or warmup_steps < 0:
            raise ValueError(f"{name}: warmup_steps must be a whole number of at least 0, not {warmup_steps!r}")
        if warmup_begin_lr > base_lr:
            raise ValueError(f"{name}: warmup_begin_lr={warmup_begin_lr} is above base_lr={base_lr}")
        if warmup_mode not in ("linear", "constant"):
            raise ValueError(f"{name}: warmup_mode {warmup_mode!r} is neither 'linear' nor 'constant'")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_final_lr = base_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """The learning rate during the first `warmup_steps` updates."""
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = (self.warmup_final_lr - self.warmup_begin_lr) * num_update / self.warmup_steps
        return self.warmup_begin_lr + rise

    def __call__(self, num_update: int) -> float:
        """The learning rate of this update."""
        raise NotImplementedError(f"{type(self).__name__} does not say what the learning rate is: define __call__")


class FactorScheduler(LRScheduler):
    """Times `factor` after every `step` updates, never below `stop_factor_lr`.

    >>> FactorScheduler(step=1, factor=0.1, stop_factor_lr=0.05, base_lr=1.0)(4)
    0.05
    """

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError(f"FactorScheduler: step must be at least 1, not {step}")
        if factor > 1:
            raise ValueError(f"FactorScheduler: factor must be at most 1 to make the rate smaller, not {factor}")
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """The learning rate of this update."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr = max(self.base_lr * self.factor, self.stop_factor_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Times `factor` after each of the updates in `step`.

    >>> schedule = MultiFactorScheduler([2, 4], factor=0.5, base_lr=1.0)
    >>> [schedule(n) for n in range(1, 6)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        step: Sequence[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        steps = list(step)
        if not steps or steps[0] < 1 or any(a >= b for a, b in itertools.pairwise(steps)):
            raise ValueError(f"MultiFactorScheduler: step must hold rising numbers of at least 1, not {step}")
        if factor > 1:
            raise ValueError(f"MultiFactorScheduler: factor must be at most 1 to make the rate smaller, not {factor}")
        self.step = steps
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """The learning rate of this update."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
        return self.base_lr


class _Falling(LRScheduler):
    """From the base rate to `final_lr` in `max_update` updates; a subclass gives the curve from 1 to 0."""

    def __init__(self, max_update: int, final_lr: float, base_lr: float, *warmup: int | float | str) -> None:
        super().__init__(base_lr, *warmup)  # type: ignore[arg-type]
        if not isinstance(max_update, int) or max_update < 1:
            raise ValueError(f"{type(self).__name__}: max_update must be a whole number above 0, not {max_update!r}")
        if max_update <= self.warmup_steps:
            raise ValueError(
                f"{type(self).__name__}: max_update={max_update} is not above warmup_steps={self.warmup_steps}"
            )
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - self.warmup_steps

    def _curve(self, done: float) -> float:
        raise NotImplementedError

    def __call__(self, num_update: int) -> float:
        """The learning rate of this update."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            height = self._curve((num_update - self.warmup_steps) / self.max_steps)
            self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * height
        return self.base_lr


class PolyScheduler(_Falling):
    """Falls to `final_lr` in `max_update` updates as `(1 - t) ** pwr`.

    >>> PolyScheduler(max_update=4, base_lr=1.0, pwr=2)(2)
    0.25
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, final_lr, base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _curve(self, done: float) -> float:
        return float((1 - done) ** self.power)


class CosineScheduler(_Falling):
    """Falls to `final_lr` in `max_update` updates as half a wave.

    >>> CosineScheduler(max_update=4, base_lr=1.0)(4)
    0.0
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, final_lr, base_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _curve(self, done: float) -> float:
        return (1 + math.cos(math.pi * done)) / 2
