"""Parts, shapes with codes, paddings and norms by MXNet's names, against NumPy; and the methods of their names."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from compare import same

from slipstream import autograd, np, npx
from slipstream.np._methods import EXTENSIONS


def cube() -> Any:
    return numpy.arange(24.0).reshape(2, 3, 4)


def test_slices() -> None:
    x = cube()
    ours = np.array(x)
    same(npx.slice(ours, (0, 1), (None, 3)), x[0:, 1:3])
    same(npx.slice(ours, (None, None, -1), (None, None, None), (None, 2, -2)), x[:, ::2, -1::-2])
    same(npx.slice(ours, 1, 2), x[1:2])
    same(npx.slice_axis(ours, axis=-1, begin=1, end=-1), x[..., 1:-1])
    same(npx.slice_axis(ours, axis=1, begin=-2, end=None), x[:, -2:])
    changed = x.copy()
    changed[:, 1:3] = 7
    same(npx.slice_assign_scalar(ours, 7, (0, 1), (None, 3)), changed)
    changed[:, 1:3] = x[:, :2]
    same(npx.slice_assign(ours, ours[:, :2], (0, 1), (None, 3)), changed)
    same(ours, x)
    with pytest.raises(
        ValueError, match=r"slice: begin=\(0, 1\), end=\(2,\), step=None do not fit the shape \(2, 3, 4\)"
    ):
        npx.slice(ours, (0, 1), (2,))


def test_splits_and_sizes() -> None:
    x = cube()
    ours = np.array(x)
    for made, wanted in zip(npx.split_v2(ours, [1, 2], axis=1), numpy.split(x, [1, 2], 1), strict=True):
        same(made, wanted)
    assert [part.shape for part in npx.split_v2(ours, 2, squeeze_axis=True)] == [(3, 4), (3, 4)]
    assert npx.split_v2(ours, 1).shape == (2, 3, 4)
    assert npx.size_array(ours).tolist() == [24]
    assert npx.broadcast_axes(ours[:, :1, :1], axis=(1, 2), size=(5, 6)).shape == (2, 5, 6)
    with pytest.raises(ValueError, match="they must be 1"):
        npx.broadcast_axes(ours, axis=0, size=3)
    same(npx.argmax_channel(ours), x.argmax(1).astype("float64"))


RESHAPES: list[tuple[Any, Any, bool, Any]] = [
    ((2, 3, 8), (-2, -2, 2, -1), False, (2, 3, 2, 4)),
    ((8, 3, 3, 3, 4, 4), (-6, 2, -1, -4), False, (2, 4, 3, 3, 3, 4, 4)),
    ((8, 3, 3, 3, 4, 4), (-5, -4), False, (24, 3, 3, 4, 4)),
    ((8, 1, 1, 1, 3), (-2, -3, -3, -3, -2), False, (8, 3)),
    ((8, 3, 3, 3, 3, 8), (-4, -5), True, (8, 3, 3, 3, 24)),
    ((8, 3, 2, 4, 8), (-4, -1, 2, -6), True, (8, 3, 2, 4, 4, 2)),
    ((2, 3, 4), (4, -1), False, (4, 6)),
    ((2, 3, 4), -1, False, (24,)),
]


@pytest.mark.parametrize(("old", "new", "reverse", "wanted"), RESHAPES)
def test_shapes_with_codes(old: Any, new: Any, reverse: bool, wanted: Any) -> None:
    x = numpy.arange(float(numpy.prod(old))).reshape(old)
    same(npx.reshape(np.array(x), new, reverse), x.reshape(wanted))


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ((-1, -1), "-1 stands twice"),
        ((-2, -2, -2, -2), "an axis that is not there"),
        ((-3, -4), "-3 leaves out an axis that is not 1"),
        ((-6, 3, 3, -4), "an axis of 2 cannot be split into 3 and 3"),
        ((-9,), "-9 is no code"),
    ],
)
def test_codes_that_do_not_fit(new: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        npx.reshape(np.ones((2, 3, 4)), new)


def test_pad() -> None:
    x = cube()
    for mode in ("constant", "edge", "reflect"):
        same(npx.pad(np.array(x), mode, (0, 0, 1, 2, 3, 0)), numpy.pad(x, [(0, 0), (1, 2), (3, 0)], mode))
    same(npx.pad(np.array(x), pad_width=(1, 0) * 3, constant_value=5), numpy.pad(x, [(1, 0)] * 3, constant_values=5))
    with pytest.raises(ValueError, match="must hold two numbers for each axis"):
        npx.pad(np.array(x), pad_width=(1, 1))
    with pytest.raises(ValueError, match="mode 'wrap' is none of"):
        npx.pad(np.array(x), "wrap", (0,) * 6)


def test_norms_and_powers() -> None:
    x = cube() + 1
    ours = np.array(x)
    same(npx.norm(ours), numpy.sqrt((x * x).sum()))
    same(npx.norm(ours, ord=1, axis=(0, 2), keepdims=True), x.sum((0, 2), keepdims=True))
    assert npx.norm(ours, out_dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match=r"ord is 3; here it is 1 or 2, others are in np\.linalg\.norm"):
        npx.norm(ours, ord=3)
    same(npx.rsqrt(ours), 1 / numpy.sqrt(x))
    same(npx.rcbrt(ours), 1 / numpy.cbrt(x))


METHODS: dict[str, tuple[Any, ...]] = {
    "broadcast_axes": (3, 3),
    "depth_to_space": (1,),
    "one_hot": (4,),
    "pad": ("constant", (1,) * 8),
    "pick": (np.zeros((2, 3, 4)),),
    "slice": ((0,), (1,)),
    "slice_assign": (0, (0,), (1,)),
    "slice_assign_scalar": (0, (0,), (1,)),
    "slice_axis": (1, 0, 2),
    "slice_like": (np.zeros((1, 2, 3, 1)),),
    "space_to_depth": (1,),
    "split_v2": (2,),
}


@pytest.mark.parametrize("name", EXTENSIONS)
def test_methods_are_the_functions(name: str) -> None:
    x = np.arange(24).reshape(2, 3, 4, 1) + 1
    args = METHODS.get(name, ())
    made, wanted = getattr(x, name)(*args), getattr(npx, name)(x, *args)
    for a, b in zip(*([made], [wanted]) if not isinstance(made, list) else (made, wanted), strict=True):
        same(a, b.asnumpy())


def test_gradients_of_parts() -> None:
    x = np.arange(6).reshape(2, 3)
    x.attach_grad()
    with autograd.record():
        y = (x.slice_axis(1, 1, 3) * 2).sum() + npx.reshape(x, (-5,)).sum()
    y.backward()
    assert x.grad.tolist() == [[1, 3, 3], [1, 3, 3]]


def test_numbers_of_events() -> None:
    drawn = npx.scalar_poisson(4.0, shape=(5000,))
    assert drawn.dtype == np.float32 and abs(drawn.mean().item() - 4) < 0.2
    drawn = npx.tensor_poisson(np.array([1.0, 9.0]), shape=(5000,))
    assert drawn.shape == (2, 5000) and numpy.abs(drawn.mean(1).asnumpy() - [1, 9]).max() < 0.3
    out = np.zeros(3)
    assert npx.scalar_poisson(0.0, shape=3, out=out) is out


def test_errors_name_the_function_that_was_called() -> None:
    x = np.ones((2, 2))
    for name in ("softmax", "log_softmax", "softmin"):
        with pytest.raises(ValueError, match=f"^{name}: axis 5 is out of bounds"):
            getattr(npx, name)(x, axis=5)
    for name in ("masked_softmax", "masked_log_softmax"):
        with pytest.raises(ValueError, match=f"^{name}: axis 5"):
            getattr(npx, name)(x, x > 0, axis=5)
