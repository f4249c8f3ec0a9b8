"""Tiny operations: what a call costs, and what a wait costs."""

from __future__ import annotations

from typing import Any

from ..peers import Peer
from ..workload import at_most, workload
from .data import uniform

TINY = {"full": {"times": 2000}, "quick": {"times": 20}}


@workload(
    "issue",
    "front-end time of `y = x + 1`, x is 1×2; waited for off the clock",
    headline=True,
    goals=[at_most(0.5, "numpy")],
    skips=True,
    **TINY,
)
def issue(p: Peer, times: int) -> Any:
    x = p.array(uniform(1, 2))

    def run() -> Any:
        for _ in range(times):
            y = x + 1
        return y

    return run, p.wait_for_all


@workload(
    "chained",
    "2000 dependent `y = y + 1` on 1×2, then wait; time of one",
    headline=True,
    goals=[at_most(0.8, "numpy")],
    **TINY,
)
def chained(p: Peer, times: int) -> Any:
    x = p.array(uniform(1, 2))

    def run() -> Any:
        y = x
        for _ in range(times):
            y = y + 1
        return p.wait(y)

    return run


@workload(
    "sync",
    "`y = x + 1` on 1×2, waited for each time",
    headline=True,
    goals=[at_most(2.0, "numpy"), at_most(0.2, "jax", "mlx", "mxnet")],
    **TINY,
)
def sync(p: Peer, times: int) -> Any:
    x = p.array(uniform(1, 2))
    return lambda: p.repeat_waiting(x, times)


def independent(p: Peer, times: int, n: int) -> Any:
    xs = [p.array(uniform(n)) for _ in range(times)]
    tanh = p.xp.tanh
    return lambda: p.wait([tanh(x) for x in xs])


@workload(
    "graph1000",
    "1000 independent `tanh` of 1000 elements each, all kept; time of one",
    full={"times": 1000, "n": 1000},
    quick={"times": 10, "n": 100},
)
def graph1000(p: Peer, times: int, n: int) -> Any:
    return independent(p, times, n)


@workload(
    "graph1000-16k",
    "1000 independent `tanh` of 16,384 elements each, all kept; time of one",
    full={"times": 1000, "n": 16384},
    quick={"times": 10, "n": 100},
)
def graph1000_large(p: Peer, times: int, n: int) -> Any:
    return independent(p, times, n)
