"""The command `slipstream tour`: runs the experiments with progress, writes the page, and prints what came out."""

from __future__ import annotations

import argparse
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from slipstream import engine

from . import experiments, page, story
from .experiments import QUICK, Say, Sizes
from .measure import Machine, give_back_memory, machine
from .story import Section

Step = Callable[[Sizes, Say, Machine], Section]

STEPS: dict[str, Step] = {
    "ten products": lambda sizes, say, here: story.tell_products(experiments.products(sizes, say)),
    "ways to wait": lambda sizes, say, here: story.tell_waits(experiments.waits(sizes, say)),
    "small calls": lambda sizes, say, here: story.tell_increments(experiments.increments(sizes, say)),
    "running ahead": lambda sizes, say, here: story.tell_run_ahead(experiments.run_ahead(sizes, say)),
    "a timeline": lambda sizes, say, here: story.tell_timeline(experiments.timeline(sizes, say)),
    "a graph": lambda sizes, say, here: story.tell_graph(experiments.graph(sizes, say)),
    "Python stays free": lambda sizes, say, here: story.tell_responsive(experiments.responsive(sizes, say)),
    "two devices": lambda sizes, say, here: story.tell_devices(experiments.devices(sizes, say), here.cores),
}


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slipstream tour",
        description="Runs experiments on asynchronous computation on this machine, in under two minutes, and writes a "
        "page with pictures of what came out.",
    )
    parser.add_argument("--output", type=Path, default=Path("tour.html"), help="where the page goes (tour.html)")
    parser.add_argument("--quick", action="store_true", help="everything in small: a few seconds, rough figures")
    parser.add_argument("--open", action="store_true", help="open the page in a browser at the end")
    return parser.parse_args(argv)


def perform(sizes: Sizes, here: Machine, console: Console) -> tuple[list[Section], list[tuple[str, str]]]:
    """All experiments, one after the other. One that fails is told on the page; the others go on."""
    sections: list[Section] = []
    failures: list[tuple[str, str]] = []
    columns = TextColumn("{task.description:<18}"), BarColumn(24), TimeElapsedColumn(), TextColumn("{task.fields[now]}")
    # Drawn when there is something to say, not by a thread of its own: that would be measured too.
    with Progress(*columns, console=console, auto_refresh=False, transient=True) as progress:
        bar = progress.add_task("", total=len(STEPS), now="")
        for title, step in STEPS.items():

            def say(now: str, title: str = title) -> None:
                progress.update(bar, description=title, now=now, refresh=True)

            try:
                sections.append(step(sizes, say, here))
            except Exception as error:
                failures.append((title, f"{type(error).__name__}: {error}"))
            progress.update(bar, advance=1, refresh=True)
    return sections, failures


def results(sections: list[Section], failures: list[tuple[str, str]]) -> Table:
    """What came out, for the terminal."""
    table = Table(show_lines=True)
    for name in ("experiment", "what came out", "results"):
        table.add_column(name)
    for section in sections:
        right = all(check.right for check in section.checks)
        table.add_row(section.title, section.headline.replace("`", ""), "[green]right[/]" if right else "[red]wrong[/]")
    for title, error in failures:
        table.add_row(title, error, "[red]failed[/]")
    return table


def main(argv: list[str]) -> int:
    """Performs the tour and gives the exit status: 0 if every result was right."""
    chosen = arguments(argv)
    console = Console()
    output: Path = chosen.output.absolute()
    if not output.parent.is_dir():
        console.print(f"slipstream tour: there is no folder {output.parent}", style="red")
        return 2
    before = engine.kind()
    if before != "async":
        console.print("The tour is about the asynchronous engine, and uses it instead of the synchronous one.")
    engine.set_kind("async")
    start = time.perf_counter()
    try:
        here = machine()
        console.print(f"{here.processor}, {here.cores} cores, Python {here.python}, NumPy {here.numpy}")
        sections, failures = perform(QUICK if chosen.quick else Sizes(), here, console)
        give_back_memory()
    except KeyboardInterrupt:
        console.print("The tour was stopped; no page was written.")
        return 130
    finally:
        engine.set_kind("sync" if before == "sync" else "async")
    output.write_text(page.render(here, sections, failures, time.perf_counter() - start), encoding="utf-8")
    console.print(results(sections, failures))
    console.print(f"The page: {output}", soft_wrap=True)
    if chosen.open:
        webbrowser.open(output.as_uri())
    return int(bool(failures) or any(not check.right for section in sections for check in section.checks))
