"""Key-value stores: statements K1-K4, K6 and K9 of the book's chapter, updates on the store, and errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest

from slipstream import engine, kvstore, np, npx, optimizer

KINDS = ["local", "device"]


def on_devices(values: list[Any]) -> list[np.ndarray]:
    return [np.array(v, dtype="float32", device=npx.cpu(i)) for i, v in enumerate(values)]


@pytest.mark.parametrize("kind", KINDS)
def test_k1_push_sums_and_pull_hands_out(kind: str) -> None:
    store = kvstore.create(kind)
    store.init(3, np.full((2, 3), 2.0))
    outs = on_devices([numpy.zeros((2, 3))] * 3)
    with engine.sync_guard("raise"):
        store.pull(3, out=outs)
        before = [out.copy() for out in outs]
        store.push(3, on_devices([numpy.full((2, 3), i) for i in (1, 2, 3)]))
        store.pull(3, out=outs)
    assert all((b == 2).all() for b in before)
    for i, out in enumerate(outs):
        assert out.device == npx.cpu(i)
        assert (out == 6).all()


@pytest.mark.parametrize("kind", KINDS)
def test_k2_order_does_not_matter(kind: str, rng: numpy.random.Generator) -> None:
    values = on_devices([rng.normal(size=7) * 10.0**i for i in range(4)])
    sums = set()
    for order in itertools.permutations(values):
        store = kvstore.create(kind)
        store.init("w", np.zeros(7))
        store.push("w", list(order))
        out = np.empty(7)
        store.pull("w", out=out)
        sums.add(tuple(out.tolist()))
    assert len(sums) == 1


def test_k3_keys_are_independent() -> None:
    store = kvstore.create("local")
    keys = ["a", "b", 5]
    store.init(keys, [np.zeros(i + 1) for i in range(3)])
    store.push(keys, [on_devices([numpy.full(i + 1, i)] * 2) for i in range(3)])
    store.push("b", np.full(2, 9.0))
    outs = [np.empty(i + 1) for i in range(3)]
    store.pull(keys, out=outs)
    assert [out.tolist() for out in outs] == [[0], [9, 9], [4, 4, 4]]


@pytest.mark.parametrize("kind", KINDS)
def test_k4_updates_can_be_redefined(kind: str) -> None:
    store = kvstore.create(kind)
    store.init("w", np.ones(2))

    def update(key: str, pushed: np.ndarray, stored: np.ndarray) -> None:
        stored += pushed * 2

    store._set_updater(update)
    store.push("w", on_devices([[1, 1], [2, 2]]))
    out = np.empty(2)
    store.pull("w", out=out)
    assert out.tolist() == [7, 7]
    store.set_optimizer(optimizer.SGD(learning_rate=0.5))
    store.pushpull("w", on_devices([[1, 1], [2, 2]]), out=out)
    assert out.tolist() == [5.5, 5.5]


def test_k6_where_it_is_added_is_the_same(rng: numpy.random.Generator) -> None:
    values = [rng.normal(size=50) * 10.0**i for i in range(3)]
    results = []
    for kind in KINDS:
        arrays = on_devices(values)
        kvstore.create(kind).pushpull("w", arrays)
        assert [a.device for a in arrays] == [npx.cpu(i) for i in range(3)]
        results += [a.tolist() for a in arrays]
    assert all(result == results[0] for result in results)


def test_k9_a_key_starts_while_others_are_computed() -> None:
    if engine.kind() == "sync":
        pytest.skip("the synchronous engine has nothing pending")
    import threading

    gate = threading.Event()
    late = npx.host_call(lambda: (gate.wait(20), numpy.ones(3, numpy.float32))[1], [], (3,), "float32")
    store = kvstore.create("device")
    outs = [np.empty(3), np.empty(3)]
    try:
        store.pushpull(["late", "early"], [[late, late], on_devices([[1, 1, 1], [2, 2, 2]])], out=outs, priority=0)
        assert outs[1].tolist() == [3, 3, 3]
        assert not outs[0].is_ready()
    finally:
        gate.set()
    assert outs[0].tolist() == [2, 2, 2]


def test_broadcast_and_pushpull_in_place() -> None:
    store = kvstore.create("device")
    outs = on_devices([[0, 0], [0, 0]])
    store.broadcast("w", np.array([1, 2]), out=outs)
    assert [o.tolist() for o in outs] == [[1, 2], [1, 2]]
    with pytest.raises(ValueError, match="key 'w' is set already"):
        store.broadcast("w", np.array([3, 4]), out=outs)
    store.pushpull("w", outs)
    assert [o.tolist() for o in outs] == [[2, 4], [2, 4]]
    one = np.ones(2)
    store.pushpull("w", one, out=one)
    assert one.tolist() == [1, 1]


def test_what_is_pushed_is_not_shared() -> None:
    store = kvstore.create("local")
    value, out = np.ones(2), np.empty(2)
    store.init("w", value)
    value += 1
    store.pull("w", out=out)
    assert out.tolist() == [1, 1]
    store.push("w", value)
    value += 1
    store.pull("w", out=out)
    assert out.tolist() == [2, 2]


def test_states_on_disk(tmp_path: Any) -> None:
    def trained(store: Any, steps: int) -> list[float]:
        for _ in range(steps):
            store.push("w", np.ones(2))
        out = np.empty(2)
        store.pull("w", out=out)
        return out.tolist()

    def fresh(start: Any) -> Any:
        store = kvstore.create("local")
        store.init("w", np.array(start))
        store.set_optimizer(optimizer.SGD(learning_rate=0.1, momentum=0.9))
        return store

    one = fresh([1, 1])
    middle = trained(one, 2)
    one.save_optimizer_states(tmp_path / "states")
    two = fresh(middle)
    two.load_optimizer_states(tmp_path / "states")
    assert trained(one, 2) == trained(two, 2)
    with pytest.raises(ValueError, match="save_optimizer_states: the store has no optimizer"):
        kvstore.create("local").save_optimizer_states(tmp_path / "none")


def test_properties_and_errors() -> None:
    store = kvstore.create("local")
    assert (store.type, store.rank, store.num_workers) == ("local", 0, 1)
    assert store.is_capable("optimizer")
    store.init("w", np.zeros(2))
    with pytest.raises(ValueError, match="init: key 'w' is set already"):
        store.init("w", np.zeros(2))
    with pytest.raises(ValueError, match="push: key 'v' was never set; call init first"):
        store.push("v", np.zeros(2))
    with pytest.raises(ValueError, match=r"key 'w' has shape \(2,\), but the values have \(3,\)"):
        store.push("w", np.zeros(3))
    with pytest.raises(ValueError, match="one shape and dtype"):
        store.push("w", [np.zeros(3), np.zeros(2)])
    with pytest.raises(ValueError, match="push: 2 keys, but 1 values"):
        store.push(["w", "w"], [np.zeros(2)])
    with pytest.raises(TypeError, match="pull: out is missing"):
        store.pull("w")
    with pytest.raises(NotImplementedError, match="no sparse arrays"):
        store.row_sparse_pull("w")
    for name in ("dist_sync", "nccl", "horovod"):
        with pytest.raises(NotImplementedError, match="use 'device'"):
            kvstore.create(name)
    with pytest.raises(ValueError, match="kind 'bogus' is none of 'local'"):
        kvstore.create("bogus")
    with pytest.raises(NotImplementedError, match="Horovod: stores over several machines"):
        kvstore.Horovod()


def test_pushpull_sums_what_was_there_at_the_call() -> None:
    """Arrays that are values of two keys are not summed again for the second."""
    shared = on_devices([numpy.ones(2), numpy.ones(2)])
    kvstore.create("device").pushpull(["a", "b"], [shared, shared])
    assert [v.tolist() for v in shared] == [[2.0, 2.0]] * 2


@pytest.mark.parametrize("kind", ["local_allreduce_cpu", "local_update_cpu", "local_allreduce_device"])
def test_other_names_of_the_kinds(kind: str) -> None:
    store = kvstore.create(kind)
    assert store.type == kind
    values, out = on_devices([[1.0], [2.0]]), np.empty(1)
    store.pushpull(0, values[::-1], out=out)
    assert out.tolist() == [3.0]


def test_a_store_that_does_not_update() -> None:
    class Plain(kvstore.KVStoreBase):
        pass

    for name, arguments in {
        "set_optimizer": ["sgd"],
        "save_optimizer_states": ["f"],
        "load_optimizer_states": ["f"],
    }.items():
        with pytest.raises(NotImplementedError, match=f"Plain has no {name}: it does not update parameters"):
            getattr(Plain(), name)(*arguments)
