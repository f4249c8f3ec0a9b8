"""Random programs. A seed gives a program, always the same one; NumPy runs each line as it is made.

A line that NumPy refuses, or that leads to numbers beyond what types hold, is thrown away and another one is tried.
"""

from __future__ import annotations

import math
import random
import re
import warnings
from collections.abc import Callable

import numpy
from lines import Array, Line, Lines, UnfitError, Variable
from program import Program, Step, bfloat16

# Lengths of axes that a program's arrays start with, how many axes, and how often such a program is made.
SIZES = (
    ((0, 1, 2, 3, 4, 5, 2, 3, 4, 5), 4, 12),  # tiny, now and then empty
    ((1, 2, 3, 7, 16, 33), 3, 6),
    ((64, 65, 200, 511), 2, 1),  # large enough to be cut into chunks
)
LIVE = 18  # arrays kept at a time
LARGEST = 200_000  # elements


def root_of(value: Array) -> Array:
    while isinstance(value.base, numpy.ndarray):
        value = value.base
    return value


def is_fit(value: Array) -> bool:
    """Numbers that every float type can hold, and that leave room for a few more operations."""
    if value.size > LARGEST or value.ndim > 6 or value.dtype == object:  # what NumPy makes of some mixes
        return False
    if value.dtype.kind in "biu" or value.size == 0:
        return True
    wide = value.astype("float32") if value.dtype == bfloat16 else value
    largest = numpy.abs(wide).max()
    return bool(largest <= (500 if value.dtype.itemsize == 2 else 1e5))  # False for NaN


def spread(uses: tuple[Variable, ...]) -> int:
    """How many elements there are when all arrays are broadcast; 0 if they cannot be."""
    try:
        return math.prod(numpy.broadcast_shapes(*(v.value.shape for v in uses)))
    except ValueError:
        return 0


class Scope(Lines):
    """One list of steps in the making: the program's own, or a thread's."""

    # ---- steps

    def step(self, kind: Callable[[], Line]) -> bool:
        """Makes one step of a kind, if NumPy agrees."""
        try:
            line = kind()
        except UnfitError:
            return False
        line.uses = tuple(v for v in line.uses if re.search(rf"\b{v.name}\b", line.code))
        if spread(line.uses) > LARGEST:
            return False
        name = f"{self.prefix}{self.made}"
        code = f"{name} = {line.code}" if line.binds else line.code
        target = line.writes
        before = root_of(target.value).copy() if target else None
        try:
            compiled = compile(code, "<step>", "exec")
            exec(compiled, self.names)
            step = self.accept(line, name, code)
            step.__dict__["compiled"] = compiled
        except (TypeError, ValueError, IndexError, OverflowError, UnfitError):
            self.names.pop(name, None)
            if target is not None:
                root_of(target.value)[...] = before
                self.names[target.name] = target.value
            return False
        self.steps.append(step)
        return True

    def accept(self, line: Line, name: str, code: str) -> Step:
        used = tuple(v.name for v in line.uses)
        if line.writes is not None:
            if not is_fit(line.writes.value):
                raise UnfitError
            return Step(code, writes=line.writes.name, root=line.writes.root, uses=used, rounding=line.rounding)
        if not line.binds:
            return Step(code, uses=used)
        value = numpy.asarray(self.names[name])
        if "'float32'" not in line.code:
            value = narrow(value, line.uses)
        if not is_fit(value):
            raise UnfitError
        self.names[name] = value
        owner = next((v.root for v in line.uses if root_of(v.value) is root_of(value)), name)
        if owner == name and (value.base is not None or not value.flags.c_contiguous):
            self.names[name] = value = value.copy()  # a view of something without a name, or not in our order
        self.live.append(Variable(name, value, line.device, owner))
        self.made += 1
        return Step(code, binds=name, root=owner, uses=used, rounding=line.rounding)

    def kinds(self) -> list[Callable[[], Line]]:
        kinds: dict[Callable[[], Line], int] = {
            self.view: 14,
            self.unary: 8,
            self.binary: 12,
            self.tree: 8,
            self.power_or_shift: 2,
            self.select: 4,
            self.reduce: 7,
            self.product: 4,
            self.join: 5,
            self.copy: 6,
            self.take: 5,
            self.host: 1,
            self.write: 22,
            self.write_over_itself: 5,
            self.write_other: 7,
            self.reduce_into: 2,
            self.new_data: 3,
            self.new_filled: 2,
            self.new_random: 3,
            self.forget: 4,
            self.read: 3,
        }
        if self.counters:
            kinds[self.locked] = 12
        return [kind for kind, weight in kinds.items() for _ in range(weight)]

    def grow(self, steps: int) -> None:
        kinds = self.kinds()
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            while len(self.steps) < steps:
                self.step(self.new_data if len(self.live) < 3 else self.rng.choice(kinds))
                if len(self.live) > LIVE:
                    self.step(self.forget)


def narrow(value: Array, uses: tuple[Variable, ...]) -> Array:
    """NumPy widens bfloat16 where we do not: beside Python's floats, and in products."""
    small = {"bfloat16", "bool", "int8", "uint8"}
    dtypes = {v.value.dtype.name for v in uses}
    if "bfloat16" in dtypes and dtypes <= small and value.dtype == "float32":
        return value.astype(bfloat16)
    return value


def generate(seed: int, least: int = 20, most: int = 200, threads: int | None = None) -> Program:
    """The program of a seed. Every sixth has threads, half of those write to shared arrays under a lock."""
    rng = random.Random(seed)
    lengths, axes, _ = rng.choices(SIZES, [often for *_, often in SIZES])[0]
    devices = rng.choice((1, 1, 1, 3))
    if threads is None:
        threads = rng.choice((0, 0, 0, 0, 0, 3))
    sizes = lengths, tuple(rng.choice(lengths) or rng.choice(lengths) for _ in range(rng.randint(1, axes)))
    steps = int(least + ((most if axes > 2 else min(most, 60)) - least) * rng.random() ** 3)
    main = Scope(seed, rng, "v", sizes, devices)
    if not threads:
        main.grow(steps)
        return Program(seed, tuple(main.steps))
    steps = min(steps, most - 2 * threads)  # each thread may end with one step more
    main.grow(max(4, steps // 8))
    if rng.random() < 0.5:
        share_counters(main)
    sections = []
    for number in range(threads):
        scope = Scope(seed + 1 + number, rng, "abcdefgh"[number], sizes, devices)
        scope.counters = main.counters
        for v in main.live:
            value = v.value.view()
            value.flags.writeable = False
            scope.live.append(Variable(v.name, value, v.device, v.root, shared=True))
        scope.names |= {v.name: v.value for v in scope.live + scope.counters}
        scope.grow(max(2, -(-(steps - len(main.steps)) // threads)))
        sections.append(tuple(scope.steps))
    return Program(seed, tuple(main.steps), tuple(sections))


def share_counters(main: Scope) -> None:
    """Arrays that threads may add to."""
    for number in range(2):
        name, device = f"s{number}", main.rng.randrange(main.devices)
        code = f"{name} = make('zeros', {device}, {main.shape()}, dtype='int64')"
        exec(code, main.names)
        main.counters.append(Variable(name, main.names[name], device, name))
        main.steps.append(Step(code, binds=name, root=name))


def seeds(block: int, size: int) -> range:
    return range(block * size, (block + 1) * size)
