"""Products that MXNet has and NumPy lacks."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import ndarray
from ..np._arguments import as_arrays
from ..np._types import ArrayLike


def batch_dot(
    a: ArrayLike, b: ArrayLike, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Any = None
) -> ndarray:
    """Products of the matrices of two stacks of one shape, each transposed first where asked for.

    >>> npx.batch_dot(np.ones((2, 3, 4)), np.ones((2, 5, 4)), transpose_b=True).shape
    (2, 3, 5)
    """
    a, b = as_arrays((a, b))
    if a.ndim < 3 or a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2]:
        raise ValueError(f"batch_dot: shapes {a.shape} and {b.shape} are not two stacks of matrices of one shape")
    a = _core.swapaxes(a, -1, -2) if transpose_a else a
    b = _core.swapaxes(b, -1, -2) if transpose_b else b
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"batch_dot: matrices {a.shape[-2:]} and {b.shape[-2:]} do not align")
    return _core.matmul(a, b)


def khatri_rao(*matrices: ArrayLike) -> ndarray:
    """Kronecker products of the columns of matrices with equally many columns.

    >>> npx.khatri_rao(np.array([[1, 2], [3, 4]]), np.array([[1, 10]]))
    array([[ 1., 20.],
           [ 3., 40.]])
    """
    made, *others = as_arrays(matrices)
    for other in others:
        if made.ndim != 2 or other.ndim != 2 or made.shape[1] != other.shape[1]:
            raise ValueError(f"khatri_rao: shapes {made.shape} and {other.shape} have not equally many columns")
        product = _core.multiply(_core.expand_dims(made, [1]), _core.expand_dims(other, [0]))
        made = _core.reshape(product, (-1, made.shape[1]))
    return made
