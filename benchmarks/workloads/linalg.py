"""Linear algebra, Fourier transforms and einsum: one call each, of the same name in every library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..peers import Peer
from ..workload import Workload, at_most, register
from .data import normal

Call = Callable[[Any, Any], Any]  # of NumPy's namespace and an array
Values = Callable[[int], numpy.ndarray]


def positive(n: int) -> numpy.ndarray:
    x = normal(n, n)
    return x @ x.T / n + numpy.eye(n, dtype="float32")


def well(n: int) -> numpy.ndarray:
    """Far from singular, so that all agree."""
    return normal(n, n) + numpy.eye(n, dtype="float32") * n**0.5 * 3


def waves(n: int) -> numpy.ndarray:
    return (normal(n) + 1j * normal(n, seed=8)).astype("complex64")


def rows_of_waves(n: int) -> numpy.ndarray:
    return (normal(n, 2 * n) + 1j * normal(n, 2 * n, seed=8)).astype("complex64")


def add(name: str, what: str, values: Values, n: int, call: Call) -> None:
    def setup(p: Peer, n: int) -> Any:
        x = p.array(values(n))
        return lambda: p.wait(call(p.xp, x))

    register(
        Workload(
            name,
            what,
            setup,
            {"n": n},
            {"n": 8},
            goals=[at_most(1.5, "numpy", "torch")],
            only=("numpy", "torch", "jax"),
            tolerance=1e-3,
            family="linalg",
        )
    )


def square(n: int) -> numpy.ndarray:
    return normal(n, n)


def heads(n: int) -> numpy.ndarray:
    return normal(2, 8, 8, n, 64)


add("svd", "singular values and vectors, 300×300 float32", square, 300, lambda xp, x: xp.linalg.svd(x)[1])
add("eigh", "eigenvalues and vectors, symmetric 300×300 float32", positive, 300, lambda xp, x: xp.linalg.eigh(x)[0])
add("qr", "R of QR with both factors, 500×500 float32", well, 500, lambda xp, x: abs(xp.linalg.qr(x)[1]))
add("solve", "1000×1000 float32, 10 right-hand sides", well, 1000, lambda xp, x: xp.linalg.solve(x, x[:, :10]))
add("inv", "1000×1000 float32", well, 1000, lambda xp, x: xp.linalg.inv(x))
add("cholesky", "1000×1000 float32", positive, 1000, lambda xp, x: xp.linalg.cholesky(x))
add("fft-rows", "512 transforms of 1024 points, complex64", rows_of_waves, 512, lambda xp, x: xp.fft.fft(x))
add(
    "rfft-rows",
    "512 transforms of 1024 real points, float32",
    lambda n: normal(n, 2 * n),
    512,
    lambda xp, x: xp.fft.rfft(x),
)
add("fft", "one transform of 1,048,576 points, complex64", waves, 1 << 20, lambda xp, x: xp.fft.fft(x))
add(
    "einsum",
    "attention scores, `bhqd,bhkd->bhqk` of 8×8×256×64 float32",
    heads,
    256,
    lambda xp, x: xp.einsum("bhqd,bhkd->bhqk", x[0], x[1]),
)
