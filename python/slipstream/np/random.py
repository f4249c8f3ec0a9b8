"""Random numbers. The same seed gives the same numbers on any number of threads, however far Python runs ahead.

>>> np.random.seed(7)
>>> a = np.random.normal(size=3)
>>> np.random.seed(7)
>>> bool((a == np.random.normal(size=3)).all())
True
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..device import Device, named, resolve
from ._arguments import as_array, as_dims, as_dtype
from ._types import ArrayLike, DeviceLike, DTypeLike, Shape

__all__ = [
    *["Generator", "choice", "default_rng", "normal", "permutation", "rand", "randint", "randn", "random"],
    *["random_sample", "ranf", "sample", "seed", "shuffle", "standard_normal", "uniform"],
]

_INT = numpy.dtype("int64")


def _dims(size: Any) -> tuple[int, ...]:
    dims = () if size is None else as_dims(size)
    if any(n < 0 for n in dims):
        raise ValueError(f"random: size {size} holds a negative length")
    return dims


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, (numpy.generic, numpy.ndarray)) and value.ndim == 0)


def _float(dtype: DTypeLike) -> numpy.dtype[Any]:
    found = as_dtype(dtype)
    if found.kind in "biuc":
        raise TypeError(f"random: numbers of a continuous distribution cannot be {found}")
    return found


class _Source:
    """The distributions, from a stream of numbers that a subclass names."""

    _state: _core.RandomState | None = None  # None: the device's own stream

    def _located(
        self,
        draw: Callable[..., ndarray],
        shift: Any,
        scale: Any,
        size: Any,
        dtype: DTypeLike,
        device: Device,
    ) -> ndarray:
        """`shift + scale * (a standard draw)`, in the shape of the parameters if no size is given."""
        kind = _float(dtype)
        shift, scale = as_array(shift, device), as_array(scale, device)
        shape = numpy.broadcast_shapes(shift.shape, scale.shape)
        if size is not None:
            shape = _dims(size)
            numpy.broadcast_shapes(shape, shift.shape, scale.shape)
        made = draw(self._state, 0.0, 1.0, shape, kind, device)
        return _core.add(_core.multiply(made, _core.astype(scale, kind)), _core.astype(shift, kind))

    def normal(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Normal numbers with mean `loc` and standard deviation `scale`.

        >>> np.random.normal(0, 1, size=(2, 3)).shape
        (2, 3)
        """
        if _is_number(loc) and _is_number(scale):
            made = _core.random_normal(self._state, loc, scale, size, dtype, named(device, ctx))
        else:
            made = self._located(_core.random_normal, loc, scale, size, dtype, resolve(device, ctx))
        return made if out is None else _into(made, out)

    def uniform(
        self,
        low: ArrayLike = 0.0,
        high: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers evenly spread over `low` to `high`, which is not among them.

        >>> x = np.random.uniform(1, 2, size=100)
        >>> bool(((1 <= x) & (x < 2)).all())
        True
        """
        if _is_number(low) and _is_number(high):
            made = _core.random_uniform(self._state, low, high, size, dtype, named(device, ctx))
        else:
            place = resolve(device, ctx)
            low, high = as_array(low, place), as_array(high, place)
            made = self._located(_core.random_uniform, low, _core.subtract(high, low), size, dtype, place)
        return made if out is None else _into(made, out)

    def _integers(self, low: Any, high: Any, size: Any, dtype: DTypeLike, place: Device, function: str) -> ndarray:
        kind = as_dtype(_INT if dtype is None else dtype)
        if kind.kind not in "iub":
            raise TypeError(f"{function}: integers cannot be {kind}")
        if not (_is_number(low) and _is_number(high)):
            raise TypeError(f"{function}: low and high must be numbers")
        low, high = math.ceil(low), math.ceil(high)
        if low >= high:
            raise ValueError(f"{function}: low={low} is not below high={high}")
        least, most = (0, 1) if kind.kind == "b" else (numpy.iinfo(kind).min, numpy.iinfo(kind).max)
        if low < least or high - 1 > most:
            raise ValueError(f"{function}: the range from {low} to {high} does not fit into {kind}")
        return _core.random_integers(self._state, low, high - low, _dims(size), kind, place)

    def permutation(self, x: ArrayLike, *, device: DeviceLike = None, ctx: DeviceLike = None) -> ndarray:
        """The numbers 0 to x - 1 in random order, or a copy of an array with its first axis in random order.

        >>> int(np.random.permutation(5).sum())
        10
        """
        if isinstance(x, (int, numpy.integer)):
            place = resolve(device, ctx)
            return _core.random_permutation(self._state, int(x), place)
        x = as_array(x)
        return _core.take(x, _core.random_permutation(self._state, x.shape[0], x.device), 0, "raise")

    def shuffle(self, x: Any) -> None:
        """Puts the first axis of an array (or a list) in random order, in place.

        >>> x = np.arange(4)
        >>> np.random.shuffle(x)
        >>> x.sum()
        array(6.)
        """
        if not isinstance(x, ndarray):
            place = resolve()
            order = _core.random_permutation(self._state, len(x), place).tolist()
            x[:] = [x[i] for i in order]
            return
        if x.ndim == 0:
            raise TypeError("shuffle: the array has no dimensions")
        order = _core.random_permutation(self._state, x.shape[0], x.device)
        _core.assign(x, _core.take(x, order, 0, "raise"))

    def choice(
        self,
        a: ArrayLike,
        size: Shape | None = None,
        replace: bool = True,
        p: ArrayLike = None,
        device: DeviceLike = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Elements of an array (or numbers below `a`) at random, by equal or given probabilities `p`.

        >>> np.random.choice(np.array([7, 7]), size=2)
        array([7., 7.])
        """
        number = isinstance(a, (int, numpy.integer))
        source = None if number else as_array(a)
        place = resolve(device, ctx) if source is None else source.device
        n = int(a) if source is None else source.shape[0]
        shape = _dims(size)
        count = math.prod(shape)
        if n <= 0 and count:
            raise ValueError("choice: there is nothing to choose from")
        if not replace and count > n:
            raise ValueError(f"choice: cannot take {count} of {n} without putting back")
        if p is not None:
            chosen = self._by_probability(p, n, count, replace, place)
        elif replace:
            chosen = self._integers(0, n, (count,), _INT, place, "choice")
        else:
            chosen = _core.random_permutation(self._state, n, place)[:count]
        chosen = _core.reshape(chosen, shape)
        return chosen if source is None else _core.take(source, chosen, 0, "raise")

    def _by_probability(self, p: ArrayLike, n: int, count: int, replace: bool, place: Device) -> ndarray:
        weights = _core.astype(as_array(p, place), numpy.float64)
        if weights.shape != (n,):
            raise ValueError(f"choice: p has shape {weights.shape}; it must be ({n},)")
        if not replace:
            raise ValueError("choice: replace=False with p is not supported")
        ends = _core.cumsum(weights, 0)
        draws = _core.random_uniform(self._state, 0.0, 1.0, (count, 1), numpy.dtype("float64"), place)
        below = _core.greater_equal(draws * ends[-1], ends[:-1])
        return _core.sum(below, axis=1, dtype=_INT)


def _into(made: ndarray, out: ndarray) -> ndarray:
    _core.assign(out, made)
    return out


class Generator(_Source):
    """A stream of random numbers of its own: see `np.random.default_rng`."""

    def __init__(self, seed: int | None = None) -> None:
        self._state = _core.RandomState(_as_seed(seed))

    def standard_normal(
        self, size: Shape | None = None, dtype: DTypeLike = None, out: ndarray | None = None, **place: Any
    ) -> ndarray:
        """Normal numbers with mean 0 and standard deviation 1.

        >>> np.random.default_rng(1).standard_normal(3).shape
        (3,)
        """
        return self.normal(0.0, 1.0, size, dtype, out=out, **place)

    def random(
        self, size: Shape | None = None, dtype: DTypeLike = None, out: ndarray | None = None, **place: Any
    ) -> ndarray:
        """Numbers evenly spread over 0 to 1.

        >>> np.random.default_rng(1).random(3).shape
        (3,)
        """
        return self.uniform(0.0, 1.0, size, dtype, out=out, **place)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        endpoint: bool = False,
        *,
        device: DeviceLike = None,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Integers from `low` (0 if only one is given) up to, not including, `high` (including it with `endpoint`).

        >>> int(np.random.default_rng(1).integers(5, 6))
        5
        """
        if high is None:
            low, high = 0, low
        return self._integers(low, high + endpoint, size, dtype, resolve(device, ctx), "integers")


def _as_seed(seed: Any) -> int:
    if seed is None:
        return int.from_bytes(os.urandom(8), "little")
    value = operator.index(seed)
    if value < 0:
        raise ValueError(f"seed: {value} is negative")
    return value & (2**64 - 1)


def default_rng(seed: Any = None) -> Generator:
    """A generator with a seed (None: from the system); a generator is given back as it is.

    >>> a, b = np.random.default_rng(5), np.random.default_rng(5)
    >>> bool((a.normal(size=4) == b.normal(size=4)).all())
    True
    """
    return seed if isinstance(seed, Generator) else Generator(seed)


_global = _Source()
normal = _global.normal
uniform = _global.uniform
permutation = _global.permutation
shuffle = _global.shuffle
choice = _global.choice


def seed(seed: int | None = None, device: Any = "all", *, seed_state: int | None = None) -> None:
    """Starts the numbers of `np.random` anew, on all devices.

    >>> np.random.seed(3)
    """
    _core.seed_random(_as_seed(seed if seed_state is None else seed_state))


def standard_normal(size: Shape | None = None, dtype: DTypeLike = None, **place: Any) -> ndarray:
    """Normal numbers with mean 0 and standard deviation 1.

    >>> np.random.standard_normal((2, 2)).shape
    (2, 2)
    """
    return _global.normal(0.0, 1.0, size, dtype, **place)


def randn(*size: int, **options: Any) -> ndarray:
    """Normal numbers with mean 0 and standard deviation 1, in a shape given by its lengths.

    >>> np.random.randn(2, 3).shape
    (2, 3)
    """
    return _global.normal(size=size, **options)


def random(size: Shape | None = None, dtype: DTypeLike = None, **place: Any) -> ndarray:
    """Numbers evenly spread over 0 to 1.

    >>> np.random.random((2, 2)).shape
    (2, 2)
    """
    return _global.uniform(0.0, 1.0, size, dtype, **place)


random_sample = ranf = sample = random


def rand(*size: int, **options: Any) -> ndarray:
    """Numbers evenly spread over 0 to 1, in a shape given by its lengths.

    >>> np.random.rand(2, 3).shape
    (2, 3)
    """
    return _global.uniform(size=size, **options)


def randint(
    low: int,
    high: int | None = None,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    out: ndarray | None = None,
    *,
    ctx: DeviceLike = None,
) -> ndarray:
    """Integers from `low` (0 if only one is given) up to, not including, `high`.

    >>> np.random.randint(3, 4, size=2)
    array([3, 3], dtype=int64)
    """
    if high is None:
        low, high = 0, low
    made = _global._integers(low, high, size, dtype, resolve(device, ctx), "randint")
    return made if out is None else _into(made, out)
