"""The tour: the book's experiments on asynchronous computation, done on this machine and written up as one page.

`slipstream tour` measures (`experiments`, which run the `programs`), tells what came out (`story`), draws it (`charts`)
and writes the page (`page`). Nothing is assumed: where a figure comes out against expectation, the page says so.
"""

from __future__ import annotations

__all__ = ["run"]


def run(argv: list[str]) -> int:
    """Runs the command `slipstream tour` with these arguments and gives its exit status."""
    from .command import main

    return main(argv)
