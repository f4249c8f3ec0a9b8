"""The trainer: closed forms of its steps, devices, stores, stale gradients, states."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy
import pytest

from slipstream import autograd, engine, gluon, init, kvstore, lr_scheduler, np, npx, optimizer
from slipstream.gluon import Parameter, Trainer, nn

CPUS = [npx.cpu(0), npx.cpu(1)]


def parameter(ctx: Any = None, **options: Any) -> Parameter:
    p = Parameter("weight", shape=(2,), init="ones", **options)
    p.initialize(ctx=ctx)
    return p


def backward(p: Parameter, factors: Any = (3,)) -> None:
    with autograd.record():
        losses = [(data * k).sum() for data, k in zip(p.list_data(), factors, strict=False)]
    autograd.backward(losses)


def test_a_step_of_sgd() -> None:
    p = parameter()
    trainer = Trainer({"w": p}, "sgd", {"learning_rate": 0.5, "wd": 0.1})
    backward(p)
    trainer.step(batch_size=2)
    # w - lr * (g / batch + wd * w)
    assert p.data().asnumpy() == pytest.approx([1 - 0.5 * (1.5 + 0.1)] * 2)
    assert trainer.learning_rate == 0.5
    trainer.set_learning_rate(0.25)
    assert trainer.optimizer.lr == 0.25
    trainer.learning_rate = 0.125
    assert trainer.learning_rate == 0.125


def test_factors_of_parameters_and_gradients() -> None:
    p, q, fixed = parameter(lr_mult=2), parameter(), parameter(grad_req="null")
    trainer = Trainer([p, q, fixed, p], optimizer.SGD(learning_rate=0.5, rescale_grad=1.0))
    backward(p)
    backward(q)
    trainer.step(3)
    assert p.data().tolist() == [0, 0]
    assert q.data().tolist() == [0.5, 0.5]
    assert fixed.data().tolist() == [1, 1]
    scaled = Trainer([q], "sgd", {"learning_rate": 1, "rescale_grad": 2})
    backward(q, [1])
    scaled.step(4)
    assert q.data().tolist() == [0, 0]


def test_an_optimizer_keeps_its_factor_of_gradients() -> None:
    sgd = optimizer.SGD(learning_rate=1, rescale_grad=0.5)
    for batch_size, expected in ((1, 0.5), (2, 0.75), (2, 0.75)):  # as often as it is given to a trainer
        p = parameter()
        trainer = Trainer([p], sgd)
        backward(p, [1])
        trainer.step(batch_size)
        assert p.data().tolist() == [expected] * 2
    with pytest.raises(UserWarning, match="was not written"):
        trainer.step(4)
    assert sgd.rescale_grad == 0.5


@pytest.mark.parametrize("store", ["device", "local", kvstore.create("local")])
@pytest.mark.parametrize("on_store", [None, False, True])
@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_several_devices_are_one_batch(store: Any, on_store: bool | None, name: str) -> None:
    if not isinstance(store, str):
        store = kvstore.create("local")
    p, alone = parameter(CPUS), parameter()
    trainer = Trainer([p], name, {"learning_rate": 0.1}, kvstore=store, update_on_kvstore=on_store)
    single = Trainer([alone], name, {"learning_rate": 0.1})
    for step in range(4):
        backward(p, [1 + step, 2])
        trainer.step(4)
        backward(alone, [3 + step])
        single.step(4)
        a, b = (d.asnumpy() for d in p.list_data())
        assert (a == b).all()
        numpy.testing.assert_allclose(a, alone.data().asnumpy(), rtol=1e-6)


def test_allreduce_then_update() -> None:
    p = parameter(CPUS)
    trainer = Trainer([p], "sgd", {"learning_rate": 1})
    backward(p, [1, 2])
    trainer.allreduce_grads()
    assert [g.tolist() for g in p.list_grad()] == [[3, 3], [3, 3]]
    for g in p.list_grad():
        g[...] = np.clip(g, -0.5, 0.5)
    trainer.update(1)
    assert [d.tolist() for d in p.list_data()] == [[0.5, 0.5]] * 2


def test_without_a_store_devices_go_their_own_ways() -> None:
    p = parameter(CPUS)
    trainer = Trainer([p], "sgd", {"learning_rate": 1}, kvstore=None)
    backward(p, [1, 2])
    trainer.step(1)
    assert [d.tolist() for d in p.list_data()] == [[0, 0], [-1, -1]]


def test_stale_gradients() -> None:
    p, q = parameter(), parameter()
    trainer = Trainer([p, q], "sgd", {"learning_rate": 1})
    backward(p, [1])
    with pytest.raises(UserWarning, match="gradient of parameter 'weight' on cpu"):
        trainer.step(1)
    backward(p, [1])
    trainer.step(1, ignore_stale_grad=True)
    assert q.data().tolist() == [1, 1]
    before = p.data().tolist()
    trainer.step(1, ignore_stale_grad=True)
    assert p.data().tolist() == before


@pytest.mark.parametrize("way", ["step", "update", "on store"])
def test_stale_gradients_are_no_part_of_the_sum(way: str) -> None:
    p = parameter(CPUS)
    trainer = Trainer([p], "sgd", {"learning_rate": 1, "momentum": 0.5}, update_on_kvstore=way == "on store")
    backward(p, [1, 2])
    trainer.step(1)
    for fresh in (0, 1):
        with autograd.record():
            loss = p.data(CPUS[fresh]).sum()
        loss.backward()
        if way == "update":
            trainer.allreduce_grads()
            trainer.update(1, ignore_stale_grad=True)
        else:
            trainer.step(1, ignore_stale_grad=True)
    assert [d.tolist() for d in p.list_data()] == [[-6.75, -6.75]] * 2  # 1 - 3 - 2.5 - 2.25


def test_without_a_store_stale_replicas_stay() -> None:
    p = parameter(CPUS)
    trainer = Trainer([p], "sgd", {"learning_rate": 1}, kvstore=None)
    with autograd.record():
        loss = p.data(CPUS[1]).sum()
    loss.backward()
    trainer.step(1, ignore_stale_grad=True)
    assert [d.tolist() for d in p.list_data()] == [[1, 1], [0, 0]]


def test_gradients_set_by_hand_are_summed() -> None:
    p = parameter(CPUS)
    for g in p.list_grad():
        g[...] = 2
    Trainer([p], "sgd").allreduce_grads()
    assert [g.tolist() for g in p.list_grad()] == [[4, 4]] * 2


@pytest.mark.parametrize("on_store", [False, True])
def test_a_refused_step_changes_nothing(on_store: bool) -> None:
    p, q = parameter(CPUS), parameter(CPUS)
    trainer = Trainer([q, p], "sgd", {"learning_rate": 1}, update_on_kvstore=on_store)
    backward(p, [1, 2])
    with pytest.raises(UserWarning, match="was not written by a backward pass"):
        trainer.step(1)
    assert [g.tolist() for g in p.list_grad()] == [[1, 1], [2, 2]]
    trainer.step(1, ignore_stale_grad=True)
    assert [d.tolist() for d in p.list_data()] == [[-2, -2]] * 2
    assert [d.tolist() for d in q.list_data()] == [[1, 1]] * 2


def test_gradients_that_add_up_over_batches() -> None:
    p = parameter(grad_req="add")
    trainer = Trainer([p], "sgd", {"learning_rate": 1})
    for _ in range(3):
        backward(p, [1])
    trainer.step(3)
    assert p.data().tolist() == [0, 0]


@pytest.mark.parametrize("on_store", [False, True])
def test_states_go_on_where_they_stopped(tmp_path: Path, on_store: bool) -> None:
    options = {"learning_rate": 0.1, "momentum": 0.9}

    def made(ctx: Any) -> tuple[Parameter, Trainer]:
        p = parameter(ctx)
        return p, Trainer([p], "sgd", dict(options), update_on_kvstore=on_store)

    def steps(p: Parameter, trainer: Trainer, count: int) -> None:
        for _ in range(count):
            backward(p, [1, 2])
            trainer.step(1)

    p, trainer = made(CPUS)
    steps(p, trainer, 3)
    trainer.save_states(tmp_path / "states")
    values = p.data(CPUS[0]).copy()
    steps(p, trainer, 2)
    q, other = made(CPUS)
    steps(q, other, 1)
    q.set_data(values)
    other.load_states(tmp_path / "states")
    steps(q, other, 2)
    for found, expected in zip(q.list_data(), p.list_data(), strict=True):
        numpy.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-6)
    (tmp_path / "bad").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="no states of an optimizer"):
        other.load_states(tmp_path / "bad")


@pytest.mark.parametrize("on_store", [False, True])
def test_states_of_another_optimizer_bring_it_with_them(tmp_path: Path, on_store: bool) -> None:
    p = parameter()
    trainer = Trainer([p], "sgd", {"learning_rate": 1}, update_on_kvstore=on_store)
    trained(p, trainer, range(1))
    trainer.save_states(tmp_path / "states")
    other = Trainer([p], "adam", update_on_kvstore=on_store)
    other.load_states(tmp_path / "states")
    assert isinstance(other.optimizer, optimizer.SGD)
    backward(p, [1])
    other.step(2)
    assert p.data().tolist() == [-0.5, -0.5]


def test_parameters_may_move_to_another_device() -> None:
    p, stays = parameter(), parameter()
    trainers = [Trainer([q], "sgd", {"learning_rate": 0.1, "momentum": 0.9}) for q in (p, stays)]
    for moved in (False, True):
        if moved:
            p.reset_ctx(npx.cpu(1))
        for q, trainer in zip((p, stays), trainers, strict=True):
            backward(q)
            trainer.step(1)
    assert (p.data().asnumpy() == stays.data().asnumpy()).all()


def set_in_place(p: Parameter) -> None:
    for data in p.list_data():
        data[:] = 5


def set_by_a_view(p: Parameter) -> None:
    p.list_data()[-1].reshape(1, 2)[0] = 5  # of one replica: all follow it


def set_at_once_on(devices: list[Any]) -> Any:
    def moved(p: Parameter) -> None:
        p.initialize("zeros", device=devices, force_reinit=True)
        p.set_data([5, 5])

    return moved


@pytest.mark.parametrize("on_store", [False, True])
@pytest.mark.parametrize("devices", [CPUS[:1], CPUS])
@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.set_data([5, 5]),
        lambda p: p.load_init(np.array([5.0, 5.0])),
        lambda p: p.initialize(init.Constant(5), device=p.list_device(), force_reinit=True),
        set_in_place,
        set_by_a_view,
        set_at_once_on(CPUS[::-1]),
    ],
)
def test_training_goes_on_from_values_set_by_hand(change: Any, devices: list[Any], on_store: bool) -> None:
    p = parameter(devices)
    trainer = Trainer([p], "sgd", {"learning_rate": 1, "momentum": 0.5}, update_on_kvstore=on_store)
    trained(p, trainer, range(2))  # the momentum is 2.5
    if change is set_by_a_view and not on_store:
        change = set_in_place  # without a store every replica goes its own way
    change(p)
    assert {tuple(values) for values in trained(p, trainer, range(1))} == {(2.75, 2.75)}
    assert {tuple(values) for values in trained(p, trainer, range(1))} == {(0.625, 0.625)}


def trained(p: Parameter, trainer: Trainer, steps: range) -> list[list[float]]:
    """Every replica's values after steps whose summed gradients do not depend on how many there are."""
    for step in steps:
        here = p.list_data()
        backward(p, [(1.0 + step) / len(here)] * len(here))
        trainer.step(1)
    return [data.tolist() for data in p.list_data()]


@pytest.mark.parametrize("on_store", [False, True])
@pytest.mark.parametrize("to", [CPUS[:1], CPUS[1:], CPUS, CPUS[::-1]])
def test_training_goes_on_on_other_devices(tmp_path: Path, on_store: bool, to: list[Any]) -> None:
    """Adam's numbers depend on the count of updates."""

    def made(ctx: Any) -> tuple[Parameter, Trainer]:
        p = parameter(ctx)
        return p, Trainer([p], "adam", {"learning_rate": 0.1}, update_on_kvstore=on_store)

    stays, trainer = made(CPUS[:1])
    expected = trained(stays, trainer, range(6))[0]
    for moves in ("by a file", "by reset_device"):
        p, trainer = made(CPUS[:1])
        trained(p, trainer, range(2))
        if moves == "by a file":
            trainer.save_states(tmp_path / "states")
            values = p.data()
            p, trainer = made(to)
            p.set_data(values)
            trainer.load_states(tmp_path / "states")
        else:
            p.reset_device(to)
        trained(p, trainer, range(2, 4))
        p.reset_device(CPUS[:1])  # and back, where older states may be
        p.reset_device([*to, npx.cpu(2)])
        for found in trained(p, trainer, range(4, 6)):
            numpy.testing.assert_allclose(found, expected, rtol=1e-6)
        assert trainer.optimizer.num_update == 6


def test_states_are_kept_wherever_they_are(tmp_path: Path) -> None:
    stays, p = parameter(), parameter()
    for q, moves in ((stays, False), (p, True)):
        trainer = Trainer([parameter(grad_req="null"), q], "adam", {"learning_rate": 0.1})
        for step in range(6):
            if moves and step in (1, 3):
                q.reset_device(CPUS[step == 1])
            trained(q, trainer, range(step, step + 1))
            if step in (1, 4):  # after a move; the devices that were left have no states any more
                trainer.save_states(tmp_path / "states")
                trainer = Trainer([parameter(grad_req="null"), q], "adam", {"learning_rate": 0.1})
                trainer.load_states(tmp_path / "states")
                trainer.save_states(tmp_path / "states")
                trainer.load_states(tmp_path / "states")
    assert p.data().tolist() == stays.data().tolist()
    assert [len(updater.states) for updater in trainer._updaters.values()] == [0, 1]


def test_an_optimizer_used_before_counts_alike_on_all_devices() -> None:
    adam = optimizer.Adam(learning_rate=0.1)
    first = parameter()
    trained(first, Trainer([first], adam), range(3))
    p = parameter(CPUS)
    replicas = trained(p, Trainer([p], adam), range(2))
    assert replicas[0] == replicas[1]


def test_a_schedule_decides() -> None:
    p = parameter()
    trainer = Trainer([p], "sgd", {"lr_scheduler": lr_scheduler.FactorScheduler(1, 0.5, base_lr=1.0)})
    rates = []
    for _ in range(3):
        backward(p)
        trainer.step(1)
        rates.append(trainer.learning_rate)
    assert rates[0] > rates[1] > rates[2]


def test_any_function_is_a_schedule() -> None:
    p = parameter()
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1, "lr_scheduler": lambda updates: 0.25 * updates})
    for _ in range(2):
        backward(p, [1])
        trainer.step(1)
    assert trainer.learning_rate == 0.5
    assert p.data().tolist() == [0.25, 0.25]
    with pytest.raises(TypeError, match="lr_scheduler=3 is no function of the number of updates"):
        Trainer([p], "sgd", {"lr_scheduler": 3})


def test_bad_arguments() -> None:
    p = parameter()
    for params in ([], {}, 3, "weights", [3], p):
        with pytest.raises(ValueError, match="Trainer: expected"):
            Trainer(params, "sgd")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="go with an optimizer's name"):
        Trainer([p], optimizer.SGD(), {"learning_rate": 1})
    with pytest.raises(TypeError, match=r"optimizer_params must be a dict of the optimizer's arguments, not 0\.1"):
        Trainer([p], "sgd", 0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="SGD: learning_rate must be a number, not 'fast'"):
        Trainer([p], "sgd", {"learning_rate": "fast"})
    with pytest.raises(NotImplementedError, match="gradients are not compressed"):
        Trainer([p], "sgd", compression_params={"type": "2bit"})
    with pytest.raises(ValueError, match="needs a store that can update"):
        Trainer([p], "sgd", kvstore=None, update_on_kvstore=True)
    stored = Trainer([p], "sgd", update_on_kvstore=True)
    with pytest.raises(ValueError, match=r"allreduce_grads: the store updates the parameters; use step\(\)"):
        stored.allreduce_grads()
    with pytest.raises(ValueError, match="update: the store updates"):
        stored.update(1)
    with pytest.raises(RuntimeError, match="has not been initialized"):
        Trainer(nn.Dense(2).collect_params(), "sgd").step(1)


@pytest.mark.parametrize("batch_size", [0, "a", None])
def test_batch_sizes_that_cannot_be(batch_size: Any) -> None:
    trainer = Trainer([parameter()], "sgd")
    for function in (trainer.step, trainer.update):
        with pytest.raises(ValueError, match=rf"batch_size must be a number other than 0, not {batch_size!r}"):
            function(batch_size)


def test_linear_regression_is_learnt() -> None:
    np.random.seed(0)
    x = np.random.normal(size=(200, 3))
    y = np.dot(x, np.array([[1.0], [-2.0], [0.5]])) + 4
    net = nn.Dense(1)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.3})
    for _ in range(60):
        with autograd.record():
            loss = ((net(x) - y) ** 2).mean() / 2
        loss.backward()
        trainer.step(1)
    numpy.testing.assert_allclose(net.weight.data().asnumpy(), [[1, -2, 0.5]], atol=1e-2)
    assert net.bias.data().item() == pytest.approx(4, abs=1e-2)


def test_net_and_trainer_are_gone_with_their_last_name() -> None:
    """No garbage collection is needed: nothing of them points back."""
    gc.collect()
    gc.disable()
    try:
        npx.waitall()
        before = engine.memory()["in_use"]
        net = nn.Dense(64, in_units=64)
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), "adam")
        with autograd.record():
            loss = net(np.ones((2, 64))).sum()
        loss.backward()
        trainer.step(1)
        npx.waitall()
        assert engine.memory()["in_use"] > before
        del net, trainer, loss
        npx.waitall()
        assert engine.memory()["in_use"] == before
    finally:
        gc.enable()


def test_trainers_do_not_share_the_keys_of_a_store() -> None:
    store = kvstore.create("device")
    made = []
    for value in (1.0, 7.0):
        p = gluon.Parameter("p", shape=(3,))
        p.initialize(init.Constant(value))
        made.append((p, gluon.Trainer([p], "sgd", {"learning_rate": 0.1}, kvstore=store, update_on_kvstore=True)))
    for p, _ in made:
        with autograd.record():
            loss = p.data().sum()
        loss.backward()
    made[0][1].step(1)
    with pytest.raises(ValueError, match="key 0 is set already"):
        made[1][1].step(1)
    assert abs(made[0][0].data()[0].item() - 0.9) < 1e-6
