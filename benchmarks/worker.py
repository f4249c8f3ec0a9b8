"""The process in which a peer runs: `python -m benchmarks.worker PEER`. Orders and answers are lines of JSON."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

from .peers import PEERS, NumPy, Peer, hold_to_two_cores
from .workload import COMPILED, NO_SKIP, Workload, find


def resident(field: str) -> int:
    """Bytes of this process in memory: `VmRSS` now, `VmHWM` at most since `forget_peak`; 0 where nobody knows."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":")), 0)


def forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


class Prepared:
    """A workload set up in a peer, checked, ready to be timed."""

    def __init__(self, peer: Peer, workload: Workload, variant: str, quick: bool) -> None:
        self.peer = peer.variant(variant == COMPILED)
        self.skipping_off = variant == NO_SKIP
        self.units = workload.units(quick)
        self.before = resident("VmRSS")
        parameters = workload.parameters(quick)
        self.peer.prepare(str(parameters.get("dtype", "float32")))
        given = {**parameters, **workload.ours.get(variant, {})}
        self.run, self.finish = pair(workload.setup(self.peer, **given))
        with self.settings():
            result = on_host(self.peer, self.finish(self.run()))
        check(workload, result, parameters)

    def settings(self) -> contextlib.AbstractContextManager[Any]:
        return self.peer.without_skipping() if self.skipping_off else contextlib.nullcontext()

    def shot(self, seconds: float) -> dict[str, Any]:
        """Runs for about so long; seconds of a unit: of the quickest run and of the middle one."""
        taken: list[float] = []
        clock, end = time.perf_counter, time.perf_counter() + seconds
        gc.collect()
        gc.disable()
        forget_peak()
        try:
            with self.settings():
                while not taken or (clock() < end and len(taken) < 10_000):
                    start = clock()
                    result = self.run()
                    taken.append(clock() - start)
                    self.finish(result)
                    del result
        finally:
            gc.enable()
        return {
            "best": min(taken) / self.units,
            "median": statistics.median(taken) / self.units,
            "runs": len(taken),
            "seconds": sum(taken),
            "memory": max(0, resident("VmHWM") - self.before),
        }


def pair(made: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return made if isinstance(made, tuple) else (made, lambda result: result)


def on_host(peer: Peer, result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return [peer.numpy(part) for part in result]
    return peer.numpy(result)


def check(workload: Workload, result: Any, parameters: Any) -> None:
    """Raises where a result is not NumPy's, up to rounding."""
    if workload.check is not None:
        if not workload.check(result):
            raise ArithmeticError("wrong result: it does not pass the workload's check")
        return
    peer = NumPy()
    run, finish = pair(workload.setup(peer, **parameters))
    expected = on_host(peer, finish(run()))
    pairs = zip(result, expected, strict=True) if isinstance(expected, list) else [(result, expected)]
    for ours, theirs in pairs:
        if ours.shape != theirs.shape:
            raise ArithmeticError(f"wrong result: shape {ours.shape}, NumPy has {theirs.shape}")
        scale = max(1.0, float(numpy.abs(theirs).max(initial=0.0)))
        error = float(numpy.abs(ours - theirs).max(initial=0.0)) / scale
        if not error <= workload.tolerance:
            raise ArithmeticError(f"wrong result: off by {error:.2g} of the largest value from NumPy's")


class Worker:
    """Carries out orders: `prepare`, `shot`, `drop`."""

    def __init__(self, name: str) -> None:
        self.peer = PEERS[name]()
        self.held: dict[str, Prepared] = {}

    def prepare(self, workload: str, variant: str, quick: bool) -> dict[str, Any]:
        start = time.perf_counter()
        self.held[variant] = Prepared(self.peer, find([workload])[0], variant, quick)
        return {"seconds": time.perf_counter() - start}

    def shot(self, variant: str, seconds: float) -> dict[str, Any]:
        return self.held[variant].shot(seconds)

    def drop(self) -> dict[str, Any]:
        self.held.clear()
        gc.collect()
        return {}


def explain(error: BaseException) -> str:
    """One line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def main(name: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # libraries print what they like: not among the answers

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")

    hold_to_two_cores()
    try:
        worker = Worker(name)
    except ImportError as error:
        return answer({"error": explain(error)})
    answer({"version": worker.peer.version()})
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer(getattr(worker, order.pop("do"))(**order))
        except Exception as error:
            answer({"error": explain(error)})
    return None


if __name__ == "__main__":
    main(sys.argv[1])
