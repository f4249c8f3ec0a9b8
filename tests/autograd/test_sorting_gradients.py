"""Gradients of sorts, order statistics and convolutions against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from slipstream import autograd, np, npx

CASES: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: np.sort(x, axis=0),
    "descending": lambda x: np.sort(x, axis=None, descending=True),
    "partition": lambda x: np.partition(x, 2)[..., 2],
    "topk": lambda x: npx.topk(x, k=2, ret_typ="value"),
    "quantile": lambda x: np.quantile(x, 0.3, axis=0),
    "nanquantile": lambda x: np.nanquantile(x, 0.7),
    "median": lambda x: np.median(x, axis=1),
    "convolve": lambda x: np.convolve(x[0], x[1]),
    "same": lambda x: np.convolve(x[0], x[1, :3], "same"),
    "valid": lambda x: np.correlate(x[0], x[1, :2]),
    "interp": lambda x: np.interp(x, np.array([-9.0, 0.0, 9.0]), np.array([1.0, 5.0, 2.0])),
}


@pytest.mark.parametrize("name", CASES)
def test_gradient(name: str, rng: numpy.random.Generator) -> None:
    function, values = CASES[name], rng.permutation(20).reshape(4, 5) / 4.0 - 2.3
    x = np.array(values)
    x.attach_grad()
    with autograd.record():
        made = function(x)
        weights = np.array(rng.standard_normal(made.shape))
        loss = (made * weights).sum()
    loss.backward()
    step = 1e-5
    for at in numpy.ndindex(values.shape):
        moved = values.copy()
        moved[at] += step
        high = (function(np.array(moved)) * weights).sum().item()
        moved[at] -= 2 * step
        low = (function(np.array(moved)) * weights).sum().item()
        assert x.grad[at].item() == pytest.approx((high - low) / (2 * step), rel=1e-5, abs=1e-7), at
