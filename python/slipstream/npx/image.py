"""Changes of images, (height, width, channels) or a batch of them, by the names of MXNet's operators.

>>> npx.image.crop(np.zeros((4, 4, 3)), x=1, y=0, width=2, height=3).shape
(3, 2, 3)
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy

from .. import image, np
from .._core import ndarray
from ..np._arguments import as_array
from ..np._types import ArrayLike
from ._out import with_out

__all__ = ["adjust_lighting", "crop", "flip_left_right", "flip_top_bottom", "normalize", "random_brightness"]
__all__ += ["random_color_jitter", "random_contrast", "random_crop", "random_flip_left_right"]
__all__ += ["random_flip_top_bottom", "random_hue", "random_lighting", "random_resized_crop", "random_saturation"]
__all__ += ["resize", "to_tensor"]


def _by(transform: str, data: ArrayLike, *args: Any, **options: Any) -> Any:
    """What a transform of gluon makes of the image; gluon stands on this package, and is asked when it is called."""
    transforms = importlib.import_module("slipstream.gluon.data.vision.transforms")
    return getattr(transforms, transform)(*args, **options)(as_array(data))


@with_out
def to_tensor(data: ArrayLike) -> ndarray:
    """Channels first, and numbers from 0 to 1 in place of 0 to 255.

    >>> npx.image.to_tensor(np.full((1, 1, 1), 255, dtype="uint8"))
    array([[[1.]]])
    """
    made: ndarray = _by("ToTensor", data)
    return made


@with_out
def normalize(data: ArrayLike, mean: Any = 0.0, std: Any = 1.0) -> ndarray:
    """`(x - mean) / std` for each channel, of images with channels first.

    >>> npx.image.normalize(np.ones((2, 1, 1)), mean=(1, 2), std=2)[:, 0, 0]
    array([ 0. , -0.5])
    """
    made: ndarray = _by("Normalize", data, mean, std)
    return made


@with_out
def resize(data: ArrayLike, size: Any, keep_ratio: bool = False, interp: int = 1) -> ndarray:
    """Another size (width, height); one number with `keep_ratio` is the length of the shorter edge.

    >>> npx.image.resize(np.zeros((4, 4, 3)), size=(8, 6)).shape
    (6, 8, 3)
    """
    made: ndarray = _by("Resize", data, size, keep_ratio, interp)
    return made


@with_out
def crop(data: ArrayLike, x: int, y: int, width: int, height: int) -> ndarray:
    """The part at a place, of a width and height.

    >>> npx.image.crop(np.arange(4).reshape(2, 2, 1), x=1, y=0, width=1, height=2)[:, :, 0]
    array([[1.],
           [3.]])
    """
    made: ndarray = _by("CropResize", data, x, y, width, height)
    return made


@with_out
def flip_left_right(data: ArrayLike) -> ndarray:
    """Left and right change places.

    >>> npx.image.flip_left_right(np.array([[[1], [2]]]))[0, :, 0]
    array([2., 1.])
    """
    return np.flip(data, -2)


@with_out
def flip_top_bottom(data: ArrayLike) -> ndarray:
    """Top and bottom change places.

    >>> npx.image.flip_top_bottom(np.array([[[1]], [[2]]]))[:, 0, 0]
    array([2., 1.])
    """
    return np.flip(data, -3)


@with_out
def adjust_lighting(data: ArrayLike, alpha: Any) -> ndarray:
    """Adds light: three strengths, for the directions in which the colours of photographs vary most.

    >>> npx.image.adjust_lighting(np.ones((1, 1, 3)), alpha=(0, 0, 0))[0, 0]
    array([1., 1., 1.])
    """
    x = as_array(data)
    lights = importlib.import_module("slipstream.gluon.data.vision.transforms").LIGHTS
    return x + np.array(lights @ numpy.asarray(alpha, "float64"), dtype="float32", device=x.device)


# ---- at random

_ALL = (0.0, 1.0)  # of the places


@with_out
def random_brightness(data: ArrayLike, min_factor: float, max_factor: float) -> ndarray:
    """Times a factor at random.

    >>> npx.image.random_brightness(np.ones((1, 1, 3)), 2, 2)[0, 0]
    array([2., 2., 2.])
    """
    made: ndarray = _by("RandomBrightness", data, (min_factor, max_factor))
    return made


@with_out
def random_contrast(data: ArrayLike, min_factor: float, max_factor: float) -> ndarray:
    """Away from (above 1) or towards the mean brightness, by a factor at random.

    >>> npx.image.random_contrast(np.ones((1, 1, 3)), 1, 1)[0, 0]
    array([1., 1., 1.])
    """
    made: ndarray = _by("RandomContrast", data, (min_factor, max_factor))
    return made


@with_out
def random_saturation(data: ArrayLike, min_factor: float, max_factor: float) -> ndarray:
    """Away from (above 1) or towards grey, by a factor at random.

    >>> npx.image.random_saturation(np.ones((1, 1, 3)), 1, 1)[0, 0]
    array([1., 1., 1.])
    """
    made: ndarray = _by("RandomSaturation", data, (min_factor, max_factor))
    return made


@with_out
def random_hue(data: ArrayLike, min_factor: float, max_factor: float) -> ndarray:
    """Colours turned around the circle of colours: by all of it, a factor of 1, nothing changes.

    >>> npx.image.random_hue(np.ones((1, 1, 3)), 1, 1).shape
    (1, 1, 3)
    """
    made: ndarray = _by("RandomHue", data, (min_factor, max_factor))
    return made


@with_out
def random_color_jitter(
    data: ArrayLike, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
) -> ndarray:
    """Brightness, contrast, saturation and hue, changed at random in random order.

    >>> npx.image.random_color_jitter(np.ones((2, 2, 3)), 0.1, 0.1, 0.1, 0.1).shape
    (2, 2, 3)
    """
    made: ndarray = _by("RandomColorJitter", data, brightness, contrast, saturation, hue)
    return made


@with_out
def random_lighting(data: ArrayLike, alpha_std: float = 0.05) -> ndarray:
    """Adds light of a colour at random, as that of photographs varies.

    >>> npx.image.random_lighting(np.ones((1, 1, 3)), 0.0)[0, 0]
    array([1., 1., 1.])
    """
    made: ndarray = _by("RandomLighting", data, alpha_std)
    return made


@with_out
def random_flip_left_right(data: ArrayLike, p: float = 0.5) -> ndarray:
    """Left and right change places with probability `p`.

    >>> npx.image.random_flip_left_right(np.array([[[1], [2]]]), p=1)[0, :, 0]
    array([2., 1.])
    """
    made: ndarray = _by("RandomFlipLeftRight", data, p)
    return made


@with_out
def random_flip_top_bottom(data: ArrayLike, p: float = 0.5) -> ndarray:
    """Top and bottom change places with probability `p`.

    >>> npx.image.random_flip_top_bottom(np.array([[[1]], [[2]]]), p=1)[:, 0, 0]
    array([2., 1.])
    """
    made: ndarray = _by("RandomFlipTopBottom", data, p)
    return made


@with_out
def random_crop(
    data: ArrayLike,
    xrange: tuple[float, float] = _ALL,
    yrange: tuple[float, float] = _ALL,
    width: int = 1,
    height: int = 1,
    interp: int = 1,
) -> ndarray:
    """A part of a width and height at random, in a share of the places from left to right and from top to bottom.

    >>> npx.image.random_crop(np.zeros((4, 4, 3)), width=2, height=3).shape
    (3, 2, 3)
    """
    x, size = as_array(data), (width, height)
    w, h = image.scale_down((x.shape[-2], x.shape[-3]), size)
    draw = importlib.import_module("slipstream.gluon.data._draws").generator()
    x0, y0 = round((x.shape[-2] - w) * draw.uniform(*xrange)), round((x.shape[-3] - h) * draw.uniform(*yrange))
    return image.fixed_crop(x, x0, y0, w, h, size, interp)


@with_out
def random_resized_crop(
    data: ArrayLike,
    width: int = 1,
    height: int = 1,
    area: tuple[float, float] = (0.08, 1.0),
    ratio: tuple[float, float] = (3 / 4, 4 / 3),
    interp: int = 1,
    *,
    xrange: tuple[float, float] = _ALL,
    yrange: tuple[float, float] = _ALL,
) -> ndarray:
    """A part of a share of the area and of proportions at random, resized to a width and height.

    >>> npx.image.random_resized_crop(np.zeros((9, 9, 3)), width=4, height=5).shape
    (5, 4, 3)
    """
    if xrange != _ALL or yrange != _ALL:
        raise ValueError(f"random_resized_crop: xrange={xrange}, yrange={yrange}: parts are taken anywhere; crop first")
    made: ndarray = _by("RandomResizedCrop", data, (width, height), area, ratio, interp)
    return made
