"""Matrix products, large, small and many."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..peers import Peer
from ..workload import at_most, workload
from .data import normal, uniform


@workload("mm", "1000×1000 float32 product", headline=True, float64=True, full={"n": 1000}, quick={"n": 30})
def mm(p: Peer, n: int, dtype: str = "float32") -> Any:
    a, b = p.array(normal(n, n, dtype=dtype)), p.array(normal(n, n, seed=8, dtype=dtype))
    return lambda: p.wait(a @ b)


def looks_like_a_product(result: Any) -> bool:
    """An element of the square of a normal n×n matrix has mean 0 (1 on the diagonal) and variance n."""
    n = len(result)
    return result.shape == (n, n) and abs(result.mean()) < 10 / n**0.5 and abs(result.std() / n**0.5 - 1) < 0.2


@workload(
    "randmm",
    "10 × (1000×1000 normal, product with itself), waited for once; time of all",
    headline=True,
    goals=[at_most(0.8)],
    skips=True,
    float64=True,
    check=looks_like_a_product,
    full={"n": 1000},
    quick={"n": 100},
)
def randmm(p: Peer, n: int, dtype: str = "float32") -> Any:
    def run() -> Any:
        for _ in range(10):
            a = p.normal((n, n), dtype)
            b = a @ a
        return p.wait_for_all(b)

    return run


@workload(
    "randmm-kept",
    "the same in float32, every product kept and waited for",
    goals=[at_most(0.8)],
    check=lambda kept: all(map(looks_like_a_product, kept)),
    full={"n": 1000},
    quick={"n": 100},
)
def randmm_kept(p: Peer, n: int) -> Any:
    def run() -> Any:
        kept = []
        for _ in range(10):
            a = p.normal((n, n))
            kept.append(a @ a)
        return p.wait(kept)

    return run


@workload(
    "batched",
    "1000 products of 16×16 float32 matrices in one call",
    compiled=True,
    full={"count": 1000, "n": 16},
    quick={"count": 5, "n": 4},
)
def batched(p: Peer, count: int, n: int) -> Any:
    a, b = p.array(normal(count, n, n)), p.array(normal(count, n, n, seed=8))
    product = p.jit(lambda a, b: a @ b)
    return lambda: p.wait(product(a, b))


def forward_of(p: Peer, weights: Sequence[Any], biases: Sequence[Any]) -> Callable[[Any], Any]:
    """Dense layers with relu between them, written out."""

    @p.jit
    def forward(x: Any) -> Any:
        x = p.relu(p.dense(x, weights[0], biases[0]))
        x = p.relu(p.dense(x, weights[1], biases[1]))
        return p.dense(x, weights[2], biases[2])

    return forward


def hybrid_net(weights: Sequence[Any], biases: Sequence[Any]) -> Any:
    """The same as a network of ours."""
    from slipstream import gluon

    net = gluon.nn.HybridSequential()
    for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        layer = gluon.nn.Dense(bias.size, "relu" if i < len(weights) - 1 else None, in_units=weight.shape[0])
        layer.initialize()
        layer.weight.set_data(weight.T)
        layer.bias.set_data(bias)
        net.add(layer)
    net.hybridize()
    return net


@workload(
    "mlp1",
    "512-256-128-2 with relu on one row, forward; each waited for",
    headline=True,
    goals=[at_most(0.5, "torch"), at_most(1.0, "jax, compiled", of="hybridized")],
    compiled=True,
    ours={"hybridized": {"hybridized": True}},
    full={"times": 20},
    quick={"times": 2},
)
def mlp1(p: Peer, times: int, hybridized: bool = False) -> Any:
    sizes = [512, 256, 128, 2]
    x = p.array(uniform(1, sizes[0]))
    shapes = list(itertools.pairwise(sizes))
    weights = [p.array(normal(n, m, seed=m, scale=1 / numpy.sqrt(n))) for n, m in shapes]
    biases = [p.array(uniform(m)) for _, m in shapes]
    forward = hybrid_net(weights, biases) if hybridized else forward_of(p, weights, biases)

    def run() -> Any:
        for _ in range(times):
            y = p.wait(forward(x))
        return y

    return run
