"""What was recorded ends with the arrays that could ask for it, also where an array was computed from what it held."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from slipstream import autograd, engine, np, npx

SHAPE = (100, 100)


def of_itself(w: Any) -> Any:
    state = np.ones(SHAPE)
    with autograd.record():
        state *= w
    return state.sum()


def of_its_other_half(w: Any) -> Any:
    both = np.ones((200, 100))
    with autograd.record():
        both[100:] = both[:100] * w
        return both.sum()


def through_other_calls(w: Any) -> Any:
    steps = np.ones((3, 100, 100))
    with autograd.record():
        for t in (1, 2):
            steps[t] = np.tanh(np.dot(steps[t - 1], w))
        return steps[2].sum()


def of_each_other(w: Any) -> Any:
    x, y = np.ones(SHAPE), np.ones(SHAPE)
    with autograd.record():
        x *= w
        y *= x
        x *= y
        return x.sum() + y.sum()


def refused(w: Any) -> Any:
    result = of_itself(w)
    with autograd.record():
        state = np.ones(SHAPE)
        state *= w
        state *= w
        loss = state.sum()
    with pytest.raises(RuntimeError, match="was written in place since"):
        loss.backward()
    return result


@pytest.mark.parametrize("program", [of_itself, of_its_other_half, through_other_calls, of_each_other, refused])
def test_written_from_what_was_there(program: Callable[[Any], Any]) -> None:
    w = np.ones(SHAPE)
    w.attach_grad()

    def in_use(times: int) -> int:
        for _ in range(times):
            program(w).item()
        gc.collect()
        npx.waitall()
        return int(engine.memory()["in_use"])

    first = in_use(3)
    assert in_use(10) <= first


def test_views_keep_what_was_written() -> None:
    w = np.array([3.0])
    w.attach_grad()
    x = np.ones(2)
    with autograd.record():
        x[:1] = w * w
        view = x[:1]
        del x
        y = view * view  # 81
    y.backward()
    assert w.grad.tolist() == [108.0]


def test_saved_values_keep_what_was_written() -> None:
    w = np.array([3.0])
    w.attach_grad()
    x = np.zeros(1)
    with autograd.record():
        x[:] = 2 * w * w
        y = x * x  # 4 w^4
        del x
        first = autograd.grad(y, w, create_graph=True)[0]
    assert y.item() == 324.0
    assert first.item() == 432.0
    first.backward()
    assert w.grad.tolist() == [432.0]
