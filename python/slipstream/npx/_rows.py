"""The functions of the table that NumPy has not. They are C++ functions, as those of np.

Type checkers know the names from _rows.pyi, which tools/make_stubs.py writes from the same table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from ..np._rows import ONLY_NPX

if not TYPE_CHECKING:
    __all__ = list(ONLY_NPX)
    globals().update({name: getattr(_core, name) for name in ONLY_NPX})
