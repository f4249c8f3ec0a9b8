"""Layers against formulas written with NumPy, and their shapes, layouts and errors."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy
import pytest

from slipstream import autograd, init, np, npx
from slipstream.gluon import nn, rnn

Rng = numpy.random.Generator


def ready(layer: Any, sigma: float = 0.5) -> Any:
    layer.initialize(init.Normal(sigma))
    return layer


def array(rng: Rng, *shape: int) -> Any:
    return np.array(rng.standard_normal(shape), dtype="float32")


def close(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    numpy.testing.assert_allclose(found.asnumpy(), expected, rtol=tolerance, atol=tolerance)


# ---- dense, embedding, dropout, flatten


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", [None, "relu", "tanh"])
@pytest.mark.parametrize("flatten", [True, False])
def test_dense(rng: Rng, bias: bool, activation: str | None, flatten: bool) -> None:
    layer = ready(nn.Dense(5, activation, bias, flatten, bias_initializer="normal"))
    x = array(rng, 2, 3, 4)
    out = layer(x)
    w = layer.weight.data().asnumpy()
    values = x.asnumpy().reshape(2, 12) if flatten else x.asnumpy()
    expected = values @ w.T + (layer.bias.data().asnumpy() if bias else 0)
    expected = {None: lambda v: v, "relu": lambda v: numpy.maximum(v, 0), "tanh": numpy.tanh}[activation](expected)
    close(out, expected)
    assert (layer.bias is None) == (not bias)


def test_dense_gradients(rng: Rng) -> None:
    layer, x = ready(nn.Dense(4)), array(rng, 3, 5)
    x.attach_grad()
    with autograd.record():
        out = (layer(x) ** 2).sum()
    out.backward()
    w, values = layer.weight.data().asnumpy(), x.asnumpy()
    g = 2 * (values @ w.T)
    close(layer.weight.grad(), g.T @ values, 1e-4)
    close(layer.bias.grad(), g.sum(0), 1e-4)
    close(x.grad, g @ w, 1e-4)


def test_embedding(rng: Rng) -> None:
    layer = ready(nn.Embedding(7, 3, sparse_grad=True))
    places = np.array([[1, 6], [0, 1]])
    with autograd.record():
        out = layer(places)
        total = (out * np.array([[[1.0], [2.0]], [[3.0], [4.0]]])).sum()
    total.backward()
    close(out, layer.weight.data().asnumpy()[[[1, 6], [0, 1]]])
    assert layer.weight.grad().asnumpy()[:, 0].tolist() == [3, 5, 0, 0, 0, 0, 2]
    assert repr(layer) == "Embedding(7 -> 3, float32)"


def test_dropout() -> None:
    x = np.ones((50, 40))
    layer = nn.Dropout(0.25)
    assert (layer(x).asnumpy() == 1).all()
    with autograd.record():
        out = layer(x).asnumpy()
    assert set(numpy.unique(out)) == {0, numpy.float32(1 / 0.75)}
    assert abs((out == 0).mean() - 0.25) < 0.05
    with autograd.record():
        rows = nn.Dropout(0.5, axes=(1,))(x).asnumpy()
        assert (nn.Dropout(0)(x).asnumpy() == 1).all()
    assert all(len(set(row)) == 1 for row in rows)
    with pytest.raises(ValueError, match=r"rate=1 is not in \[0, 1\)"):
        nn.Dropout(1)


def test_flatten() -> None:
    assert nn.Flatten()(np.ones((2, 3, 4))).shape == (2, 12)
    assert nn.Flatten()(np.ones((0, 3, 4))).shape == (0, 12)
    assert nn.Flatten()(np.ones(3)).shape == (3, 1)


# ---- activations

NUMPY_ACTIVATIONS: dict[str, Any] = {
    "relu": lambda x: numpy.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "log_sigmoid": lambda x: -numpy.log1p(numpy.exp(-x)),
    "tanh": numpy.tanh,
    "softrelu": lambda x: numpy.log1p(numpy.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
}


@pytest.mark.parametrize("name", NUMPY_ACTIVATIONS)
def test_activations_by_name(rng: Rng, name: str) -> None:
    x = array(rng, 3, 4)
    close(nn.Activation(name)(x), NUMPY_ACTIVATIONS[name](x.asnumpy()))
    assert repr(nn.Activation(name)) == f"Activation({name})"
    assert nn.Activation(name).name.startswith(name)


def phi(x: Any) -> Any:
    return numpy.vectorize(lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2))))(x)


ACTIVATIONS: list[tuple[Any, Any]] = [
    (nn.LeakyReLU(0.2), lambda x: numpy.where(x > 0, x, 0.2 * x)),
    (nn.ELU(0.7), lambda x: numpy.where(x > 0, x, 0.7 * numpy.expm1(x))),
    (nn.SELU(), lambda x: 1.0507009873554805 * numpy.where(x > 0, x, 1.6732632423543772 * numpy.expm1(x))),
    (nn.GELU(), lambda x: x * phi(x)),
    (nn.GELU("tanh"), lambda x: x * phi(x)),
    (nn.SiLU(), lambda x: x / (1 + numpy.exp(-x))),
    (nn.Swish(1.5), lambda x: x / (1 + numpy.exp(-1.5 * x))),
]


@pytest.mark.parametrize(("layer", "formula"), ACTIVATIONS, ids=lambda v: type(v).__name__)
def test_activation_layers(rng: Rng, layer: Any, formula: Any) -> None:
    x = array(rng, 3, 4)
    close(layer(x), formula(x.asnumpy()), 2e-3 if getattr(layer, "_approximation", "") == "tanh" else 1e-5)


def test_prelu(rng: Rng) -> None:
    x = array(rng, 2, 3, 4)
    one = nn.PReLU()
    one.initialize()
    close(one(x), numpy.where(x.asnumpy() > 0, x.asnumpy(), 0.25 * x.asnumpy()))
    many = nn.PReLU(init.Normal(1), in_channels=3)
    many.initialize()
    with autograd.record():
        out = many(x)
        total = out.sum()
    total.backward()
    values, alpha = x.asnumpy(), many.alpha.data().asnumpy().reshape(3, 1)
    close(out, numpy.where(values > 0, values, alpha * values))
    close(many.alpha.grad(), numpy.minimum(values, 0).sum((0, 2)), 1e-4)


def test_bad_activations() -> None:
    with pytest.raises(ValueError, match="alpha=-1 is negative"):
        nn.LeakyReLU(-1)
    with pytest.raises(ValueError, match="approximation='x' is none of"):
        nn.GELU("x")
    for make in (nn.Activation, lambda name: nn.Dense(2, activation=name)):
        with pytest.raises(ValueError, match="act_type 'nothing' is none of"):
            make("nothing")


# ---- normalisation


def normalised(x: Any, axes: tuple[int, ...], epsilon: float = 1e-5) -> Any:
    return (x - x.mean(axes, keepdims=True)) / numpy.sqrt(x.var(axes, keepdims=True) + epsilon)


def along(values: Any, axis: int, ndim: int) -> Any:
    return values.reshape([-1 if i == axis % ndim else 1 for i in range(ndim)])


@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("scale", [True, False])
def test_batch_norm(rng: Rng, axis: int, scale: bool) -> None:
    layer = nn.BatchNorm(axis, momentum=0.8, scale=scale, gamma_initializer="normal", beta_initializer="normal")
    layer.initialize()
    x = array(rng, 4, 3, 5)
    with autograd.record():
        out = layer(x)
    values, axes = x.asnumpy(), (0, 2) if axis == 1 else (0, 1)
    gamma = layer.gamma.data().asnumpy() if scale else numpy.ones(x.shape[axis], "float32")
    expected = normalised(values, axes) * along(gamma, axis, 3) + along(layer.beta.data().asnumpy(), axis, 3)
    close(out, expected, 1e-4)
    mean, var = values.mean(axes), values.var(axes)
    close(layer.running_mean.data(), 0.2 * mean, 1e-4)
    close(layer.running_var.data(), 0.8 + 0.2 * var, 1e-4)
    running = along(0.2 * mean, axis, 3), along(0.8 + 0.2 * var, axis, 3)
    expected = (values - running[0]) / numpy.sqrt(running[1] + 1e-5) * along(gamma, axis, 3)
    close(layer(x), expected + along(layer.beta.data().asnumpy(), axis, 3), 1e-4)
    assert layer.gamma.grad_req == ("write" if scale else "null")
    assert layer.running_mean.grad_req == layer.running_var.grad_req == "null"


@pytest.mark.parametrize("scale", [True, False])
def test_sync_batch_norm_has_the_statistics_of_all_devices(rng: Rng, scale: bool) -> None:
    """As one batch norm over the whole batch on one device: results, gradients and running statistics."""
    devices = [npx.cpu(0), npx.cpu(1)]
    whole, split = nn.BatchNorm(scale=scale), nn.SyncBatchNorm(num_devices=2, scale=scale)
    whole.initialize()
    split.initialize(device=devices)
    values, heads = array(rng, 6, 3, 5), array(rng, 6, 3, 5)
    x = values.copy()
    parts = [values[:2].copy(), values[2:].as_in_device(devices[1])]  # not of one size
    for v in (x, *parts):
        v.attach_grad()
    with autograd.record():
        out = whole(x)
        made = split(parts)
        losses = [(a * h.as_in_device(a.device)).sum() for a, h in zip(made, (heads[:2], heads[2:]), strict=True)]
        loss = (out * heads).sum()
    loss.backward()
    autograd.backward(losses)

    def joined(arrays: Any) -> Any:
        return np.array(numpy.concatenate([v.asnumpy() for v in arrays]))

    close(joined(made), out.asnumpy(), 1e-4)
    close(joined(v.grad for v in parts), x.grad.asnumpy(), 1e-4)
    for name in ("running_mean", "running_var"):
        for device in devices:
            close(getattr(split, name).data(device), getattr(whole, name).data().asnumpy(), 1e-4)
    for name in ("gamma", "beta") if scale else ("beta",):
        first, second = getattr(split, name).list_grad()
        close(first + second.as_in_device(devices[0]), getattr(whole, name).grad().asnumpy(), 1e-4)
    close(split(parts[1]), whole(values[2:]).asnumpy(), 1e-4)  # not training: the running statistics
    with autograd.record(), pytest.raises(ValueError, match=r"num_devices=2\) was called with 1 array"):
        split(parts[0])


def test_batch_norm_variants(rng: Rng) -> None:
    x = array(rng, 4, 3, 5)
    plain, relu, sync = nn.BatchNorm(), nn.BatchNormReLU(), nn.SyncBatchNorm()
    fixed = nn.BatchNorm(use_global_stats=True)
    for layer in (plain, relu, sync, fixed):
        layer.initialize()
    with autograd.record():
        expected = plain(x).asnumpy()
        close(relu(x), numpy.maximum(expected, 0))
        close(sync(x), expected)
        close(fixed(x), x.asnumpy() / numpy.sqrt(1 + 1e-5))
    plain.cast("float16")
    assert plain.gamma.dtype == numpy.float32
    plain.cast("float64")
    assert plain.gamma.dtype == numpy.float64
    assert repr(plain) == "BatchNorm(axis=1, eps=1e-05, center=True, scale=True, in_channels=3)"


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4, 4), (2, 3, 0)])
@pytest.mark.parametrize("kind", [nn.BatchNorm, nn.BatchNormReLU, nn.SyncBatchNorm])
def test_batch_norm_learns_nothing_of_no_elements(kind: Any, shape: tuple[int, ...]) -> None:
    layer = kind()
    layer.initialize()
    with autograd.record():
        out = layer(np.zeros(shape)).sum()
    out.backward()
    assert [p.data().tolist()[0] for p in layer.collect_params().values()] == [1, 0, 0, 1]
    assert layer.gamma.grad().tolist() == layer.beta.grad().tolist() == [0, 0, 0]


@pytest.mark.parametrize(("rows", "mean"), [((0, 0), 0.0), ((2, 0), 0.3), ((0, 2), 0.3)])
def test_sync_batch_norm_where_devices_have_no_rows(rows: tuple[int, int], mean: float) -> None:
    devices = [npx.cpu(0), npx.cpu(1)]
    layer = nn.SyncBatchNorm(in_channels=1, num_devices=2)
    layer.initialize(device=devices)
    with autograd.record():
        outs = layer([np.full((n, 1), 3.0, device=device) for n, device in zip(rows, devices, strict=True)])
    autograd.backward(outs)
    for data, grad in zip(layer.running_mean.list_data(), layer.gamma.list_grad(), strict=True):
        assert data.item() == pytest.approx(mean)
        assert grad.item() == 0


def test_layer_norm(rng: Rng) -> None:
    for axis in (-1, 1):
        layer = nn.LayerNorm(axis, gamma_initializer="normal", beta_initializer="normal")
        layer.initialize()
        x = array(rng, 2, 3, 4)
        out = layer(x)
        gamma, beta = (along(p.data().asnumpy(), axis, 3) for p in (layer.gamma, layer.beta))
        close(out, normalised(x.asnumpy(), (axis,)) * gamma + beta, 1e-4)


def test_group_norm(rng: Rng) -> None:
    layer = nn.GroupNorm(2, gamma_initializer="normal", beta_initializer="normal")
    layer.initialize()
    x = array(rng, 2, 6, 4, 3)
    out = layer(x)
    groups = normalised(x.asnumpy().reshape(2, 2, 3, 4, 3), (2, 3, 4)).reshape(x.shape)
    gamma, beta = (along(p.data().asnumpy(), 1, 4) for p in (layer.gamma, layer.beta))
    close(out, groups * gamma + beta, 1e-4)


@pytest.mark.parametrize("axis", [1, 2])
def test_instance_norm(rng: Rng, axis: int) -> None:
    layer = nn.InstanceNorm(axis, scale=True, gamma_initializer="normal", beta_initializer="normal")
    layer.initialize()
    x = array(rng, 2, 3, 4)
    out = layer(x)
    gamma, beta = (along(p.data().asnumpy(), axis, 3) for p in (layer.gamma, layer.beta))
    close(out, normalised(x.asnumpy(), (3 - axis,)) * gamma + beta, 1e-4)


# ---- convolution and pooling


def conv_reference(x: Any, w: Any, stride: Any, pad: Any, dilate: Any, groups: int) -> Any:
    """A convolution by its definition, for any number of spatial axes."""
    n = x.ndim - 2
    x = numpy.pad(x, [(0, 0), (0, 0), *((p, p) for p in pad)])
    kernel = w.shape[2:]
    space = [(x.shape[2 + i] - dilate[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(n)]
    out = numpy.zeros((x.shape[0], w.shape[0], *space), "float64")
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for g in range(groups):
        for place in numpy.ndindex(*kernel):
            window = tuple(
                slice(place[i] * dilate[i], place[i] * dilate[i] + stride[i] * (space[i] - 1) + 1, stride[i])
                for i in range(n)
            )
            part = x[(slice(None), slice(g * per_in, (g + 1) * per_in), *window)]
            weights = w[(slice(g * per_out, (g + 1) * per_out), slice(None), *place)]
            out[:, g * per_out : (g + 1) * per_out] += numpy.einsum("nc...,oc->no...", part, weights)
    return out


CONVS = [
    (nn.Conv1D, (7,), {}),
    (nn.Conv1D, (9,), {"strides": 2, "padding": 1, "dilation": 2}),
    (nn.Conv2D, (6, 7), {"padding": 1}),
    (nn.Conv2D, (9, 8), {"strides": (2, 1), "dilation": (1, 2), "groups": 2}),
    (nn.Conv2D, (5, 5), {"groups": 4, "use_bias": False, "padding": (1, 2)}),
    (nn.Conv3D, (5, 4, 6), {"strides": (1, 1, 2), "padding": (0, 1, 0)}),
]


@pytest.mark.parametrize(("kind", "space", "options"), CONVS)
def test_convolutions(rng: Rng, kind: Any, space: Any, options: dict[str, Any]) -> None:
    layer = ready(kind(8, 3, bias_initializer="normal", **options))
    x = array(rng, 2, 4, *space)
    out = layer(x)
    w = layer.weight.data().asnumpy()
    expected = conv_reference(x.asnumpy(), w, layer._strides, layer._padding, layer._dilation, layer._groups)
    if layer.bias is not None:
        expected = expected + along(layer.bias.data().asnumpy(), 1, expected.ndim)
    close(out, expected, 1e-4)


@pytest.mark.parametrize(("kind", "layout", "last"), [(nn.Conv1D, "NCW", "NWC"), (nn.Conv2D, "NCHW", "NHWC")])
def test_channels_may_come_last(rng: Rng, kind: Any, layout: str, last: str) -> None:
    first, other = ready(kind(5, 3, layout=layout)), ready(kind(5, 3, layout=last))
    x = array(rng, 2, 4, *(6,) * (len(layout) - 2))
    out = first(x)
    y = np.moveaxis(x, 1, -1)
    other(y)
    other.weight.set_data(np.moveaxis(first.weight.data(), 1, -1))
    close(other(y), numpy.moveaxis(out.asnumpy(), 1, -1), 1e-4)


TRANSPOSED = [
    (nn.Conv1DTranspose, (5,), {"strides": 2, "padding": 1, "output_padding": 1}),
    (nn.Conv2DTranspose, (4, 5), {"strides": 2}),
    (nn.Conv2DTranspose, (4, 5), {"padding": 1, "dilation": 2, "groups": 2}),
    (nn.Conv3DTranspose, (3, 3, 2), {"strides": (2, 1, 1)}),
]


@pytest.mark.parametrize(("kind", "space", "options"), TRANSPOSED)
def test_transposed_convolutions_are_gradients_of_convolutions(
    rng: Rng, kind: Any, space: Any, options: dict[str, Any]
) -> None:
    layer = ready(kind(6, 3, use_bias=False, **options))
    x = array(rng, 2, 4, *space)
    out = layer(x)
    there = array(rng, *out.shape).asnumpy()
    # <deconv(x), there> == <x, conv(there)> with the same weights
    w = layer.weight.data().asnumpy()
    if layer._groups > 1:  # (in, out / groups) as (out of the convolution, in / groups)
        w = w.reshape(w.shape)
    back = conv_reference(there, w, layer._strides, layer._padding, layer._dilation, layer._groups)
    left, right = (out.asnumpy() * there).sum(), (x.asnumpy() * back[tuple(slice(0, n) for n in x.shape)]).sum()
    assert left == pytest.approx(right, rel=1e-3, abs=1e-3)


def test_bad_convolutions() -> None:
    with pytest.raises(ValueError, match=r"Conv2D: kernel_size=\(1, 2, 3\) has 3 numbers, there are 2 spatial axes"):
        nn.Conv2D(1, (1, 2, 3))
    with pytest.raises(ValueError, match="layout='NCW' is neither 'NCHW' nor 'NHWC'"):
        nn.Conv2D(1, 1, layout="NCW")
    with pytest.raises(ValueError, match="5 channels from 0 do not split into 2 groups"):
        nn.Conv2D(5, 1, groups=2)
    with pytest.raises(ValueError, match="3 channels do not split into 2 groups"):
        ready(nn.Conv2D(4, 1, groups=2))(np.ones((1, 3, 2, 2)))


def deformed(x: Any, offset: Any, mask: Any, w: Any, layer: Any) -> Any:
    """A deformable convolution by its definition: every element of the kernel looks at a place between pixels."""
    n, c, height, width = x.shape
    out = numpy.zeros((n, w.shape[0], *offset.shape[2:]))
    per_in, per_out, per_part = w.shape[1], w.shape[0] // layer._groups, c // layer._parts
    kh, kw = layer._kernel
    for b, o, i, j, ci, ki, kj in numpy.ndindex(n, w.shape[0], *offset.shape[2:], per_in, kh, kw):
        channel = o // per_out * per_in + ci
        place = (channel // per_part) * kh * kw + ki * kw + kj
        y = i * layer._strides[0] - layer._padding[0] + ki * layer._dilation[0] + offset[b, 2 * place, i, j]
        z = j * layer._strides[1] - layer._padding[1] + kj * layer._dilation[1] + offset[b, 2 * place + 1, i, j]
        value = 0.0
        for py in (math.floor(y), math.floor(y) + 1):
            for pz in (math.floor(z), math.floor(z) + 1):
                if 0 <= py < height and 0 <= pz < width:
                    value += (1 - abs(y - py)) * (1 - abs(z - pz)) * x[b, channel, py, pz]
        out[b, o, i, j] += w[o, ci, ki, kj] * value * (1 if mask is None else mask[b, place, i, j])
    return out


@pytest.mark.parametrize("kind", [nn.DeformableConvolution, nn.ModulatedDeformableConvolution])
@pytest.mark.parametrize(
    "options", [{"padding": 1}, {"strides": 2, "dilation": (1, 2), "groups": 2, "num_deformable_group": 2}]
)
def test_deformable_convolutions(rng: Rng, kind: Any, options: dict[str, Any]) -> None:
    layer = kind(4, kernel_size=(3, 2), offset_weight_initializer=init.Normal(0.3), use_bias=False, **options)
    ready(layer)
    x = array(rng, 2, 4, 5, 6)
    x.attach_grad()
    with autograd.record():
        out = layer(x)
        total = out.sum()
    total.backward()
    given = conv_reference(
        x.asnumpy(), layer.offset_weight.data().asnumpy(), layer._strides, layer._padding, layer._dilation, 1
    )
    count = 2 * 6 * layer._parts
    mask = 2 / (1 + numpy.exp(-given[:, count:])) if kind is nn.ModulatedDeformableConvolution else None
    w = layer.deformable_conv_weight.data().asnumpy()
    close(out, deformed(x.asnumpy(), given[:, :count], mask, w, layer), 1e-3)
    assert all(p.grad().asnumpy().any() for p in layer.collect_params().values() if p.name != "offset_bias")
    assert x.grad.asnumpy().any()
    with pytest.raises(ValueError, match="it has to be 'NCHW'"):
        kind(4, layout="NHWC")
    with pytest.raises(ValueError, match="do not split into"):
        kind(4, groups=3)


def test_deformable_convolutions_without_offsets_are_convolutions(rng: Rng) -> None:
    layer, plain = ready(nn.DeformableConvolution(6, 3, padding=1)), ready(nn.Conv2D(6, 3, padding=1))
    x, g = array(rng, 2, 4, 6, 7), array(rng, 2, 6, 6, 7)
    y = x.copy()
    layer(x)
    plain(y)
    plain.weight.set_data(layer.deformable_conv_weight.data())
    for v in (x, y):
        v.attach_grad()
    with autograd.record():
        losses = [(layer(x) * g).sum(), (plain(y) * g).sum()]
    autograd.backward(losses)
    close(layer(x), plain(y).asnumpy(), 1e-4)
    close(x.grad, y.grad.asnumpy(), 1e-3)
    close(layer.deformable_conv_weight.grad(), plain.weight.grad().asnumpy(), 1e-3)


def windows(x: Any, size: int, stride: int) -> Any:
    """All windows of the last axis."""
    count = (x.shape[-1] - size) // stride + 1
    return numpy.stack([x[..., i * stride : i * stride + size] for i in range(count)], -2)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Max", "Avg"])
def test_pooling(rng: Rng, kind: str, n: int) -> None:
    layer = getattr(nn, f"{kind}Pool{n}D")(pool_size=3, strides=2)
    x = array(rng, 2, 3, *(7,) * n)
    expected = x.asnumpy()
    for axis in range(2, 2 + n):
        moved = windows(numpy.moveaxis(expected, axis, -1), 3, 2)
        expected = numpy.moveaxis(moved.max(-1) if kind == "Max" else moved.mean(-1), -1, axis)
    close(layer(x), expected)
    whole = getattr(nn, f"Global{kind}Pool{n}D")()
    axes = tuple(range(2, 2 + n))
    reduce = numpy.max if kind == "Max" else numpy.mean
    close(whole(x), reduce(x.asnumpy(), axis=axes, keepdims=True))


def test_pooling_at_the_borders() -> None:
    x = np.array([1.0, 2, 3, 4, 5]).reshape(1, 1, 5)
    assert nn.MaxPool1D(2)(x).tolist() == [[[2, 4]]]
    assert nn.MaxPool1D(2, ceil_mode=True)(x).tolist() == [[[2, 4, 5]]]
    assert nn.AvgPool1D(2, padding=1)(x).tolist() == [[[0.5, 2.5, 4.5]]]
    assert nn.AvgPool1D(2, padding=1, count_include_pad=False)(x).tolist() == [[[1, 2.5, 4.5]]]
    assert nn.MaxPool2D()(np.ones((1, 1, 4, 4))).shape == (1, 1, 2, 2)
    assert nn.MaxPool2D(layout="NHWC")(np.ones((1, 4, 4, 3))).shape == (1, 2, 2, 3)
    with pytest.raises(ValueError, match="pool_size"):
        nn.MaxPool1D((1, 2))


def test_reflection_and_pixel_shuffle(rng: Rng) -> None:
    x = array(rng, 2, 3, 4, 5)
    none = (0, 0)
    both = {1: [none, none, (1, 1), (1, 1)], (0, 0, 0, 0, 1, 2, 0, 3): [none, none, (1, 2), (0, 3)]}
    for padding, pairs in both.items():
        close(nn.ReflectionPad2D(padding)(x), numpy.pad(x.asnumpy(), pairs, mode="reflect"))
    with pytest.raises(ValueError, match="neither one number nor eight"):
        nn.ReflectionPad2D((1, 2))
    with pytest.raises(ValueError, match=r"4 more for axis 2 of \(2, 3, 4, 5\)"):
        nn.ReflectionPad2D(4)(x)
    y = array(rng, 2, 12, 3, 4)
    found = nn.PixelShuffle2D((2, 3))(y).asnumpy()
    values = y.asnumpy().reshape(2, 2, 2, 3, 3, 4)
    for c, i, j, h, w in numpy.ndindex(2, 2, 3, 3, 4):
        assert (found[:, c, 2 * h + i, 3 * w + j] == values[:, c, i, j, h, w]).all()
    assert nn.PixelShuffle1D(2)(np.ones((1, 8, 3))).shape == (1, 4, 6)
    assert nn.PixelShuffle3D((2, 2, 1))(np.ones((1, 8, 3, 5, 7))).shape == (1, 2, 6, 10, 7)
    with pytest.raises(ValueError, match="does not split into pixels"):
        nn.PixelShuffle1D(2)(np.ones((1, 7, 3)))


# ---- attention


def softmax(x: Any) -> Any:
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_scaled_dot_product_attention(rng: Rng) -> None:
    q, k, v = array(rng, 2, 3, 4), array(rng, 2, 5, 4), array(rng, 2, 5, 6)
    scores = q.asnumpy() @ k.asnumpy().swapaxes(1, 2) / 2
    close(nn.scaled_dot_product_attention(q, k, v), softmax(scores) @ v.asnumpy())
    close(nn.DotProductAttention()(q, k, v), softmax(scores) @ v.asnumpy())
    lengths = numpy.array([2, 5])
    kept = numpy.arange(5) < lengths[:, None, None]
    expected = softmax(numpy.where(kept, scores, -numpy.inf)) @ v.asnumpy()
    close(nn.scaled_dot_product_attention(q, k, v, valid_length=np.array(lengths)), expected)
    close(nn.scaled_dot_product_attention(q, k, v, mask=np.array(kept * numpy.ones((2, 3, 5)))), expected)
    each = numpy.array([[1, 2, 3], [5, 4, 3]])
    kept = numpy.arange(5) < each[:, :, None]
    expected = softmax(numpy.where(kept, scores, -numpy.inf)) @ v.asnumpy()
    close(nn.scaled_dot_product_attention(q, k, v, valid_length=np.array(each)), expected)
    causal = numpy.where(numpy.tril(numpy.ones((3, 5)), 2) > 0, scores, -numpy.inf)
    close(nn.scaled_dot_product_attention(q, k, v, causal=True), softmax(causal) @ v.asnumpy())
    nothing = nn.scaled_dot_product_attention(q, k, v, valid_length=np.array([0, 5]))
    assert not nothing[0].asnumpy().any()
    with pytest.raises(ValueError, match="do not fit"):
        nn.scaled_dot_product_attention(q, v, v)


def test_multi_head_attention(rng: Rng) -> None:
    layer = ready(nn.MultiHeadAttention(8, num_heads=2))
    x, memory = array(rng, 2, 3, 6), array(rng, 2, 5, 7)
    out = layer(x, memory, valid_length=np.array([2, 5]))
    parts = []
    for name, source in (("query", x), ("key", memory), ("value", memory)):
        project = getattr(layer, f"{name}_proj")
        flat = source.asnumpy() @ project.weight.data().asnumpy().T
        parts.append(flat.reshape(2, -1, 2, 4).transpose(0, 2, 1, 3))
    q, k, v = parts
    scores = q @ k.swapaxes(2, 3) / 2
    scores = numpy.where(numpy.arange(5) < numpy.array([2, 5])[:, None, None, None], scores, -numpy.inf)
    heads = (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(2, 3, 8)
    close(out, heads @ layer.out_proj.weight.data().asnumpy().T, 1e-4)
    assert list(layer.collect_params("query.*")) == ["query_proj.weight", "query_proj.bias"]
    with pytest.raises(ValueError, match="units=8 do not split into 3 heads"):
        nn.MultiHeadAttention(8, 3)
    with autograd.record():
        total = ready(nn.MultiHeadAttention(8, 2, dropout=0.5, causal=True))(x).sum()
    total.backward()


def test_every_name_of_mxnet() -> None:
    names = """Activation AvgPool1D AvgPool2D AvgPool3D BatchNorm BatchNormReLU Block Concatenate Conv1D Conv1DTranspose
        Conv2D Conv2DTranspose Conv3D Conv3DTranspose DeformableConvolution Dense Dropout ELU Embedding Flatten GELU
        GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GroupNorm
        HybridBlock HybridConcatenate HybridLambda HybridSequential Identity InstanceNorm Lambda LayerNorm LeakyReLU
        MaxPool1D MaxPool2D MaxPool3D ModulatedDeformableConvolution PReLU PixelShuffle1D PixelShuffle2D PixelShuffle3D
        ReflectionPad2D SELU Sequential SiLU Swish SymbolBlock SyncBatchNorm"""
    assert set(names.split()) <= set(nn.__all__)
    assert all(getattr(nn, name).__doc__ for name in nn.__all__)


def test_layers_run_on_the_device_of_their_input() -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3), nn.BatchNorm(), nn.MaxPool2D(), nn.Dense(3))
    net.initialize(ctx=[npx.cpu(0), npx.cpu(1)])
    for device in (npx.cpu(0), npx.cpu(1)):
        assert net(np.ones((1, 2, 6, 6), device=device)).device == device


# ---- what layers cannot take


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.BatchNorm(), (3,)),
        (nn.SyncBatchNorm(), (3,)),
        (nn.LayerNorm(), ()),
        (nn.GroupNorm(), (3,)),
        (nn.InstanceNorm(), (3,)),
        (nn.Conv2D(2, 3), (3,)),
        (rnn.GRU(4), (2, 3)),
        (rnn.LSTM(4), (2, 3)),
    ],
)
def test_too_few_axes(layer: Any, shape: tuple[int, ...]) -> None:
    layer.initialize()
    words = f"{type(layer).__name__}: too few axes to tell its parameters' shapes: ndarray of shape {shape}"
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        layer(np.ones(shape))


def test_attention_needs_batches() -> None:
    layer = ready(nn.MultiHeadAttention(4, 2))
    with pytest.raises(ValueError, match=r"MultiHeadAttention: shapes \(3, 4\), .* are not all \(batch, places"):
        layer(np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"scaled_dot_product_attention: query \(3,\)"):
        nn.DotProductAttention()(np.ones(3), np.ones(3), np.ones(3))


def test_what_is_no_array() -> None:
    for layer in (nn.Dense(2), nn.Dense(2, in_units=2)):
        with pytest.raises(TypeError, match=r"^Dense: expected an array, got \[\[1.0, 2.0\]\]"):
            ready(layer)([[1.0, 2.0]])
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3))
    with pytest.raises(TypeError, match=r"^Conv2D: expected an array, got None"):
        ready(net)(None)
    with pytest.raises(TypeError, match=r"^Flatten: expected an array, got \[ndarray of shape \(2,\), 0, 1, ...\]"):
        nn.Flatten()([np.ones(2), 0, 1, 2])

    class Forgetful(nn.HybridBlock):
        def forward(self, x: Any) -> Any:
            return self.shape

    with pytest.raises(AttributeError, match="'Forgetful' object has no attribute 'shape'"):
        Forgetful()([1])


# ---- sizes


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Dense(2.5), "Dense: units must be a whole number, not 2.5"),
        (lambda: nn.Dense(-1), "Dense: units must be at least 1, not -1"),
        (lambda: nn.Dense(2, in_units=-2), "Dense: in_units must be at least -1, not -2"),
        (lambda: nn.Conv2D("a", 3), "Conv2D: channels must be a whole number, not 'a'"),
        (lambda: nn.Conv2D(3, "a"), "Conv2D: kernel_size must be a whole number, not 'a'"),
        (lambda: nn.Conv2D(3, (3, 3, 3)), r"kernel_size=\(3, 3, 3\) has 3 numbers, there are 2 spatial axes"),
        (lambda: nn.Conv2D(3, 3, strides=0), "Conv2D: strides must be at least 1, not 0"),
        (lambda: nn.Conv2D(3, 3, groups=0), "Conv2D: groups must be at least 1, not 0"),
        (lambda: nn.Conv1DTranspose(3, 3, padding=-1), "Conv1DTranspose: padding must be at least 0, not -1"),
        (lambda: nn.MaxPool2D(0), "MaxPool2D: pool_size must be at least 1, not 0"),
        (lambda: nn.DeformableConvolution(0), "DeformableConvolution: channels must be at least 1, not 0"),
        (lambda: nn.Embedding(-1, 2), "Embedding: input_dim must be at least 1, not -1"),
        (lambda: nn.Dropout("a"), "Dropout: rate must be a number, not 'a'"),
        (lambda: rnn.LSTM(0), "LSTM: hidden_size must be at least 1, not 0"),
        (lambda: rnn.GRU(3, 1.5), "GRU: num_layers must be a whole number, not 1.5"),
        (lambda: rnn.GRUCell("a"), "GRUCell: hidden_size must be a whole number, not 'a'"),
    ],
)
def test_sizes_that_cannot_be_are_found_where_a_layer_is_made(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_sizes_may_be_numpys() -> None:
    one, two = numpy.int64(1), numpy.array([2, 2])
    layer = nn.Conv2D(numpy.int32(4), kernel_size=numpy.int64(3), strides=two, padding=one, in_channels=-1)
    layer.initialize()
    assert layer(np.ones((1, 2, 8, 8))).shape == (1, 4, 4, 4)
    assert nn.MaxPool2D(numpy.int64(2))(np.ones((1, 1, 4, 4))).shape == (1, 1, 2, 2)
    assert nn.MaxPool2D(np.array([2, 1], dtype="int64"))(np.ones((1, 1, 4, 4))).shape == (1, 1, 2, 4)
