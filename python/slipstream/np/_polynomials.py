"""Polynomials by their coefficients, highest power first: NumPy's older functions for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, public
from ._by_numpy import by_numpy, waiting
from ._types import ArrayLike


def polyval(p: ArrayLike, x: ArrayLike) -> ndarray:
    """The values of a polynomial at `x`, by Horner's rule.

    >>> np.polyval(np.array([1, 0, 2]), np.array([3, 4]))
    array([11., 18.])
    """
    p, x = as_arrays((p, x))
    made = _core.full(x.shape, 0, _core.result_type(p, x), x.device)
    for i in range(p.size):
        made = made * x + p[i]
    return made


def _same_length(a1: ArrayLike, a2: ArrayLike) -> list[ndarray]:
    pair = [_core.reshape(a, (-1,)) for a in as_arrays((a1, a2))]
    n = max(a.size for a in pair)
    return [
        _core.concatenate([_core.full((n - a.size,), 0, a.dtype, a.device), a], 0) if a.size < n else a for a in pair
    ]


def polyadd(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The sum of two polynomials.

    >>> np.polyadd(np.array([1, 2]), np.array([9, 5, 4]))
    array([9., 6., 6.])
    """
    first, second = _same_length(a1, a2)
    return first + second


def polysub(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The difference of two polynomials.

    >>> np.polysub(np.array([1, 2]), np.array([1, 1, 1]))
    array([-1.,  0.,  1.])
    """
    first, second = _same_length(a1, a2)
    return first - second


def polymul(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The product of two polynomials.

    >>> np.polymul(np.array([1, 2]), np.array([1, 3]))
    array([1., 5., 6.])
    """
    first, second = (_core.reshape(a, (-1,)) for a in as_arrays((a1, a2)))
    made = _core.full((first.size + second.size - 1,), 0, _core.result_type(first, second), first.device)
    for i in range(min(first.size, second.size)):  # the shorter one's coefficients, one by one
        short, long = (first, second) if first.size <= second.size else (second, first)
        made[i : i + long.size] += short[i] * long
    return made


def polyder(p: ArrayLike, m: int = 1) -> ndarray:
    """The m-th derivative of a polynomial.

    >>> np.polyder(np.array([1, 1, 1], dtype="int32"))
    array([2, 1], dtype=int64)
    """
    if m < 0:
        raise ValueError(f"polyder: m={m} is negative")
    made = as_array(p)
    for _ in range(m):
        powers = _core.arange(made.size - 1, -1, max(made.size - 1, 0), numpy.dtype("int64"), made.device)
        made = made[:-1] * powers
    return made


def polyint(p: ArrayLike, m: int = 1, k: ArrayLike = None) -> ndarray:
    """The m-th integral of a polynomial; `k` holds the constants.

    >>> np.polyint(np.array([2, 1])).tolist()
    [1.0, 1.0, 0.0]
    """
    if m < 0:
        raise ValueError(f"polyint: m={m} is negative")
    made = as_array(p)
    constants = numpy.zeros(m) if k is None else numpy.broadcast_to(numpy.ravel(numpy.asarray(k)), (m,))
    kind = _core.result_type(made, numpy.float64)
    for constant in constants.tolist():
        powers = _core.arange(made.size, -1, made.size, numpy.dtype("int64"), made.device)
        made = _core.concatenate([made / powers, _core.full((1,), constant, kind, made.device)], 0)
    return made


@by_numpy("waits")
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[ndarray, ndarray]:
    """Quotient and remainder of two polynomials. Waits, for the remainder's length depends on its values.

    >>> np.polydiv(np.array([3, 5, 2]), np.array([2, 1]))[0]
    array([1.5 , 1.75])
    """
    quotient, rest = waiting(numpy.polydiv, as_array(u), as_array(v))
    return quotient, rest


@by_numpy("waits")
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike = None,
    cov: Any = False,
) -> Any:
    """The polynomial of a degree that lies nearest to points. Waits.

    >>> np.polyfit(np.array([0, 1, 2]), np.array([1, 3, 5]), 1).round(3).tolist()
    [2.0, 1.0]
    """
    return waiting(numpy.polyfit, as_array(x), as_array(y), deg, rcond=rcond, full=full, w=w, cov=cov)


@by_numpy("waits")
def roots(p: ArrayLike) -> ndarray:
    """The zeros of a polynomial. Waits, for their number depends on the coefficients.

    >>> np.roots(np.array([1, -3, 2]))
    array([2., 1.])
    """
    made: ndarray = waiting(numpy.roots, as_array(p))
    return made


@by_numpy("waits")
def poly(seq_of_zeros: ArrayLike) -> ndarray:
    """The polynomial with these zeros, or the characteristic polynomial of a matrix. Waits.

    >>> np.poly(np.array([1, 2]))
    array([ 1., -3.,  2.])
    """
    made: ndarray = waiting(numpy.poly, as_array(seq_of_zeros))
    return made


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> ndarray:
    """The matrix of powers of a vector's elements, falling (or increasing) from left to right.

    >>> np.vander(np.array([2, 3], dtype="int64"), 3)
    array([[4, 2, 1],
           [9, 3, 1]], dtype=int64)
    """
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError(f"vander: the argument has {x.ndim} dimensions; it must have 1")
    n = x.size if N is None else int(N)
    if n < 0:
        raise ValueError(f"vander: N={n} is negative")
    kind = _core.promote_types(x.dtype, numpy.int64)
    ones = _core.full((x.size, 1), 1, kind, x.device)
    columns = _core.broadcast_to(_core.reshape(_core.astype(x, kind), (-1, 1)), (x.size, max(n - 1, 0)))
    made = _core.cumprod(_core.concatenate([ones, columns], 1)[:, :n], 1, kind)
    return made if increasing else _core.copy(_core.flip(made, [1]))


if not TYPE_CHECKING:
    __all__ = public(globals())
