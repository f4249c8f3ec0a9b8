"""Names of blocks and parameters as MXNet 1 made them: dense0, dense1, ..., within name scopes."""

from __future__ import annotations

from collections import defaultdict
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .block import Block

_current: ContextVar[NameScope | None] = ContextVar("name_scope", default=None)
_counts: defaultdict[str, int] = defaultdict(int)


def new_prefix(prefix: str | None, hint: str) -> str:
    """The prefix of a new block: the scope's, and its own or a new number."""
    scope = _current.get()
    if prefix is None:
        counts = _counts if scope is None else scope.counts
        prefix = f"{hint}{counts[hint]}_"
        counts[hint] += 1
    return prefix if scope is None else scope.block.prefix + prefix


class NameScope:
    """What `block.name_scope()` gives: blocks made within it have the block's prefix before their names."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.counts: defaultdict[str, int] = defaultdict(int)
        self._tokens: list[Token[NameScope | None]] = []

    def __enter__(self) -> NameScope:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._tokens.pop())

    def __reduce__(self) -> tuple[type[NameScope], tuple[Block]]:
        return NameScope, (self.block,)  # a scope that is open cannot be copied
