"""Saving and loading blocks: round trips, MXNet's files of both generations, files that do not fit."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy
import pytest

from slipstream import init, np, npx
from slipstream.gluon import nn, rnn

X = np.arange(6).reshape(2, 3)


def net(units: int = 4) -> Any:
    made = nn.HybridSequential()
    made.add(nn.Dense(units, activation="relu"), nn.BatchNorm(), nn.Dense(2))
    return made


def ready() -> Any:
    made = net()
    made.initialize(init.Normal(1))
    made(X)
    return made


@pytest.mark.parametrize("name", ["net.params", "net.npz", "net.safetensors"])
def test_round_trip(tmp_path: Path, name: str) -> None:
    first = ready()
    first.save_parameters(tmp_path / name)
    fresh = net()
    fresh.load_parameters(tmp_path / name)
    assert (fresh(X).asnumpy() == first(X).asnumpy()).all()
    used = ready()
    weight = used[0].weight.data()
    used.load_parameters(str(tmp_path / name))
    assert used[0].weight.data() is weight
    assert (used(X).asnumpy() == first(X).asnumpy()).all()
    assert list(npx.load(tmp_path / name)) == list(first.collect_params())


def test_round_trip_over_devices(tmp_path: Path) -> None:
    first = ready()
    first.reset_ctx([npx.cpu(0), npx.cpu(1)])
    first[1].running_mean.data(npx.cpu(1))[...] = 2  # statistics differ: their mean is kept
    first.save_parameters(tmp_path / "x")
    fresh = net()
    fresh.load_parameters(tmp_path / "x", ctx=[npx.cpu(2), npx.cpu(3)])
    assert fresh[0].weight.list_ctx() == [npx.cpu(2), npx.cpu(3)]
    assert fresh[1].running_mean.data(npx.cpu(3)).tolist() == [1, 1, 1, 1]
    waiting = net()
    waiting.initialize(ctx=npx.cpu(1))
    waiting.load_parameters(tmp_path / "x")
    assert waiting[0].weight.list_ctx() == [npx.cpu(1)]


def test_missing_and_additional_names(tmp_path: Path) -> None:
    first = ready()
    first[:2].save_parameters(tmp_path / "less")
    first.save_parameters(tmp_path / "all")
    used = ready()
    before = {name: p.data().asnumpy() for name, p in used.collect_params().items()}
    with pytest.raises(ValueError, match=r"'2.weight' is missing in '.*less', which holds .*allow_missing=True"):
        used.load_parameters(tmp_path / "less")
    with pytest.raises(ValueError, match=r"'2.weight' of '.*all' is not one of the block's.*ignore_extra=True"):
        used[:2].load_parameters(tmp_path / "all")
    for name, p in used.collect_params().items():
        assert (p.data().asnumpy() == before[name]).all()
    used.load_parameters(tmp_path / "less", allow_missing=True)
    used[:2].load_parameters(tmp_path / "all", ignore_extra=True)
    assert (used[0].weight.data().asnumpy() == first[0].weight.data().asnumpy()).all()


def test_shapes_and_dtypes_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    ready().save_parameters(tmp_path / "x")
    other = net(units=5)
    other.initialize(init.Zero())
    other(X)
    with pytest.raises(ValueError, match=r"shape \(4, 3\) does not fit its shape \(5, 3\)"):
        other.load_parameters(tmp_path / "x")
    wide = ready()
    wide.cast("float64")
    values = wide[0].weight.data().asnumpy()
    with pytest.raises(ValueError, match=r"its dtype is float64, the file's float32. Set cast_dtype=True"):
        wide.load_parameters(tmp_path / "x")
    assert (wide[0].weight.data().asnumpy() == values).all()
    wide.load_parameters(tmp_path / "x", cast_dtype=True)
    assert wide[0].weight.data().dtype == numpy.float64
    wide.load_parameters(tmp_path / "x", cast_dtype=True, dtype_source="saved")
    assert wide[0].weight.data().dtype == numpy.float32
    with pytest.raises(ValueError, match="dtype_source='x' is none of"):
        wide.load_parameters(tmp_path / "x", dtype_source="x")


def test_hostile_files(tmp_path: Path) -> None:
    short, long = struct.pack("<QQQ", 0x112, 0, 9), struct.pack("<Q", 1 << 60) + b"{"
    for content in (b"", b"nonsense", b"PK\x03\x04", short, long):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(ValueError, match="is not a file of arrays"):
            ready().load_parameters(tmp_path / "bad")
    npx.save(tmp_path / "list", [np.ones(2)])
    with pytest.raises(ValueError, match="holds arrays without names"):
        ready().load_parameters(tmp_path / "list")


def test_shared_parameters_are_written_once(tmp_path: Path) -> None:
    tied = nn.Sequential()
    tied.add(nn.Dense(3), nn.Dense(3))
    tied[1].share_parameters(tied[0].collect_params())
    tied.initialize()
    tied(X)
    tied.save_parameters(tmp_path / "once", deduplicate=True)
    tied.save_parameters(tmp_path / "twice")
    assert list(npx.load(tmp_path / "once")) == ["0.weight", "0.bias"]
    assert len(npx.load(tmp_path / "twice")) == 4
    tied.load_parameters(tmp_path / "once")
    tied.load_parameters(tmp_path / "twice")


def test_dicts_of_arrays_and_parameters() -> None:
    first, second = ready(), ready()
    second.load_dict({name: p.data() for name, p in first.collect_params().items()})
    assert (second(X).asnumpy() == first(X).asnumpy()).all()
    third = net()
    third.load_dict(first.collect_params())
    assert (third(X).asnumpy() == first(X).asnumpy()).all()


def test_parameter_dicts_save_and_load(tmp_path: Path) -> None:
    first, second = ready(), ready()
    first.collect_params().save(tmp_path / "x")
    second.collect_params().load(tmp_path / "x")
    assert (second(X).asnumpy() == first(X).asnumpy()).all()
    with pytest.raises(ValueError, match="does not begin with strip_prefix='weight'"):
        first[0].collect_params().save(tmp_path / "y", strip_prefix="weight")


def test_blocks_with_their_structure(tmp_path: Path) -> None:
    first, second = ready(), net()
    first.save(str(tmp_path / "net"))
    second.load(str(tmp_path / "net"))
    assert (second(X).asnumpy() == first(X).asnumpy()).all()
    with pytest.raises(ValueError, match="are not those of dense"):
        nn.Dense(2).load(str(tmp_path / "net"))
    (tmp_path / "net-model.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="does not describe blocks"):
        second.load(str(tmp_path / "net"))
    first.save_params(tmp_path / "x")
    second.load_params(tmp_path / "x", ctx=npx.cpu(1))
    assert second[0].weight.list_ctx() == [npx.cpu(1)]


# ---- MXNet's own files


def mxnet_file(path: Path, arrays: dict[str, Any]) -> None:
    body = struct.pack("<QQQ", 0x112, 0, len(arrays))
    for value in arrays.values():
        value = numpy.asarray(value, "float32")
        body += struct.pack(f"<Iii{value.ndim}q", 0xF993FAC9, 0, value.ndim, *value.shape)
        body += struct.pack("<iii", 1, 0, 0) + value.tobytes()
    body += struct.pack("<Q", len(arrays))
    for name in arrays:
        body += struct.pack("<Q", len(name)) + name.encode()
    path.write_bytes(body)


def values_of(block: Any) -> dict[str, Any]:
    return {name: p.data().asnumpy() for name, p in block.collect_params().items()}


@pytest.mark.parametrize("exported", [False, True])
def test_mxnet_files_by_structural_name(tmp_path: Path, exported: bool) -> None:
    first = ready()
    named = values_of(first)
    if exported:
        named = {("aux:" if "running" in n else "arg:") + n: v for n, v in named.items()}
    mxnet_file(tmp_path / "x.params", named)
    fresh = net()
    fresh.load_parameters(tmp_path / "x.params")
    assert (fresh(X).asnumpy() == first(X).asnumpy()).all()


def test_mxnet_1_files_by_prefixed_name(tmp_path: Path) -> None:
    def old(prefix: str) -> Any:
        made = nn.HybridSequential(prefix=prefix)
        with made.name_scope():
            made.add(nn.Dense(4), nn.Dense(2))
        return made

    first = old("net_")
    first.initialize(init.Normal(1))
    first(X)
    full = {p.prefixed_name: p.data().asnumpy() for p in first.collect_params().values()}
    assert list(full) == ["net_dense0_weight", "net_dense0_bias", "net_dense1_weight", "net_dense1_bias"]
    mxnet_file(tmp_path / "full", full)
    mxnet_file(tmp_path / "stripped", {name.removeprefix("net_"): value for name, value in full.items()})
    for name in ("full", "stripped"):
        fresh = old("net_")
        fresh.load_parameters(tmp_path / name)
        assert (fresh(X).asnumpy() == first(X).asnumpy()).all()


def test_recurrent_layers_of_mxnet_1(tmp_path: Path) -> None:
    first = nn.Sequential()
    first.add(rnn.LSTM(4, num_layers=2, bidirectional=True, i2h_bias_initializer=init.Normal(1)))
    first.initialize(init.Normal(1))
    x = np.ones((3, 2, 5))
    expected = first(x).asnumpy()
    mxnet_file(tmp_path / "x", {f"0.{name}": part.asnumpy() for name, part in first[0].parts().items()})
    fresh = nn.Sequential()
    fresh.add(rnn.LSTM(4, num_layers=2, bidirectional=True))
    fresh.load_parameters(tmp_path / "x")
    assert (fresh(x).asnumpy() == expected).all()
    first.save_parameters(tmp_path / "flat")
    again = nn.Sequential()
    again.add(rnn.LSTM(4, num_layers=2, bidirectional=True))
    again.load_parameters(tmp_path / "flat")
    assert (again(x).asnumpy() == expected).all()


@pytest.mark.parametrize("known_shapes", [True, False])
def test_init_load_finds_structural_and_plain_names(tmp_path: Path, known_shapes: bool) -> None:
    def made() -> nn.Sequential:
        net = nn.Sequential()
        net.add(nn.Dense(3, in_units=2 if known_shapes else -1), nn.Dense(4, in_units=3 if known_shapes else -1))
        return net

    path, x = str(tmp_path / "net.params"), np.ones((1, 2))
    net, loaded = made(), made()
    net.initialize(init.Normal(1))
    net[0].bias.set_data([1, 2, 3]) if known_shapes else net(x)
    net.save_parameters(path)
    loaded.add(nn.Dense(1))
    loaded.initialize(init.Load(path, default_init=init.Constant(7)))
    expected = net(x)
    assert loaded[:2](x).tolist() == expected.tolist()
    assert loaded(x).shape == (1, 1) and loaded[2].weight.data().tolist() == [[7] * 4]
    one = nn.Dense(3, in_units=2)
    one.weight.initialize(init.Load({"weight": np.full((3, 2), 5.0)}))
    assert one.weight.data().tolist() == [[5, 5]] * 3
    with pytest.raises(ValueError, match=r"Load: 'dense\d+_weight' has shape"):
        loaded[0].weight.initialize(init.Load({"weight": np.ones(5)}), force_reinit=True)
