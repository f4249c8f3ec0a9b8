"""Key-value stores: sums of gradients over devices, and parameters that follow them.

`push` adds up what several devices give, `pull` hands the result out; both only record work, so a key starts as soon
as its values are there. Kinds: `"local"` adds on `cpu(0)`, `"device"` on the device of the first value; the sums are
the same.

>>> from slipstream import kvstore, np, npx
>>> store = kvstore.create("local")
>>> store.init("w", np.zeros(2))
>>> store.push("w", [np.ones(2, device=npx.cpu(i)) for i in range(3)])
>>> out = np.empty(2)
>>> store.pull("w", out=out)
>>> out
array([3., 3.])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ._core import ndarray
from ._registry import Registry
from .device import cpu
from .optimizer import Optimizer, Updater, get_updater

__all__ = ["BytePS", "Horovod", "KVStore", "KVStoreBase", "KVStoreServer", "create"]

Values = ndarray | Sequence[ndarray]


class KVStoreBase:
    """What a trainer asks of a store. One's own kind derives from it and is registered.

    >>> @KVStoreBase.register
    ... class Mine(KVStore):
    ...     pass
    >>> type(create("mine")).__name__
    'Mine'
    """

    OPTIMIZER = "optimizer"
    kv_registry: dict[str, type[KVStoreBase]]

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """The value, on every device of `out`."""
        raise NotImplementedError(f"{type(self).__name__} has no broadcast")

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """The sum of the values, on every device of `out`."""
        raise NotImplementedError(f"{type(self).__name__} has no pushpull")

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do something: `"optimizer"`, updating the parameters itself."""
        raise NotImplementedError

    def set_optimizer(self, optimizer: Optimizer) -> None:
        """Has the store update the parameters itself: only stores that are capable of it do."""
        raise NotImplementedError(f"{type(self).__name__} has no set_optimizer: it does not update parameters")

    def save_optimizer_states(self, fname: str | os.PathLike[str], dump_optimizer: bool = False) -> None:
        """Writes the optimizer's states to a file."""
        raise NotImplementedError(f"{type(self).__name__} has no save_optimizer_states: it does not update parameters")

    def load_optimizer_states(self, fname: str | os.PathLike[str]) -> None:
        """Reads what `save_optimizer_states` wrote."""
        raise NotImplementedError(f"{type(self).__name__} has no load_optimizer_states: it does not update parameters")

    @property
    def type(self) -> str:
        """The kind's name."""
        return type(self).__name__.lower()

    @property
    def rank(self) -> int:
        """The number of this process."""
        return 0

    @property
    def num_workers(self) -> int:
        """How many processes there are."""
        return 1

    @staticmethod
    def register(klass: Any) -> Any:
        """Lets `create` make a store of this class by its name."""
        return _registry.register(klass)


_registry: Registry[KVStoreBase] = Registry(KVStoreBase, "kvstore")
KVStoreBase.kv_registry = _registry.classes


def _pairs(key: Any, value: Any, function: str) -> Iterator[tuple[Any, list[ndarray]]]:
    """Keys with their arrays: one key, or a list of keys with a list of arrays (or of lists of them)."""
    if not isinstance(key, (list, tuple)):
        yield key, [value] if isinstance(value, ndarray) else list(value)
        return
    if isinstance(value, ndarray) or len(key) != len(value):
        many = "one array" if isinstance(value, ndarray) else f"{len(value)} values"
        raise ValueError(f"{function}: {len(key)} keys, but {many}")
    for one, of_one in zip(key, value, strict=True):
        yield one, [of_one] if isinstance(of_one, ndarray) else list(of_one)


class KVStore(KVStoreBase):
    """A store in this process. `create("local")` and `create("device")` make one.

    >>> create("device").type
    'device'
    """

    def __init__(self, kind: str = "local") -> None:
        self._kind = kind
        self._values: dict[Any, ndarray] = {}
        self._updater: Callable[..., None] | None = None

    @property
    def type(self) -> str:
        """The kind's name, as `create` was given it."""
        return self._kind

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do something: `"optimizer"`, updating the parameters itself.

        >>> KVStore.is_capable("optimizer")
        True
        """
        if capability.lower() != KVStoreBase.OPTIMIZER:
            raise ValueError(f"is_capable: {capability!r} is not known; ask for {KVStoreBase.OPTIMIZER!r}")
        return True

    # ---- values

    def _stored(self, key: Any, function: str) -> ndarray:
        if key not in self._values:
            raise ValueError(f"{function}: key {key!r} was never set; call init first")
        return self._values[key]

    def _sum(self, key: Any, values: list[ndarray], function: str) -> ndarray:
        """The sum of the values, a new array. They are added in the order of their devices, not of their arrival."""
        if not values or any(v.shape != values[0].shape or v.dtype != values[0].dtype for v in values):
            given = ", ".join(f"{v.dtype}{v.shape}" for v in values)
            raise ValueError(f"{function}: key {key!r} needs values of one shape and dtype, got {given or 'none'}")
        values = sorted(values, key=lambda v: (v.device.device_type, v.device.device_id))
        place = values[0].device if self._kind.endswith("device") else cpu(0)
        moved = [v if v.device == place else v.copyto(place) for v in values]
        if len(moved) == 1:
            return moved[0].copy() if moved[0] is values[0] else moved[0]
        total = moved[0] + moved[1]
        for value in moved[2:]:
            total += value
        return total

    def _hand_out(self, value: ndarray, outs: list[ndarray]) -> None:
        for out in outs:
            value.copyto(out)

    def init(self, key: Any, value: Any) -> None:
        """The first value of a key, or of each of a list of keys."""
        for k, values in _pairs(key, value, "init"):
            if k in self._values:
                raise ValueError(f"init: key {k!r} is set already")
            self._values[k] = self._sum(k, values[:1], "init")

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Adds up the values of a key. The sum takes the place of what is stored, or is given to the updater.

        `priority` is not needed: work starts as soon as its values are there.
        """
        for k, values in _pairs(key, value, "push"):
            stored, total = self._stored(k, "push"), self._sum(k, values, "push")
            if total.shape != stored.shape:
                raise ValueError(f"push: key {k!r} has shape {stored.shape}, but the values have {total.shape}")
            if self._updater is None:
                self._values[k] = total
            else:
                self._updater(k, total if total.device == stored.device else total.copyto(stored.device), stored)

    def pull(self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Writes what is stored into `out`: an array, or one on each device."""
        if out is None:
            raise TypeError("pull: out is missing; it says where to write")
        for k, outs in _pairs(key, out, "pull"):
            self._hand_out(self._stored(k, "pull"), outs)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """`push`, then `pull` into `out`; without `out` the values themselves become their sum.

        Without an updater nothing is stored, so the key need not be known.
        """
        out = value if out is None else out
        if self._updater is not None:
            self.push(key, value, priority)
            self.pull(key, out, priority)
            return
        sums: list[tuple[ndarray, list[ndarray]]] = []  # all of them first: an array may be among values of other keys
        for (k, values), (_, outs) in zip(_pairs(key, value, "pushpull"), _pairs(key, out, "pushpull"), strict=True):
            if len(values) == 1 and len(outs) == 1 and values[0] is outs[0]:
                continue
            sums.append((self._sum(k, values, "pushpull"), outs))
        for total, outs in sums:
            self._hand_out(total, outs)

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Sets a key and writes its value into `out`: an array, or one on each device."""
        self.init(key, value)
        self.pull(key, out=out, priority=priority)

    def _renew(self, key: Any, value: ndarray, out: list[ndarray]) -> None:
        """Sets a key anew, and writes its value into `out`. It stays on its device, where its updater's state is."""
        self._values[key] = value.as_in_device(self._stored(key, "broadcast").device).copy()
        self.pull(key, out=out)

    def row_sparse_pull(self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None) -> None:
        """Rows of sparse arrays, which do not exist here: raises."""
        raise NotImplementedError("row_sparse_pull: there are no sparse arrays; use pull, and index its result")

    def set_gradient_compression(self, compression_params: Any) -> None:
        """Raises: within one machine there is nothing to gain from it."""
        raise NotImplementedError("set_gradient_compression: a store within one process sends nothing")

    # ---- updates on the store

    def set_updater(self, updater: Callable[[Any, ndarray, ndarray], None]) -> None:
        """From now on a push calls `updater(key, sum, stored)`, which changes `stored` in place."""
        self._updater = updater

    _set_updater = set_updater  # MXNet's name

    def set_optimizer(self, optimizer: Optimizer) -> None:
        """From now on a push is a gradient: the optimizer updates what is stored."""
        self.set_updater(get_updater(optimizer))

    def _optimizer_updater(self, function: str) -> Updater:
        if not isinstance(self._updater, Updater):
            raise ValueError(f"{function}: the store has no optimizer; call set_optimizer first")
        return self._updater

    def save_optimizer_states(self, fname: str | os.PathLike[str], dump_optimizer: bool = False) -> None:
        """Writes the optimizer's states to a file. Waits for them."""
        states = self._optimizer_updater("save_optimizer_states").get_states(dump_optimizer)
        with open(fname, "wb") as file:
            file.write(states)

    def load_optimizer_states(self, fname: str | os.PathLike[str]) -> None:
        """Reads what `save_optimizer_states` wrote."""
        updater = self._optimizer_updater("load_optimizer_states")
        with open(fname, "rb") as file:
            updater.set_states(file.read())

    def barrier(self) -> None:
        """Waits for the other processes, of which there are none."""

    _barrier = barrier  # MXNet's name


_KINDS = ("local", "local_allreduce_cpu", "local_update_cpu", "device", "local_allreduce_device")


def create(name: str = "local") -> KVStoreBase:
    """A store by its kind: `"local"`, `"device"`, or a registered class.

    >>> create("local").num_workers
    1
    """
    if not isinstance(name, str):
        raise TypeError(f"create: the kind of a store is a string, not {name!r}")
    if name.lower() in _KINDS:
        return KVStore(name.lower())
    if name.lower() in _registry.classes:
        return _registry.create(name)
    if name.lower().startswith(("dist", "nccl", "p3", "horovod", "byteps")):
        raise NotImplementedError(f"create: stores over several machines ({name!r}) do not exist; use 'device'")
    raise ValueError(f"create: kind {name!r} is none of {', '.join(map(repr, [*_KINDS, *_registry.classes]))}")


class _Elsewhere:
    """A name of MXNet's for several machines."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__}: stores over several machines do not exist; use 'device'")


class Horovod(_Elsewhere):
    """MXNet's store on Horovod: raises.

    >>> Horovod()
    Traceback (most recent call last):
    NotImplementedError: Horovod: stores over several machines do not exist; use 'device'
    """


class BytePS(_Elsewhere):
    """MXNet's store on BytePS: raises.

    >>> BytePS()
    Traceback (most recent call last):
    NotImplementedError: BytePS: stores over several machines do not exist; use 'device'
    """


class KVStoreServer(_Elsewhere):
    """MXNet's parameter server: raises.

    >>> KVStoreServer()
    Traceback (most recent call last):
    NotImplementedError: KVStoreServer: stores over several machines do not exist; use 'device'
    """
