"""Blocks: attributes, names, parameters, hooks, both generations of forward, sharing, containers."""

from __future__ import annotations

import contextlib
import copy
import pickle
import warnings
from typing import Any

import numpy
import pytest

from slipstream import autograd, gluon, init, np, npx
from slipstream.gluon import Block, HybridBlock, Parameter, nn

X = np.arange(6).reshape(2, 3)


class Net(Block):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first = nn.Dense(4, activation="relu")
        self.second = nn.Dense(2, in_units=4)
        self.scale = Parameter("scale", shape=(2,), init="ones")

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x)) * self.scale.data(x.device)


def ready(net: Any, x: Any = X, **options: Any) -> Any:
    net.initialize(init.Normal(0.5), **options)
    net(x)
    return net


# ---- parameters by attribute


def test_parameters_by_structural_name() -> None:
    net = Net()
    assert list(net.collect_params()) == ["scale", "first.weight", "first.bias", "second.weight", "second.bias"]
    assert list(net.collect_params(".*weight")) == ["first.weight", "second.weight"]
    assert list(net.collect_params("second|scale")) == ["scale", "second.weight", "second.bias"]
    assert list(net.params) == ["scale"]


def test_shapes_are_found_out_at_the_first_call() -> None:
    net = Net()
    net.initialize()
    assert net.first.weight.shape == (4, -1)
    with pytest.raises(gluon.DeferredInitializationError):
        net.first.weight.data()
    assert net(X).shape == (2, 2)
    assert net.first.weight.data().shape == (4, 3)
    with pytest.raises(ValueError):
        net(np.ones((2, 7)))


def test_blocks_that_are_not_initialised_say_so() -> None:
    with pytest.raises(RuntimeError, match=r"Parameter 'dense\d+_weight' has not been initialized"):
        nn.Dense(2, in_units=3)(X)
    with pytest.raises(RuntimeError, match="has not been initialized"):
        nn.Dense(2)(X)


def test_initialisation_again_after_calls() -> None:
    net = Net()
    net.initialize(init.One())
    assert net(X).asnumpy().all()
    net.initialize(init.Zero(), force_reinit=True)
    assert not net(X).asnumpy().any()
    net.initialize(init.One(), force_reinit=True, ctx=npx.cpu(1))
    with pytest.raises(RuntimeError, match=r"not initialized on device cpu\(0\)"):
        net(X)
    assert net(X.as_in_ctx(npx.cpu(1))).device == npx.cpu(1)


def test_attributes_can_be_replaced() -> None:
    net = Net()
    net.second = nn.Dense(7, in_units=4)
    assert net.collect_params()["second.weight"].shape == (7, 4)
    net.scale = Parameter("scale", shape=(7,))
    assert net.collect_params()["scale"].shape == (7,)
    with pytest.raises(TypeError, match=r"second is a Dense: it cannot become 3"):
        net.second = 3
    net.second = None
    del net.scale
    assert list(net.collect_params()) == ["first.weight", "first.bias"]


def test_no_attribute_raises() -> None:
    for net in (Net(), nn.Dense(2), nn.Sequential(), nn.BatchNorm()):
        for name in dir(net):
            getattr(net, name)


def test_forgotten_super_init() -> None:
    class Forgot(Block):
        def __init__(self) -> None:
            self.layer = nn.Dense(1)

    with pytest.raises(RuntimeError, match=r"Forgot: call super\(\).__init__\(\) before"):
        Forgot()
    with pytest.raises(TypeError, match="children of a block are blocks, not int"):
        nn.Sequential().add(3)  # type: ignore[arg-type]


def test_blocks_in_nested_lists_are_warned_of() -> None:
    net = Net()
    net.more = {"a": [nn.Dense(2), (nn.Dense(3),)]}
    with pytest.warns(UserWarning, match=r"Net.more holds blocks that are not registered"):
        net.collect_params()
    net.more = {"a": [net.first], "b": "text"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.collect_params()


def test_an_attribute_may_hold_itself() -> None:
    net = Net()
    tree: dict[str, object] = {"name": "root"}
    tree["children"] = [{"name": "leaf", "parent": tree}]
    net.tree = tree
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.collect_params()
    tree["block"] = nn.Dense(2)
    with pytest.warns(UserWarning, match=r"Net.tree holds blocks that are not registered"):
        net.collect_params()


def test_blocks_in_lists_are_warned_of() -> None:
    net = Net()
    net.more = [nn.Dense(2)]
    with pytest.warns(UserWarning, match=r"Net.more holds blocks that are not registered"):
        net.collect_params()
    net.register_child(net.more[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.collect_params()


@pytest.mark.parametrize("kind", [Block, HybridBlock])
def test_children_are_called_for_as_in_mxnet_2(kind: Any) -> None:
    class Mine(kind):  # type: ignore[misc]
        def add(self, block: Block) -> None:
            self.register_child(block)

        def forward(self, x: Any) -> Any:
            for child in self._children.values():
                x = child()(x)
            return x

    net, called = Mine(), []
    net.add(nn.Dense(4))
    net.add(Mine())
    net._children["1"].add(nn.Dense(2))
    net._children["0"].register_forward_pre_hook(lambda block, inputs: called.append(len(inputs)))
    net.initialize()
    for _ in range(2):
        assert net(X).shape == (2, 2)
    assert called == [1, 1]  # not for the call that asks for the child
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        net()

    class Constant(kind):  # type: ignore[misc]
        def forward(self) -> Any:
            return len(3)  # type: ignore[arg-type]

    net.add(Constant())
    with pytest.raises(TypeError, match="has no len"):
        net._children["2"]()


@pytest.mark.parametrize("kind", [Block, HybridBlock])
def test_children_that_take_any_number_of_arguments_or_none(kind: Any) -> None:
    class Total(kind):  # type: ignore[misc]
        def forward(self, *xs: Any) -> Any:
            return xs[0] + sum(xs[1:])

    class Noise(kind):  # type: ignore[misc]
        def forward(self, size: int = 3, **options: Any) -> Any:
            return np.ones(size)

    total, noise = Total(), Noise()
    with pytest.raises(IndexError):
        total()  # nobody's child
    net = nn.Sequential()
    net.add(total, noise, nn.Concatenate())
    for _ in range(2):
        assert total() is total and net[2]() is net[2]
        assert total(1, 2) == 3
        assert noise().shape == (3,)


def test_children_written_by_user_code() -> None:
    class Mine(Block):
        def add(self, block: Block) -> None:
            self._children[block.name] = block

        def forward(self, x: Any) -> Any:
            for block in self._children.values():
                x = block(x)
            return x

    net = Mine()
    net.add(nn.Dense(4, activation="relu"))
    net.add(nn.Dense(2))
    assert ready(net)(X).shape == (2, 2)
    assert len(net.collect_params()) == 4


# ---- MXNet 1's names


class AsInMXNet2(Block):
    """There the values of _children are weak references: called without arguments they give their block."""

    def add(self, block: Block) -> None:
        self.register_child(block)

    def forward(self, x: Any) -> Any:
        for block in self._children.values():
            x = block()(x)
        return x


def test_children_called_as_references() -> None:
    net = AsInMXNet2()
    net.add(nn.Dense(4, activation="relu"))
    net.add(nn.Dense(2))
    net.initialize()
    for _ in range(2):
        assert net(np.ones((3, 5))).shape == (3, 2)
    with pytest.raises(TypeError):  # nobody refers to it
        net()


def test_names_prefixes_and_scopes() -> None:
    net = Net(prefix="net_")
    assert (net.name, net.prefix) == ("net", "net_")
    with net.name_scope():
        a, b = nn.Dense(1), nn.Dense(1)
        with a.name_scope():
            inner = nn.Dense(1)
    assert [a.name, b.name, inner.name] == ["net_dense0", "net_dense1", "net_dense0_dense0"]
    assert a.weight.prefixed_name == "net_dense0_weight"
    first, second = nn.Dense(1), nn.Dense(1)
    assert int(second.name.removeprefix("dense")) == int(first.name.removeprefix("dense")) + 1
    net.third = a
    params = net.collect_params()
    assert params["net_dense0_weight"] is params["third.weight"] is params.get("net_dense0_weight")
    assert "net_dense0_weight" in params
    assert "third.weight" in params
    assert "net_dense9_weight" not in params
    assert list(net.collect_params("net_dense0_.*")) == ["third.weight", "third.bias"]


def test_parameters_made_by_params_get() -> None:
    class Old(HybridBlock):
        def __init__(self, units: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(units, 3), init="ones")
                self.fixed = self.params.get_constant("fixed", [2.0])
            self.params.get("unused", shape=(1,))

        def hybrid_forward(self, F: Any, x: Any, weight: Any, fixed: Any) -> Any:
            return F.npx.relu(F.np.dot(x, weight.T)) * fixed + F.exp(F.zeros_like(fixed))

    net = Old(2)
    assert net.params.get("weight") is net.weight
    assert net.weight.prefixed_name == f"{net.name}_weight"
    assert list(net.collect_params()) == ["weight", "fixed", "unused"]
    net.initialize()
    assert net(X).tolist() == [[7, 7], [25, 25]]
    again = Old(2, params=net.params)
    assert again.weight is net.weight


def test_parameters_shared_at_construction_and_later() -> None:
    a = ready(nn.Dense(2))
    b = nn.Dense(2, params=a.params)
    assert b.weight is a.weight
    assert (b(X).asnumpy() == a(X).asnumpy()).all()
    net, other = Net(), Net()
    assert net.share_parameters(other.collect_params()) is net
    assert all(p is other.collect_params()[name] for name, p in net.collect_params().items())
    tied = nn.Sequential()
    tied.add(nn.Dense(3), nn.Dense(3), nn.Dense(3))
    tied[2].share_parameters(tied[1].collect_params())
    ready(tied)
    with autograd.record():
        out = tied(X).sum()
    out.backward()
    assert tied[1].weight is tied[2].weight
    h0, h1 = (tied[:n](X).asnumpy() for n in (1, 2))  # the gradient is the sum over both uses
    g2 = numpy.ones((2, 3))
    expected = g2.T @ h1 + (g2 @ tied[2].weight.data().asnumpy()).T @ h0
    numpy.testing.assert_allclose(tied[1].weight.grad().asnumpy(), expected, rtol=1e-4, atol=1e-4)


def test_a_block_has_of_its_own_what_is_not_shared() -> None:
    """MXNet 1's way to tie an embedding and the layer that scores words."""
    words = nn.Embedding(10, 3)
    scores = nn.Dense(10, in_units=3, params=words.params)
    assert scores.weight is words.weight
    assert list(scores.params) == ["weight", "bias"] and list(words.collect_params()) == ["weight"]
    assert scores.bias.prefixed_name == f"{scores.prefix}bias" and words.weight.prefixed_name == f"{words.prefix}weight"
    ready(words)
    scores.bias.initialize()
    assert scores(words(np.array([1]))).shape == (1, 10)
    assert list(nn.Dense(10, use_bias=False, params=scores.params).params) == ["weight"]
    with pytest.raises(ValueError, match=r"embedding\d+_weight': shape \(12, 3\) does not fit its shape \(10, 3\)"):
        nn.Dense(12, in_units=3, params=words.params)
    with pytest.raises(TypeError, match="Dense: params must be a dict of parameters to share, not"):
        nn.Dense(2, params=words)


def test_parameters_are_shared_with_blocks_below() -> None:
    class Nested(HybridBlock):
        def __init__(self, scoped: bool, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope() if scoped else contextlib.nullcontext():
                self.body = nn.HybridSequential()
                self.body.add(nn.Dense(3), nn.HybridSequential())
                self.body[1].add(nn.Dense(3))
                self.head = nn.Dense(2)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x))

    for scoped in (False, True):
        net = ready(Nested(scoped))
        again = Nested(scoped, params=net.collect_params())
        assert all(p is net.collect_params()[name] for name, p in again.collect_params().items())
        assert (again(X).asnumpy() == net(X).asnumpy()).all()
        again.head = nn.Dense(2)  # what takes its place is another
        assert again.head.weight is not net.head.weight
    tail = nn.Dense(3)
    chain = nn.HybridSequential(params=net.body.collect_params())
    chain.add(nn.Dense(3, params=tail.params))
    assert chain[0].weight is tail.weight  # a block's own params= go before those of the block around it


def test_share_what_there_is() -> None:
    net, other = nn.Dense(4), nn.Embedding(4, 3)
    assert net.share_parameters(None) is net  # MXNet's programs hand on a params=None of their own
    assert net.share_parameters(other.params).weight is other.weight
    assert net.bias is not None and list(other.collect_params()) == ["weight"]  # nothing is made for the other block


# ---- calls


def test_hybrid_forward_gets_values_on_the_device_of_its_argument() -> None:
    class Old(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter("w", shape=(3,), init="ones")

        def hybrid_forward(self, F: Any, x: Any, y: Any = None, *, w: Any) -> Any:
            return (x[0] if isinstance(x, list) else x) * w

    net = Old()
    net.initialize(ctx=[npx.cpu(0), npx.cpu(1)])
    assert net(X.as_in_ctx(npx.cpu(1))).device == npx.cpu(1)
    assert net([X.as_in_ctx(npx.cpu(1))]).device == npx.cpu(1)
    with pytest.raises(NotImplementedError, match="HybridBlock has neither forward"):
        HybridBlock()(X)
    with pytest.raises(NotImplementedError, match=r"Block has no forward\(\)"):
        Block()(X)


def test_hybrid_forward_takes_the_place_of_an_inherited_forward() -> None:
    class Twice(nn.Dense):
        def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
            return super().hybrid_forward(F, 2 * x, weight, bias)

    class Named(Twice):
        def hybrid_forward(self, F: Any, x: Any, **params: Any) -> Any:
            return super().hybrid_forward(F, x, **params) + 1

    class Again(Named):
        def forward(self, x: Any) -> Any:
            return super().forward(x) * 10

    class Masked(gluon.loss.L1Loss):
        def hybrid_forward(self, F: Any, pred: Any, label: Any, mask: Any = None) -> Any:
            return super().hybrid_forward(F, pred, label, sample_weight=mask)

    class Normed(nn.Dense):
        def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any) -> Any:
            return super().hybrid_forward(F, x, weight=weight / 2, bias=bias)

    one = {"weight_initializer": "ones", "bias_initializer": "ones"}
    assert ready(Twice(1, **one), X)(X).tolist() == [[7], [25]]
    assert ready(Twice(1, use_bias=False, weight_initializer="ones"), X)(X).tolist() == [[6], [24]]
    assert ready(Named(1, **one), X)(X).tolist() == [[8], [26]]
    assert ready(Again(1, **one), X)(X).tolist() == [[80], [260]]
    assert Masked()(X, np.zeros((2, 3)), np.array([[0.0], [3.0]])).tolist() == [0, 12]
    with pytest.raises(NotImplementedError, match=r"with the layer's own weight: use the function of npx"):
        ready(Normed(1), X)(X)


def test_a_first_call_that_fails_leaves_the_shapes_unknown() -> None:
    conv, lstm = nn.Conv2D(4, 3), gluon.rnn.LSTM(3)
    for layer in (conv, lstm):
        layer.initialize()
    with pytest.raises(ValueError, match="must have 1 to 3 axes"):
        conv(np.ones((2, 3)))
    assert conv.weight.shape == (4, -1, 3, 3)
    assert conv(np.ones((1, 1, 5, 5))).shape == (1, 4, 3, 3)
    with pytest.raises(ValueError, match="expected states of shapes"):
        lstm(np.ones((2, 3, 4)), np.ones((9, 9, 9)))
    assert lstm(np.ones((2, 3, 5))).shape == (2, 3, 3)
    with pytest.raises(ValueError, match="have 6 features"):  # from now on they are known
        lstm(np.ones((2, 3, 6)))


def test_unknown_shapes_need_infer_shape() -> None:
    class Deferred(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter("w", shape=(-1,), allow_deferred_init=True)

        def forward(self, x: Any) -> Any:
            return x * self.w.data()

    net = Deferred()
    net.initialize()
    with pytest.raises(RuntimeError, match=r"Deferred: the shapes of w are not known.*implement Deferred.infer_shape"):
        net(X)


def test_hooks() -> None:
    net = ready(nn.Dense(2))
    seen: list[Any] = []
    before = net.register_forward_pre_hook(lambda block, inputs: seen.append(("before", block, inputs[0].shape)))
    with net.register_forward_hook(lambda block, inputs, out: seen.append(("after", block, out.shape))):
        net(X)
    net(X)
    before.detach()
    net(X)
    assert seen == [("before", net, (2, 3)), ("after", net, (2, 2)), ("before", net, (2, 3))]
    with pytest.raises(NotImplementedError, match="register_forward_hook"):
        net.register_op_hook(print)


def test_hooks_stay_without_their_handles() -> None:
    seen: list[int] = []
    net = nn.Flatten()
    for k in range(3):
        net.register_forward_pre_hook(lambda *_, k=k: seen.append(k))
        net.register_forward_hook(lambda *_, k=k: seen.append(10 + k))
    net(X)
    assert seen == [0, 1, 2, 10, 11, 12]
    copy.deepcopy(net)(X)
    assert seen == [0, 1, 2, 10, 11, 12] * 2


def test_apply_setattr_cast_zero_grad() -> None:
    net = ready(Net())
    seen: list[str] = []
    assert net.apply(lambda block: seen.append(type(block).__name__)) is net
    assert seen == ["Activation", "Dense", "Dense", "Net"]
    with autograd.record():
        out = net(X).sum()
    out.backward()
    net.zero_grad()
    assert not any(p.grad().asnumpy().any() for p in net.collect_params().values())
    net.setattr("wd_mult", 0)
    assert {p.wd_mult for p in net.collect_params().values()} == {0}
    net.cast("float64")
    assert net(X.astype("float64")).dtype == numpy.float64
    net.reset_ctx([npx.cpu(1), npx.cpu(2)])
    assert net.scale.list_ctx() == [npx.cpu(1), npx.cpu(2)]


def test_hybridize_changes_no_result() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    before = ready(net)(X).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True, inline_limit=3)
    assert (net(X).asnumpy() == before).all()
    net.hybridize(active=False)
    net.optimize_for(X, backend="any")
    assert (net(X).asnumpy() == before).all()
    mixed = nn.Sequential()
    mixed.add(net)
    mixed.hybridize()
    assert (mixed(X).asnumpy() == before).all()


def test_what_is_not_there_yet() -> None:
    with pytest.raises(NotImplementedError, match="export is not there yet"):
        nn.Dense(1).export("x")
    with pytest.raises(NotImplementedError, match="load_parameters"):
        gluon.SymbolBlock(None, None)
    with pytest.raises(NotImplementedError, match=r"'x-symbol.json' cannot be read yet"):
        gluon.SymbolBlock.imports("x-symbol.json", ["data"], "x.params")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_of_blocks(again: Any) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.BatchNorm(), nn.Dense(2))
    ready(net)
    other = again(net)
    assert (other(X).asnumpy() == net(X).asnumpy()).all()
    other[0].weight.set_data(np.zeros((4, 3)))
    assert net[0].weight.data().asnumpy().any()


# ---- what is printed


def test_repr() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu", in_units=3), nn.Dropout(0.5), nn.Sequential())
    net[2].add(nn.Conv2D(6, 3, padding=1, use_bias=False))
    assert repr(net) == (
        "HybridSequential(\n"
        "  (0): Dense(3 -> 4, relu)\n"
        "  (1): Dropout(p = 0.5, axes=())\n"
        "  (2): Sequential(\n"
        "    (0): Conv2D(None -> 6, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)\n"
        "  )\n"
        ")"
    )


def test_summary(capsys: pytest.CaptureFixture[str]) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.BatchNorm(), nn.Dense(4), nn.Dense(4))
    net[3].share_parameters(net[2].collect_params())
    net.initialize()
    net.summary(X)
    text = capsys.readouterr().out
    rows = [line.split() for line in text.splitlines()]
    assert rows[0] == ["block", "type", "output", "parameters"]
    assert ["0", "Dense", "(2,", "4)", "16"] in rows
    assert ["1", "BatchNorm", "(2,", "4)", "16"] in rows
    assert "parameters: 52 (0.0 MiB); trained: 44; fixed: 8; used more than once: 20" in text
    assert not net[0]._forward_hooks


# ---- containers


def test_sequential_is_a_list() -> None:
    net = nn.Sequential()
    net.add(nn.Dense(4), nn.Activation("relu"), nn.Dense(2))
    assert len(net) == 3
    assert [type(block).__name__ for block in net] == ["Dense", "Activation", "Dense"]
    assert net[-1] is net[2]
    part = net[:2]
    assert type(part) is nn.Sequential
    assert part[0] is net[0]
    assert issubclass(nn.HybridSequential, HybridBlock)
    assert not issubclass(nn.Sequential, HybridBlock)


def test_sequential_passes_several_results_on() -> None:
    net = nn.Sequential()
    net.add(nn.Lambda(lambda x: (x, x + 1)), nn.Lambda(lambda a, b: [a + b, a - b]))
    total, difference = net(X)
    assert (total.asnumpy() == 2 * X.asnumpy() + 1).all()
    assert (difference.asnumpy() == -1).all()


@pytest.mark.parametrize("kind", [nn.Concatenate, nn.HybridConcatenate])
def test_concatenate(kind: Any) -> None:
    net = kind(axis=0)
    net.add(nn.Identity(), nn.Lambda("negative") if kind is nn.Concatenate else nn.HybridLambda("negative"))
    assert net(X).tolist() == [*X.tolist(), *(-X).tolist()]
    assert net[:1](X).shape == (2, 3)


def test_lambdas() -> None:
    assert nn.Lambda("exp")(np.zeros(1)).item() == 1
    assert nn.HybridLambda(lambda F, x: F.npx.relu(x))(np.array([-1.0])).item() == 0
    assert nn.HybridLambda(npx.relu)(np.array([-1.0])).item() == 0
    assert repr(nn.Lambda("exp")) == "Lambda(exp)"
    with pytest.raises(ValueError, match="neither np nor npx has a function 'nothing'"):
        nn.Lambda("nothing")
    with pytest.raises(TypeError, match="HybridLambda: expected a function"):
        nn.HybridLambda(3)  # type: ignore[arg-type]


def test_blocks_are_no_prefix() -> None:
    with pytest.raises(TypeError, match=r"HybridSequential: prefix must be a string, not Dense; add\(\) takes blocks"):
        nn.HybridSequential(nn.Dense(2))  # type: ignore[arg-type]
