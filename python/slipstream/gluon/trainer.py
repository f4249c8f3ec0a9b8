"""The trainer: after each backward pass it sums gradients over devices and updates parameters."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import kvstore as stores
from .. import optimizer as optimizers
from .._core import ndarray
from ..device import Device
from .parameter import Parameter

__all__ = ["Trainer"]

Due = list[tuple[int, Parameter, list[ndarray]]]  # parameters to update: number, and replicas with fresh gradients
Work = dict[Device, tuple[list[int], list[ndarray], list[ndarray]]]  # numbers, gradients and values of parameters


class Trainer:
    """Applies an optimizer to parameters.

    `params` is what `collect_params()` gives, or a list of parameters; `optimizer` an optimizer or the name of one,
    with `optimizer_params` as its arguments. Where parameters are on several devices, gradients are summed by a
    `kvstore` ('device', 'local', or an object) and every device updates its own copy; with `update_on_kvstore=True`
    the store keeps the parameters, updates them and hands them out. Nothing here waits: the update of a parameter runs
    as soon as its gradient is there.

    >>> from slipstream import autograd, gluon
    >>> net = gluon.nn.Dense(1, in_units=2, weight_initializer="ones")
    >>> net.initialize()
    >>> trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    >>> with autograd.record():
    ...     loss = net(np.ones((4, 2))).sum()
    >>> loss.backward()
    >>> trainer.step(batch_size=4)
    >>> net.weight.data()
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        params: Mapping[str, Parameter] | Iterable[Parameter],
        optimizer: str | optimizers.Optimizer,
        optimizer_params: dict[str, Any] | None = None,
        kvstore: str | stores.KVStoreBase | None = "device",
        compression_params: dict[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        if compression_params:
            raise NotImplementedError(f"Trainer: compression_params={compression_params}: gradients are not compressed")
        self._params = _parameters(params)
        self._last_first = list(enumerate(self._params))[::-1]
        self._optimizer = self._make_optimizer(optimizer, optimizer_params)
        self._scale = float(self._optimizer.rescale_grad)
        if isinstance(kvstore, str):
            kvstore = stores.create(kvstore)
        if update_on_kvstore and not (kvstore and kvstore.is_capable(stores.KVStoreBase.OPTIMIZER)):
            raise ValueError(f"Trainer: update_on_kvstore=True needs a store that can update, not {kvstore}")
        self._kvstore = kvstore
        self._update_on_kvstore = bool(update_on_kvstore)
        self._stored: dict[int, list[tuple[ndarray, int]]] = {}  # the arrays that the store wrote last, and when
        self._updaters: dict[Device | str, optimizers.Updater] = {}  # "file": states read, and on no device yet
        self._places: dict[int, list[Device]] = {}  # where states and counts of parameters are
        if self._update_on_kvstore:
            kvstore.set_optimizer(self._optimizer)  # type: ignore[union-attr]

    def _make_optimizer(
        self, optimizer: str | optimizers.Optimizer, options: dict[str, Any] | None
    ) -> optimizers.Optimizer:
        if not isinstance(options, (Mapping, type(None))):
            raise TypeError(f"Trainer: optimizer_params must be a dict of the optimizer's arguments, not {options!r}")
        by_index = dict(enumerate(self._params))
        if not isinstance(optimizer, optimizers.Optimizer):
            return optimizers.create(optimizer, param_dict=by_index, **(options or {}))
        if options:
            raise ValueError(f"Trainer: optimizer_params={options} go with an optimizer's name, not with {optimizer}")
        optimizer.param_dict = by_index
        return optimizer

    # ---- the learning rate

    @property
    def optimizer(self) -> optimizers.Optimizer:
        """The optimizer."""
        return self._optimizer

    @property
    def learning_rate(self) -> float:
        """The learning rate now."""
        return self._optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, lr: float) -> None:
        self.set_learning_rate(lr)

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate; with a scheduler, that one decides."""
        self._optimizer.set_learning_rate(lr)

    # ---- a step

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Sums gradients over devices, divides them by `batch_size`, and updates all parameters.

        Call it after `backward()`, once for all devices' batches. A gradient that no backward pass has written since
        the last step is an error, unless `ignore_stale_grad`: then it is no part of the sum, and a parameter that has
        no other gradient stays as it is.
        """
        with self._rescaled("step", batch_size):
            due = self._due(ignore_stale_grad)
            if self._update_on_kvstore:
                self._update_in_store(due)
            else:
                self._reduce_gradients(due)
                self._update(due)

    def allreduce_grads(self) -> None:
        """Sums gradients over devices: every device has the sum then. For programs that look at the sum, before
        `update`."""
        self._check_local("allreduce_grads")
        fresh = [(i, p, [data for data in p.list_data() if data._fresh_grad]) for i, p in self._trained()]
        self._reduce_gradients([(i, p, of or p.list_data()) for i, p, of in fresh])  # gradients may be set by hand

    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Updates all parameters with gradients that are summed already: `step` without its `allreduce_grads`."""
        self._check_local("update")
        with self._rescaled("update", batch_size):
            self._update(self._due(ignore_stale_grad))

    @contextlib.contextmanager
    def _rescaled(self, function: str, batch_size: Any) -> Iterator[None]:
        """The optimizer's factor is its own again after the step: another trainer may get the optimizer, or a file."""
        try:
            self._optimizer.rescale_grad = self._scale / batch_size
        except (TypeError, ZeroDivisionError):
            raise ValueError(f"{function}: batch_size must be a number other than 0, not {batch_size!r}") from None
        try:
            yield
        finally:
            self._optimizer.rescale_grad = self._scale

    def _check_local(self, function: str) -> None:
        if self._update_on_kvstore:
            raise ValueError(f"{function}: the store updates the parameters; use step(), or update_on_kvstore=False")

    def _trained(self) -> list[tuple[int, Parameter]]:
        """Parameters with gradients, the last ones first: a backward pass finishes them first."""
        return [(i, p) for i, p in self._last_first if p.grad_req != "null"]

    def _due(self, ignore_stale: bool) -> Due:
        """What is to be updated. Raises for a stale gradient before anything is changed."""
        due: Due = []
        for i, parameter in self._trained():
            fresh = []
            for device, data in parameter.items():
                if data._fresh_grad:
                    fresh.append(data)
                elif not ignore_stale:
                    raise UserWarning(
                        f"step: the gradient of parameter '{parameter.prefixed_name}' on {device} was not written by a "
                        "backward pass since the last step: is the parameter part of the loss? ignore_stale_grad=True "
                        "leaves such gradients out"
                    )
            if fresh:
                due.append((i, parameter, fresh))
        return due

    def _reduce_gradients(self, due: Due) -> None:
        if self._kvstore is None:
            return
        for i, parameter, fresh in due:
            if len(parameter.items()) > 1:
                self._kvstore.pushpull(i, [data.grad for data in fresh], out=parameter.list_grad(), priority=-i)

    def _update(self, due: Due) -> None:
        work: Work = {}
        places = self._places
        summed = self._kvstore is not None  # then stale replicas have the sum of the others
        for i, parameter, _ in due:
            replicas = parameter._data or {}
            if places.get(i) != [*replicas]:
                self._follow(i, [*replicas])
            for device, data in replicas.items():
                if summed or data._fresh_grad:
                    group = work.get(device)
                    if group is None:
                        group = work[device] = ([], [], [])
                    group[0].append(i)
                    group[1].append(data.grad)
                    group[2].append(data)
        for device, (indices, grads, weights) in work.items():
            for weight in weights:
                weight._fresh_grad = False
            self._updaters[device](indices, grads, weights)

    def _follow(self, i: int, devices: list[Device]) -> None:
        """State and count of a parameter go with it to other devices: those of the replica with most updates."""
        for device in devices:
            if device not in self._updaters:
                self._updaters[device] = optimizers.get_updater(self._optimizer)
        known = [device for device, updater in self._updaters.items() if i in updater.states]
        ahead = max(known, key=lambda device: self._optimizer._counts_on(device).get(i, 0), default=None)
        for device in devices:
            if device not in known:
                self._optimizer._begin_count(i, device)
                if ahead is not None:
                    self._updaters[device].take_over(i, self._updaters[ahead], device)
        for left in set(known) - set(devices):
            self._updaters[left].forget(i)
        self._places[i] = devices

    def _update_in_store(self, due: Due) -> None:
        store: Any = self._kvstore
        for i, parameter, fresh in due:
            arrays = parameter.list_data()
            known = {id(array): version for array, version in self._stored.get(i, ())}
            changed = [array for array in arrays if known.get(id(array)) != array._version]
            if not known:
                store.broadcast(i, arrays[0], arrays)
            elif changed:  # what the program has written since goes before what is stored
                getattr(store, "_renew", store.broadcast)(i, changed[0], arrays)
            store.push(i, [data.grad for data in fresh], priority=-i)
            for data in arrays:
                data._fresh_grad = False
            store.pull(i, out=arrays, priority=-i)
            self._stored[i] = [(array, array._version) for array in arrays]

    # ---- states

    def save_states(self, fname: str | os.PathLike[str]) -> None:
        """Writes the optimizer's states and settings to a file. Waits for them."""
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)  # type: ignore[union-attr]
            return
        whole = optimizers.get_updater(self._optimizer)
        for updater in self._updaters.values():
            whole.states = updater.states | whole.states  # replicas have equal states
        states = whole.get_states(dump_optimizer=True)
        with open(fname, "wb") as file:
            file.write(states)

    def load_states(self, fname: str | os.PathLike[str]) -> None:
        """Reads what `save_states` wrote. Nothing in the file is run."""
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)  # type: ignore[union-attr]
            updater = getattr(self._kvstore, "_updater", None)
            if isinstance(updater, optimizers.Updater):  # the file may be of another kind of optimizer
                self._optimizer = updater.optimizer
            return
        with open(fname, "rb") as file:
            states = file.read()
        loaded = optimizers.get_updater(self._optimizer)
        loaded.set_states(states)
        self._optimizer = loaded.optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))
        self._updaters, self._places = {"file": loaded}, {}


def _parameters(params: Any) -> list[Parameter]:
    """The parameters, each once."""
    values = list(params.values()) if isinstance(params, Mapping) else params
    if not isinstance(values, (list, tuple)) or not values:
        raise ValueError(f"Trainer: expected a list or dict of parameters, got {type(params).__name__} {params!r:.60}")
    for value in values:
        if not isinstance(value, Parameter):
            raise ValueError(f"Trainer: expected parameters, but found {type(value).__name__} {value!r:.60}")
    return list({id(p): p for p in values}.values())
