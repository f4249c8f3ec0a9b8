"""Indexing by arrays: rows of a table, single elements read and written, masks."""

from __future__ import annotations

from typing import Any

import numpy

from ..peers import Peer
from ..workload import at_most, workload
from .data import normal

BEST = [at_most(1.5, "numpy", "torch")]
ONLY = ("numpy", "torch")


def places(n: int, count: int, seed: int = 7) -> numpy.ndarray:
    return numpy.random.default_rng(seed).integers(0, n, count)


@workload(
    "index-rows",
    "`x[rows]`: 100,000 rows of a table of 200,000×64 float32",
    goals=BEST,
    only=ONLY,
    full={"n": 200_000, "m": 64, "count": 100_000},
    quick={"n": 50, "m": 4, "count": 30},
)
def rows(p: Peer, n: int, m: int, count: int) -> Any:
    x, at = p.array(normal(n, m)), p.array(places(n, count))
    return lambda: p.wait(x[at])


@workload(
    "index-get",
    "`x[i, j]`: a million elements of 2000×2000 float32",
    goals=BEST,
    only=ONLY,
    full={"n": 2000, "count": 1_000_000},
    quick={"n": 20, "count": 30},
)
def get(p: Peer, n: int, count: int) -> Any:
    x, i, j = p.array(normal(n, n)), p.array(places(n, count)), p.array(places(n, count, 8))
    return lambda: p.wait(x[i, j])


@workload(
    "index-set",
    "`x[i, j] = v`: a million elements of 2000×2000 float32, some named twice",
    goals=BEST,
    only=ONLY,
    full={"n": 2000, "count": 1_000_000},
    quick={"n": 20, "count": 30},
)
def put(p: Peer, n: int, count: int) -> Any:
    i, j = places(n, count), places(n, count, 8)
    values = normal(n, n)[i, j]  # the same for the same element, whoever writes last
    x, v, i, j = p.array(normal(n, n)), p.array(values), p.array(i), p.array(j)

    def run() -> Any:
        x[i, j] = v
        return p.wait(x)

    return run


@workload(
    "index-set-rows",
    "`x[rows] = v`: 100,000 rows of a table of 200,000×64 float32",
    goals=BEST,
    only=ONLY,
    full={"n": 200_000, "m": 64, "count": 100_000},
    quick={"n": 50, "m": 4, "count": 30},
)
def put_rows(p: Peer, n: int, m: int, count: int) -> Any:
    at = places(n, count)
    table = normal(n, m)
    x, v, at = p.array(table), p.array(table[at]), p.array(at)

    def run() -> Any:
        x[at] = v
        return p.wait(x)

    return run


@workload(
    "index-mask",
    "`x[mask]`: the positive half of 2000×2000 float32",
    goals=BEST,
    only=ONLY,
    full={"n": 2000},
    quick={"n": 20},
)
def mask(p: Peer, n: int) -> Any:
    x = p.array(normal(n, n))
    positive = x > 0
    return lambda: p.wait(x[positive])


@workload(
    "index-set-mask",
    "`x[mask] = 0`: the negative half of 2000×2000 float32",
    goals=BEST,
    only=ONLY,
    full={"n": 2000},
    quick={"n": 20},
)
def set_mask(p: Peer, n: int) -> Any:
    x = p.array(normal(n, n))
    negative = x < 0

    def run() -> Any:
        x[negative] = 0
        return p.wait(x)

    return run
