"""The array API standard's own rules: what a namespace says of itself, and values where NumPy differs."""

from __future__ import annotations

import math

import numpy
import pytest

from slipstream import np, npx

INFO = np.__array_namespace_info__()


def test_namespace() -> None:
    assert np.ones(2).__array_namespace__() is np
    assert np.ones(2).__array_namespace__(api_version="2024.12") is np
    assert np.__array_api_version__ == "2024.12"


def test_inspection() -> None:
    assert INFO.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}
    assert np.ones((1,) * 32).ndim == 32
    assert INFO.default_device() in INFO.devices()
    with npx.cpu(3):
        assert INFO.default_device() == npx.cpu(3)
        assert npx.cpu(3) in INFO.devices()
    assert INFO.default_dtypes()["indexing"] == np.argmax(np.ones(2)).dtype
    assert INFO.default_dtypes()["real floating"] == np.ones(2).dtype
    assert list(INFO.dtypes(kind="bool")) == ["bool"]
    assert set(INFO.dtypes(kind=("signed integer", "bool"))) == {"bool", "int8", "int16", "int32", "int64"}
    for dtype in INFO.dtypes().values():
        assert np.zeros(1, dtype).dtype == dtype


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_finfo_holds_python_numbers(name: str) -> None:
    limits = np.finfo(name)
    for attribute in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(limits, attribute)) is float
    assert type(limits.bits) is int
    if name != "bfloat16":
        assert limits.max == float(numpy.finfo(name).max)
        assert limits.dtype == numpy.finfo(name).dtype


def test_floor_division_of_infinities_is_the_floor_of_the_quotient() -> None:
    x = np.array([math.inf, -math.inf, 1.0, -1.0, 5.0])
    y = np.array([2.0, 2.0, -math.inf, math.inf, math.inf])
    assert [str(v) for v in (x // y).tolist()] == ["inf", "-inf", "-0.0", "-0.0", "0.0"]


def test_complex_expm1_at_the_edges() -> None:
    x = np.array([complex(-0.0, 0.0), complex(math.inf, 0), complex(-math.inf, math.inf), 1e-9 + 1e-9j], "complex128")
    found = np.expm1(x).tolist()
    assert found[:2] == [0, complex(math.inf, 0)]
    assert found[2].real == -1
    assert abs(found[3] - (1e-9 + 1e-9j)) < 1e-17


def test_complex_tanh_at_infinity() -> None:
    x = np.array([complex(math.inf, 2), complex(math.inf, -2), complex(-math.inf, 2)], "complex128")
    assert [str(v) for v in np.tanh(x).tolist()] == ["(1+0j)", "(1-0j)", "(-1+0j)"]


def test_default_types_from_the_environment() -> None:
    from slipstream import config

    config.apply({"SLIPSTREAM_DTYPES": "numpy"})
    try:
        assert np.asarray([1, 2]).dtype == np.int64
    finally:
        config.apply({"SLIPSTREAM_DTYPES": "float32"})
    assert np.asarray([1, 2]).dtype == np.float32
