"""Distributions of integers, of vectors, and those that NumPy draws."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from .. import _core
from .._core import ndarray
from ..device import resolve
from ._arguments import as_array, as_dtype, check_choice
from ._by_numpy import behind, by_numpy
from ._draws import F64, INT, Call, Draws, check, dims_of, float_type
from ._types import ArrayLike, DeviceLike, DTypeLike, Shape


def _integer(dtype: DTypeLike) -> numpy.dtype[Any]:
    return INT if dtype is None else as_dtype(dtype)


class Discrete(Draws):
    """Distributions of integers and of vectors. `size` is the shape; without it the parameters' shape."""

    def poisson(
        self,
        lam: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers of events where `lam` are expected.

        >>> np.random.poisson(size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("poisson", {"lam": (lam, "not negative")}, size, _integer(dtype), device, ctx, out)
        return self._finish(self._sample("poisson", call), call)

    def binomial(
        self,
        n: ArrayLike,
        p: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers of successes in `n` trials of probability `p`.

        >>> np.random.binomial(10, 0.5, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "binomial", {"n": (n, "not negative"), "p": (p, "probability")}, size, _integer(dtype), device, ctx, out
        )
        return self._finish(self._sample("binomial", call), call)

    def negative_binomial(
        self,
        n: ArrayLike,
        p: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers of failures before `n` successes of probability `p`.

        >>> np.random.negative_binomial(3, 0.5, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "negative_binomial", {"n": (n, "positive"), "p": (p, "chance")}, size, _integer(dtype), device, ctx, out
        )
        n, p = call.values
        mean = self._sample("gamma", call, n) * ((1 - p) / p)
        return self._finish(self._sample("poisson", call, mean), call)

    def geometric(
        self,
        p: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers of trials of probability `p` until the first success.

        >>> np.random.geometric(0.5, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("geometric", {"p": (p, "chance")}, size, _integer(dtype), device, ctx, out)
        unit = _core.random_uniform(self._state, 0.0, 1.0, call.shape, F64, call.device)
        p = call.values[0]
        trials = _core.ceil(_core.log1p(-unit) / _core.log1p(-as_array(p, call.device).astype(F64)))
        return self._finish(_core.maximum(trials, 1), call)

    @by_numpy("behind")
    def hypergeometric(
        self,
        ngood: ArrayLike,
        nbad: ArrayLike,
        nsample: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers of good ones in a sample without putting back.

        >>> np.random.hypergeometric(5, 5, 3, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "hypergeometric",
            {"ngood": (ngood, "not negative"), "nbad": (nbad, "not negative"), "nsample": (nsample, "not negative")},
            size,
            _integer(dtype),
            device,
            ctx,
            out,
        )
        return self._finish(self._through_numpy(call, INT), call)

    @by_numpy("behind")
    def multivariate_hypergeometric(
        self,
        colors: ArrayLike,
        nsample: int,
        size: Shape | None = None,
        method: str = "marginals",
        *,
        device: DeviceLike = None,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """How many of each colour are in a sample without putting back, from so many of each.

        >>> int(np.random.multivariate_hypergeometric([5, 3, 2], 4).sum())
        4
        """
        check_choice("multivariate_hypergeometric", "method", method, ("marginals", "count"))
        check("multivariate_hypergeometric", "colors", colors, "not negative")
        check("multivariate_hypergeometric", "nsample", nsample, "not negative")
        place = colors.device if isinstance(colors, ndarray) else resolve(device, ctx)
        given = colors if isinstance(colors, ndarray) else as_array(numpy.asarray(colors, INT), place)
        if given.ndim != 1:
            raise ValueError(f"multivariate_hypergeometric: colors has shape {given.shape}; it must have one dimension")
        dims = dims_of(size)

        def draw(key: Any, counts: Any) -> Any:
            generator: Any = numpy.random.Generator(numpy.random.Philox(key=key))
            return generator.multivariate_hypergeometric(counts.astype(INT), nsample, dims, method=method)

        shape, inputs = (*dims, given.size), [self._key(place), given]
        made: ndarray = behind("np.random.multivariate_hypergeometric", draw, inputs, shape, INT, place)
        return made

    @by_numpy("behind")
    def logseries(
        self,
        p: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """The logarithmic series distribution.

        >>> np.random.logseries(0.5, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("logseries", {"p": (p, "below 1")}, size, _integer(dtype), device, ctx, out)
        return self._finish(self._through_numpy(call, INT), call)

    @by_numpy("behind")
    def zipf(
        self,
        a: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Zipf's distribution: 1, 2, 3, ... with probabilities falling as `k**-a`.

        >>> np.random.zipf(2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("zipf", {"a": (a, "above 1")}, size, _integer(dtype), device, ctx, out)
        return self._finish(self._through_numpy(call, INT), call)

    @by_numpy("behind")
    def vonmises(
        self,
        mu: ArrayLike,
        kappa: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Angles around `mu`, the closer the larger `kappa`.

        >>> np.random.vonmises(2.0, 2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "vonmises",
            {"mu": (mu, "finite"), "kappa": (kappa, "not negative")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        return self._finish(self._through_numpy(call, F64), call)

    def _through_numpy(self, call: Call, dtype: numpy.dtype[Any]) -> ndarray:
        """NumPy's generator, seeded by our stream when the call is recorded, run on a worker."""
        seed = self._key(call.device)
        parameters = [v if isinstance(v, ndarray) else _core.full((), v, F64, call.device) for v in call.values]

        def draw(key: Any, *given: Any) -> Any:
            generator = numpy.random.Generator(numpy.random.Philox(key=key))
            integers = call.function == "hypergeometric"
            exact = [v.astype(INT) if integers else v for v in given]
            return numpy.asarray(getattr(generator, call.function)(*exact, size=call.shape), dtype)

        name = f"np.random.{call.function}"
        made: ndarray = behind(name, draw, [seed, *parameters], call.shape, dtype, call.device)
        return made

    def multinomial(
        self,
        n: ArrayLike,
        pvals: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """How often each outcome comes in `n` trials, by probabilities along the last axis of `pvals`.

        >>> int(np.random.multinomial(10, [0.2, 0.3, 0.5]).sum())
        10
        """
        check("multinomial", "n", n, "not negative")
        check("multinomial", "pvals", pvals, "probability")
        if not isinstance(pvals, ndarray) and numpy.any(numpy.sum(numpy.asarray(pvals)[..., :-1], axis=-1) > 1 + 1e-9):
            raise ValueError("multinomial: the probabilities in pvals add up to more than 1")
        place = pvals.device if isinstance(pvals, ndarray) else resolve(device, ctx)
        chances = _core.astype(as_array(pvals, place), F64)
        if chances.ndim == 0:
            raise ValueError("multinomial: pvals has no axis of outcomes")
        trials = _core.astype(as_array(n, place), F64)
        shape = numpy.broadcast_shapes(trials.shape, chances.shape[:-1]) if size is None else dims_of(size)
        if chances.shape[-1] == 0:
            return _core.full((*shape, 0), 0, as_dtype(dtype) if dtype is not None else INT, chances.device)
        left = _core.broadcast_to(trials, shape)
        rest: Any = 1.0
        counts = []
        for i in range(chances.shape[-1] - 1):
            p = chances[..., i]
            share = _core.where(rest > 0, _core.clip(p / rest, 0.0, 1.0), 0.0) if i else p
            counts.append(_core.random_sample(self._state, "binomial", [left, share], shape))
            left, rest = left - counts[-1], rest - p
        counts.append(_core.astype(left, INT))
        return _core.stack(counts, -1, None, as_dtype(dtype) if dtype is not None else None)

    def dirichlet(
        self,
        alpha: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Probabilities that add up to 1, along a last axis; large `alpha` keep them near its proportions.

        >>> np.random.dirichlet([1, 2, 3], size=2).shape
        (2, 3)
        """
        check("dirichlet", "alpha", alpha, "positive")
        place = alpha.device if isinstance(alpha, ndarray) else resolve(device, ctx)
        weights = _core.astype(as_array(alpha, place), F64)
        if weights.ndim != 1:
            raise ValueError(f"dirichlet: alpha has {weights.ndim} dimensions; it must have 1")
        made = _core.random_sample(self._state, "gamma", [weights], (*dims_of(size), weights.size))
        return _core.astype(made / _core.sum(made, axis=-1, keepdims=True), float_type(dtype))

    @by_numpy("behind")
    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Shape | None = None,
        check_valid: str | None = "warn",
        tol: float | None = 1e-8,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        *,
        method: str = "svd",
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Normal vectors with a mean and a covariance matrix (whose factor NumPy computes, on a worker, by its SVD).

        `method`, NumPy's choice of another factor, changes nothing.

        >>> np.random.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=4).shape
        (4, 2)
        """
        check_choice("multivariate_normal", "method", method, ("svd", "eigh", "cholesky"))
        if check_valid not in ("warn", "raise", "ignore", None):
            raise ValueError(f"multivariate_normal: check_valid {check_valid!r} is none of 'warn', 'raise', 'ignore'")
        place = next((v.device for v in (mean, cov) if isinstance(v, ndarray)), resolve(device, ctx))
        centre, matrix = (_core.astype(as_array(v, place), F64) for v in (mean, cov))
        n = centre.shape[-1] if centre.ndim else 0
        if centre.ndim == 0 or matrix.shape[-2:] != (n, n) or matrix.ndim < 2:
            raise ValueError(f"multivariate_normal: shapes {centre.shape} of mean and {matrix.shape} of cov do not fit")
        factored = _factor_of(check_valid, tol or 1e-8)
        factor = behind("np.random.multivariate_normal", factored, [matrix], matrix.shape, F64, place)
        batch = numpy.broadcast_shapes(centre.shape[:-1], matrix.shape[:-2])
        draws = _core.random_normal(self._state, 0.0, 1.0, (*dims_of(size), *batch, 1, n), F64, place)
        made = _core.squeeze(_core.matmul(draws, factor), [-2]) + centre
        return _core.astype(made, float_type(dtype))


def _factor_of(check_valid: str | None, tol: float) -> Any:
    def factor(matrix: Any) -> Any:
        """A factor F of each covariance C with F.T F = C; complains where C is no covariance."""
        _, s, v = numpy.linalg.svd(matrix)
        back = numpy.matmul(numpy.swapaxes(v, -1, -2) * s[..., None, :], v)
        if check_valid != "ignore" and not numpy.allclose(back, matrix, rtol=tol, atol=tol):
            if check_valid == "raise":
                raise ValueError("multivariate_normal: cov is not symmetric positive-semidefinite")
            warnings.warn("multivariate_normal: cov is not symmetric positive-semidefinite", stacklevel=2)
        return numpy.sqrt(s)[..., :, None] * v

    return factor
