"""Arguments of layers that are sizes, and layouts, checked where the layer is made."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

Sizes = int | Sequence[int]


def whole(given: Any, owner: str, argument: str, least: int = 1) -> int:
    """An argument that is a whole number.

    >>> whole(2.5, "Dense", "units")
    Traceback (most recent call last):
        ...
    TypeError: Dense: units must be a whole number, not 2.5
    """
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{owner}: {argument} must be a whole number, not {given!r}") from None
    if number < least:
        raise ValueError(f"{owner}: {argument} must be at least {least}, not {given}")
    return number


def _is_list(given: Any) -> bool:
    """Has it a length, as tuples, lists and arrays with axes have? A string is no list."""
    try:
        return len(given) >= 0 and not isinstance(given, str)
    except TypeError:
        return False


def sizes(given: Sizes, count: int, owner: str, argument: str, least: int = 1) -> tuple[int, ...]:
    """An argument that is one number for all spatial axes, or one for each."""
    many: Any = given if _is_list(given) else (given,) * count
    if len(many) != count:
        raise ValueError(f"{owner}: {argument}={given} has {len(many)} numbers, there are {count} spatial axes")
    return tuple(whole(n, owner, argument, least) for n in many)


def spatial_layout(layout: str, count: int, owner: str) -> str:
    """A layout such as NCHW or NHWC, checked."""
    space = {1: "W", 2: "HW", 3: "DHW"}[count]
    if layout not in (f"NC{space}", f"N{space}C"):
        raise ValueError(f"{owner}: layout={layout!r} is neither 'NC{space}' nor 'N{space}C'")
    return layout
