"""Softmax regression: tells clouds of points apart, with a layer, a loss, a loader and a metric of gluon."""

from examples.common import Curve, console, learned, settings
from slipstream import autograd, gluon, np
from slipstream.gluon import metric


def clouds(n: int, classes: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Points about centres of their classes."""
    labels = np.random.randint(0, classes, size=n)
    centres = np.random.normal(0, 2, size=(classes, width))
    return centres[labels] + np.random.normal(size=(n, width)), labels


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    x, y = clouds(200 if options.quick else 4000, classes=10, width=20)
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=100, shuffle=True)
    net = gluon.nn.Dense(10)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss_of, accuracy = gluon.loss.SoftmaxCrossEntropyLoss(), metric.Accuracy()
    curve = Curve("softmax regression", options)
    for _ in curve.steps(1 if options.quick else 8):
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
