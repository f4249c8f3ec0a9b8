"""MXNet's functions on indices and sequences, against their definitions in NumPy."""

from __future__ import annotations

import numpy
import pytest
from compare import same

from slipstream import np, npx


def test_gather_and_scatter(rng: numpy.random.Generator) -> None:
    x = rng.random((4, 5, 2)).astype("float32")
    at = rng.integers(0, 4, (2, 3, 2))
    same(npx.gather_nd(np.array(x), np.array(at)), x[at[0], at[1]])
    same(npx.gather_nd(np.array(x), np.array(at.astype("float32"))), x[at[0], at[1]])
    values = rng.random((3, 2, 2)).astype("float32")
    expected = numpy.zeros((4, 5, 2), "float32")
    expected[at[0], at[1]] = values
    same(npx.scatter_nd(np.array(values), np.array(at), (4, 5, 2)), expected)
    expected = x.copy()
    expected[at[0], at[1]] = values
    same(npx.index_update(np.array(x), np.array(at), np.array(values)), expected)
    expected = x.copy()
    numpy.add.at(expected, (at[0], at[1]), values)
    same(npx.index_add(np.array(x), np.array(at), np.array(values)), expected)
    expected = x.copy()
    expected[2] = 7
    same(npx.index_update(np.array(x), np.array(2), 7), expected)  # without axes: one place along the first axis
    same(npx.gather_nd(np.array(x), np.array(2)), x[2])
    with pytest.raises(ValueError, match=r"\(4, 1\) are for 4 axes of 3"):
        npx.gather_nd(np.array(x), np.zeros((4, 1)))
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 1 with size 5"):
        npx.index_add(np.array(x), np.array([[0], [9]]), 1).asnumpy()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_sums_in_every_type(dtype: str, rng: numpy.random.Generator) -> None:
    at, values = rng.integers(0, 3, 50), rng.integers(0, 4, 50)
    x = np.zeros(3, dtype=dtype)
    expected = numpy.zeros(3, x.dtype)
    for place, value in zip(at, values.astype(x.dtype), strict=True):
        expected[place] = expected[place] + value
    same(npx.index_add(x, np.array(at[None]), np.array(values).astype(dtype)), expected)


def test_pick(rng: numpy.random.Generator) -> None:
    x = rng.random((3, 4)).astype("float32")
    same(npx.pick(np.array(x), np.array([0, 9, 2])), x[[0, 1, 2], [0, 3, 2]])
    same(npx.pick(np.array(x), np.array([0, 9, 2]), mode="wrap", keepdims=True), x[[0, 1, 2], [0, 1, 2]][:, None])
    same(npx.pick(np.array(x), np.array([[0, 1, 2, 0]]), axis=0), x[[0, 1, 2, 0], range(4)])
    with pytest.raises(ValueError, match=r"data \(3, 4\); axis -1"):
        npx.pick(np.array(x), np.zeros(2))


def test_embedding_and_one_hot(rng: numpy.random.Generator) -> None:
    table, at = rng.random((6, 3)).astype("float32"), rng.integers(0, 6, (2, 4))
    same(npx.embedding(np.array(at.astype("float32")), np.array(table), 6, 3), table[at])
    with pytest.raises(ValueError, match=r"\(6, 3\)"):
        npx.embedding(np.array(at), np.array(table), 5, 3)
    with pytest.raises(IndexError, match="index 6"):
        npx.embedding(np.array([6]), np.array(table)).asnumpy()
    same(npx.one_hot(np.array(at), 6), numpy.eye(6, dtype="float32")[at])
    same(npx.one_hot(np.array([7, -1, 1]), 2, 5, 2, "int32"), numpy.array([[2, 2], [2, 2], [2, 5]], "int32"))


def test_masks() -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]])
    same(npx.boolean_mask(x, np.array([0, 1])), numpy.array([[4, 5, 6]], "float32"))
    same(npx.boolean_mask(x, np.array([1, 0, 2]), axis=1), numpy.array([[1, 3], [4, 6]], "float32"))
    same(npx.nonzero(x > 3), numpy.array([[1, 0], [1, 1], [1, 2]]))


def test_like_another() -> None:
    x = np.zeros((2, 3))
    same(npx.arange_like(x, 1, 2, 2), numpy.array([[1, 1, 3], [3, 5, 5]], "float32"))
    same(npx.arange_like(x, axis=1), numpy.arange(3, dtype="float32"))
    assert npx.reshape_like(np.ones(6), x).shape == (2, 3)
    assert npx.reshape_like(np.ones((30, 12)), np.ones((4, 2, 2, 3)), -1, None, 1, None).shape == (30, 2, 2, 3)
    assert npx.broadcast_like(np.ones((1, 3)), x).shape == (2, 3)
    with pytest.raises(ValueError, match="equally many"):
        npx.broadcast_like(np.ones((1, 3)), x, (0,), (0, 1))


@pytest.mark.parametrize("axis", [0, 1])
def test_sequences(axis: int, rng: numpy.random.Generator) -> None:
    x = rng.random((4, 3, 2)).astype("float32")
    lengths = numpy.array([2, 4, 1])
    ours = np.array(x if axis == 0 else x.swapaxes(0, 1))
    masked, last, turned = x.copy(), numpy.empty((3, 2), "float32"), x.copy()
    for b, n in enumerate(lengths):
        masked[n:, b] = -1
        last[b] = x[n - 1, b]
        turned[:n, b] = x[:n, b][::-1]

    def expected(a: numpy.ndarray) -> numpy.ndarray:
        return a if axis == 0 else a.swapaxes(0, 1)

    given = {"sequence_length": np.array(lengths), "use_sequence_length": True, "axis": axis}
    same(npx.sequence_mask(ours, value=-1, **given), expected(masked))
    same(npx.sequence_last(ours, **given), last)
    same(npx.sequence_reverse(ours, **given), expected(turned))
    assert npx.sequence_mask(ours, np.array(lengths)) is ours
    same(npx.sequence_last(ours, axis=axis), x[-1])
    same(npx.sequence_reverse(ours, axis=axis), expected(x[::-1]))
    with pytest.raises(ValueError, match=r"sequence_length has shape \(2,\), the batch 3"):
        npx.sequence_mask(ours, np.ones(2), True, axis=axis)
