"""Arrays to and from PyTorch and JAX, with and without a copy."""

from __future__ import annotations

import pytest

from slipstream import np, npx

pytestmark = pytest.mark.filterwarnings("ignore")


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(3)
    copied, shared = np.from_dlpack(tensor), np.from_dlpack(tensor, copy=False)
    copied += 5
    shared += 1
    assert tensor.tolist() == [1, 1, 1] and copied.tolist() == [5, 5, 5]
    back = torch.from_dlpack(shared)
    back += 2
    assert tensor.tolist() == shared.tolist() == [3, 3, 3]
    assert npx.from_dlpack(torch.utils.dlpack.to_dlpack(tensor)).tolist() == [3, 3, 3]
    assert torch.utils.dlpack.from_dlpack(npx.to_dlpack_for_write(shared)).data_ptr() == tensor.data_ptr()
    halves = torch.ones(3, dtype=torch.bfloat16)
    assert np.from_dlpack(halves).dtype == np.asarray(halves).dtype == np.bfloat16
    assert torch.from_dlpack(np.from_dlpack(halves, copy=False)).data_ptr() == halves.data_ptr()
    assert torch.from_dlpack(np.arange(3)[::-1]).tolist() == [2, 1, 0]
    columns = torch.arange(6).reshape(2, 3).T
    assert np.from_dlpack(columns, copy=False).tolist() == columns.tolist()


def test_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    values = jnp.arange(3.0)
    shared = np.from_dlpack(values, copy=False)
    assert (shared * 2).tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="the array is read-only; its memory is another library's"):
        shared += 1
    assert np.from_dlpack(jnp.ones(2, dtype="bfloat16"), copy=False).dtype == np.bfloat16
    assert jnp.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]
