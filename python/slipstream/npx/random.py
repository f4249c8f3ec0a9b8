"""Random numbers by MXNet's names that NumPy lacks. Streams and seeds are those of `np.random`.

>>> npx.random.seed(1)
"""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core, np
from .._core import ndarray
from ..device import resolve
from ..np._arguments import as_array, as_arrays, as_dims, as_dtype, deliver
from ..np._draws import check
from ..np._types import ArrayLike, DeviceLike, DTypeLike, Shape
from ..np.random import seed
from ._out import with_out

__all__ = ["bernoulli", "categorical", "multinomial", "normal_n", "seed", "uniform_n"]

_F64 = numpy.dtype("float64")


def bernoulli(
    prob: ArrayLike = None,
    logit: ArrayLike = None,
    size: Shape | None = None,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
    out: ndarray | None = None,
    *,
    ctx: DeviceLike = None,
) -> ndarray:
    """1 with a probability, else 0; the probability is given as such or by its logit.

    >>> npx.random.bernoulli(1.0, size=3)
    array([1., 1., 1.])
    """
    if (prob is None) == (logit is None):
        raise ValueError("bernoulli: give one of prob and logit")
    if prob is not None:
        check("bernoulli", "prob", prob, "probability")
    chance = as_array(prob if logit is None else logit, resolve(device, ctx))
    if logit is not None:
        chance = _core.sigmoid(chance)
    shape = chance.shape if size is None else as_dims(size)
    drawn = np.random.binomial(1, chance, shape)  # an array's probabilities are checked there, when they are known
    return deliver(_core.astype(drawn, as_dtype(dtype)), out, "bernoulli")


@with_out
def categorical(data: ArrayLike, shape: Shape | None = None, get_prob: bool = False, dtype: DTypeLike = "int32") -> Any:
    """Numbers of categories, by the probabilities along the last axis of `data`: `shape` of them for each row.

    With `get_prob` also the logarithms of the probabilities of what was drawn.

    >>> npx.random.categorical(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([1, 0], dtype=int32)
    """
    chances = _core.astype(as_array(data), _F64)
    if chances.ndim == 0:
        raise ValueError("categorical: data has no axis of categories")
    more = () if shape is None else as_dims(shape)
    rows, n = chances.shape[:-1], chances.shape[-1]
    spread = _core.reshape(chances, (*rows, *(1,) * len(more), n))
    ends = _core.cumsum(spread, spread.ndim - 1)
    drawn = np.random.uniform(size=(*rows, *more, 1), dtype=_F64, device=chances.device)
    chosen = _core.sum(_core.greater_equal(drawn * ends[..., -1:], ends[..., :-1]), axis=-1, dtype=numpy.int64)
    made = _core.astype(chosen, as_dtype(dtype))
    if not get_prob:
        return made
    places = _core.arange(0, 1, n, numpy.dtype("int64"), chances.device)
    found = _core.sum(_core.where(_core.equal(_core.expand_dims(chosen, [-1]), places), spread, 0.0), axis=-1)
    return made, _core.astype(_core.log(found), as_dtype(None))


@with_out
def multinomial(
    n: ArrayLike,
    p: ArrayLike,
    shape: Shape | None = None,
    ctx: DeviceLike = None,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """How often each outcome comes in `n` trials: `np.random.multinomial`, with `shape` draws for each `n` and `p`.

    >>> int(npx.random.multinomial(4, [0.5, 0.5]).sum())
    4
    >>> npx.random.multinomial(np.array([4, 5]), np.full((2, 3), 1 / 3), shape=6).shape
    (2, 6, 3)
    """
    if shape is not None and (numpy.ndim(n) or numpy.ndim(p) > 1):
        n, p = as_arrays((n, p))
        more = as_dims(shape)
        batch = numpy.broadcast_shapes(n.shape, p.shape[:-1])
        n = _core.reshape(n, (*n.shape, *(1,) * len(more)))
        p = _core.reshape(p, (*p.shape[:-1], *(1,) * len(more), p.shape[-1]))
        shape = (*batch, *more)
    return np.random.multinomial(n, p, shape, dtype, device, ctx=ctx)


def _batched(draw: Any, first: ArrayLike, second: ArrayLike, batch_shape: Any, **options: Any) -> ndarray:
    first, second = as_arrays((first, second))
    batch = () if batch_shape is None else as_dims(batch_shape)
    made: ndarray = draw(first, second, (*batch, *numpy.broadcast_shapes(first.shape, second.shape)), **options)
    return made


def normal_n(
    loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0,
    batch_shape: Shape | None = None,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
) -> ndarray:
    """Normal numbers in the shape `batch_shape` followed by the parameters' shape.

    >>> npx.random.normal_n(np.zeros(3), 1.0, batch_shape=(2,)).shape
    (2, 3)
    """
    return _batched(np.random.normal, loc, scale, batch_shape, dtype=dtype, device=device)


def uniform_n(
    low: ArrayLike = 0.0,
    high: ArrayLike = 1.0,
    batch_shape: Shape | None = None,
    dtype: DTypeLike = None,
    device: DeviceLike = None,
) -> ndarray:
    """Evenly spread numbers in the shape `batch_shape` followed by the parameters' shape.

    >>> npx.random.uniform_n(np.zeros(3), 1.0, batch_shape=(2,)).shape
    (2, 3)
    """
    return _batched(np.random.uniform, low, high, batch_shape, dtype=dtype, device=device)


def scalar_poisson(
    lam: float = 1.0,
    shape: Shape | None = None,
    ctx: DeviceLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    name: Any = None,
) -> ndarray:
    """Numbers of events, of which `lam` are to be expected: `np.random.poisson`.

    >>> npx.scalar_poisson(0.0, shape=(2,))
    array([0., 0.])
    """
    return deliver(np.random.poisson(lam, shape, as_dtype(dtype), ctx=ctx), out, "scalar_poisson")


def tensor_poisson(
    lam: ArrayLike,
    shape: Shape | None = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    name: Any = None,
) -> ndarray:
    """For each expectation in `lam` numbers of events in a shape, whose axes come last.

    >>> npx.tensor_poisson(np.array([0.0, 0.0]), shape=(3,)).shape
    (2, 3)
    """
    expected, more = as_array(lam), () if shape is None else as_dims(shape)
    spread = _core.reshape(expected, expected.shape + (1,) * len(more))
    made = np.random.poisson(spread, expected.shape + more, as_dtype(dtype))
    return deliver(made, out, "tensor_poisson")
