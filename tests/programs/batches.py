"""Calls that are planned together, for tests that look at the plan."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from slipstream import engine, npx


@contextmanager
def one_batch() -> Iterator[None]:
    """What is recorded inside is planned together: the only worker is held until then."""
    if engine.kind() == "sync":
        yield
        npx.waitall()
        return
    npx.waitall()
    workers, gate, held = engine.set_workers(1), threading.Event(), threading.Event()
    npx.host_call(lambda: (held.set(), gate.wait(20))[1], [], (), "bool")
    held.wait(20)
    try:
        with engine.bulk(1):
            yield
            gate.set()
            npx.waitall()
    finally:
        gate.set()
        engine.set_workers(workers)
