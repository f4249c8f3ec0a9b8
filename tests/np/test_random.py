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


# ---- distributions: against NumPy's by the largest difference of their distribution functions

DISTRIBUTIONS: dict[str, list[tuple[Any, ...]]] = {
    "exponential": [(2.0,)],
    "standard_exponential": [()],
    "laplace": [(1.0, 2.0)],
    "logistic": [(1.0, 2.0)],
    "gumbel": [(1.0, 2.0)],
    "lognormal": [(0.1, 0.5)],
    "rayleigh": [(2.0,)],
    "weibull": [(1.5,)],
    "pareto": [(5.0,)],
    "power": [(2.0,)],
    "standard_cauchy": [()],
    "triangular": [(0.0, 1.0, 3.0)],
    "wald": [(1.0, 2.0)],
    "standard_gamma": [(0.3,), (1.0,), (20.0,)],
    "gamma": [(3.0, 2.0)],
    "beta": [(2.0, 3.0), (0.5, 0.5)],
    "chisquare": [(3.0,)],
    "noncentral_chisquare": [(3.0, 2.0), (0.5, 1.0)],
    "f": [(5.0, 9.0)],
    "noncentral_f": [(5.0, 9.0, 1.0)],
    "standard_t": [(9.0,)],
    "poisson": [(0.5,), (9.5,), (10.5,), (500.0,)],
    "binomial": [(10, 0.3), (10, 0.9), (1000, 0.4), (100000, 0.999)],
    "negative_binomial": [(3, 0.4)],
    "geometric": [(0.3,), (1.0,)],
    "hypergeometric": [(5, 6, 4)],
    "logseries": [(0.6,)],
    "zipf": [(4.0,)],
    "vonmises": [(0.5, 2.0)],
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name: str, rng: numpy.random.Generator) -> None:
    n = 20_000
    np.random.seed(7)
    for parameters in DISTRIBUTIONS[name]:
        made = getattr(np.random, name)(*parameters, size=n)
        theirs = numpy.sort(getattr(rng, name)(*parameters, size=n))
        assert made.dtype == (np.int64 if theirs.dtype.kind == "i" else np.float32)
        ours = numpy.sort(made.asnumpy())
        at = numpy.concatenate([ours, theirs])
        apart = numpy.searchsorted(ours, at, "right") - numpy.searchsorted(theirs, at, "right")
        assert numpy.abs(apart).max() / n < 0.021, parameters  # chance: below 1 in 3000
        assert numpy.isfinite(ours).all()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_follow_the_seed_and_the_parameters(name: str) -> None:
    parameters = DISTRIBUTIONS[name][0]
    draw = getattr(np.random, name)
    np.random.seed(3)
    first = draw(*parameters, size=(3, 50)).asnumpy()
    np.random.seed(3)
    assert (draw(*parameters, size=(3, 50)).asnumpy() == first).all()
    if parameters:
        arrays = [np.array(numpy.full((2, 1), p, "float64")) for p in parameters]
        assert draw(*arrays).shape == (2, 1)
        assert draw(*arrays, size=(4, 2, 3)).shape == (4, 2, 3)
        with pytest.raises(ValueError, match=name):
            draw(*arrays, size=(3, 3))
    if name not in ("poisson", "binomial", "negative_binomial", "geometric", "hypergeometric", "logseries", "zipf"):
        assert draw(*parameters, size=2, dtype="float64").dtype == np.float64


def test_rejection_does_not_depend_on_the_cut() -> None:
    """Element i is the same, however many there are."""
    np.random.seed(3)
    many = np.random.gamma(2.0, size=10_000, dtype="float64").asnumpy()
    np.random.seed(3)
    assert (np.random.gamma(2.0, size=7, dtype="float64").asnumpy() == many[:7]).all()


def test_multinomial_and_dirichlet(rng: numpy.random.Generator) -> None:
    np.random.seed(5)
    chances = [0.1, 0.0, 0.4, 0.5]
    made = np.random.multinomial(20, chances, size=(3, 2000)).asnumpy()
    assert (made.sum(-1) == 20).all() and (made >= 0).all()
    numpy.testing.assert_allclose(made.mean((0, 1)), 20 * numpy.array(chances), atol=0.15)
    shares = np.random.dirichlet([1.0, 2.0, 5.0], size=5000).asnumpy()
    numpy.testing.assert_allclose(shares.sum(-1), 1, atol=1e-5)
    numpy.testing.assert_allclose(shares.mean(0), numpy.array([1, 2, 5]) / 8, atol=0.02)
    for nothing in ([], np.zeros(0)):
        assert np.random.multinomial(3, nothing).shape == (0,)
        assert np.random.multinomial(3, nothing, size=(4, 2)).shape == (4, 2, 0)
    assert np.random.multinomial(np.array([3, 4]), np.array([[0.5, 0.5], [0.1, 0.9]])).shape == (2, 2)


def test_multivariate_normal() -> None:
    np.random.seed(5)
    mean, cov = numpy.array([1.0, -1.0]), numpy.array([[2.0, 0.6], [0.6, 1.0]])
    made = np.random.multivariate_normal(mean, cov, size=20_000).asnumpy()
    numpy.testing.assert_allclose(made.mean(0), mean, atol=0.05)
    numpy.testing.assert_allclose(numpy.cov(made.T), cov, atol=0.08)
    with pytest.raises(ValueError, match="positive-semidefinite"):
        np.random.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise").wait_to_read()
    with pytest.raises(ValueError, match="do not fit"):
        np.random.multivariate_normal([0, 0, 0], [[1, 0], [0, 1]])


def test_choice_by_probabilities() -> None:
    np.random.seed(5)
    p = [0.1, 0.0, 0.3, 0.6]
    counts = numpy.bincount(np.random.choice(4, 20_000, p=p).asnumpy(), minlength=4) / 20_000
    numpy.testing.assert_allclose(counts, p, atol=0.02)
    firsts = [0, 0, 0, 0]
    for _ in range(400):
        chosen = np.random.choice(4, 3, replace=False, p=np.array(p)).tolist()
        assert sorted(chosen) == [0, 2, 3]
        firsts[chosen[0]] += 1
    numpy.testing.assert_allclose(numpy.array(firsts) / 400, p, atol=0.1)


BAD_PARAMETERS = [
    (lambda: np.random.choice(3, p=[0.5, 0.6, 0.7]), "choice: the probabilities in p add up to 1.8"),
    (lambda: np.random.choice(2, p=[-0.5, 1.5]), "choice: p holds -0.5"),
    (lambda: np.random.choice(2, p=np.array([0.5, 0.6])).wait_to_read(), "choice: the probabilities in p add up"),
    (lambda: np.random.choice(3, 2, replace=False, p=[1.0, 0, 0]), "only 1 can come"),
    (lambda: np.random.normal(0, -1), "normal: scale must not be negative: -1"),
    (lambda: np.random.normal(0, numpy.array([1.0, -2.0])), "normal: scale must not be negative: -2"),
    (lambda: np.random.gamma(-1), "gamma: shape must not be negative"),
    (lambda: np.random.gamma(np.array([-1.0])).wait_to_read(), "gamma: shape must not be negative"),
    (lambda: np.random.binomial(3, 1.5), "binomial: p must lie between 0 and 1: 1.5"),
    (lambda: np.random.poisson(-1), "poisson: lam must not be negative"),
    (lambda: np.random.triangular(1, 0, 2), "triangular: left=1.0"),
    (lambda: np.random.multinomial(3, [0.9, 0.9, 0.1]), "multinomial: the probabilities"),
    (lambda: np.random.exponential(size=(-1,)), "exponential: size"),
]


@pytest.mark.parametrize("case", BAD_PARAMETERS, ids=[case[1][:25] for case in BAD_PARAMETERS])
def test_bad_parameters(case: Any) -> None:
    with pytest.raises(ValueError, match=case[1]):
        case[0]()


def test_generators_have_the_same_distributions() -> None:
    generator = np.random.default_rng(3)
    assert generator.gamma(2.0, size=3).shape == (3,)
    assert sorted(generator.permuted(np.arange(5)).tolist()) == [0, 1, 2, 3, 4]
    rows = generator.permuted(np.array([[1, 2, 3]] * 4), axis=1)
    assert [sorted(row) for row in rows.tolist()] == [[1, 2, 3]] * 4
    assert len(generator.bytes(7)) == len(np.random.bytes(7)) == 7
    first, second = generator.spawn(2)
    assert (first.normal(size=3) != second.normal(size=3)).any()
    assert np.random.random_integers(3, 3).item() == 3
    for name in ("rand", "randn", "random_sample", "ranf", "sample", "standard_normal", "randint", "shuffle"):
        assert callable(getattr(np.random, name))


def test_integers_between_arrays() -> None:
    low, high = numpy.array([0, 5]), numpy.array([[3], [7]])
    for draw in (np.random.default_rng(2).integers, np.random.randint):
        x = draw(low * [1, 0], high, size=(400, 2, 2)).asnumpy()
        assert x.dtype == "int64" and (x.min(0) == 0).all() and (x.max(0) == high - 1).all()
        assert draw(np.array([1, 2], dtype="int64"), 9).shape == (2,)  # not waited for
    assert draw([1, 8], 9, dtype="int8").dtype == np.int8
    with pytest.raises(ValueError, match="integers: low=5 is not everywhere below high="):
        np.random.default_rng(2).integers(5, [9, 5])
    with pytest.raises(ValueError, match=r"bounds of shape \(2,\) do not fit the size \(3,\)"):
        np.random.default_rng(2).integers([1, 2], 9, size=3)
    wide = np.random.default_rng(2).integers(0, 2**64 - 1, 500, "uint64", endpoint=True).asnumpy()
    assert wide.max() > 2**63 > wide.min()
    top = np.random.default_rng(2).integers(2**63 + 5, 2**63 + 8, 99, "uint64").asnumpy()
    assert sorted(set((top - 2**63).tolist())) == [5, 6, 7]
    assert np.random.default_rng(2).integers([0, 3], [0, 3], endpoint=True).tolist() == [0, 3]


def test_other_axes() -> None:
    generator, x = np.random.default_rng(2), np.arange(12).reshape(3, 4)
    assert sorted(generator.permutation(x, axis=1)[0].tolist()) == [0, 1, 2, 3]
    assert generator.choice(x, 2, axis=1).shape == (3, 2)
    assert generator.choice(np.array([]), 0).shape == (0,)
    with pytest.raises(numpy.exceptions.AxisError, match="choice: axis 2 is out of bounds"):
        generator.choice(x, 2, axis=2)
    theirs = numpy.arange(12).reshape(3, 4)
    for values in (x, theirs):
        generator.shuffle(values, axis=1)
        assert [sorted(row) for row in values.tolist()] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    out = np.zeros((3, 4))
    assert generator.permuted(x, axis=1, out=out) is out and out.sum().item() == 66


def test_multivariate_hypergeometric() -> None:
    x = np.random.default_rng(2).multivariate_hypergeometric([10, 5, 0], 6, 2000).asnumpy()
    assert (x.sum(1) == 6).all() and (x[:, 2] == 0).all()
    numpy.testing.assert_allclose(x.mean(0), [4, 2, 0], atol=0.15)
    assert np.random.multivariate_hypergeometric(np.array([3, 4]), 2, method="count").shape == (2,)
    with pytest.raises(ValueError, match="method 'zig' is none of 'marginals', 'count'"):
        np.random.multivariate_hypergeometric([3, 4], 2, method="zig")
    assert np.random.standard_exponential(2, method="zig").shape == (2,)
    assert np.random.multivariate_normal([0, 0], [[1, 0], [0, 1]], method="cholesky").shape == (2,)
