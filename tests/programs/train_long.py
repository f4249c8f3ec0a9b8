"""Steps of training in a row, and the resident memory after a tenth of them and at their end: `train_long.py STEPS`."""

import sys
from pathlib import Path

from slipstream import autograd, engine, gluon, np, npx
from slipstream.gluon import nn


def resident() -> int:
    """Pages of this process that are in memory."""
    npx.waitall()
    return int(Path("/proc/self/statm").read_text().split()[1])


def main(steps: int) -> None:
    np.random.seed(1)
    net = nn.Sequential()
    net.add(nn.Dense(16, activation="relu"), nn.Dense(4))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    loss_of = gluon.loss.L2Loss()
    early, total = 0, np.zeros(())
    with engine.pace(1) as pace:
        for step in range(steps):
            x = np.random.normal(size=(8, 6))
            with autograd.record():
                loss = loss_of(net(x), x[:, :4])
            loss.backward()
            trainer.step(8)
            total += loss.mean()
            pace.step()
            if step == steps // 10:
                early = resident()
    if not float(total) < 10 * steps:
        raise SystemExit(f"the losses add up to {float(total)}")
    print(early, resident())


if __name__ == "__main__":
    main(int(sys.argv[1]))
