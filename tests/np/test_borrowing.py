"""Memory of other libraries that is used without a copy."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import pickle
from typing import Any

import ml_dtypes
import numpy
import pytest
from compare import ALL, layouts, same

from slipstream import autograd, engine, np, npx


class Giving:
    """Another library's array: it can do nothing but give its memory by DLPack."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


def address(x: Any) -> int:
    return int(x.ctypes.data)


@pytest.mark.parametrize("dtype", [*ALL, "bfloat16"])
def test_all_types_and_layouts(dtype: str) -> None:
    kind = numpy.dtype(getattr(ml_dtypes, dtype, dtype))
    for shape in ((3, 4), (5,), ()):
        for base, view in layouts(shape):
            values = view(numpy.arange(int(numpy.prod(base))).reshape(base).astype(kind))
            x = np.asarray(values, copy=False)
            assert x.shape == values.shape and x.dtype == kind and x.strides == values.strides
            same(x + x, values + values)


def test_nothing_is_copied() -> None:
    values = numpy.arange(12.0).reshape(3, 4)[::-1, ::2]
    for x in (np.from_dlpack(Giving(values), copy=False), np.asarray(values, copy=False), npx.from_numpy(values)):
        assert address(x) == address(values)
    assert address(np.from_dlpack(values)) != address(values)
    assert address(np.from_dlpack(values, copy=True)) != address(values)
    assert address(np.asarray(values)) != address(values)
    memory = bytearray(8)
    x = np.asarray(memory, copy=False)
    x[3] = 7
    assert memory[3] == 7


def test_what_is_written_arrives_at_once() -> None:
    values = numpy.zeros(1000)
    x = np.from_dlpack(values, copy=False)
    for i in range(20):
        x += 1
        assert values[-1] == i + 1
    x[::2] = 5
    assert values.sum() == 5 * 500 + 20 * 500
    np.add(x, 1, out=x)
    assert values[0] == 6


def test_numpys_array_cannot_be_written_meanwhile() -> None:
    values = numpy.zeros(3)
    x = np.from_dlpack(values, copy=False)
    y = np.from_dlpack(values, copy=False)
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1
    del x
    gc.collect()
    assert not values.flags.writeable
    part = y[1:]
    del y
    gc.collect()
    assert not values.flags.writeable
    del part
    gc.collect()
    values[0] = 1


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_an_array_that_numpy_could_not_unlock_is_never_locked() -> None:
    own = np.arange(6)
    memory = numpy.zeros(3)
    view = memory[1:]
    memory.flags.writeable = False
    for values in (numpy.from_dlpack(own), numpy.from_dlpack(own)[1:], view):
        x = np.from_dlpack(values, copy=False)
        assert x.tolist() == values.tolist()
        del x
        gc.collect()
        values[1] = 7
    assert own.tolist() == [0, 7, 7, 3, 4, 5] and memory[2] == 7


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_view_is_unlocked_after_its_base() -> None:
    values = numpy.zeros(4)
    view, buffer = values[1:], numpy.frombuffer(bytearray(4), "uint8")
    x, y, z = (np.from_dlpack(a, copy=False) for a in (view, values, buffer))
    assert not (view.flags.writeable or values.flags.writeable or buffer.flags.writeable)
    del x, z
    gc.collect()
    assert not view.flags.writeable and buffer.flags.writeable
    del y
    gc.collect()
    assert view.flags.writeable and values.flags.writeable


def test_calls_that_are_not_done_keep_the_memory() -> None:
    values = numpy.arange(200_000.0)
    x = np.from_dlpack(values, copy=False)
    results = [x * i for i in range(20)]
    del x
    total = sum(results)
    del results, values
    gc.collect()
    assert total[2].item() == 2 * 190


def read_only(values: Any) -> Any:
    values.flags.writeable = False
    return values


def test_memory_that_nobody_may_write() -> None:
    values = read_only(numpy.ones(3))
    for x in (
        np.from_dlpack(Giving(values), copy=False),
        np.asarray(values, copy=False),
        np.asarray(b"abc", copy=False),
    ):
        assert not x.flags.writeable and not x.writable and "WRITEABLE : False" in repr(x.flags)
        before = x.asnumpy().tolist()
        for write in (
            lambda x=x: x.__iadd__(1),
            lambda x=x: x.__setitem__(0, 5),
            lambda x=x: np.add(x, 1, out=x),
            lambda x=x: x.fill(1),
            lambda x=x: x.sort(),
            lambda x=x: np.random.shuffle(x),
            lambda x=x: x[1:].__setitem__(0, 5),
        ):
            with pytest.raises(ValueError, match="the array is read-only"):
                write()
        assert x.asnumpy().tolist() == before
        with pytest.raises((TypeError, BufferError), match=r"not writable|read-only"):
            (ctypes.c_char * x.nbytes).from_buffer(x)  # asks for memory to write to
        again = numpy.from_dlpack(x)
        assert not again.flags.writeable
        copied = np.array(x)
        copied += 1
        same(np.array(pickle.loads(pickle.dumps(x))), x.asnumpy())


def test_gradients_through_borrowed_memory() -> None:
    x = np.from_dlpack(read_only(numpy.array([1.0, 2.0])), copy=False)
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2, 4]


def test_what_cannot_be_borrowed() -> None:
    with pytest.raises(ValueError, match="copy=False, but an array of list values is always a copy"):
        np.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="copy=False, but float64 to float32 needs a copy"):
        np.asarray(numpy.ones(2), dtype="float32", copy=False)
    with pytest.raises(ValueError, match="copy=False, but memory of >f8"):
        np.asarray(numpy.ones(2, ">f8"), copy=False)
    raw = numpy.zeros(17, "uint8")
    with pytest.raises(ValueError, match="cannot be used as it is"):
        np.asarray(raw[1:].view("float64"), copy=False)
    with pytest.raises(TypeError, match=r"expected a numpy\.ndarray, not list"):
        npx.from_numpy([1])
    assert np.from_dlpack(numpy.zeros((0, 3)), copy=False).shape == (0, 3)


def test_capsules() -> None:
    x = np.arange(4)
    y = npx.from_dlpack(npx.to_dlpack_for_write(x))
    y += 1
    assert x.tolist() == [1, 2, 3, 4]
    assert npx.from_dlpack(npx.to_dlpack_for_read(x)).tolist() == [1, 2, 3, 4]
    assert npx.from_numpy(numpy.ones(2), zero_copy=False).tolist() == [1, 1]


def test_a_consumer_lets_go_without_the_gil() -> None:
    """As a thread of another library does."""
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    x = np.ones(1 << 16)
    nbytes, capsule, used = x.nbytes, x.__dlpack__(), ctypes.c_char_p(b"used_dltensor")
    tensor = python.PyCapsule_GetPointer(capsule, b"dltensor")
    python.PyCapsule_SetName(ctypes.py_object(capsule), used)
    end = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.c_void_p.from_address(tensor + 56).value or 0)
    del x
    held = engine.memory()["in_use"]
    end(tensor)
    assert engine.memory()["in_use"] == held - nbytes


class GivingOnly(Giving):
    """The same, of a version of DLPack that knows no versions."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.values.__dlpack__()


def test_bfloat16_which_numpy_does_not_take() -> None:
    values = np.array([1.5, -2.0, 3.0, 4.0], dtype="bfloat16")[::2]
    for source in (Giving(values), GivingOnly(values)):
        copied = np.from_dlpack(source)
        assert copied.dtype == np.bfloat16 and copied.tolist() == [1.5, 3.0]
    shared = np.from_dlpack(Giving(values), copy=False)
    shared += 1
    assert values.tolist() == [2.5, 4.0]
    assert npx.from_dlpack(npx.to_dlpack_for_write(values)).tolist() == [2.5, 4.0]


class NoArray(Giving):
    """An array that NumPy cannot convert, as PyTorch's of bfloat16."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("Got unsupported ScalarType BFloat16")


def test_what_its_library_cannot_give_to_numpy() -> None:
    x = np.asarray(NoArray(np.ones(2, dtype="bfloat16")))
    assert x.dtype == np.bfloat16 and x.tolist() == [1, 1]
    assert np.array(NoArray(np.ones(2, dtype="bfloat16")), dtype="float64").dtype == np.float64


def test_arrays_that_run_backwards_are_lent_as_copies() -> None:
    """PyTorch ends the process where a stride is negative."""
    x = np.arange(4)
    lent = numpy.from_dlpack(x[::-1])
    assert lent.tolist() == [3, 2, 1, 0] and lent.strides[0] > 0
    assert address(x[::-1]) == address(x) + 12


ODD = numpy.array([0, 2, 1, 255], "uint8").view("bool")


def test_bools_whose_bytes_are_not_0_or_1() -> None:
    for x in (np.array(ODD), np.asarray(ODD), np.frombuffer(ODD.tobytes(), dtype="bool"), np.from_dlpack(ODD)):
        assert x.sum().item() == 3 and (x & np.array([True] * 4)).tolist() == [False, True, True, True]
        assert x.view("uint8").tolist() == [0, 1, 1, 1]
    with pytest.raises(ValueError, match="copy=False, but the memory holds bools whose bytes are not 0 or 1"):
        np.from_dlpack(ODD, copy=False)
    with pytest.raises(TypeError, match=r"view: bytes of uint8 need not be 0 or 1, .* use x.astype\(bool\)"):
        np.array([2], dtype="uint8").view("bool")
    assert np.array([True]).view(bool).tolist() == [True]
    assert np.array([True, False]).byteswap().tolist() == [True, False]


def test_bytes_in_one_line() -> None:
    x = np.arange(6).reshape(2, 3)
    assert hashlib.sha1(x).digest() == hashlib.sha1(x.asnumpy()).digest()


def test_borrowing_does_not_wait() -> None:
    values = numpy.ones(3)
    with engine.sync_guard("raise"):
        x = np.from_dlpack(values, copy=False) * 2
    assert x.tolist() == [2, 2, 2]


def test_compute_capability_needs_a_gpu() -> None:
    with pytest.raises(ValueError, match=r"cpu\(0\) is no GPU"):
        npx.get_cuda_compute_capability(npx.cpu())
