"""What parameters are before training. An initializer fills an array in place; nothing waits.

>>> from slipstream import init, np
>>> w = np.empty((4, 3))
>>> init.Xavier()(init.InitDesc("dense0_weight"), w)
>>> bool((abs(w) <= (3 / 3.5) ** 0.5).all())
True
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from . import np, npx
from ._core import ndarray
from ._registry import Registry
from .npx._rnn_layout import GATES, RNNLayout

__all__ = [
    *["Bilinear", "Constant", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed", "Normal", "One"],
    *["Orthogonal", "RNNFused", "Uniform", "Xavier", "Zero", "alias", "create", "register"],
]


class InitDesc(str):
    """The name of a parameter, with what else is known of it: `attrs` (`__init__`: its own initializer; `__names__`:
    its other names).

    >>> InitDesc("dense0_weight").attrs
    {}
    """

    attrs: dict[str, Any]
    global_init: Any

    def __new__(cls, name: str, attrs: dict[str, Any] | None = None, global_init: Any = None) -> InitDesc:
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        made.global_init = global_init
        return made


class Initializer:
    """The base of all initializers: subclasses say in `_init_weight(name, arr)` how weights begin.

    >>> class Half(Initializer):
    ...     def _init_weight(self, name, arr):
    ...         arr[:] = 0.5
    >>> w = np.empty(2)
    >>> Half()("weight", w)
    >>> w
    array([0.5, 0.5])
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._report: Callable[[ndarray], str] | None = None

    def set_verbosity(self, verbose: bool = False, print_func: Callable[[ndarray], str] | None = None) -> Initializer:
        """Whether each array is logged once it is filled, with what `print_func` says of it (its root mean square)."""

        def magnitude(x: ndarray) -> str:
            return str(np.sqrt(np.mean(x * x)).item())

        self._report = (print_func or magnitude) if verbose else None
        return self

    def dumps(self) -> str:
        """The initializer as text that `create` understands.

        >>> Normal(0.5).dumps()
        '["normal", {"sigma": 0.5}]'
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc: str, arr: ndarray) -> None:
        """Fills `arr` as the parameter's own initializer says, or else by the end of its name."""
        own = getattr(desc, "attrs", {}).get("__init__", "")
        if isinstance(desc, InitDesc) and desc.global_init is None:
            desc.global_init = self
        if own:
            create(own)._init_weight(desc, arr)
        else:
            for end, fill in _BY_NAME.items():
                if desc.endswith(end):
                    getattr(self, fill)(desc, arr)
                    break
            else:
                self._init_default(desc, arr)
        if self._report:
            logging.info("Initialized %s as %s: %s", desc, own or type(self).__name__, self._report(arr))

    def _init_zero(self, _: str, arr: ndarray) -> None:
        arr[...] = 0

    def _init_one(self, _: str, arr: ndarray) -> None:
        arr[...] = 1

    def _init_bias(self, name: str, arr: ndarray) -> None:
        arr[...] = 0

    _init_beta = _init_zero
    _init_gamma = _init_one

    def _init_weight(self, name: str, arr: ndarray) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say how weights begin: define _init_weight")

    def _init_default(self, name: str, arr: ndarray) -> None:
        raise ValueError(
            f"{type(self).__name__}: the name {str(name)!r} ends with none of {', '.join(_BY_NAME)}; "
            "give this parameter an initializer of its own"
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._kwargs == other._kwargs

    def __hash__(self) -> int:
        return hash(self.dumps())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._kwargs.items())})"


# The end of a parameter's name, and the method that fills it.
_BY_NAME = {
    "weight": "_init_weight",
    "bias": "_init_bias",
    "gamma": "_init_gamma",
    "beta": "_init_beta",
    "moving_inv_var": "_init_zero",
    "mean": "_init_zero",
    "var": "_init_one",
    "moving_avg": "_init_zero",
    "min": "_init_zero",
    "max": "_init_one",
}

_registry: Registry[Initializer] = Registry(Initializer, "initializer")
alias = _registry.alias


def register(klass: Any) -> Any:
    """Lets an initializer be created by its name.

    >>> @register
    ... class Seven(Initializer):
    ...     def _init_weight(self, name, arr):
    ...         arr[:] = 7
    >>> type(create("seven")).__name__
    'Seven'
    """
    return _registry.register(klass)


def create(initializer: Any, *args: Any, **kwargs: Any) -> Initializer:
    """An initializer by its name; one that is made already is given back.

    >>> create("xavier", magnitude=2)
    Xavier(rnd_type='uniform', factor_type='avg', magnitude=2)
    """
    if isinstance(initializer, (Load, Mixed)):
        return initializer  # type: ignore[return-value]
    return _registry.create(initializer, *args, **kwargs)


def _draw(draw: Callable[..., ndarray], a: float, b: float, arr: ndarray) -> ndarray:
    """Random numbers in the shape and place of an array; 16 bits are drawn as 32 and rounded."""
    wide = arr.dtype if arr.dtype in (numpy.float32, numpy.float64) else numpy.dtype("float32")
    return draw(a, b, size=arr.shape, dtype=wide, device=arr.device)


@register
@alias("zeros")
class Zero(Initializer):
    """All zero.

    >>> create("zeros")
    Zero()
    """

    def _init_weight(self, name: str, arr: ndarray) -> None:
        arr[...] = 0


@register
@alias("ones")
class One(Initializer):
    """All one.

    >>> create("ones")
    One()
    """

    def _init_weight(self, name: str, arr: ndarray) -> None:
        arr[...] = 1


@register
class Constant(Initializer):
    """A number, or an array that is copied.

    >>> w = np.empty(2)
    >>> Constant([1, 2])("weight", w)
    >>> w
    array([1., 2.])
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: ndarray) -> None:
        arr[...] = self.value if isinstance(self.value, (int, float)) else np.asarray(self.value, device=arr.device)

    def dumps(self) -> str:
        """The initializer as text that `create` understands."""
        value = self.value if isinstance(self.value, (int, float)) else np.asarray(self.value).tolist()
        return json.dumps(["constant", {"value": value}])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and numpy.array_equal(numpy.asarray(self.value), numpy.asarray(other.value))

    __hash__ = Initializer.__hash__


@register
class Uniform(Initializer):
    """Even numbers between `-scale` and `scale`.

    >>> create("uniform")
    Uniform(scale=0.07)
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: ndarray) -> None:
        arr[...] = _draw(np.random.uniform, -self.scale, self.scale, arr)


@register
class Normal(Initializer):
    """Normal numbers with mean 0 and standard deviation `sigma`.

    >>> create("normal", sigma=0.1)
    Normal(sigma=0.1)
    """

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: ndarray) -> None:
        arr[...] = _draw(np.random.normal, 0.0, self.sigma, arr)


@register
class Orthogonal(Initializer):
    """A matrix whose rows or columns are orthogonal, times `scale` (Saxe and others, 2014).

    >>> w = np.empty((2, 3))
    >>> Orthogonal(scale=1)("weight", w)
    >>> bool(np.allclose(w @ w.T, np.eye(2), atol=1e-5))
    True
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        if rand_type not in ("uniform", "normal"):
            raise ValueError(f"Orthogonal: rand_type {rand_type!r} is neither 'uniform' nor 'normal'")
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: ndarray) -> None:
        if arr.ndim < 2:
            raise ValueError(f"Orthogonal: {str(name)!r} has shape {arr.shape}; two dimensions are needed")
        start = np.empty((arr.shape[0], math.prod(arr.shape[1:])), dtype=numpy.float64, device=arr.device)
        draw = np.random.uniform if self.rand_type == "uniform" else np.random.normal
        start = _draw(draw, -1.0 if self.rand_type == "uniform" else 0.0, 1.0, start)

        def orthogonal(a: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
            u, _, v = numpy.linalg.svd(a, full_matrices=False)
            return (u if u.shape == a.shape else v) * self.scale

        made = npx.host_call(orthogonal, [start], start.shape, numpy.float64)
        arr[...] = made.reshape(arr.shape)


@register
class Xavier(Initializer):
    """Random numbers whose size keeps the scale of what flows through a layer (Glorot and Bengio, 2010).

    `factor_type` says which number of neighbours counts: `"in"`, `"out"` or their mean, `"avg"`.

    >>> create("xavier")
    Xavier(rnd_type='uniform', factor_type='avg', magnitude=3)
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        if rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f"{type(self).__name__}: rnd_type {rnd_type!r} is neither 'uniform' nor 'gaussian'")
        if factor_type not in ("avg", "in", "out"):
            raise ValueError(f"{type(self).__name__}: factor_type {factor_type!r} is none of 'avg', 'in', 'out'")
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: ndarray) -> None:
        if arr.ndim < 2:
            raise ValueError(f"{type(self).__name__}: {str(name)!r} has shape {arr.shape}; two dimensions are needed")
        window = math.prod(arr.shape[2:])
        fan_in, fan_out = arr.shape[1] * window, arr.shape[0] * window
        factor = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}[self.factor_type]
        scale = math.sqrt(self.magnitude / factor)
        if self.rnd_type == "uniform":
            arr[...] = _draw(np.random.uniform, -scale, scale, arr)
        else:
            arr[...] = _draw(np.random.normal, 0.0, scale, arr)


@register
class MSRAPrelu(Xavier):
    """Xavier's normal numbers for layers followed by relu with a slope for negative numbers (He and others, 2015).

    >>> create("msraprelu")
    MSRAPrelu(factor_type='avg', slope=0.25)
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """The weights of a transposed convolution that enlarges images by linear interpolation.

    >>> w = np.empty((1, 1, 4, 4))
    >>> Bilinear()("weight", w)
    >>> w[0, 0, 1]
    array([0.1875, 0.5625, 0.5625, 0.1875])
    """

    def _init_weight(self, name: str, arr: ndarray) -> None:
        if arr.ndim != 4:
            raise ValueError(f"Bilinear: {str(name)!r} has shape {arr.shape}; four dimensions are needed")
        # MXNet takes the step of both directions from the width.
        half = math.ceil(arr.shape[3] / 2)
        centre = (2 * half - 1 - half % 2) / (2 * half)
        across = 1 - abs(numpy.arange(arr.shape[3]) / half - centre)
        down = 1 - abs(numpy.arange(arr.shape[2]) / half - centre)
        arr[...] = np.array(numpy.outer(down, across), dtype=arr.dtype, device=arr.device)


@register
class LSTMBias(Initializer):
    """0, except for the forget gate of an LSTM, which starts open.

    >>> b = np.empty(4)
    >>> LSTMBias(1.0)("bias", b)
    >>> b
    array([0., 1., 0., 0.])
    """

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: ndarray) -> None:
        if arr.ndim < 1 or arr.shape[0] % 4:
            raise ValueError(f"LSTMBias: {str(name)!r} has shape {arr.shape}; an LSTM's bias has four equal parts")
        hidden = arr.shape[0] // 4
        arr[...] = 0
        arr[hidden : 2 * hidden] = self.forget_bias

    def _init_bias(self, name: str, arr: ndarray) -> None:
        self._init_weight(name, arr)


@register
class RNNFused(Initializer):
    """The flat parameter of `npx.rnn`: all weights, then all biases, each part by an initializer of its own.

    >>> w = np.empty(1 * 2 * (3 + 2) + 2 * 2)
    >>> RNNFused("rnn_tanh", 1, 2, i2h_weight_initializer="one", h2h_weight_initializer="zero")("weight", w)
    >>> w.sum()
    array(6.)
    """

    def __init__(
        self,
        mode: str,
        num_layers: int,
        state_size: int,
        bidirectional: bool = False,
        projection_size: int | None = None,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = None,
        h2h_bias_initializer: Any = None,
        h2r_weight_initializer: Any = None,
    ) -> None:
        if mode not in GATES:
            raise ValueError(f"RNNFused: mode {mode!r} is none of {', '.join(map(repr, GATES))}")
        super().__init__(
            mode=mode,
            num_layers=num_layers,
            state_size=state_size,
            bidirectional=bidirectional,
            projection_size=projection_size,
        )
        self._layout = RNNLayout(mode, num_layers, 0, state_size, 2 if bidirectional else 1, projection_size)
        self._of_part = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "h2r_weight": h2r_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }

    def set_initializer(self, init: Any) -> None:
        """The initializer of every part that has none yet."""
        self._of_part = {part: own or init for part, own in self._of_part.items()}

    def _init_weight(self, name: str, arr: ndarray) -> None:
        layout = self._layout.of_length(arr.size)
        if layout is None:
            raise ValueError(f"RNNFused: {arr.size} numbers are no parameter of {self!r}")
        prefix = name.removesuffix("rnn_param") if name.endswith("rnn_param") else ""
        for place, part in layout.split(arr).items():
            kind = place.split("_", 1)[1]
            own = self._of_part[kind] or ("zero" if kind.endswith("bias") else "uniform")
            create(own)._init_weight(InitDesc(prefix + kind), part)


def _own(name: str) -> Any:
    """The initializer that a parameter has been given, if its name tells."""
    return getattr(name, "attrs", {}).get("__init__")


def _pass_on(giver: Any, chosen: Any, name: str, arr: ndarray) -> None:
    """Has another initializer fill what is asked of one that only chooses, also as the parameter's own."""
    if isinstance(name, InitDesc) and _own(name) is giver:
        name = InitDesc(name, {**name.attrs, "__init__": chosen})
    chosen(name, arr)


class Load:
    """Copies parameters from a dict of arrays or a file; those that are not there get `default_init`.

    A parameter is found by its structural name (`0.weight`, as `save_parameters` writes it), by MXNet 1's
    (`dense0_weight`), or by its own (`weight`).

    >>> w = np.empty(2)
    >>> Load({"arg:w": np.array([1, 2])})("w", w)
    >>> w
    array([1., 2.])
    """

    def __init__(
        self, param: str | Mapping[str, ndarray], default_init: Initializer | None = None, verbose: bool = False
    ) -> None:
        loaded = npx.load(param) if isinstance(param, str) else param
        if not isinstance(loaded, Mapping):
            raise TypeError(f"Load: expected arrays by name, got {type(loaded).__name__}")
        self.param = {name.removeprefix("arg:").removeprefix("aux:"): array for name, array in loaded.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: ndarray) -> None:
        *paths, plain = getattr(name, "attrs", {}).get("__names__", (name,))
        source = next((self.param[known] for known in (*paths, name, plain) if known in self.param), None)
        if source is not None:
            if source.shape != arr.shape:
                raise ValueError(f"Load: {str(name)!r} has shape {arr.shape}, but {source.shape} where it was loaded")
            arr[...] = source if source.device == arr.device else source.as_in_device(arr.device)
        elif self.default_init is None:
            raise ValueError(f"Load: {str(name)!r} is not among what was loaded, and there is no default_init")
        else:
            _pass_on(self, self.default_init, name, arr)
        if self.verbose:
            logging.info("Initialized %s by %s", name, "default" if source is None else "loading")

    _init_weight = __call__


class Mixed:
    """Initializers by patterns of names (`dense0_weight`): the first that matches counts.

    A parameter that has an initializer of its own, as biases mostly have, begins as that one says.

    >>> w = np.empty(2)
    >>> Mixed([".*bias", ".*"], [Zero(), One()])("a_weight", w)
    >>> w
    array([1., 1.])
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Any]) -> None:
        if len(patterns) != len(initializers):
            raise ValueError(f"Mixed: {len(patterns)} patterns, but {len(initializers)} initializers")
        self.map = [(re.compile(p), create(i)) for p, i in zip(patterns, initializers, strict=True)]

    def __call__(self, name: str, arr: ndarray) -> None:
        if _own(name) not in (None, "", self):
            create(_own(name))._init_weight(name, arr)
            return
        for pattern, initializer in self.map:
            if pattern.match(name):
                _pass_on(self, initializer, name, arr)
                return
        known = ", ".join(repr(pattern.pattern) for pattern, _ in self.map)
        raise ValueError(f"Mixed: {str(name)!r} matches none of {known}; add '.*' at the end as the default")

    _init_weight = __call__
