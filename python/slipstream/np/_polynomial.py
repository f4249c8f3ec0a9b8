"""Polynomials as lines of coefficients, the highest power first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ._arguments import as_array, as_arrays, public
from ._by_numpy import run_by_numpy, wait_and_run
from ._joining import concatenate
from ._types import ArrayLike


def _line(p: ArrayLike) -> ndarray:
    line = as_array(p)
    return _core.reshape(line, (1,)) if line.ndim == 0 else line


def polyval(p: ArrayLike, x: ArrayLike) -> ndarray:
    """The value of a polynomial at x.

    >>> np.polyval(np.array([3, 0, 1]), 5)
    array(76.)
    """
    p, x = as_arrays((p, x))
    p = _line(p)
    made = _core.full(x.shape, 0, x.dtype, x.device)
    for i in range(p.shape[0]):
        made = made * x + p[i]
    return made


def _same_length(a1: ArrayLike, a2: ArrayLike) -> list[ndarray]:
    parts = [_line(part) for part in as_arrays((a1, a2))]
    n = max(part.size for part in parts)
    dtype = _core.result_type(*parts)
    return [concatenate([_core.full((n - p.size,), 0, dtype, p.device), p]) if p.size < n else p for p in parts]


def polyadd(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The sum of two polynomials.

    >>> np.polyadd(np.array([1, 2]), np.array([9, 5, 4]))
    array([9., 6., 6.])
    """
    one, two = _same_length(a1, a2)
    return one + two


def polysub(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The difference of two polynomials.

    >>> np.polysub(np.array([2, 10, -2]), np.array([3, 10, -4]))
    array([-1.,  0.,  2.])
    """
    one, two = _same_length(a1, a2)
    return one - two


def polymul(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The product of two polynomials, without leading zeros: waits, for these are values.

    >>> np.polymul(np.array([1, 2]), np.array([1, 3]))
    array([1., 5., 6.])
    """
    made: ndarray = wait_and_run("polymul", numpy.polymul, as_arrays((a1, a2)))
    return made


def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[ndarray, ndarray]:
    """Quotient and remainder of two polynomials, the latter without leading zeros: waits.

    >>> np.polydiv(np.array([3, 5, 2]), np.array([2, 1]))
    (array([1.5 , 1.75]), array([0.25]))
    """
    made: tuple[ndarray, ndarray] = wait_and_run("polydiv", numpy.polydiv, as_arrays((u, v)))
    return made


def polyder(p: ArrayLike, m: int = 1) -> ndarray:
    """The m-th derivative of a polynomial.

    >>> np.polyder(np.array([1, 1, 1, 1]))
    array([3., 2., 1.])
    """
    if m < 0:
        raise ValueError(f"polyder: m={m} is negative")
    line = _line(p)
    for _ in range(int(m)):
        n = line.size - 1
        line = line[:-1] * _core.arange(n, -1, max(n, 0), _powers(line), line.device)
    return line


def _powers(p: ndarray) -> Any:
    return p.dtype if p.dtype.kind in "fcV" else numpy.dtype("int64")


def polyint(p: ArrayLike, m: int = 1, k: Any = None) -> ndarray:
    """The m-th integral of a polynomial, with constants of integration k.

    >>> np.polyint(np.array([1, 1, 1]))
    array([0.33333334, 0.5       , 1.        , 0.        ])
    """
    if m < 0:
        raise ValueError(f"polyint: m={m} is negative")
    constants = numpy.zeros(m) if k is None else numpy.atleast_1d(numpy.asarray(k, dtype="float64"))
    if constants.size == 1 and m > 1:
        constants = constants[0] * numpy.ones(m)
    if constants.size < m:
        raise ValueError(f"polyint: {constants.size} constants for {m} integrals")
    line = _line(p)
    for constant in constants[: int(m)]:
        divided = line / _core.arange(line.size, -1, line.size, _powers(line), line.device)
        line = concatenate([divided, _core.full((1,), float(constant), divided.dtype, line.device)])
    return line


def poly(seq_of_zeros: ArrayLike) -> ndarray:
    """The polynomial with given zeros, or the characteristic one of a matrix. Waits for complex zeros and matrices.

    >>> np.poly(np.array([1, 2]))
    array([ 1., -3.,  2.])
    """
    zeros = _line(seq_of_zeros)
    if zeros.ndim > 1 or zeros.dtype.kind == "c":
        made: ndarray = wait_and_run("poly", numpy.poly, [zeros])
        return made
    zeros = zeros if zeros.dtype.kind in "fV" else _core.astype(zeros, numpy.float64)
    result = _core.full((1,), 1, zeros.dtype, zeros.device)
    one = result
    for i in range(zeros.size):
        result = _core.convolve(result, concatenate([one, -zeros[i : i + 1]]), 0, result.size + 1)
    return result


def roots(p: ArrayLike) -> ndarray:
    """The zeros of a polynomial: waits, for leading zeros and complex results depend on values.

    >>> np.roots(np.array([1, -3, 2]))
    array([2., 1.])
    """
    made: ndarray = wait_and_run("roots", numpy.roots, [_line(p)])
    return made


def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: Any,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike = None,
    cov: Any = False,
) -> Any:
    """The polynomial of a degree that comes nearest to points, by least squares. Waits with `full` or `cov`.

    >>> np.round(np.polyfit(np.array([0, 1, 2]), np.array([1, 3, 5]), 1), 3)
    array([2., 1.], dtype=float64)
    """
    x, y = as_arrays((x, y))
    if x.ndim != 1 or x.size == 0 or y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise TypeError(f"polyfit: x has shape {x.shape}, y {y.shape}; x must be a line, y of its length")
    if int(deg) < 0:
        raise ValueError(f"polyfit: the degree {deg} is negative")
    weights = [] if w is None else [as_array(w, x.device)]

    def call(x: Any, y: Any, *w: Any) -> Any:
        fit: Any = numpy.polyfit
        return fit(x, y, deg, rcond, full, w[0] if w else None, cov)

    if full or cov:
        return wait_and_run("polyfit", call, [x, y, *weights])
    dtype = _core.result_type(x, y, *weights, numpy.float64)
    return run_by_numpy("polyfit", call, [x, y, *weights], (int(deg) + 1, *y.shape[1:]), dtype)


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> ndarray:
    """A matrix of powers of x: a row for each element, the highest power first unless `increasing`.

    >>> np.vander(np.array([1, 2, 3]), 3)
    array([[1., 1., 1.],
           [4., 2., 1.],
           [9., 3., 1.]])
    """
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError(f"vander: x has shape {x.shape}, but must have one dimension")
    n = x.size if N is None else int(N)
    dtype = _core.promote_types(x.dtype, numpy.int64) if x.dtype.kind in "iub" else x.dtype
    x = _core.reshape(_core.astype(x, dtype), (-1, 1))
    parts = [_core.full(x.shape, 1, dtype, x.device)] + [x] * max(n - 1, 0)
    made = _core.cumprod(concatenate(parts[: max(n, 0)] or [x[:, :0]], 1), 1, dtype)
    return made if increasing else made[:, ::-1]


if not TYPE_CHECKING:
    __all__ = public(globals())
