"""The base of all optimizers: learning rates, weight decay, counts of updates, and the loop over parameters."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy

from .. import np
from .._core import ndarray
from .._registry import Registry
from ..lr_scheduler import LRScheduler
from ..np._dtype import bfloat16

State = Any  # None, an array, or a tuple of states
_NARROW = (numpy.dtype(numpy.float16), numpy.dtype(bfloat16))


class Default(float):
    """A learning rate that is a default: a scheduler's own goes before it, one that the user gives does not."""


def _of_lists(update: Callable[..., None]) -> Callable[..., None]:
    """A method of updates that takes lists, too, if it is of MXNet 1's form: `(self, index, weight, grad, state)`."""
    names = [p.name for p in inspect.signature(update).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD][1:]
    if not names or names[0].endswith("s"):  # MXNet 2's form begins with `indices`
        return update

    @functools.wraps(update)
    def each(self: Optimizer, *args: Any, **named: Any) -> None:
        if not args or not isinstance(args[0], (list, tuple)):
            update(self, *args, **named)
            return
        for one in zip(*args, strict=True):
            update(self, *one, **named)

    return each


class Optimizer:
    """The base of all optimizers. A subclass gives `create_state` and `update_one`, or `step` for all at once.

    MXNet 1's form does too: `update(self, index, weight, grad, state)`, which counts with `_update_count(index)`.

    The gradient is multiplied by `rescale_grad`, then clipped to `clip_gradient`; then `wd` times the weight is added.

    >>> class Plain(Optimizer):
    ...     def update_one(self, weight, grad, state, lr, wd, t):
    ...         weight -= lr * grad
    >>> w = np.ones(2)
    >>> Plain(learning_rate=0.5).update([0], [w], [w], [None])
    >>> w
    array([0.5, 0.5])
    """

    opt_registry: dict[str, type[Optimizer]]
    decays_gradient = True  # weight decay is part of the gradient; otherwise update_one sees to it
    clips_decay = False  # the clipping sees the decay too

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in vars(cls).keys() & {"update", "update_multi_precision"}:
            setattr(cls, name, _of_lists(vars(cls)[name]))

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: Mapping[Any, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: LRScheduler | Callable[[int], float] | None = None,
        sym: Any = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: Mapping[Any, Any] | None = None,
        aggregate_num: int | None = None,
        use_fused_step: bool | None = None,
        **unknown: Any,
    ) -> None:
        name = type(self).__name__
        if unknown:
            raise TypeError(f"{name}: unknown arguments {', '.join(sorted(unknown))}")
        if sym is not None:
            raise TypeError(f"{name}: sym is MXNet 1's symbol; use lr_mult and wd_mult of the parameters")
        if lr_scheduler is not None and not callable(lr_scheduler):
            raise TypeError(f"{name}: lr_scheduler={lr_scheduler!r} is no function of the number of updates")
        scheduled: Any = lr_scheduler if hasattr(lr_scheduler, "base_lr") else None  # any function may decide alone
        if scheduled is not None and learning_rate is not None and not isinstance(learning_rate, Default):
            if scheduled.base_lr != learning_rate:
                warnings.warn(
                    f"{name}: learning_rate={learning_rate} takes the place of the scheduler's {scheduled.base_lr}",
                    stacklevel=3,
                )
            scheduled.base_lr = learning_rate
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        try:
            self.lr = 0.01 if learning_rate is None else float(learning_rate)
        except (TypeError, ValueError):
            raise TypeError(f"{name}: learning_rate must be a number, not {learning_rate!r}") from None
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 1 if aggregate_num is None else aggregate_num
        self.use_fused_step = bool(use_fused_step)
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self.idx2name = dict(param_idx2name or {})
        self.param_dict = dict(param_dict or {})
        self.lr_mult: dict[Any, float] = {}
        self.wd_mult: dict[Any, float] = {}
        # Each device counts its own updates: replicas of one parameter are one step.
        self._go_on_from([])

    # ---- by name

    @staticmethod
    def register(klass: Any) -> Any:
        """Lets an optimizer be created by its name."""
        return _registry.register(klass)

    @staticmethod
    def create_optimizer(name: Any, **kwargs: Any) -> Optimizer:
        """An optimizer by its name."""
        return _registry.create(name, **kwargs)

    # ---- learning rate and weight decay

    @property
    def learning_rate(self) -> float:
        """The learning rate now, before the parameters' own factors."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate; with a scheduler, that one decides."""
        if self.lr_scheduler is not None:
            raise UserWarning("set_learning_rate: the learning rate comes from lr_scheduler; change that one")
        self.lr = float(lr)

    def set_lr_mult(self, args_lr_mult: Mapping[Any, float]) -> None:
        """Factors of the learning rate by the index or the name of a parameter."""
        self.lr_mult = dict(args_lr_mult)

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Factors of the weight decay by the index or the name of a parameter."""
        self.wd_mult = dict(args_wd_mult)

    def _factor(self, index: Any, kind: str, by_key: dict[Any, float]) -> float:
        if index in self.param_dict:
            return float(getattr(self.param_dict[index], kind))
        if index in by_key:
            return by_key[index]
        return by_key.get(self.idx2name.get(index), 1.0)

    def _get_lrs(self, indices: Sequence[Any]) -> list[float]:
        lr = self.learning_rate
        return [lr * self._factor(index, "lr_mult", self.lr_mult) for index in indices]

    def _get_wds(self, indices: Sequence[Any]) -> list[float]:
        return [self.wd * self._factor(index, "wd_mult", self.wd_mult) for index in indices]

    def _get_lr(self, index: Any) -> float:
        return self._get_lrs([index])[0]

    def _get_wd(self, index: Any) -> float:
        return self._get_wds([index])[0]

    # ---- counts

    def _counts_on(self, device: Any) -> dict[Any, int]:
        counts = self._all_index_update_counts.get(device)
        if counts is None:
            counts = self._all_index_update_counts[device] = self._all_index_update_counts["none"].copy()
        return counts

    def _begin_count(self, index: Any, device: Any) -> None:
        """A device begins with the largest count that there is, as a replica that was there before."""
        known = [of[index] for of in self._all_index_update_counts.values() if index in of]
        if known:
            self._counts_on(device)[index] = max(known)

    def _set_current_device(self, device: Any) -> None:
        self._index_update_count = self._counts_on(device)

    _set_current_context = _set_current_device  # MXNet 1's name

    def _go_on_from(self, counts: Iterable[Mapping[Any, int]]) -> None:
        """Every device goes on from the largest of these counts, whichever device they are of."""
        largest: dict[Any, int] = {}
        for of in counts:
            for index, count in of.items():
                largest[index] = max(count, largest.get(index, count))
        self._all_index_update_counts: dict[Any, dict[Any, int]] = {"none": largest}  # before a device is said
        self._set_current_device("none")

    def _update_count(self, index: Any) -> None:
        indices = index if isinstance(index, (list, tuple)) else [index]
        for i in indices:
            count = self._index_update_count.get(i, self.begin_num_update) + 1
            self._index_update_count[i] = count
            self.num_update = max(self.num_update, count)

    # ---- states and updates

    def create_state(self, index: Any, weight: ndarray) -> State:
        """What the optimizer remembers of a parameter: None, an array, or a tuple of arrays."""
        return None

    def _has_master(self, weight: ndarray) -> bool:
        return self.multi_precision and weight.dtype in _NARROW

    def create_state_multi_precision(self, index: Any, weight: ndarray) -> State:
        """As `create_state`; with `multi_precision` a weight of 16 bits has a copy of 32 bits that is updated."""
        if self._has_master(weight):
            master = weight.astype(numpy.float32)
            return master, self.create_state(index, master)
        return self.create_state(index, weight)

    def _renew_master(self, weight: ndarray, state: State) -> None:
        """Where a narrow weight is not what its wide copy rounds to, the program has set it: the copy goes on there."""
        if self._has_master(weight):
            master = state[0]
            master[...] = np.where(weight == master.astype(weight.dtype), master, weight)

    def _prepared(self, grad: ndarray, weight: ndarray, wd: float) -> ndarray:
        """The gradient rescaled, clipped, and with the weight's decay."""
        if self.rescale_grad != 1:
            grad = grad * self.rescale_grad
        if wd and self.decays_gradient and self.clips_decay:
            grad = grad + wd * weight
        if self.clip_gradient is not None and self.clip_gradient >= 0:
            grad = np.clip(grad, -self.clip_gradient, self.clip_gradient)
        if wd and self.decays_gradient and not self.clips_decay:
            grad = grad + wd * weight
        return grad

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """Moves one weight in place by its prepared gradient; `t` counts its updates from 1."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to update: define update_one or step")

    def step(
        self, indices: Sequence[Any], weights: Sequence[ndarray], grads: Sequence[ndarray], states: Sequence[State]
    ) -> None:
        """One update of many parameters."""
        self._update_count(indices if isinstance(indices, (list, tuple)) else list(indices))
        rates, decays = self._get_lrs(indices), self._get_wds(indices)
        counts, update, prepared = self._index_update_count, self.update_one, self._prepared
        for i, weight, grad, state, lr, wd in zip(indices, weights, grads, states, rates, decays, strict=True):
            update(weight, prepared(grad, weight, wd), state, lr, wd, counts[i])

    def fused_step(
        self, indices: Sequence[Any], weights: Sequence[ndarray], grads: Sequence[ndarray], states: Sequence[State]
    ) -> None:
        """The same as `step`: the planner fuses."""
        self.step(indices, weights, grads, states)

    def update(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        """One update of parameters, all given as lists (or each as one)."""
        if not isinstance(indices, (list, tuple)):
            indices, weights, grads, states = [indices], [weights], [grads], [states]
        step = self.fused_step if self.use_fused_step else self.step
        step(indices, weights, grads, states)

    def update_multi_precision(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        """As `update`, with states of `create_state_multi_precision`."""
        if not isinstance(indices, (list, tuple)):
            indices, weights, grads, states = [indices], [weights], [grads], [states]
        if not self.multi_precision:
            self.update(indices, weights, grads, states)
            return
        wide = [self._has_master(weight) for weight in weights]
        masters = [s[0] if m else w for m, w, s in zip(wide, weights, states, strict=True)]
        self.update(
            indices,
            masters,
            [g.astype(numpy.float32) if m else g for m, g in zip(wide, grads, strict=True)],
            [s[1] if m else s for m, s in zip(wide, states, strict=True)],
        )
        for m, weight, master in zip(wide, weights, masters, strict=True):
            if m:
                weight[...] = master

    def __repr__(self) -> str:
        return f"{type(self).__name__}(learning_rate={self.learning_rate})"


_registry: Registry[Optimizer] = Registry(Optimizer, "optimizer")
Optimizer.opt_registry = _registry.classes


def register(klass: Any) -> Any:
    """Lets an optimizer be created by its name.

    >>> @register
    ... class Still(Optimizer):
    ...     def update_one(self, weight, grad, state, lr, wd, t):
    ...         pass
    >>> type(create("still")).__name__
    'Still'
    """
    return _registry.register(klass)


def create(name: Any, **kwargs: Any) -> Optimizer:
    """An optimizer by its name, in upper or lower case.

    >>> create("adam", learning_rate=0.1)
    Adam(learning_rate=0.1)
    """
    return _registry.create(name, **kwargs)


def zeros(weight: ndarray) -> ndarray:
    """A state that begins at 0."""
    return np.zeros(weight.shape, dtype=weight.dtype, device=weight.device)


@register
class Test(Optimizer):
    """Adds the gradient to the weight: for tests.

    >>> w = np.ones(1)
    >>> test = create("test", rescale_grad=2)
    >>> test.update(0, w, np.ones(1), test.create_state(0, w))
    >>> w
    array([3.])
    """

    def create_state(self, index: Any, weight: ndarray) -> State:
        """The last weight."""
        return zeros(weight)

    def update_one(self, weight: ndarray, grad: ndarray, state: State, lr: float, wd: float, t: int) -> None:
        """Adds the gradient."""
        weight += grad
        state[...] = weight
