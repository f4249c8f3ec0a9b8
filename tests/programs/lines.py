"""The lines that random programs are made of: what each kind of line chooses, and which choices make sense.

A line says which arrays it uses, binds and writes. Whether it is to be had at all, NumPy says: see generate.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
from program import COMPLEX, DTYPES, FLOATS, INTS, Step, Values, bfloat16

Array = numpy.ndarray[Any, Any]

EXACT_UNARY = "negative positive square sign floor ceil trunc rint conj logical_not isnan isfinite isinf signbit fabs"
MATH_UNARY = "exp exp2 expm1 log log1p log2 log10 sqrt cbrt sin cos tan sinh cosh tanh asinh asin acos acosh atan atanh"
MATH_UNARY += " reciprocal abs deg2rad rad2deg angle nan_to_num"
BOUNDED_UNARY = "tanh atan"  # may take what is not exact
WAVES = " sin cos"  # may take large numbers if these are exact
EXACT_BINARY = "maximum minimum copysign heaviside fmax fmin logical_and logical_or logical_xor nextafter"
MATH_BINARY = "add subtract multiply divide hypot arctan2 logaddexp logaddexp2 fmod remainder float_power"
OPERATORS = "+ - * + - * / // % & | ^ == != < <= > >="
SUMS = "sum mean prod cumsum cumprod nansum"
EXTREMES = "min max argmin argmax ptp nanmin nanmax"
PRODUCTS = "inner vdot vecdot vecmat matvec"


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


def fits_integers(value: Array, dtype: numpy.dtype[Any]) -> bool:
    """Can floats be cut to these integers? Beyond, every machine does as it likes."""
    if value.dtype.kind in "biu":
        return True
    if value.dtype.kind == "c":
        return False
    wide = value.astype("float64")
    least = 0 if dtype.kind == "u" else -100
    return bool(((wide > least - 1) & (wide < 100)).all())


def promotable(*variables: Variable) -> bool:
    """Is there a type for all of these? For bfloat16 beside most others NumPy has none, or another one each time."""
    try:
        numpy.result_type(*(v.value.dtype for v in variables))
    except TypeError:
        return False
    return True


class Lines:
    """Makes lines from the arrays that there are."""

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
            return v.device == x.device and promotable(x, v) and all(m == n or 1 in (m, n) for m, n in pairs)

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

    def fits_in(self, v: Variable, x: Variable) -> bool:
        """Can it be broadcast to x's shape?"""
        pairs = zip(v.value.shape[::-1], x.value.shape[::-1], strict=False)
        return v.device == x.device and v.value.ndim <= x.value.ndim and all(m in (1, n) for m, n in pairs)

    def into(self, x: Variable) -> Variable:
        """An array that can be written into x: x itself, a part of it, or another one."""
        y = self.any(lambda v: self.fits_in(v, x) and promotable(x, v) and (v.kind != "c" or x.kind == "c"))
        if x.kind in "iu" and not fits_integers(y.value, x.value.dtype):
            raise UnfitError
        return y

    def other(self, x: Variable) -> tuple[str, tuple[Variable, ...]]:
        """The second argument of a function of x: an array or a number."""
        if self.rng.random() < 0.35:
            return self.scalar(x), ()
        y = self.beside(x)
        return y.name, (y,)

    def condition(self, x: Variable) -> tuple[str, Variable]:
        """Booleans that can be broadcast to x's shape."""
        y = self.any(lambda v: self.fits_in(v, x) and v.kind != "c")
        return f"{y.name} > {self.rng.choice((-1, 0, 1)) if y.kind in 'if' else 0}", y

    def mask(self, x: Variable) -> tuple[str, Variable]:
        """Booleans for the first axes of x."""
        y = self.any(
            lambda v: (
                v.device == x.device
                and v.kind in "biuf"
                and 0 < v.value.ndim <= x.value.ndim
                and v.value.shape == x.value.shape[: v.value.ndim]
            )
        )
        return f"{y.name} > 0", y

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
                f"'eye', {device}, {n}, {n + 1}, {self.rng.randint(-2, 2)}, dtype={dtype!r}",
                f"'tri', {device}, {n}, {n + 1}, {self.rng.randint(-2, 2)}, dtype={dtype!r}",
                f"'linspace', {device}, 0, 1, {n}, dtype='float64'",
            )
        )
        return Line(f"make({call})", (), device=device, rounding="math" if "linspace" in call else "")

    def new_random(self) -> Line:
        device, shape = self.rng.randrange(self.devices), self.shape()
        kind = self.one_of("normal uniform integers permutation choice")
        dtype = self.rng.choice(FLOATS)
        if kind == "integers":
            dtype = self.rng.choice(INTS)
        elif kind in ("permutation", "choice"):
            shape, dtype = (self.rng.choice(self.lengths),), "int64"
        return Line(f"draw({kind!r}, {shape}, {dtype!r}, {device})", (), device=device, rounding="draw")

    def view(self) -> Line:
        x = self.any()
        n = x.value.ndim
        axes = self.rng.sample(range(n), n)
        calls = [f"{x.name}[{self.key(x)}]"] * 6 + [f"{x.name}.T", f"np.transpose({x.name}, {axes})"]
        calls += [f"np.expand_dims({x.name}, {self.rng.randint(-n - 1, n)})", f"np.squeeze({x.name})"]
        calls += [f"np.atleast_{self.rng.randint(1, 3)}d({x.name})", f"{x.name}.real", f"{x.name}.reshape(-1)"]
        calls += [f"np.broadcast_to({x.name}, {self.stretched(x)})"]
        calls += [f"np.reshape({x.name}, {self.other_shape(x)})"] * 2 + [f"np.ravel({x.name})"]
        if x.kind == "c":
            calls += [f"{x.name}.imag"] * 3
        if n:
            calls += [f"np.flip({x.name}, {self.axis(x)})", f"np.flipud({x.name})"]
            calls += [f"np.array_split({x.name}, 2, axis={axes[0]})[{self.rng.randint(0, 1)}]"]
        if n > 1:
            calls += [f"np.swapaxes({x.name}, {axes[0]}, {axes[1]})", f"np.moveaxis({x.name}, {axes[0]}, {axes[1]})"]
            calls += [f"np.diagonal({x.name}, {self.rng.randint(-1, 1)}, {axes[0]}, {axes[1]})", f"{x.name}.mT"]
            calls += [f"np.rot90({x.name}, {self.rng.randint(-1, 3)})", f"np.rollaxis({x.name}, {axes[0]})"]
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
        name = self.one_of(EXACT_UNARY + " " + MATH_UNARY)
        if name == "angle" and x.kind == "b":
            raise UnfitError
        if name == "logical_not" or x.kind in "biu":
            exact = name in EXACT_UNARY.split() or name in ("reciprocal", "abs")
        else:
            exact = name in EXACT_UNARY.split() and x.kind != "c"
        return Line(f"np.{name}({x.name})", (x,), rounding="" if exact else "math", device=x.device)

    def binary(self) -> Line:
        x = self.any()
        y, uses = self.other(x)
        if self.rng.random() < 0.5:
            name = self.one_of(EXACT_BINARY + " " + MATH_BINARY)
            if uses and bfloat16 in (x.value.dtype, uses[0].value.dtype) and x.kind != uses[0].kind:
                raise UnfitError  # which type small integers stand for beside bfloat16 depends on the function
            code = f"np.{name}({x.name}, {y})" if self.rng.random() < 0.8 or not uses else f"np.{name}({y}, {x.name})"
        else:
            operator = self.one_of(OPERATORS)
            code = f"{x.name} {operator} {y}" if self.rng.random() < 0.7 else f"{y} {operator} {x.name}"
        return Line(code, (x, *uses), rounding="math", device=x.device)

    def power_or_shift(self) -> Line:
        x = self.any()
        if x.kind in "iu" and self.rng.random() < 0.5:
            return Line(f"{x.name} {self.one_of('<< >>')} {self.rng.randrange(5)}", (x,), device=x.device)
        if x.kind == "f" and self.rng.random() < 0.2:
            return Line(f"np.round({x.name}, {self.rng.randint(0, 2)})", (x,), rounding="math", device=x.device)
        if self.rng.random() < 0.2:
            pick = f"[{self.rng.randint(0, 1)}]"
            code = f"np.modf({x.name}){pick}" if x.kind == "f" else f"divmod({x.name}, 3){pick}"
            return Line(code, (x,), rounding="math", device=x.device)
        if x.kind == "b":  # NumPy's ** and power differ
            raise UnfitError
        return Line(f"{x.name} ** {self.rng.choice((0, 1, 2, 3))}", (x,), rounding="math", device=x.device)

    def tree(self) -> Line:
        """Several operations in a line: their results in between have no name, so they may be fused or overwritten."""
        x = self.any(lambda v: v.kind == "f")
        bounded = BOUNDED_UNARY + (WAVES if x.value.dtype.itemsize > 2 else "")
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
                    f"np.{self.one_of(bounded)}({code})",
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
        roll = self.rng.random()
        if roll < 0.3:
            least = -1 if x.kind in "if" else 0
            return Line(f"np.clip({x.name}, {least}, 1)", (x,), device=x.device)
        if roll < 0.4:
            return Line(f"np.clip({x.name}, None, {y.name})", (x, y), device=x.device)
        condition = self.beside(x)
        small = bfloat16 in (x.value.dtype, y.value.dtype)
        value = self.scalar(x) if roll < 0.6 and not small else y.name
        code = f"np.where({condition.name} > 0, {x.name}, {value})"
        if roll > 0.9 and not small and "b" not in (x.kind, y.kind):
            code = f"np.select([{condition.name} > 0, {x.name} == 1], [{x.name}, {value}])"
        return Line(code, (x, y, condition), device=x.device)

    def reduce(self) -> Line:
        x = self.any()
        roll = self.rng.random()
        name = self.one_of(SUMS if roll < 0.5 else EXTREMES if roll < 0.7 else "any all count_nonzero")
        if roll > 0.8:
            name = self.one_of("var std")
        if "prod" in name and x.value.size > 200:  # so many factors pass all bounds on the way, each order others
            raise UnfitError
        rounding = "sum" if name in SUMS else "var" if name in ("var", "std") else ""
        if name in ("cumsum", "cumprod"):
            return Line(f"np.{name}({x.name}, axis={self.flat_axis(x)})", (x,), rounding=rounding, device=x.device)
        if x.kind == "c" and name in EXTREMES:
            raise UnfitError
        axis = self.flat_axis(x) if name[:3] == "arg" else self.axis(x)
        options, uses = f"axis={axis}" + self.rng.choice(("", ", keepdims=True")), (x,)
        if name in ("sum", "mean", "prod") and x.kind in "fiu" and self.rng.random() < 0.2:
            options += f", dtype={self.rng.choice(FLOATS[2:])!r}"
        if name in ("var", "std") and self.rng.random() < 0.2:
            options += ", ddof=1"
        if name in ("sum", "prod", "mean", "any", "all", "min", "max", "var", "std") and self.rng.random() < 0.25:
            condition, y = self.condition(x)
            options, uses = f"{options}, where={condition}", (x, y)
            options += f", initial={2 if x.kind != 'b' else True}" if name in ("min", "max") else ""
        return Line(f"np.{name}({x.name}, {options})", uses, rounding=rounding, device=x.device)

    def flat_axis(self, x: Variable) -> Any:
        axis = self.axis(x)
        return None if isinstance(axis, tuple) else axis

    def product(self) -> Line:
        x = self.any(lambda v: v.value.ndim > 0)
        shape = x.value.shape
        fitting = [
            v
            for v in self.live
            if v.device == x.device
            and v.value.ndim
            and promotable(x, v)
            and shape[-1] in (v.value.shape[-min(2, v.value.ndim)], v.value.shape[-1])
        ]
        y = self.rng.choice(fitting) if fitting else x
        if x.value.size * y.value.size > 200_000 * max(1, shape[-1]):
            raise UnfitError
        calls = [f"np.matmul({x.name}, {y.name})", f"np.dot({x.name}, {y.name})", f"{x.name} @ {y.name}"]
        calls += [f"np.{self.one_of(PRODUCTS)}({x.name}, {y.name})", f"np.tensordot({x.name}, {y.name}, 1)"]
        if x.value.size * y.value.size <= 200_000:
            calls += [f"np.{self.one_of('kron outer')}({x.name}, {y.name})"]
        if x.value.ndim > 1:
            calls += [f"np.matmul({x.name}, np.swapaxes({x.name}, -1, -2))", f"np.trace({x.name})"]
            calls += [f"(np.matmul({x.name}, np.swapaxes({x.name}, -1, -2)) + {x.name}[..., :1]) * 2"]
        if x.value.ndim == y.value.ndim == 2 and x.value.size > 0 and y.value.size > 0 and self.rng.random() < 0.2:
            # so large that what follows is done tile by tile
            down, across = 190 // x.value.shape[0] + 1, 190 // y.value.shape[1] + 1
            tall, wide = f"np.tile({x.name}, ({down}, 1))", f"np.tile({y.name}, (1, {across}))"
            calls = [f"np.matmul({tall}, {wide}) * 2 - 1", f"(np.matmul({tall}, {wide}) + {x.name}[0, 0]).T * 2"]
        return Line(self.rng.choice(calls), (x, x, y), rounding="sum", device=x.device)

    def join(self) -> Line:
        x = self.any()
        axis = self.axis(x, none=False)
        alike = [v for v in self.live if v.device == x.device and v.value.shape == x.value.shape and promotable(x, v)]
        parts = [x, *self.rng.choices(alike, k=self.rng.randint(0, 2))]
        if not promotable(*parts):
            raise UnfitError
        names, shift = ", ".join(v.name for v in parts), self.rng.randint(-3, 3)
        calls = [f"np.concatenate([{names}], axis={axis})"] * 3 + [f"np.stack([{names}], axis={axis})"]
        calls += [f"np.concatenate([{names}], axis=None)", f"np.{self.one_of('v h d column_')}stack([{names}])"]
        calls += [f"np.tile({x.name}, {self.rng.choice((0, 1, 2, 3, (2, 1), (1, 2), (2, 1, 1)))})"]
        calls += [f"np.repeat({x.name}, 2, axis={self.rng.choice((axis, None))})", f"np.append({x.name}, {x.name})"]
        calls += [f"np.roll({x.name}, {shift}, axis={self.rng.choice((axis, None))})"]
        if x.value.ndim > 1:
            calls += [f"np.roll({x.name}, ({shift}, 1), axis=(0, 1))", f"np.{self.one_of('tril triu')}({x.name})"]
            calls += [f"np.diag({x.name}, {shift})"]
        rounding = ""
        if x.kind != "b":
            calls += [f"np.diff({x.name}, axis={axis})"]
            rounding = "math"
        return Line(self.rng.choice(calls), tuple(parts), rounding=rounding, device=x.device)

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
        """Elements by their numbers, which may count from the end, or by a mask."""
        x = self.any(lambda v: v.value.ndim > 0)
        axis = self.rng.randrange(x.value.ndim)
        n = x.value.shape[axis]
        if self.rng.random() < 0.25:
            mask, y = self.mask(x)
            return Line(f"np.sum(chosen({x.name}, {mask}), axis=0)", (x, y), rounding="sum", device=x.device)
        indices = self.any(lambda v: v.device == x.device and v.kind in "iu" and 0 < v.value.ndim < 3)
        if n == 0 or x.value.size * indices.value.size > 200_000 * n:
            raise UnfitError
        numbers = f"{indices.name} % {n}" + (f" - {n}" if self.rng.random() < 0.3 and indices.kind == "i" else "")
        before = "".join(self.rng.choice((":, ", "::-1, ", "0, ")) if m else ":, " for m in x.value.shape[:axis])
        calls = [f"np.take({x.name}, {numbers}, axis={axis})"] * 2 + [f"{x.name}[{before}{numbers}]"] * 3
        calls += [f"np.take({x.name}, {numbers})"]
        if indices.value.dtype.itemsize < 4:  # for "wrap" NumPy goes round once and again
            calls += [f"np.take({x.name}, {indices.name}, axis={axis}, mode={self.one_of('wrap clip')!r})"]
        return Line(self.rng.choice(calls), (x, indices), device=x.device)

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
            if y and y.root == x.root:  # NumPy errs where steps differ, see write_over_itself
                raise UnfitError
            code = f"{x.name}[{self.key(x)}] = {value}"
        elif roll < 0.75:
            code = f"{x.name}[{self.key(x)}] {self.one_of(signs)}= {value}"
        else:
            first = self.into(x)
            name, where = self.one_of("add subtract multiply maximum"), ""
            if y and not promotable(first, y):
                raise UnfitError
            if roll > 0.9 and x.kind != "c":  # NumPy errs where parts of complex numbers overlap them
                condition, z = self.condition(x)
                where, uses = f", where={condition}", (*uses, z)
            code, uses = f"np.{name}({first.name}, {value}, out={x.name}{where})", (*uses, first)
        return Line(code, uses, binds=False, writes=x, rounding="math", device=x.device)

    def write_over_itself(self) -> Line:
        """Parts of an array into other parts of it, which overlap."""
        x = self.any(lambda v: not v.shared and v.value.flags.writeable and v.value.ndim > 0, among=self.live)
        axis = self.rng.randrange(x.value.ndim)
        front, half = ":, " * axis, x.value.shape[axis] // 2
        parts = [("1:", ":-1"), (":-1", "1:"), (":", "::-1"), ("::-1", ":"), (f"{half}:", f"-{half or 1}::-1")]
        parts += [(f":{half}", f":{2 * half}:2"), (f":{2 * half}:2", f":{half}"), (f":{half}", f"{half}:{2 * half}")]
        target, source = (f"{x.name}[{front}{part}]" for part in self.rng.choice(parts))
        sign = self.one_of("+ - *" if x.kind != "b" else "& | ^")
        calls = [f"{target} {sign}= {source}"]
        if x.value.ndim > 1 or "2" not in target + source:  # NumPy does not see the overlap of rows of different steps
            calls += [f"{target} = {source}"] * 2
        calls += [
            f"np.{self.one_of('add maximum multiply')}({target}, {source}, out={self.rng.choice((target, source))})"
        ]
        if x.value.ndim > 1:
            calls += [f"{x.name}[...] = {x.name}.mT", f"{x.name} {sign}= {x.name}.mT"]
        return Line(self.rng.choice(calls), (x,), binds=False, writes=x, rounding="math", device=x.device)

    def write_other(self) -> Line:
        """Other ways to write: by a mask, copies, single functions with out=, and parts of complex numbers."""
        x = self.own()
        roll = self.rng.random()
        uses: tuple[Variable, ...] = (x,)
        if roll < 0.35:
            mask, y = self.mask(x)
            code, uses = f"{x.name}[{mask}] = {self.scalar(x)}", (x, y)
        elif roll < 0.5:
            y = self.any(
                lambda v: v.value.shape == x.value.shape and v.value.dtype == x.value.dtype and v.root != x.root
            )
            code, uses = f"put({y.name}, {x.name})", (x, y)
        elif roll < 0.6:
            code = f"{x.name}.fill({self.scalar(x)})"
        elif roll < 0.7 and x.kind == "c":
            y = self.any(lambda v: self.fits_in(v, x) and v.kind in "biuf")
            code, uses = self.rng.choice((f"{x.name}.real = {y.name}", f"{x.name}.imag[...] = {y.name}")), (x, y)
        elif roll < 0.75 and x.value.ndim == 2:
            code = f"np.fill_diagonal({x.name}, {self.scalar(x)})"
        elif roll < 0.8 and x.value.ndim:
            return Line(f"shuffle({x.name})", (x,), binds=False, writes=x, rounding="draw", device=x.device)
        else:
            y = self.any(lambda v: (v.device, v.value.shape, v.kind) == (x.device, x.value.shape, x.kind))
            name = self.one_of("negative square sign floor sqrt tanh conj")
            code, uses = f"np.{name}({y.name}, out={x.name})", (x, y)
        return Line(code, uses, binds=False, writes=x, rounding="math", device=x.device)

    def reduce_into(self) -> Line:
        """A reduction or a product that writes its result into an array that is there."""
        x = self.any(lambda v: v.value.dtype.itemsize > 2 and v.value.ndim > 0)
        axis = self.axis(x)
        shape = numpy.sum(x.value, axis=axis).shape
        name = self.one_of("sum max min cumsum matmul")
        if (x.kind == "c" and name in ("max", "min")) or (name == "cumsum" and x.value.size > 1000):
            raise UnfitError  # complex numbers have no order, and NumPy's scans no end of errors
        if name == "cumsum":
            axis, shape = self.rng.randrange(x.value.ndim), x.value.shape
        code, uses = f"np.{name}({x.name}, axis={axis}", (x,)
        if name == "matmul":
            y = self.any(lambda v: v.device == x.device and v.value.dtype == x.value.dtype and v.value.ndim == 2)
            code, uses, shape = f"np.matmul({x.name}, {y.name}", (x, y), (*x.value.shape[:-1], y.value.shape[-1])
        wanted = shape, x.value.dtype, x.device
        own = [v for v in self.live if not v.shared and v.value.flags.writeable]
        out = self.any(lambda v: (v.value.shape, v.value.dtype, v.device) == wanted, among=own)
        return Line(f"{code}, out={out.name})", (*uses, out), binds=False, writes=out, rounding="sum", device=x.device)

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
        how = self.one_of("asnumpy asnumpy tolist wait is_ready repr")
        if x.value.size == 1:
            how = self.one_of("item float bool asnumpy repr") if x.kind != "c" else self.one_of("item complex")
        return Line(f"read({how!r}, {x.name})", (x,), binds=False)
