"""The keywords that all of MXNet's generated functions have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ..np._arguments import deliver

F = TypeVar("F", bound=Callable[..., Any])

_NAMES = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in ("out", "name")]


def with_out(function: F) -> F:
    """Gives a function `out`, an array (or a list of them) for the result, and `name`, which means nothing here."""

    @functools.wraps(function)
    def call(*args: Any, out: Any = None, name: Any = None, **options: Any) -> Any:
        made = function(*args, **options)
        if out is None:
            return made
        if isinstance(made, list):
            return [deliver(part, into, function.__name__) for part, into in zip(made, out, strict=True)]
        return deliver(made, out, function.__name__)

    given = inspect.signature(function)
    own = list(given.parameters.values())
    rest = [own.pop()] if own and own[-1].kind is inspect.Parameter.VAR_KEYWORD else []
    call.__signature__ = given.replace(parameters=[*own, *_NAMES, *rest])  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]
