"""How each library is held to two threads, makes an array, waits for it and compiles. Slipstream is one of them.

Nothing is imported before a peer is made: each runs in a process of its own (worker.py), with its own interpreter.
"""

from __future__ import annotations

import copy
import importlib.metadata
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy

THREADS = 2

_ONE_POOL = {f"{library}_NUM_THREADS": str(THREADS) for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}


def hold_to_two_cores() -> None:
    """Keeps this process on the same two cores as every other contender, not two threads of one core."""
    cores: dict[str, int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        core = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.setdefault(core.read_text() if core.exists() else str(cpu), cpu)
    os.sched_setaffinity(0, list(cores.values())[:THREADS])


class Peer:
    """A library as the workloads see it: what NumPy has under the same name is used as it is, through `xp`."""

    name = ""
    title = ""
    package = ""  # on PyPI
    environment: ClassVar[dict[str, str]] = _ONE_POOL
    compiles = False
    xp: Any

    def __init__(self) -> None:
        self.compiled = False

    def variant(self, compiled: bool) -> Peer:
        """The same peer, whose `jit` compiles or does nothing."""
        other = copy.copy(self)
        other.compiled = compiled
        return other

    def version(self) -> str:
        return importlib.metadata.version(self.package)

    def jit(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.compile(function) if self.compiled else function

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        raise NotImplementedError(f"{self.title} has no compiler")

    def prepare(self, dtype: str) -> None:
        """Before a workload of that precision."""

    def array(self, values: numpy.ndarray) -> Any:
        return self.xp.array(values)

    def wait(self, result: Any) -> Any:
        """An array, or a list or tuple of them, once it is computed. Synchronous libraries have nothing to do."""
        return result

    def wait_for_all(self, last: Any) -> Any:
        """The last result, once all that was called before is done too, read by anybody or not."""
        return self.wait(last)

    def repeat_waiting(self, x: Any, times: int) -> Any:
        """`y = x + 1`, waited for each time. Spelled out by each peer, since a call more would be a tenth of it."""
        for _ in range(times):
            y = x + 1
        return y

    def numpy(self, result: Any) -> Any:
        return numpy.asarray(result)

    # What the libraries call differently.

    def copy(self, x: Any) -> Any:
        return x.copy()

    def transpose(self, x: Any) -> Any:
        return x.T

    def sum(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.xp.sum(x, axis=axis, keepdims=keepdims)

    def argmin(self, x: Any, axis: int) -> Any:
        return self.xp.argmin(x, axis=axis)

    def as_float(self, x: Any, dtype: str) -> Any:
        return x.astype(getattr(self.xp, dtype))

    def put_inside(self, x: Any, values: Any) -> Any:
        """`x[1:-1, 1:-1] = values`; the border of x is 0."""
        x[1:-1, 1:-1] = values
        return x

    def relu(self, x: Any) -> Any:
        return self.xp.maximum(x, 0)

    def dense(self, x: Any, weight: Any, bias: Any) -> Any:
        return x @ weight + bias

    def softmax(self, x: Any) -> Any:
        e = self.xp.exp(x - self.xp.max(x, axis=-1, keepdims=True))
        return e / self.xp.sum(e, axis=-1, keepdims=True)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        mean = self.xp.mean(x, axis=-1, keepdims=True)
        centred = x - mean
        variance = self.xp.mean(centred * centred, axis=-1, keepdims=True)
        return centred / self.xp.sqrt(variance + 1e-5) * scale + shift

    def convolution(self, x: Any, weight: Any, pad: int) -> Any:
        """Over images (batch, channels, height, width), by filters (filters, channels, height, width)."""
        padded = numpy.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
        windows = numpy.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], (2, 3))
        return numpy.tensordot(windows, weight, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)

    def max_pooling(self, x: Any, size: int) -> Any:
        n, c, h, w = x.shape
        return x.reshape(n, c, h // size, size, w // size, size).max((3, 5))

    def batch_norm(self, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
        """By the statistics of training."""
        scale, shift, mean, variance = (v.reshape(-1, 1, 1) for v in (scale, shift, mean, variance))
        return (x - mean) / self.xp.sqrt(variance + 1e-5) * scale + shift

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        raise NotImplementedError

    def without_skipping(self) -> Any:
        raise NotImplementedError(f"{self.title} cannot be told to compute what nobody reads")


class Slipstream(Peer):
    name = package = "slipstream"
    title = "Slipstream"
    environment: ClassVar[dict[str, str]] = {"SLIPSTREAM_WORKERS": str(THREADS)}

    def __init__(self) -> None:
        super().__init__()
        from slipstream import engine, np, npx

        self.xp, self.npx, self.engine = np, npx, engine

    def version(self) -> str:
        import slipstream

        return slipstream.__version__

    def wait(self, result: Any) -> Any:
        if isinstance(result, (list, tuple)):
            self.npx.waitall()
        else:
            result.wait_to_read()
        return result

    def wait_for_all(self, last: Any) -> Any:
        self.npx.waitall()  # a wait for one array runs that one first
        return last

    def repeat_waiting(self, x: Any, times: int) -> Any:
        for _ in range(times):
            y = x + 1
            y.wait_to_read()
        return y

    def relu(self, x: Any) -> Any:
        return self.npx.relu(x)

    def softmax(self, x: Any) -> Any:
        return self.npx.softmax(x)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.npx.layer_norm(x, scale, shift)

    def convolution(self, x: Any, weight: Any, pad: int) -> Any:
        return self.npx.convolution(x, weight, pad=pad, no_bias=True)

    def max_pooling(self, x: Any, size: int) -> Any:
        return self.npx.pooling(x, (size, size), (size, size))

    def batch_norm(self, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
        return self.npx.batch_norm(x, scale, shift, mean, variance, eps=1e-5, fix_gamma=False)

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return self.xp.random.normal(size=shape, dtype=dtype)

    def without_skipping(self) -> Any:
        return self.engine.no_skip()


class NumPy(Peer):
    name = package = "numpy"
    title = "NumPy"

    def __init__(self) -> None:
        super().__init__()
        self.xp = numpy
        self.generator = numpy.random.default_rng(1)

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return self.generator.standard_normal(shape, dtype=numpy.dtype(dtype))


class Torch(Peer):
    name = package = "torch"
    title = "PyTorch"
    environment: ClassVar[dict[str, str]] = {**_ONE_POOL, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    compiles = True

    def __init__(self) -> None:
        super().__init__()
        import torch

        torch.set_num_threads(THREADS)
        torch.set_grad_enabled(False)
        self.xp = torch

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.xp.compile(function)

    def array(self, values: numpy.ndarray) -> Any:
        return self.xp.tensor(values)

    def copy(self, x: Any) -> Any:
        return x.clone()

    def as_float(self, x: Any, dtype: str) -> Any:
        return x.to(getattr(self.xp, dtype))

    def sum(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.xp.sum(x) if axis is None else self.xp.sum(x, axis, keepdims)

    def relu(self, x: Any) -> Any:
        return self.xp.relu(x)

    def dense(self, x: Any, weight: Any, bias: Any) -> Any:
        return self.xp.addmm(bias, x, weight)

    def softmax(self, x: Any) -> Any:
        return self.xp.softmax(x, -1)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.xp.nn.functional.layer_norm(x, scale.shape, scale, shift)

    def convolution(self, x: Any, weight: Any, pad: int) -> Any:
        return self.xp.conv2d(x, weight, padding=pad)

    def max_pooling(self, x: Any, size: int) -> Any:
        return self.xp.max_pool2d(x, size)

    def batch_norm(self, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
        return self.xp.nn.functional.batch_norm(x, mean, variance, scale, shift)

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return self.xp.randn(shape, dtype=getattr(self.xp, dtype))


class Jax(Peer):
    name = package = "jax"
    title = "JAX"
    environment: ClassVar[dict[str, str]] = {
        **_ONE_POOL,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={THREADS}",
    }
    compiles = True

    def __init__(self) -> None:
        super().__init__()
        import jax

        self.jax, self.xp = jax, jax.numpy
        self.key = jax.random.key(0)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.jax.jit(function)

    def prepare(self, dtype: str) -> None:
        self.jax.config.update("jax_enable_x64", dtype == "float64")

    def wait(self, result: Any) -> Any:
        return self.jax.block_until_ready(result)

    def repeat_waiting(self, x: Any, times: int) -> Any:
        for _ in range(times):
            y = x + 1
            y.block_until_ready()
        return y

    def copy(self, x: Any) -> Any:
        return x  # cannot be changed

    def put_inside(self, x: Any, values: Any) -> Any:
        return x.at[1:-1, 1:-1].set(values)

    def relu(self, x: Any) -> Any:
        return self.jax.nn.relu(x)

    def softmax(self, x: Any) -> Any:
        return self.jax.nn.softmax(x)

    def convolution(self, x: Any, weight: Any, pad: int) -> Any:
        return self.jax.lax.conv_general_dilated(x, weight, (1, 1), [(pad, pad)] * 2)

    def max_pooling(self, x: Any, size: int) -> Any:
        window = (1, 1, size, size)
        return self.jax.lax.reduce_window(x, -self.xp.inf, self.jax.lax.max, window, window, "VALID")

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        self.key, key = self.jax.random.split(self.key)
        return self.jax.random.normal(key, shape, dtype=dtype)


class Mlx(Peer):
    name = package = "mlx"
    title = "MLX"
    compiles = True

    def __init__(self) -> None:
        super().__init__()
        import mlx.core as mx

        mx.set_default_device(mx.cpu)
        self.xp = mx

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.xp.compile(function)

    def array(self, values: numpy.ndarray) -> Any:
        return self.xp.array(values, dtype=getattr(self.xp, values.dtype.name))  # float64 would become float32

    def wait(self, result: Any) -> Any:
        self.xp.eval(result)
        return result

    def repeat_waiting(self, x: Any, times: int) -> Any:
        evaluate = self.xp.eval
        for _ in range(times):
            y = x + 1
            evaluate(y)
        return y

    def copy(self, x: Any) -> Any:
        return self.xp.array(x)

    def softmax(self, x: Any) -> Any:
        return self.xp.softmax(x, axis=-1)

    def dense(self, x: Any, weight: Any, bias: Any) -> Any:
        return self.xp.addmm(bias, x, weight)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.xp.fast.layer_norm(x, scale, shift, 1e-5)

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return self.xp.random.normal(shape, dtype=getattr(self.xp, dtype))


class TensorFlow(Peer):
    """Runs eagerly and returns when it is done, so there is nothing to wait for."""

    name = "tensorflow"
    title = "TensorFlow"
    environment: ClassVar[dict[str, str]] = {**_ONE_POOL, "TF_CPP_MIN_LOG_LEVEL": "3"}
    compiles = True

    def __init__(self) -> None:
        super().__init__()
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(THREADS)
        tf.config.threading.set_inter_op_parallelism_threads(THREADS)
        self.tf = tf
        names = ["tanh", "exp", "log", "sqrt", "maximum"]
        self.xp = SimpleNamespace(where=tf.where, reshape=tf.reshape, **{n: getattr(tf.math, n) for n in names})

    def version(self) -> str:
        return self.tf.__version__

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.tf.function(function, jit_compile=True)

    def array(self, values: numpy.ndarray) -> Any:
        return self.tf.constant(values)

    def copy(self, x: Any) -> Any:
        return x  # cannot be changed

    def transpose(self, x: Any) -> Any:
        return self.tf.transpose(x)

    def sum(self, x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return self.tf.reduce_sum(x, axis, keepdims)

    def argmin(self, x: Any, axis: int) -> Any:
        return self.tf.argmin(x, axis)

    def as_float(self, x: Any, dtype: str) -> Any:
        return self.tf.cast(x, dtype)

    def put_inside(self, x: Any, values: Any) -> Any:
        return self.tf.pad(values, [[1, 1], [1, 1]])

    def relu(self, x: Any) -> Any:
        return self.tf.nn.relu(x)

    def softmax(self, x: Any) -> Any:
        return self.tf.nn.softmax(x)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = self.tf.nn.moments(x, [-1], keepdims=True)
        return self.tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-5)

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return self.tf.random.normal(shape, dtype=dtype)


class MXNet(Peer):
    name = package = "mxnet"
    title = "MXNet"

    def __init__(self) -> None:
        super().__init__()
        import mxnet

        mxnet.npx.set_np()
        self.xp, self.npx = mxnet.np, mxnet.npx

    def array(self, values: numpy.ndarray) -> Any:
        return self.xp.array(values, dtype=values.dtype)

    def wait(self, result: Any) -> Any:
        if isinstance(result, (list, tuple)):
            self.npx.waitall()
        else:
            result.wait_to_read()
        return result

    def wait_for_all(self, last: Any) -> Any:
        self.npx.waitall()  # a wait for one array runs that one first
        return last

    def repeat_waiting(self, x: Any, times: int) -> Any:
        for _ in range(times):
            y = x + 1
            y.wait_to_read()
        return y

    def numpy(self, result: Any) -> Any:
        return result.asnumpy() if hasattr(result, "asnumpy") else numpy.asarray(result)

    def relu(self, x: Any) -> Any:
        return self.npx.relu(x)

    def softmax(self, x: Any) -> Any:
        return self.npx.softmax(x)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.npx.layer_norm(x, scale, shift, eps=1e-5)

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return self.xp.random.normal(size=shape, dtype=dtype)


PEERS: dict[str, type[Peer]] = {p.name: p for p in (Slipstream, NumPy, Torch, Jax, Mlx, TensorFlow, MXNet)}
TITLES = {name: peer.title for name, peer in PEERS.items()}
