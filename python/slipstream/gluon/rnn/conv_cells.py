"""Recurrent cells whose weights are convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import npx
from ..._core import ndarray
from .._sizes import Sizes, sizes, spatial_layout
from ..parameter import Parameter
from .cells import HybridRecurrentCell, activation_of, checked_activation
from .layers import check_states

__all__ = [
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
]


class _ConvCell(HybridRecurrentCell):
    """A cell on (batch, channels, ...) with convolutions of its input and its state.

    `input_shape` is that of one example, (channels, ...); -1 channels are what the first batch has. The convolution of
    the state keeps its size, so the sizes of `h2h_kernel` are odd.
    """

    _gates = 1
    _ndim = 1

    def __init__(
        self,
        input_shape: tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Sizes,
        h2h_kernel: Sizes,
        i2h_pad: Sizes = 0,
        i2h_dilate: Sizes = 1,
        h2h_dilate: Sizes = 1,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str | None = None,
        activation: Any = "tanh",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        n, owner = self._ndim, type(self).__name__
        layout = conv_layout or {1: "NCW", 2: "NCHW", 3: "NCDHW"}[n]
        if spatial_layout(layout, n, owner)[1] != "C":
            raise NotImplementedError(f"{owner}: conv_layout={layout!r}: channels come first here")
        if len(input_shape) != n + 1:
            raise ValueError(f"{owner}: input_shape={input_shape} is not (channels and {n} spatial sizes)")
        self._kernel = sizes(i2h_kernel, n, owner, "i2h_kernel")
        self._state_kernel = sizes(h2h_kernel, n, owner, "h2h_kernel")
        if any(k % 2 == 0 for k in self._state_kernel):
            raise ValueError(f"{owner}: h2h_kernel={h2h_kernel} must be odd, so that the state keeps its size")
        self._pad = sizes(i2h_pad, n, owner, "i2h_pad", 0)
        self._dilate = sizes(i2h_dilate, n, owner, "i2h_dilate")
        self._state_dilate = sizes(h2h_dilate, n, owner, "h2h_dilate")
        self._layout = layout
        self._input_shape = input_shape
        self._channels = hidden_channels
        self._activation = checked_activation(activation, self)
        rows = self._gates * hidden_channels

        def parameter(name: str, shape: tuple[int, ...], init: Any) -> Parameter:
            return Parameter(name, shape=shape, init=init, allow_deferred_init=True)

        self.i2h_weight = parameter("i2h_weight", (rows, input_shape[0], *self._kernel), i2h_weight_initializer)
        self.h2h_weight = parameter("h2h_weight", (rows, hidden_channels, *self._state_kernel), h2h_weight_initializer)
        self.i2h_bias = parameter("i2h_bias", (rows,), i2h_bias_initializer)
        self.h2h_bias = parameter("h2h_bias", (rows,), h2h_bias_initializer)

    def _take_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        channels, *sizes = shape[-self._ndim - 1 :]
        self.i2h_weight.shape = (self._gates * self._channels, channels, *self._kernel)
        self._input_shape = (channels, *self._input_shape[1:])
        return (*shape[: -self._ndim - 1], *self._state_shape(sizes))

    def _state_shape(self, sizes: Sequence[int] | None = None) -> tuple[int, ...]:
        """The shape of a state of one example, for inputs of other spatial sizes too."""
        space = [
            size + 2 * pad - dilate * (kernel - 1)
            for size, pad, dilate, kernel in zip(
                sizes or self._input_shape[1:], self._pad, self._dilate, self._kernel, strict=True
            )
        ]
        return (self._channels, *space)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """One state: (batch, channels, ...)."""
        return [{"shape": (batch_size, *self._state_shape()), "__layout__": self._layout}]

    def _check(self, inputs: ndarray, states: list[ndarray]) -> None:
        if inputs.ndim != self._ndim + 2 or inputs.shape[1] != self._input_shape[0]:
            expected = ", ".join(["batch", *map(str, self._input_shape)])
            raise ValueError(f"{type(self).__name__}: expected inputs of shape ({expected}), got {inputs.shape}")
        shape, count = self._state_shape(inputs.shape[2:]), len(self.state_info())
        check_states(self, states, *([(batch, *shape)] * count for batch in (inputs.shape[0], 1)))

    def _gate_parts(self, inputs: ndarray, states: list[ndarray]) -> tuple[list[ndarray], list[ndarray]]:
        """The convolutions of the input and of the first state, each split into gates."""
        self._check(inputs, states)
        device, rows = inputs.device, self._gates * self._channels
        of_input = npx.convolution(
            inputs,
            self.i2h_weight.data(device),
            self.i2h_bias.data(device),
            kernel=self._kernel,
            stride=(1,) * self._ndim,
            dilate=self._dilate,
            pad=self._pad,
            num_filter=rows,
            layout=self._layout,
        )
        of_state = npx.convolution(
            states[0],
            self.h2h_weight.data(device),
            self.h2h_bias.data(device),
            kernel=self._state_kernel,
            stride=(1,) * self._ndim,
            dilate=self._state_dilate,
            pad=tuple(d * (k - 1) // 2 for d, k in zip(self._state_dilate, self._state_kernel, strict=True)),
            num_filter=rows,
            layout=self._layout,
        )
        return self._split(of_input), self._split(of_state)

    def _split(self, x: ndarray) -> list[ndarray]:
        return [x[:, i * self._channels : (i + 1) * self._channels] for i in range(self._gates)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._input_shape} -> {self._state_shape()}, {self._layout})"


class _ConvRNNCell(_ConvCell):
    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        (of_input,), (of_state,) = self._gate_parts(inputs, states)
        out = self._get_activation(of_input + of_state, self._activation)
        return out, [out]


class _ConvLSTMCell(_ConvCell):
    _gates = 4

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Two states: the output and the cell."""
        return super().state_info(batch_size) * 2

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        of_input, of_state = self._gate_parts(inputs, states)
        enter, forget, new, leave = (a + b for a, b in zip(of_input, of_state, strict=True))
        activate = activation_of(self._activation, self)
        cell = npx.sigmoid(forget) * states[1] + npx.sigmoid(enter) * activate(new)
        out = npx.sigmoid(leave) * activate(cell)
        return out, [out, cell]


class _ConvGRUCell(_ConvCell):
    _gates = 3

    def forward(self, inputs: ndarray, states: list[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """One step."""
        (reset_i, update_i, new_i), (reset_h, update_h, new_h) = self._gate_parts(inputs, states)
        update = npx.sigmoid(update_i + update_h)
        new = self._get_activation(new_i + npx.sigmoid(reset_i + reset_h) * new_h, self._activation)
        out = (1 - update) * new + update * states[0]
        return out, [out]


class Conv1DRNNCell(_ConvRNNCell):
    """A cell with convolutions along one axis.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv1DRNNCell((3, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8)
    """

    _ndim = 1


class Conv1DLSTMCell(_ConvLSTMCell):
    """Long short-term memory with convolutions along one axis.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv1DLSTMCell((3, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8)
    """

    _ndim = 1


class Conv1DGRUCell(_ConvGRUCell):
    """A gated recurrent unit with convolutions along one axis.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv1DGRUCell((3, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8)
    """

    _ndim = 1


class Conv2DRNNCell(_ConvRNNCell):
    """A cell with convolutions along two axes.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv2DRNNCell((3, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8, 8)
    """

    _ndim = 2


class Conv2DLSTMCell(_ConvLSTMCell):
    """Long short-term memory with convolutions along two axes.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv2DLSTMCell((3, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8, 8)
    """

    _ndim = 2


class Conv2DGRUCell(_ConvGRUCell):
    """A gated recurrent unit with convolutions along two axes.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv2DGRUCell((3, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8, 8)
    """

    _ndim = 2


class Conv3DRNNCell(_ConvRNNCell):
    """A cell with convolutions along three axes.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv3DRNNCell((3, 8, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8, 8, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8, 8, 8)
    """

    _ndim = 3


class Conv3DLSTMCell(_ConvLSTMCell):
    """Long short-term memory with convolutions along three axes.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv3DLSTMCell((3, 8, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8, 8, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8, 8, 8)
    """

    _ndim = 3


class Conv3DGRUCell(_ConvGRUCell):
    """A gated recurrent unit with convolutions along three axes.

    >>> from slipstream.gluon import rnn
    >>> cell = rnn.Conv3DGRUCell((3, 8, 8, 8), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> cell(np.ones((2, 3, 8, 8, 8)), cell.begin_state(batch_size=2))[0].shape
    (2, 4, 8, 8, 8)
    """

    _ndim = 3
