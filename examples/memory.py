"""The book's memory experiment: the same training with a barrier each batch, one batch of overlap, and none."""

import argparse
import time

from rich.table import Table

from examples.common import Curve, console, learned, settings
from slipstream import autograd, engine, gluon, np, npx
from slipstream.gluon import nn

WAITS = {"barrier": "for every batch", "pace": "engine.pace(1)", "free": "only at the end"}


def trained(kind: str, batches: int, rows: int, options: argparse.Namespace) -> tuple[float, int, Curve]:
    """Seconds, peak bytes and losses of a training that waits in one of three ways."""
    curve = Curve(f"waits {WAITS[kind]}", options)
    np.random.seed(1)
    net = nn.Sequential()
    net.add(nn.Dense(2048, activation="relu"), nn.Dense(512, activation="relu"), nn.Dense(1))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001})
    loss_of = gluon.loss.L2Loss()
    net(np.zeros((1, 512)))
    npx.waitall()
    engine.reset_peaks()
    start = time.perf_counter()
    with engine.pace(1) as pace:
        for _ in curve.progress(batches):
            x, y = np.random.normal(size=(rows, 512)), np.ones((rows,))
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(rows)
            curve.add(loss)
            if kind == "barrier":
                npx.waitall()
            elif kind == "pace":
                pace.step()
    npx.waitall()
    return time.perf_counter() - start, engine.memory()["peak"], curve


def main() -> None:
    options = settings(__doc__ or "")
    batches, rows = (3, 64) if options.quick else (150, 1024)
    table = Table("waits", "seconds", "peak memory", title=f"{batches} batches of {rows} x 512 through 2048-512-1")
    losses = []
    for kind, words in WAITS.items():
        seconds, peak, curve = trained(kind, batches, rows, options)
        losses.append(curve.values())
        table.add_row(words, f"{seconds:.2f}", f"{peak / 2**20:.1f} MiB")
    if losses[0] != losses[1] or losses[0] != losses[2]:
        raise SystemExit("waiting changed the losses")
    curve.draw()
    console.print(table)
    learned(curve)


if __name__ == "__main__":
    main()
