"""A loop that never waits: 10,000 results of 64 MB with 512 MB allowed in flight. Prints the peaks of memory.

bounded_memory.py [--times N] [--loop NAME] [--all]
"""

import argparse
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/faults"))

from bounded import LOOPS, measure

MB = 1 << 20
RESULT, LIMIT = 64 * MB, 512 * MB


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--loop", choices=LOOPS, default="windowed")
    parser.add_argument("--all", action="store_true", help="every loop, one after another")
    options = parser.parse_args()
    beyond = 0
    for loop in LOOPS if options.all else [options.loop]:
        start = time.monotonic()
        peaks = measure(loop, RESULT, options.times, LIMIT)
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{loop}: {options.times} results of {RESULT // MB} MB in {time.monotonic() - start:.0f} s", end="; ")
        print(f"at most {peaks['flight'] / MB:.0f} MB in flight, {peaks['memory'] / MB:.0f} MB of memory", end=" ")
        print(f"where {LIMIT // MB} MB are allowed; the process took {rss:.0f} MB", flush=True)
        beyond += peaks["flight"] > LIMIT or peaks["memory"] > LIMIT
    return bool(beyond)


if __name__ == "__main__":
    sys.exit(main())
