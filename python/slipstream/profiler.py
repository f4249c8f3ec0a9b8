"""Where the time goes.

    >>> import os, tempfile
    >>> from slipstream import np, profiler
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
    >>> with profiler.trace(path):
    ...     y = np.ones((4, 4)).sum()
    ...     y.wait_to_read()

Open the file at https://ui.perfetto.dev or chrome://tracing.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import _core

__all__ = ["Timer", "Timing", "Trace", "chrome_events", "timer", "trace"]

Event = dict[str, Any]


class Trace:
    """What `trace` gives: the events, once the block has ended.

    >>> isinstance(trace(), Trace)
    True
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"trace: path must be a path or None, not {path!r}")
        self.path = None if path is None else os.path.abspath(path)
        self.events: list[Event] = []

    def __enter__(self) -> Trace:
        if _core.engine_tracing():
            raise RuntimeError("trace: a trace is being taken already")
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8"):  # a path that cannot be written to raises here
                pass
        _core.engine_start_trace()
        return self

    def __exit__(self, *_: object) -> None:
        self.events = _core.engine_stop_trace()
        if self.path is not None:
            with open(self.path, "w", encoding="utf-8") as file:
                json.dump({"displayTimeUnit": "ms", "traceEvents": chrome_events(self.events)}, file)


def trace(path: str | os.PathLike[str] | None = None) -> Trace:
    """In a `with` block: notes what is recorded, run and waited for, and writes it to `path` at the end.

    The file has one lane per Python thread (records and waits) and one per worker (runs). Each event has the operation,
    the shapes, the line of Python that asked for it, and the times when it was recorded, became ready and ran; arrows
    lead from a record to its run and along dependencies.

    >>> from slipstream import np
    >>> with trace() as t:
    ...     np.ones(3).sum().wait_to_read()
    >>> sorted({event["type"] for event in t.events} - {"wait"})
    ['record', 'run']
    """
    return Trace(path)


# ---- Chrome's trace format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

_FRONT, _BACK = 1, 2  # "processes" of the picture: Python's threads, and the workers


def _place(lane: int) -> dict[str, int]:
    return {"pid": _BACK, "tid": lane} if lane >= 0 else {"pid": _FRONT, "tid": -1 - lane}


def _names(events: Iterable[Event]) -> list[Event]:
    def name(what: str, place: dict[str, int], text: str) -> Event:
        return {"ph": "M", "name": what, **place, "args": {"name": text}}

    lanes = sorted({event["lane"] for event in events})
    named = [
        name("process_name", {"pid": _FRONT, "tid": 0}, "front end (Python)"),
        name("process_name", {"pid": _BACK, "tid": 0}, "back end"),
    ]
    for lane in lanes:
        text = f"worker {lane}" if lane >= 0 else f"Python thread {-1 - lane}"
        named.append(name("thread_name", _place(lane), text))
    return named


def _source(event: Event) -> str:
    source = event["source"]
    return f"{source[0]}:{source[1]} in {source[2]}" if source else "unknown"


def _slice(event: Event, zero: int) -> Event:
    arguments: dict[str, Any] = {"shapes": event["shapes"], "source": _source(event)}
    if event["type"] == "record":
        arguments["call"] = event["sequence"]
    if event["type"] == "run":
        recorded, ready = event["recorded_ns"], event["ready_ns"]  # 0: before the trace began
        arguments["calls"] = event["calls"]
        if recorded:
            arguments["recorded_us"] = (recorded - zero) / 1e3
        if ready:
            arguments["ready_us"] = (ready - zero) / 1e3
            arguments["waited_for_worker_us"] = max(0, event["start_ns"] - ready) / 1e3
        if recorded and ready:
            arguments["waited_for_inputs_us"] = max(0, ready - recorded) / 1e3
        arguments |= {"chunks": event["chunks"], "failed": event["failed"]}
    return {
        "ph": "X",
        "name": event["name"] if event["type"] != "wait" else f"wait: {event['name']}",
        "cat": event["type"],
        **_place(event["lane"]),
        "ts": (event["start_ns"] - zero) / 1e3,
        "dur": max(event["end_ns"] - event["start_ns"], 1) / 1e3,
        "args": arguments,
    }


def _arrow(name: str, number: int, tail: Event, tail_ns: int, head: Event, zero: int) -> list[Event]:
    common = {"name": name, "cat": name, "id": number}
    return [
        {"ph": "s", **common, **_place(tail["lane"]), "ts": (tail_ns - zero) / 1e3},
        {"ph": "f", "bp": "e", **common, **_place(head["lane"]), "ts": (head["start_ns"] - zero) / 1e3},
    ]


def chrome_events(events: list[Event]) -> list[Event]:
    """Events of the engine in Chrome's trace format: slices, lane names, and arrows.

    >>> [event["name"] for event in chrome_events([])]
    ['process_name', 'process_name']
    """
    zero = min((event["start_ns"] for event in events), default=0)
    records = {event["sequence"]: event for event in events if event["type"] == "record"}
    runs = [event for event in events if event["type"] == "run"]
    run_of = {call: run for run in runs for call in run["calls"]}
    out = _names(events) + [_slice(event, zero) for event in events]
    arrows = itertools.count(1)
    for run in runs:
        for record in (records[call] for call in run["calls"] if call in records):
            out += _arrow("recorded", next(arrows), record, record["start_ns"], run, zero)
        for earlier in (run_of[call] for call in run["after"] if call in run_of):
            out += _arrow("needs", next(arrows), earlier, max(earlier["end_ns"] - 1, 0), run, zero)
    return out


# ---- timer


@dataclass
class Timing:
    """Seconds of one `timer()` block.

    >>> Timing().issue
    0.0
    """

    issue: float = 0.0  # Python's own time inside the block, without waits
    waited: float = 0.0  # Python waited for results, inside the block
    queued: float = 0.0  # from the end of the block until the last of its work was done
    total: float = 0.0  # from the start of the block until the last of its work was done
    compute: float = 0.0  # time that threads spent computing, summed over threads
    operations: dict[str, float] = field(default_factory=dict)  # compute time by operation

    def __str__(self) -> str:
        return (
            f"issue {self.issue * 1e3:.3f} ms, waited {self.waited * 1e3:.3f} ms, queued {self.queued * 1e3:.3f} ms, "
            f"compute {self.compute * 1e3:.3f} ms, total {self.total * 1e3:.3f} ms"
        )


class Timer:
    """What `timer` gives: a `Timing` in `.timing`, once the block has ended.

    >>> Timer().timing.waited
    0.0
    """

    def __init__(self) -> None:
        self.timing = Timing()
        self._trace = Trace()

    def __enter__(self) -> Timing:
        _core.engine_wait_until(_core.engine_sequence())
        self._trace.__enter__()
        self._start = time.monotonic_ns()  # the clock of the engine's events
        return self.timing

    def __exit__(self, *_: object) -> None:
        issued = time.monotonic_ns()
        _core.engine_wait_until(_core.engine_sequence())
        done = time.monotonic_ns()
        self._trace.__exit__()
        timing = self.timing
        for event in self._trace.events:
            seconds = (event["end_ns"] - event["start_ns"]) / 1e9
            if event["type"] == "run":
                timing.compute += seconds
                timing.operations[event["name"]] = timing.operations.get(event["name"], 0.0) + seconds
            elif event["type"] == "wait" and event["end_ns"] <= issued:  # not the wait of this method
                timing.waited += seconds
        timing.total, timing.queued = (done - self._start) / 1e9, (done - issued) / 1e9
        timing.waited = min(timing.waited, (issued - self._start) / 1e9)
        timing.issue = (issued - self._start) / 1e9 - timing.waited


def timer() -> Timer:
    """In a `with` block: times it, and tells apart what Python took to issue it and what the back end took to compute.

    Waits for earlier work before and for the block's work after.

    >>> from slipstream import np
    >>> with timer() as timing:
    ...     y = np.ones((100, 100)).sum()
    >>> timing.total >= timing.issue > 0
    True
    """
    return Timer()
