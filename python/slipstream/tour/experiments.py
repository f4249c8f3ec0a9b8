"""The experiments: each runs a program of the book, checks that its results are right, and gives its figures."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy

from slipstream import engine, np, npx, profiler

from . import programs
from .measure import Check, Sample, Sampler, best, close, give_back_memory, timed, turns, workers_held

Say = Callable[[str], None]  # told what is running now


@dataclass(frozen=True)
class Sizes:
    """How much of everything. The defaults are the tour; `QUICK` is the same in small, for tests and a first look."""

    seconds: float = 5.0  # about the most that one part of an experiment may take
    products: int = 10
    n: int = 1000
    repeats: int = 5
    behind: int = 20
    looks: int = 300
    calls: int = 1000
    points: int = 10
    small_repeats: int = 25
    shapes: tuple[tuple[int, int], ...] = ((1, 2), (256, 256))
    batches: int = 100
    batch: tuple[int, int, int] = (1024, 512, 512)  # rows, inputs, hidden units
    limit: int = 32 << 20
    watched: int = 6
    beats: int = 20
    steps: int = 300
    step: int = 128


QUICK = Sizes(
    seconds=0.5,
    products=3,
    n=200,
    repeats=2,
    behind=5,
    looks=20,
    calls=100,
    points=4,
    small_repeats=3,
    shapes=((1, 2), (32, 32)),
    batches=12,
    batch=(128, 64, 64),
    limit=1 << 20,
    watched=3,
    beats=10,
    steps=30,
    step=64,
)


# ---- NumPy against us, issued and finished (A1, A2)


@dataclass(frozen=True)
class Products:
    """Seconds of `times` random matrices and their products."""

    times: int
    n: int
    numpy: float  # float64, as NumPy makes them
    numpy32: float  # float32, as ours
    issued: float  # until Python had said it all
    finished: float
    checks: list[Check]


def products(sizes: Sizes, say: Say) -> Products:
    """Times random matrices and their products, in NumPy and here, by turns."""
    times, n = sizes.products, sizes.n

    def ours() -> tuple[float, float, list[Any]]:
        issued, pairs = timed(lambda: programs.products(times, n))
        waited, _ = timed(npx.waitall)
        return issued, issued + waited, pairs

    say("warming up")
    programs.products_in_numpy(1, n), programs.products_in_numpy_float32(1, n)
    *_, pairs = ours()
    right = all(close(b.asnumpy(), a.asnumpy() @ a.asnumpy()) for a, b in pairs)
    values = numpy.concatenate([a.asnumpy().ravel() for a, _ in pairs])
    mean, deviation = float(values.mean()), float(values.std())
    issued, finished, in_numpy, in_numpy32 = [], [], [], []
    for turn in turns(sizes.repeats, 2 * sizes.seconds):
        say(f"NumPy and Slipstream by turns, {turn + 1} of {sizes.repeats}")
        in_numpy.append(timed(lambda: programs.products_in_numpy(times, n))[0])
        in_numpy32.append(timed(lambda: programs.products_in_numpy_float32(times, n))[0])
        one = ours()
        issued.append(one[0])
        finished.append(one[1])
    return Products(
        times=times,
        n=n,
        numpy=min(in_numpy),
        numpy32=min(in_numpy32),
        issued=min(issued),
        finished=min(finished),
        checks=[
            Check("every product equals NumPy's product of the same matrix", right),
            Check(
                f"the random values have mean {abs(mean):.2f} and deviation {deviation:.2f}",
                abs(mean) < 0.05 and abs(deviation - 1) < 0.05,
            ),
        ],
    )


# ---- ways to wait (A2, A3, A4, A5, A12)


@dataclass(frozen=True)
class Waits:
    """Seconds of one product, by the way it is waited for; and what waiting for one of many, or too often, costs."""

    n: int
    issue: float  # not waiting at all
    ways: dict[str, float]  # one product outstanding
    behind: int
    first: float  # until the first product is there, with others queued behind it
    everything: float  # until all of them are there
    after: float  # reading a value after waitall
    looks: int
    each_time: float
    once: float
    checks: list[Check]


WAYS: dict[str, Callable[[Any], Any]] = {
    "npx.waitall()": programs.by_waitall,
    "b.wait_to_read()": programs.by_wait_to_read,
    "b.asnumpy()": programs.by_asnumpy,
    "b.sum().item()": programs.by_item,
}


def waits(sizes: Sizes, say: Say) -> Waits:
    """Waits in every way for one product, then for the first of many, then far too often."""
    a = np.random.normal(size=(sizes.n, sizes.n))
    expected = a.asnumpy() @ a.asnumpy()
    ways: dict[str, list[float]] = {name: [] for name in WAYS}
    issue, right = [], []
    for turn in turns(2 * sizes.repeats, sizes.seconds):
        for name, way in WAYS.items():
            say(f"one product, then {name}, {turn + 1} of {2 * sizes.repeats}")
            npx.waitall()
            start = time.perf_counter()
            b = np.dot(a, a)
            issue.append(time.perf_counter() - start)
            seen = way(b)
            ways[name].append(time.perf_counter() - start)
            if turn == 0:
                right.append(close(b.asnumpy(), expected) and _agrees(seen, expected))
    say(f"one product with {sizes.behind} behind it")
    queues = [_queue(a, sizes.behind) for _ in turns(sizes.repeats, sizes.seconds)]
    say("looking at every value, and at the last alone")
    x = np.ones((100, 100))
    each_time, sum_each = min(timed(lambda: programs.look_each_time(x, sizes.looks)) for _ in range(2 * sizes.repeats))
    once, sum_once = min(timed(lambda: programs.look_once(x, sizes.looks)) for _ in range(2 * sizes.repeats))
    exact = 1e4 * sum(range(2, sizes.looks + 2))
    return Waits(
        n=sizes.n,
        issue=min(issue),
        ways={name: min(seconds) for name, seconds in ways.items()},
        behind=sizes.behind,
        first=min(queue[0] for queue in queues),
        everything=min(queue[1] for queue in queues),
        after=min(queue[2] for queue in queues),
        looks=sizes.looks,
        each_time=each_time,
        once=once,
        checks=[
            Check("every way of waiting gives the product that NumPy gives", all(right)),
            Check(
                "looking each time and looking once give the same sum",
                close(sum_each, exact) and close(sum_once, exact),
            ),
        ],
    )


def _agrees(seen: Any, expected: Any) -> bool:
    """What a wait gave: nothing, the array, or its sum (whose rounding counts against the size of its terms)."""
    if seen is None:
        return True
    if numpy.ndim(seen):
        return close(seen, expected)
    return bool(abs(seen - expected.sum(dtype=float)) <= 1e-4 * numpy.abs(expected).sum(dtype=float))


def _queue(a: Any, behind: int) -> tuple[float, float, float]:
    """Seconds until the first of many products is there, until all are, and of a read after that."""
    npx.waitall()
    start = time.perf_counter()
    results = programs.one_and_many_behind(a, behind)
    results[0].wait_to_read()
    first = time.perf_counter() - start
    npx.waitall()
    everything = time.perf_counter() - start
    return first, everything, timed(results[-1].wait_to_read)[0]


# ---- many small calls, waiting each time and once (A8)


@dataclass(frozen=True)
class Increments:
    """`y = x + 1`, n times: the three times of one call, measured apart, and the whole loop for several n."""

    shape: tuple[int, int]
    t1: float  # Python says it, the back end held still
    t2: float  # the back end plans and does it, on one thread, Python held still
    t3: float  # what is left of one call that is waited for: the result goes back to Python
    waiting: list[tuple[int, float]]  # n, seconds: waiting each time
    ahead: list[tuple[int, float]]  # n, seconds: waiting once
    skipping: float  # waiting once for the largest n, the planner free to skip results that nobody reads
    numpy: float  # the loop in NumPy, for the largest n
    checks: list[Check]

    def model_waiting(self, n: int) -> float:
        """n (t1 + t2 + t3): each call takes its whole way before the next begins."""
        return n * (self.t1 + self.t2 + self.t3)

    def model_ahead(self, n: int) -> float:
        """t1 + n t2 + t3: Python's share hides behind the back end's, as long as it is the smaller one."""
        return self.t1 + n * self.t2 + self.t3

    def model_python_slower(self, n: int) -> float:
        """n t1 + t2 + t3: the back end's share hides behind Python's."""
        return n * self.t1 + self.t2 + self.t3


def increments(sizes: Sizes, say: Say) -> list[Increments]:
    """The loop for each shape. Nothing is skipped, except for the figure that says so."""
    return [_increments(shape, sizes, say) for shape in sizes.shapes]


def _increments(shape: tuple[int, int], sizes: Sizes, say: Say) -> Increments:
    x, last, repeats = np.ones(shape), sizes.calls, sizes.small_repeats
    in_numpy = numpy.ones(shape, dtype=numpy.float32)
    name = f"y = x + 1 on {shape[0]}×{shape[1]}"
    counts = sorted({1, *(max(1, round(last * i / sizes.points)) for i in range(1, sizes.points + 1))})
    with engine.no_skip():
        say(f"{name}: t1, t2 and t3")
        t1, t2, t3 = _parts(x, last, repeats)
        waiting, ahead = [], []
        for n in counts:
            say(f"{name}: n = {n}")
            waiting.append((n, best(repeats, lambda n=n: programs.add_waiting_each_time(x, n))))  # type: ignore[misc]
            ahead.append((n, best(repeats, lambda n=n: programs.add_waiting_once(x, n))))  # type: ignore[misc]
        y = programs.add_waiting_once(x, last)
    say(f"{name}: skipping what nobody reads, and NumPy")
    return Increments(
        shape=shape,
        t1=t1,
        t2=t2,
        t3=t3,
        waiting=waiting,
        ahead=ahead,
        skipping=best(repeats, lambda: programs.add_waiting_once(x, last)),
        numpy=best(repeats, lambda: programs.add(in_numpy, last)),
        checks=[Check(f"y equals x + 1 on {shape[0]}×{shape[1]}", close(y.asnumpy(), in_numpy + 1, 0))],
    )


def _parts(x: Any, n: int, repeats: int) -> tuple[float, float, float]:
    """t1 and t2 from calls that are first said, then done; t3 is what is left of single calls that are waited for.

    The calls of t1 and t2 form a chain, so that waiting for the last does all; this thread alone is the front end and
    then the back end, since the workers are held.
    """
    n = min(n, 200)
    say_it, do_it = [], []
    with engine.no_fuse():
        for _ in turns(2 * repeats, 1.0):
            npx.waitall()
            with workers_held():
                seconds, last = timed(lambda: programs.add_up(x, n))
                say_it.append(seconds)
                do_it.append(timed(last.wait_to_read)[0])
    few = max(1, n // 20)
    whole = best(10 * repeats, lambda: programs.add_waiting_each_time(x, few)) / few
    t1, t2 = min(say_it) / n, min(do_it) / n
    return t1, t2, max(0.0, whole - t1 - t2)


# ---- running ahead, with and without a barrier (A11)


@dataclass(frozen=True)
class Ahead:
    """One way to run the loop: how long it took, and the memory on the way."""

    name: str
    issued: float  # until the loop had ended
    finished: float
    samples: list[Sample]
    peak: int  # bytes of arrays at once
    peak_calls: int  # calls in flight at once


@dataclass(frozen=True)
class RunAhead:
    """The loop over batches in all ways."""

    batches: int
    batch_bytes: int
    limit: int
    ways: list[Ahead]
    checks: list[Check]

    def way(self, name: str) -> Ahead:
        return next(way for way in self.ways if way.name == name)


NEVER, EACH, PACED, LIMITED = "never waits", "waits for each batch", "pace: one batch ahead", "never waits, bounded"


def run_ahead(sizes: Sizes, say: Say) -> RunAhead:
    """A loop over batches from NumPy: never waiting, waiting each time, paced, and bounded by the engine."""
    rng = numpy.random.default_rng(0)
    rows, inputs, hidden = sizes.batch
    different = [rng.standard_normal((rows, inputs), dtype=numpy.float32) for _ in range(4)]
    batches = [different[i % len(different)] for i in range(sizes.batches)]
    V, w = (rng.standard_normal(shape, dtype=numpy.float32) / 10 for shape in ((inputs, hidden), (hidden, 1)))
    ours = np.array(V), np.array(w)
    loops: dict[str, Callable[[], list[Any]]] = {
        NEVER: lambda: programs.never_wait(batches, *ours),
        EACH: lambda: programs.wait_for_each(batches, *ours),
        PACED: lambda: programs.one_batch_ahead(batches, *ours),
        LIMITED: lambda: programs.bounded(batches, *ours, sizes.limit),
    }
    found: dict[str, Ahead] = {}
    losses: list[Any] = []
    for turn in turns(3, sizes.seconds):
        for name, loop in loops.items():
            say(f"{sizes.batches} batches: {name}, {turn + 1} of 3")
            way, values = _ahead(name, loop)
            losses.append(values)
            if name not in found or way.finished < found[name].finished:
                found[name] = way
    expected = [float(numpy.mean((numpy.tanh(batch @ V) @ w) ** 2)) for batch in different]
    reference = [expected[i % len(expected)] for i in range(sizes.batches)]
    return RunAhead(
        batches=sizes.batches,
        batch_bytes=batches[0].nbytes,
        limit=sizes.limit,
        ways=list(found.values()),
        checks=[
            Check("every loss equals NumPy's", all(close(values, reference) for values in losses)),
            Check("the losses have the same bits in all ways", all(values == losses[0] for values in losses)),
        ],
    )


def _ahead(name: str, loop: Callable[[], list[Any]]) -> tuple[Ahead, list[float]]:
    give_back_memory()
    engine.reset_peaks()
    with Sampler() as sampler:
        issued, losses = timed(loop)
        waited, _ = timed(npx.waitall)
    peak, calls = engine.memory()["peak"] - sampler.before, engine.stats()["peak_ops"]
    return Ahead(name, issued, issued + waited, sampler.samples, peak, calls), [loss.item() for loss in losses]


# ---- from inside: what ran where and when, and what needed what (A6, W7)


@dataclass(frozen=True)
class Span:
    """Something that happened on a thread."""

    thread: str  # "Python" or "worker 0", ...
    kind: str  # "record", "run" or "wait"
    name: str
    start: float
    end: float
    sequence: int  # number of the call


@dataclass(frozen=True)
class Timeline:
    """A traced program, in seconds from its first call."""

    spans: list[Span]
    threads: list[str]
    operations: list[str]  # by the time they took
    seconds: float
    python_free: float  # until Python first waited
    waited: float
    checks: list[Check]


def timeline(sizes: Sizes, say: Say) -> Timeline:
    """Traces a small program several times, and keeps the trace of the quickest run."""
    found = []
    for turn in turns(sizes.repeats, sizes.seconds):
        say(f"a program under the profiler, {turn + 1} of {sizes.repeats}")
        npx.waitall()
        with profiler.trace() as trace:
            seconds, totals = timed(lambda: programs.watched(sizes.watched, sizes.n))
        found.append((seconds, totals, trace.events))
    _, totals, events = min(found, key=lambda one: one[0])
    zero = min(event["start_ns"] for event in events)
    spans = sorted((_span(event, zero) for event in events), key=lambda span: (span.start, -span.end))
    busy: dict[str, float] = {}
    for span in spans:
        if span.kind == "run":
            busy[span.name] = busy.get(span.name, 0.0) + span.end - span.start
    names = [span.thread for span in spans]
    workers = sorted({name for name in names if name != "Python"}, key=lambda name: int(name.split()[-1]))
    waiting = [span for span in spans if span.kind == "wait"]
    issued = {span.sequence for span in spans if span.kind == "record"}
    ran = {span.sequence for span in spans if span.kind == "run"}
    seconds = max(span.end for span in spans)
    return Timeline(
        spans=spans,
        threads=["Python", *workers],
        operations=sorted(busy, key=lambda name: -busy[name]),
        seconds=seconds,
        python_free=waiting[0].start if waiting else seconds,
        waited=sum(span.end - span.start for span in waiting),
        checks=[
            Check("every value is a finite number", bool(numpy.isfinite(totals).all())),
            Check("everything that ran was recorded before", ran <= issued),
        ],
    )


def _span(event: dict[str, Any], zero: int) -> Span:
    thread = f"worker {event['lane']}" if event["lane"] >= 0 else "Python"
    start, end = ((event[key] - zero) / 1e9 for key in ("start_ns", "end_ns"))
    return Span(thread, event["type"], event["name"], start, end, event["sequence"])


@dataclass(frozen=True)
class Node:
    """A call, or several that were run as one."""

    number: int
    name: str
    shape: str  # of the result
    code: str  # the line of Python that asked for it
    scalars: int  # inputs that are plain numbers
    after: tuple[int, ...]  # numbers of the calls it needs


@dataclass(frozen=True)
class Graph:
    """A program's calls and what each needs: as it was written, and as it was run."""

    written: list[Node]
    run: list[Node]
    value: list[list[float]]
    checks: list[Check]


def graph(sizes: Sizes, say: Say) -> Graph:
    """Traces z = x * y + 2 call by call, and on many elements with the planner free to fuse."""
    say("z = x * y + 2 under the profiler")
    written, value = _traced(programs.small, engine.no_fuse())
    run, fused = _traced(programs.large, nullcontext())
    _, one_by_one = _traced(programs.large, engine.no_fuse())
    x = numpy.ones((1, 2), dtype=numpy.float32)
    expected = x * x + 2
    return Graph(
        written=written,
        run=run,
        value=value.tolist(),
        checks=[
            Check(f"z is {value.tolist()}, as in NumPy", bool((value == expected).all())),
            Check("fused and one by one give the same bits", bool((fused == one_by_one).all())),
        ],
    )


def _traced(program: Callable[[], Any], planning: AbstractContextManager[Any]) -> tuple[list[Node], Any]:
    """The program's runs as nodes. Workers are held while it is recorded, so that all of it is planned together."""
    npx.waitall()
    with planning, workers_held() as release, profiler.trace() as trace:
        z = program()
        release()
        z.wait_to_read()
    return nodes(trace.events), z.asnumpy()


def nodes(events: Iterable[dict[str, Any]]) -> list[Node]:
    """The runs of a trace as a graph. A call that has no run of its own was fused into another."""
    records = {event["sequence"]: event for event in events if event["type"] == "record"}
    runs = {event["sequence"]: event for event in events if event["type"] == "run" and event["sequence"] in records}
    fused = [record["name"] for number, record in records.items() if number not in runs]
    found = []
    for number, event in sorted(runs.items()):
        inputs, _, result = event["shapes"].partition("->")
        name, recorded = event["name"], records[number]["name"]
        if name != recorded:  # the back end's own name for a fused pass
            name = " + ".join([recorded, *fused])
        code = linecache.getline(event["source"][0], event["source"][1]).strip() if event["source"] else ""
        after = tuple(earlier for earlier in event["after"] if earlier in runs)
        found.append(Node(number, name, result.strip(), code, inputs.count("scalar"), after))
    return found


# ---- Python stays free (A9), two devices side by side (P1, P4, P5)


@dataclass(frozen=True)
class Responsive:
    """Python's own work beside queued products: when each piece of it was done."""

    times: int
    n: int
    beats: list[float]  # seconds from the start, ours
    done: float  # the products were there
    numpy_beats: list[float]
    numpy_done: float
    pause: float  # the longest time without a beat, ours
    pace: float  # beats a second beside the products, as a part of what Python does alone
    checks: list[Check] = field(default_factory=list)


def responsive(sizes: Sizes, say: Say) -> Responsive:
    """Counts how much Python gets done while products are computed, here and in NumPy."""
    say("Python beside queued products")
    ours = np.random.normal(size=(sizes.n, sizes.n))
    values = ours.asnumpy()
    runs = []
    for _ in turns(sizes.repeats, sizes.seconds):
        npx.waitall()
        start = time.perf_counter()
        beats = programs.work_beside_products(ours, sizes.beats)
        runs.append((time.perf_counter() - start, [beat - start for beat in beats]))
    done, beats = min(runs)
    say("Python alone")
    alone = _beats_alone(done)
    say("the same products in NumPy")
    start = time.perf_counter()
    numpy_beats = [beat - start for beat in programs.work_after_products_in_numpy(values, sizes.beats, done / 2)]
    gaps = [later - earlier for earlier, later in pairwise([0.0, *beats, done])]
    return Responsive(
        times=sizes.beats,
        n=sizes.n,
        beats=beats,
        done=done,
        numpy_beats=numpy_beats,
        numpy_done=numpy_beats[0],
        pause=max(gaps),
        pace=len(beats) / done / alone,
        checks=[Check("the products equal NumPy's", close(np.dot(ours, ours).asnumpy(), numpy.dot(values, values)))],
    )


def _beats_alone(seconds: float) -> float:
    """Pieces of Python's work a second, with the back end idle."""
    npx.waitall()
    start = time.perf_counter()
    beats = 0
    while time.perf_counter() < start + seconds:
        sum(range(2000))
        beats += 1
    return beats / (time.perf_counter() - start)


@dataclass(frozen=True)
class Devices:
    """Seconds of a chain of products on each of two devices and on both, and of computing and copying."""

    steps: int
    n: int
    first: float
    second: float
    both: float
    run: float
    copy: float
    run_and_copy: float
    checks: list[Check]


def devices(sizes: Sizes, say: Say) -> Devices:
    """Two chains on two devices, one after the other and together; then a chain whose results are copied away."""
    one, two = npx.cpu(1), npx.cpu(2)
    n, steps = sizes.step, sizes.steps
    turn = numpy.linalg.qr(numpy.random.default_rng(1).standard_normal((n, n)))[0].astype(numpy.float32)
    start = {device: (np.eye(n, device=device), np.array(turn, device=device)) for device in (one, two)}
    npx.waitall()

    def chains(*on: Any) -> list[Any]:
        results = [programs.chain(*start[device], steps) for device in on]
        npx.waitall()
        return results

    def copied(results: list[Any]) -> list[Any]:
        made = programs.copies(results, two)
        npx.waitall()
        return made

    say(f"{steps} products on one device, on the other, on both")
    first, second, both = (best(2 * sizes.repeats, lambda on=on: chains(*on)) for on in ((one,), (two,), (one, two)))  # type: ignore[misc]
    say("computing on one device, copying to the other")
    [results] = chains(one)
    copy = best(2 * sizes.repeats, lambda: copied(results))
    run_and_copy = best(2 * sizes.repeats, lambda: copied(programs.chain(*start[one], steps)))
    expected = numpy.linalg.matrix_power(turn.astype(float), steps)
    on_one, on_two = (chain[-1] for chain in chains(one, two))
    last = copied(results)[-1]
    return Devices(
        steps=steps,
        n=n,
        first=first,
        second=second,
        both=both,
        run=first,
        copy=copy,
        run_and_copy=run_and_copy,
        checks=[
            Check(
                "both devices give NumPy's values", all(close(x.asnumpy(), expected, 1e-3) for x in (on_one, on_two))
            ),
            Check("each result is on its own device", (on_one.device, on_two.device, last.device) == (one, two, two)),
            Check("a copy equals the result it was made of", bool((last.asnumpy() == results[-1].asnumpy()).all())),
        ],
    )
