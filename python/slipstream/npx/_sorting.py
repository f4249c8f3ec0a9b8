"""topk, with MXNet's arguments."""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from ..np._arguments import as_array, as_dtype, normal_axis
from ..np._sorting import _gather
from ..np._types import ArrayLike, DTypeLike


def topk(
    data: ArrayLike,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: DTypeLike = "float32",
) -> Any:
    """The k largest elements along an axis (or of all, axis None), or with `is_ascend` the smallest, in order.

    `ret_typ` says what is given: their "indices" (of type `dtype`), their "value", "both" as a list, or a "mask" of the
    array's shape that is 1 where they are. A k below 1 means all.

    >>> npx.topk(np.array([3, 9, 4]), k=2)
    array([1., 2.])
    >>> npx.topk(np.array([3, 9, 4]), k=2, ret_typ="value")
    array([9., 4.])
    """
    if ret_typ not in ("indices", "value", "both", "mask"):
        raise ValueError(f"topk: ret_typ {ret_typ!r} is none of 'indices', 'value', 'both', 'mask'")
    given = as_array(data)
    x = _core.reshape(given, (-1,)) if axis is None else given
    at = normal_axis(-1 if axis is None else axis, x.ndim, "topk")
    size = x.shape[at]
    k = size if k < 1 else k
    if ret_typ == "mask":
        if k > size:
            raise ValueError(f"topk: k={k} is more than {size}, the size of axis {at}")
        ranks = _core.argsort(_core.argsort(x, at, not is_ascend), at)
        return _core.reshape(_core.astype(_core.less(ranks, k), x.dtype), given.shape)
    places = _core.topk(x, k, at, is_ascend) if size else _core.empty(x.shape, numpy.int64, x.device)
    if ret_typ == "value":
        return _gather(x, places, at)
    indices = _core.astype(places, as_dtype(dtype))
    return [_gather(x, places, at), indices] if ret_typ == "both" else indices
