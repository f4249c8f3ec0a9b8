"""Settings, host calls, and functions of neural networks."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import engine, np, npx


def test_settings() -> None:
    assert npx.is_np_array() and npx.is_np_shape()
    npx.set_np(dtype=True)
    assert npx.is_np_default_dtype()
    assert npx.set_np_default_dtype(False) is True
    assert not npx.is_np_default_dtype()
    npx.set_np()
    npx.reset_np()
    with pytest.raises(ValueError, match="set_np"):
        npx.set_np(shape=False)

    @npx.use_np
    def f(x: int) -> int:
        return x

    assert f(3) == 3


# ---- host calls


def test_host_call() -> None:
    x = np.arange(4)
    y = npx.host_call(lambda a: numpy.flip(a), [x + 1], (4,), "float32")
    same(y * 2, numpy.array([8, 6, 4, 2], "float32"))
    both = npx.host_call(lambda a: (a + 1, a.sum()), [x], [(4,), ()], ["float64", "float32"])
    assert [b.dtype for b in both] == ["float64", "float32"]
    same(both[0], numpy.arange(1.0, 5))
    same(both[1], numpy.float32(6))


def test_host_call_sees_its_inputs_in_program_order() -> None:
    x = np.zeros(3)
    seen: list[Any] = []
    npx.host_call(lambda a: seen.append(a.copy()), [x], None)
    x += 5
    npx.host_call(lambda a: seen.append(a.copy()), [x], None)
    npx.waitall()
    assert [s.tolist() for s in seen] == [[0, 0, 0], [5, 5, 5]]


def test_host_call_inputs_are_read_only() -> None:
    def write(a: Any) -> Any:
        a[0] = 1
        return a

    y = npx.host_call(write, [np.zeros(2)], (2,))
    with pytest.raises(ValueError, match="read-only"):
        y.asnumpy()


def test_inputs_of_a_host_call_go_when_it_has_run() -> None:
    x = np.ones((250, 1000))
    x.wait_to_read()
    before = engine.memory()["in_use"]
    done: list[bool] = []

    def from_a_thread() -> None:
        y = npx.host_call(lambda a: a[0, :1].copy(), [x + 1], (1,))
        y.wait_to_read()
        done.append(engine.memory()["in_use"] < before + x.nbytes)

    thread = threading.Thread(target=from_a_thread)
    thread.start()
    thread.join()
    assert done == [True]


def test_host_call_runs_elsewhere_and_may_wait() -> None:
    x = np.ones(3)

    def inner(a: Any) -> Any:
        return (x + np.array(a)).asnumpy()

    same(npx.host_call(inner, [x], (3,)), numpy.full(3, 2, "float32"))


def test_host_call_errors_are_carried() -> None:
    def bad(a: Any) -> Any:
        raise KeyError("lost")

    y = npx.host_call(bad, [np.ones(2)], (2,))
    z = y + 1
    for _ in range(2):
        with pytest.raises(KeyError, match="lost") as caught:
            z.asnumpy()
        assert any("test_npx.py" in note for note in caught.value.__notes__)
    with pytest.raises(KeyError):
        y.wait_to_read()
    wrong = npx.host_call(lambda a: a[:1], [np.ones(2)], (2,))
    with pytest.raises(ValueError, match=r"\(1,\).*\(2,\)"):
        wrong.asnumpy()


def test_waitall_raises_what_nobody_saw() -> None:
    def bad(text: str) -> Any:
        def run() -> Any:
            raise ValueError(text)

        return run

    kept = [npx.host_call(bad("one"), [], (1,)), npx.host_call(bad("two"), [], (1,))]
    with pytest.raises(ExceptionGroup) as caught:
        npx.waitall()
    assert sorted(str(e) for e in caught.value.exceptions) == ["one", "two"]
    npx.waitall()
    with pytest.raises(ValueError, match="one"):
        kept[0].asnumpy()


def test_host_call_checks_its_arguments() -> None:
    with pytest.raises(TypeError, match="call"):
        npx.host_call(3, [], (1,))  # type: ignore[arg-type]


def test_done_callbacks() -> None:
    done = threading.Event()
    seen: list[Any] = []
    x = np.ones(2) + 1

    def note(array: Any) -> None:
        seen.append(array.is_ready())
        done.set()

    x.add_done_callback(note)
    assert done.wait(10)
    assert seen == [True]


def test_is_ready_does_not_wait() -> None:
    slow = npx.host_call(lambda: time.sleep(0.2) or numpy.float32(1), [], ())
    slow.is_ready()
    slow.wait_to_read()
    assert slow.is_ready()


# ---- neural networks


def softmax(x: Any, axis: int = -1) -> Any:
    e = numpy.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def test_softmax(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(3, 4)) * 50
    for axis in (-1, 0):
        same(npx.softmax(np.array(x), axis), softmax(x, axis))
        same(npx.log_softmax(np.array(x), axis), log_softmax(x, axis))
    same(npx.softmax(np.array(x), temperature=10.0), softmax(x / 10))
    same(npx.softmax(np.array(x), dtype="float32"), softmax(x.astype("float32")))
    same(npx.softmax(np.array([[1, 2]], dtype="int32")), softmax(numpy.array([[1.0, 2.0]])))


def log_softmax(x: Any, axis: int) -> Any:
    shifted = x - x.max(axis, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(axis, keepdims=True))


def test_softmax_with_lengths(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 4))
    made = npx.softmax(np.array(x), length=np.array([2, 4]), use_length=True)
    expected = numpy.zeros((2, 4))
    expected[0, :2], expected[1] = softmax(x[0, :2]), softmax(x[1])
    same(made, expected)
    with pytest.raises(ValueError, match="length"):
        npx.softmax(np.array(x), use_length=True)
    with pytest.raises(ValueError, match="length"):
        npx.softmax(np.array(x), length=np.array([2, 4, 1]))


@pytest.mark.parametrize("name", ["relu", "sigmoid", "tanh", "softrelu", "softsign", "gelu", "silu", "log_sigmoid"])
def test_activation(name: str) -> None:
    x = np.linspace(-2, 2, 5)
    other = {"softrelu": "softplus"}.get(name, name)
    same(npx.activation(x, name), getattr(npx if hasattr(npx, other) else np, other)(x).asnumpy())
    with pytest.raises(ValueError, match="swoosh"):
        npx.activation(x, "swoosh")


def test_leaky_relu() -> None:
    x = numpy.linspace(-2, 2, 5)
    same(npx.leaky_relu(np.array(x), slope=0.1), numpy.where(x > 0, x, 0.1 * x))
    same(npx.leaky_relu(np.array(x), np.array([0.5]), "prelu"), numpy.where(x > 0, x, 0.5 * x))
    same(npx.leaky_relu(np.array(x), act_type="elu"), numpy.where(x > 0, x, 0.25 * numpy.expm1(x)))
    with pytest.raises(ValueError, match="swish"):
        npx.leaky_relu(np.array(x), act_type="swish")
