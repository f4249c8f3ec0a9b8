"""Linear algebra against NumPy: values where they are unique, reconstruction where not; stacks, layouts, errors."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy
import pytest
from compare import Draw, Pair, layouts

from slipstream import autograd, engine, errors, np, npx

TYPES = ["float32", "float64", "complex64", "complex128"]
# Small ones, stacks, empty ones, and one that is cut into blocks.
SQUARE = [(1, 1), (3, 3), (4, 5, 5), (2, 3, 2, 2), (0, 3, 3), (2, 0, 0), (0, 0), (260, 260)]
ANY = [(3, 4), (4, 3), (2, 5, 3), (2, 3, 5), (0, 4), (4, 0), (2, 0, 3), (300, 270), (270, 300)]


def tolerance(dtype: Any) -> float:
    return {"float16": 2e-2, "float32": 2e-3, "complex64": 2e-3}.get(numpy.dtype(dtype).name, 1e-9)


def close(ours: Any, theirs: Any, scale: float = 1.0) -> None:
    ours = ours.asnumpy() if isinstance(ours, np.ndarray) else ours
    assert ours.shape == numpy.shape(theirs)
    assert ours.dtype == numpy.asarray(theirs).dtype
    limit = tolerance(ours.dtype) * scale
    largest = float(numpy.nan_to_num(abs(numpy.asarray(theirs)), posinf=0).max(initial=1.0))
    numpy.testing.assert_allclose(ours, theirs, rtol=limit, atol=limit * largest)


def matrices(rng: numpy.random.Generator, shape: Any, dtype: str, well: bool = False) -> Pair:
    """Random matrices in a random layout; `well`: far from singular."""
    base, view = layouts(shape)[rng.integers(len(layouts(shape)))]
    values = rng.normal(size=base)
    if dtype.startswith("complex"):
        values = values + 1j * rng.normal(size=base)
    values = values.astype(dtype)
    ours, theirs = view(np.array(values)), view(values)
    if well:
        shift = (shape[-1] * 3 * numpy.eye(shape[-1])).astype(dtype)
        ours, theirs = ours + np.array(shift), theirs + shift
    return Pair(theirs, ours)


def hermitian(rng: numpy.random.Generator, shape: Any, dtype: str) -> Pair:
    x = matrices(rng, shape, dtype).numpy
    values = (x @ x.conj().swapaxes(-1, -2) + shape[-1] * numpy.eye(shape[-1])).astype(dtype)
    return Pair(values, np.array(values))


def adjoint(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def orthonormal(q: Any) -> None:
    size = q.shape[-1]
    close(adjoint(q) @ q, numpy.broadcast_to(numpy.eye(size, dtype=q.dtype), (*q.shape[:-2], size, size)))


# ---- solutions


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_square(shape: Any, dtype: str, rng: numpy.random.Generator) -> None:
    a = matrices(rng, shape, dtype, well=True)
    close(np.linalg.inv(a.ours), numpy.linalg.inv(a.numpy))
    for found, wanted in zip(np.linalg.slogdet(a.ours), numpy.linalg.slogdet(a.numpy), strict=True):
        close(found, wanted)
    if shape[-1] < 100:
        close(np.linalg.det(a.ours), numpy.linalg.det(a.numpy), 10)
        b = matrices(rng, shape[:-1] + (4,), dtype)
        close(np.linalg.solve(a.ours, b.ours), numpy.linalg.solve(a.numpy, b.numpy))
        close(np.linalg.matrix_power(a.ours, 3), numpy.linalg.matrix_power(a.numpy, 3), 10)
        close(np.linalg.matrix_power(a.ours, -2), numpy.linalg.matrix_power(a.numpy, -2))


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 255, 256, 257, 384, 400])
def test_sizes_around_those_of_blocks(n: int, rng: numpy.random.Generator) -> None:
    a, s = matrices(rng, (n, n), "float64"), hermitian(rng, (n, n), "float64")
    b = rng.normal(size=(n, 130))
    assert abs(a.numpy @ np.linalg.solve(a.ours, np.array(b)).asnumpy() - b).max() < 1e-7
    assert abs(a.numpy @ np.linalg.inv(a.ours).asnumpy() - numpy.eye(n)).max() < 1e-7
    assert abs(np.linalg.slogdet(a.ours)[1].item() - numpy.linalg.slogdet(a.numpy)[1]) < 1e-8
    close(np.linalg.cholesky(s.ours), numpy.linalg.cholesky(s.numpy))
    q, r = (x.asnumpy() for x in np.linalg.qr(a.ours))
    assert abs(q @ r - a.numpy).max() < 1e-10 and abs(q.T @ q - numpy.eye(n)).max() < 1e-10
    assert abs(numpy.tril(r, -1)).max() == 0


def test_solve_takes_a_vector_only_alone(rng: numpy.random.Generator) -> None:
    a = matrices(rng, (4, 3, 3), "float64", well=True)
    for shape in ((3,), (3, 2), (4, 3, 2), (1, 3, 5), (2, 1, 3, 2)):
        b = rng.normal(size=shape)
        close(np.linalg.solve(a.ours, np.array(b)), numpy.linalg.solve(a.numpy, b))
    with pytest.raises(ValueError, match=r"\(4, 3, 3\).*\(4, 3\).*3 != 4"):
        np.linalg.solve(a.ours, np.ones((4, 3), dtype="float64"))


def test_types_are_numpys(rng: numpy.random.Generator) -> None:
    a = rng.integers(0, 9, (3, 3)) + 20 * numpy.eye(3, dtype=int)
    close(np.linalg.inv(np.array(a)), numpy.linalg.inv(a))
    close(np.linalg.solve(np.array(a), np.array([1.0, 2, 3])), numpy.linalg.solve(a, numpy.array([1, 2, 3.0])))
    c = np.array(a.astype("float32"))
    assert np.linalg.solve(c, np.ones(3, dtype="complex64")).dtype == "complex64"
    assert np.linalg.inv([[2.0]]).dtype == "float32"  # Python's numbers
    for dtype in ("float16", "bfloat16"):
        with pytest.raises(TypeError, match=f"inv: type {dtype} is not supported"):
            np.linalg.inv(np.eye(2, dtype=dtype))


def test_determinants_do_not_overflow_on_the_way() -> None:
    big = numpy.diag([1e200, 1e200, 1e-200, 1e-200, -3])
    assert np.linalg.det(np.array(big)).item() == pytest.approx(-3)
    sign, logarithm = np.linalg.slogdet(np.array(numpy.zeros((2, 2))))
    assert (sign.item(), logarithm.item()) == (0, -numpy.inf)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (3, 0), (0, 3)], ids=str)
@pytest.mark.parametrize("sides", [(), (2,), (0,)])
def test_lstsq(shape: Any, sides: Any, dtype: str, rng: numpy.random.Generator) -> None:
    a, b = matrices(rng, shape, dtype), matrices(rng, shape[:1] + sides, dtype)
    found, wanted = np.linalg.lstsq(a.ours, b.ours), numpy.linalg.lstsq(a.numpy, b.numpy)
    for i in (0, 1, 3):
        close(found[i], wanted[i])
    assert found[2].item() == wanted[2]


def test_lstsq_of_a_low_rank() -> None:
    a = numpy.ones((4, 2))
    x, residuals, rank, _ = np.linalg.lstsq(np.array(a), np.array(numpy.arange(4.0)))
    close(x, numpy.linalg.lstsq(a, numpy.arange(4.0))[0])
    assert residuals.shape == (0,) and rank.item() == 1


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", ANY[:-2], ids=str)
def test_pinv_and_rank(shape: Any, dtype: str, rng: numpy.random.Generator) -> None:
    a = matrices(rng, shape, dtype)
    close(np.linalg.pinv(a.ours), numpy.linalg.pinv(a.numpy), 5)
    close(np.linalg.matrix_rank(a.ours), numpy.linalg.matrix_rank(a.numpy))
    low = a.numpy[..., :1] * numpy.ones(shape[-1], dtype)
    close(np.linalg.matrix_rank(np.array(low)), numpy.linalg.matrix_rank(low))
    if 0 not in shape:
        close(np.linalg.pinv(a.ours, rtol=0.5), numpy.linalg.pinv(a.numpy, rtol=0.5), 5)
        close(np.linalg.matrix_rank(a.ours, 1.0), numpy.linalg.matrix_rank(a.numpy, 1.0))
        close(np.linalg.matrix_rank(a.ours, rtol=0.5), numpy.linalg.matrix_rank(a.numpy, rtol=0.5))


def test_tensors(rng: numpy.random.Generator) -> None:
    a = rng.normal(size=(4, 6, 8, 3))
    close(np.linalg.tensorinv(np.array(a), 2), numpy.linalg.tensorinv(a, 2))
    a = rng.normal(size=(24, 8, 3))
    close(np.linalg.tensorinv(np.array(a), 1), numpy.linalg.tensorinv(a, 1))
    a, b = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 3))
    close(np.linalg.tensorsolve(np.array(a), np.array(b)), numpy.linalg.tensorsolve(a, b))
    moved = a.transpose(0, 2, 1)
    close(np.linalg.tensorsolve(np.array(moved), np.array(b), (1,)), numpy.linalg.tensorsolve(moved, b, (1,)))
    one = numpy.full((1, 1, 1), 2.0)  # as many axes of b as of a: x has them too
    close(np.linalg.tensorsolve(np.array(one), np.array(one)), numpy.linalg.tensorsolve(one, one))
    with pytest.raises(numpy.linalg.LinAlgError, match="not square"):
        np.linalg.tensorsolve(np.array(rng.normal(size=(3, 4, 5))), np.array(rng.normal(size=(3, 4))))


# ---- factors


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_cholesky_and_eigh(shape: Any, dtype: str, rng: numpy.random.Generator) -> None:
    a = hermitian(rng, shape, dtype)
    junk = numpy.triu(numpy.full(shape, 7.0), 1).astype(dtype)  # what lies in the other triangle does not matter
    for upper, values in ((False, numpy.tril(a.numpy) + junk), (True, numpy.triu(a.numpy) + junk.swapaxes(-1, -2))):
        close(np.linalg.cholesky(np.array(values), upper=upper), numpy.linalg.cholesky(a.numpy, upper=upper))
        if shape[-1] > 100:
            continue
        w, v = np.linalg.eigh(np.array(values), "U" if upper else "L")
        close(w, numpy.linalg.eigh(a.numpy)[0])
        vectors = v.asnumpy()
        close((vectors * w.asnumpy()[..., None, :]) @ adjoint(vectors), a.numpy)
        close(np.linalg.eigvalsh(np.array(values), upper=upper), numpy.linalg.eigvalsh(a.numpy))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", ANY, ids=str)
def test_qr_and_svd(shape: Any, dtype: str, rng: numpy.random.Generator) -> None:
    a = matrices(rng, shape, dtype)
    for mode in ("reduced", "complete"):
        q, r = (x.asnumpy() for x in np.linalg.qr(a.ours, mode))
        wanted = numpy.linalg.qr(a.numpy, mode)
        assert (q.shape, r.shape) == (wanted[0].shape, wanted[1].shape)
        close(q @ r, a.numpy)
        orthonormal(q)
    close(abs(np.linalg.qr(a.ours, "r")), abs(numpy.linalg.qr(a.numpy, "r")), 10)
    for found, wanted in zip(np.linalg.qr(a.ours, "raw"), numpy.linalg.qr(a.numpy, "raw"), strict=True):
        close(found, wanted, 10)
    for full in (True, False) if shape[-1] < 100 else ():
        u, s, vh = (x.asnumpy() for x in np.linalg.svd(a.ours, full_matrices=full))
        assert [x.shape for x in (u, s, vh)] == [x.shape for x in numpy.linalg.svd(a.numpy, full_matrices=full)]
        close(s, numpy.linalg.svdvals(a.numpy))
        k = s.shape[-1]
        close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a.numpy)
        orthonormal(u)
        close(np.linalg.svdvals(a.ours), s)
        close(np.linalg.svd(a.ours, compute_uv=False), s)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SQUARE[:-1], ids=str)
def test_eig(shape: Any, dtype: str, rng: numpy.random.Generator) -> None:
    a = matrices(rng, shape, dtype)
    w, v = np.linalg.eig(a.ours)
    assert w.dtype == v.dtype == numpy.result_type(dtype, "complex64")
    values, vectors = w.asnumpy(), v.asnumpy()
    close(a.numpy @ vectors, vectors * values[..., None, :])
    by_size = numpy.sort_complex
    close(by_size(np.linalg.eigvals(a.ours).asnumpy()), by_size(values), 10)
    assert isinstance(np.linalg.eig(a.ours).eigenvalues, np.ndarray)


# ---- norms


@pytest.mark.parametrize("dtype", ["float16", *TYPES])
@pytest.mark.parametrize(
    "norm",
    [
        np.linalg.norm,
        lambda x: np.linalg.norm(x, axis=1),
        lambda x: np.linalg.norm(x, "fro", axis=(0, 1), keepdims=True),
        lambda x: np.linalg.vector_norm(x, axis=(0, 1)),
        np.linalg.matrix_norm,
    ],
)
def test_norms_of_zeros_have_gradients(norm: Any, dtype: str) -> None:
    x = np.zeros((2, 3), dtype=dtype)
    x.attach_grad()
    with autograd.record():
        made = norm(x)
    made.backward()
    assert made.dtype == norm(x).dtype
    assert not made.any()
    assert not x.grad.any()


def test_norms_have_gradients_of_higher_order() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    x.attach_grad()
    with autograd.record():
        (slope,) = autograd.grad([np.linalg.norm(x, axis=1)], [x], create_graph=True, retain_graph=True)
    slope.backward(np.array([[1.0, 0.0], [0.0, 0.0]]))
    close(x.grad, numpy.array([[16 / 125, -12 / 125], [0, 0]], "float32"))
    x[0, 0] = numpy.nan
    with autograd.record():
        made = np.linalg.norm(x, axis=1)
    assert str(made) == "[nan  0.]"


@pytest.mark.parametrize("dtype", ["float16", "int32", *TYPES])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_norms(dtype: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for shape in ((4,), (3, 4), (2, 3, 4)):
        x = draw.array(shape, dtype)
        close(np.linalg.norm(x.ours), numpy.asarray(numpy.linalg.norm(x.numpy)))
        for ord, axis, keep in itertools.product([None, 0, 1, 2, 3, -1, 0.5, numpy.inf, -numpy.inf], [0, -1], [0, 1]):
            close(
                np.linalg.norm(x.ours, ord, axis, bool(keep)),
                numpy.asarray(numpy.linalg.norm(x.numpy, ord, axis, bool(keep))),
            )
        for ord, keep in itertools.product([0, 1, 2, 3, numpy.inf, -numpy.inf], [False, True]):
            for axis in (None, 0, tuple(range(len(shape)))):
                close(
                    np.linalg.vector_norm(x.ours, ord=ord, axis=axis, keepdims=keep),
                    numpy.asarray(numpy.linalg.vector_norm(x.numpy, ord=ord, axis=axis, keepdims=keep)),
                )
        if len(shape) == 1 or dtype == "float16":
            continue
        for ord, keep in itertools.product([None, "fro", "nuc", 1, -1, 2, -2, numpy.inf, -numpy.inf], [False, True]):
            for axis in ((0, 1), (-1, 0)):
                close(
                    np.linalg.norm(x.ours, ord, axis, keep), numpy.asarray(numpy.linalg.norm(x.numpy, ord, axis, keep))
                )
            if ord is not None:
                close(
                    np.linalg.matrix_norm(x.ours, ord=ord, keepdims=keep),
                    numpy.asarray(numpy.linalg.matrix_norm(x.numpy, ord=ord, keepdims=keep)),
                )


@pytest.mark.parametrize("p", [None, 1, -1, 2, -2, numpy.inf, -numpy.inf, "fro", "nuc"])
def test_cond(p: Any, rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(4, 3, 3))
    x[2, 0, 0] = numpy.nan if p in (1, -1, "fro") else 1
    x[1] = numpy.eye(3) if p == "nuc" else 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = numpy.linalg.cond(x, p)
    close(np.linalg.cond(np.array(x), p), wanted)


# ---- products


def test_multi_dot(rng: numpy.random.Generator) -> None:
    chains = ([(3, 4), (4, 5)], [(10, 100), (100, 5), (5, 50)], [(3,), (3, 4), (4, 2), (2,)], [(2, 3), (3, 1), (1,)])
    for shapes in chains:
        parts = [rng.normal(size=s) for s in shapes]
        ours = [np.array(p) for p in parts]
        close(np.linalg.multi_dot(ours), numpy.asarray(numpy.linalg.multi_dot(parts)))
    with pytest.raises(ValueError, match="at least two"):
        np.linalg.multi_dot([np.ones((2, 2))])


def test_cross(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for a, b, options in (
            ((3,), (3,), {}),
            ((4, 3), (3,), {}),
            ((3, 4), (3, 4), {"axis": 0}),
            ((3, 2, 4), (2, 4, 3), {"axisa": 0, "axisb": -1, "axisc": 1}),
            ((4, 2), (4, 3), {}),
            ((4, 3), (4, 2), {}),
            ((2, 5, 2), (5, 2), {}),
        ):
            x, y = draw.array(a, "float64"), draw.array(b, "float64")
            close(np.cross(x.ours, y.ours, **options), numpy.asarray(numpy.cross(x.numpy, y.numpy, **options)))
    close(np.linalg.cross(np.ones((3, 2)), np.ones((3, 2)), axis=0), numpy.zeros((3, 2), "float32"))
    with pytest.raises(ValueError, match="two or three"):
        np.cross(np.ones(4), np.ones(4))


# ---- errors


def test_what_can_be_known_raises_at_the_call() -> None:
    linalg = numpy.linalg.LinAlgError
    assert np.linalg.LinAlgError is linalg
    wide, line = np.ones((2, 3)), np.ones(3)
    for function in ("inv", "det", "slogdet", "cholesky", "eig", "eigh", "eigvals", "eigvalsh"):
        with pytest.raises(linalg, match=r"\(2, 3\) are not equal"):
            getattr(np.linalg, function)(wide)
    for function in ("inv", "qr", "svd", "pinv"):
        with pytest.raises(linalg, match="1 dimensions holds no matrices"):
            getattr(np.linalg, function)(line)
    with pytest.raises(ValueError, match="mode is 'full'"):
        np.linalg.qr(wide, "full")
    with pytest.raises(ValueError, match="UPLO is 'X'"):
        np.linalg.eigh(np.eye(2), "X")
    for axis in (None, 1, (0, 1, 2)):
        with pytest.raises(ValueError, match="matrix_norm: axis must be the two axes of the matrices, not "):
            np.linalg.matrix_norm(wide, axis=axis)
    with pytest.raises(ValueError, match="'nuc' is no order of a vector"):
        np.linalg.norm(line, "nuc", 0)


@pytest.mark.parametrize("n", [3, 300])
def test_what_values_tell_fails_the_result(n: int) -> None:
    singular, bad = np.zeros((n, n)), np.full((n, n), numpy.nan)
    for name, made in (
        ("inv", np.linalg.inv(singular)),
        ("solve", np.linalg.solve(singular, np.ones(n))),
        ("cholesky", np.linalg.cholesky(-np.eye(n))),
        ("svd", np.linalg.svdvals(bad)),
        ("eig", np.linalg.eigvals(bad)),
        ("inv", np.linalg.inv(np.stack([np.eye(n), singular])) + 1),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=rf"^{name} failed: .*test_linalg\.py, line \d+") as caught:
            made.wait_to_read()
        assert isinstance(caught.value, errors.LateLinAlgError) and caught.value.operation == name


def test_nothing_waits() -> None:
    a = np.eye(3)
    with engine.sync_guard("raise"):
        for made in (np.linalg.inv(a), *np.linalg.svd(a), *np.linalg.eig(a), np.linalg.pinv(a), np.linalg.norm(a, 2)):
            assert isinstance(made, np.ndarray)
        np.linalg.cond(a, 1), np.linalg.matrix_rank(a), np.linalg.lstsq(a, a)
    npx.waitall()
