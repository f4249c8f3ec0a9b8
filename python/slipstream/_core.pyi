# Made by tools/make_stubs.py from the compiled module. Do not edit.
# ruff: noqa: F401, N801, N802

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy

from .np._types import ArrayLike, Axes, DeviceLike, DTypeLike, Shape

class Device:
    def __eq__(self, other: object, /) -> bool: ...
    def __init__(self, device_type: Any = ..., device_id: int = ...) -> None: ...
    @property
    def device_id(self) -> int: ...
    @property
    def device_type(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def kind(self) -> str: ...
    def __enter__(self) -> Device: ...
    def __exit__(self, *_: object) -> None: ...

class Flags:
    def __getitem__(self, other: str, /) -> object: ...
    @property
    def c_contiguous(self) -> bool: ...
    @property
    def contiguous(self) -> bool: ...
    @property
    def f_contiguous(self) -> bool: ...
    @property
    def writeable(self) -> bool: ...

class LateIndexError(SlipstreamError, IndexError): ...
class LateLinAlgError(SlipstreamError, numpy.linalg.LinAlgError): ...
class LateOverflowError(SlipstreamError, OverflowError): ...
class LateTypeError(SlipstreamError, TypeError): ...
class LateValueError(SlipstreamError, ValueError): ...
class OutOfMemoryError(SlipstreamError, MemoryError): ...

class RandomState:
    def __init__(self, key: int = ..., position: int = ...) -> None: ...
    @property
    def key(self) -> int: ...
    @key.setter
    def key(self, value: int, /) -> None: ...
    @property
    def position(self) -> int: ...
    @position.setter
    def position(self, value: int, /) -> None: ...

class SlipstreamError(RuntimeError): ...
class SyncError(SlipstreamError): ...
class SyncWarning(UserWarning): ...

def abs(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def acos(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def acosh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def add(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def all(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None) -> ndarray: ...
def any(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None) -> ndarray: ...
def arange(start: Any, step: Any, n: int, dtype: Any, device: Any = ...) -> ndarray: ...
def argmax(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
def argmin(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
def argpartition(x: ndarray, kth: Any, axis: int = ...) -> ndarray: ...
def argsort(x: ndarray, axis: int = ..., descending: bool = ...) -> ndarray: ...
def array(object: Any, dtype: Any = ..., device: Any = ..., copy: Any = ...) -> ndarray: ...
def asin(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def asinh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def assign(target: ndarray, value: Any) -> None: ...
def astype(x: Any, dtype: Any) -> ndarray: ...
def atan(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def atan2(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def atanh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def backward(heads: Sequence[Any], head_grads: Any, retain_graph: bool, train_mode: bool) -> None: ...
def batch_norm(data: ndarray, gamma: Any, beta: ndarray, eps: float) -> list[ndarray]: ...
def batch_norm_fixed(
    data: ndarray, gamma: Any, beta: ndarray, mean: ndarray, variance: ndarray, eps: float
) -> ndarray: ...
def bincount(x: ndarray, length: int, weights: Any = ...) -> ndarray: ...
def bitwise_and(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_invert(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_left_shift(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_or(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_right_shift(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def bitwise_xor(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def borrow(values: Any, keeper: Any, read_only: bool) -> ndarray: ...
def broadcast_to(x: Any, shape: Any) -> ndarray: ...
def cbrt(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def ceil(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def check_unwritten(x: ndarray, version: int) -> None: ...
def cholesky(a: ndarray, upper: bool) -> ndarray: ...
def clip(
    x1: Any,
    x2: Any,
    x3: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def concatenate(arrays: Any, axis: Any = ..., out: Any = ..., dtype: Any = ...) -> ndarray: ...
def conj(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def contiguous(x: Any) -> ndarray: ...
def convolution(
    data: ndarray, weight: ndarray, bias: Any, stride: Any, dilate: Any, pad: Any, groups: int
) -> ndarray: ...
def convolution_data(
    gradient: ndarray, weight: ndarray, size: Any, stride: Any, dilate: Any, pad: Any, groups: int
) -> ndarray: ...
def convolution_weight(
    gradient: ndarray, data: ndarray, kernel: Any, stride: Any, dilate: Any, pad: Any, groups: int
) -> ndarray: ...
def convolve(a: ndarray, b: ndarray, first: int, n: int) -> ndarray: ...
def copy(x: Any) -> ndarray: ...
def copy_to_device(x: Any, device: Any) -> ndarray: ...
def copysign(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def cos(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def cosh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: ndarray | None = None) -> ndarray: ...
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: ndarray | None = None) -> ndarray: ...
def current_source() -> tuple[str, int, str] | None: ...
def default_dtype_wide() -> bool: ...
def default_random(device: Any = ...) -> RandomState: ...
def deg2rad(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def det(a: ndarray) -> ndarray: ...
def device_count(kind: str) -> int: ...
def diagonal(x: Any, offset: int = ..., axis1: int = ..., axis2: int = ...) -> ndarray: ...
def digamma(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def distinct(x: ndarray, order: Any = ..., equal_nan: bool = ...) -> list[ndarray]: ...
def divide(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def dlpack_as_bits(capsule: Any) -> bool: ...
def dot(a: Any, b: Any, out: Any = ...) -> ndarray: ...
def eig(a: ndarray, vectors: bool) -> tuple[ndarray, ...]: ...
def eigh(a: ndarray, upper: bool, vectors: bool) -> tuple[ndarray, ...]: ...
def empty(shape: Any, dtype: Any = ..., device: Any = ...) -> ndarray: ...
def engine_empty_cache() -> None: ...
def engine_explain() -> str: ...
def engine_fail_allocations(every: int) -> None: ...
def engine_generation() -> int: ...
def engine_inside_task() -> bool: ...
def engine_kind() -> str: ...
def engine_limits() -> dict[str, int]: ...
def engine_memory() -> dict[str, int]: ...
def engine_planning() -> dict[str, Any]: ...
def engine_reset_peaks() -> None: ...
def engine_sequence() -> int: ...
def engine_set_kind(kind: str) -> None: ...
def engine_set_limits(
    *, ops: int | None = ..., bytes: int | None = ..., memory: int | None = ..., cache: int | None = ...
) -> None: ...
def engine_set_planning(
    *, batch: int | None = ..., bulk: int | None = ..., fuse: bool | None = ..., skip: bool | None = ...
) -> None: ...
def engine_set_workers(n: int) -> None: ...
def engine_start_trace() -> None: ...
def engine_stats() -> dict[str, Any]: ...
def engine_stop_trace() -> list[Any]: ...
def engine_tracing() -> bool: ...
def engine_wait_until(sequence: int) -> None: ...
def engine_workers() -> int: ...
def equal(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def erf(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def erfc(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def erfinv(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def exp(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def exp2(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def expand_dims(x: Any, axes: Any) -> ndarray: ...
def expm1(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def eye(rows: Any, columns: Any, k: Any, dtype: Any = ..., device: Any = ...) -> ndarray: ...
def fabs(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fft(x: ndarray, n: int, axis: int, kind: str, factor: float) -> ndarray: ...
def flip(x: Any, axes: Any = ...) -> ndarray: ...
def float_of(dtype: Any) -> numpy.dtype[Any]: ...
def float_power(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def floor(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def floor_divide(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fmax(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fmin(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def fmod(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def follows(x: ndarray) -> bool: ...
def from_numbers(values: Any, dtype: Any = ..., device: Any = ..., beside: Any = ...) -> ndarray | None: ...
def full(shape: Any, value: Any, dtype: Any = ..., device: Any = ..., order: Any = ...) -> ndarray: ...
def full_like(x: Any, value: Any, dtype: Any = ..., shape: Any = ..., device: Any = ...) -> ndarray: ...
def fully_connected(x: ndarray, weight: ndarray, bias: Any, units: int | None, flatten: bool) -> ndarray: ...
def gamma(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def gammaln(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def gate(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def gather(x: ndarray, indices: Sequence[Any], mode: str = ...) -> ndarray: ...
def gcd(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def grad(
    heads: Sequence[Any],
    head_grads: Any,
    variables: Sequence[Any],
    retain_graph: bool,
    create_graph: bool,
    train_mode: bool,
) -> list[Any]: ...
def greater(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def greater_equal(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def heaviside(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def histogram(x: ndarray, edges: ndarray, weights: Any = ..., equal_width: bool = ...) -> ndarray: ...
def host_call(fn: Any, arrays: Sequence[Any], out_shape: Any, out_dtype: Any = ..., device: Any = ...) -> Any: ...
def hypot(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def imag(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def inv(a: ndarray, nan_if_singular: bool = ...) -> ndarray: ...
def is_recording() -> bool: ...
def is_training() -> bool: ...
def isa() -> str: ...
def isfinite(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def isinf(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def isnan(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def layer_norm(x: ndarray, gamma: ndarray, beta: ndarray, eps: float) -> list[ndarray]: ...
def lcm(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def less(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def less_equal(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def linspace(start: Any, stop: Any, n: int, endpoint: bool, dtype: Any, device: Any = ...) -> ndarray: ...
def log(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log10(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log1p(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log2(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def log_sigmoid(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logaddexp(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logaddexp2(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logical_and(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logical_not(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logical_or(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logical_xor(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def logsumexp(
    a: Any, axis: Any = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None
) -> ndarray: ...
def lstm(
    projected: ndarray, weight: ndarray, state: ndarray, cell: ndarray, backwards: bool, want_gates: bool
) -> list[ndarray]: ...
def lstm_gradient(
    gates: ndarray, cells: ndarray, weight: ndarray, of_outputs: ndarray, of_cells: ndarray, backwards: bool
) -> list[ndarray]: ...
def lstm_pays(projected: ndarray, weight: ndarray, state: ndarray, cell: ndarray) -> bool: ...
def lstsq(a: ndarray, b: ndarray, rcond: float) -> tuple[ndarray, ...]: ...
def mark_variable(x: Any, gradient: ndarray, grad_req: Any) -> None: ...
def matmul(a: Any, b: Any, out: Any = ...) -> ndarray: ...
def max(
    a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> ndarray: ...
def max_dimensions() -> int: ...
def maximum(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None
) -> ndarray: ...
def memory(x: ndarray) -> tuple[int, int, int]: ...
def min(
    a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> ndarray: ...
def minimum(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def multiply(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def negative(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def nextafter(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def nonzero(x: ndarray, what: str) -> ndarray: ...
def not_equal(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def note_function(
    name: str, results: Sequence[Any], inputs: Sequence[Any], backward: Any, keep_results: bool
) -> list[Any]: ...
def on_gradient(x: Any, fn: Any) -> None: ...
def partition(x: ndarray, kth: Any, axis: int = ...) -> ndarray: ...
def polygamma(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def pool(data: ndarray, kind: str, kernel: Any, stride: Any, pad: Any, size: Any) -> ndarray: ...
def pool_gradient(
    gradient: ndarray, data: ndarray, kind: str, kernel: Any, stride: Any, pad: Any, size: Any
) -> ndarray: ...
def positive(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def pow(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> ndarray: ...
def promote_types(a: Any, b: Any) -> numpy.dtype[Any]: ...
def put_along(x: Any, indices: Any, value: Any, axis: int, mode: str = ..., add: bool = ...) -> None: ...
def qr(a: ndarray, mode: str) -> tuple[ndarray, ...]: ...
def quiesce() -> bool: ...
def rad2deg(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def random_integers(
    state: Any, low: int, range: int, shape: Any = ..., dtype: Any = ..., device: Any = ...
) -> ndarray: ...
def random_normal(
    state: Any, loc: float, scale: float, shape: Any = ..., dtype: Any = ..., device: Any = ...
) -> ndarray: ...
def random_permutation(state: Any, n: int, device: Any = ...) -> ndarray: ...
def random_sample(state: Any, distribution: str, parameters: Sequence[Any], shape: Any) -> ndarray: ...
def random_uniform(
    state: Any, low: float, high: float, shape: Any = ..., dtype: Any = ..., device: Any = ...
) -> ndarray: ...
def read_number(x: ndarray, function: str) -> int: ...
def read_values(x: ndarray, function: str) -> ndarray: ...
def real(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def rebind(x: Any, to: Any) -> None: ...
def reciprocal(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def reinterpret(x: ndarray, dtype: Any) -> ndarray: ...
def relu(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def remainder(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def reshape(x: Any, shape: Any, order: Any = ..., copy: Any = ...) -> ndarray: ...
def reshape_view(x: Any, shape: Any) -> ndarray | None: ...
def result_type(*args: Any) -> numpy.dtype[Any]: ...
def rint(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def round(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def rows() -> list[Any]: ...
def scatter(x: Any, indices: Sequence[Any], value: Any, mode: str = ..., add: bool = ...) -> None: ...
def scattered(x: ndarray, indices: Sequence[Any], value: Any, mode: str = ..., add: bool = ...) -> ndarray: ...
def searchsorted(a: ndarray, v: ndarray, right: bool = ..., sorter: Any = ...) -> ndarray: ...
def seed_random(seed: int) -> None: ...
def select(x: Any, axis: int, index: int) -> ndarray: ...
def set_call_errors(instead: dict[type[Exception], type[Exception]]) -> None: ...
def set_default_dtype_wide(on: bool) -> None: ...
def set_isa(name: str) -> None: ...
def set_recording(on: bool) -> bool: ...
def set_sync_guard(mode: str | None) -> str | None: ...
def set_training(on: bool) -> bool: ...
def shared_product(x: ndarray, weight: ndarray) -> ndarray: ...
def shortcut(function: Any) -> Any: ...
def shutdown(seconds: float) -> None: ...
def sigmoid(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sign(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def signbit(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sin(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sinh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def slice(x: Any, axis: int, start: int, step: int, length: int) -> ndarray: ...
def slogdet(a: ndarray) -> tuple[ndarray, ...]: ...
def softmax(x: ndarray, axis: int, log: bool) -> ndarray: ...
def softplus(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def softsign(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def solve(a: ndarray, b: ndarray) -> ndarray: ...
def solve_triangular(a: ndarray, b: ndarray, lower: bool) -> ndarray: ...
def sort(x: ndarray, axis: int = ..., descending: bool = ...) -> ndarray: ...
def sqrt(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def square(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def squeeze(x: Any, axes: Any = ...) -> ndarray: ...
def stack(arrays: Any, axis: Any = ..., out: Any = ..., dtype: Any = ...) -> ndarray: ...
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    *,
    correction: Any = None,
) -> ndarray: ...
def subtract(
    x1: Any,
    x2: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> ndarray: ...
def svd(a: ndarray, full: bool, vectors: bool) -> tuple[ndarray, ...]: ...
def swapaxes(x: Any, axis1: Any, axis2: Any) -> ndarray: ...
def take(x: Any, indices: Any, axis: int, mode: str = ...) -> ndarray: ...
def take_along(x: ndarray, indices: Any, axis: int, mode: str = ...) -> ndarray: ...
def tan(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def tanh(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def topk(x: ndarray, k: int, axis: int = ..., ascending: bool = ...) -> ndarray: ...
def transpose(x: Any, axes: Any = ...) -> ndarray: ...
def trunc(
    x: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    *,
    correction: Any = None,
) -> ndarray: ...
def wait_all() -> None: ...
def where(
    x1: Any,
    x2: Any,
    x3: Any,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
) -> ndarray: ...
def whole(x: ndarray) -> ndarray: ...

device_stack: ContextVar[tuple[Device, ...]]

class ndarray:
    def __init__(self, shape: Any, dtype: Any = None, device: Any = None) -> None: ...
    __hash__: None  # type: ignore[assignment]
    @property
    def T(self) -> ndarray: ...
    def __abs__(self) -> ndarray: ...
    def __add__(self, other: Any, /) -> ndarray: ...
    def __and__(self, other: Any, /) -> ndarray: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]: ...
    def __array_function__(self, function: Any, types: Iterable[type], args: Any, options: Any) -> Any: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any: ...
    def __await__(self) -> Generator[Any, None, ndarray]: ...
    def __bool__(self) -> bool: ...
    def __ceil__(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def __complex__(self) -> complex: ...
    def __contains__(self, value: Any, /) -> bool: ...
    def __copy__(self) -> ndarray: ...
    def __deepcopy__(self, *args: Any) -> ndarray: ...
    def __divmod__(self, other: Any, /) -> tuple[ndarray, ndarray]: ...
    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any: ...
    def __dlpack_device__(self, *args: Any) -> tuple[int, int]: ...
    def __eq__(self, other: Any, /) -> ndarray: ...  # type: ignore[override]
    def __float__(self) -> float: ...
    def __floor__(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def __floordiv__(self, other: Any, /) -> ndarray: ...
    def __format__(self, spec: str, /) -> str: ...
    def __ge__(self, other: Any, /) -> ndarray: ...
    def __getitem__(self, key: Any, /) -> ndarray: ...
    def __gt__(self, other: Any, /) -> ndarray: ...
    def __iadd__(self, other: Any, /) -> ndarray: ...
    def __iand__(self, other: Any, /) -> ndarray: ...
    def __ifloordiv__(self, other: Any, /) -> ndarray: ...
    def __ilshift__(self, other: Any, /) -> ndarray: ...
    def __imatmul__(self, other: Any, /) -> ndarray: ...
    def __imod__(self, other: Any, /) -> ndarray: ...
    def __imul__(self, other: Any, /) -> ndarray: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> ndarray: ...
    def __ior__(self, other: Any, /) -> ndarray: ...
    def __ipow__(self, other: Any, /) -> ndarray: ...
    def __irshift__(self, other: Any, /) -> ndarray: ...
    def __isub__(self, other: Any, /) -> ndarray: ...
    def __iter__(self) -> Iterator[ndarray]: ...
    def __itruediv__(self, other: Any, /) -> ndarray: ...
    def __ixor__(self, other: Any, /) -> ndarray: ...
    def __le__(self, other: Any, /) -> ndarray: ...
    def __len__(self) -> int: ...
    def __lshift__(self, other: Any, /) -> ndarray: ...
    def __lt__(self, other: Any, /) -> ndarray: ...
    def __matmul__(self, other: Any, /) -> ndarray: ...
    def __mod__(self, other: Any, /) -> ndarray: ...
    def __mul__(self, other: Any, /) -> ndarray: ...
    def __ne__(self, other: Any, /) -> ndarray: ...  # type: ignore[override]
    def __neg__(self) -> ndarray: ...
    def __or__(self, other: Any, /) -> ndarray: ...
    def __pos__(self) -> ndarray: ...
    def __pow__(self, other: Any, /) -> ndarray: ...
    def __radd__(self, other: Any, /) -> ndarray: ...
    def __rand__(self, other: Any, /) -> ndarray: ...
    def __rdivmod__(self, other: Any, /) -> tuple[ndarray, ndarray]: ...
    def __rfloordiv__(self, other: Any, /) -> ndarray: ...
    def __rlshift__(self, other: Any, /) -> ndarray: ...
    def __rmatmul__(self, other: Any, /) -> ndarray: ...
    def __rmod__(self, other: Any, /) -> ndarray: ...
    def __rmul__(self, other: Any, /) -> ndarray: ...
    def __ror__(self, other: Any, /) -> ndarray: ...
    def __round__(self, decimals: int = 0, out: ndarray | None = None) -> ndarray: ...
    def __rpow__(self, other: Any, /) -> ndarray: ...
    def __rrshift__(self, other: Any, /) -> ndarray: ...
    def __rshift__(self, other: Any, /) -> ndarray: ...
    def __rsub__(self, other: Any, /) -> ndarray: ...
    def __rtruediv__(self, other: Any, /) -> ndarray: ...
    def __rxor__(self, other: Any, /) -> ndarray: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __sub__(self, other: Any, /) -> ndarray: ...
    def __truediv__(self, other: Any, /) -> ndarray: ...
    def __trunc__(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def __xor__(self, other: Any, /) -> ndarray: ...
    @property
    def _fresh_grad(self) -> bool: ...
    @_fresh_grad.setter
    def _fresh_grad(self, value: Any, /) -> None: ...
    @property
    def _version(self) -> int: ...
    def abs(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def absolute(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def acos(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def acosh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def add_done_callback(self, fn: Any, /) -> None: ...
    def all(
        self, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None
    ) -> ndarray: ...
    def amax(
        self,
        axis: Any = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> ndarray: ...
    def amin(
        self,
        axis: Any = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> ndarray: ...
    def any(
        self, axis: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None
    ) -> ndarray: ...
    def arccos(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def arccosh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def arcsin(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def arcsinh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def arctan(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def arctanh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def argmax(self, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
    def argmax_channel(self, *args: Any, **options: Any) -> Any: ...
    def argmin(self, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
    def argpartition(
        self, kth: int | Sequence[int], axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> ndarray: ...
    def argsort(
        self,
        axis: int | None = -1,
        kind: str | None = None,
        order: Any = None,
        *,
        stable: bool | None = None,
        descending: bool = False,
    ) -> ndarray: ...
    def as_in_context(self, context: Any, /) -> ndarray: ...
    def as_in_ctx(self, ctx: Any, /) -> ndarray: ...
    def as_in_device(self, device: Any) -> ndarray: ...
    def as_nd_ndarray(self) -> ndarray: ...
    def as_np_ndarray(self) -> ndarray: ...
    def asin(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def asinh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def asnumpy(self) -> numpy.ndarray[Any, Any]: ...
    def asscalar(self) -> Any: ...
    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: Any = True,
        copy: bool = True,
        device: Any = None,
    ) -> ndarray: ...
    def atan(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def atanh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def attach_grad(self, grad_req: Any = "write", stype: Any = None) -> None: ...
    def backward(self, out_grad: Any = None, retain_graph: Any = False, train_mode: Any = True) -> None: ...
    @property
    def base(self) -> Any: ...
    @base.setter
    def base(self, value: Any, /) -> None: ...
    def bitwise_invert(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def bitwise_not(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def broadcast_axes(self, *args: Any, **options: Any) -> Any: ...
    def broadcast_like(self, other: ndarray) -> ndarray: ...
    def broadcast_to(self, *shape: Any) -> ndarray: ...
    def byteswap(self, inplace: bool = False) -> ndarray: ...
    def cbrt(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def ceil(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def choose(self, choices: Any, out: ndarray | None = None, mode: str = "raise") -> ndarray: ...
    def clip(self, min: Any = None, max: Any = None, out: ndarray | None = None, **options: Any) -> ndarray: ...
    def compress(self, condition: Any, axis: int | None = None, out: ndarray | None = None) -> ndarray: ...
    def conj(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def conjugate(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    @property
    def context(self) -> Device: ...
    def copy(self, order: str = "C") -> ndarray: ...
    def copyto(self, other: Any, /) -> ndarray: ...
    def cos(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def cosh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def count_nonzero(self, axis: Axes = None, *, keepdims: bool = False) -> ndarray: ...
    @property
    def ctx(self) -> Device: ...
    @property
    def ctypes(self) -> Any: ...
    @ctypes.setter
    def ctypes(self, value: Any, /) -> None: ...
    def cumprod(self, axis: Any = None, dtype: Any = None, out: ndarray | None = None) -> ndarray: ...
    def cumsum(self, axis: Any = None, dtype: Any = None, out: ndarray | None = None) -> ndarray: ...
    @property
    def data(self) -> Any: ...
    @data.setter
    def data(self, value: Any, /) -> None: ...
    def deg2rad(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def degrees(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def depth_to_space(self, *args: Any, **options: Any) -> Any: ...
    def detach(self) -> ndarray: ...
    @property
    def device(self) -> Device: ...
    def diag(self, k: int = 0) -> ndarray: ...
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray: ...
    def digamma(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def dot(self, b: ArrayLike, out: ndarray | None = None) -> ndarray: ...
    def drop_grad(self) -> None: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    def dump(self, file: Any) -> None: ...
    def dumps(self) -> bytes: ...
    def erf(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def erfc(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def erfinv(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def exp(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def exp2(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def expand_dims(self, axis: Axes) -> ndarray: ...
    def expm1(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def fabs(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def fill(self, value: Any) -> None: ...
    def fix(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    @property
    def flags(self) -> Flags: ...
    @property
    def flat(self) -> Any: ...
    @flat.setter
    def flat(self, value: Any, /) -> None: ...
    def flatten(self, order: str = "C") -> ndarray: ...
    def flip(self, axis: Axes = None, *, out: ndarray | None = None) -> ndarray: ...
    def floor(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def gamma(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def gammaln(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    @property
    def grad(self) -> Any: ...
    @property
    def grad_req(self) -> str: ...
    @property
    def imag(self) -> ndarray: ...
    @imag.setter
    def imag(self, value: Any, /) -> None: ...
    def inner(self, b: ArrayLike, /) -> ndarray: ...
    def invert(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def is_ready(self) -> bool: ...
    def isclose(self, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> ndarray: ...
    def isfinite(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def isinf(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def isnan(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def item(self, /, *args: Any) -> Any: ...
    @property
    def itemsize(self) -> int: ...
    def log(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def log10(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def log1p(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def log2(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def log_sigmoid(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def log_softmax(self, *args: Any, **options: Any) -> Any: ...
    def logical_not(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def logsumexp(
        self, axis: Any = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None
    ) -> ndarray: ...
    @property
    def mT(self) -> ndarray: ...
    def max(
        self,
        axis: Any = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> ndarray: ...
    def mean(
        self, axis: Any = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False, where: Any = None
    ) -> ndarray: ...
    def min(
        self,
        axis: Any = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> ndarray: ...
    def mish(self, *args: Any, **options: Any) -> Any: ...
    def moveaxis(self, source: Axes, destination: Axes) -> ndarray: ...
    def nanprod(
        self,
        axis: Axes = None,
        dtype: DTypeLike = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: ArrayLike = None,
    ) -> ndarray: ...
    def nansum(
        self,
        axis: Axes = None,
        dtype: DTypeLike = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: ArrayLike = None,
    ) -> ndarray: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    def negative(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def nonzero(self) -> tuple[ndarray, ...]: ...
    def norm(self, *args: Any, **options: Any) -> Any: ...
    def one_hot(self, *args: Any, **options: Any) -> Any: ...
    def ones_like(
        self,
        dtype: DTypeLike = None,
        order: str = "K",
        subok: bool = True,
        shape: Shape | None = None,
        *,
        device: DeviceLike = None,
        ctx: DeviceLike = None,
        out: ndarray | None = None,
    ) -> ndarray: ...
    def outer(self, b: ArrayLike, out: ndarray | None = None) -> ndarray: ...
    def pad(self, *args: Any, **options: Any) -> Any: ...
    def partition(
        self, kth: int | Sequence[int], axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None: ...
    def pick(self, *args: Any, **options: Any) -> Any: ...
    def positive(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def prod(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> ndarray: ...
    def ptp(self, axis: Axes = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
    def put(self, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None: ...
    def rad2deg(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def radians(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def ravel(self, order: str = "C") -> ndarray: ...
    def rcbrt(self, *args: Any, **options: Any) -> Any: ...
    @property
    def real(self) -> ndarray: ...
    @real.setter
    def real(self, value: Any, /) -> None: ...
    def reciprocal(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def relu(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def repeat(self, repeats: Any, axis: int | None = None) -> ndarray: ...
    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None, newshape: Any = None) -> ndarray: ...
    def reshape_like(self, other: ndarray) -> ndarray: ...
    def reshape_view(self, *shape: Any) -> ndarray: ...
    def resize(self, *new_shape: Any, refcheck: bool = True) -> None: ...
    def rint(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def round(self, decimals: int = 0, out: ndarray | None = None) -> ndarray: ...
    def rsqrt(self, *args: Any, **options: Any) -> Any: ...
    def searchsorted(self, v: ArrayLike, side: str = "left", sorter: ArrayLike = None) -> ndarray: ...
    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @shape.setter
    def shape(self, value: Any, /) -> None: ...
    def shape_array(self, *args: Any, **options: Any) -> Any: ...
    def sigmoid(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def sign(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def signbit(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def sin(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def sinh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    @property
    def size(self) -> int: ...
    def size_array(self, *args: Any, **options: Any) -> Any: ...
    def slice(self, *args: Any, **options: Any) -> Any: ...
    def slice_assign(self, *args: Any, **options: Any) -> Any: ...
    def slice_assign_scalar(self, *args: Any, **options: Any) -> Any: ...
    def slice_axis(self, *args: Any, **options: Any) -> Any: ...
    def slice_like(self, *args: Any, **options: Any) -> Any: ...
    def softmax(self, *args: Any, **options: Any) -> Any: ...
    def softmin(self, *args: Any, **options: Any) -> Any: ...
    def softplus(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def softsign(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def sort(
        self,
        axis: int = -1,
        kind: str | None = None,
        order: Any = None,
        *,
        stable: bool | None = None,
        descending: bool = False,
    ) -> None: ...
    def space_to_depth(self, *args: Any, **options: Any) -> Any: ...
    def split(self, indices_or_sections: Any, axis: int = 0) -> list[ndarray]: ...
    def split_v2(self, *args: Any, **options: Any) -> Any: ...
    def sqrt(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def square(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def squeeze(self, axis: Any = None) -> ndarray: ...
    def std(
        self,
        axis: Axes = None,
        dtype: DTypeLike = None,
        out: ndarray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: ArrayLike = None,
        *,
        mean: ArrayLike = None,
        correction: float | None = None,
    ) -> ndarray: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def stype(self) -> Any: ...
    @stype.setter
    def stype(self, value: Any, /) -> None: ...
    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> ndarray: ...
    def swapaxes(self, axis1: Any, axis2: Any) -> ndarray: ...
    def take(
        self, indices: ArrayLike, axis: int | None = None, out: ndarray | None = None, mode: str = "raise"
    ) -> ndarray: ...
    def tan(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def tanh(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def tile(self, reps: Any) -> ndarray: ...
    def to_device(self, device: Any, /, stream: Any = None) -> ndarray: ...
    def to_dlpack_for_read(self) -> Any: ...
    def to_dlpack_for_write(self) -> Any: ...
    def tobytes(self, order: str = "C") -> bytes: ...
    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None: ...
    def tolist(self) -> Any: ...
    def topk(self, *args: Any, **options: Any) -> Any: ...
    def tostype(self, stype: str) -> ndarray: ...
    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: ndarray | None = None
    ) -> ndarray: ...
    def transpose(self, *axes: Any) -> ndarray: ...
    def tril(self, k: int = 0) -> ndarray: ...
    def triu(self, k: int = 0) -> ndarray: ...
    def trunc(
        self,
        /,
        out: ndarray | None = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
    ) -> ndarray: ...
    def var(
        self,
        axis: Axes = None,
        dtype: DTypeLike = None,
        out: ndarray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: ArrayLike = None,
        *,
        mean: ArrayLike = None,
        correction: float | None = None,
    ) -> ndarray: ...
    def vdot(self, b: ArrayLike, /) -> ndarray: ...
    def view(self, dtype: DTypeLike = None, type: Any = None) -> ndarray: ...
    def wait_to_read(self) -> None: ...
    @property
    def writable(self) -> Any: ...
    @writable.setter
    def writable(self, value: Any, /) -> None: ...
    def zero_grad(self) -> None: ...
    def zeros_like(
        self,
        dtype: DTypeLike = None,
        order: str = "K",
        subok: bool = True,
        shape: Shape | None = None,
        *,
        device: DeviceLike = None,
        ctx: DeviceLike = None,
        out: ndarray | None = None,
    ) -> ndarray: ...
