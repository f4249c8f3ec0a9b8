"""Samplers: in which order, and in which groups, the items of a dataset are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._draws import generator


class Sampler:
    """The base of all samplers: a subclass has `__iter__` and `__len__`.

    >>> issubclass(RandomSampler, Sampler)
    True
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")


class SequentialSampler(Sampler):
    """The numbers from `start` on, in their order.

    >>> list(SequentialSampler(3, start=5))
    [5, 6, 7]
    """

    def __init__(self, length: int, start: int = 0) -> None:
        self._length = length
        self._start = start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """All numbers below `length` in random order, another one each time.

    >>> sorted(RandomSampler(3))
    [0, 1, 2]
    """

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        return iter(generator().permutation(self._length).tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The numbers of the items for which `fn` is true. Looks at every item now.

    >>> list(FilterSampler(lambda x: x > 1, [0, 3, 1, 4]))
    [1, 3]
    """

    def __init__(self, fn: Callable[[Any], Any], dataset: Any) -> None:
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class IntervalSampler(Sampler):
    """Every `interval`-th number; with `rollover` those left out follow, from each start in turn.

    >>> list(IntervalSampler(5, interval=2))
    [0, 2, 4, 1, 3]
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if not 1 <= interval <= length:
            raise ValueError(f"IntervalSampler: interval {interval} is not between 1 and the length {length}")
        self._length = length
        self._interval = interval
        self._starts = interval if rollover else 1

    def __iter__(self) -> Iterator[int]:
        for start in range(self._starts):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length if self._starts > 1 else len(range(0, self._length, self._interval))


class BatchSampler(Sampler):
    """Groups of `batch_size` numbers of another sampler.

    `last_batch` says what becomes of a last one that is too short: `"keep"`, `"discard"`, or `"rollover"` to the next
    pass.

    >>> list(BatchSampler(SequentialSampler(5), 2, "keep"))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        if batch_size < 1:
            raise ValueError(f"BatchSampler: batch_size must be at least 1, not {batch_size}")
        if last_batch not in ("keep", "discard", "rollover"):
            raise ValueError(f"BatchSampler: last_batch {last_batch!r} is none of 'keep', 'discard', 'rollover'")
        self._sampler: Iterable[int] = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._left: list[int] = []

    def __iter__(self) -> Iterator[list[int]]:
        batch, self._left = self._left, []
        for i in self._sampler:
            batch.append(i)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif batch and self._last_batch == "rollover":
            self._left = batch

    def __len__(self) -> int:
        length = len(self._sampler) + len(self._left)  # type: ignore[arg-type]
        whole, rest = divmod(length, self._batch_size)
        return whole + (rest > 0 and self._last_batch == "keep")
