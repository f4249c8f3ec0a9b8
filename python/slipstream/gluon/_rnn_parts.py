"""The flat parameter of recurrent layers: where in it each weight and bias is."""

from __future__ import annotations

import math

from .._core import ndarray

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def part_shapes(
    mode: str,
    num_layers: int,
    input_size: int,
    hidden_size: int,
    directions: int = 1,
    projection_size: int | None = None,
) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the parts, in their order.

    It is MXNet's: for each layer and direction i2h_weight, h2h_weight (and h2r_weight with a projection); then for
    each i2h_bias, h2h_bias.
    """
    rows, out = GATES[mode] * hidden_size, projection_size or hidden_size
    places = [f"{d}{i}" for i in range(num_layers) for d in "lr"[:directions]]
    weights: dict[str, tuple[int, ...]] = {}
    for place in places:
        inputs = input_size if place[1:] == "0" else out * directions
        weights |= {f"{place}_i2h_weight": (rows, inputs), f"{place}_h2h_weight": (rows, out)}
        if projection_size:
            weights[f"{place}_h2r_weight"] = (out, hidden_size)
    return weights | {f"{place}_{kind}_bias": (rows,) for place in places for kind in ("i2h", "h2h")}


def split_rnn_params(
    param: ndarray,
    mode: str,
    num_layers: int,
    input_size: int,
    hidden_size: int,
    bidirectional: bool = False,
    projection_size: int | None = None,
) -> dict[str, ndarray]:
    """The weights and biases in the flat parameter of a recurrent layer (or in its gradient), by name, as views.

    >>> from slipstream.gluon import rnn, utils
    >>> layer = rnn.GRU(2, input_size=3)
    >>> layer.initialize()
    >>> utils.split_rnn_params(layer.rnn_param.data(), "gru", 1, 3, 2)["l0_i2h_weight"].shape
    (6, 3)
    """
    if mode not in GATES:
        raise ValueError(f"split_rnn_params: mode={mode!r} is none of {', '.join(GATES)}")
    shapes = part_shapes(mode, num_layers, input_size, hidden_size, 1 + bool(bidirectional), projection_size)
    length = sum(math.prod(shape) for shape in shapes.values())
    if param.shape != (length,):
        raise ValueError(f"split_rnn_params: the parameter has shape {param.shape}, but the parts need ({length},)")
    begin, found = 0, {}
    for name, shape in shapes.items():
        end = begin + math.prod(shape)
        found[name], begin = param[begin:end].reshape(shape), end
    return found
