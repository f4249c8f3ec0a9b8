"""Measures which lines of core/engine the C++ tests reach. Prints each file's share and the lines that are missing, and
fails under the goal.

Only core/engine is instrumented, and everything else is compiled without optimisation: this is quick enough for
`make test`. Needs nothing but gcov, which comes with g++.
"""

import json
import subprocess
import sys
from collections import defaultdict
from itertools import count, groupby
from pathlib import Path

import variant

GOAL = 90
ENGINE = variant.ROOT / "core/engine"


def count_lines(folder: Path) -> dict[str, dict[int, int]]:
    """For each file of core/engine, how often each of its lines of code ran. A header's counts are added up."""
    counts: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    notes = sorted(folder.glob("core/**/engine/*.gcno"))
    answer = subprocess.check_output(["gcov", "--json-format", "--stdout", *notes], cwd=folder, text=True)
    for unit in map(json.loads, answer.splitlines()):
        for file in unit["files"]:
            if Path(file["file"]).parent == ENGINE:
                for line in file["lines"]:
                    counts[Path(file["file"]).name][line["line_number"]] += line["count"]
    return counts


def ranges(lines: list[int]) -> str:
    """3, 5-7 for 3, 5, 6, 7."""
    number = count()
    runs = [list(run) for _, run in groupby(lines, lambda line: line - next(number))]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def report(counts: dict[str, dict[int, int]]) -> float:
    """Prints the table; gives the share of all lines in percent."""
    lines = reached = 0
    print(f"{'core/engine':16}{'lines':>6}{'reached':>9}{'':7}not reached")
    for name, file in sorted(counts.items()):
        missing = sorted(line for line, times in file.items() if not times)
        lines, reached = lines + len(file), reached + len(file) - len(missing)
        share = 100 * (1 - len(missing) / len(file))
        print(f"{name:16}{len(file):6}{len(file) - len(missing):9}{share:5.0f}% {ranges(missing)}".rstrip())
    print(f"{'all':16}{lines:6}{reached:9}{100 * reached / lines:5.1f}%")
    return 100 * reached / lines


def main() -> int:
    folder = variant.build("coverage", "core_tests")
    for old in folder.rglob("*.gcda"):
        old.unlink()
    if failed := variant.run_core("coverage", []):
        return failed
    share = report(count_lines(folder))
    if share < GOAL:
        print(f"the tests must reach {GOAL}% of the lines")
    return share < GOAL


if __name__ == "__main__":
    sys.exit(main())
