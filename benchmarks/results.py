"""What was measured, and what it means: ratios to the goals' peers, and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .peers import PEERS
from .workload import COMPILED, EAGER, NO_SKIP, OURS, SYNC, Limit, Workload, split_key

ASYNC_OVER_SYNC = 1.05  # the asynchronous engine's promise


def key(peer: str, variant: str = "") -> str:
    """A contender's name in all that is saved."""
    return f"{peer}, {variant}" if variant else peer


ON_SYNC = key(OURS, SYNC)
WITHOUT_SKIPPING = key(OURS, NO_SKIP)


@dataclass
class Timing:
    """Seconds of one unit: the best run, and the middle one of the best turn."""

    best: float = float("inf")
    median: float = float("inf")
    runs: int = 0
    longest: float = 0.0  # of a whole turn
    memory: int = 0  # bytes: the peak of resident memory while timed, less that before the workload was set up

    def add(self, shot: Mapping[str, Any]) -> None:
        self.best = min(self.best, shot["best"])
        self.median = min(self.median, shot["median"])
        self.runs += shot["runs"]
        self.longest = max(self.longest, shot["seconds"])
        self.memory = max(self.memory, shot.get("memory", 0))


@dataclass
class Row:
    """A workload's timings, by contender, and why some have none."""

    workload: Workload
    quick: bool = False
    timings: dict[str, Timing] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def seconds(self, key: str) -> float | None:
        timing = self.timings.get(key)
        return None if timing is None else timing.best

    def memory(self, key: str) -> int | None:
        """Bytes, where the workload asks for them."""
        timing = self.timings.get(key)
        return timing.memory or None if timing is not None and self.workload.memory else None

    def figure(self, key: str, limit: Limit) -> float | None:
        """What the limit compares: seconds or bytes."""
        return self.memory(key) if limit.memory else self.seconds(key)

    def peers(self, limit: Limit | None = None) -> dict[str, float]:
        """Seconds of the peers a limit speaks of; without one, of all."""
        chosen = {}
        for key, timing in self.timings.items():
            name, way = split_key(key)
            if limit is None:
                wanted = name != OURS
            elif limit.peers in ((EAGER,), (COMPILED,)):
                wanted = name != OURS and (way == COMPILED) == (limit.peers == (COMPILED,))
            else:
                wanted = key in limit.peers
            if wanted:
                chosen[key] = timing.best
        return chosen

    def best_peer(self, limit: Limit | None = None) -> str | None:
        found = self.peers(limit)
        return min(found, key=lambda key: found[key]) if found else None

    @property
    def async_over_sync(self) -> float | None:
        return ratio(self.seconds(OURS), self.seconds(ON_SYNC))


@dataclass(frozen=True)
class Verdict:
    """Our time, or memory, over that of the best of the goal's peers."""

    limit: Limit
    ours: str  # our contender that is judged
    peer: str | None
    ratio: float | None
    without_skipping: float | None  # the same ratio with skipping off, where that means something

    @property
    def text(self) -> str:
        if self.ratio is None:
            return "not measured" if self.peer else "no peer"
        if self.ratio > self.limit.ratio:
            return "missed"
        if self.without_skipping is not None and self.without_skipping > self.limit.ratio:
            return "met by skipping"
        return "met"

    @property
    def missed(self) -> bool:
        return self.text in ("missed", "met by skipping")


def verdicts(row: Row) -> list[Verdict]:
    """One for each of the row's goals, and last the engine's own: asynchronous against synchronous."""
    found = []
    for limit in row.workload.goals:
        ours, peer = key(OURS, limit.of), row.best_peer(limit)
        theirs = row.figure(peer, limit) if peer else None
        other = None if limit.of or limit.memory else ratio(row.seconds(WITHOUT_SKIPPING), theirs)
        found.append(Verdict(limit, ours, peer, ratio(row.figure(ours, limit), theirs), other))
    return [*found, Verdict(Limit(ASYNC_OVER_SYNC, (ON_SYNC,)), OURS, ON_SYNC, row.async_over_sync, None)]


def ratio(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or theirs is None else ours / theirs


def title(key: str) -> str:
    """A contender's name for people."""
    name, comma, variant = key.partition(", ")
    return PEERS[name].title + comma + variant


def as_json(row: Row) -> dict[str, Any]:
    goals = [
        {
            "goal": v.limit.text,
            "ours": v.ours,
            "peer": v.peer,
            "ratio": v.ratio,
            "ratio without skipping": v.without_skipping,
            "verdict": v.text,
        }
        for v in verdicts(row)[:-1]
    ]
    return {
        "name": row.workload.name,
        "family": row.workload.family,
        "what": row.workload.what,
        "quick": row.quick,
        "goals": goals,
        "async over sync": row.async_over_sync,
        "seconds": {key: vars(timing) for key, timing in row.timings.items()},
        "not measured": row.reasons,
    }


def from_json(saved: Mapping[str, Any], workload: Workload) -> Row:
    timings = {key: Timing(**timing) for key, timing in saved["seconds"].items()}
    return Row(workload, saved["quick"], timings, dict(saved["not measured"]))
