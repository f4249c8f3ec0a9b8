"""Recurrent layers over whole sequences: RNN, LSTM, GRU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import initializer, np, npx
from ..._core import ndarray
from ...device import named
from ...npx._rnn_layout import RNNLayout
from .._sizes import whole
from ..block import HybridBlock
from ..parameter import Parameter

__all__ = ["GRU", "LSTM", "RNN"]


def make_states(infos: Sequence[dict[str, Any]], func: Callable[..., Any], options: dict[str, Any]) -> list[Any]:
    """First states: `func(shape, ...)` for each; `ctx` is MXNet 1's name of `device`."""
    device = named(options.pop("device", None), options.pop("ctx", None))
    if device is not None:
        options["device"] = device
    return [func(info["shape"], **{"dtype": info.get("dtype"), **options}) for info in infos]


def check_states(owner: Any, states: Sequence[Any], *allowed: Sequence[tuple[int, ...]]) -> None:
    """Raises unless the states have one of the allowed lists of shapes."""
    found = [getattr(state, "shape", state) for state in states]
    if found not in allowed:
        raise ValueError(f"{type(owner).__name__}: expected states of shapes {allowed[0]}, got {found}")


def check_width(owner: Any, inputs: ndarray, width: int, known: int) -> None:
    """Raises where the inputs have another number of features than the weights; those may not be known yet."""
    if known > 0 and width != known:
        name = type(owner).__name__
        raise ValueError(f"{name}: inputs of shape {inputs.shape} have {width} features, but its weights take {known}")


class _Recurrent(HybridBlock):
    """What the layers share. All weights are parts of one flat parameter, `rnn_param`; `parts()` names them."""

    _mode: str

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        layout: str,
        dropout: float,
        bidirectional: bool,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        mode: str,
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        use_sequence_length: bool = False,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        owner = type(self).__name__
        if layout not in ("TNC", "NTC"):
            raise ValueError(f"{owner}: layout={layout!r} is neither 'TNC' nor 'NTC'")
        self._hidden_size = hidden_size = whole(hidden_size, owner, "hidden_size")
        self._projection_size = projection_size
        self._num_layers = num_layers = whole(num_layers, owner, "num_layers")
        self._layout = layout
        self._dropout = dropout
        self._directions = 2 if bidirectional else 1
        self._input_size = input_size
        self._mode = mode
        self._clip: dict[str, Any] = {
            "lstm_state_clip_min": state_clip_min,
            "lstm_state_clip_max": state_clip_max,
            "lstm_state_clip_nan": state_clip_nan,
        }
        self._use_sequence_length = use_sequence_length
        self.rnn_param = Parameter(
            "rnn_param",
            shape=(self._packed(input_size).length if input_size else -1,),
            dtype=dtype,
            allow_deferred_init=True,
            init=initializer.RNNFused(
                mode,
                num_layers,
                hidden_size,
                bidirectional,
                projection_size,
                i2h_weight_initializer=i2h_weight_initializer,
                h2h_weight_initializer=h2h_weight_initializer,
                i2h_bias_initializer=i2h_bias_initializer,
                h2h_bias_initializer=h2h_bias_initializer,
                h2r_weight_initializer=h2r_weight_initializer,
            ),
        )

    # ---- the flat parameter

    def _packed(self, input_size: int) -> RNNLayout:
        sizes = (self._num_layers, input_size, self._hidden_size, self._directions, self._projection_size)
        return RNNLayout(self._mode, *sizes)

    def _width(self) -> int:
        """The number of input features, which the length of the parameter tells; not above 0 if it is not known."""
        shape = self.rnn_param.shape
        layout = self._packed(0).of_length(shape[0]) if shape else None
        return layout.inputs if layout else 0

    def parts(self, device: Any = None) -> dict[str, ndarray]:
        """The weights and biases by MXNet 1's names (`l0_i2h_weight`), as views of the flat parameter.

        >>> from slipstream.gluon import rnn
        >>> layer = rnn.GRU(2, input_size=3)
        >>> layer.initialize()
        >>> {name: part.shape for name, part in layer.parts().items()}["l0_i2h_weight"]
        (6, 3)
        """
        return self._packed(self._width()).split(self.rnn_param.data(device))

    def _converted(self, loaded: dict[str, ndarray], path: str) -> dict[str, ndarray]:
        """MXNet 1 stored the parts one by one."""
        first = loaded.get(f"{path}l0_i2h_weight")
        if first is None or first.ndim != 2:
            return loaded
        names = [path + name for name in self._packed(first.shape[1]).shapes]
        if any(name not in loaded for name in names):
            return loaded
        flat = np.concatenate([loaded[name].reshape((-1,)) for name in names])
        rest = {name: value for name, value in loaded.items() if name not in names}
        self.infer_shape_from(first.shape[1])
        return rest | {f"{path}rnn_param": flat}

    def infer_shape_from(self, input_size: int) -> None:
        """Sets the number of input features."""
        if self._input_size not in (0, input_size):
            raise ValueError(f"{type(self).__name__}: {input_size} input features, but input_size={self._input_size}")
        self._input_size = input_size
        self.rnn_param.shape = (self._packed(input_size).length,)

    def infer_shape(self, inputs: ndarray, *args: Any) -> None:
        """The number of input features is that of the first batch."""
        self._input_size = 0  # a first call that failed may have told another
        self.infer_shape_from(inputs.shape[2])

    # ---- states

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The shapes of the states: (layers * directions, batch, hidden)."""
        layers = self._num_layers * self._directions
        shapes = [(layers, batch_size, self._projection_size or self._hidden_size)]
        if self._mode == "lstm":
            shapes.append((layers, batch_size, self._hidden_size))
        return [{"shape": shape, "__layout__": "LNC", "dtype": self.rnn_param.dtype} for shape in shapes]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = np.zeros, **kwargs: Any) -> list[Any]:
        """The states before the first step: zeros, or what `func(shape, ...)` makes.

        >>> from slipstream.gluon import rnn
        >>> rnn.RNN(4).begin_state(batch_size=2)[0].shape
        (1, 2, 4)
        """
        return make_states(self.state_info(batch_size), func, kwargs)

    # ---- calls

    def __call__(self, inputs: ndarray, states: Any = None, sequence_length: ndarray | None = None) -> Any:
        return super().__call__(inputs, states, sequence_length)

    def forward(self, inputs: ndarray, states: Any = None, sequence_length: ndarray | None = None) -> Any:
        """The outputs of the last layer for every step; given states, also the states after the last step."""
        if inputs.ndim != 3:
            raise ValueError(f"{type(self).__name__}: inputs of layout {self._layout} have 3 axes, not {inputs.shape}")
        check_width(self, inputs, inputs.shape[2], self._width())
        time_first = inputs if self._layout == "TNC" else inputs.swapaxes(0, 1)
        batch = time_first.shape[1]
        given = states is not None
        if not given:
            states = self.begin_state(batch, device=inputs.device, dtype=inputs.dtype)
        states = [states] if isinstance(states, ndarray) else list(states)
        check_states(self, states, [info["shape"] for info in self.state_info(batch)])
        out, *after = npx.rnn(
            time_first,
            self.rnn_param.data(inputs.device),
            states[0],
            states[1] if self._mode == "lstm" else None,
            sequence_length=sequence_length,
            mode=self._mode,
            state_size=self._hidden_size,
            num_layers=self._num_layers,
            bidirectional=self._directions == 2,
            state_outputs=True,
            p=self._dropout,
            use_sequence_length=sequence_length is not None,
            projection_size=self._projection_size,
            **self._clip,
        )
        out = out if self._layout == "TNC" else out.swapaxes(0, 1)
        return (out, after) if given else out

    def __repr__(self) -> str:
        text = f"{self._input_size or None} -> {self._hidden_size}, {self._layout}"
        text += f", num_layers={self._num_layers}" if self._num_layers != 1 else ""
        text += f", dropout={self._dropout}" if self._dropout else ""
        text += ", bidirectional" if self._directions == 2 else ""
        return f"{type(self).__name__}({text})"


class RNN(_Recurrent):
    """Layers of `h = activation(W x + b + U h + c)`, over sequences of layout TNC (time, batch, features) or NTC.

    >>> from slipstream.gluon import rnn
    >>> layer = rnn.RNN(6)
    >>> layer.initialize()
    >>> out, state = layer(np.ones((5, 3, 4)), layer.begin_state(batch_size=3))
    >>> out.shape, state[0].shape
    ((5, 3, 6), (1, 3, 6))
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        **kwargs: Any,
    ) -> None:
        if activation not in ("relu", "tanh"):
            raise ValueError(f"RNN: activation={activation!r} is neither 'relu' nor 'tanh'")
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, f"rnn_{activation}", **kwargs,
        )  # fmt: skip


class LSTM(_Recurrent):
    """Layers of long short-term memory, over sequences of layout TNC (time, batch, features) or NTC.

    Gates are in the order input, forget, cell, output. The states are the outputs and the cells. With
    `projection_size` the outputs are a projection of that size. With `state_clip_min` and `state_clip_max` the cells
    stay within these; with `state_clip_nan` also where they are not numbers.

    >>> from slipstream.gluon import rnn
    >>> layer = rnn.LSTM(6, bidirectional=True)
    >>> layer.initialize()
    >>> out, (h, c) = layer(np.ones((5, 3, 4)), layer.begin_state(batch_size=3))
    >>> out.shape, h.shape, c.shape
    ((5, 3, 12), (2, 3, 6), (2, 3, 6))
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "lstm", projection_size,
            h2r_weight_initializer, state_clip_min, state_clip_max, state_clip_nan, **kwargs,
        )  # fmt: skip


class GRU(_Recurrent):
    """Layers of gated recurrent units, over sequences of layout TNC (time, batch, features) or NTC.

    Gates are in the order reset, update, new; the reset gate acts on `U h + c`.

    >>> from slipstream.gluon import rnn
    >>> layer = rnn.GRU(6, layout="NTC")
    >>> layer.initialize()
    >>> layer(np.ones((3, 5, 4))).shape
    (3, 5, 6)
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "gru", **kwargs,
        )  # fmt: skip
