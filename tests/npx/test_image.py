"""Changes of images by the names of MXNet's operators, against plain NumPy."""

from __future__ import annotations

import numpy
import pytest
from compare import same

from slipstream import np, npx


@pytest.fixture
def photo(rng: numpy.random.Generator) -> numpy.ndarray:
    return rng.uniform(0, 255, (6, 8, 3)).astype("float32")


def test_what_is_certain(photo: numpy.ndarray) -> None:
    x = np.array(photo)
    same(npx.image.to_tensor(x), photo.transpose(2, 0, 1) / 255)
    same(npx.image.flip_left_right(x), photo[:, ::-1])
    same(npx.image.flip_top_bottom(x), photo[::-1])
    same(npx.image.crop(x, 1, 2, 4, 3), photo[2:5, 1:5])
    made = npx.image.normalize(npx.image.to_tensor(x), mean=(0.1, 0.2, 0.3), std=(1, 2, 4))
    same(made, (photo / 255 - numpy.float32([0.1, 0.2, 0.3])).transpose(2, 0, 1) / numpy.float32([[[1]], [[2]], [[4]]]))
    assert npx.image.resize(x, 4, keep_ratio=True).shape == (4, 5, 3)
    assert npx.image.resize(x, (3, 5)).shape == (5, 3, 3)
    assert not numpy.allclose(npx.image.adjust_lighting(x, (0.1, 0, 0)).asnumpy(), photo)
    out = np.zeros((6, 8, 3))
    assert npx.image.flip_left_right(x, out=out) is out


def test_factors(photo: numpy.ndarray) -> None:
    x = np.array(photo)
    same(npx.image.random_brightness(x, 0.5, 0.5), photo * 0.5)
    grey = (photo * numpy.float32([0.299, 0.587, 0.114])).sum(-1, keepdims=True)
    same(npx.image.random_saturation(x, 0.0, 0.0), numpy.broadcast_to(grey, photo.shape), 1e-4)
    same(npx.image.random_contrast(x, 0.0, 0.0), numpy.full_like(photo, grey.mean()), 1e-4)
    same(npx.image.random_hue(x, 1.0, 1.0), photo, 1e-3)
    same(npx.image.random_lighting(x, 0.0), photo)
    drawn = [npx.image.random_brightness(x, 1.0, 3.0).mean().item() / photo.mean() for _ in range(20)]
    assert 1 <= min(drawn) < 1.7 and 2.3 < max(drawn) <= 3.001


def test_parts_at_random(photo: numpy.ndarray) -> None:
    x = np.array(photo)
    same(npx.image.random_crop(x, (0, 0), (1, 1), width=4, height=2), photo[-2:, :4])
    assert npx.image.random_resized_crop(x, width=4, height=5).shape == (5, 4, 3)
    assert npx.image.random_color_jitter(x, 0.1, 0.1, 0.1, 0.1).shape == photo.shape
    same(npx.image.random_flip_left_right(x, 1.0), photo[:, ::-1])
    same(npx.image.random_flip_top_bottom(x, 0.0), photo)
    with pytest.raises(ValueError, match="random_resized_crop: xrange"):
        npx.image.random_resized_crop(x, xrange=(0.5, 1.0))
