"""Random programs. A seed gives a program, always the same one; NumPy runs each line as it is made.

A line that NumPy refuses, or that leads to numbers beyond what types hold, is thrown away and another one is tried.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
from program import COMPLEX, DTYPES, FLOATS, INTS, Program, Step, Values, bfloat16

Array = numpy.ndarray[Any, Any]

# Lengths of axes that a program's arrays start with, how many axes, and how often such a program is made.
SIZES = (
    ((0, 1, 2, 3, 4, 5, 2, 3, 4, 5), 4, 12),  # tiny, now and then empty
    ((1, 2, 3, 7, 16, 33), 3, 6),
    ((64, 65, 200, 511), 2, 1),  # large enough to be cut into chunks
)
LIVE = 18  # arrays kept at a time
LARGEST = 200_000  # elements

EXACT_UNARY = "negative positive square sign floor ceil trunc rint conj logical_not isnan isfinite signbit"
MATH_UNARY = "exp expm1 log log1p log2 log10 sqrt cbrt sin cos tan sinh cosh tanh asinh atan reciprocal abs deg2rad"
BOUNDED_UNARY = "sin cos tanh atan"  # may take what is not exact
EXACT_BINARY = "maximum minimum copysign heaviside fmax fmin logical_and logical_or logical_xor"
MATH_BINARY = "add subtract multiply divide hypot arctan2 logaddexp"
OPERATORS = "+ - * + - * / // % & | ^ == != < <= > >="
SUMS = "sum mean cumsum"
EXTREMES = "min max argmin argmax"


@dataclass
class Variable:
    """A name of the program and what NumPy has for it."""

    name: str
    value: Array
    device: int
    root: str
    shared: bool = False  # several threads have it, so nobody writes to it

    @property
    def kind(self) -> str:
        return "f" if self.value.dtype == bfloat16 else self.value.dtype.kind


@dataclass
class Line:
    """A line that may become a step."""

    code: str
    uses: tuple[Variable, ...]
    binds: bool = True
    writes: Variable | None = None
    rounding: str = ""
    device: int = 0


class UnfitError(Exception):
    """This line is not to be had; try another."""


def root_of(value: Array) -> Array:
    while isinstance(value.base, numpy.ndarray):
        value = value.base
    return value


def is_fit(value: Array) -> bool:
    """Numbers that every float type can hold, and that leave room for a few more operations."""
    if value.size > LARGEST or value.ndim > 6:
        return False
    if value.dtype.kind in "biu" or value.size == 0:
        return True
    wide = value.astype("float32") if value.dtype == bfloat16 else value
    largest = numpy.abs(wide).max()
    return bool(largest <= (500 if value.dtype.itemsize == 2 else 1e5))  # False for NaN


def fits_integers(value: Array, dtype: numpy.dtype[Any]) -> bool:
    """Can floats be cut to these integers? Beyond, every machine does as it likes."""
    if value.dtype.kind in "biu":
        return True
    if value.dtype.kind == "c":
        return False
    wide = value.astype("float64")
    least = 0 if dtype.kind == "u" else -100
    return bool(((wide > least - 1) & (wide < 100)).all())


class Scope:
    """One list of steps in the making: the program's own, or a thread's."""

    def __init__(
        self, seed: int, rng: random.Random, prefix: str, sizes: tuple[tuple[int, ...], tuple[int, ...]], devices: int
    ):
        self.rng = rng
        self.prefix = prefix
        self.lengths, self.whole = sizes
        self.devices = devices
        self.names = Values().names(seed)
        self.live: list[Variable] = []
        self.counters: list[Variable] = []  # arrays that all threads add to, and read only in the end
        self.steps: list[Step] = []
        self.made = 0

    # ---- choices

    def one_of(self, words: str) -> str:
        return self.rng.choice(words.split())

    def shape(self) -> tuple[int, ...]:
        """Mostly one that can be broadcast with others: the end of the program's own, some of its lengths 1."""
        if self.rng.random() < 0.1:
            return tuple(self.rng.choice(self.lengths) for _ in range(self.rng.randint(0, len(self.whole))))
        start = self.rng.choice((0, 0, 0, 1, 2, len(self.whole)))
        return tuple(1 if self.rng.random() < 0.1 else n for n in self.whole[start:])

    def any(self, suits: Callable[[Variable], bool] = lambda v: True, among: list[Variable] | None = None) -> Variable:
        found = [v for v in (self.live if among is None else among) if suits(v)]
        if not found:
            raise UnfitError
        return self.rng.choice(found)

    def own(self) -> Variable:
        return self.any(lambda v: not v.shared and v.value.flags.writeable)

    def beside(self, x: Variable) -> Variable:
        """An array of the same device that can be broadcast with x."""

        def suits(v: Variable) -> bool:
            pairs = zip(x.value.shape[::-1], v.value.shape[::-1], strict=False)
            return v.device == x.device and all(m == n or 1 in (m, n) for m, n in pairs)

        return self.any(suits)

    def scalar(self, x: Variable) -> str:
        choices = ["True", "1", "2", "3"]
        if x.kind in "fc":
            choices += ["0.5", "-1.25", "2.0"]
        if x.kind != "u":
            choices += ["-2"]
        if x.kind == "c":
            choices += ["(1-0.5j)"]
        return self.rng.choice(choices)

    def into(self, x: Variable) -> Variable:
        """An array that can be written into x: x itself, a part of it, or another one."""
        shape = x.value.shape

        def suits(v: Variable) -> bool:
            if v.device != x.device or v.value.ndim > len(shape) or (v.kind == "c" and x.kind != "c"):
                return False
            return all(m in (1, n) for m, n in zip(v.value.shape[::-1], shape[::-1], strict=False))

        y = self.any(suits)
        if x.kind in "iu" and not fits_integers(y.value, x.value.dtype):
            raise UnfitError
        return y

    def other(self, x: Variable) -> tuple[str, tuple[Variable, ...]]:
        """The second argument of a function of x: an array or a number."""
        if self.rng.random() < 0.35:
            return self.scalar(x), ()
        y = self.beside(x)
        return y.name, (y,)

    def axis(self, x: Variable, none: bool = True) -> Any:
        n = x.value.ndim
        choices: list[Any] = [None] if none else []
        choices += [self.rng.randrange(-n, n)] if n else []
        if n > 1 and none:
            choices += [tuple(self.rng.sample(range(n), self.rng.randint(0, n)))]
        if not choices:
            raise UnfitError
        return self.rng.choice(choices)

    def key(self, x: Variable) -> str:
        """A basic index. An Ellipsis keeps NumPy from making a copy where all axes are gone."""
        items = []
        for n in x.value.shape:
            roll = self.rng.random()
            if roll < 0.2 and n:
                items.append(str(self.rng.randrange(-n, n)))
            elif roll < 0.3:
                items.append(":")
            else:
                ends = [str(self.rng.randint(-n - 1, n + 1)) if self.rng.random() < 0.5 else "" for _ in range(2)]
                items.append(f"{ends[0]}:{ends[1]}:{self.rng.choice((1, 1, 2, 3, -1, -1, -2))}")
        items = items[: self.rng.randint(0, len(items))] if self.rng.random() < 0.3 else items
        if self.rng.random() < 0.15:
            items.insert(self.rng.randint(0, len(items)), "None")
        return ", ".join([*items, "..."])

    # ---- lines

    def new_data(self) -> Line:
        device = self.rng.randrange(self.devices)
        shape, dtype = self.shape(), self.rng.choice(DTYPES)
        return Line(f"data({self.rng.randrange(10**6)}, {shape}, {dtype!r}, {device})", (), device=device)

    def new_filled(self) -> Line:
        device = self.rng.randrange(self.devices)
        shape, dtype = self.shape(), self.rng.choice(DTYPES)
        n = self.rng.choice(self.lengths)
        call = self.rng.choice(
            (
                f"'zeros', {device}, {shape}, dtype={dtype!r}",
                f"'ones', {device}, {shape}, dtype={dtype!r}",
                f"'full', {device}, {shape}, 3, dtype={dtype!r}",
                f"'arange', {device}, {n}, dtype={self.rng.choice(INTS + FLOATS[2:])!r}",
                f"'arange', {device}, 2, {n + 2}, 3, dtype='int64'",
                f"'eye', {device}, {n}, dtype={dtype!r}",
                f"'linspace', {device}, 0, 1, {n}, dtype='float64'",
            )
        )
        return Line(f"make({call})", (), device=device, rounding="math" if "linspace" in call else "")

    def new_random(self) -> Line:
        device, shape = self.rng.randrange(self.devices), self.shape()
        kind = self.one_of("normal uniform integers permutation")
        dtype = self.rng.choice(FLOATS)
        if kind == "integers":
            dtype = self.rng.choice(INTS)
        elif kind == "permutation":
            shape, dtype = (self.rng.choice(self.lengths),), "int64"
        return Line(f"draw({kind!r}, {shape}, {dtype!r}, {device})", (), device=device, rounding="draw")

    def view(self) -> Line:
        x = self.any()
        n = x.value.ndim
        axes = self.rng.sample(range(n), n)
        calls = [f"{x.name}[{self.key(x)}]"] * 6 + [f"{x.name}.T", f"np.transpose({x.name}, {axes})"]
        calls += [f"np.expand_dims({x.name}, {self.rng.randint(-n - 1, n)})", f"np.squeeze({x.name})"]
        calls += [f"np.broadcast_to({x.name}, {self.stretched(x)})"]
        calls += [f"np.reshape({x.name}, {self.other_shape(x)})"] * 2 + [f"np.ravel({x.name})"]
        if n:
            calls += [f"np.flip({x.name}, {self.axis(x)})"]
        if n > 1:
            calls += [f"np.swapaxes({x.name}, {axes[0]}, {axes[1]})", f"np.moveaxis({x.name}, {axes[0]}, {axes[1]})"]
            calls += [f"np.diagonal({x.name})"]
        if n and x.value.shape[0] > 1:
            calls += [f"np.split({x.name}, [{self.rng.randint(0, x.value.shape[0])}])[{self.rng.randint(0, 1)}]"]
        return Line(self.rng.choice(calls), (x,), device=x.device)

    def stretched(self, x: Variable) -> tuple[int, ...]:
        front = (self.rng.choice((1, 2, 3)),) if self.rng.random() < 0.5 else ()
        return front + tuple(self.rng.choice((2, 3)) if n == 1 else n for n in x.value.shape)

    def other_shape(self, x: Variable) -> tuple[int, ...]:
        """Another shape of as many elements."""
        left, shape = x.value.size, []
        while left > 1 and len(shape) < 3:
            factor = self.rng.choice([f for f in (2, 3, 4, 5, 7, 8, 16, left) if left % f == 0])
            shape.append(factor)
            left //= factor
        if x.value.size and left > 1:
            shape.append(-1)
        return (0, 3) if x.value.size == 0 else tuple(self.rng.sample(shape, len(shape)))

    def unary(self) -> Line:
        x = self.any()
        name = self.rng.choice((EXACT_UNARY + " " + MATH_UNARY).split())
        if name == "logical_not" or x.kind in "biu":
            exact = name in EXACT_UNARY.split() or name in ("reciprocal", "abs")
        else:
            exact = name in EXACT_UNARY.split() and x.kind != "c"
        return Line(f"np.{name}({x.name})", (x,), rounding="" if exact else "math", device=x.device)

    def binary(self) -> Line:
        x = self.any()
        y, uses = self.other(x)
        if self.rng.random() < 0.5:
            name = self.rng.choice((EXACT_BINARY + " " + MATH_BINARY).split())
            code = f"np.{name}({x.name}, {y})" if self.rng.random() < 0.8 or not uses else f"np.{name}({y}, {x.name})"
        else:
            operator = self.one_of(OPERATORS)
            code = f"{x.name} {operator} {y}" if self.rng.random() < 0.7 else f"{y} {operator} {x.name}"
        return Line(code, (x, *uses), rounding="math", device=x.device)

    def power_or_shift(self) -> Line:
        x = self.any()
        if x.kind in "iu" and self.rng.random() < 0.5:
            return Line(f"{x.name} {self.one_of('<< >>')} {self.rng.randrange(5)}", (x,), device=x.device)
        if x.kind == "b":
            raise UnfitError
        return Line(f"{x.name} ** {self.rng.choice((0, 1, 2, 3))}", (x,), rounding="math", device=x.device)

    def tree(self) -> Line:
        """Several operations in a line: their results in between have no name, so they may be fused or overwritten."""
        x = self.any(lambda v: v.kind == "f")
        uses: list[Variable] = [x]
        code = x.name
        for _ in range(self.rng.randint(2, 5)):
            y, more = self.other(x)
            if more and more[0].kind not in "fi":
                continue
            uses += more
            code = self.rng.choice(
                (
                    f"({code} {self.one_of('+ - *')} {y})",
                    f"({y} {self.one_of('+ - *')} {code})",
                    f"np.{self.one_of(BOUNDED_UNARY)}({code})",
                    f"np.maximum({code}, {y})",
                    f"np.negative({code})",
                )
            )
        if code == x.name:
            raise UnfitError
        roll = self.rng.random()
        if roll < 0.25:
            code = f"{code}.{self.one_of('sum mean max min')}({self.axis(x)})"
        elif roll < 0.3:
            code = f"{code}.astype('float32')"
        return Line(code, tuple(uses), rounding="tree", device=x.device)

    def select(self) -> Line:
        x = self.any()
        y = self.beside(x)
        if self.rng.random() < 0.5:
            return Line(
                f"np.clip({x.name}, -1, 1)" if x.kind in "if" else f"np.clip({x.name}, 0, 1)", (x,), device=x.device
            )
        condition = self.beside(x)
        code = f"np.where({condition.name} > 0, {x.name}, {y.name})"
        return Line(code, (x, y, condition), device=x.device)

    def reduce(self) -> Line:
        x = self.any()
        keep = self.rng.choice(("", ", keepdims=True"))
        roll = self.rng.random()
        if roll < 0.5:
            name = self.one_of(SUMS)
            if name == "cumsum":
                return Line(f"np.cumsum({x.name}, axis={self.flat_axis(x)})", (x,), rounding="sum", device=x.device)
            dtype = f", dtype={self.rng.choice(FLOATS[2:])!r}" if self.rng.random() < 0.2 and x.kind in "fiu" else ""
            return Line(f"np.{name}({x.name}, axis={self.axis(x)}{dtype}{keep})", (x,), rounding="sum", device=x.device)
        if roll < 0.7:
            name = self.one_of(EXTREMES)
            axis = self.flat_axis(x) if name[0] == "a" else self.axis(x)
            if x.kind == "c":
                raise UnfitError
            return Line(f"np.{name}({x.name}, axis={axis}{keep})", (x,), device=x.device)
        if roll < 0.8:
            return Line(f"np.{self.one_of('any all')}({x.name}, axis={self.axis(x)}{keep})", (x,), device=x.device)
        name = self.one_of("var std")
        return Line(f"np.{name}({x.name}, axis={self.axis(x)}{keep})", (x,), rounding="var", device=x.device)

    def flat_axis(self, x: Variable) -> Any:
        axis = self.axis(x)
        return None if isinstance(axis, tuple) else axis

    def product(self) -> Line:
        x = self.any(lambda v: v.value.ndim > 0)
        shape = x.value.shape
        fitting = [
            v
            for v in self.live
            if v.device == x.device and v.value.ndim and shape[-1] == v.value.shape[-min(2, v.value.ndim)]
        ]
        y = self.rng.choice(fitting) if fitting else x
        if x.value.size * y.value.size > 200_000 * max(1, shape[-1]):
            raise UnfitError
        calls = [f"np.matmul({x.name}, {y.name})", f"np.dot({x.name}, {y.name})", f"{x.name} @ {y.name}"]
        calls += [
            f"np.matmul({x.name}, np.swapaxes({x.name}, -1, -2))"
            if x.value.ndim > 1
            else f"np.outer({x.name}, {y.name})"
        ]
        return Line(self.rng.choice(calls), (x, y), rounding="sum", device=x.device)

    def join(self) -> Line:
        x = self.any()
        axis = self.axis(x, none=False)
        alike = [v for v in self.live if v.device == x.device and v.value.shape == x.value.shape]
        parts = [x, *self.rng.choices(alike, k=self.rng.randint(0, 2))]
        names = ", ".join(v.name for v in parts)
        calls = [f"np.concatenate([{names}], axis={axis})"] * 3 + [f"np.stack([{names}], axis={axis})"]
        calls += [f"np.tile({x.name}, {self.rng.randint(0, 3)})", f"np.repeat({x.name}, 2, axis={axis})"]
        calls += [f"np.roll({x.name}, {self.rng.randint(-3, 3)}, axis={axis})"]
        return Line(self.rng.choice(calls), tuple(parts), device=x.device)

    def copy(self) -> Line:
        x = self.any()
        to = self.rng.randrange(self.devices)
        dtype = self.rng.choice(DTYPES)
        roll = self.rng.random()
        if roll < 0.3:
            return Line(f"to({x.name}, {to})", (x,), device=to)
        if roll < 0.4:
            return Line(f"np.copy({x.name})", (x,), device=x.device)
        if (dtype in INTS and not fits_integers(x.value, numpy.dtype(dtype))) or (
            x.kind == "c" and dtype not in COMPLEX
        ):
            raise UnfitError
        return Line(f"{x.name}.astype({dtype!r})", (x,), device=x.device)

    def take(self) -> Line:
        x = self.any(lambda v: v.value.ndim > 0)
        axis = self.rng.randrange(x.value.ndim)
        n = x.value.shape[axis]
        indices = self.any(lambda v: v.device == x.device and v.kind in "iu" and v.value.ndim < 3)
        if n == 0:
            raise UnfitError
        return Line(f"np.take({x.name}, {indices.name} % {n}, axis={axis})", (x, indices), device=x.device)

    def host(self) -> Line:
        x = self.any()
        return Line(f"host({x.name})", (x,), device=x.device)

    # ---- lines that write

    def write(self) -> Line:
        x = self.own()
        y = None if self.rng.random() < 0.3 else self.into(x)
        value = y.name if y else self.scalar(x)
        uses = (x, y) if y else (x,)
        signs = "+ - * & | ^" if x.kind in "biu" else "+ - * / // %"
        roll = self.rng.random()
        if roll < 0.35:
            code = f"{x.name} {self.one_of(signs)}= {value}"
        elif roll < 0.6:
            code = f"{x.name}[{self.key(x)}] = {value}"
        elif roll < 0.75:
            code = f"{x.name}[{self.key(x)}] {self.one_of(signs)}= {value}"
        elif roll < 0.95:
            first = self.into(x)
            name = self.one_of("add subtract multiply maximum")
            code, uses = f"np.{name}({first.name}, {value}, out={x.name})", (*uses, first)
        else:
            code = f"{x.name}[{x.name} > 1] = 1" if x.kind in "fiu" else f"{x.name}[...] = 1"
        return Line(code, uses, binds=False, writes=x, rounding="math", device=x.device)

    def locked(self) -> Line:
        """Several threads add to one array of integers: the order does not matter."""
        x = self.any(among=self.counters)
        y = self.any(lambda v: v.device == x.device and v.kind in "biu" and v.value.dtype != "uint64")
        code = f"with lock: {x.name}[{self.key(x)}] += {y.name}"
        return Line(code, (x, y), binds=False, writes=x, device=x.device)

    # ---- lines that do neither

    def forget(self) -> Line:
        if len(self.live) < 3:
            raise UnfitError
        x = self.any(lambda v: not v.shared)
        self.live.remove(x)
        return Line(f"del {x.name}", (), binds=False)

    def read(self) -> Line:
        x = self.any()
        how = self.one_of("asnumpy asnumpy tolist wait is_ready")
        if x.value.size == 1:
            how = self.one_of("item float bool asnumpy") if x.kind != "c" else self.one_of("item complex")
        return Line(f"read({how!r}, {x.name})", (x,), binds=False)

    # ---- steps

    def step(self, kind: Callable[[], Line]) -> bool:
        """Makes one step of a kind, if NumPy agrees."""
        try:
            line = kind()
        except UnfitError:
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
        value = narrow(numpy.asarray(self.names[name]), line.uses)
        if not is_fit(value):
            raise UnfitError
        self.names[name] = value
        owner = next((v.root for v in line.uses if root_of(v.value) is root_of(value)), name)
        if owner == name and value.base is not None:  # a view of something without a name
            self.names[name] = value = value.copy()
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
            self.reduce: 6,
            self.product: 4,
            self.join: 4,
            self.copy: 6,
            self.take: 2,
            self.host: 1,
            self.write: 28,
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
