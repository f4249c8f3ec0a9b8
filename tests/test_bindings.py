"""The array type itself: what Python's protocols, other libraries and odd values make of it."""

from __future__ import annotations

import gc
import inspect
import operator
import pickle
import weakref
from typing import Any

import ml_dtypes
import numpy
import pytest

from slipstream import _core, engine, errors, np, npx

# ---- operators


def test_others_may_answer_for_us() -> None:
    class Other:
        def __radd__(self, x: object) -> str:
            return "theirs"

    x = np.ones(2)
    assert x + Other() == "theirs"
    for bad in (None, object(), {}):
        for call in (lambda b: x + b, lambda b: b + x, lambda b: x < b):
            with pytest.raises(TypeError):
                call(bad)
    assert (x == object()) is False
    assert (x != None).tolist() == [True, True]  # noqa: E711
    with pytest.raises(TypeError):
        pow(x, 2, 3)


def test_products_with_numpys_arrays() -> None:
    values = numpy.arange(6, dtype="float32").reshape(2, 3)
    x = np.array(values)
    for made in (x @ values.T, values @ x.T):
        assert isinstance(made, np.ndarray)
        assert made.tolist() == (values @ values.T).tolist()
    with pytest.raises(ValueError):
        x + numpy.ones(4)


def test_integers_beyond_a_type() -> None:
    x, counts = np.ones(2), np.ones(2, dtype="int32")
    assert (x + 2**80).tolist() == [float(numpy.float32(2**80))] * 2
    for large in (2**40, 2**80):
        with pytest.raises(OverflowError):
            counts + large
    assert (counts < 2**80).tolist() == [True, True]
    assert (counts < -(2**80)).tolist() == [False, False]
    with pytest.raises(TypeError):
        counts /= 2


# ---- one element


def test_items() -> None:
    x = np.array([[1, 2], [3, 4]])
    assert (x.item(1, 0), x.item(-1), x.item((0, 1))) == (3, 4, 2)
    with pytest.raises(IndexError):
        x.item(4)
    assert isinstance(np.array(3, dtype="int32").item(), int)
    assert np.array(True).item() is True
    assert np.array(1 + 2j).item() == 1 + 2j
    assert np.array([1.5], dtype="bfloat16").tolist() == [1.5]


def test_what_is_no_number() -> None:
    for bad in (lambda: operator.index(np.array([1], dtype="int32")), lambda: float(np.array(1j))):
        with pytest.raises(TypeError):
            bad()
    x = np.zeros((2, 3))
    with pytest.raises(TypeError):
        del x[0]
    with pytest.raises(ValueError):
        x[0] = [1, 2]
    assert x[np.array(1, dtype="int32")].shape == (3,)


# ---- the object


def test_arrays_are_objects_like_others() -> None:
    x = np.ones(2)
    alive = weakref.ref(x)
    del x
    assert alive() is None

    class Named(np.ndarray):
        name = ""

    y = Named((2,))
    y.name = "mine"
    assert isinstance(y + 1, np.ndarray)
    assert (np.ndarray.__module__, np.ndarray.__name__) == ("slipstream.np", "ndarray")


def test_shape_can_be_set() -> None:
    x = np.zeros((2, 3, 4))
    x.shape = (6, 4)
    assert x.shape == (6, 4)
    assert x.T.flags.f_contiguous
    with pytest.raises(ValueError):
        x.shape = (5, 5)


def test_pickles() -> None:
    x = np.array([1.5], dtype="bfloat16", device=npx.cpu(1))
    again = pickle.loads(pickle.dumps(x))
    assert (again.tolist(), again.dtype, again.device) == ([1.5], x.dtype, x.device)
    assert pickle.loads(pickle.dumps(np.add)) is np.add
    with engine.sync_guard("raise"), pytest.raises(errors.SyncError, match="pickl"):
        pickle.dumps(x)


# ---- memory that is lent


def test_buffers() -> None:
    x = np.array([[1, 2], [3, 4]])
    view = memoryview(x)
    assert view.readonly
    assert view.tolist() == [[1, 2], [3, 4]]
    assert numpy.asarray(x.T).tolist() == [[1, 3], [2, 4]]
    assert x.__array__("int8").dtype == "int8"
    empty = np.zeros((0, 3))
    assert memoryview(empty).shape == numpy.asarray(empty).shape == (0, 3)
    small = np.array([1], dtype="bfloat16")
    assert numpy.asarray(small).dtype == ml_dtypes.bfloat16
    with pytest.raises(BufferError):
        memoryview(small)


def test_dlpack_capsules_that_nobody_takes() -> None:
    x = np.ones(3)
    for options in ({}, {"max_version": (1, 0)}):
        capsule = x.__dlpack__(**options)
        del capsule
    assert x.__dlpack_device__() == (1, 0)


def test_lent_memory_follows_its_array() -> None:
    """Writes in place keep the memory while somebody else looks at it."""
    for _ in range(20):
        x = np.zeros(1000)
        view = memoryview(x)
        for number in range(1, 5):
            x += 1
            x.wait_to_read()
            assert view[999] == number
        lent = numpy.from_dlpack(x)
        y = x + 1
        y.wait_to_read()
        lent[0] = 77
        assert (y[0].item(), (x + 0)[0].item()) == (5, 77)
        del lent, view
        gc.collect()
        x += 1
        assert x[1].item() == 5


def test_host_calls_may_keep_their_arguments() -> None:
    kept: list[Any] = []
    x = np.arange(3)
    npx.host_call(lambda a: kept.append(a), [x + 1], None)
    npx.waitall()
    for number in range(100):
        np.full((3,), number).wait_to_read()
    assert kept[0].tolist() == [1, 2, 3]


# ---- functions of the table


def test_outputs() -> None:
    x, out = np.array([4, 9]), np.zeros(2)
    for made in (np.sqrt(x, out), np.sqrt(x, out=out), np.sqrt(x, out=(out,))):
        assert made is out
    assert out.tolist() == [2, 3]
    whole = np.zeros(2, dtype="int32")
    with pytest.raises(TypeError):
        np.add(x, 1.5, out=whole)
    assert np.add(x, 1.5, out=whole, casting="unsafe").tolist() == [5, 10]


def test_arguments_of_the_table() -> None:
    assert np.add(1, 2).item() == 3
    assert np.add([1, 2], numpy.array([1, 2], "int8")).tolist() == [2, 4]
    assert list(inspect.signature(np.add).parameters)[:3] == ["x1", "x2", "out"]
    x = np.ones(2)
    for bad in (lambda: np.sqrt(), lambda: np.sqrt(x, what=1), lambda: np.add(x, "a")):
        with pytest.raises(TypeError):
            bad()


def test_late_errors_are_ours_and_pythons() -> None:
    x = np.take(np.arange(3), np.array([0, 7], dtype="int64"))
    with pytest.raises(IndexError) as caught:
        x.wait_to_read()
    assert isinstance(caught.value, _core.SlipstreamError)


def test_the_line_of_a_call() -> None:
    def here() -> tuple[str, int, str]:
        return _core.current_source()

    file, line, function = here()
    assert (file, line) == (__file__, here.__code__.co_firstlineno + 1)
    assert function.endswith("here")
