"""Every differentiable row of the table by finite differences, first and second order."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from gradcheck import check, leaf

from slipstream import _core, autograd, np
from slipstream.np import _rows

ROWS = _rows.ROWS
ELEMENTWISE = [name for name, row in ROWS.items() if row["gradient"] and not row["is_reduction"]]
REDUCTIONS = [name for name, row in ROWS.items() if row["gradient"] and row["is_reduction"]]


def draw(rng: numpy.random.Generator, row: dict[str, Any], shape: tuple[int, ...]) -> Any:
    return rng.uniform(row["low"], row["high"], shape)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name: str, rng: numpy.random.Generator) -> None:
    row, f = ROWS[name], getattr(_core, name)
    if name == "where":
        mask = np.array(rng.random((3, 4)) < 0.5)
        check(lambda x, y: f(mask, x, y), [draw(rng, row, (3, 4)), draw(rng, row, (4,))], rng)
        return
    if name == "polygamma":  # of a whole order
        check(lambda x: f(2, x) + f(np.array([[1.0], [3.0]]), x), [draw(rng, row, (4,))], rng)
        return
    shapes = [[(3, 4)] * row["arity"]]
    if row["arity"] > 1:
        shapes += [[(3, 1), (4,), (1, 1)][: row["arity"]], [(2, 3), (), (2, 1)][: row["arity"]]]
    for chosen in shapes:
        check(f, [draw(rng, row, shape) for shape in chosen], rng)


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if ROWS[n]["arity"] == 2 and n != "polygamma"])
def test_numbers_beside_arrays(name: str, rng: numpy.random.Generator) -> None:
    row, f = ROWS[name], getattr(_core, name)
    number = float(rng.uniform(row["low"], row["high"]))
    check(lambda x: f(x, number), [draw(rng, row, (5,))], rng)
    check(lambda x: f(number, x), [draw(rng, row, (5,))], rng)


@pytest.mark.parametrize("exponent", [-2, -1, 0.5, 1, 2, 3, 2.5])
def test_powers(exponent: float, rng: numpy.random.Generator) -> None:
    check(lambda x: x**exponent, [rng.uniform(0.5, 2, (4,))], rng)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name: str, axis: Any, keepdims: bool, rng: numpy.random.Generator) -> None:
    f = getattr(_core, name)
    check(lambda x: f(x, axis=axis, keepdims=keepdims), [rng.uniform(0.5, 2, (2, 3, 2))], rng)


@pytest.mark.parametrize("name", ["mean", "var", "std", "logsumexp"])
@pytest.mark.parametrize("axis", [None, 1])
def test_composed_reductions(name: str, axis: Any, rng: numpy.random.Generator) -> None:
    f = getattr(_core, name)
    check(lambda x: f(x, axis=axis), [rng.uniform(0.5, 2, (3, 4))], rng)
    check(lambda x: f(x, axis=axis, keepdims=True), [rng.uniform(0.5, 2, (3, 4))], rng)


def test_powers_of_zero() -> None:
    x, y = leaf([0.0, 2.0]), leaf([2.0, 3.0])
    with autograd.record():
        z = x**y
    z.backward()
    numpy.testing.assert_allclose(x.grad.asnumpy(), [0, 12])
    numpy.testing.assert_allclose(y.grad.asnumpy(), [0, 8 * numpy.log(2)])


def test_masks_and_initial_values(rng: numpy.random.Generator) -> None:
    mask = np.array(rng.random((3, 4)) < 0.6)
    check(lambda x: _core.exp(x, where=mask), [rng.normal(size=(3, 4))], rng)
    check(lambda x: _core.sum(x, axis=0, where=mask), [rng.normal(size=(3, 4))], rng)
    check(lambda x: _core.prod(x, axis=1, initial=3.0), [rng.uniform(0.5, 2, (3, 4))], rng)
    check(lambda x: _core.mean(x, where=mask), [rng.normal(size=(3, 4))], rng)


def test_other_types_of_computation() -> None:
    x = np.array([1.0, 2.0], dtype="float32")
    x.attach_grad()
    with autograd.record():
        y = _core.multiply(x, 3.0, dtype="float64") + x.astype("float64") + _core.sum(x, dtype="float64")
    assert y.dtype == "float64"
    y.backward()
    assert x.grad.dtype == "float32"
    numpy.testing.assert_array_equal(x.grad.asnumpy(), [6, 6])


def test_integers_have_no_gradient() -> None:
    i = np.array([1, 2], dtype="int32")
    with pytest.raises(TypeError, match="attach_grad: arrays of int32 have no gradient"):
        i.attach_grad()
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = (x * i).sum() + (x > 1).sum() + x.astype("int32").sum()
    y.backward()
    numpy.testing.assert_array_equal(x.grad.asnumpy(), [1, 2])


def test_steps_have_the_gradient_zero() -> None:
    x = leaf([1.2, 2.7])
    x.grad[:] = 5
    with autograd.record():
        y = np.floor(x) + np.sign(x)
    y.backward()
    numpy.testing.assert_array_equal(x.grad.asnumpy(), [0, 0])


def test_complex_numbers() -> None:
    """Of x + iy the gradient is d/dx - i d/dy: for functions of a complex variable the derivative itself."""
    rng = numpy.random.default_rng(0)
    z = np.array(rng.normal(size=3) + 1j * rng.normal(size=3), dtype="complex128")
    z.attach_grad()
    functions = [lambda z: (z * z * (2 + 1j)).real, np.abs, lambda z: np.exp(z).imag, lambda z: z.imag * z.real]
    functions += [lambda z: np.sign(z).real, lambda z: np.sign(z * z).imag * z.real]
    for f in functions:
        with autograd.record():
            y = f(z).sum()
        y.backward()
        values, step = z.asnumpy(), 1e-6
        for i in range(3):
            d = numpy.zeros(3)
            d[i] = step
            across = [float(f(np.array(values + d * w, dtype="complex128")).sum()) for w in (1, -1, 1j, -1j)]
            expected = (across[0] - across[1] - 1j * (across[2] - across[3])) / (2 * step)
            numpy.testing.assert_allclose(z.grad.asnumpy()[i], expected, rtol=1e-6, atol=1e-8)


def test_the_sign_of_complex_numbers(rng: numpy.random.Generator) -> None:
    x, y = rng.normal(size=6), rng.normal(size=6)
    check(lambda x: np.sign(x + 2j * x**2).real, [x], rng)
    check(lambda x, y: np.sign(x + 1j * y).imag, [x, y], rng)
    check(lambda x, y: np.abs(x + 1j * y), [x, y], rng)
    check(lambda x: np.abs(np.fft.fft(x)), [x], rng)
    with autograd.record():
        z = np.array([0, 2j, -3], dtype="complex128")
        z.attach_grad()
        np.sign(z).sum().backward()
    numpy.testing.assert_array_equal(z.grad.asnumpy(), [0, 0.5, 0])


def test_the_sign_of_reals_keeps_nothing() -> None:
    x = leaf([1.0, -2.0])
    with autograd.record():
        y = np.sign(x)
    x += 1  # no gradient needs what is written here
    y.backward()
    numpy.testing.assert_array_equal(x.grad.asnumpy(), [0, 0])


def test_nan_to_num_passes_what_it_keeps() -> None:
    x = leaf([1.0, numpy.nan, numpy.inf, -numpy.inf])
    with autograd.record():
        y = np.nan_to_num(x, nan=2.0, posinf=3.0) * 5
    y.backward()
    assert y[:3].tolist() == [5, 10, 15]
    assert x.grad.tolist() == [5, 0, 0, 0]
