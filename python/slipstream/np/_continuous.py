"""Continuous distributions, from uniform, normal and gamma numbers of one stream."""

from __future__ import annotations

from .. import _core
from .._core import ndarray
from ._arguments import check_choice
from ._draws import Call, Draws, float_type, is_number
from ._types import ArrayLike, DeviceLike, DTypeLike, Shape


class Continuous(Draws):
    """Distributions of real numbers. `size` is the shape; without it the parameters' shape."""

    def _open(self, call: Call) -> ndarray:
        """Numbers between 0 and 1, neither of them included."""
        return _core.maximum(self._unit(call), 2.0**-25 if call.dtype.itemsize <= 4 else 2.0**-54)

    def _chisquare(self, call: Call, df: ArrayLike) -> ndarray:
        return 2 * self._sample("gamma", call, df / 2)

    def exponential(
        self,
        scale: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Exponential numbers with mean `scale`.

        >>> np.random.exponential(size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("exponential", {"scale": (scale, "not negative")}, size, float_type(dtype), device, ctx, out)
        return self._finish(self._exponential(call) * call.values[0], call)

    def standard_exponential(
        self,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        method: str = "inv",
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Exponential numbers with mean 1, by the inverse of their distribution, whatever `method` is.

        >>> np.random.standard_exponential(size=(2, 3)).shape
        (2, 3)
        """
        check_choice("standard_exponential", "method", method, ("zig", "inv"))
        call = self._call("standard_exponential", {}, size, float_type(dtype), device, ctx, out)
        return self._finish(self._exponential(call), call)

    def laplace(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Laplace's distribution: exponential to both sides of `loc`.

        >>> np.random.laplace(size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "laplace",
            {"loc": (loc, "finite"), "scale": (scale, "not negative")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        unit = self._open(call)
        made = _core.where(unit < 0.5, _core.log(2 * unit), -_core.log(2 - 2 * unit))
        return self._finish(call.values[0] + call.values[1] * made, call)

    def logistic(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """The logistic distribution.

        >>> np.random.logistic(size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "logistic",
            {"loc": (loc, "finite"), "scale": (scale, "not negative")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        unit = self._open(call)
        return self._finish(call.values[0] + call.values[1] * (_core.log(unit) - _core.log1p(-unit)), call)

    def gumbel(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Gumbel's distribution of largest values.

        >>> np.random.gumbel(size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "gumbel",
            {"loc": (loc, "finite"), "scale": (scale, "not negative")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        return self._finish(call.values[0] - call.values[1] * _core.log(-_core.log(self._open(call))), call)

    def lognormal(
        self,
        mean: ArrayLike = 0.0,
        sigma: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers whose logarithm is normal, with `mean` and deviation `sigma`.

        >>> np.random.lognormal(size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "lognormal",
            {"mean": (mean, "finite"), "sigma": (sigma, "not negative")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        return self._finish(_core.exp(call.values[0] + call.values[1] * self._standard(call)), call)

    def rayleigh(
        self,
        scale: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Rayleigh's distribution: lengths of normal vectors in the plane.

        >>> np.random.rayleigh(size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("rayleigh", {"scale": (scale, "not negative")}, size, float_type(dtype), device, ctx, out)
        return self._finish(call.values[0] * _core.sqrt(2 * self._exponential(call)), call)

    def weibull(
        self,
        a: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Weibull's distribution of shape `a`.

        >>> np.random.weibull(2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("weibull", {"a": (a, "positive")}, size, float_type(dtype), device, ctx, out)
        return self._finish(_core.pow(self._exponential(call), 1.0 / call.values[0]), call)

    def pareto(
        self,
        a: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Pareto's second distribution (Lomax) of shape `a`.

        >>> np.random.pareto(2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("pareto", {"a": (a, "positive")}, size, float_type(dtype), device, ctx, out)
        return self._finish(_core.expm1(self._exponential(call) / call.values[0]), call)

    def power(
        self,
        a: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers between 0 and 1 with density `a * x**(a - 1)`.

        >>> np.random.power(2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("power", {"a": (a, "positive")}, size, float_type(dtype), device, ctx, out)
        return self._finish(_core.exp(-self._exponential(call) / call.values[0]), call)

    def standard_cauchy(
        self,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Cauchy's distribution: the quotient of two normal numbers.

        >>> np.random.standard_cauchy(size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("standard_cauchy", {}, size, float_type(dtype), device, ctx, out)
        return self._finish(self._standard(call) / self._standard(call), call)

    def triangular(
        self,
        left: ArrayLike,
        mode: ArrayLike,
        right: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Numbers from `left` to `right`, the most around `mode`.

        >>> np.random.triangular(0, 1, 2, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "triangular",
            {"left": (left, "finite"), "mode": (mode, "finite"), "right": (right, "finite")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        low, mode, high = call.values
        if all(is_number(v) for v in (low, mode, high)) and not (low <= mode <= high and low < high):
            raise ValueError(f"triangular: left={low}, mode={mode} and right={high} do not follow one another")
        unit = self._unit(call)
        width, first = high - low, mode - low
        rising = low + _core.sqrt(unit * (width * first))
        falling = high - _core.sqrt((1 - unit) * (width * (high - mode)))
        return self._finish(_core.where(unit * width < first, rising, falling), call)

    def wald(
        self,
        mean: ArrayLike,
        scale: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Wald's distribution (inverse Gaussian).

        >>> np.random.wald(2.0, 2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "wald",
            {"mean": (mean, "positive"), "scale": (scale, "positive")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        mean, scale = call.values
        half = mean / (2 * scale)
        y = mean * _core.square(self._standard(call))
        x = mean + half * (y - _core.sqrt(4 * scale * y + _core.square(y)))
        return self._finish(_core.where(self._unit(call) <= mean / (mean + x), x, mean * mean / x), call)

    def standard_gamma(
        self,
        shape: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Gamma numbers of a shape, with scale 1.

        >>> np.random.standard_gamma(2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "standard_gamma", {"shape": (shape, "not negative")}, size, float_type(dtype), device, ctx, out
        )
        return self._finish(self._sample("gamma", call), call)

    def gamma(
        self,
        shape: ArrayLike,
        scale: ArrayLike = 1.0,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Gamma numbers of a shape and scale.

        >>> np.random.gamma(2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "gamma",
            {"shape": (shape, "not negative"), "scale": (scale, "not negative")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        return self._finish(self._sample("gamma", call, call.values[0]) * call.values[1], call)

    def beta(
        self,
        a: ArrayLike,
        b: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Beta numbers, between 0 and 1.

        >>> np.random.beta(2.0, 2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "beta", {"a": (a, "positive"), "b": (b, "positive")}, size, float_type(dtype), device, ctx, out
        )
        first, second = (self._sample("gamma", call, value) for value in call.values)
        return self._finish(first / (first + second), call)

    def chisquare(
        self,
        df: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Sums of `df` squared normal numbers.

        >>> np.random.chisquare(2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("chisquare", {"df": (df, "positive")}, size, float_type(dtype), device, ctx, out)
        return self._finish(self._chisquare(call, call.values[0]), call)

    def noncentral_chisquare(
        self,
        df: ArrayLike,
        nonc: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Sums of `df` squared normal numbers whose squared means add up to `nonc`.

        >>> np.random.noncentral_chisquare(2.0, 2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "noncentral_chisquare",
            {"df": (df, "positive"), "nonc": (nonc, "not negative")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        df, nonc = call.values
        more = self._sample("poisson", call, nonc / 2)
        return self._finish(self._chisquare(call, df + 2 * more), call)

    def f(
        self,
        dfnum: ArrayLike,
        dfden: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Fisher's F: the quotient of two means of squares.

        >>> np.random.f(2.0, 2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "f", {"dfnum": (dfnum, "positive"), "dfden": (dfden, "positive")}, size, float_type(dtype), device, ctx, out
        )
        above, below = (self._chisquare(call, df) / df for df in call.values)
        return self._finish(above / below, call)

    def noncentral_f(
        self,
        dfnum: ArrayLike,
        dfden: ArrayLike,
        nonc: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """F with a numerator that is not central.

        >>> np.random.noncentral_f(2.0, 2.0, 2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call(
            "noncentral_f",
            {"dfnum": (dfnum, "positive"), "dfden": (dfden, "positive"), "nonc": (nonc, "not negative")},
            size,
            float_type(dtype),
            device,
            ctx,
            out,
        )
        dfnum, dfden, nonc = call.values
        more = self._sample("poisson", call, nonc / 2)
        above = self._chisquare(call, dfnum + 2 * more) / dfnum
        return self._finish(above / (self._chisquare(call, dfden) / dfden), call)

    def standard_t(
        self,
        df: ArrayLike,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: DeviceLike = None,
        out: ndarray | None = None,
        *,
        ctx: DeviceLike = None,
    ) -> ndarray:
        """Student's t with `df` degrees of freedom.

        >>> np.random.standard_t(2.0, size=(2, 3)).shape
        (2, 3)
        """
        call = self._call("standard_t", {"df": (df, "positive")}, size, float_type(dtype), device, ctx, out)
        df = call.values[0]
        return self._finish(self._standard(call) / _core.sqrt(self._chisquare(call, df) / df), call)
