"""Every example runs, in its tiny setting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = sorted(p.stem for p in (ROOT / "examples").glob("*.py") if p.stem not in ("__init__", "common", "images"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_example(name: str, tmp_path: Path) -> None:
    picture = tmp_path / "curve.svg"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", f"examples.{name}", "--quick", "--picture", str(picture)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "loss " in done.stdout
    assert picture.read_text().startswith("<svg ")
