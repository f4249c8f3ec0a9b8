"""The rest of the public surface against NumPy, from one table; and a check that every public name has a test."""

from __future__ import annotations

import inspect
import io
import itertools
import pickle
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from compare import FLOATS, INTS, Draw, agree, same
from test_functions import TABLE as FUNCTIONS
from test_functions import Sampler, both, on, pair

from slipstream import np, npx
from slipstream.np import _rows
from slipstream.np._by_numpy import REGISTER, table

DOUBLES = ["float64", "complex128"]
NUMBERS = ["float32", "float64", "int32", "int64"]
CUBE = (2, 3, 4)
FAR = numpy.array([5000, -5000, 2**62, -(2**62), 1074, -1060, -2100, 1023, 0])


def padded(mode: str, **options: Any) -> list[Sampler]:
    """pad in one mode, by widths of all forms, larger than the array among them."""
    widths = (1, (2, 0), ((1, 2), (3, 0)), ((7, 9), (5, 11)), 0)
    return [on((3, 4), width, mode=mode, dtypes=NUMBERS, **options) for width in widths]


def with_nan(draw: Draw) -> Any:
    values = draw.values((4, 5), "float64")
    return numpy.where(draw.rng.uniform(size=(4, 5)) < 0.2, numpy.nan, values)


def bits(shape: Any, *rest: Any, **options: Any) -> Sampler:
    return lambda d: ([both(d.rng.integers(0, 2, shape).astype("uint8")), *rest], options)


TABLE: dict[str, list[Sampler]] = {
    "pad": [
        *padded("constant"),
        *padded("constant", constant_values=5),
        *padded("constant", constant_values=((1, 2), (3, 4))),
        *itertools.chain.from_iterable(
            padded(mode) for mode in ("edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "linear_ramp")
        ),
        *padded("maximum", stat_length=2),
        *padded("linear_ramp", end_values=3),
        on((3, 4), 2, mode="mean", dtypes=["float64", "int32"]),
        on((3, 4), 2, mode="mean", stat_length=2, dtypes=["float64"]),
        on((3, 4), 2, mode="median", dtypes=["float64"]),
        on((3, 4), 2, mode="reflect", reflect_type="odd", dtypes=["float64"]),
        on((0,), 2, mode="constant", dtypes=NUMBERS),
        on((0,), 2, mode="edge", dtypes=NUMBERS),
        on((3,), -1, dtypes=NUMBERS),
        on((3,), 1, mode="nonsense", dtypes=NUMBERS),
        on((3,), 1, mode="edge", constant_values=1, dtypes=NUMBERS),
        on((3,), (1, 2, 3), dtypes=NUMBERS),
    ],
    "polyval": [pair((3,), (2, 2), dtypes=["float64", "int64", "complex128"]), pair((0,), (2,), dtypes=["float64"])],
    "polyadd": [pair((3,), (2,), dtypes=NUMBERS), pair((2,), (4,), dtypes=NUMBERS)],
    "polysub": [pair((3,), (2,), dtypes=NUMBERS)],
    "polymul": [pair((3,), (2,), dtypes=["float64", "int64"]), pair((2,), (4,), dtypes=DOUBLES)],
    "polyder": [on((4,), dtypes=NUMBERS), on((4,), 2, dtypes=NUMBERS), on((1,), dtypes=NUMBERS)],
    "polyint": [on((4,), dtypes=["float64"]), on((3,), 2, dtypes=["float64"]), on((3,), 2, [1, 2], dtypes=["float64"])],
    "polydiv": [lambda d: ([both(d.values((4,), "float64", 1, 3)), both(d.values((2,), "float64", 1, 3))], {})],
    "polyfit": [lambda d: ([both(numpy.arange(5.0)), d.array((5,), ["float64"]), 2], {})],
    "roots": [lambda d: ([both(numpy.array([1.0, -6, 11, -6]))], {})],
    "poly": [on((3,), dtypes=["float64"])],
    "vander": [on((3,), dtypes=NUMBERS), on((3,), 2, dtypes=NUMBERS), on((3,), 4, True, dtypes=NUMBERS), on((2, 2))],
    "gradient": [
        on((5,), dtypes=["float64", "int32"]),
        on((3, 4), dtypes=["float64"]),
        on((3, 4), 2.0, axis=1, dtypes=["float64"]),
        on((5,), [0.0, 1.0, 1.5, 4.0, 4.5], dtypes=["float64"]),
        on((5,), [0.0, 1.0, 1.5, 4.0, 4.5], edge_order=2, dtypes=["float64"]),
        on((5,), 0.5, edge_order=2, dtypes=["float64"]),
        on((1,), dtypes=["float64"]),
        on((5,), [0.0, 1.0], dtypes=["float64"]),
    ],
    "unwrap": [
        on((8,), dtypes=["float64"]),
        lambda d: ([d.array((3, 6), ["float64"], -9, 9)], {"axis": 0, "discont": 4}),
        lambda d: ([d.array((6,), ["float64"], -9, 9)], {"period": 3.0}),
        lambda d: ([d.array((6,), ["int64"], -9, 9)], {"period": 4}),
    ],
    "trim_zeros": [lambda d: ([both(numpy.array([0, 0, 1, 0, 2, 0]))], {"trim": d.one("f", "b", "fb")})],
    "frexp": [
        on((9,), dtypes=["float32", "float64", "float16", "int32", "int8"]),
        lambda d: ([both(numpy.array([0.0, -0.0, 1e-310, 5e-324, 1e308, numpy.inf, -numpy.inf, numpy.nan, 1.0]))], {}),
        lambda d: ([both(numpy.array([1e-45, 1e-39, 3e38, -0.75], "float32"))], {}),
    ],
    "spacing": [
        on((5,), dtypes=["float32", "float64"]),
        lambda d: ([both(numpy.array([0.0, -1.0, numpy.inf, numpy.nan]))], {}),
        *(lambda d, t=t: ([both(numpy.array([0, 1, 3]).astype(t))], {}) for t in [*INTS, "bool"]),
    ],
    "real_if_close": [on((3,), dtypes=["complex128", "float64"]), lambda d: ([both(numpy.array([1 + 1e-16j, 2]))], {})],
    "ldexp": [
        lambda d: ([d.array((5,), ["float64", "float32"]), d.array((5,), ["int32"], -30, 30)], {}),
        lambda d: ([both(numpy.array([1e-300, 1e300])), both(numpy.array([1500, -1500]))], {}),
        lambda d: ([d.array((5,), ["bool", "int8", "uint8", "int16", "uint16", "int32", "float16"], 0, 2), 3], {}),
        lambda d: ([both(numpy.array([0.0, -0.0, 5e-324, 1.5, -1.1e308, numpy.inf])[:, None]), both(FAR)], {}),
        lambda d: ([both(numpy.array([0.0, 1e-45, 1.1, 3e38], "float32")[:, None]), both(FAR)], {}),
        pair((5,), (5,), dtypes=["float64", "complex128"]),
        on((5,), 2.0, dtypes=["float64"]),
        on((5,), 2j, dtypes=["float64"]),
        lambda d: ([both(numpy.ones(2, "complex128")), both(numpy.array([1, 2]))], {}),
        lambda d: ([both(numpy.ones(2)), both(numpy.array([1, 2], "uint64"))], {}),
    ],
    "bitwise_count": [on((9,), dtypes=[*INTS, "bool"]), lambda d: ([both(numpy.array([-128, 127, -1], "int8"))], {})],
    "packbits": [
        *(bits((3, 11), axis=axis, bitorder=order) for axis in (None, 0, 1, -1) for order in ("big", "little")),
        bits((0,)),
        bits((3,), bitorder="odd"),
        on((3,), dtypes=["float32"]),
    ],
    "unpackbits": [
        *(
            on((3, 2), axis=axis, bitorder=order, count=count, dtypes="uint8")
            for axis in (None, 0, -1)
            for order in ("big", "little")
            for count in (None, 5, -3, 20)
        ),
        on((2,), dtypes="int8"),
    ],
    "gcd": [pair((5,), (5,), dtypes=INTS), lambda d: ([both(numpy.array([0, -4, -128], "int8")), 6], {})],
    "lcm": [
        pair((5,), (5,), dtypes=INTS),
        lambda d: ([both(numpy.array([0, -4, 6])), 4], {}),
        *(  # that wrap around
            lambda d, t=t: (
                [both(d.rng.integers(-(2 ** (t - 1)), 2 ** (t - 1), 99).astype(f"int{t}")) for _ in "xy"],
                {},
            )
            for t in (8, 16, 32)
        ),
        lambda d: ([both(numpy.array([10, -128, -128], "int8")), both(numpy.array([127, -1, 3], "int8"))], {}),
    ],
    "i0": [
        lambda d: ([d.array((9,), ["float64"], -60, 60)], {}),
        lambda d: ([both(numpy.array([0.0, 19.999, 20.0, 700.0, 1e-8]))], {}),
    ],
    "resize": [on((2, 3), shape) for shape in ((4, 4), 5, (0,), (1, 2))] + [on((0,), (2,)), on((2,), (-1,))],
    "apply_over_axes": [lambda d: ([d.one(numpy.sum, numpy.max), d.array(CUBE, ["float64"]), [0, -1]], {})],
    "fromiter": [lambda d: ([range(5), d.one("int32", "float64")], {})],
    "frombuffer": [lambda d: ([d.rng.bytes(16), d.one("uint8", "int32", "float64")], {"offset": d.one(0, 8)})],
    "fromstring": [lambda d: (["1 2 3"], {"dtype": "int64", "sep": " "})],
    "min_scalar_type": [lambda d: ([d.one(3, -5, 1000, 2.5, 1e300, True)], {}), on((2,), dtypes=["int32", "float64"])],
    "common_type": [pair((2,), (2,), dtypes=["float32", "float64", "int32", "complex64"])],
    "isfortran": [on(CUBE), on((3,))],
    "asfortranarray": [on(CUBE)],
    "asanyarray": [on(CUBE)],
    "asarray_chkfinite": [on(CUBE), lambda d: ([both(numpy.array([1.0, numpy.nan]))], {})],
    "iscomplexobj": [on((2,))],
    "isrealobj": [on((2,))],
    "iscomplex": [on((2,))],
    "isneginf": [on((2,), dtypes=FLOATS)],
    "array_equal": [pair((2,), (2,), dtypes=["bool"]), pair((2,), (3,))],
    "array_equiv": [pair((2,), (3, 2), dtypes=["bool"]), pair((2,), (3,))],
    "allclose": [pair((2,), (2,), dtypes=["float64"])],
    "compress": [lambda d: ([both(numpy.array([True, False, True])), d.array((3, 4))], {"axis": d.one(None, 0, 1)})],
    "trapezoid": [
        on((3, 5), dtypes=["float64"]),
        on((3, 5), axis=0, dx=0.5, dtypes=["float64"]),
        on((5,), [0.0, 1.0, 3.0, 4.0, 9.0], dtypes=["float64"]),
    ],
    "around": [on((5,), 1, dtypes=["float64"])],
    "broadcast_shapes": [lambda d: ([(2, 1), (3,)], {}), lambda d: ([(2,), (3,)], {})],
    "cumulative_prod": [on((4,)), on((3, 4), axis=1, include_initial=True), on((3, 4))],
    **{
        name: [lambda d: ([both(with_nan(d))], {"axis": d.one(None, 0, 1)})]
        for name in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nancumsum", "nancumprod")
    },
    "promote_types": [lambda d: ([d.one(*INTS, *FLOATS), d.one(*INTS, *FLOATS)], {})],
    "result_type": [lambda d: ([d.array((2,)), d.array((2,)), d.one(2, 2.0, 2j, True)], {})],
    "can_cast": [lambda d: ([d.one(*INTS, *FLOATS), d.one(*INTS, *FLOATS)], {"casting": d.one("safe", "same_kind")})],
    "issubdtype": [lambda d: ([d.one(*INTS, *FLOATS), d.one(numpy.integer, numpy.floating, numpy.number)], {})],
    "isdtype": [lambda d: ([numpy.dtype(d.one(*INTS, *FLOATS)), d.one("integral", "real floating", "numeric")], {})],
    "require": [on(CUBE, requirements=[letter]) for letter in "CFA"],
}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_function(name: str, rng: numpy.random.Generator) -> None:
    if not hasattr(numpy, name):
        pytest.skip("not in this NumPy")
    draw = Draw(rng)
    for sampler in TABLE[name]:
        for _ in range(3):
            args, options = sampler(draw)
            agree(name, args, options, tolerance=1e-9 if name in ("i0", "polyfit", "roots", "poly") else None)


@pytest.mark.parametrize("name", ["hanning", "hamming", "blackman", "bartlett"])
def test_windows(name: str) -> None:
    for n in (0, 1, 2, 5, 12):
        same(getattr(np, name)(n, dtype="float64"), getattr(numpy, name)(n), 1e-12)
        assert getattr(np, name)(n).dtype == np.float32
    same(np.kaiser(7, 3.5, dtype="float64"), numpy.kaiser(7, 3.5), 1e-12)


def test_copyto(rng: numpy.random.Generator) -> None:
    for value, mask in (
        (3, True),
        ([1.5, 2.5, 3.5, 4.5], True),
        (7, rng.uniform(size=(3, 4)) < 0.5),
        (0.1, [True] * 4),
    ):
        theirs = rng.normal(size=(3, 4))
        ours = np.array(theirs)
        numpy.copyto(theirs, value, where=mask)
        np.copyto(ours, value, where=mask)
        same(ours, theirs)
    with pytest.raises(TypeError, match="copyto: cannot cast"):
        np.copyto(np.zeros(2, "int32"), np.ones(2))


def test_blocks_and_grids() -> None:
    a, b = numpy.eye(2), numpy.ones((2, 1))
    for nested in ([a, b], [[a, b], [numpy.zeros((1, 3))]], [1.0, a[0]], a, [[[a]]]):
        same(np.block(nested), numpy.block(nested))
    with pytest.raises(ValueError, match="one depth"):
        np.block([[a], b])
    same(np.mgrid[0:2:0.5, 1:4:0.5].astype("float64"), numpy.mgrid[0:2:0.5, 1:4:0.5])
    same(np.mgrid[0:1:5j].astype("float64"), numpy.mgrid[0:1:5j], 1e-6)
    assert [g.shape for g in np.ogrid[0:2, 0:3]] == [g.shape for g in numpy.ogrid[0:2, 0:3]]
    x = numpy.array([[5.0, 6.0]])
    assert list(np.ndenumerate(np.array(x))) == [(place, float(v)) for place, v in numpy.ndenumerate(x)]
    assert list(np.ndindex(2, 2)) == list(numpy.ndindex(2, 2))
    assert np.iterable([1]) and not np.iterable(np.ones(()))
    assert np.s_[1:2] == np.index_exp[1:2][0]
    assert (np.base_repr(5), np.binary_repr(5), np.typename("d")) == ("101", "101", "double precision")
    assert (np.format_float_positional(0.5), np.format_float_scientific(0.5)) == ("0.5", "5.e-01")
    assert np.mintypecode("fd") == "d"


# ---- functions of functions


def test_apply_along_axis(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 4))
    for axis in (0, 1, -1):
        for function in (lambda v: v.sum(), lambda v: v[::2], lambda v: v[:2] * v[:2, None]):
            same(np.apply_along_axis(function, axis, np.array(x)), numpy.apply_along_axis(function, axis, x))


def test_python_functions_by_elements(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 3))
    same(np.vectorize(lambda a, b: max(a, b))(np.array(x), 0.5), numpy.vectorize(lambda a, b: max(a, b))(x, 0.5))
    assert np.vectorize(lambda a: a)(np.ones(2)).dtype == np.float32
    made = np.frompyfunc(lambda a, b: (a + b, a - b), 2, 2)(np.array([1.0, 2.0]), 3.0)
    assert [part.tolist() for part in made] == [[4.0, 5.0], [-2.0, -1.0]]


def test_piecewise(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(3, 4))
    for theirs, ours in (
        (numpy.piecewise(x, [x < 0, x > 1], [-1, lambda v: v * 2]), None),
        (numpy.piecewise(x, [x < 0, x > 1], [-1, lambda v: v * 2, 7]), 7),
    ):
        y = np.array(x)
        functions = [-1, lambda v: v * 2] + ([] if ours is None else [ours])
        same(np.piecewise(y, [y < 0, y > 1], functions), theirs)
    line = x[0]
    same(np.piecewise(np.array(line), np.array(line) > 0, [1, 2]), numpy.piecewise(line, line > 0, [1, 2]))
    with pytest.raises(ValueError, match="piecewise: 4 functions for 1"):
        np.piecewise(np.ones(2), [np.ones(2) > 0], [1, 2, 3, 4])


def test_fromfunction() -> None:
    same(
        np.fromfunction(lambda i, j: i * 10 + j, (3, 4), dtype=int),
        numpy.fromfunction(lambda i, j: i * 10 + j, (3, 4), dtype=int),
    )


# ---- files and memory


def test_files(tmp_path: Path) -> None:
    x, y = np.array([[1, 2]], dtype="int16"), np.ones(3, dtype="complex64")
    np.save(tmp_path / "x.npy", x)
    same(np.load(tmp_path / "x.npy"), x.asnumpy())
    same(np.array(numpy.load(tmp_path / "x.npy")), x.asnumpy())
    for write in (np.savez, np.savez_compressed):
        write(tmp_path / "z.npz", x, y=y)
        with np.load(tmp_path / "z.npz") as found:
            assert sorted(found) == ["arr_0", "y"]
            same(found["arr_0"], x.asnumpy())
            same(found["y"], y.asnumpy())
    np.savez(tmp_path / "b.npz", b=np.array([1.5, 2], dtype="bfloat16"))  # NumPy's files keep its bytes, not its name
    assert (
        np.load(tmp_path / "b.npz")["b"].tolist() == [1.5, 2] and np.load(tmp_path / "b.npz")["b"].dtype == np.bfloat16
    )
    x.tofile(tmp_path / "raw")
    same(np.fromfile(tmp_path / "raw", dtype="int16"), numpy.array([1, 2], "int16"))
    np.savetxt(tmp_path / "t.txt", np.eye(2))
    same(np.loadtxt(tmp_path / "t.txt"), numpy.eye(2))
    same(np.genfromtxt(io.StringIO("1,,3"), delimiter=","), numpy.array([1, numpy.nan, 3]))
    numpy.save(tmp_path / "o.npy", numpy.array([{}]), allow_pickle=True)
    with pytest.raises(ValueError, match="pickle"):
        np.load(tmp_path / "o.npy")
    with pytest.raises(ValueError, match="allow_pickle"):
        np.load(tmp_path / "x.npy", allow_pickle=True)


def test_shared_memory() -> None:
    x = np.zeros((4, 4))
    assert np.shares_memory(x, x[1:]) and np.may_share_memory(x, x.T)
    assert not np.shares_memory(x[::2], x[1::2]) and np.may_share_memory(x[::2], x[1::2])
    assert not np.shares_memory(x, np.zeros((4, 4)))
    assert not np.shares_memory(x, numpy.zeros((4, 4)))
    assert not np.shares_memory(x, x + 1)


@pytest.mark.parametrize("dtype", ["float64", "int16", "complex64", "uint8"])
def test_views_as_other_types(dtype: str, rng: numpy.random.Generator) -> None:
    x = numpy.frombuffer(rng.bytes(64), dtype)
    ours = np.array(x)
    for other in ("uint8", "int32", "float32", "int64", "complex64"):
        assert ours.view(other).asnumpy().tobytes() == x.tobytes()
        assert ours.view(other).shape == x.view(other).shape
    assert ours.byteswap().asnumpy().tobytes() == x.byteswap().tobytes()
    seen = ours.view("uint8")
    seen[...] = 0
    assert (ours == 0).all()


def test_views_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="no whole float64"):
        np.zeros(3).view("float64")
    with pytest.raises(ValueError, match="last axis must be contiguous"):
        np.zeros((4, 4)).T.view("float64")
    with pytest.raises(ValueError, match="aligned"):
        np.zeros(5)[1:].view("float64")


def test_flat_and_base() -> None:
    theirs = numpy.arange(12.0).reshape(3, 4)
    for view in (lambda x: x, lambda x: x.T, lambda x: x[:, ::2]):
        a = theirs.copy()
        x, y = view(a), view(np.array(a))
        assert len(y.flat) == x.size
        same(y.flat[3], x.flat[3])
        same(y.flat[1:4], x.flat[1:4])
        x.flat[2], y.flat[2] = -1, -1
        x.flat[3:5], y.flat[3:5] = 7, 7
        same(y, x)
        x.flat, y.flat = [1, 2], [1, 2]
        same(y, x)
        assert [float(v) for v in y.flat] == [float(v) for v in x.flat]
    x = np.zeros((2, 3))
    assert x.base is None
    assert np.shares_memory(x[1].base, x) and x[1].base.size == 6


def test_pickles_and_copies() -> None:
    import copy

    x = np.array([[1, 2], [3, 4]], dtype="int32")
    for made in (pickle.loads(pickle.dumps(x)), pickle.loads(x.dumps()), copy.copy(x), copy.deepcopy(x)):
        same(made, x.asnumpy())
        made[...] = 0
        assert x.sum().item() == 10
    file = io.BytesIO()
    x.dump(file)
    same(pickle.loads(file.getvalue()), x.asnumpy())


# ---- what NumPy computes


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def calls(function: Any, what: str, owner: Any = None, seen: set[Any] | None = None) -> bool:
    """Whether a function of the package uses a name, itself or in functions and methods that it uses by their names."""
    seen = set() if seen is None else seen
    owner = type(function.__self__) if isinstance(function, types.MethodType) else owner
    function = inspect.unwrap(getattr(function, "__func__", function))
    if isinstance(function, type):
        return any(calls(part, what, function, seen) for part in vars(function).values() if inspect.isfunction(part))
    if not inspect.isfunction(function) or function in seen or not function.__module__.startswith("slipstream."):
        return False
    seen.add(function)
    names = {name for code in codes(function.__code__) for name in code.co_names}
    used = [function.__globals__.get(name, getattr(owner, name, None)) for name in names]
    return what in names or any(calls(f, what, owner, seen) for f in used if inspect.isroutine(f))


HOMES = {"np": np, "np.random": np.random, "np.linalg": np.linalg, "np.fft": np.fft, "npx": npx}
HOMES |= {"npx.random": npx.random, "npx.image": npx.image}


def test_register_of_what_numpy_computes() -> None:
    public = {f"{home}.{name}": getattr(module, name) for home, module in HOMES.items() for name in module.__all__}
    assert set(REGISTER) <= set(public)
    behind = {name for name, function in public.items() if calls(function, "host_call")} - {"npx.host_call"}
    assert behind == {name for name, (how, _) in REGISTER.items() if how == "behind"}
    waiting = {name for name, function in public.items() if calls(function, "waiting")}
    assert waiting <= {name for name, (how, _) in REGISTER.items() if how == "waits"}


def test_the_page_lists_what_numpy_computes() -> None:
    page = (Path(__file__).parents[2] / "docs" / "numpy.md").read_text()
    assert page.endswith(table()), "docs/numpy.md is out of date: make generated"


# ---- coverage


def names_in_tests() -> set[str]:
    """Names that the tests of np mention: in a table, or in a call."""
    text = "\n".join(path.read_text() for path in Path(__file__).parent.glob("*.py"))
    return set(re.findall(r"\w+", text)) | set(FUNCTIONS) | set(TABLE) | set(_rows.ROWS) | set(_rows.ALIASES)


def test_every_public_name_is_tested() -> None:
    names = names_in_tests()
    # Types and their aliases are checked as a whole.
    missing = [name for name in np.__all__ if name not in names and not isinstance(getattr(np, name), (type, float))]
    assert not missing, f"public names that no test of np mentions: {missing}"
    assert not [name for name in np.random.__all__ if name not in names]


def test_type_names_mean_what_numpys_mean() -> None:
    for name in np.__all__:
        kind = getattr(np, name)
        if isinstance(kind, type) and issubclass(kind, numpy.generic) and hasattr(numpy, name):
            assert kind is getattr(numpy, name) or numpy.dtype(kind) == numpy.dtype(getattr(numpy, name)), name


@pytest.mark.parametrize("name", ["pi", "e", "inf", "euler_gamma", "newaxis"])
def test_constants(name: str) -> None:
    assert getattr(np, name) == getattr(numpy, name)


def test_kinds_of_types_and_print_options() -> None:
    assert np.bool_ in np.boolean_dtypes and np.int8 in np.integer_dtypes
    assert np.float64 in np.floating_dtypes and np.complex64 in np.numeric_dtypes
    assert np.iinfo("int16").max == 32767
    assert np.row_stack is np.vstack
    before = np.get_printoptions()["precision"]
    np.set_printoptions(precision=3)
    assert str(np.array([0.12345])) == "[0.123]"
    np.set_printoptions(precision=before)


def test_conditions_and_choices_as_one_array(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=6)
    conditions, choices = numpy.stack([x < 0, x > 1]), numpy.stack([x - 1, x * 2])
    same(np.select(np.array(conditions), np.array(choices), 7.0), numpy.select(conditions, choices, 7.0))
    same(
        np.piecewise(np.array(x), np.array(conditions), np.array([-1.0, 1.0])), numpy.piecewise(x, conditions, [-1, 1])
    )
    with pytest.raises(ValueError, match="select: 2 conditions for 1 choices"):
        np.select(np.array(conditions), np.array(choices[:1]))


def test_ediff1d_has_the_type_of_the_differences() -> None:
    for x in (numpy.array([1, 4, 9]), numpy.ones((5, 0, 4), int), numpy.array([1.5, 4.0])):
        for more in ((2, 4), (x[:2], 3), ([5, 6], None), (None, numpy.array([7], "int8"))):
            same(np.ediff1d(np.array(x), *more), numpy.ediff1d(x, *more))
    with pytest.raises(TypeError, match="ediff1d: to_begin of float64 does not fit among differences of int64"):
        np.ediff1d(np.array([1, 4], dtype="int64"), 1, 0.5)
