"""Control flow as functions, straight-through gradients, and small helpers."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import same

from slipstream import autograd, np, npx


def test_shapes_and_types(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(4, 6))
    same(npx.add_n(np.array(x), np.array(x), np.array(x)), 3 * x)
    out = np.array(x)
    assert npx.add_n(out, out, out=out) is out
    same(out, 2 * x)
    same(npx.batch_flatten(np.array(x.reshape(4, 3, 2))), x)
    same(npx.cast(np.array(x), "int32"), x.astype("int32"))
    same(npx.broadcast_greater(np.array(x), np.array(x[:1])), (x > x[:1]).astype(float))
    same(npx.shape_array(np.array(x)), numpy.array([4, 6]))
    same(npx.slice_channel(np.array(x), 3), numpy.split(x, 3, 1))
    same(npx.slice_channel(np.array(x), 4, axis=0, squeeze_axis=True), list(x))
    same(npx.slice_like(np.array(x), np.ones((2, 9)), axes=(0,)), x[:2])
    with pytest.raises(ValueError, match="cannot be cut into 5 parts"):
        npx.slice_channel(np.array(x), 5)
    with pytest.raises(ValueError, match=r"shape \(4, 6\) has no part of shape \(5, 1\)"):
        npx.slice_like(np.array(x), np.ones((5, 1)))


@pytest.mark.parametrize("name", ["round_ste", "sign_ste", "stop_gradient"])
def test_straight_through(name: str) -> None:
    x = np.array([-1.6, 0.4, 2.5])
    x.attach_grad()
    with autograd.record():
        y = getattr(npx, name)(x) * 3 + 0 * x
    y.backward()
    expected = {"round_ste": numpy.round, "sign_ste": numpy.sign, "stop_gradient": numpy.array}[name]
    same(y, 3 * expected(x.asnumpy()))
    assert x.grad.asnumpy().tolist() == ([0, 0, 0] if name == "stop_gradient" else [3, 3, 3])


def test_constraints() -> None:
    assert bool(npx.constraint_check(np.array([True]), "fine"))
    with pytest.raises(ValueError, match="not so"):
        npx.constraint_check(np.array([True, False]), "not so").wait_to_read()


def test_control_flow_is_differentiated() -> None:
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        outputs, last = npx.foreach(lambda row, state: (row * state, row + state), x, np.array(1.0))
        loss = outputs.sum() + last
    loss.backward()
    same(outputs, numpy.array([1, 4, 12], "float32"))

    def by_hand(v: Any) -> Any:
        return v[0] + v[1] * (1 + v[0]) + v[2] * (1 + v[0] + v[1]) + 1 + v.sum()

    steps = numpy.eye(3) * 1e-3
    slopes = [(by_hand(x.asnumpy() + s) - by_hand(x.asnumpy() - s)) / 2e-3 for s in steps]
    numpy.testing.assert_allclose(x.grad.asnumpy(), slopes, rtol=1e-3)


def test_loops_and_choices() -> None:
    pairs, states = npx.foreach(lambda rows, s: (rows, [s[0] + 1]), [np.arange(3), np.ones(3)], [np.array(0.0)])
    assert [p.shape for p in pairs] == [(3,), (3,)] and float(states[0]) == 3
    made, (i, total) = npx.while_loop(
        lambda i, total: i < 5, lambda i, total: ([i], [i + 1, total + i]), [np.array(0.0), np.array(0.0)], 4
    )
    assert made[0].tolist() == [0, 1, 2, 3] and float(i) == 4 and float(total) == 6
    nothing, _ = npx.while_loop(lambda i: i < 0, lambda i: (i, [i]), [np.array(0.0)], 4)
    assert nothing == []
    for value, expected in ((2.0, 4.0), (-2.0, 2.0)):
        got = npx.cond(lambda x: x > 0, lambda x: x * 2, lambda x: -x, [np.array(value)])
        assert float(got) == expected


def test_loops_over_nested_lists() -> None:
    def body(rows: Any, states: Any) -> Any:
        a, (b,) = rows
        return [a, [a + b, states[0]]], [states[0] + b]

    found, last = npx.foreach(body, [np.arange(3), [np.ones(3)]], [np.array(0.0)])
    assert found[0].tolist() == [0, 1, 2]
    assert found[1][0].tolist() == [1, 2, 3]
    assert found[1][1].tolist() == [0, 1, 2]
    assert last[0].tolist() == 3
    assert npx.foreach(lambda x, s: ([], s + x), np.arange(3), np.array(0.0))[0] == []
    outputs, states = npx.while_loop(
        lambda a, b: a < 3, lambda a, b: ([a, [b[0]]], [a + 1, [b[0] * 2]]), [np.array(0.0), [np.array(1.0)]], 5
    )
    assert outputs[0].tolist() == [0, 1, 2, 0, 0]
    assert outputs[1][0].tolist() == [1, 2, 4, 0, 0]
    assert states[1][0].tolist() == 8


def test_while_loop_without_outputs_or_lists() -> None:
    nothing, (i, total) = npx.while_loop(
        lambda i, s: i <= 5, lambda i, s: (None, (i + 1, s + i)), (np.array(1), np.array(0)), max_iterations=10
    )
    assert nothing == [] and i.item() == 6 and total.item() == 15
    outputs, last = npx.while_loop(lambda x: x < 4, lambda x: (x, x * 2), np.array(1.0))
    assert outputs.tolist() == [1, 2]
    assert last.tolist() == 4


def test_while_loop_fills_its_outputs_up_with_zeros() -> None:
    start, w = np.array([[2, 3]], dtype="float64"), np.array(3.0, dtype="float64")
    w.attach_grad()
    with autograd.record():
        outputs, _ = npx.while_loop(lambda x: x.sum() < 50, lambda x: (x, x * w), start, max_iterations=5)
        loss = (outputs * np.arange(1, 6).reshape(5, 1, 1)).sum()
    loss.backward()
    assert outputs.dtype == numpy.float64
    assert outputs.tolist() == [[[2, 3]], [[6, 9]], [[18, 27]], [[0, 0]], [[0, 0]]]
    assert w.grad.item() == 2 * 5 + 3 * 5 * 2 * 3  # of 5 + 2 (5 w) + 3 (5 w w)
    whole, _ = npx.while_loop(lambda x: x < 9, lambda x: (x, x + 1), np.array(0.0), max_iterations=3)
    assert whole.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: npx.foreach(lambda x, s: (x, s), [np.ones((3, 1)), [np.ones(2)]], np.zeros(1)),
            r"foreach: data of shapes \[\(3, 1\), \(2,\)\] have not one length along a first axis",
        ),
        (lambda: npx.foreach(lambda x, s: (x, s), np.ones(()), 0), r"foreach: data of shapes \[\(\)\] have not one"),
        (lambda: npx.foreach(lambda x, s: (x, s), [], []), r"foreach: data is empty: \[\] has no array"),
        (
            lambda: npx.foreach(lambda x, s: x, np.ones((3, 2)), np.zeros(1)),
            r"foreach: body must return two things, \(outputs, states\); it returned one ndarray",
        ),
        (
            lambda: npx.while_loop(lambda i: i < 3, lambda i: (i, i, i), np.zeros(1), 3),
            r"while_loop: func must return two things, \(outputs, loop_vars\); it returned 3 values",
        ),
        (
            lambda: npx.while_loop(lambda i, j: i < 3, lambda i, j: (i, [i]), [np.zeros(1)] * 2, 3),
            "while_loop: func took 2 loop_vars and returned 1",
        ),
    ],
)
def test_what_loops_refuse(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
