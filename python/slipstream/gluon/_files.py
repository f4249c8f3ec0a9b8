"""Parameters on disk: what a file holds is compared with what a block has before anything is written into it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .. import npx
from .._core import ndarray
from ..npx import _safetensors
from .parameter import Parameter


def save_arrays(filename: str | os.PathLike[str], arrays: dict[str, ndarray]) -> None:
    """Writes arrays by name: as safetensors, or as NumPy's .npz where the file's name ends so."""
    if os.fspath(filename).endswith(".npz"):
        npx.save(filename, arrays)
    else:
        _safetensors.write(filename, arrays)


def load_arrays(filename: str | os.PathLike[str]) -> dict[str, ndarray]:
    """Reads arrays by name from any kind of file that `npx.load` knows."""
    loaded = npx.load(filename)
    if not isinstance(loaded, dict):
        raise ValueError(f"load: {os.fspath(filename)!r} holds arrays without names")
    # export() of MXNet marks what is learnt and what is counted
    return {name.removeprefix("arg:").removeprefix("aux:"): value for name, value in loaded.items()}


def some(names: Any) -> str:
    """Names for an error message: all, or the first few and their number."""
    names = list(names)
    return ", ".join(map(repr, names)) if len(names) < 8 else f"{', '.join(map(repr, names[:6]))}, ... ({len(names)})"


def fill(
    parameters: Mapping[str, Parameter],
    loaded: Mapping[str, ndarray],
    source: str,
    device: Any,
    allow_missing: bool,
    ignore_extra: bool,
    cast_dtype: bool,
    dtype_source: str,
) -> None:
    """Gives loaded arrays to parameters; raises before the first one is changed if names, shapes or dtypes differ."""
    matched = {name: name for name in parameters if name in loaded}
    for name, parameter in parameters.items():  # MXNet 1's names
        if name not in matched and parameter.prefixed_name in loaded:
            matched[name] = parameter.prefixed_name
    for name, parameter in parameters.items():  # a shared parameter may be stored once
        if name not in matched:
            twin = next((other for other in matched if parameters[other] is parameter), None)
            if twin is None and not allow_missing:
                raise ValueError(
                    f"Parameter '{name}' is missing in {source!r}, which holds {some(loaded)}. "
                    "Set allow_missing=True to leave it as it is"
                )
    used = set(matched.values())
    for name in loaded:
        if name not in used and not ignore_extra:
            raise ValueError(
                f"Parameter '{name}' of {source!r} is not one of the block's: {some(parameters)}. "
                "Set ignore_extra=True to ignore it"
            )
    for name, stored in matched.items():
        parameters[name].check_loaded(loaded[stored], cast_dtype)
    for name, stored in matched.items():
        parameters[name].load_init(loaded[stored], device, cast_dtype, dtype_source)
