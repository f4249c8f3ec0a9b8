"""scikit-learn with array_api_dispatch: estimators fitted on our arrays give what they give on NumPy's, as ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")
sklearn = pytest.importorskip("sklearn", "1.6")
pytestmark = pytest.mark.filterwarnings("ignore")

from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score  # noqa: E402
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances, rbf_kernel  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.preprocessing import (  # noqa: E402
    Binarizer,
    KernelCenterer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

from slipstream import np, npx  # noqa: E402


@pytest.fixture(autouse=True)
def _dispatch() -> Iterator[None]:
    npx.set_np(dtype=True)
    with sklearn.config_context(array_api_dispatch=True):
        yield


_RNG = numpy.random.default_rng(0)
X = _RNG.normal(size=(60, 5))
Y = (X[:, 0] + 0.1 * _RNG.normal(size=60) > 0).astype("int64")
LINE = X @ numpy.arange(5.0)

ARRAYS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "StandardScaler": lambda x, y, t: StandardScaler().fit_transform(x),
    "MinMaxScaler": lambda x, y, t: MinMaxScaler().fit_transform(x),
    "MaxAbsScaler": lambda x, y, t: MaxAbsScaler().fit_transform(x),
    "Normalizer": lambda x, y, t: Normalizer().fit_transform(x),
    "Binarizer": lambda x, y, t: Binarizer().fit_transform(x),
    "PolynomialFeatures": lambda x, y, t: PolynomialFeatures().fit_transform(x),
    "KernelCenterer": lambda x, y, t: KernelCenterer().fit_transform(x[:5, :]),
    "LabelEncoder": lambda x, y, t: LabelEncoder().fit_transform(y),
    "PCA": lambda x, y, t: abs(PCA(2, svd_solver="full").fit_transform(x)),
    "PCA randomized": lambda x, y, t: abs(
        PCA(2, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0).fit_transform(x)
    ),
    "LinearDiscriminantAnalysis": lambda x, y, t: LinearDiscriminantAnalysis().fit(x, y).predict(x),
    "Ridge": lambda x, y, t: Ridge(solver="svd").fit(x, t).predict(x),
    "cosine_similarity": lambda x, y, t: cosine_similarity(x),
    "euclidean_distances": lambda x, y, t: euclidean_distances(x),
    "rbf_kernel": lambda x, y, t: rbf_kernel(x),
    "train_test_split": lambda x, y, t: train_test_split(x, random_state=0)[0],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_same_as_on_numpys_arrays(name: str) -> None:
    wanted = ARRAYS[name](X, Y, LINE)
    made = ARRAYS[name](np.array(X), np.array(Y), np.array(LINE))
    assert isinstance(made, np.ndarray), type(made)
    numpy.testing.assert_allclose(made.asnumpy(), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("score", [accuracy_score, mean_squared_error, r2_score], ids=lambda f: f.__name__)
def test_scores(score: Any) -> None:
    a, b = (Y, Y[::-1].copy()) if score is accuracy_score else (X[:, 0].copy(), X[:, 1].copy())
    assert score(np.array(a), np.array(b)) == pytest.approx(score(a, b))


def test_without_dispatch_our_arrays_are_read() -> None:
    with sklearn.config_context(array_api_dispatch=False):
        assert LogisticRegression().fit(np.array(X), np.array(Y)).score(np.array(X), np.array(Y)) > 0.8
        made = PCA(2).fit_transform(np.array(X))
    numpy.testing.assert_allclose(abs(made), abs(PCA(2).fit_transform(X)), atol=1e-9)
