"""Pooling and its gradients against windows written out, and changes of size."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest
from compare import close, same

from slipstream import _core, autograd, np, npx
from slipstream.gluon import nn

Values = Any


class Case:
    """Random arguments of a pooling."""

    def __init__(self, rng: numpy.random.Generator, axes: int, convention: str = "valid") -> None:
        self.kernel = [int(v) for v in rng.integers(1, 5, axes)]
        self.stride = [int(v) for v in rng.integers(1, 4, axes)]
        self.pad = [int(rng.integers(0, k)) for k in self.kernel]
        self.size = [int(rng.integers(k, k + (60, 14, 6)[axes - 1])) for k in self.kernel]
        self.data = rng.normal(size=(int(rng.integers(0, 4)), int(rng.integers(1, 4)), *self.size))
        self.result = []
        for n, k, s, p in zip(self.size, self.kernel, self.stride, self.pad, strict=True):
            room = (n + 2 * p - k) / s
            wanted = {"valid": math.floor(room) + 1, "full": math.ceil(room) + 1, "same": math.ceil((n + 2 * p) / s)}
            self.result.append(min(wanted[convention], math.ceil((n + p) / s)))
        self.gradient = rng.normal(size=(*self.data.shape[:2], *self.result))
        self.options = (self.kernel, self.stride, self.pad, self.result)

    def windows(self) -> Any:
        """For each place of the result: where its window lies in the data, and how many places it has with padding."""
        for place in itertools.product(*map(range, self.result)):
            cut, count = [], 1
            for i, at in enumerate(place):
                begin = at * self.stride[i] - self.pad[i]
                end = min(begin + self.kernel[i], self.size[i] + self.pad[i])
                count *= max(1, end - begin)
                cut.append(slice(max(begin, 0), max(min(end, self.size[i]), 0)))
            yield (..., *place), (..., *cut), count

    def pooled(self, kind: str) -> Values:
        made = numpy.zeros(self.gradient.shape)
        axes = tuple(range(2, self.data.ndim))
        for place, cut, count in self.windows():
            x = self.data[cut]
            if kind == "max":
                made[place] = x.max(axes, initial=-math.inf)
            else:
                inside = max(1, math.prod(x.shape[2:]))
                made[place] = x.sum(axes) / {"sum": 1, "mean": count, "mean_inside": inside}[kind]
        return made

    def spread(self, kind: str) -> Values:
        made = numpy.zeros(self.data.shape)
        for place, cut, count in self.windows():
            g = self.gradient[place].reshape(*self.data.shape[:2], *(1,) * len(self.size))
            x = self.data[cut]
            if kind == "max":
                made[cut] += g * (x == x.max(tuple(range(2, x.ndim)), keepdims=True, initial=-math.inf))
            else:
                inside = max(1, math.prod(x.shape[2:]))
                made[cut] += numpy.broadcast_to(g / {"sum": 1, "mean": count, "mean_inside": inside}[kind], x.shape)
        return made


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("kind", ["max", "sum", "mean", "mean_inside"])
def test_pooling_and_gradients(rng: numpy.random.Generator, dtype: str, axes: int, kind: str) -> None:
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    for convention in ("valid", "full", "same"):
        case = Case(rng, axes, convention)
        case.data, case.gradient = (v.astype(dtype).astype("float64") for v in (case.data, case.gradient))
        data, gradient = np.array(case.data, dtype=dtype), np.array(case.gradient, dtype=dtype)
        made = _core.pool(data, kind, *case.options)
        back = _core.pool_gradient(gradient, data, kind, *case.options)
        for ours, expected in ((made, case.pooled(kind)), (back, case.spread(kind))):
            assert ours.dtype == numpy.dtype(dtype)
            close(ours.asnumpy().astype("float64"), expected, tolerance, f"{case.options}")
        if kind != "mean_inside":
            pool_type = {"mean": "avg"}.get(kind, kind)
            sizes = [tuple(v) for v in case.options[:3]]
            made = npx.pooling(data, *sizes, pool_type=pool_type, pooling_convention=convention)
            close(made.asnumpy().astype("float64"), case.pooled(kind), tolerance)


def test_the_first_of_equals_gets_the_gradient() -> None:
    x = np.zeros((1, 1, 2, 4))
    made = _core.pool_gradient(np.ones((1, 1, 1, 2)), x, "max", (2, 2), (2, 2), (0, 0), (1, 2))
    same(made, numpy.array([[[[1, 0, 1, 0], [0, 0, 0, 0]]]], "float32"))


@pytest.mark.parametrize("convention", ["full", "same"])
def test_no_window_lies_wholly_in_the_padding(convention: str) -> None:
    x = np.arange(1, 10).reshape(1, 1, 9)
    x.attach_grad()
    for pool_type, expected, slopes in (
        ("max", [1, 3, 5, 7, 9], [1, 0, 1, 0, 1, 0, 1, 0, 1]),
        ("avg", [0.5, 2.5, 4.5, 6.5, 8.5], [0.5] * 9),
        ("sum", [1, 5, 9, 13, 17], [1] * 9),
    ):
        with autograd.record():
            made = npx.pooling(x, (2,), (2,), (1,), pool_type, convention)
        made.backward()
        assert made.tolist() == [[expected]] and x.grad.tolist() == [[slopes]], pool_type


def test_the_last_window_of_full_may_be_partly_there() -> None:
    x = np.arange(1, 9).reshape(1, 1, 8)
    last = {"max": 8, "avg": 4, "sum": 8}  # of 8 and one place of padding
    for pool_type, value in last.items():
        made = npx.pooling(x, (3,), (2,), (1,), pool_type, "full")
        assert made.shape == (1, 1, 5) and made[0, 0, -1].item() == value
    inside = npx.pooling(x, (3,), (2,), (1,), "avg", "full", count_include_pad=False)
    assert inside[0, 0, -1].item() == 8
    assert nn.MaxPool2D(3, 2, 1, ceil_mode=True)(np.ones((1, 1, 8, 9))).shape == (1, 1, 5, 5)


def test_nan_and_infinity() -> None:
    nan = math.nan
    x = numpy.array([[[1, nan, 3, 4, 5, -math.inf, -math.inf, -math.inf]]], "float32")
    made = npx.pooling(np.array(x), (2,), (2,)).asnumpy()
    numpy.testing.assert_array_equal(made, [[[nan, 4, 5, -math.inf]]])


def test_lp_and_global(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 4, 6))
    blocks = numpy.abs(x).reshape(2, 3, 2, 2, 3, 2)
    same(npx.pooling(np.array(x), (2, 2), (2, 2), pool_type="lp", p_value=3), (blocks**3).sum((3, 5)) ** (1 / 3))
    for name, expected in (("max", x.max((2, 3))), ("avg", x.mean((2, 3))), ("sum", x.sum((2, 3)))):
        same(npx.pooling(np.array(x), pool_type=name, global_pool=True), expected[:, :, None, None])
    lp = npx.pooling(np.array(x), pool_type="lp", p_value=2, global_pool=True)
    same(lp, numpy.sqrt((x**2).sum((2, 3), keepdims=True)))
    last = npx.pooling(np.array(numpy.moveaxis(x, 1, -1)), global_pool=True, layout="NHWC")
    same(last, x.max((2, 3))[:, None, None])


def test_adaptive_pooling(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 3, 7, 10))
    for wanted in [(1, 1), (7, 5), (3, 4), (7, 10)]:
        expected = numpy.zeros((2, 3, *wanted))
        for i, j in itertools.product(*map(range, wanted)):
            rows = slice(i * 7 // wanted[0], -(-(i + 1) * 7 // wanted[0]))
            columns = slice(j * 10 // wanted[1], -(-(j + 1) * 10 // wanted[1]))
            expected[:, :, i, j] = x[:, :, rows, columns].mean((2, 3))
        same(npx.adaptive_avg_pool2d(np.array(x), wanted), expected)
    assert npx.adaptive_avg_pool2d(np.array(x), 2).shape == (2, 3, 2, 2)


def test_sizes_change(rng: numpy.random.Generator) -> None:
    x = rng.normal(size=(2, 8, 3, 4))
    same(npx.upsampling(np.array(x), 3), x.repeat(3, 2).repeat(3, 3))
    deep = npx.space_to_depth(np.array(x.reshape(2, 8, 2, 6)), 2)
    assert deep.shape == (2, 32, 1, 3)
    same(npx.depth_to_space(deep, 2), x.reshape(2, 8, 2, 6))
    resized = npx.bilinear_resize2d(np.array(x), 5, 7).asnumpy()
    close(resized[..., 0, 0], x[..., 0, 0])
    close(resized[..., 4, 6], x[..., 2, 3])
    close(resized[..., 2, 3], (x[..., 1, 1] + x[..., 1, 2]) / 2)
    line = npx.upsampling(np.array([[[[0.0, 4.0]]]]), 2, "bilinear")
    same(line[0, 0, 0], numpy.array([0, 1, 3, 4], "float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats(dtype: str) -> None:
    x = np.arange(8).reshape(1, 1, 8).astype(dtype)
    made = npx.pooling(x, (2,), (2,))
    assert made.dtype == x.dtype
    assert made.astype("float32").asnumpy().tolist() == [[[1, 3, 5, 7]]]


def test_errors() -> None:
    x = np.ones((1, 1, 3, 3))
    with pytest.raises(ValueError, match=r"kernel of size \(4, 4\) does not fit into data of shape \(1, 1, 3, 3\)"):
        npx.pooling(x, (4, 4))
    with pytest.raises(ValueError, match=r"pad \(2, 2\) must be smaller than the kernel \(2, 2\)"):
        npx.pooling(x, (2, 2), pad=(2, 2))
    with pytest.raises(ValueError, match="pool_type 'min' is none of"):
        npx.pooling(x, (2, 2), pool_type="min")
    with pytest.raises(ValueError, match="pooling_convention 'odd' is none of"):
        npx.pooling(x, (2, 2), pooling_convention="odd")
    with pytest.raises(ValueError, match="kernel is missing"):
        npx.pooling(x)
    with pytest.raises(TypeError, match="int32 is no float"):
        npx.pooling(x.astype("int32"), (2, 2))
