"""Measures how soon Ctrl-C ends each kind of wait, with the waits of tests/faults/test_interrupt.py and `await`.

    interrupts.py [--times N] [NAME ...]

Prints the median and the longest time of each. Fails where one of them is beyond the goal, where an interrupt was lost,
or where the engine did not work as before afterwards. For an idle machine: on another, its other programs are measured.
"""

import argparse
import json
import signal
import statistics
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/faults"))

from child import run
from test_interrupt import MAY_FINISH, PROGRAM, WAITS

GOAL = 100  # ms
AWAIT = "import asyncio\nasync def until(x): await x\nx = slow(0.7, 3) + 1"
ALL = WAITS | {"await": (AWAIT, "asyncio.run(until(x))", "x.item() == 4")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ALL)}")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    waits = {name: ALL[name] for name in options.names or ALL}
    seen: dict[str, list[float]] = defaultdict(list)
    wrong: list[str] = []
    for number in range(options.times):
        print(f"\r{number} of {options.times} ", end="", flush=True)
        for line in run(PROGRAM, timeout=300, WAITS=json.dumps(waits)).out.splitlines():
            if not line.startswith("{"):
                continue  # what a wait printed
            for name, (milliseconds, works, kept) in json.loads(line).items():
                if milliseconds is not None:
                    seen[name].append(milliseconds)
                elif name not in MAY_FINISH:
                    wrong.append(f"{name}: the interrupt was lost")
                if not (works and kept):
                    wrong.append(f"{name}: {'another value' if works else 'the engine does not compute any more'}")
    print(f"\r{'wait':28}{'times':>6}{'median':>10}{'longest':>10}")
    for name, times in seen.items():
        median = statistics.median(times)
        print(f"{name:28}{len(times):6}{median:7.1f} ms{max(times):7.1f} ms")
        if beyond := sorted(t for t in times if t > GOAL):
            wrong.append(f"{name}: {len(beyond)} of {len(times)} beyond {GOAL} ms, the longest {beyond[-1]:.0f} ms")
    worst, name = max((max(times), name) for name, times in seen.items())
    print("\n".join(wrong) or f"every one is within {GOAL} ms; the longest: {worst:.1f} ms ({name})")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
