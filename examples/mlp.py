"""A perceptron with a hidden layer: learns two spirals that no line can part."""

import math

from examples.common import Curve, console, learned, settings
from slipstream import autograd, gluon, np


def spirals(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on two arms of a spiral, and which arm they are on."""
    along = np.random.uniform(0.5, 3, size=n)
    arm = np.random.randint(0, 2, size=n)
    angle = along * 3 + arm.astype("float32") * math.pi
    points = np.stack([along * np.cos(angle), along * np.sin(angle)], axis=1)
    return points + np.random.normal(0, 0.05, size=(n, 2)), arm


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(2)
    x, y = spirals(512)
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(64, activation="tanh"), gluon.nn.Dense(64, activation="tanh"), gluon.nn.Dense(2))
    net.initialize("xavier")
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    curve = Curve("perceptron", options)
    for _ in curve.steps(5 if options.quick else 300):
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(len(y))
        curve.add(loss)
    right = (net(x).argmax(axis=1) == y).astype("float32").mean()
    console.print("right on", f"{100 * float(right):.1f} %")
    learned(curve, 0.3)


if __name__ == "__main__":
    main()
