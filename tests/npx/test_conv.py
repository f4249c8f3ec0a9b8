"""Convolutions and their gradients against sums written out, over random sizes, strides, gaps, padding and groups."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest
from compare import close, same

from slipstream import _core, np, npx, profiler

Values = Any


def window(x: Values, tap: tuple[int, ...], size: Any, stride: Any, dilate: Any) -> tuple[slice, ...]:
    """Where one tap of the kernel reads the padded data."""
    places = zip(tap, size, stride, dilate, strict=True)
    return (slice(None), slice(None), *(slice(k * d, k * d + (n - 1) * s + 1, s) for k, n, s, d in places))


class Case:
    """Random arguments of a convolution."""

    def __init__(self, rng: numpy.random.Generator, axes: int, depthwise: bool = False) -> None:
        def some(low: int, high: int) -> list[int]:
            return [int(v) for v in rng.integers(low, high + 1, axes)]

        self.kernel, self.stride, self.dilate, self.pad = some(1, 4), some(1, 3), some(1, 2), some(0, 3)
        self.groups = int(rng.choice([1, 1, 2, 3]))
        channels, filters = (int(v) for v in rng.integers(1, (30, 16, 6)[axes - 1], 2))
        if depthwise:
            channels, filters, self.groups = 1, 1, int(rng.integers(1, 20))
        reach = [d * (k - 1) + 1 for d, k in zip(self.dilate, self.kernel, strict=True)]
        low = [max(1, r - 2 * p) for r, p in zip(reach, self.pad, strict=True)]
        self.size = [int(rng.integers(a, a + (200, 30, 8)[axes - 1])) for a in low]
        self.result = [
            (n + 2 * p - r) // s + 1 for n, p, r, s in zip(self.size, self.pad, reach, self.stride, strict=True)
        ]
        batch = int(rng.integers(0, 5))
        self.data = rng.normal(size=(batch, channels * self.groups, *self.size))
        self.weight = rng.normal(size=(filters * self.groups, channels, *self.kernel))
        self.bias = rng.normal(size=filters * self.groups)
        self.gradient = rng.normal(size=(batch, filters * self.groups, *self.result))
        self.options = (self.stride, self.dilate, self.pad, self.groups)

    def padded(self) -> Values:
        return numpy.pad(self.data, [(0, 0), (0, 0), *((p, p) for p in self.pad)])

    def parts(self) -> Any:
        """For each tap and group: where it reads, its filters, its channels, and where its weights are."""
        filters, channels = self.weight.shape[0] // self.groups, self.weight.shape[1]
        for tap in itertools.product(*map(range, self.kernel)):
            at = window(self.data, tap, self.result, self.stride, self.dilate)
            for g in range(self.groups):
                out, into = slice(g * filters, (g + 1) * filters), slice(g * channels, (g + 1) * channels)
                yield (at[0], into, *at[2:]), (slice(None), out), (out, slice(None), *tap)

    def forward(self) -> Values:
        padded, made = self.padded(), numpy.zeros(self.gradient.shape)
        for read, out, taps in self.parts():
            made[out] += numpy.einsum("nc...,oc->no...", padded[read], self.weight[taps])
        return made + self.bias.reshape(-1, *(1,) * len(self.size))

    def for_data(self) -> Values:
        made = numpy.zeros(self.padded().shape)
        for read, out, taps in self.parts():
            made[read] += numpy.einsum("no...,oc->nc...", self.gradient[out], self.weight[taps])
        inside = (slice(p, p + n) for p, n in zip(self.pad, self.size, strict=True))
        return made[(slice(None), slice(None), *inside)]

    def for_weight(self) -> Values:
        padded, made = self.padded(), numpy.zeros(self.weight.shape)
        for read, out, taps in self.parts():
            g, x = self.gradient[out], padded[read]
            count = int(numpy.prod(self.result))
            made[taps] = numpy.einsum("nop,ncp->oc", g.reshape(*g.shape[:2], count), x.reshape(*x.shape[:2], count))
        return made


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("depthwise", [False, True])
def test_convolution_and_gradients(rng: numpy.random.Generator, dtype: str, axes: int, depthwise: bool) -> None:
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    for _ in range(8):
        case = Case(rng, axes, depthwise)
        data, weight, gradient = (np.array(v, dtype=dtype) for v in (case.data, case.weight, case.gradient))
        made = _core.convolution(data, weight, np.array(case.bias, dtype=dtype), *case.options)
        back = _core.convolution_data(gradient, weight, case.size, *case.options)
        for_weight = _core.convolution_weight(gradient, data, case.kernel, *case.options)
        for ours, expected in ((made, case.forward()), (back, case.for_data()), (for_weight, case.for_weight())):
            assert ours.dtype == numpy.dtype(dtype)
            close(ours.asnumpy(), expected, tolerance, str(vars(case)["options"]))


def convolution_case(
    rng: numpy.random.Generator, data: Any, weight: Any, stride: int, pad: int, groups: int, dilate: int
) -> Case:
    case = Case(rng, 2)
    case.data, case.weight = rng.normal(size=data), rng.normal(size=weight)
    case.bias = rng.normal(size=weight[0])
    case.kernel, case.size, case.groups = list(weight[2:]), list(data[2:]), groups
    case.stride, case.dilate, case.pad = [stride] * 2, [dilate] * 2, [pad] * 2
    case.result = [
        (n + 2 * pad - dilate * (k - 1) - 1) // stride + 1 for n, k in zip(data[2:], weight[2:], strict=True)
    ]
    case.gradient = rng.normal(size=(data[0], weight[0], *case.result))
    case.options = (case.stride, case.dilate, case.pad, groups)
    return case


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("data", "weight", "stride", "pad", "groups", "dilate"),
    [
        ((2, 70, 20, 20), (20, 70, 3, 3), 1, 1, 1, 1),  # several blocks of channels
        ((1, 8, 100, 90), (70, 8, 3, 3), 1, 1, 1, 1),  # bands of rows, and few images: filters are cut too
        ((40, 1, 28, 28), (6, 1, 5, 5), 1, 2, 1, 1),  # many images at a time
        ((3, 5, 33, 21), (7, 5, 1, 1), 2, 0, 1, 1),
        ((2, 64, 7, 7), (32, 64, 3, 3), 1, 1, 1, 1),  # rows shorter than a vector
        ((2, 600, 4, 4), (3, 600, 1, 1), 1, 0, 1, 1),
        ((2, 3, 40, 40), (17, 3, 7, 7), 2, 3, 1, 1),
        ((2, 24, 30, 30), (48, 1, 3, 3), 2, 1, 24, 1),
        ((7, 13, 5, 9), (11, 13, 3, 3), 1, 1, 1, 1),  # blocks that go on in the next image
        ((3, 150, 16, 48), (37, 150, 3, 3), 1, 1, 1, 1),  # rows of whole vectors, added to by each block of channels
        ((3, 150, 9, 35), (31, 150, 3, 3), 1, 1, 1, 1),  # whole vectors and parts of them
        ((2, 700, 9, 8), (5, 700, 1, 1), 2, 0, 1, 1),  # places of the data that no result reads
        ((3, 310, 12, 11), (9, 310, 2, 2), 2, 0, 1, 1),
        ((4, 21, 19, 32), (81, 21, 3, 3), 1, 2, 1, 2),  # uneven panels of filters
        ((9, 15, 14, 17), (51, 5, 3, 3), 2, 1, 3, 1),
        ((6, 33, 17, 13), (22, 3, 2, 3), 3, 2, 11, 2),
        ((20, 40, 16, 16), (65, 40, 3, 3), 1, 1, 1, 1),  # a weight's gradient in several parts
        ((1, 3, 1, 70), (5, 3, 1, 9), 1, 4, 1, 1),
        ((2, 6, 80, 1), (7, 6, 5, 1), 1, 2, 1, 1),
    ],
)
def test_sizes_that_are_cut_differently(
    rng: numpy.random.Generator, dtype: str, data: Any, weight: Any, stride: int, pad: int, groups: int, dilate: int
) -> None:
    case = convolution_case(rng, data, weight, stride, pad, groups, dilate)
    x, w, g, b = (np.array(v, dtype=dtype) for v in (case.data, case.weight, case.gradient, case.bias))
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    close(_core.convolution(x, w, b, *case.options).asnumpy(), case.forward(), tolerance)
    close(_core.convolution_data(g, w, case.size, *case.options).asnumpy(), case.for_data(), tolerance)
    close(_core.convolution_weight(g, x, case.kernel, *case.options).asnumpy(), case.for_weight(), tolerance)


def test_strided_inputs(rng: numpy.random.Generator) -> None:
    x, w = rng.normal(size=(9, 8, 3, 2)), rng.normal(size=(4, 6, 3, 3))
    made = npx.convolution(np.array(x).T, np.array(w)[:, ::2], kernel=(3, 3), no_bias=True)
    expected = npx.convolution(np.array(x.T.copy()), np.array(w[:, ::2].copy()), kernel=(3, 3), no_bias=True)
    same(made, expected.asnumpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats(rng: numpy.random.Generator, dtype: str) -> None:
    x, w = rng.normal(size=(2, 3, 6, 6)), rng.normal(size=(4, 3, 3, 3))
    made = npx.convolution(np.array(x, dtype=dtype), np.array(w, dtype=dtype), no_bias=True)
    assert made.dtype == np.array(x, dtype=dtype).dtype
    exact = npx.convolution(np.array(x), np.array(w), no_bias=True).asnumpy()
    close(made.astype("float32").asnumpy().astype("float64"), exact, 3e-2)


@pytest.mark.parametrize(("layout", "axes"), [("NWC", 1), ("NHWC", 2), ("NDHWC", 3)])
def test_channels_last(rng: numpy.random.Generator, layout: str, axes: int) -> None:
    x, w = rng.normal(size=(2, 4, *(6,) * axes)), rng.normal(size=(3, 4, *(2,) * axes))
    bias = np.array(rng.normal(size=3))
    expected = npx.convolution(np.array(x), np.array(w), bias, kernel=(2,) * axes, num_filter=3)
    last = [numpy.moveaxis(v, 1, -1) for v in (x, w)]
    made = npx.convolution(*(np.array(v) for v in last), bias, kernel=(2,) * axes, num_filter=3, layout=layout)
    same(made, numpy.moveaxis(expected.asnumpy(), 1, -1))
    turned = npx.pooling(np.array(last[0]), (2,) * axes, layout=layout)
    same(turned, numpy.moveaxis(npx.pooling(np.array(x), (2,) * axes).asnumpy(), 1, -1))
    deconvolved = npx.deconvolution(expected, np.array(w), kernel=(2,) * axes, no_bias=True)
    with_last = npx.deconvolution(
        made, np.array(last[1]), kernel=(2,) * axes, no_bias=True, layout=layout, num_filter=4
    )
    same(with_last, numpy.moveaxis(deconvolved.asnumpy(), 1, -1))


def test_deconvolution_is_the_transpose(rng: numpy.random.Generator) -> None:
    for _ in range(5):
        case = Case(rng, 2)
        stride, dilate, pad, groups = case.options
        reach = [d * (k - 1) + 1 for d, k in zip(dilate, case.kernel, strict=True)]
        least = [(n - 1) * s + r - 2 * p for n, s, r, p in zip(case.result, stride, reach, pad, strict=True)]
        made = npx.deconvolution(
            np.array(case.gradient),
            np.array(case.weight),
            kernel=tuple(case.kernel),
            stride=tuple(stride),
            dilate=tuple(dilate),
            pad=tuple(pad),
            adj=tuple(n - a for n, a in zip(case.size, least, strict=True)),
            num_group=groups,
            no_bias=True,
        )
        same(made, case.for_data())


def test_deconvolution_sizes() -> None:
    x, w = np.ones((1, 2, 5, 5)), np.ones((2, 3, 4, 4))
    assert npx.deconvolution(x, w, kernel=(4, 4), stride=(2, 2), pad=(1, 1), no_bias=True).shape == (1, 3, 10, 10)
    assert npx.deconvolution(x, w, stride=(2, 2), target_shape=(9, 10), no_bias=True).shape == (1, 3, 9, 10)
    with_bias = npx.deconvolution(x, 0 * w, np.array([1, 2, 3]))
    same(with_bias[0, :, 0, 0], numpy.array([1, 2, 3], "float32"))
    with pytest.raises(ValueError, match=r"target_shape \(99, 9\)"):
        npx.deconvolution(x, w, stride=(2, 2), target_shape=(99, 9))
    with pytest.raises(ValueError, match=r"adj \(2, 2\) must be smaller than stride \(2, 2\)"):
        npx.deconvolution(x, w, stride=(2, 2), adj=(2, 2))


@pytest.mark.parametrize(
    ("data", "weight"),
    [((8, 6, 14, 14), (16, 6, 5, 5)), ((5, 80, 7, 7), (19, 80, 3, 3)), ((3, 9, 12, 35), (5, 9, 3, 3))],
)
def test_results_do_not_depend_on_the_batch(rng: numpy.random.Generator, data: Any, weight: Any) -> None:
    x, w = (np.array(rng.normal(size=shape), dtype="float32") for shape in (data, weight))
    whole = npx.convolution(x, w, no_bias=True).asnumpy()
    for i in range(data[0]):
        assert (whole[i : i + 1] == npx.convolution(x[i : i + 1], w, no_bias=True).asnumpy()).all()


def test_zero_sizes() -> None:
    assert npx.convolution(np.ones((0, 2, 4, 4)), np.ones((3, 2, 2, 2)), no_bias=True).shape == (0, 3, 3, 3)
    made = npx.convolution(np.ones((1, 0, 3)), np.ones((2, 0, 2)), np.array([1, 2]))
    same(made, numpy.array([[[1, 1], [2, 2]]], "float32"))
    none = _core.convolution_weight(np.ones((0, 3, 2)), np.ones((0, 1, 3)), [2], [1], [1], [0], 1)
    same(none, numpy.zeros((3, 1, 2), "float32"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((1, 2, 5, 5), (3, 2, 3)), r"weight of shape \(3, 2, 3\) must have 4 axes"),
        (((1, 4, 5, 5), (3, 2, 3, 3)), "data has 4 channels in 1 groups, but weight takes 2 channels each"),
        (((1, 2, 2, 2), (3, 2, 3, 3)), r"a kernel of size \(3, 3\).* does not fit into data of size \(2, 2\)"),
        (((1, 2), (3, 2)), r"data of shape \(1, 2\) must have 1 to 3 axes"),
    ],
)
def test_errors(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"convolution: {message}"):
        npx.convolution(*(np.ones(shape) for shape in arguments), no_bias=True)


def test_errors_of_options() -> None:
    x, w = np.ones((1, 4, 5, 5)), np.ones((3, 4, 3, 3))
    with pytest.raises(ValueError, match=r"kernel is \(2, 2\), but weight has shape"):
        npx.convolution(x, w, kernel=(2, 2))
    with pytest.raises(ValueError, match="num_filter is 5, but weight has 3 filters"):
        npx.convolution(x, w, num_filter=5)
    with pytest.raises(ValueError, match=r"stride \(1,\) must have 2 numbers"):
        npx.convolution(x, w, stride=(1,))
    with pytest.raises(ValueError, match=r"stride \(0, 1\) has a number below 1"):
        npx.convolution(x, w, stride=(0, 1), no_bias=True)
    with pytest.raises(ValueError, match="cannot be cut into 3 groups"):
        npx.convolution(x, w, num_group=3, no_bias=True)
    with pytest.raises(ValueError, match=r"bias has shape \(2,\)"):
        npx.convolution(x, w, np.ones(2))
    with pytest.raises(ValueError, match="layout 'NWC' is neither 'NCHW' nor 'NHWC'"):
        npx.convolution(x, w, layout="NWC")
    with pytest.raises(TypeError, match=r"int32.*no floats"):
        npx.convolution(x.astype("int32"), w.astype("int32"), no_bias=True)


def interpolated(image: Values, y: float, x: float) -> Values:
    """All channels of an image between its places; 0 outside."""
    total = numpy.zeros(image.shape[0])
    for row, column in itertools.product((math.floor(y), math.floor(y) + 1), (math.floor(x), math.floor(x) + 1)):
        if 0 <= row < image.shape[1] and 0 <= column < image.shape[2]:
            total += image[:, row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return total


def test_deformable_convolution(rng: numpy.random.Generator) -> None:
    x, w, b = rng.normal(size=(2, 4, 5, 6)), rng.normal(size=(6, 2, 3, 2)), rng.normal(size=6)
    offset, mask = rng.normal(size=(2, 2 * 2 * 6, 3, 4)), rng.uniform(size=(2, 2 * 6, 3, 4))
    options: Any = {"stride": (2, 2), "pad": (1, 2), "dilate": (1, 2), "num_group": 2, "num_deformable_group": 2}
    expected = numpy.zeros((2, 6, 3, 4))
    for n, i, j, p, q in itertools.product(range(2), range(3), range(4), range(3), range(2)):
        for part in range(2):
            tap = part * 6 + p * 2 + q
            y, z = 2 * i - 1 + p + offset[n, 2 * tap, i, j], 2 * j - 2 + 2 * q + offset[n, 2 * tap + 1, i, j]
            value = interpolated(x[n, 2 * part : 2 * part + 2], y, z) * mask[n, tap, i, j]
            expected[n, 3 * part : 3 * part + 3, i, j] += w[3 * part : 3 * part + 3, :, p, q] @ value
    arrays = [np.array(v) for v in (x, offset, mask, w, b)]
    same(npx.modulated_deformable_convolution(*arrays, **options), expected + b[:, None, None])
    plain = npx.deformable_convolution(*arrays[:2], *arrays[3:], **options)
    ones = npx.modulated_deformable_convolution(*arrays[:2], np.ones(mask.shape), *arrays[3:], **options)
    same(plain, ones.asnumpy())
    with pytest.raises(ValueError, match=r"offset has shape \(2, 24, 3, 4\)"):
        npx.deformable_convolution(*arrays[:2], *arrays[3:])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("kernel", [(7,), (1, 1), (5, 4), (2, 3, 4)], ids=str)
def test_kernels_as_large_as_the_data(rng: numpy.random.Generator, dtype: str, kernel: Any) -> None:
    """The gradient of the data is a product of matrices then, whose time does not grow with the kernel's square."""
    weight = np.array(rng.normal(size=(6, 3, *kernel)).astype(dtype))
    ones, zeros = [1] * len(kernel), [0] * len(kernel)
    for batch in (0, 1, 5):
        g = np.array(rng.normal(size=(batch, 6, *ones)).astype(dtype))
        with profiler.trace() as trace:
            found = _core.convolution_data(g, weight, list(kernel), [2] * len(kernel), ones, zeros, 1)
        assert "convolution_data" not in {event["name"] for event in trace.events if event["type"] == "record"}
        expected = numpy.einsum("no,oc->nc", g.asnumpy().reshape(batch, 6), weight.asnumpy().reshape(6, -1))
        close(found, expected.reshape(batch, 3, *kernel), 1e-2 if dtype == "float16" else 1e-5)
    none = _core.convolution_data(np.ones((2, 0, *ones)), np.ones((0, 3, *kernel)), list(kernel), ones, ones, zeros, 1)
    same(none, numpy.zeros((2, 3, *kernel), "float32"))
