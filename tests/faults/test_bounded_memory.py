"""A loop that never waits stays within the limit of bytes in flight, and its memory within that and what it holds."""

from __future__ import annotations

import time
from typing import Any

import pytest
from bounded import LOOPS, measure

from slipstream import engine, np, npx

ASYNC = engine.kind() == "async"
NBYTES = 256 << 10
LIMIT = 8 * NBYTES


def slow() -> Any:
    """What holds up a loop behind it."""
    return npx.host_call(lambda: time.sleep(0.2) or 1.0, [], ())


@pytest.mark.parametrize("planning", ["as usual", "nothing skipped", "nothing fused or skipped"])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_never_waits(loop: str, planning: str) -> None:
    with engine._plan(skip=planning == "as usual", fuse=planning != "nothing fused or skipped"):
        peaks = measure(loop, NBYTES, 400, LIMIT)
    assert peaks["flight"] <= LIMIT
    held = 4 * NBYTES  # what the loop's own names hold, and the one result that is ready
    assert peaks["memory"] <= LIMIT + held


@pytest.mark.skipif(not ASYNC, reason="the synchronous engine never runs ahead")
def test_without_the_limit_it_would_take_more() -> None:
    """The limit does it, not chance: a dam in front of the loop lets it run as far ahead as it may."""
    for limit in (LIMIT, 10 * LIMIT):
        with engine.limits(bytes=limit):
            peak = held_back(limit)
        assert limit // 2 < peak <= limit


def held_back(limit: int) -> int:
    npx.waitall()
    engine.reset_peaks()
    x = np.ones(NBYTES // 4) * slow()
    kept = [x + number for number in range(3 * limit // NBYTES)]
    npx.waitall()
    assert kept[2][0].item() == 3
    return int(engine.stats()["peak_bytes"])


@pytest.mark.skipif(not ASYNC, reason="the synchronous engine never runs ahead")
def test_the_limit_of_operations() -> None:
    npx.waitall()
    engine.reset_peaks()
    before = engine.stats()["stalls"]
    with engine.limits(ops=50):
        x = slow()
        for _ in range(500):
            x = x + 1
        assert x.item() == 501
    stats = engine.stats()
    assert stats["peak_ops"] <= 50
    assert stats["stalls"] > before
    assert stats["stalled_seconds"] > 0


def test_one_result_larger_than_the_limit_is_computed_all_the_same() -> None:
    with engine.limits(bytes=1024):
        x = np.ones(10_000)
        for _ in range(5):
            x = x + 1
        assert x.sum().item() == 60_000
