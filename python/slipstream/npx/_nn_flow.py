"""Loops and choices as functions, straight-through gradients, and small helpers that MXNet programs use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .. import _core
from .._core import ndarray
from ..autograd import with_gradient
from ..np._arguments import as_array, as_dtype, normal_axes, normal_axis, public
from ..np._by_numpy import behind, by_numpy
from ..np._types import ArrayLike, DTypeLike
from ._out import with_out

# ---- shapes and types


@with_out
def add_n(*args: ArrayLike) -> ndarray:
    """The sum of all arguments.

    >>> npx.add_n(np.ones(2), np.ones(2), np.ones(2))
    array([3., 3.])
    """
    if not args:
        raise ValueError("add_n: there is nothing to add")
    total = as_array(args[0])
    for other in args[1:]:
        total = total + other
    return total


@with_out
def batch_flatten(data: ArrayLike) -> ndarray:
    """All axes but the first as one.

    >>> npx.batch_flatten(np.ones((2, 3, 4))).shape
    (2, 12)
    """
    x = as_array(data)
    if x.ndim == 0:
        raise ValueError("batch_flatten: data has no axes")
    return _core.reshape(x, (x.shape[0], math.prod(x.shape[1:])))


@with_out
def cast(data: ArrayLike, dtype: DTypeLike) -> ndarray:
    """A copy of another type.

    >>> npx.cast(np.array([1.5]), "int32")
    array([1], dtype=int32)
    """
    return _core.astype(as_array(data), as_dtype(dtype))


@with_out
def broadcast_greater(lhs: ArrayLike, rhs: ArrayLike) -> ndarray:
    """1 where the first argument is larger, else 0.

    >>> npx.broadcast_greater(np.array([1, 3]), np.array([2]))
    array([0., 1.])
    """
    x = as_array(lhs)
    return _core.astype(_core.greater(x, rhs), x.dtype)


@with_out
def shape_array(data: ArrayLike) -> ndarray:
    """The shape as an array of int64.

    >>> npx.shape_array(np.ones((2, 3)))
    array([2, 3], dtype=int64)
    """
    x = as_array(data)
    return _core.array(numpy.array(x.shape, "int64"), numpy.dtype("int64"), x.device)


@with_out
def slice_channel(data: ArrayLike, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> list[ndarray]:
    """Equal parts along an axis, without the axis where `squeeze_axis` says so and they are one long.

    >>> [part.shape for part in npx.slice_channel(np.ones((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    x = as_array(data)
    at = normal_axis(axis, x.ndim, "slice_channel")
    if num_outputs < 1 or x.shape[at] % num_outputs:
        raise ValueError(f"slice_channel: axis {axis} of shape {x.shape} cannot be cut into {num_outputs} parts")
    size = x.shape[at] // num_outputs
    if squeeze_axis and size != 1:
        raise ValueError(f"slice_channel: squeeze_axis=True, but parts are {size} long")
    parts = [_core.slice(x, at, i * size, 1, size) for i in range(num_outputs)]
    return [_core.squeeze(part, [at]) for part in parts] if squeeze_axis else parts


@with_out
def slice_like(data: ArrayLike, shape_like: ArrayLike, axes: Any = None) -> ndarray:
    """The first elements along axes (all), as many as another array has there.

    >>> npx.slice_like(np.ones((3, 4)), np.ones((2, 3))).shape
    (2, 3)
    """
    x, other = as_array(data), as_array(shape_like)
    chosen = range(x.ndim) if axes is None or axes == () else normal_axes(axes, x.ndim, "slice_like")
    for axis in chosen:
        if axis >= other.ndim or other.shape[axis] > x.shape[axis]:
            raise ValueError(f"slice_like: shape {x.shape} has no part of shape {other.shape}")
        x = _core.slice(x, axis, 0, 1, other.shape[axis])
    return x


# ---- gradients that are not those of the values


@with_out
def stop_gradient(data: ArrayLike) -> ndarray:
    """The same values, through which no gradient goes.

    >>> npx.stop_gradient(np.ones(2))
    array([1., 1.])
    """
    return as_array(data).detach()


@with_out
def round_ste(data: ArrayLike) -> ndarray:
    """Rounded to integers, with the gradient of the argument itself.

    >>> npx.round_ste(np.array([0.4, 1.6]))
    array([0., 2.])
    """
    x = as_array(data)
    made: ndarray = with_gradient(_core.round(x.detach()), [x], lambda g: g, name="round_ste")
    return made


@with_out
def sign_ste(data: ArrayLike) -> ndarray:
    """The sign, with the gradient of the argument itself.

    >>> npx.sign_ste(np.array([-3.0, 2.0]))
    array([-1.,  1.])
    """
    x = as_array(data)
    made: ndarray = with_gradient(_core.sign(x.detach()), [x], lambda g: g, name="sign_ste")
    return made


@by_numpy("behind")
def constraint_check(x: ArrayLike, msg: str = "a constraint does not hold") -> ndarray:
    """True where all elements are; otherwise, reading the result raises ValueError with the message.

    >>> npx.constraint_check(np.array([True, True]), "no")
    array(True)
    """
    given = as_array(x)

    def run(values: Any) -> Any:
        if not values.all():
            raise ValueError(msg)
        return numpy.array(True)

    made: ndarray = behind("npx.constraint_check", run, [given], (), "bool", given.device)
    return made


# ---- control flow: plain Python, which reads the values that it decides by


def _as_list(value: Any) -> tuple[list[Any], bool]:
    return (list(value), True) if isinstance(value, (list, tuple)) else ([value], False)


def _leaves(value: Any) -> list[Any]:
    """The arrays in lists of arrays, which may be nested."""
    return [leaf for one in value for leaf in _leaves(one)] if isinstance(value, (list, tuple)) else [value]


def _slice(value: Any, i: int) -> Any:
    """Slice i of an array, or of all arrays in (nested) lists."""
    return [_slice(one, i) for one in value] if isinstance(value, (list, tuple)) else value[i]


def _stacked(steps: list[Any], length: int | None = None) -> Any:
    """What the steps gave, arrays or (nested) lists of them, with arrays stacked; an empty list if it is nothing.

    With a length, zeros stand for the steps that there were not.
    """
    if not steps or steps[0] is None:
        return []
    if isinstance(steps[0], (list, tuple)):
        return [_stacked(list(column), length) for column in zip(*steps, strict=True)]
    made = _core.stack(steps, 0)
    if length is None or length == len(steps):
        return made
    missing = _core.full((length - len(steps), *made.shape[1:]), 0, made.dtype, made.device)
    return _core.concatenate([made, missing], 0)


def _outputs_and(rest: str, owner: str, made: Any) -> tuple[Any, Any]:
    """The two things that a function of a loop returns."""
    if not isinstance(made, (list, tuple)) or len(made) != 2:
        got = f"{len(made)} values" if isinstance(made, (list, tuple)) else f"one {type(made).__name__}"
        raise ValueError(f"{owner} must return two things, (outputs, {rest}); it returned {got}")
    return made[0], made[1]


def cond(
    pred: Any,
    then_func: Callable[..., Any],
    else_func: Callable[..., Any],
    inputs: Any = (),
    name: str = "cond",
) -> Any:
    """One of two functions of `inputs`, by a predicate of them (or a value), whose value this waits for.

    >>> npx.cond(np.array(1.0), lambda x: x, lambda x: -x, [np.ones(1)])
    array([1.])
    """
    given, _ = _as_list(inputs)
    chosen = pred(*given) if callable(pred) else pred
    return then_func(*given) if bool(chosen) else else_func(*given)


def foreach(body: Callable[..., Any], data: Any, init_states: Any) -> tuple[Any, Any]:
    """`body(slice, states)` for each slice of `data` along its first axis: all outputs, stacked, and the last states.

    Data, outputs and states are arrays or lists of arrays, which may be nested.

    >>> npx.foreach(lambda x, total: (x + total, x + total), np.arange(3), np.zeros(()))
    (array([0., 1., 3.]), array(3.))
    """
    shapes = [as_array(leaf).shape for leaf in _leaves(data)]
    if not shapes:
        raise ValueError(f"foreach: data is empty: {data!r} has no array to take slices of")
    if () in shapes or len({shape[0] for shape in shapes}) > 1:
        raise ValueError(f"foreach: data of shapes {shapes} have not one length along a first axis")
    count, states = shapes[0][0], init_states
    if not count:
        raise ValueError("foreach: data is empty, so the outputs' shapes are not known")
    steps: list[Any] = []
    for i in range(count):
        outputs, states = _outputs_and("states", "foreach: body", body(_slice(data, i), states))
        steps.append(outputs)
    return _stacked(steps), states


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
) -> tuple[Any, Any]:
    """`outputs, loop_vars = func(*loop_vars)` while `cond(*loop_vars)`, whose value is waited for each time.

    Gives the outputs of all steps, stacked, and the last variables. Both are arrays or lists of arrays, which may be
    nested; one variable need not be in a list. The outputs' first axis is `max_iterations` long: zeros follow the
    last step. Without `max_iterations` it is as long as there were steps; where there was none, there is an empty list.

    >>> npx.while_loop(lambda i: i < 3, lambda i: (i * i, [i + 1]), [np.array(1.0)], 4)
    (array([1., 4., 0., 0.]), [array(3.)])
    """
    variables, several = _as_list(loop_vars)
    limit = None if max_iterations is None else int(max_iterations)
    steps: list[Any] = []
    while (limit is None or len(steps) < limit) and bool(cond(*variables)):
        outputs, after = _outputs_and("loop_vars", "while_loop: func", func(*variables))
        following, _ = _as_list(after)
        if len(following) != len(variables):
            raise ValueError(f"while_loop: func took {len(variables)} loop_vars and returned {len(following)}")
        variables = following
        steps.append(outputs)
    return _stacked(steps, limit), variables if several else variables[0]


if not TYPE_CHECKING:
    __all__ = public(globals())
