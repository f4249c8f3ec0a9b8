"""Residual blocks: each adds what it finds to what it got, and normalises batches on the way."""

from typing import Any

from examples.common import Curve, console, learned, settings
from examples.images import shapes
from slipstream import autograd, gluon, np, npx
from slipstream.gluon import metric, nn


class Residual(nn.HybridBlock):
    """Two convolutions beside a short cut."""

    def __init__(self, channels: int, strides: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2D(channels, kernel_size=3, padding=1, strides=strides)
        self.conv2 = nn.Conv2D(channels, kernel_size=3, padding=1)
        self.short = nn.Conv2D(channels, kernel_size=1, strides=strides) if strides > 1 else None
        self.norm1, self.norm2 = nn.BatchNorm(), nn.BatchNorm()

    def forward(self, x: Any) -> np.ndarray:
        y = self.norm2(self.conv2(npx.relu(self.norm1(self.conv1(x)))))
        return npx.relu(y + (x if self.short is None else self.short(x)))


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    x, y = shapes(32 if options.quick else 512, 32, channels=3)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, kernel_size=3, padding=1),
        nn.BatchNorm(),
        nn.Activation("relu"),
        Residual(16),
        Residual(32, strides=2),
        Residual(64, strides=2),
        nn.GlobalAvgPool2D(),
        nn.Dense(4),
    )
    net.initialize("xavier")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    loss_of, accuracy = gluon.loss.SoftmaxCrossEntropyLoss(), metric.Accuracy()
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=32, shuffle=True)
    curve = Curve("residual network", options)
    for _ in curve.steps(1 if options.quick else 3):
        accuracy.reset()
        for features, labels in loader:
            with autograd.record():
                scores = net(features)
                loss = loss_of(scores, labels)
            loss.backward()
            trainer.step(len(labels))
            curve.add(loss)
            accuracy.update(labels, scores)
    console.print("accuracy of the last pass", round(accuracy.get()[1], 3))
    learned(curve)


if __name__ == "__main__":
    main()
