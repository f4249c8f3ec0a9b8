"""Word vectors: words that appear in the same company get vectors in the same direction (skip-gram)."""

import numpy

from examples.common import Curve, console, learned, settings
from slipstream import autograd, gluon, np
from slipstream.gluon import nn

GROUPS = [["cat", "dog", "bird", "fish"], ["red", "green", "blue", "black"], ["one", "two", "three", "four"]]


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    rng = numpy.random.default_rng(1)
    words = [word for group in GROUPS for word in group]
    centre, context = nn.Embedding(len(words), 8), nn.Embedding(len(words), 8)
    for table in (centre, context):
        table.initialize("normal")
    both = {f"{i}_{k}": p for i, t in enumerate((centre, context)) for k, p in t.collect_params().items()}
    trainer = gluon.Trainer(both, "adam", {"learning_rate": 0.02})
    loss_of = gluon.loss.SigmoidBCELoss()
    curve = Curve("word vectors", options)
    for _ in curve.steps(5 if options.quick else 250):
        group, a, b = rng.integers(3, size=128), rng.integers(4, size=128), rng.integers(4, size=128)
        pairs = numpy.stack([group * 4 + a, group * 4 + b], axis=1)
        noise = numpy.stack([pairs[:, 0], rng.integers(len(words), size=128)], axis=1)
        both_kinds = np.array(numpy.concatenate([pairs, noise]))
        real = np.concatenate([np.ones(128), np.zeros(128)])
        with autograd.record():
            scores = (centre(both_kinds[:, 0]) * context(both_kinds[:, 1])).sum(axis=1)
            loss = loss_of(scores, real)
        loss.backward()
        trainer.step(256)
        curve.add(loss)
    vectors = centre.weight.data()
    unit = vectors / np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    near = np.dot(unit, unit.T).asnumpy()
    for word in ("cat", "green", "three"):
        order = numpy.argsort(-near[words.index(word)])[1:4]
        console.print(f"nearest to {word}:", ", ".join(words[i] for i in order))
    learned(curve)


if __name__ == "__main__":
    main()
