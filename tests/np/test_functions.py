"""One table of functions and samplers of their arguments; each is called like NumPy's, which must agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from compare import ALL, FLOATS, INTS, REAL, Draw, Pair, agree

from slipstream import np

Sampler = Callable[[Draw], tuple[list[Any], dict[str, Any]]]


def on(shape: Any, *rest: Any, dtypes: Any = ALL, **options: Any) -> Sampler:
    """A call on one array of a shape."""
    return lambda d: ([d.array(shape, dtypes), *rest], options)


def pair(first: Any, second: Any, *rest: Any, dtypes: Any = ALL, **options: Any) -> Sampler:
    """A call on two arrays."""
    return lambda d: ([d.array(first, dtypes), d.array(second, dtypes), *rest], options)


def several(*shapes: Any, dtypes: Any = ALL, **options: Any) -> Sampler:
    """A call on a list of arrays."""
    return lambda d: ([[d.array(s, dtypes) for s in shapes]], options)


def both(values: Any) -> Pair:
    return Pair(values, np.array(values))


CUBE = (2, 3, 4)
TABLE: dict[str, list[Sampler]] = {
    # shape
    "reshape": [
        *[on(CUBE, shape) for shape in ((6, 4), (-1,), (4, -1, 2), 24, (2, 3, 2, 2), (5, 5), (-1, -1))],
        *[on(CUBE, (6, 4), order=order) for order in ("C", "F", "A")],
        on((0, 3), (3, 0, 2)),
        on((), (1, 1)),
    ],
    "ravel": [on(CUBE), on(CUBE, order="F"), on(())],
    "expand_dims": [on((2, 3), axis) for axis in (0, -1, 2, (0, 2), (1, -1), 5, (0, 0))],
    "squeeze": [
        on((1, 3, 1)),
        on((1, 3, 1), axis=0),
        on((1, 3, 1), axis=(0, -1)),
        on((1, 3, 1), axis=1),
        on(()),
        on((), axis=0),
        on((), axis=-1),
    ],
    "broadcast_to": [on((3, 1), shape) for shape in ((3, 4), (2, 3, 4), (3,), (4, 4))],
    "broadcast_arrays": [lambda d: ([d.array((3, 1)), d.array((4,)), d.array(())], {})],
    "atleast_1d": [on(()), on((2,)), on(CUBE), lambda d: ([d.array(()), d.array((2, 2))], {})],
    "atleast_2d": [on(()), on((2,)), on(CUBE)],
    "atleast_3d": [on(()), on((2,)), on((2, 3)), on(CUBE)],
    # order of axes
    "transpose": [on(CUBE), on(CUBE, (1, 0, 2)), on(CUBE, (-1, 0, 1)), on(CUBE, (0, 1)), on(CUBE, (0, 0, 1)), on(())],
    "swapaxes": [on(CUBE, 0, 2), on(CUBE, -1, 1), on(CUBE, 0, 3)],
    "moveaxis": [
        on(CUBE, 0, -1),
        on(CUBE, (0, 1), (2, 0)),
        on(CUBE, (0, 0), (1, 2)),
        on(CUBE, 0, 5),
        on(CUBE, (0, 1), 2),
    ],
    "rollaxis": [on(CUBE, 2), on(CUBE, 0, 3), on(CUBE, 1, 2), on(CUBE, -1, 1), on(CUBE, 3)],
    # order of elements
    "flip": [on(CUBE), on(CUBE, 1), on(CUBE, (0, 2)), on(CUBE, 3), on(())],
    "flipud": [on(CUBE), on(())],
    "fliplr": [on(CUBE), on((3,))],
    "rot90": [on(CUBE, k) for k in (0, 1, 2, 3, -1)] + [on(CUBE, 1, (1, 2)), on(CUBE, 1, (2, 0)), on(CUBE, 1, (0, 0))],
    "roll": [
        *[on(CUBE, shift, axis) for shift, axis in ((1, None), (-2, 0), (5, 1), ((1, 2), (0, 2)), (3, (0, 1)), (0, 1))],
        on((0, 3), 1),
        on((3,), 1, 1),
    ],
    "diagonal": [on((3, 4), k) for k in (0, 1, -2, 7)]
    + [on(CUBE, 0, 1, 2), on(CUBE, 1, 2, 0), on((3,)), on(CUBE, 0, 1, 1)],
    "diag": [on((3,)), on((3,), 1), on((3,), -2), on((3, 4)), on((3, 4), 1), on(CUBE)],
    "diagflat": [on((2, 2)), on((3,), 1)],
    "trace": [on((3, 4)), on((3, 4), 1), on(CUBE, 0, 1, 2)],
    "tril": [on((3, 4)), on((3, 4), 1), on(CUBE, -1), on((3,))],
    "triu": [on((3, 4)), on((3, 4), 1), on(CUBE, -1), on((3,))],
    # join
    "concatenate": [
        several((2, 3), (1, 3)),
        several((2, 3), (2, 2), axis=1),
        several((2, 3), (4,), axis=None),
        several((2, 3), (2, 3), axis=-1),
        several((2, 3), (2, 4)),
        several((2, 3), (3,)),
        several((2, 3), (1, 3), axis=2),
        several((2, 3), (1, 3), dtype="complex128"),
        lambda d: ([[d.array((2,), FLOATS), d.array((3,), INTS)]], {"dtype": "int8"}),
        lambda d: ([[]], {}),
    ],
    "stack": [several(CUBE, CUBE, axis=a) for a in (0, 1, -1, 3, 4)] + [several((2,), (3,)), several((), (), ())],
    "vstack": [several((3,), (3,)), several((2, 3), (3,)), several((), ())],
    "hstack": [several((3,), (2,)), several((2, 3), (2, 1)), several((), ())],
    "dstack": [several((3,), (3,)), several((2, 3), (2, 3))],
    "column_stack": [several((3,), (3, 2)), several((2,), (2,))],
    "append": [pair((2, 3), (2,)), pair((2, 3), (1, 3), 0), pair((2, 3), (3,), 0)],
    # split
    "split": [on((6, 2), 3), on((6, 2), [1, 4]), on((6, 4), 2, axis=1), on((5,), 2), on((6,), [2, 9])],
    "array_split": [on((7, 2), 3), on((2,), 4), on((6, 5), 2, axis=-1)],
    "vsplit": [on((4, 2), 2), on((4,), 2)],
    "hsplit": [on((4, 2), 2), on((4,), 2)],
    "dsplit": [on((1, 2, 4), 2), on((4, 2), 2)],
    # repeat
    "tile": [on((2, 3), reps) for reps in (2, (2, 1), (2, 1, 3), (1, 1), (0, 2))] + [on((), 3), on((2, 3), (3,))],
    "repeat": [
        *[on((2, 3), n, axis=a) for n in (0, 1, 3) for a in (None, 0, 1)],
        on((2, 3), [1, 2]),
        on((2, 3), [1, 2], axis=0),
        on((2, 3), [1, 0, 4], axis=1),
        on((2, 3), -1),
        on((2, 3), [2], axis=1),
    ],
    "meshgrid": [
        lambda d: ([d.array((3,)), d.array((2,))], {"indexing": d.one("xy", "ij"), "sparse": d.one(True, False)}),
        lambda d: ([d.array((3,)), d.array((2,)), d.array((4,))], {"indexing": d.one("xy", "ij")}),
    ],
    # choose
    "take": [
        lambda d: ([d.array((4, 5)), both(d.values((2, 2), "int64", 0, 3))], {"axis": d.one(None, 0, 1)}),
        lambda d: (
            [d.array((4, 5)), both(d.values((3,), "int32", -9, 9))],
            {"axis": 0, "mode": d.one("wrap", "clip")},
        ),
        on((4, 5), [0, -1], axis=1),
        on((4, 5), 2, axis=1),
        on((4, 5), [0], axis=2),
    ],
    "where": [
        lambda d: ([d.array((3, 1), "bool"), d.array((4,)), d.array((3, 4))], {}),
        lambda d: ([d.array((3,), "bool"), d.array((3,), REAL), 2.0], {}),
        on((3, 4), dtypes="bool"),
        on((3, 4), dtypes=INTS),
    ],
    "nonzero": [on((3, 4), dtypes=INTS), on((5,), dtypes="bool"), on(())],
    "flatnonzero": [on((3, 4), dtypes=INTS)],
    "argwhere": [on((3, 4), dtypes=INTS)],
    "extract": [lambda d: ([d.array((3, 4), "bool"), d.array((3, 4))], {})],
    "clip": [
        on((3, 4), -1, 1, dtypes=["int32", "float32", "float64"]),
        on((3, 4), None, 1, dtypes=FLOATS),
        on((3, 4), 0, None, dtypes=FLOATS),
        lambda d: ([d.array((3, 4), FLOATS), d.array((4,), FLOATS, -3, 0), d.array((3, 1), FLOATS, 0, 3)], {}),
        on((3,), -1, 1, dtypes=["uint8"]),
    ],
    "round": [on((5,), n, dtypes=["float32", "float64", "complex64", "int32"]) for n in (0, 1, 2, -1)],
    # products
    "dot": [
        pair((3,), (3,)),
        pair((2, 3), (3, 4)),
        pair((2, 3), (3,)),
        pair((3,), (3, 2)),
        pair((), (2, 3)),
        pair(CUBE, (4, 2)),
        pair(CUBE, (5, 4, 3)),
        pair((2, 3), (2, 3)),
        pair((0, 3), (3, 2)),
        pair((2, 0), (0, 2)),
    ],
    "matmul": [
        pair((2, 3), (3, 4)),
        pair((3,), (3, 2)),
        pair((2, 3), (3,)),
        pair((3,), (3,)),
        pair((5, 2, 3), (3, 4)),
        pair((5, 1, 2, 3), (4, 3, 2)),
        pair((2, 3), (4, 2)),
        pair((), (2,)),
        pair((2, 0), (0, 3)),
    ],
    "vdot": [pair((2, 3), (3, 2)), pair((3,), (3,))],
    "inner": [pair((3,), (3,)), pair((2, 3), (4, 3)), pair((), (3,)), pair((2, 3), (4, 2))],
    "outer": [pair((2,), (3,)), pair((2, 2), (3,))],
    "tensordot": [
        pair(CUBE, (3, 4, 5)),
        pair(CUBE, (4, 5), 1),
        pair(CUBE, (2,), 0),
        pair(CUBE, (4, 3, 5), ([1, 2], [1, 0])),
        pair(CUBE, (4, 3, 5), (2, 0)),
        pair(CUBE, (3, 5), 1),
    ],
    "kron": [pair((2,), (3,)), pair((2, 2), (1, 3)), pair((2,), (2, 2))],
    # others
    "diff": [
        on((5,)),
        on((3, 4), 2),
        on((3, 4), 1, 0),
        on((4,), 1, prepend=0, dtypes=["float64", "int64"]),
        on((), 1),
        on((4,), -1),
    ],
    "ediff1d": [on((2, 3), dtypes=["float64"]), on((4,), to_end=0, to_begin=1, dtypes=["float64"])],
    "isclose": [pair((3, 4), (4,), dtypes=["float32", "float64", "int32"]), on((3,), 1.0, dtypes=FLOATS)],
    "nan_to_num": [on((3, 4), dtypes=FLOATS + INTS)],
    "modf": [on((4,), dtypes=FLOATS)],
    "divmod": [pair((4,), (4,), dtypes=["float32", "float64", "int32", "uint8"])],
    "angle": [on((4,), dtypes=["complex64", "complex128", "float64"])],
    "sinc": [on((4,), dtypes=["float64"])],
    "select": [
        lambda d: (
            [[d.array((4,), "bool"), d.array((4,), "bool")], [d.array((4,), "float64"), d.array((4,), "float64")]],
            {},
        )
    ],
    "fix": [on((4,), dtypes=FLOATS)],
    "isposinf": [on((4,), dtypes=FLOATS)],
    "isreal": [on((4,))],
    "isscalar": [on((2,)), lambda d: ([3.0], {})],
    "shape": [on(CUBE)],
    "ndim": [on(CUBE)],
    "size": [on(CUBE), on(CUBE, 1), on(CUBE, 4), on(CUBE, (0, -1))],
}

NEW_IN_2 = {
    "concat": [several((2, 3), (1, 3))],
    "permute_dims": [on(CUBE, (1, 2, 0))],
    "matrix_transpose": [on(CUBE), on((3,))],
    "unstack": [on(CUBE), on(CUBE, axis=1)],
    "vecdot": [pair((2, 3), (3,)), pair((3, 2), (3, 1), axis=0), pair((2, 3), (4,))],
    "matvec": [pair((2, 3), (3,)), pair((4, 2, 3), (4, 3))],
    "vecmat": [pair((2,), (2, 3)), pair((4, 2), (4, 2, 3))],
    "cumulative_sum": [on((4,)), on((3, 4), axis=1, include_initial=True), on((3, 4))],
}
TABLE |= {name: samplers for name, samplers in NEW_IN_2.items() if hasattr(numpy, name)}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_function(name: str, rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for sampler in TABLE[name]:
        for _ in range(6):
            args, options = sampler(draw)
            agree(name, args, options)


def test_errors_that_are_clearer_than_numpys() -> None:
    with pytest.raises(ValueError, match="0 sections"):
        np.split(np.ones(6), 0)
    with pytest.raises(ValueError, match="3 axes"):
        np.tensordot(np.ones(2), np.ones(2), 3)
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(2, 3\)"):
        np.dot(np.ones((2, 3)), np.ones((2, 3)))


def test_python_numbers_adapt_when_arrays_are_joined() -> None:
    x = np.ones(2, dtype="int32")
    assert np.append(x, 1).dtype == "int32"
    assert np.append(np.ones(2, dtype="float16"), 1.5).dtype == "float16"
