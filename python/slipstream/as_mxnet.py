"""MXNet's place: after `import slipstream.as_mxnet`, a program's `import mxnet as mx` finds Slipstream.

>>> import slipstream.as_mxnet
>>> import mxnet as mx
>>> from mxnet import np, npx, autograd, gluon
>>> mx.np.ones(2, ctx=mx.cpu())
array([1., 1.])

A name that does not exist here raises an error that says what to use instead.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from types import FunctionType, ModuleType
from typing import Any

import numpy

from . import __version__ as _version
from . import device as devices
from . import errors, gluon, np, npx
from .gluon._namespace import F

# ---- what stands for what

_MODULES = {
    "numpy": "np",
    "numpy_extension": "npx",
    "context": "device",
    "kv": "kvstore",
    "img": "image",
    **{name: name for name in ("autograd", "device", "engine", "gluon", "image", "init", "initializer", "kvstore")},
    **{name: name for name in ("lr_scheduler", "metric", "np", "npx", "optimizer", "profiler")},
}

_BLOCKS = "write the model as a gluon.HybridBlock"
_INSTEAD = {
    "sym": _BLOCKS,
    "symbol": _BLOCKS,
    "mod": _BLOCKS + " and train it with gluon.Trainer",
    "module": _BLOCKS + " and train it with gluon.Trainer",
    "model": _BLOCKS + "; save_parameters and load_parameters keep its parameters",
    "executor": _BLOCKS,
    "io": "use gluon.data.DataLoader",
    "recordio": "use gluon.data.RecordFileDataset",
    "callback": "use the handlers of gluon.contrib.estimator",
    "operator": "use autograd.Function",
    "rnn": "use gluon.rnn",
    "contrib": "use gluon.contrib or npx",
    "amp": "use net.cast('bfloat16'), and multi_precision=True of the optimizer",
    "monitor": "use register_forward_hook of blocks",
    "viz": "use net.summary(x)",
    "visualization": "use net.summary(x)",
    "name": "parameters take their names from the structure of their block",
    "attribute": "parameters have lr_mult and wd_mult",
    "rtc": "elementwise code is fused by itself; use npx.host_call for Python functions",
    "library": "use npx.host_call or autograd.Function for operators of your own",
    "onnx": "use net.save_parameters",
    "runtime": "there are no optional parts to ask for; npx.num_gpus() counts GPUs",
}

# Modules of MXNet's within a module of ours that has their names itself.
_INNER = {
    "slipstream.gluon.nn": ("basic_layers", "conv_layers"),
    "slipstream.gluon.rnn": ("conv_rnn_cell", "rnn_cell", "rnn_layer"),
    "slipstream.gluon.contrib.estimator": ("batch_processor", "event_handler"),
    "slipstream.image": ("image",),
    "slipstream.kvstore": ("base", "byteps", "horovod", "kvstore", "kvstore_server"),
    "slipstream.np": ("multiarray",),
    "slipstream.npx": ("control_flow",),
    "slipstream.optimizer": (
        *("adabelief", "adadelta", "adagrad", "adamW", "adamax", "dcasgd", "ftml", "ftrl", "lamb", "lans", "lars"),
        *("nadam", "nag", "optimizer", "rmsprop", "sgld", "signum"),
    ),
}

# What modules of ours lack of MXNet's: by name, or ("") whatever it is.
_LACKING = {
    "slipstream.autograd": {"get_symbol": "there are no symbols; net.summary(x) shows what a block computes"},
    "slipstream.gluon": {"probability": "use np.random to draw, and write densities with np"},
    "slipstream.gluon.contrib": {"": "its layers are in gluon.nn and gluon.rnn, its samplers in gluon.data"},
    "slipstream.image": {"": "use gluon.data.vision.transforms, and gluon.data.DataLoader for batches"},
    "slipstream.profiler": {"": "use `with profiler.trace('trace.json'):`, or profiler.timer()"},
    "slipstream.np": {
        **dict.fromkeys(("NaN", "NAN"), "use np.nan"),
        **dict.fromkeys(("PINF", "Inf", "Infinity", "infty"), "use np.inf"),
        "NINF": "use -np.inf",
        "PZERO": "use 0.0",
        "NZERO": "use -0.0",
        "round_": "use np.round",
        "product": "use np.prod",
        "cumproduct": "use np.cumprod",
        "alltrue": "use np.all",
        "sometrue": "use np.any",
        **dict.fromkeys(("mirr", "npv", "pmt", "ppmt", "pv", "rate"), "use the package numpy-financial"),
    },
}


class _Shim(ModuleType):
    """A module of MXNet that is put together here; other names raise and say what to use."""

    def __init__(self, name: str, names: dict[str, Any], otherwise: Callable[[str], Any]) -> None:
        super().__init__(name, f"{name}, as far as Slipstream has it.")
        self.__path__: list[str] = []
        self.__dict__.update(names)
        self._otherwise = otherwise

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._otherwise(name)

    def __dir__(self) -> list[str]:
        return sorted(name for name in self.__dict__ if not name.startswith("_"))


def _missing(module: str, name: str, instead: str) -> AttributeError:
    return AttributeError(f"{module}.{name} does not exist in Slipstream: {instead}")


# ---- modules that are put together


def _of_mxnet(name: str) -> Any:
    """An attribute of `mxnet` itself."""
    if name in _MODULES or name in _SHIMS:
        return importlib.import_module(f"mxnet.{name}")
    if name in _INSTEAD:
        raise _missing("mxnet", name, _INSTEAD[name])
    raise _missing("mxnet", name, "see mx.np, mx.npx, mx.autograd and mx.gluon")


def _old_arrays() -> dict[str, Any]:
    """The few names of MXNet 1's arrays that need no other code: they are the new arrays."""
    names = {"NDArray": np.ndarray, "waitall": npx.waitall, "load": npx.load, "save": npx.save}
    names["random"] = importlib.import_module("mxnet.random")
    for name in ("abs", "arange", "array", "concatenate", "dot", "exp", "full", "log", "maximum", "mean", "minimum"):
        names[name] = getattr(np, name)
    for name in ("nansum", "ones", "ones_like", "sqrt", "stack", "sum", "tanh", "tile", "where", "zeros", "zeros_like"):
        names[name] = getattr(np, name)
    return names


def _of_old_arrays(name: str) -> Any:
    home = next((home for home, module in (("np", np), ("npx", npx)) if hasattr(module, name)), None)
    instead = f"use mx.{home}.{name}" if home else "see mx.np and mx.npx"
    raise _missing("mxnet.nd", name, f"MXNet 1's arrays are gone; {instead}")


def _of_random(name: str) -> Any:
    """A function of `mx.random`: as F.random's of MXNet 1, but for what MXNet 2 added to it."""
    try:
        return {"multinomial": _multinomial, "seed": np.random.seed}.get(name) or getattr(F.random, name)
    except AttributeError:
        raise _missing("mxnet.random", name, "see mx.np.random and mx.npx.random") from None


def _multinomial(*args: Any, **options: Any) -> Any:
    """How often each outcome comes: `(n, p, ...)`; MXNet 1's `(probabilities, shape=...)` draws categories.

    By np's names it is np's function.
    """
    if options.keys() & {"pvals", "size"} or ("n" in options and "p" not in options):
        return np.random.multinomial(*args, **options)
    second = args[1] if len(args) > 1 else options.get("p")
    is_shape = all(isinstance(n, int) for n in (second if isinstance(second, tuple) else (second,)))
    draw = F.random.multinomial if second is None or is_shape else npx.random.multinomial
    return draw(*args, **options)


def _same(value: Any) -> Any:
    """A decorator that changes nothing: NumPy's meaning is always on."""
    return value


class _Always(ContextDecorator):
    """MXNet's switch to NumPy's meaning for a block: it is always on."""

    def __init__(self, active: bool = True) -> None:
        _always_on(active)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def _always_on(active: bool) -> bool:
    if not active:
        raise ValueError("np_shape, np_array: shapes and arrays are always NumPy's here")
    return True


class _DefaultDtype(ContextDecorator):
    """NumPy's default types for a block, or for a function."""

    def __init__(self, active: bool = True) -> None:
        self._active = active
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(npx.set_np_default_dtype(self._active))

    def __exit__(self, *_: object) -> None:
        npx.set_np_default_dtype(self._before.pop())


def _use_default_dtype(func: Any) -> Any:
    """A decorator: the function, or each method of the class, runs with NumPy's default types."""
    if not isinstance(func, type):
        return _DefaultDtype()(func)
    for name, method in list(vars(func).items()):
        if isinstance(method, FunctionType):
            setattr(func, name, _DefaultDtype()(method))
    return func


def _meaning() -> dict[str, Any]:
    """Switches to NumPy's meaning, which `mx` has as well as `mx.util`."""
    names: dict[str, Any] = {name: getattr(npx, name) for name in ("is_np_array", "is_np_shape", "is_np_default_dtype")}
    names.update(dict.fromkeys(("use_np", "use_np_array", "use_np_shape"), _same))
    names.update({"np_array": _Always, "np_shape": _Always, "set_np_shape": _always_on})
    return {**names, "np_default_dtype": _DefaultDtype, "use_np_default_dtype": _use_default_dtype}


def _makedirs(d: str) -> None:
    os.makedirs(os.path.expanduser(d), exist_ok=True)


def _util() -> dict[str, Any]:
    names = {name: getattr(npx, name) for name in ("set_np", "reset_np", "set_np_default_dtype")}
    names.update({"makedirs": _makedirs, "get_gpu_count": devices.num_gpus, "get_gpu_memory": devices.gpu_memory_info})
    return {**_meaning(), **names}


# ---- test_utils


def _values(x: Any) -> numpy.ndarray[Any, Any]:
    return x.asnumpy() if isinstance(x, np.ndarray) else numpy.asarray(x)


def _tolerance(dtype: Any) -> tuple[float, float]:
    """Relative and absolute difference that passes as the same, by the narrower type."""
    return {2: (1e-2, 1e-2), 4: (1e-4, 1e-5)}.get(numpy.dtype(dtype).itemsize, (1e-7, 1e-9))


def assert_almost_equal(
    a: Any,
    b: Any,
    rtol: float | None = None,
    atol: float | None = None,
    names: Sequence[str] = ("a", "b"),
    equal_nan: bool = False,
    **_: Any,
) -> None:
    """Raises unless two arrays are the same up to rounding. Waits for them.

    >>> assert_almost_equal(np.ones(2), [1, 1])
    """
    a, b = _values(a), _values(b)
    floats = [x.dtype for x in (a, b) if x.dtype.kind == "f"] or [numpy.dtype("float64")]
    usual = _tolerance(min(floats, key=lambda dtype: dtype.itemsize))
    numpy.testing.assert_allclose(
        a,
        b,
        rtol=usual[0] if rtol is None else rtol,
        atol=usual[1] if atol is None else atol,
        equal_nan=equal_nan,
        err_msg=f"{names[0]} and {names[1]} differ",
    )


def almost_equal(a: Any, b: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = False) -> bool:
    """Whether two arrays are the same up to rounding. Waits for them.

    >>> almost_equal(np.ones(2), [1, 2])
    False
    """
    try:
        assert_almost_equal(a, b, rtol, atol, equal_nan=equal_nan)
    except AssertionError:
        return False
    return True


def _download(
    url: str, fname: str | None = None, dirname: str | None = None, overwrite: bool = False, retries: int = 5
) -> str:
    path = os.path.join(dirname or "", fname or url.split("/")[-1])
    return gluon.utils.download(url, path, overwrite, retries=max(1, retries))


def _get_mnist(path: str = "data") -> dict[str, Any]:
    """MNIST as NumPy's arrays: images of (1, 28, 28) from 0 to 1, and labels. Its files are in the folder."""
    found = {}
    for part, train in (("train", True), ("test", False)):
        images, labels = gluon.data.vision.MNIST(path, train)[:]
        found[f"{part}_data"] = images.asnumpy().transpose(0, 3, 1, 2).astype(numpy.float32) / 255
        found[f"{part}_label"] = labels.asnumpy()
    return found


def _test_utils() -> dict[str, Any]:
    def rand_shape_nd(num_dim: int, dim: int = 10) -> tuple[int, ...]:
        return tuple(numpy.random.randint(1, dim + 1, size=num_dim).tolist())

    def list_gpus() -> range:
        return range(devices.num_gpus())

    def rand_ndarray(shape: Any, stype: str = "default", dtype: Any = None, ctx: Any = None, **_: Any) -> Any:
        if stype != "default":
            raise _missing("mxnet.test_utils", "rand_ndarray(stype=...)", "there are no sparse arrays")
        return np.random.uniform(-1, 1, size=shape, dtype=dtype, ctx=ctx)

    def same(a: Any, b: Any) -> bool:
        return numpy.array_equal(_values(a), _values(b))

    names = {"assert_almost_equal": assert_almost_equal, "almost_equal": almost_equal, "same": same}
    names.update({"default_context": devices.current_device, "default_device": devices.current_device})
    names.update({"download": _download, "get_mnist": _get_mnist, "list_gpus": list_gpus})
    return {**names, "rand_ndarray": rand_ndarray, "rand_shape_nd": rand_shape_nd}


def _refuse(module: str, instead: str) -> Callable[[str], Any]:
    def refuse(name: str) -> Any:
        raise _missing(module, name, instead)

    return refuse


_SHIMS: dict[str, Callable[[], _Shim]] = {
    "ndarray": lambda: _Shim("mxnet.ndarray", _old_arrays(), _of_old_arrays),
    "nd": lambda: importlib.import_module("mxnet.ndarray"),  # type: ignore[return-value,dict-item]
    "random": lambda: _Shim("mxnet.random", {}, _of_random),
    "rnd": lambda: importlib.import_module("mxnet.random"),  # type: ignore[return-value,dict-item]
    "util": lambda: _Shim("mxnet.util", _util(), _refuse("mxnet.util", "see mx.npx")),
    "base": lambda: _Shim("mxnet.base", {"MXNetError": errors.SlipstreamError}, _refuse("mxnet.base", "see mx.npx")),
    "test_utils": lambda: _Shim("mxnet.test_utils", _test_utils(), _refuse("mxnet.test_utils", "see numpy.testing")),
}


def _mxnet() -> _Shim:
    names: dict[str, Any] = {name: getattr(devices, name) for name in devices.__all__ if name != "resolve"}
    names.update({"MXNetError": errors.SlipstreamError, "waitall": npx.waitall})
    names.update(_meaning())
    names["__version__"] = f"2.0.0+slipstream.{_version}"
    return _Shim("mxnet", names, _of_mxnet)


# ---- errors

# What a wrong call raises is an MXNetError too; but for indices, for which MXNet has Python's own class.
_USUAL: tuple[type[Exception], ...] = (ValueError, TypeError, OverflowError, errors.AxisError, numpy.linalg.LinAlgError)
_USUAL += (FileNotFoundError, IsADirectoryError, PermissionError)
_AT_CALL: dict[type[Exception], type[Exception]] = {
    usual: type(f"_MXNet{usual.__name__}", (usual, errors.SlipstreamError), {"__doc__": "A call was wrong."})
    for usual in _USUAL
}
globals().update({made.__name__: made for made in _AT_CALL.values()})  # where pickle finds them


# ---- the import system


def _instead(module: str, name: str) -> str | None:
    """What to use for a name that a module of ours lacks."""
    lacking = _LACKING.get(module, {})
    return None if name.startswith("_") else lacking.get(name, lacking.get(""))


_helpful: set[str] = set()


def _make_helpful(module: ModuleType) -> ModuleType:
    """Has a module of ours give MXNet's modules within it, and say what to use for names of MXNet's that it lacks."""
    ours = module.__name__
    if ours not in {**_LACKING, **_INNER} or ours in _helpful:
        return module
    _helpful.add(ours)
    before = module.__dict__.get("__getattr__")

    def ask(name: str) -> Any:
        if name in _INNER.get(ours, ()):
            return module
        instead = _instead(ours, name)
        if instead is not None:
            raise _missing("mxnet" + ours.removeprefix("slipstream"), name, instead)
        if before is not None:
            return before(name)
        raise AttributeError(f"module {ours!r} has no attribute {name!r}")

    module.__dict__["__getattr__"] = ask
    module.__dict__.setdefault("__path__", [])  # `from mxnet.image import x` then asks the finder for x
    return module


def _find(name: str) -> ModuleType:
    """The module that stands for one of MXNet's."""
    if name == "mxnet":
        return _mxnet()
    first, _, rest = name.removeprefix("mxnet.").partition(".")
    if first in _SHIMS and not rest:
        return _SHIMS[first]()
    if first not in _MODULES:
        instead = _INSTEAD.get(first, "see mx.np, mx.npx, mx.autograd and mx.gluon")
        # No ModuleNotFoundError: `from mxnet import x` would hide its words.
        raise ImportError(f"{name} does not exist in Slipstream: {instead}", name=name)
    ours = ".".join(part for part in (__package__, _MODULES[first], rest) if part)
    around, _, last = ours.rpartition(".")
    try:
        return _make_helpful(importlib.import_module(around if last in _INNER.get(around, ()) else ours))
    except ModuleNotFoundError as error:
        if error.name != ours:
            raise
        raise ImportError(f"{name} does not exist in Slipstream: see {name.rpartition('.')[0]}", name=name) from None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for `mxnet` and everything below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "mxnet" and not fullname.startswith("mxnet."):
            self._refuse(fullname)
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def _refuse(self, fullname: str) -> None:
        """Raises for a name that `from` did not find in one of our modules, if there is something to use instead."""
        module, _, name = fullname.rpartition(".")
        instead = _instead(module, name)
        if instead is not None and module in _helpful:
            raise ImportError(str(_missing("mxnet" + module.removeprefix("slipstream"), name, instead)), name=fullname)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # Ours keeps its own name and spec; only the entry in the table of modules is MXNet's.
        sys.modules[module.__name__] = _find(module.__name__)


def install() -> None:
    """Makes `import mxnet` mean Slipstream from now on; importing this module does it.

    >>> install()
    """
    present = sys.modules.get("mxnet")
    if present is not None and not isinstance(present, _Shim):
        raise ImportError("slipstream.as_mxnet: MXNet itself is imported already; import slipstream.as_mxnet first")
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        errors.set_call_errors({**_AT_CALL, RuntimeError: errors.SlipstreamError})
        for ours in {**_LACKING, **_INNER}:  # now: they may be reached by attribute, without the finder
            _make_helpful(importlib.import_module(ours))


install()
