"""One step of training of small networks, as users of each library write it: forward, backward, SGD.

A maker gets a peer and sizes, and gives a function that takes a step and returns the loss as the library's scalar. The
Gluon programs are MXNet's and ours alike.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy

from ..peers import Peer
from .data import normal

RATE = 0.01
CLASSES = 10

Step = Callable[[], Any]
Batch = tuple[numpy.ndarray, numpy.ndarray]


def images(batch: int, channels: int, size: int) -> Batch:
    """Made images and their classes."""
    labels = numpy.random.default_rng(5).integers(0, CLASSES, batch)
    return normal(batch, channels, size, size), labels.astype(numpy.int32)


def sequences(batch: int, steps: int, width: int) -> Batch:
    """Made sequences, time first, and a class for each place."""
    labels = numpy.random.default_rng(5).integers(0, CLASSES, (steps, batch))
    return normal(steps, batch, width), labels.astype(numpy.int32)


# ---- Gluon: Slipstream and MXNet


def library_of(p: Peer) -> Any:
    if p.name == "mxnet":
        import mxnet

        return mxnet
    import slipstream

    return slipstream


def gluon_step(p: Peer, net: Any, loss_of: Any, x: Any, y: Any) -> Step:
    """Compiled where the library can."""
    lib = library_of(p)
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = lib.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": RATE})
    batch = len(x)

    def step() -> Any:
        with lib.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(batch)
        return loss.mean()

    return step


def initialized(p: Peer, net: Any) -> Any:
    net.initialize(library_of(p).init.Normal(0.05))
    return net


def gluon_lenet(p: Peer, data: Batch) -> Step:
    nn = library_of(p).gluon.nn
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(6, kernel_size=5, padding=2, activation="relu"),
        nn.MaxPool2D(2, 2),
        nn.Conv2D(16, kernel_size=5, activation="relu"),
        nn.MaxPool2D(2, 2),
        nn.Dense(120, activation="relu"),
        nn.Dense(84, activation="relu"),
        nn.Dense(CLASSES),
    )
    return gluon_step(p, initialized(p, net), library_of(p).gluon.loss.SoftmaxCrossEntropyLoss(), *map(p.array, data))


def gluon_resnet(p: Peer, data: Batch, widths: tuple[int, ...]) -> Step:
    lib = library_of(p)
    nn, npx = lib.gluon.nn, lib.npx

    class Residual(lib.gluon.HybridBlock):  # type: ignore[misc, name-defined]
        def __init__(self, channels: int, stride: int, shortcut: bool) -> None:
            super().__init__()
            self.conv1 = nn.Conv2D(channels, 3, stride, 1, use_bias=False)
            self.conv2 = nn.Conv2D(channels, 3, 1, 1, use_bias=False)
            self.norm1, self.norm2 = nn.BatchNorm(), nn.BatchNorm()
            self.shortcut = nn.Conv2D(channels, 1, stride, use_bias=False) if shortcut else None

        def forward(self, x: Any) -> Any:
            y = npx.relu(self.norm1(self.conv1(x)))
            y = self.norm2(self.conv2(y))
            return npx.relu(y + (self.shortcut(x) if self.shortcut else x))

    net = nn.HybridSequential()
    net.add(nn.Conv2D(widths[0], 3, 1, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    for i, width in enumerate(widths):
        net.add(Residual(width, 2 if i else 1, i > 0))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(CLASSES))
    return gluon_step(p, initialized(p, net), lib.gluon.loss.SoftmaxCrossEntropyLoss(), *map(p.array, data))


def gluon_lstm(p: Peer, data: Batch, width: int) -> Step:
    lib = library_of(p)

    class Tagger(lib.gluon.HybridBlock):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.lstm = lib.gluon.rnn.LSTM(width, input_size=width)
            self.dense = lib.gluon.nn.Dense(CLASSES, flatten=False)

        def forward(self, x: Any) -> Any:
            return self.dense(self.lstm(x))

    return gluon_step(p, initialized(p, Tagger()), lib.gluon.loss.SoftmaxCrossEntropyLoss(), *map(p.array, data))


def gluon_transformer(p: Peer, data: Batch, width: int, heads: int) -> Step:
    lib = library_of(p)
    np, npx, nn = lib.np, lib.npx, lib.gluon.nn

    class Attention(lib.gluon.HybridBlock):  # type: ignore[misc, name-defined]
        """By hand: MXNet has no such layer."""

        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value, self.out = (nn.Dense(width, flatten=False) for _ in range(4))

        def split(self, x: Any) -> Any:
            return np.transpose(np.reshape(x, (x.shape[0], x.shape[1], heads, width // heads)), (0, 2, 1, 3))

        def forward(self, x: Any) -> Any:
            query, key, value = (self.split(layer(x)) for layer in (self.query, self.key, self.value))
            scores = np.matmul(query, np.transpose(key, (0, 1, 3, 2))) / math.sqrt(width // heads)
            mixed = np.transpose(np.matmul(npx.softmax(scores, axis=-1), value), (0, 2, 1, 3))
            return self.out(np.reshape(mixed, x.shape))

    class Block(lib.gluon.HybridBlock):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiHeadAttention(width, heads) if hasattr(nn, "MultiHeadAttention") else Attention()
            self.wide = nn.Dense(4 * width, flatten=False, activation="relu")
            self.narrow = nn.Dense(width, flatten=False)
            self.norm1, self.norm2 = nn.LayerNorm(), nn.LayerNorm()

        def forward(self, x: Any) -> Any:
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.narrow(self.wide(x)))

    x = p.array(data[0])
    return gluon_step(p, initialized(p, Block()), lib.gluon.loss.L2Loss(), x, x * 0.5)


# ---- PyTorch


def torch_step(net: Any, loss_of: Callable[[Any], Any]) -> Step:
    import torch

    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)

    @torch.enable_grad()  # the peer turns it off for everything else
    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(net)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def torch_lenet(p: Peer, data: Batch) -> Step:
    from torch import nn

    x, y = p.array(data[0]), p.array(data[1]).long()
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.LazyLinear(120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, CLASSES),
    )  # fmt: skip
    net(x)
    return torch_step(net, lambda net: nn.functional.cross_entropy(net(x), y))


def torch_resnet(p: Peer, data: Batch, widths: tuple[int, ...]) -> Step:
    import torch
    from torch import nn

    class Residual(nn.Module):
        def __init__(self, channels: int, stride: int, shortcut: bool) -> None:
            super().__init__()
            self.conv1 = nn.LazyConv2d(channels, 3, stride, 1, bias=False)
            self.conv2 = nn.LazyConv2d(channels, 3, 1, 1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)
            self.shortcut = nn.LazyConv2d(channels, 1, stride, bias=False) if shortcut else None

        def forward(self, x: Any) -> Any:
            y = torch.relu(self.norm1(self.conv1(x)))
            y = self.norm2(self.conv2(y))
            return torch.relu(y + (self.shortcut(x) if self.shortcut else x))

    x, y = p.array(data[0]), p.array(data[1]).long()
    first = [nn.LazyConv2d(widths[0], 3, 1, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU()]
    blocks = [Residual(width, 2 if i else 1, i > 0) for i, width in enumerate(widths)]
    net = nn.Sequential(*first, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], CLASSES))
    net(x)
    return torch_step(net, lambda net: nn.functional.cross_entropy(net(x), y))


def torch_lstm(p: Peer, data: Batch, width: int) -> Step:
    from torch import nn

    x, y = p.array(data[0]), p.array(data[1]).long().reshape(-1)
    net = nn.ModuleList([nn.LSTM(width, width), nn.Linear(width, CLASSES)])

    def loss_of(net: Any) -> Any:
        return nn.functional.cross_entropy(net[1](net[0](x)[0]).reshape(-1, CLASSES), y)

    return torch_step(net, loss_of)


def torch_transformer(p: Peer, data: Batch, width: int, heads: int) -> Step:
    from torch import nn

    x = p.array(data[0])
    y = x * 0.5
    net = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True)
    return torch_step(net, lambda net: ((net(x) - y) ** 2).mean() / 2)


# ---- JAX


def jax_step(parameters: Any, loss_of: Callable[[Any, Any, Any], Any], x: Any, y: Any) -> Step:
    import jax

    @functools.partial(jax.jit, donate_argnums=0)
    def update(parameters: Any, x: Any, y: Any) -> Any:
        loss, slopes = jax.value_and_grad(loss_of)(parameters, x, y)
        return loss, jax.tree.map(lambda p, g: p - RATE * g, parameters, slopes)

    def step() -> Any:
        nonlocal parameters
        loss, parameters = update(parameters, x, y)
        return loss

    return step


def jax_weight(*shape: int) -> Any:
    import jax

    return jax.numpy.asarray(normal(*shape, seed=sum(shape), scale=math.prod(shape[1:]) ** -0.5))


def jax_dense(outs: int, ins: int) -> Any:
    return {"weight": jax_weight(outs, ins), "bias": jax_weight(outs, 1)[:, 0] * 0}


def jax_apply(layer: Any, x: Any) -> Any:
    return x @ layer["weight"].T + layer["bias"]


def jax_convolve(x: Any, weight: Any, stride: int, pad: int) -> Any:
    import jax

    return jax.lax.conv_general_dilated(x, weight, (stride, stride), [(pad, pad)] * 2)


def jax_cross_entropy(scores: Any, labels: Any) -> Any:
    import jax

    logs = jax.nn.log_softmax(scores)
    return -jax.numpy.take_along_axis(logs, labels[..., None], -1).mean()


def jax_lenet(p: Peer, data: Batch) -> Step:
    import jax

    x, y = map(p.array, data)
    size = (data[0].shape[-1] // 2 - 4) // 2
    parameters = {
        "convs": [(jax_weight(6, 1, 5, 5), jax_weight(6, 1) * 0), (jax_weight(16, 6, 5, 5), jax_weight(16, 1) * 0)],
        "denses": [jax_dense(120, 16 * size * size), jax_dense(84, 120), jax_dense(CLASSES, 84)],
    }

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        out = x
        for (weight, bias), pad in zip(parameters["convs"], (2, 0), strict=True):
            out = p.max_pooling(jax.nn.relu(jax_convolve(out, weight, 1, pad) + bias[None, :, :, None]), 2)
        out = out.reshape(len(out), -1)
        for layer in parameters["denses"][:-1]:
            out = jax.nn.relu(jax_apply(layer, out))
        return jax_cross_entropy(jax_apply(parameters["denses"][-1], out), y)

    return jax_step(parameters, loss_of, x, y)


def jax_resnet(p: Peer, data: Batch, widths: tuple[int, ...]) -> Step:
    import jax

    x, y = map(p.array, data)
    before = (widths[0], *widths)
    parameters: Any = {
        "first": (jax_weight(widths[0], data[0].shape[1], 3, 3), *jax_norm(widths[0])),
        "blocks": [
            {
                "conv1": (jax_weight(width, before[i], 3, 3), *jax_norm(width)),
                "conv2": (jax_weight(width, width, 3, 3), *jax_norm(width)),
                "shortcut": jax_weight(width, before[i], 1, 1) if i else None,
            }
            for i, width in enumerate(widths)
        ],
        "dense": jax_dense(CLASSES, widths[-1]),
    }

    def convolve(x: Any, layer: Any, stride: int) -> Any:
        weight, scale, shift = layer
        x = jax_convolve(x, weight, stride, 1)
        mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        out = jax.nn.relu(convolve(x, parameters["first"], 1))
        for i, block in enumerate(parameters["blocks"]):
            stride = 2 if i else 1
            inner = convolve(jax.nn.relu(convolve(out, block["conv1"], stride)), block["conv2"], 1)
            out = jax.nn.relu(inner + (jax_convolve(out, block["shortcut"], stride, 0) if i else out))
        return jax_cross_entropy(jax_apply(parameters["dense"], out.mean((2, 3))), y)

    return jax_step(parameters, loss_of, x, y)


def jax_norm(channels: int) -> tuple[Any, Any]:
    import jax

    return jax.numpy.ones((channels, 1, 1)), jax.numpy.zeros((channels, 1, 1))


def jax_lstm(p: Peer, data: Batch, width: int) -> Step:
    import jax

    x, y = map(p.array, data)
    sizes = {"in": (4 * width, width), "again": (4 * width, width), "out": (CLASSES, width)}
    parameters = {name: jax_dense(*size) for name, size in sizes.items()}

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        again = parameters["again"]

        def cell(state: Any, gates: Any) -> Any:
            h, c = state
            i, f, g, o = jax.numpy.split(gates + jax_apply(again, h), 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jax.numpy.tanh(g)
            h = jax.nn.sigmoid(o) * jax.numpy.tanh(c)
            return (h, c), h

        start = jax.numpy.zeros((x.shape[1], width))
        _, out = jax.lax.scan(cell, (start, start), jax_apply(parameters["in"], x))
        return jax_cross_entropy(jax_apply(parameters["out"], out), y)

    return jax_step(parameters, loss_of, x, y)


def jax_transformer(p: Peer, data: Batch, width: int, heads: int) -> Step:
    import jax

    x = p.array(data[0])
    y = x * 0.5
    sizes = {"query": (width, width), "key": (width, width), "value": (width, width), "out": (width, width)}
    sizes |= {"wide": (4 * width, width), "narrow": (width, 4 * width)}
    parameters: Any = {name: jax_dense(*size) for name, size in sizes.items()}
    parameters |= {name: tuple(v.ravel() for v in jax_norm(width)) for name in ("norm1", "norm2")}

    def split(x: Any) -> Any:
        return x.reshape(*x.shape[:2], heads, width // heads).transpose(0, 2, 1, 3)

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        query, key, value = (split(jax_apply(parameters[name], x)) for name in ("query", "key", "value"))
        weights = jax.nn.softmax(query @ key.transpose(0, 1, 3, 2) / math.sqrt(width // heads))
        mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(x.shape)
        out = p.layer_norm(x + jax_apply(parameters["out"], mixed), *parameters["norm1"])
        inner = jax_apply(parameters["narrow"], jax.nn.relu(jax_apply(parameters["wide"], out)))
        out = p.layer_norm(out + inner, *parameters["norm2"])
        return ((out - y) ** 2).mean() / 2

    return jax_step(parameters, loss_of, x, y)


GLUON = SimpleNamespace(lenet=gluon_lenet, resnet=gluon_resnet, lstm=gluon_lstm, transformer=gluon_transformer)
TORCH = SimpleNamespace(lenet=torch_lenet, resnet=torch_resnet, lstm=torch_lstm, transformer=torch_transformer)
JAX = SimpleNamespace(lenet=jax_lenet, resnet=jax_resnet, lstm=jax_lstm, transformer=jax_transformer)
MAKERS = {"slipstream": GLUON, "mxnet": GLUON, "torch": TORCH, "jax": JAX}
