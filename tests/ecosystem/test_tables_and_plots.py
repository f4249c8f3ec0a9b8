"""pandas, matplotlib and array-api-compat take our arrays."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from slipstream import np, npx

pytestmark = pytest.mark.filterwarnings("ignore")


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    table = pandas.DataFrame(x, columns=["a", "b"])
    assert table["b"].tolist() == [2, 4, 6] and table.dtypes.tolist() == [numpy.float32] * 2
    assert pandas.DataFrame({"i": np.arange(3), "one": np.ones(3)})["one"].sum() == 3
    table = table.assign(c=np.array([7, 8, 9]))
    assert table.groupby(np.array([0, 1, 0]).astype("int64").asnumpy())["c"].sum().tolist() == [16, 8]
    series = pandas.Series(np.arange(3)) + np.ones(3)
    assert numpy.asarray(series).tolist() == [1, 2, 3]
    assert pandas.Series([5.0, 6.0, 7.0])[np.array([True, False, True]).asnumpy()].tolist() == [5, 7]
    same = np.array(table[["a", "b"]])
    assert isinstance(same, np.ndarray) and same.tolist() == x.tolist()
    assert np.array(table["a"]).tolist() == [1, 3, 5]


def test_matplotlib(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    x = np.linspace(0, 1, 20)
    y = np.sin(x)
    figure, places = pyplot.subplots(3, 3)
    places[0, 0].plot(x, y)
    places[0, 1].scatter(x, y, c=y, s=10 * x)
    places[0, 2].imshow(np.random.uniform(size=(4, 5)))
    places[1, 0].hist(np.random.normal(size=100))
    places[1, 1].bar(np.arange(3), np.array([3, 1, 2]))
    places[1, 2].errorbar(x, y, yerr=0.1 * y)
    places[2, 0].contourf(np.random.uniform(size=(4, 5)))
    places[2, 1].fill_between(x, y, -y)
    places[2, 2].boxplot(np.random.normal(size=(20, 2)))
    line = places[0, 0].lines[0]
    numpy.testing.assert_allclose(line.get_ydata(), y.asnumpy())
    figure.savefig(tmp_path / "figure.png")
    pyplot.close(figure)
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_array_api_compat() -> None:
    compat = pytest.importorskip("array_api_compat")
    x = np.ones((2, 3))
    assert compat.array_namespace(x, np.zeros(1)) is np
    assert compat.is_array_api_obj(x) and not compat.is_numpy_array(x)
    assert compat.device(x) == npx.cpu() and compat.size(x) == 6
    assert compat.to_device(x, npx.cpu(1)).device == npx.cpu(1)
