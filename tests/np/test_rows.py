"""Every row of the table against NumPy: all dtypes, layouts, broadcasting, and NumPy's keywords."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
from compare import ALL, COMPLEX, FLOATS, INTS, Draw, Pair, agree, call, close, same

from slipstream import _core, np, npx
from slipstream.np import _rows

ROWS = _rows.ROWS
SPECIAL = {
    "erf": math.erf,
    "erfc": math.erfc,
    "gamma": math.gamma,
    "gammaln": math.lgamma,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "log_sigmoid": lambda x: -math.log1p(math.exp(-x)),
    "softplus": lambda x: math.log1p(math.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "relu": lambda x: max(x, 0.0),
}
ELEMENTWISE = [name for name, row in ROWS.items() if not row["is_reduction"]]


NAMES = {row: name for name, row in _rows.ALIASES.items() if name not in ("fix", "amax", "amin")}


def reference(name: str) -> Any:
    """NumPy's function of a row, by whichever of its names this NumPy has; None where it has none."""
    return getattr(numpy, name, None) or getattr(numpy, NAMES.get(name, name), None)


def domain(row: dict[str, Any], dtype: str) -> tuple[float, float]:
    low, high = row["low"], row["high"]
    if dtype in INTS:
        return (0, 4) if row["types"] == "SHIFT" else (1, 6)
    return low, high


def arguments(draw: Draw, row: dict[str, Any], dtype: str, shape: Any = None) -> list[Pair]:
    shape = draw.shape() if shape is None else shape
    low, high = domain(row, dtype)
    made = [draw.array(shape, dtype, low, high) for _ in range(row["arity"])]
    if row["name"] == "where":
        made[0] = draw.array(shape, "bool")
    return made


COMPARED = [name for name in ELEMENTWISE if reference(name) is not None and name not in npx.__all__]


@pytest.mark.parametrize("name", COMPARED)
def test_all_dtypes(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for dtype in ALL:
        if name == "reciprocal" and dtype == "bool":
            continue  # 1 / 0 of integers means nothing
        for _ in range(3):
            args = arguments(draw, ROWS[name], dtype)
            agree(name, args, theirs=reference(name))


@pytest.mark.parametrize("name", [n for n in COMPARED if ROWS[n]["arity"] == 2])
def test_mixed_dtypes_and_broadcasting(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    row = ROWS[name]
    for _ in range(40):
        first, second = draw.one(*ALL), draw.one(*ALL)
        shapes = draw.one(((3, 1), (4,)), ((2, 3), ()), ((1,), (2, 2)), ((2, 1, 3), (4, 1)))
        args = [draw.array(s, t, *domain(row, t)) for s, t in zip(shapes, (first, second), strict=True)]
        agree(name, args, ours=getattr(_core, name), theirs=reference(name))


@pytest.mark.parametrize("name", [n for n in COMPARED if ROWS[n]["arity"] == 2])
@pytest.mark.parametrize("scalar", [True, 2, 2.0, 2j])
def test_python_scalars_are_weak(name: str, scalar: Any, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for dtype in ALL:
        x = draw.array((3,), dtype, *domain(ROWS[name], dtype))
        agree(name, [x, scalar], ours=getattr(_core, name), theirs=reference(name))
        agree(name, [scalar, x], ours=getattr(_core, name), theirs=reference(name))


@pytest.mark.parametrize("name", COMPARED)
def test_out_and_where(name: str, rng: numpy.random.Generator) -> None:
    if name in ("round", "real", "imag", "where", "clip"):
        pytest.skip("no ufunc in NumPy")
    draw = Draw(rng)
    row = ROWS[name]
    dtype = "int32" if row["types"] in ("BITS", "SHIFT", "WHOLE") else "float64"
    args = arguments(draw, row, dtype, (3, 4))
    theirs = [a.numpy for a in args]
    result = numpy.asarray(reference(name)(*theirs))
    mask = draw.array((4,), "bool")
    out = draw.array((3, 4), str(result.dtype))
    expected = reference(name)(*theirs, out=out.numpy, where=mask.numpy)
    got = getattr(_core, name)(*[a.ours for a in args], out=out.ours, where=mask.ours)
    assert got is out.ours
    same(got, expected)


@pytest.mark.parametrize(
    "name", [n for n in COMPARED if ROWS[n]["types"] in ("FLOAT", "REAL", "LIFTED", "NUMBER", "ALL")]
)
def test_dtype_keyword(name: str, rng: numpy.random.Generator) -> None:
    if name in ("round", "conj", "clip"):
        pytest.skip("no such keyword in NumPy")
    draw = Draw(rng)
    args = arguments(draw, ROWS[name], "float32", (5,))
    expected, raised = call(reference(name), [a.numpy for a in args], {"dtype": "float64"})
    assert raised is None
    same(getattr(_core, name)(*[a.ours for a in args], dtype="float64"), expected)


@pytest.mark.parametrize("name", sorted(SPECIAL))
@pytest.mark.parametrize("dtype", FLOATS)
def test_special_functions(name: str, dtype: str, rng: numpy.random.Generator) -> None:
    row = ROWS[name]
    x = rng.uniform(row["low"], row["high"], (3, 5)).astype(dtype)
    expected = numpy.vectorize(SPECIAL[name])(x.astype("float64")).astype(dtype)
    same(getattr(npx, name)(np.array(x)), expected)


def test_inverse_and_derivative_functions(rng: numpy.random.Generator) -> None:
    x = rng.uniform(-0.95, 0.95, 100)
    same(npx.erf(npx.erfinv(np.array(x))), x, 1e-9)
    y = rng.uniform(0.5, 4, 100)
    step = 1e-5
    slope = (npx.gammaln(np.array(y + step)) - npx.gammaln(np.array(y - step))) / (2 * step)
    same(npx.digamma(np.array(y)), slope.asnumpy(), 1e-6)


def test_polygamma() -> None:
    pi = math.pi
    known = [(1, 1, pi**2 / 6), (1, 0.5, pi**2 / 2), (3, 1, pi**4 / 15), (3, 0.5, pi**4), (2, 1, -2.4041138063191885)]
    for order, x, value in known:
        same(npx.polygamma(order, np.array(x, dtype="float64")), numpy.array(value), 1e-14)
    x = numpy.array([0.1, 1.5, 30.0, 1e6])
    for order in (1, 2, 5):  # the recurrence
        step = (-1) ** order * math.factorial(order) / x ** (order + 1)
        same(npx.polygamma(order, np.array(x + 1)), npx.polygamma(order, np.array(x)).asnumpy() + step, 1e-9)
    assert numpy.isnan(npx.polygamma(1.5, np.array([1.0])).asnumpy()).all()
    assert numpy.isnan(npx.polygamma(numpy.inf, np.array([1.0])).asnumpy()).all()
    assert npx.polygamma(1e9, np.array([1.0], dtype="float64")).item() == -numpy.inf  # in bounded time
    for order, x, value in [(2000, 1000.0, -3.835518518023386e-268), (1754, 650.0, -4.6115909612164604e-07)]:
        same(npx.polygamma(order, np.array(x, dtype="float64")), numpy.array(value), 1e-12)  # its factorial overflows
    assert npx.polygamma(1e9, np.array([3.0], dtype="float64")).item() == -numpy.inf


@pytest.mark.parametrize("name", COMPARED)
def test_bfloat16_is_float32_rounded(name: str, rng: numpy.random.Generator) -> None:
    row = ROWS[name]
    if row["types"] in ("BITS", "SHIFT", "WHOLE", "STEP", "DOUBLE"):
        pytest.skip("not for bfloat16")
    draw = Draw(rng)
    args = arguments(draw, row, "float32", (7,))
    rounded = [np.array(a.numpy).astype("bfloat16") if a.numpy.dtype != bool else a.ours for a in args]
    got = getattr(_core, name)(*rounded)
    expected = getattr(_core, name)(*[a.astype("float32") if a.dtype == np.bfloat16 else a for a in rounded])
    if expected.dtype == np.float32:
        assert got.dtype == np.bfloat16
        expected = expected.astype("bfloat16")
    assert got.dtype == expected.dtype
    close(got.asnumpy(), expected.asnumpy(), 1e-2)


@pytest.mark.parametrize(
    "name", [n for n in COMPARED if ROWS[n]["types"] in ("FLOAT", "REAL", "REALS", "TEST", "SIGNBIT")]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_special_values(name: str, dtype: str) -> None:
    values = numpy.array([0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan, 1e-4, 6e4], dtype)
    args: list[Any] = [Pair(values, np.array(values))]
    if ROWS[name]["arity"] == 2:
        args = [Pair(values[:, None], np.array(values)[:, None]), Pair(values, np.array(values))]
    agree(name, args, ours=getattr(_core, name), theirs=reference(name))


@pytest.mark.parametrize("alias", sorted(_rows.ALIASES))
def test_aliases(alias: str) -> None:
    assert getattr(np, alias) is getattr(_core, _rows.ALIASES[alias])


def test_errors_name_the_function_and_the_shapes() -> None:
    with pytest.raises(ValueError, match=r"add.*\(2, 3\).*\(4,\)"):
        np.add(np.ones((2, 3)), np.ones(4))
    with pytest.raises(TypeError, match="bitwise_and"):
        np.bitwise_and(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match=r"out|shape"):
        np.add(np.ones(2), np.ones(2), out=np.ones(3))
    with pytest.raises(TypeError, match="unexpected keyword"):
        np.add(np.ones(2), np.ones(2), axis=1)


def test_complex_rows_keep_their_type() -> None:
    for dtype, real in zip(COMPLEX, ("float32", "float64"), strict=True):
        assert np.abs(np.ones(2, dtype)).dtype == real
        assert np.exp(np.ones(2, dtype)).dtype == dtype
