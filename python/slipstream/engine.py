"""The engine behind the arrays.

>>> from slipstream import engine, np, npx
>>> with engine.pace(1) as pace:
...     for _ in range(3):
...         y = np.ones((2, 2)).sum()
...         pace.step()
>>> npx.waitall()
>>> engine.stats()["in_flight_ops"]
0
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar, overload

from . import _core

__all__ = [
    "bulk",
    "empty_cache",
    "explain",
    "kind",
    "limits",
    "memory",
    "no_fuse",
    "no_skip",
    "pace",
    "planning",
    "reset_peaks",
    "set_bulk_size",
    "set_kind",
    "set_workers",
    "stats",
    "sync_guard",
    "workers",
]

T = TypeVar("T")


class _Restore(AbstractContextManager["_Restore"]):
    """Settings were changed; leaving a `with` block puts the old ones back."""

    def __init__(self, restore: Callable[..., object], *arguments: Any, **settings: Any) -> None:
        self._restore = partial(restore, *arguments, **settings)

    def __exit__(self, *_: object) -> None:
        self._restore()


# ---- threads and kind


def kind() -> str:
    """`"async"` or `"sync"`.

    >>> kind() in ("async", "sync")
    True
    """
    return _core.engine_kind()


def set_kind(kind: Literal["async", "sync"]) -> None:
    """Waits for all work, then changes to the other engine. Usually chosen by the variable SLIPSTREAM_ENGINE.

    >>> set_kind(kind())
    """
    _core.wait_all()
    _core.engine_set_kind(kind)


def workers() -> int:
    """Threads of the one pool that runs everything.

    >>> workers() >= 1
    True
    """
    return _core.engine_workers()


def set_workers(n: int) -> int:
    """Changes the number of threads, once running work is done, and gives the number there was. Results stay the same.

    >>> before = set_workers(2)
    >>> set_workers(before)
    2
    """
    if n < 1:
        raise ValueError(f"set_workers: {n} workers; there must be at least 1")
    before = _core.engine_workers()
    _core.engine_set_workers(n)
    return before


# ---- how far ahead


class Limits(dict[str, int]):
    """The limits in force, by name. In a `with` block they are put back at its end."""

    def __init__(self, now: dict[str, int], before: dict[str, int]) -> None:
        super().__init__(now)
        self._before = before

    def __enter__(self) -> Limits:
        return self

    def __exit__(self, *_: object) -> None:
        _core.engine_set_limits(**self._before)


def limits(
    *, ops: int | None = None, bytes: int | None = None, memory: int | None = None, cache: int | None = None
) -> Limits:
    """Sets the limits that are given, and returns all that are in force.

    `ops`, `bytes`: calls, and bytes of their results, recorded and not finished; a call beyond them waits.
    `memory`: bytes that the arrays of a device may take; an allocation beyond it fails (0: no limit).
    `cache`: freed bytes kept for reuse.

    >>> with limits(ops=100) as now:
    ...     print(now["ops"])
    100
    """
    before = _core.engine_limits()
    given = {"ops": ops, "bytes": bytes, "memory": memory, "cache": cache}
    for name, value in given.items():
        if value is not None and value < (1 if name == "ops" else 0):
            raise ValueError(f"limits: {name}={value} is too small")
    _core.engine_set_limits(**{name: value for name, value in given.items() if value is not None})
    return Limits(_core.engine_limits(), before)


class Pace:
    """Counts batches: `step()` ends one, and waits until at most `ahead` batches are unfinished."""

    def __init__(self, ahead: int = 1) -> None:
        if ahead < 0:
            raise ValueError(f"pace: ahead={ahead}; it must be at least 0")
        self.ahead = ahead
        self._ends: deque[int] = deque()

    def step(self) -> None:
        """What was recorded since the last step is a batch. Waits while more than `ahead` of them are unfinished."""
        self._ends.append(_core.engine_sequence())
        while len(self._ends) > self.ahead:
            _core.engine_wait_until(self._ends.popleft())

    def __enter__(self) -> Pace:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ends.clear()


class _Paced(Generic[T]):
    """An iterable whose loop body is a batch."""

    def __init__(self, batches: Iterable[T], ahead: int) -> None:
        self._batches = batches
        self._ahead = ahead

    def __iter__(self) -> Iterator[T]:
        pace = Pace(self._ahead)
        for batch in self._batches:
            yield batch
            pace.step()

    def __len__(self) -> int:
        return len(self._batches)  # type: ignore[arg-type]


@overload
def pace(batches: int = 1) -> Pace: ...
@overload
def pace(batches: Iterable[T], ahead: int = 1) -> _Paced[T]: ...
def pace(batches: Any = 1, ahead: int = 1) -> Any:
    """Lets Python be at most so many batches ahead: with 1, batch t ends before batch t + 2 begins.

    Around a loop, with `step()` at the end of each batch, or around what the loop goes over:

    >>> from slipstream import np
    >>> with pace(1) as p:
    ...     for _ in range(3):
    ...         y = np.ones(4).sum()
    ...         p.step()
    >>> for x in pace([np.ones(2), np.zeros(2)], ahead=1):
    ...     y = x + 1
    """
    return Pace(batches) if isinstance(batches, int) else _Paced(batches, ahead)


# ---- the planner


def planning() -> dict[str, Any]:
    """How calls are planned: `batch` (planned together at most), `bulk` (tiny calls run as one task), `fuse`, `skip`.

    >>> sorted(planning())
    ['batch', 'bulk', 'fuse', 'skip']
    """
    return _core.engine_planning()


def _plan(**settings: Any) -> _Restore:
    before = _core.engine_planning()
    _core.engine_set_planning(**settings)
    return _Restore(_core.engine_set_planning, **{name: before[name] for name in settings})


def bulk(size: int) -> AbstractContextManager[Any]:
    """In a `with` block: up to `size` tiny calls are run as one task.

    >>> with bulk(16):
    ...     print(planning()["bulk"])
    16
    """
    return _plan(bulk=max(1, size))


def set_bulk_size(size: int) -> int:
    """Up to `size` tiny calls are run as one task from now on; gives the size there was.

    >>> before = set_bulk_size(16)
    >>> set_bulk_size(before)
    16
    """
    before: int = _core.engine_planning()["bulk"]
    _core.engine_set_planning(bulk=max(1, size))
    return before


def no_fuse() -> AbstractContextManager[Any]:
    """In a `with` block (or from the call on): no fusion. Results are the same bits; for measuring and debugging.

    >>> with no_fuse():
    ...     print(planning()["fuse"])
    False
    """
    return _plan(fuse=False)


def no_skip() -> AbstractContextManager[Any]:
    """In a `with` block (or from the call on): work whose result nobody can read is done all the same.

    >>> with no_skip():
    ...     print(planning()["skip"])
    False
    """
    return _plan(skip=False)


def explain() -> str:
    """What the last planned batch came to, one line a task."""
    return _core.engine_explain()


# ---- figures


def stats() -> dict[str, Any]:
    """Counts since the start: recorded, executed, fused, skipped; in flight now and at peak; stalls and their seconds.

    >>> "recorded" in stats()
    True
    """
    return _core.engine_stats()


def reset_peaks() -> None:
    """Starts the peaks of `stats()` and `memory()` anew from what is in use now.

    >>> reset_peaks()
    """
    _core.engine_reset_peaks()


def memory() -> dict[str, int]:
    """Bytes that arrays use, that are cached for reuse, and the peak of use.

    >>> sorted(memory())
    ['cached', 'in_use', 'peak']
    """
    return _core.engine_memory()


def empty_cache() -> None:
    """Gives cached memory back to the system.

    >>> empty_cache()
    """
    _core.engine_empty_cache()


# ---- hidden waits


def sync_guard(mode: Literal["raise", "warn"] | None = "raise") -> AbstractContextManager[Any]:
    """In a `with` block: what waits unseen (`float(x)`, `x.item()`, `print(x)`, ...) raises or warns.

    `x.wait_to_read()` and `npx.waitall()`, which say what they do, are not concerned.

    >>> from slipstream import errors, np
    >>> x = np.ones(2)
    >>> with sync_guard("raise"):
    ...     try:
    ...         float(x.sum())
    ...     except errors.SyncError:
    ...         print("a hidden wait")
    a hidden wait
    """
    return _Restore(_core.set_sync_guard, _core.set_sync_guard(mode))


def _fail_allocations(every: int) -> AbstractContextManager[Any]:
    """Every n-th allocation fails, until the `with` block ends: for tests of what comes after."""
    _core.engine_fail_allocations(every)
    return _Restore(_core.engine_fail_allocations, 0)
