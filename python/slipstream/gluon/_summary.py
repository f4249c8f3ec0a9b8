"""The table that `block.summary(*inputs)` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import autograd
from .._core import ndarray
from .parameter import Parameter

if TYPE_CHECKING:
    from .block import Block


def _shapes(value: Any) -> str:
    if isinstance(value, ndarray):
        return str(value.shape)
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_shapes(v) for v in value)
        return f"[{inside}]"
    return type(value).__name__


def _size(parameter: Parameter) -> int:
    return math.prod(parameter.shape or (0,))


def summarize(block: Block, inputs: tuple[Any, ...]) -> str:
    """Runs the block once on the inputs and lays out what every block below it gave, in the order of the calls."""
    calls: list[tuple[str, Block, str]] = []
    names = {id(inner): path for path, inner in block._blocks()}
    depths = {id(inner): path.count(".") + 1 if path else 0 for path, inner in block._blocks()}

    def begin(inner: Block, _: Any) -> None:
        calls.append((names[id(inner)], inner, ""))
        open_calls.append(len(calls) - 1)

    def end(inner: Block, _: Any, out: Any) -> None:
        place = open_calls.pop()
        calls[place] = (*calls[place][:2], _shapes(out))

    open_calls: list[int] = []
    unique = {id(inner): inner for _, inner in block._blocks()}.values()
    handles = [inner.register_forward_pre_hook(begin) for inner in unique]
    handles += [inner.register_forward_hook(end) for inner in unique]
    try:
        with autograd.pause():
            block(*inputs)
    finally:
        for handle in handles:
            handle.detach()
    rows = [("block", "type", "output", "parameters")]
    seen: set[int] = set()
    shared = 0
    for path, inner, shape in calls:
        own = list(inner.params.values())
        count = sum(_size(p) for p in own)
        shared += sum(_size(p) for p in own if id(p) in seen)
        seen.update(id(p) for p in own)
        name = "  " * max(depths[id(inner)] - 1, 0) + (path.rsplit(".", 1)[-1] or "(all)")
        rows.append((name, type(inner).__name__, shape, f"{count:,}"))
    return _lay_out(rows) + _totals(block, shared)


def _lay_out(rows: list[tuple[str, str, str, str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = []
    for row in rows:
        left = "  ".join(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=False))
        lines.append(f"{left}  {row[3].rjust(widths[3])}")
    rule = "─" * len(lines[0])
    return "\n".join([lines[0], rule, *lines[1:], rule])


def _totals(block: Block, shared: int) -> str:
    unique = {id(p): p for p in block.collect_params().values()}.values()
    total = sum(_size(p) for p in unique)
    trained = sum(_size(p) for p in unique if p.grad_req != "null")
    size = sum(_size(p) * p.dtype.itemsize for p in unique)
    text = f"\nparameters: {total:,} ({size / 2**20:.1f} MiB); trained: {trained:,}; fixed: {total - trained:,}"
    return text + (f"; used more than once: {shared:,}" if shared else "")
