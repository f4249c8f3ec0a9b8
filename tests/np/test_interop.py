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
    with pytest.raises(TypeError, match="cast"):
        numpy.spacing(numpy.ones(2), out=np.zeros(2, dtype="int32"))


def test_results_keep_their_types() -> None:
    assert numpy.unique_counts(np.array([1.0, 1.0])).counts.tolist() == [2]
