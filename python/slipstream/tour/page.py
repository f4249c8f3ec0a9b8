"""The page: one HTML file with everything in it, for light and dark screens, from phones to desks. No scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape as escape_text

from . import programs
from .charts import size
from .measure import Check, Machine
from .story import Picture, Section

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1f2023; --muted: #62646b; --grid: #e3e2dd; --edge: #a9a8a2;
  --ours: #2366c4; --other: #d2622a; --third: #17836b; --fourth: #8453b8; --good: #17775f;
  --bad: #b3261e; --inside: #ffffff; --code: #f3f2ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16171a; --card: #1d1f23; --ink: #e9e8e4; --muted: #a3a5ad; --grid: #34363c; --edge: #6d7078;
    --ours: #6aa5f8; --other: #f0905e; --third: #45bfa1; --fourth: #b993ea; --good: #54c9a9;
    --bad: #ff8a80; --inside: #101114; --code: #26282d;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.55 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 2rem; line-height: 1.2; margin: .4em 0; }
h2 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .5em; }
h3 { font-size: 1rem; margin: 1.4em 0 .4em; }
p { margin: .5em 0; max-width: 46em; }
a { color: var(--ours); }
section { background: var(--card); border: 1px solid var(--grid); border-radius: 12px; padding: 22px; margin: 26px 0; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px 36px; }
@media (min-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
@media (max-width: 979px) { .pictures { order: -1; margin-top: 14px; } }
.columns.code { gap: 14px 36px; align-items: start; }
.lead { font-size: 1.06rem; }
.muted, figcaption { color: var(--muted); }
.warning { border-left: 4px solid var(--other); padding-left: 12px; }
ol.summary { padding-left: 1.3em; }
ol.summary li { margin: .35em 0; }
pre { background: var(--code); border-radius: 8px; padding: 12px 14px; margin: 0; overflow-x: auto; }
pre { font: 13.5px/1.45 ui-monospace, monospace; }
code { font-family: ui-monospace, monospace; font-size: .9em; white-space: nowrap; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
td, th { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--grid); vertical-align: top; text-align: left; }
td + td, th + th { font-variant-numeric: tabular-nums; white-space: nowrap; }
th { font-weight: 600; }
figure { margin: 0 0 26px; }
figcaption { font-size: .92rem; margin-top: 6px; }
ul.checks { list-style: none; padding: 0; font-size: .95rem; }
.right::before { content: "✓ "; color: var(--good); font-weight: bold; }
.wrong::before { content: "✗ "; color: var(--bad); font-weight: bold; }
.wrong, .failed { color: var(--bad); }
svg { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; }
svg.wide { min-width: 860px; }
svg text { fill: var(--ink); font: 15px system-ui, sans-serif; }
svg .small { font-size: 14px; }
svg .muted { fill: var(--muted); }
svg .value { font-weight: 600; }
svg .inside { fill: var(--inside); font-size: 13px; font-weight: 600; }
svg .inside.wait { fill: var(--ink); font-weight: 400; }
svg .halo { paint-order: stroke; stroke: var(--card); stroke-width: 6px; stroke-linejoin: round; }
svg .grid { stroke: var(--grid); }
svg .axis { stroke: var(--edge); }
svg .mark { stroke-width: 1.5; stroke-dasharray: 3 4; }
svg polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
svg line.line { stroke-width: 2.5; }
svg .dashed { stroke-dasharray: 7 5; }
svg rect.ours, svg circle.ours, svg rect.op0 { fill: var(--ours); }
svg rect.other, svg circle.other, svg rect.op1 { fill: var(--other); }
svg rect.third, svg circle.third, svg rect.op2 { fill: var(--third); }
svg rect.fourth, svg circle.fourth, svg rect.op3 { fill: var(--fourth); }
svg line.ours, svg polyline.ours { stroke: var(--ours); }
svg line.other, svg polyline.other { stroke: var(--other); }
svg line.third, svg polyline.third { stroke: var(--third); }
svg line.fourth, svg polyline.fourth { stroke: var(--fourth); }
svg circle { stroke: var(--card); }
svg rect.lane { fill: var(--code); }
svg rect.record { fill: var(--ink); }
svg rect.wait { fill: var(--edge); opacity: .55; }
svg rect[class^="op"], svg rect.wait { stroke: var(--card); stroke-width: .6; }
svg .arrow { stroke: var(--edge); stroke-width: .8; opacity: .7; }
svg rect.call { fill: var(--code); stroke: var(--ours); stroke-width: 1.5; }
svg rect.number { fill: var(--card); stroke: var(--edge); stroke-dasharray: 4 3; }
svg .edge { stroke: var(--ink); stroke-width: 1.5; }
svg .tip { fill: var(--ink); }
"""

IMPORTS = "import time\nimport numpy\nfrom slipstream import engine, np, npx"


def escape(words: str) -> str:
    """Words for the page: nothing in them is markup, and a number stays with its unit."""
    return re.sub(r"(\d) (ns|µs|ms|s|[KMG]iB)\b", "\\1\u00a0\\2", escape_text(words))


def prose(words: str) -> str:
    """Words in which `code` is marked as such."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words))


def _code(section: Section) -> str:
    """The programs, a block each, without the annotations that readers do not need."""
    blocks = []
    for program in section.code:
        text = re.sub(r"\s+# noqa[^\n]*", "", programs.source(program).rstrip())
        head, _, body = text.partition("\n")
        head = re.sub(r": [\w.]+(\[\w+\])?(?=[,)])", "", head.split(" -> ")[0])
        blocks.append(f"<pre>{escape(head)}:\n{escape(body)}</pre>")
    return "".join(blocks)


def _checks(checks: Sequence[Check]) -> str:
    items = (f'<li class="{"right" if check.right else "wrong"}">{escape(check.text)}</li>' for check in checks)
    return f'<ul class="checks">{"".join(items)}</ul>'


def _table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    lines = [row(head, "th")] if head else []
    return f'<div class="scroll"><table>{"".join(lines + [row(cells, "td") for cells in rows])}</table></div>'


def _figure(picture: Picture) -> str:
    caption = f"<figcaption>{prose(picture.caption)}</figcaption>"
    return f'<figure><div class="scroll">{picture.svg}</div>{caption}</figure>'


def _section(number: int, section: Section) -> str:
    wide = [picture for picture in section.pictures if 'class="wide"' in picture.svg]
    beside = "".join(_figure(picture) for picture in section.pictures if picture not in wide)
    see = "<h3>What to see</h3>" + "".join(f"<p>{prose(words)}</p>" for words in section.seen)
    figures = f"<h3>Measured</h3>{_table(section.figures, section.head)}"
    checked = f"<h3>Checked</h3>{_checks(section.checks)}"
    code = f'<h3>The code</h3><div class="columns code">{_code(section)}</div>'
    left, right = (see + figures + checked, beside) if beside else (see + figures, checked)
    if len(section.code) == 1:  # short: it goes where there is room
        code = f"<h3>The code</h3>{_code(section)}"
        left, right, code = (left + code, right, "") if beside else (left, right + code, "")
    side = "pictures" if beside else ""
    return (
        f'<section id="{section.key}"><h2>{number}. {escape(section.title)}</h2>'
        f'<p class="lead">{prose(section.why)}</p>{"".join(map(_figure, wide))}'
        f'<div class="columns"><div>{left}</div><div class="{side}">{right}</div></div>{code}</section>'
    )


def _machine(machine: Machine) -> str:
    rows = [
        ("processor", f"{machine.processor}, {machine.cores} cores for this program"),
        ("memory", size(machine.memory)),
        ("system", machine.system),
        ("Python, NumPy", f"{machine.python}, {machine.numpy}"),
        ("Slipstream", f"{machine.slipstream}, {machine.workers} workers, vector loops {machine.vectors}"),
        ("load when the tour began", f"{machine.load:.1f} programs wanting a core"),
    ]
    busy = (
        f'<p class="warning">Other programs were running: {machine.load:.1f} of them wanted {machine.cores} cores. '
        "Times are the best of several, but expect noise, and less gain from running things side by side than on a "
        "quiet machine.</p>"
    )
    return _table(rows) + (busy if machine.load > 0.75 * machine.cores else "")


def render(machine: Machine, sections: Sequence[Section], failures: Sequence[tuple[str, str]], took: float) -> str:
    """The whole page."""
    summary = "".join(
        f'<li><a href="#{section.key}">{escape(section.title)}</a>: {prose(section.headline)}.</li>'
        for section in sections
    )
    failed = "".join(
        f'<section class="failed"><h2>{escape(title)}</h2><p>This experiment failed: {escape(error)}</p></section>'
        for title, error in failures
    )
    wrong = sum(not check.right for section in sections for check in section.checks)
    verdict = (
        f'<p class="failed">{wrong} checks of results failed; they are marked below.</p>'
        if wrong
        else "<p>All results were compared with NumPy's and were right.</p>"
    )
    body = "\n".join(_section(number, section) for number, section in enumerate(sections, 1))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A tour of asynchronous computation</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>A tour of asynchronous computation</h1>
<p class="lead">Your Python program says what to compute and runs ahead; a back end with its own threads follows. This
page shows what that means, in experiments that were just done on your machine in {took:.0f} seconds.</p>
<section>
<div class="columns">
<div><h2>What came out</h2><ol class="summary">{summary}</ol>{verdict if not failures else ""}</div>
<div><h2>The machine</h2>{_machine(machine)}<h3>All programs begin with</h3><pre>{IMPORTS}</pre></div>
</div>
</section>
{failed}
{body}
<p class="muted">Made by <code>slipstream tour</code>. Times are the best of several runs unless said otherwise.</p>
</main>
</body>
</html>
"""
