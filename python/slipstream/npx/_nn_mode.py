"""What the functions of neural networks ask autograd: whether layers train, and values without a history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .. import _core
from .._core import is_training as is_training
from .._core import ndarray


@contextmanager
def outside_the_tape() -> Iterator[None]:
    """What is computed here has no history."""
    before = _core.set_recording(False)
    try:
        yield
    finally:
        _core.set_recording(before)


def constant(x: ndarray) -> ndarray:
    """The same values without a history: gradients stop here."""
    return x.detach()
