"""Runs the contenders of a workload turn by turn, each in its own process, and keeps the best of each."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .peers import PEERS
from .results import Row, Timing, key, verdicts
from .workload import COMPILED, NO_SKIP, OURS, SYNC, Workload

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 600.0  # seconds for one order; compilers may be slow, nothing hangs for ever


@dataclass(frozen=True)
class Contender:
    """A peer, and in which way: plainly, compiled, with skipping off, on the synchronous engine, or one of ours."""

    peer: str
    variant: str = ""
    apart: bool = False  # in a process of its own

    @property
    def key(self) -> str:
        return key(self.peer, self.variant)

    @property
    def process(self) -> str:
        """Contenders of one name share a process; another engine needs another process."""
        return self.key if self.variant == SYNC or self.apart else self.peer

    @property
    def order(self) -> str:
        """What the process is told."""
        return "" if self.variant == SYNC else self.variant


def contenders(workload: Workload, peers: Sequence[str]) -> list[Contender]:
    """Who takes part, ours first."""
    found = [Contender(OURS), Contender(OURS, SYNC)]
    if workload.skips:
        found.append(Contender(OURS, NO_SKIP))
    found += [Contender(OURS, way, apart=workload.memory) for way in workload.ours]
    for name in peers:
        if name == OURS or (workload.only and name not in workload.only):
            continue
        found.append(Contender(name))
        if workload.compiled and PEERS[name].compiles:
            found.append(Contender(name, COMPILED))
    return found


class LostError(Exception):
    """The process is not there, or does not answer."""


class Process:
    """A worker process, started when it is first needed and again after it died."""

    def __init__(self, contender: Contender, python: str) -> None:
        self.contender, self.python = contender, python
        self.version = ""
        self.missing = ""  # why it cannot be had at all
        self._running: subprocess.Popen[bytes] | None = None

    def ask(self, patience: float = PATIENCE, **order: Any) -> dict[str, Any]:
        """The answer to an order. Raises LostError if there is none, and RuntimeError with the worker's own reason."""
        if self.missing:
            raise LostError(self.missing)
        if self._running is None:
            self._start(patience)
        self._send(order)
        return self._answer(patience)

    def _start(self, patience: float) -> None:
        environment = {**os.environ, **PEERS[self.contender.peer].environment}
        if self.contender.variant == SYNC:
            environment["SLIPSTREAM_ENGINE"] = "sync"
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        command = [self.python, "-m", "benchmarks.worker", self.contender.peer]
        try:
            self._running = subprocess.Popen(
                command, cwd=ROOT, env=environment, bufsize=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._noise,
            )  # fmt: skip
        except OSError:
            self._noise.close()
            self.missing = "not installed (`make peers`)"
            raise LostError(self.missing) from None
        self._buffer = b""
        try:
            self.version = self._answer(patience)["version"]
        except RuntimeError as error:
            self.missing = str(error)
            self.end()
            raise LostError(self.missing) from None

    def _send(self, order: dict[str, Any]) -> None:
        assert self._running is not None and self._running.stdin is not None
        try:
            self._running.stdin.write(json.dumps(order).encode() + b"\n")
        except BrokenPipeError:
            raise LostError(self._died()) from None

    def _answer(self, patience: float) -> dict[str, Any]:
        assert self._running is not None and self._running.stdout is not None
        end = time.monotonic() + patience
        with selectors.DefaultSelector() as selector:
            selector.register(self._running.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(end - time.monotonic()):
                    self.end()
                    raise LostError(f"no answer within {patience:.0f} s")
                more = os.read(self._running.stdout.fileno(), 1 << 16)
                if not more:
                    raise LostError(self._died())
                self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def _died(self) -> str:
        assert self._running is not None
        status = self._running.wait()
        self._noise.seek(0)
        last = self._noise.read().decode(errors="replace").strip().splitlines()[-1:]
        self.end()
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"the process ended with {how}" + (f": {last[0][:200]}" if last else "")

    def end(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.wait()
            for pipe in (self._running.stdin, self._running.stdout, self._noise):
                if pipe is not None:
                    pipe.close()
            self._running = None


@dataclass
class Effort:
    """How long to measure."""

    quick: bool = False
    rounds: int = 8
    seconds: float = 0.15  # of a turn
    more: int = 1  # further times so many rounds for a row that misses a goal: noise only ever adds time


@dataclass
class Runner:
    """All processes of a session. Use as a context manager: it ends them."""

    peers: Sequence[str]
    pythons: dict[str, str]
    effort: Effort
    processes: dict[str, Process] = field(default_factory=dict)

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            process.end()

    def process(self, contender: Contender) -> Process:
        if contender.process not in self.processes:
            python = self.pythons.get(contender.peer, sys.executable)
            self.processes[contender.process] = Process(contender, python)
        return self.processes[contender.process]

    def versions(self) -> dict[str, str]:
        found = {p.contender.peer: p.version for p in self.processes.values() if p.version}
        return {name: found[name] for name in PEERS if name in found}

    def measure(self, workload: Workload, note: Callable[[str], None] = lambda text: None) -> Row:
        """One row: everybody prepared and checked, then rounds in which each has a turn."""
        row = Row(workload, self.effort.quick)
        live = []
        for contender in contenders(workload, self.peers):
            if workload.memory and (contender.apart or not contender.order):
                self.process(contender).end()  # what another workload left behind would hide this one's memory
            note(f"{workload.name}: {contender.key} prepares")
            order = {"workload": workload.name, "variant": contender.order, "quick": self.effort.quick}
            if self._try(row, contender, do="prepare", **order) is not None:
                live.append(contender)
        for extra in range(1 + self.effort.more):
            if extra and not any(v.missed for v in verdicts(row)):
                break
            for turn in self._turns(live, row):
                note(f"{workload.name}: {turn.key}")
                shot = self._try(row, turn, do="shot", variant=turn.order, seconds=self.effort.seconds)
                if shot is not None:
                    row.timings.setdefault(turn.key, Timing()).add(shot)
        for contender in live:
            if contender.key not in row.reasons:
                self._try(row, contender, do="drop")
        return row

    def _turns(self, live: list[Contender], row: Row) -> Iterator[Contender]:
        """Rounds, each begun by another contender. Who takes long has fewer turns."""
        for number in range(self.effort.rounds):
            at = number % max(1, len(live))
            for contender in live[at:] + live[:at]:
                timing = row.timings.get(contender.key)
                slow = timing is not None and timing.longest > 5 * self.effort.seconds
                if contender.key not in row.reasons and not (slow and number >= 3):
                    yield contender

    def _try(self, row: Row, contender: Contender, **order: Any) -> dict[str, Any] | None:
        """The answer; or None, with the reason in the row."""
        try:
            return self.process(contender).ask(**order)
        except (LostError, RuntimeError) as error:
            row.reasons[contender.key] = str(error)
            row.timings.pop(contender.key, None)
            return None
