"""Making arrays: defaults, dtypes, devices, and what NumPy makes of the same arguments."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import ALL, Draw, Pair, agree, same

from slipstream import np, npx


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(1, "float32"), (1.5, "float32"), (True, "bool"), (1j, "complex64"), ([1, 2], "float32"), ([], "float32")],
)
def test_python_numbers_take_the_default_type(value: Any, dtype: str) -> None:
    assert np.array(value).dtype == dtype
    assert np.array([value, value]).dtype == dtype
    assert np.asarray((value,)).dtype == dtype


@pytest.mark.parametrize("value", [1, 1.5, True, 1j, [1, 2], [1, 2.5], []])
def test_numpys_defaults_can_be_chosen(value: Any) -> None:
    npx.set_np(dtype=True)
    assert np.array(value).dtype == numpy.array(value).dtype
    assert np.full(2, 3).dtype == numpy.full(2, 3).dtype
    assert np.arange(3).dtype == "int64"
    assert np.arange(3.0).dtype == np.zeros(1).dtype == np.linspace(0, 1, 3).dtype == "float64"


@pytest.mark.parametrize("dtype", [*ALL, "bfloat16"])
def test_typed_values_keep_their_type(dtype: str) -> None:
    values = numpy.ones((2, 3), dtype=numpy.dtype(dtype))
    for made in (np.array(values), np.asarray(values), np.array([values[0], values[1]]), np.array(values[0, 0])):
        assert made.dtype == values.dtype
    assert np.array(np.array(values)).dtype == values.dtype
    assert np.array([[1, 2]], dtype=dtype).dtype == values.dtype
    assert np.zeros(2, dtype).dtype == np.ones(2, values.dtype.type).dtype == values.dtype


def test_lists_of_arrays_are_joined_without_a_wait() -> None:
    gate = npx.host_call(lambda: numpy.float32(2), [], (), "float32")
    made = np.array([[gate, gate + 1], [3.0, 4.0]])
    same(made, numpy.array([[2, 3], [3, 4]], "float32"))
    with pytest.raises(ValueError, match="different shapes"):
        np.array([np.ones(2), np.ones(3)])


def test_copies() -> None:
    x = np.zeros(3)
    assert np.asarray(x) is x
    assert np.array(x, copy=None) is x
    y = np.array(x)
    x += 1
    same(y, numpy.zeros(3, "float32"))
    with pytest.raises(ValueError, match="copy=False"):
        np.array(x, dtype="int32", copy=False)
    source = numpy.zeros(3)
    made = np.array(source)
    source += 1
    same(made, numpy.zeros(3))


def test_array_options() -> None:
    same(np.array([1, 2], ndmin=3), numpy.array([1, 2], "float32", ndmin=3))
    x = np.array([[1, 2], [3, 4]], order="F")
    assert x.flags["F_CONTIGUOUS"]
    same(x, numpy.array([[1, 2], [3, 4]], "float32"))
    same(np.array(numpy.asfortranarray(numpy.eye(3))), numpy.eye(3))
    same(np.array(numpy.arange(3, dtype=">i4")), numpy.arange(3, dtype="int32"))


@pytest.mark.parametrize("bad", ["text", [object()], {"a": 1}, [[1, 2], [3]], numpy.array("x")])
def test_what_is_no_array(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        np.array(bad)


def test_unsupported_dtypes_are_named() -> None:
    with pytest.raises(TypeError, match="<U3"):
        np.zeros(2, dtype="U3")
    with pytest.raises(TypeError, match=r"float128|longdouble"):
        np.zeros(2, dtype=numpy.longdouble)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_filled(name: str) -> None:
    for shape in (3, (), (2, 3), (0, 2), [2, 2], numpy.int64(2)):
        made = getattr(np, name)(shape)
        expected = getattr(numpy, name)(shape, dtype="float32")
        assert made.shape == expected.shape
        assert made.dtype == "float32"
        if name != "empty":
            same(made, expected)
    assert getattr(np, name)(2, "int8").dtype == "int8"
    with pytest.raises(ValueError, match="-1"):
        getattr(np, name)(-1)


def test_full() -> None:
    assert np.full((2,), True).dtype == "bool"
    assert np.full((2,), 1).dtype == np.full((2,), 1.5).dtype == "float32"
    assert np.full((2,), numpy.int16(1)).dtype == "int16"
    same(np.full((2, 3), [1, 2, 3]), numpy.full((2, 3), [1, 2, 3], "float32"))
    same(np.full((2,), 7, dtype="uint8"), numpy.full((2,), 7, "uint8"))
    same(np.full((2, 2), np.array([1, 2]), dtype="float64"), numpy.full((2, 2), [1.0, 2.0]))


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_like(name: str) -> None:
    x = np.ones((2, 3), dtype="int16", device=npx.cpu(1))
    made = getattr(np, name)(x)
    assert (made.shape, made.dtype, made.device) == (x.shape, x.dtype, x.device)
    made = getattr(np, name)(x, dtype="float64", shape=(4,), device=npx.cpu(0))
    assert (made.shape, made.dtype, made.device) == ((4,), numpy.float64, npx.cpu(0))


def test_full_like() -> None:
    same(np.full_like(np.ones(2, dtype="int32"), 7), numpy.full(2, 7, "int32"))
    out = np.zeros(2)
    assert np.full_like(out, 5, out=out) is out
    same(out, numpy.full(2, 5, "float32"))


@pytest.mark.parametrize(
    "args",
    [
        (5,),
        (2, 7),
        (1, 9, 3),
        (9, 1, -2),
        (0, 1, 0.1),
        (1.5, -3, -0.5),
        (3, 3),
        (5, 2),
        (0,),
        (-4,),
        (1, 2, 0.3),
        (1, 4, None),
    ],
)
@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int32", "int64", "float16"])
def test_arange(args: Any, dtype: Any) -> None:
    same(np.arange(*args, dtype=dtype), numpy.arange(*args, dtype=dtype or "float32"), 1e-5)


def test_arange_errors() -> None:
    with pytest.raises(ValueError, match="step"):
        np.arange(0, 5, 0)
    with pytest.raises(TypeError, match="start"):
        np.arange("a", 5)


@pytest.mark.parametrize("num", [0, 1, 2, 7])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("ends", [(0, 1), (3, -2.5), (-4, 4), (1, 1)])
def test_linspace(num: int, endpoint: bool, ends: Any) -> None:
    for dtype in ("float32", "float64", "int32"):
        ours, step = np.linspace(*ends, num, endpoint, True, dtype)
        theirs, their_step = numpy.linspace(*ends, num, endpoint, True, dtype)
        same(ours, theirs, 1e-6)
        assert step == pytest.approx(their_step, nan_ok=True)


def test_linspace_of_arrays() -> None:
    first, last = numpy.array([0.0, 1.0]), numpy.array([[5.0, 9.0]])
    for axis in (0, -1, 1):
        same(np.linspace(np.array(first), np.array(last), 4, axis=axis), numpy.linspace(first, last, 4, axis=axis))
    with pytest.raises(ValueError, match="num"):
        np.linspace(0, 1, -1)
    for wrong in (2.5, 2.0, None):
        with pytest.raises(TypeError, match=f"linspace: num must be a whole number, not {wrong}"):
            np.linspace(0, 1, wrong)


def test_spaces() -> None:
    same(np.logspace(0, 3, 4), numpy.logspace(0, 3, 4, dtype="float32"))
    same(np.geomspace(1, 1000, 4), numpy.geomspace(1, 1000, 4, dtype="float32"), 1e-5)
    same(np.geomspace(1j, 16j, 5), numpy.geomspace(1j, 16j, 5, dtype="complex64"), 1e-5)
    ends = numpy.array([1.0, 2.0]), numpy.array([9.0, 50.0])
    for axis in (0, 1):
        same(np.geomspace(*map(np.array, ends), 3, axis=axis), numpy.geomspace(*ends, 3, axis=axis), 1e-5)


def test_matrices() -> None:
    for n, m, k in ((3, None, 0), (2, 4, 1), (4, 2, -1), (3, 3, 5)):
        same(np.eye(n, m, k), numpy.eye(n, m, k, "float32"))
        same(np.tri(n, m, k), numpy.tri(n, m, k, "float32"))
    same(np.identity(3, "int32"), numpy.identity(3, "int32"))


def test_astype(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(150):
        x, dtype = draw.array((2, 3), ALL, 0, 4), draw.one(*ALL)
        agree("astype", [x], ours=lambda a, d=dtype: a.astype(d), theirs=lambda a, d=dtype: a.astype(d))
    x = np.ones(3)
    assert x.astype("float32", copy=False) is x
    assert np.astype(x, "float32") is not x
    with pytest.raises(TypeError, match="cast"):
        x.astype("int32", casting="safe")


def test_dlpack_and_buffers() -> None:
    values = numpy.arange(6, dtype="float32").reshape(2, 3)
    same(np.from_dlpack(values), values)
    same(numpy.from_dlpack(np.array(values)), values)
    assert numpy.asarray(memoryview(np.array(values))).tolist() == values.tolist()
    same(np.array(memoryview(b"abc")), numpy.frombuffer(b"abc", "uint8"))


def test_strings_of_dtypes_and_python_types() -> None:
    assert np.zeros(1, dtype=float).dtype == "float64"
    assert np.zeros(1, dtype=int).dtype == "int64"
    assert np.zeros(1, dtype=bool).dtype == "bool"
    assert np.zeros(1, dtype="bfloat16").dtype == np.bfloat16
    assert np.float32(3) == 3 and type(np.float32(3)) is numpy.float32


def test_diag_writes_nothing_of_its_argument() -> None:
    v = np.array([1, 2])
    made = np.diag(v)
    made += 1
    same(v, numpy.array([1, 2], "float32"))


def test_pairs() -> None:
    x = numpy.arange(3.0)
    agree("copy", [Pair(x, np.array(x))])
    assert np.ascontiguousarray(np.ones((2, 3)).T).flags["C_CONTIGUOUS"]


LISTS: list[Any] = [
    *(3, 2.5, True, 1j, [], [[]], [[], []], (), [1], (1, 2.5), [True, False], [True, 2], [1, 2j], [[1, 2], [3, 4]]),
    *([[1, 2], (3, 4.5)], [[[1]], [[2]]], [2**53 + 1, 0.5], [2**62 + 1], [-(2**63)], [True, 1.5, 2], [-0.0, 1e30]),
    *([numpy.float32(1), 2], [numpy.array([1, 2]), [3, 4]], [range(3), range(3)], [numpy.int8(3)]),
]


@pytest.mark.parametrize("values", LISTS, ids=str)
def test_lists_of_numbers(values: Any) -> None:
    """The same values as by way of NumPy, whoever reads the list."""
    for wide in (False, True):
        npx.set_np(dtype=wide)
        for dtype in (None, "float32", "float64", "int64", "int8", "bool", "complex64"):
            try:
                want = numpy.asarray(values, dtype=dtype)
            except (TypeError, ValueError, OverflowError) as e:
                with pytest.raises(type(e)):
                    np.array(values, dtype=dtype)
                continue
            got = np.array(values, dtype=dtype)
            assert got.shape == want.shape
            with numpy.errstate(all="ignore"):
                assert got.asnumpy().tobytes() == want.astype(got.dtype).tobytes()
            assert dtype is None or got.dtype == want.dtype


@pytest.mark.parametrize("values", [[1, [2]], [[1], [2, 3]], [[1], 2], [[1, 2], [[3], [4]]]], ids=str)
def test_lists_that_form_no_block(values: Any) -> None:
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array(values)


HUGE = 2**64


def test_integers_beyond_64_bits_in_arrays_of_floats() -> None:
    assert np.array([2**63], dtype="uint64").item() == 2**63
    for value, dtype in ((HUGE, "float32"), (-HUGE, "float32"), (2**70 + 2**20, "float64"), (HUGE, "complex64")):
        x = np.zeros(5, dtype=dtype)
        x[0] = value
        x[1:3] = value
        x[3:] = [value, value]
        for made in (
            x,
            np.full(5, value, dtype=dtype),
            np.full_like(x, value),
            np.where(np.ones(5) > 0, value, x),
            np.where(np.ones(5) < 0, x, value),
            np.array([value] * 5, dtype=dtype),
        ):
            same(made, numpy.full(5, value, dtype))
        x.fill(-value)
        same(x, numpy.full(5, -value, dtype))
    for default in (np.array([HUGE, 1]), np.full(2, HUGE), np.array((HUGE, 1.5)), np.array(HUGE), np.asarray(HUGE)):
        assert default.dtype == "float32" and default.reshape(-1)[0].item() == float(HUGE)


@pytest.mark.parametrize("wide", [False, True])
def test_objects_that_are_numbers(wide: bool) -> None:
    npx.set_np(dtype=wide)
    try:
        for values, kind in (
            (numpy.array([1.5, 2.5], dtype=object), "f"),
            (numpy.array([numpy.nan], dtype=object), "f"),
            ([2**63, 2**70, 1.5], "f"),
            ([2**63, 2**70, 1.5j], "c"),
            (numpy.array([True, 2], dtype=object), "i"),
        ):
            made = np.array(values)
            assert made.dtype == np.array([{"f": 1.5, "c": 1j, "i": 1}[kind]]).dtype
            same(made, numpy.array(values).astype(made.dtype))
        assert np.array([2**63]).item() == 2**63
    finally:
        npx.set_np(dtype=False)


def test_integers_that_no_type_holds() -> None:
    x, whole = np.zeros(2), np.zeros(2, dtype="int64")
    for call in (
        lambda: x.fill(10**400),
        lambda: x.__setitem__(0, 10**400),
        lambda: np.full(2, 10**400),
        lambda: np.array(10**400),
        lambda: np.array([1, 10**400]),
        lambda: np.where(x == 0, 10**400, x),
    ):
        with pytest.raises(OverflowError, match="int too large to convert to float"):
            call()
    for call in (
        lambda: whole.fill(HUGE),
        lambda: whole.__setitem__(0, HUGE),
        lambda: np.full(2, HUGE, dtype="int64"),
        lambda: np.where(x == 0, HUGE, whole),
    ):
        with pytest.raises(OverflowError, match=f"Python integer {HUGE} does not fit into 64 bits"):
            call()
    npx.set_np(dtype=True)
    for call in (lambda: np.array(HUGE), lambda: np.array([1, 2**70]), lambda: np.full(2, HUGE)):
        with pytest.raises(OverflowError):
            call()
