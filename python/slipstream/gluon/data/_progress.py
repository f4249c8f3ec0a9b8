"""A progress bar over batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

Batch = TypeVar("Batch")


def progress(batches: Iterable[Batch], title: str = "batches") -> Iterator[Batch]:
    """The batches of a loader (or anything else that is gone over), with a progress bar on the standard error.

    It counts what the program has asked for; nothing waits for what is computed from it.

    >>> from slipstream.gluon.data import DataLoader, progress
    >>> for x in progress(DataLoader(np.arange(4), batch_size=2), "an epoch"):
    ...     print(x)
    [0. 1.]
    [2. 3.]
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False) as bar:
        task = bar.add_task(title, total=len(batches) if isinstance(batches, Sized) else None)
        for batch in batches:
            yield batch
            bar.advance(task)
