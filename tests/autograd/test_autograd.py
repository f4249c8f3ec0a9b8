"""The interface: flags, heads, graphs kept and freed, requests, functions of one's own, writes in place, threads."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref
from typing import Any

import numpy
import pytest
from gradcheck import check, leaf

from slipstream import _core, autograd, cpu, engine, np, npx


def same(got: Any, expected: Any) -> None:
    numpy.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-12)


def here() -> int:
    """The line of the call."""
    return inspect.currentframe().f_back.f_lineno  # type: ignore[union-attr]


# ---- flags


def test_flags_and_scopes() -> None:
    assert not autograd.is_recording() and not autograd.is_training()
    with autograd.record():
        assert autograd.is_recording() and autograd.is_training()
        with autograd.pause():
            assert not autograd.is_recording() and not autograd.is_training()
        with autograd.predict_mode():
            assert autograd.is_recording() and not autograd.is_training()
        with autograd.pause(train_mode=True):
            assert not autograd.is_recording() and autograd.is_training()
    with autograd.record(train_mode=False):
        assert autograd.is_recording() and not autograd.is_training()
    with autograd.train_mode():
        assert not autograd.is_recording() and autograd.is_training()
    assert not autograd.is_recording() and not autograd.is_training()


def test_scopes_end_with_errors_and_decorate() -> None:
    with pytest.raises(KeyError), autograd.record():
        raise KeyError
    assert not autograd.is_recording()

    @autograd.record()
    def f(depth: int) -> bool:
        return f(depth - 1) if depth else autograd.is_recording()

    assert f(3) and not autograd.is_recording()


def test_flags_belong_to_threads() -> None:
    seen: list[bool] = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
        assert autograd.is_recording()
    assert seen == [False]


def test_set_recording_and_training() -> None:
    assert autograd.set_recording(True) is False
    assert autograd.set_recording(False) is True
    assert autograd.set_training(True) is False
    assert autograd.set_training(False) is True


# ---- leaves


def test_attach_and_drop() -> None:
    x = np.ones(2)
    assert x.grad is None and x.grad_req == "null"
    x.attach_grad()
    same(x.grad, [0, 0])
    assert x.grad_req == "write"
    x.drop_grad()
    assert x.grad is None
    x.attach_grad("null")
    assert x.grad is None
    with pytest.raises(ValueError, match="grad_req 'sum' is none of"):
        x.attach_grad("sum")


def test_write_and_add_keep_the_array() -> None:
    for request, after in (("write", [2, 2]), ("add", [6, 6])):
        x = np.ones(2)
        x.attach_grad(request)
        held = x.grad
        for _ in range(3):
            with autograd.record():
                y = 2 * x
            y.backward()
        same(held, after)
        same(x.grad, after)
        x.zero_grad()
        same(held, [0, 0])


def test_gradients_of_two_leaves_are_two_arrays() -> None:
    x, y = leaf([1.0]), leaf([2.0])
    with autograd.record():
        z = x + y
    z.backward()
    x.grad[:] = 7
    same(y.grad, [1])


def test_detach() -> None:
    x = leaf([3.0])
    with autograd.record():
        y = x * x
        z = y.detach() * x
    z.backward()
    same(x.grad, [9])
    assert x.detach().grad is None


def test_outside_of_record_nothing_is_followed() -> None:
    x = leaf([1.0, 2.0])
    view = x[:1]
    with autograd.record():
        y = view * 2
    with pytest.raises(RuntimeError, match=r"backward: the head of shape \(1,\) was not computed from"):
        y.backward()
    with pytest.raises(RuntimeError, match="was not computed from"):
        (x * 2).backward()


def test_mark_variables() -> None:
    x, y, g, h = np.ones(1), np.ones(1), np.zeros(1), np.zeros(1)
    autograd.mark_variables([x, y], [g, h], ["write", "add"])
    for _ in range(2):
        with autograd.record():
            z = 2 * x + 3 * y
        z.backward()
    same(g, [2])
    same(h, [6])
    with pytest.raises(ValueError, match="2 variables, 1 gradients and 2 grad_reqs"):
        autograd.mark_variables([x, y], [g])
    with pytest.raises(ValueError, match=r"a variable of shape \(1,\) has a gradient of shape \(2,\)"):
        autograd.mark_variables(x, np.zeros(2))


def test_the_leaf_hook_runs_as_soon_as_its_gradient_is_there() -> None:
    x, y = leaf([1.0]), leaf([1.0])
    order: list[str] = []
    _core.on_gradient(x, lambda g: order.append(f"x {g.item()}"))
    _core.on_gradient(y, lambda g: order.append(f"y {g.item()}"))

    class Seen(autograd.Function):
        def forward(self, a: Any) -> Any:
            return a * 1

        def backward(self, g: Any) -> Any:
            order.append("inner")
            return g

    with autograd.record():
        z = Seen()(x * 2) + y  # y is used last, so its gradient is known before the rest runs
    z.backward()
    assert order == ["y 1.0", "inner", "x 2.0"]
    assert x._fresh_grad
    x._fresh_grad = False
    assert not x._fresh_grad
    _core.on_gradient(x, None)


# ---- heads and graphs


def test_several_heads_and_head_gradients() -> None:
    x = leaf([1.0, 2.0])
    with autograd.record():
        y, z = x * x, 3 * x
    autograd.backward([y, z], [np.array([1.0, 10.0]), None])
    same(x.grad, [5, 43])
    with autograd.record():
        y = x * x
    y.backward(np.array([2.0, 3.0]))
    same(x.grad, [4, 12])
    with autograd.record():
        y = x * x
    with pytest.raises(ValueError, match=r"head of shape \(2,\) has a gradient of shape \(3,\)"):
        y.backward(np.ones(3))
    with pytest.raises(ValueError, match="more head gradients than heads"):
        autograd.backward([y], [y, y])


def test_heads_that_are_leaves() -> None:
    x = leaf([2.0])
    x.backward()
    same(x.grad, [1])
    with autograd.record():
        y = x * 3
    autograd.backward([y, x])
    same(x.grad, [4])


def test_grad_returns_new_arrays() -> None:
    x, y, z = leaf([2.0]), leaf([3.0]), leaf([1.0])
    with autograd.record():
        w = x * x * y
        h = x * x
        v = h * y
    found = autograd.grad(w, [x, y, z, x])
    for got, expected in zip(found, [12, 4, 0, 12], strict=True):
        same(got, [expected])
    same(x.grad, [0])
    same(autograd.grad(v, h)[0], [3])  # also for what lies on the way
    with pytest.raises(ValueError, match="variable 0 of shape"):
        autograd.grad(w, np.ones(1))


def test_grad_of_one_variable_is_a_list_too() -> None:
    """Programs for MXNet write [0], which on an array would be its first element."""
    x = leaf([2.0, 3.0])
    with autograd.record():
        y = x * x
    found = autograd.grad(y, x)
    assert isinstance(found, list)
    same(found[0], [4, 6])


@pytest.mark.parametrize("f", [lambda x: 3 * x, lambda x: np.clip(x, -1, 1), lambda x: x, np.transpose])
def test_constant_gradients_can_be_differentiated(f: Any) -> None:
    x, far = leaf([0.5, 2.0]), leaf([1.0])
    with autograd.record():
        y = f(x)
        slope, nothing = autograd.grad(y, [x, far], create_graph=True)
        again = autograd.grad(slope + slope, x, create_graph=True)[0]
    same(again, [0, 0])
    nothing.backward()
    same(far.grad, [0])
    given = np.array([7.0, 8.0])
    with autograd.record():
        y = f(x)
        slope = autograd.grad(y, x, given, create_graph=True)[0]
        slope = slope * x
    slope.backward()
    same(x.grad, slope / x)
    with autograd.record(), pytest.raises(RuntimeError, match="was not computed from arrays with gradients"):
        (given * 2).backward()  # a gradient of the head stays without a history of its own


def test_higher_orders() -> None:
    x = leaf([0.7])
    with autograd.record():
        y = np.sin(x)
        for _ in range(5):
            y = autograd.grad(y, x, create_graph=True)[0]
    same(y, numpy.cos([0.7]))
    y.backward()
    same(x.grad, -numpy.sin([0.7]))


def test_control_flow(rng: numpy.random.Generator) -> None:
    def f(x: Any, y: Any) -> Any:
        total = x
        for i in range(5):
            if i % 2:
                total = total * y + x[0]
            else:
                total = np.tanh(total) - y
        while float(abs(total).sum().detach()) > 1:
            total = total / 3
        return total

    check(f, [rng.normal(size=3), rng.normal(size=3)], rng)


def test_control_flow_that_depends_on_values(rng: numpy.random.Generator) -> None:
    """The book's example: doubling until a norm is reached."""

    def f(a: Any) -> Any:
        b = a * 2
        while float(np.sqrt((b * b).sum())) < 1000:
            b = b * 2
        return b if float(b.sum()) > 0 else 100 * b

    a = leaf(rng.normal(size=()))
    with autograd.record():
        d = f(a)
    d.backward()
    same(a.grad, d.asnumpy() / a.asnumpy())


def test_several_devices_in_one_record() -> None:
    if cpu(1) == cpu(0):
        pytest.skip("one device")
    x = np.array([1.0, 2.0], dtype="float64", device=cpu(0))
    y = np.array([3.0, 4.0], dtype="float64", device=cpu(1))
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        there = x.to_device(cpu(1)) * y
        z = there.to_device(cpu(0)) * x
    z.backward()
    same(x.grad, 2 * x.asnumpy() * y.asnumpy())
    same(y.grad, x.asnumpy() ** 2)
    assert x.grad.device == cpu(0) and y.grad.device == cpu(1)


def test_threads_record_and_differentiate_at_once() -> None:
    x = leaf(numpy.linspace(0, 1, 5))
    found: list[Any] = [None] * 8
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(20):
                with autograd.record():
                    y = x
                    for _ in range(number + 1):
                        y = y * x
                found[number] = autograd.grad(y, x)[0]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
    for i, got in enumerate(found):
        same(got, (i + 2) * x.asnumpy() ** (i + 1))


# ---- functions of one's own


class Sigmoid(autograd.Function):
    def forward(self, x: Any) -> Any:
        y = 1 / (1 + np.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy: Any) -> Any:
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


class TwoOfTwo(autograd.Function):
    def forward(self, x: Any, scale: float, y: Any) -> Any:
        self.save_for_backward(x, y)
        self.scale = scale
        return x * y * scale, x + y

    def backward(self, product: Any, total: Any) -> Any:
        x, y = self.saved_tensors
        return product * y * self.scale + total, None, product * x * self.scale + total


def test_functions(rng: numpy.random.Generator) -> None:
    check(lambda x: Sigmoid()(x), [rng.normal(size=(2, 3))], rng)
    check(lambda x, y: TwoOfTwo()(x, 2.5, y), [rng.normal(size=3), rng.normal(size=3)], rng)
    check(lambda x, y: TwoOfTwo()(x, 2.5, y)[1], [rng.normal(size=3), rng.normal(size=3)], rng)


def test_functions_used_wrongly() -> None:
    f = Sigmoid()
    x = leaf([1.0])
    f(x)
    with pytest.raises(RuntimeError, match="Sigmoid: an instance can be called once"):
        f(x)

    class Wrong(autograd.Function):
        def forward(self, x: Any) -> Any:
            return x * 2

        def backward(self, dy: Any) -> Any:
            return np.ones(7)

    with autograd.record():
        y = Wrong()(x)
    with pytest.raises(ValueError, match=r"Wrong: backward returned a gradient of shape \(7,\) for input 0"):
        y.backward()

    class Failing(autograd.Function):
        def forward(self, x: Any) -> Any:
            return x

        def backward(self, dy: Any) -> Any:
            raise KeyError("own error")

    with autograd.record():
        y = Failing()(x)
    with pytest.raises(KeyError, match="own error"):
        y.backward()


def test_functions_release_what_they_saved() -> None:
    x = leaf([1.0])
    f = Sigmoid()
    seen = weakref.ref(f)
    with autograd.record():
        y = f(x)
    del f
    assert seen() is not None
    y.backward()
    gc.collect()
    assert seen() is None


def test_with_gradient(rng: numpy.random.Generator) -> None:
    def cubed(x: Any) -> Any:
        y = npx.host_call(lambda a: a**3, [x.detach()], x.shape, "float64")
        return autograd.with_gradient(y, [x], lambda g: 3 * g * x * x, name="cubed")

    def exponential(x: Any) -> Any:
        with autograd.pause():
            y = np.exp(x)
        return autograd.with_gradient(y, [x], lambda g, y: [g * y], keep_results=True)

    check(cubed, [rng.normal(size=4)], rng)
    check(exponential, [rng.normal(size=4)], rng)
    y = np.ones(1)
    assert autograd.with_gradient(y, [np.ones(1)], lambda g: g) is y


# ---- writes in place


def test_writes_into_what_is_recorded_raise() -> None:
    x = leaf([1.0, 2.0])
    with autograd.record():
        y, recorded = x * 2, here()
        with pytest.raises(RuntimeError, match="add: an array with a gradient attached cannot be written in place"):
            x += 1
        with pytest.raises(RuntimeError, match=f"the result of multiply, recorded at .*line {recorded}, .*while rec"):
            y[0] = 1
        with pytest.raises(RuntimeError, match="cannot be written in place"):
            np.exp(x, out=y)
        with pytest.raises(RuntimeError, match="cannot be written in place"):
            np.dot(x, x, out=y[0:1].reshape(()))


def test_a_saved_value_that_was_written_raises_at_backward() -> None:
    x, w = leaf([1.0, 2.0]), np.ones(2, "float64")
    with autograd.record():
        y, recorded = x * w, here()
    w[0], written = 5, here()
    both = rf"gradient of multiply needs.*line {recorded}, in test_a.*the write was at .*line {written}, in test_a"
    with pytest.raises(RuntimeError, match=both):
        y.backward()


@pytest.mark.parametrize("write", ["w += 1", "w[:] = 1", "np.add(w, w, out=w)", "w.fill(3)", "w[w > 0] = 2"])
@pytest.mark.parametrize("use", ["x * w", "np.dot(x, w)", "np.exp(x * w).sum()", "np.cumprod(x * w)"])
def test_every_kind_of_write_is_seen(write: str, use: str) -> None:
    names = {"x": leaf([1.0, 2.0]), "w": np.ones(2, "float64"), "np": np}
    with autograd.record():
        exec(f"y = {use}", names)
    exec(write, names)
    with pytest.raises(RuntimeError, match="was written in place since"):
        names["y"].backward()


def test_results_that_were_written_raise() -> None:
    x = leaf([1.0])
    with autograd.record():
        y = np.exp(x)
    y += 1
    with pytest.raises(RuntimeError, match="gradient of exp needs was written"):
        y.backward()


def test_harmless_writes_are_fine() -> None:
    x, w = leaf([1.0, 2.0]), np.ones(2, "float64")
    with autograd.record():
        y = x + w  # saves nothing
    w += 1
    y.backward()
    same(x.grad, [1, 1])
    for _ in range(3):
        with autograd.record():
            y = (x * x).sum()
        y.backward()
        x -= 0.1 * x.grad  # an update after backward
    same(x, numpy.array([1.0, 2.0]) * 0.8**3)


def _filled_row_by_row(x: Any) -> Any:
    y = np.zeros((3, 3), "float64")
    for i in range(3):
        y[i] = x * x[i]
    y[1, 1] = 7  # a constant over what was written
    return y * y


def _written_through_a_view(x: Any) -> Any:
    y = np.ones((2, 3), "float64")
    part = y[1, ::2]
    part[...] = np.sin(x[:2])
    return y.T * 3


def _written_twice(x: Any) -> Any:
    y = np.zeros(3, "float64")
    y[:2] = x[:2] * 5
    y[1:] = x[1:] * x[1:]
    return y


def _summed_up(x: Any) -> Any:
    y = np.ones(3, "float64")
    for i in range(3):
        y += x * (i + 1)
        y[i] -= x[0]
    return np.exp(y * 0.1)


def _out(x: Any) -> Any:
    y = np.zeros(3, "float64")
    np.exp(x, out=y)
    z = np.zeros((2, 3), "float64")
    np.concatenate([x.reshape(1, 3), y.reshape(1, 3)], out=z)
    total = np.zeros((), "float64")
    np.sum(z, out=total)
    return y * x + total


def _product(x: Any) -> Any:
    y = np.zeros((3, 3), "float64")
    np.matmul(x.reshape(3, 1), x.reshape(1, 3), out=y)
    w = np.zeros((3, 3), "float64")
    np.cumsum(y, axis=0, out=w)
    return np.sin(w)


def _masked(x: Any) -> Any:
    y = np.ones(3, "float64")
    np.multiply(x, x, out=y, where=np.array([True, False, True]))
    return y * y


def _broadcast(x: Any) -> Any:
    y = np.zeros((2, 3), "float64")
    y[:] = x
    y[0] = x.sum()
    return y * np.broadcast_to(y[1], (2, 3))


WRITES = [_filled_row_by_row, _written_through_a_view, _written_twice, _summed_up, _out, _product, _masked, _broadcast]


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_writes_of_followed_values(f: Any, rng: numpy.random.Generator) -> None:
    check(f, [rng.normal(size=3)], rng)


def test_a_buffer_that_outlives_its_graphs() -> None:
    x = leaf([2.0])
    losses = np.zeros(4, "float64")
    for i in range(4):
        with autograd.record():
            loss = (x * x).sum() * (i + 1)
            losses[i] = loss
        loss.backward()
        same(x.grad, [4 * (i + 1)])
    same(losses, [4, 8, 12, 16])
    with autograd.record():
        again = (losses * x).sum()  # constants by now
    again.backward()
    same(x.grad, [40])


def test_constants_written_outside_count() -> None:
    x = leaf([2.0, 3.0])
    y = np.zeros(2, "float64")
    with autograd.record():
        y[:] = x * x
        with autograd.pause():
            y[0] = 1
        z = y.sum()
    z.backward()
    same(x.grad, [0, 6])
    with autograd.record():
        y[:] = x
    y[:] = 5
    with autograd.record():
        z = y * 2 + x
    z.backward()
    same(x.grad, [1, 1])


# ---- memory


def in_use() -> int:
    npx.waitall()
    return int(engine.memory()["in_use"])


def test_backward_frees_what_it_used() -> None:
    x = leaf(numpy.ones((100, 100)))
    before = in_use()
    with autograd.record():
        y = x
        for _ in range(10):
            y = np.tanh(y)
        z = y.sum()
    del y
    npx.waitall()
    assert in_use() >= before + 10 * x.nbytes
    z.backward()
    assert in_use() <= before + 2 * x.nbytes


def test_a_graph_that_is_dropped_is_freed() -> None:
    x = leaf(numpy.ones((100, 100)))
    before = in_use()
    with autograd.record():
        y = np.exp(np.exp(x)).sum()
    assert in_use() > before
    del y
    assert in_use() <= before


def test_only_what_gradients_need_is_kept() -> None:
    x = leaf(numpy.ones((200, 200)))
    before = in_use()
    with autograd.record():
        y = ((x + 1) * 3 - x).sum()
    npx.waitall()
    assert in_use() < before + x.nbytes
    y.backward()


def test_a_training_loop_is_flat() -> None:
    w = leaf(numpy.ones((50, 50)))
    peaks = []
    for _ in range(5):
        for _ in range(20):
            with autograd.record():
                loss = (np.tanh(np.dot(w, w)) ** 2).mean()
            loss.backward()
            w -= 0.1 * w.grad
        peaks.append(in_use())
    assert peaks[-1] <= peaks[0]


def test_long_chains() -> None:
    x = leaf([1.0])
    with autograd.record():
        y = x
        for _ in range(100_000):
            y = y + 1
    y.backward()
    same(x.grad, [1])
    with autograd.record():
        y = x
        for _ in range(100_000):
            y = y * 1.0
    del y  # without backward
    views = x
    with autograd.record():
        for _ in range(50_000):
            views = views.reshape(1, 1).reshape(1)
    views.backward()
    same(x.grad, [1])
