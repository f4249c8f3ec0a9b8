"""Images: reading, resizing, cropping, colours, and the blocks that do it at random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

from slipstream import engine, image, np
from slipstream.gluon.data.vision import transforms as T


def picture(rng: numpy.random.Generator, *shape: int) -> Any:
    return rng.integers(256, size=shape or (6, 8, 3), dtype=numpy.uint8)


# ---- image


def test_reading(tmp_path: Path) -> None:
    assert image.imdecode(b"P6\n# made\n1 2 255\n" + bytes(range(6))).tolist() == [[[0, 1, 2]], [[3, 4, 5]]]
    assert image.imdecode(b"P6 1 1 255 " + bytes([1, 2, 3]), to_rgb=False).tolist() == [[[3, 2, 1]]]
    assert image.imdecode(b"P6 1 1 255 " + bytes([10, 20, 30]), flag=0).tolist() == [[[18]]]
    numpy.save(tmp_path / "x.npy", numpy.full((2, 3), 5, numpy.uint8))
    assert image.imread(tmp_path / "x.npy").shape == (2, 3, 3)
    for bad in (b"P6 9 9 255 x", b"P5 999999999 999999999 255 x", b"P5 1 1 65535 xx", b"\x93NUMPY rubbish"):
        with pytest.raises(ValueError, match="imdecode"):
            image.imdecode(bad)
    with pytest.raises((ValueError, ImportError), match="imdecode"):
        image.imdecode(b"nothing known")
    with pytest.raises(FileNotFoundError, match=r"imread: '.*none' cannot be read"):
        image.imread(tmp_path / "none")


def lines(values: Any, new: int) -> Any:
    """Linear interpolation of a line of squares, from its definition."""
    n = len(values)
    out = []
    for i in range(new):
        at = (i + 0.5) * n / new - 0.5
        low = int(numpy.floor(at))
        a, b = values[min(max(low, 0), n - 1)], values[min(max(low + 1, 0), n - 1)]
        out.append(a + (b - a) * (at - low))
    return out


@pytest.mark.parametrize("new", [1, 3, 7, 20])
def test_linear(new: int, rng: numpy.random.Generator) -> None:
    row = rng.normal(size=7)
    wide = image.imresize(np.array(row.reshape(1, 7, 1)), new, 1)
    numpy.testing.assert_allclose(wide.asnumpy()[0, :, 0], lines(row, new), rtol=1e-4, atol=1e-5)
    tall = image.imresize(np.array(row.reshape(7, 1, 1)), 1, new)
    numpy.testing.assert_allclose(tall.asnumpy()[:, 0, 0], lines(row, new), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("interp", [0, 1, 2, 3])
def test_resizing_keeps_what_is_even(interp: int) -> None:
    same = image.imresize(np.full((5, 4, 3), 77, dtype="uint8"), 9, 3, interp)
    assert same.dtype == numpy.uint8
    assert (same == 77).all()


def test_nearest_and_area(rng: numpy.random.Generator) -> None:
    x = picture(rng, 6, 8, 3)
    nearest = image.imresize(np.array(x, dtype="uint8"), 4, 3, 0)
    assert (nearest.asnumpy() == x[::2, ::2]).all()
    area = image.imresize(np.array(x.astype("float32")), 4, 3, 3).asnumpy()
    blocks = x.reshape(3, 2, 4, 2, 3).astype("float32").mean(axis=(1, 3))
    numpy.testing.assert_allclose(area, blocks, rtol=1e-5)
    batch = image.imresize(np.array(numpy.stack([x, x]), dtype="uint8"), 5, 5)
    assert (batch[0] == image.imresize(np.array(x, dtype="uint8"), 5, 5)).all()


def test_crops(rng: numpy.random.Generator) -> None:
    x = picture(rng, 6, 8, 3)
    a = np.array(x, dtype="uint8")
    assert (image.fixed_crop(a, 2, 1, 3, 4).asnumpy() == x[1:5, 2:5]).all()
    middle, box = image.center_crop(a, (4, 2))
    assert box == (2, 2, 4, 2)
    assert (middle.asnumpy() == x[2:4, 2:6]).all()
    part, (x0, y0, w, h) = image.random_crop(a, (3, 3))
    assert (part.asnumpy() == x[y0 : y0 + h, x0 : x0 + w]).all()
    assert image.center_crop(a, (16, 16))[0].shape == (16, 16, 3)
    with pytest.raises(ValueError, match=r"fixed_crop: 9 x 1 at \(0, 0\) is not within an image of 8 x 6"):
        image.fixed_crop(a, 0, 0, 9, 1)
    with pytest.raises(ValueError, match="interp 4 is none of"):
        image.imresize(a, 2, 2, 4)


# ---- transforms


def test_a_pipeline_does_not_wait(rng: numpy.random.Generator) -> None:
    x = np.array(picture(rng, 40, 50, 3), dtype="uint8")
    steps = [
        T.Resize(32),
        T.RandomResizedCrop(16),
        T.RandomCrop(12, pad=2),
        T.RandomFlipLeftRight(),
        T.RandomFlipTopBottom(),
        T.RandomColorJitter(0.4, 0.4, 0.4, 0.1),
        T.RandomLighting(0.1),
        T.RandomGray(),
        T.ToTensor(),
        T.RandomRotation((-20, 20)),
        T.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2)),
    ]
    with engine.sync_guard("raise"):
        made = T.Compose(steps)(x)
        again = T.HybridCompose(steps)(x)
    assert made.shape == again.shape == (3, 12, 12)
    assert made.dtype == numpy.float32


def test_the_seed_decides(rng: numpy.random.Generator) -> None:
    x = np.array(picture(rng, 20, 20, 3), dtype="uint8")
    chance = T.Compose([T.RandomResizedCrop(8), T.RandomFlipLeftRight(), T.RandomColorJitter(0.5, 0.5, 0.5, 0.5)])
    np.random.seed(3)
    first, other = chance(x), chance(x)
    np.random.seed(3)
    assert (chance(x) == first).all()
    assert not (first == other).all()


def test_to_tensor_and_normalize(rng: numpy.random.Generator) -> None:
    x = picture(rng)
    made = T.ToTensor()(np.array(x, dtype="uint8")).asnumpy()
    numpy.testing.assert_allclose(made, x.transpose(2, 0, 1) / 255, rtol=1e-6)
    batch = T.ToTensor()(np.array(numpy.stack([x, x]), dtype="uint8"))
    assert batch.shape == (2, 3, 6, 8)
    normal = T.Normalize((0.1, 0.2, 0.3), (1, 2, 4))(batch).asnumpy()[1]
    expected = (made - numpy.array([0.1, 0.2, 0.3])[:, None, None]) / numpy.array([1, 2, 4])[:, None, None]
    numpy.testing.assert_allclose(normal, expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="Normalize: 2 values for images of shape"):
        T.Normalize((0, 1))(batch)
    assert T.ToTensor()(np.zeros((2, 2, 1), dtype="uint8"), 5)[1] == 5


def test_colours(rng: numpy.random.Generator) -> None:
    x = picture(rng)
    a = np.array(x, dtype="uint8")
    for kind in (T.RandomBrightness, T.RandomContrast, T.RandomSaturation, T.RandomHue):
        assert (kind(0.0)(a) == a).all(), kind
        changed = kind(0.5)(a)
        assert (changed.dtype, changed.shape) == (numpy.uint8, x.shape)
    gray = T.RandomGray(p=1)(a).asnumpy()
    numpy.testing.assert_allclose(gray[..., 0], x @ [0.299, 0.587, 0.114], rtol=1e-4)
    bright = T.RandomBrightness(0.5)(np.array(x.astype("float32"))).asnumpy() / numpy.maximum(x, 1)
    factors = bright[x > 0]
    assert numpy.ptp(factors) < 1e-4
    assert 0.5 <= factors[0] <= 1.5
    hue = T.RandomHue(0.3)(np.array(x.astype("float32"))).asnumpy()
    numpy.testing.assert_allclose(hue @ [0.299, 0.587, 0.114], x @ [0.299, 0.587, 0.114], rtol=1e-2, atol=0.5)


def test_turning(rng: numpy.random.Generator) -> None:
    x = np.array(rng.normal(size=(2, 5, 5)).astype("float32"))
    against_the_clock = numpy.rot90(x.asnumpy(), 1, (1, 2))
    for turn in (T.Rotate(90), T.Rotate(-270), T.RandomRotation((89.9999, 90.0001))):
        numpy.testing.assert_allclose(turn(x).asnumpy(), against_the_clock, atol=1e-4)
    numpy.testing.assert_allclose(T.Rotate(0)(x).asnumpy(), x.asnumpy(), atol=1e-6)
    assert (T.Rotate(45, zoom_in=True)(np.ones((1, 9, 9))) > 0.99).all()
    assert T.Rotate(45)(np.ones((1, 9, 9)))[0, 0, 0].item() == 0
    with pytest.raises(TypeError, match="Rotate: expected floats with channels first"):
        T.Rotate(10)(np.zeros((4, 4, 3), dtype="uint8"))
    with pytest.raises(ValueError, match="exclude each other"):
        T.Rotate(10, True, True)(x)


@pytest.mark.parametrize(
    ("zoom", "expected"),  # MXNet's values
    [
        ({}, [[0.402, 1.902, 2.474], [1.634, 4.0, 6.366], [2.598, 6.098, 4.670]]),
        ({"zoom_in": True}, [[0.732, 2.464, 4.196], [2.268, 4.0, 5.732], [3.804, 5.536, 7.268]]),
        ({"zoom_out": True}, [[0.067, 1.375, 0.469], [0.777, 4.0, 5.759], [0.603, 5.161, 1.005]]),
    ],
)
def test_turning_and_zooming(zoom: dict[str, bool], expected: list[list[float]]) -> None:
    x = np.arange(9, dtype="float32").reshape(1, 3, 3)
    numpy.testing.assert_allclose(T.Rotate(30, **zoom)(x).asnumpy()[0], expected, atol=1e-3)


def test_chances_and_sizes() -> None:
    x = np.zeros((4, 6, 3), dtype="uint8")
    assert T.RandomApply(T.Cast("float32"), p=1.0)(x).dtype == numpy.float32
    assert T.HybridRandomApply(T.Cast("float32"), p=0.0)(x).dtype == numpy.uint8
    assert T.Resize(2, keep_ratio=True)(x).shape == (2, 3, 3)
    assert T.CenterCrop((3, 2))(x).shape == (2, 3, 3)
    assert T.CropResize(0, 0, 4, 2, (8, 8))(x).shape == (8, 8, 3)
    with pytest.raises(ValueError, match="CenterCrop: size must be a number or"):
        T.CenterCrop((1, 2, 3))
    with pytest.raises(ValueError, match="is not a HybridBlock; use Compose"):
        T.HybridCompose([lambda x: x])
