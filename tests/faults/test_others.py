"""Waits, while others compute, wait and fail: nobody runs, holds or misses what is another's."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from child import run

from slipstream import engine

needs_async = pytest.mark.skipif(engine.kind() == "sync", reason="each call ends before the next begins")


def test_a_host_call_reads_what_another_thread_is_about_to_write() -> None:
    run("""
        x = np.ones(4)
        inside = threading.Event()
        def read():
            inside.set()
            time.sleep(0.1)
            return x.asnumpy()
        def write():
            inside.wait()
            x.__iadd__(1)
        writer = threading.Thread(target=write)
        writer.start()
        seen = npx.host_call(read, [], (4,)).tolist()
        writer.join()
        assert seen in ([1] * 4, [2] * 4), seen
        assert x.tolist() == [2] * 4
    """)


@needs_async
def test_a_waiting_host_call_runs_no_other_that_it_does_not_need() -> None:
    # The second call can begin when `value` is there, and waits for the first, which ends only after its own wait.
    run("""
        engine.set_workers(1)
        queued = threading.Event()
        def wait_for_value():
            queued.wait()
            value.wait_to_read()
            return numpy.float32(1)
        first = npx.host_call(wait_for_value, [], ())
        time.sleep(0.05)  # it has begun
        value = npx.host_call(lambda: numpy.float32(5), [], ())
        double = first * 2
        second = npx.host_call(lambda _: double.asnumpy(), [value], ())
        threading.Timer(0.1, queued.set).start()
        assert second.item() == 2
    """)


@needs_async
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_host_calls_that_wait_for_each_other_fail(workers: int) -> None:
    run(f"""
        engine.set_workers({workers})
        for calls in (2, 3):
            queued, made = threading.Event(), []
            for i in range(calls):
                def wait_for_next(i=i, made=made, queued=queued):
                    queued.wait()
                    return (made[(i + 1) % calls] + 0).asnumpy()
                made.append(npx.host_call(wait_for_next, [], ()))
            queued.set()
            for array in made:
                try:
                    array.item()
                    raise AssertionError("a circle of waits has ended")
                except RuntimeError as error:
                    assert "or waits for it" in str(error), error
        assert (np.ones(3) + 1).sum().item() == 6
    """)


def test_waits_inside_host_calls_are_in_order() -> None:
    run("""
        engine.set_workers(2)
        x = np.ones((1000, 1000))
        for i in range(30):
            value = np.sin(np.cos(x) + i)
            first = npx.host_call(lambda: value.asnumpy()[0, 0], [], ())
            double = first * 2
            second = npx.host_call(lambda _: double.asnumpy(), [value], ())
            assert second.item() == 2 * value[0, 0].item()
    """)


def test_the_end_of_an_error_may_wait() -> None:
    run("""
        class Owner:
            def __del__(self):
                try:
                    npx.waitall()
                except BaseException:
                    pass
        def fails():
            owner = Owner()
            raise ValueError("no")
        few, outside = np.arange(3), np.array([7])
        for i in range(20):
            for make in (lambda: npx.host_call(fails, [], ()), lambda: few[outside]):
                x = make()
                try:
                    x.wait_to_read()
                except (ValueError, IndexError):
                    pass
                del x
    """)


@needs_async
def test_the_limit_of_operations_holds_where_it_is_small() -> None:
    for most in (1, 2, 7, 8, 20):
        run(f"""
            engine.limits(ops={most})
            x = slow(0.05)
            for _ in range(3 * {most}):
                x = x + 1
            assert x.item() == 3 * {most} + 1
            assert engine.stats()["peak_ops"] <= {most}, engine.stats()
        """)


@needs_async
def test_fewer_threads_than_asked_for() -> None:
    run("""
        import resource
        half = 3 << 30
        resource.setrlimit(resource.RLIMIT_AS, (half, half))
        engine.set_workers(1000)
        assert (np.ones(3) + 1).tolist() == [2, 2, 2]
        assert slow(0.01, 3).item() == 3
        assert 1 <= engine.workers() < 1000, engine.workers()
        assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])
    """)


@pytest.mark.skipif(engine.kind() == "async", reason="of the synchronous engine")
def test_interrupt_while_another_thread_computes() -> None:
    run("""
        inside = threading.Event()
        def compute():
            npx.host_call(lambda: (inside.set(), time.sleep(3), numpy.float32(1))[2], [], ())
        other = threading.Thread(target=compute, daemon=True)
        other.start()
        inside.wait()
        x = numpy.ones(2)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            np.array(x) + 1
            raise SystemExit("not interrupted")
        except KeyboardInterrupt:
            assert time.monotonic() - start < 2
        other.join()
        assert (np.array(x) + 1).tolist() == [2, 2]
        assert engine.stats()["in_flight_ops"] == 0
    """)


@needs_async
def test_what_never_came_is_an_error_after_exit() -> None:
    # Registered before the import, it runs after the engine has ended.
    program = """
import atexit, os, sys, time
def read():
    try:
        print(x)
    except RuntimeError as e:
        print(e)
    sys.stdout.flush()
    os._exit(0)
atexit.register(read)
from slipstream import npx
x = npx.host_call(lambda: time.sleep(60), [], ()) + 1
"""
    environment = os.environ | {"SLIPSTREAM_EXIT_SECONDS": "0.5"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, timeout=60, capture_output=True, text=True)
    assert "still being computed when the interpreter exited" in done.stdout, done


@needs_async
def test_workers_are_replaced_while_others_keep_all_of_them_busy() -> None:
    run("""
        ended = threading.Event()
        def compute():
            a = np.ones((60, 60))
            while not ended.is_set():
                late = npx.host_call(lambda: (time.sleep(0.003), numpy.float32(2))[1], [], ())
                assert ((a @ a) * late).sum().item() == 60**3 * 2
        threads = [threading.Thread(target=compute) for _ in range(4)]
        for thread in threads:
            thread.start()
        for n in (3, 1, 4, 2):
            time.sleep(0.05)
            engine.set_workers(n)
            assert engine.workers() == n
        ended.set()
        for thread in threads:
            thread.join()
    """)


@needs_async
def test_one_core_sees_whole_batches() -> None:
    # A worker that looks whether the front end is quiet must not take the core away that it records on.
    run("""
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        x = np.random.uniform(size=(700, 700))
        fused = 0
        for _ in range(100):
            npx.waitall()
            before = engine.stats()["fused"]
            (x.T * x).sum().item()
            fused += engine.stats()["fused"] > before
        assert fused > 70, fused
    """)
