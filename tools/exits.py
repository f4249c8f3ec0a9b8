"""Starts and ends a thousand interpreters with work in flight, in all the ways of tests/faults/exits.py.

    exits.py [--count N] [--together N]

Prints what went wrong, and the longest and the mean time of each way.
"""

import argparse
import signal
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/faults"))

from child import Ended, run
from exits import EXITS, SECONDS, environment


def attempt(kind: str) -> tuple[str, Ended | None, str]:
    """One interpreter: how it ended, and what was wrong with that."""
    wanted = EXITS[kind]
    try:
        ended = run(wanted.program, timeout=SECONDS + 40, check=False, **environment(kind))
    except AssertionError as late:
        return kind, None, str(late)
    wrong = wanted.code is not None and ended.code != wanted.code
    wrong = wrong or wanted.says not in ended.out or wanted.complains not in ended.err or "Fatal" in ended.err
    return kind, ended, f"status {ended.code}\n{ended.out}\n{ended.err}" if wrong else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--together", type=int, default=4, help="interpreters at a time")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    kinds = [kind for _, kind in zip(range(options.count), (k for _ in iter(int, 1) for k in EXITS), strict=False)]
    times: dict[str, list[float]] = defaultdict(list)
    failures = 0
    with ThreadPoolExecutor(options.together) as pool:
        for done, (kind, ended, wrong) in enumerate(pool.map(attempt, kinds), 1):
            if ended:
                times[kind].append(ended.seconds)
            if wrong:
                failures += 1
                print(f"\n{kind}: {wrong}")
            print(f"\r{done} of {len(kinds)}, {failures} wrong ", end="", flush=True)
    print()
    for kind, seconds in times.items():
        mean = sum(seconds) / len(seconds)
        print(f"{kind:36} {len(seconds):4} times, {mean:5.2f} s, at most {max(seconds):5.2f} s")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
