"""Random keys against NumPy: reads, writes and in-place operations, over shapes, types and layouts."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import ALL, Draw, Pair, agree, same, side

from slipstream import autograd, np, npx

INDEX_TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
PROGRAMS = 400


class Keys(Draw):
    """Random keys for an array of a shape. Index arrays are mostly in range and mostly broadcast together."""

    def key(self, shape: tuple[int, ...]) -> Any:
        self.common = self.shape(int(self.rng.integers(0, 3)), 0 if self.rng.random() < 0.1 else 1, 3)
        items: list[Any] = []
        axis = 0
        while axis < len(shape) and self.rng.random() < 0.9:
            item, used = self.item(shape[axis:])
            items.append(item)
            axis += used
        for item, chance in ((Ellipsis, 0.3), (None, 0.2), (None, 0.1), (self.one(True, False), 0.03)):
            if self.rng.random() < chance:
                items.insert(int(self.rng.integers(0, len(items) + 1)), item)
        if len(items) == 1 and self.rng.random() < 0.5:
            return items[0]
        return tuple(items)

    def item(self, shape: tuple[int, ...]) -> tuple[Any, int]:
        n = shape[0]
        kind = self.one("integer", "slice", "slice", "array", "array", "list", "numpy", "mask", "zero")
        if kind == "integer" and n > 0:
            return int(self.rng.integers(-n, n)), 1
        if kind == "slice" or (n == 0 and kind != "mask"):
            return self.slice(n), 1
        if kind == "mask":
            used = int(self.rng.integers(1, len(shape) + 1))
            mask = self.rng.random(shape[:used]) < self.one(0.0, 0.4, 0.7)
            return self.one(Pair(mask, np.array(mask)), mask), used
        index = self.rng.integers(-n, n, self.part())
        if kind == "list":
            return index.tolist() if index.ndim else int(index), 1
        if kind == "numpy":
            return index, 1
        if kind == "zero":
            index = numpy.asarray(index.ravel()[0] if index.size else 0)
        dtype = self.one(*INDEX_TYPES)
        index = (abs(index) % n if dtype[0] == "u" else index).astype(dtype)
        base = numpy.repeat(index, 2, -1) if index.ndim and self.rng.random() < 0.3 else None
        ours = np.array(index) if base is None else np.array(base)[..., ::2]
        return Pair(index, ours), 1

    def part(self) -> tuple[int, ...]:
        """A shape that broadcasts with the common one."""
        skip = int(self.rng.integers(0, len(self.common) + 1))
        return tuple(self.one(n, n, 1) for n in self.common[skip:])

    def slice(self, n: int) -> slice:
        ends = [None, *range(-n - 1, n + 2)]
        return slice(self.one(*ends), self.one(*ends), self.one(None, 1, 2, -1, -2))


def target(keys: Keys) -> Pair:
    x = keys.array(keys.shape(int(keys.rng.integers(0, 5)), 0 if keys.rng.random() < 0.1 else 1, 4), ALL)
    return Pair(numpy.asarray(x.numpy), x.ours)


def ready(x: Any) -> Any:
    """The array once it is there: what an index out of range makes of it is raised."""
    if isinstance(x, np.ndarray):
        x.wait_to_read()
    return x


def read(a: Any, key: Any) -> Any:
    return ready(a[key])


def test_reads(rng: numpy.random.Generator) -> None:
    keys = Keys(rng)
    for _ in range(PROGRAMS):
        x = target(keys)
        key = keys.key(x.numpy.shape)
        agree(f"{key} of", [x, key], ours=read, theirs=read)


def written(a: Any, key: Any, value: Any) -> Any:
    a[key] = value
    return ready(a)


def test_writes(rng: numpy.random.Generator) -> None:
    keys = Keys(rng)
    done = 0
    while done < PROGRAMS:
        x = target(keys)
        key = keys.key(x.numpy.shape)
        try:
            shape = numpy.shape(x.numpy[side(key, "numpy")])
        except IndexError:
            shape = ()
        fitting = shape[int(rng.integers(0, len(shape) + 1)) :]
        fitting = tuple(keys.one(n, n, n, 1) for n in fitting)
        if rng.random() < 0.1 and len(shape) > 1:  # NumPy takes no such value for a mask of all axes
            fitting = (1, *fitting)
        if rng.random() < 0.05:
            fitting = (*fitting[:-1], 7)
        if not shape:
            fitting = ()  # NumPy takes no arrays of one element for an element
        value = keys.one(2, 1.5, keys.array(fitting, ["bool", "int8", "float32", "float64"]))
        if x.numpy.dtype.kind in "iu" and isinstance(value, Pair) and value.numpy.dtype.kind == "f":
            value = Pair(abs(value.numpy), abs(value.ours))  # negative floats as unsigned integers differ by machine
        agree(f"{key} =", [x, key, value], ours=written, theirs=written)
        done += 1


def added(a: Any, key: Any, value: Any) -> Any:
    a[key] += value
    return ready(a)


def test_in_place(rng: numpy.random.Generator) -> None:
    keys = Keys(rng)
    for _ in range(PROGRAMS // 2):
        x = keys.array(keys.shape(int(rng.integers(1, 4)), 1, 4), ["int32", "float32", "complex64"])
        agree("+=", [x, keys.key(x.numpy.shape), 3], ours=added, theirs=added)


@pytest.mark.parametrize("rows", [70_000, 300])
@pytest.mark.parametrize("columns", [0, 1, 3, 700])
def test_many_equal_indices_are_written_in_their_order(rows: int, columns: int, rng: numpy.random.Generator) -> None:
    """Large enough to be cut into chunks: the last value counts, and sums are made in order."""
    columns = min(columns, 3) if rows > 1000 else columns
    shape = (500, columns) if columns else (500,)
    x = rng.integers(0, 9, shape).astype("float32")
    index = rng.integers(-500, 500, rows)
    values = rng.random((rows, *shape[1:])).astype("float32")
    ours = np.array(x)
    ours[np.array(index)] = np.array(values)
    x[index] = values
    assert numpy.array_equal(ours.asnumpy(), x)
    summed = npx.index_add(ours, np.array(index[None]), np.array(values))
    numpy.add.at(x, index, values)
    assert numpy.array_equal(summed.asnumpy(), x)


def test_large_reads(rng: numpy.random.Generator) -> None:
    """Cut into chunks along every part: choices, copies before them, and long rows."""
    for shape, key in [
        ((300, 400), (slice(None), rng.integers(0, 400, 700))),
        ((5, 200_000), ([3, 1],)),
        ((200_000, 5), (slice(None), [3, 1])),
        ((40, 50, 60), (rng.integers(0, 40, (70, 1)), slice(None), rng.integers(0, 60, 30))),
        ((200_000,), (rng.integers(0, 200_000, 150_000),)),
        ((3, 70_000), (slice(None, None, -1), rng.random(70_000) < 0.5)),
        ((300, 400), (rng.random((300, 400)) < 0.3,)),
    ]:
        x = rng.random(shape).astype("float32")
        same(np.array(x)[key], x[key])
        same(np.array(x.T.copy()).T[key], x[key])
        other = x.copy()
        ours = np.array(x)
        other[key] = x[key] * 2
        ours[key] = np.array(x[key]) * 2
        same(ours, other)


def test_index_and_value_may_share_memory_with_the_array() -> None:
    x = np.array([1, 0, 3, 2], dtype="int64")
    x[x] = x[::-1]
    expected = numpy.array([1, 0, 3, 2])
    expected[expected.copy()] = expected[::-1].copy()
    same(x, expected)


@pytest.mark.parametrize("key", [[0, 3], ([0, 1], [0, 7]), (slice(None), [-5])])
def test_out_of_range(key: Any) -> None:
    y = np.ones((3, 4))[key]
    with pytest.raises(IndexError, match=r"index (3|7|-5) is out of bounds for axis (0|1) with size (3|4)"):
        y.asnumpy()
    x = np.ones((3, 4))
    x[key] = 1
    with pytest.raises(IndexError, match="out of bounds"):
        x.asnumpy()


def test_out_of_range_of_unsigned_integers_is_named() -> None:
    y = np.ones(3)[np.array([2**64 - 1], dtype="uint64")]
    with pytest.raises(IndexError, match="18446744073709551615"):
        y.asnumpy()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        *[("a", "no index"), (1.5, "no index"), ((slice(None), "b"), "'b'"), ({"a": 1}, "no index")],
        *[([0.5, 1.0], "no index"), (numpy.array([1.0]), "no index"), (np.array([1j]), "complex64")],
        *[(([0, 1], [0, 1, 2]), r"\(2,\) \(3,\)"), ((0, 0, [0]), "too many"), ((Ellipsis, [0], Ellipsis), "ellipsis")],
        *[(np.array([True, False]), r"mask of shape \(2,\)"), ((7, [0]), "index 7 is out of bounds")],
    ],
    ids=str,
)
def test_errors_at_the_call(key: Any, text: str) -> None:
    x = np.ones((3, 4))
    with pytest.raises(IndexError, match=text):
        x[key]
    with pytest.raises(IndexError, match=text):
        x[key] = 0


def test_values_that_do_not_fit_raise_at_the_call() -> None:
    x = np.ones((3, 4))
    with pytest.raises(ValueError, match=r"shape \(3,\) cannot be broadcast to the indexed elements' shape \(2, 4\)"):
        x[[0, 1]] = np.ones(3)
    with pytest.raises(ValueError, match=r"\(3, 3\)"):
        x[np.ones(3, dtype="bool")] = np.ones((3, 3))


@pytest.mark.parametrize("key", [..., slice(None), [0], np.array([True, False])], ids=str)
def test_numbers_beyond_the_type_raise(key: Any) -> None:
    x = np.zeros(2, dtype="int8")
    for value in ([200], 200):
        with pytest.raises(OverflowError, match="200"):
            x[key] = value
    assert x.tolist() == [0, 0]


def test_a_mask_with_an_axis_of_size_0_chooses_nothing() -> None:
    x = numpy.arange(6.0).reshape(2, 3)
    for shape in [(0,), (0, 3), (2, 0), (0, 0)]:
        mask = numpy.zeros(shape, bool)
        ours = np.array(x)
        assert ours[np.array(mask)].shape == x[mask].shape
        ours[np.array(mask)] = 5
        assert (ours.asnumpy() == x).all()
    with pytest.raises(IndexError, match=r"a mask of shape \(1,\) does not fit an array of shape \(2, 3\)"):
        np.array(x)[np.array([True])]


def test_indices_follow_what_they_index_to_its_device(rng: numpy.random.Generator) -> None:
    values = rng.normal(size=(4, 3)).astype("float32")
    x = np.array(values, device=npx.cpu(1))
    rows, columns, mask = np.array([0, 3]), np.array([2, 1]), np.array([True, False, False, True])
    x.attach_grad()
    with autograd.record():
        picked = x[rows, columns]
    assert picked.device == npx.cpu(1)
    assert (picked.asnumpy() == values[[0, 3], [2, 1]]).all()
    picked.backward()
    expected = numpy.zeros((4, 3))
    expected[[0, 3], [2, 1]] = 1
    assert (x.grad.asnumpy() == expected).all()
    assert (x[mask].asnumpy() == values[[0, 3]]).all()
    y = x.detach()
    y[rows] = 7
    y[mask, columns] = np.array([1.0, 2.0])
    values[[0, 3]] = 7
    values[[0, 3], [2, 1]] = [1, 2]
    assert (y.asnumpy() == values).all()
