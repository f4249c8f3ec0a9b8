"""Programs as data: lines of Python over `np` and a few helpers, which run on NumPy and on Slipstream alike.

    v0 = data(7, (3, 4), 'float32', 0)
    v1 = v0[::-1, 1:]
    v1 += 2
    read('asnumpy', v0)

A program is a list of such steps, then perhaps several lists that run side by side in threads of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from types import CodeType
from typing import Any

import ml_dtypes
import numpy

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *INTS, *FLOATS, *COMPLEX)

bfloat16 = numpy.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class Step:
    """One line. What it binds, writes and uses is known, so that a checker need not read the code."""

    code: str
    binds: str = ""  # the name it gives its result
    root: str = ""  # the name whose memory that result lies in: another one for a view
    writes: str = ""  # the name of the array it writes into
    uses: tuple[str, ...] = ()
    rounding: str = ""  # how it may differ from NumPy: "" not at all, "math", "sum", "var"; "draw": random numbers

    @cached_property
    def compiled(self) -> CodeType:
        return compile(self.code, "<step>", "exec")


@dataclass(frozen=True)
class Program:
    """Steps, and then lists of steps for threads. Names of a thread's steps are its own."""

    seed: int
    steps: tuple[Step, ...]
    threads: tuple[tuple[Step, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.steps) + sum(len(steps) for steps in self.threads)

    @cached_property
    def compiled(self) -> tuple[CodeType, ...]:
        """The code of the steps, then of each thread."""
        return tuple(compile(code(steps), f"<program {self.seed}>", "exec") for steps in (self.steps, *self.threads))

    def without(self, section: int, start: int, stop: int) -> Program:
        """Less some steps of a section: 0 is the steps, 1 the first thread."""
        if section == 0:
            return replace(self, steps=self.steps[:start] + self.steps[stop:])
        threads = list(self.threads)
        threads[section - 1] = threads[section - 1][:start] + threads[section - 1][stop:]
        return replace(self, threads=tuple(t for t in threads if t))

    def __str__(self) -> str:
        lines = [f"# program {self.seed}, {len(self)} steps", code(self.steps)]
        for number, steps in enumerate(self.threads):
            lines += [f"# thread {number}", code(steps)]
        return "\n".join(lines)


def code(steps: tuple[Step, ...]) -> str:
    return "\n".join(step.code for step in steps)


# ---- what the lines call besides np; `Values` is NumPy's side, replay.py has ours


def values(seed: int, shape: tuple[int, ...], dtype: str) -> numpy.ndarray[Any, Any]:
    """Small numbers, the same for the same arguments."""
    rng = numpy.random.Generator(numpy.random.PCG64(seed))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in INTS:
        return rng.integers(0 if dtype[0] == "u" else -9, 10, shape).astype(dtype)
    made = rng.uniform(-2, 2, shape)
    if dtype in COMPLEX:
        made = made + 1j * rng.uniform(-2, 2, shape)
    return numpy.asarray(made).astype(dtype)


def twist(x: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """What host calls do."""
    return numpy.flip(x).copy() if x.dtype == bool else numpy.flip(x) + numpy.ones((), x.dtype)


@dataclass
class Values:
    """The names that the lines of a program find besides `np`, on NumPy's side."""

    drawn: Any = None  # what the next draw is to give; NumPy's own numbers if None
    log: list[Any] = field(default_factory=list)

    def names(self, seed: int) -> dict[str, Any]:
        rng = numpy.random.Generator(numpy.random.PCG64(seed))

        def draw(kind: str, shape: tuple[int, ...], dtype: str, device: int) -> Any:
            if self.drawn is not None:
                return self.drawn
            if kind == "integers":
                return rng.integers(0, 9, shape).astype(dtype)
            if kind == "permutation":
                return rng.permutation(shape[0]).astype("int64")
            if kind == "choice":
                return rng.choice(5, shape).astype("int64")
            return numpy.asarray(rng.normal(size=shape) if kind == "normal" else rng.random(shape)).astype(dtype)

        def shuffle(x: Any) -> None:
            x[...] = rng.permutation(x) if self.drawn is None else self.drawn

        def put(x: Any, other: Any) -> None:
            other[...] = x

        return {
            "np": numpy,
            "data": lambda seed, shape, dtype, device: values(seed, shape, dtype),
            "draw": draw,
            "make": lambda name, device, *args, **options: getattr(numpy, name)(*args, **options),
            "to": lambda x, device: x.copy(),
            "put": put,
            "chosen": lambda x, mask: x[mask],
            "shuffle": shuffle,
            "host": lambda x: twist(x),
            "read": lambda how, x: None,
            "waitall": lambda: None,
            "lock": _Nothing(),
        }


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...
