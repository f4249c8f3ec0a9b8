"""`python -m benchmarks [NAME...]`: measures, prints tables, writes bench.json and bench.html."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from . import picture, report
from .install import interpreters
from .peers import PEERS
from .results import Row, as_json, from_json
from .runner import ROOT, Effort, Runner
from .workload import OURS, Workload, find


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    others = [name for name in PEERS if name != OURS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="workloads or families; all if none is named")
    parser.add_argument("--list", action="store_true", help="list the workloads")
    parser.add_argument("--peers", default=",".join(others), help=f"who runs beside us, of {','.join(others)}")
    parser.add_argument("--rounds", type=int, default=Effort.rounds, help="turns that each contender has at least")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one turn each: to see that all runs")
    parser.add_argument("--out", type=Path, default=ROOT, help="the folder for bench.json and bench.html")
    parser.add_argument("--from", dest="saved", type=Path, help="measure nothing: report what this bench.json holds")
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/speed.md")
    parser.add_argument("--update-docs", action="store_true", help="write it there, and its headlines into README.md")
    found = parser.parse_args(given)
    found.peers = [name for name in found.peers.split(",") if name]
    if unknown := [name for name in found.peers if name not in others]:
        parser.error(f"no peer is called {', '.join(unknown)}; there are {', '.join(others)}")
    try:
        found.workloads = find(found.names)
    except LookupError as error:
        parser.error(str(error))
    return found


def measure(
    workloads: Sequence[Workload], peers: Sequence[str], effort: Effort, file: Path, console: Console
) -> dict[str, Any]:
    """Runs everything and writes it to the file, row by row. Ctrl-C ends it with what there is."""
    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    when = time.strftime("%Y-%m-%d %H:%M:%S")
    saved: dict[str, Any] = {
        "when": when,
        "machine": report.machine(),
        "versions": {},
        "peers": list(peers),
        "rows": [],
    }
    with (
        Runner(peers, interpreters(), effort) as runner,
        Progress(*columns, console=console, transient=True) as progress,
    ):
        task = progress.add_task("", total=len(workloads))
        with contextlib.suppress(KeyboardInterrupt):
            for workload in workloads:
                row = runner.measure(workload, lambda text: progress.update(task, description=text))
                saved["versions"] = runner.versions()
                saved["rows"].append(as_json(row))
                file.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n")
                progress.console.print(report.brief(row), markup=False, highlight=False, soft_wrap=True)
                progress.advance(task)
    return saved


def rows_of(saved: dict[str, Any], workloads: Sequence[Workload]) -> list[Row]:
    known = {w.name: w for w in workloads}
    return [from_json(row, known[row["name"]]) for row in saved["rows"] if row["name"] in known]


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(given)
    console = Console() if sys.stdout.isatty() else Console(width=170)
    if options.list:
        for workload in options.workloads:
            console.print(f"{workload.name:<18}{workload.what}", markup=False, highlight=False)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    if options.saved:
        saved = json.loads(options.saved.read_text())
    else:
        effort = Effort(True, 1, 0.0, 0) if options.quick else Effort(rounds=options.rounds)
        file = options.out / "bench.json"
        saved = measure(options.workloads, options.peers, effort, file, Console(stderr=True))
    rows = rows_of(saved, options.workloads)
    (options.out / "bench.html").write_text(picture.page(saved, rows))
    if options.markdown:
        print(report.markdown(saved, rows))
    else:
        report.show(saved, rows, saved["peers"], console)
    if options.update_docs:
        report.update_docs(ROOT / "README.md", ROOT / "docs" / "speed.md", saved, rows)
    return int(any(OURS in row.reasons for row in rows))


if __name__ == "__main__":
    sys.exit(main())
