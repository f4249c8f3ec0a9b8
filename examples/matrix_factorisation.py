"""Matrix factorisation: guesses ratings from a few numbers for each person and each film."""

from examples.common import Curve, console, learned, settings
from slipstream import autograd, gluon, np
from slipstream.gluon import metric, nn


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    people, films, n = 200, 100, 400 if options.quick else 8000
    taste, kind = np.random.normal(size=(people, 3)), np.random.normal(size=(films, 3))
    person, film = np.random.randint(0, people, size=n), np.random.randint(0, films, size=n)
    rating = (taste[person] * kind[film]).sum(axis=1) + 3 + np.random.normal(0, 0.1, size=n)
    p, q, bias = nn.Embedding(people, 4), nn.Embedding(films, 4), nn.Embedding(films, 1)
    for table in (p, q, bias):
        table.initialize("normal")
    parameters = {f"{i}_{k}": v for i, t in enumerate((p, q, bias)) for k, v in t.collect_params().items()}
    trainer = gluon.Trainer(parameters, "adam", {"learning_rate": 0.02})
    loss_of, error = gluon.loss.L2Loss(), metric.RMSE()
    data = gluon.data.ArrayDataset(person, film, rating)
    loader = gluon.data.DataLoader(data, batch_size=200, shuffle=True)
    curve = Curve("matrix factorisation", options)
    for _ in curve.steps(1 if options.quick else 15):
        error.reset()
        for u, i, r in loader:
            with autograd.record():
                guess = (p(u) * q(i)).sum(axis=1) + bias(i).reshape(-1)
                loss = loss_of(guess, r)
            loss.backward()
            trainer.step(len(r))
            curve.add(loss)
            error.update(r, guess)
    console.print("root mean squared error of the last pass", round(error.get()[1], 3))
    learned(curve, 0.3)


if __name__ == "__main__":
    main()
