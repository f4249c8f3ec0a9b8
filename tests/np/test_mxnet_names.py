"""Every name of MXNet 2's np, npx and ndarray is here with its keywords, except those that docs/numpy.md names.

tests/np/mxnet2_names.csv holds them: module, name, and the names of the parameters, with = behind those that have a
default (some of the longest lists are cut at their end).
"""

from __future__ import annotations

import csv
import inspect
from pathlib import Path
from typing import Any

import numpy
import pytest

from slipstream import np, npx
from slipstream.np import _rows

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "numpy.md").read_text()
HOMES: dict[str, Any] = {
    "np": np,
    "np.random": np.random,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.ndarray": np.ndarray,
    "npx": npx,
    "npx.random": npx.random,
    "npx.image": npx.image,
}
ROWS = [row for row in csv.DictReader((HERE / "mxnet2_names.csv").read_text().splitlines()) if row["module"] in HOMES]

# Names that are missing on purpose, by the reason that docs/numpy.md gives.
MISSING = {
    "NumPy 2 removed": {
        *("np.NAN", "np.NINF", "np.NZERO", "np.NaN", "np.PINF", "np.PZERO", "np.alltrue", "np.product", "np.round_"),
        *("np.sometrue", "np.mirr", "np.npv", "np.pmt", "np.ppmt", "np.pv", "np.rate"),
    },
    "Python 2": {f"np.ndarray.__{name}__" for name in ("div", "idiv", "rdiv", "nonzero")},
    "C interface": {"npx.check_call", "np.ndarray.handle"},
    "how the class was made": {f"np.ndarray.__{name}__" for name in ("del", "setstate", "slots", "weakref")},
}

# Keywords that are missing on purpose: NumPy 2 removed them.
WITHOUT = {
    "normed": {"np.histogram", "np.histogram2d", "np.histogramdd"},
    "bias": {"np.corrcoef"},
    "ddof": {"np.corrcoef"},
}

# Functions whose arguments MXNet gave a default that NumPy's have not: they are given by position.
BY_PLACE = {"np.where"}


def full_name(row: dict[str, str]) -> str:
    return f"{row['module']}.{row['name']}"


def test_the_table_is_whole() -> None:
    assert len(ROWS) == 756
    assert all(sum(row["module"] == home for row in ROWS) for home in HOMES if home != "np.fft")


def test_every_name_is_there() -> None:
    missing = {full_name(row) for row in ROWS if not hasattr(HOMES[row["module"]], row["name"])}
    assert missing == set().union(*MISSING.values())


def test_the_page_names_what_is_missing() -> None:
    for reason, names in MISSING.items():
        assert reason in PAGE, reason
        for name in names:
            assert f"`{name.split('.')[-1]}`" in PAGE, f"docs/numpy.md does not name {name}"
    for keyword in WITHOUT:
        assert f"`{keyword}`" in PAGE


def numpys(name: str) -> Any:
    """NumPy's function of the name, if it has one."""
    found: Any = numpy
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found if name.startswith("np.") else None


def taken(function: Any, name: str) -> set[str]:
    """The keywords that a function takes; of a row of the table also the names of its arrays."""
    parameters = inspect.signature(function).parameters.values()
    found = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    row = _rows.ROWS.get(_rows.ALIASES.get(name, name))
    if row is not None and type(function) is type(np.add) and "where" in found and "axis" not in found:
        found |= {"name", *(("x", "data") if row["arity"] == 1 else ("x1", "x2"))}
    return found


def positions(function: Any) -> float:
    """How many arguments a function takes by position."""
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return float("inf")
    return sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)


def complaints(row: dict[str, str]) -> list[str]:
    """The parameters of a function that ours does not take."""
    name, function = full_name(row), getattr(HOMES[row["module"]], row["name"])
    keywords = taken(function, row["name"])
    open_ended = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
    found = []
    for place, word in enumerate(row["parameters"].split()):
        given = word.rstrip("=")
        # NumPy's name for an argument wins; what MXNet took by position can be given so.
        by_place = (
            numpys(name) is not None and (not word.endswith("=") or name in BY_PLACE) and place < positions(function)
        )
        # What takes any option does not overlook `out`.
        if not (given in keywords or by_place or name in WITHOUT.get(given, ()) or (open_ended and given != "out")):
            found.append(f"{name} does not take {given}")
    return found


def test_every_keyword_is_taken() -> None:
    checked = 0
    for row in ROWS:
        function = getattr(HOMES[row["module"]], row["name"], None)
        if row["parameters"] and callable(function) and not isinstance(function, type):
            assert not complaints(row)
            checked += 1
    assert checked > 400


@pytest.mark.parametrize("name", ["relu", "sigmoid", "erf", "gamma", "softsign"])
def test_arrays_by_name(name: str) -> None:
    x, function = np.array([0.5, 2.0]), getattr(npx, name)
    out = np.zeros(2)
    assert function(data=x, name="fwd", out=out) is out
    numpy.testing.assert_array_equal(out.asnumpy(), function(x).asnumpy())


def test_arrays_of_two_by_name() -> None:
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    assert np.subtract(x1=x, x2=y).tolist() == np.subtract(x, x2=y).tolist() == [-2, -3]
    assert np.sqrt(x=np.array([4.0])).tolist() == [2]
    for wrong in (lambda: np.subtract(x, x1=y), lambda: np.subtract(x2=y), lambda: np.sqrt(x, x=y)):
        with pytest.raises(TypeError, match=r"subtract|sqrt"):
            wrong()


def test_out_of_composed_functions() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    out = np.zeros((2, 1))
    assert npx.slice_like(x, out, axes=(1,), out=out, name="part") is out
    assert out.tolist() == [[1], [3]]
    halves = [np.zeros((2, 1)), np.zeros((2, 1))]
    npx.slice_channel(x, 2, out=halves)
    assert halves[1].tolist() == [[2], [4]]
    with pytest.raises(ValueError, match=r"smooth_l1: out has shape \(2, 1\), the result \(2, 2\)"):
        npx.smooth_l1(x, out=out)
    for made in (
        np.average(x, 1, out=np.zeros(2)),
        np.squeeze(x[:1], out=np.zeros(2)),
        np.ldexp(x, 1, out=np.zeros((2, 2))),
    ):
        assert made.size in (2, 4)
    assert np.reshape(x, 4, out=np.zeros(4)).tolist() == [1, 2, 3, 4]
    assert np.triu_indices(2, device=npx.cpu(1))[0].device == npx.cpu(1)
