"""Recurrent cells: one step of a recurrent network, and how they are chained and unrolled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ... import np, npx
from ..._core import ndarray
from ...npx._nn import _activation
from .._sizes import whole
from ..block import Block, HybridBlock
from ..parameter import Parameter
from .layers import check_states, check_width, make_states

__all__ = [
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "LSTMPCell",
    "RNNCell",
    "RecurrentCell",
    "SequentialRNNCell",
    "dynamic_unroll",
]

Steps = list[ndarray]


# ---- sequences as one array or as a list of steps


def time_axis(layout: str) -> int:
    """The place of T in NTC or TNC."""
    if layout not in ("NTC", "TNC"):
        raise ValueError(f"unroll: layout={layout!r} is neither 'NTC' nor 'TNC'")
    return layout.index("T")


def split_steps(inputs: ndarray | Sequence[ndarray], layout: str, length: int | None) -> Steps:
    """The steps of a sequence, each of shape (batch, ...)."""
    axis = time_axis(layout)
    if isinstance(inputs, ndarray):
        steps = [inputs[(slice(None),) * axis + (i,)] for i in range(inputs.shape[axis])]
    else:
        steps = list(inputs)
    if length is not None and length != len(steps):
        raise ValueError(f"unroll: length={length}, but the inputs have {len(steps)} steps")
    return steps


def masked(steps: Steps, valid_length: ndarray) -> Steps:
    """The steps with zeros after the end of each sequence."""
    return [np.where(_until(valid_length, i, step), step, 0.0) for i, step in enumerate(steps)]


def last_valid(states: list[list[ndarray]], valid_length: ndarray) -> list[ndarray]:
    """Of the states after every step, for each sequence the one after its last step."""
    found = states[0]
    for i, later in enumerate(states[1:], 1):
        found = [np.where(_until(valid_length, i, new), new, old) for new, old in zip(later, found, strict=True)]
    return found


def _until(valid_length: ndarray, step: int, like: ndarray) -> ndarray:
    """Which sequences still run at a step, to be broadcast against an array of (batch, ...)."""
    return (valid_length > step).reshape((-1,) + (1,) * (like.ndim - 1))


def reversed_steps(steps: Steps, valid_length: ndarray | None) -> Steps:
    """The steps from the last to the first; padding stays where it is."""
    if valid_length is None:
        return steps[::-1]
    turned = npx.sequence_reverse(np.stack(steps, axis=0), valid_length, use_sequence_length=True)
    return split_steps(turned, "TNC", None)


def merged(steps: Steps, layout: str, merge: bool | None, valid_length: ndarray | None) -> Any:
    """The steps as one array if wanted; as in MXNet, that is so for sequences of several lengths if nothing is said."""
    if merge is None:
        merge = valid_length is not None
    return np.stack(steps, axis=time_axis(layout)) if merge else steps


def dynamic_unroll(
    cell: RecurrentCell,
    inputs: ndarray,
    begin_state: list[ndarray],
    drop_inputs: float = 0.0,
    drop_outputs: float = 0.0,
    layout: str = "TNC",
    valid_length: ndarray | None = None,
) -> tuple[ndarray, list[ndarray]]:
    """Calls the cell for every step of a sequence that is one array, as `cell.unroll` does: the outputs are one too.

    `drop_inputs` and `drop_outputs` are the rates of dropout, which is another at every step.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.GRUCell(4)
    >>> cell.initialize()
    >>> out, states = rnn.dynamic_unroll(cell, np.ones((5, 2, 3)), cell.begin_state(batch_size=2))
    >>> out.shape, states[0].shape
    ((5, 2, 4), (2, 4))
    """
    steps = npx.dropout(inputs, p=drop_inputs) if drop_inputs else inputs
    out, states = cell.unroll(None, steps, begin_state, layout, True, valid_length)
    return npx.dropout(out, p=drop_outputs) if drop_outputs else out, states


# ---- the base


class RecurrentCell(Block):
    """One step of a recurrent network: `output, states = cell(inputs, states)`.

    >>> class Sum(RecurrentCell):
    ...     def forward(self, inputs, states):
    ...         return inputs + states[0], [inputs + states[0]]
    >>> Sum()(np.ones(2), [np.ones(2)])[0]
    array([2., 2.])
    """

    _modified = False  # a modifier has taken its place

    def infer_shape(self, i: Any, *args: Any) -> None:
        """Sets the shapes of the parameters, here and in the cells below, before the first call.

        `infer_shape(i, inputs, is_bidirect)`, as in MXNet: `i` is the cell's place in a stack of equal cells, of which
        only the first (0) gets `inputs`; `is_bidirect` says that those below it run in both directions.

        >>> from slipstream.gluon import rnn
        >>> cell = rnn.GRUCell(4)
        >>> cell.infer_shape(0, np.ones((2, 3)), False)
        >>> cell.i2h_weight.shape
        (12, 3)
        """
        if isinstance(i, ndarray):  # the arguments of the first call
            self._take_shape(i.shape)
        elif i == 0:
            self._take_shape(args[0].shape)
        else:
            batch, features, *sizes = self.state_info()[0]["shape"]
            self._take_shape((batch, features * (2 if args[1] else 1), *sizes))
        if isinstance(self, HybridBlock):
            HybridBlock.infer_shape(self)  # raises where a shape is still unknown

    def _take_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Sets the shapes of parameters from that of the inputs; gives that of the outputs."""
        return shape

    def reset(self) -> None:
        """Forgets what was kept from one step to the next, before another sequence."""
        for child in self._children.values():
            if isinstance(child, RecurrentCell):
                child.reset()

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The shapes of the states."""
        raise NotImplementedError(f"{type(self).__name__} has no state_info")

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any) -> list[Any]:
        """The states before the first step: zeros, or what `func(shape, ...)` makes.

        >>> from slipstream.gluon import rnn
        >>> [s.shape for s in rnn.LSTMCell(4).begin_state(batch_size=2)]
        [(2, 4), (2, 4)]
        """
        if self._modified:
            raise RuntimeError(
                f"{type(self).__name__}: a modifier cell has taken the cell's place: call that one's begin_state"
            )
        return make_states(self.state_info(batch_size), func, kwargs)

    def unroll(
        self,
        length: int | None,
        inputs: ndarray | Sequence[ndarray],
        begin_state: list[ndarray] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: ndarray | None = None,
    ) -> tuple[Any, list[ndarray]]:
        """Calls the cell for every step of a sequence: the outputs, and the states after the last step.

        `inputs` is an array of that layout, or a list of steps. With `merge_outputs` the outputs are one array, else
        a list. `valid_length`, of shape (batch,), is where each sequence ends: outputs after that are 0, and the
        states are those after the last valid step; the outputs are then one array unless `merge_outputs` is False.

        >>> from slipstream.gluon import rnn
        >>> cell = rnn.GRUCell(4)
        >>> cell.initialize()
        >>> out, states = cell.unroll(5, np.ones((2, 5, 3)), merge_outputs=True)
        >>> out.shape, states[0].shape
        ((2, 5, 4), (2, 4))
        """
        self.reset()
        steps = split_steps(inputs, layout, length)
        states = self._states_for(steps, begin_state)
        outputs, all_states = [], []
        for step in steps:
            out, states = self(step, states)
            outputs.append(out)
            if valid_length is not None:
                all_states.append(states)
        if valid_length is not None:
            states = last_valid(all_states, valid_length)
            outputs = masked(outputs, valid_length)
        return merged(outputs, layout, merge_outputs, valid_length), states

    def _states_for(self, steps: Steps, begin_state: list[ndarray] | None) -> list[ndarray]:
        if begin_state is not None:
            return begin_state
        first = steps[0]
        return self.begin_state(first.shape[0], device=first.device, dtype=first.dtype)

    def _get_activation(self, *args: Any, **_: Any) -> ndarray:
        """An activation, a name or a function, of an array: `(inputs, activation)`, behind MXNet 1's F."""
        inputs, activation = args[-2:]
        made: ndarray = activation_of(activation, self)(inputs)
        return made

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step: the output and the new states."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A recurrent cell that `hybridize()` can compile.

    >>> from slipstream import gluon
    >>> issubclass(gluon.rnn.LSTMCell, HybridRecurrentCell)
    True
    """


def check_count(cell: RecurrentCell, states: Sequence[ndarray]) -> None:
    """Raises where cells would not share out the states among them."""
    count = len(cell.state_info())
    if len(states) != count:
        found = [state.shape for state in states]
        raise ValueError(f"{type(cell).__name__}: expected {count} states, got {len(found)}, of shapes {found}")


def activation_of(given: Any, owner: Block) -> Any:
    """The function that an activation's name stands for, or one's own function or block."""
    if isinstance(given, str):
        return _activation(given)
    if not callable(given):
        raise TypeError(f"{type(owner).__name__}: activation {given!r} is neither a name nor a function of an array")
    return given


def checked_activation(given: Any, owner: Block) -> Any:
    """An activation as it is given, a name or a function; classes that derive may set another later."""
    activation_of(given, owner)
    return given


class _Gated(HybridRecurrentCell):
    """A cell with weights for its input and its state, `gates` rows of each."""

    _gates = 1

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        input_size: int,
        state_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._hidden_size = hidden_size = whole(hidden_size, type(self).__name__, "hidden_size")
        rows = self._gates * hidden_size
        self._input_size = input_size

        def parameter(name: str, shape: tuple[int, ...], init: Any) -> Parameter:
            return Parameter(name, shape=shape, init=init, allow_deferred_init=True)

        self.i2h_weight = parameter("i2h_weight", (rows, input_size or -1), i2h_weight_initializer)
        self.h2h_weight = parameter("h2h_weight", (rows, state_size or hidden_size), h2h_weight_initializer)
        self.i2h_bias = parameter("i2h_bias", (rows,), i2h_bias_initializer)
        self.h2h_bias = parameter("h2h_bias", (rows,), h2h_bias_initializer)

    def _take_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        self._input_size = shape[-1]
        self.i2h_weight.shape = (self._gates * self._hidden_size, shape[-1])
        return (*shape[:-1], self.state_info()[0]["shape"][-1])

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """One state: (batch, hidden)."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _linear(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, ndarray]:
        """Both linear parts, of the input and of the first state, once the arguments are checked."""
        check_width(self, inputs, math.prod(inputs.shape[1:]), (self.i2h_weight.shape or (0, 0))[1])
        batches = (inputs.shape[0], 1)  # one state may stand for the whole batch
        check_states(self, states, *([info["shape"] for info in self.state_info(batch)] for batch in batches))
        device, rows = inputs.device, self._gates * self._hidden_size
        of_input = npx.fully_connected(
            inputs, self.i2h_weight.data(device), self.i2h_bias.data(device), rows, no_bias=False
        )
        of_state = npx.fully_connected(
            states[0], self.h2h_weight.data(device), self.h2h_bias.data(device), rows, no_bias=False
        )
        return of_input, of_state

    def _split(self, x: ndarray) -> Steps:
        size = self._hidden_size
        return [x[:, i * size : (i + 1) * size] for i in range(self._gates)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._input_size or None} -> {self._gates * self._hidden_size})"


class RNNCell(_Gated):
    """`h = activation(W x + b + U h + c)`.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.RNNCell(4)
    >>> cell.initialize()
    >>> out, states = cell(np.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> out.shape
    (2, 4)
    """

    def __init__(
        self,
        hidden_size: int,
        activation: Any = "tanh",
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
            input_size, **kwargs,
        )  # fmt: skip
        self._activation = checked_activation(activation, self)

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        of_input, of_state = self._linear(inputs, states)
        out = self._get_activation(of_input + of_state, self._activation)
        return out, [out]


class LSTMCell(_Gated):
    """Long short-term memory: gates input, forget, cell, output; the states are the output and the cell.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.LSTMCell(4)
    >>> cell.initialize()
    >>> out, (h, c) = cell(np.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> out.shape, c.shape
    ((2, 4), (2, 4))
    """

    _gates = 4

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
            input_size, **kwargs,
        )  # fmt: skip
        self._activation = checked_activation(activation, self)
        self._recurrent_activation = checked_activation(recurrent_activation, self)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Two states: the output and the cell, each (batch, hidden)."""
        return super().state_info(batch_size) * 2

    def _step(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, ndarray]:
        """The output before any projection, and the cell."""
        of_input, of_state = self._linear(inputs, states)
        enter, forget, new, leave = self._split(of_input + of_state)
        activate, gate = activation_of(self._activation, self), activation_of(self._recurrent_activation, self)
        cell = gate(forget) * states[1] + gate(enter) * activate(new)
        return gate(leave) * activate(cell), cell

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        out, cell = self._step(inputs, states)
        return out, [out, cell]


class LSTMPCell(LSTMCell):
    """Long short-term memory whose output is a projection to `projection_size` features.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.LSTMPCell(4, 2)
    >>> cell.initialize()
    >>> out, (r, c) = cell(np.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> out.shape, c.shape
    ((2, 2), (2, 4))
    """

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        h2r_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
            input_size, state_size=projection_size, **kwargs,
        )  # fmt: skip
        self._projection_size = projection_size
        self.h2r_weight = Parameter(
            "h2r_weight", shape=(projection_size, hidden_size), init=h2r_weight_initializer, allow_deferred_init=True
        )

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Two states: the projected output and the cell."""
        sizes = (self._projection_size, self._hidden_size)
        return [{"shape": (batch_size, size), "__layout__": "NC"} for size in sizes]

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        out, cell = self._step(inputs, states)
        projected = npx.fully_connected(out, self.h2r_weight.data(inputs.device), None, self._projection_size)
        return projected, [projected, cell]


class GRUCell(_Gated):
    """A gated recurrent unit: gates reset, update, new; the reset gate acts on `U h + c`.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.GRUCell(4)
    >>> cell.initialize()
    >>> out, states = cell(np.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> out.shape
    (2, 4)
    """

    _gates = 3

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
            input_size, **kwargs,
        )  # fmt: skip
        self._activation = checked_activation(activation, self)
        self._recurrent_activation = checked_activation(recurrent_activation, self)

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        of_input, of_state = self._linear(inputs, states)
        (reset_i, update_i, new_i), (reset_h, update_h, new_h) = self._split(of_input), self._split(of_state)
        gate = activation_of(self._recurrent_activation, self)
        update = gate(update_i + update_h)
        new = self._get_activation(new_i + gate(reset_i + reset_h) * new_h, self._activation)
        out = (1 - update) * new + update * states[0]
        return out, [out]


# ---- chains


class _CellChain(RecurrentCell):
    """Cells one above the other; their states are one list."""

    def add(self, cell: RecurrentCell) -> None:
        """Adds a cell on top."""
        self.register_child(cell)

    def _cells(self) -> list[Any]:
        return list(self._children.values())

    def _take_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        for cell in self._cells():
            shape = cell._take_shape(shape)
        return shape

    def _with_states(self, states: list[ndarray]) -> Iterator[tuple[Any, list[ndarray]]]:
        check_count(self, states)
        begin = 0
        for cell in self._cells():
            end = begin + len(cell.state_info())
            yield cell, states[begin:end]
            begin = end

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The states of all cells."""
        return [info for cell in self._cells() for info in cell.state_info(batch_size)]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any) -> list[Any]:
        """The first states of all cells."""
        return [state for cell in self._cells() for state in cell.begin_state(batch_size, func=func, **kwargs)]

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step through all cells."""
        after: list[ndarray] = []
        for cell, own in self._with_states(states):
            inputs, own = cell(inputs, own)
            after.extend(own)
        return inputs, after

    def unroll(
        self,
        length: int | None,
        inputs: ndarray | Sequence[ndarray],
        begin_state: list[ndarray] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: ndarray | None = None,
    ) -> tuple[Any, list[ndarray]]:
        """Unrolls the cells one after the other; see `RecurrentCell.unroll`."""
        self.reset()
        steps: Any = split_steps(inputs, layout, length)
        states, after = self._states_for(steps, begin_state), []
        for cell, own in self._with_states(states):
            steps, own = cell.unroll(length, steps, own, layout, False, valid_length)
            after.extend(own)
        return merged(steps, layout, merge_outputs, valid_length), after

    def __len__(self) -> int:
        return len(self._children)

    def __getitem__(self, i: int) -> Any:
        return self._cells()[i]


class SequentialRNNCell(_CellChain):
    """Cells one above the other: the output of one is the input of the next.

    >>> from slipstream.gluon import rnn
    >>> net = rnn.SequentialRNNCell()
    >>> net.add(rnn.LSTMCell(4))
    >>> net.add(rnn.GRUCell(5))
    >>> net.initialize()
    >>> out, states = net.unroll(3, np.ones((2, 3, 6)), merge_outputs=True)
    >>> out.shape, len(states)
    ((2, 3, 5), 3)
    """


class HybridSequentialRNNCell(_CellChain, HybridRecurrentCell):
    """The same as `SequentialRNNCell`, of hybrid cells.

    >>> from slipstream.gluon import rnn
    >>> net = rnn.HybridSequentialRNNCell()
    >>> net.add(rnn.RNNCell(4))
    >>> len(net)
    1
    """
