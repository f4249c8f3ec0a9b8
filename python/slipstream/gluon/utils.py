"""Helpers of training: a batch over several devices, gradients kept in bounds, files from elsewhere.

>>> from slipstream import np, npx
>>> from slipstream.gluon import utils
>>> utils.split_and_load(np.arange(4), [npx.cpu(0), npx.cpu(1)])
[array([0., 1.]), array([2., 3.], device=cpu(1))]
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import tempfile
import urllib.error
import urllib.request
import warnings
from collections.abc import Sequence
from typing import Any

from .. import np
from .._core import ndarray
from ..npx._rnn_layout import GATES, RNNLayout

__all__ = ["check_sha1", "clip_global_norm", "download", "replace_file", "shape_is_known", "split_and_load"]
__all__ += ["split_data", "split_rnn_params"]


def split_data(data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list[ndarray]:
    """Cuts an array into `num_slice` parts along an axis; without `even_split` the first ones may be longer by one.

    >>> from slipstream.gluon import utils
    >>> [part.size for part in utils.split_data(np.arange(5), 2, even_split=False)]
    [3, 2]
    """
    data = np.asarray(data)
    size = data.shape[batch_axis]
    if num_slice < 1:
        raise ValueError(f"split_data: the number of slices must be at least 1, not {num_slice}")
    if even_split and size % num_slice:
        raise ValueError(
            f"split_data: {size} rows (shape {data.shape}, axis {batch_axis}) do not split evenly into {num_slice}; "
            "choose another batch size, or even_split=False"
        )
    if num_slice == 1:
        return [data]
    each, longer = divmod(size, num_slice)
    ends = [0]
    for i in range(num_slice):
        ends.append(ends[-1] + each + (i < longer))
    before = (slice(None),) * (batch_axis % data.ndim)
    return [data[(*before, slice(begin, end))] for begin, end in itertools.pairwise(ends)]


def split_and_load(
    data: Any,
    ctx_list: Sequence[Any] | None = None,
    batch_axis: int = 0,
    even_split: bool = True,
    *,
    device_list: Sequence[Any] | None = None,
) -> list[ndarray]:
    """Cuts an array into as many parts as there are devices; part i is on device i.

    >>> from slipstream.gluon import utils
    >>> len(utils.split_and_load(np.ones((4, 2)), [npx.cpu(0), npx.cpu(1)]))
    2
    """
    devices = ctx_list if ctx_list is not None else device_list
    if devices is None:
        raise TypeError("split_and_load: the list of devices is missing")
    data = np.asarray(data, device=devices[0]) if not isinstance(data, ndarray) else data
    parts = split_data(data, len(devices), batch_axis, even_split)
    return [part.as_in_device(device) for part, device in zip(parts, devices, strict=True)]


def clip_global_norm(arrays: Sequence[ndarray], max_norm: float, check_isfinite: bool = True) -> Any:
    """Makes arrays smaller, in place, until their common norm is at most `max_norm`; gives the norm they had.

    With `check_isfinite` the norm is a number: this waits for it, and warns if it is not finite. Without, it is an
    array and nothing waits.

    >>> from slipstream.gluon import utils
    >>> x = np.array([3.0, 4.0])
    >>> utils.clip_global_norm([x], 1.0)
    5.0
    >>> x
    array([0.6, 0.8])
    """
    if not arrays:
        raise ValueError("clip_global_norm: there are no arrays")
    place = arrays[0].device
    total: Any = 0.0
    for array in arrays:
        wide = array.astype("float32") if array.dtype.itemsize < 4 else array
        total = total + (wide * wide).sum().as_in_device(place)
    norm = np.sqrt(total)
    scale = np.minimum(max_norm / (norm + 1e-8), 1.0)
    for array in arrays:
        array *= scale.as_in_device(array.device).astype(array.dtype)
    if not check_isfinite:
        return norm
    value = float(norm)
    if not math.isfinite(value):
        warnings.warn("clip_global_norm: the norm is not finite; the arrays hold nan or inf", stacklevel=2)
    return value


def shape_is_known(shape: Sequence[int] | None) -> bool:
    """Whether a shape is complete: no length is -1, and it is there at all.

    >>> from slipstream.gluon import utils
    >>> utils.shape_is_known((2, -1))
    False
    """
    return shape is not None and all(length >= 0 for length in shape)


# ---- files


def split_rnn_params(
    param: ndarray,
    mode: str,
    num_layers: int,
    input_size: int,
    hidden_size: int,
    bidirectional: bool = False,
    projection_size: int | None = None,
) -> dict[str, ndarray]:
    """The weights and biases in the flat parameter of a recurrent layer (or in its gradient), by name, as views.

    >>> from slipstream.gluon import rnn, utils
    >>> layer = rnn.GRU(2, input_size=3)
    >>> layer.initialize()
    >>> utils.split_rnn_params(layer.rnn_param.data(), "gru", 1, 3, 2)["l0_i2h_weight"].shape
    (6, 3)
    """
    if mode not in GATES:
        raise ValueError(f"split_rnn_params: mode={mode!r} is none of {', '.join(GATES)}")
    layout = RNNLayout(mode, num_layers, input_size, hidden_size, 1 + bool(bidirectional), projection_size)
    if param.shape != (layout.length,):
        raise ValueError(
            f"split_rnn_params: the parameter has shape {param.shape}, but the parts need ({layout.length},)"
        )
    return layout.split(param)


def check_sha1(filename: str | os.PathLike[str], sha1_hash: str) -> bool:
    """Whether the file has this SHA-1 sum (or one that begins so).

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     check_sha1(file.name, "da39a3ee")
    True
    """
    sha1 = hashlib.sha1()
    with open(filename, "rb") as file:
        while part := file.read(1 << 20):
            sha1.update(part)
    return sha1.hexdigest()[: len(sha1_hash)] == sha1_hash


def replace_file(src: str | os.PathLike[str], dst: str | os.PathLike[str]) -> None:
    """Puts a file in the place of another, at once.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "new").write_text("2"), (folder / "old").write_text("1")
    >>> replace_file(folder / "new", folder / "old")
    >>> (folder / "old").read_text()
    '2'
    """
    os.replace(src, dst)


def _target(url: str, path: str | None) -> str:
    name = url.split("/")[-1]
    if path is None:
        path = name
    elif os.path.isdir(os.path.expanduser(path)):
        path = os.path.join(path, name)
    if not name and not path:
        raise ValueError(f"download: the address {url!r} has no file name; give path")
    return os.path.expanduser(path)


def download(
    url: str,
    path: str | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Brings a file from an address, unless it is there already with the right SHA-1 sum; gives its path.

    Raises OSError where there is no network, or the file is not what it should be.

    >>> from slipstream.gluon import utils
    >>> try:
    ...     utils.download("file:///nowhere/at/all.bin", retries=1)
    ... except OSError as error:
    ...     print(str(error).split('; ')[1])
    bring the file to 'all.bin' yourself
    """
    if retries < 1:
        raise ValueError(f"download: retries must be at least 1, not {retries}")
    if not verify_ssl:
        raise ValueError("download: connections are always verified; verify_ssl=False does not exist")
    target = _target(url, path)
    if not overwrite and os.path.exists(target) and (not sha1_hash or check_sha1(target, sha1_hash)):
        return target
    folder = os.path.dirname(os.path.abspath(target))
    os.makedirs(folder, exist_ok=True)
    why: Any = None
    for _ in range(retries):
        try:
            _bring(url, target, folder, sha1_hash)
            return target
        except (OSError, urllib.error.URLError) as error:
            why = getattr(error, "reason", None) or error
    raise OSError(f"download: {url!r} cannot be had ({why}); bring the file to {target!r} yourself")


def _bring(url: str, target: str, folder: str, sha1_hash: str | None) -> None:
    """Downloads to a file beside the target, and moves it there once it is complete and right."""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        try:
            with urllib.request.urlopen(url, timeout=30) as source:
                while part := source.read(1 << 20):
                    file.write(part)
            file.close()
            if sha1_hash and not check_sha1(file.name, sha1_hash):
                raise OSError("its SHA-1 sum is not the expected one")
            replace_file(file.name, target)
        finally:
            if os.path.exists(file.name):
                os.unlink(file.name)
