"""MXNet's random numbers that NumPy lacks."""

from __future__ import annotations

import numpy
import pytest

from slipstream import np, npx


def test_bernoulli() -> None:
    np.random.seed(2)
    chances = np.array([0.0, 0.25, 1.0])
    made = npx.random.bernoulli(chances, size=(4000, 3))
    assert made.dtype == np.float32
    numpy.testing.assert_allclose(made.asnumpy().mean(0), [0, 0.25, 1], atol=0.03)
    by_logit = npx.random.bernoulli(logit=np.log(np.array([1.0, 3.0])), size=(4000, 2), dtype="int32")
    numpy.testing.assert_allclose(by_logit.asnumpy().mean(0), [0.5, 0.75], atol=0.03)
    with pytest.raises(ValueError, match="give one of prob and logit"):
        npx.random.bernoulli(0.5, 0.5)
    with pytest.raises(ValueError, match="bernoulli: prob must lie between 0 and 1"):
        npx.random.bernoulli(1.5)
    for wrong in (1.5, -0.5):
        made = npx.random.bernoulli(np.array([0.5, wrong]))
        with pytest.raises(ValueError, match=rf"p must lie between 0 and 1: {wrong}"):
            made.asnumpy()


def test_categorical() -> None:
    np.random.seed(2)
    p = numpy.array([[0.1, 0.0, 0.9], [0.5, 0.5, 0.0]])
    made, logs = npx.random.categorical(np.array(p), shape=(3, 2000), get_prob=True)
    assert made.shape == logs.shape == (2, 3, 2000)
    assert made.dtype == np.int32
    for row in range(2):
        counts = numpy.bincount(made[row].asnumpy().reshape(-1), minlength=3) / 6000
        numpy.testing.assert_allclose(counts, p[row], atol=0.03)
        chosen = p[row][made[row].asnumpy()]
        numpy.testing.assert_allclose(logs[row].asnumpy(), numpy.log(chosen), rtol=1e-5)
    assert npx.random.categorical(np.array([0.0, 1.0])).item() == 1


def test_batches() -> None:
    means = np.array([0.0, 100.0, 200.0])
    made = npx.random.normal_n(means, 1.0, batch_shape=(5, 2))
    assert made.shape == (5, 2, 3)
    numpy.testing.assert_allclose(made.asnumpy().mean((0, 1)), means.asnumpy(), atol=3)
    assert npx.random.uniform_n(means, means + 1, batch_shape=4).shape == (4, 3)
    assert npx.random.multinomial(7, np.array([0.5, 0.5]), shape=3).asnumpy().sum() == 21


def test_multinomial_of_batches() -> None:
    n, p = np.array([4, 9]), np.full((3, 2, 5), 0.2)
    for shape, more in ((None, ()), (6, (6,)), ((6, 7), (6, 7))):
        made = npx.random.multinomial(n, p, shape=shape)
        assert made.shape == (3, 2, *more, 5)
        sums = made.asnumpy().sum(-1)
        assert (sums[:, 0] == 4).all() and (sums[:, 1] == 9).all()
    assert npx.random.multinomial(np.array([4, 9]), [0.5, 0.5], shape=3).shape == (2, 3, 2)
