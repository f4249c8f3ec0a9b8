"""LeNet: a convolutional network that tells shapes apart, hybridized."""

from examples.common import Curve, console, learned, settings
from examples.images import shapes
from slipstream import autograd, gluon, np
from slipstream.gluon import metric, nn


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    n = 64 if options.quick else 2048
    train, test = shapes(n, 28, seed=1), shapes(n // 4, 28, seed=2)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(6, kernel_size=5, padding=2, activation="relu"),
        nn.MaxPool2D(pool_size=2, strides=2),
        nn.Conv2D(16, kernel_size=5, activation="relu"),
        nn.MaxPool2D(pool_size=2, strides=2),
        nn.Dense(120, activation="relu"),
        nn.Dense(84, activation="relu"),
        nn.Dense(4),
    )
    net.initialize("xavier")
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.002})
    loss_of, accuracy = gluon.loss.SoftmaxCrossEntropyLoss(), metric.Accuracy()
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(*train), batch_size=64, shuffle=True)
    curve = Curve("LeNet", options)
    for _ in curve.steps(1 if options.quick else 4):
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(y))
            curve.add(loss)
    accuracy.update(test[1], net(test[0]))
    console.print("accuracy on other images", round(accuracy.get()[1], 3))
    learned(curve)


if __name__ == "__main__":
    main()
