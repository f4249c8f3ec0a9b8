"""Generative adversarial networks: one makes points, the other learns to tell them from real ones."""

from examples.common import Curve, console, settings
from slipstream import autograd, gluon, np
from slipstream.gluon import nn


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    matrix, shift = np.array([[1.0, 2.0], [-0.1, 0.5]]), np.array([1.0, 2.0])
    real = np.dot(np.random.normal(size=(1000, 2)), matrix) + shift
    make = nn.Dense(2)
    judge = nn.Sequential()
    judge.add(nn.Dense(5, activation="tanh"), nn.Dense(3, activation="tanh"), nn.Dense(1))
    for net in (make, judge):
        net.initialize("xavier")
    # A short memory of gradients keeps the two from circling around each other.
    of_make = gluon.Trainer(make.collect_params(), "adam", {"learning_rate": 0.005, "beta1": 0.5})
    of_judge = gluon.Trainer(judge.collect_params(), "adam", {"learning_rate": 0.05, "beta1": 0.5})
    loss_of, batch = gluon.loss.SigmoidBCELoss(), 100
    ones, zeros = np.ones((batch, 1)), np.zeros((batch, 1))
    curve = Curve("GAN (the maker's loss)", options)
    for step in curve.steps(5 if options.quick else 1200):
        x, noise = real[step * batch % 1000 :][:batch], np.random.normal(size=(batch, 2))
        with autograd.record():
            loss = (loss_of(judge(x), ones) + loss_of(judge(make(noise).detach()), zeros)) / 2
        loss.backward()
        of_judge.step(batch)
        with autograd.record():
            loss = loss_of(judge(make(noise)), ones)
        loss.backward()
        of_make.step(batch)
        curve.add(loss)
    made = make(np.random.normal(size=(1000, 2)))
    console.print("mean of real points", real.mean(axis=0).tolist(), "and of made ones", made.mean(axis=0).tolist())
    away = float(abs(made.mean(axis=0) - real.mean(axis=0)).max())
    if not options.quick and away > 0.6:
        raise SystemExit(f"GAN: the made points are {away:.2f} away from the real ones")


if __name__ == "__main__":
    main()
