"""Images as arrays of height, width and channels: reading, resizing, cropping.

Resizing is a product with two small matrices of weights, so it is recorded like any other work and nothing waits.

>>> from slipstream import image, np
>>> image.imresize(np.ones((2, 2, 3)), 4, 6).shape
(6, 4, 3)
"""

from __future__ import annotations

import io
import os
import re
from functools import lru_cache
from typing import Any

import numpy

from . import np
from ._core import ndarray

__all__ = ["center_crop", "color_normalize", "fixed_crop", "imdecode", "imread", "imresize", "random_crop"]
__all__ += ["resize_short", "scale_down"]

_Raw = numpy.ndarray[Any, Any]
_GRAY = numpy.array([0.299, 0.587, 0.114], dtype=numpy.float32)
_NETPBM = re.compile(rb"P([56])\s+(?:#.*\s+)*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})\s")


# ---- reading


def imread(filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True) -> ndarray:
    """Reads an image file; see `imdecode`.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".pgm") as file:
    ...     _ = file.write(b"P5 2 1 255 " + bytes([7, 9]))
    ...     file.flush()
    ...     imread(file.name).shape
    (1, 2, 3)
    """
    try:
        with open(filename, "rb") as file:
            data = file.read()
    except OSError as error:
        raise FileNotFoundError(f"imread: {os.fspath(filename)!r} cannot be read ({error.strerror})") from None
    return imdecode(data, flag, to_rgb)


def imdecode(buf: Any, flag: int = 1, to_rgb: bool = True) -> ndarray:
    """An image from the bytes of a file: uint8, three channels, or one with `flag=0`; `to_rgb=False`: blue first.

    PGM, PPM and NPY are read here; JPEG, PNG and others need the package Pillow.

    >>> from slipstream import image
    >>> image.imdecode(b"P5 2 1 255 " + bytes([7, 9]), flag=0)[:, :, 0]
    array([[7, 9]], dtype=uint8)
    """
    data = bytes(buf) if not isinstance(buf, ndarray) else buf.asnumpy().tobytes()
    values = _decode(data, flag)
    if flag == 0 and values.shape[2] == 3:
        values = numpy.round(values @ _GRAY)[:, :, None].astype(numpy.uint8)
    elif flag and values.shape[2] == 1:
        values = values.repeat(3, axis=2)
    return np.array(values if to_rgb else values[:, :, ::-1].copy(), dtype="uint8")


def _decode(data: bytes, flag: int) -> _Raw:
    """The values of an image, in three dimensions."""
    if match := _NETPBM.match(data):
        channels = 3 if match[1] == b"6" else 1
        width, height, most = (int(match[i]) for i in (2, 3, 4))
        rest = len(data) - match.end()
        if most != 255 or width * height * channels != rest:
            raise ValueError(f"imdecode: {rest} bytes for {width} x {height} x {channels} values up to {most}")
        return numpy.frombuffer(data, numpy.uint8, offset=match.end()).reshape(height, width, channels)
    if data.startswith(b"\x93NUMPY"):
        try:
            values: _Raw = numpy.load(io.BytesIO(data), allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(f"imdecode: not a good .npy file ({error})") from None
        channels = values.shape[2] if values.ndim == 3 else 1
        if values.dtype != numpy.uint8 or values.ndim not in (2, 3) or channels not in (1, 3):
            raise ValueError(f"imdecode: an array of {values.dtype} {values.shape} is no image")
        return values if values.ndim == 3 else values[:, :, None]
    return _by_pillow(data, flag)


def _by_pillow(data: bytes, flag: int) -> _Raw:
    try:
        from PIL import Image, UnidentifiedImageError  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise ImportError("imdecode: JPEG, PNG and other images need Pillow: pip install pillow") from None
    try:
        with Image.open(io.BytesIO(data)) as picture:
            values = numpy.asarray(picture.convert("RGB" if flag else "L"))
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"imdecode: {len(data)} bytes are no image ({error})") from None
    return values if values.ndim == 3 else values[:, :, None]


# ---- resizing


def _cubic(t: _Raw) -> _Raw:
    t, a = abs(t), -0.75
    near, far = ((a + 2) * t - (a + 3)) * t * t + 1, a * (((t - 5) * t + 8) * t - 4)
    return numpy.where(t <= 1, near, numpy.where(t < 2, far, 0.0))


@lru_cache(maxsize=256)
def _weights(size: int, new: int, interp: int) -> _Raw:
    """The matrix that resizes a line of `size` pixels to `new`; pixels are squares, edges repeat."""
    matrix = numpy.zeros((new, size), dtype=numpy.float32)
    rows, scale = numpy.arange(new), size / new
    if interp == 3 and scale > 1:  # the share of each pixel that a new one covers
        begin, places = (rows * scale)[:, None], numpy.arange(size)
        cover = numpy.minimum(begin + scale, places + 1) - numpy.maximum(begin, places)
        matrix += numpy.clip(cover, 0, None) / scale
        return matrix
    if interp == 0:
        matrix[rows, numpy.minimum((rows * scale).astype(int), size - 1)] = 1
        return matrix
    centre = (rows + 0.5) * scale - 0.5
    reach, kernel = (2, _cubic) if interp == 2 else (1, lambda t: numpy.clip(1 - abs(t), 0, None))
    for step in range(1 - reach, reach + 1):
        place = numpy.floor(centre) + step
        numpy.add.at(matrix, (rows, numpy.clip(place, 0, size - 1).astype(int)), kernel(centre - place))
    return matrix


def imresize(src: Any, w: int, h: int, interp: int = 1) -> ndarray:
    """The image with width `w` and height `h`; also a batch of images.

    `interp`: 0 nearest, 1 linear, 2 cubic, 3 by area.

    >>> from slipstream import image
    >>> image.imresize(np.array([[[0.0], [4.0]]]), 4, 1)[0, :, 0]
    array([0., 1., 3., 4.])
    """
    if interp in (9, 10):  # MXNet's "choose for me"
        interp = 1
    if interp not in (0, 1, 2, 3):
        raise ValueError(f"imresize: interp {interp} is none of 0 (nearest), 1 (linear), 2 (cubic), 3 (area)")
    if w < 1 or h < 1:
        raise ValueError(f"imresize: the new size must be at least 1 x 1, not {w} x {h}")
    x = np.asarray(src)
    if x.ndim not in (3, 4):
        raise ValueError(f"imresize: expected an image (height, width, channels) or a batch, got shape {x.shape}")
    if x.shape[-3:-1] == (h, w):
        return x
    down = np.array(_weights(x.shape[-3], h, interp), device=x.device)
    across = np.array(_weights(x.shape[-2], w, interp).T, device=x.device)
    planes = np.moveaxis(x.astype("float32"), -1, -3)
    return as_before(np.moveaxis(np.matmul(np.matmul(down, planes), across), -3, -1), x.dtype)


def as_before(values: ndarray, dtype: Any) -> ndarray:
    """Values of an image in its own type: integers are rounded and kept in range."""
    if numpy.dtype(dtype).kind in "iu":
        limits = numpy.iinfo(dtype)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return values if values.dtype == dtype else values.astype(dtype)


def resize_short(src: Any, size: int, interp: int = 2) -> ndarray:
    """The image with its shorter edge of length `size`.

    >>> from slipstream import image
    >>> image.resize_short(np.ones((4, 8, 3)), 2).shape
    (2, 4, 3)
    """
    h, w = src.shape[-3:-1]
    new_w, new_h = (size * w // h, size) if h < w else (size, size * h // w)
    return imresize(src, new_w, new_h, interp)


# ---- cropping


def fixed_crop(src: ndarray, x0: int, y0: int, w: int, h: int, size: Any = None, interp: int = 2) -> ndarray:
    """The part of an image that begins at `(x0, y0)`, resized to `size` (width, height) if it is given.

    >>> from slipstream import image
    >>> image.fixed_crop(np.ones((4, 8, 3)), 1, 1, 3, 2).shape
    (2, 3, 3)
    """
    height, width = src.shape[-3:-1]
    if x0 < 0 or y0 < 0 or w < 1 or h < 1 or x0 + w > width or y0 + h > height:
        raise ValueError(f"fixed_crop: {w} x {h} at ({x0}, {y0}) is not within an image of {width} x {height}")
    out = src[..., y0 : y0 + h, x0 : x0 + w, :]
    return out if size is None or tuple(size) == (w, h) else imresize(out, size[0], size[1], interp)


def scale_down(src_size: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """A width and height made smaller, in their proportion, until they fit into an image.

    >>> from slipstream import image
    >>> image.scale_down((640, 480), (720, 120))
    (640, 106)
    """
    w, h = size
    shrink = min(1.0, src_size[0] / w, src_size[1] / h)
    return int(w * shrink), int(h * shrink)


def center_crop(src: ndarray, size: tuple[int, int], interp: int = 2) -> tuple[ndarray, tuple[int, int, int, int]]:
    """The middle of an image in this size (width, height), made larger if it must be; and where it was.

    >>> from slipstream import image
    >>> image.center_crop(np.ones((4, 8, 3)), (2, 2))[1]
    (3, 1, 2, 2)
    """
    height, width = src.shape[-3:-1]
    w, h = scale_down((width, height), size)
    x0, y0 = (width - w) // 2, (height - h) // 2
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_crop(src: ndarray, size: tuple[int, int], interp: int = 2) -> tuple[ndarray, tuple[int, int, int, int]]:
    """A part of an image at random in this size (width, height), made larger if it must be; and where it was.

    >>> from slipstream import image
    >>> image.random_crop(np.ones((4, 8, 3)), (2, 3))[0].shape
    (3, 2, 3)
    """
    from .gluon.data._draws import generator

    height, width = src.shape[-3:-1]
    w, h = scale_down((width, height), size)
    draw = generator()
    x0, y0 = int(draw.integers(width - w + 1)), int(draw.integers(height - h + 1))
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def color_normalize(src: ndarray, mean: Any, std: Any = None) -> ndarray:
    """`(src - mean) / std`, for each channel.

    >>> from slipstream import image
    >>> image.color_normalize(np.full((1, 1, 3), 5.0), np.array([1, 2, 3]), 2)[0, 0]
    array([2. , 1.5, 1. ])
    """
    out = src if mean is None else src - mean
    return out if std is None else out / std
