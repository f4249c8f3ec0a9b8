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

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Any, Generic, Literal, SupportsIndex, TypeVar, overload

from . import _core, config

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

_MOST = 2**62  # no size or count is larger
_MOST_BULK = 2**31 - 1
_NOT_GIVEN: Any = object()


def _whole(value: Any, what: str, least: int, most: int = _MOST) -> int:
    """An argument as a whole number within bounds."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, not {value!r}") from None
    if not least <= number <= most:
        bound = f"at least {least}" if number < least else f"at most {most}"
        raise ValueError(f"{what} must be {bound}, not {number}")
    return number


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
    if kind not in ("async", "sync"):
        raise ValueError(f"set_kind: kind must be 'async' or 'sync', not {kind!r}")
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
    n = _whole(n, "set_workers: the number of workers", 1, config.MOST_WORKERS)
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


def _size(value: int | str, what: str) -> int:
    """A number of bytes, also as the environment variables have it."""
    if not isinstance(value, str):
        return _whole(value, what, 0)
    try:
        return config.parse_bytes(value)
    except ValueError:
        raise ValueError(f"{what} must be a size such as 512M or 2G, not {value!r}") from None


def limits(
    *,
    ops: int | None = None,
    bytes: int | str | None = None,
    memory: int | str | None = None,
    cache: int | str | None = None,
) -> Limits:
    """Sets the limits that are given, and returns all that are in force.

    `ops`, `bytes`: calls, and bytes of their results, recorded and not finished; a call beyond them waits.
    `memory`: bytes that the arrays of a device may take; an allocation beyond it fails (0: no limit).
    `cache`: freed bytes kept for reuse. Bytes may also be given as `"512M"` or `"2G"`.

    >>> with limits(ops=100) as now:
    ...     print(now["ops"])
    100
    """
    before = _core.engine_limits()
    sizes = {"bytes": bytes, "memory": memory, "cache": cache}
    given = {name: _size(value, f"limits: {name}") for name, value in sizes.items() if value is not None}
    if ops is not None:
        given["ops"] = _whole(ops, "limits: ops", 1)
    _core.engine_set_limits(**given)
    return Limits(_core.engine_limits(), before)


class Pace:
    """Counts batches: `step()` ends one, and waits until at most `ahead` batches are unfinished."""

    def __init__(self, ahead: int = 1) -> None:
        self.ahead = _whole(ahead, "pace: ahead", 0)
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
        self._ahead = _whole(ahead, "pace: ahead", 0)

    def __iter__(self) -> Iterator[T]:
        pace = Pace(self._ahead)
        for batch in self._batches:
            yield batch
            pace.step()

    def __len__(self) -> int:
        return len(self._batches)  # type: ignore[arg-type]


@overload
def pace(batches: SupportsIndex = 1) -> Pace: ...
@overload
def pace(*, ahead: SupportsIndex) -> Pace: ...
@overload
def pace(batches: Iterable[T], ahead: SupportsIndex = 1) -> _Paced[T]: ...
def pace(batches: Any = _NOT_GIVEN, ahead: Any = None) -> Any:
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
    if batches is _NOT_GIVEN:
        return Pace(1 if ahead is None else ahead)
    if hasattr(batches, "__index__") and getattr(batches, "ndim", 0) == 0:
        if ahead is not None:
            raise TypeError(f"pace: a number of batches ({batches}) and ahead={ahead} are given; give one of them")
        return Pace(batches)
    if isinstance(batches, (str, bytes)) or not hasattr(batches, "__iter__"):
        raise TypeError(f"pace: expected a whole number or an iterable of batches, not {batches!r}")
    return _Paced(batches, 1 if ahead is None else ahead)


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
    """In a `with` block: up to `size` tiny calls are run as one task; with 1, each is planned and has its own.

    >>> with bulk(16):
    ...     print(planning()["bulk"])
    16
    """
    return _plan(bulk=max(1, _whole(size, "bulk: size", 0, _MOST_BULK)))


def set_bulk_size(size: int) -> int:
    """Up to `size` tiny calls are run as one task from now on; gives the size there was.

    >>> before = set_bulk_size(16)
    >>> set_bulk_size(before)
    16
    """
    before: int = _core.engine_planning()["bulk"]
    _core.engine_set_planning(bulk=max(1, _whole(size, "set_bulk_size: size", 0, _MOST_BULK)))
    return before


def no_fuse() -> AbstractContextManager[Any]:
    """In a `with` block (or from the call on): no fusion, and equal calls are all computed. Results are the same bits;
    for measuring and debugging.

    >>> with no_fuse():
    ...     print(planning()["fuse"])
    False
    """
    return _plan(fuse=False)


def no_skip() -> AbstractContextManager[Any]:
    """In a `with` block (or from the call on): work whose result nobody can read, or that equals other work, is done
    all the same.

    >>> with no_skip():
    ...     print(planning()["skip"])
    False
    """
    return _plan(skip=False)


def explain() -> str:
    """What the last planned batch came to, one line a task.

    >>> isinstance(explain(), str)
    True
    """
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
    """In a `with` block: what waits unseen (`float(x)`, `x.item()`, `print(x)`, ...) in this thread raises or warns.

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
    if mode not in ("raise", "warn", None):
        raise ValueError(f"sync_guard: mode must be 'raise', 'warn' or None, not {mode!r}")
    return _Restore(_core.set_sync_guard, _core.set_sync_guard(mode))


def _fail_allocations(every: int) -> AbstractContextManager[Any]:
    """Every n-th allocation fails, until the `with` block ends: for tests of what comes after."""
    _core.engine_fail_allocations(every)
    return _Restore(_core.engine_fail_allocations, 0)
