"""Elementwise functions and reductions of the table. They are C++ functions: a call goes straight to the core.

Type checkers know the names from _rows.pyi, which tools/make_stubs.py writes from the same table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .. import _core

# NumPy's and MXNet's other names of rows: {other name: row}.
ALIASES = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "bitwise_not": "bitwise_invert",
    "conjugate": "conj",
    "degrees": "rad2deg",
    "fix": "trunc",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "mod": "remainder",
    "power": "pow",
    "radians": "deg2rad",
    "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
}

# What np wraps to give it NumPy's other arguments.
WRAPPED = ("clip", "imag", "real", "round", "std", "var", "where")

# Not rows, but functions of the core that are called alike.
COMPOSED = ("argmax", "argmin", "cumprod", "cumsum", "logsumexp", "mean", "std", "var")

ROWS = {row["name"]: row for row in _core.rows()}

# Rows that NumPy has no function for: npx shows them. (NumPy 1 has some by their other names alone.)
ONLY_NPX = tuple(name for name in ROWS if not hasattr(numpy, name) and name not in ALIASES.values())


def _example(name: str) -> str:
    """A call with arguments from the row's sample domain."""
    row = ROWS.get(name)
    if row is None or row["is_reduction"]:
        return f"np.{name}(np.array([[1, 2], [3, 4]]), axis=1)"
    low, high = row["low"], row["high"]
    values = [round(low + (high - low) * part, 2) for part in (0.25, 0.75, 0.5, 1.0, 0.75, 0.25)]
    pairs = [values[2 * i : 2 * i + 2] for i in range(row["arity"])]
    if row["types"] in ("BITS", "SHIFT", "WHOLE"):
        arguments = [f"np.array({[int(v) for v in pair]}, dtype='int32')" for pair in pairs]
    else:
        arguments = [f"np.array({pair})" for pair in pairs]
    if name == "where":
        arguments[0] = "np.array([True, False])"
    return f"{'npx' if name in ONLY_NPX else 'np'}.{name}({', '.join(arguments)})"


def docstring(name: str, doc: str) -> str:
    """The documentation of a function of the table: its line, and an example that is run when the text is asked for."""
    from .. import np, npx

    call = _example(name)
    shown = repr(eval(call, {"np": np, "npx": npx})).replace("\n", "\n    ")
    return f"{doc}\n\n    >>> {call}\n    {shown}\n"


if not TYPE_CHECKING:
    __all__ = [name for name in (*ROWS, *ALIASES, *COMPOSED) if name not in ONLY_NPX + WRAPPED]
    globals().update({name: getattr(_core, ALIASES.get(name, name)) for name in __all__})
