"""Automatic differentiation: record a computation, then ask for gradients.

>>> from slipstream import autograd, np
>>> x = np.array([1.0, 2.0])
>>> x.attach_grad()
>>> with autograd.record():
...     y = (x * x).sum()
>>> y.backward()
>>> x.grad
array([2., 4.])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from typing import Any, NamedTuple

from . import _core
from ._core import ndarray

__all__ = [
    "Function",
    "backward",
    "grad",
    "is_recording",
    "is_training",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
    "with_gradient",
]


# ---- the state of a thread


def is_recording() -> bool:
    """Is this thread recording?

    >>> autograd.is_recording()
    False
    """
    return _core.is_recording()


def is_training() -> bool:
    """Does this thread run layers as in training (dropout drops, batch normalisation uses the batch)?

    >>> with autograd.record():
    ...     autograd.is_training()
    True
    """
    return _core.is_training()


def set_recording(is_recording: bool) -> bool:
    """Switches recording on or off for this thread; returns what it was.

    >>> before = autograd.set_recording(True)
    >>> autograd.set_recording(before)
    True
    """
    return _core.set_recording(bool(is_recording))


def set_training(train_mode: bool) -> bool:
    """Switches training on or off for this thread; returns what it was.

    >>> before = autograd.set_training(True)
    >>> autograd.set_training(before)
    True
    """
    return _core.set_training(bool(train_mode))


class _Scope(ContextDecorator):
    """The flags of this thread changed for a block or a function; None leaves one as it is. May be nested in itself."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._recording, self._training = recording, training
        self._before: list[tuple[bool, bool]] = []

    def _recreate_cm(self) -> _Scope:  # a decorated function may run on several threads at once
        return _Scope(self._recording, self._training)

    def __enter__(self) -> None:
        self._before.append((_core.is_recording(), _core.is_training()))
        if self._recording is not None:
            _core.set_recording(self._recording)
        if self._training is not None:
            _core.set_training(self._training)

    def __exit__(self, *_: object) -> None:
        recording, training = self._before.pop()
        _core.set_recording(recording)
        _core.set_training(training)


def record(train_mode: bool = True) -> _Scope:
    """A `with` block (or a decorator) in which what is computed from arrays with gradients can be differentiated.

    >>> x = np.ones(2)
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = 3 * x
    >>> y.backward()
    >>> x.grad
    array([3., 3.])
    """
    return _Scope(True, train_mode)


def pause(train_mode: bool = False) -> _Scope:
    """A `with` block (or a decorator) in which nothing is recorded.

    >>> with autograd.record():
    ...     with autograd.pause():
    ...         autograd.is_recording()
    False
    """
    return _Scope(False, train_mode)


def train_mode() -> _Scope:
    """A `with` block (or a decorator) in which layers behave as in training; recording stays as it is.

    >>> with autograd.train_mode():
    ...     autograd.is_training()
    True
    """
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """A `with` block (or a decorator) in which layers behave as in prediction; recording stays as it is.

    >>> with autograd.record(), autograd.predict_mode():
    ...     autograd.is_training()
    False
    """
    return _Scope(None, False)


# ---- gradients


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _gradients_of(heads: list[Any], head_grads: Any) -> list[Any] | None:
    return None if head_grads is None else _listed(head_grads)


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = "write") -> None:
    """Makes arrays variables whose gradients are written to the given arrays.

    >>> x, g = np.ones(2), np.zeros(2)
    >>> autograd.mark_variables([x], [g])
    >>> with autograd.record():
    ...     y = 2 * x
    >>> y.backward()
    >>> g
    array([2., 2.])
    """
    variables, gradients = _listed(variables), _listed(gradients)
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(requests):
        counts = f"{len(variables)} variables, {len(gradients)} gradients and {len(requests)} grad_reqs"
        raise ValueError(f"mark_variables: {counts}; there must be equally many")
    for variable, gradient, request in zip(variables, gradients, requests, strict=True):
        _core.mark_variable(variable, gradient, request)


def backward(heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:
    """Writes the gradients of the sum of the heads to `x.grad` of every array they were computed from.

    `head_grads` are the gradients of the heads themselves, ones where there are none. The recorded graph is freed
    unless `retain_graph` is true.

    >>> x = np.ones(2)
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y, z = 2 * x, x * x
    >>> autograd.backward([y, z], [None, np.array([10.0, 20.0])])
    >>> x.grad
    array([22., 42.])
    """
    heads = _listed(heads)
    _core.backward(heads, _gradients_of(heads, head_grads), bool(retain_graph), bool(train_mode))


def grad(
    heads: Any,
    variables: Any,
    head_grads: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> list[ndarray]:
    """The gradients of the sum of the heads for the variables, as new arrays; `x.grad` is left alone.

    Always a list, also for one variable that is not in a list, as in MXNet; zeros for variables that the heads do not
    depend on. With `create_graph` the gradients can be differentiated again; then `retain_graph` is true unless it is
    given.

    >>> x = np.array([1.0, 2.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     slope = autograd.grad(x**3, x, create_graph=True)[0]
    >>> slope.backward()
    >>> x.grad
    array([ 6., 12.])
    """
    heads = _listed(heads)
    retain = bool(create_graph if retain_graph is None else retain_graph)
    given = _gradients_of(heads, head_grads)
    return _core.grad(heads, given, _listed(variables), retain, bool(create_graph), bool(train_mode))


# ---- gradients written in Python


def with_gradient(
    results: Any,
    inputs: Sequence[ndarray],
    backward: Callable[..., Any],
    *,
    name: str = "function",
    keep_results: bool = False,
) -> Any:
    """Results that were computed where the tape does not look (by `npx.host_call`, or under `pause`), with a gradient.

    `backward(*gs)` gets the gradient of each result and returns that of each input (None: it has none), in one list
    or, for one input, alone. With `keep_results` it gets the results too, after the gradients: `backward(*gs, *rs)`.
    What it computes with functions of `np` can be differentiated again. Inputs that it needs it can simply use: they
    have their history. It must not hold the results themselves (they would keep each other alive): use `keep_results`.

    Returns new handles of the results: one, or a list as given. Where nothing is recorded they are just the results.

    >>> def double(x):
    ...     y = npx.host_call(lambda a: 2 * a, [x.detach()], x.shape)
    ...     return autograd.with_gradient(y, [x], lambda g: 2 * g, name="double")
    >>> x = np.ones(2)
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = double(x) ** 2
    >>> y.backward()
    >>> x.grad
    array([8., 8.])
    """
    if not _core.is_recording():
        return results
    single = isinstance(results, ndarray)
    made = _core.note_function(name, [results] if single else list(results), list(inputs), backward, keep_results)
    return made[0] if single else made


class _Result(NamedTuple):
    """A saved result of a function."""

    number: int

    def get(self, results: tuple[ndarray, ...]) -> Any:
        return results[self.number]


class _Value(NamedTuple):
    """Another saved value, and how often its memory had been written then."""

    value: Any
    version: int

    def get(self, _: tuple[ndarray, ...]) -> Any:
        if isinstance(self.value, ndarray):
            _core.check_unwritten(self.value, self.version)
        return self.value


class Function:
    """A differentiable operation with its own forward and backward, both in Python.

    Derive a class, write `forward(self, *inputs)` and `backward(self, *output_gradients)`; `backward` returns one
    gradient for each input. An instance is called once for each use.

    >>> class Sigmoid(autograd.Function):
    ...     def forward(self, x):
    ...         y = 1 / (1 + np.exp(-x))
    ...         self.save_for_backward(y)
    ...         return y
    ...     def backward(self, dy):
    ...         (y,) = self.saved_tensors
    ...         return dy * y * (1 - y)
    >>> x = np.zeros(2)
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = Sigmoid()(x)
    >>> y.backward()
    >>> x.grad
    array([0.25, 0.25])
    """

    _saved: tuple[Any, ...] = ()
    _used = False

    def forward(self, *inputs: Any) -> Any:
        """Computes the results; nothing in it is recorded."""
        raise NotImplementedError(f"{type(self).__name__}.forward is not written")

    def backward(self, *output_grads: Any) -> Any:
        """Computes the gradients of the inputs from those of the results."""
        raise NotImplementedError(f"{type(self).__name__}.backward is not written")

    def save_for_backward(self, *args: Any) -> None:
        """Keeps arrays for `backward`, which finds them in `saved_tensors`."""
        self._saved = args

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept."""
        return self._saved

    def __call__(self, *inputs: Any) -> Any:
        if self._used:
            raise RuntimeError(f"{type(self).__name__}: an instance can be called once; make a new one for each call")
        self._used = True
        with pause(train_mode=is_training()):
            outputs = self.forward(*inputs)
        if not is_recording():
            return outputs
        results = [outputs] if isinstance(outputs, ndarray) else list(outputs)
        arrays = [x for x in inputs if isinstance(x, ndarray)]
        saved = self._set_aside(results)
        keep = any(isinstance(value, _Result) for value in saved)
        run = self._backward(len(results), inputs, saved)
        made = _core.note_function(type(self).__name__, results, arrays, run, keep)
        return made[0] if isinstance(outputs, ndarray) else type(outputs)(made)

    def _set_aside(self, results: list[ndarray]) -> list[Any]:
        """What was saved, with its versions. A result only by its number: it and the graph would keep each other."""
        numbers = {id(result): number for number, result in enumerate(results)}
        saved: list[Any] = []
        for value in self._saved:
            if id(value) in numbers:
                saved.append(_Result(numbers[id(value)]))
            else:
                saved.append(_Value(value, value._version if isinstance(value, ndarray) else 0))
        self._saved = ()
        return saved

    def _backward(self, count: int, inputs: tuple[Any, ...], saved: list[Any]) -> Callable[..., Any]:
        places = [i for i, x in enumerate(inputs) if isinstance(x, ndarray)]

        def run(*given: ndarray) -> list[Any]:
            gradients, remade = given[:count], given[count:]
            self._saved = tuple(value.get(remade) for value in saved)
            try:
                found = _listed(self.backward(*gradients))
            finally:
                self._saved = ()
            if len(found) != len(inputs) and len(found) != len(places):
                name = type(self).__name__
                raise ValueError(f"{name}.backward returned {len(found)} gradients for {len(inputs)} inputs")
            return [found[i] for i in places] if len(found) == len(inputs) else found

        return run
