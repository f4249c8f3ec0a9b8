"""The argument F of MXNet 1's `hybrid_forward(self, F, x)`: its operators by their names, with their conventions.

What np and npx have under another name, or with other names of arguments, is a row of a table here; what means another
thing is a function of `_operators`. All other names are those of np and npx.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .. import np, npx
from ..npx._out import with_out
from ._operators import NO_SYMBOLS, OPERATORS

# MXNet 1's name, if it is not ours: our name. Arguments are the same, in the same order.
_RENAMED = {
    "Activation": "activation",
    "BlockGrad": "stop_gradient",
    "CTCLoss": "ctc_loss",
    "Cast": "cast",
    "Convolution": "convolution",
    "Deconvolution": "deconvolution",
    "Dropout": "dropout",
    "ElementWiseSum": "add_n",
    "Embedding": "embedding",
    "Flatten": "batch_flatten",
    "GroupNorm": "group_norm",
    "InstanceNorm": "instance_norm",
    "L2Normalization": "l2_normalization",
    "LRN": "lrn",
    "LayerNorm": "layer_norm",
    "LeakyReLU": "leaky_relu",
    "Pad": "pad",
    "RNN": "rnn",
    "ROIPooling": "roi_pooling",
    "SequenceLast": "sequence_last",
    "SequenceMask": "sequence_mask",
    "SequenceReverse": "sequence_reverse",
    "amp_cast": "cast",
    "broadcast_axis": "broadcast_axes",
    "contrib.AdaptiveAvgPooling2D": "adaptive_avg_pool2d",
    "contrib.BilinearResize2D": "bilinear_resize2d",
    "contrib.CTCLoss": "ctc_loss",
    "contrib.DeformableConvolution": "deformable_convolution",
    "contrib.ModulatedDeformableConvolution": "modulated_deformable_convolution",
    "contrib.MultiBoxDetection": "multibox_detection",
    "contrib.MultiBoxPrior": "multibox_prior",
    "contrib.MultiBoxTarget": "multibox_target",
    "contrib.ROIAlign": "roi_align",
    "contrib.SyncBatchNorm": "sync_batch_norm",
    "crop": "slice",
    "elemwise_sum": "add_n",
    "flatten": "batch_flatten",
    "linalg.potrf": "linalg.cholesky",
    "linalg.inverse": "linalg.inv",
    "linalg_det": "linalg.det",
    "linalg_inverse": "linalg.inv",
    "linalg_potrf": "linalg.cholesky",
    "linalg_slogdet": "linalg.slogdet",
}

# Functions of one array, which MXNet calls data, and of two, lhs and rhs; by our names.
_ONE = "abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees digamma erf erfinv exp expm1 fix"
_ONE += " floor gamma gammaln log log10 log1p log2 negative ones_like radians rcbrt reciprocal relu rsqrt sigmoid sign"
_ONE += " sin sinh softsign sqrt square tan tanh trunc zeros_like"
_TWO = {name: name for name in ("add", "divide", "hypot", "maximum", "minimum", "multiply", "power", "subtract")}
_TWO["modulo"] = "mod"
_BROADCAST = {"add": "add", "plus": "add", "sub": "subtract", "minus": "subtract", "mul": "multiply", "div": "divide"}
_BROADCAST |= {"mod": "mod", "power": "power", "hypot": "hypot", "maximum": "maximum", "minimum": "minimum"}
_TWO |= {f"broadcast_{old}": new for old, new in _BROADCAST.items()}
_TWO |= {f"elemwise_{old}": _BROADCAST[old] for old in ("add", "sub", "mul", "div")}

# Our name, the arrays, which are given by place, and the options by name: MXNet 1's names in its order, old=ours.
_ROWS = {
    "BatchNorm": (
        *("batch_norm", "data gamma beta moving_mean moving_var"),
        "eps momentum fix_gamma use_global_stats output_mean_var axis cudnn_off",
    ),
    "SwapAxis": ("swapaxes", "data", "dim1=axis1 dim2=axis2"),
    "batch_dot": ("batch_dot", "lhs rhs", "transpose_a transpose_b forward_stype"),
    "batch_take": ("pick", "a indices", ""),
    "clip": ("clip", "data", "a_min a_max"),
    "expand_dims": ("expand_dims", "data", "axis"),
    "flip": ("flip", "data", "axis"),
    "full": ("full", "shape val", "dtype"),
    "log_softmax": ("log_softmax", "data", "axis temperature dtype use_length"),
    "one_hot": ("one_hot", "indices", "depth on_value off_value dtype"),
    "repeat": ("repeat", "data", "repeats axis"),
    "reverse": ("flip", "data", "axis"),
    "softmin": ("softmin", "data", "axis temperature dtype use_length"),
    "squeeze": ("squeeze", "data", "axis"),
    "swapaxes": ("swapaxes", "data", "dim1=axis1 dim2=axis2"),
    "tile": ("tile", "data reps", ""),
    **{name: (name, "data", "") for name in _ONE.split()},
    **{old: (new, "lhs rhs", "") for old, new in _TWO.items()},
}

_GLUON = "there are no output layers; use the losses of gluon.loss"
_SPARSE = "there are no sparse arrays; use dense ones"
_LINALG = "use F.np.linalg: cholesky, inv, solve, qr, eigh"
_SAMPLING = "compose it of F.gather_nd, F.take and F.np, or resize by F.contrib.BilinearResize2D"
_UPDATE = "use an optimizer of mx.optimizer with gluon.Trainer"
_INSTEAD = {
    **dict.fromkeys(("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput", "SVMOutput"), _GLUON),
    **dict.fromkeys(("Group", "Variable", "load_json"), NO_SYMBOLS),
    **dict.fromkeys(("cast_storage", "csr_matrix", "row_sparse_array", "sparse", "sparse_retain"), _SPARSE),
    **dict.fromkeys(("BilinearSampler", "GridGenerator", "SpatialTransformer"), _SAMPLING),
    **dict.fromkeys((f"linalg.{name}" for name in ("gelqf", "potri", "syevd", "trmm", "trsm")), _LINALG),
    **dict.fromkeys((f"linalg_{name}" for name in ("gelqf", "potri", "syevd", "trmm", "trsm")), _LINALG),
    **dict.fromkeys(("adam_update", "ftrl_update", "sgd_mom_update", "sgd_update"), _UPDATE),
    "Correlation": "compose it of F.slice_axis, F.pad and F.sum",
    "Crop": "use F.slice, F.slice_axis or F.slice_like",
    "Custom": "use autograd.Function for operators of your own",
    "IdentityAttachKLSparseReg": "add the penalty to the loss",
    "contrib.fft": "use F.np.fft.fft",
    "contrib.ifft": "use F.np.fft.ifft",
    "im2col": "use F.Convolution",
    "col2im": "use F.Deconvolution",
}

# Where names are looked for: functions of F, and of the modules within it.
_HOMES: dict[str, tuple[ModuleType, ...]] = {
    "": (npx, np),
    "contrib.": (npx, np),
    "image.": (npx.image,),
    "linalg.": (np.linalg,),
    "random.": (np.random, npx.random),
}


def _with_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """All of MXNet 1's operators take `out`, so those of our functions that do not get it here."""
    return function if "out" in inspect.signature(function).parameters else with_out(function)


def _adapted(owner: str, function: Callable[..., Any], arrays: list[str], options: dict[str, str]) -> Any:
    """A function with MXNet 1's arguments: arrays by place, options by our names."""
    order, function = (*arrays, *options), _with_out(function)

    def call(*args: Any, name: Any = None, attr: Any = None, **given: Any) -> Any:
        if not given and len(args) <= len(arrays):
            return function(*args)
        bound = dict(zip(order, args, strict=False))
        if len(args) > len(order) or bound.keys() & given.keys():
            raise TypeError(f"F.{owner}: takes {', '.join(order)}, each once; got {len(args)} and {', '.join(given)}")
        bound |= given
        first = [bound.pop(array, None) for array in arrays]
        while first and first[-1] is None:
            first.pop()
        return function(*first, **{options.get(key, key): value for key, value in bound.items()})

    return call


def _without_name(function: Callable[..., Any]) -> Any:
    """Symbols had names."""
    function = _with_out(function)

    @functools.wraps(function)
    def call(*args: Any, name: Any = None, attr: Any = None, **options: Any) -> Any:
        return function(*args, **options)

    return call


def _look_up(path: str, modules: tuple[ModuleType, ...]) -> Any:
    """What a name with dots means in the first of the modules that has it."""
    for module in modules:
        found: Any = module
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None


def _find(prefix: str, name: str) -> Any:
    path = prefix + name
    if f"{path}." in _HOMES:
        return Namespace(f"{path}.")
    if path in OPERATORS:
        return _without_name(OPERATORS[path])
    if path in _ROWS:
        ours, arrays, options = _ROWS[path]
        pairs = (option.partition("=") for option in options.split())
        named = {old: new or old for old, _, new in pairs}
        return _adapted(path, _look_up(ours, _HOMES[""]), arrays.split(), named)
    if path in _INSTEAD:
        raise AttributeError(f"F.{path} does not exist in Slipstream: {_INSTEAD[path]}")
    found = _look_up(_RENAMED[path], _HOMES[""]) if path in _RENAMED else None
    if found is None and not name.startswith("_"):
        found = _look_up(name, _HOMES[prefix])
    if found is None and prefix == "contrib." and name in (_ROWS.keys() | OPERATORS.keys()):
        return _find("", name)
    if found is None:
        raise AttributeError(f"F.{path}: there is no such function; F.np and F.npx are what there is")
    return _without_name(found) if callable(found) and not isinstance(found, type) else found


class Namespace:
    """`F.np`, `F.npx`, and `F.name` for MXNet 1's operators and for the functions of both.

    >>> F.relu(np.array([-1.0, 1.0])), F.np.ones(1)
    (array([0., 1.]), array([1.]))
    >>> F.reshape(np.ones((2, 3, 4)), shape=(0, -1)).shape
    (2, 12)
    """

    np: ModuleType = np
    npx: ModuleType = npx

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = _find(self._prefix, name)  # next time it is at hand
        return found

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return Namespace, (self._prefix,)

    def __repr__(self) -> str:
        return f"F.{self._prefix}".rstrip(".")


F = Namespace()
