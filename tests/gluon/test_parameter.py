"""Parameters: initialisation now or later, devices, gradients, dtypes, errors."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy
import pytest

from slipstream import autograd, gluon, init, np, npx
from slipstream.gluon import Constant, DeferredInitializationError, Parameter, ParameterDict

CPUS = [npx.cpu(0), npx.cpu(1)]


def made(**options: object) -> Parameter:
    p = Parameter("weight", **{"shape": (2, 3), "init": "ones", **options})  # type: ignore[arg-type]
    p.initialize()
    return p


def filled(net: gluon.Block, default: object) -> dict[str, set[float]]:
    net.initialize(default, force_reinit=True)
    return {name: set(p.data().ravel().tolist()) for name, p in net.collect_params().items()}


def test_initializers_that_choose() -> None:
    first = gluon.nn.Dense(2, in_units=3, bias_initializer=None, prefix="first_")
    second = gluon.nn.Dense(2, in_units=2, weight_initializer="zeros", prefix="second_")
    net = gluon.nn.Sequential()
    net.add(first, second)
    mixed = init.Mixed(["first_weight", ".*bias"], [init.Constant(3), init.Constant(5)])
    own = {"1.weight": {0}, "1.bias": {0}}
    assert filled(net, mixed) == {"0.weight": {3}, "0.bias": {5}, **own}
    nested = init.Mixed(["first.*"], [init.Mixed([".*weight", ".*"], ["ones", init.Constant(4)])])
    assert filled(net, nested) == {"0.weight": {1}, "0.bias": {4}, **own}
    load = init.Load({"first_weight": np.full((2, 3), 7)}, default_init=init.Constant(2))
    assert filled(net, load) == {"0.weight": {7}, "0.bias": {2}, **own}
    second = gluon.nn.Dense(2, in_units=2, weight_initializer=init.Mixed([".*"], ["ones"]), prefix="second_")
    assert filled(second, "zeros") == {"weight": {1}, "bias": {0}}
    with pytest.raises(ValueError, match="Mixed: 'first_weight' matches none of 'second'; add"):
        filled(net, init.Mixed(["second"], ["ones"]))


def test_initializers_that_choose_fill_recurrent_layers() -> None:
    layer = gluon.rnn.LSTM(4, input_size=3, prefix="lstm_")
    layer.initialize(init.Mixed(["lstm_i2h.*", ".*"], [init.Constant(3), init.Constant(5)]))
    values = {name: set(part.ravel().tolist()) for name, part in layer.parts().items()}
    assert values == {"l0_i2h_weight": {3}, "l0_h2h_weight": {5}, "l0_i2h_bias": {0}, "l0_h2h_bias": {0}}


def test_values_and_gradients_begin() -> None:
    p = made()
    assert p.data().tolist() == [[1, 1, 1], [1, 1, 1]]
    assert p.grad().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert p.list_device() == p.list_ctx() == [npx.cpu(0)]
    assert repr(p) == "Parameter weight (shape=(2, 3), dtype=float32)"


def test_the_parameter_s_initializer_goes_before_the_default() -> None:
    p = Parameter("weight", shape=(2,), init="ones")
    p.initialize(default_init=init.Zero())
    assert p.data().tolist() == [1, 1]
    q = Parameter("weight", shape=(2,))
    q.initialize(default_init=init.Constant(3))
    assert q.data().tolist() == [3, 3]
    q.initialize(init="zeros", default_init=init.One(), force_reinit=True)
    assert q.data().tolist() == [0, 0]


def test_a_name_no_rule_knows_is_initialised_too() -> None:
    p = Parameter("anything", shape=(2,))
    p.initialize(default_init=init.One())
    assert p.data().tolist() == [1, 1]


def test_initialised_twice() -> None:
    p = made()
    with pytest.warns(UserWarning, match="already initialized"):
        p.initialize(init="zeros")
    assert p.data().sum().item() == 6
    p.initialize(init="zeros", force_reinit=True, ctx=CPUS)
    assert p.data(CPUS[1]).sum().item() == 0


def test_what_cannot_be_initialised_stays_as_it_is() -> None:
    p = made()
    nowhere = [CPUS[0], npx.gpu(99)]
    wrong: list[dict[str, Any]] = [{"init": "xaveir"}, {"default_init": init.Xavier}, {"device": nowhere}]
    for options in wrong:
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            p.initialize(force_reinit=True, **options)
        assert p.data().sum().item() == 6
        assert p.grad().shape == (2, 3)
    with pytest.raises(RuntimeError, match="no gpu"):
        p.reset_device(nowhere)
    assert p.data().sum().item() == 6
    late = Parameter("weight", shape=(2, -1), allow_deferred_init=True)
    with pytest.raises(ValueError, match="initializer 'xaveir' is none of"):  # now, not when the first batch passes
        late.initialize("xaveir")
    with pytest.raises(RuntimeError, match="has not been initialized"):
        late.data()


def test_one_warning_for_all_that_are_initialised_already() -> None:
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    for initialize in (net.initialize, net.collect_params().initialize):
        with pytest.warns(UserWarning) as caught:
            initialize()
        [warning] = caught
        assert re.search(r"_weight' and 1 more are already initialized.*force_reinit=True", str(warning.message))
        assert warning.filename == __file__


def test_collect_params_initialize_tells_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    gluon.nn.Dense(2, in_units=3).collect_params().initialize("ones", verbose=True)
    assert capsys.readouterr().out.splitlines() == [
        "Parameter weight (shape=(2, 3), dtype=float32): ones",
        "Parameter bias (shape=(2,), dtype=float32): zeros",
    ]


@pytest.mark.parametrize("unknown", [-1, 0])
def test_deferred_initialisation(unknown: int) -> None:
    p = Parameter("weight", shape=(2, unknown), init="ones", allow_deferred_init=True)
    p.initialize(device=CPUS)
    assert p.list_device() == CPUS
    with pytest.raises(DeferredInitializationError, match="when the first batch passes"):
        p.data()
    with pytest.raises(DeferredInitializationError):
        p.list_grad()
    p.shape = (2, 4)
    p.finish_deferred_init()
    assert [d.shape for d in p.list_data()] == [(2, 4)] * 2


def test_unknown_shapes_need_permission() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, -1\) is not known"):
        Parameter("weight", shape=(2, -1)).initialize()
    with pytest.raises(ValueError, match="shape None is not known"):
        Parameter("weight").initialize()


def test_shapes_that_do_not_fit() -> None:
    p = Parameter("weight", shape=(2, -1), allow_deferred_init=True)
    with pytest.raises(ValueError, match=r"shape \(3, 4\) does not fit its shape \(2, -1\)"):
        p.shape = (3, 4)
    with pytest.raises(ValueError, match="does not fit"):
        p.shape = (2, 3, 4)
    p.shape = (2, 4)
    with pytest.raises(ValueError, match="does not fit"):
        p.shape = (2, 5)
    with pytest.raises(ValueError, match=r"shape \(3,\) does not fit"):
        made().set_data(np.ones(3))


def test_what_does_not_exist() -> None:
    p = Parameter("weight", shape=(2,))
    with pytest.raises(RuntimeError, match="has not been initialized"):
        p.data()
    p.initialize(device=[npx.cpu(1), npx.cpu(2)])
    with pytest.raises(RuntimeError, match=r"not initialized on device cpu\(0\): it exists on \[cpu\(1\), cpu\(2\)\]"):
        p.data()
    with pytest.raises(RuntimeError, match="not initialized on device"):
        p.grad(npx.cpu(0))
    assert p.data(npx.cpu(2)).device == npx.cpu(2)
    assert p.data("cpu:1").device == npx.cpu(1)
    with npx.cpu(2):
        assert p.data().device == npx.cpu(2)
    p.initialize(device=npx.cpu(1), force_reinit=True)
    assert p.data().device == npx.cpu(1)  # the only one


def test_devices_have_equal_values_of_their_own() -> None:
    p = Parameter("weight", shape=(50,))
    p.initialize(init.Normal(1), ctx=CPUS)
    a, b = p.list_data()
    assert (a.asnumpy() == b.asnumpy()).all()
    a[...] = 0
    assert b.asnumpy().any()
    p.set_data(np.ones(50))
    assert a.sum().item() == b.sum().item() == 50
    assert p.list_data()[0] is a


def test_bad_devices() -> None:
    with pytest.raises(ValueError, match="one or more different devices"):
        made().reset_ctx([npx.cpu(0), npx.cpu(0)])
    with pytest.raises(TypeError, match="name different devices"):
        Parameter("w", shape=1).initialize(device=npx.cpu(0), ctx=npx.cpu(1))


@pytest.mark.parametrize("req", ["write", "add", "null"])
def test_gradients_as_asked_for(req: str) -> None:
    p = made(grad_req=req)
    for _ in range(2):
        with autograd.record():
            out = (p.data() * 2).sum()
        if req != "null":
            out.backward()
    if req == "null":
        with pytest.raises(RuntimeError, match="grad_req is 'null'"):
            p.grad()
        return
    assert p.grad().tolist() == [[2 if req == "write" else 4] * 3] * 2
    p.zero_grad()
    assert not p.grad().asnumpy().any()


def test_grad_req_changes_later() -> None:
    p = made()
    p.grad_req = "null"
    with pytest.raises(RuntimeError, match="has no gradient"):
        p.list_grad()
    p.grad_req = "add"
    assert p.grad().shape == (2, 3)
    with pytest.raises(ValueError, match="grad_req='sometimes' is none of"):
        p.grad_req = "sometimes"
    fixed = made(differentiable=False)
    fixed.grad_req = "write"
    assert fixed.grad_req == "null"


def test_initialised_while_recording() -> None:
    p = Parameter("weight", shape=(2, -1), init="ones", allow_deferred_init=True)
    p.initialize()
    with autograd.record():
        p.shape = (2, 3)
        p.finish_deferred_init()
        out = (p.data() * 3).sum()
    out.backward()
    assert p.grad().tolist() == [[3] * 3] * 2


def test_moved_and_cast() -> None:
    p = made()
    p.reset_ctx(CPUS[1])
    assert p.list_ctx() == [CPUS[1]]
    p.reset_device([npx.cpu(2), npx.cpu(3)])
    assert [g.device for g in p.list_grad()] == [npx.cpu(2), npx.cpu(3)]
    p.cast("float16")
    assert {d.dtype for d in p.list_data()} == {d.dtype for d in p.list_grad()} == {numpy.dtype("float16")}
    deferred = Parameter("weight", shape=(-1,), allow_deferred_init=True)
    deferred.initialize()
    deferred.reset_ctx(CPUS[1])
    assert deferred.list_ctx() == [CPUS[1]]
    with pytest.raises(RuntimeError, match="has not been initialized"):
        Parameter("weight", shape=2).reset_ctx(CPUS[1])


def test_set_data_before_the_shape_is_known() -> None:
    p = Parameter("weight", shape=(2, -1), allow_deferred_init=True)
    p.initialize(ctx=CPUS)
    p.set_data(numpy.ones((2, 2)))
    assert p.shape == (2, 2)
    assert p.data(CPUS[1]).sum().item() == 4
    with pytest.raises(RuntimeError, match="has not been initialized"):
        Parameter("weight", shape=(2, 2)).set_data(np.ones((2, 2)))


def test_constants() -> None:
    c = Constant([[1, 2]])
    c.initialize(device=CPUS)
    assert c.grad_req == "null"
    assert c.data(CPUS[1]).tolist() == [[1, 2]]
    assert Constant("name", np.ones(1)).name == "name"
    with pytest.raises(ValueError, match="Constant 'const': shape"):
        c.set_data(np.ones(5))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_have_values_and_gradients_of_their_own(again: object) -> None:
    p = made()
    q = again(p)  # type: ignore[operator]
    with autograd.record():
        out = (q.data() * 5).sum()
    out.backward()
    assert q.grad().tolist() == [[5] * 3] * 2
    assert not p.grad().asnumpy().any()


def test_what_there_is_not() -> None:
    with pytest.raises(NotImplementedError, match="grad_stype='row_sparse': arrays are dense here"):
        Parameter("weight", shape=(2,), grad_stype="row_sparse")
    with pytest.raises(ValueError, match="stype='odd' is none of"):
        Parameter("weight", shape=(2,), stype="odd")
    p = made()
    assert p.stype == p.grad_stype == "default"
    for call in (p.var, lambda: p.row_sparse_data(np.ones(1)), lambda: p.list_row_sparse_data(np.ones(1))):
        with pytest.raises(NotImplementedError, match="Parameter 'weight'"):
            call()


def test_dicts_of_parameters() -> None:
    params = ParameterDict()
    w = params.get("weight", shape=(2, -1), init="ones", allow_deferred_init=True)
    assert params.get("weight", shape=(2, 3)) is w
    assert w.shape == (2, 3)
    assert params.get("nothing") is None
    assert params.get_constant("c", [1.0]) is params["c"]
    params.initialize(ctx=CPUS)
    params.setattr("lr_mult", 3)
    assert w.lr_mult == 3
    assert params.list_ctx() == CPUS
    params.reset_ctx(npx.cpu(2))
    assert params.list_device() == [npx.cpu(2)]
    params.zero_grad()
    assert params.count() == 7
    with pytest.raises(KeyError, match="nothing"):
        params["nothing"]


def test_dicts_of_parameters_with_a_prefix() -> None:
    for params in (ParameterDict("net_"), ParameterDict(prefix="net_")):
        w = params.get("w", shape=(2,), init="ones")
        assert list(params) == ["net_w"] and params.prefix == "net_"
        assert params["net_w"] is params.get("w") is params.get("net_w") is w
        assert params.get_constant("c", [1.0]) is params.get_constant("c", [1.0]) is params["net_c"]
        assert params.get("nothing") is None
        params.initialize()
        assert w.prefixed_name == "net_w" and w.data().tolist() == [1, 1]
    with pytest.raises(TypeError, match="'net_' is the prefix, and so is 'other_'; give one"):
        ParameterDict("net_", "other_")


def test_names_of_the_package() -> None:
    for name in gluon.__all__:
        assert getattr(gluon, name) is not None
    assert set(gluon.__all__) <= set(dir(gluon))
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        gluon.nothing_of_the_kind
