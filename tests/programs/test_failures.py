"""Random programs some of whose arrays have failed: these fail, with what is made of them, and nothing else does."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from replay import BY_NAME, Dam, Setting

from slipstream import engine, np, npx

PROGRAMS = 150 if engine.kind() == "async" else 20
SETTINGS = ("sync", "1 worker", "8 workers", "one by one", "all at once", "all at once, no groups", "no skipping")

# What a line does with a new name or an old one (x) and one or two old ones (a, b), and which of those it reads.
NEW = {
    "{x} = {a} * 0.5 + {b}": "ab",
    "{x} = {a}.copy()": "a",
    "{x} = {a}.sum() + np.zeros(n)": "a",
    "{x} = np.full(n, 3.0)": "",
}
OLD = {
    "{x}[...] = 3": "x",
    "{x}[...] = {a}": "xa",
    "{x}[...] = {a} * 2 + 1": "xa",
    "{x} += {a}": "xa",
    "np.maximum({a}, {x}, out={x})": "xa",
}


def fail() -> Any:
    raise KeyError("lost")


def failed(n: int, waits: bool) -> Any:
    x = npx.host_call(fail, [], (n,))
    if waits:
        with suppress(KeyError):
            x.wait_to_read()
    return x


def program(seed: int) -> tuple[list[str], dict[str, bool]]:
    """Lines, and the names they bind with whether these must have failed in the end. The first lines make arrays."""
    rng = random.Random(seed)
    lines = [f"n = {rng.choice((1, 4, 300, 5000))}", f"v0 = failed(n, {rng.random() < 0.7})"]
    lines += ["v1 = np.arange(n) + 0", "v2 = np.ones(n)"]
    has_failed = {"v0": True, "v1": False, "v2": False}
    for _ in range(rng.randint(3, 14)):
        names = dict(zip("xab", rng.choices(list(has_failed), k=3), strict=True))
        line, reads = rng.choice(list((NEW | OLD).items()))
        if line in NEW:
            names["x"] = f"v{len(has_failed)}"
        lines.append(line.format(**names))
        has_failed[names["x"]] = any(has_failed[names[name]] for name in reads)
    return lines, has_failed


def check(seed: int, setting: Setting) -> None:
    lines, expected = program(seed)
    names: dict[str, Any] = {"np": np, "failed": failed}
    exec("\n".join(lines[:4]), names)
    dam = Dam(setting.dam)
    dam.close()
    try:
        exec("\n".join(lines[4:]), names)
    finally:
        dam.open.set()
    found = {}
    for name in expected:
        try:
            names[name].wait_to_read()
            found[name] = False
        except KeyError:
            found[name] = True
    assert found == expected, f"program {seed}, {setting.name}:\n" + "\n".join(lines)


@pytest.mark.parametrize("name", SETTINGS)
def test_only_what_reads_a_failed_array_fails(name: str) -> None:
    with BY_NAME[name].applied():
        for seed in range(PROGRAMS):
            check(seed, BY_NAME[name])
