"""NumPy's functions that write to our arrays: what they write arrives there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import np

WRITERS: dict[str, Callable[[Any], Any]] = {
    "copyto": lambda x: numpy.copyto(x, [[1.5], [2.5]]),
    "copyto by name": lambda x: numpy.copyto(dst=x, src=7, where=x > 2),
    "put": lambda x: numpy.put(x, [0, 4], [8, 9]),
    "putmask": lambda x: numpy.putmask(x, x > 2, -x),
    "place": lambda x: numpy.place(x, x > 2, [5, 6]),
    "put_along_axis": lambda x: numpy.put_along_axis(x, numpy.array([[1], [2]]), 9, 1),
    "add.at": lambda x: numpy.add.at(x, (numpy.array([0, 0]), numpy.array([1, 1])), 1),
    "negative.at": lambda x: numpy.negative.at(x, 1),
    "add.reduce": lambda x: numpy.add.reduce(x, 0, out=x[1]),
    "add.accumulate": lambda x: numpy.add.accumulate(x, 1, out=x),
    "median": lambda x: numpy.median(x, axis=0, out=x[0]),
    "median by position": lambda x: numpy.median(x, 0, x[0]),
    "spacing": lambda x: numpy.spacing(numpy.float32(3), out=x),
    "divmod": lambda x: numpy.divmod(x[0], 2, out=(x[0], x[1])),
    "modf": lambda x: numpy.modf(x[0] / 2, out=(x[0], x[1])),
    "einsum": lambda x: numpy.einsum("ij,ij->j", x, x, out=x[0]),
}


@pytest.mark.parametrize("name", WRITERS)
def test_numpys_writers(name: str) -> None:
    theirs = numpy.arange(6, dtype="float32").reshape(2, 3)
    ours = np.array(theirs)
    WRITERS[name](theirs)
    WRITERS[name](ours)
    same(ours, theirs)


def test_out_is_what_is_given_back() -> None:
    x, whole, total = np.array([3.0, 1.0]), np.zeros(2, dtype="int64"), np.zeros(())
    assert numpy.gcd([4, 6], [6, 9], out=whole) is whole
    assert whole.tolist() == [2, 3]
    assert numpy.add.reduce(x, out=total) is total
    quotient, rest = numpy.divmod(x, 2, out=(x, None))
    assert quotient is x and x.tolist() == [1, 0] and rest.tolist() == [1, 1]


def test_numpys_arrays_are_written_with_our_values() -> None:
    theirs, ours = numpy.zeros(2), np.array([1.0, 2.0])
    numpy.copyto(theirs, ours)
    numpy.add.at(theirs, [0], ours[:1])
    assert theirs.tolist() == [2, 2]


def test_out_of_a_wrong_type() -> None:
    with pytest.raises(TypeError, match="cannot be written to an array of type int32"):
        numpy.spacing(numpy.ones(2), out=np.zeros(2, dtype="int32"))


def test_results_keep_their_types() -> None:
    assert numpy.unique_counts(np.array([1.0, 1.0])).counts.tolist() == [2]


def test_ufunc_methods_are_ours() -> None:
    x = numpy.arange(6.0).reshape(2, 3)
    ours = np.array(x)
    for method, ufunc in (("reduce", numpy.add), ("reduce", numpy.maximum), ("accumulate", numpy.add)):
        for axis in (0, 1):
            made = getattr(ufunc, method)(ours, axis=axis)
            assert isinstance(made, np.ndarray)
            numpy.testing.assert_array_equal(made.asnumpy(), getattr(ufunc, method)(x, axis=axis))
    made = numpy.subtract.outer(ours, ours)
    assert isinstance(made, np.ndarray)
    numpy.testing.assert_array_equal(made.asnumpy(), numpy.subtract.outer(x, x))
    numpy.testing.assert_array_equal(numpy.add.reduceat(ours[0], [0, 1]), numpy.add.reduceat(x[0], [0, 1]))


def test_arguments_that_only_numpy_understands() -> None:
    made = numpy.broadcast_arrays(np.ones(3), None)
    assert made[1].tolist() == [None, None, None]


@pytest.mark.parametrize("name", ["pad", "gradient", "unwrap", "packbits", "i0", "gcd", "resize", "frexp", "polyval"])
def test_new_names_are_found_by_numpys(name: str) -> None:
    x = np.array([3, 1, 2], dtype="uint8")
    more = {"pad": [1], "gcd": [2], "resize": [(5,)], "polyval": [np.array([2], dtype="uint8")]}.get(name, [])
    made = getattr(numpy, name)(x, *more)
    assert isinstance(made[0] if isinstance(made, tuple) else made, np.ndarray)
