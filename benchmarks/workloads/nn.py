"""Layers of convolutional networks, forward, on batches of images."""

from __future__ import annotations

from typing import Any

from ..peers import Peer
from ..workload import at_most, workload
from .data import normal, uniform

LIBRARIES = ("numpy", "torch", "jax")


def convolve(p: Peer, batch: int, channels: int, filters: int, size: int, kernel: int) -> Any:
    x = p.array(normal(batch, channels, size, size))
    weight = p.array(normal(filters, channels, kernel, kernel, seed=8, scale=(channels * kernel * kernel) ** -0.5))
    run = p.jit(lambda x, weight: p.convolution(x, weight, kernel // 2))
    return lambda: p.wait(run(x, weight))


@workload(
    "conv2d",
    "3×3 convolution, 64 to 64 channels, 32 images of 32×32",
    goals=[at_most(1.5, "numpy", "torch")],
    compiled=True,
    only=LIBRARIES,
    full={"batch": 32, "channels": 64, "filters": 64, "size": 32, "kernel": 3},
    quick={"batch": 2, "channels": 3, "filters": 4, "size": 9, "kernel": 3},
)
def conv2d(p: Peer, batch: int, channels: int, filters: int, size: int, kernel: int) -> Any:
    return convolve(p, batch, channels, filters, size, kernel)


@workload(
    "conv2d-first",
    "5×5 convolution, 1 to 6 channels, 256 images of 28×28",
    goals=[at_most(1.5, "numpy", "torch")],
    compiled=True,
    only=LIBRARIES,
    full={"batch": 256, "channels": 1, "filters": 6, "size": 28, "kernel": 5},
    quick={"batch": 3, "channels": 1, "filters": 6, "size": 8, "kernel": 5},
)
def conv2d_first(p: Peer, batch: int, channels: int, filters: int, size: int, kernel: int) -> Any:
    return convolve(p, batch, channels, filters, size, kernel)


@workload(
    "max-pool",
    "2×2 max pooling of 32 images of 32×32 with 64 channels",
    goals=[at_most(1.5, "numpy", "torch")],
    compiled=True,
    only=LIBRARIES,
    full={"batch": 32, "channels": 64, "size": 32},
    quick={"batch": 2, "channels": 3, "size": 6},
)
def max_pool(p: Peer, batch: int, channels: int, size: int) -> Any:
    x = p.array(normal(batch, channels, size, size))
    run = p.jit(lambda x: p.max_pooling(x, 2))
    return lambda: p.wait(run(x))


@workload(
    "batch-norm",
    "batch normalisation at inference, 32 images of 32×32 with 64 channels",
    goals=[at_most(1.5, "numpy", "torch")],
    compiled=True,
    only=LIBRARIES,
    full={"batch": 32, "channels": 64, "size": 32},
    quick={"batch": 2, "channels": 3, "size": 6},
)
def batch_norm(p: Peer, batch: int, channels: int, size: int) -> Any:
    x = p.array(normal(batch, channels, size, size))
    parameters = [p.array(uniform(channels, low=0.5, high=2.0)) for _ in range(4)]
    run = p.jit(p.batch_norm)
    return lambda: p.wait(run(x, *parameters))
