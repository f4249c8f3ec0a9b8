"""Measures which lines of core/engine the tests reach: the C++ tests and the Python tests of the engine.

Prints a table, writes build/coverage/report/index.html, and fails under the goal.
"""

import subprocess
import sys
from pathlib import Path

import variant

GOAL = 90
PYTHON_TESTS = "tests/test_engine*.py"


def main() -> int:
    folder = variant.build("coverage", "core_tests")
    for old in folder.rglob("*.gcda"):
        old.unlink()
    failed = variant.run_core("coverage", [])
    tests = map(str, sorted(variant.ROOT.glob(PYTHON_TESTS)))
    failed = failed or variant.run_python("coverage", ["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests])
    if failed:
        return failed
    report = folder / "report"
    report.mkdir(exist_ok=True)
    return subprocess.call(
        [
            *(Path(sys.executable).parent / "gcovr", "--root", variant.ROOT, "--filter", "core/engine/"),
            *("--object-directory", folder, "--merge-mode-functions", "separate", "--txt-metric", "line", "--txt", "-"),
            *("--html-details", report / "index.html", "--fail-under-line", str(GOAL), folder),
        ],
        cwd=variant.ROOT,
    )


if __name__ == "__main__":
    sys.exit(main())
