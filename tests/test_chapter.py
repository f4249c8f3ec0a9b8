"""The statements of the book's chapter on computational performance, each as a test that has its number.

What the book shows with a clock is shown here by what is ready, and by the order of events in a trace: no test looks at
a clock, so none fails on a busy machine. `slipstream tour` measures the same on the user's machine. A10, the same
meaning from other front ends, is shown by the tests of the core in C++.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import pytest

from slipstream import engine, np, npx, profiler

ASYNC = engine.kind() == "async"
only_async = pytest.mark.skipif(not ASYNC, reason="the synchronous engine computes inside the call")

Event = dict[str, Any]


@contextmanager
def gate() -> Iterator[Any]:
    """A scalar 1 that is not ready before the block ends, so neither is anything that depends on it."""
    opened = threading.Event()
    try:
        yield npx.host_call(lambda: (opened.wait(60), numpy.float32(1))[1], [], ())
    finally:
        opened.set()


@contextmanager
def workers(n: int) -> Iterator[None]:
    before = engine.set_workers(n)
    try:
        yield
    finally:
        engine.set_workers(before)


def runs(trace: profiler.Trace, name: str = "") -> list[Event]:
    return [event for event in trace.events if event["type"] == "run" and name in event["name"]]


def waits(trace: profiler.Trace) -> list[Event]:
    return [event for event in trace.events if event["type"] == "wait"]


# ---- asynchronous computation


@only_async
def test_A1_a_call_returns_before_its_result_exists() -> None:
    a = np.ones((100, 100))
    with gate() as one:
        products = [np.dot(a * one, a) for _ in range(10)]  # would never return if it had to compute
        assert not any(b.is_ready() for b in products)
    assert [b[0, 0].item() for b in products] == [100] * 10


def test_A2_waitall_returns_when_all_is_complete() -> None:
    arrays = [np.ones((60, 60), device=npx.cpu(i % 3)) @ np.ones((60, 60), device=npx.cpu(i % 3)) for i in range(12)]
    slow = npx.host_call(lambda: (threading.Event().wait(0.05), numpy.float32(1))[1], [], ())
    npx.waitall()
    assert all(x.is_ready() for x in (*arrays, slow))
    assert engine.stats()["in_flight_ops"] == 0


@only_async
def test_A3_wait_to_read_waits_for_its_array_alone() -> None:
    z = np.ones((50, 50)) @ np.ones((50, 50))
    with gate() as one:
        queue = [np.ones((50, 50)) * one for _ in range(20)]
        z.wait_to_read()
        assert z.is_ready()
        assert not any(x.is_ready() for x in queue)
    npx.waitall()
    assert all(x.is_ready() for x in queue)


@only_async
def test_A4_for_one_operation_waitall_and_wait_to_read_are_the_same() -> None:
    """Each is one wait, which begins before the operation ends, and ends after it."""
    for wait in (lambda x: x.wait_to_read(), lambda x: npx.waitall()):
        for _ in range(50):  # in one of them, on any machine, the wait has begun when the gate opens
            npx.waitall()
            opened = threading.Event()
            with profiler.trace() as trace:
                b = npx.host_call(lambda opened=opened: (opened.wait(60), numpy.float32(1))[1], [], ())
                threading.Timer(0.02, opened.set).start()
                wait(b)
            assert b.is_ready()
            (run,) = runs(trace)
            if waits(trace):
                break
        (waited,) = waits(trace)
        assert waited["start_ns"] < run["end_ns"] <= waited["end_ns"]


def test_A5_reads_wait_and_give_the_finished_value(capsys: pytest.CaptureFixture[str]) -> None:
    def chain() -> Any:
        x = np.zeros(())
        for _ in range(300):
            x = x + 1
        return x

    assert repr(chain()) == "array(300.)"
    assert str(chain()) == "300.0"
    print(chain())
    assert capsys.readouterr().out == "300.0\n"
    assert f"{chain():.1f}" == "300.0"
    assert chain().asnumpy() == 300
    assert chain().item() == 300
    assert float(chain()) == 300
    assert int(chain()) == 300
    assert bool(chain()) is True
    assert chain().tolist() == 300


def test_A6_dependencies_are_kept() -> None:
    rng = numpy.random.default_rng(6)
    start = rng.normal(size=(40, 40)).astype("float32")
    ours, theirs = np.array(start), start.copy()
    for step in range(60):
        for x in (ours, theirs):
            part = x[step % 7 :: 3]
            part += 1
            x[:, step % 5] = x[step % 40] * 0.5
            x -= x.mean() * 0.1
        if step % 10 == 0:
            numpy.testing.assert_allclose(ours.asnumpy(), theirs, rtol=1e-3, atol=1e-3)
    numpy.testing.assert_allclose(ours.asnumpy(), theirs, rtol=1e-3, atol=1e-3)


@only_async
def test_A6_dependent_operations_do_not_run_in_parallel() -> None:
    npx.waitall()
    with workers(4), profiler.trace() as trace:
        x = np.ones((200, 200))
        for _ in range(8):
            x = x @ x * 0.005
        x.wait_to_read()
    by_call: dict[int, tuple[int, int]] = {}
    for run in runs(trace):
        start, end = by_call.get(run["sequence"], (run["start_ns"], run["end_ns"]))
        by_call[run["sequence"]] = min(start, run["start_ns"]), max(end, run["end_ns"])
    checked = 0
    for run in runs(trace):
        for earlier in set(run["after"]) & by_call.keys():
            assert by_call[earlier][1] <= run["start_ns"]
            checked += 1
    assert checked >= 8


def test_A7_the_books_first_example() -> None:
    x, y = np.ones((1, 2)), np.ones((1, 2))
    assert repr(x * y + 2) == "array([[3., 3.]])"


@only_async
def test_A8_increments_are_recorded_while_others_run() -> None:
    """Without waits, the front end is through with all 10,000 before the first has its turn."""
    x = np.ones((1, 2))
    with engine.limits(ops=20_000):
        with gate() as one:
            y = x * one
            for _ in range(10_000):
                y = y + 1
            assert not y.is_ready()
            assert engine.stats()["in_flight_ops"] > 10_000
        assert y.tolist() == [[10_001, 10_001]]
    npx.waitall()
    with profiler.trace() as trace:  # with waits, each takes its turn through the whole way
        y = x
        for _ in range(20):
            y = y + 1
            y.wait_to_read()
    done = sorted(runs(trace), key=lambda run: run["sequence"])
    recorded = sorted((e for e in trace.events if e["type"] == "record"), key=lambda record: record["sequence"])
    assert len(done) == len(recorded) == 20
    for run, later in zip(done[:-1], recorded[1:], strict=True):
        assert run["sequence"] < later["sequence"] and run["end_ns"] <= later["start_ns"]


@only_async
def test_A9_the_python_thread_does_not_compute() -> None:
    """All runs that end before Python waits are on workers' lanes; a Python loop goes on beside them."""
    npx.waitall()
    a = np.ones((200, 200))
    with profiler.trace() as trace:
        products = [np.dot(a, a) for _ in range(10)]
        counted = 0
        while not all(x.is_ready() for x in products):
            counted += 1
    assert counted
    assert runs(trace)
    assert all(run["lane"] >= 0 for run in runs(trace))


@only_async
def test_A11_without_waits_memory_is_bounded_all_the_same() -> None:
    """The book's system needs a wait for each minibatch; here the call beyond the limit waits by itself."""
    npx.waitall()
    engine.reset_peaks()
    limit = 1 << 20
    before = engine.memory()["in_use"]
    with engine.limits(bytes=limit), engine.no_skip():
        x = np.ones((128, 128))
        for _ in range(200):
            y = x + 1
        y.wait_to_read()
    assert engine.stats()["peak_bytes"] <= limit
    assert engine.memory()["peak"] - before <= limit + 3 * y.nbytes


@only_async
def test_A12_each_small_conversion_is_a_wait() -> None:
    x = np.ones((10, 10))
    npx.waitall()
    with profiler.trace() as often:
        for number in range(20):
            (x + number).sum().item()
    npx.waitall()
    with profiler.trace() as once:
        total = np.zeros(())
        for number in range(20):
            total += (x + number).sum()
        total.item()
    assert len(waits(once)) <= 1 < len(waits(often)) <= 20


# ---- automatic parallelism


@only_async
def test_P1_independent_work_on_two_devices_runs_side_by_side() -> None:
    """Each of the two ends only when the other has begun."""
    meeting = threading.Barrier(2, timeout=60)

    def meet(x: Any) -> Any:
        meeting.wait()
        return x + 1

    with workers(2):
        results = []
        for device in (npx.cpu(1), npx.cpu(2)):
            x = np.ones((10, 10), device=device)
            results.append(npx.host_call(meet, [x @ x], (10, 10)))
        assert [x[0, 0].item() for x in results] == [11, 11]
        assert [x.device for x in results] == [npx.cpu(1), npx.cpu(2)]


@only_async
def test_P2_one_product_uses_all_threads() -> None:
    """It is cut into parts, which several threads take: not each time on a busy machine, but in one of many times."""
    with workers(2):
        a = np.ones((700, 700))
        for _ in range(50):
            npx.waitall()
            with profiler.trace() as trace:
                np.dot(a, a).wait_to_read()
            parts = runs(trace, "matmul") or runs(trace, "dot")
            assert sum(run["chunks"] for run in parts) > 1
            if len({run["lane"] for run in parts}) > 1:
                return
    pytest.fail("no product was run by more than one thread")


def test_P3_copyto_gives_an_equal_array_of_its_own() -> None:
    y = np.random.uniform(size=(20, 20), ctx=npx.cpu(1))
    copied = y.copyto(npx.cpu())
    assert (copied.ctx, y.ctx) == (npx.cpu(0), npx.cpu(1))
    assert (copied.asnumpy() == y.asnumpy()).all()
    before = copied.asnumpy()
    y += 1
    assert (copied.asnumpy() == before).all()
    target = np.zeros((20, 20), device=npx.cpu(2))
    y.copyto(target)
    assert (target.asnumpy() == y.asnumpy()).all()


@only_async
def test_P4_copies_go_on_while_others_compute() -> None:
    """The first result has arrived on the other device while the second is still held up."""
    a = np.ones((50, 50), device=npx.cpu(1))
    with gate() as one:
        first = (a @ a).copyto(npx.cpu())
        second = (a * one.copyto(npx.cpu(1))).copyto(npx.cpu())
        first.wait_to_read()
        assert first[0, 0].item() == 50
        assert not second.is_ready()
    assert second[0, 0].item() == 1


@only_async
def test_P5_a_result_is_copied_after_it_was_computed() -> None:
    with gate() as one:
        y = np.ones((30, 30)) * one
        for _ in range(20):
            y = y + 1
        copied = y.copyto(npx.cpu(1))
        assert not copied.is_ready()
    assert (copied.asnumpy() == 21).all()


@only_async
@pytest.mark.parametrize("count", [2, 4])
def test_P7_small_independent_operations_of_one_device_run_in_parallel(count: int) -> None:
    meeting = threading.Barrier(count, timeout=60)
    with workers(count):
        results = [npx.host_call(lambda: (meeting.wait(), numpy.float32(1))[1], [], ()) for _ in range(count)]
        assert sum(x.item() for x in results) == count


@only_async
def test_P8_waitall_covers_all_devices() -> None:
    npx.waitall()
    with gate() as one:
        pending = [one.copyto(npx.cpu(i)) + i for i in range(1, 4)]
        assert not any(x.is_ready() for x in pending)
    npx.waitall()
    assert all(x.is_ready() for x in pending)
    assert [x.item() for x in pending] == [2, 3, 4]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_P9_arrays_are_made_and_used_on_a_chosen_device(number: int) -> None:
    device = npx.cpu(number)
    x = np.random.uniform(size=(20, 20), ctx=device)
    y = x.dot(x)
    for array in (x, y, y.sum(), x[0], x.T, np.tanh(x), np.concatenate([x, y])):
        assert array.ctx == array.device == device
    other = np.ones((20, 20), device=npx.cpu(number + 1))
    with pytest.raises(ValueError, match="device"):
        x + other
