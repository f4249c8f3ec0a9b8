"""Programs in processes of their own, for what must not happen to the tests: hangs, crashes, exits, forks."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass

PRELUDE = """
import os, signal, sys, threading, time
import numpy
from slipstream import engine, errors, np, npx
def slow(seconds, value=1.0):
    return npx.host_call(lambda: (time.sleep(seconds), numpy.float32(value))[1], [], ())
"""


@dataclass
class Ended:
    """How a program ended."""

    code: int
    out: str
    err: str
    seconds: float


def run(program: str, timeout: float = 60, check: bool = True, **environment: str) -> Ended:
    """Runs a program, which must end in time; with `check` it must also end well."""
    start = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", PRELUDE + textwrap.dedent(program)],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=os.environ | environment,
        )
    except subprocess.TimeoutExpired as late:
        out = (late.stdout or b"").decode() + (late.stderr or b"").decode()
        raise AssertionError(f"did not end in {timeout} s:\n{program}\n{out}") from None
    ended = Ended(done.returncode, done.stdout, done.stderr, time.monotonic() - start)
    if check:
        assert ended.code == 0, f"exit status {ended.code}:\n{program}\n{ended.out}\n{ended.err}"
    return ended
