"""Whole trainings: the same bits on both engines and any number of workers, and memory that stays flat."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"


def printed(program: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(PROGRAMS / program), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_training_gives_the_same_bits_on_both_engines_at_any_number_of_workers() -> None:
    ways = [("sync", "2"), ("async", "1"), ("async", "2"), ("async", "8")]
    found = {
        printed("train_digest.py", SLIPSTREAM_ENGINE=kind, SLIPSTREAM_WORKERS=workers).strip() for kind, workers in ways
    }
    (only,) = found
    assert float(only.split()[0]) >= 0.95


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read as Linux tells it")
def test_ten_thousand_steps_of_training_leave_memory_as_it_was() -> None:
    early, late = map(int, printed("train_long.py", "10000").split())
    assert late <= 1.02 * early
