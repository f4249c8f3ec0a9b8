"""The argument F of MXNet 1's `hybrid_forward(self, F, x)`: np, npx, and the operators' old names."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .. import np, npx

# MXNet 1's operators that are called otherwise now.
_RENAMED = {
    "Activation": "activation",
    "BatchNorm": "batch_norm",
    "Cast": "cast",
    "Convolution": "convolution",
    "Deconvolution": "deconvolution",
    "Dropout": "dropout",
    "Embedding": "embedding",
    "FullyConnected": "fully_connected",
    "GroupNorm": "group_norm",
    "InstanceNorm": "instance_norm",
    "LayerNorm": "layer_norm",
    "LeakyReLU": "leaky_relu",
    "Pooling": "pooling",
    "RNN": "rnn",
    "SequenceLast": "sequence_last",
    "SequenceMask": "sequence_mask",
    "SequenceReverse": "sequence_reverse",
    "broadcast_add": "add",
    "broadcast_div": "divide",
    "broadcast_maximum": "maximum",
    "broadcast_minimum": "minimum",
    "broadcast_mul": "multiply",
    "broadcast_power": "power",
    "broadcast_sub": "subtract",
    "concat": "concatenate",
    "elemwise_add": "add",
    "elemwise_div": "divide",
    "elemwise_mul": "multiply",
    "elemwise_sub": "subtract",
    "flatten": "batch_flatten",
    "random_normal": "random.normal",
    "random_uniform": "random.uniform",
}


class Namespace:
    """`F.np`, `F.npx`, and `F.name` for the functions of both.

    >>> F.relu(np.array([-1.0, 1.0])), F.np.ones(1)
    (array([0., 1.]), array([1.]))
    """

    np: ModuleType = np
    npx: ModuleType = npx

    def __getattr__(self, name: str) -> Any:
        if name == "concat":
            return _concat
        new = _RENAMED.get(name, name)
        for module in (npx, np):
            found: Any = module
            for part in new.split("."):
                found = getattr(found, part, None)
            if found is not None:
                return found
        raise AttributeError(f"F.{name}: there is no such function; F.np and F.npx are what there is")


def _concat(*arrays: Any, dim: int = 1) -> Any:
    return np.concatenate(arrays, axis=dim)


F = Namespace()
