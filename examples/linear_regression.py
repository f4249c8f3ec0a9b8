"""Linear regression: finds the weights that made noisy data, from nothing but np and autograd."""

from examples.common import Curve, console, learned, settings
from slipstream import autograd, np


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    true_w, true_b = np.array([2.0, -3.4]), 4.2
    features = np.random.normal(size=(1000, 2))
    labels = np.dot(features, true_w) + true_b + np.random.normal(0, 0.01, size=1000)
    w, b = np.random.normal(0, 0.01, size=2), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    curve = Curve("linear regression", options)
    for step in curve.steps(20 if options.quick else 300):
        begin = step * 10 % 1000
        x, y = features[begin : begin + 10], labels[begin : begin + 10]
        with autograd.record():
            loss = ((np.dot(x, w) + b - y) ** 2 / 2).mean()
        loss.backward()
        for parameter in (w, b):
            parameter -= 0.1 * parameter.grad
        curve.add(loss)
    console.print("weights", w, "bias", b)
    learned(curve, 0.05)


if __name__ == "__main__":
    main()
