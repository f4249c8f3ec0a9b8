"""Initializers: what they fill, by which names they are found, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from slipstream import engine, init, initializer, np, npx


def filled(initial: Any, shape: Any, name: str = "weight", dtype: str = "float32") -> numpy.ndarray[Any, Any]:
    arr = np.full(shape, 9.0, dtype=dtype)
    with engine.sync_guard("raise"):
        init.create(initial)(init.InitDesc(name), arr)
    return arr.asnumpy()


@pytest.mark.parametrize(("name", "value"), [("zero", 0), ("zeros", 0), ("one", 1), ("Ones", 1)])
def test_constants_by_name(name: str, value: float) -> None:
    assert (filled(name, (2, 3)) == value).all()
    assert filled(name, ()) == value


def test_spread() -> None:
    np.random.seed(3)
    uniform = filled(init.Uniform(0.5), (300, 300))
    assert abs(uniform).max() <= 0.5
    assert abs(uniform.std() - 0.5 / math.sqrt(3)) < 0.01
    normal = filled(init.Normal(2.0), (300, 300))
    assert abs(normal.std() - 2) < 0.05
    assert abs(normal.mean()) < 0.05


@pytest.mark.parametrize("factor", ["in", "out", "avg"])
@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_xavier_and_msra(factor: str, kind: str) -> None:
    np.random.seed(4)
    shape = (40, 30, 3, 3)
    fan = {"in": 270.0, "out": 360.0, "avg": 315.0}[factor]
    xavier = filled(init.Xavier(kind, factor, 2), shape)
    bound = math.sqrt(2 / fan)
    if kind == "uniform":
        assert bound * 0.98 < abs(xavier).max() <= bound
    else:
        assert abs(xavier.std() - bound) < 0.03 * bound
    msra = filled(init.MSRAPrelu(factor, slope=0.5), shape)
    assert abs(msra.std() - math.sqrt(2 / 1.25 / fan)) < 0.03 * math.sqrt(2 / 1.25 / fan)


@pytest.mark.parametrize("kind", ["uniform", "normal"])
@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (3, 2, 5)])
def test_orthogonal(kind: str, shape: tuple[int, ...]) -> None:
    w = filled(init.Orthogonal(2.0, kind), shape, dtype="float64").reshape(shape[0], -1)
    product = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    numpy.testing.assert_allclose(product, 4 * numpy.eye(len(product)), atol=1e-12)


def test_bilinear_enlarges() -> None:
    w = filled(init.Bilinear(), (2, 3, 4, 4))
    line = numpy.array([0.25, 0.75, 0.75, 0.25])
    numpy.testing.assert_allclose(w[1, 2], numpy.outer(line, line), rtol=1e-6)


def test_lstm_bias_and_ends_of_names() -> None:
    assert filled(init.LSTMBias(2.0), (8,), "lstm0_i2h_bias").tolist() == [0, 0, 2, 2, 0, 0, 0, 0]
    for end, value in [("bias", 0), ("gamma", 1), ("beta", 0), ("running_mean", 0), ("running_var", 1)]:
        assert (filled(init.Normal(), (3,), f"x_{end}") == value).all()
    with pytest.raises(ValueError, match="the name 'strange' ends with none of weight"):
        filled(init.Normal(), (3,), "strange")


def test_own_initializer_of_a_parameter() -> None:
    arr = np.zeros(4)
    init.Zero()(init.InitDesc("x_bias", {"__init__": init.One().dumps()}), arr)
    assert arr.tolist() == [1, 1, 1, 1]
    init.Zero()(init.InitDesc("x_bias", {"__init__": init.Constant(5)}), arr)
    assert arr.tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize("projection", [None, 2])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_rnn_parts(projection: int | None, bidirectional: bool) -> None:
    hidden, inputs, layers, ways = 3, 5, 2, 2 if bidirectional else 1
    out = projection or hidden
    weights = biases = i2h = 0
    for layer in range(layers):
        size = inputs if layer == 0 else out * ways
        i2h += ways * 4 * hidden * size
        weights += ways * (4 * hidden * (size + out) + (out * hidden if projection else 0))
        biases += ways * 8 * hidden
    made = init.RNNFused(
        "lstm", layers, hidden, bidirectional, projection, "one", "zero", init.Constant(3), init.Constant(3), "zero"
    )
    flat = filled(made, (weights + biases,))
    assert flat[:weights].sum() == i2h
    assert (flat[weights:] == 3).all()
    with pytest.raises(ValueError, match="are no parameter of RNNFused"):
        filled(made, (weights + biases + 1,))


def test_load_and_mixed(tmp_path: Any) -> None:
    path = str(tmp_path / "params")
    npx.save(path, {"arg:a": np.ones(2), "b": np.zeros(3)})
    load = init.Load(path, default_init=init.Constant(7))
    arr = np.empty(2)
    load("a", arr)
    assert arr.tolist() == [1, 1]
    load(init.InitDesc("c_weight"), arr)
    assert arr.tolist() == [7, 7]
    with pytest.raises(ValueError, match=r"Load: 'b' has shape \(2,\), but \(3,\)"):
        load("b", arr)
    mixed = init.Mixed(["a.*", ".*weight"], ["ones", "zeros"])
    mixed("b_weight", arr)
    assert arr.tolist() == [0, 0]
    with pytest.raises(ValueError, match="Mixed: 'c' matches none of"):
        mixed("c", arr)


def test_names_and_errors() -> None:
    assert init.create(init.Xavier(magnitude=2).dumps()) == init.Xavier(magnitude=2)
    assert init.Xavier() != init.Normal()
    assert init.Xavier is initializer.Xavier
    with pytest.raises(ValueError, match="initializer 'bogus' is none of"):
        init.create("bogus")
    with pytest.raises(ValueError, match=r"Xavier: 'weight' has shape \(3,\); two dimensions are needed"):
        filled("xavier", (3,))


def test_same_seed_same_parameters_in_16_bits() -> None:
    np.random.seed(5)
    a = filled(init.Normal(), (4, 4), dtype="float16")
    np.random.seed(5)
    assert (filled(init.Normal(), (4, 4)).astype("float16") == a).all()
