"""Recurrent networks of several layers, step by step; the input of all steps is projected in one product."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import ndarray
from ..autograd import grad, is_recording, with_gradient
from ..np._arguments import as_array, public
from ..np._types import ArrayLike
from ._nn_norm import dropout
from ._rnn_layout import RNNLayout

# A cell makes the next state from the projected input, the projected state and the state (for LSTM, a pair of them).
Cell = Callable[[ndarray, ndarray, Any], Any]
Clip = Callable[[ndarray], ndarray]


def _relu_cell(x: ndarray, h: ndarray, state: Any) -> Any:
    return (_core.relu(x + h),)


def _tanh_cell(x: ndarray, h: ndarray, state: Any) -> Any:
    return (_core.tanh(x + h),)


def _gates(x: ndarray, count: int) -> list[ndarray]:
    size = x.shape[1] // count
    return [_core.slice(x, 1, i * size, 1, size) for i in range(count)]


def _gru_cell(x: ndarray, h: ndarray, state: Any) -> Any:
    xr, xz, xn = _gates(x, 3)
    hr, hz, hn = _gates(h, 3)
    reset, update = _core.sigmoid(xr + hr), _core.sigmoid(xz + hz)
    new = _core.tanh(xn + reset * hn)
    return (new + update * (state[0] - new),)


def _lstm_cell(x: ndarray, h: ndarray, state: Any) -> Any:
    entry, forget, new, leave = _gates(x + h, 4)
    cell = _core.sigmoid(forget) * state[1] + _core.sigmoid(entry) * _core.tanh(new)
    return (_core.sigmoid(leave) * _core.tanh(cell), cell)


_CELLS: dict[str, Cell] = {"rnn_relu": _relu_cell, "rnn_tanh": _tanh_cell, "gru": _gru_cell, "lstm": _lstm_cell}


class _Layer:
    """The parameters of one layer in one direction: views of the packed ones."""

    def __init__(self, weights: list[ndarray], biases: list[ndarray]) -> None:
        self.from_input, self.from_state = weights[:2]
        self.projection = weights[2] if len(weights) > 2 else None
        self.input_bias, self.state_bias = biases


def _unpack(parameters: ndarray, layout: RNNLayout) -> list[_Layer]:
    """All layers' parameters."""
    if parameters.shape != (layout.length,):
        raise ValueError(f"rnn: parameters have shape {parameters.shape}, but {layout.length} numbers are needed")
    parts = layout.split(parameters)
    layers = []
    for place in layout.places:
        own = [parts[f"{place}_{kind}"] for kind in layout.kinds]
        layers.append(_Layer(own[:-2], own[-2:]))
    return layers


def _steps(length: int, backwards: bool) -> Iterator[int]:
    return iter(range(length - 1, -1, -1) if backwards else range(length))


def _clip(low: float | None, high: float | None, nan: bool | None) -> Clip | None:
    """What keeps the cells of an LSTM within limits; `nan` says that what is no number becomes the lower one."""
    if low is None or high is None:
        if low is not high:
            raise ValueError(f"rnn: lstm_state_clip_min={low} and lstm_state_clip_max={high} belong together")
        return None
    if nan:
        return lambda cell: _core.fmin(_core.fmax(cell, low), high)
    return lambda cell: _core.clip(cell, low, high)


def _by_steps(
    projected: ndarray,
    layer: _Layer,
    cell: Cell,
    state: Any,
    backwards: bool,
    lengths: ndarray | None,
    clip: Clip | None,
) -> tuple[list[ndarray], list[Any]]:
    """Outputs and states after each step, in the order of the steps."""
    length = projected.shape[0]
    inside = cell is _gru_cell  # there the state's bias is part of what the reset gate multiplies
    turned = _core.transpose(layer.from_state, None)
    outputs: list[Any] = [None] * length
    states: list[Any] = [None] * length
    for t in _steps(length, backwards):
        h = _core.shared_product(state[0], turned)
        h = h + layer.state_bias if inside else h
        new = cell(_core.select(projected, 0, t), h, state)
        if clip is not None and len(new) == 2:
            new = (new[0], clip(new[1]))
        if layer.projection is not None:
            new = (_core.shared_product(new[0], _core.transpose(layer.projection, None)), *new[1:])
        outputs[t] = new[0]
        if lengths is not None:
            counts = _core.greater(lengths, t)
            outputs[t] = _core.where(counts, new[0], 0)
            new = tuple(_core.where(counts, n, old) for n, old in zip(new, state, strict=True))
        state = states[t] = new
    return outputs, states


def _at_once(projected: ndarray, layer: _Layer, state: Any, backwards: bool) -> list[ndarray]:
    """Outputs and cells after all steps of an LSTM, (steps, batch, size), by one call, whose gradient is another."""
    length, weight = projected.shape[0], layer.from_state
    inputs = [projected, weight, *state]
    followed = [_core.follows(x) for x in inputs]
    recorded = any(followed)
    plain, plain_weight, first_state, first_cell = (x.detach() for x in inputs)
    states, cells, *gates = _core.lstm(plain, plain_weight, first_state, first_cell, backwards, recorded)
    before, after = (1, 0) if backwards else (0, 1)
    made = [_core.slice(kept, 0, after, 1, length) for kept in (states, cells)]
    if not recorded:
        return made
    kept = [(x, x._version) for x in (*inputs, states, cells, *gates)]

    def backward(of_outputs: ndarray, of_cells: ndarray) -> list[ndarray | None]:
        for x, version in kept:
            _core.check_unwritten(x, version)
        if is_recording():  # to be differentiated again
            outputs, after_steps = _by_steps(projected, layer, _lstm_cell, state, backwards, None, None)
            again = [_core.stack(outputs, 0), _core.stack([step[1] for step in after_steps], 0)]
            asked = [x for x, follows in zip(inputs, followed, strict=True) if follows]
            found = iter(grad(again, asked, [of_outputs, of_cells], create_graph=True))
            return [next(found) if follows else None for follows in followed]
        slopes, *of_state = _core.lstm_gradient(gates[0], cells, weight, of_outputs, of_cells, backwards)
        rows, wide, size = length * slopes.shape[1], slopes.shape[2], states.shape[2]
        read = _core.reshape(_core.slice(states, 0, before, 1, length), (rows, size))
        of_weight = _core.matmul(_core.transpose(_core.reshape(slopes, (rows, wide)), None), read)
        return [slopes, of_weight, *of_state]

    noted: list[ndarray] = with_gradient(made, inputs, backward, name="lstm")
    return noted


def _run_layer(
    x: ndarray, layer: _Layer, cell: Cell, state: Any, backwards: bool, lengths: ndarray | None, clip: Clip | None
) -> tuple[ndarray, Any]:
    """Outputs of all steps and the last state."""
    length, batch, width = x.shape
    flat = _core.reshape(x, (length * batch, width))
    bias = layer.input_bias if cell is _gru_cell else layer.input_bias + layer.state_bias
    projected = _core.matmul(flat, _core.transpose(layer.from_input, None)) + bias
    projected = _core.reshape(projected, (length, batch, projected.shape[1]))
    last = 0 if backwards else length - 1
    plain = cell is _lstm_cell and layer.projection is None and lengths is None and clip is None
    if plain and _core.lstm_pays(projected, layer.from_state, *state):
        made = _at_once(projected, layer, state, backwards)
        return made[0], tuple(_core.select(part, 0, last) for part in made)
    outputs, states = _by_steps(projected, layer, cell, state, backwards, lengths, clip)
    return _core.stack(outputs, 0), states[last]


def rnn(
    data: ArrayLike = None,
    parameters: ArrayLike = None,
    state: ArrayLike = None,
    state_cell: ArrayLike = None,
    sequence_length: ArrayLike = None,
    mode: str | None = None,
    state_size: int | None = None,
    num_layers: int | None = None,
    bidirectional: bool = False,
    state_outputs: bool = False,
    p: float = 0.0,
    use_sequence_length: bool = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool | None = None,
    **_: Any,
) -> Any:
    """A recurrent network: `mode` is `rnn_relu`, `rnn_tanh`, `gru` or `lstm`.

    `data` is (length, batch, inputs); `state`, and for LSTM `state_cell`, (layers * directions, batch, state_size). All
    parameters come packed in one vector: for each layer and direction the weights from input and from state (and the
    projection), then in the same order their biases; gates lie in the order input, forget, cell, output, or reset,
    update, new. `p` is the dropout between layers while training. Gives the outputs of the last layer, (length, batch,
    directions * state_size), and with `state_outputs` the last states. With `use_sequence_length`, steps behind a
    sample's length give 0 and leave its state as it is.

    >>> parameters = np.zeros(4 * 2 * 3 + 4 * 2 * 2 + 2 * 4 * 2)
    >>> npx.rnn(np.ones((5, 1, 3)), parameters, np.zeros((1, 1, 2)), np.zeros((1, 1, 2)),
    ...         mode="lstm", state_size=2, num_layers=1).shape
    (5, 1, 2)
    """
    if mode not in _CELLS:
        raise ValueError(f"rnn: mode {mode!r} is none of {', '.join(map(repr, _CELLS))}")
    if not state_size or not num_layers:
        raise ValueError("rnn: state_size and num_layers are needed")
    x = as_array(data)
    if x.ndim != 3:
        raise ValueError(f"rnn: data of shape {x.shape} must be (length, batch, inputs)")
    cell = _CELLS[mode]
    directions = 2 if bidirectional else 1
    packed = as_array(parameters, x.device)
    layers = _unpack(packed, RNNLayout(mode, num_layers, x.shape[2], state_size, directions, projection_size))
    states = [as_array(state, x.device)]
    if mode == "lstm":
        if state_cell is None:
            raise ValueError("rnn: mode 'lstm' needs state_cell")
        states.append(as_array(state_cell, x.device))
    sizes = (projection_size or state_size, state_size)
    for given, size, name in zip(states, sizes, ("state", "state_cell"), strict=False):
        if given.shape != (len(layers), x.shape[1], size):
            raise ValueError(f"rnn: {name} has shape {given.shape}, not {(len(layers), x.shape[1], size)}")
    lengths = None
    if use_sequence_length:
        lengths = _core.reshape(as_array(sequence_length, x.device), (-1, 1))
    clip = _clip(lstm_state_clip_min, lstm_state_clip_max, lstm_state_clip_nan)

    last: list[Any] = []
    for i in range(num_layers):
        if i > 0 and p > 0:
            x = dropout(x, p)
        sides = []
        for side in range(directions):
            number = i * directions + side
            first = tuple(_core.select(s, 0, number) for s in states)
            outputs, end = _run_layer(x, layers[number], cell, first, side == 1, lengths, clip)
            sides.append(outputs)
            last.append(end)
        x = sides[0] if directions == 1 else _core.concatenate(sides, 2)
    if mode == "lstm" and directions == 1 and _core.follows(x):
        x = _core.copy(x)  # the program may write into it; of the steps themselves the gradient is made
    if not state_outputs:
        return x
    return [x, *(_core.stack([end[i] for end in last], 0) for i in range(len(states)))]


if not TYPE_CHECKING:
    __all__ = public(globals())
