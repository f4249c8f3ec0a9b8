"""Gradients of linear algebra, Fourier transforms and einsum against finite differences; complex ones by parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from gradcheck import check, leaf

from slipstream import autograd, np

linalg, fft = np.linalg, np.fft


def well(x: Any) -> Any:
    """Far from singular."""
    return x + np.eye(x.shape[-1], dtype="float64") * 4


def positive(x: Any) -> Any:
    return x @ x.swapaxes(-1, -2) + np.eye(x.shape[-1], dtype="float64")


def symmetric(x: Any) -> Any:
    return x + x.swapaxes(-1, -2)


def signless(factors: Any) -> Any:
    """What of singular vectors does not depend on their signs."""
    u, s, vh = factors
    k = s.shape[-1]
    return (u[..., :k] * s[..., None, :] ** 2) @ vh[..., :k, :]


def squared(z: Any) -> Any:
    return z.real**2 + z.imag**2


CASES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "inv": (lambda a: linalg.inv(well(a)), [(2, 3, 3)]),
    "solve": (lambda a, b: linalg.solve(well(a), b), [(2, 3, 3), (3, 2)]),
    "solve a vector": (lambda a, b: linalg.solve(well(a), b), [(2, 3, 3), (3,)]),
    "det": (lambda a: linalg.det(well(a)), [(2, 3, 3)]),
    "slogdet": (lambda a: linalg.slogdet(well(a))[1], [(2, 3, 3)]),
    "cholesky": (lambda a: linalg.cholesky(positive(a)), [(2, 3, 3)]),
    "cholesky, upper": (lambda a: linalg.cholesky(positive(a), upper=True), [(3, 3)]),
    "qr": (lambda a: linalg.qr(a), [(4, 3)]),
    "qr, stack": (lambda a: linalg.qr(a), [(2, 3, 3)]),
    "qr, wide": (lambda a: linalg.qr(a), [(2, 3, 5)]),
    "qr, r": (lambda a: linalg.qr(a, "r"), [(4, 3)]),
    "eigh": (lambda a: linalg.eigh(symmetric(a))[0], [(2, 3, 3)]),
    "eigh, vectors": (lambda a: linalg.eigh(symmetric(a))[1] ** 2, [(3, 3)]),
    "eigvalsh": (lambda a: linalg.eigvalsh(symmetric(a)), [(3, 3)]),
    "svd": (lambda a: signless(linalg.svd(a)), [(3, 3)]),
    "svd, tall": (lambda a: signless(linalg.svd(a, full_matrices=False)), [(2, 4, 3)]),
    "svd, wide": (lambda a: signless(linalg.svd(a)), [(3, 5)]),
    "svdvals": (lambda a: linalg.svdvals(a), [(2, 4, 3)]),
    "pinv": (lambda a: linalg.pinv(a), [(4, 3)]),
    "pinv, wide": (lambda a: linalg.pinv(a), [(2, 3, 4)]),
    "lstsq": (lambda a, b: linalg.lstsq(a, b)[0], [(5, 3), (5,)]),
    "eigvals": (lambda a: squared(linalg.eigvals(a)), [(3, 3)]),
    "eig": (lambda a: squared(linalg.eig(a)[1]), [(3, 3)]),
    "norm": (lambda a: linalg.norm(a), [(4, 3)]),
    "norm, nuclear": (lambda a: linalg.norm(a, "nuc"), [(4, 3)]),
    "norm, spectral": (lambda a: linalg.norm(a, 2, axis=(-2, -1)), [(2, 4, 3)]),
    "norm, 3": (lambda a: linalg.norm(a, 3, axis=0), [(4, 3)]),
    "matrix_power": (lambda a: linalg.matrix_power(well(a), -2), [(3, 3)]),
    "multi_dot": (lambda a, b, c: linalg.multi_dot([a, b, c]), [(2, 5), (5, 3), (3, 4)]),
    "cross": (lambda a, b: np.cross(a, b), [(4, 3), (3,)]),
    "einsum": (lambda a, b, c: np.einsum("bij,bjk,k->ib", a, b, c), [(2, 3, 4), (2, 4, 3), (3,)]),
    "einsum, diagonal": (lambda a: np.einsum("iij->j", a), [(3, 3, 4)]),
    "fft": (lambda a: fft.fft(a).real + fft.fft(a, 7).imag.sum(), [(2, 5)]),
    "fft of complex": (lambda a, b: squared(fft.ifft(a + 1j * b, 4, norm="ortho")), [(2, 5), (2, 5)]),
    "rfft": (lambda a: fft.rfft(a, axis=0).imag, [(6, 2)]),
    "rfft, cut": (lambda a: squared(fft.rfft(a, 5)), [(2, 7)]),
    "irfft": (lambda a, b: fft.irfft(a + 1j * b), [(2, 5), (2, 5)]),
    "irfft, odd": (lambda a, b: fft.irfft(a + 1j * b, 7), [(2, 5), (2, 5)]),
    "hfft": (lambda a, b: fft.hfft(a + 1j * b), [(4,), (4,)]),
    "fft2": (lambda a: fft.fft2(a).imag, [(3, 4)]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient(name: str, rng: numpy.random.Generator) -> None:
    f, shapes = CASES[name]
    check(f, [rng.normal(size=shape) for shape in shapes], rng, tolerance=2e-5)


def parts(f: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of a complex matrix as one of its parts, that gives parts."""

    def run(re: Any, im: Any) -> Any:
        made = f(re + 1j * im)
        return [part for y in (made if isinstance(made, (list, tuple)) else [made]) for part in (y.real, y.imag)]

    return run


def hermitian(z: Any) -> Any:
    return z @ z.conj().swapaxes(-1, -2) + np.eye(z.shape[-1], dtype="float64")


COMPLEX: dict[str, Callable[[Any], Any]] = {
    "inv": lambda z: linalg.inv(well(z)),
    "solve": lambda z: linalg.solve(well(z), z),
    "det": lambda z: linalg.det(z),
    "slogdet": lambda z: list(linalg.slogdet(well(z))),
    "cholesky": lambda z: linalg.cholesky(hermitian(z)),
    "eigvalsh": lambda z: linalg.eigvalsh(hermitian(z)),
    "eigh": lambda z: np.abs(linalg.eigh(hermitian(z))[1]),
    "eigvals": lambda z: linalg.eigvals(z),
    "eig": lambda z: np.abs(linalg.eig(z)[1]),
    "svdvals": lambda z: linalg.svdvals(z),
    "svd": lambda z: signless(linalg.svd(z)),
    "qr": lambda z: linalg.qr(z),
    "pinv": lambda z: linalg.pinv(z),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_gradient(name: str, rng: numpy.random.Generator) -> None:
    check(parts(COMPLEX[name]), [rng.normal(size=(3, 3)), rng.normal(size=(3, 3))], rng, second=False, tolerance=2e-5)


def test_values_are_the_same_while_recording(rng: numpy.random.Generator) -> None:
    values = rng.normal(size=(4, 3))
    x = leaf(values)
    with autograd.record():
        found = [linalg.svdvals(x), linalg.pinv(x), linalg.qr(x, "r"), fft.irfft(x), linalg.qr(x, "complete")[0]]
    plain = np.array(values)
    wanted = [linalg.svdvals(plain), linalg.pinv(plain), linalg.qr(plain, "r"), fft.irfft(plain)]
    for mine, other in zip(found, [*wanted, linalg.qr(plain, "complete")[0]], strict=True):
        numpy.testing.assert_allclose(mine.asnumpy(), other.asnumpy(), rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match=r"mode 'complete'.* has no gradient"):
        found[-1].backward()
