"""Large elementwise work: one operation, many, and chains that could be one pass."""

from __future__ import annotations

from typing import Any

from ..peers import Peer
from ..workload import COMPILED, at_most, workload
from .data import uniform

ADD = {"full": {"times": 200, "n": 2000}, "quick": {"times": 3, "n": 50}}
FEW = {**ADD, "full": {"times": 20, "n": 2000}}  # each is waited for: more of them would show nothing else


@workload(
    "add1-waited",
    "`y = x + 1`, 2000×2000 float32, each waited for; time of one",
    headline=True,
    goals=[at_most(1.0, "torch")],
    float64=True,
    **FEW,
)
def add1_waited(p: Peer, times: int, n: int, dtype: str = "float32") -> Any:
    x = p.array(uniform(n, n, dtype=dtype))
    return lambda: p.repeat_waiting(x, times)


@workload(
    "add1-queued",
    "200 × `y = x + 1`, 2000×2000 float32, waited for once; time of one",
    headline=True,
    goals=[at_most(0.9, "torch")],
    skips=True,
    float64=True,
    **ADD,
)
def add1_queued(p: Peer, times: int, n: int, dtype: str = "float32") -> Any:
    x = p.array(uniform(n, n, dtype=dtype))

    def run() -> Any:
        for _ in range(times):
            y = x + 1
        return p.wait_for_all(y)

    return run


@workload(
    "add1-chained",
    "200 × `y = y + 1`, 2000×2000 float32, each on the last; time of one",
    headline=True,
    goals=[at_most(0.3, "torch")],
    float64=True,
    **ADD,
)
def add1_chained(p: Peer, times: int, n: int, dtype: str = "float32") -> Any:
    x = p.array(uniform(n, n, dtype=dtype))

    def run() -> Any:
        y = x
        for _ in range(times):
            y = y + 1
        return p.wait(y)

    return run


def ten_steps(p: Peer, values: Any) -> Any:
    x = p.array(values)
    tanh, exp = p.xp.tanh, p.xp.exp

    @p.jit
    def steps(x: Any) -> Any:
        y = x * 2
        y = y + 1
        y = tanh(y)
        y = y * x
        y = y - 0.5
        y = exp(y)
        y = y + x
        y = y * y
        y = y - x
        return y / 3

    return lambda: p.wait(steps(x))


@workload(
    "chain10",
    "ten elementwise steps with tanh and exp, 2000×2000 float32, plain eager code",
    headline=True,
    goals=[at_most(1.0, COMPILED)],
    compiled=True,
    float64=True,
    full={"n": 2000},
    quick={"n": 50},
)
def chain10(p: Peer, n: int, dtype: str = "float32") -> Any:
    return ten_steps(p, uniform(n, n, low=-1, dtype=dtype))


@workload(
    "chain10-1k",
    "the same on 1000 elements of float32: what ten calls and a wait cost",
    compiled=True,
    full={"n": 1000},
    quick={"n": 50},
)
def chain10_small(p: Peer, n: int) -> Any:
    return ten_steps(p, uniform(n, low=-1))


@workload("axpy", "`2.5 * x + y`, 2000×2000 float32", compiled=True, float64=True, full={"n": 2000}, quick={"n": 50})
def axpy(p: Peer, n: int, dtype: str = "float32") -> Any:
    x, y = p.array(uniform(n, n, dtype=dtype)), p.array(uniform(n, n, high=2, dtype=dtype))

    @p.jit
    def run(x: Any, y: Any) -> Any:
        return 2.5 * x + y

    return lambda: p.wait(run(x, y))
