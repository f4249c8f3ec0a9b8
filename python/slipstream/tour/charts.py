"""Pictures as SVG text: bars, lines over numbers, lanes over time, and graphs. Colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH = 540  # of a picture; text is sized for it, and stays readable when a phone shrinks it
LINE = 22
LETTER, BOLD = 8.4, 9.6  # about the width of a letter of small text and of bold text, in a wide font


# ---- numbers in words


def seconds(value: float) -> str:
    """A duration with three digits and a unit that suits it.

    >>> seconds(0.0123)
    '12.3 ms'
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(value) >= size * 0.9995:
            return f"{digits(value / size)} {unit}"
    return f"{digits(value / 1e-9)} ns"


def size(value: float) -> str:
    """A number of bytes.

    >>> size(33554432)
    '32 MiB'
    """
    for unit, one in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= one:
            return f"{digits(value / one)} {unit}"
    return f"{value:.0f} bytes"


def digits(value: float) -> str:
    """Three digits, without zeros that say nothing.

    >>> digits(0.5), digits(1234.6), digits(3.14159)
    ('0.5', '1235', '3.14')
    """
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def ticks(top: float, count: int = 5) -> list[float]:
    """Round numbers from 0 to about `top`.

    >>> ticks(9.3)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    if top <= 0:
        return [0.0]
    step = 10.0 ** math.floor(math.log10(top / count))
    step *= next(factor for factor in (1, 2, 5, 10) if top / (step * factor) <= count)
    return [i * step for i in range(int(top / step + 1e-9) + 1)]


# ---- pieces of SVG


def text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>'


def box(x: float, y: float, width: float, height: float, style: str, title: str = "", round_by: float = 2) -> str:
    tip = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" rx="{round_by}" '
        f'class="{style}">{tip}</rect>'
    )


def path(points: Iterable[tuple[float, float]], style: str) -> str:
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{style}"/>'


def pointer(x1: float, y1: float, x2: float, y2: float) -> list[str]:
    """A line with a tip at its end."""
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    dx, dy = 9 * (x2 - x1) / length, 9 * (y2 - y1) / length
    back_x, back_y = x2 - dx, y2 - dy
    corners = [(x2, y2), (back_x - dy / 2, back_y + dx / 2), (back_x + dy / 2, back_y - dx / 2)]
    tip = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return [line(x1, y1, back_x, back_y, "edge"), f'<polygon points="{tip}" class="tip"/>']


def picture(title: str, parts: Iterable[str], height: float, width: float = WIDTH) -> str:
    """The parts as one picture that says what it shows to those who cannot see it."""
    wide = ' class="wide"' if width > WIDTH else ""
    body = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(title, quote=True)}"{wide}>'
        f"\n{body}\n</svg>"
    )


def shorten(words: str, room: float, letter: float = LETTER) -> str:
    """What of the words fits into so many units."""
    most = max(int(room / letter), 1)
    return words if len(words) <= most else words[: most - 1] + "…"


def legend(entries: Sequence[tuple[str, str]], x: float, y: float, room: float) -> tuple[list[str], float]:
    """Keys of colours in as many rows as they need; gives the parts and their height."""
    parts, at, row = [], x, 0
    for words, style in entries:
        width = 26 + len(words) * LETTER + 14
        if at > x and at + width > x + room:
            at, row = x, row + 1
        middle = y + row * LINE
        if style.startswith("line"):
            parts.append(line(at, middle, at + 20, middle, style))
        elif style.startswith("dot"):
            parts.append(f'<circle cx="{at + 10:.1f}" cy="{middle:.1f}" r="4" class="{style}"/>')
        else:
            parts.append(box(at, middle - 6, 20, 12, style))
        parts.append(text(at + 26, middle + 5, words, "small"))
        at += width
    return parts, (row + 1) * LINE


# ---- bars


@dataclass(frozen=True)
class Bar:
    """One bar: its name above it, its value behind it."""

    name: str
    value: float
    style: str = "ours"


def bars(title: str, rows: Sequence[Bar], show: Callable[[float], str] = seconds) -> str:
    """Horizontal bars on one scale that begins at 0."""
    top = max((row.value for row in rows), default=0) or 1.0
    labels = [show(row.value) for row in rows]
    room = WIDTH - 14 - max(map(len, labels)) * BOLD
    parts = []
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        y, length = 14 + i * 46, max(row.value / top * room, 1.5)
        parts += [text(2, y, row.name, "small"), box(2, y + 7, length, 18, row.style, f"{row.name}: {label}")]
        parts.append(text(2 + length + 8, y + 21, label, "value"))
    return picture(title, parts, 46 * len(rows) + 2)


# ---- lines


@dataclass(frozen=True)
class Series:
    """Points that belong together, drawn as a line or as dots."""

    name: str
    points: Sequence[tuple[float, float]]
    style: str  # "line ours", "line other dashed", "dot ours", ...


@dataclass(frozen=True)
class Mark:
    """A moment worth a line from top to bottom."""

    x: float
    words: str
    style: str = "mark"


@dataclass(frozen=True)
class Axes:
    """What the two directions of a picture mean."""

    x: str
    y: str
    show_x: Callable[[float], str] = digits
    show_y: Callable[[float], str] = digits
    marks: Sequence[Mark] = field(default_factory=tuple)


def lines(title: str, series: Sequence[Series], axes: Axes, height: float = 330) -> str:
    """Series over one pair of axes that both begin at 0."""
    right = max([x for one in series for x, _ in one.points] + [mark.x for mark in axes.marks] + [1e-12])
    top = 1.06 * max([y for one in series for _, y in one.points] + [1e-12])
    heights = ticks(top)
    left = 12 + LETTER * max(len(axes.show_y(y)) for y in heights)
    width, below = WIDTH - left - 26, height - 46
    keys, used = legend([(one.name, one.style) for one in series], left, 12, width)
    above = used + (34 if axes.y else 10)

    def at(x: float, y: float) -> tuple[float, float]:
        return left + x / right * width, below - y / top * (below - above)

    parts = [*keys, text(2, above - 12, axes.y, "small muted")]
    for y in heights:
        _, level = at(0, y)
        parts += [line(left, level, left + width, level, "grid")]
        parts.append(text(left - 7, level + 5, axes.show_y(y), "small muted", "end"))
    for x in ticks(right):
        across, _ = at(x, 0)
        parts += [
            line(across, below, across, below + 5, "axis"),
            text(across, below + 21, axes.show_x(x), "small muted", "middle"),
        ]
    parts.append(line(left, below, left + width, below, "axis"))
    parts.append(text(left + width / 2, height - 5, axes.x, "small muted", "middle"))
    parts += _marks(axes.marks, at, above, below, left + width)
    for one in series:
        parts += _series(one, at)
    return picture(title, parts, height)


def _marks(
    marks: Sequence[Mark], at: Callable[[float, float], tuple[float, float]], above: float, below: float, edge: float
) -> list[str]:
    parts, words = [], []
    for i, mark in enumerate(marks):
        across, _ = at(mark.x, 0)
        fits = across + 8 + len(mark.words) * LETTER < edge
        x, anchor = (across + 6, "start") if fits else (across - 6, "end")
        parts.append(line(across, above, across, below, mark.style))
        words.append(text(x, above + 16 + i * LINE, mark.words, "small halo", anchor))
    return parts + words


def _series(one: Series, at: Callable[[float, float], tuple[float, float]]) -> list[str]:
    points = [at(x, y) for x, y in one.points]
    if not one.style.startswith("dot"):
        return [path(points, one.style)]
    return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="{one.style}"/>' for x, y in points]


# ---- lanes


@dataclass(frozen=True)
class Piece:
    """Something on a lane, from when to when."""

    lane: int
    start: float
    end: float
    style: str
    name: str = ""


@dataclass(frozen=True)
class Arrow:
    """From a moment on one lane to a moment on another."""

    lane: int
    at: float
    to_lane: int
    to: float


def lanes(
    title: str,
    names: Sequence[str],
    pieces: Iterable[Piece],
    arrows: Iterable[Arrow] = (),
    keys: Sequence[tuple[str, str]] = (),
    width: float = 1120,
) -> str:
    """Threads below one another, time from left to right."""
    pieces, arrows = list(pieces), list(arrows)
    right = max((piece.end for piece in pieces), default=1.0) or 1.0
    left, tall, step = 12 + LETTER * max(len(name) for name in names), 34, 50
    room = width - left - 14
    parts, used = legend(keys, left, 12, room)
    above = used + 12

    def across(moment: float) -> float:
        return left + moment / right * room

    bottom = above + step * len(names)
    for moment in ticks(right, 8):
        parts += [line(across(moment), above, across(moment), bottom, "grid")]
        parts.append(text(across(moment), bottom + 18, seconds(moment) if moment else "0", "small muted", "middle"))
    for i, name in enumerate(names):
        parts += [text(2, above + i * step + 26, name, "small"), box(left, above + i * step + 4, room, tall, "lane")]
    for arrow in arrows:
        start, end = above + arrow.lane * step + 4 + tall, above + arrow.to_lane * step + 4
        parts.append(line(across(arrow.at), start, across(arrow.to), end, "arrow"))
    for piece in pieces:
        x, length = across(piece.start), max(across(piece.end) - across(piece.start), 1.2)
        y = above + piece.lane * step + 4
        parts.append(box(x, y, length, tall, piece.style, f"{piece.name}: {seconds(piece.end - piece.start)}"))
        if piece.name and length > len(piece.name) * LETTER + 6:
            parts.append(text(x + length / 2, y + 22, piece.name, f"inside {piece.style}", "middle"))
    return picture(title, parts, bottom + 26, width)


# ---- graphs


@dataclass(frozen=True)
class Vertex:
    """A box of a graph: its name, lines below that, and the boxes it needs."""

    key: str
    name: str
    below: tuple[str, ...]
    needs: tuple[str, ...]
    style: str = "call"


def layers(vertices: Sequence[Vertex]) -> list[list[Vertex]]:
    """Vertices by how long the longest way to them is; what only feeds one vertex sits right above it."""
    known = {vertex.key: vertex for vertex in vertices}
    depth: dict[str, int] = {}

    def of(key: str) -> int:
        if key not in depth:
            depth[key] = 1 + max((of(need) for need in known[key].needs), default=-1)
        return depth[key]

    for vertex in vertices:
        of(vertex.key)
    for vertex in vertices:
        users = [of(other.key) for other in vertices if vertex.key in other.needs]
        if not vertex.needs and users:
            depth[vertex.key] = min(users) - 1
    found: list[list[Vertex]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for vertex in vertices:
        found[depth[vertex.key]].append(vertex)
    return found


BOX, GAP, DROP = 214.0, 20.0, 42.0  # of a graph: widths of its boxes and between them, and the way down


def graph(title: str, vertices: Sequence[Vertex]) -> str:
    """What needs what, from top to bottom."""
    rows = layers(vertices)
    heights = [max(_tall(vertex) for vertex in row) for row in rows]
    place: dict[str, tuple[float, float]] = {}
    y = 4.0
    for row, height in zip(rows, heights, strict=True):
        for vertex, x in zip(row, _across(row, place), strict=True):
            place[vertex.key] = (x, y + height - _tall(vertex))
        y += height + DROP
    parts = []
    for vertex in vertices:
        below, onto = place[vertex.key], _wide(vertex) / (len(vertex.needs) + 1)
        ordered = sorted(vertex.needs, key=lambda need: place[need][0])
        for i, need in enumerate(ordered):
            x, top = place[need]
            bottom = top + next(_tall(other) for other in vertices if other.key == need)
            parts += pointer(x, bottom, below[0] - _wide(vertex) / 2 + onto * (i + 1), below[1])
    for vertex in vertices:
        parts += _vertex(vertex, *place[vertex.key])
    return picture(title, parts, y - DROP + 4)


def _tall(vertex: Vertex) -> float:
    return 34 + 19 * len(vertex.below)


def _wide(vertex: Vertex) -> float:
    return BOX if vertex.below else BOX / 2


def _across(row: Sequence[Vertex], place: dict[str, tuple[float, float]]) -> list[float]:
    """Middles of a row's boxes: around the middle of what they need, but inside of the picture."""
    needs = [place[need][0] for vertex in row for need in vertex.needs]
    whole = sum(map(_wide, row)) + GAP * (len(row) - 1)
    lone = [vertex for vertex in row if vertex.needs]
    middle = sum(needs) / len(needs) if needs else WIDTH / 2
    left = middle - (_wide(lone[0]) if len(lone) == 1 else whole) / 2
    left = max(2.0, min(left, WIDTH - 2 - whole))
    found = []
    for vertex in row:
        found.append(left + _wide(vertex) / 2)
        left += _wide(vertex) + GAP
    return found


def _vertex(vertex: Vertex, x: float, y: float) -> list[str]:
    wide = _wide(vertex)
    parts = [box(x - wide / 2, y, wide, _tall(vertex), vertex.style, vertex.name, 6)]
    parts.append(text(x, y + 22, shorten(vertex.name, wide - 10, BOLD), "value", "middle"))
    for i, words in enumerate(vertex.below):
        parts.append(text(x, y + 43 + 19 * i, shorten(words, wide - 8), "small muted", "middle"))
    return parts
