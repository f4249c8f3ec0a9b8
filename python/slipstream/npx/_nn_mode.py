"""What the functions of neural networks ask autograd: whether layers train, and values without a history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._core import ndarray

_set_recording: Any = getattr(_core, "set_recording", None)
_is_training: Any = getattr(_core, "is_training", None)


def is_training() -> bool:
    """Do layers behave as in training on this thread?"""
    return bool(_is_training and _is_training())


@contextmanager
def outside_the_tape() -> Iterator[None]:
    """What is computed here has no history."""
    before = _set_recording(False) if _set_recording else False
    try:
        yield
    finally:
        if _set_recording:
            _set_recording(before)


def constant(x: ndarray) -> ndarray:
    """The same values without a history: gradients stop here."""
    return x.detach() if hasattr(x, "detach") else x
