"""Learning-rate schedules: their curves, warm-up, and what they refuse."""

from __future__ import annotations

import math

import pytest

from slipstream.lr_scheduler import (
    CosineScheduler,
    FactorScheduler,
    LRScheduler,
    MultiFactorScheduler,
    PolyScheduler,
)


def test_factor() -> None:
    schedule = FactorScheduler(step=3, factor=0.5, stop_factor_lr=0.2, base_lr=1.0)
    assert [schedule(n) for n in range(1, 12)] == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2]


def test_multi_factor_may_jump() -> None:
    schedule = MultiFactorScheduler([2, 5, 6], factor=0.1, base_lr=1.0)
    assert schedule(2) == 1.0
    assert math.isclose(schedule(6), 0.01)
    assert math.isclose(schedule(100), 0.001)


@pytest.mark.parametrize("n", [0, 3, 7, 10, 11, 50])
def test_poly_and_cosine(n: int) -> None:
    done = min(n, 10) / 10
    cosine, poly = CosineScheduler(10, base_lr=2.0, final_lr=0.5), PolyScheduler(10, base_lr=2.0, pwr=3, final_lr=0.5)
    for k in range(n + 1):
        a, b = cosine(k), poly(k)
    assert math.isclose(a, 0.5 + 1.5 * (1 + math.cos(math.pi * done)) / 2)
    assert math.isclose(b, 0.5 + 1.5 * (1 - done) ** 3)


def test_warmup() -> None:
    schedule = CosineScheduler(20, base_lr=0.3, warmup_steps=5, warmup_begin_lr=0.1)
    assert [round(schedule(n), 6) for n in range(6)] == [0.1, 0.14, 0.18, 0.22, 0.26, 0.3]
    assert FactorScheduler(1, warmup_steps=5, warmup_begin_lr=0.001, warmup_mode="constant")(3) == 0.001


def test_errors() -> None:
    with pytest.raises(ValueError, match="warmup_mode 'x' is neither"):
        FactorScheduler(1, warmup_mode="x")
    with pytest.raises(ValueError, match=r"warmup_begin_lr=1 is above base_lr=0\.01"):
        LRScheduler(warmup_begin_lr=1)
    with pytest.raises(ValueError, match="step must be at least 1, not 0"):
        FactorScheduler(0)
    with pytest.raises(ValueError, match="rising numbers"):
        MultiFactorScheduler([4, 2])
    with pytest.raises(ValueError, match="max_update must be a whole number above 0, not 0"):
        PolyScheduler(0)
    with pytest.raises(ValueError, match="max_update=3 is not above warmup_steps=3"):
        CosineScheduler(3, warmup_steps=3)
    with pytest.raises(NotImplementedError, match="LRScheduler does not say"):
        LRScheduler()(1)
