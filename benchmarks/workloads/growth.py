"""How cost grows: with the size of one operation, and with the number of operations recorded before a wait."""

from __future__ import annotations

from typing import Any

from ..peers import Peer
from ..workload import Workload, register
from .data import uniform

BESIDE = ("numpy", "torch")


def one_size(p: Peer, times: int, size: int) -> Any:
    x = p.array(uniform(size))
    return lambda: p.repeat_waiting(x, times)


def one_length(p: Peer, times: int, length: int) -> Any:
    x = p.array(uniform(1, 2))

    def run() -> Any:
        for _ in range(times // length):
            y = x
            for _ in range(length):
                y = y + 1
            p.wait(y)
        return y

    return run


def add(name: str, what: str, setup: Any, full: dict[str, int], quick: dict[str, int]) -> None:
    register(Workload(name, what, setup, full, quick, goals=(), only=BESIDE, family="growth"))


for power in range(1, 9):
    count, most = 10**power, max(1, 10**4 // 10 ** (power - 1))
    add(
        f"size-1e{power}",
        f"`x + 1` on {count:,} elements, each waited for",
        one_size,
        {"times": most, "size": count},
        {"times": 2, "size": min(count, 1000)},
    )

for power in range(6):
    count, most = 10**power, 10 ** max(3, power)
    add(
        f"ops-1e{power}",
        f"{count:,} × `y = y + 1` on 1×2 before a wait; time of one",
        one_length,
        {"times": most, "length": count},
        {"times": min(count, 100), "length": min(count, 100)},
    )
