"""Devices: naming, the current one, placing arrays, copies between them, and the one that is not there."""

from __future__ import annotations

import pickle
import threading

import pytest
from compare import same

import slipstream
from slipstream import np, npx


def test_names() -> None:
    assert repr(npx.cpu()) == str(npx.cpu(0)) == "cpu(0)"
    assert repr(npx.gpu(1)) == "gpu(1)"
    assert npx.cpu(1) == npx.cpu(1) != npx.cpu(0)
    assert npx.cpu(0) != npx.gpu(0)
    assert len({npx.cpu(0), npx.cpu(0), npx.cpu(1)}) == 2
    assert (npx.cpu(1).device_type, npx.cpu(1).device_id) == ("cpu", 1)
    assert npx.Device is npx.Context is slipstream.Device
    assert npx.Device("cpu", 1) == npx.cpu(1)
    assert pickle.loads(pickle.dumps(npx.cpu(1))) == npx.cpu(1)
    assert npx.cpu(1) != "cpu(1)"


def test_contexts_are_devices() -> None:
    for made in (npx.Context(npx.cpu(1)), npx.Context("cpu", 1), npx.Context(device_type="cpu", device_id=1)):
        assert made == npx.cpu(1) and type(made) is npx.Device
    with npx.Context("cpu", 2):
        assert np.ones(1).device == npx.cpu(2)
    with pytest.raises(ValueError, match="kind 'tpu' is none of 'cpu', 'gpu'"):
        npx.Context("tpu")


def test_creation_takes_device_and_ctx() -> None:
    for make in (
        lambda **d: np.zeros(2, **d),
        lambda **d: np.ones(2, **d),
        lambda **d: np.full(2, 1, **d),
        lambda **d: np.empty(2, **d),
        lambda **d: np.array([1, 2], **d),
        lambda **d: np.asarray([1, 2], **d),
        lambda **d: np.arange(3, **d),
        lambda **d: np.linspace(0, 1, 3, **d),
        lambda **d: np.logspace(0, 1, 3, **d),
        lambda **d: np.eye(2, **d),
        lambda **d: np.identity(2, **d),
        lambda **d: np.tri(2, **d),
        lambda **d: np.zeros_like(np.ones(2), **d),
        lambda **d: np.random.normal(size=2, **d),
        lambda **d: np.random.uniform(size=2, **d),
        lambda **d: np.random.randint(3, size=2, **d),
        lambda **d: np.random.rand(2, **d),
        lambda **d: np.random.randn(2, **d),
        lambda **d: np.random.permutation(3, **d),
        lambda **d: np.random.choice(3, size=2, **d),
    ):
        assert make(device=npx.cpu(1)).device == npx.cpu(1)
        assert make(ctx=npx.cpu(1)).device == npx.cpu(1)
        assert make(device=npx.cpu(1), ctx=npx.cpu(1)).device == npx.cpu(1)
        with pytest.raises(TypeError, match=r"cpu\(0\).*cpu\(1\)"):
            make(device=npx.cpu(0), ctx=npx.cpu(1))


def test_names_as_strings() -> None:
    assert np.zeros(1, device="cpu:1").device == np.zeros(1, device="cpu(1)").device == npx.cpu(1)
    assert np.zeros(1, device="cpu").device == npx.cpu()
    with pytest.raises(TypeError, match="Device"):
        np.zeros(1, device=3)


def test_current_device() -> None:
    assert npx.current_device() == npx.current_context() == npx.cpu(0)
    with npx.cpu(1):
        assert np.ones(1).device == npx.cpu(1)
        with npx.cpu(2) as inner:
            assert np.ones(1).device == inner == npx.cpu(2)
            seen = []
            thread = threading.Thread(target=lambda: seen.append(npx.current_device()))
            thread.start()
            thread.join()
            assert seen == [npx.cpu(0)]
        assert (np.ones(1) + 1).device == np.exp(2.0).device == npx.cpu(1)
    assert np.ones(1).device == npx.cpu(0)
    with pytest.raises(RuntimeError), npx.cpu(1):
        raise RuntimeError
    assert npx.current_device() == npx.cpu(0)


def test_results_stay_on_their_device() -> None:
    x = np.random.uniform(size=(4, 4), ctx=npx.cpu(1))
    for y in (x.dot(x), x + 1, x.sum(), x[1:], x.T, np.concatenate([x, x]), x.argmax(), x.reshape(-1), x[x > 0.5]):
        assert y.ctx == npx.cpu(1)
    assert np.add(x, [1.0] * 4).device == npx.cpu(1)


def test_copies() -> None:
    x = np.arange(3)
    y = x.copyto(npx.cpu(1))
    assert y.device == npx.cpu(1)
    x += 1
    same(y, np.arange(3).asnumpy())
    same_device = x.copyto(npx.cpu(0))
    assert same_device is not x
    target = np.zeros(3, device=npx.cpu(1))
    assert x.copyto(target) is target
    same(target, x.asnumpy())
    with pytest.raises(ValueError, match="copyto"):
        x.copyto(np.zeros(4))


@pytest.mark.parametrize("name", ["as_in_ctx", "as_in_context", "as_in_device", "to_device"])
def test_moving(name: str) -> None:
    x = np.arange(3)
    assert getattr(x, name)(npx.cpu(0)) is x
    y = getattr(x, name)(npx.cpu(1))
    assert y.device == npx.cpu(1)
    same(y, x.asnumpy())


def test_assignment_between_devices() -> None:
    x, y = np.zeros(3), np.ones(3, device=npx.cpu(1))
    x[:] = y.to_device(npx.cpu(0))
    same(x, y.asnumpy())


def test_there_is_no_gpu() -> None:
    assert npx.num_gpus() == 0
    for use in (
        lambda: np.zeros(1, device=npx.gpu()),
        lambda: np.ones(1).copyto(npx.gpu()),
        lambda: np.ones(1).to_device(npx.gpu()),
    ):
        with pytest.raises((ValueError, RuntimeError), match=r"gpu\(0\): this machine has no gpu"):
            use()
    with pytest.raises((ValueError, RuntimeError), match="no gpu"), npx.gpu(0):
        np.zeros(1)
    with pytest.raises(ValueError, match="no gpu"):
        npx.gpu_memory_info()
    assert npx.cpu_pinned().device_type == "cpu"


def test_a_device_is_compared_with_anything() -> None:
    for other in (None, 3, "cpu(0)", object()):
        assert npx.cpu() != other
        assert (npx.cpu() == other) is False
    assert {npx.cpu(0): 1, None: 2}[None] == 2
