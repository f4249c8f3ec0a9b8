"""F of MXNet 1's hybrid_forward: its operators, by its names and with its conventions, against values and NumPy."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy
import pytest
from compare import close, same

from slipstream import autograd, gluon, np, npx
from slipstream.gluon import nn
from slipstream.gluon._namespace import _HOMES, _RENAMED, _ROWS, F
from slipstream.gluon._operators import OPERATORS

N = numpy.arange(24, dtype="float32").reshape(2, 3, 4)
X = np.array(N)
M, V = np.array([[1, -2], [3, 4]]), np.array([0.5, -1.5, 2.5, -0.4])


def of(values: Any) -> numpy.ndarray[Any, Any]:
    return numpy.array(values, "float32")


def test_every_name_is_found() -> None:
    for path in [*_ROWS, *_RENAMED, *OPERATORS]:
        home, _, name = path.rpartition(".")
        assert callable(getattr(getattr(F, home) if home else F, name)), path
    assert not (_ROWS.keys() | _RENAMED.keys()) & OPERATORS.keys()
    assert {f"{module}." for module in ("contrib", "image", "linalg", "random")} < _HOMES.keys()
    assert F.np is np and F.npx is npx and repr(F.random) == "F.random"
    assert F.einsum("ij->i", M).tolist() == [-1, 7]  # what MXNet 1 had not is np's


REDUCTIONS = [
    (lambda: F.sum(X, axis=1, exclude=True), N.sum((0, 2))),
    (lambda: F.sum(data=X, axis=(0, -1), exclude=True, keepdims=True), N.sum(1, keepdims=True)),
    (lambda: F.mean(X, 0, True), N.mean(0, keepdims=True)),
    (lambda: F.mean(X, axis=0, exclude=True), N.mean((1, 2))),
    (lambda: F.sum(X, axis=(0, 1, 2), exclude=True), N),
    (lambda: F.sum(X, axis=()), N.sum()),
    (lambda: F.max(X, axis=1), N.max(1)),
    (lambda: F.min_axis(X, axis=-1), N.min(-1)),
    (lambda: F.prod(M, axis=0), of([3, -8])),
    (lambda: F.nansum(np.array([1, math.nan])), of(1)),
    (lambda: F.argmax(M, axis=1), of([0, 1])),
    (lambda: F.argmin(M, axis=0, keepdims=True), of([[0, 0]])),
    (lambda: F.norm(M, ord=1, axis=1), of([3, 7])),
    (lambda: F.norm(np.array([3, 4])), of(5)),
    (lambda: F.var(M), of(5.25)),
    (lambda: F.var(M, axis=0, ddof=1, keepdims=True), of([[2, 18]])),
    (lambda: F.moments(M, axes=0)[1], of([1, 9])),
]

SHAPES = [
    (lambda: F.reshape(X, shape=(0, -1)), N.reshape(2, 12)),
    (lambda: F.reshape(X, (-2,)), N),
    (lambda: F.reshape(X, (0, -3)), N.reshape(2, 12)),
    (lambda: F.Reshape(data=X, shape=(-3, 0), name="flat"), N.reshape(6, 4)),
    (lambda: F.reshape(X, shape=(-4, 1, 2, -2)), N.reshape(1, 2, 3, 4)),
    (lambda: F.reshape(X, shape=(0, 0, -4, -1, 2)), N.reshape(2, 3, 2, 2)),
    (lambda: F.reshape(X, shape=(-1, 0), reverse=True), N.reshape(6, 4)),
    (lambda: F.reshape(X, shape=-1), N.reshape(-1)),
    (lambda: F.flatten(X), N.reshape(2, 12)),
    (lambda: F.Flatten(X), N.reshape(2, 12)),
    (lambda: F.expand_dims(X, axis=1), N[:, None]),
    (lambda: F.expand_dims(data=X, axis=-1), N[..., None]),
    (lambda: F.squeeze(X[:1], axis=0), N[0]),
    (lambda: F.transpose(X), N.T),
    (lambda: F.transpose(X, axes=()), N.T),
    (lambda: F.transpose(X, (1, 0, 2)), N.transpose(1, 0, 2)),
    (lambda: F.swapaxes(X, dim1=1, dim2=2), N.swapaxes(1, 2)),
    (lambda: F.SwapAxis(X, 0, 2), N.swapaxes(0, 2)),
    (lambda: F.flip(X, axis=1), N[:, ::-1]),
    (lambda: F.reverse(X, axis=0), N[::-1]),
    (lambda: F.tile(X, reps=(1, 2, 1)), numpy.tile(N, (1, 2, 1))),
    (lambda: F.repeat(X, repeats=2, axis=0), N.repeat(2, 0)),
    (lambda: F.broadcast_axis(X[:1], axis=0, size=3), N[:1].repeat(3, 0)),
    (lambda: F.broadcast_to(X[:, :1], shape=(0, 3, 0)), N[:, :1].repeat(3, 1)),
    (lambda: F.concat(X, X), numpy.concatenate([N, N], 1)),
    (lambda: F.concat(*[X, X], dim=0), numpy.concatenate([N, N], 0)),
    (lambda: F.Concat(X, X, dim=2, name="both", num_args=2), numpy.concatenate([N, N], 2)),
    (lambda: F.stack(M, M), numpy.stack([M.asnumpy()] * 2)),
    (lambda: F.stack(M, M, axis=1), numpy.stack([M.asnumpy()] * 2, 1)),
    (lambda: F.split(X, num_outputs=3, axis=1)[2], N[:, 2:]),
    (lambda: F.split(X, 3, 1, True)[0], N[:, 0]),
    (lambda: F.SliceChannel(X, num_outputs=2, axis=0, squeeze_axis=True)[1], N[1]),
    (lambda: F.split(X, num_outputs=1), N),
    (lambda: F.slice(X, begin=(None, 1), end=(None, 2)), N[:, 1:2]),
    (lambda: F.crop(X, (0, 1), (1, 3)), N[:1, 1:3]),
    (lambda: F.slice_axis(X, axis=1, begin=0, end=-1), N[:, :-1]),
    (lambda: F.slice_like(X, M, axes=(1,)), N[:, :2]),
    (lambda: F.Pad(M.reshape((1, 1, 2, 2)), mode="constant", pad_width=(0,) * 6 + (1, 0), constant_value=7),
     of([[[[7, 1, -2], [7, 3, 4]]]])),
    (lambda: F.diag(X[0, :, :3]), numpy.diag(N[0, :, :3])),
    (lambda: F.diag(X), N.diagonal()),
    (lambda: F.zeros_like(data=M) + F.ones_like(M), of([[1, 1], [1, 1]])),
    (lambda: F.arange(1, 3, repeat=2), of([1, 1, 2, 2])),
    (lambda: F.arange(0, 4, 2, 1, False, npx.cpu(), "int64"), numpy.array([0, 2])),
    (lambda: F.full((2,), val=3), of([3, 3])),
    (lambda: F.identity(M), M.asnumpy()),
]  # fmt: skip

PLACES = [
    (lambda: F.take(X, np.array([1, 0])), N[[1, 0]]),
    (lambda: F.take(X, np.array([-3, 9]), axis=1), N[:, [0, 2]]),
    (lambda: F.take(X, np.array([3]), axis=1, mode="wrap"), N[:, [0]]),
    (lambda: F.pick(M, np.array([1, 0]), axis=1), of([-2, 3])),
    (lambda: F.pick(M, np.array([1, 0]), 1, True), of([[-2], [3]])),
    (lambda: F.batch_take(M, np.array([1, 0])), of([-2, 3])),
    (lambda: F.one_hot(np.array([1, 2]), depth=3), of([[0, 1, 0], [0, 0, 1]])),
    (lambda: F.one_hot(indices=np.array([1]), depth=2, on_value=5, off_value=1), of([[1, 5]])),
    (lambda: F.where(M > 0, M, F.zeros_like(M)), of([[1, 0], [3, 4]])),
    (lambda: F.where(np.array([0, 1]), M, -M), of([[-1, 2], [3, 4]])),  # whole rows
    (lambda: F.sort(M, is_ascend=False), of([[1, -2], [4, 3]])),
    (lambda: F.sort(M, axis=0), of([[1, -2], [3, 4]])),
    (lambda: F.argsort(M, axis=1), of([[1, 0], [0, 1]])),
    (lambda: F.argsort(M, axis=1, is_ascend=False), of([[0, 1], [1, 0]])),
    (lambda: F.topk(M, k=1, axis=1, ret_typ="value"), of([[1], [4]])),
    (lambda: F.gather_nd(M, np.array([[0, 1], [1, 0]])), of([-2, 3])),
    (lambda: F.ravel_multi_index(np.array([[0, 1], [2, 0]]), shape=(2, 3)), of([2, 3])),
    (lambda: F.unravel_index(np.array([2, 3]), shape=(2, 3)), of([[0, 1], [2, 0]])),
    (lambda: F.contrib.index_copy(M, np.array([1]), np.array([[8, 9]])), of([[1, -2], [8, 9]])),
    (lambda: F.Embedding(np.array([1]), M, input_dim=2, output_dim=2, name="fwd"), of([[3, 4]])),
    (lambda: F.SequenceMask(F.ones_like(M), sequence_length=np.array([1, 2]), use_sequence_length=True, value=-1),
     of([[1, 1], [-1, 1]])),
]  # fmt: skip

NUMBERS = [
    (lambda: F.broadcast_add(M, M[:1]), of([[2, -4], [4, 2]])),
    (lambda: F.broadcast_sub(lhs=M, rhs=M[:1]), of([[0, 0], [2, 6]])),
    (lambda: F.broadcast_mul(M, M), of([[1, 4], [9, 16]])),
    (lambda: F.broadcast_div(M, M), of([[1, 1], [1, 1]])),
    (lambda: F.broadcast_plus(M, M) + F.broadcast_minus(M, M), of([[2, -4], [6, 8]])),
    (lambda: F.broadcast_mod(M, np.array([2])), of([[1, 0], [1, 0]])),
    (lambda: F.broadcast_power(M, np.array([2])), of([[1, 4], [9, 16]])),
    (lambda: F.broadcast_hypot(np.array([3]), np.array([4])), of([5])),
    (lambda: F.elemwise_sub(M, M), of([[0, 0], [0, 0]])),
    (lambda: F.add_n(M, M) - F.ElementWiseSum(M, M), of([[0, 0], [0, 0]])),
    (lambda: F.maximum(M, 0) + F.broadcast_minimum(M, np.zeros(1)), M.asnumpy()),
    (lambda: F.broadcast_equal(M, np.array([[1, 4]])), of([[1, 0], [0, 1]])),
    (lambda: F.broadcast_not_equal(M, np.array([[1, 4]])), of([[0, 1], [1, 0]])),
    (lambda: F.broadcast_greater(M, np.zeros(1)), of([[1, 0], [1, 1]])),
    (lambda: F.broadcast_greater_equal(M, np.array([3])), of([[0, 0], [1, 1]])),
    (lambda: F.broadcast_lesser(M, np.array([3])), of([[1, 1], [0, 0]])),
    (lambda: F.lesser_equal(3, M), of([[0, 0], [1, 1]])),
    (lambda: F.broadcast_logical_and(M > 0, M), of([[1, 0], [1, 1]]) > 0),
    (lambda: F.broadcast_logical_xor(M, np.zeros(1)), of([[1, 1], [1, 1]])),
    (lambda: F.logical_not(np.array([0, 3])), of([1, 0])),
    (lambda: F.lesser(numpy.array([1, 4], "float32"), 3), of([1, 0])),
    (lambda: F.greater(2, [1, 4]), of([1, 0])),
    (lambda: F.round(np.array([-3, 2], dtype="int32")), numpy.array([-3, 2], "int32")),
    (lambda: F.rint(np.array([-3, 2], dtype="int32")), numpy.array([-3, 2], "int32")),
    (lambda: F.round(V), of([1, -2, 3, 0])),
    (lambda: F.rint(V), of([0, -2, 2, 0])),
    (lambda: F.round(np.array([8388609, 0.49999997])), of([8388609, 0])),
    (lambda: F.fix(V), of([0, -1, 2, 0])),
    (lambda: F.clip(M, 0, 3), of([[1, 0], [3, 3]])),
    (lambda: F.clip(data=M, a_min=-1, a_max=2), of([[1, -1], [2, 2]])),
    (lambda: F.square(data=M) + F.abs(M), of([[2, 6], [12, 20]])),
    (lambda: F.relu(M, name="relu0"), of([[1, 0], [3, 4]])),
    (lambda: F.Cast(V, dtype="int32"), numpy.array([0, -1, 2, 0], "int32")),
    (lambda: F.dot(M, M), of([[-5, -10], [15, 10]])),
    (lambda: F.dot(X[0], X[1], transpose_b=True), N[0] @ N[1].T),
    (lambda: F.dot(X[0], X[1], transpose_a=True), N[0].T @ N[1]),
    (lambda: F.dot(M, X[0, :2], True, False), M.asnumpy().T @ N[0, :2]),
    (lambda: F.dot(M, M, True, True), M.asnumpy().T @ M.asnumpy().T),
    (lambda: F.dot(X, F.ones_like(X[0]), transpose_b=True), N @ numpy.ones((4, 3), "float32")),
    (lambda: F.dot(V, V), of(8.91)),
    (lambda: F.dot(V, X[0], False, True), V.asnumpy() @ N[0].T),
    (lambda: F.dot(X[0], V), N[0] @ V.asnumpy()),
    (lambda: F.batch_dot(X, X, transpose_b=True), N @ N.transpose(0, 2, 1)),
    (lambda: F.batch_dot(lhs=X, rhs=X, transpose_a=True), N.transpose(0, 2, 1) @ N),
    (lambda: F.linalg.gemm2(X, X, transpose_b=True, alpha=2.0), 2 * N @ N.transpose(0, 2, 1)),
    (lambda: F.linalg_gemm(M, M, M, beta=-1.0), of([[-6, -8], [12, 6]])),
    (lambda: F.linalg.syrk(M), of([[5, -5], [-5, 25]])),
    (lambda: F.linalg.potrf(np.array([[4, 2], [2, 5]])), of([[2, 0], [1, 2]])),
    (lambda: F.linalg.sumlogdiag(np.array([[1, 9], [0, math.e]])), of(1)),
    (lambda: F.linalg.extractdiag(M), of([1, 4])),
    (lambda: F.linalg_det(M), of(10)),
    (lambda: F.smooth_l1(np.array([0.5, 2]), scalar=1.0), of([0.125, 1.5])),
    (lambda: F.hard_sigmoid(np.array([0, 9])), of([0.5, 1])),
    (lambda: F.contrib.div_sqrt_dim(X), N / 2),
    (lambda: F.contrib.isnan(np.array([math.nan, 1])), numpy.array([True, False])),
]


def _softmax(x: Any, axis: int) -> Any:
    e = numpy.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


W, B, PIXELS = np.array([[1, 0], [2, 1], [0, 1]]), np.array([1, 2, 3]), np.arange(16).reshape(1, 1, 4, 4)
LAYERS = [
    (lambda: F.FullyConnected(M, W, B, num_hidden=3, name="fwd"), M.asnumpy() @ W.asnumpy().T + B.asnumpy()),
    (lambda: F.FullyConnected(M, W, None, no_bias=True, num_hidden=3, flatten=False), M.asnumpy() @ W.asnumpy().T),
    (lambda: F.FullyConnected(data=M, weight=W, bias=B, no_bias=True, num_hidden=3), M.asnumpy() @ W.asnumpy().T),
    (lambda: F.Convolution(PIXELS, np.ones((1, 1, 3, 3)), np.ones(1), kernel=(3, 3), num_filter=1, name="fwd"),
     of([[[[46, 55], [82, 91]]]])),
    (lambda: F.Convolution(data=PIXELS, weight=np.ones((1, 1, 3, 3)), no_bias=True, kernel=(3, 3), num_filter=1),
     of([[[[45, 54], [81, 90]]]])),
    (lambda: F.Pooling(PIXELS, kernel=(2, 2), stride=(2, 2), pool_type="max"), of([[[[5, 7], [13, 15]]]])),
    (lambda: F.Pooling(PIXELS, (2, 2), "avg", stride=(2, 2)), of([[[[2.5, 4.5], [10.5, 12.5]]]])),
    (lambda: F.Pooling(PIXELS, global_pool=True, pool_type="avg"), of([[[[7.5]]]])),
    (lambda: F.Pooling(PIXELS, (3, 3), "sum", False, False, "full", (2, 2))[0, 0, 1], of([66, 50])),
    (lambda: F.UpSampling(M.reshape((1, 1, 2, 2)), scale=2, sample_type="nearest")[0, 0, 0], of([1, 1, -2, -2])),
    (lambda: F.UpSampling(np.ones((1, 1, 2, 2)), np.ones((1, 1, 4, 4)), scale=2, sample_type="bilinear", num_filter=1),
     of([[[[1, 2, 2, 1], [2, 4, 4, 2], [2, 4, 4, 2], [1, 2, 2, 1]]]])),
    (lambda: F.Activation(M, act_type="relu"), of([[1, 0], [3, 4]])),
    (lambda: F.LeakyReLU(M, slope=0.5), of([[1, -1], [3, 4]])),
    (lambda: F.LeakyReLU(M, np.array([0.25]), act_type="prelu"), of([[1, -0.5], [3, 4]])),
    (lambda: F.Dropout(M, p=0.5), M.asnumpy()),  # outside of training
    (lambda: F.BatchNorm(M, gamma=np.array([2, 2]), beta=np.ones(2), moving_mean=np.array([2, 1]),
                         moving_var=np.array([1, 9]), eps=0.0, fix_gamma=False, name="fwd"), of([[-1, -1], [3, 3]])),
    (lambda: F.LayerNorm(M, np.ones(2), np.zeros(2), eps=0.0), of([[1, -1], [-1, 1]])),
    (lambda: F.L2Normalization(np.array([[3, 4]]), mode="instance"), of([[0.6, 0.8]])),
    (lambda: F.softmax(M, axis=0), _softmax(M.asnumpy(), 0)),
    (lambda: F.softmax(data=M, axis=-1, temperature=2.0), _softmax(M.asnumpy() / 2, 1)),
    (lambda: F.log_softmax(M, 1, 2.0), numpy.log(_softmax(M.asnumpy() / 2, 1))),
    (lambda: F.softmin(M, axis=1), _softmax(-M.asnumpy(), 1)),
    (lambda: F.SoftmaxActivation(X), _softmax(N.reshape(2, 12), 1).reshape(N.shape)),
    (lambda: F.SoftmaxActivation(X, mode="channel"), _softmax(N, 1)),
    (lambda: F.softmax_cross_entropy(np.zeros((2, 4)), np.array([0, 1])), of(2 * math.log(4))),
]  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), REDUCTIONS + SHAPES + PLACES + NUMBERS + LAYERS)
def test_values(call: Any, expected: Any) -> None:
    made = call()
    assert made.shape == expected.shape and made.dtype == expected.dtype
    close(made.asnumpy(), expected, 2e-6)


def test_comparisons_of_numbers() -> None:
    assert (F.equal(1, 3), F.lesser(1, 3), F.logical_and(2, 3)) == (0, 1, 1)


@pytest.mark.parametrize(
    "call",
    [
        *(lambda o: F.equal(M, M[0], **o), lambda o: F.argmax(M, axis=0, **o), lambda o: F.sum(M, axis=0, **o)),
        *(lambda o: F.round(V, **o), lambda o: F.dot(M, M, **o), lambda o: F.concat(M, M, dim=0, **o)),
        *(lambda o: F.softmax(M, axis=0, **o), lambda o: F.one_hot(V[:1], 3, **o), lambda o: F.tile(M, (1, 2), **o)),
        *(lambda o: F.topk(M, k=1, ret_typ="value", **o), lambda o: F.expand_dims(M, axis=1, **o)),
        *(lambda o: F.take(M, np.array([1]), **o), lambda o: F.reshape(X, (0, -1), **o)),
        *(lambda o: F.linalg.gemm2(M, M, **o), lambda o: F.FullyConnected(M, W, B, num_hidden=3, **o)),
    ],
)
def test_results_go_where_out_says(call: Any) -> None:
    wanted = call({})
    into = np.zeros_like(wanted)
    assert call({"out": into}) is into and into.tolist() == wanted.tolist() != np.zeros_like(wanted).tolist()
    with pytest.raises(ValueError, match="out has shape"):
        call({"out": np.zeros((7, 7))})


def test_losses_by_their_names() -> None:
    scores, classes = np.random.normal(size=(2, 6, 5)), np.array([[1, 2], [3, -1]])
    direct = npx.ctc_loss(scores.swapaxes(0, 1), classes, blank_label="last")
    for ctc in (F.CTCLoss, F.contrib.CTCLoss, F.contrib.ctc_loss, F.ctc_loss):
        same(ctc(scores.swapaxes(0, 1), classes, blank_label="last"), direct.asnumpy())


def _slope(function: Any, x: Any) -> Any:
    x.attach_grad()
    with autograd.record():
        out = function(x)
    out.backward()
    return x.grad


def test_gradients() -> None:
    same(_slope(lambda x: F.BlockGrad(x) * x, np.array([3.0])), of([3]))
    same(_slope(lambda x: F.make_loss(5 * x), np.array([3.0])), of([5]))
    same(_slope(lambda x: 7 * F.MakeLoss(x, grad_scale=0.5), np.array([3.0])), of([0.5]))
    same(_slope(lambda x: F.contrib.gradientmultiplier(x, scalar=-2.0), np.array([3.0])), of([-2]))
    same(_slope(lambda x: F.where(np.array([0, 1]), x, -x), np.ones((2, 2))), of([[-1, -1], [1, 1]]))
    label = np.array([1, 0])
    chances = _softmax(M.asnumpy(), 1)
    wanted = chances - of([[0, 1], [1, 0]])
    close(_slope(lambda x: F.SoftmaxOutput(x, label, name="softmax"), M.copy()).asnumpy(), wanted, 1e-6)
    close(F.SoftmaxOutput(M, label).asnumpy(), chances, 1e-6)
    kept = {"use_ignore": True, "ignore_label": 0, "normalization": "valid", "grad_scale": 3.0}
    close(_slope(lambda x: F.SoftmaxOutput(x, label, **kept), M.copy()).asnumpy(), 3 * wanted * of([[1], [0]]), 1e-6)
    places = np.zeros((2, 4))
    many = _slope(lambda x: F.SoftmaxOutput(x, places, multi_output=True, normalization="batch"), X.copy())
    hot = (numpy.arange(3) == 0).astype("float32").reshape(1, 3, 1)
    close(many.asnumpy(), (_softmax(N, 1) - hot) / 2 / 4, 1e-6)  # by the batch, and by the places of each example


def _output_slope(label: Any, **options: Any) -> Any:
    return _slope(lambda x: 2 * F.SoftmaxOutput(x, np.array(label), **options), X.copy()).asnumpy()


def test_gradients_of_softmax_output_by_its_options() -> None:
    """Against MXNet's formulas; the gradient from above, 2, counts only with out_grad."""
    places = numpy.array([[0, 1, 2, 0], [1, 1, -1, 2]], "float32")
    hot = (numpy.arange(3)[:, None] == places[:, None]).astype("float32")
    chances = _softmax(N, 1)
    wanted = chances - hot
    for shape in ((2, 4), (2, 1, 4)):
        close(_output_slope(places.reshape(shape), multi_output=True), wanted / 4, 1e-6)
    kept = wanted * (places != -1)[:, None]
    close(_output_slope(places, multi_output=True, normalization="valid"), wanted / 7, 1e-6)
    close(_output_slope(places, multi_output=True, normalization="valid", use_ignore=True), kept / 7, 1e-6)
    close(_output_slope(places, multi_output=True, normalization="batch", use_ignore=True), kept / 8, 1e-6)
    close(_output_slope(places, multi_output=True, out_grad=True, grad_scale=3.0), wanted * 2 * 3 / 4, 1e-6)
    ignored = _output_slope(-numpy.ones((2, 4)), multi_output=True, normalization="valid", use_ignore=True)
    assert not ignored.any()
    close(_output_slope(hot, multi_output=True, normalization="batch", grad_scale=2.0), 2 * wanted, 1e-6)

    rows = numpy.array([[0, 1, 2], [3, 0, 1]], "int32")
    hot = (numpy.arange(4) == rows[..., None]).astype("float32")
    wanted = _softmax(N, 2) - hot
    close(_output_slope(rows, preserve_shape=True), wanted, 1e-6)
    close(_output_slope(rows, preserve_shape=True, normalization="batch"), wanted / 6, 1e-6)
    close(_output_slope(hot, preserve_shape=True, out_grad=True), wanted * 2, 1e-6)
    smooth = _softmax(N, 2) - numpy.where(hot > 0, 1 - 0.3, 0.3 / 3)
    close(_output_slope(rows, preserve_shape=True, smooth_alpha=0.3), smooth, 1e-6)
    flat = _softmax(N.reshape(2, 12), 1) - numpy.eye(12)[[5, 11]]
    close(_output_slope([5, 11], normalization="batch"), flat.reshape(N.shape) / 2, 1e-6)


def test_gradients_of_losses_by_their_normalization() -> None:
    x = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, 4.0]])
    for options, wanted in (
        ({"normalization": "batch", "grad_scale": 3.0}, 1.5),
        ({"normalization": "valid"}, 1 / 4),
        ({"normalization": "valid", "valid_thresh": 0.7, "grad_scale": 6.0}, 2),
        ({"normalization": "valid", "valid_thresh": 9.0}, 1),
    ):
        close(_slope(lambda x, o=options: F.MakeLoss(x, **o), x).asnumpy(), numpy.full((2, 3), wanted), 1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda **option: F.SoftmaxOutput(M, np.zeros(2), **option),
        lambda **option: F.MakeLoss(M, **option),
        lambda **option: F.dot(M, M, **option),
        lambda **option: F.UpSampling(PIXELS, scale=2, **option),
    ],
)
def test_unknown_options_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="transpoze_a"):
        call(transpoze_a=True)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda: F.random.normal(0, 1, shape=(2, 3)), (2, 3)),
        (lambda: F.random.uniform(0, 1, (2,)), (2,)),
        (lambda: F.random.uniform(low=-1, high=1, shape=3, dtype="float64", ctx=npx.cpu()), (3,)),
        (lambda: F.random_normal(loc=0, scale=1, shape=(2,), name="noise"), (2,)),
        (lambda: F.random_uniform(size=(2,)), (2,)),
        (lambda: F.random.normal(np.zeros(3), np.ones(3), shape=(5,)), (3, 5)),
        (lambda: F.sample_normal(mu=np.zeros(3), sigma=np.ones(3), shape=2), (3, 2)),
        (lambda: F.random.gamma(alpha=9, beta=0.5, shape=(4,)), (4,)),
        (lambda: F.random.exponential(2.0, shape=(4,)), (4,)),
        (lambda: F.random.negative_binomial(k=3, p=0.5, shape=(4,)), (4,)),
        (lambda: F.random.randint(0, 5, shape=(2, 2)), (2, 2)),
        (lambda: F.random.randn(2, 3, loc=1), (2, 3)),
        (lambda: F.random.normal(numpy.zeros(2), 1), (2,)),
        (lambda: F.random.normal(numpy.zeros(2), 1, shape=3), (2, 3)),
        (lambda: F.random.uniform([0, 1], [1, 2], shape=(3, 4)), (2, 3, 4)),
        (lambda: F.random.poisson([1, 5, 9]), (3,)),
        (lambda: F.random.generalized_negative_binomial([1, 2], numpy.ones(2), shape=3), (2, 3)),
        (lambda: F.random_exponential(lam=[1, 2], shape=3), (2, 3)),
        (lambda: F.random.normal(np.zeros(3), 1, size=(2, 3)), (2, 3)),  # size: of all, as in np
        (lambda: F.random.gamma(alpha=[1, 2], beta=1.0, size=(5, 2)), (5, 2)),
        (lambda: F.random.gamma(shape=2.0, scale=3.0, size=4), (4,)),
        (lambda: F.random.negative_binomial(n=3, p=0.5, size=4), (4,)),
        (lambda: F.random.multinomial(np.array([[0, 1.0], [1, 0]]), shape=3), (2, 3)),
        (lambda: F.random.bernoulli(0.5, size=(2,)), (2,)),
        (lambda: F.shuffle(X), (2, 3, 4)),
    ],
)
def test_shapes_of_random_numbers(call: Any, shape: Any) -> None:
    assert call().shape == shape


def test_types_of_counts() -> None:
    for name, parameters in (
        *(("poisson", (2.0,)), ("binomial", (3, 0.5)), ("negative_binomial", (3, 0.5))),
        ("generalized_negative_binomial", (2.0, 0.5)),
    ):
        assert getattr(F.random, name)(*parameters, shape=2).dtype == "float32", name
        assert getattr(F, f"sample_{name}")(*([p] for p in parameters)).dtype == "float32", name
        assert getattr(F.random, name)(*parameters, 2, "int64").dtype == "int64", name
    assert F.random.randint(0, 5, shape=2).dtype == F.random_randint(0, 5, size=2).dtype == "int32"
    assert F.random.randint(0, 5, 2, dtype="int64").dtype == "int64"


def test_parameters_of_random_numbers() -> None:
    np.random.seed(3)
    n = 20000
    for drawn, mean in (
        (F.random.exponential(scale=4.0, shape=n), 4),
        (F.random_exponential(lam=4.0, shape=n), 0.25),
        (F.random.gamma(3.0, 2.0, shape=(n,)), 6),
        (F.random.negative_binomial(3, 0.4, shape=n), 4.5),
        (F.random.generalized_negative_binomial(mu=2.0, alpha=0.3, shape=n), 2),
    ):
        assert abs(drawn.mean().item() / mean - 1) < 0.05
    assert abs(F.random.generalized_negative_binomial(2.0, 0.3, n).var().item() / (2 + 0.3 * 4) - 1) < 0.1
    rows = F.random.normal(np.array([0.0, 100.0]), np.array([1.0, 1.0]), shape=(50,))
    assert (rows.mean(axis=1) > 50).tolist() == [False, True]
    assert F.random.multinomial(np.array([0, 1.0, 0]), shape=2).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "F.nothing: there is no such function; F.np and F.npx are what there is"),
        ("LinearRegressionOutput", "does not exist in Slipstream: .*gluon.loss"),
        ("Variable", "does not exist in Slipstream: there are no symbols"),
        ("sparse", "there are no sparse arrays"),
        ("SpatialTransformer", "compose it of F.gather_nd"),
        ("Custom", "use autograd.Function"),
        ("Crop", "use F.slice"),
        ("sgd_update", "use an optimizer"),
    ],
)
def test_absent_names_say_what_to_use(name: str, words: str) -> None:
    with pytest.raises(AttributeError, match=words):
        getattr(F, name)


def test_what_calls_refuse() -> None:
    with pytest.raises(AttributeError, match=r"F.linalg.trsm does not exist in Slipstream: use F.np.linalg"):
        F.linalg.trsm
    with pytest.raises(TypeError, match=r"F.var\('w'\) does not exist in Slipstream: there are no symbols"):
        F.var("w")
    with pytest.raises(AttributeError, match=r"F.contrib.nothing: there is no such function"):
        F.contrib.nothing
    with pytest.raises(TypeError, match=r"F.expand_dims: takes data, axis, each once; got 2 and axis"):
        F.expand_dims(X, 1, axis=1)
    with pytest.raises(TypeError, match=r"F.clip: takes data, a_min, a_max, each once; got 4"):
        F.clip(X, 1, 2, 3)
    with pytest.raises(TypeError, match=r"random.uniform: takes low, high, shape, dtype, ctx, each once"):
        F.random.uniform(0, 1, low=0)
    with pytest.raises(TypeError, match=r"random.randint: low and high must be given"):
        F.random.randint(3)
    with pytest.raises(TypeError, match=r"random.normal: takes loc, scale, .*got 0 values and \['scael'\]"):
        F.random.normal(scael=2)
    with pytest.raises(TypeError, match=r"random.normal: shape=2 and size=3 are given"):
        F.random.normal(shape=2, size=3)
    with pytest.raises(ValueError, match=r"alpha is 0; use random\.poisson"):
        F.random.generalized_negative_binomial(1.0, 0)
    with pytest.raises(ValueError, match=r"F.arange: infer_range=True: stop must be given"):
        F.arange(0, infer_range=True)
    with pytest.raises(ValueError, match=r"F.reshape: shape=\(0, -5\) has another code"):
        F.reshape(X, shape=(0, -5))
    with pytest.raises(ValueError, match="normalization='sum' is none of"):
        F.SoftmaxOutput(M, np.zeros(2), normalization="sum")
    with pytest.raises(ValueError, match=r"F.MakeLoss: normalization='sum' is none of"):
        F.MakeLoss(M, normalization="sum")
    with pytest.raises(ValueError, match=r"F.SoftmaxOutput: label of shape \(2, 3\) for data of shape \(2, 3, 4\)"):
        F.SoftmaxOutput(X, np.zeros((2, 3)), multi_output=True)
    assert F.dot(M, M, forward_stype="default").shape == (2, 2)
    assert F.UpSampling(PIXELS, scale=2, num_args=1, workspace=512, multi_input_mode="concat").shape == (1, 1, 8, 8)
    with pytest.raises(ValueError, match=r"F\.UpSampling: 2 images"):
        F.UpSampling(PIXELS, PIXELS, scale=2)


def test_a_program_for_mxnet_1() -> None:
    class Attention(gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.F = F  # a block that keeps F is copied as others are
            self.dense = nn.Dense(4, flatten=False)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            q, k, v = F.split(F.concat(*[self.dense(x)] * 3, dim=-1), num_outputs=3, axis=-1)
            scores = F.softmax(F.batch_dot(q, k, transpose_b=True), axis=-1)
            flat = F.reshape(F.batch_dot(scores, v), shape=(0, -1))
            return F.broadcast_div(flat, F.sqrt(F.sum(F.square(flat), axis=0, exclude=True, keepdims=True)))

    net = Attention()
    net.initialize()
    made = net(X)
    assert made.shape == (2, 12)
    close((made.asnumpy() ** 2).sum(1), of([1, 1]), 1e-5)
    assert copy.deepcopy(net)(X).tolist() == made.tolist()
    assert pickle.loads(pickle.dumps(F.random)).uniform(shape=2).shape == (2,)


@pytest.mark.parametrize("generation", [1, 2])
def test_a_loss_of_ones_own(generation: int) -> None:
    from slipstream.gluon.loss import Loss, _apply_weighting, _reshape_like

    class First(Loss):
        def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            loss = F.abs(pred - _reshape_like(F, label, pred))
            return F.mean(_apply_weighting(F, loss, self._weight, sample_weight), axis=self._batch_axis, exclude=True)

    class Second(Loss):
        def forward(self, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            loss = np.abs(pred - npx.reshape_like(label, pred))
            return np.mean(_apply_weighting(loss, self._weight, sample_weight=sample_weight), axis=1)

    loss = (First if generation == 1 else Second)(0.5, 0)
    assert loss(M, np.zeros(4)).tolist() == [0.75, 1.75]
    assert loss(M, np.zeros(4), np.array([[2], [0]])).tolist() == [1.5, 0]
