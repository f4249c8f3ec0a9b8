"""Linear algebra: NumPy's `linalg` and the array API's, on stacks of matrices, through LAPACK on the engine's threads.

Matrices are the last two axes of an array; the axes before them are a stack. Integers are computed in float64; float16
and bfloat16 are refused, as in NumPy. A matrix that turns out to be singular, or an iteration that does not end, fails
its result: reading that raises `LinAlgError`, which names the line that asked for it.

>>> np.linalg.solve(np.array([[2, 0], [0, 4]]), np.array([2, 2]))
array([1. , 0.5])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
from numpy.linalg import LinAlgError as LinAlgError

from .. import _core
from .._core import ndarray
from . import _linalg_factors, _linalg_norms
from ._arguments import as_array, as_arrays, normal_axes, public
from ._linalg import as_inexact, transposed
from ._linalg import cross as _cross
from ._linalg import matmul as matmul
from ._linalg import outer as _outer
from ._linalg import tensordot as tensordot
from ._linalg import trace as _trace
from ._linalg import vecdot as vecdot
from ._linalg_norms import cond as cond
from ._linalg_norms import matrix_norm as matrix_norm
from ._linalg_norms import matrix_rank as matrix_rank
from ._linalg_norms import norm as norm
from ._linalg_norms import vector_norm as vector_norm
from ._manipulation import diagonal as _diagonal
from ._manipulation import matrix_transpose as matrix_transpose
from ._types import ArrayLike, DTypeLike


class EigResult(NamedTuple):
    """What `eig` gives.

    >>> np.linalg.eig(np.eye(2)).eigenvalues.dtype
    dtype('complex64')
    """

    eigenvalues: ndarray
    eigenvectors: ndarray


class EighResult(NamedTuple):
    """What `eigh` gives.

    >>> np.linalg.eigh(np.eye(2)).eigenvalues
    array([1., 1.])
    """

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """What `qr` gives.

    >>> np.linalg.qr(np.ones((3, 2))).R.shape
    (2, 2)
    """

    Q: ndarray
    R: ndarray


class SlogdetResult(NamedTuple):
    """What `slogdet` gives.

    >>> np.linalg.slogdet(np.eye(2)).logabsdet
    array(0.)
    """

    sign: ndarray
    logabsdet: ndarray


class SVDResult(NamedTuple):
    """What `svd` gives.

    >>> np.linalg.svd(np.eye(2)).S
    array([1., 1.])
    """

    U: ndarray
    S: ndarray
    Vh: ndarray


# ---- solutions


def _both(a: ArrayLike, b: ArrayLike) -> tuple[ndarray, ndarray]:
    """Two arguments in their common type."""
    a, b = as_arrays((a, b))
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        a, b = as_inexact(a), as_inexact(b)
    dtype = _core.promote_types(a.dtype, b.dtype)
    return _core.astype(a, dtype) if a.dtype != dtype else a, _core.astype(b, dtype) if b.dtype != dtype else b


def solve(a: ArrayLike, b: ArrayLike) -> ndarray:
    """The x with `a @ x == b`; b is a vector if it has one dimension, else a stack of matrices.

    >>> np.linalg.solve(np.array([[1, 2], [3, 5]]), np.array([1, 2]))
    array([-1.,  1.])
    """
    a, b = _both(a, b)
    if b.ndim == 1:
        return _core.squeeze(_linalg_factors.solve(a, _core.expand_dims(b, [1])), [-1])
    return _linalg_factors.solve(a, b)


def inv(a: ArrayLike) -> ndarray:
    """The inverse of each matrix.

    >>> np.linalg.inv(np.array([[1, 2], [3, 5]]))
    array([[-5.,  2.],
           [ 3., -1.]])
    """
    return _linalg_factors.inv(as_inexact(a))


def pinv(a: ArrayLike, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ndarray:
    """The pseudo-inverse: singular values below `rtol` (or `rcond`) times the largest count as 0.

    Without either, `rtol` is the larger side of the matrix times the type's `eps`. (`hermitian` changes nothing.)

    >>> np.linalg.pinv(np.array([[1, 0], [0, 2], [0, 0]]))
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0. ]])
    """
    if rcond is not None and rtol is not None:
        raise ValueError("pinv: `rtol` and `rcond` can't be both set.")
    a = as_inexact(a)
    if a.ndim < 2:
        raise LinAlgError(f"pinv: an array of {a.ndim} dimensions holds no matrices; at least two are needed")
    if 0 in a.shape:
        return _core.full((*a.shape[:-2], a.shape[-1], a.shape[-2]), 0, a.dtype, a.device)
    limit = rcond if rtol is None else rtol
    return _linalg_factors.pinv(a, lambda x: _pinv(x, limit))


def _pinv(a: ndarray, limit: Any) -> ndarray:
    u, s, vh = _linalg_factors.svd(_core.conj(a) if a.dtype.kind == "c" else a, False, True)
    largest = _core.max(s, axis=-1, keepdims=True)
    if limit is None:
        limit = max(a.shape[-2:]) * float(numpy.finfo(a.dtype).eps)
    elif isinstance(limit, (ndarray, numpy.ndarray, list)):
        limit = _core.expand_dims(as_array(limit, a.device), [-1])
    kept = _core.where(s > largest * limit, _core.reciprocal(_core.where(s > largest * limit, s, 1)), 0)
    made = _core.matmul(transposed(vh), _core.multiply(_core.expand_dims(kept, [-1]), transposed(u)))
    return made if made.dtype == a.dtype else _core.astype(made, a.dtype)


def lstsq(a: ArrayLike, b: ArrayLike, rcond: Any = None) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Least squares: x, sums of squared residuals, rank of `a`, its singular values.

    The residuals are empty where the rank is not full or `a` has no more rows than columns. So with more rows the call
    waits for the rank. Only x has a gradient.

    >>> x, residuals, rank, s = np.linalg.lstsq(np.array([[1, 0], [1, 1], [1, 2]]), np.array([0, 1, 3]))
    >>> x.round(3)
    array([-0.167,  1.5  ])
    """
    a, b = _both(a, b)
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise LinAlgError(f"lstsq: a matrix and one or two dimensions are needed, not shapes {a.shape} and {b.shape}")
    if a.shape[0] != b.shape[0]:
        raise LinAlgError(f"lstsq: shapes {a.shape} and {b.shape} do not align: {a.shape[0]} != {b.shape[0]}")
    m, n = a.shape
    if rcond is None or isinstance(rcond, str):
        rcond = max(m, n) * float(numpy.finfo(a.dtype).eps)
    columns = _core.expand_dims(b, [1]) if b.ndim == 1 else b
    if columns.shape[1] == 0:  # LAPACK refuses to solve for nothing
        x, residuals, rank, s = lstsq(a, _core.full((m, 1), 0, b.dtype, b.device), rcond)
        return x[:, :0], residuals[:0], rank, s
    x, residuals, rank, s = _core.lstsq(a, columns, float(rcond))
    if _core.is_recording():  # the same, of functions that have gradients
        x = matmul(pinv(a, rcond), columns)
    if m <= n or int(rank) < n:
        residuals = _core.full((0,), 0, residuals.dtype, residuals.device)
    return (_core.squeeze(x, [1]) if b.ndim == 1 else x), residuals, rank, s


def tensorinv(a: ArrayLike, ind: int = 2) -> ndarray:
    """The inverse of `tensordot(a, ., ind)`: the first `ind` axes are rows, the others columns.

    >>> np.linalg.tensorinv(np.eye(6).reshape(2, 3, 6), ind=2).shape
    (6, 2, 3)
    """
    a = as_array(a)
    if ind <= 0:
        raise ValueError(f"tensorinv: ind is {ind}, but must be positive")
    rows, columns = a.shape[:ind], a.shape[ind:]
    matrix = _core.reshape(a, (int(numpy.prod(rows, dtype=int)), -1) if a.size else (0, 0))
    return _core.reshape(inv(matrix), columns + rows)


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Any = None) -> ndarray:
    """The x with `tensordot(a, x, x.ndim) == b`; `axes` of `a` are moved to its end first.

    >>> np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), np.ones((2, 3))).shape
    (6,)
    """
    a, b = as_arrays((a, b))
    if axes is not None:
        last = normal_axes(list(axes), a.ndim, "tensorsolve")
        a = _core.transpose(a, [i for i in range(a.ndim) if i not in last] + last)
    unknowns = a.shape[b.ndim :] if a.ndim > b.ndim else a.shape  # the latter holds one number, as in NumPy
    size = int(numpy.prod(unknowns, dtype=int))
    if a.size != size**2:
        raise LinAlgError(
            f"tensorsolve: shape {a.shape} is not square: the product of {unknowns} must be that of the other axes"
        )
    return _core.reshape(solve(_core.reshape(a, (size, size)), _core.reshape(b, (-1,))), unknowns)


# ---- determinants and powers


def det(a: ArrayLike) -> ndarray:
    """The determinant of each matrix.

    >>> np.linalg.det(np.array([[1, 2], [3, 4]]))
    array(-2.)
    """
    return _linalg_factors.det(as_inexact(a))


def slogdet(a: ArrayLike) -> SlogdetResult:
    """Sign (a complex number of size 1) and logarithm of the size of each determinant.

    >>> sign, logarithm = np.linalg.slogdet(np.eye(3) * -1)
    >>> float(sign), float(logarithm)
    (-1.0, 0.0)
    """
    return SlogdetResult(*_linalg_factors.slogdet(as_inexact(a)))


def matrix_power(a: ArrayLike, n: int) -> ndarray:
    """Each matrix multiplied n times with itself; the inverse's power for a negative n.

    >>> np.linalg.matrix_power(np.array([[1, 1], [0, 1]]), 5)
    array([[1., 5.],
           [0., 1.]])
    """
    a = as_array(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"matrix_power: the last two dimensions of shape {a.shape} are not those of square matrices")
    if isinstance(n, float) or not hasattr(n, "__index__"):
        raise TypeError(f"matrix_power: the exponent is a {type(n).__name__}, but must be an integer")
    if n == 0:
        return _core.copy(_core.broadcast_to(_core.eye(a.shape[-1], a.shape[-1], 0, a.dtype, a.device), a.shape))
    if n < 0:
        a, n = inv(a), -n
    made = None
    while n:
        if n & 1:
            made = a if made is None else _core.matmul(made, a)
        n >>= 1
        if n:
            a = _core.matmul(a, a)
    assert made is not None
    return _core.copy(made) if made is a else made


# ---- factors


def cholesky(a: ArrayLike, /, *, upper: bool = False) -> ndarray:
    """The triangular L with `a == L @ L.conj().T` (`upper`: U with `a == U.conj().T @ U`), from that triangle of `a`.

    >>> np.linalg.cholesky(np.array([[4, 2], [2, 2]]))
    array([[2., 0.],
           [1., 1.]])
    """
    return _linalg_factors.cholesky(as_inexact(a), bool(upper))


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """An orthonormal Q and an upper triangular R with `a == Q @ R`.

    `mode`: "reduced" (Q has as many columns as R rows), "complete" (Q is square), "r" (R alone), or "raw" (LAPACK's
    reflectors, transposed, and their factors).

    >>> q, r = np.linalg.qr(np.array([[3, 1], [4, 2]]))
    >>> np.allclose(q @ r, np.array([[3, 1], [4, 2]])).item()
    True
    """
    factors = _linalg_factors.qr(as_inexact(a), mode)
    if mode == "r":
        return factors[0]
    return QRResult(*factors) if mode != "raw" else tuple(factors)


def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular values, largest first, with left and right vectors: `a == U @ diag(S) @ Vh`.

    `full_matrices`: U and Vh are square; else they have as many vectors as there are values. `compute_uv=False`: the
    values alone. (`hermitian` changes nothing.)

    >>> u, s, vh = np.linalg.svd(np.array([[0, 2], [3, 0]]))
    >>> s
    array([3., 2.])
    """
    factors = _linalg_factors.svd(as_inexact(a), bool(full_matrices), bool(compute_uv))
    return SVDResult(*factors) if compute_uv else factors[0]


def svdvals(x: ArrayLike, /) -> ndarray:
    """Singular values, largest first.

    >>> np.linalg.svdvals(np.array([[0, 2], [3, 0]]))
    array([3., 2.])
    """
    return _linalg_factors.svd(as_inexact(x), False, False)[0]


# ---- eigenvalues


def _upper(function: str, uplo: Any, upper: bool | None) -> bool:
    if upper is not None or isinstance(uplo, bool):
        return bool(uplo if upper is None else upper)
    if str(uplo).upper() not in ("L", "U"):
        raise ValueError(f"{function}: UPLO is {uplo!r}, but must be 'L' or 'U'")
    return str(uplo).upper() == "U"


def eigh(a: ArrayLike, UPLO: Any = "L", *, upper: bool | None = None) -> EighResult:
    """Eigenvalues (ascending) and orthonormal eigenvectors (columns) of Hermitian matrices, from one triangle.

    >>> w, v = np.linalg.eigh(np.array([[2, 1], [1, 2]]))
    >>> w
    array([1., 3.])
    """
    return EighResult(*_linalg_factors.eigh(as_inexact(a), _upper("eigh", UPLO, upper), True))


def eigvalsh(a: ArrayLike, UPLO: Any = "L", *, upper: bool | None = None) -> ndarray:
    """Eigenvalues of Hermitian matrices, ascending.

    >>> np.linalg.eigvalsh(np.array([[2, 1], [1, 2]]))
    array([1., 3.])
    """
    return _linalg_factors.eigh(as_inexact(a), _upper("eigvalsh", UPLO, upper), False)[0]


def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and eigenvectors (columns) of any square matrices.

    They are always complex, as the array API standard says: NumPy gives real ones where all values turn out to be real,
    which only a wait could tell.

    >>> w, v = np.linalg.eig(np.array([[0, -1], [1, 0]]))
    >>> abs(w.imag)
    array([1., 1.])
    """
    return EigResult(*_linalg_factors.eig(as_inexact(a), True))


def eigvals(a: ArrayLike) -> ndarray:
    """Eigenvalues of any square matrices; always complex (see `eig`).

    >>> np.linalg.eigvals(np.array([[1, 2], [0, 3]])).dtype
    dtype('complex64')
    """
    return _linalg_factors.eig(as_inexact(a), False)[0]


# ---- products


def multi_dot(arrays: Any, *, out: ndarray | None = None) -> ndarray:
    """The product of two or more matrices in the cheapest order; the first and the last may be vectors.

    >>> np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])
    array([12., 12.])
    """
    parts = as_arrays(arrays)
    if len(parts) < 2:
        raise ValueError(f"multi_dot: at least two arrays are needed, not {len(parts)}")
    row, column = parts[0].ndim == 1, parts[-1].ndim == 1
    if row:
        parts[0] = _core.expand_dims(parts[0], [0])
    if column:
        parts[-1] = _core.expand_dims(parts[-1], [1])
    for part in parts:
        if part.ndim != 2:
            raise LinAlgError(f"multi_dot: an array of shape {part.shape} is no matrix")
    if len(parts) == 2:
        made = _core.dot(parts[0], parts[1])
    else:
        made = _multiply(parts, _best_splits([p.shape[0] for p in parts] + [parts[-1].shape[1]]), 0, len(parts) - 1)
    made = _core.reshape(made, made.shape[int(row) : 2 - int(column)])
    if out is None:
        return made
    _core.assign(out, made)
    return out


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to cut each product of neighbours, so that as few numbers as possible are multiplied."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(options)
    return split


def _multiply(parts: list[ndarray], split: dict[tuple[int, int], int], i: int, j: int) -> ndarray:
    if i == j:
        return parts[i]
    k = split[i, j]
    return _core.dot(_multiply(parts, split, i, k), _multiply(parts, split, k + 1, j))


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> ndarray:
    """Cross products of vectors of three elements.

    >>> np.linalg.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0., 0., 1.])
    """
    x1, x2 = as_arrays((x1, x2))
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"cross: shapes {x1.shape} and {x2.shape} have not three elements along axis {axis}")
    return _cross(x1, x2, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> ndarray:
    """The product of each element of one vector with each of the other.

    >>> np.linalg.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3., 4.],
           [6., 8.]])
    """
    x1, x2 = as_arrays((x1, x2))
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer: two vectors are needed, not shapes {x1.shape} and {x2.shape}")
    return _outer(x1, x2)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> ndarray:
    """The sum of a diagonal of each matrix.

    >>> np.linalg.trace(np.ones((5, 3, 3)))
    array([3., 3., 3., 3., 3.])
    """
    return _trace(x, offset, -2, -1, dtype)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> ndarray:
    """A diagonal of each matrix, a view.

    >>> np.linalg.diagonal(np.ones((5, 3, 3))).shape
    (5, 3)
    """
    return _diagonal(as_array(x), offset, -2, -1)


if not TYPE_CHECKING:
    __all__ = [
        *public(globals()),
        *_linalg_norms.__all__,
        *("LinAlgError", "matmul", "matrix_transpose", "tensordot", "vecdot"),
    ]
