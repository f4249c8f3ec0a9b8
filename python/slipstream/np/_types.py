"""Names for the kinds of arguments that many functions take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from .. import _core

ArrayLike: TypeAlias = Any  # an array, a number, nested lists of them, a NumPy array, or anything with __array__
DTypeLike: TypeAlias = Any  # np.float32, "float32", numpy.dtype("float32"), float
DeviceLike: TypeAlias = _core.Device | str | None
Shape: TypeAlias = int | Sequence[int]
Axis: TypeAlias = int | None
Axes: TypeAlias = int | tuple[int, ...] | None
