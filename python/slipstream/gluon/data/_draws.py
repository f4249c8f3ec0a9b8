"""Random decisions that Python itself needs, from the numbers that `np.random.seed` starts."""

from __future__ import annotations

import numpy

from ... import _core
from ...device import cpu

_TAG = 0x64617461 << 64  # keeps these numbers apart from the arrays' own


def generator() -> numpy.random.Generator:
    """NumPy's generator at the next place of `cpu(0)`'s stream. Nothing waits.

    >>> np.random.seed(1)
    >>> a = generator().integers(1000)
    >>> np.random.seed(1)
    >>> bool(a == generator().integers(1000))
    True
    """
    place = cpu(0)
    state = _core.default_random(place)
    _core.random_uniform(None, 0.0, 1.0, (), numpy.float32, place)  # moves on; nobody reads it, so it is not run
    return numpy.random.Generator(numpy.random.Philox(key=_TAG | state.key, counter=state.position))
