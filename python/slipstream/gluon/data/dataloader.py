"""Batches of a dataset, made in this thread, by threads, or by other processes."""

from __future__ import annotations

import multiprocessing
import pickle
import queue
import random
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import Any

import numpy

from ... import np
from ..._core import ndarray
from ._draws import generator
from .batchify import default_batchify_fn
from .dataset import ArrayDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

# ---- what a worker process does


class _Failed:
    """What a worker raised, in a form that always travels: the error if it can be pickled, and its traceback."""

    def __init__(self, error: Exception) -> None:
        self.text = "".join(traceback.format_exception(error))
        try:
            self.error: Exception = pickle.loads(pickle.dumps(error))
        except Exception:
            self.error = RuntimeError(f"{type(error).__name__}: {error}")


def _each(change: Callable[[Any], Any], tree: Any) -> Any:
    """A batch with its parts changed, in the same lists, tuples (also named ones) and dicts."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*map(change, tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(change, tree))
    return {key: change(part) for key, part in tree.items()} if isinstance(tree, dict) else tree


def _as_numpy(tree: Any) -> Any:
    """A batch without our arrays, which belong to their process."""
    return tree.asnumpy() if isinstance(tree, ndarray) else _each(_as_numpy, tree)


def _as_arrays(tree: Any) -> Any:
    if isinstance(tree, (numpy.ndarray, numpy.generic)) and tree.dtype.kind not in "OUSMm":
        return np.array(tree, dtype=tree.dtype)
    return _each(_as_arrays, tree)


_dataset: Any = None
_batchify: Callable[..., Any] = default_batchify_fn


def _start_worker(dataset: Any, batchify_fn: Callable[..., Any]) -> None:
    global _dataset, _batchify
    _dataset, _batchify = dataset, batchify_fn


def _work(indices: list[int], seed: int) -> Any:
    """One batch. Its random numbers depend on the batch, not on which worker makes it."""
    random.seed(seed)
    numpy.random.seed(seed & 0xFFFFFFFF)
    np.random.seed(seed)
    try:
        return _as_numpy(_batchify([_dataset[i] for i in indices]))
    except Exception as error:
        return _Failed(error)


# ---- worker threads


def _serve(calls: queue.SimpleQueue[Any]) -> None:
    """What a worker thread does, until it finds None instead of a call."""
    while (call := calls.get()) is not None:
        future, work = call
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
        del call, future, work  # while it waits it keeps no batch and no loader


class _Threads(Executor):
    """Threads that end with the program even if they are stuck; it waits for those of ThreadPoolExecutor."""

    def __init__(self, count: int) -> None:
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        name = "DataLoader_{}".format
        self._threads = [threading.Thread(None, _serve, name(i), (self._calls,), daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has a thread call a function."""
        future: Future[Any] = Future()
        self._calls.put((future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the threads once they are free."""
        while cancel_futures and not self._calls.empty():
            try:
                self._calls.get_nowait()[0].cancel()
            except queue.Empty:  # a thread was faster
                break
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads if wait else ():
            thread.join()


class DataLoader:
    """Goes over a dataset in batches, as often as it is asked to.

    `num_workers` processes (threads with `thread_pool=True`) read ahead by `prefetch` batches. A process sends its
    batches back as NumPy arrays; what it raises is raised here, with its traceback. Random numbers in a process start
    from a seed that follows from `np.random.seed` and the batch; threads draw from this process's, in the order in
    which they happen to run. Memory of the CPU needs no pinning: `pin_memory` is accepted and changes nothing.

    >>> from slipstream.gluon.data import DataLoader, SimpleDataset
    >>> [x.tolist() for x in DataLoader(SimpleDataset([1, 2, 3]), batch_size=2, last_batch="keep")]
    [[1, 2], [3]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable[..., Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        try_nopython: bool | None = None,
        auto_reload: bool = False,
    ) -> None:
        self._dataset = dataset
        self._batch_sampler = _sampler(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler)
        if num_workers < 0:
            raise ValueError(f"DataLoader: num_workers must be at least 0, not {num_workers}")
        if timeout <= 0:
            raise ValueError(f"DataLoader: timeout must be above 0, not {timeout}")
        self._num_workers = num_workers
        self._batchify_fn = batchify_fn or default_batchify_fn
        self._prefetch = max(1, 2 * num_workers if prefetch is None else prefetch)
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._pool: Executor | None = None

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        return self._ahead() if self._num_workers else map(self._make, self._batch_sampler)

    def _make(self, indices: list[int]) -> Any:
        """One batch, in this process."""
        if self._batchify_fn is default_batchify_fn and isinstance(self._dataset, ArrayDataset):
            batch = self._dataset.batch(indices)
            if batch is not None:
                return batch
        return self._batchify_fn([self._dataset[i] for i in indices])

    # ---- workers

    def _executor(self) -> Executor:
        if self._pool is None:
            if self._thread_pool:
                self._pool = _Threads(self._num_workers)
            else:
                # A fork shares the dataset without pickling it, lambdas and all.
                fork = multiprocessing.get_context("fork")
                start = (self._dataset, self._batchify_fn)
                self._pool = ProcessPoolExecutor(self._num_workers, fork, _start_worker, start)
        return self._pool

    def _submit(self, indices: list[int], seeds: numpy.random.Generator) -> Future[Any]:
        if self._thread_pool:
            return self._executor().submit(self._make, indices)
        return self._executor().submit(_work, indices, int(seeds.integers(2**63)))

    def _ahead(self) -> Iterator[Any]:
        """Batches in their order, while the workers are up to `prefetch` ahead."""
        seeds, pending = generator(), deque[Future[Any]]()
        batches = iter(self._batch_sampler)
        try:
            for indices in batches:
                pending.append(self._submit(indices, seeds))
                if len(pending) > self._prefetch:
                    yield self._result(pending.popleft())
            while pending:
                yield self._result(pending.popleft())
        finally:
            for future in pending:
                future.cancel()

    def _result(self, future: Future[Any]) -> Any:
        try:
            batch = future.result(self._timeout)
        except FutureTimeoutError:
            self._stop()
            raise TimeoutError(
                f"DataLoader: no batch within {self._timeout} s; is a worker stuck? timeout= allows more"
            ) from None
        except BrokenExecutor:
            self._stop()
            raise RuntimeError("DataLoader: a worker process died (killed, or out of memory)") from None
        if isinstance(batch, _Failed):
            batch.error.add_note(f"raised in a worker of DataLoader:\n{batch.text}")
            raise batch.error
        return batch if self._thread_pool else _as_arrays(batch)

    def _stop(self) -> None:
        """Ends the workers; the next pass starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list(getattr(pool, "_processes", None) or {}):
                pool._processes[process].terminate()  # type: ignore[attr-defined]
            pool.shutdown(wait=False, cancel_futures=True)

    def __del__(self) -> None:
        if getattr(self, "_pool", None) is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)  # type: ignore[union-attr]


def _sampler(
    dataset: Any, batch_size: int | None, shuffle: bool, sampler: Any, last_batch: str | None, batch_sampler: Any
) -> Any:
    """The batches' numbers, from the arguments that say so in several ways."""
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and last_batch")
        return batch_sampler
    if batch_size is None:
        raise ValueError("DataLoader: batch_size or batch_sampler is needed")
    if sampler is not None and shuffle:
        raise ValueError("DataLoader: sampler excludes shuffle")
    if sampler is None:
        sampler = RandomSampler(len(dataset)) if shuffle else SequentialSampler(len(dataset))
    return BatchSampler(sampler, batch_size, last_batch or "keep")
