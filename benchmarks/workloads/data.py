"""Inputs: the same numbers for every peer."""

from __future__ import annotations

import numpy


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, dtype: str = "float32") -> numpy.ndarray:
    return numpy.random.default_rng(7).uniform(low, high, shape).astype(dtype)


def normal(*shape: int, seed: int = 7, scale: float = 1.0, dtype: str = "float32") -> numpy.ndarray:
    return (numpy.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)
