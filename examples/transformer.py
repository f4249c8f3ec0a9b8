"""A Transformer's encoder: learns to say a sequence backwards, which takes attention from everywhere to everywhere."""

from typing import Any

from examples.common import Curve, console, learned, settings
from slipstream import autograd, gluon, np
from slipstream.gluon import nn


class Block(nn.HybridBlock):
    """Attention and a small network, each beside a short cut and normalised."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Dense(width, flatten=False, use_bias=False) for _ in range(3))
        self.mix = nn.Dense(width, flatten=False)
        self.wide, self.narrow = nn.Dense(4 * width, flatten=False, activation="relu"), nn.Dense(width, flatten=False)
        self.norm1, self.norm2 = nn.LayerNorm(), nn.LayerNorm()

    def split(self, x: np.ndarray) -> np.ndarray:
        n, length, width = x.shape
        return x.reshape(n, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def attend(self, x: np.ndarray) -> np.ndarray:
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = np.matmul(q, k.transpose(0, 1, 3, 2)) * (q.shape[-1] ** -0.5)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        return self.mix(np.matmul(weights, v).transpose(0, 2, 1, 3).reshape(x.shape))

    def forward(self, x: Any) -> np.ndarray:
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.narrow(self.wide(x)))


class Reverser(nn.HybridBlock):
    """Symbols and their places to scores of symbols."""

    def __init__(self, symbols: int, length: int, width: int = 32) -> None:
        super().__init__()
        self.symbol, self.place = nn.Embedding(symbols, width), nn.Embedding(length, width)
        self.blocks = nn.HybridSequential()
        self.blocks.add(Block(width, 4), Block(width, 4))
        self.out = nn.Dense(symbols, flatten=False)
        self.length = length

    def forward(self, x: Any) -> np.ndarray:
        return self.out(self.blocks(self.symbol(x) + self.place(np.arange(self.length))))


def main() -> None:
    options = settings(__doc__ or "")
    np.random.seed(1)
    symbols, length, batch = 12, 8, 64
    net = Reverser(symbols, length)
    net.initialize("xavier")
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.003})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    curve = Curve("Transformer", options)
    for _ in curve.steps(3 if options.quick else 250):
        x = np.random.randint(0, symbols, size=(batch, length))
        y = np.flip(x, 1)
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(batch)
        curve.add(loss)
    x = np.arange(length).reshape(1, -1)
    console.print(x[0].astype("int32").tolist(), "backwards:", net(x).argmax(axis=-1)[0].tolist())
    learned(curve, 0.5)


if __name__ == "__main__":
    main()
