"""bench.html: the results as bars, in one file without anything from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from . import report
from .results import ON_SYNC, Row, title, verdicts
from .workload import OURS, split_key

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #68717e; --line: #d9dee5; --page: #ffffff;
        --ours: #1f6feb; --ours2: #8db8f7; --peer: #b3bbc6; --met: #1a7f37; --missed: #c93c37; --part: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #98a2b0; --line: #333b47; --page: #12161c;
        --ours: #58a6ff; --ours2: #2f5d99; --peer: #5b6572; --met: #3fb950; --missed: #f47067; --part: #d29922; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
       max-width: 960px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .3rem } h3 { font-size: 1rem; margin: 1.4rem 0 0 }
p { margin: .2rem 0 .5rem } .soft { color: var(--soft) } svg { width: 100%; height: auto; display: block }
text { font: 12px system-ui, sans-serif; fill: var(--ink) } text.soft { fill: var(--soft) }
.met { fill: var(--met); color: var(--met) } .missed { fill: var(--missed); color: var(--missed) }
.part { fill: var(--part); color: var(--part) } .ours { fill: var(--ours) } .ours2 { fill: var(--ours2) }
.peer { fill: var(--peer) } .grid { stroke: var(--line) } .goal { stroke: var(--ink); stroke-width: 2 }
.curve { fill: none; stroke-width: 2 } .curve.ours { stroke: var(--ours); fill: none }
.curve.ours2 { stroke: var(--ours2); fill: none } .curve.peer { stroke: var(--peer); fill: none }
"""
CLASSES = {"met": "met", "missed": "missed", "met by skipping": "part"}
METHOD = "Best of several turns, taken in rotation; every result was compared with NumPy's first."
GLANCE = (
    "Our time as a part of what the goal allows, on a logarithmic scale; a second mark is the time with the skipping "
    "of unread work off."
)
WIDTH, LEFT, LINE = 900, 210, 20


def svg(height: float, parts: Iterable[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(label)}">' + "".join(parts) + "</svg>"
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def bar(x: float, y: float, width: float, kind: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="13" rx="2" class="{kind}"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


# ---- all goals at a glance


def overview(rows: Sequence[Row]) -> str:
    """Our time as a part of the goal: a bar that stays left of the mark has met it. Both scales are logarithmic."""
    found = [(row, verdict) for row in rows for verdict in verdicts(row)[:-1] if verdict.ratio is not None]
    if not found:
        return ""
    low, high = -2.0, 1.0

    def place(share: float) -> float:
        log = min(high, max(low, math.log10(share)))
        return LEFT + (log - low) / (high - low) * (WIDTH - LEFT - 110)

    height = LINE * len(found) + 30
    parts = []
    for share in (0.01, 0.1, 1, 10):
        parts.append(line(place(share), 0, place(share), height - 22, "goal" if share == 1 else "grid"))
        parts.append(text(place(share), height - 6, "the goal" if share == 1 else f"× {share:g}", "soft", "middle"))
    for number, (row, verdict) in enumerate(found):
        y = LINE * number + 4
        share = (verdict.ratio or 0) / verdict.limit.ratio
        end = place(share)
        name = " ".join(filter(None, [row.workload.name, verdict.limit.of, "memory" if verdict.limit.memory else ""]))
        parts.append(text(LEFT - 8, y + 11, name, "", "end"))
        parts.append(bar(LEFT, y, end - LEFT, CLASSES.get(verdict.text, "peer")))
        if verdict.without_skipping is not None:
            at = place(verdict.without_skipping / verdict.limit.ratio)
            parts.append(line(at, y - 2, at, y + 15, "goal"))
            end = max(end, at)
        parts.append(text(end + 6, y + 11, f"{report.both(verdict)} of {report.quotient(verdict.limit.ratio)}", "soft"))
    return svg(height, parts, "our time against each goal")


# ---- one workload


def bars(row: Row) -> str:
    """Everybody's time; what is far longer than ours is cut off and says so."""
    times = sorted(((timing.best, key) for key, timing in row.timings.items()), key=lambda pair: pair[0])
    if not times:
        return ""
    ours = row.seconds(OURS) or times[0][0]
    longest = min(times[-1][0], max(12 * ours, times[0][0] * 3))
    parts = []
    for number, (seconds, key) in enumerate(times):
        y = LINE * number + 3
        width = min(seconds / longest, 1) * (WIDTH - LEFT - 190)
        kind = "ours" if key == OURS else "ours2" if split_key(key)[0] == OURS else "peer"
        words = report.duration(seconds) + (f"  = {report.three(seconds / ours)} × ours" if kind == "peer" else "")
        parts.append(text(LEFT - 8, y + 11, title(key), "", "end"))
        parts.append(bar(LEFT, y, width, kind))
        parts.append(text(LEFT + width + 6, y + 11, ("… " if seconds > longest else "") + words, "soft"))
    return svg(LINE * len(times) + 4, parts, f"times of {row.workload.name}")


def section(row: Row) -> str:
    said = []
    for verdict in verdicts(row)[:-1]:
        ratio = f": {report.both(verdict)}" if verdict.ratio is not None else ""
        kind = CLASSES.get(verdict.text, "soft")
        said.append(f'{escape(verdict.limit.text)}{ratio}, <b class="{kind}">{verdict.text}</b>')
    what = escape(row.workload.what)
    reasons = "".join(
        f'<p class="soft">– {escape(title(key))}: {escape(reason)}</p>' for key, reason in row.reasons.items()
    )
    goals = f"<p>Goal {'; '.join(said)}</p>" if said else ""
    return f"<h3>{escape(row.workload.name)}</h3><p class='soft'>{what}</p>{goals}{bars(row)}{reasons}"


# ---- growth


def curves(rows: Sequence[Row], sizes: str, label: str) -> str:
    """Time against size, both logarithmic."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        size = math.log10(float(row.workload.name.removeprefix(sizes)))
        for key, timing in row.timings.items():
            points.setdefault(key, []).append((size, math.log10(timing.best)))
    if not points:
        return ""
    every = [point for curve in points.values() for point in curve]
    x0, x1 = min(x for x, _ in every), max(x for x, _ in every)
    y0, y1 = math.floor(min(y for _, y in every)), math.ceil(max(y for _, y in every))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x0) / ((x1 - x0) or 1)
        return 70 + across * (WIDTH - 230), 10 + (y1 - y) / ((y1 - y0) or 1) * 220

    parts = []
    for power in range(y0, y1 + 1):
        _, y = place(x0, power)
        parts += [line(70, y, WIDTH - 160, y, "grid"), text(62, y + 4, report.duration(10.0**power), "soft", "end")]
    for power in range(round(x0), round(x1) + 1):
        x, _ = place(power, y0)
        parts.append(text(x, 252, f"{10**power:,}", "soft", "middle"))
    taken: list[float] = []
    for key, curve in points.items():
        kind = "ours" if key == OURS else "ours2" if key == ON_SYNC else "peer"
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in curve))
        x, y = place(*curve[-1])
        while any(abs(y - other) < 13 for other in taken):
            y += 13
        taken.append(y)
        parts += [f'<polyline points="{path}" class="curve {kind}"/>', text(x + 8, y + 4, title(key))]
    return f"<h3>{escape(label)}</h3>" + svg(max(262, *taken) + 6, parts, label)


def page(saved: Mapping[str, Any], rows: Sequence[Row]) -> str:
    judged, growing = report.split(rows)
    sizes = [row for row in growing if row.workload.name.startswith("size-")]
    lengths = [row for row in growing if row.workload.name.startswith("ops-")]
    about = report.sentence(saved["machine"], saved["versions"])
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Slipstream, measured</title>",
        "<meta name='viewport' content='width=device-width'>",
        f"<style>{STYLE}</style></head><body><h1>Slipstream, measured beside its peers</h1>",
        f"<p>{escape(about)}</p><p>{escape(report.noise(saved['machine'], rows))}</p>",
        f"<p class='soft'>{escape(saved['when'])}. {METHOD}</p>",
        f"<h2>Goals</h2><p class='soft'>{GLANCE}</p>{overview(judged)}" if judged else "",
        curves(sizes, "size-", "x + 1, waited for, against the number of elements"),
        curves(lengths, "ops-", "Time of one tiny operation against how many are recorded before a wait"),
        "<h2>Workloads</h2>" if judged else "",
        *map(section, judged),
        "</body></html>\n",
    ]
    return "\n".join(filter(None, parts))
