"""The flat parameter of recurrent layers: where in it each weight and bias is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .. import _core
from .._core import ndarray

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


@dataclass(frozen=True)
class RNNLayout:
    """The order is MXNet's: for each layer and direction i2h_weight, h2h_weight (and h2r_weight with a projection).

    Then for each i2h_bias, h2h_bias.
    """

    mode: str
    layers: int
    inputs: int
    size: int
    directions: int = 1
    projection: int | None = None

    @property
    def places(self) -> list[str]:
        """Each layer and direction."""
        return [f"{d}{i}" for i in range(self.layers) for d in "lr"[: self.directions]]

    @property
    def kinds(self) -> tuple[str, ...]:
        """What each of them has."""
        weights = ("i2h_weight", "h2h_weight", *(["h2r_weight"] if self.projection else []))
        return (*weights, "i2h_bias", "h2h_bias")

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parts, in their order."""
        rows, out = GATES[self.mode] * self.size, self.projection or self.size
        weights: dict[str, tuple[int, ...]] = {}
        for place in self.places:
            inputs = self.inputs if place[1:] == "0" else out * self.directions
            weights |= {f"{place}_i2h_weight": (rows, inputs), f"{place}_h2h_weight": (rows, out)}
            if self.projection:
                weights[f"{place}_h2r_weight"] = (out, self.size)
        return weights | {f"{place}_{kind}": (rows,) for place in self.places for kind in ("i2h_bias", "h2h_bias")}

    @property
    def length(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())

    def of_length(self, length: int) -> RNNLayout | None:
        """The same for as many inputs as give a parameter of this length; None if no number of them does."""
        inputs, rest = divmod(length - replace(self, inputs=0).length, GATES[self.mode] * self.size * self.directions)
        return replace(self, inputs=inputs) if rest == 0 and inputs >= 0 else None

    def split(self, parameter: ndarray) -> dict[str, ndarray]:
        """The parts as views, by name, of a parameter that has the right length."""
        begin, found = 0, {}
        for name, shape in self.shapes.items():
            count = math.prod(shape)
            found[name] = _core.reshape(_core.slice(parameter, 0, begin, 1, count), shape)
            begin += count
        return found
