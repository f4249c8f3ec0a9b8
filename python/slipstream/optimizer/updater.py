"""An optimizer with the states of its parameters: what a trainer or a key-value store calls."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy

from .. import np
from .._core import ndarray
from ..np._dtype import bfloat16
from . import _settings
from .base import Optimizer, State


class Updater:
    """Calls an optimizer, and keeps a state for each parameter.

    >>> from slipstream import optimizer
    >>> updater = get_updater(optimizer.create("sgd", learning_rate=0.5))
    >>> w = np.ones(2)
    >>> updater(0, np.ones(2), w)
    >>> w
    array([0.5, 0.5])
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, State] = {}
        self.states_synced: dict[Any, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 1
        self._written: dict[Any, tuple[ndarray, int]] = {}  # weights with wide copies, as the last update left them

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Updates one weight, or many given as lists."""
        if isinstance(index, (list, tuple)):
            indices, grads, weights = index, grad, weight
        else:
            indices, grads, weights = [index], [grad], [weight]
        if not weights:
            return
        optimizer, states, synced = self.optimizer, self.states, self.states_synced
        optimizer._set_current_device(weights[0].device)
        for i, w in zip(indices, weights, strict=True):
            if i not in states:
                states[i] = optimizer.create_state_multi_precision(i, w)
                synced[i] = True
            elif not synced[i]:
                states[i] = self.sync_state_context(states[i], w.device)
                synced[i] = True
        if not optimizer.multi_precision:
            optimizer.update_multi_precision(indices, weights, grads, [states[i] for i in indices])
            return
        for i, w in zip(indices, weights, strict=True):
            before = self._written.get(i)
            if before is None or before[0] is not w or before[1] != w._version:
                optimizer._renew_master(w, states[i])
        optimizer.update_multi_precision(indices, weights, grads, [states[i] for i in indices])
        self._written.update((i, (w, w._version)) for i, w in zip(indices, weights, strict=True))

    def take_over(self, index: Any, other: Updater, device: Any) -> None:
        """Goes on with another updater's state of a parameter, on a device."""
        self.states[index] = self.sync_state_context(other.states[index], device)
        self.states_synced[index] = True

    def forget(self, index: Any) -> None:
        """Drops the state of a parameter."""
        del self.states[index], self.states_synced[index]
        self._written.pop(index, None)

    def sync_state_context(self, state: State, context: Any) -> State:
        """The state on the device of its parameter."""
        if isinstance(state, ndarray):
            return state.as_in_device(context)
        if isinstance(state, (tuple, list)):
            return tuple(self.sync_state_context(part, context) for part in state)
        if isinstance(state, dict):
            return {name: self.sync_state_context(part, context) for name, part in state.items()}
        return state

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states as bytes, with the optimizer's settings and counts if wanted. Waits for them.

        >>> from slipstream import optimizer
        >>> updater = get_updater(optimizer.create("sgd", momentum=0.9))
        >>> updater(0, np.ones(2), np.ones(2))
        >>> other = get_updater(optimizer.create("sgd", momentum=0.9))
        >>> other.set_states(updater.get_states())
        >>> other.states[0]
        array([-0.1, -0.1])
        """
        arrays: list[numpy.ndarray[Any, Any]] = []
        trees = [[index, _pack(state, arrays)] for index, state in self.states.items()]
        head = {"states": trees, "bfloat16": [i for i, a in enumerate(arrays) if a.dtype == bfloat16]}
        if dump_optimizer:
            head["optimizer"] = _settings.written(self.optimizer)
        plain = [a.view(numpy.uint16) if a.dtype == bfloat16 else a for a in arrays]
        text = numpy.frombuffer(json.dumps(head).encode(), numpy.uint8)
        to = io.BytesIO()
        numpy.savez(to, head=text, **{f"a{i}": a for i, a in enumerate(plain)})  # type: ignore[arg-type]
        return to.getvalue()

    def set_states(self, states: bytes) -> None:
        """Takes the states of `get_states`, and the optimizer's settings if they are there. Nothing in them is run."""
        try:
            with numpy.load(io.BytesIO(states), allow_pickle=False) as file:
                head = json.loads(file["head"].tobytes())
                arrays = [file[f"a{i}"] for i in range(len(file.files) - 1)]
            narrow = set(head["bfloat16"])
            arrays = [a.view(bfloat16) if i in narrow else a for i, a in enumerate(arrays)]
            found = {_key(index): _unpack(tree, arrays) for index, tree in head["states"]}
            settings = head.get("optimizer")
        except (ValueError, KeyError, TypeError, IndexError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"set_states: these are no states of an optimizer ({error})") from None
        self.states = found
        self.states_synced = dict.fromkeys(found, False)
        self._written.clear()
        if settings is not None:
            self.optimizer = _settings.read(settings, self.optimizer)


def _key(index: Any) -> Any:
    return tuple(index) if isinstance(index, list) else index


def _pack(state: State, arrays: list[numpy.ndarray[Any, Any]]) -> Any:
    """A state as nested lists of places in a list of arrays."""
    if state is None:
        return None
    if isinstance(state, ndarray):
        arrays.append(state.asnumpy())
        return len(arrays) - 1
    if isinstance(state, (tuple, list)):
        return [_pack(part, arrays) for part in state]
    raise TypeError(f"get_states: a state of type {type(state).__name__} cannot be kept in a file")


def _unpack(tree: Any, arrays: list[numpy.ndarray[Any, Any]]) -> State:
    if tree is None:
        return None
    if isinstance(tree, list):
        return tuple(_unpack(part, arrays) for part in tree)
    if not isinstance(tree, int) or tree < 0:
        raise ValueError(f"{tree!r} is no place of an array")
    return np.array(arrays[tree], dtype=arrays[tree].dtype)


def get_updater(optimizer: Optimizer) -> Updater:
    """The function `updater(index, grad, weight)` of an optimizer.

    >>> from slipstream import optimizer
    >>> isinstance(get_updater(optimizer.create("sgd")), Updater)
    True
    """
    return Updater(optimizer)
