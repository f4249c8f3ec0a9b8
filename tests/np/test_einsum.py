"""Einstein summation against NumPy: all forms of subscripts, dtypes, layouts and paths."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import Draw, agree, same

from slipstream import np, npx

SIZES = {"i": 2, "j": 3, "k": 4, "l": 5, "b": 2, "h": 3, "q": 4, "d": 5, "I": 3}
CALLS = [
    *("i->", "ij->", "ij->ji", "ij->i", "ij", "ji", "ii", "ii->i", "iij->j", "iji->ij", "iii->i", "iii", "->", ""),
    *("i,i", "i,i->i", "i,j", "i,j->ji", ",i->i", "ij,j", "ij,ij->", "ij,ij->i", "ij,kj->ik", "ij,jk", "ij,jk->ki"),
    *("bij,bjk->bik", "bhqd,bhkd->bhqk", "bhqk,bhkd->bqhd", "ijk,jil->kl", "ijk,ilm,njm->nlk", "ijkl,kj->il"),
    *("ij,jk,kl->il", "ij,jk,kl,li->", "i,ij,j", "ij,ij,ij->ij", "ik,jk,lk->ijl", "ij,jk,kl,ld,dh->ih", "iI,Ij"),
    *("ij,k->ij", "ij,k", "iij,jk->ik", "ii,ij->j", "ijk->kij", "ij,jl,lk,ki,ib,bh,hd->d", "ki,k,kj->ij"),
]
ELLIPSES = [
    ("...", [(2, 3)]),
    ("...->...", [(2, 3)]),
    ("...i->...", [(2, 3)]),
    ("i...->...", [(2, 3, 4)]),
    ("...ij->...ji", [(4, 2, 3)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (5, 3, 4)]),
    ("...ij,...jk", [(5, 1, 2, 3), (4, 3, 4)]),
    ("ij...,jk...->ik...", [(2, 3, 4), (3, 2, 4)]),
    ("...ii->...i", [(4, 3, 3)]),
    ("...i,i->...", [(2, 4, 3), (3,)]),
    ("i...,...", [(3,), (2, 4)]),
    ("ij,ij->ij", [(2, 1), (2, 3)]),
    ("ij,jk->ik", [(2, 1), (3, 4)]),
    ("ii->i", [(1, 3)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]),
    ("ij,jk->ik", [(0, 2), (2, 3)]),
]
TYPES = ["bool", "int8", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def shapes_of(subscripts: str) -> list[tuple[int, ...]]:
    sizes = {**SIZES, "m": 2, "n": 3}
    return [tuple(sizes[label] for label in term) for term in subscripts.partition("->")[0].split(",")]


@pytest.mark.parametrize("subscripts", CALLS)
def test_subscripts(subscripts: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for dtype in ("float64", draw.one(*TYPES), draw.one(*TYPES)):
        arrays = [draw.array(shape, dtype, -2, 2) for shape in shapes_of(subscripts)]
        agree("einsum", [subscripts, *arrays], {}, tolerance=0.1 if dtype == "float16" else None)


@pytest.mark.parametrize(("subscripts", "shapes"), ELLIPSES)
def test_ellipses_and_broadcasting(subscripts: str, shapes: Any, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(4):
        agree("einsum", [subscripts, *[draw.array(shape, "float64") for shape in shapes]])


def test_lists_of_labels(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    a, b = draw.array((2, 3, 4), "float64"), draw.array((4, 3), "float64")
    agree("einsum", [a, [0, 1, 2], b, [2, 1], [0]])
    agree("einsum", [a, [5, 1, 2], b, [2, 1]])
    agree("einsum", [a, [Ellipsis, 1, 2], b, [2, 7], [Ellipsis, 7]])


@pytest.mark.parametrize("optimize", [True, False, "greedy", "optimal", ["einsum_path", (1, 2), (0, 1)]])
def test_every_order_gives_the_same(optimize: Any, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    arrays = [draw.array(shape, "float64") for shape in ((2, 3), (3, 4), (4, 5))]
    agree("einsum", ["ij,jk,kl->il", *arrays], {"optimize": optimize})


def test_paths(rng: numpy.random.Generator) -> None:
    arrays = [np.ones(shape) for shape in ((10, 100), (100, 5), (5, 50))]
    path, report = np.einsum_path("ij,jk,kl->il", *arrays)
    assert path == ["einsum_path", (0, 1), (0, 1)]
    assert "Complete contraction:  ij,jk,kl->il" in report
    same(np.einsum("ij,jk,kl->il", *arrays, optimize=path), numpy.full((10, 50), 500, "float32"))
    # The best order never makes the outer product of the ends.
    path, _ = np.einsum_path("i,ij,jk,k->", np.ones(50), np.ones((50, 50)), np.ones((50, 50)), np.ones(50))
    assert (0, 3) not in path


def test_views_stay_views() -> None:
    x = np.arange(9).reshape(3, 3)
    np.einsum("ii->i", x)[:] = 7
    assert x.asnumpy().diagonal().tolist() == [7, 7, 7]
    np.einsum("ij->ji", x)[0, 1] = 5
    assert x[1, 0].item() == 5


def test_out_and_dtype(rng: numpy.random.Generator) -> None:
    a = rng.integers(0, 5, (2, 3)).astype("int32")
    out = np.zeros((2, 2))
    assert np.einsum("ij,kj->ik", np.array(a), np.array(a), out=out) is out
    assert out.tolist() == (a @ a.T).tolist()
    assert np.einsum("ij,kj->ik", np.array(a), np.array(a), dtype="float64").dtype == "float64"
    with pytest.raises(TypeError, match="cannot cast"):
        np.einsum("ij->ij", np.ones((2, 2)), out=np.zeros((2, 2), dtype="int32"))


@pytest.mark.parametrize(
    ("subscripts", "shapes", "message"),
    [
        ("ij,jk", [(2, 3)], "for 2 arrays, but there are 1"),
        ("ij", [(2,)], "do not fit array 0, which has 1 dimensions"),
        ("i", [(2, 3)], "do not fit array 0, which has 2 dimensions"),
        ("ij,jk", [(2, 3), (4, 5)], r"'j' in 'ij,jk' is 3 long in one array, 4 in another"),
        ("ij->ik", [(2, 3)], "has 'k', which no input has"),
        ("ij->ii", [(2, 3)], "has 'i' twice"),
        ("i$->i", [(2, 3)], r"'\$'.* is no subscript"),
        ("...i->i", [(2, 3)], "must have '...' too"),
    ],
)
def test_errors(subscripts: str, shapes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        np.einsum(subscripts, *[np.ones(shape) for shape in shapes])
    with pytest.raises(ValueError):
        numpy.einsum(subscripts, *[numpy.ones(shape) for shape in shapes])


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_batch_dot(transpose_a: bool, transpose_b: bool, rng: numpy.random.Generator) -> None:
    a, b = rng.normal(size=(2, 5, 3, 4)), rng.normal(size=(2, 5, 4, 6))
    given_a, given_b = (a.swapaxes(-1, -2) if transpose_a else a), (b.swapaxes(-1, -2) if transpose_b else b)
    same(npx.batch_dot(np.array(given_a), np.array(given_b), transpose_a, transpose_b), a @ b)
    with pytest.raises(ValueError, match=r"batch_dot: shapes \(2, 2\)"):
        npx.batch_dot(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="do not align"):
        npx.batch_dot(np.ones((1, 2, 3)), np.ones((1, 2, 3)))


def test_khatri_rao(rng: numpy.random.Generator) -> None:
    a, b = rng.normal(size=(2, 3)), rng.normal(size=(4, 3))
    columns = [numpy.kron(a[:, i], b[:, i]) for i in range(3)]
    same(npx.khatri_rao(np.array(a), np.array(b)), numpy.stack(columns, 1))
