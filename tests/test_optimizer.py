"""Optimizers against formulas written down once more in NumPy, over 100 steps; states, counts, and errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from slipstream import autograd, engine, gluon, lr_scheduler, np, npx, optimizer

A = numpy.ndarray[Any, Any]
STEPS = 100


def sgd(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["m"] = 0.9 * s["m"] - 0.1 * g
    return w + s["m"]


def plain_sgd(w: A, g: A, s: dict[str, A], t: int) -> A:
    return w - 0.1 * g


def nag(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["m"] = 0.9 * s["m"] + g
    return w - 0.1 * (g + 0.9 * s["m"])


def signum(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["m"] = 0.9 * s["m"] + 0.1 * g
    return (1 - 0.01 * 0.5) * w - 0.01 * numpy.sign(s["m"])


def dcasgd(w: A, g: A, s: dict[str, A], t: int) -> A:
    before = s["p"] if t > 1 else w
    s["m"] = 0.5 * s["m"] - 0.1 * (g + 0.04 * g * g * (w - before))
    s["p"] = w
    return w + s["m"]


def adagrad(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["n"] = s["n"] + g**2
    return w - 0.1 * g / (numpy.sqrt(s["n"]) + 1e-6)


def adadelta(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["n"] = 0.9 * s["n"] + 0.1 * g**2
    d = numpy.sqrt((s["d"] + 1e-6) / (s["n"] + 1e-6)) * g
    s["d"] = 0.9 * s["d"] + 0.1 * d**2
    return w - d


def rmsprop(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["n"] = 0.9 * s["n"] + 0.1 * g**2
    return w - 0.01 * g / (numpy.sqrt(s["n"]) + 1e-8)


def rmsprop_centered(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["n"] = 0.9 * s["n"] + 0.1 * g**2
    s["m"] = 0.9 * s["m"] + 0.1 * g
    s["d"] = 0.8 * s["d"] - 0.01 * g / numpy.sqrt(s["n"] - s["m"] ** 2 + 1e-4)
    return w + s["d"]


def ftrl(w: A, g: A, s: dict[str, A], t: int) -> A:
    total = s["n"] + g**2
    s["z"] = s["z"] + g - (numpy.sqrt(total) - numpy.sqrt(s["n"])) / 0.1 * w
    s["n"] = total
    small = abs(s["z"]) <= 0.01
    return numpy.where(small, 0, -(s["z"] - numpy.sign(s["z"]) * 0.01) / ((1 + numpy.sqrt(total)) / 0.1 + 0.02))


def ftml(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["v"] = 0.999 * s["v"] + 0.001 * g**2
    d = (1 - 0.6**t) / 0.01 * (numpy.sqrt(s["v"] / (1 - 0.999**t)) + 1e-8)
    s["z"] = 0.6 * s["z"] + 0.4 * g - (d - 0.6 * s["d"]) * w
    s["d"] = d
    return -s["z"] / d


def moments(g: A, s: dict[str, A], t: int) -> tuple[A, A]:
    s["m"] = 0.9 * s["m"] + 0.1 * g
    s["v"] = 0.999 * s["v"] + 0.001 * g**2
    return s["m"] / (1 - 0.9**t), s["v"] / (1 - 0.999**t)


def adam(w: A, g: A, s: dict[str, A], t: int) -> A:
    m, v = moments(g, s, t)
    return w - 0.01 * m / (numpy.sqrt(v) + 1e-12)


def adamw(w: A, g: A, s: dict[str, A], t: int) -> A:
    m, v = moments(g, s, t)
    return w - 0.01 * 0.02 * w - 0.01 * m / (numpy.sqrt(v) + 1e-12)


def adabelief(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["m"] = 0.9 * s["m"] + 0.1 * g
    s["v"] = 0.999 * s["v"] + 0.001 * (g - s["m"]) ** 2 + 1e-6
    return w - 0.01 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t) * s["m"] / (numpy.sqrt(s["v"]) + 1e-6)


def adamax(w: A, g: A, s: dict[str, A], t: int) -> A:
    s["m"] = 0.9 * s["m"] + 0.1 * g
    s["u"] = numpy.maximum(0.999 * s["u"], abs(g))
    return w - 0.01 / (1 - 0.9**t) * s["m"] / (s["u"] + 1e-8)


def nadam(w: A, g: A, s: dict[str, A], t: int) -> A:
    def mu(k: int) -> float:
        return 0.9 * (1 - 0.5 * 0.96 ** (k * 0.004))

    _, v = moments(g, s, t)
    now = math.prod(mu(k) for k in range(1, t + 1))
    step = mu(t + 1) * s["m"] / (1 - now * mu(t + 1)) + (1 - mu(t)) * g / (1 - now)
    return w - 0.01 * step / (numpy.sqrt(v) + 1e-8)


def norm(x: A) -> float:
    return float(numpy.linalg.norm(x))


def lamb(w: A, g: A, s: dict[str, A], t: int) -> A:
    m, v = moments(g, s, t)
    r = m / (numpy.sqrt(v) + 1e-6) + 0.02 * w
    return w - 0.01 * norm(w) / norm(r) * r


def lans(w: A, g: A, s: dict[str, A], t: int) -> A:
    g = g / norm(g)
    m, v = moments(g, s, t)
    size, root = norm(w), numpy.sqrt(v) + 1e-6
    r = m / root + 0.02 * w
    w = w - 0.01 * 0.9 * size / norm(r) * r
    r = g / root + 0.02 * w
    return w - 0.01 * (1 - 0.9) * size / norm(r) * r


def lars(w: A, g: A, s: dict[str, A], t: int) -> A:
    rate = 0.1 * 0.02 * norm(w) / (norm(g) + 1e-8)
    s["m"] = 0.9 * s["m"] - rate * g
    return w + s["m"]


CASES: list[tuple[str, dict[str, Any], Callable[..., A]]] = [
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9}, sgd),
    ("sgd", {"learning_rate": 0.1}, plain_sgd),
    ("nag", {"learning_rate": 0.1, "momentum": 0.9}, nag),
    ("signum", {"learning_rate": 0.01, "momentum": 0.9, "wd_lh": 0.5}, signum),
    ("dcasgd", {"learning_rate": 0.1, "momentum": 0.5}, dcasgd),
    ("adagrad", {"learning_rate": 0.1}, adagrad),
    ("adadelta", {}, adadelta),
    ("rmsprop", {"learning_rate": 0.01}, rmsprop),
    ("rmsprop", {"learning_rate": 0.01, "momentum": 0.8, "centered": True, "epsilon": 1e-4}, rmsprop_centered),
    ("ftrl", {"learning_rate": 0.1, "wd": 0.02}, ftrl),
    ("ftml", {"learning_rate": 0.01}, ftml),
    ("adam", {"learning_rate": 0.01, "epsilon": 1e-12}, adam),
    ("adamw", {"learning_rate": 0.01, "epsilon": 1e-12, "wd": 0.02}, adamw),
    ("adabelief", {"learning_rate": 0.01}, adabelief),
    ("adamax", {"learning_rate": 0.01}, adamax),
    ("nadam", {"learning_rate": 0.01}, nadam),
    ("lamb", {"learning_rate": 0.01, "wd": 0.02}, lamb),
    ("lans", {"learning_rate": 0.01, "wd": 0.02}, lans),
    # Longer steps of a set length would leap to and fro about the minimum, and make the last bits large.
    ("lars", {"learning_rate": 0.1, "momentum": 0.9, "eta": 0.02}, lars),
]


class Keep(dict[str, A]):
    """States that begin at 0."""

    def __missing__(self, key: str) -> Any:
        return 0.0


@pytest.mark.parametrize(("name", "settings", "formula"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_trajectory(name: str, settings: dict[str, Any], formula: Any, rng: numpy.random.Generator) -> None:
    shapes = [(3, 4), (5,), ()]
    starts = [rng.normal(size=shape) for shape in shapes]
    matrices = [rng.uniform(0.5, 2, size=shape) for shape in shapes]  # the loss is sum(matrix * (w - 1) ** 2) / 2
    opt = optimizer.create(name, **settings)
    weights = [np.array(w, dtype="float64") for w in starts]
    states = [opt.create_state(i, w) for i, w in enumerate(weights)]
    factors = [np.array(m, dtype="float64") for m in matrices]
    with engine.sync_guard("raise"):
        for _ in range(STEPS):
            grads = [m * (w - 1) for m, w in zip(factors, weights, strict=True)]
            opt.update(list(range(len(shapes))), weights, grads, states)
    for weight, w, m in zip(weights, starts, matrices, strict=True):
        kept = Keep()
        for t in range(1, STEPS + 1):
            w = formula(w, m * (w - 1), kept, t)
        numpy.testing.assert_allclose(weight.asnumpy(), w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["lars", "lamb", "lans"])
def test_no_gradient_for_a_while(name: str) -> None:
    opt, w = optimizer.create(name, learning_rate=0.1), np.ones(2)
    state = opt.create_state(0, w)
    opt.update(0, w, np.zeros(2), state)
    assert w.tolist() == [1, 1]
    opt.update(0, w, np.ones(2), state)
    assert ((w > 0.5) & (w < 1)).all()


def test_sgld_is_half_a_step_and_noise() -> None:
    np.random.seed(1)
    w = np.zeros(40000)
    optimizer.SGLD(learning_rate=0.01).update(0, w, np.ones(40000), None)
    values = w.asnumpy()
    assert abs(values.mean() + 0.005) < 0.002
    assert abs(values.std() - 0.1) < 0.002


def test_rescale_clip_and_decay() -> None:
    opt = optimizer.SGD(learning_rate=1.0, rescale_grad=0.5, clip_gradient=1.0, wd=0.1)
    w, g = np.array([1.0, 1.0]), np.array([1.0, 8.0])
    opt.update([0], [w], [g], [None])
    numpy.testing.assert_allclose(w.asnumpy(), [1 - 0.5 - 0.1, 1 - 1 - 0.1], rtol=1e-6)
    assert g.tolist() == [1.0, 8.0]


def test_factors_by_index_name_and_parameter() -> None:
    class P:
        lr_mult, wd_mult = 3.0, 0.0

    opt = optimizer.SGD(learning_rate=1.0, wd=1.0, param_idx2name={0: "a", 1: "b"}, param_dict={2: P()})
    opt.set_lr_mult({"a": 2.0, 1: 0.5})
    opt.set_wd_mult({"b": 0.25})
    assert opt._get_lrs([0, 1, 2, 3]) == [2.0, 0.5, 3.0, 1.0]
    assert opt._get_wds([0, 1, 2, 3]) == [1.0, 0.25, 0.0, 1.0]


def test_devices_of_another_kind_count_for_themselves() -> None:
    """The devices' numbers alone do not tell them apart."""
    opt = optimizer.SGD()
    optimizer.get_updater(opt)("w", np.ones(1), np.ones(1, device=npx.cpu(0)))
    assert opt._all_index_update_counts[npx.cpu(0)] == {"w": 1}
    opt._set_current_device(npx.gpu(0))
    opt._update_count("w")
    assert opt.num_update == 1


def test_counts_and_scheduler() -> None:
    schedule = lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0)
    opt = optimizer.SGD(lr_scheduler=schedule)
    w = np.zeros(1)
    seen = []
    for _ in range(5):
        before = w.item()
        opt.update(0, w, np.ones(1), None)
        seen.append(before - w.item())
    assert seen == [1.0, 1.0, 0.5, 0.5, 0.25]
    assert opt.num_update == 5
    with pytest.raises(UserWarning, match="lr_scheduler"):
        opt.set_learning_rate(1)
    with pytest.warns(UserWarning, match="takes the place"):
        assert optimizer.SGD(learning_rate=0.3, lr_scheduler=schedule).learning_rate == 0.3


def test_replicas_count_as_one_step() -> None:
    opt = optimizer.Adam(learning_rate=0.1)
    updaters = [optimizer.get_updater(opt) for _ in range(2)]
    weights = [np.ones(3, device=npx.cpu(i)) for i in range(2)]
    for _ in range(4):
        for updater, w in zip(updaters, weights, strict=True):
            updater(0, w * 2, w)
    assert opt.num_update == 4
    assert weights[0].tolist() == weights[1].tolist()
    assert weights[1].device == npx.cpu(1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_values_set_between_updates_are_where_it_goes_on(dtype: str) -> None:
    updater = optimizer.get_updater(optimizer.SGD(learning_rate=1.0, multi_precision=True))
    w, g = np.ones(3, dtype=dtype), np.full(3, 2.0**-13, dtype=dtype)
    for _ in range(3):
        updater(0, g, w)
    w[1] = 5
    for _ in range(5):
        updater(0, g, w)
    assert w[1].item() == 5
    kept = updater.states[0][0].asnumpy()
    assert kept.tolist() == [1 - 2.0**-10, 5 - 5 * 2.0**-13, 1 - 2.0**-10]  # steps too small for the weight add up


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_multi_precision(dtype: str) -> None:
    opt = optimizer.SGD(learning_rate=1.0, multi_precision=True)
    updater = optimizer.get_updater(opt)
    w = np.ones(2).astype(dtype)
    for _ in range(100):
        updater(0, np.full(2, 1e-4).astype(dtype), w)  # too little to be seen in 16 bits
    assert abs(w.astype("float32").tolist()[0] - 0.99) < 0.005
    assert updater.states[0][0].dtype == numpy.float32


def test_states_go_to_bytes_and_back() -> None:
    def fresh() -> optimizer.Updater:
        return optimizer.get_updater(optimizer.Adam(learning_rate=0.1, multi_precision=True))

    def run(updater: optimizer.Updater, weights: list[np.ndarray], steps: int) -> None:
        for _ in range(steps):
            updater([0, "b"], [w * 1 for w in weights], weights)

    weights = [np.ones(3), np.ones((2, 2)).astype("bfloat16")]
    one = fresh()
    run(one, weights, 3)
    kept, values = one.get_states(dump_optimizer=True), [w.copy() for w in weights]
    run(one, weights, 3)
    two = fresh()
    two.set_states(kept)
    run(two, values, 3)
    assert two.optimizer.num_update == 6
    for a, b in zip(weights, values, strict=True):
        assert (a == b).all()


class Warmup(lr_scheduler.LRScheduler):
    """Rises, then does as another one says; with all that people keep in their schedulers."""

    def __init__(self) -> None:
        super().__init__(base_lr=1.0)
        self.after, self.others = lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0), [lr_scheduler.FactorScheduler(1)]
        self.steps, self.table, self.ours = numpy.int64(2), numpy.array([0.5, 0.75]), np.ones(2)
        self.pair, self.named, self.own, self.kind = (1, 2), {(0, "a"): numpy.float32(2)}, self, complex(1)
        self.function = lambda n: n + 1

    def __call__(self, num_update: int) -> float:
        return float(self.table[num_update]) if num_update < self.steps else self.after(num_update)


def test_settings_of_any_kind_go_to_bytes_and_back() -> None:
    given: dict[str, Any] = {"wd": numpy.float32(0.5), "beta1": np.array(0.75), "clip_gradient": numpy.array([2.0])}
    one, two = (optimizer.get_updater(optimizer.Adam(lr_scheduler=Warmup(), **s)) for s in (given, {}))
    one.optimizer.lr_scheduler.pair, one.optimizer.lr_scheduler.table[0] = (3, 4), 0.25
    one.optimizer.lr_scheduler.named[0, "a"] = numpy.float32(5)
    one.optimizer.lr_scheduler.ours[:] = 7
    one.optimizer.set_lr_mult({0: numpy.float32(0.5)})
    for _ in range(8):
        one(0, np.ones(2), np.ones(2))
    two.set_states(one.get_states(dump_optimizer=True))
    assert (two.optimizer.wd, two.optimizer.lr_mult) == (0.5, {0: 0.5})
    assert float(two.optimizer.beta1) == 0.75
    assert two.optimizer.clip_gradient == numpy.array([2.0])
    there = two.optimizer.lr_scheduler
    assert (there.after.count, there.after.base_lr) == (6, 0.125)
    assert two.optimizer.learning_rate == one.optimizer.learning_rate == 0.125
    assert (there.pair, there.named, there.table.tolist()) == ((3, 4), {(0, "a"): 5}, [0.25, 0.75])
    assert isinstance(there.ours, np.ndarray)
    assert there.ours.tolist() == [7, 7]
    assert (there.own, there.function(1)) == (there, 2)


def test_learning_rates_are_numbers_of_python() -> None:
    opt = optimizer.SGD()
    opt.set_learning_rate(numpy.float32(0.25))
    assert type(opt.learning_rate) is float
    optimizer.get_updater(opt).get_states(dump_optimizer=True)


def test_schedules_without_attributes() -> None:
    updater = optimizer.get_updater(optimizer.SGD(lr_scheduler=math.sqrt))
    updater.set_states(updater.get_states(dump_optimizer=True))
    assert updater.optimizer.lr_scheduler is math.sqrt


@pytest.mark.parametrize("bad", [b"", b"nonsense", b"\x80\x04K\x01."])
def test_bad_states(bad: bytes) -> None:
    with pytest.raises(ValueError, match="set_states: these are no states"):
        optimizer.get_updater(optimizer.SGD()).set_states(bad)


def test_by_name() -> None:
    for name in optimizer.__all__:
        klass = getattr(optimizer, name)
        if isinstance(klass, type) and issubclass(klass, optimizer.Optimizer) and klass is not optimizer.Optimizer:
            assert type(optimizer.create(name.upper())) is klass
    made = optimizer.SGD()
    assert optimizer.create(made) is made
    with pytest.raises(ValueError, match="optimizer 'bogus' is none of"):
        optimizer.create("bogus")
    with pytest.raises(TypeError, match="SGD: unknown arguments momentun"):
        optimizer.create("sgd", momentun=0.1)


def test_users_step() -> None:
    @optimizer.register
    class Own(optimizer.Optimizer):
        def step(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
            for w, g in zip(weights, grads, strict=True):
                w[:] -= self.lr * g

    w = np.ones(2)
    optimizer.get_updater(optimizer.create("own", learning_rate=0.25))([0], [np.ones(2)], [w])
    assert w.tolist() == [0.75, 0.75]


class OneByOne(optimizer.Optimizer):
    """MXNet 1's form."""

    def create_state(self, index: Any, weight: Any) -> Any:
        return np.zeros(weight.shape, dtype=weight.dtype, device=weight.device)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self._update_count(index)
        state[:] = 0.5 * state + self.rescale_grad * grad + self._get_wd(index) * weight
        weight[:] -= self._get_lr(index) * state


class InLists(OneByOne):
    """MXNet 2's form."""

    def update(self, indices: Any, weights: Any, grads: Any, states: Any) -> None:
        assert isinstance(indices, list)
        for one in zip(indices, weights, grads, states, strict=True):
            super().update(*one)


@pytest.mark.parametrize("kind", [OneByOne, InLists])
@pytest.mark.parametrize(("store", "on_store"), [(None, None), (None, False), ("device", False), ("device", True)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_users_updates(kind: Any, store: str | None, on_store: bool | None, dtype: str) -> None:
    net = gluon.nn.Dense(1, in_units=2, weight_initializer="ones")
    net.cast(dtype)
    net.initialize()
    opt = kind(learning_rate=0.25, multi_precision=True)
    trainer = gluon.Trainer(net.collect_params(), opt, kvstore=store, update_on_kvstore=on_store)
    for _ in range(2):
        with autograd.record():
            loss = net(np.ones((1, 2), dtype=dtype))
        loss.backward()
        trainer.step(1)
    assert opt.num_update == 2
    assert net.weight.data().tolist() == [[1 - 0.25 - 0.375] * 2]
    assert net.bias.data().tolist() == [-0.625]


def test_users_updates_called_by_hand() -> None:
    for index, w in ((0, np.ones(1)), ([0], [np.ones(1)])):
        one_by_one = OneByOne(learning_rate=0.5)
        one_by_one.update(index, w, w, [np.zeros(1)] if isinstance(index, list) else np.zeros(1))
        assert float(w[0]) == 0.5
    one_by_one.update(index=0, weight=(w := np.ones(1)), grad=w, state=np.zeros(1))
    assert float(w[0]) == 0.5


def test_states_go_to_another_device_whatever_holds_them() -> None:
    updater = optimizer.get_updater(optimizer.SGD())
    state = {"m": np.ones(2), "parts": (np.zeros(1), None)}
    moved = updater.sync_state_context(state, npx.cpu(1))
    assert moved["m"].device == moved["parts"][0].device == npx.cpu(1)
    assert moved["parts"][1] is None
