"""Methods of arrays: the same as the functions, and all that NumPy's programs use."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import np, npx
from slipstream.np import _methods, _rows

X = numpy.array([[0.5, 1.5, -2.0], [3.0, -0.25, 1.0]], "float32")

CALLS: dict[str, tuple[Any, ...]] = {
    "argmax": (1,),
    "argmin": (0,),
    "all": (),
    "any": (1,),
    "clip": (-1, 1),
    "conj": (),
    "cumprod": (0,),
    "cumsum": (1,),
    "diagonal": (1,),
    "dot": (numpy.ones((3, 2), "float32"),),
    "flatten": (),
    "max": (0,),
    "mean": (1,),
    "min": (),
    "prod": (0,),
    "ravel": (),
    "repeat": (2, 1),
    "reshape": (3, 2),
    "round": (1,),
    "squeeze": (),
    "std": (0,),
    "sum": (1,),
    "swapaxes": (0, 1),
    "take": ([0, 2], 1),
    "trace": (),
    "transpose": (1, 0),
    "var": (1,),
    "tolist": (),
    "tobytes": (),
    "nonzero": (),
}


@pytest.mark.parametrize("name", CALLS)
def test_like_numpys(name: str) -> None:
    args = CALLS[name]
    ours = getattr(np.array(X), name)(*[np.array(a) if isinstance(a, numpy.ndarray) else a for a in args])
    theirs = getattr(X, name)(*args)
    assert ours == theirs if isinstance(theirs, (list, bytes)) else same(ours, theirs) is None


@pytest.mark.parametrize("name", sorted(n for n, row in _rows.ROWS.items() if row["arity"] == 1))
def test_rows_are_methods(name: str) -> None:
    x = np.array(abs(X)).astype("int32") if _rows.ROWS[name]["types"] == "BITS" else np.array(abs(X) / 4 + 0.1)
    method = getattr(x, name)
    if name in ("real", "imag"):
        return
    same(method(), getattr(np if hasattr(np, name) else npx, name)(x).asnumpy())


def test_every_method_is_documented_and_attached() -> None:
    for name in _methods.methods():
        assert hasattr(np.ndarray, name), name
        if name[0] != "_":
            assert getattr(np.ndarray, name).__doc__, name


def test_reshape_and_transpose_forms() -> None:
    x = np.arange(6)
    for made in (x.reshape(2, 3), x.reshape((2, 3)), x.reshape([2, -1]), x.reshape(-1, 3), x.reshape(newshape=(2, 3))):
        assert made.shape == (2, 3)
    y = np.ones((2, 3, 4))
    for made in (y.transpose(), y.transpose(None), y.transpose(2, 1, 0), y.transpose((2, 1, 0)), y.T):
        assert made.shape == (4, 3, 2)
    assert y.mT.shape == (2, 4, 3)
    with pytest.raises(ValueError, match=r"\(4,\)|4"):
        x.reshape(4)


def test_views_and_copies() -> None:
    x = np.zeros((2, 3))
    view, made = x.reshape(6), x.flatten()
    x += 1
    same(view, numpy.ones(6, "float32"))
    same(made, numpy.zeros(6, "float32"))
    assert np.reshape(x.T, (6,), copy=None).shape == (6,)
    with pytest.raises(ValueError, match="copy=False"):
        np.reshape(x.T, (6,), copy=False)
    x.fill(7)
    same(x, numpy.full((2, 3), 7, "float32"))


def test_properties() -> None:
    x = np.array(X).T
    theirs = X.T
    for name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides"):
        assert getattr(x, name) == getattr(theirs, name)
    assert x.flags["F_CONTIGUOUS"] and not x.flags.c_contiguous
    z = np.array([1 + 2j, 3 - 4j])
    z.real = 0
    z.imag[0] = 5
    same(z, numpy.array([5j, -4j], "complex64"))
    assert x.ctx == x.context == x.device == npx.cpu(0)


def test_copying_and_pickling() -> None:
    x = np.array(X, device=npx.cpu(1))
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy()):
        assert made is not x and made.device == x.device
        same(made, X)


def test_mxnets_methods() -> None:
    x = np.array(X)
    assert x.as_np_ndarray() is x and x.as_nd_ndarray() is x
    assert np.ones(1).asscalar() == 1.0
    assert x.broadcast_to((2, 2, 3)).shape == x.broadcast_like(np.ones((2, 2, 3))).shape == (2, 2, 3)
    assert x.reshape_like(np.ones(6)).shape == (6,)
    same(x.relu(), numpy.maximum(X, 0))
    assert x.zeros_like().shape == x.shape
    assert [part.shape for part in x.split(3, axis=1)] == [(2, 1)] * 3


def test_array_namespace() -> None:
    assert np.ones(2).__array_namespace__() is np
