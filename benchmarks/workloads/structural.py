"""Finding, adding up, picking and moving elements: one NumPy function each, on two to four million of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..peers import Peer
from ..workload import Workload, at_most, register
from .data import normal

Call = Callable[[Any, Any, Any], Any]  # of NumPy's namespace, a matrix, and row numbers


def add(name: str, what: str, call: Call) -> None:
    def setup(p: Peer, n: int, m: int) -> Any:
        x, rows = p.array(normal(n, m)), p.array(numpy.random.default_rng(7).integers(0, n, n))
        return lambda: p.wait(call(p.xp, x, rows))

    register(
        Workload(
            name,
            f"`{what}`, 2000×1000 float32",
            setup,
            {"n": 2000, "m": 1000},
            {"n": 20, "m": 30},
            goals=[at_most(1.0, "numpy")],
            only=("numpy",),
            tolerance=5e-3,  # NumPy adds two million float32 numbers one by one
            family="structural",
        )
    )


add("argmax-rows", "argmax(x, axis=1)", lambda xp, x, _: xp.argmax(x, axis=1))
add("argmax", "argmax(x)", lambda xp, x, _: xp.argmax(x))
add("cumsum", "cumsum(x)", lambda xp, x, _: xp.cumsum(x))
add("cumsum-rows", "cumsum(x, axis=1)", lambda xp, x, _: xp.cumsum(x, axis=1))
add("sum-columns", "sum(x, axis=0)", lambda xp, x, _: xp.sum(x, axis=0))
add("any", "1 * any(x > 9)", lambda xp, x, _: 1 * xp.any(x > 9))
add("take-rows", "take(x, rows, axis=0)", lambda xp, x, rows: xp.take(x, rows, axis=0))
add("transposed-copy", "x.T.copy()", lambda xp, x, _: x.T.copy())
add("concatenate", "concatenate((x, x), axis=1)", lambda xp, x, _: xp.concatenate((x, x), axis=1))
add("roll", "roll(x, 5, axis=1)", lambda xp, x, _: xp.roll(x, 5, axis=1))
add("astype", "x.astype(int64)", lambda xp, x, _: x.astype("int64"))
