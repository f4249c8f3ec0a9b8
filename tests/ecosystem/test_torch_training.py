"""Layers, losses and optimizers beside PyTorch's: the same weights and inputs, values and all gradients, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from slipstream import autograd, gluon, np, npx, optimizer
from slipstream.gluon import nn, rnn

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
T = torch.nn
F = torch.nn.functional
optim = torch.optim
Rng = numpy.random.Generator


def close(ours: Any, theirs: Any, tolerance: float = 1e-9) -> None:
    numpy.testing.assert_allclose(ours.asnumpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


def backwards(ours: Any, theirs: Any, rng: Rng) -> None:
    """Both backward passes, from one random gradient of the result."""
    close(ours, theirs)
    head = rng.normal(size=ours.shape)
    ours.backward(np.array(head, dtype="float64"))
    theirs.backward(torch.tensor(head))


def tensors(arrays: list[Any]) -> list[Any]:
    return [torch.tensor(a.asnumpy(), requires_grad=a.dtype == numpy.float64) for a in arrays]


def inputs(rng: Rng, *shapes: tuple[int, ...]) -> list[Any]:
    made = [np.array(rng.normal(size=shape), dtype="float64") for shape in shapes]
    for x in made:
        x.attach_grad()
    return made


# ---- layers with weights: (ours, theirs, shape of the input); parameters correspond in their order

LAYERS: dict[str, tuple[Callable[[], Any], Callable[[], Any], tuple[int, ...]]] = {
    "Dense": (lambda: nn.Dense(5), lambda: T.Linear(4, 5), (3, 4)),
    "Dense without flattening": (lambda: nn.Dense(5, flatten=False), lambda: T.Linear(4, 5), (2, 3, 4)),
    "Conv1D": (lambda: nn.Conv1D(6, 3, 2, 1), lambda: T.Conv1d(4, 6, 3, 2, 1), (2, 4, 9)),
    "Conv2D": (lambda: nn.Conv2D(6, (3, 2), 2, 1), lambda: T.Conv2d(4, 6, (3, 2), 2, 1), (2, 4, 9, 8)),
    "Conv2D in groups": (
        lambda: nn.Conv2D(6, 3, dilation=2, groups=2),
        lambda: T.Conv2d(4, 6, 3, dilation=2, groups=2),
        (2, 4, 9, 8),
    ),
    "Conv2D of each channel": (lambda: nn.Conv2D(4, 3, groups=4), lambda: T.Conv2d(4, 4, 3, groups=4), (2, 4, 7, 6)),
    "Conv3D": (lambda: nn.Conv3D(3, 2, (1, 2, 1), 1), lambda: T.Conv3d(2, 3, 2, (1, 2, 1), 1), (2, 2, 4, 5, 3)),
    "Conv1DTranspose": (
        lambda: nn.Conv1DTranspose(3, 4, 3, 1, 2),
        lambda: T.ConvTranspose1d(4, 3, 4, 3, 1, 2),
        (2, 4, 5),
    ),
    "Conv2DTranspose": (
        lambda: nn.Conv2DTranspose(6, 3, 2, 1, 1, groups=2),
        lambda: T.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2),
        (2, 4, 5, 6),
    ),
    "Conv3DTranspose": (
        lambda: nn.Conv3DTranspose(3, 2, 2, dilation=2),
        lambda: T.ConvTranspose3d(2, 3, 2, 2, dilation=2),
        (2, 2, 3, 2, 3),
    ),
    "BatchNorm": (lambda: nn.BatchNorm(), lambda: T.BatchNorm2d(4), (3, 4, 5, 6)),
    "LayerNorm": (lambda: nn.LayerNorm(), lambda: T.LayerNorm(5), (3, 4, 5)),
    "GroupNorm": (lambda: nn.GroupNorm(2), lambda: T.GroupNorm(2, 4), (3, 4, 5, 6)),
    "InstanceNorm": (lambda: nn.InstanceNorm(scale=True), lambda: T.InstanceNorm2d(4, affine=True), (3, 4, 5, 6)),
    "PReLU": (lambda: nn.PReLU(in_channels=4), lambda: T.PReLU(4), (3, 4, 5)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_with_weights(name: str, rng: Rng) -> None:
    make, make_theirs, shape = LAYERS[name]
    ours, theirs = make(), make_theirs().double()
    ours.initialize()
    ours.cast("float64")
    (x,) = inputs(rng, shape)
    (xt,) = tensors([x])
    ours(x)  # shapes
    learnt = [p for p in ours.collect_params().values() if p.grad_req != "null"]
    assert len(learnt) == len(list(theirs.parameters()))
    for p, q in zip(learnt, theirs.parameters(), strict=True):
        p.set_data(rng.normal(size=p.shape))
        q.data = torch.tensor(p.data().asnumpy().reshape(q.shape))
    with autograd.record():
        y = ours(x)
    backwards(y, theirs(xt), rng)
    close(x.grad, xt.grad)
    for p, q in zip(learnt, theirs.parameters(), strict=True):
        close(p.grad().reshape(tuple(q.shape)), q.grad)
    if name == "BatchNorm":
        close(ours.running_mean.data(), theirs.running_mean)
        # their running variance is of a sample, n / (n - 1) times the batch's
        n = x.size // 4
        close(ours.running_var.data() - 0.9, (theirs.running_var - 0.9) * (n - 1) / n)


# ---- functions of the input alone

ALONE: dict[str, tuple[Any, Any, tuple[int, ...]]] = {
    "MaxPool1D": (nn.MaxPool1D(3, 2, 1), T.MaxPool1d(3, 2, 1), (2, 3, 9)),
    "MaxPool2D": (nn.MaxPool2D((3, 2), 2, 1), T.MaxPool2d((3, 2), 2, 1), (2, 3, 9, 8)),
    "MaxPool2D ceil": (nn.MaxPool2D(3, 2, ceil_mode=True), T.MaxPool2d(3, 2, ceil_mode=True), (2, 3, 8, 8)),
    "MaxPool3D": (nn.MaxPool3D(2), T.MaxPool3d(2), (2, 3, 4, 5, 6)),
    "AvgPool1D": (nn.AvgPool1D(3, 2, 1), T.AvgPool1d(3, 2, 1), (2, 3, 9)),
    "AvgPool2D": (nn.AvgPool2D(3, 2, 1), T.AvgPool2d(3, 2, 1), (2, 3, 9, 8)),
    "AvgPool2D inside": (
        nn.AvgPool2D(3, 2, 1, count_include_pad=False),
        T.AvgPool2d(3, 2, 1, count_include_pad=False),
        (2, 3, 9, 8),
    ),
    "AvgPool3D": (nn.AvgPool3D(2), T.AvgPool3d(2), (2, 3, 4, 5, 6)),
    "GlobalAvgPool2D": (nn.GlobalAvgPool2D(), T.AdaptiveAvgPool2d(1), (2, 3, 4, 5)),
    "GlobalMaxPool2D": (nn.GlobalMaxPool2D(), T.AdaptiveMaxPool2d(1), (2, 3, 4, 5)),
    "relu": (nn.Activation("relu"), T.ReLU(), (20,)),
    "sigmoid": (nn.Activation("sigmoid"), T.Sigmoid(), (20,)),
    "tanh": (nn.Activation("tanh"), T.Tanh(), (20,)),
    "softrelu": (nn.Activation("softrelu"), T.Softplus(), (20,)),
    "softsign": (nn.Activation("softsign"), T.Softsign(), (20,)),
    "log_sigmoid": (nn.Activation("log_sigmoid"), T.LogSigmoid(), (20,)),
    "mish": (nn.Activation("mish"), T.Mish(), (20,)),
    "LeakyReLU": (nn.LeakyReLU(0.1), T.LeakyReLU(0.1), (20,)),
    "ELU": (nn.ELU(0.7), T.ELU(0.7), (20,)),
    "SELU": (nn.SELU(), T.SELU(), (20,)),
    "GELU": (nn.GELU(), T.GELU(), (20,)),
    "GELU by tanh": (nn.GELU("tanh"), T.GELU("tanh"), (20,)),
    "SiLU": (nn.SiLU(), T.SiLU(), (20,)),
    "softmax": (npx.softmax, T.Softmax(-1), (3, 5)),
    "log_softmax": (npx.log_softmax, T.LogSoftmax(-1), (3, 5)),
    "PixelShuffle2D": (nn.PixelShuffle2D(2), T.PixelShuffle(2), (2, 8, 3, 4)),
    "ReflectionPad2D": (nn.ReflectionPad2D(2), T.ReflectionPad2d(2), (2, 3, 5, 4)),
}


@pytest.mark.parametrize("name", ALONE)
def test_layers_without_weights(name: str, rng: Rng) -> None:
    ours, theirs, shape = ALONE[name]
    (x,) = inputs(rng, shape)
    (xt,) = tensors([x])
    with autograd.record():
        y = ours(x)
    backwards(y, theirs(xt), rng)
    close(x.grad, xt.grad)


def test_embedding(rng: Rng) -> None:
    ours, theirs = nn.Embedding(6, 3), T.Embedding(6, 3).double()
    ours.initialize()
    ours.cast("float64")
    ours.weight.set_data(theirs.weight.detach().numpy())
    places = rng.integers(0, 6, size=(4, 5))
    with autograd.record():
        y = ours(np.array(places))
    backwards(y, theirs(torch.tensor(places)), rng)
    close(ours.weight.grad(), theirs.weight.grad)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal: bool, rng: Rng) -> None:
    given = inputs(rng, (2, 3, 5, 4), (2, 3, 5, 4), (2, 3, 5, 6))
    theirs = tensors(given)
    with autograd.record():
        y = nn.scaled_dot_product_attention(*given, causal=causal)
    backwards(y, F.scaled_dot_product_attention(*theirs, is_causal=causal), rng)
    for x, xt in zip(given, theirs, strict=True):
        close(x.grad, xt.grad)


def test_multi_head_attention(rng: Rng) -> None:
    ours, theirs = nn.MultiHeadAttention(8, 2), T.MultiheadAttention(8, 2, batch_first=True).double()
    ours.initialize()
    ours.cast("float64")
    given = inputs(rng, (3, 5, 8), (3, 7, 8), (3, 7, 8))
    ours(*given)
    for p in ours.collect_params().values():
        p.set_data(rng.normal(size=p.shape))
    projections = [ours.query_proj, ours.key_proj, ours.value_proj]
    theirs.in_proj_weight.data = torch.tensor(numpy.concatenate([p.weight.data().asnumpy() for p in projections]))
    theirs.in_proj_bias.data = torch.tensor(numpy.concatenate([p.bias.data().asnumpy() for p in projections]))
    theirs.out_proj.weight.data = torch.tensor(ours.out_proj.weight.data().asnumpy())
    theirs.out_proj.bias.data = torch.tensor(ours.out_proj.bias.data().asnumpy())
    lengths = numpy.array([7, 2, 4])
    others = tensors(given)
    hidden = torch.arange(7)[None] >= torch.tensor(lengths)[:, None]
    with autograd.record():
        y = ours(*given, valid_length=np.array(lengths))
    backwards(y, theirs(*others, key_padding_mask=hidden)[0], rng)
    for x, xt in zip(given, others, strict=True):
        close(x.grad, xt.grad)
    grads = np.concatenate([p.weight.grad() for p in projections])
    close(grads, theirs.in_proj_weight.grad)


# ---- recurrent layers


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_recurrent_layers(kind: str, both: bool, rng: Rng) -> None:
    options = {"activation": "tanh"} if kind == "RNN" else {}
    ours = getattr(rnn, kind)(4, num_layers=2, bidirectional=both, input_size=3, **options)
    theirs = getattr(T, kind)(3, 4, num_layers=2, bidirectional=both).double()
    ours.initialize()
    ours.cast("float64")
    ours.rnn_param.set_data(rng.normal(size=ours.rnn_param.shape))
    names = {
        f"{side}{i}_{part}2h_{what}": f"{what}_{part}h_l{i}{'_reverse' * (side == 'r')}"
        for side in "lr"[: 1 + both]
        for i in range(2)
        for part in "ih"
        for what in ("weight", "bias")
    }
    parts = ours.parts()
    assert set(parts) == set(names)
    for name, value in parts.items():
        getattr(theirs, names[name]).data = torch.tensor(value.asnumpy())
    layers = 2 * (1 + both)
    x, *states = inputs(rng, (5, 2, 3), *[(layers, 2, 4)] * (1 + (kind == "LSTM")))
    xt, *states_t = tensors([x, *states])
    with autograd.record():
        y, last = ours(x, states)
        y = np.concatenate([y.reshape(-1), *[s.reshape(-1) for s in last]])
    yt, last_t = theirs(xt, tuple(states_t) if kind == "LSTM" else states_t[0])
    last_t = last_t if kind == "LSTM" else [last_t]
    backwards(y, torch.cat([yt.reshape(-1), *[s.reshape(-1) for s in last_t]]), rng)
    for a, b in zip([x, *states], [xt, *states_t], strict=True):
        close(a.grad, b.grad)
    grads = {}
    flat, at = ours.rnn_param.grad(), 0
    for name, value in parts.items():
        grads[name] = flat[at : at + value.size].reshape(value.shape)
        at += value.size
    for name, grad in grads.items():
        close(grad, getattr(theirs, names[name]).grad)


# ---- losses: (ours, theirs as the mean over all, shape, labels)

LOSSES: dict[str, tuple[Any, Any, Callable[[Rng], Any]]] = {
    "L1": (gluon.loss.L1Loss(), F.l1_loss, lambda rng: rng.normal(size=(6, 4))),
    "L2": (gluon.loss.L2Loss(), lambda p, t: F.mse_loss(p, t) / 2, lambda rng: rng.normal(size=(6, 4))),
    "Huber": (
        gluon.loss.HuberLoss(0.7),
        lambda p, t: F.smooth_l1_loss(p, t, beta=0.7),
        lambda r: r.normal(size=(6, 4)),
    ),
    "SigmoidBCE": (gluon.loss.SigmoidBCELoss(), F.binary_cross_entropy_with_logits, lambda r: r.random(size=(6, 4))),
    "SoftmaxCE": (gluon.loss.SoftmaxCELoss(), F.cross_entropy, lambda rng: rng.integers(0, 4, size=6)),
    "SoftmaxCE dense": (
        gluon.loss.SoftmaxCELoss(sparse_label=False),
        F.cross_entropy,
        lambda rng: rng.dirichlet(numpy.ones(4), size=6),
    ),
    "KLDiv": (
        gluon.loss.KLDivLoss(from_logits=False),
        lambda p, t: F.kl_div(F.log_softmax(p, -1), t),
        lambda rng: rng.dirichlet(numpy.ones(4), size=6),
    ),
    "Logistic": (gluon.loss.LogisticLoss(), F.soft_margin_loss, lambda rng: rng.choice([-1.0, 1.0], size=(6, 4))),
    "PoissonNLL": (gluon.loss.PoissonNLLLoss(), F.poisson_nll_loss, lambda rng: rng.poisson(2, size=(6, 4)) * 1.0),
    "PoissonNLL full": (
        gluon.loss.PoissonNLLLoss(compute_full=True),
        lambda p, t: F.poisson_nll_loss(p, t, full=True),
        lambda rng: rng.poisson(2, size=(6, 4)) * 1.0,
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, rng: Rng) -> None:
    ours, theirs, make = LOSSES[name]
    (x,) = inputs(rng, (6, 4))
    (xt,) = tensors([x])
    labels = make(rng)
    with autograd.record():
        y = ours(x, np.array(labels, dtype=labels.dtype)).mean()
    backwards(y, theirs(xt, torch.tensor(labels)), rng)
    close(x.grad, xt.grad)


def test_ctc(rng: Rng) -> None:
    (x,) = inputs(rng, (3, 9, 5))
    (xt,) = tensors([x])
    labels, times, lengths = rng.integers(0, 4, size=(3, 4)), numpy.array([9, 8, 9]), numpy.array([4, 2, 3])
    with autograd.record():
        y = gluon.loss.CTCLoss()(x, np.array(labels), np.array(times), np.array(lengths))
    logs = F.log_softmax(xt, -1).transpose(0, 1)
    to = [torch.tensor(a) for a in (labels, times, lengths)]
    backwards(y, F.ctc_loss(logs, *to, blank=4, reduction="none"), rng)
    close(x.grad, xt.grad)


# ---- optimizers: 100 steps

OPTIMIZERS: dict[str, tuple[dict[str, Any], Any]] = {
    "sgd": ({"learning_rate": 0.1, "wd": 0.01}, lambda p: optim.SGD(p, 0.1, weight_decay=0.01)),
    "sgd with momentum": (
        {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
        lambda p: optim.SGD(p, 0.1, 0.9, weight_decay=0.01),
    ),
    "nag": (
        {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
        lambda p: optim.SGD(p, 0.1, 0.9, weight_decay=0.01, nesterov=True),
    ),
    "adam": ({"learning_rate": 0.01}, lambda p: optim.Adam(p, 0.01)),
    "adamw": ({"learning_rate": 0.01, "wd": 0.1, "epsilon": 1e-8}, lambda p: optim.AdamW(p, 0.01, weight_decay=0.1)),
    "adamax": ({"learning_rate": 0.01}, lambda p: optim.Adamax(p, 0.01, eps=1e-8)),
    "adagrad": ({"learning_rate": 0.1}, lambda p: optim.Adagrad(p, 0.1, eps=1e-6)),
    "adadelta": ({"rho": 0.9, "epsilon": 1e-6}, lambda p: optim.Adadelta(p, 1.0, 0.9, 1e-6)),
    "rmsprop": ({"learning_rate": 0.01}, lambda p: optim.RMSprop(p, 0.01, 0.9, 1e-8)),
    "rmsprop centered": (  # MXNet's epsilon is inside the root
        {"learning_rate": 0.01, "momentum": 0.9, "centered": True, "epsilon": 1e-16},
        lambda p: optim.RMSprop(p, 0.01, 0.9, 1e-8, momentum=0.9, centered=True),
    ),
    "nadam": ({"learning_rate": 0.01}, lambda p: optim.NAdam(p, 0.01, momentum_decay=0.004)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_hundred_steps(name: str, rng: Rng) -> None:
    settings, make = OPTIMIZERS[name]
    start, slope = rng.normal(size=(4, 5)), rng.uniform(0.5, 2, size=(4, 5))
    ours = optimizer.create(name.split()[0], **settings)
    w, m = np.array(start, dtype="float64"), np.array(slope, dtype="float64")
    state = ours.create_state(0, w)
    wt, mt = torch.nn.Parameter(torch.tensor(start)), torch.tensor(slope)
    theirs = make([wt])
    for _ in range(100):
        ours.update(0, w, m * (w - 1), state)
        theirs.zero_grad()
        ((mt * (wt - 1) ** 2).sum() / 2).backward()
        theirs.step()
    close(w, wt, 1e-6)
