"""Gradients attached to results on the way: they are written there, and go on to what the results were made of."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy
import pytest
from gradcheck import leaf

from slipstream import autograd, np


def same(got: Any, expected: Any) -> None:
    numpy.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-12)


def test_both_gradients_are_written() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        h.attach_grad()
        same(h.grad, [0])
        y = h * 3
    assert h.grad_req == "write"
    y.backward()
    same(w.grad, [12])
    same(h.grad, [3])


def test_attached_after_use_and_outside_recording() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        before = h * 7
        h.attach_grad()
        y = h * 3 + before
    y.backward()
    same(w.grad, [40])
    same(h.grad, [10])
    with autograd.record():
        h = w * w
    h.attach_grad()
    with autograd.record():
        y = h * 3
    y.backward()
    same(w.grad, [12])
    same(h.grad, [3])


def test_dropping_leaves_the_graph() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        h.attach_grad()
        h.drop_grad()
        y = h * 3
    assert h.grad is None and h.grad_req == "null"
    y.backward()
    same(w.grad, [12])
    assert h.grad is None


def test_null_cuts_as_it_does_in_mxnet() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        h.attach_grad("null")
        y = h * 3 + w
    y.backward()
    same(w.grad, [1])
    assert h.grad is None


def test_detaching_still_cuts() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        h.attach_grad()
        y = h.detach() * 3 + h
    y.backward()
    same(w.grad, [4])
    same(h.grad, [1])


def test_chains_views_parts_and_heads() -> None:
    w = leaf([2.0, 3.0])
    with autograd.record():
        h = w * w
        h.attach_grad()
        first, second = np.split(h, 2)
        second.attach_grad()
        view = h[:1]
        view.attach_grad()
        y = first * second + view
        y.attach_grad()
    y.backward()
    same(y.grad, [1])
    same(view.grad, [1])
    same(second.grad, [4])
    same(h.grad, [10, 4])
    same(w.grad, [40, 24])


def test_written_or_added() -> None:
    for request, times in (("write", 1), ("add", 3)):
        w = leaf([2.0])
        w.attach_grad(request)
        with autograd.record():
            h = w * w
            h.attach_grad(request)
            y = h * 3 + w * h
        held = h.grad
        for _ in range(3):
            y.backward(retain_graph=True)
        same(held, [5 * times])
        same(w.grad, [24 * times])
        h.zero_grad()
        same(held, [0])


def test_attached_again() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        h.attach_grad()
        first = h.grad
        y = h * 3
        h.attach_grad("add")
        y = y + h
    y.backward()
    assert h.grad_req == "add"
    same(first, [0])
    same(h.grad, [4])
    same(w.grad, [16])


def test_without_a_use_the_gradient_is_left_or_zero() -> None:
    w = leaf([2.0])
    with autograd.record():
        h, k = w * w, w * 2
        h.attach_grad()
        k.attach_grad()
        h.grad[:] = 7
        k.grad[:] = 7
        y = w * 3 + np.floor(k)
    y.backward()
    same(h.grad, [7])
    same(k.grad, [0])
    same(w.grad, [3])


def test_marked_variables() -> None:
    w, g = leaf([2.0]), np.zeros(1, dtype="float64")
    with autograd.record():
        h = w * w
        autograd.mark_variables([h], [g])
        y = h * 3
    y.backward()
    same(g, [3])
    same(h.grad, [3])
    same(w.grad, [12])


def test_gradients_for_attached_results() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        h.attach_grad()
        y = h * h * h
        of_h, of_w = autograd.grad(y, [h, w], create_graph=True)
        z = of_h * w
    same(of_h, [48])
    same(of_w, [192])
    same(h.grad, [0])
    same(w.grad, [0])
    z.backward()  # 3 h**2 w with h = w**2
    same(h.grad, [6 * 4 * 2])
    same(w.grad, [5 * 3 * 2**4])


def test_after_the_graph_is_freed() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        h.attach_grad()
        y = h * 3
    y.backward()
    with autograd.record():
        y = h * 5
    y.backward()  # h is no part of a graph any more: a leaf
    same(h.grad, [5])
    with pytest.raises(RuntimeError, match="was used and freed by an earlier backward"):
        h.backward()
    h.attach_grad()
    with autograd.record():
        y = h * 7
    y.backward()
    same(h.grad, [7])
    same(w.grad, [12])


def test_attached_to_what_was_written() -> None:
    w, buffer = leaf([2.0]), np.zeros(2, dtype="float64")
    with autograd.record():
        buffer[:1] = w * w
        buffer.attach_grad()
        with pytest.raises(RuntimeError, match="an array with a gradient attached cannot be written in place"):
            buffer[1:] = w
        y = buffer * np.array([3.0, 5.0], dtype="float64")
    y.backward()
    same(buffer.grad, [3, 5])
    same(w.grad, [12])


def test_results_with_gradients_end() -> None:
    w = leaf([2.0])
    with autograd.record():
        h = w * w
        h.attach_grad()
        y = h * 3
    y.backward()
    seen = weakref.ref(h)
    del h, y
    gc.collect()
    assert seen() is None


def test_what_was_written_and_has_a_gradient_attached_stays_while_recording() -> None:
    x, buffer = leaf([1.0, 2.0]), np.zeros(4, dtype="float64")
    part = buffer[:2]
    for _ in range(2):  # the last round's history is used up, and holds nobody back
        with autograd.record():
            buffer[:2] = x * 3
            part.attach_grad()
            with pytest.raises(RuntimeError, match="with a gradient attached cannot be written in place"):
                buffer[:2] = x * 7
            y = (part * part).sum() + (part[:1] * 2).sum()
        y.backward()
        same(part.grad, [8, 12])
        same(x.grad, [24, 36])


def test_a_gradient_that_was_taken_off_holds_nobody_back() -> None:
    x, buffer = leaf([1.0, 2.0]), np.zeros(4, dtype="float64")
    with autograd.record():
        buffer[:2] = x * 3
        buffer.attach_grad()
        buffer.drop_grad()
        buffer[2:] = x * 5
        y = (buffer * buffer).sum()
    y.backward()
    same(x.grad, [68, 136])


def test_a_write_outside_of_recording_ends_the_history_and_leaves_the_gradient() -> None:
    x, buffer = leaf([1.0, 2.0]), np.zeros(4, dtype="float64")
    with autograd.record():
        buffer[:2] = x * 3
        buffer.attach_grad()
    buffer[:] = 1
    with autograd.record():
        y = (buffer * buffer).sum()
    y.backward()
    same(buffer.grad, [2, 2, 2, 2])
    same(x.grad, [0, 0])


def test_what_died_with_its_gradient_holds_nobody_back() -> None:
    x, buffer = leaf([1.0, 2.0]), np.zeros(4, dtype="float64")
    with autograd.record():
        buffer[:2] = x * 3
        part = buffer[:2]
        part.attach_grad()
        del part
        buffer[2:] = x * 5
        y = (buffer * buffer).sum()
    y.backward()
    same(x.grad, [68, 136])


def test_a_gradient_taken_off_after_a_write_leaves_others_held() -> None:
    x, buffer = leaf([1.0, 2.0]), np.zeros(4, dtype="float64")
    first, second = buffer[:2], buffer[2:]
    with autograd.record():
        buffer[:2] = x * 3
        first.attach_grad()
    buffer[3:] = 1  # outside of recording: what is there now is new
    first.drop_grad()
    with autograd.record():
        buffer[2:3] = x[:1]
        second.attach_grad()
        with pytest.raises(RuntimeError, match="with a gradient attached cannot be written in place"):
            buffer[:2] = x
        y = (second * second).sum()
    y.backward()
    same(second.grad, [2, 2])
