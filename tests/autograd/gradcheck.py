"""Gradients against finite differences in float64, first and second order, along random directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from slipstream import autograd, np

STEP = 1e-5


def leaf(values: Any) -> Any:
    x = np.array(numpy.asarray(values, "float64"), dtype="float64")
    x.attach_grad()
    return x


def _outputs(made: Any) -> list[Any]:
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _weighted(f: Callable[..., Any], weights: list[Any], xs: Sequence[Any]) -> Any:
    """A number that depends on every element of every result."""
    total = 0.0
    for y, w in zip(_outputs(f(*xs)), weights, strict=True):
        total = total + (y * w).sum()
    return total


def check(
    f: Callable[..., Any],
    values: Sequence[Any],
    rng: numpy.random.Generator,
    second: bool = True,
    tolerance: float = 1e-6,
    exact: bool = True,
) -> None:
    """Compares the derivatives of f along a random direction with differences of its values.

    `exact`: gradients that can be differentiated again have the bits of those that cannot.
    """
    values = [numpy.asarray(v, "float64") for v in values]
    weights = [np.array(rng.normal(size=y.shape), dtype="float64") for y in _outputs(f(*map(leaf, values)))]
    way = [rng.normal(size=v.shape) for v in values]
    turn = [np.array(rng.normal(size=v.shape), dtype="float64") for v in values]

    def loss_at(t: float) -> float:
        return float(
            _weighted(f, weights, [np.array(v + t * d, dtype="float64") for v, d in zip(values, way, strict=True)])
        )

    def slopes_at(t: float) -> float:
        """The gradients at a point, each times a fixed array, summed: a number whose slope is of second order."""
        xs = [leaf(v + t * d) for v, d in zip(values, way, strict=True)]
        with autograd.record():
            loss = _weighted(f, weights, xs)
        found = autograd.grad(loss, xs)
        return sum(float((g * v).sum()) for g, v in zip(found, turn, strict=True))

    xs = [leaf(v) for v in values]
    with autograd.record():
        loss = _weighted(f, weights, xs)
        first = autograd.grad(loss, xs, create_graph=True)
        along = sum((g * v).sum() for g, v in zip(first, turn, strict=True))
    for g, x in zip(first, xs, strict=True):
        assert g.shape == x.shape and g.dtype == x.dtype
    loss.backward(retain_graph=True)
    for g, x in zip(first, xs, strict=True):
        if exact:
            numpy.testing.assert_array_equal(x.grad.asnumpy(), g.asnumpy())
        else:
            numpy.testing.assert_allclose(x.grad.asnumpy(), g.asnumpy(), rtol=1e-10, atol=1e-12)
    expected = (loss_at(STEP) - loss_at(-STEP)) / (2 * STEP)
    got = sum(float((g * np.array(d, dtype="float64")).sum()) for g, d in zip(first, way, strict=True))
    numpy.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * 10)
    if not second or not hasattr(along, "shape"):
        return
    try:
        found = autograd.grad(along, xs)
    except RuntimeError as error:  # the gradient does not depend on the arguments at all
        assert "was not computed from" in str(error)
        found = [np.zeros_like(x) for x in xs]
    expected = (slopes_at(STEP) - slopes_at(-STEP)) / (2 * STEP)
    got = sum(float((g * np.array(d, dtype="float64")).sum()) for g, d in zip(found, way, strict=True))
    numpy.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * 10)
