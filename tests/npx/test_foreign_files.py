"""Files of other makers: MXNet's own of all generations and safetensors, good, broken and hostile."""

from __future__ import annotations

import json
import random
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy
import pytest

from slipstream import np, npx

MX_TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16", "uint32"]
MX_TYPES += ["uint64", "bfloat16"]


def mxnet_array(value: numpy.ndarray[Any, Any], version: int) -> bytes:
    """One array as MXNet wrote it: version 0 (the oldest) to 3 (with zero-size and 0-d arrays)."""
    kind = MX_TYPES.index(str(value.dtype))
    tail = struct.pack("<iii", 1, 0, kind) + value.tobytes()
    if version == 0:
        return struct.pack(f"<I{value.ndim}I", value.ndim, *value.shape) + tail
    if version == 1:
        return struct.pack(f"<II{value.ndim}q", 0xF993FAC8, value.ndim, *value.shape) + tail
    magic = {2: 0xF993FAC9, 3: 0xF993FACA}[version]
    return struct.pack(f"<Iii{value.ndim}q", magic, 0, value.ndim, *value.shape) + tail


def mxnet_file(arrays: list[bytes], names: list[str]) -> bytes:
    body = struct.pack("<QQQ", 0x112, 0, len(arrays)) + b"".join(arrays) + struct.pack("<Q", len(names))
    return body + b"".join(struct.pack("<Q", len(n.encode())) + n.encode() for n in names)


def load(path: Path, content: bytes) -> Any:
    path.write_bytes(content)
    return npx.load(path)


# ---- good files


@pytest.mark.parametrize("version", [0, 1, 2, 3])
@pytest.mark.parametrize("dtype", MX_TYPES)
def test_mxnet_arrays_of_every_generation(tmp_path: Path, version: int, dtype: str) -> None:
    kind = numpy.dtype(getattr(ml_dtypes, dtype, dtype))
    given = [numpy.arange(6).reshape(2, 3).astype(kind), numpy.ones((1,), kind)]
    found = load(tmp_path / "x.params", mxnet_file([mxnet_array(a, version) for a in given], ["arg:w", "ü"]))
    assert list(found) == ["arg:w", "ü"]
    for name, value in zip(found, given, strict=True):
        assert found[name].dtype == kind
        assert (found[name].asnumpy() == value).all()


def test_mxnet_lists_and_small_shapes(tmp_path: Path) -> None:
    given = [numpy.float32(3).reshape(()), numpy.zeros((0, 3), "float32")]
    found = load(tmp_path / "x", mxnet_file([mxnet_array(a, 3) for a in given], []))
    assert [a.shape for a in found] == [(), (0, 3)]
    assert found[0].item() == 3
    assert load(tmp_path / "x", mxnet_file([], [])) == []


def test_safetensors_round_trip(tmp_path: Path) -> None:
    dtypes = ["bool", "int8", "uint16", "float16", "bfloat16", "float32", "float64", "int64", "complex64"]
    given = {d: np.arange(4).astype(d).reshape(2, 2) for d in dtypes} | {"0-d": np.ones(()), "none": np.ones((0, 2))}
    npx.save(tmp_path / "x.safetensors", given)
    found = npx.load(tmp_path / "x.safetensors")
    assert list(found) == list(given)
    for name, value in given.items():
        assert found[name].dtype == value.dtype
        assert found[name].shape == value.shape
        assert (found[name].asnumpy() == value.asnumpy()).all()


def test_safetensors_layout_is_the_format_s(tmp_path: Path) -> None:
    npx.save(tmp_path / "x.safetensors", {"b": np.ones(3, dtype="int8"), "w": np.ones((2, 1))})
    content = (tmp_path / "x.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    assert length % 8 == 0
    assert header["w"] == {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}
    assert header["b"] == {"dtype": "I8", "shape": [3], "data_offsets": [8, 11]}
    assert numpy.frombuffer(content[8 + length :][:8], "<f4").tolist() == [1, 1]


def test_what_safetensors_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="need names: give a dict"):
        npx.save(tmp_path / "x.safetensors", [np.ones(1)])
    with pytest.raises(TypeError, match=r"no complex128 \('z'\)"):
        npx.save(tmp_path / "x.safetensors", {"z": np.ones(1, dtype="complex128")})


# ---- bad files

GOOD = mxnet_file([mxnet_array(numpy.ones((2, 3), "float32"), v) for v in (2, 1, 0)], ["a", "b", "c"])


def with_header(header: Any, data: bytes = b"\0" * 8) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


W = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
BAD = {
    "header longer than the file": struct.pack("<Q", 99) + b"{}",
    "not json": with_header(b"{" * 20),
    "nested": with_header(b'{"w":' + b"[" * 100_000),
    "twice": with_header(b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":1}'),
    "type": with_header({"w": {**W, "dtype": "F99"}}),
    "negative": with_header({"w": {**W, "shape": [-2, -1]}}),
    "float": with_header({"w": {**W, "shape": [2.0]}}),
    "bool": with_header({"w": {**W, "shape": [True, 2]}}),
    "huge": with_header({"w": {**W, "shape": [1 << 62, 1 << 62]}}),
    "offsets": with_header({"w": {**W, "data_offsets": [0, 1 << 60], "shape": [1 << 58]}}),
    "backwards": with_header({"w": {**W, "data_offsets": [8, 0]}}),
    "hole": with_header({"w": {**W, "data_offsets": [4, 12]}}, b"\0" * 12),
    "rest": with_header({"w": W}, b"\0" * 12),
    "overlap": with_header({"w": W, "v": {**W, "data_offsets": [4, 12]}}, b"\0" * 12),
    "shared": with_header({"w": W, "v": W}),
    "no entry": with_header({"w": []}),
    "fields": with_header({"w": {"dtype": "F32"}}),
    "utf-8": with_header(b'{"\xff":1}'),
    "count": struct.pack("<QQQ", 0x112, 0, 1 << 60) + b"\0" * 64,
    "axes": struct.pack("<QQQ", 0x112, 0, 1) + struct.pack("<Iii", 0xF993FAC9, 0, 1 << 30) + b"\0" * 64,
    "size": struct.pack("<QQQ", 0x112, 0, 1)
    + struct.pack("<Iiiqq", 0xF993FAC9, 0, 2, 1 << 40, 1 << 40)
    + struct.pack("<iii", 1, 0, 0)
    + b"\0" * 64,
    "negative size": struct.pack("<QQQ", 0x112, 0, 1) + struct.pack("<Iiiq", 0xF993FAC9, 0, 1, -4) + b"\0" * 64,
    "sparse": struct.pack("<QQQ", 0x112, 0, 1) + struct.pack("<Ii", 0xF993FAC9, 1) + b"\0" * 64,
    "unknown dtype": mxnet_file([struct.pack("<IiiqIIi", 0xF993FAC9, 0, 1, 1, 1, 0, 77) + b"\0" * 4], []),
    "unknown shape": struct.pack("<QQQ", 0x112, 0, 1) + struct.pack("<Iii", 0xF993FACA, 0, -1) + b"\0" * 64,
    "names": mxnet_file([mxnet_array(numpy.ones(1, "float32"), 2)], ["a", "b"]),
    "same names": mxnet_file([mxnet_array(numpy.ones(1, "float32"), 2)] * 2, ["a", "a"]),
    "name's length": GOOD[:-9] + struct.pack("<Q", 1 << 60) + b"c",
    "more": GOOD + b"\0",
    "empty": b"",
    "short": b"\x12\x01",
}


@pytest.mark.parametrize("kind", BAD)
def test_hostile_files_give_one_clear_error_and_take_no_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(BAD[kind])
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="is not a file of arrays: "):
            npx.load(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_the_end_of_a_file_is_checked_before_its_arrays_are_read(tmp_path: Path) -> None:
    large = mxnet_array(numpy.zeros(1 << 20, "float32"), 2)
    (tmp_path / "x").write_bytes(mxnet_file([large, large], ["a", "b"])[:-1])
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="is not a file of arrays: "):
            npx.load(tmp_path / "x")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_files_cut_anywhere(tmp_path: Path) -> None:
    npx.save(tmp_path / "x.safetensors", {"w": np.ones((2, 3)), "b": np.ones(2)})
    for content in (GOOD, (tmp_path / "x.safetensors").read_bytes()):
        for length in range(len(content)):
            with pytest.raises(ValueError, match="is not a file of arrays: "):
                load(tmp_path / "cut", content[:length])


def test_files_with_wrong_bytes_load_or_raise_a_value_error(tmp_path: Path) -> None:
    npx.save(tmp_path / "x.safetensors", {"w": np.ones((2, 3)), "b": np.ones(2)})
    chance = random.Random(0)
    for content in (GOOD, (tmp_path / "x.safetensors").read_bytes()):
        for _ in range(300):
            wrong = bytearray(content)
            for _ in range(chance.randint(1, 3)):
                wrong[chance.randrange(len(wrong))] = chance.randrange(256)
            try:
                load(tmp_path / "wrong", bytes(wrong))
            except ValueError as error:
                assert "is not a file of arrays: " in str(error)
