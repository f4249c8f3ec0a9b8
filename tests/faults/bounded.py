"""Loops that never wait, and how much memory they take: test_bounded_memory.py runs them small, tools/bounded_memory.py
in full: 10,000 results of 64 MB under a limit of 512 MB."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slipstream import engine, np, npx


def dropped(x: Any, times: int) -> Any:
    """Each result is dropped at once."""
    y = x
    for _ in range(times):
        y = x + 1
    return y


def chained(x: Any, times: int) -> Any:
    """Each result comes from the last."""
    y = x
    for _ in range(times):
        y = y * 0.5 + 1
    return y


def summed(x: Any, times: int) -> Any:
    """Each result goes into a sum, so that none of them is dead."""
    total = np.zeros((), device=x.device)
    for number in range(times):
        total += (x + number).max()
    return total


def in_place(x: Any, times: int) -> Any:
    """Each result is added to one array."""
    total = np.zeros_like(x)
    for _ in range(times):
        total += x + 1
    return total


def windowed(x: Any, times: int) -> Any:
    """The last three results are kept."""
    kept: list[Any] = []
    for number in range(times):
        kept = [*kept[-2:], x + number]
    return kept[-1]


LOOPS: dict[str, Callable[[Any, int], Any]] = {
    loop.__name__: loop for loop in (dropped, chained, summed, in_place, windowed)
}


def measure(loop: str, nbytes: int, times: int, limit: int) -> dict[str, int]:
    """Runs a loop of results of so many bytes; gives the peaks beyond what was in use before."""
    npx.waitall()
    x = np.ones(nbytes // 4)
    x.wait_to_read()
    engine.empty_cache()
    engine.reset_peaks()
    before = engine.memory()["in_use"]
    with engine.limits(bytes=limit):
        made = LOOPS[loop](x, times)
        made.wait_to_read()
    npx.waitall()
    return {"flight": engine.stats()["peak_bytes"], "memory": engine.memory()["peak"] - before}
