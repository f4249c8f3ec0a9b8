"""MXNet 1's operators whose conventions np and npx have no longer, with MXNet 1's arguments in its order."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy

from .. import np, npx
from .._core import ndarray
from ..autograd import with_gradient
from ..np._arguments import as_array
from ..np._draws import is_number

C = TypeVar("C", bound=Callable[..., Any])

# By MXNet 1's name, with the module it was in, such as linalg.gemm2.
OPERATORS: dict[str, Callable[..., Any]] = {}

NO_SYMBOLS = "there are no symbols: F computes with arrays; a block's own parameters are arguments of hybrid_forward"


def _operator(*names: str) -> Callable[[C], C]:
    def keep(function: C) -> C:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return keep


def _sequence(arrays: tuple[Any, ...]) -> Any:
    """Arrays given one by one, or as one list."""
    return arrays[0] if len(arrays) == 1 and isinstance(arrays[0], (list, tuple)) else arrays


# ---- reductions


def _reduction(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, **options: Any) -> Any:
        if axis == ():
            axis = None
        if exclude and axis is not None:
            kept = {at % data.ndim for at in ([axis] if isinstance(axis, int) else axis)}
            axis = tuple(at for at in range(data.ndim) if at not in kept)
            if not axis:  # nothing is left to reduce, which is not what () means to MXNet
                data, axis = np.expand_dims(data, -1), data.ndim
                keepdims = False
        return function(data, axis=axis, keepdims=keepdims, **options)

    reduce.__name__ = name
    return reduce


for _name in ("sum", "mean", "prod", "nansum", "nanprod", "max", "min"):
    OPERATORS[_name] = _reduction(_name, getattr(np, _name))
for _name in ("sum", "max", "min"):
    OPERATORS[f"{_name}_axis"] = OPERATORS[_name]


def _argument(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def find(data: ndarray, axis: int | None = None, keepdims: bool = False) -> ndarray:
        """The place of the largest or smallest element, as MXNet 1 gives places: in the type of the array."""
        return npx.cast(function(data, axis=axis, keepdims=keepdims), data.dtype)

    find.__name__ = name
    return find


OPERATORS.update({name: _argument(name) for name in ("argmax", "argmin")})


@_operator("moments")
def moments(data: ndarray, axes: Any = None, keepdims: bool = False) -> list[ndarray]:
    """The mean and the variance."""
    return [np.mean(data, axis=axes, keepdims=keepdims), np.var(data, axis=axes, keepdims=keepdims)]


@_operator("var")
def var(a: Any, *args: Any, **options: Any) -> Any:
    """The variance, as np has it; symbols had this name too, and were made of a string."""
    if isinstance(a, str):
        raise TypeError(f"F.var({a!r}) does not exist in Slipstream: {NO_SYMBOLS}")
    return np.var(a, *args, **options)


# ---- comparisons, which give numbers


def _as_numbers(old: str, name: str) -> Callable[..., Any]:
    function, of_scalars = getattr(np, name), getattr(numpy, name)

    def compare(lhs: Any, rhs: Any) -> Any:
        """1 or 0, in the type of the first of both that is an array; of two numbers, a number."""
        if is_number(lhs) and is_number(rhs):
            return int(of_scalars(lhs, rhs))
        if not isinstance(lhs, ndarray) and not isinstance(rhs, ndarray):
            lhs, rhs = (side if is_number(side) else as_array(side) for side in (lhs, rhs))
        like = lhs if isinstance(lhs, ndarray) else rhs
        return npx.cast(function(lhs, rhs), like.dtype)

    compare.__name__ = old
    return compare


for _old, _new in {
    **{name: name for name in ("equal", "not_equal", "greater", "greater_equal")},
    **{name: name for name in ("logical_and", "logical_or", "logical_xor")},
    "lesser": "less",
    "lesser_equal": "less_equal",
}.items():
    OPERATORS[_old] = OPERATORS[f"broadcast_{_old}"] = _as_numbers(_old, _new)


@_operator("logical_not")
def logical_not(data: ndarray) -> ndarray:
    """1 where the array is 0, else 0."""
    return npx.cast(np.logical_not(data), data.dtype)


# ---- rounding


def _is_whole(data: ndarray) -> bool:
    """Whether the type has integers only: they are round, and keep their type."""
    return data.dtype.kind in "iub"


@_operator("round")
def round_away(data: ndarray) -> ndarray:
    """To integers, and away from 0 where two are equally near."""
    if _is_whole(data):
        return np.copy(data)
    size = np.abs(data)
    whole = np.floor(size)
    return np.copysign(np.where(size - whole >= 0.5, whole + 1, whole), data)


@_operator("rint")
def round_down(data: ndarray) -> ndarray:
    """To integers, and to the lower where two are equally near."""
    if _is_whole(data):
        return np.copy(data)
    whole = np.floor(data)
    made: ndarray = np.where(data - whole > 0.5, whole + 1, whole)
    return made


# ---- shapes

_CODES = {0: -2, -2: -4, -3: -5, -4: -6}  # MXNet 1's codes of shapes as MXNet 2 has them


@_operator("reshape", "Reshape")
def reshape(data: ndarray, shape: Any = (), reverse: bool = False) -> ndarray:
    """Another shape. 0: the axis as it is; -1: what is left; -2: all that remain; -3: two as one; -4: one as two."""
    given = [shape] if isinstance(shape, int) else list(shape)
    if min(given, default=0) < -4:
        raise ValueError(f"F.reshape: shape={tuple(given)} has another code than 0, -1, -2, -3, -4")
    return npx.reshape(data, [_CODES.get(n, n) for n in given], reverse)


@_operator("concat", "Concat")
def concat(*data: Any, dim: int = 1, num_args: Any = None) -> ndarray:
    """Arrays one behind the other along an axis."""
    return np.concatenate(_sequence(data), axis=dim)


@_operator("stack")
def stack(*data: Any, axis: int = 0, num_args: Any = None) -> ndarray:
    """Arrays along an axis of their own."""
    return np.stack(_sequence(data), axis)


@_operator("split", "SliceChannel")
def split(data: ndarray, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """Equal parts along an axis; a single part is given as such."""
    parts = npx.slice_channel(data, num_outputs, axis, squeeze_axis)
    return parts[0] if len(parts) == 1 else parts


@_operator("transpose")
def transpose(data: ndarray, axes: Any = None) -> ndarray:
    """Axes in another order; without one, backwards."""
    return np.transpose(data, axes or None)


@_operator("broadcast_to")
def broadcast_to(data: ndarray, shape: Any) -> ndarray:
    """Axes of length 1 repeated; 0 stands for an axis as it is."""
    if len(shape) == data.ndim:
        shape = tuple(n or old for n, old in zip(shape, data.shape, strict=True))
    return np.broadcast_to(data, shape)


@_operator("diag")
def diag(data: ndarray, k: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """The diagonal, or the matrix with this diagonal."""
    return np.diag(data, k) if data.ndim == 1 else np.diagonal(data, k, axis1, axis2)


@_operator("arange")
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Any = None,
    dtype: Any = None,
    **options: Any,
) -> ndarray:
    """Numbers from start to stop, each as often as `repeat` says."""
    if infer_range and stop is None:
        raise ValueError(f"F.arange: infer_range={infer_range}: stop must be given; or use F.contrib.arange_like")
    made = np.arange(start, stop, step, dtype=dtype, ctx=ctx, **options)
    return made if repeat == 1 else np.repeat(made, repeat)


@_operator("identity")
def identity(data: ndarray) -> ndarray:
    """A copy."""
    return np.copy(data)


# ---- by index


@_operator("take")
def take(a: ndarray, indices: Any, axis: int = 0, mode: str = "clip") -> ndarray:
    """Slices along an axis by their numbers; those out of range are moved into it."""
    return np.take(a, indices, axis=axis, mode=mode)


@_operator("pick")
def pick(data: ndarray, index: Any, axis: int | None = -1, keepdims: bool = False, mode: str = "clip") -> ndarray:
    """One element of each line along an axis."""
    return npx.pick(data, index, axis, mode, keepdims)


@_operator("where")
def where(condition: Any, x: Any, y: Any) -> ndarray:
    """Elements of x or y; a condition of one axis chooses among their rows."""
    if condition.ndim == 1 and isinstance(x, ndarray) and x.ndim > 1:
        condition = condition.reshape((-1,) + (1,) * (x.ndim - 1))
    made: ndarray = np.where(condition, x, y)
    return made


@_operator("ravel_multi_index")
def ravel_multi_index(data: ndarray, shape: Any) -> ndarray:
    """Places in the flat array, of columns of indices."""
    return npx.cast(np.ravel_multi_index(tuple(npx.cast(data, "int64")), tuple(shape)), data.dtype)


@_operator("unravel_index")
def unravel_index(data: ndarray, shape: Any) -> ndarray:
    """Columns of indices, of places in the flat array."""
    return npx.cast(np.stack(np.unravel_index(npx.cast(data, "int64"), tuple(shape))), data.dtype)


@_operator("sort")
def sort(data: ndarray, axis: int | None = -1, is_ascend: bool = True) -> ndarray:
    """Sorted along an axis, or all of it."""
    return np.sort(data, axis=axis, descending=not is_ascend)


@_operator("argsort")
def argsort(data: ndarray, axis: int | None = -1, is_ascend: bool = True, dtype: Any = "float32") -> ndarray:
    """The places that would sort the array, as floats."""
    return npx.cast(np.argsort(data, axis=axis, descending=not is_ascend), dtype)


@_operator("contrib.index_copy")
def index_copy(old_tensor: ndarray, index_vector: ndarray, new_tensor: ndarray) -> ndarray:
    """A copy with other rows at some places."""
    return npx.index_update(old_tensor, index_vector.reshape((1, -1)), new_tensor)


# ---- products


@_operator("dot")
def dot(
    lhs: ndarray, rhs: ndarray, transpose_a: bool = False, transpose_b: bool = False, forward_stype: Any = None
) -> ndarray:
    """Sums over the last axis of one and the first of the other; transposed, over the first and the last."""
    if {lhs.ndim, rhs.ndim} <= {1, 2}:  # the same, by a shorter way
        return np.dot(lhs.T if transpose_a else lhs, rhs.T if transpose_b else rhs)
    return np.tensordot(lhs, rhs, ([0 if transpose_a else -1], [-1 if transpose_b else 0]))


def _turned(a: ndarray, turn: bool) -> ndarray:
    return np.swapaxes(a, -1, -2) if turn else a


@_operator("linalg.gemm2")
def gemm2(A: ndarray, B: ndarray, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0) -> ndarray:
    """`alpha * A @ B`."""
    made = np.matmul(_turned(A, transpose_a), _turned(B, transpose_b))
    return made if alpha == 1 else alpha * made


@_operator("linalg.gemm")
def gemm(
    A: ndarray,
    B: ndarray,
    C: ndarray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> ndarray:
    """`alpha * A @ B + beta * C`."""
    return gemm2(A, B, transpose_a, transpose_b, alpha) + beta * C


@_operator("linalg.syrk")
def syrk(A: ndarray, transpose: bool = False, alpha: float = 1.0) -> ndarray:
    """`alpha * A @ A.T`, or with the factors exchanged."""
    return gemm2(A, A, transpose, not transpose, alpha)


@_operator("linalg.sumlogdiag")
def sumlogdiag(A: ndarray) -> ndarray:
    """The sum of the logarithms of the diagonal."""
    return np.log(np.linalg.diagonal(A)).sum(axis=-1)


@_operator("linalg.extractdiag")
def extractdiag(A: ndarray, offset: int = 0) -> ndarray:
    """Diagonals of matrices."""
    return np.linalg.diagonal(A, offset=offset)


@_operator("contrib.div_sqrt_dim")
def div_sqrt_dim(data: ndarray) -> ndarray:
    """Divided by the root of the last axis' length."""
    return data / math.sqrt(data.shape[-1])


# ---- layers


@_operator("FullyConnected")
def fully_connected(
    data: ndarray,
    weight: ndarray,
    bias: ndarray | None = None,
    num_hidden: int | None = None,
    no_bias: bool = False,
    flatten: bool = True,
) -> ndarray:
    """`x W' + b`. Here the bias counts unless `no_bias=True`."""
    return npx.fully_connected(data, weight, bias, num_hidden, no_bias or bias is None, flatten)


@_operator("Pooling")
def pooling(
    data: ndarray,
    kernel: Any = None,
    pool_type: str = "max",
    global_pool: bool = False,
    cudnn_off: bool = False,
    pooling_convention: str = "valid",
    stride: Any = None,
    pad: Any = None,
    **options: Any,
) -> ndarray:
    """See `npx.pooling`."""
    return npx.pooling(data, kernel, stride, pad, pool_type, pooling_convention, global_pool, **options)


@_operator("UpSampling")
def upsampling(
    *data: Any,
    scale: int,
    sample_type: str = "nearest",
    num_filter: int = 0,
    multi_input_mode: str = "concat",
    num_args: Any = None,
    workspace: Any = None,
) -> ndarray:
    """Images `scale` times as large; `bilinear` is a deconvolution with the weight that is given."""
    if sample_type != "bilinear" or len(data) == 1:
        if len(data) > 1:
            raise ValueError(f"F.UpSampling: {len(data)} images; scale each and join them by F.concat")
        return npx.upsampling(data[0], scale, sample_type)
    x, weight = data
    size, pad = 2 * scale - scale % 2, scale // 2
    windows: dict[str, Any] = {"kernel": (size,) * 2, "stride": (scale,) * 2, "pad": (pad,) * 2}
    channels = num_filter or x.shape[1]
    return npx.deconvolution(x, weight, **windows, num_filter=channels, num_group=channels, no_bias=True)


@_operator("SoftmaxActivation")
def softmax_activation(data: ndarray, mode: str = "instance") -> ndarray:
    """softmax of the channels (`mode="channel"`), or of all that belongs to an item of the batch."""
    if mode == "channel":
        return npx.softmax(data, axis=1)
    return npx.softmax(npx.batch_flatten(data), axis=-1).reshape(data.shape)


# ---- losses: some hand back a gradient of their own, whatever comes from above


@_operator("softmax_cross_entropy")
def softmax_cross_entropy(data: ndarray, label: ndarray) -> ndarray:
    """The cross entropy of scores, summed over the batch."""
    return -npx.pick(npx.log_softmax(data, axis=-1), label).sum()


def _check_normalization(owner: str, normalization: str) -> None:
    if normalization not in ("null", "batch", "valid"):
        raise ValueError(f"F.{owner}: normalization={normalization!r} is none of 'null', 'batch', 'valid'")


@_operator("make_loss", "MakeLoss")
def make_loss(
    data: ndarray, grad_scale: float = 1.0, valid_thresh: float = 0.0, normalization: str = "null"
) -> ndarray:
    """The array itself, whose gradient is `grad_scale`; by the batch, or by the elements above `valid_thresh`."""
    _check_normalization("MakeLoss", normalization)
    values = data.detach()
    count = data.shape[0] if normalization == "batch" else 1
    most = np.maximum((values > valid_thresh).sum(), 1) if normalization == "valid" else None

    def gradient(g: ndarray) -> ndarray:
        every = np.full_like(g, grad_scale / count)
        return every if most is None else npx.cast(every / most, g.dtype)

    made: ndarray = with_gradient(values, [data], gradient, name="make_loss")
    return made


@_operator("SoftmaxOutput")
def softmax_output(
    data: ndarray,
    label: ndarray,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: str = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
) -> ndarray:
    """softmax, whose gradient is that of the cross entropy with labels: classes, or chances in the shape of data.

    The gradient does not depend on what comes from above, unless `out_grad` says so.
    """
    _check_normalization("SoftmaxOutput", normalization)
    # Classes are along axis 1 of what is computed with; places within an example, if it has several, are behind it.
    shape = (math.prod(data.shape[:-1]), data.shape[-1]) if preserve_shape else npx.batch_flatten(data).shape
    if multi_output:
        shape = (*data.shape[:2], math.prod(data.shape[2:]))
    chances = npx.softmax(data.detach().reshape(shape), axis=1)
    as_chances = label.shape == data.shape
    places = (shape[0], *shape[2:])
    if not as_chances and label.size != math.prod(places):
        raise ValueError(f"F.SoftmaxOutput: label of shape {label.shape} for data of shape {data.shape}, {places=}")

    def difference(made: ndarray) -> ndarray:
        """The gradient of the scores; the labels' normalization is only for classes, as in MXNet."""
        if as_chances:
            return (made - npx.cast(label.reshape(shape), made.dtype)) * grad_scale
        classes, count = label.reshape(places), shape[1]
        off = smooth_alpha / (count - 1) if smooth_alpha else 0.0
        hot = npx.one_hot(classes, count, on_value=1 - smooth_alpha, off_value=off, dtype=made.dtype)
        found = made - np.moveaxis(hot, -1, 1)
        counted = npx.cast(np.not_equal(classes, ignore_label), made.dtype)
        if use_ignore:
            found = found * np.expand_dims(counted, 1)
        if normalization == "valid":  # also without use_ignore
            return found * (grad_scale / np.maximum(npx.cast(counted, "float32").sum(), 1)).astype(made.dtype)
        # A batch is all rows; with multi_output the mean over an example's places is taken in any case.
        rows = math.prod(places) if normalization == "batch" else math.prod(places[1:])
        return found * (grad_scale / rows)

    def gradient(above: ndarray, made: ndarray) -> ndarray:
        found = difference(made.reshape(shape)).reshape(data.shape)
        return found * above if out_grad else found

    made: ndarray = with_gradient(
        chances.reshape(data.shape), [data], gradient, name="SoftmaxOutput", keep_results=True
    )
    return made


@_operator("contrib.gradientmultiplier")
def gradient_multiplier(data: ndarray, scalar: float = 1.0) -> ndarray:
    """The array itself, whose gradient is multiplied."""
    made: ndarray = with_gradient(data.detach(), [data], lambda g: g * scalar, name="gradientmultiplier")
    return made


# ---- random numbers: `shape` of them, or for each element of arrays of parameters


def draw(function: Callable[..., Any], parameters: tuple[Any, ...], shape: Any, options: dict[str, Any]) -> ndarray:
    """Numbers by a function of np.random; those for one element of the parameters are along the last axes."""
    arrays = [p for p in parameters if isinstance(p, _ARRAYS)]
    if arrays and shape is not None:
        more = (shape,) if isinstance(shape, int) else tuple(shape)
        spread = (1,) * len(more)
        parameters = tuple(p.reshape(p.shape + spread) if isinstance(p, _ARRAYS) else p for p in parameters)
        shape = np.broadcast_shapes(*(a.shape for a in arrays)) + more
    made: ndarray = function(*parameters, shape, **options)
    return made


_ARRAYS = (ndarray, numpy.ndarray)


def _of_moments(mu: Any, alpha: Any) -> tuple[Any, Any]:
    if not isinstance(alpha, _ARRAYS) and alpha == 0:
        raise ValueError("random.generalized_negative_binomial: alpha is 0; use random.poisson")
    return 1 / alpha, 1 / (1 + mu * alpha)


class _Draw(NamedTuple):
    """A function of np.random, its parameters as MXNet has them, what becomes of them, and MXNet 1's type."""

    function: str
    defaults: dict[str, Any]
    change: Callable[..., tuple[Any, ...]] | None = None
    dtype: Any = None


_DRAWS = {
    "normal": _Draw("normal", {"loc": 0.0, "scale": 1.0}),
    "uniform": _Draw("uniform", {"low": 0.0, "high": 1.0}),
    "exponential": _Draw("exponential", {"scale": 1.0}),
    "gamma": _Draw("gamma", {"alpha": 1.0, "beta": 1.0}),
    "poisson": _Draw("poisson", {"lam": 1.0}, dtype="float32"),
    "binomial": _Draw("binomial", {"n": 1, "p": 0.5}, dtype="float32"),
    "negative_binomial": _Draw("negative_binomial", {"k": 1, "p": 1.0}, dtype="float32"),
    "generalized_negative_binomial": _Draw(
        "negative_binomial", {"mu": 1.0, "alpha": 1.0}, _of_moments, dtype="float32"
    ),
    "randint": _Draw("randint", {"low": ..., "high": ...}, dtype="int32"),
}


def _drawing(name: str, row: _Draw) -> Callable[..., Any]:
    order = (*row.defaults, "shape", "dtype", "ctx")
    function = getattr(np.random, row.function)
    of_np = inspect.signature(function).parameters.keys() if row.change is None else set()

    def drawn(*args: Any, **options: Any) -> Any:
        foreign = options.keys() - {*order, "size", "device", "out"}
        if foreign and foreign <= of_np:  # a call by np's names means np's function
            return function(*args, **options)
        given = dict(zip(order, args, strict=False))
        if foreign or len(args) > len(order) or given.keys() & options.keys():
            raise TypeError(f"{name}: takes {', '.join(order)}, each once; got {len(args)} values and {list(options)}")
        given |= options
        parameters = tuple(given.pop(key, default) for key, default in row.defaults.items())
        if any(p is ... for p in parameters):
            raise TypeError(f"{name}: {' and '.join(row.defaults)} must be given")
        parameters = tuple(numpy.asarray(p) if isinstance(p, (list, tuple)) else p for p in parameters)
        if row.change:
            parameters = row.change(*parameters)
        if given.get("dtype") is None:
            given["dtype"] = row.dtype
        shape, size = given.pop("shape", None), given.pop("size", None)
        if size is None:
            return draw(function, parameters, shape, given)
        if shape is not None:
            raise TypeError(f"{name}: shape={shape} and size={size} are given; size is of all, shape of each element")
        return function(*parameters, size, **given)  # as in np, the shape of the result

    drawn.__name__ = name
    return drawn


def randn(*shape: int, loc: float = 0.0, scale: float = 1.0, **options: Any) -> ndarray:
    """Normal numbers in a shape."""
    return np.random.normal(loc, scale, shape or None, **options)


def multinomial(data: Any, shape: Any = None, get_prob: bool = False, dtype: Any = "int32") -> Any:
    """Numbers of categories, by the probabilities along the last axis."""
    return npx.random.categorical(data, shape, get_prob, dtype)


for _name, _row in _DRAWS.items():
    for _operator_name in (f"random.{_name}", f"random_{_name}", f"sample_{_name}"):
        OPERATORS[_operator_name] = _drawing(_operator_name, _row)
OPERATORS["sample_normal"] = _drawing("sample_normal", _Draw("normal", {"mu": 0.0, "sigma": 1.0}))
for _name in ("random_exponential", "sample_exponential"):  # by the rate, not by the mean
    OPERATORS[_name] = _drawing(_name, _Draw("exponential", {"lam": 1.0}, lambda lam: (1 / lam,)))
OPERATORS |= {"random.randn": randn, "shuffle": np.random.permutation, "random.shuffle": np.random.permutation}
OPERATORS |= dict.fromkeys(("random.multinomial", "sample_multinomial"), multinomial)
OPERATORS |= {name: OPERATORS[f"random.{name}"] for name in ("normal", "uniform")}
for _name in [name for name in OPERATORS if name.startswith("linalg.")]:
    OPERATORS[_name.replace(".", "_")] = OPERATORS[_name]
