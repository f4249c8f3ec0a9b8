"""NumPy as the oracle: every line runs on both sides from our own numbers, so that roundings do not add up."""

from __future__ import annotations

import re
import threading
import warnings
from typing import Any

import numpy
import replay
from program import Program, Step, Values, bfloat16

# Relative tolerance by type; as much of the largest number is allowed absolutely.
_SINGLE, _DOUBLE = 3e-5, 1e-11
_BY_NAME = {"float16": 4e-3, "bfloat16": 3e-2, "float32": _SINGLE, "float64": _DOUBLE}
TOLERANCE = {numpy.dtype(name): tolerance for name, tolerance in _BY_NAME.items()}
TOLERANCE |= {numpy.dtype("complex64"): _SINGLE, numpy.dtype("complex128"): _DOUBLE}

HALVES = (numpy.dtype("float16"), bfloat16)
SINGLES = (numpy.dtype("float32"), numpy.dtype("complex64"))


class DisagreementError(AssertionError):
    """We and NumPy do not agree on a line."""


def in_rows(made: Any) -> Any:
    """NumPy keeps the order of transposed arguments, we do not; it tells whether a reshape is a view."""
    return made if made.flags.c_contiguous else made.copy()


class Oracle:
    """Runs a program on both sides, line by line, and compares what each line makes or changes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.theirs = Values()
        self.scale = 0.0
        self.compared = self.passed_over = 0

    def check(self) -> None:
        lock = threading.Lock()
        ours = replay.Ours(replay.Dam(False)).names(self.program.seed, lock)
        theirs = self.theirs.names(self.program.seed)
        self.section(self.program.steps, ours, theirs)
        for number, steps in enumerate(self.program.threads):
            seed = self.program.seed + 1 + number
            mine = replay.Ours(replay.Dam(False)).names(seed, lock) | replay.arrays_of(ours)
            other = self.theirs.names(seed) | {name: theirs[name] for name in replay.arrays_of(ours)}
            self.section(steps, mine, other)

    def section(self, steps: tuple[Step, ...], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        alike: dict[str, set[str]] = {}  # names by the memory they lie in
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for step in steps:
                self.step(step, ours, theirs)
                if step.binds:
                    alike.setdefault(step.root, set()).add(step.binds)
                changed = {step.writes, *alike.get(step.root, ())} if step.writes else {step.binds}
                for name in changed & theirs.keys():
                    self.compare(step, name, ours, theirs)

    def step(self, step: Step, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        self.scale = self.magnitude(step, theirs)
        exec(step.compiled, ours)
        if step.rounding == "draw":
            self.theirs.drawn = ours[step.binds or step.writes].asnumpy()
        if step.binds and step.rounding in ("sum", "tree", "var"):
            theirs[step.binds] = self.widely(step, theirs, ours[step.binds].dtype)
            return
        exec(step.compiled, theirs)
        self.theirs.drawn = None
        if step.writes and theirs[step.writes].size:  # the parts of a complex number err together
            self.scale = max(self.scale, float(numpy.abs(theirs[step.writes].astype("complex128")).max()))
        if step.binds:
            made = numpy.asarray(theirs[step.binds])
            theirs[step.binds] = in_rows(made) if step.root == step.binds else made

    def widely(self, step: Step, theirs: dict[str, Any], dtype: Any) -> Any:
        """NumPy adds up 16-bit floats in 16 bits, or nearly so, and scans one by one; it shall be as exact as we."""
        wide, small = ("float64", HALVES + SINGLES) if "np.cum" in step.code else ("float32", HALVES)
        narrow = {name: theirs[name] for name in step.uses if theirs[name].dtype in small}
        scope = theirs | {name: x.astype(numpy.result_type(x.dtype, wide)) for name, x in narrow.items()}
        exec(step.compiled, scope)
        made = in_rows(numpy.asarray(scope[step.binds]))
        return made.astype(dtype) if narrow and dtype in small else made

    def magnitude(self, step: Step, theirs: dict[str, Any]) -> float:
        """How large the numbers are that a line adds up, and so its rounding errors."""
        if step.rounding not in ("sum", "tree", "var"):
            return 0.0
        inputs = [numpy.abs(theirs[name].astype("complex128")) for name in step.uses if theirs[name].size]
        largest = max((float(x.max()) for x in inputs), default=0.0)
        if step.rounding == "sum":
            return float(largest ** (2 if len(inputs) > 1 else 1) * max((x.size for x in inputs), default=1) ** 0.5)
        written = [float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", step.code.replace("True", "1"))]
        return max(largest, largest**2, *written)

    def compare(self, step: Step, name: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        mine, other = ours[name].asnumpy(), theirs[name]
        uses = [theirs[used].dtype for used in step.uses if used in theirs] if step.rounding else []
        half = bfloat16 in (mine.dtype, other.dtype, *uses)
        same = mine.shape == other.shape and (mine.dtype == other.dtype or half)
        if same and self.divides_by_infinity(step, theirs):
            self.passed_over += 1
        elif not same or not self.close(mine, other, uses):
            raise DisagreementError(f"{step.code}\n  {name}: we have {mine!r}\n  NumPy {other!r}")
        # From here on NumPy has our numbers, and our type where bfloat16 makes them differ.
        if mine.dtype != other.dtype and other.base is None:
            theirs[name] = mine.copy()
        elif other.flags.writeable and other.size:
            other[...] = mine

    def divides_by_infinity(self, step: Step, theirs: dict[str, Any]) -> bool:
        """There the quotient, rounded down, is the standard's and not NumPy's (docs/numpy.md)."""
        rounds = "//" in step.code or "floor_divide" in step.code
        return rounds and any(numpy.isinf(theirs[name]).any() for name in step.uses if name in theirs)

    def close(self, mine: Any, other: Any, uses: list[Any]) -> bool:
        if mine.size == 0:
            return True
        if mine.dtype.kind in "biu":
            return bool((mine == other).all())
        narrowest = max(TOLERANCE.get(dtype, 0) for dtype in (mine.dtype, other.dtype, *uses))
        wide = "complex128" if "c" in (mine.dtype.kind, other.dtype.kind) else "float64"
        a, b = mine.astype(wide), other.astype(wide)
        size = numpy.abs(b)
        largest = float(size.max())
        if not largest < numpy.inf:  # beyond what numbers can hold, machines differ
            self.passed_over += 1
            return True
        self.compared += 1
        return bool((numpy.abs(a - b) <= narrowest * (size + max(largest, self.scale)) + 1e-30).all())


def disagreement(program: Program) -> str:
    """What we and NumPy do not agree on; "" if there is nothing."""
    try:
        Oracle(program).check()
    except DisagreementError as error:
        return str(error)
    return ""
