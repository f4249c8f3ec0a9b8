"""What waits and what does not: exactly the listed calls, for their array alone, without the GIL."""

from __future__ import annotations

import operator
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from child import run

from slipstream import engine, errors, np, npx

ASYNC = engine.kind() == "async"
only_async = pytest.mark.skipif(not ASYNC, reason="nothing waits under the synchronous engine")


class Held:
    """Arrays that are not ready before `open` is set."""

    def __init__(self, is_open: bool = False) -> None:
        self.open = threading.Event()
        if is_open:
            self.open.set()
        self.floats = self.array((2, 2), "float32")
        self.one = self.array((), "float32")
        self.index = self.array((), "int64")
        self.pair = self.array((2,), "int64")

    def array(self, shape: tuple[int, ...], dtype: str) -> Any:
        return npx.host_call(lambda: (self.open.wait(30), numpy.ones(shape, dtype))[1], [], shape, dtype)


# The calls that wait: each takes what Held has.
HIDDEN: dict[str, Callable[[Held], Any]] = {
    "asnumpy": lambda h: h.floats.asnumpy(),
    "item": lambda h: h.one.item(),
    "item of an element": lambda h: h.floats.item(0, 1),
    "tolist": lambda h: h.floats.tolist(),
    "float": lambda h: float(h.one),
    "int": lambda h: int(h.one),
    "bool": lambda h: bool(h.one),
    "if": lambda h: 1 if h.one else 0,
    "complex": lambda h: complex(h.one),
    "operator.index": lambda h: operator.index(h.index),
    "an index": lambda h: [5, 6][h.index],
    "range": lambda h: range(h.index),
    "str": lambda h: str(h.floats),
    "repr": lambda h: repr(h.floats),
    "format": lambda h: f"{h.one:.2f}",
    "memoryview": lambda h: memoryview(h.floats),
    "bytes": lambda h: h.floats.tobytes(),
    "asarray": lambda h: numpy.asarray(h.floats),
    "DLPack": lambda h: numpy.from_dlpack(h.floats),
    "in": lambda h: 1.0 in h.floats,
    "a mask": lambda h: h.floats[h.floats > 0],
    "a mask is written with a list": lambda h: operator.setitem(h.floats, h.floats > 0, [1, 2, 3, 4]),
    "a slice's bound": lambda h: h.floats[h.index :],
    "nonzero": lambda h: np.nonzero(h.floats),
    "flatnonzero": lambda h: np.flatnonzero(h.floats),
    "where": lambda h: np.where(h.floats > 0),
    "argwhere": lambda h: np.argwhere(h.floats),
    "extract": lambda h: np.extract(h.floats > 0, h.floats),
    "repeat": lambda h: np.repeat(np.ones(1), h.index),
    "unique": lambda h: np.unique(h.floats),
    "sets": lambda h: (np.union1d(h.floats, h.floats), np.setdiff1d(h.floats, h.floats)),
    "bincount": lambda h: np.bincount(h.pair),
    "split": lambda h: np.split(h.floats, h.pair),
    "delete": lambda h: np.delete(h.floats, h.pair, axis=0),
    "insert": lambda h: np.insert(h.floats, h.pair, 0),
    "compress": lambda h: np.compress(h.pair > 0, h.floats, axis=0),
    "ix_": lambda h: np.ix_(h.pair > 0),
    "pickle": lambda h: pickle.dumps(h.floats),
    "save": lambda h: npx.save(os.path.join(tempfile.mkdtemp(), "x"), h.floats),
    "a function of NumPy alone": lambda h: numpy.lib.stride_tricks.sliding_window_view(h.floats, 1, axis=0),
    "another": lambda h: numpy.emath.sqrt(h.floats),
    "an array of NumPy's is written": lambda h: numpy.copyto(numpy.zeros((2, 2)), h.floats),
    "out is NumPy's": lambda h: numpy.add(h.floats, 1, out=numpy.zeros((2, 2))),
    "add.at": lambda h: numpy.add.at(h.floats, 0, 1.0),
}
SAYS_SO: dict[str, Callable[[Held], Any]] = {
    "wait_to_read": lambda h: h.floats.wait_to_read(),
    "waitall": lambda h: npx.waitall(),
}
# The calls that do not wait, among them many that look as if they could.
FREE: dict[str, Callable[[Held], Any]] = {
    "operators": lambda h: (h.floats + 1, -h.floats, h.floats @ h.floats, h.floats == 1, h.floats**2, abs(h.one)),
    "in place": lambda h: operator.iadd(h.floats, 1),
    "a write": lambda h: operator.setitem(h.floats, (slice(1), 0), 3),
    "a write of an array": lambda h: operator.setitem(h.floats, 0, h.one),
    "a mask is written": lambda h: operator.setitem(h.floats, h.floats > 0, 3),
    "views": lambda h: (h.floats[0], h.floats[::-1], h.floats.T, h.floats.reshape(4), h.floats[None], h.floats[0, 1]),
    "reductions": lambda h: (h.floats.sum(), h.floats.mean(0), h.floats.argmax(), np.var(h.floats), h.floats.any()),
    "functions": lambda h: (np.tanh(h.floats), np.where(h.floats > 0, h.floats, 0), np.clip(h.floats, 0, 1)),
    "joins": lambda h: (np.concatenate([h.floats, h.floats]), np.stack([h.one, h.one]), np.split(h.floats, 2)),
    "casts and copies": lambda h: (h.floats.astype("int8"), h.floats.copy(), h.floats.copyto(npx.cpu(1))),
    "take": lambda h: np.take(h.floats, h.index, axis=0),
    "integer arrays as keys": lambda h: h.floats[np.expand_dims(h.index, 0)],
    "facts": lambda h: (h.floats.shape, h.floats.dtype, h.floats.ndim, h.floats.size, len(h.floats), h.floats.device),
    "more facts": lambda h: (h.floats.nbytes, h.floats.strides, h.floats.flags, h.floats.ctx, h.floats.itemsize),
    "is_ready": lambda h: h.floats.is_ready(),
    "a callback": lambda h: h.floats.add_done_callback(lambda _: None),
    "random numbers": lambda h: np.random.normal(size=(2, 2)) * h.floats,
    "shuffle": lambda h: np.random.shuffle(h.floats),
    "a host call": lambda h: npx.host_call(lambda a: a, [h.floats], (2, 2)),
    "iteration": lambda h: list(h.floats),
    "unpacking": lambda h: (lambda a, b: a)(*h.floats),
    "new arrays": lambda h: (np.zeros_like(h.floats), np.ones(3), np.arange(5), np.array([1, 2])),
    "figures": lambda h: (engine.stats(), engine.memory(), engine.limits(), engine.explain()),
    "NumPy's functions": lambda h: (numpy.sort(h.floats), numpy.histogram(h.floats), numpy.copyto(h.floats, h.one)),
    "sets of one shape": lambda h: (np.isin(h.floats, h.one), np.split(h.floats, [1]), np.delete(h.floats, 0, axis=0)),
    "identity and hashes": lambda h: (h.floats is h.floats, id(h.floats), isinstance(h.floats, np.ndarray)),
}


def ends_before(held: Held, call: Callable[[Held], Any]) -> bool:
    """Does a call return while nothing is ready?"""
    done = threading.Event()
    thread = threading.Thread(target=lambda: (call(held), done.set()))
    thread.start()
    returned = done.wait(0.1)
    held.open.set()
    thread.join(30)
    assert done.is_set(), "the call never returned"
    return returned


@only_async
@pytest.mark.parametrize("call", HIDDEN | SAYS_SO)
def test_this_waits(call: str) -> None:
    assert not ends_before(Held(), (HIDDEN | SAYS_SO)[call])


@only_async
@pytest.mark.parametrize("call", FREE)
def test_this_does_not_wait(call: str) -> None:
    held = Held()
    FREE[call](held)  # would hang for 30 s, and then fail below
    assert not held.one.is_ready()
    held.open.set()
    npx.waitall()


@only_async
def test_a_wait_is_for_its_array_alone() -> None:
    held = Held()
    other = np.ones((20, 20)) @ np.ones((20, 20))
    assert other.sum().item() == 8000
    assert not held.floats.is_ready()
    held.open.set()


# ---- the guard


@pytest.mark.parametrize("call", HIDDEN)
def test_the_guard_finds_hidden_waits(call: str) -> None:
    held = Held(is_open=True)
    npx.waitall()
    with engine.sync_guard("raise"), pytest.raises(errors.SyncError):
        HIDDEN[call](held)
    with engine.sync_guard("warn"), pytest.warns(errors.SyncWarning):
        HIDDEN[call](held)
    HIDDEN[call](held)


@pytest.mark.parametrize("call", FREE | SAYS_SO)
def test_the_guard_finds_no_others(call: str) -> None:
    held = Held(is_open=True)
    npx.waitall()
    with engine.sync_guard("raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        (FREE | SAYS_SO)[call](held)
    npx.waitall()


# ---- the GIL


@only_async
@pytest.mark.parametrize("call", HIDDEN | SAYS_SO)
def test_other_threads_go_on_during_a_wait(call: str) -> None:
    """The thread that opens the gate can only do so if the one that waits lets it."""
    held = Held()

    def count() -> None:
        for _ in range(1000):
            time.sleep(0)
        held.open.set()

    thread = threading.Thread(target=count)
    thread.start()
    (HIDDEN | SAYS_SO)[call](held)
    thread.join()


@only_async
def test_other_threads_go_on_while_one_is_stalled() -> None:
    held = Held()
    thread = threading.Thread(target=lambda: (time.sleep(0.05), held.open.set()))
    with engine.limits(ops=8):
        thread.start()
        x = held.one
        for _ in range(50):
            x = x + 1
        assert x.item() == 51
    thread.join()


# ---- import


def test_import_starts_no_thread() -> None:
    ended = run(
        """
        print(len(os.listdir("/proc/self/task")))
        x = np.ones(3)
        x.shape, x.dtype, x[0], x.T, npx.cpu(1), engine.stats(), engine.memory()
        """
    )
    # NumPy's own BLAS may have threads: only what comes after it counts.
    alone = run("print(len(os.listdir('/proc/self/task')))").out
    before = run_without_us("import numpy, os; print(len(os.listdir('/proc/self/task')))")
    assert ended.out == alone == before


def test_import_brings_little() -> None:
    """What takes long to import, or only some programs need, comes when it is used. (No clock is asserted on.)"""
    ask = "import sys; print(*sys.modules)"
    before = run_without_us(f"import numpy, ml_dtypes; {ask}").split()
    brought = set(run_without_us(f"import slipstream.np, slipstream.npx; {ask}").split()) - set(before)
    assert {"slipstream.np", "slipstream.npx", "slipstream._core"} <= brought
    heavy = {"asyncio", "concurrent", "ctypes", "multiprocessing", "rich", "scipy", "scipy_openblas64", "subprocess"}
    assert not heavy & {name.partition(".")[0] for name in brought}
    assert not {name for name in brought if name.startswith(("slipstream.gluon", "slipstream.tour"))}


def run_without_us(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout
