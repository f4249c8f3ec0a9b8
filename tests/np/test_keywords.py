"""Arguments have NumPy's names and places, and all its keywords are taken, but for those that docs/numpy.md names."""

from __future__ import annotations

import inspect
import io
from pathlib import Path
from typing import Any

import numpy
import pytest
from compare import Draw, agree, same

from slipstream import np

PAGE = (Path(__file__).resolve().parents[2] / "docs/numpy.md").read_text()
HOMES = {"np": (numpy, np), "np.linalg": (numpy.linalg, np.linalg), "np.fft": (numpy.fft, np.fft)}
HOMES["np.random"] = (numpy.random, np.random)

# Keywords that are left out, by function; "": by all.
LEFT_OUT = {
    "": {"like", "signature", "subok"},
    "np.array": {"ndmax"},
    "np.fix": {"x"},
    "np.load": {"fix_imports", "encoding", "max_header_size"},
}
for _name in ("bitwise_count", "divmod", "frexp", "ldexp", "modf", "spacing"):
    LEFT_OUT[f"np.{_name}"] = {"where", "casting", "order", "dtype"}
for _name in ("matmul", "matvec", "vecmat"):  # NumPy refuses these, whatever the signature says
    LEFT_OUT[f"np.{_name}"] = {"axis", "keepdims"}

# Here more can be given by position, or by the array API standard's name.
OTHER_PLACES = {"np.arange", "np.clip", "np.fft.fftfreq", "np.fft.rfftfreq", "np.linalg.tensordot"}

of_this_numpy = pytest.mark.skipif(
    numpy.lib.NumpyVersion(numpy.__version__) < "2.4.0", reason="older ones have other names, and tell fewer"
)
Parameter = inspect.Parameter
POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def parameters(function: Any) -> list[Parameter] | None:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some of NumPy's own say nothing
        return None


FUNCTIONS = [
    (f"{home}.{name}", getattr(theirs, name), getattr(ours, name))
    for home, (theirs, ours) in HOMES.items()
    for name in sorted(set(dir(theirs)) & set(ours.__all__))
    if callable(getattr(theirs, name)) and not isinstance(getattr(theirs, name), type)
]


@of_this_numpy
def test_every_keyword_of_numpy_is_taken() -> None:
    checked, missing = 0, {}
    for name, theirs, ours in FUNCTIONS:
        wanted, taken = parameters(theirs), parameters(ours)
        if wanted is None or taken is None or any(p.kind is p.VAR_KEYWORD for p in taken):
            continue
        checked += 1
        lacking = {p.name for p in wanted if p.kind in NAMED} - {p.name for p in taken if p.kind in NAMED}
        if lacking := lacking - LEFT_OUT[""] - LEFT_OUT.get(name, set()):
            missing[name] = lacking
    assert not missing
    assert checked > 300


@of_this_numpy
def test_arguments_have_numpys_places() -> None:
    moved = {}
    for name, theirs, ours in FUNCTIONS:
        wanted, taken = parameters(theirs), parameters(ours)
        if wanted is None or taken is None or name in OTHER_PLACES or any(p.kind is p.VAR_POSITIONAL for p in taken):
            continue
        places = [[p.name for p in found if p.kind in POSITIONAL] for found in (wanted, taken)]
        both = min(map(len, places))
        if places[0][:both] != places[1][:both]:
            moved[name] = places
    assert not moved


def test_the_page_names_what_is_left_out() -> None:
    part = PAGE.partition("## Keywords that are missing")[2].partition("\n## ")[0]
    for name, words in LEFT_OUT.items():
        for word in {name.removeprefix("np."), *words} - {""}:
            assert f"`{word}`" in part, f"docs/numpy.md does not name {word} of {name}"


# ---- what the keywords do


PRODUCTS: list[tuple[str, Any, Any, dict[str, Any]]] = [
    *(("matmul", (2, 3), (3, 4), {"casting": casting}) for casting in ("no", "equiv", "safe", "unsafe", "odd")),
    *(("matmul", (2, 3), (3, 4), {"dtype": dtype}) for dtype in ("float32", "float64", "complex128", "int64")),
    ("matmul", (2, 3), (3, 4), {"dtype": "int64", "casting": "unsafe"}),
    *(("matmul", (2, 3), (3, 4), {"order": order}) for order in "KACFX"),
    ("matmul", (3, 2, 4), (4, 5, 2), {"axes": [(0, 2), (0, 1), (0, 2)]}),
    ("matmul", (3, 2, 4), (4, 5, 2), {"axes": [(0, 2), (0, 1), (2, 0)]}),
    ("matmul", (3, 2, 4), (4, 5, 2), {"axes": [(0, 2), (0, 1)]}),
    ("matmul", (2, 3), (3, 4), {"axis": 0}),
    ("vecdot", (4, 3), (4, 3), {"axes": [0, 0]}),
    ("vecdot", (4, 3), (4, 3), {"axes": [(0,), (0,), ()]}),
    ("vecdot", (4, 3), (4, 3), {"axes": [0, 0], "axis": 0}),
    ("vecdot", (4, 3), (4, 3), {"axis": 0, "keepdims": True, "dtype": "complex128"}),
    ("matvec", (2, 3, 4), (4, 2), {"axes": [(1, 2), 0, 0]}),
    ("vecmat", (4, 2), (2, 4, 5), {"axes": [0, (-2, -1), -1], "casting": "safe"}),
    ("vecmat", (4, 2), (2, 4, 5), {"axes": [0, (-2, -1)]}),
]


@pytest.mark.parametrize(("name", "first", "second", "options"), PRODUCTS)
def test_products(name: str, first: Any, second: Any, options: dict[str, Any], rng: numpy.random.Generator) -> None:
    if not hasattr(numpy, name):
        pytest.skip("not in this NumPy")
    draw = Draw(rng)
    for dtypes in (("float64", "float64"), ("float32", "float64"), ("int64", "int64")):
        x, y = (draw.array(shape, dtype, 0, 9) for shape, dtype in zip((first, second), dtypes, strict=True))
        agree(name, [x, y], options)


def test_products_into_arrays() -> None:
    x, y = np.ones((2, 3)), np.arange(3)
    out = np.zeros(2, dtype="int64")
    with pytest.raises(TypeError, match="matvec: cannot cast the result from float32 to out's int64"):
        np.matvec(x, y, out)
    assert np.matvec(x, y, out, casting="unsafe") is out and out.tolist() == [3, 3]
    assert np.vecmat(np.ones(2), x, out=np.zeros(3)).tolist() == [2, 2, 2]


def test_two_results_into_arrays() -> None:
    x, first, second = np.array([2.5, -2.5]), np.zeros(2), np.zeros(2)
    for name, arguments in (("divmod", (x, 2)), ("modf", (x,)), ("frexp", (x,))):
        both = (first, np.zeros(2, "int32") if name == "frexp" else second)
        made = getattr(np, name)(*arguments, out=both)
        assert made[0] is both[0] and made[1] is both[1]
        for part, wanted in zip(made, getattr(np, name)(*arguments), strict=True):
            same(part, wanted.asnumpy())
    assert numpy.modf(x, out=(first, None))[0] is first


def test_quantiles_by_weights(rng: numpy.random.Generator) -> None:
    x, weights = rng.normal(size=(3, 5)), rng.uniform(size=(3, 5))
    x[0, 1] = numpy.nan
    for name in ("quantile", "nanquantile"):
        if "weights" not in inspect.signature(getattr(numpy, name)).parameters:
            pytest.skip("not in this NumPy")
        for q in (0.3, numpy.array([0.2, 0.8])):
            options = {"axis": 1, "method": "inverted_cdf"}
            wanted = getattr(numpy, name)(x, q, weights=weights, **options)
            given = np.array(q) if isinstance(q, numpy.ndarray) else q
            same(getattr(np, name)(np.array(x), given, weights=np.array(weights), **options), wanted)


def test_files_take_allow_pickle_and_do_not_save_it() -> None:
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, np.ones(2), allow_pickle=False)
        file.seek(0)
        assert list(np.load(file)) == ["arr_0"]
    np.save(io.BytesIO(), np.ones(2), allow_pickle=False)
    assert np.copy(np.ones(2), subok=True).tolist() == np.asanyarray(np.ones(2), copy=True).tolist() == [1, 1]
    assert np.unique_values(x=np.array([2, 1, 2])).tolist() == [1, 2]
