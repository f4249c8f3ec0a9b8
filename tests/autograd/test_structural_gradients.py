"""Views, joins, products, scans, copies and what np composes of them, by finite differences of both orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from gradcheck import check, leaf

from slipstream import autograd, np, npx, profiler

Function = Callable[..., Any]

VIEWS: dict[str, tuple[Function, tuple[int, ...]]] = {
    "T": (lambda x: x.T, (2, 3)),
    "mT": (lambda x: x.mT, (2, 3, 4)),
    "transpose": (lambda x: x.transpose(2, 0, 1), (2, 3, 4)),
    "swapaxes": (lambda x: x.swapaxes(0, -1), (2, 3, 4)),
    "moveaxis": (lambda x: np.moveaxis(x, 0, 2), (2, 3, 4)),
    "reshape": (lambda x: x.reshape(3, -1), (2, 3, 2)),
    "reshape of a turned view": (lambda x: x.T.reshape(-1), (2, 3)),
    "reshape order F": (lambda x: x.reshape((3, 2), order="F"), (2, 3)),
    "ravel": (lambda x: x.T.ravel(), (2, 3)),
    "flatten": (lambda x: x.flatten(), (2, 3)),
    "expand_dims": (lambda x: np.expand_dims(x, (0, 2)), (2, 3)),
    "squeeze": (lambda x: x.squeeze(1), (2, 1, 3)),
    "broadcast_to": (lambda x: np.broadcast_to(x, (4, 2, 3)), (2, 1)),
    "broadcast_arrays": (lambda x: np.broadcast_arrays(x, np.zeros((2, 3), "float64"))[0], (3,)),
    "flip": (lambda x: np.flip(x, (0, 1)), (2, 3)),
    "rot90": (lambda x: np.rot90(x), (2, 3)),
    "slice": (lambda x: x[1:], (4, 3)),
    "slice with steps": (lambda x: x[::-2, 1::2], (5, 4)),
    "empty slice": (lambda x: x[2:2].sum() + x.sum(), (3,)),
    "integer": (lambda x: x[1], (3, 4)),
    "element": (lambda x: x[1, 2], (3, 4)),
    "last element of a vector": (lambda x: x[-1], (3,)),
    "new axis": (lambda x: x[:, None, 0], (3, 4)),
    "ellipsis": (lambda x: x[..., 1:, 0], (2, 3, 4)),
    "view of a view": (lambda x: x.T[1:, ::-1][0], (3, 4)),
    "iteration": (lambda x: sum(row * (i + 1) for i, row in enumerate(x)), (3, 2)),
    "iteration over elements": (lambda x: sum(v * (i + 1) for i, v in enumerate(x)), (3,)),
    "many overlapping slices": (lambda x: sum((x[i : i + 2] ** 2).sum() for i in range(4)), (5,)),
    "a slice and the whole": (lambda x: x[1:] * x[:-1] + x.sum(), (4,)),
    "diagonal": (lambda x: np.diagonal(x, 1), (3, 4)),
    "trace": (lambda x: np.trace(x), (3, 4)),
    "diag of a matrix": (lambda x: np.diag(x, -1), (3, 4)),
    "diag of a vector": (lambda x: np.diag(x, 1), (3,)),
    "real": (lambda x: x.real, (3,)),
    "atleast_3d": (lambda x: np.atleast_3d(x), (3,)),
    "split": (lambda x: np.split(x, 2, axis=1), (2, 4)),
    "unstack": (lambda x: list(np.unstack(x, axis=1)), (2, 3)),
}

COMPOSED: dict[str, tuple[Function, list[tuple[int, ...]]]] = {
    "linspace": (lambda x, y: np.linspace(x, y, 4, axis=1), [(2,), (2,)]),
    "concatenate": (lambda x, y: np.concatenate([x, y, x], axis=1), [(2, 3), (2, 1)]),
    "stack": (lambda x, y: np.stack([x, y], axis=1), [(2, 3), (2, 3)]),
    "hstack": (lambda x, y: np.hstack([x, y]), [(3,), (2,)]),
    "vstack": (lambda x, y: np.vstack([x, y]), [(3,), (2, 3)]),
    "append": (lambda x, y: np.append(x, y), [(3,), (2, 2)]),
    "tile": (lambda x: np.tile(x, (2, 3)), [(2, 2)]),
    "repeat": (lambda x: np.repeat(x, 3, axis=1), [(2, 2)]),
    "roll": (lambda x: np.roll(x, 2, axis=1), [(2, 5)]),
    "pad by concatenation": (lambda x: np.concatenate([np.zeros((1, 2), "float64"), x]), [(2, 2)]),
    "matmul": (np.matmul, [(2, 3), (3, 4)]),
    "matmul of transposes": (lambda x, y: np.matmul(x.T, y.T), [(3, 2), (4, 3)]),
    "matmul of a stack and a transpose": (lambda x, y: np.matmul(x, y.T), [(2, 3, 2), (4, 2)]),
    "matmul of vectors": (np.matmul, [(3,), (3,)]),
    "matmul vector matrix": (np.matmul, [(3,), (3, 2)]),
    "matmul matrix vector": (np.matmul, [(2, 3), (3,)]),
    "matmul stack matrix": (np.matmul, [(4, 2, 3), (3, 2)]),
    "matmul matrix stack": (np.matmul, [(2, 3), (4, 3, 2)]),
    "matmul stacks": (np.matmul, [(2, 1, 2, 3), (4, 3, 2)]),
    "matmul stack vector": (np.matmul, [(4, 2, 3), (3,)]),
    "matmul vector stack": (np.matmul, [(3,), (4, 3, 2)]),
    "matmul turned": (lambda x, y: np.matmul(x.T, y.T), [(3, 2), (4, 3)]),
    "dot": (np.dot, [(2, 3), (3, 4)]),
    "dot of more dimensions": (np.dot, [(2, 3), (2, 3, 2)]),
    "dot of a number": (np.dot, [(), (2, 3)]),
    "vdot": (np.vdot, [(2, 3), (2, 3)]),
    "inner": (np.inner, [(2, 3), (4, 3)]),
    "outer": (np.outer, [(2,), (3,)]),
    "tensordot": (lambda x, y: np.tensordot(x, y, axes=([0, 1], [1, 0])), [(2, 3, 2), (3, 2)]),
    "kron": (np.kron, [(2, 2), (2, 3)]),
    "cumsum": (lambda x: np.cumsum(x, axis=1), [(2, 4)]),
    "cumsum flat": (lambda x: np.cumsum(x), [(2, 3)]),
    "cumprod": (lambda x: np.cumprod(x, axis=0), [(4, 2)]),
    "copy": (lambda x: x.copy() * x, [(2, 3)]),
    "astype and back": (lambda x: x.astype("float64") * 2, [(2, 3)]),
    "tril": (lambda x: np.tril(x), [(3, 3)]),
    "triu": (lambda x: np.triu(x, 1), [(3, 3)]),
    "where": (lambda x, y: np.where(x > y, x, y * y), [(3, 4), (4,)]),
    "clip": (lambda x: np.clip(x, -0.5, 0.5), [(3, 4)]),
    "diff": (lambda x: np.diff(x, axis=0), [(4, 2)]),
    "ptp": (lambda x: np.ptp(x, axis=0), [(4, 2)]),
    "average": (lambda x: np.average(x, weights=np.arange(4), axis=0), [(4, 2)]),
    "nansum": (lambda x: np.nansum(x, axis=0), [(4, 2)]),
    "nanmean": (lambda x: np.nanmean(x, axis=0), [(4, 2)]),
    "meshgrid": (lambda x, y: np.meshgrid(x, y), [(2,), (3,)]),
    "softmax": (lambda x: npx.softmax(x, axis=1), [(2, 3)]),
    "softmax with lengths": (lambda x: npx.softmax(x, axis=1, length=np.array([1, 3]), use_length=True), [(2, 3)]),
    "log_softmax": (lambda x: npx.log_softmax(x, axis=0), [(3, 2)]),
    "gelu": (npx.gelu, [(5,)]),
    "silu": (npx.silu, [(5,)]),
    "leaky_relu": (npx.leaky_relu, [(5,)]),
    "sinc": (np.sinc, [(5,)]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name: str, rng: numpy.random.Generator) -> None:
    f, shape = VIEWS[name]
    check(f, [rng.normal(size=shape)], rng)
    check(lambda x: f(np.sin(x)), [rng.normal(size=shape)], rng)


@pytest.mark.parametrize("name", COMPOSED)
def test_composed(name: str, rng: numpy.random.Generator) -> None:
    f, shapes = COMPOSED[name]
    check(f, [rng.normal(size=shape) for shape in shapes], rng)


def test_one_side_alone(rng: numpy.random.Generator) -> None:
    """What has no gradient costs none: only the other side is saved and computed."""
    a = np.array(rng.normal(size=(2, 3)))
    check(lambda y: np.matmul(a, y), [rng.normal(size=(3, 2))], rng)
    check(lambda x: np.matmul(x, a), [rng.normal(size=(3, 2))], rng)
    check(lambda x: np.concatenate([a, x]), [rng.normal(size=(1, 3))], rng)


def test_types_of_products_and_joins() -> None:
    x = np.array([[1.0, 2.0]], dtype="float32")
    y = leaf([[3.0], [4.0]])
    x.attach_grad()
    with autograd.record():
        z = np.matmul(x, y) + np.concatenate([x, y.T], axis=1).sum()
    assert z.dtype == "float64"
    z.backward()
    assert x.grad.dtype == "float32" and y.grad.dtype == "float64"
    numpy.testing.assert_array_equal(x.grad.asnumpy(), [[4, 5]])
    numpy.testing.assert_array_equal(y.grad.asnumpy(), [[2], [3]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_short_floats(dtype: str) -> None:
    x = np.array([[0.5, 0.25], [1.0, 2.0]]).astype(dtype)
    x.attach_grad()
    with autograd.record():
        y = np.dot(x, x).sum() + (x * x).mean()
    y.backward()
    assert x.grad.dtype == x.dtype
    values = x.astype("float64").asnumpy()
    expected = values.sum(0)[:, None] + values.sum(1)[None, :] + values / 2
    numpy.testing.assert_allclose(x.grad.astype("float64").asnumpy(), expected, rtol=2e-2)


@pytest.mark.parametrize("zeros", [(1,), (0, 3), (0, 1, 2, 3, 4)])
def test_products_of_zeros(zeros: Any, rng: numpy.random.Generator) -> None:
    values = rng.normal(size=(5, 2))
    values[list(zeros)] = 0
    check(lambda x: np.cumprod(x, axis=0), [values], rng)
    check(lambda x: np.prod(x, axis=0), [values], rng)
    check(lambda x: np.prod(x), [values], rng)


def test_zero_sizes() -> None:
    x = leaf(numpy.zeros((0, 3)))
    with autograd.record():
        y = np.dot(x, np.ones((3, 2), "float64")).sum() + x.sum(axis=0).sum() + np.concatenate([x, x]).sum()
    y.backward()
    assert x.grad.shape == (0, 3)


def test_a_broadcast_gradient_can_be_written() -> None:
    x = leaf(numpy.ones((2, 3)))
    with autograd.record():
        y = x.sum()
    y.backward()
    x.grad[0] = 5
    numpy.testing.assert_array_equal(x.grad.asnumpy(), [[5, 5, 5], [1, 1, 1]])


def test_the_gradient_of_a_transposed_weight_is_not_copied() -> None:
    x, weight, scale = np.ones((50, 40)), np.ones((30, 40)), np.ones((50, 30))
    weight.attach_grad()
    with autograd.record():
        y = (np.matmul(x, weight.T) * scale).sum()
    with profiler.trace() as trace:
        y.backward()
        weight.grad.wait_to_read()
    names = [event["name"] for event in trace.events if event["type"] == "run"]
    assert "matmul" in names
    assert "copy" not in names
    assert (weight.grad.asnumpy() == 50).all()
