"""Saving and loading: round trips, NumPy's files, and files that lie."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest
from compare import ALL, same

from slipstream import np, npx


@pytest.mark.parametrize("dtype", [*ALL, "bfloat16"])
def test_round_trip(dtype: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    x = np.array(numpy.arange(6).reshape(2, 3).astype(numpy.dtype(dtype)))
    npx.save(file, {"x": x, "t": x.T, "zero": x[0, 0], "none": x[:0]})
    for name, value in npx.load(file).items():
        same(value, {"x": x, "t": x.T, "zero": x[0, 0], "none": x[:0]}[name].asnumpy())


@pytest.mark.parametrize("dtype", ALL)
def test_one_array_in_numpys_own_format(dtype: str, tmp_path: Path) -> None:
    file = str(tmp_path / "x.npy")
    x = numpy.arange(6).reshape(2, 3).astype(dtype)
    for values in (x, x.T, x[:0], x[0, 0]):
        npx.save(file, np.array(values))
        same(npx.load(file), numpy.load(file))
        same(npx.load(file), values)
    numpy.save(file, x.T)
    same(npx.load(file), x.T)
    npx.save(file, [np.array(x)])
    assert isinstance(npx.load(file), list)
    with pytest.raises(TypeError, match=r"x.npy' has no bfloat16"):
        npx.save(file, np.ones(2, dtype="bfloat16"))
    for wrong, words in ((b"1234", "holds 4 bytes"), (b"", "holds 0 bytes")):
        with open(file, "wb") as to:
            to.write(header((2,)) + wrong)
        with pytest.raises(ValueError, match=rf"x.npy' is not a file of arrays: .*{words}"):
            npx.load(file)


def test_lists_dicts_and_one_array(tmp_path: Path) -> None:
    file = tmp_path / "x"
    npx.save(file, np.ones(2))
    assert [x.tolist() for x in npx.load(file)] == [[1, 1]]
    npx.save(file, [np.ones(2), np.zeros(1)])
    x, y = npx.load(file)
    assert (x.tolist(), y.tolist()) == ([1, 1], [0])
    npx.save(file, {"arr_0": np.ones(1)})
    assert list(npx.load(file)) == ["arr_0"]
    npx.save(file, [])
    assert npx.load(file) == []
    with pytest.raises(TypeError, match="names"):
        npx.save(file, {1: np.ones(1)})


def test_numpys_files(tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    numpy.savez(file, a=numpy.arange(3), f=numpy.asfortranarray(numpy.eye(2)))
    loaded = npx.load(file)
    same(loaded["a"], numpy.arange(3))
    same(loaded["f"], numpy.eye(2))
    npx.savez(file, np.ones(1), y=np.zeros(2))
    with numpy.load(file) as theirs:
        assert sorted(theirs) == ["arr_0", "y"]


def header(shape: Any, descr: str = "<f4") -> bytes:
    buffer = io.BytesIO()
    numpy.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def archive(file: Path, *members: tuple[str, bytes], how: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(file, "w", how) as made:
        for name, data in members:
            made.writestr(name, data)


@pytest.mark.parametrize(
    "members",
    [
        [("x.npy", header((1 << 40,)))],
        [("x.npy", header((1 << 62, 1 << 62)))],
        [("x.npy", header((-4,)) + b"1234")],
        [("x.npy", header((2,)) + b"1234")],
        [("x.npy", header((1,)) + b"12345678")],
        [("x.npy", header((1,), "|O") + b"12345678")],
        [("x.npy", header((1,), "<U2") + b"12345678")],
        [("x.npy", b"not an array")],
        [("x.npy", b"")],
        [("x.npy", b"\x93NUMPY\x09\x00" + b"\x00" * 40)],
        [("x.txt", b"text")],
        [("x.npy", header(tuple([1] * 40)) + b"1234")],
        [("x.npy", b"\x93NUMPY\x01\x00\x10\x00" + b"[" * 16 + b"1234")],
    ],
)
def test_files_that_lie(members: Any, tmp_path: Path) -> None:
    file = tmp_path / "bad"
    archive(file, *members)
    with pytest.raises(ValueError, match=r"load: .*bad.* is not a file of arrays"):
        npx.load(file)


def test_other_bad_files(tmp_path: Path) -> None:
    file = tmp_path / "bad"
    file.write_bytes(b"")
    with pytest.raises(ValueError, match="not a file of arrays"):
        npx.load(file)
    file.write_bytes(b"PK\x03\x04" + b"\x00" * 100)
    with pytest.raises(ValueError, match="not a file of arrays"):
        npx.load(file)
    archive(file, ("x.npy", header((100_000,)) + b"\0" * 400_000), how=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="not a file of arrays"):
        npx.load(file)
    with pytest.raises(FileNotFoundError):
        npx.load(tmp_path / "missing")


def test_damaged_files_never_do_worse_than_an_error(tmp_path: Path, rng: numpy.random.Generator) -> None:
    file = tmp_path / "x"
    npx.save(file, [np.arange(10), np.ones((2, 2), dtype="int32")])
    good = bytearray(file.read_bytes())
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(int(rng.integers(1, 6))):
            bad[rng.integers(len(bad))] = rng.integers(256)
        file.write_bytes(bad[: rng.integers(len(bad) // 2, len(bad) + 1)])
        try:
            npx.load(file)
        except ValueError as error:
            assert "load: " in str(error)
