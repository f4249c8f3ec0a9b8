"""Random numbers: seeds, streams, distributions, devices, errors."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import same

from slipstream import np, npx

DRAWS = {
    "normal": lambda r, size: r.normal(size=size),
    "uniform": lambda r, size: r.uniform(size=size),
    "permutation": lambda r, size: r.permutation(50),
    "choice": lambda r, size: r.choice(20, size=size),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_decides(name: str) -> None:
    draw = DRAWS[name]
    np.random.seed(11)
    first, second = draw(np.random, 40).asnumpy(), draw(np.random, 40).asnumpy()
    np.random.seed(11)
    assert (draw(np.random, 40).asnumpy() == first).all()
    assert (first != second).any()
    np.random.seed(12)
    assert (draw(np.random, 40).asnumpy() != first).any()
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    assert (draw(a, 40).asnumpy() == draw(b, 40).asnumpy()).all()


def test_generators_do_not_touch_each_other() -> None:
    np.random.seed(5)
    expected = np.random.normal(size=4).asnumpy()
    np.random.seed(5)
    np.random.default_rng(1).normal(size=100)
    assert (np.random.normal(size=4).asnumpy() == expected).all()


def test_position_is_taken_when_recorded() -> None:
    np.random.seed(5)
    a, b = np.random.normal(size=1000), np.random.uniform(size=10)
    b_values, a_values = b.asnumpy(), a.asnumpy()
    np.random.seed(5)
    assert (np.random.normal(size=1000).asnumpy() == a_values).all()
    assert (np.random.uniform(size=10).asnumpy() == b_values).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_moments(dtype: str) -> None:
    np.random.seed(1)
    x = np.random.normal(3, 2, size=(200, 500), dtype=dtype)
    assert x.dtype == dtype
    values = x.asnumpy().astype("float64")
    assert values.mean() == pytest.approx(3, abs=0.03)
    assert values.std() == pytest.approx(2, abs=0.03)
    u = np.random.uniform(-1, 3, size=100_000, dtype=dtype).asnumpy().astype("float64")
    assert u.min() >= -1
    assert u.max() <= 3 if dtype == "float16" else u.max() < 3
    assert u.mean() == pytest.approx(1, abs=0.02)
    assert u.var() == pytest.approx(16 / 12, abs=0.03)


def test_integers() -> None:
    x = np.random.randint(-3, 4, size=7000).asnumpy()
    assert x.dtype == "int64"
    assert set(x.tolist()) == set(range(-3, 4))
    assert abs(numpy.bincount(x + 3) - 1000).max() < 200
    assert np.random.randint(5, size=3, dtype="uint8").dtype == "uint8"
    assert np.random.randint(256, size=3, dtype="uint8").dtype == "uint8"
    assert np.random.default_rng(1).integers(1, 2, size=3, endpoint=True).asnumpy().max() <= 2
    for bad in ((3, 3), (5, 2)):
        with pytest.raises(ValueError, match="low"):
            np.random.randint(*bad)
    with pytest.raises(ValueError, match="fit"):
        np.random.randint(0, 300, dtype="uint8")
    with pytest.raises(TypeError, match="float32"):
        np.random.randint(3, dtype="float32")


def test_shapes_and_arguments() -> None:
    assert np.random.normal().shape == ()
    assert np.random.normal(size=3).shape == (3,)
    assert np.random.rand(2, 3).shape == np.random.randn(2, 3).shape == (2, 3)
    assert np.random.random((2, 2)).shape == np.random.standard_normal((2, 2)).shape == (2, 2)
    loc = np.array([0.0, 100.0])
    x = np.random.normal(loc, np.array([[1.0], [2.0]])).asnumpy()
    assert x.shape == (2, 2)
    assert (x[:, 1] > 50).all()
    assert np.random.normal(loc, size=(5, 2)).shape == (5, 2)
    assert np.random.uniform(loc, loc + 1, size=(3, 2)).asnumpy()[:, 1].min() >= 100
    out = np.zeros(4)
    assert np.random.normal(size=4, out=out) is out
    assert out.asnumpy().any()


def test_numpy_scalars_are_numbers() -> None:
    assert np.random.normal(numpy.float64(1), numpy.float32(2), size=2).dtype == "float32"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: np.random.normal(scale=-1), ValueError),
        (lambda: np.random.normal(size=-1), ValueError),
        (lambda: np.random.normal(size=2, dtype="int32"), TypeError),
        (lambda: np.random.uniform(0, float("inf")), OverflowError),
        (lambda: np.random.choice(0, size=1), ValueError),
        (lambda: np.random.choice(3, size=4, replace=False), ValueError),
        (lambda: np.random.choice(3, p=[0.5, 0.5]), ValueError),
        (lambda: np.random.seed(-1), ValueError),
        (lambda: np.random.shuffle(np.array(1)), TypeError),
    ],
)
def test_errors(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_permutation_and_shuffle() -> None:
    assert sorted(np.random.permutation(100).tolist()) == list(range(100))
    x = np.arange(20).reshape(10, 2)
    y = np.random.permutation(x).asnumpy()
    assert sorted(y[:, 0].tolist()) == list(range(0, 20, 2))
    assert (y[:, 1] == y[:, 0] + 1).all()
    np.random.shuffle(x)
    assert sorted(x.asnumpy()[:, 0].tolist()) == list(range(0, 20, 2))
    items = list(range(30))
    np.random.shuffle(items)
    assert sorted(items) == list(range(30)) != items


def test_choice() -> None:
    x = np.random.choice(np.array([1.0, 2.0, 3.0]), size=3000, p=[0.7, 0.0, 0.3]).asnumpy()
    assert (x == 1).mean() == pytest.approx(0.7, abs=0.05)
    assert not (x == 2).any()
    assert sorted(np.random.choice(5, size=5, replace=False).tolist()) == list(range(5))
    assert np.random.choice(5).shape == ()


def test_devices() -> None:
    assert np.random.normal(size=2, device=npx.cpu(1)).device == npx.cpu(1)
    assert np.random.uniform(size=2, ctx=npx.cpu(1)).ctx == npx.cpu(1)
    with npx.cpu(2):
        assert np.random.randint(3, size=2).device == npx.cpu(2)


def test_layout_does_not_matter() -> None:
    np.random.seed(9)
    flat = np.random.normal(size=12).asnumpy()
    np.random.seed(9)
    same(np.random.normal(size=(3, 4)), flat.reshape(3, 4), 0)
