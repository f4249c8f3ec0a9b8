"""Recurrent layers against their cells, cells against formulas, and unrolling."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy
import pytest

from slipstream import autograd, gluon, init, np, npx
from slipstream.gluon import nn, rnn

Rng = numpy.random.Generator
LAYERS = {"RNN": rnn.RNN, "LSTM": rnn.LSTM, "GRU": rnn.GRU}
CELLS = {"RNN": rnn.RNNCell, "LSTM": rnn.LSTMCell, "GRU": rnn.GRUCell}


def array(rng: Rng, *shape: int) -> Any:
    return np.array(rng.standard_normal(shape), dtype="float32")


def close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    expected = expected.asnumpy() if hasattr(expected, "asnumpy") else expected
    numpy.testing.assert_allclose(found.asnumpy(), expected, rtol=tolerance, atol=tolerance)


def ready(block: Any) -> Any:
    block.initialize(init.Normal(0.5))
    return block


def sigmoid(x: Any) -> Any:
    return 1 / (1 + numpy.exp(-x))


# ---- cells


def test_cells_by_their_formulas(rng: Rng) -> None:
    x, h, c = (array(rng, 2, 3), array(rng, 2, 4), array(rng, 2, 4))
    options = {"i2h_bias_initializer": init.Normal(0.5), "h2h_bias_initializer": init.Normal(0.5)}
    for name, kind in CELLS.items():
        cell = ready(kind(4, **options))
        out, states = cell(x, [h, c] if name == "LSTM" else [h])
        w, u, b, d = (p.data().asnumpy() for p in (cell.i2h_weight, cell.h2h_weight, cell.i2h_bias, cell.h2h_bias))
        i, s = x.asnumpy() @ w.T + b, h.asnumpy() @ u.T + d
        if name == "RNN":
            expected = numpy.tanh(i + s)
        elif name == "LSTM":
            enter, forget, new, leave = numpy.split(i + s, 4, axis=1)
            after = sigmoid(forget) * c.asnumpy() + sigmoid(enter) * numpy.tanh(new)
            expected = sigmoid(leave) * numpy.tanh(after)
            close(states[1], after)
        else:
            (ri, zi, ni), (rs, zs, ns) = numpy.split(i, 3, axis=1), numpy.split(s, 3, axis=1)
            z = sigmoid(zi + zs)
            expected = (1 - z) * numpy.tanh(ni + sigmoid(ri + rs) * ns) + z * h.asnumpy()
        close(out, expected)
        close(states[0], expected)


def test_a_cell_knows_its_activations_when_it_is_made() -> None:
    makers: list[Any] = [lambda given: rnn.RNNCell(4, activation=given)]
    for name in ("activation", "recurrent_activation"):
        makers += [lambda given, name=name, cell=cell: cell(4, **{name: given}) for cell in (rnn.LSTMCell, rnn.GRUCell)]
    makers.append(lambda given: rnn.Conv1DLSTMCell((2, 5), 3, 3, 3, activation=given))
    for make in makers:
        with pytest.raises(ValueError, match="act_type 'foo' is none of 'relu', 'sigmoid'"):
            make("foo")
        with pytest.raises(TypeError, match="Cell: activation 3 is neither a name nor a function of an array"):
            make(3)
        assert copy.deepcopy(make("softsign")) and pickle.loads(pickle.dumps(make("softsign")))


def test_other_activations(rng: Rng) -> None:
    x, h = array(rng, 2, 3), array(rng, 2, 4)
    cell = ready(rnn.RNNCell(4, activation="relu"))
    plain = ready(rnn.RNNCell(4, activation=lambda v: npx.relu(v)))
    cell(x, [h])
    plain.share_parameters(cell.collect_params())
    close(plain(x, [h])[0], cell(x, [h])[0])
    leaky = ready(rnn.RNNCell(4, activation=nn.LeakyReLU(0.1)))
    assert leaky(x, [h])[0].shape == (2, 4)


def test_activations_are_names_that_may_be_set_later(rng: Rng) -> None:
    own, x = ["relu", npx.relu], array(rng, 2, 3)
    for make in (*CELLS.values(), lambda n: rnn.Conv1DGRUCell((3, 5), n, 3, 3, 1)):
        cell = ready(make(4))
        assert cell._activation == "tanh" and getattr(cell, "_recurrent_activation", "sigmoid") == "sigmoid"
        inputs = x if cell.state_info()[0]["__layout__"] == "NC" else array(rng, 2, 3, 5)
        states = cell.begin_state(batch_size=2)
        before = cell(inputs, states)[0].tolist()
        found = []
        for cell._activation in own:
            found.append(cell(inputs, states)[0].tolist())
        assert found[0] == found[1] != before
    lstm = ready(rnn.LSTMCell(4, input_size=3))
    lstm._recurrent_activation = "tanh"
    same = ready(rnn.LSTMCell(4, recurrent_activation="tanh", input_size=3))
    for part in ("i2h_weight", "h2h_weight"):
        getattr(same, part).set_data(getattr(lstm, part).data())
    states = lstm.begin_state(batch_size=2)
    assert lstm(x, states)[0].tolist() == same(x, states)[0].tolist()


def test_a_cell_that_computes_its_activation_as_mxnet_does() -> None:
    class Own(rnn.HybridRecurrentCell):  # type: ignore[misc]
        _activation = "relu"

        def state_info(self, batch_size: int = 0) -> Any:
            return [{"shape": (batch_size, 1)}]

        def forward(self, inputs: Any, states: Any) -> Any:
            of_first = self._get_activation(np, inputs, self._activation, name="out")
            return of_first + self._get_activation(inputs, self._activation), states

    assert Own()(np.array([[-1.0, 2.0]]), [])[0].tolist() == [[0, 4]]


def test_projection(rng: Rng) -> None:
    cell = ready(rnn.LSTMPCell(4, 2))
    out, (r, c) = cell(array(rng, 3, 5), cell.begin_state(batch_size=3))
    assert out.shape == r.shape == (3, 2)
    assert c.shape == (3, 4)
    assert cell.h2h_weight.shape == (16, 2)
    assert cell.h2r_weight.shape == (2, 4)


# ---- layers and cells are the same


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("layout", ["TNC", "NTC"])
@pytest.mark.parametrize(("count", "both"), [(1, False), (2, False), (2, True)])
def test_layers_do_what_their_cells_do(rng: Rng, name: str, layout: str, count: int, both: bool) -> None:
    options = {"activation": "tanh"} if name == "RNN" else {}
    layer = LAYERS[name](4, count, layout=layout, bidirectional=both, i2h_bias_initializer=init.Normal(0.5), **options)
    ready(layer)
    x = array(rng, 5, 3, 6) if layout == "TNC" else array(rng, 3, 5, 6)
    out, states = layer(x, layer.begin_state(batch_size=3))
    parts = layer.parts()

    def cell(place: str) -> Any:
        made = CELLS[name](4)
        made.initialize()
        made(np.ones((1, parts[f"{place}_i2h_weight"].shape[1])), made.begin_state(batch_size=1))
        for part in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias"):
            getattr(made, part).set_data(parts[f"{place}_{part}"])
        return made

    chain = rnn.SequentialRNNCell()
    for i in range(count):
        chain.add(rnn.BidirectionalCell(cell(f"l{i}"), cell(f"r{i}")) if both else cell(f"l{i}"))
    expected, after = chain.unroll(5, x, layout=layout, merge_outputs=True)
    close(out, expected, 1e-4)
    kinds = 2 if name == "LSTM" else 1
    for kind in range(kinds):
        close(states[kind], np.stack(after[kind::kinds]), 1e-4)
    close(layer(x), out)


def test_layers_have_gradients(rng: Rng) -> None:
    for kind in LAYERS.values():
        layer, x = ready(kind(4)), array(rng, 5, 3, 6)
        x.attach_grad()
        with autograd.record():
            total = layer(x).sum()
        total.backward()
        assert layer.rnn_param.grad().asnumpy().any()
        assert x.grad.asnumpy().any()


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_layers_take_empty_batches(name: str) -> None:
    layer = getattr(rnn, name)(4, num_layers=2, bidirectional=True)
    layer.initialize()
    with autograd.record():
        out = layer(np.ones((5, 0, 3)))
    out.backward()
    assert out.shape == (5, 0, 8)
    assert not layer.rnn_param.grad().any()


def test_clipped_cells(rng: Rng) -> None:
    x, limits = 9 * array(rng, 5, 2, 3), {"state_clip_min": -0.25, "state_clip_max": 0.5}
    layer = ready(rnn.LSTM(4, num_layers=2, **limits))
    cells = layer(x, layer.begin_state(batch_size=2))[1][1].asnumpy()
    assert cells.min() == -0.25
    assert cells.max() == 0.5
    x[0, 0, 0] = numpy.nan
    for nan in (False, True):
        layer = ready(rnn.LSTM(4, **limits, state_clip_nan=nan))
        cells = layer(x[:1], layer.begin_state(batch_size=2))[1][1].asnumpy()
        assert numpy.isnan(cells[0, 0]).all() != nan
    for alone in limits:
        with pytest.raises(ValueError, match=r"rnn: lstm_state_clip_min=.* and lstm_state_clip_max=.* belong together"):
            ready(rnn.LSTM(4, **{alone: 0.5}))(x)


def test_states_are_optional_and_checked(rng: Rng) -> None:
    layer = ready(rnn.GRU(4))
    x = array(rng, 5, 3, 6)
    assert layer(x).shape == (5, 3, 4)
    out, state = layer(x, layer.begin_state(batch_size=3)[0])
    assert isinstance(state, list)
    assert state[0].shape == (1, 3, 4)
    close(out[-1], state[0][0])
    with pytest.raises(ValueError, match=r"GRU: expected states of shapes \[\(1, 3, 4\)\], got \[\(1, 2, 4\)\]"):
        layer(x, layer.begin_state(batch_size=2))
    with pytest.raises(ValueError, match="have 3 axes"):
        layer(np.ones((3, 6)))
    assert layer.begin_state(batch_size=2, ctx=npx.cpu(1))[0].device == npx.cpu(1)
    assert layer.begin_state(2, func=np.ones, dtype="float64")[0].tolist() == np.ones((1, 2, 4)).tolist()
    with pytest.raises(ValueError, match="layout='CNT' is neither"):
        rnn.GRU(4, layout="CNT")
    with pytest.raises(ValueError, match="activation='sigmoid' is neither"):
        rnn.RNN(4, activation="sigmoid")
    assert repr(rnn.LSTM(4, 2, dropout=0.5, bidirectional=True)) == (
        "LSTM(None -> 4, TNC, num_layers=2, dropout=0.5, bidirectional)"
    )


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda x, h: ready(rnn.LSTM(4))(x, [h]), r"LSTM: .* shapes \[\(1, 3, 4\), .*, got \[\(1, 3, 4\)\]"),
        (lambda x, h: ready(rnn.GRU(4))(x, [h, h]), r"GRU: .* shapes \[\(1, 3, 4\)\], got \[\(1, 3, 4\), "),
        (lambda x, h: ready(rnn.RNN(4))(x, []), r"RNN: expected states of shapes \[\(1, 3, 4\)\], got \[\]"),
        (lambda x, h: ready(rnn.LSTMCell(4))(x[0], [h[0]]), r"LSTMCell: .* \[\(3, 4\), \(3, 4\)\], got \[\(3, 4\)\]"),
        (lambda x, h: ready(rnn.GRUCell(4))(x[0], h[0]), r"GRUCell: expected states of shapes \[\(3, 4\)\], got "),
        (lambda x, h: ready(rnn.RNNCell(4))(x[0], [h[0, :2]]), r"RNNCell: .* \[\(3, 4\)\], got \[\(2, 4\)\]"),
        (lambda x, h: ready(rnn.LSTMPCell(4, 2))(x[0], [h[0], h[0]]), r"LSTMPCell: .* \[\(3, 2\), \(3, 4\)\], got"),
        (lambda x, h: ready(rnn.ZoneoutCell(rnn.LSTMCell(4)))(x[0], []), r"LSTMCell: expected states of shapes"),
        (lambda x, h: ready(rnn.VariationalDropoutCell(rnn.GRUCell(4)))(x[0], []), r"GRUCell: .*, got \[\]"),
        (lambda x, h: ready(chained())(x[0], [h[0]]), r"SequentialRNNCell: expected 3 states, got 1, of shapes"),
        (lambda x, h: ready(both_ways()).unroll(5, x, [h[0]], "TNC"), "BidirectionalCell: expected 2 states, got 1"),
    ],
)  # fmt: skip
def test_wrong_states(call: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        call(np.ones((5, 3, 6)), np.ones((1, 3, 4)))


def chained() -> rnn.SequentialRNNCell:
    cells = rnn.SequentialRNNCell()
    cells.add(rnn.LSTMCell(4))
    cells.add(rnn.GRUCell(4))
    return cells


def both_ways() -> rnn.BidirectionalCell:
    return rnn.BidirectionalCell(rnn.GRUCell(4), rnn.GRUCell(4))


def test_wrong_widths(tmp_path: Path) -> None:
    for name, kind in LAYERS.items():
        match = rf"{name}: inputs of shape \(5, 3, 7\) have 7 features, but its weights take 6"
        layer = ready(kind(4, num_layers=2, bidirectional=True))
        layer(np.ones((5, 3, 6)))
        with pytest.raises(ValueError, match=match):
            layer(np.ones((5, 3, 7)))
        layer.save_parameters(tmp_path / name)
        again = kind(4, num_layers=2, bidirectional=True)
        again.load_parameters(tmp_path / name)
        with pytest.raises(ValueError, match=match):
            again(np.ones((5, 3, 7)))
        again(np.ones((5, 3, 6)))
        assert again.parts()["l0_i2h_weight"].shape == layer.parts()["l0_i2h_weight"].shape
    for name, kind in CELLS.items():
        cell = ready(kind(4, input_size=6))
        with pytest.raises(ValueError, match=rf"{name}Cell: inputs of shape \(3, 7\) have 7 features, .* take 6"):
            cell(np.ones((3, 7)), cell.begin_state(batch_size=3))
        cell(np.ones((3, 6)), cell.begin_state(batch_size=1))  # one state for the whole batch


def test_any_initializer_fills_recurrent_layers() -> None:
    layer = rnn.LSTM(4, input_size=3)
    layer.initialize(init.Xavier())
    parts = {name: part.asnumpy() for name, part in layer.parts().items()}
    assert abs(parts["l0_i2h_weight"]).max() <= (3 / ((16 + 3) / 2)) ** 0.5
    assert parts["l0_i2h_weight"].any()
    assert not parts["l0_i2h_bias"].any()
    layer.initialize(init.One(), force_reinit=True)
    assert (layer.parts()["l0_h2h_weight"].asnumpy() == 1).all()


# ---- unrolling


@pytest.mark.parametrize("layout", ["NTC", "TNC"])
def test_unroll_step_by_step(rng: Rng, layout: str) -> None:
    cell = ready(rnn.GRUCell(4))
    steps = [array(rng, 2, 3) for _ in range(5)]
    state, outputs = cell.begin_state(batch_size=2), []
    for step in steps:
        out, state = cell(step, state)
        outputs.append(out)
    axis = layout.index("T")
    whole, after = cell.unroll(5, np.stack(steps, axis=axis), layout=layout, merge_outputs=True)
    close(whole, np.stack(outputs, axis=axis))
    close(after[0], state[0])
    parts, _ = cell.unroll(5, steps, layout=layout)
    assert len(parts) == 5
    close(parts[2], outputs[2])
    with pytest.raises(ValueError, match="length=4, but the inputs have 5 steps"):
        cell.unroll(4, steps)
    with pytest.raises(ValueError, match="layout='TCN' is neither"):
        cell.unroll(5, steps, layout="TCN")


def cells_to_unroll() -> dict[str, Any]:
    both = rnn.BidirectionalCell(rnn.LSTMCell(4), rnn.LSTMCell(4))
    chain = rnn.HybridSequentialRNNCell()
    chain.add(rnn.GRUCell(4))
    chain.add(rnn.ResidualCell(rnn.LSTMCell(4)))
    return {"LSTM": rnn.LSTMCell(4), "both": both, "chain": chain}


@pytest.mark.parametrize("name", cells_to_unroll())
def test_valid_length_is_the_sequence_cut_there(rng: Rng, name: str) -> None:
    cell = ready(cells_to_unroll()[name])
    x, lengths = array(rng, 3, 5, 6), [2, 5, 1]
    out, states = cell.unroll(5, x, merge_outputs=True, valid_length=np.array(lengths))
    for i, length in enumerate(lengths):
        alone, after = cell.unroll(length, x[i : i + 1, :length], merge_outputs=True)
        close(out[i, :length], alone[0], 1e-5)
        assert not out[i, length:].asnumpy().any()
        for found, expected in zip(states, after, strict=True):
            close(found[i], expected[0], 1e-5)


# ---- modifiers


def test_modifiers_while_not_training(rng: Rng) -> None:
    x, h = array(rng, 2, 4), array(rng, 2, 4)
    base = ready(rnn.RNNCell(4))
    expected = base(x, [h])[0]
    zone = rnn.ZoneoutCell(base, 0.5, 0.5)
    close(zone(x, [h])[0], expected)
    with pytest.raises(RuntimeError, match="a modifier cell has taken"):
        base.begin_state(batch_size=2)
    assert zone.begin_state(batch_size=2)[0].shape == (2, 4)
    with pytest.raises(ValueError, match="has a modifier already"):
        rnn.ResidualCell(base)
    residual = rnn.ResidualCell(zone)
    close(residual(x, [h])[0], expected.asnumpy() + x.asnumpy())
    drop, _ = rnn.DropoutCell(0.5)(x, [])
    close(drop, x)
    with pytest.raises(NotImplementedError, match="use unroll"):
        rnn.BidirectionalCell(rnn.RNNCell(4), rnn.RNNCell(4))(x, [h, h])
    with pytest.raises(ValueError, match="around the cells of a BidirectionalCell"):
        rnn.ZoneoutCell(rnn.BidirectionalCell(rnn.RNNCell(4), rnn.RNNCell(4)))


def test_zoneout_keeps_some_of_the_last_values() -> None:
    cell = rnn.ZoneoutCell(rnn.RNNCell(40, i2h_weight_initializer="ones"), zoneout_states=0.5)
    cell.initialize()
    old = np.full((30, 40), 7.0)
    with autograd.record():
        _, (after,) = cell(np.ones((30, 2)), [old])
    kept = (after.asnumpy() == 7).mean()
    assert 0.4 < kept < 0.6


def test_variational_dropout_is_the_same_at_every_step() -> None:
    cell = rnn.VariationalDropoutCell(rnn.RNNCell(3, h2h_weight_initializer="zeros"), drop_outputs=0.5)
    cell.initialize(init.One())
    with autograd.record():
        out, _ = cell.unroll(4, np.ones((20, 4, 3)), merge_outputs=True)
        again, _ = cell.unroll(4, np.ones((20, 4, 3)), merge_outputs=True)
    zeros = out.asnumpy() == 0
    assert 0.2 < zeros.mean() < 0.8
    assert (zeros == zeros[:, :1]).all()
    assert (zeros != (again.asnumpy() == 0)).any()


# ---- convolutional cells


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_convolutional_cells_of_one_pixel_are_cells(rng: Rng, n: int, kind: str) -> None:
    ones = (1,) * n
    cell = ready(getattr(rnn, f"Conv{n}D{kind}Cell")((3, *ones), 4, i2h_kernel=1, h2h_kernel=3))
    plain = CELLS[kind](4, input_size=3)
    plain.initialize()
    middle = (slice(None), slice(None), *ones)
    plain.i2h_weight.set_data(cell.i2h_weight.data().reshape(-1, 3))
    plain.h2h_weight.set_data(cell.h2h_weight.data()[middle])
    x, states = array(rng, 2, 3), [array(rng, 2, 4) for _ in plain.state_info()]
    found, _ = cell(x.reshape(2, 3, *ones), [s.reshape(2, 4, *ones) for s in states])
    close(found.reshape(2, 4), plain(x, states)[0], 1e-4)


def test_bad_convolutional_cells() -> None:
    with pytest.raises(ValueError, match="h2h_kernel=2 must be odd"):
        rnn.Conv1DRNNCell((3, 8), 4, 3, 2)
    with pytest.raises(ValueError, match=r"input_shape=\(3, 8, 8\) is not"):
        rnn.Conv1DRNNCell((3, 8, 8), 4, 3, 3)
    with pytest.raises(NotImplementedError, match="channels come first"):
        rnn.Conv1DRNNCell((3, 8), 4, 3, 3, conv_layout="NWC")


@pytest.mark.parametrize("kind", CELLS)
def test_convolutional_cells_are_called_with_what_fits(kind: str) -> None:
    name = f"Conv2D{kind}Cell"
    cell = ready(getattr(rnn, name)((3, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1))
    states = cell.begin_state(batch_size=2)
    with pytest.raises(ValueError, match=rf"{name}: expected inputs of shape \(batch, 3, 8, 8\), got \(2, 5, 8, 8\)"):
        cell(np.ones((2, 5, 8, 8)), states)
    with pytest.raises(ValueError, match=rf"{name}: expected states of shapes \[\(2, 4, 8, 8\).*, got \[\]"):
        cell(np.ones((2, 3, 8, 8)), [])
    with pytest.raises(
        ValueError, match=rf"{name}: expected states of shapes \[\(2, 4, 9, 9\).*, got \[\(2, 4, 8, 8\)"
    ):
        cell(np.ones((2, 3, 9, 9)), states)
    larger = [np.zeros((2, 4, 9, 9)) for _ in states]
    assert cell(np.ones((2, 3, 9, 9)), larger)[0].shape == (2, 4, 9, 9)


def test_every_name_of_mxnet() -> None:
    names = """BidirectionalCell DropoutCell GRU GRUCell HybridRecurrentCell HybridSequentialRNNCell LSTM LSTMCell
        LSTMPCell ModifierCell RNN RNNCell RecurrentCell ResidualCell SequentialRNNCell VariationalDropoutCell
        ZoneoutCell Conv1DGRUCell Conv2DLSTMCell Conv3DRNNCell"""
    assert set(names.split()) <= set(rnn.__all__)


def test_shapes_before_the_first_call() -> None:
    """MXNet's infer_shape(i, inputs, is_bidirect)."""
    x = np.ones((2, 5, 3))
    cell = rnn.LSTMCell(4)
    cell.infer_shape(0, x, False)
    assert cell.i2h_weight.shape == (16, 3)
    cell.infer_shape(0, x, False)
    higher = rnn.LSTMPCell(4, 2)
    higher.infer_shape(1, x, True)
    assert higher.i2h_weight.shape == (16, 4)  # from two cells like itself
    net = rnn.SequentialRNNCell()
    net.add(rnn.BidirectionalCell(rnn.GRUCell(4), rnn.GRUCell(6)))
    net.add(rnn.DropoutCell(0.5))
    net.add(rnn.ResidualCell(rnn.RNNCell(10)))
    net.infer_shape(0, x, False)
    net.initialize()
    assert {n: p.shape for n, p in net.collect_params(".*i2h_weight").items()} == {
        "0.l_cell.i2h_weight": (12, 3),
        "0.r_cell.i2h_weight": (18, 3),
        "2.base_cell.i2h_weight": (10, 10),
    }
    assert net.unroll(5, x, merge_outputs=True)[0].shape == (2, 5, 10)


def test_convolutional_cells_learn_their_channels() -> None:
    x = np.ones((2, 3, 5, 7))
    cell = rnn.Conv1DLSTMCell((-1, 7), 4, 3, 3)
    cell.infer_shape(0, x, False)
    assert cell.i2h_weight.shape == (16, 5, 3)
    late = rnn.Conv1DGRUCell((-1, 7), 4, 3, 3)
    late.initialize()
    assert late(x[:, 0], late.begin_state(2))[0].shape == (2, 4, 5)
    assert late.i2h_weight.shape == (12, 5, 3)
    assert "Conv1DGRUCell((5, 7)" in repr(late)
    higher = rnn.Conv1DRNNCell((-1, 7), 4, 3, 3)
    higher.infer_shape(1, x, True)
    assert higher.i2h_weight.shape == (4, 8, 3)


def test_own_cells_say_their_shapes() -> None:
    class Mine(rnn.HybridRecurrentCell):
        def __init__(self) -> None:
            super().__init__()
            self.w = gluon.Parameter("w", shape=(-1,), allow_deferred_init=True)

        def forward(self, inputs: Any, states: Any) -> Any:
            return inputs * self.w.data(), states

    cell = ready(Mine())
    with pytest.raises(RuntimeError, match="Mine: the shapes of w are not known"):
        cell(np.ones((2, 3)), [])


@pytest.mark.parametrize("layout", ["TNC", "NTC"])
def test_unroll_of_one_array(rng: Rng, layout: str) -> None:
    x, length = array(rng, 4, 4, 3), np.array([1, 4, 2, 3])
    cell = ready(rnn.LSTMCell(5))
    first = cell.begin_state(4)
    for given in (None, length):
        expected, states = cell.unroll(4, x, first, layout, True, given)
        found, last = rnn.dynamic_unroll(cell, x, first, layout=layout, valid_length=given)
        close(found, expected)
        close(last[1], states[1])
    with autograd.train_mode():
        dropped, _ = rnn.dynamic_unroll(cell, x, first, drop_inputs=0.5, drop_outputs=0.5)
    assert 0.2 < (dropped == 0).mean().item() < 0.8


def test_several_lengths_are_merged_unless_they_must_not_be(rng: Rng) -> None:
    x, length = array(rng, 2, 3, 4), np.array([1, 3])
    cells = [rnn.GRUCell(4), rnn.ResidualCell(rnn.GRUCell(4)), rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(2))]
    chain = rnn.SequentialRNNCell()
    chain.add(rnn.GRUCell(4))
    for cell in map(ready, [*cells, chain]):
        assert isinstance(cell.unroll(3, x)[0], list)
        assert cell.unroll(3, x, valid_length=length)[0].shape == (2, 3, 4)
        assert isinstance(cell.unroll(3, x, valid_length=length, merge_outputs=False)[0], list)
