"""Cells that change what other cells do: dropout, zoneout, residual connections, both directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import np, npx
from ..._core import ndarray
from .cells import (
    HybridRecurrentCell,
    RecurrentCell,
    Steps,
    check_count,
    masked,
    merged,
    reversed_steps,
    split_steps,
)

__all__ = [
    "BidirectionalCell",
    "DropoutCell",
    "ModifierCell",
    "ResidualCell",
    "VariationalDropoutCell",
    "ZoneoutCell",
]


class DropoutCell(HybridRecurrentCell):
    """Drops elements of its input while training; it has no states.

    >>> from slipstream.gluon import rnn
    >>> rnn.DropoutCell(0.5)(np.ones((2, 3)), [])[0].shape
    (2, 3)
    """

    def __init__(self, rate: float, axes: Any = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"DropoutCell: rate={rate} is not in [0, 1)")
        self._rate = rate
        self._axes = (axes,) if isinstance(axes, int) else tuple(axes)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """No states."""
        return []

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        return (npx.dropout(inputs, p=self._rate, axes=self._axes) if self._rate > 0 else inputs), states

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"


class ModifierCell(HybridRecurrentCell):
    """The base of cells that change another: that one's parameters and states are theirs.

    >>> from slipstream import gluon
    >>> cell = gluon.rnn.ZoneoutCell(gluon.rnn.GRUCell(4))
    >>> isinstance(cell, ModifierCell), type(cell.base_cell).__name__
    (True, 'GRUCell')
    """

    def __init__(self, base_cell: RecurrentCell, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if base_cell._modified:
            raise ValueError(f"{type(self).__name__}: {base_cell!r} has a modifier already: modify that one")
        base_cell._modified = True
        self.base_cell = base_cell

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states of the cell below."""
        return self.base_cell.state_info(batch_size)

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any) -> list[Any]:
        """The first states of the cell below."""
        if self._modified:
            raise RuntimeError(f"{type(self).__name__}: a modifier cell has taken its place: call that one")
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(batch_size, func=func, **kwargs)
        finally:
            self.base_cell._modified = True

    def _take_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self.base_cell._take_shape(shape)

    def _unroll_below(self, *args: Any) -> Any:
        self.base_cell._modified = False
        try:
            return self.base_cell.unroll(*args)
        finally:
            self.base_cell._modified = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_cell!r})"


def _mask(p: float, like: ndarray) -> ndarray:
    """Not 0 where an element is kept: random while training, everywhere else."""
    return npx.dropout(np.ones_like(like), p=p)


class ZoneoutCell(ModifierCell):
    """While training, elements of outputs and states keep their last value with the given probabilities.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.ZoneoutCell(rnn.RNNCell(4), zoneout_states=0.5)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3)), cell.begin_state(batch_size=2))[0].shape
    (2, 4)
    """

    def __init__(
        self, base_cell: RecurrentCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0, **kwargs: Any
    ) -> None:
        if isinstance(base_cell, BidirectionalCell):
            raise ValueError("ZoneoutCell: put it around the cells of a BidirectionalCell, not around that one")
        super().__init__(base_cell, **kwargs)
        self._zoneout_outputs = zoneout_outputs
        self._zoneout_states = zoneout_states
        self._last: ndarray | None = None

    def reset(self) -> None:
        """Forgets the last output."""
        super().reset()
        self._last = None

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        out, after = self.base_cell(inputs, states)
        if self._zoneout_outputs > 0:
            last = np.zeros_like(out) if self._last is None else self._last
            out = np.where(_mask(self._zoneout_outputs, out) != 0, out, last)
        if self._zoneout_states > 0:
            after = [
                np.where(_mask(self._zoneout_states, new) != 0, new, old)
                for new, old in zip(after, states, strict=True)
            ]
        self._last = out
        return out, after


class ResidualCell(ModifierCell):
    """Adds the input to the output.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.ResidualCell(rnn.GRUCell(3))
    >>> cell.initialize()
    >>> cell(np.ones((2, 3)), cell.begin_state(batch_size=2))[0].shape
    (2, 3)
    """

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        out, after = self.base_cell(inputs, states)
        return out + inputs, after

    def unroll(
        self,
        length: int | None,
        inputs: ndarray | Sequence[ndarray],
        begin_state: list[ndarray] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: ndarray | None = None,
    ) -> tuple[Any, list[ndarray]]:
        """Unrolls the cell below and adds the inputs; see `RecurrentCell.unroll`."""
        self.reset()
        steps = split_steps(inputs, layout, length)
        outputs, states = self._unroll_below(length, steps, begin_state, layout, False, valid_length)
        added = steps if valid_length is None else masked(steps, valid_length)
        sums = [out + step for out, step in zip(outputs, added, strict=True)]
        return merged(sums, layout, merge_outputs, valid_length), states


class VariationalDropoutCell(ModifierCell):
    """Dropout whose choice is the same at every step of a sequence, for inputs, states and outputs.

    `reset()`, or a new `unroll`, chooses again.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.VariationalDropoutCell(rnn.RNNCell(4), drop_inputs=0.5)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3)), cell.begin_state(batch_size=2))[0].shape
    (2, 4)
    """

    def __init__(
        self,
        base_cell: RecurrentCell,
        drop_inputs: float = 0.0,
        drop_states: float = 0.0,
        drop_outputs: float = 0.0,
        **kwargs: Any,
    ) -> None:
        if drop_states and isinstance(base_cell, BidirectionalCell):
            raise ValueError("VariationalDropoutCell: a BidirectionalCell has no single steps; use its cells")
        super().__init__(base_cell, **kwargs)
        self._drops = {"inputs": drop_inputs, "states": drop_states, "outputs": drop_outputs}
        self._masks: dict[str, ndarray] = {}

    def reset(self) -> None:
        """Chooses again at the next step."""
        super().reset()
        self._masks = {}

    def _drop(self, kind: str, x: ndarray) -> ndarray:
        if self._drops[kind] == 0:
            return x
        if kind not in self._masks:
            self._masks[kind] = _mask(self._drops[kind], x)
        return x * self._masks[kind]

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step. Of the states, the first (the output of the step before) has dropout."""
        states = [*(self._drop("states", first) for first in states[:1]), *states[1:]]
        out, after = self.base_cell(self._drop("inputs", inputs), states)
        return self._drop("outputs", out), after

    def __repr__(self) -> str:
        rates = ", ".join(f"p_{kind} = {rate}" for kind, rate in self._drops.items())
        return f"{type(self).__name__}({rates}, {self.base_cell!r})"


class BidirectionalCell(HybridRecurrentCell):
    """Two cells that run through a sequence in both directions; only `unroll` makes sense of it.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.BidirectionalCell(rnn.LSTMCell(4), rnn.LSTMCell(4))
    >>> cell.initialize()
    >>> cell.unroll(3, np.ones((2, 3, 5)), merge_outputs=True)[0].shape
    (2, 3, 8)
    """

    def __init__(self, l_cell: RecurrentCell, r_cell: RecurrentCell, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.l_cell = l_cell
        self.r_cell = r_cell

    def _take_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        forth, back = self.l_cell._take_shape(shape), self.r_cell._take_shape(shape)
        return (*forth[:-1], forth[-1] + back[-1])

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states of both cells."""
        return [*self.l_cell.state_info(batch_size), *self.r_cell.state_info(batch_size)]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any) -> list[Any]:
        """The first states of both cells."""
        cells = (self.l_cell, self.r_cell)
        return [state for cell in cells for state in cell.begin_state(batch_size, func=func, **kwargs)]

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """A single step is not possible: the other direction begins at the end."""
        raise NotImplementedError("BidirectionalCell cannot be called step by step: use unroll")

    def unroll(
        self,
        length: int | None,
        inputs: ndarray | Sequence[ndarray],
        begin_state: list[ndarray] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: ndarray | None = None,
    ) -> tuple[Any, list[ndarray]]:
        """Unrolls both cells, one on the sequence from its end, and joins their outputs; see `RecurrentCell.unroll`."""
        self.reset()
        steps = split_steps(inputs, layout, length)
        states = self._states_for(steps, begin_state)
        check_count(self, states)
        count = len(self.l_cell.state_info())
        forth, after = self.l_cell.unroll(length, steps, states[:count], layout, False, valid_length)
        turned: Steps = reversed_steps(steps, valid_length)
        back, after_back = self.r_cell.unroll(length, turned, states[count:], layout, False, valid_length)
        back = reversed_steps(back, valid_length)
        joined = [np.concatenate([f, b], axis=-1) for f, b in zip(forth, back, strict=True)]
        return merged(joined, layout, merge_outputs, valid_length), [*after, *after_back]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(forward={self.l_cell!r}, backward={self.r_cell!r})"
