"""Training loops: forward, backward and update, as each library's users write them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy

from ..peers import Peer
from ..workload import Workload, at_most, register
from .data import normal

LIBRARIES = ("torch", "jax")
RATE = 0.01


def went_down(result: Any) -> bool:
    """Losses before and after are finite, and the second one is smaller."""
    before, after = numpy.asarray(result, dtype=float).ravel()
    return bool(numpy.isfinite([before, after]).all() and after < before)


# ---- a step of training in each library: a function that gives the loss as the library's scalar


def layers_of(widths: list[int]) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
    """Weights (out, in) and biases of a perceptron, the same for every library."""
    pairs = itertools.pairwise(widths)
    return [(normal(o, i, seed=o, scale=i**-0.5), numpy.zeros(o, numpy.float32)) for i, o in pairs]


def slipstream_mlp(x: Any, y: Any, widths: list[int]) -> Callable[[], Any]:
    from slipstream import autograd, gluon, np

    net = gluon.nn.Sequential()
    for i, (weight, bias) in enumerate(layers_of(widths)):
        layer = gluon.nn.Dense(len(bias), activation="relu" if i < len(widths) - 2 else None, in_units=weight.shape[1])
        layer.initialize()
        layer.weight.set_data(np.array(weight))
        layer.bias.set_data(np.array(bias))
        net.add(layer)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": RATE})
    loss_of = gluon.loss.L2Loss()

    def step() -> Any:
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(len(y))
        return loss.mean()

    return step


def torch_mlp(x: Any, y: Any, widths: list[int]) -> Callable[[], Any]:
    import torch

    modules: list[Any] = []
    for weight, bias in layers_of(widths):
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight))
            layer.bias.copy_(torch.from_numpy(bias))
        modules += [layer, torch.nn.ReLU()]
    net = torch.nn.Sequential(*modules[:-1])
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)

    @torch.enable_grad()  # the peer turns it off for everything else
    def step() -> Any:
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean() / 2
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def jax_mlp(x: Any, y: Any, widths: list[int]) -> Callable[[], Any]:
    import jax

    parameters = [tuple(map(jax.numpy.asarray, layer)) for layer in layers_of(widths)]

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        for i, (weight, bias) in enumerate(parameters):
            x = x @ weight.T + bias
            x = jax.nn.relu(x) if i < len(parameters) - 1 else x
        return ((x - y) ** 2).mean() / 2

    @jax.jit
    def update(parameters: Any, x: Any, y: Any) -> Any:
        loss, slopes = jax.value_and_grad(loss_of)(parameters, x, y)
        return loss, jax.tree.map(lambda p, g: p - RATE * g, parameters, slopes)

    def step() -> Any:
        nonlocal parameters
        loss, parameters = update(parameters, x, y)
        return loss

    return step


MAKERS = {"slipstream": slipstream_mlp, "torch": torch_mlp, "jax": jax_mlp}


def train(p: Peer, times: int, rows: int, width: int, wait: str) -> Any:
    """The book's experiment: `width`-2048-512-1 in small, waiting after each batch, one batch later, or at the end."""
    x, y = p.array(normal(rows, width)), p.array(normal(rows, 1, seed=3))
    step = MAKERS[p.name](x, y, [width, 4 * width, width, 1])

    def run() -> Any:
        losses: list[Any] = []
        for _ in range(times):
            losses.append(step())
            if wait == "barrier":
                p.wait(losses[-1])
            elif wait == "pace" and len(losses) > 1:
                p.wait(losses[-2])
        p.wait(losses[-1])
        return numpy.array([float(losses[0]), float(losses[-1])])

    return run


HOW = {"barrier": "waiting for each batch", "pace": "one batch ahead", "free": "waiting at the end"}
for how, words in HOW.items():
    register(
        Workload(
            "train" if how == "free" else f"train-{how}",
            f"MLP 2048-512-1 on batches of 1024×512, SGD, {words}; time of one batch",
            train,
            {"times": 10, "rows": 1024, "width": 512, "wait": how},
            {"times": 3, "rows": 16, "width": 8, "wait": how},
            goals=(at_most(0.9, *LIBRARIES),),
            only=LIBRARIES,
            check=went_down,
            family="training",
        )
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
        family="training",
    )
)
