"""What random programs have found, each as small as it could be made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from slipstream import np


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
