"""Extensions to `np`, by the names MXNet gave them.

>>> from slipstream import np, npx
>>> npx.relu(np.array([-1, 2]))
array([0., 2.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import logsumexp, ndarray
from ..device import (
    Context,
    Device,
    cpu,
    cpu_pinned,
    current_context,
    current_device,
    gpu,
    gpu_memory_info,
    num_gpus,
)
from ..np import _methods
from ..np.random import seed
from . import (
    _exchange,
    _nn,
    _nn_attention,
    _nn_boxes,
    _nn_deformable,
    _nn_flow,
    _nn_loss,
    _nn_norm,
    _nn_rnn,
    _nn_spatial,
    _quantized,
    _rows,
    _shapes,
)
from . import image as image
from . import random as random
from ._exchange import *
from ._files import load, save, savez
from ._host import host_call, waitall
from ._index import (
    arange_like,
    boolean_mask,
    broadcast_like,
    embedding,
    gather_nd,
    index_add,
    index_update,
    nonzero,
    one_hot,
    pick,
    reshape_like,
    scatter_nd,
    sequence_last,
    sequence_mask,
    sequence_reverse,
)
from ._nn import *
from ._nn_attention import *
from ._nn_boxes import *
from ._nn_deformable import *
from ._nn_flow import *
from ._nn_loss import *
from ._nn_norm import *
from ._nn_rnn import *
from ._nn_spatial import *
from ._products import batch_dot, khatri_rao
from ._quantized import *
from ._rows import *
from ._settings import (
    is_np_array,
    is_np_default_dtype,
    is_np_shape,
    reset_np,
    set_np,
    set_np_default_dtype,
    use_np,
)
from ._shapes import *
from ._sorting import topk
from .random import scalar_poisson, tensor_poisson

# In pieces that type checkers understand.
__all__ = ["Context", "Device", "cpu", "cpu_pinned", "current_context", "current_device", "gpu", "gpu_memory_info"]
__all__ += ["batch_dot", "khatri_rao"]
__all__ += ["host_call", "load", "num_gpus", "random", "save", "savez", "seed", "waitall"]
__all__ += ["logsumexp", "topk"]
__all__ += ["arange_like", "boolean_mask", "broadcast_like", "embedding", "gather_nd", "index_add", "index_update"]
__all__ += ["nonzero", "one_hot", "pick", "reshape_like", "scatter_nd", "sequence_last", "sequence_mask"]
__all__ += ["sequence_reverse"]
__all__ += ["is_np_array", "is_np_default_dtype", "is_np_shape", "reset_np", "set_np", "set_np_default_dtype", "use_np"]
__all__ += ["image", "scalar_poisson", "tensor_poisson"]
if not TYPE_CHECKING:
    for _module in (_exchange, _nn, _nn_attention, _nn_boxes, _nn_deformable, _nn_flow, _nn_loss, _nn_norm, _nn_rnn):
        __all__ += _module.__all__
    __all__ += _nn_spatial.__all__ + _quantized.__all__ + _rows.__all__ + _shapes.__all__

for _name in _methods.EXTENSIONS:  # methods that are functions of this module are documented there
    getattr(ndarray, _name).__doc__ = globals()[_name].__doc__
