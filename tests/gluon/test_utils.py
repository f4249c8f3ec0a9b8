"""Batches over devices, norms, files from elsewhere."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy
import pytest

from slipstream import engine, np, npx
from slipstream.gluon import rnn, utils


def test_m4_a_batch_over_devices() -> None:
    batch, devices = np.arange(20).reshape(4, 5), [npx.cpu(0), npx.cpu(1)]
    with engine.sync_guard("raise"):
        parts = utils.split_and_load(batch, devices)
    assert [part.device for part in parts] == devices
    assert [part.tolist() for part in parts] == [batch[:2].tolist(), batch[2:].tolist()]
    assert [p.shape for p in utils.split_and_load(numpy.ones((3, 4)), devices, batch_axis=1)] == [(3, 2), (3, 2)]
    assert [p.shape[0] for p in utils.split_data(np.ones(7), 3, even_split=False)] == [3, 2, 2]
    with pytest.raises(ValueError, match=r"4 rows \(shape \(4, 5\), axis 0\) do not split evenly into 3"):
        utils.split_data(batch, 3)


def test_norm(rng: numpy.random.Generator) -> None:
    values = [rng.normal(size=(3, 4)), rng.normal(size=5)]
    norm = math.sqrt(sum((v**2).sum() for v in values))
    arrays = [np.array(v, dtype="float64", device=npx.cpu(i)) for i, v in enumerate(values)]
    assert math.isclose(utils.clip_global_norm(arrays, 1.0), norm)
    for v, a in zip(values, arrays, strict=True):
        numpy.testing.assert_allclose(a.asnumpy(), v / norm, rtol=1e-6)
    with engine.sync_guard("raise"):
        kept = utils.clip_global_norm(arrays, 100.0, check_isfinite=False)
    assert math.isclose(kept.item(), 1.0, rel_tol=1e-6)
    numpy.testing.assert_allclose(arrays[1].asnumpy(), values[1] / norm, rtol=1e-6)
    with pytest.warns(UserWarning, match="not finite"):
        utils.clip_global_norm([np.array([math.inf])], 1.0)


def test_download_from_a_file(tmp_path: Path) -> None:
    source, to = tmp_path / "a.bin", tmp_path / "to"
    source.write_bytes(b"123")
    sha1 = hashlib.sha1(b"123").hexdigest()
    path = utils.download(source.as_uri(), str(to / "b.bin"), sha1_hash=sha1)
    assert Path(path).read_bytes() == b"123"
    source.write_bytes(b"456")
    assert Path(utils.download(source.as_uri(), path, sha1_hash=sha1)).read_bytes() == b"123"  # it is there already
    with pytest.raises(OSError, match=r"cannot be had \(its SHA-1 sum is not the expected one\)"):
        utils.download(source.as_uri(), path, overwrite=True, sha1_hash=sha1, retries=2)
    assert [p.name for p in to.iterdir()] == ["b.bin"]
    assert utils.check_sha1(path, sha1[:8])
    assert utils.shape_is_known((1, 0)) and not utils.shape_is_known(None)


@pytest.mark.parametrize("mode", ["rnn_relu", "lstm", "gru"])
@pytest.mark.parametrize("projection", [None, 2])
def test_parts_of_a_recurrent_layer(mode: str, projection: int | None) -> None:
    made = {"rnn_relu": rnn.RNN, "lstm": rnn.LSTM, "gru": rnn.GRU}[mode]
    options = {"projection_size": projection} if projection and mode == "lstm" else {}
    layer = made(4, 2, bidirectional=True, input_size=3, **options)
    layer.initialize()
    parts = utils.split_rnn_params(layer.rnn_param.data(), mode, 2, 3, 4, True, options.get("projection_size"))
    named = layer.parts()
    assert list(parts) == list(named)
    for name, part in parts.items():
        assert part.shape == named[name].shape and (part == named[name]).all()
    parts["l0_i2h_weight"][:] = 7
    assert layer.rnn_param.data()[0] == 7  # views
    with pytest.raises(ValueError, match=r"the parameter has shape \(9,\), but the parts need \(50,\)"):
        utils.split_rnn_params(np.ones(9), "rnn_tanh", 1, 3, 5)
    with pytest.raises(ValueError, match="mode='elman' is none of rnn_relu, rnn_tanh, lstm, gru"):
        utils.split_rnn_params(np.ones(9), "elman", 1, 3, 5)
