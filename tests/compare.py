"""Comparing with NumPy: random arrays in all layouts, the same call on both sides, results within stated tolerances."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy

from slipstream import np

BOOL = ["bool"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = BOOL + INTS + FLOATS
ALL = REAL + COMPLEX

# Relative tolerance by type; absolute tolerance is as much of the largest value.
TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 2e-2,
    "float32": 2e-5,
    "float64": 1e-11,
    "complex64": 2e-5,
    "complex128": 1e-11,
}

Shape = tuple[int, ...]


def layouts(shape: Shape) -> list[tuple[Shape, Callable[[Any], Any]]]:
    """Ways to lay out an array: the shape of a base, and the view of it that has the shape asked for."""
    found: list[tuple[Shape, Callable[[Any], Any]]] = [(shape, lambda x: x)]
    if shape:
        every_other = (slice(None, None, 2),) * len(shape)
        backwards = (slice(None, None, -1),) * len(shape)
        inner = (slice(1, None),) * len(shape)
        found += [
            (tuple(max(2 * n - 1, 0) for n in shape), lambda x: x[every_other]),
            (shape, lambda x: x[backwards]),
            (tuple(n + 1 for n in shape), lambda x: x[inner]),
        ]
    if len(shape) > 1:
        swapped = (shape[-1], *shape[1:-1], shape[0])
        found += [(shape[::-1], lambda x: x.T), (swapped, lambda x: x[::-1].swapaxes(0, -1))]
    return found


class Pair:
    """A NumPy array and ours of the same values, dtype and layout."""

    def __init__(self, numpy_array: Any, ours: Any) -> None:
        self.numpy = numpy_array
        self.ours = ours


class Draw:
    """Random arguments."""

    def __init__(self, rng: numpy.random.Generator) -> None:
        self.rng = rng

    def one(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def shape(self, ndim: int | None = None, least: int = 0, most: int = 5) -> tuple[int, ...]:
        ndim = int(self.rng.integers(0, 4)) if ndim is None else ndim
        return tuple(int(n) for n in self.rng.integers(least, most + 1, ndim))

    def axis(self, ndim: int) -> int:
        return int(self.rng.integers(-ndim, ndim))

    def axes(self, ndim: int) -> Any:
        """None, one axis, or several."""
        count = int(self.rng.integers(0, ndim + 1))
        chosen = tuple(int(i) for i in self.rng.permutation(ndim)[:count])
        return self.one(None, chosen, *(chosen[:1]))

    def values(self, shape: tuple[int, ...], dtype: str, low: float = -3, high: float = 3) -> Any:
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype in INTS:
            least = 0 if dtype[0] == "u" else int(low)
            return self.rng.integers(max(int(low), least), max(int(high), least + 1) + 1, shape).astype(dtype)
        values = self.rng.uniform(low, high, shape)
        if dtype in COMPLEX:
            values = values + 1j * self.rng.uniform(low, high, shape)
        return values.astype(dtype)

    def array(
        self, shape: Any = None, dtypes: list[str] | str = ALL, low: float = -3, high: float = 3, layout: bool = True
    ) -> Pair:
        """An array of a shape, in a random layout that has this shape."""
        shape = self.shape() if shape is None else tuple(shape)
        dtype = dtypes if isinstance(dtypes, str) else self.one(*dtypes)
        base, view = self.one(*layouts(shape)) if layout else (shape, lambda x: x)
        values = self.values(base, dtype, low, high)
        return Pair(view(values), view(np.array(values)))


def side(value: Any, which: str) -> Any:
    """Arguments as one side wants them."""
    if isinstance(value, Pair):
        return getattr(value, which)
    if isinstance(value, (list, tuple)):
        return type(value)(side(item, which) for item in value)
    if isinstance(value, dict):
        return {name: side(item, which) for name, item in value.items()}
    return value


def same(ours: Any, theirs: Any, tolerance: float | None = None, where: str = "") -> None:
    """Raises unless shape, dtype and values agree."""
    if isinstance(theirs, (list, tuple)):
        assert isinstance(ours, (list, tuple)) and len(ours) == len(theirs), f"{where}: {ours} is not like {theirs}"
        for mine, other in zip(ours, theirs, strict=True):
            same(mine, other, tolerance, where)
        return
    if theirs is None or isinstance(theirs, (str, type, numpy.dtype)):
        assert ours == theirs, f"{where}: {ours!r} is not {theirs!r}"
        return
    theirs = numpy.asarray(theirs)
    if isinstance(ours, np.ndarray):
        assert ours.dtype == theirs.dtype, f"{where}: dtype {ours.dtype} is not {theirs.dtype}"
        ours = ours.asnumpy()
    ours = numpy.asarray(ours)
    assert ours.shape == theirs.shape, f"{where}: shape {ours.shape} is not {theirs.shape}"
    close(ours, theirs, tolerance, where)


def close(ours: Any, theirs: Any, tolerance: float | None = None, where: str = "") -> None:
    """Values within the tolerance of their type; exactly equal for integers and bools."""
    name = theirs.dtype.name
    if tolerance is None:
        tolerance = TOLERANCE.get(name, 0)
    if name == "bfloat16":
        ours, theirs = ours.astype("float32"), theirs.astype("float32")
    finite = numpy.abs(theirs[numpy.isfinite(theirs)]) if theirs.dtype.kind in "fc" else numpy.abs(theirs.astype(float))
    scale = float(finite.max()) if finite.size else 0.0
    numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale, err_msg=where)


def call(function: Any, args: Any, options: Any) -> tuple[Any, type[BaseException] | None]:
    """The result, or the class of what was raised."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **options), None
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            return error, type(error)


def agree(
    name: str, args: Any, options: Any = None, ours: Any = None, theirs: Any = None, tolerance: Any = None
) -> None:
    """The same call on both sides gives the same result, or raises the same kind of error."""
    options = options or {}
    ours = getattr(np, name) if ours is None else ours
    theirs = getattr(numpy, name) if theirs is None else theirs
    expected, raised = call(theirs, side(args, "numpy"), side(options, "numpy"))
    got, mine = call(ours, side(args, "ours"), side(options, "ours"))
    where = f"{name}{tuple(describe(a) for a in args)} {describe(options)}"
    if raised is not None:
        kinds = [kind for kind in (IndexError, TypeError, ValueError, OverflowError) if issubclass(raised, kind)]
        assert mine is not None, f"{where}: NumPy raised {expected!r}, we gave {got}"
        assert issubclass(mine, tuple(kinds)), f"{where}: NumPy raised {expected!r}, we {got!r}"
        return
    assert mine is None, f"{where}: we raised {got!r}"
    same(got, expected, tolerance, where)


def describe(value: Any) -> Any:
    if isinstance(value, Pair):
        return f"{value.numpy.dtype}{value.numpy.shape}"
    if isinstance(value, (list, tuple)):
        return type(value)(describe(item) for item in value)
    if isinstance(value, dict):
        return {name: describe(item) for name, item in value.items()}
    return value


bfloat16 = ml_dtypes.bfloat16
