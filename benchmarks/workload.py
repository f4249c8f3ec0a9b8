"""What a workload is: a name, a sentence, a setup that a peer is given, and goals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

OURS = "slipstream"

# The ways in which a contender runs, besides plainly. With the peer's name they make its key: "torch, compiled".
COMPILED = "compiled"
NO_SKIP = "no skipping"
SYNC = "sync engine"

EAGER = "eager"  # in a goal: the best of all peers that run plain code; COMPILED: of all that compile


@dataclass(frozen=True)
class Limit:
    """Our time may be at most `ratio` × that of the best of `peers`.

    Peers are named plainly or in their way ("jax, compiled"; a way of our own too), or are EAGER or COMPILED alone.
    """

    ratio: float
    peers: tuple[str, ...]
    of: str = ""  # the way of our own that is judged, one of the workload's `ours`
    memory: bool = False  # peaks of memory are compared, not times

    @property
    def text(self) -> str:
        from .peers import TITLES

        if self.peers == (EAGER,):
            whom = "the best peer"
        elif self.peers == (COMPILED,):
            whom = "the best compiled peer"
        else:
            whom = ", ".join(", ".join(filter(None, [TITLES[name], way])) for name, way in map(split_key, self.peers))
        return " ".join(filter(None, [self.of, "memory" if self.memory else "", f"≤ {self.ratio:g} × {whom}"]))


def split_key(key: str) -> tuple[str, str]:
    """A contender's key as its name and its way."""
    name, _, way = key.partition(", ")
    return name, way


def at_most(ratio: float, *peers: str, of: str = "", memory: bool = False) -> Limit:
    return Limit(ratio, peers or (EAGER,), of, memory)


# A setup gets a peer and its parameters and gives a function that runs once, waits, and returns the result to check;
# or a pair: that function, and one that finishes after the clock has stopped.
Setup = Callable[..., Any]


@dataclass(frozen=True)
class Workload:
    name: str
    what: str
    setup: Setup
    full: Mapping[str, Any]
    quick: Mapping[str, Any]  # a small version, for tests
    goals: Sequence[Limit] = (Limit(1.0, (EAGER,)),)
    compiled: bool = False  # also run by the peers' compilers
    ours: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict
    )  # further ways of ours: what else setup is given
    skips: bool = False  # holds work nobody reads, which a planner may leave out
    only: tuple[str, ...] = ()  # peers that take part, besides ours; empty: all
    check: Callable[[Any], bool] | None = None  # for results that are not NumPy's to the digit
    tolerance: float = 1e-4
    memory: bool = False  # peak memory stands beside the time; each contender has a fresh process for it
    family: str = ""
    headline: bool = False  # stands in the README, not only on the page of all figures

    def parameters(self, quick: bool) -> Mapping[str, Any]:
        return self.quick if quick else self.full

    def units(self, quick: bool) -> int:
        """How often a run does the thing: the parameter `times`, or once."""
        return int(self.parameters(quick).get("times", 1))


ALL: dict[str, Workload] = {}


def register(new: Workload) -> None:
    if new.name in ALL:
        raise ValueError(f"two workloads are called {new.name}")
    ALL[new.name] = new


def workload(name: str, what: str, *, float64: bool = False, **settings: Any) -> Callable[[Setup], Setup]:
    """Registers the setup below it, and with `float64` a second workload, whose parameters say so."""

    def take(setup: Setup) -> Setup:
        family = setup.__module__.rpartition(".")[2]
        first = Workload(name, what, setup, family=family, **settings)
        register(first)
        if float64:
            full, quick = ({**parameters, "dtype": "float64"} for parameters in (first.full, first.quick))
            second = replace(first, name=f"{name}-f64", what="the same in float64", full=full, quick=quick)
            register(replace(second, tolerance=min(first.tolerance, 1e-9), headline=False))  # finds float32 out
        return setup

    return take


def find(names: Sequence[str]) -> list[Workload]:
    """The workloads that have these names or families, in the order they are kept; none given: all."""
    from . import workloads  # noqa: F401 - fills ALL

    families = {w.family for w in ALL.values()}
    for name in names:
        if name not in ALL and name not in families:
            raise LookupError(f"no workload or family is called {name}; there are {', '.join(ALL)}")
    return [w for w in ALL.values() if not names or w.name in names or w.family in names]
