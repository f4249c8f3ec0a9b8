"""Images that examples learn from: bars, crosses and circles with noise, drawn in NumPy."""

from __future__ import annotations

import numpy

from slipstream import np


def shapes(n: int, size: int, channels: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, channels, size, size) of four kinds of shapes at random places, and their kinds."""
    rng = numpy.random.default_rng(seed)
    labels = rng.integers(4, size=n)
    centre = rng.uniform(size * 0.35, size * 0.65, size=(n, 2))
    radius = rng.uniform(size * 0.15, size * 0.3, size=n)[:, None, None]
    down, across = numpy.mgrid[:size, :size]
    dy, dx = down - centre[:, :1, None], across - centre[:, 1:, None]
    near = (abs(dx) < radius) & (abs(dy) < radius)
    kinds = [
        near & (abs(dx) < 1.5),
        near & (abs(dy) < 1.5),
        near & ((abs(dx) < 1.5) | (abs(dy) < 1.5)),
        abs(numpy.hypot(dx, dy) - radius) < 1.2,
    ]
    images = numpy.choose(labels[:, None, None], kinds).astype("float32")[:, None].repeat(channels, axis=1)
    images += rng.normal(0, 0.3, size=images.shape).astype("float32")
    return np.array(images, dtype="float32"), np.array(labels, dtype="int32")
