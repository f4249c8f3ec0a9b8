"""Fork with work in flight: both sides compute on, or say clearly why not. Nothing hangs."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from child import run

# What a child does, and how the parent waits for it: never longer than some seconds.
FORK = """
def forked(work):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            sys.stdout.flush(); sys.stderr.flush()
            os._exit(code)
    return pid
def joined(pid, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got, status = os.waitpid(pid, os.WNOHANG)
        if got:
            assert os.waitstatus_to_exitcode(status) == 0, os.waitstatus_to_exitcode(status)
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("the child hangs")
def compute():
    x = np.ones((64, 64))
    assert (x @ x).sum().item() == 64 ** 3
    a = np.random.default_rng(1).normal(size=1000)
    b = np.random.default_rng(1).normal(size=1000)
    assert bool((a == b).all())
    npx.waitall()
"""

SCENES = {
    "nothing yet": "joined(forked(compute)); compute()",
    "finished work": "compute(); joined(forked(compute)); compute()",
    "work in flight": """
        x = np.ones((300, 300))
        for _ in range(30):
            x = x @ x * 1e-3
        def child():
            assert numpy.isfinite(x.asnumpy()).all()
            (x + 1).wait_to_read()
            compute()
        pid = forked(child)
        (x + 1).wait_to_read()
        joined(pid)
    """,
    "a host call in flight": """
        x = slow(0.3, 7)
        def child():
            try:
                assert (x + 1).item() == 8
            except errors.SlipstreamError as error:
                assert "fork" in str(error)
            compute()
        pid = forked(child)
        assert (x + 1).item() == 8
        joined(pid)
        compute()
    """,
    "in place on both sides": """
        x = np.zeros(1000)
        for _ in range(200):
            x += 1
        def child():
            global x
            x += 5
            assert x[3].item() == 205
        pid = forked(child)
        x -= 5
        assert x[3].item() == 195
        joined(pid)
    """,
    "other threads record": """
        stop = threading.Event()
        def work():
            x = np.zeros(100)
            while not stop.is_set():
                x += 1
                y = (x * 2).sum()
                if y.item() != 200 * x[0].item():
                    os._exit(9)
        threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
        for t in threads: t.start()
        for _ in range(6):
            pid = forked(compute)
            compute()
            joined(pid)
        stop.set()
        for t in threads: t.join(20)
        assert not any(t.is_alive() for t in threads)
    """,
    "another thread waits": """
        x = slow(0.5, 3)
        seen = []
        t = threading.Thread(target=lambda: seen.append((x + 1).item()))
        t.start()
        time.sleep(0.1)
        pid = forked(compute)
        compute()
        joined(pid)
        t.join(20)
        assert seen == [4.0]
    """,
    "a thread forks": """
        def work():
            compute()
            joined(forked(compute))
        t = threading.Thread(target=work)
        t.start()
        compute()
        t.join(40)
        assert not t.is_alive()
    """,
    "inside a host call": """
        def fork_here():
            joined(forked(compute))
            return numpy.float32(5)
        x = npx.host_call(fork_here, [], ())
        assert (x + 1).item() == 6
        compute()
    """,
    "children of children": """
        def child():
            compute()
            joined(forked(lambda: (compute(), joined(forked(compute)))))
            compute()
        joined(forked(child))
        compute()
    """,
    "many": """
        pids = []
        x = np.ones(100)
        for i in range(12):
            x = x + 1
            pids.append(forked(lambda want=i + 2: (compute(), (x[0].item() == want) or os._exit(7))))
        for pid in pids: joined(pid)
        assert x[0].item() == 13
    """,
    "under limits": """
        with engine.limits(ops=4):
            x = slow(0.2)
            for _ in range(20):
                x = x + 1
            joined(forked(compute))
            assert x.item() == 21
    """,
    "a child that exits as usual": """
        pid = os.fork()
        if pid == 0:
            compute()
            sys.exit(0)
        joined(pid)
        compute()
    """,
    "a trace": """
        from slipstream import profiler
        with profiler.trace() as trace:
            x = np.ones(10) + 1
            joined(forked(compute))
            x.wait_to_read()
        assert trace.events
    """,
}


@pytest.mark.parametrize("scene", SCENES)
def test_fork(scene: str) -> None:
    run(FORK + textwrap.dedent(SCENES[scene]), timeout=60)


def test_fork_behind_pythons_back() -> None:
    """A fork of which Python's hooks know nothing: the child has the value, or says that only the parent has."""
    program = """
        import ctypes
        sys.setswitchinterval(100)  # CPython's child stands still for ever where a thread had asked for the GIL
        x = slow(0.5, 7)
        y = x + 1
        done = np.ones(3)
        done.wait_to_read()
        pid = ctypes.PyDLL(None).fork()
        if pid == 0:
            try:
                try:
                    if y.item() != 8:
                        os._exit(3)
                except errors.SlipstreamError as error:
                    if "fork" not in str(error):
                        os._exit(4)
                if done.sum().item() != 3 or (done + 1).sum().item() != 6:
                    os._exit(5)
            except BaseException:
                os._exit(6)
            os._exit(0)
        assert y.item() == 8
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code == 0, code
    """
    run(program, timeout=30)


POOL = """
import multiprocessing, os, sys, time
import numpy
from slipstream import np, npx
def square(n):
    x = np.full((n, n), 2.0)
    return float((x @ x).sum().item())
def double(x):
    return x * 2
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    busy = np.ones((200, 200))
    for _ in range(10):
        busy = busy @ busy * 5e-3
    with context.Pool(3) as pool:
        assert pool.map(square, range(1, 9)) == [4.0 * n ** 3 for n in range(1, 9)]
        back = pool.map(double, [np.arange(3), np.arange(4)])
        assert [x.tolist() for x in back] == [[0, 2, 4], [0, 2, 4, 6]]
    assert numpy.isfinite(busy.asnumpy()).all()
    process = context.Process(target=square, args=(5,))
    process.start()
    process.join(30)
    assert process.exitcode == 0
    print("fine")
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method: str, tmp_path: Path) -> None:
    path = tmp_path / "pool.py"
    path.write_text(POOL)
    done = subprocess.run([sys.executable, str(path), method], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "fine"
