"""What all distributions share: checking parameters, finding the shape, drawing standard numbers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

from .. import _core
from .._core import ndarray
from ..device import Device, resolve
from ._arguments import as_array, as_dims, as_dtype, deliver
from ._by_numpy import behind
from ._types import DTypeLike

INT = numpy.dtype("int64")
F64 = numpy.dtype("float64")

# What a parameter must be: for numbers and NumPy's arrays it is checked at the call.
_RULES: dict[str, Any] = {
    "finite": (numpy.isfinite, "must be finite"),
    "not negative": (lambda v: v >= 0, "must not be negative"),
    "positive": (lambda v: v > 0, "must be above 0"),
    "probability": (lambda v: (v >= 0) & (v <= 1), "must lie between 0 and 1"),
    "chance": (lambda v: (v > 0) & (v <= 1), "must lie above 0 and not above 1"),
    "above 1": (lambda v: v > 1, "must be above 1"),
    "below 1": (lambda v: (v >= 0) & (v < 1), "must lie between 0 and 1, which is not allowed"),
}


def dims_of(size: Any, function: str = "random") -> tuple[int, ...]:
    """A size argument as a shape."""
    dims = () if size is None else as_dims(size)
    if any(n < 0 for n in dims):
        raise ValueError(f"{function}: size {size} holds a negative length")
    return dims


def is_number(value: Any) -> bool:
    """Is it one number whose value is known?"""
    return isinstance(value, (int, float)) or (isinstance(value, (numpy.generic, numpy.ndarray)) and value.ndim == 0)


def float_type(dtype: DTypeLike) -> numpy.dtype[Any]:
    """The type of a continuous distribution's numbers."""
    found = as_dtype(dtype)
    if found.kind in "biuc":
        raise TypeError(f"random: numbers of a continuous distribution cannot be {found}")
    return found


def check(function: str, name: str, value: Any, rule: str) -> None:
    """Raises where a parameter whose values are known breaks its rule; the values of our arrays are not waited for."""
    if isinstance(value, ndarray):
        return
    known = numpy.asarray(value)
    if known.dtype.kind not in "biuf":
        raise TypeError(f"{function}: {name} must be a number or an array of numbers, not {value!r}")
    allowed, words = _RULES[rule]
    if not numpy.all(allowed(known)):
        shown = value if known.ndim == 0 else known[~allowed(known)].flat[0]
        raise ValueError(f"{function}: {name} {words}: {shown}")


def check_fit(function: str, what: str, shape: tuple[int, ...], size: tuple[int, ...]) -> None:
    """Raises where what has a shape cannot be repeated to the size that is asked for."""
    whole = (1,) * (len(size) - len(shape)) + shape
    if len(whole) > len(size) or any(n not in (1, m) for n, m in zip(whole, size, strict=True)):
        raise ValueError(f"{function}: {what} of shape {shape} do not fit the size {size}")


class Call(NamedTuple):
    """A call of a distribution after its checks."""

    values: list[Any]  # the parameters: Python's numbers, or arrays on the device
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    device: Device
    function: str
    out: Any


class Draws:
    """Standard numbers from a stream that a subclass names."""

    _state: _core.RandomState | None = None  # None: the device's own stream

    def _call(
        self,
        function: str,
        parameters: dict[str, tuple[Any, str]],
        size: Any,
        dtype: numpy.dtype[Any],
        device: Any,
        ctx: Any,
        out: Any,
    ) -> Call:
        """Checks the parameters; the shape is the size, or what the parameters have together."""
        place = resolve(device, ctx)
        if device is None and ctx is None:
            place = next((v.device for v, _ in parameters.values() if isinstance(v, ndarray)), place)
        for name, (value, rule) in parameters.items():
            check(function, name, value, rule)
        given = [v for v, _ in parameters.values()]
        values = [float(v) if is_number(v) else as_array(v, place) for v in given]
        shapes = [v.shape for v in values if isinstance(v, ndarray)]
        shape = numpy.broadcast_shapes(*shapes)
        if size is not None:
            wanted = dims_of(size, function)
            check_fit(function, "parameters", shape, wanted)
            shape = wanted
        return Call(values, shape, dtype, place, function, out)

    def _unit(self, call: Call) -> ndarray:
        """Numbers from 0 up to, not including, 1."""
        return _core.random_uniform(self._state, 0.0, 1.0, call.shape, call.dtype, call.device)

    def _standard(self, call: Call) -> ndarray:
        """Normal numbers."""
        return _core.random_normal(self._state, 0.0, 1.0, call.shape, call.dtype, call.device)

    def _exponential(self, call: Call) -> ndarray:
        return -_core.log1p(-self._unit(call))

    def _sample(self, name: str, call: Call, *parameters: Any) -> ndarray:
        """The core's distributions by rejection: gamma, poisson, binomial."""
        arrays = [
            p if isinstance(p, ndarray) else _core.full((), float(p), F64, call.device)
            for p in (parameters or call.values)
        ]
        return _core.random_sample(self._state, name, arrays, call.shape)

    def _finish(self, made: ndarray, call: Call) -> ndarray:
        """The result in its type, in `out` where that is given."""
        if made.dtype != call.dtype:
            made = _core.astype(made, call.dtype)
        return deliver(made, call.out, call.function)

    def _integers(self, low: Any, high: Any, size: Any, dtype: DTypeLike, place: Device, function: str) -> ndarray:
        kind = as_dtype(INT if dtype is None else dtype)
        if kind.kind not in "iub":
            raise TypeError(f"{function}: integers cannot be {kind}")
        if not (is_number(low) and is_number(high)):
            return self._integers_between(low, high, size, kind, place, function)
        low, high = math.ceil(low), math.ceil(high)
        if low >= high:
            raise ValueError(f"{function}: low={low} is not below high={high}")
        least, most = (0, 1) if kind.kind == "b" else (numpy.iinfo(kind).min, numpy.iinfo(kind).max)
        if low < least or high - 1 > most:
            raise ValueError(f"{function}: the range from {low} to {high} does not fit into {kind}")
        if low >= 2**63:  # of uint64: the core counts from an int64
            return self._integers(low - 2**63, high - 2**63, size, kind, place, function) + 2**63
        count = (high - low) % 2**64  # 0: all that 64 bits have
        return _core.random_integers(self._state, low, count, dims_of(size, function), kind, place)

    def _integers_between(
        self, low: Any, high: Any, size: Any, kind: numpy.dtype[Any], place: Device, function: str
    ) -> ndarray:
        """Integers by arrays of bounds, which NumPy draws from the values that are there then."""
        place = next((v.device for v in (low, high) if isinstance(v, ndarray)), place)
        known = [v for v in (low, high) if not isinstance(v, ndarray)]
        if len(known) == 2 and numpy.any(numpy.asarray(low) >= numpy.asarray(high)):
            raise ValueError(f"{function}: low={low} is not everywhere below high={high}")
        bounds = [v if isinstance(v, ndarray) else as_array(numpy.asarray(v), place) for v in (low, high)]
        shape = numpy.broadcast_shapes(*(b.shape for b in bounds))
        if size is not None:
            wanted = dims_of(size, function)
            check_fit(function, "bounds", shape, wanted)
            shape = wanted

        def draw(key: Any, low: Any, high: Any) -> Any:
            generator = numpy.random.Generator(numpy.random.Philox(key=key))
            low, high = (numpy.ceil(v).astype(INT) if v.dtype.kind == "f" else v for v in (low, high))
            return numpy.asarray(generator.integers(low, high, size=shape, dtype=kind))

        made: ndarray = behind(f"np.random.{function}", draw, [self._key(place), *bounds], shape, kind, place)
        return made

    def _key(self, place: Device) -> ndarray:
        """A key for NumPy's generator, drawn from the stream when a call is recorded."""
        return _core.random_integers(self._state, 0, 0, (2,), numpy.dtype("uint64"), place)
