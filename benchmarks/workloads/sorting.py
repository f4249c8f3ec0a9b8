"""Sorting, searching and counting: one function each, on a million numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..peers import Peer
from ..workload import Workload, at_most, register

Call = Callable[[Peer, dict[str, Any]], Any]  # of a peer and its arrays


def arrays(p: Peer, n: int) -> dict[str, Any]:
    """All numbers of a line are different, so that there is one right order."""
    rng = numpy.random.default_rng(7)
    line = (rng.permutation(n) - n // 2).astype("float32")
    side = int(n**0.5)
    made = {
        "line": line,
        "rows": rng.permuted(numpy.tile(numpy.arange(side, dtype="float32"), (side, 1)), axis=1),
        "sorted": numpy.sort(line),
        "numbers": rng.integers(0, 1000, n).astype("int32"),
    }
    return {name: p.array(values) for name, values in made.items()}


def sort(p: Peer, x: Any) -> Any:
    return p.xp.sort(x, -1).values if p.name == "torch" else p.xp.sort(x, -1)


def add(name: str, what: str, call: Call) -> None:
    def setup(p: Peer, n: int) -> Any:
        given = arrays(p, n)
        return lambda: p.wait(call(p, given))

    register(
        Workload(
            name,
            what,
            setup,
            {"n": 1_000_000},
            {"n": 2500},
            goals=[at_most(1.5, "numpy", "torch")],
            only=("numpy", "torch", "jax"),
            family="sorting",
        )
    )


add("sort", "`sort(x)`, 10⁶ float32", lambda p, x: sort(p, x["line"]))
add("sort-rows", "`sort(x)`, 1000×1000 float32", lambda p, x: sort(p, x["rows"]))
add("argsort", "`argsort(x)`, 10⁶ float32", lambda p, x: p.xp.argsort(x["line"]))
add("argsort-rows", "`argsort(x)`, 1000×1000 float32", lambda p, x: p.xp.argsort(x["rows"]))
add("searchsorted", "`searchsorted(a, x)`, 10⁶ in 10⁶ float32", lambda p, x: p.xp.searchsorted(x["sorted"], x["line"]))
add("unique", "`unique(x)`, 10⁶ int32 below 1000", lambda p, x: p.xp.unique(x["numbers"]))
add("bincount", "`bincount(x)`, 10⁶ int32 below 1000", lambda p, x: p.xp.bincount(x["numbers"]))
