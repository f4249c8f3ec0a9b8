"""Random programs, each in every setting of the engine, until a million operations have been recorded.

    soak.py [--operations N] [--start BLOCK]

Prints the seeds of each block as it starts, so that a hang or a crash can be seen again:
`python tests/programs/check.py SEED`.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/programs"))

import check
import replay
from generate import generate, seeds

from slipstream import engine

SIZE = 50


def block_of(number: int) -> int:
    """Runs the programs of a block, and a few with many threads; gives the number of their steps."""
    programs = check.check_block(seeds(number, SIZE))
    for seed in seeds(10**6 + number, 2):
        program = generate(seed, least=100, threads=8)
        for name in ("2 workers", "8 workers", "one by one, 8 workers"):
            if found := check.compare(program, replay.BY_NAME[name]):
                raise AssertionError(check.report(program, replay.BY_NAME[name], found))
        programs.append(program)
    return sum(len(program) for program in programs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operations", type=int, default=1_000_000)
    parser.add_argument("--start", type=int, default=int(time.time()) % 10**6, help="number of the first block")
    options = parser.parse_args()
    settings = len(replay.SETTINGS) + 1
    print(f"soak: {options.operations} operations from block {options.start}, {settings} settings", flush=True)
    done, steps, block, began = 0, 0, options.start, time.monotonic()
    while done < options.operations:
        numbers = seeds(block, SIZE)
        print(f"\rblock {block}: seeds {numbers.start}-{numbers.stop - 1} ", end="", flush=True)
        try:
            steps += block_of(block)
        except AssertionError as error:
            print(f"\n{error}")
            return 1
        block += 1
        done = engine.stats()["recorded"]
        seconds = time.monotonic() - began
        left = (options.operations - done) / done * seconds
        print(f"{done:9} operations, {done / seconds:6.0f} a second, {max(left, 0):5.0f} s left ", end="", flush=True)
    print(f"\n{block - options.start} blocks of {steps} steps, {done} operations recorded, no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
