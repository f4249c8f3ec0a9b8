"""Blocks: objects that hold parameters and other blocks, and that are called with arrays."""

from __future__ import annotations

import inspect
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from .._core import ndarray
from ._files import fill, load_arrays, save_arrays
from ._namespace import F
from ._naming import NameScope, new_prefix
from ._summary import summarize
from .parameter import Parameter, ParameterDict, as_devices, initialize_all, shape_is_known

__all__ = ["Block", "HookHandle", "HybridBlock", "SymbolBlock"]

B = TypeVar("B", bound="Block")


class HookHandle:
    """What registering a hook gives: `detach()`, or the end of a `with`, takes the hook off again.

    >>> from slipstream import gluon
    >>> net = gluon.nn.Flatten()
    >>> with net.register_forward_hook(lambda block, inputs, output: print(output.shape)):
    ...     _ = net(np.ones((2, 3, 4)))
    (2, 12)
    """

    def __init__(self, hooks: dict[object, Any], hook: Any, changed: Callable[[], None]) -> None:
        # The key is not the handle, or its address: nobody need keep it, and another hook would get the address again.
        self._hooks, self._changed, self._key = hooks, changed, object()
        hooks[self._key] = hook
        changed()

    def detach(self) -> None:
        """Takes the hook off."""
        self._hooks.pop(self._key, None)
        self._changed()

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()


class Block:
    """A part of a network, or all of it: parameters and blocks that are its attributes, and `forward`.

    >>> from slipstream.gluon import Block, nn
    >>> class Twice(Block):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = nn.Dense(2, in_units=2)
    ...     def forward(self, x):
    ...         return self.layer(self.layer(x))
    >>> net = Twice()
    >>> net.initialize()
    >>> net(np.ones((1, 2))).shape
    (1, 2)
    >>> list(net.collect_params())
    ['layer.weight', 'layer.bias']

    `prefix` and `params` are MXNet 1's: a name, and parameters to share with another block, by structural name
    (`nn.Dense(8, params=other.params)`, `Net(params=net.collect_params())`). What is not among them is the block's own.
    """

    # Whether a call may go straight to forward: no hooks, and nothing left to initialise. An instance sets its own.
    _direct = True
    _is_child = False

    _children: dict[str, Block]
    _reg_params: dict[str, Parameter]  # by attribute
    _made_params: dict[str, Parameter]  # by params.get, until they become attributes
    _shared: dict[str, Parameter]  # of another block, instead of the block's own and its children's: structural names
    _forward_hooks: dict[object, Callable[[Block, Any, Any], Any]]
    _forward_pre_hooks: dict[object, Callable[[Block, Any], Any]]
    _prefix: str
    _scope: NameScope | None

    def __init__(self, prefix: str | None = None, params: dict[str, Parameter] | None = None) -> None:
        if not isinstance(prefix, (str, type(None))):
            raise TypeError(f"{type(self).__name__}: prefix must be a string, not {_shown(prefix)}; add() takes blocks")
        if not isinstance(params, (dict, type(None))):
            raise TypeError(
                f"{type(self).__name__}: params must be a dict of parameters to share, not {_shown(params)}"
            )
        state = self.__dict__  # __setattr__ needs the dicts below
        state["_children"] = {}
        state["_reg_params"] = {}
        state["_made_params"] = {}
        state["_shared"] = dict(params or {})  # a copy: asking block.params for a parameter may make one
        state["_forward_hooks"] = {}
        state["_forward_pre_hooks"] = {}
        state["_prefix"] = new_prefix(prefix, self._alias())
        state["_scope"] = None

    # ---- names

    def _alias(self) -> str:
        return type(self).__name__.lower()

    @property
    def prefix(self) -> str:
        """MXNet 1's prefix of the names of parameters, such as `dense0_`."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without its last underscore."""
        return self._prefix.removesuffix("_")

    def name_scope(self) -> NameScope:
        """MXNet 1's scope of names: `with self.name_scope():` puts this block's prefix before those of new blocks."""
        if self._scope is None:
            self._scope = NameScope(self)
        return self._scope

    def __repr__(self) -> str:
        if not self._children:
            return f"{type(self).__name__}()"
        rows = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._children.items()]
        return "\n".join([f"{type(self).__name__}(", *rows, ")"])

    # ---- attributes and children

    def __setattr__(self, name: str, value: Any) -> None:
        existing = self.__dict__.get(name)
        if isinstance(existing, (Parameter, Block)) and not isinstance(value, (Parameter, Block, type(None))):
            raise TypeError(f"{self.name}.{name} is a {type(existing).__name__}: it cannot become {value!r}")
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            value = self._register_parameter(name, value)
        elif isinstance(existing, Block):
            self._children.pop(name, None)
        elif isinstance(existing, Parameter):
            self._reg_params.pop(name, None)
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        self._children.pop(name, None)
        self._reg_params.pop(name, None)
        super().__delattr__(name)

    def _register_parameter(self, name: str, value: Parameter) -> Parameter:
        self._check_begun()
        shared = self._shared.get(name)
        if shared is not None:
            if shared is not value and value.shape is not None:
                shared.shape = value.shape
            value = shared
        elif value not in self._made_params.values():
            value.prefixed_name = self._prefix + name
        self._reg_params[name] = value
        self._changed()
        return value

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Adds a block as a child, by default with its number as its name."""
        if not isinstance(block, Block):
            raise TypeError(f"{type(self).__name__}: children of a block are blocks, not {type(block).__name__}")
        self._check_begun()
        block.__dict__["_is_child"] = True
        name = str(len(self._children)) if name is None else name
        if self._shared and name not in self._children:  # what takes another's place is meant to be different
            below = {n.removeprefix(f"{name}."): p for n, p in self._shared.items() if n.startswith(f"{name}.")}
            block._shared = {**below, **block._shared}
            block.share_parameters(block._shared)
        self._children[name] = block

    def _check_begun(self) -> None:
        if "_children" not in self.__dict__:
            raise RuntimeError(f"{type(self).__name__}: call super().__init__() before parameters or blocks are set")

    def _changed(self) -> None:
        """Called when hooks or parameters change: the next call looks at them again."""
        self.__dict__["_direct"] = not (self._forward_hooks or self._forward_pre_hooks)

    def _blocks(self, prefix: str = "") -> Iterator[tuple[str, Block]]:
        """The block and all below it, with their structural names."""
        yield prefix, self
        for name, child in self._children.items():
            yield from child._blocks(f"{prefix}.{name}" if prefix else name)

    # ---- parameters

    @property
    def params(self) -> ParameterDict:
        """The parameters of this block itself, without those of its children."""
        own = {**self._reg_params}
        own |= {n: p for n, p in self._made_params.items() if p not in own.values()}
        return ParameterDict(own, self._prefix, self._keep_made, self._shared)

    def _keep_made(self, name: str, parameter: Parameter) -> None:
        self._made_params[name] = parameter
        if name not in self._shared:
            parameter.prefixed_name = self._prefix + name

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """The parameters of this block and all below it, by structural name; `select` is a pattern of names.

        >>> from slipstream.gluon import nn
        >>> list(nn.Dense(2).collect_params(".*bias"))
        ['bias']
        """
        self._check_container_with_block()
        found = self._collect_params_with_prefix()
        if select is not None:
            pattern = re.compile(select)
            found = {n: p for n, p in found.items() if pattern.match(n) or pattern.match(p.prefixed_name)}
        return ParameterDict(found, self._prefix)

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        found: dict[str, Parameter] = {}
        for path, block in self._blocks(prefix):
            own = {**block._reg_params}
            own |= {n: p for n, p in block._made_params.items() if p not in own.values()}
            found |= {f"{path}.{name}" if path else name: p for name, p in own.items()}
        return found

    def _check_container_with_block(self) -> None:
        """Warns of blocks in lists and dicts: they are not found there."""
        for _, block in self._blocks():
            known = {id(child) for child in block._children.values()}
            for name, value in block.__dict__.items():
                if name in _OWN_DICTS or isinstance(value, Block):
                    continue
                if any(id(inner) not in known for inner in _blocks_in(value)):
                    warnings.warn(
                        f"{type(block).__name__}.{name} holds blocks that are not registered: use "
                        "nn.Sequential, or register_child",
                        stacklevel=3,
                    )

    def initialize(
        self,
        init: Any = None,
        device: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
        ctx: Any = None,
    ) -> None:
        """Initialises all parameters, those without an initializer of their own with `init` (default: Uniform).

        `device` (or `ctx`) is a device or a list of them: every device gets equal values. Where a shape is not known
        yet it happens when the first batch passes.

        >>> from slipstream.gluon import nn
        >>> net = nn.Dense(2, in_units=3)
        >>> net.initialize(device=[npx.cpu(0), npx.cpu(1)])
        >>> net.weight.list_device()
        [cpu(0), cpu(1)]
        """
        initialize_all(self._collect_params_with_prefix(), init, as_devices(device, ctx), verbose, force_reinit)
        self._changed_below()

    def _changed_below(self) -> None:
        for _, block in self._blocks():
            block._changed()

    def zero_grad(self) -> None:
        """Sets the gradients of all parameters to 0."""
        self.collect_params().zero_grad()

    def reset_device(self, device: Any = None, ctx: Any = None) -> None:
        """Moves all parameters to another device, or to several."""
        for parameter in _unique(self._collect_params_with_prefix()):
            parameter.reset_device(device, ctx)

    reset_ctx = reset_device

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute, such as grad_req, of all parameters.

        >>> from slipstream.gluon import nn
        >>> net = nn.Dense(2)
        >>> net.setattr("grad_req", "null")
        >>> net.weight.grad_req
        'null'
        """
        self.collect_params().setattr(name, value)

    def share_parameters(self: B, shared: dict[str, Parameter] | None) -> B:
        """Uses the parameters of another block wherever the structural names are equal; None changes nothing.

        >>> from slipstream.gluon import nn
        >>> a, b = nn.Dense(2), nn.Dense(2)
        >>> b.share_parameters(a.collect_params()).weight is a.weight
        True
        """
        if shared is None:
            return self
        if not isinstance(shared, dict):
            raise TypeError(f"share_parameters: expected a dict of parameters, got {type(shared).__name__}")
        for path, block in self._blocks():
            for name, own in list(block._reg_params.items()):
                full = f"{path}.{name}" if path else name
                if full in shared:  # get() of a block's own parameters would make one
                    block._shared = {**block._shared, name: shared[full]}
                    setattr(block, name, own)
        return self

    def cast(self, dtype: Any) -> None:
        """Changes the dtype of all parameters."""
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self.params.values():
            parameter.cast(dtype)

    def apply(self: B, fn: Callable[[Block], Any]) -> B:
        """Calls a function with every block below this one, then with this one."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    # ---- files

    def save_parameters(self, filename: str | os.PathLike[str], deduplicate: bool = False) -> None:
        """Writes all parameters by structural name, as safetensors (or NumPy's .npz, if the name ends so). Waits.

        With `deduplicate`, a parameter that several blocks share is written once.
        """
        named = self._collect_params_with_prefix()
        if deduplicate:
            first: dict[int, str] = {}
            for name, parameter in named.items():
                first.setdefault(id(parameter), name)
            named = {name: named[name] for name in first.values()}
        save_arrays(filename, {name: parameter.reduce() for name, parameter in named.items()})

    def load_parameters(
        self,
        filename: str | os.PathLike[str],
        device: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        ctx: Any = None,
    ) -> None:
        """Reads what `save_parameters` wrote, and MXNet's own files of parameters, old and new.

        The file is compared with the block before anything changes: missing and additional names (unless allowed),
        other shapes and dtypes (unless `cast_dtype`) raise a ValueError.
        """
        loaded = load_arrays(filename)
        self._load(loaded, os.fspath(filename), device, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source)

    def load_dict(
        self,
        param_dict: Mapping[str, ndarray | Parameter],
        device: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        ctx: Any = None,
    ) -> None:
        """Takes the parameters' values from a dict of arrays, as `load_parameters` does from a file."""
        loaded = {name: p.reduce() if isinstance(p, Parameter) else p for name, p in param_dict.items()}
        self._load(loaded, "param_dict", device, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source)

    def _load(self, loaded: dict[str, ndarray], source: str, device: Any, ctx: Any, *options: Any) -> None:
        devices = None if device is None and ctx is None else as_devices(device, ctx)
        named = self._collect_params_with_prefix()
        for path, block in self._blocks():
            loaded = block._converted(loaded, f"{path}." if path else "")
        if loaded and not any(name in loaded for name in named):  # MXNet 1 left the outermost prefix out
            loaded = {self._prefix + n if self._prefix + n in _prefixed(named) else n: v for n, v in loaded.items()}
        fill(named, loaded, source, devices, *options)
        self._changed_below()

    def _converted(self, loaded: dict[str, ndarray], path: str) -> dict[str, ndarray]:
        """Loaded arrays by the names that the block has now; a block that stored others before says which."""
        return loaded

    def save_params(self, filename: str | os.PathLike[str]) -> None:
        """MXNet 1's name of `save_parameters`."""
        self.save_parameters(filename)

    def load_params(self, filename: str | os.PathLike[str], ctx: Any = None, **options: Any) -> None:
        """MXNet 1's name of `load_parameters`."""
        self.load_parameters(filename, ctx, **options)

    def _structure(self) -> dict[str, Any]:
        below = {name: child._structure() for name, child in self._children.items()}
        return {"type": type(self).__name__, "parameters": sorted(self.params), "blocks": below}

    def save(self, prefix: str) -> None:
        """Writes the parameters to `prefix-model.params`, and the types and names of blocks to `prefix-model.json`."""
        with open(f"{prefix}-model.json", "w") as file:
            json.dump(self._structure(), file, indent=2)
        self.save_parameters(f"{prefix}-model.params")

    def load(self, prefix: str) -> None:
        """Reads what `save` wrote into a block that is built in the same way; raises where it is not."""
        with open(f"{prefix}-model.json") as file:
            try:
                structure = json.load(file)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"load: {prefix}-model.json does not describe blocks ({error})") from None
        if structure != self._structure():
            raise ValueError(f"load: the blocks that {prefix}-model.json describes are not those of {self.name}")
        self.load_parameters(f"{prefix}-model.params")

    # ---- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._direct and (args or kwargs):
                return self.forward(*args, **kwargs)
            return self._call(args, kwargs)
        except AttributeError as error:
            given = error.obj
            asked = any(given is argument for argument in (*args, *kwargs.values()))
            if not asked or isinstance(given, ndarray) or not hasattr(ndarray, error.name or ""):
                raise
            raise TypeError(f"{type(self).__name__}: expected an array, got {_shown(given)}") from error

    def _stands_for_itself(self) -> bool:
        """Is a call without arguments a child's own? MXNet 2 keeps weak references: its programs say `child()(x)`."""
        if not self._is_child:
            return False
        taken = inspect.signature(self.forward).parameters.values()
        return any(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in taken)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not args and not kwargs and self._stands_for_itself():
            return self
        for before in list(self._forward_pre_hooks.values()):
            before(self, args)
        out = self.forward(*args, **kwargs)
        for after in list(self._forward_hooks.values()):
            after(self, args, out)
        return out

    def forward(self, *args: Any) -> Any:
        """What the block computes: subclasses say it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def register_forward_pre_hook(self, hook: Callable[[Block, Any], Any]) -> HookHandle:
        """Has `hook(block, inputs)` called before every call; gives a handle with `detach()`."""
        return HookHandle(self._forward_pre_hooks, hook, self._changed)

    def register_forward_hook(self, hook: Callable[[Block, Any, Any], Any]) -> HookHandle:
        """Has `hook(block, inputs, output)` called after every call; gives a handle with `detach()`."""
        return HookHandle(self._forward_hooks, hook, self._changed)

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """MXNet's hook on every operation: operations are fused here, so their results need not exist."""
        raise NotImplementedError(
            f"{self.name}: operations are fused and have no results of their own; use register_forward_hook of the "
            "blocks, or slipstream.profiler"
        )

    def hybridize(self, active: bool = True, **options: Any) -> None:
        """Has all blocks below that can be compiled compiled; see `HybridBlock.hybridize`."""
        for child in self._children.values():
            child.hybridize(active, **options)

    def summary(self, *inputs: Any) -> None:
        """Prints a table of all blocks, what they give for these inputs, and how many parameters they have.

        >>> from slipstream.gluon import nn
        >>> net = nn.Dense(2)
        >>> net.initialize()
        >>> net.summary(np.ones((4, 3)))  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
        block   type    output   parameters
        ...
        """
        print(summarize(self, inputs))


_OWN_DICTS = frozenset(Block.__annotations__)


def _blocks_in(value: Any) -> Iterator[Block]:
    """The blocks in lists and dicts, which may be nested, one within itself even."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Block):
            yield inner
        elif isinstance(inner, (list, tuple, dict)) and id(inner) not in seen:
            seen.add(id(inner))
            waiting += inner.values() if isinstance(inner, dict) else inner


def _unique(named: dict[str, Parameter]) -> list[Parameter]:
    return list({id(p): p for p in named.values()}.values())


def _prefixed(named: dict[str, Parameter]) -> set[str]:
    return {p.prefixed_name for p in named.values()}


def _shown(given: Any) -> str:
    """An argument for an error message, without its values: nothing waits for them."""
    if isinstance(given, (list, tuple)):
        more = ", ..." if len(given) > 3 else ""
        return f"[{', '.join(map(_shown, given[:3]))}{more}]"
    if given is None or isinstance(given, (bool, int, float, str)):
        return repr(given)[:60]
    return f"{type(given).__name__} of shape {given.shape}" if hasattr(given, "shape") else type(given).__name__


class HybridBlock(Block):
    """A block whose shapes can be inferred, and which `hybridize()` can compile.

    A subclass has `forward(self, x)`, or `hybrid_forward(self, F, x, **params)` as in MXNet 1. One with parameters
    whose shape the first batch tells has `infer_shape(self, x)`, which sets their shapes.

    >>> from slipstream.gluon import HybridBlock, Parameter
    >>> class Scale(HybridBlock):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = Parameter(shape=(-1,), init="ones", allow_deferred_init=True)
    ...     def infer_shape(self, x):
    ...         self.weight.shape = (x.shape[-1],)
    ...     def forward(self, x):
    ...         return x * self.weight.data(x.device)
    >>> net = Scale()
    >>> net.initialize()
    >>> net(np.ones(2))
    array([1., 1.])
    """

    _direct = False
    _active: bool
    _flags: dict[str, Any]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "hybrid_forward" in cls.__dict__ and "forward" not in cls.__dict__:  # it counts, not an inherited forward
            cls.forward = HybridBlock.forward  # type: ignore[method-assign]

    def __init__(self, prefix: str | None = None, params: dict[str, Parameter] | None = None) -> None:
        super().__init__(prefix, params)
        self.__dict__["_active"] = False
        self.__dict__["_flags"] = {}

    def _changed(self) -> None:
        self.__dict__["_direct"] = False

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not args and not kwargs and self._stands_for_itself():
            return self
        waiting = [(p, p._shape, p._deferred) for p in self._reg_params.values() if p._deferred is not None]
        if not waiting:
            return self._call_ready(args, kwargs)
        try:
            if not all(shape_is_known(p.shape) for p in self._reg_params.values()):
                self._infer_shape(args)
            for parameter, _, _ in waiting:
                parameter.finish_deferred_init()
            return self._call_ready(args, kwargs)
        except Exception:  # arguments that cannot be must not say how large the parameters are
            self._changed()
            for parameter, shape, deferred in waiting:
                parameter._shape, parameter._deferred, parameter._data = shape, deferred, None
            raise

    def _call_ready(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._forward_hooks or self._forward_pre_hooks:
            return super()._call(args, kwargs)
        self.__dict__["_direct"] = all(p._data is not None for p in self._reg_params.values())
        return self.forward(*args, **kwargs)

    def _infer_shape(self, args: tuple[Any, ...]) -> None:
        try:
            self.infer_shape(*args)
        except IndexError as error:
            found = ", ".join(_shown(a) for a in args if a is not None)
            raise ValueError(f"{type(self).__name__}: too few axes to tell its parameters' shapes: {found}") from error

    def infer_shape(self, *args: Any) -> None:
        """Sets the shapes of parameters that depend on the arguments. Blocks with such parameters say how."""
        unknown = [name for name, p in self._reg_params.items() if not shape_is_known(p.shape)]
        if unknown:
            raise RuntimeError(
                f"{type(self).__name__}: the shapes of {', '.join(unknown)} are not known. Give them whole, or "
                f"implement {type(self).__name__}.infer_shape, which sets them from the first arguments"
            )

    def infer_type(self, *args: Any) -> None:
        """Casts the parameters to the dtype of the first argument."""
        self.cast(next(a.dtype for a in args if isinstance(a, ndarray)))

    def forward(self, x: Any, *args: Any) -> Any:
        """Calls MXNet 1's `hybrid_forward` with the parameters' values on the device of `x`."""
        first = x
        while isinstance(first, (list, tuple)) and first:
            first = first[0]
        device = first.device if isinstance(first, ndarray) else None
        values = {name: p.data(device) for name, p in self._reg_params.items()}
        return self.hybrid_forward(F, x, *args, **values)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **params: Any) -> Any:
        """MXNet 1's way to say what the block computes: `F` has `np`, `npx` and their functions.

        A layer that says so anew may call its `super().hybrid_forward`, with the parameters' values as it got them.
        """
        forward = self._forward_above()
        if forward is None:
            raise NotImplementedError(f"{type(self).__name__} has neither forward() nor hybrid_forward()")
        own = {id(value) for p in self._reg_params.values() if p._data is not None for value in p._data.values()}
        taken = {name: params.pop(name) for name in self._reg_params if name in params}
        changed = [name for name, value in taken.items() if id(value) not in own]
        if changed:
            raise NotImplementedError(
                f"{type(self).__name__}: super().hybrid_forward computes with the layer's own {', '.join(changed)}: "
                "use the function of npx to compute with other values"
            )
        inputs = [given for given in args if id(given) not in own]
        while inputs and inputs[-1] is None:  # such as the bias of a layer without one
            inputs.pop()
        return forward(self, x, *inputs, **params)

    def _forward_above(self) -> Callable[..., Any] | None:
        """The forward that a hybrid_forward took the place of."""
        found = None
        for cls in type(self).__mro__[: type(self).__mro__.index(HybridBlock)]:
            if "hybrid_forward" in cls.__dict__:
                found = None
            elif found is None:
                found = cls.__dict__.get("forward")
        return found

    def hybridize(
        self,
        active: bool = True,
        partition_if_dynamic: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **options: Any,
    ) -> None:
        """Asks for the block to be compiled.

        For now calls run as before: they are recorded, and the planner fuses what it sees of them. The arguments are
        MXNet's and are accepted.
        """
        self._active = active
        self._flags = {
            "static_alloc": static_alloc,
            "static_shape": static_shape,
            "inline_limit": inline_limit,
            "forward_bulk_size": forward_bulk_size,
            "backward_bulk_size": backward_bulk_size,
            **options,
        }
        super().hybridize(active, static_alloc=static_alloc, static_shape=static_shape, **options)

    def optimize_for(self, x: Any, *args: Any, backend: str | None = None, clear: bool = False, **options: Any) -> None:
        """MXNet's way to compile for a back end: there is one here. Calls the block once, so that shapes are known."""
        self.hybridize(True, **{k: v for k, v in options.items() if k in ("static_alloc", "static_shape")})
        self(x, *args)

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> Any:
        """Writes the network as a program and its parameters: not possible yet."""
        raise NotImplementedError(
            f"{self.name}: export is not there yet; save_parameters and load_parameters keep the parameters"
        )


class SymbolBlock(HybridBlock):
    """MXNet's block made of an exported program: not possible yet.

    >>> SymbolBlock.imports("net-symbol.json", ["data"])
    Traceback (most recent call last):
    NotImplementedError: SymbolBlock.imports: the program 'net-symbol.json' cannot be read yet; ...
    """

    def __init__(self, outputs: Any, inputs: Any, params: Any = None) -> None:
        raise NotImplementedError(
            "SymbolBlock: exported programs cannot be read yet; build the network and use load_parameters"
        )

    @staticmethod
    def imports(symbol_file: str, input_names: Any, param_file: str | None = None, device: Any = None, **_: Any) -> Any:
        """Reads what MXNet's `export` wrote: not possible yet."""
        raise NotImplementedError(
            f"SymbolBlock.imports: the program {symbol_file!r} cannot be read yet; build the network and use "
            "load_parameters"
        )
