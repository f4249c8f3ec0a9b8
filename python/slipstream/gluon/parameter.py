"""The weights of blocks: values and gradients on one or more devices, initialised as soon as their shape is known."""

from __future__ import annotations

import copy
import itertools
import math
import uuid
import warnings
from collections.abc import ItemsView, Iterable, Mapping, Sequence
from typing import Any

import numpy

from .. import autograd
from .._core import ndarray
from ..device import Device, current_device, resolve
from ..np import empty
from ..np._arguments import as_array, as_dtype
from ..np._types import ArrayLike, DTypeLike

__all__ = ["Constant", "DeferredInitializationError", "Parameter", "ParameterDict", "shape_is_known", "tensor_types"]

GRAD_REQS = ("write", "add", "null")
tensor_types = (ndarray,)  # MXNet's name for the kinds of arrays that blocks take


class DeferredInitializationError(RuntimeError):
    """A parameter's values were asked for before the first batch has told its shape.

    >>> from slipstream import gluon
    >>> net = gluon.nn.Dense(3)
    >>> net.initialize()
    >>> try:
    ...     net.weight.data()
    ... except DeferredInitializationError:
    ...     print(net(np.ones((1, 2))).shape, net.weight.data().shape)
    (1, 3) (3, 2)
    """


def shape_is_known(shape: Sequence[int] | None) -> bool:
    """Is every dimension known? Unknown ones are -1 (or 0, as MXNet 1 wrote them).

    >>> shape_is_known((3, -1))
    False
    """
    return shape is not None and all(n > 0 for n in shape)


def as_devices(device: Any, ctx: Any = None) -> list[Device]:
    """One device or several, given as `device=` or `ctx=`; None is the current device.

    >>> as_devices("cpu:1")
    [cpu(1)]
    """
    given = device if ctx is None else ctx
    if device is not None and ctx is not None and as_devices(device) != as_devices(ctx):
        raise TypeError(f"device={device} and ctx={ctx} name different devices: give one of them")
    if given is None:
        return [current_device()]
    devices = [resolve(d) for d in given] if isinstance(given, (list, tuple)) else [resolve(given)]
    if not devices or len(set(devices)) != len(devices):
        raise ValueError(f"device: expected one or more different devices, got {given}")
    return devices


class Parameter:
    """Values that a block learns.

    A dimension of `shape` that is -1 is found out when the first batch passes (`allow_deferred_init=True`). `grad_req`
    says what backward passes do with the gradient: 'write' it, 'add' to it, or 'null'. `lr_mult` and `wd_mult` scale
    the optimizer's learning rate and weight decay. `init` is an initializer or its name.

    >>> w = Parameter("weight", shape=(2, 3), init="ones")
    >>> w.initialize(device=npx.cpu(0))
    >>> w.data()
    array([[1., 1., 1.],
           [1., 1., 1.]])
    >>> w.grad().shape
    (2, 3)
    """

    def __init__(
        self,
        name: str = "weight",
        grad_req: str = "write",
        shape: int | Sequence[int] | None = None,
        dtype: DTypeLike = "float32",
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        for argument, kind in (("stype", stype), ("grad_stype", grad_stype)):
            if kind not in ("default", "row_sparse", "csr"):
                raise ValueError(f"Parameter '{name}': {argument}={kind!r} is none of 'default', 'row_sparse', 'csr'")
            if kind != "default":
                raise NotImplementedError(f"Parameter '{name}': {argument}={kind!r}: arrays are dense here")
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self.dtype: numpy.dtype[Any] = as_dtype(dtype)
        self.allow_deferred_init = allow_deferred_init
        self.uuid = str(uuid.uuid4())
        self.prefixed_name = name  # MXNet 1's name, such as dense0_weight; the block that registers it says it
        self._paths: tuple[str, ...] = ()  # its structural names where initialize() was called, for init.Load
        self._differentiable = differentiable
        self._shape = (shape,) if isinstance(shape, int) else None if shape is None else tuple(map(int, shape))
        self._data: dict[Device, ndarray] | None = None
        self._deferred: tuple[Any, list[Device], Any, ndarray | None] | None = None
        self._grad_req = "null"
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"Parameter {self.name} (shape={self._shape}, dtype={self.dtype})"

    @property
    def _who(self) -> str:
        return f"{type(self).__name__} '{self.prefixed_name}'"

    # ---- what it is

    @property
    def grad_req(self) -> str:
        """What a backward pass does with the gradient: 'write', 'add' or 'null'."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in GRAD_REQS:
            raise ValueError(f"{self._who}: grad_req={req!r} is none of 'write', 'add', 'null'")
        if not self._differentiable:
            req = "null"
        if req == self._grad_req:
            return
        self._grad_req = req
        if self._data is not None:
            self._attach(self._data.values())

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape; None or -1 stand for what is not known yet."""
        return self._shape

    @shape.setter
    def shape(self, new: Sequence[int] | None) -> None:
        if new is None:
            raise ValueError(f"{self._who}: its shape {self._shape} cannot become unknown again")
        new = tuple(int(n) for n in new)
        self._check_shape(new)
        if self._shape is None:
            self._shape = new
        else:  # keep what is known already
            self._shape = tuple(n if o <= 0 else o for o, n in zip(self._shape, new, strict=True))

    @property
    def stype(self) -> str:
        """How values are stored: always 'default', dense."""
        return "default"

    @property
    def grad_stype(self) -> str:
        """How gradients are stored: always 'default', dense."""
        return "default"

    def _check_shape(self, new: tuple[int, ...]) -> None:
        old = self._shape
        if old is None:
            return
        if len(old) != len(new) or any(o > 0 and n > 0 and o != n for o, n in zip(old, new, strict=True)):
            raise ValueError(f"{self._who}: shape {new} does not fit its shape {old}")

    # ---- initialisation

    def initialize(
        self,
        init: Any = None,
        device: Any = None,
        default_init: Any = None,
        force_reinit: bool = False,
        ctx: Any = None,
    ) -> None:
        """Makes the values, on one device or a list of them, by `init`, or its own, or `default_init`.

        Where the shape is not known yet this happens when the first batch passes.

        >>> b = Parameter("bias", shape=2)
        >>> b.initialize("zeros", device=[npx.cpu(0), npx.cpu(1)])
        >>> b.list_device()
        [cpu(0), cpu(1)]
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"{self._who} is already initialized, ignoring. Set force_reinit=True to initialize again.",
                stacklevel=2,
            )
            return
        devices = as_devices(device, ctx)
        if init is None:
            init = self.init if self.init is not None else default_init
        if not shape_is_known(self._shape) and not self.allow_deferred_init:
            raise ValueError(
                f"{self._who}: cannot be initialized because its shape {self._shape} is not known. "
                "Give the whole shape, or allow_deferred_init=True"
            )
        before = self._data, self._deferred
        try:
            self._check_initializers(init, default_init)
            self._data, self._deferred = None, (init, devices, default_init, None)
            if shape_is_known(self._shape):
                self.finish_deferred_init()
        except BaseException:
            self._data, self._deferred = before
            raise

    @staticmethod
    def _check_initializers(*given: Any) -> None:
        """Raises now for what is no initializer, even where values are made later."""
        from .. import initializer

        for init in given:
            if init is not None:
                initializer.create(init)

    def finish_deferred_init(self) -> None:
        """Makes the values if they were only waiting for the shape."""
        if self._deferred is None:
            return
        init, devices, default_init, data = self._deferred
        if self._shape is None or not shape_is_known(self._shape):
            raise DeferredInitializationError(
                f"{self._who}: cannot be initialized because its shape {self._shape} is not known. "
                "Give in_units, in_channels, etc. to blocks, or implement infer_shape"
            )
        with autograd.pause():
            if data is None:
                data = self._first_values(init, default_init, devices[0])
            self._place(data, devices)

    def _first_values(self, init: Any, default_init: Any, device: Device) -> ndarray:
        from .. import initializer

        assert self._shape is not None
        default = initializer.create("uniform" if default_init is None else default_init)
        if isinstance(init, initializer.RNNFused):  # its parts may have no initializers of their own
            init = copy.copy(init)
            init.set_initializer(default)
        data = empty(self._shape, dtype=self.dtype, device=device)
        known = {"__init__": default if init is None else init, "__names__": (*self._paths, self.name)}
        default(initializer.InitDesc(self.prefixed_name, known), data)
        return data

    def _place(self, data: ndarray, devices: Sequence[Device]) -> None:
        """Puts a value on every device, each an array of its own, and makes room for gradients."""
        placed: dict[Device, ndarray] = {}
        for device in devices:
            value = data.astype(self.dtype) if data.dtype != self.dtype else data
            shared = value is data and device == data.device
            placed[device] = value if shared and device == devices[0] else value.copyto(device)
        self._deferred = None
        self._data = placed
        self._attach(placed.values())

    def _attach(self, arrays: Iterable[ndarray]) -> None:
        for array in arrays:
            if self._grad_req == "null":
                array.drop_grad()
            else:
                array.attach_grad(self._grad_req)

    def load_init(
        self, data: ArrayLike, device: Any = None, cast_dtype: bool = False, dtype_source: str = "current"
    ) -> None:
        """Takes values read from a file: sets the shape, and initialises on `device` if there are no values yet."""
        if dtype_source not in ("current", "saved"):
            raise ValueError(f"dtype_source={dtype_source!r} is none of 'current', 'saved'")
        values = as_array(data)
        self.check_loaded(values, cast_dtype)
        if self._shape is None or not shape_is_known(self._shape):
            self._shape = values.shape
        if cast_dtype and dtype_source == "saved" and self.dtype != values.dtype:
            self.cast(values.dtype)
        with autograd.pause():
            values = values.astype(self.dtype) if values.dtype != self.dtype else values
            if self._data is None or (device is not None and as_devices(device) != list(self._data)):
                devices = as_devices(device) if device is not None or self._deferred is None else self._deferred[1]
                self._place(values.copyto(devices[0]), devices)
            else:
                self.set_data(values)

    def check_loaded(self, values: ndarray, cast_dtype: bool) -> None:
        """Raises where values from a file do not fit."""
        self._check_shape(values.shape)
        if not cast_dtype and values.dtype != self.dtype:
            raise ValueError(
                f"{self._who}: its dtype is {self.dtype}, the file's {values.dtype}. Set cast_dtype=True to convert"
            )

    # ---- values and gradients

    def _missing(self, device: Any) -> RuntimeError:
        if self._data is not None:
            return RuntimeError(f"{self._who} was not initialized on device {device}: it exists on {list(self._data)}")
        if self._deferred is not None:
            return DeferredInitializationError(
                f"{self._who} has no values yet: its shape {self._shape} becomes known when the first "
                "batch passes through the network"
            )
        return RuntimeError(
            f"{self._who} has not been initialized: call initialize() of the block (or of the parameter)"
        )

    def data(self, device: Any = None, ctx: Any = None) -> ndarray:
        """The values on a device; without one, on the current device or on the only one there is."""
        data = self._data
        if data is None:
            raise self._missing(device)
        if device is None:
            device = ctx
        if device is None:
            if len(data) == 1:
                return next(iter(data.values()))
            device = current_device()
        found = data.get(device)
        if found is None and isinstance(device, str):
            found = data.get(resolve(device))
        if found is None:
            raise self._missing(device)
        return found

    def items(self) -> ItemsView[Device, ndarray]:
        """Devices with the values on them."""
        if self._data is None:
            raise self._missing(None)
        return self._data.items()

    def list_data(self) -> list[ndarray]:
        """The values on every device, in the order of `list_device()`."""
        if self._data is None:
            raise self._missing(None)
        return list(self._data.values())

    def grad(self, device: Any = None, ctx: Any = None) -> ndarray:
        """The gradient on a device; without one, on the current device or on the only one there is."""
        return self._gradient(self.data(device, ctx))

    def list_grad(self) -> list[ndarray]:
        """The gradients on every device, in the order of `list_device()`."""
        return [self._gradient(data) for data in self.list_data()]

    def _gradient(self, data: ndarray) -> ndarray:
        if self._grad_req == "null":
            raise RuntimeError(f"{self._who} has no gradient: its grad_req is 'null'")
        return data.grad  # type: ignore[no-any-return]

    def list_device(self) -> list[Device]:
        """The devices that the parameter is, or will be, initialised on."""
        if self._data is not None:
            return list(self._data)
        if self._deferred is not None:
            return list(self._deferred[1])
        raise self._missing(None)

    list_ctx = list_device

    def set_data(self, data: ArrayLike) -> None:
        """Writes values into the arrays on all devices, in place.

        >>> b = Parameter("bias", shape=2, init="zeros")
        >>> b.initialize()
        >>> b.set_data(np.array([1, 2]))
        >>> b.data()
        array([1., 2.])
        """
        values = as_array(data)
        self.shape = values.shape
        if self._data is None:
            if self._deferred is None:
                raise self._missing(None)
            init, devices, default_init, _ = self._deferred
            self._deferred = (init, devices, default_init, values.astype(self.dtype).copyto(devices[0]))
            self.finish_deferred_init()
            return
        with autograd.pause():
            for device, array in self._data.items():
                array[...] = values.as_in_device(device)

    def zero_grad(self) -> None:
        """Sets the gradients on all devices to 0."""
        if self._grad_req == "null" or self._data is None:
            return
        with autograd.pause():
            for data in self._data.values():
                data.grad[...] = 0

    def reset_device(self, device: Any = None, ctx: Any = None) -> None:
        """Moves the parameter to another device, or to several."""
        devices = as_devices(device, ctx)
        if self._data is not None:
            with autograd.pause():
                self._place(self.reduce(devices[0]), devices)
        elif self._deferred is not None:
            init, _, default_init, data = self._deferred
            self._deferred = (init, devices, default_init, data)
        else:
            raise self._missing(None)

    reset_ctx = reset_device

    def cast(self, dtype: DTypeLike) -> None:
        """Changes the dtype of values and gradients."""
        self.dtype = as_dtype(dtype)
        if self._data is None:
            return
        with autograd.pause():
            self._data = {device: array.astype(self.dtype) for device, array in self._data.items()}
            self._attach(self._data.values())

    def reduce(self, device: Device | None = None) -> ndarray:
        """One copy of the values: the mean over devices (they differ only for statistics such as a batch norm's)."""
        arrays = self.list_data()
        place = device or arrays[0].device
        with autograd.pause():
            if len(arrays) == 1:
                return arrays[0].copyto(place)
            total = arrays[0].copyto(place)
            for array in arrays[1:]:
                total = total + array.as_in_device(place)
            return (total / len(arrays)).astype(self.dtype)

    # ---- MXNet's other names, and what there is not

    def var(self) -> Any:
        """MXNet's symbol of the parameter: there are no symbols here."""
        raise NotImplementedError(f"{self._who}: there are no symbols here; use data()")

    def row_sparse_data(self, row_id: ArrayLike) -> ndarray:
        """MXNet's rows of a sparse parameter: parameters are dense here."""
        raise NotImplementedError(f"{self._who} is dense: use data()[row_id]")

    def list_row_sparse_data(self, row_id: ArrayLike) -> list[ndarray]:
        """MXNet's rows of a sparse parameter on every device: parameters are dense here."""
        raise NotImplementedError(f"{self._who} is dense: use list_data()")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._data is not None:
            self._attach(self._data.values())


class Constant(Parameter):
    """Values that no training changes; they are saved, loaded and moved with the block.

    >>> c = Constant(np.array([1, 2]))
    >>> c.initialize()
    >>> c.data()
    array([1., 2.])
    """

    def __init__(self, value: ArrayLike, constant: ArrayLike = None, *, name: str = "const") -> None:
        if isinstance(value, str):  # MXNet 1: Constant(name, value)
            name, value = value, constant
        self.value = as_array(value)
        super().__init__(name, grad_req="null", shape=self.value.shape, dtype=self.value.dtype, differentiable=False)

    def __repr__(self) -> str:
        return f"Constant {self.name} (shape={self._shape}, dtype={self.dtype})"

    def _check_shape(self, new: tuple[int, ...]) -> None:
        if new != self._shape:
            raise ValueError(f"{self._who}: shape {new} does not fit its shape {self._shape}")

    def _first_values(self, init: Any, default_init: Any, device: Device) -> ndarray:
        return self.value.astype(self.dtype).copyto(device)


def initialize_all(
    named: Mapping[str, Parameter], init: Any, devices: list[Device], verbose: bool, force_reinit: bool
) -> None:
    """Initialises parameters; for those that have values already there is one warning, where the caller was called."""
    kept: list[Parameter] = []
    paths: dict[int, list[str]] = {}
    for path, parameter in named.items():
        paths.setdefault(id(parameter), []).append(path)
    for parameter in {id(p): p for p in named.values()}.values():
        parameter._paths = tuple(paths[id(parameter)])
        if parameter._data is not None and not force_reinit:
            kept.append(parameter)
            continue
        parameter.initialize(None, devices, init, force_reinit=force_reinit)
        if verbose:
            print(f"{parameter!r}: {parameter.init or init or 'uniform'}")
    if kept:
        others = f" and {len(kept) - 1} more are" if len(kept) > 1 else " is"
        warnings.warn(
            f"{kept[0]._who}{others} already initialized, ignoring. Set force_reinit=True to initialize again.",
            stacklevel=3,
        )


class ParameterDict(dict[str, Parameter]):
    """Parameters by name, as `collect_params()` gives them, with what can be done to all of them at once.

    Names are structural (`0.weight`); a parameter is also found by MXNet 1's name for it (`dense0_weight`).
    `ParameterDict("net_")` is an empty one, whose `get("w", shape=...)` makes the parameter `net_w`.

    >>> from slipstream import gluon
    >>> net = gluon.nn.Dense(3, in_units=2)
    >>> parameters = net.collect_params()
    >>> parameters.initialize()
    >>> {name: parameter.shape for name, parameter in parameters.items()}
    {'weight': (3, 2), 'bias': (3,)}
    """

    def __init__(
        self, parameters: Any = (), prefix: str = "", create: Any = None, shared: Mapping[str, Parameter] | None = None
    ) -> None:
        if isinstance(parameters, str):  # MXNet 1: ParameterDict("net_")
            if prefix:
                raise TypeError(f"ParameterDict: {parameters!r} is the prefix, and so is {prefix!r}; give one")
            parameters, prefix = (), parameters
        super().__init__(parameters)
        self.prefix = prefix
        self._create = create  # of block.params: registers what get() makes, or takes of what is shared
        self._shared = shared or {}

    def __missing__(self, name: str) -> Parameter:
        for parameter in self.values():
            if name == parameter.prefixed_name:
                return parameter
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or any(name == parameter.prefixed_name for parameter in self.values())

    def get(self, name: str, default: Any = None, **options: Any) -> Any:
        """The parameter of that name; `block.params.get` and calls with options make a new one where there is none."""
        key = self._key(name)
        if key not in self:
            if key not in self._shared and self._create is None and not options:
                return default
            self._add(key, self._shared.get(key) or Parameter(key, **options))
        found = self[key]
        if options.get("shape") is not None:
            shape = options["shape"]
            found.shape = (shape,) if isinstance(shape, int) else shape
        return found

    def get_constant(self, name: str, value: ArrayLike = None) -> Parameter:
        """The constant of that name, made from `value` where there is none."""
        key = self._key(name)
        if key not in self:
            self._add(key, self._shared.get(key) or Constant(value, name=key))
        return self[key]

    def _key(self, name: str) -> str:
        """A block's dictionary has the names of its attributes; one of a program's own puts the prefix before them."""
        return name if name in self or self._create is not None else self.prefix + name

    def _add(self, name: str, parameter: Parameter) -> None:
        self[name] = parameter
        if self._create is not None:
            self._create(name, parameter)

    def initialize(
        self, init: Any = None, device: Any = None, verbose: bool = False, force_reinit: bool = False, ctx: Any = None
    ) -> None:
        """Initialises all parameters that have no initializer of their own with `init`; see `Parameter.initialize`."""
        initialize_all(self, init, as_devices(device, ctx), verbose, force_reinit)

    def zero_grad(self) -> None:
        """Sets all gradients to 0."""
        for parameter in self.values():
            parameter.zero_grad()

    def reset_device(self, device: Any = None, ctx: Any = None) -> None:
        """Moves all parameters to another device, or to several."""
        for parameter in self.values():
            parameter.reset_device(device, ctx)

    reset_ctx = reset_device

    def list_device(self) -> list[Device]:
        """All devices that some parameter is on."""
        return list(dict.fromkeys(itertools.chain.from_iterable(p.list_device() for p in self.values())))

    list_ctx = list_device

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute, such as grad_req or lr_mult, of all parameters."""
        for parameter in self.values():
            setattr(parameter, name, value)

    def save(self, filename: Any, strip_prefix: str = "") -> None:
        """Writes all parameters to a file by name, without `strip_prefix`."""
        from ._files import save_arrays

        for name in self:
            if not name.startswith(strip_prefix):
                raise ValueError(f"save: the name {name!r} does not begin with strip_prefix={strip_prefix!r}")
        save_arrays(filename, {name[len(strip_prefix) :]: p.reduce() for name, p in self.items()})

    def load(
        self,
        filename: Any,
        device: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
        ctx: Any = None,
    ) -> None:
        """Reads parameters from a file by name, with `restore_prefix` before each."""
        from ._files import fill, load_arrays

        loaded = {restore_prefix + name: value for name, value in load_arrays(filename).items()}
        given = None if device is None and ctx is None else as_devices(device, ctx)
        fill(self, loaded, str(filename), given, allow_missing, ignore_extra, cast_dtype, dtype_source)

    def count(self) -> int:
        """How many numbers the parameters hold; unknown dimensions count as 0."""
        unique = {id(p): p for p in self.values()}
        return sum(math.prod(max(n, 0) for n in p.shape) for p in unique.values() if p.shape is not None)
