"""`await x`: lets the event loop run until an array is ready."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import Any

from . import _core


def wait(x: _core.ndarray) -> Generator[Any, None, _core.ndarray]:
    """Body of `ndarray.__await__`: gives the array once it is ready, or raises what its computation raised."""
    while not x.is_ready():
        import asyncio  # costs 30 ms to import, and only those who await have it anyway

        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def finish(ready: asyncio.Future[None] = ready) -> None:
            if not ready.done():
                ready.set_result(None)

        def wake(_: object, loop: asyncio.AbstractEventLoop = loop) -> None:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
                loop.call_soon_threadsafe(finish)

        x.add_done_callback(wake)
        yield from ready
    x.wait_to_read()
    return x
