"""The methods of ndarray that are functions of np, attached in one place from one list."""

from __future__ import annotations

import importlib
from typing import Any

from .. import _await, _core
from .._core import ndarray
from ..device import resolve
from . import (
    _creation,
    _elementwise,
    _indexing,
    _interop,
    _joining,
    _linalg,
    _manipulation,
    _memory,
    _reduction,
    _rows,
    _sorting,
)

# Functions whose first argument is the array: the method is the function.
SAME = {
    _creation: ["diag", "tril", "triu", "zeros_like", "ones_like"],
    _elementwise: ["round", "isclose"],
    _indexing: ["choose", "nonzero", "put", "take"],
    _joining: ["repeat", "split", "tile"],
    _linalg: ["dot", "trace", "vdot", "inner", "outer"],
    _manipulation: ["diagonal", "expand_dims", "flip", "moveaxis"],
    _reduction: ["count_nonzero", "nanprod", "nansum", "ptp", "std", "var"],
    _sorting: ["argpartition", "argsort", "searchsorted"],
}

# Functions of npx whose first argument is the array; npx stands on np, and is asked when the method is called.
EXTENSIONS = (
    *("argmax_channel", "broadcast_axes", "depth_to_space", "log_softmax", "mish", "norm", "one_hot", "pad", "pick"),
    *("rcbrt", "rsqrt", "shape_array", "size_array", "slice", "slice_assign", "slice_assign_scalar", "slice_axis"),
    *("slice_like", "softmax", "softmin", "space_to_depth", "split_v2", "topk"),
)


def _extension(name: str) -> Any:
    def method(self: ndarray, *args: Any, **options: Any) -> Any:
        return getattr(importlib.import_module("slipstream.npx"), name)(self, *args, **options)

    method.__name__, method.__qualname__ = name, f"ndarray.{name}"
    method.__doc__ = f"`npx.{name}` of the array: see there for its arguments."
    return method


def clip(self: ndarray, min: Any = None, max: Any = None, out: ndarray | None = None, **options: Any) -> ndarray:
    """The array limited to the range from `min` to `max`.

    >>> np.arange(4).clip(1, 2)
    array([1., 1., 2., 2.])
    """
    return _elementwise.clip(self, min, max, out, **options)


def broadcast_to(self: ndarray, *shape: Any) -> ndarray:
    """A view repeated to a shape.

    >>> np.ones(2).broadcast_to((3, 2)).shape
    (3, 2)
    """
    return _manipulation.broadcast_to(self, shape[0] if len(shape) == 1 else shape)


def broadcast_like(self: ndarray, other: ndarray) -> ndarray:
    """A view repeated to the shape of another array.

    >>> np.ones(2).broadcast_like(np.ones((3, 2))).shape
    (3, 2)
    """
    return _manipulation.broadcast_to(self, other.shape)


def reshape_like(self: ndarray, other: ndarray) -> ndarray:
    """The same elements in the shape of another array.

    >>> np.arange(4).reshape_like(np.eye(2)).shape
    (2, 2)
    """
    return _manipulation.reshape(self, other.shape)


def compress(self: ndarray, condition: Any, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Slices along an axis (elements of the flattened array) where a condition holds. Waits for the condition.

    >>> np.array([1, 2, 3]).compress([True, False, True])
    array([1., 3.])
    """
    return _indexing.compress(condition, self, axis, out)


def fill(self: ndarray, value: Any) -> None:
    """Writes one value everywhere, in place.

    >>> x = np.zeros(2)
    >>> x.fill(3)
    >>> x
    array([3., 3.])
    """
    _core.assign(self, value)


def asscalar(self: ndarray) -> Any:
    """MXNet 1's name of `item`: waits.

    >>> np.ones(1).asscalar()
    1.0
    """
    return self.item()


def tobytes(self: ndarray, order: str = "C") -> bytes:
    """The values as bytes: waits.

    >>> np.zeros(1).tobytes()
    b'\\x00\\x00\\x00\\x00'
    """
    return self.asnumpy().tobytes(order)  # type: ignore[arg-type]


def as_in_device(self: ndarray, device: Any) -> ndarray:
    """The array on a device: itself if it is there already.

    >>> x = np.ones(2)
    >>> x.as_in_device(x.device) is x
    True
    """
    return self.to_device(resolve(device))


def reshape_view(self: ndarray, *shape: Any) -> ndarray:
    """The same elements in another shape, which must be a view.

    >>> np.arange(4).reshape_view((2, 2)).shape
    (2, 2)
    """
    return _manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, copy=False)


def to_dlpack_for_read(self: ndarray) -> Any:
    """The memory as a DLPack capsule: waits.

    >>> type(np.ones(2).to_dlpack_for_read()).__name__
    'PyCapsule'
    """
    return self.__dlpack__()


def to_dlpack_for_write(self: ndarray) -> Any:
    """The memory as a DLPack capsule, for those who write to it: waits for everything that reads it too.

    >>> type(np.ones(2).to_dlpack_for_write()).__name__
    'PyCapsule'
    """
    _core.wait_all()
    return self.__dlpack__()


def tostype(self: ndarray, stype: str) -> ndarray:
    """The array itself: there are no sparse ones.

    >>> x = np.ones(2)
    >>> x.tostype("default") is x
    True
    """
    if stype != "default":
        raise ValueError(f"tostype: {stype!r} is not supported; arrays are 'default'")
    return self


def as_np_ndarray(self: ndarray) -> ndarray:
    """The array itself: there is one array type.

    >>> x = np.ones(2)
    >>> x.as_np_ndarray() is x
    True
    """
    return self


_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def array_namespace(self: ndarray, *, api_version: str | None = None) -> Any:
    """The module whose functions work on this array: the array API standard's way in."""
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(f"__array_namespace__: version {api_version!r} is none of {', '.join(_VERSIONS)}")
    return importlib.import_module("slipstream.np")


OWN = [clip, broadcast_to, broadcast_like, compress, reshape_like, fill, asscalar, tobytes]
OWN += [as_in_device, as_np_ndarray, reshape_view, to_dlpack_for_read, to_dlpack_for_write, tostype]


def stype(self: ndarray) -> str:
    """ "default": there are no sparse arrays.

    >>> np.ones(2).stype
    'default'
    """
    return "default"


def writable(self: ndarray) -> bool:
    """Whether the array can be written: some borrow memory that cannot.

    >>> np.ones(2).writable
    True
    """
    return bool(self.flags["WRITEABLE"])


SPECIAL = {
    "stype": property(stype),
    "writable": property(writable),
    "as_nd_ndarray": as_np_ndarray,
    "__await__": _await.wait,
    "__array_namespace__": array_namespace,
    "__array_ufunc__": _interop.array_ufunc,
    "__array_function__": _interop.array_function,
    "__floor__": _core.floor,
    "__ceil__": _core.ceil,
    "__trunc__": _core.trunc,
    "__round__": _elementwise.round,
}


def methods() -> dict[str, Any]:
    """Every method that is attached here, by name."""
    found: dict[str, Any] = {}
    for module, names in SAME.items():
        found |= {name: getattr(module, name) for name in names}
    # Rows are methods by the core's doing; here their other names become methods too.
    found |= {name: getattr(_core, row) for name, row in _rows.ALIASES.items() if _rows.ROWS[row]["arity"] == 1}
    found |= {method.__name__: method for method in OWN}
    found |= {name: _extension(name) for name in EXTENSIONS}
    return found | _memory.METHODS | _sorting.IN_PLACE | SPECIAL


def attach() -> None:
    """Puts the methods on the type. Those that the core wrote for it stay; plain rows give way."""
    for name, method in methods().items():
        if type(vars(ndarray).get(name, _core.add)) is type(_core.add):
            setattr(ndarray, name, method)
