"""Measuring: best of several, workers held still, memory sampled over time, and the machine it all ran on."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy

from slipstream import _core, engine, npx

T = TypeVar("T")


@dataclass(frozen=True)
class Check:
    """Something about the results that had to hold, and whether it did."""

    text: str
    right: bool


def timed(program: Callable[[], T]) -> tuple[float, T]:
    """Seconds and result of one run."""
    start = time.perf_counter()
    result = program()
    return time.perf_counter() - start, result


def turns(repeats: int, seconds: float) -> Iterator[int]:
    """Counts repeats, but ends early once so much time has gone by: a slow or busy machine repeats less."""
    end = time.perf_counter() + seconds
    for turn in range(repeats):
        if turn and time.perf_counter() > end:
            return
        yield turn


def best(repeats: int, program: Callable[[], Any], seconds: float = 1.0) -> float:
    """Seconds of the quickest of several runs: what the machine can do when nothing disturbs it."""
    return min(timed(program)[0] for _ in turns(repeats, seconds))


def close(ours: Any, expected: Any, tolerance: float = 1e-4) -> bool:
    """Equal up to rounding, measured against the largest value."""
    ours, expected = numpy.asarray(ours, dtype=float), numpy.asarray(expected, dtype=float)
    scale = float(numpy.abs(expected).max(initial=1.0))
    return ours.shape == expected.shape and bool(numpy.abs(ours - expected).max(initial=0.0) <= tolerance * scale)


@contextmanager
def workers_held() -> Iterator[Callable[[], None]]:
    """Keeps every worker busy with nothing, so that calls are recorded but not run; gives what releases them."""
    gate = threading.Event()
    arrived = threading.Semaphore(0)

    def hold() -> Any:
        arrived.release()
        gate.wait()
        return numpy.float32(0)

    held = [npx.host_call(hold, [], ()) for _ in range(engine.workers())]
    try:
        for _ in held:
            if not arrived.acquire(timeout=10):
                raise RuntimeError("tour: a worker did not come")
        yield gate.set
    finally:
        gate.set()
        for one in held:
            one.wait_to_read()


# ---- memory over time


@dataclass(frozen=True)
class Sample:
    """Memory at one moment."""

    seconds: float
    in_use: int  # bytes that arrays use, beyond those at the start
    resident: int  # bytes of the process in RAM, beyond what it had at the start
    in_flight: int  # calls recorded and not finished


def resident_bytes() -> int:
    """Memory of this process that is in RAM; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def give_back_memory() -> None:
    """Returns what is cached, by the engine and by the C library, so that the process is as small as its arrays."""
    npx.waitall()
    engine.empty_cache()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
    if trim is not None:
        trim(0)


@dataclass
class Sampler:
    """In a `with` block, a thread notes the memory every few milliseconds."""

    every: float = 0.004
    samples: list[Sample] = field(default_factory=list)

    def __enter__(self) -> Sampler:
        self._start, self._resident = time.perf_counter(), resident_bytes()
        self.before = engine.memory()["in_use"]
        self._end = threading.Event()
        self._note()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._note()

    def _run(self) -> None:
        while not self._end.wait(self.every):
            self._note()

    def _note(self) -> None:
        now = time.perf_counter() - self._start
        resident = max(0, resident_bytes() - self._resident)
        in_use = max(0, engine.memory()["in_use"] - self.before)
        self.samples.append(Sample(now, in_use, resident, engine.stats()["in_flight_ops"]))


# ---- the machine


@dataclass(frozen=True)
class Machine:
    """Where the figures come from."""

    processor: str
    cores: int
    memory: int
    system: str
    python: str
    numpy: str
    slipstream: str
    workers: int
    vectors: str
    load: float  # how many programs wanted a core when the tour began


def processor_name() -> str:
    """The processor's own name for itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> Machine:
    """This machine, as it is now."""
    from slipstream import __version__

    return Machine(
        processor=processor_name(),
        cores=usable_cores(),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        numpy=numpy.__version__,
        slipstream=__version__,
        workers=engine.workers(),
        vectors=_core.isa(),
        load=os.getloadavg()[0],
    )
