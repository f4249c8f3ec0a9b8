"""What the book's chapter on computational performance says of training on several devices, on CPU devices.

Letters and numbers name its statements: M (several devices by hand), C (blocks and a trainer), K (key-value stores).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy
import pytest

from slipstream import autograd, engine, gluon, init, kvstore, np, npx, profiler
from slipstream.gluon import nn

DEVICES = [npx.cpu(1), npx.cpu(2)]
Rng = numpy.random.Generator


def made_net(**options: Any) -> Any:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, kernel_size=3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
    net.add(nn.Flatten(), nn.Dense(8, activation="relu"), nn.Dense(3))
    net.initialize(init.Normal(0.1), **options)
    return net


def made_mlp(values: Any = None, **options: Any) -> Any:
    net = nn.Sequential()
    net.add(nn.Dense(8, activation="relu", in_units=6), nn.Dense(3, in_units=8))
    net.initialize(init.Normal(0.3), **options)
    if values is not None:
        for name, p in net.collect_params().items():
            p.set_data(values[name])
    return net


def batch(rng: Rng, n: int = 8) -> tuple[Any, Any]:
    x = rng.standard_normal((n, 6)).astype("float32")
    return np.array(x), np.array(rng.standard_normal((n, 3)).astype("float32"))


def shards(x: Any, devices: Any) -> list[Any]:
    step = x.shape[0] // len(devices)
    return [x[i * step : (i + 1) * step].as_in_ctx(d) for i, d in enumerate(devices)]


def loss_of(net: Any, x: Any, y: Any) -> Any:
    return ((net(x) - y) ** 2).sum()


# ---- backward passes that somebody holds up


only_async = pytest.mark.skipif(engine.kind() == "sync", reason="the synchronous engine runs each call at once")


class Passing(autograd.Function):
    """Gives on what it gets; the gradient passes through a function on the host."""

    def __init__(self, wait: Callable[[], Any]) -> None:
        self.wait = wait

    def forward(self, v: Any) -> Any:
        return v * 1

    def backward(self, g: Any) -> Any:
        def passed(values: Any) -> Any:
            self.wait()
            return values

        return npx.host_call(passed, [g], g.shape, "float32")


@contextmanager
def held() -> Iterator[Callable[[], Any]]:
    """A function that returns when the block has ended."""
    opened = threading.Event()
    try:
        yield lambda: opened.wait(60)
    finally:
        opened.set()


# ---- M: by hand


def test_m1_copied_parameters_have_gradients_of_zero_on_their_device() -> None:
    p = np.ones((2, 3))
    new = p.copyto(DEVICES[0])
    new.attach_grad()
    assert new.device == DEVICES[0]
    assert new.grad.device == DEVICES[0]
    assert new.grad.shape == p.shape
    assert not new.grad.asnumpy().any()


def allreduce(data: list[Any]) -> None:
    """As the book writes it."""
    for i in range(1, len(data)):
        data[0][:] += data[i].copyto(data[0].ctx)
    for i in range(1, len(data)):
        data[0].copyto(data[i])


def test_m2_m3_allreduce_as_the_book_writes_it() -> None:
    data = [np.ones((1, 2), ctx=DEVICES[i]) * (i + 1) for i in range(2)]
    before = list(data)
    allreduce(data)
    assert [d.tolist() for d in data] == [[[3, 3]], [[3, 3]]]
    assert all(a is b for a, b in zip(data, before, strict=True))
    assert [d.ctx for d in data] == DEVICES


def test_m5_one_record_spans_devices_and_gradients_stay_on_theirs(rng: Rng) -> None:
    x, y = batch(rng)
    net = made_mlp(ctx=DEVICES)
    with autograd.record():
        losses = [loss_of(net, a, b) for a, b in zip(shards(x, DEVICES), shards(y, DEVICES), strict=True)]
    for loss in losses:
        loss.backward()
    for p in net.collect_params().values():
        assert [g.device for g in p.list_grad()] == DEVICES
        a, b = (g.asnumpy() for g in p.list_grad())
        assert a.any()
        assert b.any()
        assert (a != b).any()


def trained(rng: Rng, devices: Any, by_hand: bool, steps: int = 5) -> Any:
    """A network after some steps of SGD on the same batches."""
    batches = [batch(rng) for _ in range(steps)]
    shapes = {name: p.shape for name, p in made_mlp().collect_params().items()}
    start = {name: np.array(rng.standard_normal(shape).astype("float32") * 0.3) for name, shape in shapes.items()}
    net = made_mlp(start, ctx=devices)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    for x, y in batches:
        with autograd.record():
            losses = [loss_of(net, a, b) for a, b in zip(shards(x, devices), shards(y, devices), strict=True)]
        for loss in losses:
            loss.backward()
        if not by_hand:
            trainer.step(x.shape[0])
            continue
        for p in net.collect_params().values():
            grads = p.list_grad()
            allreduce(grads)
            for data, grad in zip(p.list_data(), grads, strict=True):
                data[:] = data - 0.05 * grad / x.shape[0]
    return net


@pytest.mark.parametrize("by_hand", [True, False])
def test_m7_m8_replicas_stay_identical_and_follow_one_device(by_hand: bool) -> None:
    one = trained(numpy.random.default_rng(1), [npx.cpu(0)], by_hand)
    two = trained(numpy.random.default_rng(1), DEVICES, by_hand)
    for name, p in two.collect_params().items():
        a, b = (d.asnumpy() for d in p.list_data())
        assert (a == b).all()
        numpy.testing.assert_allclose(a, one.collect_params()[name].data().asnumpy(), rtol=1e-5, atol=1e-6)


def test_m9_functions_of_explicit_parameters_are_differentiable(rng: Rng) -> None:
    x = np.array(rng.standard_normal((2, 1, 6, 6)))
    w, b = np.array(rng.standard_normal((3, 1, 3, 3))), np.array(rng.standard_normal(3))

    def function(weight: Any, bias: Any) -> Any:
        conv = npx.convolution(data=x, weight=weight, bias=bias, kernel=(3, 3), num_filter=3)
        pool = npx.pooling(data=npx.relu(conv), pool_type="avg", kernel=(2, 2), stride=(2, 2))
        return (pool * pool).sum()

    x, w, b = (v.astype("float64") for v in (x, w, b))
    for v in (w, b):
        v.attach_grad()
    with autograd.record():
        out = function(w, b)
    out.backward()
    for v, place in ((w, (1, 0, 2, 1)), (b, (2,))):
        values = v.asnumpy()
        slopes = []
        for sign in (1, -1):
            moved = values.copy()
            moved[place] += sign * 1e-5
            arguments = (np.array(moved, dtype="float64"), b) if v is w else (w, np.array(moved, dtype="float64"))
            slopes.append(function(*arguments).item())
        assert (slopes[0] - slopes[1]) / 2e-5 == pytest.approx(v.grad.asnumpy()[place], rel=1e-4)


def test_m10_batch_norm_keeps_statistics_for_each_device() -> None:
    layer = nn.BatchNorm()
    layer.initialize(ctx=DEVICES)
    with autograd.record():
        for i, device in enumerate(DEVICES):
            layer(np.full((4, 2), float(i + 1), ctx=device))
    means = [layer.running_mean.data(device).asnumpy() for device in DEVICES]
    numpy.testing.assert_allclose(means, [[0.1, 0.1], [0.2, 0.2]], rtol=1e-5)


@only_async
def test_m6_backward_passes_of_two_devices_run_side_by_side(rng: Rng) -> None:
    """Each of the two ends only when the other has begun."""
    net, meeting = made_mlp(ctx=DEVICES), threading.Barrier(2, timeout=60)
    x, y = batch(rng)
    before = engine.set_workers(2)
    try:
        with autograd.record():
            losses = [
                ((net[1](Passing(meeting.wait)(net[0](a))) - b) ** 2).sum()
                for a, b in zip(shards(x, DEVICES), shards(y, DEVICES), strict=True)
            ]
        for loss in losses:
            loss.backward()
        assert all(net[0].weight.grad(device).asnumpy().any() for device in DEVICES)
    finally:
        engine.set_workers(before)


@only_async
def test_m11_gradients_are_exchanged_while_others_are_still_computed(rng: Rng) -> None:
    net = made_mlp(ctx=DEVICES)
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with held() as gate:
        with autograd.record():
            losses = [net[1](Passing(gate)(net[0](a))).sum() for a in shards(batch(rng)[0], DEVICES)]
        autograd.backward(losses)
        trainer.allreduce_grads()
        sums = [net[1].bias.grad(device).asnumpy() for device in DEVICES]  # ready although the first layer's are not
        assert not any(net[0].bias.grad(device).is_ready() for device in DEVICES)
    assert (sums[0] == 8).all() and (sums[1] == 8).all()
    first, second = (net[0].bias.grad(device).asnumpy() for device in DEVICES)
    assert (first == second).all()


# ---- C: blocks and a trainer


def test_c1_replicas_are_equal_and_run_where_their_input_is(rng: Rng) -> None:
    net = made_net(ctx=DEVICES)
    x = np.array(rng.standard_normal((4, 1, 8, 8)))
    first, second = (net(part) for part in shards(x, DEVICES))
    assert [first.device, second.device] == DEVICES
    whole = net(x.as_in_ctx(DEVICES[0])).asnumpy()
    numpy.testing.assert_allclose(numpy.concatenate([first.asnumpy(), second.asnumpy()]), whole, rtol=1e-4, atol=1e-5)
    for p in net.collect_params().values():
        a, b = (d.asnumpy() for d in p.list_data())
        assert (a == b).all()


def test_c2_lazy_parameters_begin_when_data_passes() -> None:
    net = made_net(ctx=DEVICES)
    weight = net[0].weight
    with pytest.raises(gluon.DeferredInitializationError):
        weight.data(DEVICES[0])
    net(np.ones((1, 1, 8, 8), ctx=DEVICES[1]))
    assert [weight.data(d).device for d in DEVICES] == DEVICES


def test_c3_the_devices_of_a_network() -> None:
    net = made_net(ctx=DEVICES)
    assert next(iter(net.collect_params().values())).list_ctx() == DEVICES


def test_c4_parameters_do_not_exist_on_other_devices() -> None:
    net = made_net(ctx=DEVICES)
    net(np.ones((1, 1, 8, 8), ctx=DEVICES[0]))
    with pytest.raises(RuntimeError, match=r"not initialized on device cpu\(0\)"):
        net[0].weight.data()
    assert net[0].weight.data(DEVICES[1]).shape == (4, 1, 3, 3)


def test_c5_parameters_by_their_old_way() -> None:
    net = made_net()
    assert net[0].params.get("weight") is net[0].weight


def test_c6_initialised_again_on_other_devices() -> None:
    net = made_net(ctx=DEVICES[0])
    net(np.ones((1, 1, 8, 8), ctx=DEVICES[0]))
    net.initialize(init=init.Normal(sigma=0.01), ctx=[npx.cpu(3), npx.cpu(4)], force_reinit=True)
    assert all(p.list_ctx() == [npx.cpu(3), npx.cpu(4)] for p in net.collect_params().values())


def test_c7_a_step_sums_rescales_and_updates_every_replica() -> None:
    net = nn.Dense(1, use_bias=False, in_units=2, weight_initializer="ones")
    net.initialize(ctx=DEVICES)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    with autograd.record():
        losses = [net(np.full((2, 2), float(i + 1), ctx=d)).sum() for i, d in enumerate(DEVICES)]
    autograd.backward(losses)
    trainer.step(4)
    # the gradient is 2 * 1 + 2 * 2 = 6, divided by 4
    for device in DEVICES:
        assert net.weight.data(device).tolist() == [[1 - 0.5 * 1.5] * 2]


def test_c9_hits_summed_over_devices_are_those_of_one(rng: Rng) -> None:
    x, _ = batch(rng, 40)
    labels = np.array(rng.integers(0, 3, 40))
    two = made_mlp(ctx=DEVICES)
    one = made_mlp({name: p.data(DEVICES[0]) for name, p in two.collect_params().items()})
    hits = [
        (two(a).argmax(axis=1).astype("float32") == b).sum().item()
        for a, b in zip(shards(x, DEVICES), shards(labels, DEVICES), strict=True)
    ]
    assert sum(hits) == (one(x).argmax(axis=1).astype("float32") == labels).sum().item()


def test_c10_steps_without_a_barrier_give_the_same_bits(rng: Rng) -> None:
    start = made_mlp()
    values = {name: p.data().copy() for name, p in start.collect_params().items()}
    batches = [batch(rng) for _ in range(6)]
    results = []
    for waits in (True, False):
        net = made_mlp(values)
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
        for x, y in batches:
            with autograd.record():
                loss = loss_of(net, x, y)
            loss.backward()
            trainer.step(8)
            if waits:
                npx.waitall()
        results.append(numpy.concatenate([p.data().asnumpy().ravel() for p in net.collect_params().values()]))
    assert (results[0] == results[1]).all()


# ---- K: stores under a trainer


def test_k4_k6_where_the_sum_is_made_changes_nothing() -> None:
    results = []
    for store in ("local", "device"):
        for on_store in (False, True):
            p = gluon.Parameter("weight", shape=(3,), init="ones")
            p.initialize(ctx=[npx.cpu(i) for i in range(3)])
            options = {"learning_rate": 0.1, "momentum": 0.9}
            trainer = gluon.Trainer([p], "sgd", options, kvstore=kvstore.create(store), update_on_kvstore=on_store)
            for _ in range(3):
                with autograd.record():
                    losses = [(data * float(i + 1)).sum() for i, data in enumerate(p.list_data())]
                autograd.backward(losses)
                trainer.step(2)
            results.append([d.asnumpy() for d in p.list_data()])
    for values in results:
        for value in values:
            assert (value == results[0][0]).all()


@only_async
def test_k9_an_update_runs_while_the_rest_of_the_backward_pass_does() -> None:
    """The last layer's update needs its own gradient alone: the trace has it before the end of the rest."""
    net = made_mlp()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    with profiler.trace() as trace:
        with held() as gate:
            with autograd.record():
                loss = net[1](Passing(gate)(net[0](np.ones((8, 6))))).sum()
            loss.backward()
            trainer.step(8)
            moved = net[1].bias.data().asnumpy()  # would never come if it waited for the first layer
            assert not net[0].bias.data().is_ready()
        npx.waitall()
    assert moved.any() and net[0].bias.data().asnumpy().any()
    runs = [event for event in trace.events if event["type"] == "run"]
    (backward,) = (event for event in runs if event["name"] == "host_call")
    rows = {shape: [e for e in runs if f"-> ({shape},)" in e["shapes"] and "subtract" in e["name"]] for shape in (3, 8)}
    assert rows[3] and all(e["end_ns"] < backward["end_ns"] for e in rows[3])
    assert rows[8] and all(e["start_ns"] > backward["end_ns"] for e in rows[8])
