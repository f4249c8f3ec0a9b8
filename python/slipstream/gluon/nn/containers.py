"""Blocks made of other blocks, one after the other or side by side, and of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

from ... import np, npx
from ..._core import ndarray
from .._namespace import F
from ..block import Block, HybridBlock

__all__ = [
    "Concatenate",
    "HybridConcatenate",
    "HybridLambda",
    "HybridSequential",
    "Identity",
    "Lambda",
    "Sequential",
]

S = TypeVar("S", bound="_Chain")


class _Chain(Block):
    """Blocks in a row, by number."""

    def add(self, *blocks: Block) -> None:
        """Adds blocks at the end."""
        for block in blocks:
            self.register_child(block)

    def forward(self, x: Any, *args: Any) -> Any:
        """Calls the blocks in turn; where one gives several results the next gets them as several arguments."""
        for block in self._children.values():
            x = block(x, *args) if args else block(x)
            args = ()
            if isinstance(x, (tuple, list)):
                x, args = x[0], tuple(x[1:])
        return (x, *args) if args else x

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self: S, key: slice) -> S: ...
    def __getitem__(self, key: Any) -> Any:
        found = list(self._children.values())[key]
        if not isinstance(key, slice):
            return found
        part = type(self)()
        part.add(*found)
        return part


class Sequential(_Chain):
    """Blocks called one after the other.

    >>> from slipstream.gluon import nn
    >>> net = nn.Sequential()
    >>> net.add(nn.Dense(2), nn.Activation("relu"))
    >>> net
    Sequential(
      (0): Dense(None -> 2, linear)
      (1): Activation(relu)
    )
    >>> len(net), net[0]
    (2, Dense(None -> 2, linear))
    """


class HybridSequential(_Chain, HybridBlock):
    """Hybrid blocks called one after the other: a chain that `hybridize()` can compile as a whole.

    >>> from slipstream.gluon import nn
    >>> net = nn.HybridSequential()
    >>> net.add(nn.Dense(2), nn.Flatten())
    >>> isinstance(net, nn.HybridBlock)
    True
    """


class _Fan(_Chain):
    """Blocks called with the same arguments, their results joined."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def forward(self, *args: Any) -> ndarray:
        """The results of all blocks, joined along the axis."""
        return np.concatenate([block(*args) for block in self._children.values()], axis=self.axis)

    def __getitem__(self, key: Any) -> Any:
        found = list(self._children.values())[key]
        if not isinstance(key, slice):
            return found
        part = type(self)(self.axis)
        part.add(*found)
        return part


class Concatenate(_Fan):
    """Blocks called with the same arguments; their results are joined along an axis.

    >>> from slipstream.gluon import nn
    >>> net = nn.Concatenate(axis=-1)
    >>> net.add(nn.Identity(), nn.Identity())
    >>> net(np.ones((2, 3))).shape
    (2, 6)
    """


class HybridConcatenate(_Fan, HybridBlock):
    """The same as `Concatenate`, of hybrid blocks.

    >>> from slipstream.gluon import nn
    >>> net = nn.HybridConcatenate(axis=0)
    >>> net.add(nn.Identity(), nn.Identity())
    >>> net(np.ones((2, 3))).shape
    (4, 3)
    """


class Identity(HybridBlock):
    """Gives its argument back.

    >>> from slipstream.gluon import nn
    >>> nn.Identity()(np.ones(1))
    array([1.])
    """

    def forward(self, x: Any) -> Any:
        """The argument."""
        return x


def _function(given: str | Callable[..., Any], owner: str) -> tuple[Callable[..., Any], str]:
    """The function that a name or a function means, and its name."""
    if isinstance(given, str):
        found = getattr(np, given, None) or getattr(npx, given, None)
        if found is None:
            raise ValueError(f"{owner}: neither np nor npx has a function {given!r}")
        return found, given
    if not callable(given):
        raise TypeError(f"{owner}: expected a function or the name of one, got {type(given).__name__}")
    return given, getattr(given, "__name__", repr(given))


def _takes_namespace(function: Callable[..., Any]) -> bool:
    """MXNet 1's functions of hybrid blocks have a first argument F."""
    try:
        return next(iter(inspect.signature(function).parameters), None) == "F"
    except ValueError:  # built-in functions need not have a signature
        return False


class Lambda(Block):
    """A function as a block: a function, or the name of one of np or npx.

    >>> from slipstream.gluon import nn
    >>> nn.Lambda("tanh")(np.zeros(1)), nn.Lambda(lambda x: x + 1)(np.zeros(1))
    (array([0.]), array([1.]))
    """

    def __init__(self, function: str | Callable[..., Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._function, self._function_name = _function(function, type(self).__name__)

    def forward(self, *args: Any) -> Any:
        """What the function gives."""
        return self._function(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._function_name})"


class HybridLambda(HybridBlock):
    """A function as a hybrid block: a function of arrays (or of F and arrays, as in MXNet 1), or the name of one.

    >>> from slipstream.gluon import nn
    >>> nn.HybridLambda("relu")(np.array([-1.0, 1.0]))
    array([0., 1.])
    >>> nn.HybridLambda(lambda F, x: F.npx.relu(x))(np.array([-1.0, 1.0]))
    array([0., 1.])
    """

    def __init__(self, function: str | Callable[..., Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._function, self._function_name = _function(function, type(self).__name__)
        self._with_namespace = _takes_namespace(self._function)

    def forward(self, x: Any, *args: Any) -> Any:
        """What the function gives."""
        return self._function(F, x, *args) if self._with_namespace else self._function(x, *args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._function_name})"
