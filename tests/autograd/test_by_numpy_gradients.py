"""Functions that NumPy computes: some with gradients, others that refuse what they cannot differentiate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from gradcheck import check, leaf

from slipstream import autograd, np, npx
from slipstream.np._by_numpy import REGISTER

ROIS = numpy.array([[0, 0, 0, 4, 3], [1, 1.2, 0.6, 5.4, 4.1], [1, 4, 2, 9, 9], [0, 2, 2, 2, 2]], "float64")


def regions() -> Any:
    return np.array(ROIS, dtype="float64")


# ---- gradients


def distinct(rng: numpy.random.Generator) -> Any:
    """Images without equal elements that are close: the largest stays the largest after a small step."""
    return rng.permutation(2 * 3 * 5 * 6).reshape(2, 3, 5, 6) / 10


def test_roi_pooling(rng: numpy.random.Generator) -> None:
    check(lambda x: npx.roi_pooling(x, regions(), (2, 3), 1.0), [distinct(rng)], rng)
    check(lambda x: npx.roi_pooling(x * x, regions(), 2, 0.5), [distinct(rng)], rng)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [-1, 2])
def test_roi_align(aligned: bool, ratio: int, rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 5, 6))
    check(lambda x: npx.roi_align(x, regions(), (2, 3), 0.75, ratio, aligned=aligned), [x], rng)
    check(lambda x: npx.roi_align(x * x, regions(), (2, 2), 1.0, ratio, aligned=aligned), [x], rng)


def test_where_the_gradients_of_regions_go() -> None:
    x = leaf(numpy.arange(16).reshape(1, 1, 4, 4))
    rois = np.array([[0, 0, 0, 3, 3], [0, 0, 0, 1, 1], [0, 9, 9, 9, 9]], dtype="float64")
    with autograd.record():
        y = npx.roi_pooling(x, rois, (2, 2), 1.0)
    y.backward()
    expected = numpy.zeros((4, 4))
    expected[1::2, 1::2] = 1  # of the whole
    expected[:2, :2] += 1  # of the corner
    numpy.testing.assert_array_equal(x.grad.asnumpy()[0, 0], expected)
    with autograd.record():
        y = npx.roi_align(x, np.array([[0, 0, 0, 2, 2], [-1, 0, 0, 2, 2]], dtype="float64"), (1, 1), 1.0, 1)
        rois[:] = 0  # what the gradient needs is its own
    y.backward()
    expected = numpy.zeros((4, 4))
    expected[1, 1] = 1
    numpy.testing.assert_array_equal(x.grad.asnumpy()[0, 0], expected)


def test_regions_have_no_gradient_and_may_be_computed() -> None:
    x, rois = leaf(numpy.arange(16).reshape(1, 1, 4, 4)), leaf([[0, 0, 0, 3, 3]])
    with autograd.record():
        y = npx.roi_align(x, rois * 1, (2, 2), 1.0) + npx.roi_pooling(x, rois * 1, (2, 2), 1.0)
    y.backward()
    assert float(x.grad.sum()) == 8
    numpy.testing.assert_array_equal(rois.grad.asnumpy(), 0)


def test_gradients_of_boxes_go_to_the_rows_that_are_kept() -> None:
    boxes = leaf([[0, 0.5, 0, 0, 1, 1], [0, 0.9, 0, 0, 1, 1], [0, 0.7, 2, 2, 3, 3]])
    with autograd.record():
        y = npx.box_nms(boxes)
    y.backward(np.arange(18, dtype="float64").reshape(3, 6))
    numpy.testing.assert_array_equal(boxes.grad.asnumpy(), [[0] * 6, range(6), range(6, 12)])


# ---- refusals

W = np.array([1.0, 2.0, 3.0, 4.0], dtype="float64")
BOXES = np.array([[[0.1, 0.1, 0.5, 0.5], [0.2, 0.2, 0.9, 0.9]]], dtype="float64")
EDGES = np.linspace(-1, 1, 512, dtype="float64")
REFUSED: dict[str, Callable[[Any], Any]] = {
    "np.pad": lambda x: np.pad(x, 1, mode="reflect", reflect_type="odd"),
    "np.quantile": lambda x: np.quantile(x, 0.5, weights=W, method="inverted_cdf"),
    "np.nanquantile": lambda x: np.nanquantile(x, 0.5, weights=W, method="inverted_cdf"),
    "np.nanpercentile": lambda x: np.nanpercentile(x, 50, weights=W, method="inverted_cdf"),
    "np.percentile": lambda x: np.percentile(x, 50, weights=W, method="inverted_cdf"),
    "np.add.reduceat": lambda x: np.add.reduceat(x, [0, 2]),
    "np.maximum.accumulate": np.maximum.accumulate,
    "np.add.at": lambda x: np.add.at(np.zeros(4, dtype="float64"), [0, 0, 1, 1], x),
    "np.polyfit": lambda x: np.polyfit(W, x, 1),
    "np.polydiv": lambda x: np.polydiv(x, np.array([1.0, 2.0])),
    "np.poly": np.poly,
    "np.roots": np.roots,
    "np.trim_zeros": np.trim_zeros,
    "np.real_if_close": lambda x: np.real_if_close(x + 0j),
    "np.vectorize": np.vectorize(lambda v: v * v),
    "np.frompyfunc": np.frompyfunc(lambda v: v * v, 1, 1),
    "np.histogram_bin_edges": lambda x: np.histogram_bin_edges(x, "auto"),
    "np.random.vonmises": lambda x: np.random.vonmises(x, 1.0),
    "np.random.multivariate_normal": lambda x: np.random.multivariate_normal(x[:2], np.diag(x[:2])),
    "npx.box_encode": lambda x: npx.box_encode(np.ones((1, 2)), np.zeros((1, 2)), BOXES * x, BOXES),
    "npx.multibox_target": lambda x: npx.multibox_target(BOXES * x, np.ones((1, 1, 5)), np.zeros((1, 2, 2))),
    "npx.multibox_detection": lambda x: npx.multibox_detection(np.ones((1, 2, 1)), x.reshape(1, 4), BOXES[:, :1]),
    "npx.contrib_calibrate_entropy": lambda x: npx.contrib_calibrate_entropy(np.ones(511), EDGES * x[0]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_while_recording(name: str) -> None:
    x, f = leaf([0.1, 0.2, 0.6, 0.7]), REFUSED[name]
    message = rf"^{name.replace('.', '[.]')} has no gradient here.*detach\(\) the argument.*autograd.pause\(\)"
    with autograd.record():
        with pytest.raises(RuntimeError, match=message):
            f(x)
        with pytest.raises(RuntimeError, match=message):
            f(x * 2)
        f(x.detach())
        with autograd.pause():
            f(x)
    f(x)


SPARED = {  # files, walks, choices, integers and bools; and those with gradients
    *("np.genfromtxt", "np.loadtxt", "np.savetxt", "np.nditer", "np.nanargmax", "np.nanargmin"),
    *("np.random.Generator", "np.random.choice", "np.random.hypergeometric", "np.random.logseries"),
    *("np.random.multivariate_hypergeometric", "np.random.zipf", "npx.bipartite_matching", "npx.constraint_check"),
    *("npx.box_nms", "npx.roi_align", "npx.roi_pooling"),
}


def test_nothing_drops_a_gradient_unseen() -> None:
    assert set(REGISTER) - SPARED <= set(REFUSED)


def test_medians_and_functions_as_modes_are_refused_too() -> None:
    x = leaf([1.0, 2.0, 4.0])
    with autograd.record():
        for mode in ("median", lambda line, *_: line):
            with pytest.raises(RuntimeError, match=r"np\.pad has no gradient"):
                np.pad(x, 1, mode=mode)


def test_steps_are_not_refused() -> None:
    x = leaf([0.1, 0.2, 0.3, 0.4])
    scores = x.reshape(1, 2, 2)
    with autograd.record():
        made = [
            np.vectorize(lambda v: v > 0.2)(x),
            np.nanargmax(x),
            np.logical_or.accumulate(x),
            np.floor_divide.accumulate(x),
            np.random.choice(4, 3, p=x),
            np.random.zipf(x + 2),
            *npx.bipartite_matching(scores * 1),
            *npx.multibox_target(BOXES, np.ones((1, 1, 5)), scores * 1, negative_mining_ratio=3.0),
            npx.constraint_check(x > 0),
        ]
    for y in made:
        y.wait_to_read()
