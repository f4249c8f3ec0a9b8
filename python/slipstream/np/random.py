"""Random numbers. The same seed gives the same numbers on any number of threads, however far Python runs ahead.

>>> np.random.seed(7)
>>> a = np.random.normal(size=3)
>>> np.random.seed(7)
>>> bool((a == np.random.normal(size=3)).all())
True
"""

from __future__ import annotations

import builtins
import math
import operator
import os
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..device import Device, named, resolve
from ._arguments import as_array, normal_axis
from ._by_numpy import behind, by_numpy
from ._continuous import Continuous
from ._discrete import Discrete
from ._draws import F64, INT, check, dims_of, float_type, is_number
from ._types import ArrayLike, DeviceLike, DTypeLike, Shape


class _Source(Continuous, Discrete):
    """The distributions, from a stream of numbers that a subclass names."""

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
        kind = float_type(dtype)
        shift, scale = as_array(shift, device), as_array(scale, device)
        shape = numpy.broadcast_shapes(shift.shape, scale.shape)
        if size is not None:
            shape = dims_of(size)
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
        check("normal", "scale", scale, "not negative")
        if is_number(loc) and is_number(scale):
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
        if is_number(low) and is_number(high):
            made = _core.random_uniform(self._state, low, high, size, dtype, named(device, ctx))
        else:
            place = resolve(device, ctx)
            low, high = as_array(low, place), as_array(high, place)
            made = self._located(_core.random_uniform, low, _core.subtract(high, low), size, dtype, place)
        return made if out is None else _into(made, out)

    def permutation(self, x: ArrayLike, axis: int = 0, *, device: DeviceLike = None, ctx: DeviceLike = None) -> ndarray:
        """The numbers 0 to x - 1 in random order, or a copy of an array with an axis (the first) in random order.

        >>> int(np.random.permutation(5).sum())
        10
        """
        if isinstance(x, (int, numpy.integer)):
            place = resolve(device, ctx)
            return _core.random_permutation(self._state, int(x), place)
        x = as_array(x)
        axis = normal_axis(axis, x.ndim, "permutation")
        return _core.take(x, _core.random_permutation(self._state, x.shape[axis], x.device), axis, "raise")

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Puts an axis (the first) of an array, or a list, in random order, in place.

        >>> x = np.arange(4)
        >>> np.random.shuffle(x)
        >>> x.sum()
        array(6.)
        """
        if not isinstance(x, ndarray):
            place = resolve()
            length = x.shape[normal_axis(axis, x.ndim, "shuffle")] if isinstance(x, numpy.ndarray) else len(x)
            order = _core.random_permutation(self._state, length, place).tolist()
            if isinstance(x, numpy.ndarray):
                x[...] = x.take(order, axis)
                return
            x[:] = [x[i] for i in order]
            return
        if x.ndim == 0:
            raise TypeError("shuffle: the array has no dimensions")
        axis = normal_axis(axis, x.ndim, "shuffle")
        order = _core.random_permutation(self._state, x.shape[axis], x.device)
        _core.assign(x, _core.take(x, order, axis, "raise"))

    @by_numpy("behind", "the check of an array `p`")
    def choice(
        self,
        a: ArrayLike,
        size: Shape | None = None,
        replace: bool = True,
        p: ArrayLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        axis: int = 0,
        shuffle: bool = True,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Elements of an array along an axis (or numbers below `a`) at random, by equal or given probabilities `p`.

        They come in random order, whatever `shuffle` asks for.

        >>> np.random.choice(np.array([7, 7]), size=2)
        array([7., 7.])
        """
        number = isinstance(a, (int, numpy.integer))
        source = None if number else as_array(a)
        place = resolve(device, ctx) if source is None else source.device
        axis = 0 if source is None else normal_axis(axis, source.ndim, "choice")
        n = int(a) if source is None else source.shape[axis]
        shape = dims_of(size)
        count = math.prod(shape)
        if n <= 0 and count:
            raise ValueError("choice: there is nothing to choose from")
        if not replace and count > n:
            raise ValueError(f"choice: cannot take {count} of {n} without putting back")
        if p is not None:
            chosen = self._by_probability(p, n, count, replace, place)
        elif replace:
            chosen = self._integers(0, max(n, 1), (count,), INT, place, "choice")
        else:
            chosen = _core.random_permutation(self._state, n, place)[:count]
        chosen = _core.reshape(chosen, shape)
        made = chosen if source is None else _core.take(source, chosen, axis, "raise")
        return made if out is None else _into(made, out)

    def _by_probability(self, p: ArrayLike, n: int, count: int, replace: bool, place: Device) -> ndarray:
        if isinstance(p, ndarray):  # its values are checked when they are there
            weights = _core.astype(p, F64)
            tolerance = 1e-6 if p.dtype == F64 else 1e-3
            if weights.shape == (n,):
                needed = 0 if replace else count
                weights = weights.detach()  # a choice changes by steps
                run: Callable[..., Any] = lambda w: _checked(w, needed, tolerance)  # noqa: E731
                weights = behind("np.random.choice", run, [weights], (n,), F64, place)
        else:
            known = numpy.asarray(p, dtype=F64)
            weights = _core.array(
                _checked(known, 0 if replace else count) if known.shape == (n,) else known, F64, place
            )
        if weights.shape != (n,):
            raise ValueError(f"choice: p has shape {weights.shape}; it must be ({n},)")
        if not replace:  # the first so many to arrive, if each comes after an exponential time of that rate
            arrivals = -_core.log1p(-_core.random_uniform(self._state, 0.0, 1.0, (n,), F64, place)) / weights
            return _core.argsort(arrivals, 0)[:count]
        ends = _core.cumsum(weights, 0)
        draws = _core.random_uniform(self._state, 0.0, 1.0, (count, 1), F64, place)
        below = _core.greater_equal(draws * ends[-1], ends[:-1])
        return _core.sum(below, axis=1, dtype=INT)


def _checked(p: Any, least: int, tolerance: float = 1e-6) -> Any:
    """Probabilities that are some, of which at least so many are not 0."""
    if not (p >= 0).all():
        raise ValueError(f"choice: p holds {p[~(p >= 0)][0]}, which is no probability")
    if abs(p.sum() - 1) > tolerance:
        raise ValueError(f"choice: the probabilities in p add up to {p.sum():.9g}, not to 1")
    if numpy.count_nonzero(p) < least:
        raise ValueError(f"choice: cannot take {least} without putting back: only {numpy.count_nonzero(p)} can come")
    return p


def _into(made: ndarray, out: ndarray) -> ndarray:
    _core.assign(out, made)
    return out


@by_numpy("behind", "`integers`, and `randint`, with arrays of bounds")
class Generator(_Source):
    """A stream of random numbers of its own: see `np.random.default_rng`.

    >>> np.random.Generator(5).normal(size=3).shape
    (3,)
    """

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
        low: ArrayLike,
        high: ArrayLike = None,
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
        if endpoint:
            high = high + 1 if isinstance(high, (int, numpy.integer, ndarray)) else numpy.asarray(high) + 1
        return self._integers(low, high, size, dtype, resolve(device, ctx), "integers")

    def permuted(self, x: ArrayLike, *, axis: int | None = None, out: ndarray | None = None) -> ndarray:
        """A copy with each line along an axis in an order of its own (None: all elements in random order).

        >>> np.random.default_rng(1).permuted(np.arange(4)).sum()
        array(6.)
        """
        x = as_array(x)
        if out is not None:
            return _into(self.permuted(x, axis=axis), out)
        if axis is None:
            return _core.reshape(self.permutation(_core.reshape(x, (-1,))), x.shape)
        axis = normal_axis(axis, x.ndim, "permuted")
        lines = _core.reshape(_core.swapaxes(x, axis, -1), (-1, x.shape[axis]))
        mixed = [self.permutation(line) for line in lines]
        shape = _core.swapaxes(x, axis, -1).shape
        return _core.swapaxes(_core.reshape(_core.stack(mixed), shape), axis, -1) if mixed else _core.copy(x)

    def bytes(self, length: int) -> Any:
        """Random bytes: waits.

        >>> len(np.random.default_rng(1).bytes(5))
        5
        """
        return builtins.bytes(self.integers(0, 256, length, "uint8").tolist())

    def spawn(self, n_children: int) -> list[Generator]:
        """New generators whose numbers have nothing to do with one another.

        >>> len(np.random.default_rng(1).spawn(2))
        2
        """
        return [Generator(seed) for seed in self.integers(0, 2**63 - 1, n_children).tolist()]


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
beta = _global.beta
binomial = _global.binomial
chisquare = _global.chisquare
dirichlet = _global.dirichlet
exponential = _global.exponential
f = _global.f
gamma = _global.gamma
geometric = _global.geometric
gumbel = _global.gumbel
hypergeometric = _global.hypergeometric
laplace = _global.laplace
logistic = _global.logistic
lognormal = _global.lognormal
logseries = _global.logseries
multinomial = _global.multinomial
multivariate_hypergeometric = _global.multivariate_hypergeometric
multivariate_normal = _global.multivariate_normal
negative_binomial = _global.negative_binomial
noncentral_chisquare = _global.noncentral_chisquare
noncentral_f = _global.noncentral_f
pareto = _global.pareto
poisson = _global.poisson
power = _global.power
rayleigh = _global.rayleigh
standard_cauchy = _global.standard_cauchy
standard_exponential = _global.standard_exponential
standard_gamma = _global.standard_gamma
standard_t = _global.standard_t
triangular = _global.triangular
vonmises = _global.vonmises
wald = _global.wald
weibull = _global.weibull
zipf = _global.zipf


def seed(seed: int | None = None, device: Any = "all", *, seed_state: int | None = None, ctx: Any = None) -> None:
    """Starts the numbers of `np.random` anew, on all devices, whichever `device` (or `ctx`) is given.

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
    low: ArrayLike,
    high: ArrayLike = None,
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


def random_integers(low: int, high: int | None = None, size: Shape | None = None) -> ndarray:
    """Integers from `low` (1 if only one is given) up to and including `high`.

    >>> np.random.random_integers(3, 3, size=2)
    array([3, 3], dtype=int64)
    """
    return randint(1, low + 1, size) if high is None else randint(low, high + 1, size)


def bytes(length: int) -> Any:
    """Random bytes: waits.

    >>> len(np.random.bytes(5))
    5
    """
    return builtins.bytes(randint(0, 256, length, "uint8").tolist())


if not TYPE_CHECKING:
    __all__ = sorted(
        name
        for name, value in globals().items()
        if name[0] != "_" and (isinstance(value, MethodType) or getattr(value, "__module__", "") == __name__)
    )
