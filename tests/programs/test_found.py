"""What random programs have found, each as small as it could be made."""

from __future__ import annotations

import operator
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from replay import BY_NAME, Dam

from slipstream import np, npx


def survives(code: str) -> str:
    """What a program of its own prints: a crash must not take the other tests along."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_host_call_without_arrays() -> None:
    """Neither arguments nor results: nothing says on which device it runs."""
    code = "from slipstream import npx; npx.host_call(lambda: print('called'), [], None); npx.waitall()"
    assert survives(code) == "called"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sum_of_nothing_into_nothing(dtype: str) -> None:
    """An empty result that is accumulated in another type than its own."""
    code = f"from slipstream import np; print(np.sum(np.zeros((2, 0, 3), dtype={dtype!r}), axis=()).shape)"
    assert survives(code) == "(2, 0, 3)"


def test_repeat_and_tile_give_new_arrays() -> None:
    x = np.ones((1, 3))
    for made in (np.repeat(x, 2, axis=0), np.tile(x, (2, 1)), np.tile(x, 1)):
        made[0] += 1
        assert (made.asnumpy()[0] == 2).all()
        assert (made.asnumpy()[1:] == 1).all()
    assert (x.asnumpy() == 1).all()


def test_ravel_of_what_does_not_lie_in_a_row_is_a_copy() -> None:
    x = np.arange(4)
    backwards = np.ravel(x[::-1])
    backwards += 10
    assert x.tolist() == [0, 1, 2, 3]
    forwards = np.ravel(x)
    forwards += 10
    assert x.tolist() == [10, 11, 12, 13]


# ---- a failed array is written to beside healthy ones


def failed() -> Any:
    def fail() -> Any:
        raise KeyError("lost")

    return npx.host_call(fail, [], (4,))


def still_failed(x: Any) -> None:
    with pytest.raises(KeyError, match="lost"):
        x.wait_to_read()


# Each writes over all of its first argument what the second function makes a new array of.
OVERWRITES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "a constant": (lambda x, y: operator.setitem(x, ..., 3), lambda y: np.full((4,), 3.0)),
    "fill": (lambda x, y: x.fill(0), lambda y: np.zeros(4)),
    "a copy": (lambda x, y: operator.setitem(x, ..., y), lambda y: y.copy()),
    "copyto": (lambda x, y: y.copyto(x), lambda y: y.copy()),
    "a view": (lambda x, y: operator.setitem(x, ..., y[::-1]), lambda y: np.flip(y) + 0),
    "parts": (lambda x, y: [operator.setitem(x, i, y[i]) for i in range(4)], lambda y: y.copy()),
    "an expression": (lambda x, y: operator.setitem(x, ..., y * 2 + 1), lambda y: y * 2 + 1),
    "out": (lambda x, y: np.multiply(y, 2, out=x), lambda y: y * 2),
    "in place": (operator.iadd, lambda y: y + 0),
}


@pytest.mark.parametrize("setting", BY_NAME)
@pytest.mark.parametrize("how", OVERWRITES)
@pytest.mark.parametrize("earlier", [True, False], ids=["failed before", "fails in the batch"])
def test_writing_to_a_failed_array(setting: str, how: str, earlier: bool) -> None:
    """It stays failed, with all that reads it; what shares the value written to it, or the batch, does not."""
    write, value = OVERWRITES[how]
    with BY_NAME[setting].applied():
        start = np.arange(4)
        expected = value(start + 1).tolist()
        x = failed()
        if earlier:
            still_failed(x)
        dam = Dam(BY_NAME[setting].dam)
        dam.close()
        y = start + 1
        shared, before = value(y), x + 1
        write(x, y)
        after, part, total = x * 2 + y, x[1:], (x + shared).sum()
        again, other = value(y), shared - y
        start += 1
        dam.open.set()
        for array in (again, shared, other + y):
            assert array.tolist() == expected
        assert start.tolist() == y.tolist() == [1, 2, 3, 4]
        for array in (x, before, after, part, total, x + 1):
            still_failed(array)


@pytest.mark.parametrize("setting", BY_NAME)
@pytest.mark.parametrize("earlier", [True, False], ids=["failed before", "fails in the batch"])
def test_adding_a_failed_array_to_a_healthy_one(setting: str, earlier: bool) -> None:
    """What was made of the healthy one before, perhaps in the same pass, stays healthy."""
    with BY_NAME[setting].applied():
        start, into = np.arange(4), np.zeros(4)
        x = failed()
        if earlier:
            still_failed(x)
        dam = Dam(BY_NAME[setting].dam)
        dam.close()
        y = start + 1
        kept, copied = y * 0.5 + 1, y.copy()
        into[...] = y * 2
        y += x
        dam.open.set()
        assert kept.tolist() == [1.5, 2, 2.5, 3]
        assert copied.tolist() == [1, 2, 3, 4]
        assert into.tolist() == [2, 4, 6, 8]
        for array in (x, y, y + 1):
            still_failed(array)


# ---- types


def test_select_has_one_type_for_all() -> None:
    truth, counts = np.array([True, False]), np.array([1, 2], dtype="uint8")
    assert np.select([counts > 1, truth], [counts, truth]).dtype == "uint8"


def test_initial_does_not_change_the_type() -> None:
    assert np.max(np.array([True, False]), initial=True).dtype == "bool"
    assert np.max(np.array([True, False]), initial=2).dtype == "bool"
    assert np.min(np.ones(2, dtype="int8"), initial=2.5).dtype == "int8"
    assert np.sum(np.ones(2, dtype="int8"), initial=2.5).dtype == "int64"


@pytest.mark.parametrize("name", ["hypot", "arctan2", "logaddexp", "nextafter", "heaviside", "copysign"])
def test_bfloat16_beside_small_integers(name: str) -> None:
    x, counts = np.ones(2, dtype="bfloat16"), np.ones(2, dtype="int8")
    assert (x + counts).dtype == np.bfloat16
    assert getattr(np, name)(x, counts).dtype == np.bfloat16


def test_matvec_needs_a_matrix() -> None:
    with pytest.raises(ValueError, match="matvec"):
        np.matvec(np.ones(3), np.ones(3))


def test_an_array_as_an_index_makes_a_copy() -> None:
    x, zero = np.arange(3), np.array(0, dtype="int64")
    y = x[zero]
    y += 5
    assert x.tolist() == [0, 1, 2]


def test_nan_to_num_of_booleans_is_a_copy() -> None:
    x = np.array([True, False])
    np.nan_to_num(x)[...] = True
    assert x.tolist() == [True, False]
