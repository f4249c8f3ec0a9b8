"""Elementwise functions and reductions of the table. They are C++ functions: a call goes straight to the core.

Type checkers know the names from _rows.pyi, which tools/make_stubs.py writes from the same table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

# Rows that NumPy has no function for (npx shows them), and rows that np wraps to give them NumPy's other arguments.
ONLY_NPX = (
    *("digamma", "erf", "erfc", "erfinv", "gamma", "gammaln"),
    *("log_sigmoid", "relu", "sigmoid", "softplus", "softsign"),
)
WRAPPED = ("clip", "imag", "real", "round", "where")

COMPOSED = ("logsumexp", "mean", "std", "var")  # not rows, but made of rows in the core

ROWS = {row["name"]: row for row in _core.rows()}

if not TYPE_CHECKING:
    __all__ = [name for name in ROWS if name not in ONLY_NPX + WRAPPED] + [*ALIASES, *COMPOSED]
    globals().update({name: getattr(_core, ALIASES.get(name, name)) for name in __all__})
