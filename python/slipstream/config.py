"""What the environment may set. `variables()` lists it; docs/environment.md is made from the same table.

Values are read once, when the package is imported. The same settings can be changed later in `slipstream.engine`.

    >>> from slipstream import config
    >>> config.parse_bytes("2G")
    2147483648
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import _core

__all__ = ["Variable", "apply", "exit_seconds", "markdown", "parse_bytes", "variables"]

MOST_WORKERS = 1024  # what the core allows
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def parse_bytes(text: str) -> int:
    """A number of bytes: `4096`, `512M`, `1.5G` (powers of 1024; a trailing `B` or `iB` is allowed).

    >>> parse_bytes("512M") == 512 * 1024**2
    True
    """
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:] in ("K", "M", "G", "T") else ""
    value = float(number.removesuffix(unit)) * _UNITS[unit]
    if not 0 <= value < 2**62:
        raise ValueError(text)
    return int(value)


def _count(least: int, most: int = 2**62) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise ValueError(text)
        return value

    return parse


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e9:
        raise ValueError(text)
    return value


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(text)
        return text.lower()

    return parse


class Variable(NamedTuple):
    """One environment variable.

    >>> variables()[0].name.startswith("SLIPSTREAM_")
    True
    """

    name: str
    expects: str  # in words, for the error and the docs
    default: str
    doc: str
    parse: Callable[[str], Any]
    use: Callable[[Any], object]


exit_seconds: float = 5.0


def _set_exit_seconds(seconds: float) -> None:
    global exit_seconds
    exit_seconds = seconds


_TABLE = (
    Variable(
        "SLIPSTREAM_ENGINE",
        "async or sync",
        "async",
        "`async`: calls are recorded and run by the back end's threads. `sync`: each call runs before it returns; "
        "same results, for debugging and as the oracle of tests.",
        _one_of("async", "sync"),
        lambda kind: _core.engine_set_kind(kind),
    ),
    Variable(
        "SLIPSTREAM_WORKERS",
        f"a whole number from 1 to {MOST_WORKERS}",
        "the cores this process may use",
        "Threads of the one pool that runs everything. Results do not depend on it.",
        _count(1, MOST_WORKERS),
        lambda n: _core.engine_set_workers(n),
    ),
    Variable(
        "SLIPSTREAM_MAX_OPS",
        "a whole number of at least 1",
        "4096",
        "How many calls may be recorded and not finished. A call beyond that waits.",
        _count(1),
        lambda n: _core.engine_set_limits(ops=n),
    ),
    Variable(
        "SLIPSTREAM_MAX_BYTES",
        "a size such as 512M or 2G",
        "an eighth of the machine's memory, at least 256M and at most 4G",
        "How many bytes of results may be recorded and not finished. A call beyond that waits.",
        parse_bytes,
        lambda n: _core.engine_set_limits(bytes=n),
    ),
    Variable(
        "SLIPSTREAM_MEMORY",
        "a size such as 512M or 2G; 0: no limit",
        "90 % of the machine's memory",
        "Memory that the arrays of a device may take together. An allocation beyond it is an error of its operation.",
        parse_bytes,
        lambda n: _core.engine_set_limits(memory=n),
    ),
    Variable(
        "SLIPSTREAM_CACHE",
        "a size such as 512M or 2G",
        "a quarter of the machine's memory",
        "Freed memory that is kept for the next arrays instead of going back to the system.",
        parse_bytes,
        lambda n: _core.engine_set_limits(cache=n),
    ),
    Variable(
        "SLIPSTREAM_ISA",
        "v2, v3, v4 or base",
        "the best the processor has",
        "Instruction set of the vector loops, x86-64-v2 to v4, to compare them or to reproduce another machine's path.",
        _one_of("v2", "v3", "v4", "base"),
        lambda isa: _core.set_isa(isa),
    ),
    Variable(
        "SLIPSTREAM_DTYPES",
        "float32 or numpy",
        "float32",
        "What Python's numbers become in new arrays. `float32`: float32, as in MXNet. `numpy`: NumPy's types (float64, "
        "int64, complex128), which the array API standard asks for; the same as `npx.set_np(dtype=True)`.",
        _one_of("float32", "numpy"),
        lambda kind: _core.set_default_dtype_wide(kind == "numpy"),
    ),
    Variable(
        "SLIPSTREAM_EXIT_SECONDS",
        "seconds",
        "5",
        "How long the interpreter's exit may wait for work that still runs.",
        _seconds,
        _set_exit_seconds,
    ),
)


def variables() -> tuple[Variable, ...]:
    """Every environment variable that Slipstream reads.

    >>> [v.name for v in variables()][:2]
    ['SLIPSTREAM_ENGINE', 'SLIPSTREAM_WORKERS']
    """
    return _TABLE


def apply(environment: Mapping[str, str] | None = None) -> None:
    """Reads the variables that are set and hands their values to the core.

    >>> apply({"SLIPSTREAM_WORKERS": "many"})
    Traceback (most recent call last):
    ValueError: SLIPSTREAM_WORKERS='many': expected a whole number from 1 to 1024
    """
    values = os.environ if environment is None else environment
    for variable in _TABLE:
        text = values.get(variable.name, "")
        if not text:
            continue
        try:
            value = variable.parse(text)
        except ValueError:
            raise ValueError(f"{variable.name}={text!r}: expected {variable.expects}") from None
        variable.use(value)


def markdown() -> str:
    """The page docs/environment.md.

    >>> markdown().splitlines()[0]
    '# Environment variables'
    """
    lines = [
        "# Environment variables",
        "",
        "Read once, when `slipstream` is imported. Most can be changed later with `slipstream.engine`.",
        "This page is made from the table in `slipstream/config.py` (`python -m slipstream environment`).",
        "",
        "| variable | value | default | meaning |",
        "| --- | --- | --- | --- |",
    ]
    lines += [f"| `{v.name}` | {v.expects} | {v.default} | {v.doc} |" for v in _TABLE]
    lines += [
        "",
        "`OPENBLAS_NUM_THREADS` is 1 while OpenBLAS is loaded for the first product, so that it starts no threads of",
        "its own; then it is what it was. `OPENBLAS_CORETYPE`, where it is not set, is `SkylakeX` for as long on AMD's",
        "processors with AVX-512: OpenBLAS does not know the newest of them and takes its slower loops for AVX2.",
    ]
    return "\n".join(lines) + "\n"
