"""Results for people: tables in the terminal, the README's table, and the machine they come from."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from .peers import PEERS, THREADS
from .results import ASYNC_OVER_SYNC, ON_SYNC, WITHOUT_SKIPPING, Row, Verdict, key, title, verdicts
from .workload import COMPILED, OURS

BEGIN = "<!-- speed table: `python -m benchmarks --update-docs` writes it -->"
END = "<!-- end of the speed table -->"
COLOURS = {"met": "green", "missed": "red", "met by skipping": "yellow"}


def duration(seconds: float | None) -> str:
    """Three digits and a unit."""
    if seconds is None:
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{three(seconds / size)} {unit}"
    return f"{three(seconds / 1e-9)} ns"


def three(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def quotient(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if value < 0.1 else three(value)


def size(number: int | None) -> str:
    """Bytes in MB, in brackets; nothing if they are not known."""
    return "" if number is None else f" ({three(number / 1e6)} MB)"


def figure(row: Row, key: str | None, verdict: Verdict) -> str:
    """A contender's time, or its memory where the goal is about that."""
    if key is None:
        return "–"
    memory = row.memory(key)
    return f"{three(memory / 1e6)} MB" if verdict.limit.memory and memory else duration(row.seconds(key))


def both(verdict: Verdict) -> str:
    """The ratio, and in brackets that with skipping off."""
    beside = "" if verdict.without_skipping is None else f" ({quotient(verdict.without_skipping)})"
    return quotient(verdict.ratio) + beside


# ---- the machine


def machine() -> dict[str, Any]:
    """Where the figures come from."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "python": platform.python_version(),
        "load before": os.getloadavg()[0],
    }


def processor() -> str:
    """Its name, and which vectors it has: names of virtual machines say little."""
    info = Path("/proc/cpuinfo")
    fields = {}
    for line in info.read_text().splitlines() if info.exists() else []:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    flags = fields.get("flags", "").split()
    vectors = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "")
    return " with ".join(filter(None, [fields.get("model name") or platform.machine(), vectors]))


def sentence(machine: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    libraries = ", ".join(f"{PEERS[name].title} {version}" for name, version in versions.items())
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}, "
        f"Python {machine['python']}; {THREADS} threads each; {libraries}."
    )


def noise(machine: Mapping[str, Any], rows: Sequence[Row] = ()) -> str:
    """A warning where other programs wanted the cores, or the workloads were made tiny."""
    load = machine["load before"]
    busy = f"Other programs were running (load {load:.1f}): take the figures with care." if load > 0.5 else ""
    tiny = "Tiny sizes, one turn each: the figures mean nothing." if any(row.quick for row in rows) else ""
    return " ".join(filter(None, [busy, tiny]))


# ---- tables


def goal_table(rows: Sequence[Row]) -> Table:
    """A line for each goal."""
    table = Table(title="Goals", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("workload", no_wrap=True)
    for name in ("Slipstream", "no skipping", "the peer", "", "ratio", "goal", "verdict", "async / sync"):
        table.add_column(name, justify="left" if name in ("", "goal", "verdict") else "right", no_wrap=True)
    for row in rows:
        *goals, own = verdicts(row)
        for number, verdict in enumerate(goals):
            colour = COLOURS.get(verdict.text, "dim")
            first = number == 0
            table.add_row(
                row.workload.name if first else "",
                figure(row, verdict.ours, verdict),
                duration(row.seconds(WITHOUT_SKIPPING)) if first and row.workload.skips else "",
                figure(row, verdict.peer, verdict),
                title(verdict.peer) if verdict.peer else "",
                both(verdict),
                verdict.limit.text,
                f"[{colour}]{verdict.text}[/]",
                f"[{COLOURS.get(own.text, 'dim')}]{quotient(own.ratio)}[/]" if first else "",
            )
    return table


def time_table(rows: Sequence[Row], peers: Sequence[str]) -> Table:
    """Everybody's best times; eager / compiled where both were run; peak memory where the workload asks for it."""
    memory = "; peak of resident memory over that after import" if any(row.workload.memory for row in rows) else ""
    table = Table(title=f"Times (eager / compiled{memory})", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("workload", no_wrap=True)
    for name in ("Slipstream", "sync engine", *(PEERS[name].title for name in peers)):
        table.add_column(name, justify="right")
    for row in rows:
        cells = [duration(row.seconds(name)) + size(row.memory(name)) for name in (OURS, ON_SYNC)]
        for name in peers:
            compiled = row.seconds(key(name, COMPILED))
            beside = f" / {duration(compiled)}" if compiled else ""
            cells.append(duration(row.seconds(name)) + beside + size(row.memory(name)))
        table.add_row(row.workload.name, *cells)
    return table


def brief(row: Row) -> str:
    """A row in a line, as soon as it is measured."""
    said = [f"{both(v)} ({v.limit.text}: {v.text})" for v in verdicts(row)[:-1]]
    return f"{row.workload.name:<18}{duration(row.seconds(OURS)):>8}{size(row.memory(OURS))}  {'; '.join(said)}"


def failures(rows: Sequence[Row]) -> list[str]:
    """Why there are dashes, each reason once."""
    where: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for contender, reason in row.reasons.items():
            where.setdefault((contender, reason), []).append(row.workload.name)
    found = []
    for (contender, reason), names in where.items():
        which = "all" if len(names) == len(rows) > 1 else ", ".join(names)
        found.append(f"{title(contender)} ({which}): {reason}")
    return found


def summary(rows: Sequence[Row]) -> str:
    judged = [v.text for row in rows for v in verdicts(row)[:-1]]
    counts = ", ".join(f"{judged.count(text)} {text}" for text in dict.fromkeys([*COLOURS, *judged]))
    slow = [row.workload.name for row in rows if (row.async_over_sync or 0) > ASYNC_OVER_SYNC]
    engines = f"slower than the synchronous engine by over 5%: {', '.join(slow)}" if slow else "none slower than sync"
    return f"Goals: {counts}. Asynchronous engine: {engines}."


def split(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Rows with goals, and rows of growing size."""
    growing = [row for row in rows if row.workload.family == "growth"]
    return [row for row in rows if row not in growing], growing


def show(saved: Mapping[str, Any], rows: Sequence[Row], peers: Sequence[str], console: Console) -> None:
    judged, growing = split(rows)
    if judged:
        console.print(goal_table(judged))
        console.print(time_table(judged, peers))
    if growing:
        beside = [name for name in peers if name in growing[0].workload.only]
        console.print(time_table(growing, beside))
    for line in failures(rows):
        console.print(f"– {line}", markup=False, highlight=False)
    console.print(sentence(saved["machine"], saved["versions"]), markup=False, highlight=False)
    for line in filter(None, [noise(saved["machine"], rows), summary(judged) if judged else ""]):
        console.print(line, markup=False, highlight=False)


# ---- the README and the page of all figures


def markdown(saved: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """A table for a page of the documentation, between its marks."""
    lines = [
        BEGIN,
        "",
        "| workload | Slipstream | best of the goal's peers | ratio | goal |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for row in split(rows)[0]:
        for verdict in verdicts(row)[:-1]:
            peer = f"{title(verdict.peer)} {figure(row, verdict.peer, verdict)}" if verdict.peer else "–"
            ours = figure(row, verdict.ours, verdict)
            what = f"**{row.workload.name}**: {row.workload.what}"
            ratio = both(verdict) + ("" if verdict.text != "missed" else " ✗")
            lines.append(f"| {what} | {ours} | {peer} | {ratio} | {verdict.limit.text} |")
    note = "Ratios are to the best of the peers a goal names; in brackets, with the skipping of unread work off."
    lines += [
        "",
        note,
        " ".join(filter(None, [sentence(saved["machine"], saved["versions"]), noise(saved["machine"], rows)])),
    ]
    return "\n".join([*lines, "", END])


def update_docs(readme: Path, page: Path, saved: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Writes the headlines into the README and every row into the page of all figures."""
    replace_table(readme, markdown(saved, [row for row in rows if row.workload.headline]))
    replace_table(page, markdown(saved, rows))


def replace_table(page: Path, table: str) -> None:
    """Puts the table in the place of the last one, or at the end in a section of its own."""
    text = page.read_text()
    if BEGIN in text and END in text:
        before, _, rest = text.partition(BEGIN)
        after = rest.partition(END)[2]
        page.write_text(before + table + after)
    else:
        page.write_text(f"{text.rstrip()}\n\n## Speed\n\n{table}\n")
