"""SciPy in its array API mode: the same functions on NumPy's arrays and on ours give the same values, ours as ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy
import pytest

scipy = pytest.importorskip("scipy", "1.15")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        os.environ.get("SCIPY_ARRAY_API") != "1", reason="SciPy was imported without its array API mode"
    ),
]

import scipy.cluster  # noqa: E402, F811
import scipy.fft  # noqa: E402
import scipy.integrate  # noqa: E402
import scipy.ndimage  # noqa: E402
import scipy.optimize  # noqa: E402
import scipy.signal  # noqa: E402
import scipy.spatial  # noqa: E402
import scipy.special  # noqa: E402
import scipy.stats  # noqa: E402

from slipstream import np, npx  # noqa: E402

A = numpy.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5], [1.0, 0.5, 2.0]])
L = numpy.linspace(-1.0, 2.0, 32)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "special.logsumexp": lambda x, _: scipy.special.logsumexp(x, axis=1),
    "special.softmax": lambda x, _: scipy.special.softmax(x, axis=0),
    "special.log_softmax": lambda x, _: scipy.special.log_softmax(x),
    "special.expit": lambda x, _: scipy.special.expit(x),
    "special.erf": lambda x, _: scipy.special.erf(x),
    "special.gammaln": lambda x, _: scipy.special.gammaln(x),
    "special.xlogy": lambda x, _: scipy.special.xlogy(x, x),
    "special.logit": lambda x, _: scipy.special.logit(x / 10),
    "special.entr": lambda x, _: scipy.special.entr(x),
    "stats.zscore": lambda x, _: scipy.stats.zscore(x),
    "stats.moment": lambda x, _: scipy.stats.moment(x, 3),
    "stats.skew": lambda x, _: scipy.stats.skew(x),
    "stats.kurtosis": lambda x, _: scipy.stats.kurtosis(x),
    "stats.gmean": lambda x, _: scipy.stats.gmean(x),
    "stats.hmean": lambda x, _: scipy.stats.hmean(x),
    "stats.pearsonr": lambda x, _: scipy.stats.pearsonr(x[0, :], x[1, :]).statistic,
    "stats.ttest_1samp": lambda x, _: scipy.stats.ttest_1samp(x, 0.0).pvalue,
    "stats.ttest_ind": lambda x, _: scipy.stats.ttest_ind(x[0, :], x[1, :]).statistic,
    "stats.entropy": lambda x, _: scipy.stats.entropy(x),
    "stats.variation": lambda x, _: scipy.stats.variation(x),
    "stats.sem": lambda x, _: scipy.stats.sem(x),
    "stats.chisquare": lambda x, _: scipy.stats.chisquare(x).statistic,
    "signal.detrend": lambda _, v: scipy.signal.detrend(v),
    "signal.fftconvolve": lambda _, v: scipy.signal.fftconvolve(v, v[:5]),
    "signal.convolve": lambda _, v: scipy.signal.convolve(v, v[:5], mode="same"),
    "signal.hilbert": lambda _, v: scipy.signal.hilbert(v),
    "signal.lfilter": lambda _, v: scipy.signal.lfilter(v[:2], v[:3], v),
    "signal.savgol_filter": lambda _, v: scipy.signal.savgol_filter(v, 5, 2),
    "fft.fft": lambda _, v: scipy.fft.fft(v),
    "fft.irfft": lambda _, v: scipy.fft.irfft(scipy.fft.rfft(v)),
    "fft.dct": lambda _, v: scipy.fft.dct(v),
    "fft.fftn": lambda x, _: scipy.fft.fftn(x),
    "cluster.whiten": lambda x, _: scipy.cluster.vq.whiten(x),
    "cluster.vq": lambda x, _: scipy.cluster.vq.vq(x, x[:2, :])[1],
    "cluster.linkage": lambda x, _: scipy.cluster.hierarchy.linkage(x),
    "ndimage.gaussian_filter": lambda x, _: scipy.ndimage.gaussian_filter(x, 1.0),
    "ndimage.sobel": lambda x, _: scipy.ndimage.sobel(x),
    "integrate.trapezoid": lambda x, _: scipy.integrate.trapezoid(x),
    "integrate.cumulative_trapezoid": lambda x, _: scipy.integrate.cumulative_trapezoid(x),
    "optimize.rosen": lambda x, _: scipy.optimize.rosen(x[0, :]),
}


@pytest.mark.parametrize("name", CALLS)
def test_same_as_on_numpys_arrays(name: str) -> None:
    wanted = CALLS[name](A, L)
    made = CALLS[name](np.array(A), np.array(L))
    assert isinstance(made, np.ndarray), type(made)
    assert made.shape == numpy.shape(wanted)
    numpy.testing.assert_allclose(made.asnumpy(), wanted, rtol=1e-9, atol=1e-12)


def test_windows_are_made_as_our_arrays() -> None:
    npx.set_np(dtype=True)
    made = scipy.signal.windows.hann(7, xp=np)
    assert isinstance(made, np.ndarray)
    numpy.testing.assert_allclose(made.asnumpy(), scipy.signal.windows.hann(7), rtol=1e-12)


def test_functions_that_only_numpys_arrays_go_through() -> None:
    found = scipy.optimize.minimize(lambda v: ((np.array(v) - 1) ** 2).sum().item(), numpy.zeros(2)).x
    numpy.testing.assert_allclose(found, [1, 1], atol=1e-4)
    numpy.testing.assert_allclose(numpy.asarray(scipy.integrate.simpson(np.array(A))), scipy.integrate.simpson(A))
    numpy.testing.assert_allclose(
        numpy.asarray(scipy.spatial.distance.pdist(np.array(A))), scipy.spatial.distance.pdist(A)
    )
