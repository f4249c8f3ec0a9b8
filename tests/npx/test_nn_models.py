"""Recurrent networks, the CTC loss and detection against loops written out in NumPy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest
from compare import same

from slipstream import np, npx

Values = Any

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "gru": 3, "lstm": 4}


def sigmoid(x: Values) -> Values:
    return 1 / (1 + numpy.exp(-x))


def step(mode: str, x: Values, h: Values, state: Values, cell: Values) -> tuple[Values, Values]:
    if mode == "rnn_relu":
        return numpy.maximum(x + h, 0), cell
    if mode == "rnn_tanh":
        return numpy.tanh(x + h), cell
    parts = list(zip(numpy.split(x, GATES[mode], 1), numpy.split(h, GATES[mode], 1), strict=True))
    if mode == "gru":
        reset, update = (sigmoid(a + b) for a, b in parts[:2])
        new = numpy.tanh(parts[2][0] + reset * parts[2][1])
        return (1 - update) * new + update * state, cell
    entry, forget, new, leave = (a + b for a, b in parts)
    cell = sigmoid(forget) * cell + sigmoid(entry) * numpy.tanh(new)
    return sigmoid(leave) * numpy.tanh(cell), cell


class Network:
    """A recurrent network with random parameters."""

    def __init__(self, rng: numpy.random.Generator, mode: str, layers: int, directions: int) -> None:
        self.mode, self.layers, self.directions = mode, layers, directions
        self.inputs, self.size, self.batch, self.length = 3, 4, 2, 5
        wide = GATES[mode] * self.size
        self.weights, self.biases = [], []
        for i, _ in itertools.product(range(layers), range(directions)):
            width = self.inputs if i == 0 else self.size * directions
            self.weights.append([rng.normal(size=(wide, width)) / 2, rng.normal(size=(wide, self.size)) / 2])
            self.biases.append([rng.normal(size=wide), rng.normal(size=wide)])
        every = [v.ravel() for pair in self.weights for v in pair] + [v for pair in self.biases for v in pair]
        self.packed = numpy.concatenate(every)
        self.x = rng.normal(size=(self.length, self.batch, self.inputs))
        self.state, self.cell = (rng.normal(size=(layers * directions, self.batch, self.size)) for _ in range(2))

    def run(self, lengths: Any = None) -> tuple[Values, Values, Values]:
        x, states, cells = self.x, [], []
        lengths = [self.length] * self.batch if lengths is None else lengths
        for i in range(self.layers):
            sides = []
            for side in range(self.directions):
                n = i * self.directions + side
                (w, u), (b, c) = self.weights[n], self.biases[n]
                h, cell = self.state[n], self.cell[n]
                out = numpy.zeros((self.length, self.batch, self.size))
                for t in range(self.length)[:: -1 if side else 1]:
                    inside = (t < numpy.array(lengths))[:, None]
                    new, new_cell = step(self.mode, x[t] @ w.T + b, h @ u.T + c, h, cell)
                    out[t] = numpy.where(inside, new, 0)
                    h, cell = numpy.where(inside, new, h), numpy.where(inside, new_cell, cell)
                sides.append(out)
                states.append(h)
                cells.append(cell)
            x = numpy.concatenate(sides, 2)
        return x, numpy.stack(states), numpy.stack(cells)

    def ours(self, **options: Any) -> Any:
        given = [np.array(v) for v in (self.x, self.packed, self.state, self.cell)]
        return npx.rnn(
            *given[: 4 if self.mode == "lstm" else 3],
            mode=self.mode,
            state_size=self.size,
            num_layers=self.layers,
            bidirectional=self.directions == 2,
            **options,
        )


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize(("layers", "directions"), [(1, 1), (2, 2)])
def test_rnn(rng: numpy.random.Generator, mode: str, layers: int, directions: int) -> None:
    network = Network(rng, mode, layers, directions)
    expected = network.run()
    same(network.ours(), expected[0])
    given = network.ours(state_outputs=True)
    assert len(given) == (3 if mode == "lstm" else 2)
    for ours, theirs in zip(given, expected, strict=False):
        same(ours, theirs)
    lengths = [2, 5]
    expected = network.run(lengths)
    given = network.ours(state_outputs=True, sequence_length=np.array(lengths), use_sequence_length=True)
    for ours, theirs in zip(given, expected, strict=False):
        same(ours, theirs)


def test_rnn_errors(rng: numpy.random.Generator) -> None:
    network = Network(rng, "gru", 1, 1)
    with pytest.raises(ValueError, match=r"parameters have shape \(\d+,\), but \d+ numbers are needed"):
        network.packed = network.packed[:-1]
        network.ours()
    with pytest.raises(ValueError, match="mode 'lmu' is none of"):
        npx.rnn(np.ones((1, 1, 1)), mode="lmu")


# ---- ctc


def ctc(logits: Values, labels: list[int], blank: int) -> float:
    """Adds up all paths."""
    odds = numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)
    total = 0.0
    for path in itertools.product(range(logits.shape[1]), repeat=len(logits)):
        merged = [k for k, _ in itertools.groupby(path) if k != blank]
        if merged == labels:
            total += math.prod(odds[t, k] for t, k in enumerate(path))
    return -math.log(total)


def test_ctc_loss(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(5, 3, 3))
    labels = [[1, 2], [2, 2], [1]]
    padded = np.array([[1, 2, 0], [2, 2, 0], [1, 0, 0]])
    expected = numpy.array([ctc(x[:, i], labels[i], 0) for i in range(3)])
    same(npx.ctc_loss(np.array(x), padded), expected)
    same(npx.ctc_loss(np.array(x), padded, None, np.array([2, 2, 1]), use_label_lengths=True), expected)
    lengths = [5, 4, 2]
    short = numpy.array([ctc(x[: lengths[i], i], labels[i], 0) for i in range(3)])
    same(npx.ctc_loss(np.array(x), padded, np.array(lengths), use_data_lengths=True), short)
    last = [[0, 1], [1, 1], [0]]
    expected = numpy.array([ctc(x[:, i], last[i], 2) for i in range(3)])
    same(npx.ctc_loss(np.array(x), np.array([[0, 1, -1], [1, 1, -1], [0, -1, -1]]), blank_label="last"), expected)


# ---- boxes


def overlap(a: Values, b: Values) -> float:
    wide = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    high = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    return wide * high / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - wide * high)


def boxes(rng: numpy.random.Generator, *shape: int) -> Values:
    corner = rng.uniform(0, 1, (*shape, 2))
    return numpy.concatenate([corner, corner + rng.uniform(0.2, 1, (*shape, 2))], -1)


def test_box_iou(rng: numpy.random.Generator) -> None:
    a, b = boxes(rng, 2, 3), boxes(rng, 4)
    expected = numpy.array([[[overlap(p, q) for q in b] for p in row] for row in a])
    same(npx.box_iou(np.array(a), np.array(b)), expected)

    def centers(v: Values) -> Values:
        return np.array(numpy.concatenate([(v[..., :2] + v[..., 2:]) / 2, v[..., 2:] - v[..., :2]], -1))

    same(npx.box_iou(centers(a), centers(b), format="center"), expected)
    with pytest.raises(ValueError, match="must end in 4"):
        npx.box_iou(np.ones(3), np.ones(4))


def test_box_nms_of_nothing() -> None:
    assert npx.box_nms(np.zeros((0, 6))).shape == npx.box_nms(np.zeros((0, 6))).asnumpy().shape == (0, 6)
    assert npx.box_nms(np.zeros((2, 0, 6))).asnumpy().shape == (2, 0, 6)


def test_box_nms(rng: numpy.random.Generator) -> None:
    data = numpy.concatenate([rng.integers(0, 2, (12, 1)), rng.uniform(size=(12, 1)), boxes(rng, 12)], 1)
    for force in (False, True):
        kept: list[Any] = []
        for row in sorted(data, key=lambda r: -r[1]):
            covered = [k for k in kept if (force or k[0] == row[0]) and overlap(k[2:], row[2:]) > 0.3]
            if row[1] > 0.1 and not covered:
                kept.append(row)
        expected = numpy.full((12, 6), -1.0)
        expected[: len(kept)] = kept
        made = npx.box_nms(np.array(data), 0.3, 0.1, id_index=0, force_suppress=force)
        same(made, expected)


def test_box_encode_and_decode_are_inverse(rng: numpy.random.Generator) -> None:
    anchors, refs = boxes(rng, 1, 5), boxes(rng, 1, 3)
    matches = numpy.array([[0, 2, 1, 1, 0]])
    targets, mask = npx.box_encode(np.ones((1, 5)), np.array(matches), np.array(anchors), np.array(refs))
    decoded = npx.box_decode(targets, np.array(anchors), 0.1, 0.1, 0.2, 0.2, format="corner")
    same(decoded, refs[:, matches[0]])
    assert (mask.asnumpy() == 1).all()


def test_multibox() -> None:
    anchors = npx.multibox_prior(np.zeros((1, 3, 2, 4)), sizes=(0.4, 0.2), ratios=(1, 4))
    assert anchors.shape == (1, 2 * 4 * 3, 4)
    first = anchors[0, :3].asnumpy()
    middle, half = numpy.array([0.125, 0.25]), numpy.array([[0.1, 0.2], [0.05, 0.1], [0.2, 0.1]])
    numpy.testing.assert_allclose(first, numpy.concatenate([middle - half, middle + half], 1), atol=1e-6)

    box = anchors[0, 4].asnumpy()
    label = np.array([[[1, *box], [-1, 0, 0, 0, 0]]])
    offsets, mask, classes = npx.multibox_target(anchors, label, np.zeros((1, 3, 24)))
    assert classes.asnumpy()[0, 4] == 2 and (classes.asnumpy() == 2).sum() == mask.asnumpy().sum() / 4
    numpy.testing.assert_allclose(offsets.asnumpy()[0, 16:20], 0, atol=1e-5)

    odds = numpy.full((1, 3, 24), 0.05)
    odds[0, 2, 4], odds[0, 0] = 0.9, 0.9
    found = npx.multibox_detection(np.array(odds), np.zeros((1, 96)), anchors, threshold=0.5).asnumpy()
    numpy.testing.assert_allclose(found[0, 0], [1, 0.9, *box], atol=1e-6)
    assert (found[0, 1:, 0] == -1).all()


def test_bipartite_matching() -> None:
    scores = np.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]])
    rows, columns = npx.bipartite_matching(scores, threshold=1e-12)
    same(rows, numpy.array([1, -1, 0], "float32"))
    same(columns, numpy.array([2, 0], "float32"))


def test_regions(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 8, 8))
    rois = np.array([[0, 0, 0, 7, 7], [1, 2, 2, 5, 5]])
    made = npx.roi_pooling(np.array(x), rois, (2, 2), 1.0)
    whole = x[0].reshape(3, 2, 4, 2, 4).max((2, 4))
    part = x[1, :, 2:6, 2:6].reshape(3, 2, 2, 2, 2).max((2, 4))
    same(made, numpy.stack([whole, part]))
    plane = numpy.broadcast_to(numpy.arange(8.0)[:, None] * 2 + numpy.arange(8.0), (1, 1, 8, 8))
    aligned = npx.roi_align(np.array(plane), np.array([[0, 1, 1, 5, 5]]), (2, 2), 1.0, 2)
    numpy.testing.assert_allclose(aligned.asnumpy()[0, 0], [[6, 8], [10, 12]], atol=1e-6)
