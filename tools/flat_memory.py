"""Resident memory of a training loop: flat, whether it waits for every batch, runs one batch ahead, or never waits.

    flat_memory.py [--steps N] [--within PART] [LOOP ...]

Each loop has a process of its own. Prints pages in every tenth of the steps, the middle one of many looks: what is in
flight comes and goes by a megabyte or two. Fails where there are more in the last tenth than in the first, by more than
the part allowed. A loop that never waits first runs ahead as far as it may, some times,
with all workers held (`engine.limits`): how far it gets is otherwise chance.
"""

import argparse
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable

from slipstream import autograd, engine, gluon, np, npx
from slipstream.gluon import nn

LOOK_EVERY = 10  # steps
LOOPS = {"barrier": "waits for every batch", "pace": "engine.pace(1)", "free": "never waits"}


def pages() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


def run_ahead(one_step: Callable[[], None]) -> None:
    before = engine.stats()["recorded"]
    one_step()
    most = engine.limits()["ops"] - 2 * (engine.stats()["recorded"] - before)  # past the limit it would wait for ever
    gate = threading.Event()
    for _ in range(engine.workers()):
        npx.host_call(lambda: float(gate.wait()), [], ())
    for _ in range(1000):  # fewer are enough, if calls are left to the workers
        if engine.stats()["in_flight_ops"] > most:
            break
        one_step()
    gate.set()
    npx.waitall()


def train(loop: str, steps: int, within: float) -> bool:
    np.random.seed(1)
    net = nn.Sequential()
    net.add(nn.Dense(256, activation="relu"), nn.Dense(64, activation="relu"), nn.Dense(10))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.001})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    x, y = np.random.normal(size=(64, 100)), np.zeros(64)

    def one_step() -> None:
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(64)

    if loop == "free":
        for _ in range(10):
            run_ahead(one_step)
    print(f"{loop} ({LOOPS[loop]}):", end="", flush=True)
    marks, looks = [], []
    with engine.pace(1) as pace:
        for step in range(1, steps + 1):
            one_step()
            if loop == "barrier":
                npx.waitall()
            elif loop == "pace":
                pace.step()
            if step % LOOK_EVERY == 0:
                looks.append(pages())
            if step % (steps // 10) == 0:
                marks.append(statistics.median_low(looks))
                looks.clear()
                print(f" {marks[-1]}", end="", flush=True)
    npx.waitall()
    ratio = marks[-1] / marks[0]
    print(f" pages of {os.sysconf('SC_PAGE_SIZE')} bytes, last / first {ratio:.3f}", flush=True)
    return ratio <= 1 + within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loops", nargs="*", metavar="LOOP", help=f"of {', '.join(LOOPS)}; all if none is named")
    parser.add_argument("--steps", type=int, default=10_000, help=f"{10 * LOOK_EVERY} or more")
    parser.add_argument("--within", type=float, default=0.02)
    options = parser.parse_args()
    if unknown := set(options.loops) - set(LOOPS):
        parser.error(f"there is no loop {', '.join(sorted(unknown))}; there are {', '.join(LOOPS)}")
    if len(options.loops) == 1:
        return not train(options.loops[0], options.steps, options.within)
    settings = ["--steps", str(options.steps), "--within", str(options.within)]
    runs = [subprocess.run([sys.executable, __file__, loop, *settings]) for loop in options.loops or LOOPS]
    return any(run.returncode for run in runs)


if __name__ == "__main__":
    sys.exit(main())
