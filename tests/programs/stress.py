"""A run of everything that threads can get wrong, for the sanitizers: no pytest, no fork, seconds instead of minutes.

python tests/programs/stress.py [programs]
"""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import suppress
from typing import Any

import check
import numpy
import replay
from generate import generate

from slipstream import engine, np, npx, profiler


def programs(count: int) -> None:
    """Random programs in some settings, those with threads included."""
    names = ("2 workers", "8 workers", "one by one, 8 workers", "all at once", "no fusion")
    check.check_block(range(count), tuple(replay.BY_NAME[name] for name in names), numpy_too=False)
    for seed in range(count // 8):
        program = generate(10**6 + seed, least=60, most=100, threads=6)
        for name in names[1:3]:
            found = check.compare(program, replay.BY_NAME[name])
            assert not found, f"{program}\n{found}"


def failing_allocations(count: int) -> None:
    for every in range(1, 8):
        for seed in range(count // 10):
            with suppress(MemoryError, NameError), engine._fail_allocations(every):
                replay.run(generate(seed), replay.BY_NAME["2 workers"])
            with suppress(BaseExceptionGroup):
                npx.waitall()


def callbacks_and_awaits() -> None:
    done: list[int] = []

    async def main() -> float:
        async def one(number: int) -> float:
            x = await npx.host_call(lambda: numpy.float32(number), [], ())
            x.add_done_callback(lambda _: done.append(number))
            return float((x + 1).item())

        return sum(await asyncio.gather(*(one(number) for number in range(30))))

    assert asyncio.run(main()) == sum(range(1, 31))
    npx.waitall()
    assert len(done) == 30


def settings_change_while_threads_record() -> None:
    """Limits, workers, traces and figures, all while others work."""
    stop = threading.Event()
    totals: list[float] = []

    def work() -> None:
        x = np.zeros((50, 50))
        while not stop.is_set():
            x += 1
            y = (x @ x).sum()
            if y.item() < 0 or not bool((x == x[0, 0]).all()):
                raise AssertionError("wrong numbers")
        totals.append(x[0, 0].item())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(20):
        with engine.limits(ops=20 + number, cache=0), profiler.trace() as trace:
            engine.set_workers(1 + number % 4)
            engine.stats(), engine.memory(), engine.explain(), engine.empty_cache()
            np.ones((64, 64)).sum().item()
        assert trace.events
    stop.set()
    for thread in threads:
        thread.join()
    assert len(totals) == 3


def errors_from_many_threads() -> None:
    def bad() -> Any:
        raise KeyError("lost")

    def work() -> None:
        for _ in range(20):
            x = npx.host_call(bad, [], ())
            y = x + 1
            for z in (x, y):
                with suppress(KeyError):
                    z.wait_to_read()
                    raise AssertionError("no error")

    replay.in_threads([work] * 4)


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    parts = [lambda: programs(count), lambda: failing_allocations(count), callbacks_and_awaits]
    parts += [settings_change_while_threads_record, errors_from_many_threads]
    for part in parts:
        part()
        with suppress(BaseExceptionGroup):
            npx.waitall()
        print(".", end="", flush=True)
    print(f" {engine.stats()['recorded']} operations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
