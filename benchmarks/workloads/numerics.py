"""Small programs as people write them: option prices, heat on a grid, clusters."""

from __future__ import annotations

from typing import Any

import numpy

from ..peers import Peer
from ..workload import workload
from .data import normal, uniform


def normal_below(p: Peer, d: Any) -> Any:
    """The standard normal distribution function (Abramowitz and Stegun 26.2.17)."""
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    series = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804 * p.xp.exp(-0.5 * d * d) * series
    return p.xp.where(d > 0, 1.0 - tail, tail)


@workload(
    "black-scholes",
    "prices of 1,000,000 call and put options, float32",
    compiled=True,
    float64=True,
    tolerance=1e-3,
    full={"n": 1_000_000},
    quick={"n": 100},
)
def black_scholes(p: Peer, n: int, dtype: str = "float32") -> Any:
    bounds = [(50, 150), (60, 140), (0.25, 2)]
    spot, strike, years = (p.array(uniform(n, low=low, high=high, dtype=dtype)) for low, high in bounds)
    rate, volatility = 0.03, 0.25

    @p.jit
    def prices(spot: Any, strike: Any, years: Any) -> Any:
        spread = volatility * p.xp.sqrt(years)
        d1 = (p.xp.log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread
        d2 = d1 - spread
        n1, n2 = normal_below(p, d1), normal_below(p, d2)
        discounted = strike * p.xp.exp(-rate * years)
        call = spot * n1 - discounted * n2
        return call, call - spot + discounted

    return lambda: p.wait(prices(spot, strike, years))


@workload(
    "stencil",
    "ten steps of heat on a 1000×1000 grid: means of four views written into a fifth",
    compiled=True,
    float64=True,
    full={"n": 1000},
    quick={"n": 20},
)
def stencil(p: Peer, n: int, dtype: str = "float32") -> Any:
    start = uniform(n, n, dtype=dtype)
    start[[0, -1], :] = 0
    start[:, [0, -1]] = 0
    grid = p.array(start)

    @p.jit
    def steps(u: Any) -> Any:
        for _ in range(10):
            u = p.put_inside(u, 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))
        return u

    return lambda: p.wait(steps(p.copy(grid)))


@workload(
    "kmeans",
    "one step of k-means: 50,000 points in 16 dimensions, 32 clusters",
    compiled=True,
    float64=True,
    tolerance=1e-3,
    full={"n": 50_000, "m": 16, "k": 32},
    quick={"n": 200, "m": 4, "k": 5},
)
def kmeans(p: Peer, n: int, m: int, k: int, dtype: str = "float32") -> Any:
    points, centres = p.array(normal(n, m, dtype=dtype)), p.array(normal(k, m, seed=8, dtype=dtype))
    names = p.array(numpy.arange(k))

    @p.jit
    def step(points: Any, centres: Any) -> Any:
        # The points' own squares are the same for every centre.
        distances = p.sum(centres * centres, axis=1) - 2 * (points @ p.transpose(centres))
        nearest = p.argmin(distances, axis=1)
        member = p.as_float(p.xp.reshape(nearest, (n, 1)) == names, dtype)
        counts = p.xp.reshape(p.sum(member, axis=0), (k, 1))
        return (p.transpose(member) @ points) / (counts + 1e-6)

    return lambda: p.wait(step(points, centres))
