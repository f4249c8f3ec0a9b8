"""Comparing what the settings of the engine and NumPy make of programs, and making the failures small.

python tests/programs/check.py SEED [SETTING]      shows a program and what comes of it
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import oracle
from generate import generate
from program import Program
from replay import BY_NAME, SETTINGS, SYNC, Setting, difference, run


def compare(program: Program, setting: Setting, times: int = 1) -> str:
    """What differs between the synchronous engine and a setting."""
    with SYNC.applied():
        expected = run(program, SYNC)
    with setting.applied():
        for _ in range(times):
            if found := difference(expected, run(program, setting)):
                return found
    return ""


def shrink(program: Program, fails: Callable[[Program], str], seconds: float = 20) -> Program:
    """A program with as few steps as can be found in some seconds that still fails."""
    end = time.monotonic() + seconds

    def still_fails(candidate: Program) -> bool:
        try:
            return bool(fails(candidate))
        except Exception:  # a name that is used is gone
            return False

    size = max(len(program) // 2, 1)
    while size and time.monotonic() < end:
        smaller = False
        for section in range(len(program.threads), -1, -1):
            start = 0
            while section <= len(program.threads) and time.monotonic() < end:
                steps = (program.steps, *program.threads)[section]
                if start >= len(steps):
                    break
                candidate = program.without(section, start, start + size)
                if still_fails(candidate):
                    program, smaller = candidate, True
                else:
                    start += size
        if not smaller:
            size //= 2
    return program


def report(program: Program, setting: Setting | None, found: str) -> str:
    """What to say of a failure: how to see it again, and a small program that shows it."""
    fails = oracle.disagreement if setting is None else (lambda p: compare(p, setting, times=3))
    small = shrink(program, fails)
    where = "NumPy" if setting is None else setting.name
    again = f"python tests/programs/check.py {program.seed}" + (f" {setting.name!r}" if setting else "")
    return f"program {program.seed} differs ({where})\n{found}\n\n{small}\n\n{again}"


def check_block(seeds: range, settings: tuple[Setting, ...] = SETTINGS, numpy_too: bool = True) -> list[Program]:
    """Runs the programs of some seeds in all settings, and raises a report of the first that differs."""
    programs = [generate(seed) for seed in seeds]
    with SYNC.applied():
        if numpy_too:
            for program in programs:
                if found := oracle.disagreement(program):
                    raise AssertionError(report(program, None, found))
        expected = [run(program, SYNC) for program in programs]
    for setting in settings:
        wrong = None
        with setting.applied():
            for program, bits_of in zip(programs, expected, strict=True):
                if found := difference(bits_of, run(program, setting)):
                    wrong = program, found
                    break
        if wrong:
            raise AssertionError(report(wrong[0], setting, wrong[1]))
    return programs


def main() -> int:
    program = generate(int(sys.argv[1]))
    settings = [BY_NAME[name] for name in sys.argv[2:]] or list(SETTINGS)
    print(program)
    with SYNC.applied():
        print("NumPy:", oracle.disagreement(program) or "agrees")
    for setting in settings:
        print(f"{setting.name}:", compare(program, setting, times=10) or "the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
