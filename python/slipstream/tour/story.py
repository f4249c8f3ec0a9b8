"""What came out, in words: for each experiment the question, the code, the pictures, the figures and what they show.

Every sentence about a measurement is made from the measurement, and says so when it came out against expectation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import charts, programs
from .charts import Arrow, Axes, Bar, Mark, Piece, Series, Vertex, digits, seconds, size
from .experiments import (
    EACH,
    LIMITED,
    NEVER,
    PACED,
    Devices,
    Graph,
    Increments,
    Node,
    Products,
    Responsive,
    RunAhead,
    Timeline,
    Waits,
)
from .measure import Check

MOST_WORKERS = 8  # lanes of a timeline
TRIFLE = 32  # elements, and as many of the result: such a call is not handed over (core/engine/weight.h)


@dataclass(frozen=True)
class Picture:
    """A drawing and the line below it."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Section:
    """One experiment as the page and the terminal tell it."""

    key: str
    title: str
    headline: str  # one line: what came out
    why: str  # two sentences: what this is about
    code: Sequence[Callable[..., Any]]
    pictures: Sequence[Picture]
    figures: Sequence[tuple[str, ...]]  # a name, and one or more values
    seen: Sequence[str]
    checks: Sequence[Check]
    head: tuple[str, ...] = ()  # names of the columns of `figures`


# ---- comparing


def factor(ours: float, other: float) -> float:
    """How many times quicker ours is."""
    return other / ours if ours > 0 else float("inf")


def compared(ours: float, other: float, than: str) -> str:
    """Ours against another duration, in words.

    >>> compared(1, 3, "NumPy"), compared(1, 1.05, "NumPy"), compared(2, 1, "NumPy")
    ('3 times as fast as NumPy', 'as fast as NumPy within 10%', '2 times slower than NumPy')
    """
    ratio = factor(ours, other)
    if ratio >= 1.1:
        return f"{digits(ratio)} times as fast as {than}"
    if ratio > 1 / 1.1:
        return f"as fast as {than} within 10%"
    return f"{digits(1 / ratio)} times slower than {than}"


def expected(holds: bool, yes: str, no: str) -> str:
    """One sentence or the other; the other says that it was not expected."""
    return yes if holds else f"Against expectation: {no}"


def percent(part: float, whole: float) -> str:
    """A part in percent.

    >>> percent(1, 3), percent(1, 4000)
    ('33%', '0.025%')
    """
    share = 100 * part / whole if whole else 0.0
    return f"{share:.0f}%" if share >= 1 else f"{share:.2g}%"


def plural(count: int, thing: str) -> str:
    return f"{count} {thing}" + ("" if count == 1 else "s")


# ---- the sections


def tell_products(found: Products) -> Section:
    what = f"{found.times} × ({found.n}×{found.n} normal, product)"
    rows = [
        Bar("NumPy, float64 (what it makes by default)", found.numpy, "other"),
        Bar("NumPy, float32", found.numpy32, "other"),
        Bar("Slipstream, float32: finished", found.finished, "ours"),
        Bar("Slipstream, float32: issued", found.issued, "third"),
    ]
    return Section(
        key="products",
        title="Python says it, the back end does it",
        headline=f"{what}: issued in {seconds(found.issued)}, finished in {seconds(found.finished)}; "
        f"NumPy {seconds(found.numpy32)} in float32, {seconds(found.numpy)} in float64",
        why="You ask for some random matrices and multiply each with itself. NumPy gives a line back when its work is "
        "done; here each line comes back at once, and the work follows on other threads.",
        code=[programs.products, programs.products_in_numpy, programs.products_in_numpy_float32],
        pictures=[
            Picture(
                charts.bars(f"Time of {what}", rows),
                f"{what}: time until Python has said it all (issued), and until all of it is there (finished).",
            )
        ],
        figures=[
            ("issued: Python is free again", seconds(found.issued)),
            ("finished: npx.waitall() returns", seconds(found.finished)),
            ("issued, as a part of finished", percent(found.issued, found.finished)),
            ("NumPy, float32", seconds(found.numpy32)),
            ("NumPy, float64", seconds(found.numpy)),
        ],
        seen=[
            expected(
                found.issued < 0.1 * found.finished,
                f"Python had said everything after {seconds(found.issued)}, {percent(found.issued, found.finished)} of "
                f"the time it took to compute it. The difference is time in which your program can do something else.",
                f"saying it took {percent(found.issued, found.finished)} of the time it took to compute it.",
            ),
            f"To the end, Slipstream was {compared(found.finished, found.numpy32, 'NumPy in the same float32')} and "
            f"{compared(found.finished, found.numpy, 'NumPy in float64')}. All results are kept: nothing is skipped.",
        ],
        checks=found.checks,
    )


def tell_waits(found: Waits) -> Section:
    ways = [Bar("b = np.dot(a, a), and no wait", found.issue, "third")]
    ways += [Bar(f"b = np.dot(a, a); {name}", value, "ours") for name, value in found.ways.items()]
    queue = [
        Bar("first.wait_to_read()", found.first, "ours"),
        Bar("npx.waitall()", found.everything, "other"),
    ]
    looks = [
        Bar("x.sum().item() after every step", found.each_time, "other"),
        Bar("total.item() once, at the end", found.once, "ours"),
    ]
    waitall, one = found.ways["npx.waitall()"], found.ways["b.wait_to_read()"]
    return Section(
        key="waits",
        title="Waiting for what you need",
        headline=f"the first of {found.behind + 1} products is there after {seconds(found.first)}, "
        f"all after {seconds(found.everything)}",
        why="Sooner or later you look at a value, and then Python has to wait for it. You can wait for one array or "
        "for everything, and reading a value waits for that value alone.",
        code=[programs.one_and_many_behind, programs.look_each_time, programs.look_once],
        pictures=[
            Picture(charts.bars("Time of one product by the way of waiting", ways), "One product outstanding."),
            Picture(
                charts.bars("Time until the first product, and until all", queue),
                f"One product, with {found.behind} more queued behind it.",
            ),
            Picture(
                charts.bars("Time of looking often and once", looks),
                f"{found.looks} steps on a 100×100 array, looking at each sum or at the last.",
            ),
        ],
        figures=[
            *[(name, seconds(value)) for name, value in found.ways.items()],
            ("waitall / wait_to_read, one product", digits(waitall / one)),
            (f"first of {found.behind + 1}: wait_to_read", seconds(found.first)),
            (f"all {found.behind + 1}: waitall", seconds(found.everything)),
            ("reading a value after waitall", seconds(found.after)),
            (f"{found.looks} looks / one look", f"{seconds(found.each_time)} / {seconds(found.once)}"),
        ],
        seen=_wait_words(found, waitall, one),
        checks=found.checks,
    )


def _wait_words(found: Waits, waitall: float, one: float) -> list[str]:
    return [
        expected(
            max(waitall, one) < 1.25 * min(waitall, one),
            "With a single product outstanding it does not matter how you wait: all ways end when it is there.",
            f"with one product outstanding, `waitall` took {digits(waitall / one)} times as long as `wait_to_read`. "
            "The work is the same, so this is noise of a busy machine.",
        ),
        expected(
            found.first < 0.5 * found.everything,
            f"With others queued behind it, the first product came after {percent(found.first, found.everything)} of "
            "the time for all: a wait is for that array, and the rest goes on. After `waitall` a read takes "
            f"{seconds(found.after)}, since nothing is left to wait for.",
            f"the first product took {percent(found.first, found.everything)} of the time for all of them.",
        ),
        f"Looking once was {compared(found.once, found.each_time, 'looking each time')}. "
        + expected(
            found.once < 1.1 * found.each_time,
            "Every look makes Python stop until that value is there, and the planner sees one step at a time.",
            "a thread that waits takes part in the work, so a look costs little; it seems that handing the steps to "
            "other threads cost more.",
        ),
    ]


def tell_increments(found: Sequence[Increments]) -> Section:
    first = found[0]
    (n, waiting), (_, ahead) = first.waiting[-1], first.ahead[-1]
    return Section(
        key="increments",
        title="Many small calls",
        headline=f"{n} × `y = x + 1`: {seconds(waiting)} waiting each time, {seconds(ahead)} waiting once "
        f"({compared(ahead, waiting, 'waiting each time')})",
        why="A loop that waits after each call pays three times for it: Python says it (t1), the back end does it "
        "(t2), the answer comes back (t3). A loop that waits once lets these overlap: it pays t1 and t3 about once.",
        code=[programs.add_waiting_each_time, programs.add_waiting_once],
        pictures=[_model_picture(one) for one in found],
        head=("", *(_shape(one) for one in found)),
        figures=_increment_figures(found, n),
        seen=[
            "The dots are whole loops. The lines are not fitted to them: they are computed from t1, t2 and t3, which "
            "were measured apart, on calls that Python first only says and that are then done on one thread.",
            *map(_increment_words, found),
        ],
        checks=[check for one in found for check in one.checks],
    )


def _shape(one: Increments) -> str:
    return f"{one.shape[0]}×{one.shape[1]}"


def _model_picture(one: Increments) -> Picture:
    ends = (1, one.waiting[-1][0])
    series = [
        Series("waiting each time", one.waiting, "dot other"),
        Series("waiting once", one.ahead, "dot ours"),
        Series("n (t1 + t2 + t3)", [(n, one.model_waiting(n)) for n in ends], "line other"),
        Series("t1 + n t2 + t3", [(n, one.model_ahead(n)) for n in ends], "line ours"),
    ]
    if one.t1 > one.t2:
        series.append(Series("n t1 + t2 + t3", [(n, one.model_python_slower(n)) for n in ends], "line third dashed"))
    axes = Axes("n, number of calls", "time of the loop", lambda n: f"{n:.0f}", lambda y: seconds(y) if y else "0")
    return Picture(
        charts.lines(f"Time of n calls y = x + 1 on {_shape(one)}", series, axes),
        f"`y = x + 1` on {_shape(one)}, n times: data as dots, the model as lines.",
    )


def _increment_figures(found: Sequence[Increments], n: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, Callable[[Increments], float]]] = [
        ("t1: Python says it", lambda one: one.t1),
        ("t2: the back end does it", lambda one: one.t2),
        ("t3: the answer comes back", lambda one: one.t3),
        (f"{n} calls, waiting each time", lambda one: one.waiting[-1][1]),
        (f"model: {n} (t1 + t2 + t3)", lambda one: one.model_waiting(n)),
        (f"{n} calls, waiting once", lambda one: one.ahead[-1][1]),
        (f"model: t1 + {n} t2 + t3", lambda one: one.model_ahead(n)),
        ("waiting once, unread results skipped", lambda one: one.skipping),
        ("the loop in NumPy", lambda one: one.numpy),
    ]
    return [(name, *(seconds(value(one)) for one in found)) for name, value in rows]


def _increment_words(one: Increments) -> str:
    (n, waiting), (_, ahead) = one.waiting[-1], one.ahead[-1]
    words = f"On {_shape(one)}, waiting once was {compared(ahead, waiting, 'waiting each time')}"
    words += "." if ahead <= waiting * 1.1 else ", against expectation: handing calls over cost more than it gained."
    if one.t1 > one.t2:
        words += (
            f" Here Python is the slower side (t1 is {seconds(one.t1)}, t2 {seconds(one.t2)}), so n t1 takes the "
            "place of n t2 in the model: the dashed line."
        )
    if one.shape[0] * one.shape[1] <= TRIFLE:
        words += (
            " Calls on so few elements are not handed over at all, for that costs more than doing them: Python's own "
            "thread does them, many at a time, so the truth lies between the lines."
        )
    off = [
        f"{name} took {digits(data / model)} times what the model says"
        for name, data, model in (
            ("waiting each time", waiting, one.model_waiting(n)),
            ("waiting once", ahead, max(one.model_ahead(n), one.model_python_slower(n))),
        )
        if not 2 / 3 < data / model < 1.5
    ]
    if off:
        words += f" The model is off: {', and '.join(off)}. It knows neither several workers nor a busy machine."
    return words


STYLES = {NEVER: "other", EACH: "third", PACED: "ours", LIMITED: "fourth"}


def tell_run_ahead(found: RunAhead) -> Section:
    in_use, resident, times, peaks = [], [], [], []
    for way in found.ways:
        style = STYLES[way.name]
        in_use.append(Series(way.name, [(s.seconds, s.in_use / 2**20) for s in way.samples], f"line {style}"))
        resident.append(Series(way.name, [(s.seconds, s.resident / 2**20) for s in way.samples], f"line {style}"))
        times.append(Bar(f"{way.name} (loop left after {seconds(way.issued)})", way.finished, style))
        peaks.append(Bar(way.name, way.peak, style))
    axes = Axes("time", "MiB", lambda x: seconds(x) if x else "0")
    never, each, paced, limited = (found.way(name) for name in (NEVER, EACH, PACED, LIMITED))
    return Section(
        key="ahead",
        title="Running ahead without running away",
        headline=f"{found.batches} batches: {seconds(never.finished)} and {size(never.peak)} never waiting, "
        f"{seconds(each.finished)} and {size(each.peak)} with a barrier, "
        f"{seconds(paced.finished)} and {size(paced.peak)} with `engine.pace`",
        why="If Python never waits it gets far ahead, and the batches it has handed over lie in memory until they are "
        "used. A barrier after each keeps memory flat; so does `engine.pace`, and it lets Python prepare the next one.",
        code=[programs.never_wait, programs.wait_for_each, programs.one_batch_ahead, programs.bounded],
        pictures=[
            Picture(
                charts.lines("Memory of arrays over time", in_use, axes),
                f"Memory that arrays use, while {found.batches} batches of {size(found.batch_bytes)} pass.",
            ),
            Picture(
                charts.lines("Memory of the process over time", resident, axes),
                "Memory of the whole process (RSS) beyond what it had before; freed memory is kept for reuse.",
            ),
            Picture(charts.bars("Most memory of arrays", peaks, size), "Most memory of arrays at any moment."),
            Picture(charts.bars("Time of the loop", times), "Time until all was computed."),
        ],
        head=("", "time", "most memory", "calls ahead"),
        figures=[(way.name, seconds(way.finished), size(way.peak), str(way.peak_calls)) for way in found.ways],
        seen=[
            expected(
                never.peak > 1.5 * each.peak,
                f"Never waiting, Python was up to {never.peak_calls} calls ahead and arrays took {size(never.peak)}; "
                f"with a barrier it was {size(each.peak)}, and one batch ahead {size(paced.peak)}.",
                f"never waiting took no more memory ({size(never.peak)}) than a barrier ({size(each.peak)}): "
                "the back end kept up.",
            ),
            f"In time, never waiting was {compared(never.finished, each.finished, 'the barrier')}, and one batch ahead "
            f"was {compared(paced.finished, each.finished, 'the barrier')}.",
            "You need not think of it: the engine itself bounds how far Python runs ahead. Bounded to "
            f"{size(found.limit)} of unfinished results, the loop that never waits took {size(limited.peak)} at most "
            f"and {seconds(limited.finished)}.",
        ],
        checks=found.checks,
    )


def tell_timeline(found: Timeline) -> Section:
    calls = sum(span.kind == "record" for span in found.spans)
    ran_on = {span.thread for span in found.spans if span.kind == "run"}
    hidden = len(found.threads) - 1 - MOST_WORKERS
    return Section(
        key="timeline",
        title="A look from the inside",
        headline=f"{calls} calls recorded in {seconds(found.python_free)}, computed in {seconds(found.seconds)} "
        f"on {plural(len(ran_on), 'thread')}",
        why="This is a real trace of the program below, as `profiler.trace` writes it. Python records its calls at the "
        "left and then waits; the back end's threads take them up, and Python's own thread helps while it waits.",
        code=[programs.watched],
        pictures=[
            Picture(
                _lanes(found),
                "Lanes are threads, time runs to the right; lines lead from a call to its start."
                + (f" {plural(hidden, 'more worker')} not drawn." if hidden > 0 else ""),
            )
        ],
        figures=[
            ("calls recorded", str(calls)),
            ("until Python first waited", seconds(found.python_free)),
            ("Python waited", seconds(found.waited)),
            ("whole program", seconds(found.seconds)),
            ("threads that computed", str(len(ran_on))),
        ],
        seen=[
            expected(
                found.python_free < 0.5 * found.seconds,
                f"Python needed {seconds(found.python_free)} for its part, {percent(found.python_free, found.seconds)} "
                "of the whole. The rest of its lane is waiting, at the line that looks at the values.",
                f"Python needed {percent(found.python_free, found.seconds)} of the time for its part.",
            ),
            "One product may run on several lanes at once: a large task is cut into pieces, and idle threads join it.",
        ],
        checks=found.checks,
    )


def _lanes(found: Timeline) -> str:
    styles = {name: f"op{min(i, 3)}" for i, name in enumerate(found.operations)}
    keys = [(name, styles[name]) for name in found.operations[:3]]
    keys += [("other operations", "op3")] if len(found.operations) > 3 else []
    keys += [("a call is recorded", "record"), ("Python waits", "wait")]
    workers = found.threads[1 : 1 + MOST_WORKERS]
    lane_of = {"Python": 1, **{worker: 2 + i for i, worker in enumerate(workers)}}
    pieces: list[Piece] = []
    recorded: dict[int, float] = {}
    arrows: dict[int, Arrow] = {}
    for span in found.spans:
        if span.kind != "run":
            pieces.append(Piece(0, span.start, span.end, span.kind, "waits" if span.kind == "wait" else ""))
            recorded.setdefault(span.sequence, span.start)
        elif span.thread in lane_of:
            lane = lane_of[span.thread]
            pieces.append(Piece(lane, span.start, span.end, styles[span.name], span.name))
            if span.sequence in recorded:
                arrows.setdefault(span.sequence, Arrow(0, recorded[span.sequence], lane, span.start))
    pieces.sort(key=lambda piece: piece.style == "record")  # thin marks on top
    return charts.lanes("What ran where and when", ["Python", "Python helps", *workers], pieces, arrows.values(), keys)


def tell_graph(found: Graph) -> Section:
    return Section(
        key="graph",
        title="What needs what",
        headline=f"`z = x * y + 2` is {plural(len(found.written), 'call')}, on a million elements run as "
        f"{plural(len(found.run), 'task')}; `z` is `{found.value}`",
        why="The back end may do things in any order and side by side, as long as each result comes after what it is "
        "made of. So it keeps track of what needs what; this is the graph it had for `z = x * y + 2`.",
        code=[programs.small],
        pictures=[
            Picture(charts.graph("Calls and what they need", _vertices(found.written)), "As written: one box a call."),
            Picture(
                charts.graph("Tasks and what they need", _vertices(found.run)),
                "As run on 1000 × 1000 elements, after planning.",
            ),
        ],
        figures=[
            ("calls recorded", str(len(found.written))),
            ("tasks run", str(len(found.run))),
            ("z", str(found.value)),
        ],
        seen=[
            "`x` and `y` do not need each other and could be made at the same time. The product needs both, and the "
            "sum needs the product, so these never run side by side.",
            expected(
                len(found.run) < len(found.written),
                "The planner saw that nobody can read the product itself, and made product and sum one pass over "
                "memory. (On two elements that would cost more than it saves, and it does not.)",
                "the planner did not fuse the product and the sum.",
            ),
        ],
        checks=found.checks,
    )


def _vertices(calls: Sequence[Node]) -> list[Vertex]:
    vertices = []
    for call in calls:
        numbers = tuple(f"{call.number}.{i}" for i in range(call.scalars))
        needs = (*(str(earlier) for earlier in call.after), *numbers)
        vertices.append(Vertex(str(call.number), call.name, (call.shape, call.code), needs))
        vertices += [Vertex(key, "a number", (), (), "number") for key in numbers]
    return vertices


def tell_responsive(found: Responsive) -> Section:
    def counted(beats: Sequence[float]) -> list[tuple[float, float]]:
        every = max(1, len(beats) // 300)
        return [(beat, i + 1) for i, beat in enumerate(beats) if i % every == 0 or i == len(beats) - 1]

    series = [
        Series("beside Slipstream", [(0, 0), *counted(found.beats)], "line ours"),
        Series("after NumPy", [(0, 0), (found.numpy_done, 0), *counted(found.numpy_beats)], "line other"),
    ]
    marks = [
        Mark(found.done, "Slipstream's products done", "mark ours"),
        Mark(found.numpy_done, "NumPy's products done", "mark other"),
    ]
    axes = Axes("time", "pieces of Python's own work done", lambda x: seconds(x) if x else "0", digits, marks)
    return Section(
        key="responsive",
        title="Python stays free",
        headline=f"while {plural(found.times, 'product')} ran, Python did {plural(len(found.beats), 'piece')} of its "
        f"own work; its longest pause was {seconds(found.pause)}",
        why="While products are computed, your program can serve a request, draw a progress bar or read the next "
        "file. During a NumPy product it stands still until that is done.",
        code=[programs.work_beside_products, programs.work_after_products_in_numpy],
        pictures=[
            Picture(
                charts.lines("Python's own work beside products", series, axes),
                f"{found.times} products of {found.n}×{found.n}, and what Python got done in the meantime.",
            )
        ],
        figures=[
            ("pieces of work beside our products", str(len(found.beats))),
            ("Python's speed, of its speed alone", percent(found.pace, 1)),
            ("longest pause", seconds(found.pause)),
            ("our products done after", seconds(found.done)),
            ("NumPy's products done after", seconds(found.numpy_done)),
        ],
        seen=[
            expected(
                found.pause < 0.5 * found.done and len(found.beats) > 10,
                f"Python worked from the start, at {percent(found.pace, 1)} of its speed alone, and was never held up "
                f"for longer than {seconds(found.pause)}. It shares the cores with the back end, so with fewer cores "
                "it is slower.",
                f"Python was held up for {seconds(found.pause)} of {seconds(found.done)}. It may be that the system "
                "gave its core to other programs.",
            ),
            f"In the NumPy program it did nothing of its own for {seconds(found.numpy_done)}.",
        ],
        checks=found.checks,
    )


def tell_devices(found: Devices, cores: int) -> Section:
    apart, together = found.first + found.second, found.both
    in_turn = found.run + found.copy
    rows = [
        Bar("cpu(1) alone", found.first, "third"),
        Bar("cpu(2) alone", found.second, "third"),
        Bar("one after the other: the sum", apart, "other"),
        Bar("both at once", together, "ours"),
    ]
    copies = [
        Bar("computing on cpu(1)", found.run, "third"),
        Bar("copying all results to cpu(2)", found.copy, "third"),
        Bar("one after the other: the sum", in_turn, "other"),
        Bar("computing and copying", found.run_and_copy, "ours"),
    ]
    return Section(
        key="devices",
        title="Two devices side by side",
        headline=f"two chains of {found.steps} products: {seconds(apart)} one after the other, "
        f"{seconds(together)} on two devices at once",
        why="Work on two devices that does not depend on each other runs at the same time, without a word about it in "
        "your program. Copies between them are calls like any other, and start as soon as there is something to copy.",
        code=[programs.chain, programs.copies],
        pictures=[
            Picture(
                charts.bars("Time on two devices", rows),
                f"{found.steps} products of {found.n}×{found.n}, each of the last: a chain keeps only one core busy.",
            ),
            Picture(charts.bars("Time of computing and copying", copies), "A chain whose every result is copied away."),
        ],
        figures=[
            ("cpu(1), cpu(2)", f"{seconds(found.first)}, {seconds(found.second)}"),
            ("both at once", seconds(together)),
            ("sum / both at once", digits(apart / together)),
            ("computing, copying", f"{seconds(found.run)}, {seconds(found.copy)}"),
            ("computing and copying", seconds(found.run_and_copy)),
            ("sum / computing and copying", digits(in_turn / found.run_and_copy)),
        ],
        seen=_device_words(found, cores),
        checks=found.checks,
    )


def _device_words(found: Devices, cores: int) -> list[str]:
    apart, in_turn = found.first + found.second, found.run + found.copy
    if cores == 1:
        shared = "There is one core for both, so there is nothing to gain."
    else:
        shared = f"Both devices share {cores} cores with all else that runs on this machine."
    share = percent(found.both, apart)
    return [
        expected(
            found.both < 0.95 * apart,
            f"Together the two chains took {share} of the time they take one after the other.",
            f"together the two chains took {share} of the time they take one after the other. {shared}",
        ),
        expected(
            found.run_and_copy < in_turn,
            f"Computing and copying took {seconds(found.run_and_copy)}, less than the sum of {seconds(in_turn)}: "
            "copies ran while the next products were computed.",
            f"computing and copying took {seconds(found.run_and_copy)}, the sum is {seconds(in_turn)}. {shared}",
        ),
    ]
