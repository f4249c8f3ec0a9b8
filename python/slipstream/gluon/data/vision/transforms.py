"""What is done to images before training: blocks of one image (height, width, channels), most also of a batch.

Decisions by chance follow `np.random.seed`. Nothing waits for the values of an image.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .... import image, np
from ...._core import ndarray
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential
from .._draws import generator

__all__ = ["Cast", "CenterCrop", "Compose", "CropResize", "HybridCompose", "HybridRandomApply", "Normalize"]
__all__ += ["RandomApply", "RandomBrightness", "RandomColorJitter", "RandomContrast", "RandomCrop"]
__all__ += ["RandomFlipLeftRight", "RandomFlipTopBottom", "RandomGray", "RandomHue", "RandomLighting"]
__all__ += ["RandomResizedCrop", "RandomRotation", "RandomSaturation", "Resize", "Rotate", "ToTensor"]

_GRAY = (0.299, 0.587, 0.114)


def _pair(size: Any, name: str) -> tuple[int, int]:
    """A width and a height, given as two numbers or as one for both."""
    pair = (size, size) if isinstance(size, (int, numpy.integer)) else tuple(size)
    if len(pair) != 2 or min(pair) < 1:
        raise ValueError(f"{name}: size must be a number or (width, height), at least 1, not {size!r}")
    return int(pair[0]), int(pair[1])


class Compose(Sequential):
    """One transform after another.

    >>> Compose([Resize(8), ToTensor()])(np.zeros((4, 4, 3), dtype="uint8")).shape
    (3, 8, 8)
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        super().__init__()
        self._all = list(transforms)
        self.add(*[t for t in self._all if isinstance(t, Block)])

    def forward(self, x: Any, *args: Any) -> Any:
        """All of them, in their order; other arguments (labels) pass."""
        for transform in self._all:
            x = transform(x)
        return (x, *args) if args else x


class HybridCompose(HybridSequential):
    """As `Compose`, of blocks that can be hybridized.

    >>> HybridCompose([ToTensor()])(np.zeros((4, 4, 3), dtype="uint8")).shape
    (3, 4, 4)
    """

    def __init__(self, transforms: Sequence[Any]) -> None:
        super().__init__()
        for transform in transforms:
            if not isinstance(transform, HybridBlock):
                raise ValueError(f"HybridCompose: {transform!r} is not a HybridBlock; use Compose")
        self.add(*transforms)


class _Of(HybridBlock):
    """A transform of the first argument; others (labels) pass."""

    def forward(self, x: Any, *args: Any) -> Any:
        """The transformed image."""
        made = self._of(np.asarray(x))
        return (made, *args) if args else made

    def _of(self, x: ndarray) -> ndarray:
        raise NotImplementedError


class Cast(_Of):
    """Another type of number.

    >>> Cast("float32")(np.zeros((2, 2, 1), dtype="uint8")).dtype
    dtype('float32')
    """

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def _of(self, x: ndarray) -> ndarray:
        return x.astype(self._dtype)


class RandomApply(Sequential):
    """A transform that is done with probability `p`.

    >>> RandomApply(Cast("float32"), p=0.0)(np.zeros((2, 2, 1), dtype="uint8")).dtype
    dtype('uint8')
    """

    def __init__(self, transforms: Callable[..., Any], p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x: Any, *args: Any) -> Any:
        """The image, transformed or not."""
        made = self.transforms(x) if generator().random() < self.p else x
        return (made, *args) if args else made


class HybridRandomApply(HybridSequential):
    """As `RandomApply`, of a block that can be hybridized.

    >>> HybridRandomApply(Cast("float32"), p=1.0)(np.zeros((2, 2, 1), dtype="uint8")).dtype
    dtype('float32')
    """

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        if not isinstance(transforms, HybridBlock):
            raise ValueError(f"HybridRandomApply: {transforms!r} is not a HybridBlock; use RandomApply")
        self.transforms = transforms
        self.p = p

    def forward(self, x: Any, *args: Any) -> Any:
        """The image, transformed or not."""
        made = self.transforms(x) if generator().random() < self.p else x
        return (made, *args) if args else made


# ---- numbers


class ToTensor(_Of):
    """Channels first, numbers from 0 to 1: (height, width, channels) uint8 becomes (channels, height, width) float32.

    >>> ToTensor()(np.full((1, 1, 1), 255, dtype="uint8"))
    array([[[1.]]])
    """

    def _of(self, x: ndarray) -> ndarray:
        if x.ndim not in (3, 4):
            raise ValueError(f"ToTensor: expected (height, width, channels) or a batch of them, got shape {x.shape}")
        return np.moveaxis(x, -1, -3).astype("float32") / 255


class Normalize(_Of):
    """`(x - mean) / std` for each channel, of images with channels first.

    >>> Normalize(mean=(1, 2), std=2)(np.ones((2, 1, 1)))[:, 0, 0]
    array([ 0. , -0.5])
    """

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        super().__init__()
        self._mean = numpy.asarray(mean, numpy.float32).reshape(-1, 1, 1)
        self._std = numpy.asarray(std, numpy.float32).reshape(-1, 1, 1)

    def _of(self, x: ndarray) -> ndarray:
        for values in (self._mean, self._std):
            if x.ndim < 3 or values.size not in (1, x.shape[-3]):
                raise ValueError(f"Normalize: {values.size} values for images of shape {x.shape} (channels first)")
        return (x - np.array(self._mean, device=x.device)) / np.array(self._std, device=x.device)


# ---- sizes


class Resize(_Of):
    """Another size (width, height); one number with `keep_ratio` is the length of the shorter edge.

    >>> Resize((8, 6))(np.zeros((4, 4, 3))).shape
    (6, 8, 3)
    """

    def __init__(self, size: Any, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._size = _pair(size, "Resize")
        self._short = size if keep_ratio and isinstance(size, int) else None
        self._interpolation = interpolation

    def _of(self, x: ndarray) -> ndarray:
        if self._short is not None:
            return image.resize_short(x, self._short, self._interpolation)
        return image.imresize(x, *self._size, interp=self._interpolation)


class CenterCrop(_Of):
    """The middle of the image, in this size (width, height).

    >>> CenterCrop(2)(np.zeros((4, 4, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, size: Any, interpolation: int = 1) -> None:
        super().__init__()
        self._size = _pair(size, "CenterCrop")
        self._interpolation = interpolation

    def _of(self, x: ndarray) -> ndarray:
        return image.center_crop(x, self._size, self._interpolation)[0]


class CropResize(_Of):
    """The part at `(x, y)` of a width and height, resized to `size` if it is given.

    >>> CropResize(1, 0, 2, 3, size=(4, 4))(np.zeros((5, 5, 3))).shape
    (4, 4, 3)
    """

    def __init__(
        self, x: int, y: int, width: int, height: int, size: Any = None, interpolation: int | None = None
    ) -> None:
        super().__init__()
        self._box = (x, y, width, height)
        self._size = None if size is None else _pair(size, "CropResize")
        self._interpolation = 1 if interpolation is None else interpolation

    def _of(self, x: ndarray) -> ndarray:
        return image.fixed_crop(x, *self._box, size=self._size, interp=self._interpolation)


class RandomCrop(_Of):
    """A part of this size (width, height) at random, after `pad` pixels of `pad_value` were put around the image.

    >>> RandomCrop(4, pad=2)(np.zeros((4, 4, 3))).shape
    (4, 4, 3)
    """

    def __init__(self, size: Any, pad: Any = None, pad_value: float = 0, interpolation: int = 1) -> None:
        super().__init__()
        self._size = _pair(size, "RandomCrop")
        self._pad = pad if pad is None or isinstance(pad, int) else tuple(pad)
        self._pad_value = pad_value
        self._interpolation = interpolation

    def _padded(self, x: ndarray) -> ndarray:
        if self._pad is None:
            return x
        around = (self._pad,) * 4 if isinstance(self._pad, int) else self._pad
        if len(around) != 4:
            raise ValueError(f"RandomCrop: pad must be a number, or top, bottom, left, right, not {self._pad}")
        top, bottom, left, right = around
        h, w, c = x.shape[-3:]
        shape = (*x.shape[:-3], h + top + bottom, w + left + right, c)
        made = np.full(shape, self._pad_value, dtype=x.dtype, device=x.device)
        made[..., top : top + h, left : left + w, :] = x
        return made

    def _of(self, x: ndarray) -> ndarray:
        return image.random_crop(self._padded(x), self._size, self._interpolation)[0]


class RandomResizedCrop(_Of):
    """A part at random, of a share `scale` of the area and of proportions `ratio`, resized to `size`.

    >>> RandomResizedCrop(8)(np.zeros((10, 12, 3))).shape
    (8, 8, 3)
    """

    def __init__(
        self,
        size: Any,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        self._size = _pair(size, "RandomResizedCrop")
        self._scale = (scale, 1.0) if isinstance(scale, (int, float)) else scale
        self._ratio = ratio
        self._interpolation = interpolation

    def _of(self, x: ndarray) -> ndarray:
        height, width = x.shape[-3:-1]
        draw = generator()
        for _ in range(10):
            area = height * width * draw.uniform(*self._scale)
            ratio = math.exp(draw.uniform(math.log(self._ratio[0]), math.log(self._ratio[1])))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                x0, y0 = int(draw.integers(width - w + 1)), int(draw.integers(height - h + 1))
                return image.fixed_crop(x, x0, y0, w, h, self._size, self._interpolation)
        return image.center_crop(x, self._size, self._interpolation)[0]


class _Flip(_Of):
    """Turns an axis around with probability `p`."""

    _axis: int

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def _of(self, x: ndarray) -> ndarray:
        return np.flip(x, self._axis) if generator().random() < self.p else x


class RandomFlipLeftRight(_Flip):
    """Left and right change places with probability `p`.

    >>> RandomFlipLeftRight(p=1)(np.array([[[1], [2]]]))[0, :, 0]
    array([2., 1.])
    """

    _axis = -2


class RandomFlipTopBottom(_Flip):
    """Top and bottom change places with probability `p`.

    >>> RandomFlipTopBottom(p=1)(np.array([[[1]], [[2]]]))[:, 0, 0]
    array([2., 1.])
    """

    _axis = -3


# ---- colours


def _factor(amount: float | tuple[float, float]) -> float:
    """A factor at random: about 1, or between two limits."""
    limits = amount if isinstance(amount, tuple) else (max(0.0, 1 - amount), 1 + amount)
    return float(generator().uniform(*limits))


def _three(x: ndarray, name: str) -> None:
    if x.ndim < 3 or x.shape[-1] != 3:
        raise ValueError(f"{name}: expected an image with three channels (last), got shape {x.shape}")


def _gray(x: ndarray) -> ndarray:
    return (x.astype("float32") * np.array(_GRAY, device=x.device)).sum(axis=-1, keepdims=True)


class RandomBrightness(_Of):
    """Times a factor between `1 - brightness` and `1 + brightness`.

    >>> RandomBrightness(0.0)(np.ones((1, 1, 3)))[0, 0]
    array([1., 1., 1.])
    """

    def __init__(self, brightness: float | tuple[float, float]) -> None:
        super().__init__()
        self._amount = brightness

    def _of(self, x: ndarray) -> ndarray:
        return image.as_before(x.astype("float32") * _factor(self._amount), x.dtype)


class RandomContrast(_Of):
    """Away from, or towards, the mean brightness, by a factor between `1 - contrast` and `1 + contrast`.

    >>> RandomContrast(0.0)(np.ones((1, 1, 3)))[0, 0]
    array([1., 1., 1.])
    """

    def __init__(self, contrast: float | tuple[float, float]) -> None:
        super().__init__()
        self._amount = contrast

    def _of(self, x: ndarray) -> ndarray:
        wide, factor = x.astype("float32"), _factor(self._amount)
        level = _gray(x) if x.shape[-1] == 3 else wide
        mean = level.mean(axis=(-3, -2, -1), keepdims=True)
        return image.as_before(wide * factor + (1 - factor) * mean, x.dtype)


class RandomSaturation(_Of):
    """Away from, or towards, grey, by a factor between `1 - saturation` and `1 + saturation`.

    >>> RandomSaturation(0.0)(np.ones((1, 1, 3)))[0, 0]
    array([1., 1., 1.])
    """

    def __init__(self, saturation: float | tuple[float, float]) -> None:
        super().__init__()
        self._amount = saturation

    def _of(self, x: ndarray) -> ndarray:
        _three(x, "RandomSaturation")
        factor = _factor(self._amount)
        return image.as_before(x.astype("float32") * factor + (1 - factor) * _gray(x), x.dtype)


_TO_YIQ = numpy.array([_GRAY, (0.596, -0.274, -0.321), (0.211, -0.523, 0.311)])


class RandomHue(_Of):
    """Colours turned around the circle of colours, by up to `hue` of it in either direction.

    >>> RandomHue(0.0)(np.ones((1, 1, 3)))[0, 0].shape
    (3,)
    """

    def __init__(self, hue: float | tuple[float, float]) -> None:
        super().__init__()
        self._limits = hue if isinstance(hue, tuple) else (-hue, hue)

    def _of(self, x: ndarray) -> ndarray:
        _three(x, "RandomHue")
        angle = 2 * math.pi * float(generator().uniform(*self._limits))
        c, s = math.cos(angle), math.sin(angle)
        turn = numpy.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        matrix = numpy.linalg.inv(_TO_YIQ) @ turn @ _TO_YIQ
        turned = np.matmul(x.astype("float32"), np.array(matrix.T, dtype="float32", device=x.device))
        return image.as_before(turned, x.dtype)


class RandomColorJitter(_Of):
    """Brightness, contrast, saturation and hue, changed at random in random order.

    >>> RandomColorJitter(0.1, 0.1, 0.1, 0.1)(np.ones((2, 2, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        super().__init__()
        amounts = {RandomBrightness: brightness, RandomContrast: contrast, RandomSaturation: saturation, RandomHue: hue}
        self._steps: list[Any] = [kind(amount) for kind, amount in amounts.items() if amount > 0]

    def _of(self, x: ndarray) -> ndarray:
        for i in generator().permutation(len(self._steps)):
            x = self._steps[i](x)
        return x


# Directions in which the colours of photographs vary, times how much (Krizhevsky and others, 2012).
LIGHTS = numpy.array(
    [
        [55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
        [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
        [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203],
    ]
)


class RandomLighting(_Of):
    """Adds light of a colour at random, as the light of photographs varies; `alpha` is its strength.

    >>> RandomLighting(0.0)(np.ones((1, 1, 3)))[0, 0]
    array([1., 1., 1.])
    """

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def _of(self, x: ndarray) -> ndarray:
        _three(x, "RandomLighting")
        light = LIGHTS @ generator().normal(0, self._alpha, 3) if self._alpha else numpy.zeros(3)
        return image.as_before(x.astype("float32") + np.array(light, dtype="float32", device=x.device), x.dtype)


class RandomGray(_Of):
    """Grey with probability `p`; three channels all the same.

    >>> RandomGray(p=1)(np.array([[[1.0, 0, 0]]])).shape
    (1, 1, 3)
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def _of(self, x: ndarray) -> ndarray:
        _three(x, "RandomGray")
        if generator().random() >= self.p:
            return x.astype("float32")
        return np.broadcast_to(_gray(x), x.shape)


# ---- turning


def _turned(x: ndarray, degrees: float, zoom_in: bool, zoom_out: bool, name: str) -> ndarray:
    """An image with channels first, turned about its middle, against the clock; what was outside is 0."""
    if zoom_in and zoom_out:
        raise ValueError(f"{name}: zoom_in and zoom_out exclude each other")
    if x.ndim not in (3, 4) or x.dtype.kind != "f":
        raise TypeError(f"{name}: expected floats with channels first (after ToTensor), got {x.dtype} {x.shape}")
    height, width = x.shape[-2:]
    angle = math.radians(degrees)
    c, s = math.cos(angle), math.sin(angle)
    zoom = 1.0
    if zoom_in or zoom_out:
        reach = max(
            (abs(c) * height + abs(s) * width) / height,
            (abs(s) * height + abs(c) * width) / width,
        )
        zoom = reach if zoom_out else 1 / reach
    down, across = numpy.mgrid[:height, :width] - numpy.array([(height - 1) / 2, (width - 1) / 2])[:, None, None]
    y = (c * down + s * across) * zoom + (height - 1) / 2
    left = (c * across - s * down) * zoom + (width - 1) / 2
    flat, total = x.reshape(*x.shape[:-2], height * width), np.zeros((), dtype=x.dtype, device=x.device)
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row, column = numpy.floor(y) + i, numpy.floor(left) + j
        weight = (1 - abs(y - row)) * (1 - abs(left - column))
        weight *= (row >= 0) & (row < height) & (column >= 0) & (column < width)
        place = numpy.clip(row, 0, height - 1) * width + numpy.clip(column, 0, width - 1)
        places = np.array(place.ravel(), dtype="int64", device=x.device)
        total = total + np.take(flat, places, axis=-1) * np.array(weight.ravel(), dtype=x.dtype, device=x.device)
    return total.reshape(x.shape)


class Rotate(_Of):
    """The image turned against the clock; `zoom_in` leaves no empty corners, `zoom_out` loses none. Channels first.

    >>> Rotate(90)(np.array([[[1.0, 2.0], [3.0, 4.0]]]))
    array([[[2., 4.],
            [1., 3.]]])
    """

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        super().__init__()
        self._settings = (rotation_degrees, zoom_in, zoom_out)

    def _of(self, x: ndarray) -> ndarray:
        return _turned(x, *self._settings, name="Rotate")


class RandomRotation(_Of):
    """Turned against the clock by an angle between two limits, with probability `rotate_with_proba`. Channels first.

    >>> RandomRotation((-10, 10))(np.ones((1, 4, 4))).shape
    (1, 4, 4)
    """

    def __init__(
        self,
        angle_limits: tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        low, high = angle_limits
        if low >= high:
            raise ValueError(f"RandomRotation: angle_limits {angle_limits} must rise")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(f"RandomRotation: rotate_with_proba must be within 0 to 1, not {rotate_with_proba}")
        self._limits = (low, high)
        self._zoom = (zoom_in, zoom_out)
        self.p = rotate_with_proba

    def _of(self, x: ndarray) -> ndarray:
        draw = generator()
        if draw.random() >= self.p:
            return x
        return _turned(x, float(draw.uniform(*self._limits)), *self._zoom, name="RandomRotation")
