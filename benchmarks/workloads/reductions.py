"""Elementwise work that ends in sums: over everything, over rows, and with results broadcast back."""

from __future__ import annotations

from typing import Any

from ..peers import Peer
from ..workload import at_most, workload
from .data import normal, uniform


@workload(
    "tsum",
    "`(x.T * x).sum().item()`, 2000×2000 float32",
    headline=True,
    goals=[at_most(0.6)],
    tolerance=5e-3,  # some peers add four million float32 numbers one by one
    compiled=True,
    float64=True,
    full={"n": 2000},
    quick={"n": 50},
)
def tsum(p: Peer, n: int, dtype: str = "float32") -> Any:
    x = p.array(uniform(n, n, dtype=dtype))

    @p.jit
    def product(x: Any) -> Any:
        return p.sum(p.transpose(x) * x)

    return lambda: float(product(x))


@workload(
    "softmax",
    "softmax over the rows of 4096×1024 float32",
    headline=True,
    compiled=True,
    float64=True,
    full={"n": 4096, "m": 1024},
    quick={"n": 8, "m": 20},
)
def softmax(p: Peer, n: int, m: int, dtype: str = "float32") -> Any:
    x = p.array(normal(n, m, dtype=dtype))
    function = p.jit(p.softmax)
    return lambda: p.wait(function(x))


@workload(
    "layernorm",
    "layer norm with scale and shift over the rows of 4096×1024 float32",
    headline=True,
    compiled=True,
    float64=True,
    full={"n": 4096, "m": 1024},
    quick={"n": 8, "m": 20},
)
def layernorm(p: Peer, n: int, m: int, dtype: str = "float32") -> Any:
    x = p.array(normal(n, m, dtype=dtype))
    scale, shift = p.array(uniform(m, low=0.5, dtype=dtype)), p.array(uniform(m, dtype=dtype))
    function = p.jit(p.layer_norm)
    return lambda: p.wait(function(x, scale, shift))


@workload(
    "distance",
    "distances of 1500 to 1500 points in 64 dimensions, by one matrix product",
    compiled=True,
    float64=True,
    tolerance=1e-3,
    full={"n": 1500, "m": 64},
    quick={"n": 20, "m": 4},
)
def distance(p: Peer, n: int, m: int, dtype: str = "float32") -> Any:
    a, b = p.array(normal(n, m, dtype=dtype)), p.array(normal(n, m, seed=8, dtype=dtype))

    @p.jit
    def distances(a: Any, b: Any) -> Any:
        rows = p.sum(a * a, axis=1, keepdims=True)
        columns = p.sum(b * b, axis=1)
        return p.xp.sqrt(p.relu(rows + columns - 2 * (a @ p.transpose(b))))

    return lambda: p.wait(distances(a, b))


@workload(
    "distance-direct",
    "distances of 400 to 400 points in 32 dimensions, by broadcasting",
    compiled=True,
    full={"n": 400, "m": 32},
    quick={"n": 20, "m": 4},
)
def distance_direct(p: Peer, n: int, m: int) -> Any:
    a, b = p.array(normal(n, m)), p.array(normal(n, m, seed=8))

    @p.jit
    def distances(a: Any, b: Any) -> Any:
        difference = a[:, None, :] - b[None, :, :]
        return p.xp.sqrt(p.sum(difference * difference, axis=2))

    return lambda: p.wait(distances(a, b))
