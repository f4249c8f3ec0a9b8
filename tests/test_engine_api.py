"""The engine's Python surface: settings, limits, pace, guards, figures, traces, timers."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import engine, errors, np, npx, profiler

ASYNC = engine.kind() == "async"
only_async = pytest.mark.skipif(not ASYNC, reason="the synchronous engine plans nothing and never runs ahead")


def slow(seconds: float = 0.02, value: float = 1.0) -> Any:
    """An array that takes a while."""
    return npx.host_call(lambda: time.sleep(seconds) or numpy.float32(value), [], ())


@contextmanager
def planned_at_once() -> Iterator[None]:
    """What is recorded in the block is planned together at its end: until then the only worker is busy."""
    npx.waitall()
    begun, gate = threading.Event(), threading.Event()
    workers = engine.set_workers(1)
    npx.host_call(lambda: begun.set() or gate.wait(60), [], (), "bool")
    assert begun.wait(60)
    try:
        yield
    finally:
        gate.set()
        npx.waitall()
        engine.set_workers(workers)


# ---- settings


def test_workers() -> None:
    before = engine.workers()
    try:
        assert engine.set_workers(3) == before
        assert engine.workers() == 3
        x = np.ones((100, 100))
        assert (x @ x).sum().item() == 1_000_000
    finally:
        engine.set_workers(before)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        engine.set_workers(0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: engine.set_workers("a"), TypeError, "set_workers: .* whole number, not 'a'"),  # type: ignore[arg-type]
        (lambda: engine.set_workers(2.5), TypeError, "set_workers: .* not 2.5"),  # type: ignore[arg-type]
        (lambda: engine.set_workers(10**30), ValueError, "set_workers: .* at most 1024"),
        (lambda: engine.limits(ops="a"), TypeError, "limits: ops .* not 'a'"),  # type: ignore[arg-type]
        (lambda: engine.limits(ops=1.5), TypeError, "limits: ops .* not 1.5"),  # type: ignore[arg-type]
        (lambda: engine.limits(ops=2**70), ValueError, "limits: ops must be at most"),
        (lambda: engine.limits(bytes="much"), ValueError, "limits: bytes .* 512M .* 'much'"),
        (lambda: engine.bulk(-1), ValueError, "bulk: size must be at least 0, not -1"),
        (lambda: engine.set_bulk_size(-1), ValueError, "set_bulk_size: size must be at least 0"),
        (lambda: engine.set_kind(None), ValueError, "set_kind: .* not None"),  # type: ignore[arg-type]
        (lambda: engine.sync_guard(1), ValueError, "sync_guard: .* not 1"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_kind() -> None:
    assert engine.kind() in ("async", "sync")
    with pytest.raises(ValueError, match="kind"):
        engine.set_kind("other")  # type: ignore[arg-type]
    before = engine.kind()
    try:
        for kind in ("sync", "async"):
            engine.set_kind(kind)  # type: ignore[arg-type]
            assert engine.kind() == kind
            assert (np.ones(3) + 1).sum().item() == 6
    finally:
        engine.set_kind(before)  # type: ignore[arg-type]


def test_limits() -> None:
    before = engine.limits()
    with engine.limits(ops=10, bytes=1 << 20, cache=0) as now:
        assert (now["ops"], now["bytes"], now["cache"]) == (10, 1 << 20, 0)
        x = np.zeros(10)
        for _ in range(100):
            x += 1
        assert x[0].item() == 100
        assert now["memory"] == before["memory"]
    assert engine.limits() == before
    with engine.limits(bytes="1G", cache="1.5M") as now:
        assert (now["bytes"], now["cache"]) == (2**30, 3 * 2**19)
    for bad in ({"ops": 0}, {"bytes": -1}):
        with pytest.raises(ValueError, match="limits"):
            engine.limits(**bad)


def test_planning_switches() -> None:
    before = engine.planning()
    with engine.bulk(7):
        assert engine.planning()["bulk"] == 7
        with engine.no_fuse(), engine.no_skip():
            assert not engine.planning()["fuse"] and not engine.planning()["skip"]
            x = np.arange(10)
            same(np.tanh(x * 2 + 1), numpy.tanh(numpy.arange(10, dtype="float32") * 2 + 1))
    assert engine.planning() == before
    assert engine.set_bulk_size(before["bulk"]) == before["bulk"]


@only_async
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("skip", [True, False])
def test_planning_switches_are_obeyed(fuse: bool, skip: bool) -> None:
    x = np.ones((100, 100))
    with nullcontext() if fuse else engine.no_fuse(), nullcontext() if skip else engine.no_skip():
        with planned_at_once():
            before = engine.stats()
            np.exp(x @ x)  # nobody reads these two
            y = np.tanh(x * 2 + 1)
        after = engine.stats()
    fused, skipped = (after[name] - before[name] for name in ("fused", "skipped"))
    assert skipped == (2 if skip else 0)
    assert fused >= 3 if fuse else fused == 0
    same(y, numpy.tanh(numpy.full((100, 100), 3, "float32")))


@only_async
def test_equal_calls_are_computed_once_unless_switched_off() -> None:
    x = np.ones((100, 100))
    for switch, products in ((nullcontext, 1), (engine.no_fuse, 2), (engine.no_skip, 2)):
        with switch(), planned_at_once():
            twice = [x @ x, x @ x]
        assert engine.explain().count(": matmul (") == products, engine.explain()
        for product in twice:
            same(product, numpy.full((100, 100), 100, "float32"))


def test_every_control_is_on_the_page_of_the_engine() -> None:
    page = (Path(__file__).resolve().parent.parent / "docs/engine.md").read_text()
    table = page.partition("## Controls")[2].partition("##")[0]
    assert not [name for name in engine.__all__ if f"`engine.{name}(" not in table]


# ---- running ahead


@only_async
def test_trifles_behind_something_slow_do_not_hold_the_program_up() -> None:
    opened = threading.Event()
    x = npx.host_call(lambda: (opened.wait(60), numpy.zeros(2, "float32"))[1], [], (2,))
    y = np.zeros(2)
    with engine.limits(ops=20_000):
        for _ in range(5000):
            x = x + 1
            y = y + 1
    assert not x.is_ready()
    same(y, numpy.full(2, 5000, "float32"))
    assert not opened.is_set() and not x.is_ready()
    opened.set()
    same(x, numpy.full(2, 5000, "float32"))


@only_async
@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_pace(ahead: int) -> None:
    """Batch t has ended when batch t + ahead + 1 begins."""
    done: list[int] = []

    def batch(t: int) -> Any:
        return npx.host_call(lambda: (time.sleep(0.01), done.append(t)) and numpy.float32(t), [], ())

    kept = []
    with engine.pace(ahead) as pace:
        for t in range(8):
            assert len(done) >= t - ahead, (t, done)
            kept.append(batch(t))
            pace.step()
    done.clear()
    for t in engine.pace(range(8), ahead=ahead):
        assert len(done) >= t - ahead, (t, done)
        kept.append(batch(t))
    npx.waitall()


def test_pace_is_an_iterable_of_the_batches() -> None:
    assert list(engine.pace([1, 2, 3])) == [1, 2, 3]
    assert len(engine.pace([1, 2, 3])) == 3
    assert list(engine.pace(x for x in "ab")) == ["a", "b"]


def test_pace_takes_a_number_or_an_iterable() -> None:
    assert engine.pace().ahead == 1
    assert engine.pace(ahead=3).ahead == 3
    assert engine.pace(numpy.int32(4)).ahead == 4
    assert list(engine.pace(numpy.arange(2), ahead=numpy.int64(2))) == [0, 1]
    for wrong in (1.5, "ab", None):
        with pytest.raises(TypeError, match="pace: expected a whole number or an iterable"):
            engine.pace(wrong)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="give one of them"):
        engine.pace(5, ahead=3)  # type: ignore[call-overload]
    for negative in (lambda: engine.pace(-1), lambda: engine.pace([1], ahead=-1)):
        with pytest.raises(ValueError, match="ahead must be at least 0, not -1"):
            negative()


# ---- figures


def test_stats_and_memory() -> None:
    npx.waitall()
    engine.reset_peaks()
    before = engine.stats()
    x = np.ones((256, 256))
    y = x + 1
    y.wait_to_read()
    after = engine.stats()
    assert after["recorded"] >= before["recorded"] + 2
    assert set(after) == {
        *("recorded", "executed", "fused", "skipped", "in_flight_ops", "in_flight_bytes"),
        *("peak_ops", "peak_bytes", "stalls", "stalled_seconds"),
    }
    npx.waitall()
    assert engine.stats()["in_flight_ops"] == 0
    memory = engine.memory()
    assert memory["in_use"] >= y.nbytes
    assert memory["peak"] >= memory["in_use"]
    del x, y
    engine.empty_cache()
    assert engine.memory()["cached"] == 0


@only_async
def test_explain_says_why_calls_were_not_fused() -> None:
    x = np.ones((100, 100))
    with planned_at_once():
        y = np.exp(x * 2)
        total = y.sum()
        small = np.ones(3) + 1
        alone = x @ x + 1
    text = engine.explain()
    for part in (
        "2 calls fused into one pass (multiply exp; 1 stored) -> (100, 100)",
        "sum (not fused: what it reduces is needed elsewhere too)",
        "matmul (not fused: not elementwise)",
        "add (not fused: no neighbour works on its result element by element) -> (3,)",
    ):
        assert part in text, text
    assert total.item() > 0 and small.tolist() == [2, 2, 2] and alone[0, 0].item() == 101


def test_failed_allocations_are_errors_of_their_operation() -> None:
    npx.waitall()
    engine.empty_cache()
    with engine._fail_allocations(1):
        x = np.ones(1000) if ASYNC else None
        with pytest.raises(MemoryError, match=r"test_engine_api\.py"):
            (x if ASYNC else np.ones(1000)).wait_to_read()
    assert np.ones(10).sum().item() == 10


# ---- guards


def test_sync_guard_raises() -> None:
    x = np.ones(2)
    one = np.ones(())
    hidden = [
        *[lambda: x.asnumpy(), lambda: x.tolist(), lambda: one.item(), lambda: float(one), lambda: int(one)],
        *[lambda: bool(one), lambda: complex(one), lambda: print(x), lambda: repr(x), lambda: f"{x}"],
        *[lambda: numpy.asarray(x), lambda: memoryview(x), lambda: numpy.from_dlpack(x), lambda: 1.0 in x],
    ]
    with engine.sync_guard("raise"):
        for read in hidden:
            with pytest.raises(errors.SyncError):
                read()
        x.wait_to_read()
        npx.waitall()
        x.is_ready()
        y = (x + 1).sum()
    assert y.item() == 4


def test_sync_guard_warns() -> None:
    x = np.ones(())
    with engine.sync_guard("warn"), pytest.warns(errors.SyncWarning) as caught:
        assert float(x) == 1
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="mode"):
        engine.sync_guard("shout")  # type: ignore[arg-type]
    assert float(x) == 1


def test_sync_guard_is_for_its_thread() -> None:
    seen: list[float] = []
    x = np.ones(())
    with engine.sync_guard("raise"):
        thread = threading.Thread(target=lambda: seen.append(float(x)))
        thread.start()
        thread.join()
    assert seen == [1.0]


# ---- asyncio


def test_await() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    async def main() -> list[float]:
        ticker = asyncio.create_task(tick())
        x, y = await asyncio.gather(wait(slow(0.05, 1)), wait(slow(0.05, 2) + 1))
        ticker.cancel()
        return [x.item(), y.item()]

    async def wait(x: Any) -> Any:
        return await x

    assert asyncio.run(main()) == [1, 3]
    if ASYNC:
        assert ticks > 3


def test_await_raises_what_failed() -> None:
    def bad() -> Any:
        time.sleep(0.02)
        raise KeyError("lost")

    async def main() -> None:
        await (npx.host_call(bad, [], ()) + 1)

    with pytest.raises(KeyError, match="lost"):
        asyncio.run(main())


# ---- traces


def test_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    npx.waitall()
    with profiler.trace(path) as trace:
        x = np.ones((64, 64))
        y = (x @ x).sum()
        y.wait_to_read()
    runs = [event for event in trace.events if event["type"] == "run"]
    records = [event for event in trace.events if event["type"] == "record"]
    assert len(records) >= 3 and runs
    assert any("(64, 64) float32" in event["shapes"] for event in runs)
    assert any(event["source"][0] == __file__ for event in records)
    for run in runs:
        assert run["recorded_ns"] <= run["start_ns"] <= run["end_ns"]
    data = json.loads(path.read_text())
    phases = {event["ph"] for event in data["traceEvents"]}
    assert {"M", "X"} <= phases
    slices = [event for event in data["traceEvents"] if event["ph"] == "X"]
    assert len(slices) == len(trace.events)
    assert all(event["dur"] > 0 and event["ts"] >= 0 for event in slices)
    assert any("test_engine_api.py" in event["args"]["source"] for event in slices)
    starts = [event for event in data["traceEvents"] if event["ph"] == "s"]
    ends = [event for event in data["traceEvents"] if event["ph"] == "f"]
    assert sorted(event["id"] for event in starts) == sorted(event["id"] for event in ends)
    assert any(event["name"] == "recorded" for event in starts)
    names = {event["args"]["name"] for event in data["traceEvents"] if event["ph"] == "M"}
    assert {"front end (Python)", "back end", "Python thread 0"} <= names


def test_trace_checks_its_path_when_it_begins(tmp_path: Path) -> None:
    entered = False
    with pytest.raises(FileNotFoundError), profiler.trace(tmp_path / "none" / "trace.json"):
        entered = True
    with pytest.raises(TypeError, match=r"trace: path .* not 3"):
        profiler.trace(3)  # type: ignore[arg-type]
    assert not entered
    with profiler.trace():  # nothing is left running
        pass


def test_trace_has_arrows_for_dependencies() -> None:
    with engine.no_fuse(), profiler.trace() as trace:
        x = np.ones((32, 32))
        y = x @ x
        z = y @ y
        z.wait_to_read()
    if ASYNC:
        arrows = [
            event for event in profiler.chrome_events(trace.events) if event["ph"] == "s" and event["name"] == "needs"
        ]
        assert arrows


def test_each_call_of_a_fused_run_has_an_arrow() -> None:
    x = np.random.uniform(size=(100, 100))
    npx.waitall()
    with profiler.trace() as trace:
        ((np.tanh(x) * x + 1).sum() * 2).wait_to_read()
    recorded = {event["sequence"] for event in trace.events if event["type"] == "record"}
    runs = [event for event in trace.events if event["type"] == "run"]
    assert len(recorded) == 5
    assert sorted(call for run in runs for call in run["calls"]) == sorted(recorded)
    arrows = [event for event in profiler.chrome_events(trace.events) if event["ph"] == "s"]
    assert sum(event["name"] == "recorded" for event in arrows) == len(recorded)


@pytest.mark.skipif(not ASYNC, reason="the synchronous engine computes inside the call")
def test_what_was_recorded_before_the_trace_has_no_time_of_that() -> None:
    gate = threading.Event()
    held = npx.host_call(lambda: float(gate.wait(20)), [], ())
    with profiler.trace() as trace:
        threading.Timer(0.05, gate.set).start()
        (held + 1).wait_to_read()
    slices = [event for event in profiler.chrome_events(trace.events) if event["ph"] == "X"]
    known = {event["name"]: "recorded_us" in event["args"] for event in slices if event["cat"] == "run"}
    assert known == {"host_call": False, "add": True}
    (wait,) = (event for event in slices if event["cat"] == "wait")
    assert wait["args"]["shapes"] == "() float32"


@only_async
def test_brief_work_left_behind_wakes_all_workers() -> None:
    """While a program records, brief tasks wake no worker more than there is a core for; when it does something else,
    without waiting, the others come."""
    lines = [np.random.normal(size=(20_000,)) for _ in range(100)]  # each is sorted by one thread
    npx.waitall()
    with profiler.trace() as trace:
        for _ in range(5):  # a worker may be late once
            made = [np.sort(line) for line in lines]
            while engine.stats()["in_flight_ops"]:
                time.sleep(0.01)
            del made
    lanes = {event["lane"] for event in trace.events if event["type"] == "run"}
    assert len(lanes) >= min(2, engine.workers())


def test_traces_do_not_nest() -> None:
    with profiler.trace(), pytest.raises(RuntimeError, match="trace"), profiler.trace():
        pass
    with profiler.trace() as trace:
        np.ones(2).wait_to_read()
    assert trace.events


def test_timer() -> None:
    with profiler.timer() as timing:
        x = np.ones((300, 300))
        for _ in range(5):
            x = x @ x * 1e-3
    assert timing.total >= timing.issue > 0
    assert timing.compute > 0
    assert timing.total == pytest.approx(timing.issue + timing.waited + timing.queued, rel=0.05, abs=1e-3)
    assert timing.operations
    assert "issue" in str(timing)


def test_callbacks_of_one_array_are_called_in_order() -> None:
    with_many = npx.host_call(lambda: 1.0, [], ())
    called: list[int] = []
    for number in range(5000):  # so many that a wait of each for all before it would show
        with_many.add_done_callback(lambda _, number=number: called.append(number))
    npx.waitall()
    assert called == list(range(5000))
