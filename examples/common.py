"""What the examples share: a progress bar, and the curve of the loss in the terminal and as a picture."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from slipstream import np
from slipstream.tour.charts import Axes, Series, lines

BLOCKS = " ▁▂▃▄▅▆▇█"
STYLE = (
    "svg{font-family:sans-serif;background:#fff} .small{font-size:14px} .muted{fill:#666} .grid{stroke:#ddd}"
    " .axis{stroke:#666} .line{fill:none;stroke-width:2} .ours{stroke:#0b6;fill:none}"
)
console = Console()


def settings(what: str) -> argparse.Namespace:
    """The command line of an example."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--quick", action="store_true", help="a tiny setting that only shows that it runs")
    parser.add_argument("--picture", type=Path, help="write the curve of the loss to this SVG file")
    return parser.parse_args()


class Curve:
    """The losses of a training. They stay arrays until the end, so that nothing waits while it runs."""

    def __init__(self, title: str, options: argparse.Namespace) -> None:
        self.title = title
        self.options = options
        self.losses: list[Any] = []

    def progress(self, count: int) -> Iterator[int]:
        """Counts steps, with a progress bar."""
        columns = (TextColumn(self.title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console) as bar:
            task = bar.add_task(self.title, total=count)
            for step in range(count):
                yield step
                bar.advance(task)

    def steps(self, count: int) -> Iterator[int]:
        """Counts steps, with a progress bar; at the end draws the curve."""
        yield from self.progress(count)
        self.draw()

    def add(self, loss: Any) -> None:
        """Notes the loss of a step."""
        self.losses.append(loss.detach().mean() if isinstance(loss, np.ndarray) else loss)

    def values(self) -> list[float]:
        """The losses as numbers. Waits for them."""
        return [float(loss) for loss in self.losses]

    def draw(self) -> None:
        """The curve in a line of the terminal, and as a picture if wanted."""
        values = self.values()
        width = min(56, len(values))  # with both numbers, in a terminal of 80 columns
        ends = [i * len(values) // width for i in range(width + 1)]
        means = [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(ends)]
        low, high = min(means), max(means)
        marks = [BLOCKS[1 + round((v - low) / (high - low or 1) * (len(BLOCKS) - 2))] for v in means]
        console.print(f"loss {values[0]:.4g} [green]{''.join(marks)}[/green] {values[-1]:.4g}")
        if self.options.picture:
            curve = Series("loss", list(enumerate(values)), "line ours")
            picture = lines(self.title, [curve], Axes("step", "loss"))
            head = picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" width="720" ', 1)
            self.options.picture.write_text(head.replace(">", f"><style>{STYLE}</style>", 1))
            console.print(f"wrote {self.options.picture}")


def learned(curve: Curve, factor: float = 0.8) -> None:
    """Says so, and fails, if the loss did not come down."""
    values = curve.values()
    tenth = max(1, len(values) // 10)
    before, after = sum(values[:tenth]) / tenth, sum(values[-tenth:]) / tenth
    if not curve.options.quick and not after < factor * before:
        raise SystemExit(f"{curve.title}: the loss went from {before:.4g} to {after:.4g}")
