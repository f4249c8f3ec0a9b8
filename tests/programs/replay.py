"""Running programs on the engine, in all its settings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy
from program import Program, twist, values

from slipstream import _core, engine, np, npx

# ---- settings of the engine that all have to give the same bits


@dataclass(frozen=True)
class Setting:
    """How the engine runs a program."""

    name: str
    kind: str = "async"
    workers: int = 2
    batch: int = 256
    bulk: int = 64
    fuse: bool = True
    skip: bool = True
    dam: bool = False  # the only worker is kept busy, so that all is planned at once when somebody reads

    @contextmanager
    def applied(self) -> Iterator[None]:
        before = engine.kind(), engine.workers(), engine.planning()
        planning = {"batch": self.batch, "bulk": self.bulk, "fuse": self.fuse, "skip": self.skip}
        self._set(self.kind, self.workers, planning)
        try:
            yield
        finally:
            self._set(*before)

    @staticmethod
    def _set(kind: Any, workers: int, planning: dict[str, Any]) -> None:
        engine.set_kind(kind)
        engine.set_workers(workers)
        _core.engine_set_planning(**planning)


SYNC = Setting("sync", kind="sync")
SETTINGS = (
    Setting("1 worker", workers=1),
    Setting("2 workers"),
    Setting("2 workers, a task for each call", bulk=1),
    Setting("8 workers", workers=8, bulk=1),
    Setting("one by one", workers=2, batch=1, bulk=1),
    Setting("one by one, 8 workers", workers=8, batch=1, bulk=1),
    Setting("all at once", workers=1, batch=1 << 20, bulk=1 << 20, dam=True),
    Setting("all at once, no groups", workers=1, batch=1 << 20, bulk=1, dam=True),
    Setting("no fusion", fuse=False),
    Setting("no skipping", workers=8, bulk=1, skip=False),
    Setting("no fusion, no skipping, all at once", workers=1, batch=1 << 20, fuse=False, skip=False, dam=True),
)
BY_NAME = {setting.name: setting for setting in (SYNC, *SETTINGS)}


class Dam:
    """Keeps the one worker inside a host call while it is closed, so that nothing is planned."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self.open = threading.Event()

    def close(self) -> None:
        if self.on:
            self.open = threading.Event()
            began = threading.Event()
            self.held = npx.host_call(lambda opened=self.open: (began.set(), opened.wait(60))[1], [], (), "bool")
            began.wait(60)

    @contextmanager
    def opened(self) -> Iterator[None]:
        self.open.set()
        yield
        self.close()


# ---- on the engine

Bits = tuple[str, tuple[int, ...], bytes]


def bits(array: Any) -> Bits:
    found = array.asnumpy()
    return str(found.dtype), found.shape, found.tobytes()


@dataclass
class Ours:
    """The names that the lines of a program find besides `np`, on our side."""

    dam: Dam
    log: list[Any] = field(default_factory=list)

    def read(self, how: str, x: Any) -> None:
        with self.dam.opened():
            if how == "wait":
                x.wait_to_read()
            elif how == "is_ready":
                self.log.append(x.is_ready() in (True, False))
            elif how in ("item", "tolist"):
                self.log.append(repr(getattr(x, how)()))
            elif how == "asnumpy":
                self.log.append(bits(x))
            else:
                self.log.append(repr({"float": float, "bool": bool, "complex": complex, "repr": repr}[how](x)))

    def chosen(self, x: Any, mask: Any) -> Any:
        with self.dam.opened():  # waits for the mask
            return x[mask]

    def names(self, seed: int, lock: Any) -> dict[str, Any]:
        rng = np.random.default_rng(seed)

        def draw(kind: str, shape: tuple[int, ...], dtype: str, device: int) -> Any:
            place = npx.cpu(device)
            if kind == "integers":
                return rng.integers(0, 9, shape, dtype, device=place)
            if kind == "permutation":
                return rng.permutation(shape[0], device=place)
            if kind == "choice":
                return rng.choice(5, shape, device=place)
            return getattr(rng, kind)(size=shape, dtype=dtype, device=place)

        return {
            "np": np,
            "data": lambda seed, shape, dtype, device: np.array(values(seed, shape, dtype), device=npx.cpu(device)),
            "draw": draw,
            "make": lambda name, device, *args, **options: getattr(np, name)(*args, device=npx.cpu(device), **options),
            "to": lambda x, device: x.copyto(npx.cpu(device)),
            "put": lambda x, other: x.copyto(other),
            "chosen": self.chosen,
            "shuffle": rng.shuffle,
            "host": lambda x: npx.host_call(twist, [x], x.shape, x.dtype),
            "read": self.read,
            "lock": lock,
        }


def arrays_of(names: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in names.items() if isinstance(value, np.ndarray)}


def run(program: Program, setting: Setting) -> dict[str, Any]:
    """The bits of everything a program has read, and of all its arrays at its end. The setting is applied already."""
    dam, lock = Dam(setting.dam), threading.Lock()
    first, *others = program.compiled
    side = Ours(dam)
    names = side.names(program.seed, lock)
    dam.close()
    try:
        exec(first, names)
        if others:  # one thread would close what another waits behind
            dam.on = False
            dam.open.set()
        sides = [Ours(dam) for _ in others]
        spaces = [ours.names(program.seed + 1 + i, lock) | arrays_of(names) for i, ours in enumerate(sides)]
        in_threads([partial(exec, code, space) for code, space in zip(others, spaces, strict=True)])
    finally:
        dam.open.set()
    result: dict[str, Any] = {"log": [ours.log for ours in (side, *sides)]}
    for space in (names, *spaces):
        result |= {name: bits(array) for name, array in arrays_of(space).items()}
    return result


def in_threads(functions: list[Callable[[], Any]]) -> None:
    errors: list[BaseException] = []

    def guarded(function: Callable[[], Any]) -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def difference(a: dict[str, Any], b: dict[str, Any]) -> str:
    """The first thing in which two runs of a program differ; "" if there is none."""
    for name in a:
        if name not in b or a[name] != b[name]:
            return f"{name}: {show(a[name])} is not {show(b.get(name))}"
    return ""


def show(found: Any) -> str:
    if isinstance(found, tuple) and len(found) == 3 and isinstance(found[2], bytes):
        return repr(numpy.frombuffer(found[2], dtype=found[0]).reshape(found[1]))
    return repr(found)[:2000]
