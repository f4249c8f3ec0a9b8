"""Writes the tables of the documents that are made from the code.

python tools/make_tables.py            writes the end of docs/numpy.md: the functions that NumPy computes
python tools/make_tables.py --check    says whether it is out of date (a test runs this)
"""

from __future__ import annotations

import sys
from pathlib import Path

import slipstream.npx  # noqa: F401 - its functions are in the register, too
from slipstream.np._by_numpy import table

PAGE = Path(__file__).resolve().parent.parent / "docs/numpy.md"
HEAD = "| function | how |\n"


def main() -> int:
    found = PAGE.read_text()
    wanted = found[: found.index(HEAD)] + table()
    if "--check" not in sys.argv:
        PAGE.write_text(wanted)
    elif found != wanted:
        print("docs/numpy.md is out of date: make generated")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
