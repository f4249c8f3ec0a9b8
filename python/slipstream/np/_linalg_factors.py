"""The core's factorizations with their gradients, which `linalg` and the norms are made of.

Gradients of complex numbers on the tape are conjugates of the usual ones; the formulas are for the usual ones, and are
wrapped in `_conjugated`. They are composed of differentiable functions, so they can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import ndarray
from ._linalg import adjoint, transposed
from ._manipulation import diagonal

Gradient = Callable[..., Any]


Arrays = tuple[ndarray, ...]


def _all_noted(name: str, results: Arrays, inputs: list[ndarray], gradient: Gradient) -> Arrays:
    """Results that know their gradient: `gradient(*gradients of results, *results)`."""
    if not _core.is_recording():
        return results
    return tuple(_core.note_function(name, list(results), inputs, _conjugated(gradient), True))


def _noted(name: str, result: ndarray, inputs: list[ndarray], gradient: Gradient) -> ndarray:
    return _all_noted(name, (result,), inputs, gradient)[0]


def _conj(x: Any) -> Any:
    return _core.conj(x) if isinstance(x, ndarray) and x.dtype.kind == "c" else x


def _conjugated(gradient: Gradient) -> Gradient:
    def run(*given: ndarray) -> Any:
        half = len(given) // 2
        made = gradient(*(_conj(g) for g in given[:half]), *given[half:])
        return [_conj(g) for g in made] if isinstance(made, list) else _conj(made)

    return run


def _column(x: ndarray) -> ndarray:
    return _core.expand_dims(x, [-1])


def _row(x: ndarray) -> ndarray:
    return _core.expand_dims(x, [-2])


def _square(x: ndarray) -> ndarray:
    """A number for each matrix, as a matrix."""
    return _core.expand_dims(x, [-2, -1])


def _eye_like(x: ndarray) -> ndarray:
    return _core.eye(x.shape[-1], x.shape[-1], 0, x.dtype, x.device)


def _lower(x: ndarray, below: int = 0) -> ndarray:
    """The part below (or on) the diagonal; the rest 0."""
    n = x.shape[-1]
    steps = _core.arange(0, 1, n, "int64", x.device)
    inside = _core.greater_equal(_column(steps), _row(steps) + below)
    return _core.where(inside, x, _core.full((), 0, x.dtype, x.device))


def _hermitian_part(x: ndarray) -> ndarray:
    return (x + adjoint(x)) * 0.5


def _with_diagonal(x: ndarray, values: ndarray) -> ndarray:
    """Plus a diagonal matrix."""
    return x + _eye_like(x) * _row(values)


# ---- solutions


def inv(a: ndarray, nan_if_singular: bool = False) -> ndarray:
    def gradient(g: ndarray, r: ndarray) -> ndarray:
        turned = adjoint(r)
        return -(turned @ g @ turned)

    return _noted("inv", _core.inv(a, nan_if_singular), [a], gradient)


def _summed_to(g: ndarray, shape: tuple[int, ...]) -> ndarray:
    """Summed over the axes along which an array of a shape was repeated."""
    extra = g.ndim - len(shape)
    axes = [i for i in range(g.ndim) if i < extra or (shape[i - extra] == 1 and g.shape[i] != 1)]
    return _core.reshape(_core.sum(g, axis=tuple(axes)), shape) if axes else g


def solve(a: ndarray, b: ndarray) -> ndarray:
    def gradient(g: ndarray, r: ndarray) -> list[ndarray]:
        of_b = solve(adjoint(a), g)
        return [_summed_to(-(of_b @ adjoint(r)), a.shape), _summed_to(of_b, b.shape)]

    return _noted("solve", _core.solve(a, b), [a, b], gradient)


def det(a: ndarray) -> ndarray:
    """The gradient needs an invertible matrix."""
    return _noted("det", _core.det(a), [a], lambda g, r: _square(g * _conj(r)) * adjoint(inv(a)))


def slogdet(a: ndarray) -> Arrays:
    """The gradient needs an invertible matrix."""

    def gradient(g_sign: ndarray, g: ndarray, sign: ndarray, logarithm: ndarray) -> ndarray:
        if a.dtype.kind == "c":
            turn = -_core.imag(_conj(g_sign) * sign)
            g = g + turn * 1j
        return _square(g) * adjoint(inv(a))

    return _all_noted("slogdet", tuple(_core.slogdet(a)), [a], gradient)


# ---- factors


def cholesky(a: ndarray, upper: bool) -> ndarray:
    if upper:
        return transposed(cholesky(transposed(a), False))

    def gradient(g: ndarray, r: ndarray) -> ndarray:
        turned = adjoint(r)
        inner = _lower(turned @ g)
        inner = inner - _eye_like(inner) * _row(diagonal(inner, 0, -2, -1)) * 0.5
        left = _triangular(turned, _hermitian_part(inner) * 2)
        return adjoint(_triangular(turned, adjoint(left))) * 0.5

    return _noted("cholesky", _core.cholesky(a, False), [a], gradient)


def _triangular(a: ndarray, b: ndarray, lower: bool = False) -> ndarray:
    """The solution of a triangular system."""

    def gradient(g: ndarray, r: ndarray) -> list[ndarray]:
        of_b = _triangular(adjoint(a), g, not lower)
        of_a = -(of_b @ adjoint(r))
        return [_lower(of_a) if lower else transposed(_lower(transposed(of_a))), of_b]

    return _noted("solve_triangular", _core.solve_triangular(a, b, lower), [a, b], gradient)


def _qr_gradient(gq: ndarray, gr: ndarray, q: ndarray, r: ndarray) -> ndarray:
    """Of a matrix that has as many rows as columns, or more."""
    inner = r @ adjoint(gr) - adjoint(gq) @ q
    below = _lower(inner, 1)
    on = _core.real(diagonal(inner, 0, -2, -1)) if inner.dtype.kind == "c" else diagonal(inner, 0, -2, -1)
    mirrored = _with_diagonal(below + adjoint(below), on)
    return adjoint(_triangular(r, adjoint(gq + q @ mirrored)))


def qr(a: ndarray, mode: str) -> Arrays:
    m, n = a.shape[-2:] if a.ndim > 1 else (0, 0)
    if not _core.is_recording() or mode == "raw" or a.ndim < 2:
        return tuple(_core.qr(a, mode))
    if mode == "r":
        return (qr(a, "reduced")[1],)

    def gradient(gq: ndarray, gr: ndarray, q: ndarray, r: ndarray) -> ndarray:
        if m >= n:
            if mode == "complete" and m > n:
                raise ValueError(f"qr: mode 'complete' of a matrix with {m} rows and {n} columns has no gradient")
            return _qr_gradient(gq, gr, q, r)
        rest = _core.slice(a, a.ndim - 1, m, 1, n - m)
        g_rest = _core.slice(gr, gr.ndim - 1, m, 1, n - m)
        first, g_first = _core.slice(r, r.ndim - 1, 0, 1, m), _core.slice(gr, gr.ndim - 1, 0, 1, m)
        left = _qr_gradient(gq + rest @ adjoint(g_rest), g_first, q, first)
        return _core.concatenate([left, q @ g_rest], -1)

    return _all_noted("qr", tuple(_core.qr(a, mode)), [a], gradient)


def _gaps(values: ndarray) -> ndarray:
    """1 / (v_j - v_i) for each pair, 0 on the diagonal."""
    one = _eye_like(_column(values) * _row(values))
    return (1 - one) / (_row(values) - _column(values) + one)


def eigh(a: ndarray, upper: bool, vectors: bool) -> Arrays:
    """The gradient of the vectors needs distinct values."""
    if not _core.is_recording():
        return tuple(_core.eigh(a, upper, vectors))

    def gradient(gw: ndarray, gv: ndarray, w: ndarray, v: ndarray) -> ndarray:
        inner = _with_diagonal(_gaps(w) * (adjoint(v) @ gv), gw)
        return _hermitian_part(v @ inner @ adjoint(v))

    made = tuple(_core.eigh(a, upper, True))
    if vectors:
        return _all_noted("eigh", made, [a], gradient)
    plain = made[1]

    def of_values(gw: ndarray, w: ndarray) -> ndarray:
        v = eigh(a, upper, True)[1] if _core.is_recording() else plain
        return (v * _row(gw)) @ adjoint(v)

    return _all_noted("eigvalsh", made[:1], [a], of_values)


def eig(a: ndarray, vectors: bool) -> Arrays:
    """The gradient needs distinct values; that of the vectors is of vectors of length 1 with any phase."""
    made = tuple(_core.eig(a, vectors or _core.is_recording()))
    if not _core.is_recording():
        return made

    def back(inner: ndarray, v: ndarray) -> ndarray:
        found = solve(adjoint(v), inner @ adjoint(v))
        return found if a.dtype.kind == "c" else _core.real(found)

    def gradient(gw: ndarray, gv: ndarray, w: ndarray, v: ndarray) -> ndarray:
        turned = adjoint(v) @ gv
        size = _core.real(diagonal(turned, 0, -2, -1))
        return back(_with_diagonal(_conj(_gaps(w)) * (turned - (adjoint(v) @ v) * _row(size)), gw), v)

    if vectors:
        return _all_noted("eig", made, [a], gradient)
    plain = made[1]

    def of_values(gw: ndarray, w: ndarray) -> ndarray:
        v = eig(a, True)[1] if _core.is_recording() else plain
        return back(_eye_like(v) * _row(gw), v)

    return _all_noted("eigvals", made[:1], [a], of_values)


def _part(x: ndarray, axis: int, n: int) -> ndarray:
    axis += x.ndim
    return x if x.shape[axis] == n else _core.slice(x, axis, 0, 1, n)


def svd(a: ndarray, full: bool, vectors: bool) -> Arrays:
    """The gradient of the vectors needs distinct values, none of them 0; vectors without a value have none."""
    if not _core.is_recording() or a.ndim < 2:
        return tuple(_core.svd(a, full, vectors))
    m, n = a.shape[-2:]
    k = min(m, n)

    def gradient(gu: ndarray, gs: ndarray, gvh: ndarray, u: ndarray, s: ndarray, vh: ndarray) -> ndarray:
        gu, u, gvh, vh = _part(gu, -1, k), _part(u, -1, k), _part(gvh, -2, k), _part(vh, -2, k)
        gv, v = adjoint(gvh), adjoint(vh)
        of_u, of_v = adjoint(u) @ gu, vh @ gv
        turned_u, turned_v = of_u - adjoint(of_u), of_v - adjoint(of_v)
        gaps = _gaps(s * s)
        inner = gaps * (turned_u * _row(s) + _column(s) * turned_v)
        on = gs
        if a.dtype.kind == "c":
            on = gs + diagonal(turned_u, 0, -2, -1) / (s * 2)
        inner = _with_diagonal(inner, on)
        made = u @ inner @ vh
        if m > k:
            over = (gu - u @ of_u) / _row(s)
            made = made + over @ vh
        if n > k:
            over = (gv - v @ of_v) / _row(s)
            made = made + u @ adjoint(over)
        return made

    made = tuple(_core.svd(a, full and vectors, True))
    if vectors:
        return _all_noted("svd", made, [a], gradient)
    left, right = made[0], made[2]

    def of_values(gs: ndarray, s: ndarray) -> ndarray:
        u, _, vh = svd(a, False, True) if _core.is_recording() else (left, s, right)
        return (u * _row(gs)) @ vh

    return _all_noted("svdvals", made[1:2], [a], of_values)


def pinv(a: ndarray, compute: Callable[[ndarray], ndarray]) -> ndarray:
    """The gradient is that of matrices of one rank."""

    def gradient(g: ndarray, p: ndarray) -> ndarray:
        gh, ph = adjoint(g), adjoint(p)
        made = -(ph @ g @ ph)
        left = gh @ p @ ph
        right = ph @ p @ gh
        return made + left - a @ (p @ left) + right - (right @ p) @ a

    if not _core.is_recording():
        return compute(a)
    before = _core.set_recording(False)
    try:
        made = compute(a)
    finally:
        _core.set_recording(before)
    return _noted("pinv", made, [a], gradient)
