"""Datasets, samplers, batchify functions, loaders with threads and processes, files with distrust."""

from __future__ import annotations

import gc
import gzip
import os
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pytest

from slipstream import engine, np
from slipstream.gluon import data
from slipstream.gluon.data import batchify


class Numbers(data.Dataset):
    """The numbers below n."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> int:
        if not 0 <= i < self.n:
            raise IndexError(i)
        return i


def items(dataset: Any) -> list[Any]:
    return [dataset[i] for i in range(len(dataset))]


# ---- datasets


def test_datasets_from_datasets() -> None:
    ten = Numbers(10)
    assert items(ten.filter(lambda x: x % 3 == 0)) == [0, 3, 6, 9]
    assert [items(ten.shard(3, i)) for i in range(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert items(ten.take(3)) == [0, 1, 2]
    assert len(ten.take(None)) == len(ten.take(99)) == 10
    assert items(ten.sample([5, 5, 1])) == [5, 5, 1]
    assert items(ten.take(2).transform(lambda x: x + 0.5)) == [0.5, 1.5]
    pairs = data.ArrayDataset([1, 2], ["a", "b"])
    assert items(pairs.transform_first(lambda x: -x)) == [(-1, "a"), (-2, "b")]
    assert items(pairs.transform(lambda x, y: (y, x), lazy=False)) == [("a", 1), ("b", 2)]
    with pytest.raises(ValueError, match="index 3 is not among 3 shards"):
        ten.shard(3, 3)
    with pytest.raises(ValueError, match="take: count must be at least 0, not -1"):
        ten.take(-1)
    with pytest.raises(ValueError, match=r"the lengths differ: \[2, 3\]"):
        data.ArrayDataset([1, 2], [1, 2, 3])


def record(payload: bytes, part: int = 0) -> bytes:
    return struct.pack("<II", 0xCED7230A, part << 29 | len(payload)) + payload + b"\0" * (-len(payload) % 4)


def test_record_files(tmp_path: Path) -> None:
    path = tmp_path / "x.rec"
    path.write_bytes(record(b"abcde") + record(b"12", 1) + record(b"34", 3) + record(b""))
    found = data.RecordFileDataset(path)
    assert items(found) == [b"abcde", b"12" + struct.pack("<I", 0xCED7230A) + b"34", b""]
    (tmp_path / "x.idx").write_text("0\t16\n")
    assert len(data.RecordFileDataset(path)) == 1
    (tmp_path / "x.idx").unlink()
    for bad, why in [
        (b"12345678", "no mark of a record at byte 0"),
        (record(b"abcd")[:-6], "half a head|a record of 4 bytes"),
        (record(b"abcd") + b"123", "half a head at byte 12"),
        (struct.pack("<II", 0xCED7230A, 2**29 - 1), "a record of 536870911 bytes in a file of 8"),
    ]:
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=why):
            data.RecordFileDataset(path)


# ---- samplers


def test_samplers() -> None:
    assert list(data.SequentialSampler(3, 2)) == [2, 3, 4]
    assert list(data.IntervalSampler(5, 2, rollover=False)) == [0, 2, 4]
    assert len(data.IntervalSampler(5, 2)) == 5
    assert list(data.FilterSampler(lambda x: x > 7, Numbers(10))) == [8, 9]
    np.random.seed(1)
    first, second = list(data.RandomSampler(50)), list(data.RandomSampler(50))
    np.random.seed(1)
    assert first == list(data.RandomSampler(50)) != second
    assert sorted(second) == list(range(50))


def test_last_batches() -> None:
    def batches(kind: str) -> data.BatchSampler:
        return data.BatchSampler(data.SequentialSampler(5), 2, kind)

    assert list(batches("keep")) == [[0, 1], [2, 3], [4]]
    assert list(batches("discard")) == [[0, 1], [2, 3]]
    rolling = batches("rollover")
    assert [len(rolling), list(rolling), len(rolling), list(rolling)] == [
        2,
        [[0, 1], [2, 3]],
        3,
        [[4, 0], [1, 2], [3, 4]],
    ]
    with pytest.raises(ValueError, match="last_batch 'x' is none of"):
        batches("x")


# ---- batchify


def test_items_of_different_lengths_need_padding() -> None:
    with pytest.raises(ValueError, match=r"items of a batch have \[1, 2\] parts; batchify_fn=batchify\.Pad\(\)"):
        list(data.DataLoader([[1, 2], [3]], 2))
    assert next(iter(data.DataLoader([[1, 2], [3]], 2, batchify_fn=batchify.Pad()))).tolist() == [[1, 2], [3, 0]]


def test_a_part_that_lists_numbers_is_an_array() -> None:
    clicks = [(np.ones(3), [numpy.float32(i)]) for i in range(4)]
    for workers in (0, 1):
        features, labels = next(iter(data.DataLoader(clicks, 4, num_workers=workers)))
        assert (features.shape, labels.shape, labels.dtype) == ((4, 3), (4, 1), numpy.float32)
    nested = next(iter(data.DataLoader([(1, [np.ones(2), 3])] * 2, 2)))
    assert [nested[1][0].shape, nested[1][1].tolist()] == [(2, 2), [3, 3]]


def test_batchify() -> None:
    assert batchify.Stack()([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    pictures, labels = batchify.Stack()([(np.ones((2, 2)), 3), (np.zeros((2, 2)), 4)])
    assert (pictures.shape, labels.tolist()) == ((2, 2, 2), [3, 4])
    with pytest.raises(ValueError, match="Stack: the items have different shapes"):
        batchify.Stack()([[1], [1, 2]])
    ragged = [numpy.ones((1, 3), "float32"), numpy.ones((2, 2), "float32")]
    padded = batchify.Pad(val=-1)(ragged)
    assert padded.shape == (2, 2, 3)
    assert padded.dtype == numpy.float32
    assert padded.tolist()[1] == [[1, 1, -1], [1, 1, -1]]
    assert batchify.Pad(round_to=8)([[1, 2, 3]]).shape == (1, 8)
    grouped = batchify.Group(batchify.Stack(), batchify.Pad(), batchify.AsList())([(1, [1], "a"), (2, [1, 2], "b")])
    assert grouped[0].tolist() == [1, 2]
    assert grouped[1].tolist() == [[1, 0], [1, 2]]
    assert grouped[2] == ["a", "b"]
    with pytest.raises(ValueError, match="items have 1 parts, but there are 2 functions"):
        batchify.Group(batchify.Stack(), batchify.Stack())([(1,)])
    assert [x.shape for x in batchify.Append()([numpy.ones(2), np.ones(3)])] == [(1, 2), (1, 3)]


# ---- the loader


def test_array_batches_do_not_wait() -> None:
    x, y = np.arange(10).reshape(5, 2), numpy.arange(5)
    with engine.sync_guard("raise"):
        loader = data.DataLoader(data.ArrayDataset(x * 2, y), batch_size=2, shuffle=True)
        batches = list(loader)
    assert len(loader) == len(batches) == 3
    for features, labels in batches:
        assert labels.dtype == numpy.int64
        numpy.testing.assert_array_equal(features.asnumpy(), x.asnumpy()[labels.asnumpy()] * 2)
    one_by_one = data.DataLoader(data.ArrayDataset(x, y).transform(lambda a, b: (a, b)), batch_size=2)
    for (a, b), (c, d) in zip(one_by_one, data.DataLoader(data.ArrayDataset(x, y), batch_size=2), strict=True):
        assert (a.tolist(), b.tolist(), a.dtype, b.dtype) == (c.tolist(), d.tolist(), c.dtype, d.dtype)


@pytest.mark.parametrize("threads", [True, False])
def test_workers_keep_the_order(threads: bool) -> None:
    dataset = Numbers(23).transform(lambda i: (np.full(2, i) + 0.5, i, str(i)))  # a lambda travels by fork
    loader = data.DataLoader(dataset, 4, num_workers=2, thread_pool=threads, prefetch=3)
    for _ in range(2):
        batches = list(loader)
        assert [len(names) for *_, names in batches] == [4, 4, 4, 4, 4, 3]
        assert [n for *_, names in batches for n in names] == [str(i) for i in range(23)]
        for x, labels, _ in batches:
            assert isinstance(x, np.ndarray)
            assert (x[:, 1] == labels.astype("float32") + 0.5).all()
            assert labels.dtype == numpy.int64


def failing(i: int) -> int:
    if i == 5:
        raise KeyError(f"no picture {i}")
    return i


@pytest.mark.parametrize("threads", [True, False])
def test_errors_of_workers_come_with_their_traceback(threads: bool) -> None:
    loader = data.DataLoader(Numbers(8).transform(failing), 2, num_workers=2, thread_pool=threads)
    seen = []
    with pytest.raises(KeyError, match="no picture 5") as caught:
        for batch in loader:
            seen.append(batch.tolist())
    assert seen == [[0, 1], [2, 3]]
    told = [entry.name for entry in caught.traceback] if threads else caught.value.__notes__
    text = "".join(told)
    assert "failing" in text
    assert next(iter(loader)).tolist() == [0, 1]  # the workers live on


class OddError(Exception):
    """Cannot be pickled and made again."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


def raise_odd(i: int) -> None:
    raise OddError(1, 2)


def test_errors_that_do_not_travel() -> None:
    with pytest.raises(RuntimeError, match="OddError: 1 and 2"):
        list(data.DataLoader(Numbers(2).transform(raise_odd), 2, num_workers=1))


def test_a_worker_that_dies_or_hangs() -> None:
    with pytest.raises(RuntimeError, match="a worker process died"):
        list(data.DataLoader(Numbers(2).transform(lambda i: os._exit(3)), 2, num_workers=1))
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no batch within 0\.2 s"):
        list(data.DataLoader(Numbers(2).transform(lambda i: time.sleep(30)), 2, num_workers=1, timeout=0.2))
    assert time.monotonic() - start < 15


STUCK_THREAD = """
import time
from slipstream.gluon.data import DataLoader, SimpleDataset

class Stuck(SimpleDataset):
    def __getitem__(self, i):
        time.sleep(60 if i == {stuck} else 0)
        return i

try:
    for batch in DataLoader(Stuck(range(8)), 2, num_workers=2, thread_pool=True, timeout=0.2):
        print(batch.tolist(), flush=True)
except TimeoutError as error:
    print(error)
"""


@pytest.mark.parametrize("stuck", [3, 8])
def test_stuck_threads_end_with_the_program(stuck: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STUCK_THREAD.format(stuck=stuck)], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.splitlines()[0] == "[0, 1]"
    assert ("no batch within 0.2 s; is a worker stuck?" in done.stdout) == (stuck < 8)
    assert done.stderr == ""


def test_threads_end_with_their_loader() -> None:
    before = set(threading.enumerate())  # those of earlier loaders may end meanwhile
    loader = data.DataLoader(Numbers(64), 2, num_workers=3, thread_pool=True)
    next(iter(loader))
    own = [t for t in threading.enumerate() if t not in before and t.name.startswith("DataLoader")]
    assert len(own) == 3
    del loader
    gc.collect()
    for thread in own:
        thread.join(20)
        assert not thread.is_alive()


def test_random_numbers_of_workers_follow_the_seed() -> None:
    def drawn() -> list[Any]:
        np.random.seed(4)
        dataset = Numbers(8).transform(lambda i: (numpy.random.rand(), np.random.uniform(size=1).asnumpy()))
        return [x.tolist() for batch in data.DataLoader(dataset, 2, num_workers=2) for x in batch]

    first = drawn()
    assert first == drawn()
    assert len({value for part in first[::2] for value in part}) == 8


class Pair(NamedTuple):
    first: Any
    second: Any


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_keep_their_form(workers: int) -> None:
    def form(items: list[Any]) -> Any:
        return Pair({"a": np.array(items)}, [(np.ones(1), "text")])

    (batch,) = data.DataLoader(Numbers(2), 2, batchify_fn=form, num_workers=workers, pin_memory=True)
    assert isinstance(batch, Pair)
    assert isinstance(batch.first["a"], np.ndarray)
    assert isinstance(batch.second[0], tuple)
    assert (batch.first["a"].tolist(), batch.second[0][1]) == ([0, 1], "text")


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    assert [x.tolist() for x in data.progress(data.DataLoader(Numbers(3), 2), "numbers")] == [[0, 1], [2]]
    assert list(data.progress(iter("ab"))) == ["a", "b"]
    shown = capsys.readouterr().err
    assert "numbers" in shown
    assert "2/2" in shown


def test_arguments_of_the_loader() -> None:
    with pytest.raises(ValueError, match="batch_size or batch_sampler is needed"):
        data.DataLoader(Numbers(3))
    with pytest.raises(ValueError, match="sampler excludes shuffle"):
        data.DataLoader(Numbers(3), 1, shuffle=True, sampler=data.SequentialSampler(3))
    with pytest.raises(ValueError, match="batch_sampler excludes"):
        data.DataLoader(Numbers(3), 1, batch_sampler=data.BatchSampler(data.SequentialSampler(3), 2))
    own = data.DataLoader(Numbers(4), batch_sampler=[[0, 3], [1]], batchify_fn=sum)
    assert (len(own), list(own)) == (2, [3, 1])


# ---- image files


def idx(shape: tuple[int, ...], payload: bytes, kind: int = 8) -> bytes:
    return bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + payload


def test_mnist(tmp_path: Path, rng: numpy.random.Generator) -> None:
    images, labels = rng.integers(256, size=(3, 28, 28), dtype=numpy.uint8), bytes([3, 1, 2])
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx((3, 28, 28), images.tobytes())))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx((3,), labels))
    found = data.vision.MNIST(str(tmp_path))
    assert len(found) == 3
    x, y = found[1]
    assert (x.shape, x.dtype, y, y.dtype) == ((28, 28, 1), numpy.uint8, 1, numpy.int32)
    assert (x.asnumpy()[:, :, 0] == images[1]).all()
    some, marks = found[:2]
    assert some.shape == (2, 28, 28, 1)
    assert isinstance(y, np.ndarray)
    assert (some.asnumpy()[marks.asnumpy() == 1] == images[1:2, ..., None]).all()
    loader = data.DataLoader(data.vision.FashionMNIST(str(tmp_path)), 2)
    assert [b[1].tolist() for b in loader] == [[3, 1], [2]]
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx((2,), labels[:2]))
    with pytest.raises(ValueError, match="3 images, but 2 labels"):
        data.vision.MNIST(str(tmp_path))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "its head is ''"),
        (b"garbage garbage garbage", "its head is"),
        (idx((2, 28, 28), b"x" * 100), "it holds 100 of 1568 bytes"),
        (idx((1, 1, 1), b"xy"), "it holds more than 1 bytes"),
        (idx((2**32 - 1, 2**32 - 1, 2**32 - 1), b"x"), "it holds 1 of"),
        (idx((1, 1, 1), b"x", kind=13), "its head is '00000d03'"),
    ],
)
def test_hostile_idx_files(tmp_path: Path, content: bytes, why: str, packed: bool) -> None:
    from slipstream.gluon.data.vision.datasets import read_idx

    path = tmp_path / ("x.gz" if packed else "x")
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(ValueError, match=f"is no IDX file of 3 dimensions: {why}"):
        read_idx(path, 3)
    if packed:
        path.write_bytes(gzip.compress(content)[:-9])
        with pytest.raises(ValueError, match="is no IDX file"):
            read_idx(path, 3)


def test_cifar(tmp_path: Path, rng: numpy.random.Generator) -> None:
    rows = rng.integers(10, size=(4, 3073), dtype=numpy.uint8)
    (tmp_path / "test_batch.bin").write_bytes(rows.tobytes())
    found = data.vision.CIFAR10(str(tmp_path), train=False)
    x, y = found[2]
    assert (x.shape, int(y)) == ((32, 32, 3), int(rows[2, 0]))
    assert (x.asnumpy().transpose(2, 0, 1).ravel() == rows[2, 1:]).all()
    rows = rng.integers(20, size=(2, 3074), dtype=numpy.uint8)
    (tmp_path / "train.bin").write_bytes(rows.tobytes())
    assert [int(y) for _, y in items(data.vision.CIFAR100(str(tmp_path)))] == rows[:, 0].tolist()
    assert [int(y) for _, y in items(data.vision.CIFAR100(str(tmp_path), fine_label=True))] == rows[:, 1].tolist()
    (tmp_path / "test_batch.bin").write_bytes(b"x" * 3074)
    with pytest.raises(ValueError, match="its size is no multiple of 3073"):
        data.vision.CIFAR10(str(tmp_path), train=False)
    (tmp_path / "test_batch.bin").write_bytes(b"\xff" * 3073)
    with pytest.raises(ValueError, match="a label is 255"):
        data.vision.CIFAR10(str(tmp_path), train=False)


def test_what_is_not_there_and_cannot_be_brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from urllib import request
    from urllib.error import URLError

    def no_network(*_: Any, **__: Any) -> Any:
        raise URLError("no network")

    monkeypatch.setattr(request, "urlopen", no_network)
    for kind, name in [(data.vision.MNIST, "train-images-idx3-ubyte.gz"), (data.vision.CIFAR10, "cifar-10-binary")]:
        with pytest.raises(FileNotFoundError, match=f"'{name}.*no network.*put the file there"):
            kind(str(tmp_path / "empty"))


def test_folders_lists_and_records_of_images(tmp_path: Path) -> None:
    for folder, value in [("cats", 7), ("dogs", 9)]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.ppm").write_bytes(b"P6 2 1 255\n" + bytes([value] * 6))
    (tmp_path / "dogs" / "notes.txt").write_text("no image")
    found = data.vision.ImageFolderDataset(str(tmp_path))
    assert found.synsets == ["cats", "dogs"]
    assert [(x.shape, int(x[0, 0, 0]), y) for x, y in items(found)] == [((1, 2, 3), 7, 0), ((1, 2, 3), 9, 1)]
    listed = data.vision.ImageListDataset(str(tmp_path), [[4.0, "cats/a.ppm"], [1, 2, "dogs/a.ppm"]], flag=0)
    assert listed[0][0].shape == (1, 2, 1)
    assert listed[0][1] == 4
    assert listed[1][1].tolist() == [1, 2]
    (tmp_path / "list.txt").write_text("0\t5.0\tcats/a.ppm\n")
    assert data.vision.ImageListDataset(str(tmp_path), "list.txt")[0][1] == 5
    (tmp_path / "x.rec").write_bytes(
        record(struct.pack("<IfQQ", 0, 3.0, 1, 2) + b"P5 1 1 255 \x05")
        + record(struct.pack("<IfQQ", 2, 0.0, 1, 2) + struct.pack("<ff", 8, 9) + b"P5 1 1 255 \x06")
        + record(struct.pack("<IfQQ", 2**31, 0.0, 1, 2))
    )
    records = data.vision.ImageRecordDataset(str(tmp_path / "x.rec"))
    assert (records[0][0].tolist(), records[0][1]) == ([[[5, 5, 5]]], 3.0)
    assert records[1][1].tolist() == [8, 9]
    with pytest.raises(ValueError, match="promises 2147483648 labels"):
        records[2]
