"""Awaiting arrays, asking whether they are ready, and callbacks when they are."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import numpy
import pytest

from slipstream import engine, np, npx

ASYNC = engine.kind() == "async"


class LostError(Exception):
    """What the callbacks of these tests raise."""


def held(gate: threading.Event, value: float = 1.0) -> Any:
    """An array that is ready some time after a gate opens."""
    return npx.host_call(lambda: (gate.wait(30), numpy.float32(value))[1], [], ())


def failing() -> Any:
    def fail() -> Any:
        raise LostError("lost")

    return npx.host_call(fail, [], ())


# ---- await


def test_await_gives_the_array() -> None:
    async def main() -> None:
        x = np.arange(4) + 1
        assert await x is x
        assert (await (x * 2)).tolist() == [2, 4, 6, 8]

    asyncio.run(main())


@pytest.mark.skipif(not ASYNC, reason="the synchronous engine computes inside the call")
def test_the_loop_goes_on_while_something_is_awaited() -> None:
    gate = threading.Event()
    order: list[str] = []

    async def opens() -> None:
        order.append("other task")
        gate.set()

    async def main() -> None:
        x = held(gate, 3)
        task = asyncio.create_task(opens())
        assert not x.is_ready()
        assert (await (x + 1)).item() == 4  # would never end if the loop stood still
        order.append("awaited")
        await task

    asyncio.run(main())
    assert order == ["other task", "awaited"]


def test_gather_many() -> None:
    async def one(number: int) -> float:
        x = await (np.full((10,), number) * 2).sum()
        return float(x.item())

    async def main() -> list[float]:
        return await asyncio.gather(*(one(number) for number in range(200)))

    assert asyncio.run(main()) == [20.0 * number for number in range(200)]


def test_await_raises_what_failed() -> None:
    async def main() -> None:
        x = failing()
        errors = []
        for array in (x, x, x + 1):
            try:
                await array
            except LostError as error:
                errors.append(error)
        assert len(errors) == 3
        assert errors[0] is errors[1] is errors[2]
        done = await asyncio.gather(wait(failing()), wait(np.ones(2)), return_exceptions=True)
        assert isinstance(done[0], LostError) and done[1].tolist() == [1, 1]

    async def wait(x: Any) -> Any:
        return await x

    asyncio.run(main())
    npx.waitall()


@pytest.mark.skipif(not ASYNC, reason="the synchronous engine computes inside the call")
def test_an_await_can_be_given_up() -> None:
    gate = threading.Event()
    x = held(gate, 5)

    async def wait() -> Any:
        return await x

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(wait(), 0.05)
        assert not x.is_ready()

    asyncio.run(main())
    gate.set()
    assert (x + 1).item() == 6


# ---- is_ready


@pytest.mark.skipif(not ASYNC, reason="the synchronous engine computes inside the call")
def test_is_ready_does_not_wait() -> None:
    gate = threading.Event()
    x = held(gate)
    y = x + 1
    assert not x.is_ready()
    assert not y.is_ready()
    gate.set()
    y.wait_to_read()
    assert x.is_ready() and y.is_ready()
    y += 1
    y.wait_to_read()
    assert y.is_ready()


def test_a_failed_array_is_ready() -> None:
    x = failing()
    with pytest.raises(LostError):
        x.wait_to_read()
    assert x.is_ready()


# ---- callbacks


def test_every_callback_runs_once_with_its_array() -> None:
    gate = threading.Event()
    calls: list[tuple[str, float]] = []
    if not ASYNC:
        gate.set()
    x = held(gate, 7)
    x.add_done_callback(lambda a: calls.append(("first", a.item())))
    x.add_done_callback(lambda a: calls.append(("second", a.item())))
    assert ASYNC is (not calls)
    gate.set()
    npx.waitall()
    assert sorted(calls) == [("first", 7.0), ("second", 7.0)]  # side by side, in any order
    x.add_done_callback(lambda a: calls.append(("late", a.item())))
    npx.waitall()
    assert calls[-1] == ("late", 7.0)


def test_a_callback_sees_the_value_of_its_time() -> None:
    """Writes that come after it are done after it."""
    seen: list[list[float]] = []
    x = np.zeros(3)
    for _ in range(5):
        x += 1
        x.add_done_callback(lambda a: seen.append(numpy.asarray(a).tolist()))
    npx.waitall()
    assert seen[-1] == [5.0] * 3
    assert len(seen) == 5
    assert seen == sorted(seen)


def test_callbacks_of_failed_arrays_run() -> None:
    caught: list[BaseException] = []

    def look(x: Any) -> None:
        try:
            x.wait_to_read()
        except LostError as error:
            caught.append(error)

    x = failing() + 1
    x.add_done_callback(look)
    with pytest.raises(LostError):
        x.wait_to_read()
    npx.waitall()
    assert len(caught) == 1


def test_an_error_in_a_callback_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[Any] = []
    calls: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: reported.append(info.exc_value))
    x = np.ones(3) + 1
    x.add_done_callback(lambda _: 1 / 0)
    x.add_done_callback(lambda _: calls.append("after"))
    npx.waitall()
    assert calls == ["after"]
    assert [type(error) for error in reported] == [ZeroDivisionError]
    assert x.tolist() == [2, 2, 2]


def test_what_is_no_function_cannot_be_a_callback() -> None:
    with pytest.raises(TypeError, match="int"):
        np.ones(2).add_done_callback(3)


# ---- inside host calls


def test_waiting_inside_host_calls_does_not_lock_up() -> None:
    """As many host calls as workers, each of which computes and waits for it, twice nested."""

    def inner() -> Any:
        return (np.ones((50, 50)) @ np.ones((50, 50))).sum().asnumpy()

    def outer() -> Any:
        return npx.host_call(inner, [], ()).asnumpy() + 1

    results = [npx.host_call(outer, [], ()) for _ in range(3 * engine.workers())]
    assert [x.item() for x in results] == [125_001.0] * len(results)


def test_waiting_for_oneself_is_an_error() -> None:
    later: list[Any] = []
    ready = threading.Event()

    def wait_for_myself() -> Any:
        ready.wait(30)
        return later[0].asnumpy()

    if not ASYNC:
        pytest.skip("there is no array to wait for before the call has ended")
    later.append(npx.host_call(wait_for_myself, [], ()))
    ready.set()
    with pytest.raises(RuntimeError, match="inside a host call"):
        later[0].wait_to_read()


def test_waitall_inside_a_host_call() -> None:
    x = np.zeros(10)
    for _ in range(10):
        x += 1

    def wait() -> Any:
        npx.waitall()
        return x.asnumpy()

    y = npx.host_call(wait, [], (10,))
    assert (y + 1).tolist() == [11.0] * 10
