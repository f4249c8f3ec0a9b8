"""Indexing: views and their aliasing, floats as indices, masks, values that fit. (test_indexing_keys: random keys.)"""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import Draw, Pair, agree, same

from slipstream import engine, errors, np

BASIC = [
    *[
        0,
        -1,
        slice(None),
        slice(1, 3),
        slice(None, None, -1),
        slice(3, 0, -2),
        None,
        Ellipsis,
        (),
        (0, 1),
        (slice(1, 2), 0),
    ],
    *[(Ellipsis, 0), (0, Ellipsis, 1), (None, 0, None), (slice(None), None, 1), (slice(5, 2), slice(None)), (0, 1, 2)],
    *[
        slice(-10, 10),
        (slice(None, None, 2), slice(None, None, -2), slice(1, None)),
        numpy.int64(1),
        (1, slice(None), 2),
    ],
]
BAD = [4, -5, (0, 0, 0, 0), (Ellipsis, Ellipsis), (0, 3)]


def cube() -> Pair:
    values = numpy.arange(60, dtype="float32").reshape(4, 3, 5)
    return Pair(values, np.array(values))


@pytest.mark.parametrize("key", BASIC + BAD, ids=repr)
def test_basic(key: Any) -> None:
    agree("getitem", [cube()], ours=lambda x: x[key], theirs=lambda x: x[key])


@pytest.mark.parametrize("key", BASIC, ids=repr)
def test_basic_views_share_memory(key: Any) -> None:
    x = cube()
    x.numpy[key] = -1
    x.ours[key] = -1
    same(x.ours, x.numpy)
    view, theirs = x.ours[key], numpy.asarray(x.numpy[key])
    if theirs.ndim:
        view += 100
        theirs += 100
        same(x.ours, x.numpy)


def test_assignment(rng: numpy.random.Generator) -> None:
    draw = Draw(rng)
    for _ in range(60):
        x = cube()
        key = draw.one(*BASIC)
        target = x.numpy[key]
        value = draw.array(numpy.shape(target)[draw.one(0, 1) :], ["int64", "float64", "bool", "float32"])
        x.numpy[key] = value.numpy
        x.ours[key] = value.ours
        same(x.ours, x.numpy)
    with pytest.raises(ValueError, match=r"\(2,\)"):
        x.ours[0] = np.ones(2)


def test_overlap() -> None:
    for write, read in (
        (slice(1, None), slice(None, -1)),
        (slice(None, -1), slice(1, None)),
        (slice(None), slice(None, None, -1)),
    ):
        x = numpy.arange(1000.0)
        ours = np.array(x)
        x[write] = x[read].copy()
        ours[write] = ours[read]
        same(ours, x)


def index(rng: numpy.random.Generator, shape: Any, n: int) -> Any:
    return rng.integers(-n, n, shape)


ARRAY_KEYS = [
    lambda i: i,
    lambda i: (i,),
    lambda i: (slice(None), i),
    lambda i: (Ellipsis, i),
    lambda i: (i, slice(1, None)),
    lambda i: (slice(None), slice(None, None, -1), i),
    lambda i: (None, i),
    lambda i: (i, None),
    lambda i: (1, i),
    lambda i: (i, 1),
    lambda i: (1, slice(None), i),
    lambda i: (i, slice(None), 1),
    lambda i: (slice(None), i, 2),
    lambda i: (slice(None), 2, i),
    lambda i: (i, Ellipsis, 1),
    lambda i: (1, None, i),
    lambda i: (i, 1, 2),
    lambda i: (0, 1, i),
]


@pytest.mark.parametrize("number", range(len(ARRAY_KEYS)))
def test_one_integer_array(number: int, rng: numpy.random.Generator) -> None:
    for shape in ((2,), (2, 2), (0,), (1,)):
        for dtype in ("int64", "int32", "uint8"):
            x = cube()
            i = index(rng, shape, 3) if dtype[0] == "i" else abs(index(rng, shape, 2))
            key = ARRAY_KEYS[number]
            ours = np.array(i.astype(dtype))
            agree("getitem", [x], ours=lambda a: a[key(ours)], theirs=lambda a: a[key(i)])  # noqa: B023


@pytest.mark.parametrize(
    "key", [[0, 2], [[0], [1]], (slice(None), [0, 1]), (0, [1, 1]), [], range(2), numpy.array([1, 0])]
)
def test_lists(key: Any) -> None:
    agree("getitem", [cube()], ours=lambda x: x[key], theirs=lambda x: x[list(key) if isinstance(key, range) else key])


def test_float_indices_are_cut() -> None:
    x = np.arange(5)
    same(x[np.array([0, 3])], numpy.array([0, 3], "float32"))
    same(x[np.array(2.0)], numpy.float32(2))


def test_masks(rng: numpy.random.Generator) -> None:
    x = cube()
    for shape in ((4,), (4, 3), (4, 3, 5)):
        mask = rng.random(shape) < 0.5
        ours = np.array(mask)
        for key, other in ((mask, ours), (mask, mask), ((mask,), (ours,)), ((mask, Ellipsis), (ours, Ellipsis))):
            agree("getitem", [x], ours=lambda a: a[other], theirs=lambda a: a[key])  # noqa: B023
    row = rng.random(3) < 0.5
    agree("getitem", [x], ours=lambda a: a[:, np.array(row)], theirs=lambda a: a[:, row])
    agree("getitem", [x], ours=lambda a: a[[True, False, True, True]], theirs=lambda a: a[[True, False, True, True]])
    with pytest.raises(IndexError, match="mask"):
        x.ours[np.array([True, False])]


def test_mask_of_an_expression() -> None:
    x = np.arange(6)
    same(x[x > 2], numpy.array([3, 4, 5], "float32"))


def test_assignment_by_mask(rng: numpy.random.Generator) -> None:
    for value in (0, 2.5, numpy.arange(5.0), numpy.ones((3, 5)), numpy.ones((1, 3, 5))):
        x = cube()
        mask = rng.random(4) < 0.5
        x.numpy[mask] = value
        x.ours[np.array(mask)] = value
        same(x.ours, x.numpy)
    x = cube()
    mask = x.numpy > 17.5
    x.numpy[mask] = numpy.arange(mask.sum())
    x.ours[np.array(mask)] = np.arange(int(mask.sum()))
    same(x.ours, x.numpy)
    with pytest.raises(ValueError, match="2"):
        x.ours[np.array(mask)] = np.arange(2)
    counts = np.zeros(3, dtype="int32")
    counts[np.array([True, False, True])] = 2.7
    same(counts, numpy.array([2, 0, 2], "int32"))


def test_assignment_by_mask_does_not_wait() -> None:
    x = np.arange(4)
    with engine.sync_guard("raise"):
        x[x > 1] = 0
        x[x > 7, ...] = np.ones(1)
    same(x, numpy.array([0, 1, 0, 0], "float32"))


def test_the_guard_names_what_waited() -> None:
    x = np.arange(4)
    with engine.sync_guard("raise"):
        with pytest.raises(errors.SyncError, match=r"x\[mask\] waited here"):
            x[x > 1]
        with pytest.raises(errors.SyncError, match=r"x\[mask\] = values waited here"):
            x[x > 1] = np.ones(2)
        with pytest.raises(errors.SyncError, match="nonzero waited here"):
            np.nonzero(x)


def test_out_of_range_is_an_error_of_the_result() -> None:
    y = np.arange(3)[np.array([0, 7])]
    with pytest.raises(IndexError, match="7") as caught:
        y.asnumpy()
    assert "test_indexing.py" in str(caught.value)
    with pytest.raises(errors.LateIndexError):
        y.wait_to_read()


def test_iteration_and_containment() -> None:
    x = np.array([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert len(x) == 2
    assert 3 in x
    assert 7 not in x
    with pytest.raises(TypeError):
        len(np.array(1))
    with pytest.raises(TypeError):
        iter(np.array(1))


def test_fill_diagonal() -> None:
    for value in (5, [1, 2]):
        for shape in ((3, 4), (4, 3), (9, 2), (0, 3), (3, 3, 3)):
            for wrap in (False, True):
                x = numpy.zeros(shape, "float32")
                ours = np.array(x)
                numpy.fill_diagonal(x, value, wrap)
                np.fill_diagonal(ours, value, wrap)
                same(ours, x)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        np.fill_diagonal(np.zeros(3), 1)
    with pytest.raises(ValueError, match=r"\(2, 2, 3\)"):
        np.fill_diagonal(np.zeros((2, 2, 3)), 1)


def test_an_element_is_a_value_and_a_slice_a_view() -> None:
    x = np.array([3.0, 1.0, 2.0])
    first, rest, all_but_shape = x[0], x[1:], x[..., 0]
    x[0], x[1] = x[1], x[0]
    assert x.tolist() == [1, 3, 2]
    assert (first.item(), rest.tolist(), all_but_shape.item()) == (3, [3, 2], 1)
    items = list(x)
    x += 10
    assert [item.item() for item in items] == [1, 3, 2]


@pytest.mark.parametrize(
    ("value", "error"),
    [(float("nan"), ValueError), (float("inf"), OverflowError), (1e20, OverflowError), (-3e9, OverflowError)],
)
def test_floats_that_are_no_integers(value: float, error: type[Exception]) -> None:
    x = np.zeros(2, dtype="int32")
    with pytest.raises(error, match="assign"):
        x[0] = value
    x[:] = 3.7
    assert x.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        *[("float64", 0.1), ("int64", 16777217), ("uint64", 2**64 - 1), ("complex128", 0.1 + 0.2j)],
        *[("float64", [0.1, 0.2]), ("int64", [16777217, 1]), ("float64", numpy.array([0.1, 0.2]))],
    ],
)
def test_a_mask_and_a_diagonal_take_values_in_the_type_of_the_array(dtype: str, value: Any) -> None:
    x, y = np.zeros(2, dtype=dtype), np.zeros((2, 2), dtype=dtype)
    x[x == 0] = value
    np.fill_diagonal(y, value)
    expected = numpy.zeros(2, dtype)
    expected[:] = value
    assert x.tolist() == np.diagonal(y).tolist() == expected.tolist()


def test_a_mask_takes_numbers_beside_arrays() -> None:
    x = np.zeros(2, dtype="float64")
    x[x == 0] = [np.ones(()), 0.1]
    assert x.tolist() == [1, 0.1]


@pytest.mark.parametrize(
    ("value", "error"), [(200, OverflowError), ([1, 200], OverflowError), (1j, TypeError), (None, TypeError)]
)
def test_a_mask_refuses_what_does_not_fit(value: Any, error: type[Exception]) -> None:
    x = np.zeros(2, dtype="int8")
    with pytest.raises(error):
        x[x == 0] = value
    with pytest.raises(error):
        np.fill_diagonal(np.zeros((2, 2), dtype="int8"), value)
    assert x.tolist() == [0, 0]
