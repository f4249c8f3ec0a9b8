"""Sorting, partial sorting and search against NumPy: all types and layouts, NaN, zeros of both signs, empty ones."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tests.compare import ALL, FLOATS, REAL, Draw, agree, bfloat16, same

from slipstream import engine, np, npx

Rng = numpy.random.Generator

# Lengths around the places where another way of sorting begins.
LENGTHS = [0, 1, 2, 15, 16, 17, 33, 64, 100, 257, 1000, 1501, 3001, 40_000, 140_001]


def values(rng: Rng, shape: Any, dtype: str) -> Any:
    """Numbers with many equal ones, both zeros, infinities and NaN among them."""
    x: Any = rng.standard_normal(shape) * 30
    if dtype.startswith("complex"):
        x = numpy.round(x / 20) + 1j * numpy.round(rng.standard_normal(shape) * 2)
    if dtype.startswith("uint"):
        x = numpy.abs(x)
    x = x.astype(dtype) if dtype != "bool" else rng.integers(0, 2, shape).astype(bool)
    if x.dtype.kind in "fc":
        for special in (numpy.nan, 0.0, -0.0, numpy.inf, -numpy.inf):
            x[rng.random(shape) < 0.05] = special
    return x


def in_order(x: Any) -> Any:
    """Sorted by NumPy, not with its default, whose vector loops of float16 misplace infinities (2.4 with AVX-512)."""
    return numpy.sort(x, kind="stable")


@pytest.mark.parametrize("dtype", ALL)
def test_sort_and_argsort_of_lines(dtype: str, rng: Rng) -> None:
    for n in LENGTHS:
        x = values(rng, n, dtype)
        expected, order = in_order(x), numpy.argsort(x, kind="stable")
        y = np.array(x)
        numpy.testing.assert_array_equal(np.sort(y).asnumpy(), expected)
        numpy.testing.assert_array_equal(np.argsort(y).asnumpy(), order)
        numbers = expected[~numpy.isnan(expected)] if x.dtype.kind == "f" else expected[:0]
        if dtype in FLOATS:
            got = np.sort(y).asnumpy()[: numbers.size]
            numpy.testing.assert_array_equal(numpy.signbit(got), numpy.signbit(numbers))


def test_sort_of_bfloat16(rng: Rng) -> None:
    for n in (5, 100, 5000):
        x = values(rng, n, "float32").astype(bfloat16)
        wide = x.astype("float32")
        same(np.sort(np.array(x)).astype("float32"), numpy.sort(wide))
        same(np.argsort(np.array(x)), numpy.argsort(wide, kind="stable"))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float32", "float64", "complex64"])
def test_descending_keeps_the_order_of_equal_elements(dtype: str, rng: Rng) -> None:
    for n in (3, 100, 5000, 140_001):
        x = values(rng, n, dtype)
        x = x[~numpy.isnan(x)] if x.dtype.kind in "fc" else x
        expected = numpy.argsort(x[::-1], kind="stable")[::-1]
        y = np.array(x)
        numpy.testing.assert_array_equal(np.argsort(y, descending=True).asnumpy(), x.size - 1 - expected)
        numpy.testing.assert_array_equal(np.sort(y, descending=True).asnumpy(), numpy.sort(x)[::-1])


def test_sort_shapes_axes_and_layouts(rng: Rng) -> None:
    draw = Draw(rng)
    for _ in range(60):
        shape = draw.shape(ndim=int(rng.integers(1, 4)), most=20)
        x, axis = draw.array(shape, ALL), draw.one(None, draw.axis(len(shape)))
        agree("sort", [x], {"axis": axis})
        agree("sort", [x], {"axis": axis, "kind": "stable"})
        agree("argsort", [x], {"axis": axis, "stable": True}, theirs=lambda a, **o: numpy.argsort(a, **o))
        agree("lexsort", [[x, draw.array(shape, "int8")]], {"axis": -1 if axis is None else axis})


def test_sort_arguments() -> None:
    x = np.array([3, 1, 2])
    with pytest.raises(numpy.exceptions.AxisError, match="sort: axis 1"):
        np.sort(x, 1)
    with pytest.raises(numpy.exceptions.AxisError, match="sort"):
        np.sort(np.array(3))
    with pytest.raises(ValueError, match="kind 'bubble'"):
        np.sort(x, kind="bubble")
    with pytest.raises(ValueError, match="both given"):
        np.argsort(x, kind="stable", stable=True)
    with pytest.raises(ValueError, match="have none"):
        np.sort(x, order="a")
    same(np.argsort(np.array(5)), numpy.argsort(numpy.array(5)))
    same(np.msort(np.array([[3, 1], [2, 4]])), numpy.float32([[2, 1], [3, 4]]))
    same(np.sort_complex(np.array([2, 1], dtype="int8")), numpy.sort_complex(numpy.int8([2, 1])))
    same(np.sort_complex(np.array([2.0], dtype="float64")), numpy.sort_complex(numpy.array([2.0])))


def test_methods_in_place() -> None:
    values = numpy.random.default_rng(1).standard_normal((4, 5)).astype("float32")
    x = np.array(values)
    x.T.sort(axis=0)
    same(x, numpy.sort(values, axis=1))
    x[:, 1:].sort(axis=0, descending=True)
    same(x[:, 1:], -numpy.sort(-numpy.sort(values, axis=1)[:, 1:], axis=0))
    y = np.array(values[0])
    y.partition(2)
    assert y[2].item() == numpy.sort(values[0])[2]
    same(np.array(values).argsort(0), numpy.argsort(values, 0))
    same(np.array([1, 3]).searchsorted(np.array([2, 9])), numpy.array([1, 2]))
    assert np.array(values).argpartition(1).shape == (4, 5)


@pytest.mark.parametrize("dtype", ALL)
def test_partition(dtype: str, rng: Rng) -> None:
    for n in (1, 2, 100, 300, 5000, 70_000):
        x = values(rng, n, dtype)
        places = numpy.unique(rng.integers(0, n, 3))
        given = [int(k) - n if k % 2 else int(k) for k in places]
        full, y = in_order(x), np.array(x)
        order = np.argpartition(y, given).asnumpy()
        assert sorted(order.tolist()) == list(range(n))
        for made in (np.partition(y, given).asnumpy(), x[order]):
            numpy.testing.assert_array_equal(made[places], full[places])
            for k in places:
                numpy.testing.assert_array_equal(in_order(made[:k]), full[:k])


def test_partition_arguments(rng: Rng) -> None:
    x = np.array(rng.standard_normal((4, 6)))
    for axis in (0, 1, None):
        n = 24 if axis is None else x.shape[axis]
        made, full = np.partition(x, n // 2, axis), numpy.sort(x.asnumpy(), axis)
        assert made.shape == full.shape
        same(np.take(made, np.array(n // 2, dtype="int64"), axis or 0), numpy.take(full, n // 2, axis or 0))
    with pytest.raises(ValueError, match="kth=6 is out of bounds for axis 1 with size 6"):
        np.partition(x, 6)
    with pytest.raises(TypeError, match="kth"):
        np.partition(x, 1.5)
    with pytest.raises(ValueError, match="introselect"):
        np.argpartition(x, 1, kind="other")
    assert np.partition(np.zeros((3, 0)), []).shape == (3, 0)


# ---- search


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(dtype: str, side: str, rng: Rng) -> None:
    for n in (0, 1, 2, 17, 1000):
        a, v = values(rng, n, dtype), values(rng, (3, 50), dtype)
        order = numpy.argsort(a)
        expected = numpy.searchsorted(a[order], v, side)
        same(np.searchsorted(np.array(a[order]), np.array(v), side), expected)
        same(np.searchsorted(np.array(a), np.array(v), side, np.array(order)), expected)


def test_searchsorted_mixes_types_and_numbers() -> None:
    a = np.array([1, 2, 3], dtype="int32")
    same(np.searchsorted(a, 2.5), numpy.int64(2))
    same(np.searchsorted(a, np.array([0.5, 3.5], dtype="float64")), numpy.array([0, 3]))
    same(np.searchsorted([1, 2, 3], numpy.array([2])), numpy.array([1]))
    with pytest.raises(ValueError, match="side 'middle'"):
        np.searchsorted(a, 1, "middle")
    with pytest.raises(ValueError, match=r"a has shape \(2, 2\)"):
        np.searchsorted(np.eye(2), 1)
    with pytest.raises(ValueError, match="sorter has 2 elements, a has 3"):
        np.searchsorted(a, 1, sorter=np.array([0, 1], dtype="int64"))
    late = np.searchsorted(a, 1, sorter=np.array([0, 1, 7], dtype="int64"))
    with pytest.raises(ValueError, match="sorter holds 7"):
        late.item()


def test_digitize(rng: Rng) -> None:
    draw = Draw(rng)
    rising = numpy.array([-2.0, -1.0, 0.0, 0.0, 1.5])
    for bins in (rising, rising[::-1], rising[:1], rising[:0]):
        for right in (False, True):
            x = draw.array((3, 7), REAL[1:])
            for ours in (np.array(bins), bins):
                got = np.digitize(x.ours, ours, right)
                same(got, numpy.digitize(x.numpy, bins, right))
    with pytest.raises(ValueError, match="neither rise nor fall"):
        np.digitize(np.ones(2), [1, 3, 2])
    with pytest.raises(TypeError, match="complex"):
        np.digitize(np.ones(2, dtype="complex64"), [1, 3])


# ---- topk


def test_topk(rng: Rng) -> None:
    x = rng.permutation(60).reshape(3, 4, 5).astype("float32")
    y = np.array(x)
    for axis in (0, 1, 2, -1):
        for k in (1, 2, x.shape[axis]):
            for ascending in (False, True):
                order = numpy.argsort(x if ascending else -x, axis=axis, kind="stable")
                chosen = numpy.take(order, range(k), axis)
                options = {"axis": axis, "k": k, "is_ascend": ascending}
                same(npx.topk(y, **options), chosen.astype("float32"))
                same(npx.topk(y, dtype="int32", **options), chosen.astype("int32"))
                values = numpy.take_along_axis(x, chosen, axis)
                same(npx.topk(y, ret_typ="value", **options), values)
                same(npx.topk(y, ret_typ="both", **options), [values, chosen.astype("float32")])
                mask = numpy.zeros_like(x)
                numpy.put_along_axis(mask, chosen, 1, axis)
                same(npx.topk(y, ret_typ="mask", **options), mask)


def test_topk_of_long_lines_and_equal_elements(rng: Rng) -> None:
    x = rng.integers(0, 50, (3, 5000))
    order = numpy.argsort(-x, axis=1, kind="stable")
    for k in (1, 10, 3000):
        same(npx.topk(np.array(x), k=k, dtype="int64"), order[:, :k])
    flat = numpy.argsort(-x.ravel(), kind="stable")
    same(npx.topk(np.array(x), axis=None, k=7, dtype="int64"), flat[:7])
    same(npx.topk(np.array(x[:, :9]), k=0, dtype="int64"), numpy.argsort(-x[:, :9], axis=1, kind="stable"))


def test_topk_arguments() -> None:
    x = np.array([3, 1, 2])
    for ret_typ in ("indices", "mask"):
        with pytest.raises(ValueError, match=r"k=4"):
            npx.topk(x, k=4, ret_typ=ret_typ)
    with pytest.raises(ValueError, match="ret_typ 'all'"):
        npx.topk(x, ret_typ="all")


def test_nothing_here_waits() -> None:
    x = np.array(numpy.random.default_rng(0).standard_normal((30, 40)))
    with engine.sync_guard("raise"):
        line = np.sort(x, None)
        made = [np.argsort(x, 0), np.partition(x, 3), np.argpartition(x, 3), npx.topk(x, k=2, ret_typ="mask")]
        made += [np.searchsorted(line, x), np.digitize(x, line), np.lexsort(x), np.isin(x, line)]
        x.sort()
    assert all(part.size for part in made)


def test_partitions_of_nothing() -> None:
    for shape, axis, kth in (((0,), 0, 0), ((0, 3), 0, 2), ((2, 0), -1, 5), ((0, 3), None, 1)):
        x = numpy.ones(shape, "float32")
        same(np.partition(np.array(x), kth, axis), numpy.partition(x, kth, axis))
        same(np.argpartition(np.array(x), kth, axis), numpy.argpartition(x, kth, axis))
    for function in (np.partition, np.argpartition):
        with pytest.raises(ValueError, match="axis 2 is out of bounds"):
            function(np.ones((0, 3)), 0, 2)
