"""Windows for signals, and Bessel's function that one of them needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..device import resolve
from ._arguments import as_array, as_dtype, public
from ._types import ArrayLike, DeviceLike, DTypeLike


def _window(M: Any, values: Any, dtype: DTypeLike, device: DeviceLike, ctx: DeviceLike) -> ndarray:
    """A function of M numbers from -1 to 1, in double precision, as the type that is asked for."""
    n, place, target = max(int(M), 0), resolve(device, ctx), as_dtype(dtype)
    if n == 1:
        return _core.full((1,), 1.0, target, place)
    return _core.astype(values(_core.linspace(-1.0, 1.0, n, True, numpy.dtype("float64"), place)), target)


def hanning(M: int, dtype: DTypeLike = None, device: DeviceLike = None, *, ctx: DeviceLike = None) -> ndarray:
    """The Hann window of M points: a cosine from 0 to 1 and back.

    >>> np.hanning(3)
    array([0., 1., 0.])
    """
    return _window(M, lambda x: 0.5 + 0.5 * _core.cos(math.pi * x), dtype, device, ctx)


def hamming(M: int, dtype: DTypeLike = None, device: DeviceLike = None, *, ctx: DeviceLike = None) -> ndarray:
    """The Hamming window of M points: a cosine that ends at 0.08.

    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _window(M, lambda x: 0.54 + 0.46 * _core.cos(math.pi * x), dtype, device, ctx)


def blackman(M: int, dtype: DTypeLike = None, device: DeviceLike = None, *, ctx: DeviceLike = None) -> ndarray:
    """The Blackman window of M points: two cosines.

    >>> np.round(np.blackman(5), 2)
    array([-0.  ,  0.34,  1.  ,  0.34, -0.  ])
    """

    def values(x: ndarray) -> ndarray:
        return 0.42 + 0.5 * _core.cos(math.pi * x) + 0.08 * _core.cos(2 * math.pi * x)

    return _window(M, values, dtype, device, ctx)


def bartlett(M: int, dtype: DTypeLike = None, device: DeviceLike = None, *, ctx: DeviceLike = None) -> ndarray:
    """The Bartlett window of M points: a triangle.

    >>> np.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _window(M, lambda x: 1 - _core.abs(x), dtype, device, ctx)


def kaiser(
    M: int, beta: float, dtype: DTypeLike = None, device: DeviceLike = None, *, ctx: DeviceLike = None
) -> ndarray:
    """The Kaiser window of M points, the narrower the larger `beta`.

    >>> np.kaiser(3, 0)
    array([1., 1., 1.])
    """
    top = float(numpy.i0(beta))
    return _window(M, lambda x: i0(beta * _core.sqrt(1 - _core.square(x))) / top, dtype, device, ctx)


def i0(x: ArrayLike) -> ndarray:
    """Bessel's modified function of the first kind, of order 0.

    >>> np.i0(np.array([0.0, 1.0]))
    array([1.       , 1.2660658])
    """
    x = as_array(x)
    kind = _core.result_type(x, 1.0)
    if kind.kind == "c":
        raise TypeError("i0: complex numbers are not supported")
    wide = _core.abs(_core.astype(x, numpy.float64))
    small = _series(wide)
    large = _asymptotic(_core.maximum(wide, 20.0))
    return _core.astype(_core.where(wide < 20.0, small, large), kind)


def _series(x: ndarray) -> ndarray:
    """The power series in (x / 2) ** 2, for x below 20."""
    q = _core.square(_core.minimum(x, 20.0) / 2)
    made = 1.0 + q * 0
    for k in range(42, 0, -1):
        made = 1.0 + q * made / float(k * k)
    return made


def _asymptotic(x: ndarray) -> ndarray:
    """exp(x) / sqrt(2 pi x) times a series in 1 / x, for x from 20 on."""
    factors = [(2 * k - 1) ** 2 / (8.0 * k) for k in range(1, 19)]
    made = 1.0 + x * 0
    for factor in reversed(factors):
        made = 1.0 + factor / x * made
    half = _core.exp(x / 2)
    return half * (made / _core.sqrt(2 * math.pi * x)) * half


if not TYPE_CHECKING:
    __all__ = public(globals())
