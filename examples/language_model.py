"""A language model: a GRU that learns to continue a text letter by letter."""

from typing import Any

from examples.common import Curve, console, learned, settings
from slipstream import autograd, gluon, np, npx
from slipstream.gluon import nn, rnn

TEXT = "the array waits for no one; the engine runs behind; who looks at a value waits for it alone. " * 40


class Model(nn.Block):
    """Letters to scores of the next letter."""

    def __init__(self, letters: int, hidden: int) -> None:
        super().__init__()
        self.letters = letters
        self.gru = rnn.GRU(hidden)
        self.out = nn.Dense(letters, flatten=False)

    def forward(self, x: Any, state: Any) -> Any:
        y, state = self.gru(npx.one_hot(x.T, self.letters), state)
        return self.out(y), state


def continued(net: Model, start: str, length: int, letters: list[str]) -> str:
    """The text that the model adds to a beginning."""
    state, text = net.gru.begin_state(batch_size=1), start
    for i in range(len(start) + length - 1):
        scores, state = net(np.array([[letters.index(text[i])]]), state)
        if i + 1 >= len(start):
            text += letters[int(scores[-1, 0].argmax())]
    return text


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    letters = sorted(set(TEXT))
    places = np.array([letters.index(c) for c in TEXT])
    net = Model(len(letters), 64)
    net.initialize("xavier")
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    batch, steps = 16, 24
    curve = Curve("language model", options)
    for step in curve.steps(3 if options.quick else 120):
        begin = [(step * 7 + i * 211) % (len(TEXT) - steps - 1) for i in range(batch)]
        x = np.stack([places[b : b + steps] for b in begin])
        y = np.stack([places[b + 1 : b + steps + 1] for b in begin])
        with autograd.record():
            scores, _ = net(x, net.gru.begin_state(batch_size=batch))
            loss = loss_of(scores.reshape(-1, len(letters)), y.T.reshape(-1))
        loss.backward()
        gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 5.0, check_isfinite=False)
        trainer.step(batch * steps)
        curve.add(loss)
    console.print(repr(continued(net, "the en", 8 if options.quick else 60, letters)))
    learned(curve, 0.5)


if __name__ == "__main__":
    main()
