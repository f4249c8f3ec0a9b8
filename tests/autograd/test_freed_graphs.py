"""Graphs that a backward pass has freed, and what of them goes on: constants, and views that graphs share."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import numpy
import pytest
from gradcheck import leaf

from slipstream import autograd, gluon, np


def same(got: Any, expected: Any) -> None:
    numpy.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-12)


def here() -> int:
    """The line of the call."""
    return inspect.currentframe().f_back.f_lineno  # type: ignore[union-attr]


def test_a_graph_is_freed_unless_it_is_kept() -> None:
    x = leaf([2.0])
    with autograd.record():
        y = x * x
        z, line = y * y, here()
    z.backward(retain_graph=True)
    z.backward()
    same(x.grad, [32])
    with pytest.raises(RuntimeError, match=rf"multiply, recorded at .*line {line}, in test_a.*retain_graph=True"):
        z.backward()


def test_results_of_a_freed_graph_are_constants_from_then_on() -> None:
    w, state = leaf([2.0]), np.array([3.0], dtype="float64")
    for value in (3.0, 6.0, 12.0):  # as a recurrent network's state goes from batch to batch
        with autograd.record():
            state = state * w
            y = state * 5
        y.backward()
        same(w.grad, [5 * value])
    with autograd.record():
        z = state + 1
    with pytest.raises(RuntimeError, match=r"the graph of multiply, .* was used and freed by an earlier backward"):
        z.backward()  # nothing would be left of its gradient
    with autograd.record():
        z = state * w
        of_state, of_w = autograd.grad(z, [state, w])
    same(of_state, [2])
    same(of_w, [24])


def test_what_was_recorded_before_needs_the_freed_graph() -> None:
    w, v = leaf([2.0]), leaf([7.0])
    with autograd.record():
        trunk = w * w
        one, two = trunk * v, trunk + v
        later = two * v
    one.backward()
    with autograd.record():
        last = v * v + two * 3  # a part of v's gradient lies behind the sum
    for head in (two, later, last):
        with pytest.raises(RuntimeError, match=r"multiply, .* was used and freed by an earlier backward"):
            head.backward()
    with autograd.record():
        y = w * w * w
        (slope,) = autograd.grad(y, [w], create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="was used and freed by an earlier backward"):
        slope.backward()


@pytest.mark.parametrize("others", [0, 1000])
def test_what_another_thread_recorded_before_needs_the_freed_graph(others: int) -> None:
    w, v = leaf([2.0]), leaf([7.0])
    made: list[Any] = []
    with autograd.record():
        trunk = w * w
        one = trunk * 3

    def another() -> None:
        with autograd.record():
            for _ in range(others):
                _ = v * v
            made.append(trunk * v)

    thread = threading.Thread(target=another)
    thread.start()
    thread.join()
    one.backward()
    with pytest.raises(RuntimeError, match=r"multiply, .* was used and freed by an earlier backward"):
        made[0].backward()


def test_long_chains_of_views_are_freed() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    view = x
    for _ in range(40):
        with autograd.record():
            view = view.T
            y = (view * x).sum()
        y.backward()
    with autograd.record():
        y = (view * 2).sum()
    with pytest.raises(RuntimeError, match=r"transpose, .* was used and freed"):
        y.backward()


@pytest.mark.parametrize("layers", [1, 2])
def test_states_of_recurrent_layers_go_from_batch_to_batch(layers: int) -> None:
    net = gluon.rnn.LSTM(4, layers)
    net.initialize()
    x, state, shown = np.ones((3, 2, 5)), net.begin_state(2), net.begin_state(2)
    for _ in range(3):
        shown = [s.detach() for s in shown]
        grads = []
        for start in (state, shown):
            with autograd.record():
                out, after = net(x, start)
                y = (out * out).sum()
            y.backward()
            grads.append([p.grad().asnumpy().copy() for p in net.collect_params().values()])
            state, shown = (after, shown) if start is state else (state, after)
        assert all(map(numpy.array_equal, *grads))


def test_graphs_may_share_a_view_of_a_leaf() -> None:
    """The gradient of a layer's input is made of the layer's own transposed weight."""
    x, w = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0], [5.0, 6.0]])
    with autograd.record():
        y = np.matmul(x, w.T)
        of_x = autograd.grad(y, x, create_graph=True)[0]
        same(autograd.grad(of_x, w)[0], [[1, 1], [1, 1]])  # frees its graph
    same(autograd.grad(y, w)[0], [[1, 2], [1, 2]])  # not this one
    with pytest.raises(RuntimeError, match="was used and freed"):
        y.backward()
    with autograd.record():
        turned = w.T
    for _ in range(2):
        with autograd.record():
            z = (turned * turned).sum()
        z.backward()
        same(w.grad, 2 * w)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T, lambda x: x.reshape(-1), lambda x: x[1:], lambda x: x[1], lambda x: x[::-1],
        lambda x: x[..., 0], lambda x: x[None], lambda x: np.broadcast_to(x, (3, 2, 2)), lambda x: x.flatten(),
        lambda x: np.split(x, 2)[1], lambda x: np.squeeze(x), lambda x: x.copy(), lambda x: x.astype("float64"),
    ],
)  # fmt: skip
def test_any_view_of_a_leaf_may_be_shared(view: Any) -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    with autograd.record():
        shared = view(x)
        first, second = (shared * 2).sum(), (shared * shared).sum()
    first.backward()
    twos = x.grad.asnumpy().copy()
    second.backward()
    same(x.grad, twos * x.asnumpy())
    with autograd.record():
        later = (shared * 3).sum()
    later.backward()
    same(x.grad, twos * 1.5)
