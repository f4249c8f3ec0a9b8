"""The programs that the tour runs. The page shows them as they stand here, so they are written to be read."""

from __future__ import annotations

import inspect
import linecache
import time
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

import numpy

from slipstream import engine, np, npx

# ---- ten products


def products(times: int, n: int) -> list[Any]:
    results = []
    for _ in range(times):
        a = np.random.normal(size=(n, n))
        results.append((a, np.dot(a, a)))
    return results


def products_in_numpy(times: int, n: int) -> list[Any]:
    results = []
    for _ in range(times):
        a = numpy.random.normal(size=(n, n))
        results.append((a, numpy.dot(a, a)))
    return results


def products_in_numpy_float32(times: int, n: int) -> list[Any]:
    rng = numpy.random.default_rng()
    results = []
    for _ in range(times):
        a = rng.standard_normal((n, n), dtype=numpy.float32)
        results.append((a, numpy.dot(a, a)))
    return results


# ---- ways to wait


def by_waitall(b: Any) -> None:
    npx.waitall()


def by_wait_to_read(b: Any) -> None:
    b.wait_to_read()


def by_asnumpy(b: Any) -> Any:
    return b.asnumpy()


def by_item(b: Any) -> Any:
    return b.sum().item()


def one_and_many_behind(a: Any, behind: int) -> list[Any]:
    first = np.dot(a, a)
    others = [np.dot(a, a + i) for i in range(1, behind + 1)]  # equal ones would be computed once
    return [first, *others]


def look_each_time(x: Any, times: int) -> Any:
    total = 0.0
    for _ in range(times):
        x = x + 1
        total += x.sum().item()
    return total


def look_once(x: Any, times: int) -> Any:
    total = np.zeros(())
    for _ in range(times):
        x = x + 1
        total = total + x.sum()
    return total.item()


# ---- many small calls


def add_waiting_each_time(x: Any, n: int) -> Any:
    for _ in range(n):
        y = x + 1
        y.wait_to_read()
    return y


def add_waiting_once(x: Any, n: int) -> Any:
    for _ in range(n):
        y = x + 1
    npx.waitall()
    return y


def add(x: Any, n: int) -> Any:
    for _ in range(n):
        y = x + 1
    return y


def add_up(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x + 1
    return x


# ---- running ahead


def never_wait(batches: Iterable[Any], V: Any, w: Any) -> list[Any]:
    losses = []
    for batch in batches:
        X = np.array(batch)  # copied now, used later
        hidden = np.tanh(np.dot(X, V))
        losses.append((np.dot(hidden, w) ** 2).mean())
    return losses


def wait_for_each(batches: Iterable[Any], V: Any, w: Any) -> list[Any]:
    losses = []
    for batch in batches:
        X = np.array(batch)
        hidden = np.tanh(np.dot(X, V))
        losses.append((np.dot(hidden, w) ** 2).mean())
        npx.waitall()
    return losses


def one_batch_ahead(batches: Iterable[Any], V: Any, w: Any) -> list[Any]:
    return never_wait(engine.pace(batches, ahead=1), V, w)


def bounded(batches: Iterable[Any], V: Any, w: Any, limit: int) -> list[Any]:
    with engine.limits(bytes=limit):
        return never_wait(batches, V, w)


# ---- a program to look at from inside


def watched(times: int, n: int) -> list[float]:
    totals = []
    for _ in range(times):
        a = np.random.normal(size=(n, n))
        totals.append(np.dot(a, a).sum())
    # Here Python looks at values: it waits.
    return [total.item() for total in totals]


def small() -> Any:
    x = np.ones((1, 2))
    y = np.ones((1, 2))
    z = x * y + 2
    return z  # noqa: RET504 - the page shows the book's line


def large() -> Any:
    x = np.ones((1000, 1000))
    y = np.ones((1000, 1000))
    z = x * y + 2
    return z  # noqa: RET504 - the same on a million elements


# ---- Python stays free


def work_beside_products(a: Any, times: int) -> list[float]:
    products = [np.dot(a, a + i) for i in range(times)]
    beats = []
    while not products[-1].is_ready():
        beats.append(time.perf_counter())
        sum(range(2000))  # work of Python's own
    return beats


def work_after_products_in_numpy(a: Any, times: int, seconds: float) -> list[float]:
    for i in range(times):
        numpy.dot(a, a + i)
    beats = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        beats.append(time.perf_counter())
        sum(range(2000))
    return beats


# ---- two devices


def chain(x: Any, w: Any, steps: int) -> list[Any]:
    results = []
    for _ in range(steps):
        x = np.dot(x, w)  # each needs the one before
        results.append(x)
    return results


def copies(results: Iterable[Any], device: Any) -> list[Any]:
    return [x.copyto(device) for x in results]


# ---- as a user's

FILE = "tour.py"


def source(program: Callable[..., Any]) -> str:
    """The text of a program."""
    return _SOURCES[program.__name__]


def _users(code: CodeType) -> CodeType:
    """The same code from a file outside the package: the engine passes over lines of the package itself."""
    constants = tuple(_users(constant) if isinstance(constant, CodeType) else constant for constant in code.co_consts)
    return code.replace(co_filename=FILE, co_consts=constants)


_PROGRAMS = [thing for name, thing in list(globals().items()) if inspect.isfunction(thing) and name[0] != "_"]
_SOURCES = {program.__name__: inspect.getsource(program) for program in _PROGRAMS}
_LINES = inspect.getsource(inspect.getmodule(source) or source).splitlines(keepends=True)
linecache.cache[FILE] = (sum(map(len, _LINES)), None, _LINES, FILE)
for _program in _PROGRAMS:
    _program.__code__ = _users(_program.__code__)
