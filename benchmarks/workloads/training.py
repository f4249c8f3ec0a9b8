"""Training loops: forward, backward and update, as each library's users write them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy

from ..peers import Peer
from ..results import key
from ..workload import OURS, Workload, at_most, register
from . import networks
from .data import normal
from .networks import RATE, library_of

LIBRARIES = ("torch", "jax", "mxnet")


def went_down(result: Any) -> bool:
    """Losses before and after are finite, and the second one is smaller."""
    before, after = numpy.asarray(result, dtype=float).ravel()
    return bool(numpy.isfinite([before, after]).all() and after < before)


# ---- a step of training in each library: a function that gives the loss as the library's scalar


def layers_of(widths: list[int]) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
    """Weights (out, in) and biases of a perceptron, the same for every library."""
    pairs = itertools.pairwise(widths)
    return [(normal(o, i, seed=o, scale=i**-0.5), numpy.zeros(o, numpy.float32)) for i, o in pairs]


def gluon_mlp(p: Peer, x: Any, y: Any, widths: list[int]) -> Callable[[], Any]:
    gluon = library_of(p).gluon
    net = gluon.nn.HybridSequential()
    for i, (weight, bias) in enumerate(layers_of(widths)):
        layer = gluon.nn.Dense(len(bias), activation="relu" if i < len(widths) - 2 else None, in_units=weight.shape[1])
        layer.initialize()
        layer.weight.set_data(p.array(weight))
        layer.bias.set_data(p.array(bias))
        net.add(layer)
    return networks.gluon_step(p, net, gluon.loss.L2Loss(), x, y)


def torch_mlp(p: Peer, x: Any, y: Any, widths: list[int]) -> Callable[[], Any]:
    import torch

    modules: list[Any] = []
    for weight, bias in layers_of(widths):
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight))
            layer.bias.copy_(torch.from_numpy(bias))
        modules += [layer, torch.nn.ReLU()]
    net = torch.nn.Sequential(*modules[:-1])
    return networks.torch_step(net, lambda net: ((net(x) - y) ** 2).mean() / 2)


def jax_mlp(p: Peer, x: Any, y: Any, widths: list[int]) -> Callable[[], Any]:
    import jax

    parameters = [tuple(map(jax.numpy.asarray, layer)) for layer in layers_of(widths)]

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        for i, (weight, bias) in enumerate(parameters):
            x = x @ weight.T + bias
            x = jax.nn.relu(x) if i < len(parameters) - 1 else x
        return ((x - y) ** 2).mean() / 2

    return networks.jax_step(parameters, loss_of, x, y)


PERCEPTRONS = {"slipstream": gluon_mlp, "mxnet": gluon_mlp, "torch": torch_mlp, "jax": jax_mlp}


def train(p: Peer, times: int, rows: int, width: int, wait: str, products: bool = False) -> Any:
    """The book's experiment: `width`-2048-512-1 in small, waiting after each batch, one batch later, or at the end."""
    widths = [width, 4 * width, width, 1]
    if products:
        return products_of(p, times, rows, widths)
    x, y = p.array(normal(rows, width)), p.array(normal(rows, 1, seed=3))
    return repeat(p, PERCEPTRONS[p.name](p, x, y, widths), times, wait)


def products_of(p: Peer, times: int, rows: int, widths: list[int]) -> Callable[[], Any]:
    """The matrix products of so many steps and nothing else: forward, and the gradients of weights and layers."""
    values = [p.array(normal(rows, width, seed=width)) for width in widths]
    weights = [p.array(weight) for weight, _ in layers_of(widths)]
    pairs = []
    for i, weight in enumerate(weights):
        read, made = values[i], values[i + 1]
        pairs += [(read, weight.T), (made.T, read)] + ([(made, weight)] if i else [])
    outs = [a @ b for a, b in pairs]  # written to, each product is one that nobody may skip

    def run() -> Any:
        for _ in range(times):
            for (a, b), out in zip(pairs, outs, strict=True):
                p.xp.matmul(a, b, out=out)
        p.wait(outs)
        return numpy.array([1.0, 0.0])  # there is no loss to check

    return run


def repeat(p: Peer, step: Callable[[], Any], times: int, wait: str = "free") -> Callable[[], Any]:
    """So many steps; the losses of the first and of the last one."""

    def run() -> Any:
        losses: list[Any] = []
        for _ in range(times):
            losses.append(step())
            if wait == "barrier":
                p.wait(losses[-1])
            elif wait == "pace" and len(losses) > 1:
                p.wait(losses[-2])
        p.wait_for_all(losses[-1])  # the last update, too
        return numpy.array([float(losses[0]), float(losses[-1])])

    return run


HOW = {"barrier": "waiting for each batch", "pace": "one batch ahead", "free": "waiting at the end"}
# Beside the loop that waits at the end: one that waits for each batch, and the matrix products of a batch alone.
WAITING, PRODUCTS = "waiting", "products alone"
TRAIN_GOALS = (
    at_most(0.9, *LIBRARIES),
    at_most(1.15, key(OURS, PRODUCTS)),
    at_most(1.0, key(OURS, WAITING)),
    at_most(1.1, key(OURS, WAITING), memory=True),
)
for how, words in HOW.items():
    register(
        Workload(
            "train" if how == "free" else f"train-{how}",
            f"MLP 2048-512-1 on batches of 1024×512, SGD, {words}; time of one batch",
            train,
            {"times": 10, "rows": 1024, "width": 512, "wait": how},
            {"times": 3, "rows": 16, "width": 8, "wait": how},
            goals=TRAIN_GOALS if how == "free" else TRAIN_GOALS[:1],
            ours={WAITING: {"wait": "barrier"}, PRODUCTS: {"products": True}} if how == "free" else {},
            only=LIBRARIES,
            check=went_down,
            memory=True,
            family="training",
            headline=True,
        )
    )


# ---- small networks


def network(p: Peer, times: int, kind: str, data: Mapping[str, int], **sizes: Any) -> Any:
    made = networks.images(**data) if "size" in data else networks.sequences(**data)
    return repeat(p, getattr(networks.MAKERS[p.name], kind)(p, made, **sizes), times)


def add_network(name: str, what: str, ratio: float, full: dict[str, Any], quick: dict[str, Any]) -> None:
    register(
        Workload(
            name,
            f"{what}, SGD; time of one batch",
            network,
            {"times": 5, "kind": name, **full},
            {"times": 3, "kind": name, **quick},
            goals=(at_most(ratio, "torch"),),
            only=LIBRARIES,
            check=went_down,
            memory=True,
            family="training",
            headline=True,
        )
    )


add_network(
    "lenet",
    "LeNet on batches of 256 images of 28×28",
    1.2,
    {"data": {"batch": 256, "channels": 1, "size": 28}},
    {"data": {"batch": 4, "channels": 1, "size": 16}},
)
add_network(
    "resnet",
    "ResNet of 3 blocks (32, 64 and 128 channels) on batches of 32 images of 32×32",
    1.2,
    {"data": {"batch": 32, "channels": 3, "size": 32}, "widths": (32, 64, 128)},
    {"data": {"batch": 4, "channels": 3, "size": 8}, "widths": (2, 4, 8)},
)
add_network(
    "lstm",
    "LSTM of 256 units on batches of 32 sequences of 35 steps",
    1.2,
    {"data": {"batch": 32, "steps": 35, "width": 256}, "width": 256},
    {"data": {"batch": 2, "steps": 3, "width": 4}, "width": 4},
)
add_network(
    "transformer",
    "Transformer block of 256 units and 4 heads on batches of 16 sequences of 64 places",
    1.0,
    {"data": {"batch": 64, "steps": 16, "width": 256}, "width": 256, "heads": 4},
    {"data": {"batch": 3, "steps": 2, "width": 4}, "width": 4, "heads": 2},
)


# ---- optimizers


def update_all(p: Peer, times: int, parameters: int, size: int) -> Any:
    """Adam on many small parameters with given gradients."""
    values = [normal(size, size, seed=i) for i in range(parameters)]
    if p.name == "slipstream":
        from slipstream import np, optimizer

        weights = [np.array(v) for v in values]
        updater = optimizer.get_updater(optimizer.Adam(learning_rate=RATE))
        slopes, numbers = [np.array(v) for v in values], list(range(parameters))

        def step() -> Any:
            updater(numbers, slopes, weights)
            return weights
    else:
        import torch

        weights = [torch.nn.Parameter(torch.from_numpy(v.copy())) for v in values]
        for weight, v in zip(weights, values, strict=True):
            weight.grad = torch.from_numpy(v)
        adam = torch.optim.Adam(weights, lr=RATE)

        def step() -> Any:
            adam.step()
            return weights

    def run() -> Any:
        for _ in range(times):
            step()
        p.wait(list(weights))
        moved = numpy.asarray(weights[0].detach())
        return numpy.array([(values[0] ** 2).sum(), (moved * values[0]).sum()])  # against the gradient

    return run


register(
    Workload(
        "adam-100",
        "Adam on 100 parameters of 64×64; time of one update of all",
        update_all,
        {"times": 10, "parameters": 100, "size": 64},
        {"times": 2, "parameters": 3, "size": 2},
        goals=(at_most(1.0, "torch"),),
        only=("torch",),
        check=went_down,
        memory=True,
        family="training",
        headline=True,
    )
)
