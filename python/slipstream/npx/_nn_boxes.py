"""Boxes and regions of images for detection. What goes box by box runs NumPy on a worker."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core, np
from .._core import ndarray
from ..autograd import with_gradient
from ..np._arguments import as_array, as_dims, public
from ..np._by_numpy import behind, by_numpy
from ..np._types import ArrayLike
from ._out import with_out

Values = numpy.ndarray[Any, Any]


def _check_format(function: str, format: str) -> None:
    if format not in ("corner", "center"):
        raise ValueError(f"{function}: format {format!r} is neither 'corner' nor 'center'")


# ---- overlaps


def _edges(boxes: Any, format: str) -> list[Any]:
    """Left, top, right, bottom."""
    a, b, c, d = (boxes[..., i] for i in range(4))
    return [a, b, c, d] if format == "corner" else [a - c / 2, b - d / 2, a + c / 2, b + d / 2]


@with_out
def box_iou(lhs: ArrayLike, rhs: ArrayLike, format: str = "corner") -> ndarray:
    """Area of the overlap of boxes divided by the area of their union: of each box of one with each of the other.

    The last axis holds a box: left, top, right, bottom; or the center, width and height with `format="center"`.

    >>> npx.box_iou(np.array([[0.0, 0.0, 2.0, 2.0]]), np.array([[1.0, 0.0, 3.0, 2.0]]))
    array([[0.33333334]])
    """
    a = as_array(lhs)
    b = as_array(rhs, a.device)
    _check_format("box_iou", format)
    if a.ndim < 1 or b.ndim < 1 or a.shape[-1] != 4 or b.shape[-1] != 4:
        raise ValueError(f"box_iou: shapes {a.shape} and {b.shape} must end in 4")
    own = _core.reshape(a, (*a.shape[:-1], *(1,) * (b.ndim - 1), 4))
    left, top, right, bottom = _edges(own, format)
    left2, top2, right2, bottom2 = _edges(b, format)
    wide = _core.maximum(_core.minimum(right, right2) - _core.maximum(left, left2), 0)
    high = _core.maximum(_core.minimum(bottom, bottom2) - _core.maximum(top, top2), 0)
    both = wide * high
    areas = [
        _core.maximum(r - x, 0) * _core.maximum(d - y, 0)
        for x, y, r, d in ((left, top, right, bottom), (left2, top2, right2, bottom2))
    ]
    union = areas[0] + areas[1] - both
    return _core.where(_core.greater(union, 0), both / _core.where(_core.greater(union, 0), union, 1), 0)


def _overlap(box: Values, others: Values) -> Values:
    wide = numpy.maximum(numpy.minimum(box[2], others[:, 2]) - numpy.maximum(box[0], others[:, 0]), 0)
    high = numpy.maximum(numpy.minimum(box[3], others[:, 3]) - numpy.maximum(box[1], others[:, 1]), 0)
    both = wide * high
    union = (box[2] - box[0]) * (box[3] - box[1]) + (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1]) - both
    return numpy.where(union > 0, both / numpy.where(union > 0, union, 1), 0)


def _survivors(boxes: Values, ids: Values | None, threshold: float) -> list[int]:
    """Of boxes from the best to the worst, those that no better one (of the same class) covers."""
    alive = numpy.ones(len(boxes), bool)
    for i in range(len(boxes)):
        if alive[i]:
            covered = _overlap(boxes[i], boxes[i + 1 :]) > threshold
            if ids is not None:
                covered &= ids[i + 1 :] == ids[i]
            alive[i + 1 :] &= ~covered
    return [int(i) for i in numpy.nonzero(alive)[0]]


@by_numpy("behind")
@with_out
def box_nms(
    data: ArrayLike = None,
    overlap_thresh: float = 0.5,
    valid_thresh: float = 0.0,
    topk: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = -1,
    background_id: int = -1,
    force_suppress: bool = False,
    in_format: str = "corner",
    out_format: str = "corner",
) -> ndarray:
    """Boxes from the best score to the worst, without those that overlap a better one too much; -1 fills up.

    The last two axes are boxes and their numbers: a score, maybe a class, and four coordinates. Boxes of different
    classes (`id_index`) let each other be, unless `force_suppress`; `background_id` and low scores are left out.

    >>> boxes = np.array([[0.5, 0, 0, 1, 1], [0.9, 0, 0, 1, 1]])
    >>> npx.box_nms(boxes, coord_start=1, score_index=0)
    array([[ 0.9,  0. ,  0. ,  1. ,  1. ],
           [-1. , -1. , -1. , -1. , -1. ]])
    """
    x = as_array(data)
    _check_format("box_nms", in_format)
    _check_format("box_nms", out_format)
    if x.ndim < 2 or x.shape[-1] < max(coord_start + 4, score_index + 1):
        raise ValueError(f"box_nms: data of shape {x.shape} has no room for a score and four coordinates")

    shape = x.shape

    def run(values: Values) -> Values:
        rows = numpy.full(shape[:-1], -1, numpy.int64)
        lines = math.prod(shape[:-2])
        flat, out = values.reshape(lines, *shape[-2:]), rows.reshape(lines, shape[-2])
        for batch, result in zip(flat, out, strict=True):
            valid = batch[:, score_index] > valid_thresh
            if id_index >= 0 and background_id >= 0:
                valid &= batch[:, id_index] != background_id
            order = numpy.nonzero(valid)[0]
            order = order[numpy.argsort(-batch[order, score_index], kind="stable")]
            order = order[:topk] if topk > 0 else order
            chosen = batch[order]
            edges = numpy.stack(_edges(chosen[:, coord_start : coord_start + 4], in_format), -1)
            ids = chosen[:, id_index] if id_index >= 0 and not force_suppress else None
            kept = order[_survivors(edges, ids, overlap_thresh)]
            result[: len(kept)] = kept
        return rows

    # NumPy says which rows are kept; they are taken here, where gradients find their way back to them.
    rows = behind("npx.box_nms", run, [x], shape[:-1], "int64", x.device)[..., None]
    made = np.take_along_axis(x, np.broadcast_to(_core.maximum(rows, 0), shape), -2)
    if out_format != in_format:
        boxes = made[..., coord_start : coord_start + 4]
        boxes = np.stack(_edges(boxes, in_format) if out_format == "corner" else _center(boxes), -1)
        made = np.concatenate([made[..., :coord_start], boxes, made[..., coord_start + 4 :]], -1)
    return _core.where(_core.greater(rows, -1), made, -1)


def _center(boxes: Any) -> list[Any]:
    """Center, width and height of boxes by their edges."""
    left, top, right, bottom = (boxes[..., i] for i in range(4))
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top]


def _centers(edges: Values) -> Values:
    return numpy.stack(_center(edges), -1)


@by_numpy("behind")
@with_out
def bipartite_matching(
    data: ArrayLike = None, is_ascend: bool = False, threshold: float = 0.0, topk: int = -1
) -> list[ndarray]:
    """Pairs rows with columns by their scores, the best first, each at most once: the partners of both, -1 for none.

    >>> rows, columns = npx.bipartite_matching(np.array([[0.5, 0.6], [0.1, 0.2]]), threshold=1e-12)
    >>> rows, columns
    (array([1., 0.]), array([1., 0.]))
    """
    x = as_array(data)
    if x.ndim < 2:
        raise ValueError(f"bipartite_matching: data of shape {x.shape} must have rows and columns")
    n, m = x.shape[-2:]

    def run(values: Values) -> tuple[Values, Values]:
        flat = values.reshape(-1, n, m)
        rows, columns = numpy.full((len(flat), n), -1.0), numpy.full((len(flat), m), -1.0)
        for b, scores in enumerate(flat):
            found = 0
            for place in numpy.argsort(scores if is_ascend else -scores, axis=None, kind="stable"):
                i, j = divmod(int(place), m)
                if scores[i, j] > threshold if is_ascend else scores[i, j] < threshold:
                    break
                if rows[b, i] < 0 and columns[b, j] < 0:
                    rows[b, i], columns[b, j] = j, i
                    found += 1
                    if found == topk:
                        break
        return rows.reshape(x.shape[:-1]), columns.reshape(*x.shape[:-2], m)

    shapes = [x.shape[:-1], (*x.shape[:-2], m)]
    return list(behind("npx.bipartite_matching", run, [x.detach()], shapes, x.dtype, x.device))


# ---- boxes and what a network predicts of them


@with_out
def box_decode(
    data: ArrayLike,
    anchors: ArrayLike,
    std0: float = 1.0,
    std1: float = 1.0,
    std2: float = 1.0,
    std3: float = 1.0,
    clip: float = -1.0,
    format: str = "center",
) -> ndarray:
    """Boxes (corners) from offsets that a network predicts for anchors: moved by their size, and stretched.

    >>> npx.box_decode(np.zeros((1, 1, 4)), np.array([[[1.0, 1.0, 2.0, 2.0]]]))
    array([[[0., 0., 2., 2.]]])
    """
    x = as_array(data)
    boxes = as_array(anchors, x.device)
    _check_format("box_decode", format)
    a, b, c, d = (boxes[..., i] for i in range(4))
    if format == "corner":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    wide, high = x[..., 2] * std2, x[..., 3] * std3
    if clip > 0:
        wide, high = _core.minimum(wide, clip), _core.minimum(high, clip)
    across, down = x[..., 0] * std0 * c + a, x[..., 1] * std1 * d + b
    wide, high = _core.exp(wide) * c / 2, _core.exp(high) * d / 2
    return _core.stack([across - wide, down - high, across + wide, down + high], x.ndim - 1)


@by_numpy("behind")
@with_out
def box_encode(
    samples: ArrayLike,
    matches: ArrayLike,
    anchors: ArrayLike,
    refs: ArrayLike,
    means: ArrayLike = (0.0, 0.0, 0.0, 0.0),
    stds: ArrayLike = (0.1, 0.1, 0.2, 0.2),
) -> list[ndarray]:
    """What a network is to predict for anchors (corners) matched with boxes `refs`, and a mask of those that count.

    `samples` is 1 where an anchor is positive; `matches` says which box is its own.

    >>> box = np.array([[[0.0, 0.0, 2.0, 2.0]]])
    >>> npx.box_encode(np.ones((1, 1)), np.zeros((1, 1)), box, box)
    [array([[[0., 0., 0., 0.]]]), array([[[1., 1., 1., 1.]]])]
    """
    given = as_array(samples)
    exact = [v if isinstance(v, ndarray) else numpy.asarray(v, "float64") for v in (means, stds)]
    inputs = [as_array(v, given.device) for v in (given.detach(), matches, anchors, refs, *exact)]
    inputs[1] = inputs[1].detach()  # like the samples, they only choose
    shape = (*given.shape, 4)

    def run(chosen: Values, match: Values, boxes: Values, own: Values, mean: Values, std: Values) -> Any:
        picked = numpy.take_along_axis(own, match.astype(int)[..., None], 1)
        a, r = _centers(boxes), _centers(picked)
        positive = numpy.broadcast_to((chosen > 0.5)[..., None], shape)
        with numpy.errstate(all="ignore"):
            moved = (r[..., :2] - a[..., :2]) / a[..., 2:]
            stretched = numpy.log(r[..., 2:] / a[..., 2:])
            targets = (numpy.concatenate([moved, stretched], -1) - mean) / std
        return numpy.where(positive, targets, 0), positive

    return list(behind("npx.box_encode", run, inputs, [shape, shape], inputs[2].dtype, given.device))


@with_out
def multibox_prior(
    data: ArrayLike,
    sizes: Any = (1.0,),
    ratios: Any = (1.0,),
    clip: bool = False,
    steps: Any = (-1.0, -1.0),
    offsets: Any = (0.5, 0.5),
) -> ndarray:
    """Anchor boxes around every place of an image (batch, channels, height, width): (1, places * boxes, 4), corners.

    Each place has a box of every size with the first ratio, and one of the first size with every other ratio.

    >>> npx.multibox_prior(np.zeros((1, 1, 1, 1)), sizes=(0.5,))
    array([[[0.25, 0.25, 0.75, 0.75]]])
    """
    x = as_array(data)
    if x.ndim != 4:
        raise ValueError(f"multibox_prior: data of shape {x.shape} must have four axes")
    high, wide = x.shape[2:]
    down = (numpy.arange(high) + offsets[0]) * (steps[0] if steps[0] > 0 else 1 / high)
    across = (numpy.arange(wide) + offsets[1]) * (steps[1] if steps[1] > 0 else 1 / wide)
    shapes = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    half = numpy.array([(s * high / wide * math.sqrt(r) / 2, s / math.sqrt(r) / 2) for s, r in shapes])
    y, x_ = numpy.meshgrid(down, across, indexing="ij")
    middle = numpy.stack([x_, y], -1)[:, :, None]
    boxes = numpy.concatenate([middle - half, middle + half], -1).reshape(1, -1, 4)
    kind = x.dtype if x.dtype.kind == "f" else numpy.dtype("float32")
    return _core.array((numpy.clip(boxes, 0, 1) if clip else boxes).astype(kind), kind, x.device)


def _match(overlaps: Values, threshold: float) -> Values:
    """The box of each anchor, -1 for none: boxes take their best anchor, then anchors boxes above the threshold."""
    anchors, boxes = overlaps.shape
    matches = numpy.full(anchors, -1)
    left = overlaps.copy()
    for _ in range(min(anchors, boxes)):
        i, j = numpy.unravel_index(numpy.argmax(left), left.shape)
        if left[i, j] <= 0:
            break
        matches[i] = j
        left[i, :] = left[:, j] = -1
    best = overlaps.argmax(1) if boxes else matches
    free = (matches < 0) & (overlaps.max(1) >= threshold if boxes else False)
    return numpy.where(free, best, matches)


@by_numpy("behind")
@with_out
def multibox_target(
    anchor: ArrayLike,
    label: ArrayLike,
    cls_pred: ArrayLike,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: Any = (0.1, 0.1, 0.2, 0.2),
) -> list[ndarray]:
    """What anchors are to predict: offsets to their boxes, a mask of those, and classes (0 is the background).

    `anchor` is (1, anchors, 4), `label` (batch, boxes, 5) with class and corners, class -1 for none; `cls_pred` (batch,
    classes + 1, anchors) chooses the hardest negatives where `negative_mining_ratio` is above 0; others are ignored.

    >>> box = np.array([[[0.0, 0.0, 1.0, 1.0]]])
    >>> offsets, mask, classes = npx.multibox_target(box, np.array([[[2, 0, 0, 1, 1]]]), np.zeros((1, 4, 1)))
    >>> classes
    array([[3.]])
    """
    boxes = as_array(anchor)
    inputs = [boxes, as_array(label, boxes.device), as_array(cls_pred, boxes.device).detach()]  # it only chooses
    batch, count = inputs[1].shape[0], boxes.shape[1]

    def run(anchors: Values, labels: Values, scores: Values) -> Any:
        own = anchors.reshape(-1, 4)
        offsets, mask = numpy.zeros((batch, count, 4)), numpy.zeros((batch, count, 4))
        classes = numpy.full((batch, count), float(ignore_label))
        for b in range(batch):
            truth = labels[b][labels[b, :, 0] >= 0]
            overlaps = numpy.zeros((count, len(truth)))
            for j, box in enumerate(truth[:, 1:5]):
                overlaps[:, j] = _overlap(box, own)
            matches = _match(overlaps, overlap_threshold)
            positive = matches >= 0
            chosen = truth[numpy.maximum(matches, 0)] if len(truth) else numpy.zeros((count, 5))
            a, r = _centers(own), _centers(chosen[:, 1:5])
            with numpy.errstate(all="ignore"):
                moved = (r[:, :2] - a[:, :2]) / a[:, 2:]
                targets = numpy.concatenate([moved, numpy.log(r[:, 2:] / a[:, 2:])], 1) / numpy.array(variances)
            offsets[b], mask[b] = numpy.where(positive[:, None], targets, 0), positive[:, None]
            classes[b, positive] = chosen[positive, 0] + 1
            negative = ~positive
            if negative_mining_ratio > 0:
                best = overlaps.max(1) if len(truth) else numpy.zeros(count)
                odds = numpy.exp(scores[b] - scores[b].max(0))
                background = odds[0] / odds.sum(0)
                places = numpy.nonzero(negative & (best < negative_mining_thresh))[0]
                number = max(int(positive.sum() * negative_mining_ratio), minimum_negative_samples)
                hardest = places[numpy.argsort(background[places], kind="stable")[:number]]
                negative = numpy.zeros(count, bool)
                negative[hardest] = True
            classes[b, negative] = 0
        return offsets.reshape(batch, -1), mask.reshape(batch, -1), classes

    shapes = [(batch, count * 4), (batch, count * 4), (batch, count)]
    return list(behind("npx.multibox_target", run, inputs, shapes, boxes.dtype, boxes.device))


@by_numpy("behind")
@with_out
def multibox_detection(
    cls_prob: ArrayLike,
    loc_pred: ArrayLike,
    anchor: ArrayLike,
    clip: bool = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool = False,
    variances: Any = (0.1, 0.1, 0.2, 0.2),
    nms_topk: int = -1,
) -> ndarray:
    """Boxes that a network found: (batch, anchors, 6) with class (-1: none), probability and corners, the best first.

    `cls_prob` is (batch, classes + 1, anchors), `loc_pred` (batch, anchors * 4), `anchor` (1, anchors, 4).

    >>> found = npx.multibox_detection(np.array([[[0.2], [0.8]]]), np.zeros((1, 4)), np.array([[[0.0, 0.0, 1.0, 1.0]]]))
    >>> found
    array([[[0. , 0.8, 0. , 0. , 1. , 1. ]]])
    """
    probabilities = as_array(cls_prob)
    inputs = [probabilities, as_array(loc_pred, probabilities.device), as_array(anchor, probabilities.device)]
    batch, _, count = probabilities.shape

    def run(odds: Values, offsets: Values, anchors: Values) -> Values:
        made = numpy.full((batch, count, 6), -1.0)
        a = _centers(anchors.reshape(-1, 4))
        for b in range(batch):
            moved = offsets[b].reshape(-1, 4) * numpy.array(variances)
            middle, half = moved[:, :2] * a[:, 2:] + a[:, :2], numpy.exp(moved[:, 2:]) * a[:, 2:] / 2
            boxes = numpy.concatenate([middle - half, middle + half], 1)
            boxes = numpy.clip(boxes, 0, 1) if clip else boxes
            others = numpy.delete(odds[b], background_id, 0)
            classes, scores = others.argmax(0), others.max(0)
            order = numpy.argsort(-scores, kind="stable")
            order = order[scores[order] > threshold]
            order = order[:nms_topk] if nms_topk > 0 else order
            kept = order[_survivors(boxes[order], None if force_suppress else classes[order], nms_threshold)]
            made[b, : len(kept)] = numpy.concatenate([classes[kept, None], scores[kept, None], boxes[kept]], 1)
        return made

    shape = (batch, count, 6)
    made: ndarray = behind("npx.multibox_detection", run, inputs, shape, probabilities.dtype, probabilities.device)
    return made


# ---- regions


def _pair(size: Any) -> tuple[int, int]:
    found = as_dims(size)
    return (found[0], found[0]) if len(found) == 1 else (found[0], found[1])


@by_numpy("behind")
@with_out
def roi_pooling(data: ArrayLike, rois: ArrayLike, pooled_size: Any, spatial_scale: float) -> ndarray:
    """The largest elements of `pooled_size` cells in each region of an image: (regions, channels, *pooled_size).

    A region is (image, left, top, right, bottom), in the coordinates of the image times `1 / spatial_scale`, rounded.
    `data` has a gradient, regions have none.

    >>> npx.roi_pooling(np.arange(16).reshape(1, 1, 4, 4), np.array([[0, 0, 0, 3, 3]]), (2, 2), 1.0)
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """
    x = as_array(data)
    regions = as_array(rois, x.device)
    rows, columns = _pair(pooled_size)
    shape = (regions.shape[0], x.shape[1], rows, columns)
    channels, high, wide = x.shape[1:]

    def run(images: Values, boxes: Values) -> Values:
        """The places of the largest elements among all; -1 where a cell has none."""
        made = numpy.full(shape, -1)
        for k, box in enumerate(boxes):
            image = images[int(box[0])]
            first = (int(box[0]) % len(images) * channels + numpy.arange(channels)) * high
            left, top, right, bottom = (int(v) for v in numpy.floor(box[1:5] * spatial_scale + 0.5))
            steps = max(bottom - top + 1, 1) / rows, max(right - left + 1, 1) / columns
            for i in range(rows):
                ends = [top + math.floor(i * steps[0]), top + math.ceil((i + 1) * steps[0])]
                above, below = numpy.clip(ends, 0, high)
                for j in range(columns):
                    ends = [left + math.floor(j * steps[1]), left + math.ceil((j + 1) * steps[1])]
                    begin, end = numpy.clip(ends, 0, wide)
                    cell = image[:, above:below, begin:end]
                    if cell.size:
                        down, across = numpy.divmod(cell.reshape(channels, -1).argmax(1), end - begin)
                        made[k, :, i, j] = (first + above + down) * wide + begin + across
        return made

    inputs = [x.detach(), regions.detach()]
    places = behind("npx.roi_pooling", run, inputs, shape, numpy.dtype("int64"), x.device)
    chosen = _core.take(_core.reshape(x, (-1,)), _core.maximum(places, 0), 0, "raise")
    return _core.where(_core.greater_equal(places, 0), chosen, 0)


@by_numpy("behind")
def roi_align(
    data: ArrayLike,
    rois: ArrayLike,
    pooled_size: Any,
    spatial_scale: float,
    sample_ratio: int = -1,
    position_sensitive: bool = False,
    aligned: bool = False,
) -> ndarray:
    """Means of interpolated samples in a grid of `pooled_size` cells in each region: (regions, channels, *pooled_size).

    `data` has a gradient, regions have none.

    >>> npx.roi_align(np.ones((1, 1, 4, 4)), np.array([[0, 0, 0, 2, 2]]), (1, 1), 1.0, 2)
    array([[[[1.]]]])
    """
    if position_sensitive:
        raise ValueError("roi_align: position_sensitive=True is not supported")
    x = as_array(data)
    regions = as_array(rois, x.device)
    rows, columns = _pair(pooled_size)
    least, moved = (0.0, 0.5) if aligned else (1.0, 0.0)
    n, (high, wide) = regions.shape[0], x.shape[2:]

    def weigh(boxes: Values) -> tuple[Values, Values, Values]:
        down, across = numpy.zeros((n, rows, high)), numpy.zeros((n, columns, wide))
        for k, box in enumerate(boxes):
            if box[0] < 0:
                continue
            left, top, right, bottom = box[1:5] * spatial_scale - moved
            down[k] = _samples(top, max(bottom - top, least) / rows, rows, high)
            across[k] = _samples(left, max(right - left, least) / columns, columns, wide)
        return boxes[:, 0], down, across

    def _samples(begin: float, step: float, cells: int, size: int) -> Values:
        """The matrix that takes the mean of a cell's samples."""
        number = sample_ratio if sample_ratio > 0 else max(math.ceil(step), 1)
        weights = numpy.zeros((cells, size))
        for i in range(cells):
            for s in range(number):
                at = begin + (i + (s + 0.5) / number) * step
                if -1 <= at <= size:
                    at = min(max(at, 0.0), size - 1)
                    low = int(at)
                    weights[i, low] += (1 - (at - low)) / number
                    weights[i, min(low + 1, size - 1)] += (at - low) / number
        return weights

    shapes = [(n,), (n, rows, high), (n, columns, wide)]
    weights = behind("npx.roi_align", weigh, [regions.detach()], shapes, numpy.dtype("float64"), x.device)
    return _aligned(x, weights, (n, x.shape[1], rows, columns))


def _aligned(x: ndarray, weights: list[ndarray], shape: tuple[int, ...]) -> ndarray:
    """Means of samples, whose weights are given by rows and by columns; `_spread` is the transposed function."""

    def run(images: Values, numbers: Values, down: Values, across: Values) -> Values:
        made = numpy.zeros(shape, images.dtype)
        for k, number in enumerate(numbers):
            if number >= 0:
                made[k] = down[k] @ images[int(number)] @ across[k].T
        return made

    made = behind("npx.roi_align", run, [x.detach(), *weights], shape, x.dtype, x.device)
    return _noted(made, x, _spread, weights)


def _spread(g: ndarray, weights: list[ndarray], shape: tuple[int, ...]) -> ndarray:
    """Gradients of the means given to the elements that they were made of."""

    def run(gradients: Values, numbers: Values, down: Values, across: Values) -> Values:
        made = numpy.zeros(shape)
        for k, number in enumerate(numbers):
            if number >= 0:
                made[int(number)] += down[k].T @ gradients[k] @ across[k]
        return made

    made = behind("npx.roi_align", run, [g.detach(), *weights], shape, g.dtype, g.device)
    return _noted(made, g, _aligned, weights)


def _noted(made: ndarray, x: ndarray, transpose: Any, weights: list[ndarray]) -> ndarray:
    """A linear function of x, whose gradient is the transposed function."""
    shape = x.shape  # the gradient must not hold x
    noted: ndarray = with_gradient(made, [x], lambda g: transpose(g, weights, shape), name="roi_align")
    return noted


if not TYPE_CHECKING:
    __all__ = public(globals())
