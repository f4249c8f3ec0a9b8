"""The tour: what it measures and tells, and the page it writes. Nothing here depends on how fast the machine is."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from slipstream import engine
from slipstream.__main__ import main
from slipstream.tour import charts, command, experiments, measure, page, programs, story
from slipstream.tour.experiments import QUICK

KEYS = ["products", "waits", "increments", "ahead", "timeline", "graph", "responsive", "devices"]
PICTURES = {"waits": 3, "increments": 2, "ahead": 4, "graph": 2, "devices": 2}  # the others have one


def silent(now: str) -> None:
    pass


@pytest.fixture
def asynchronous() -> Iterator[None]:
    """The experiments are about the asynchronous engine."""
    before = engine.kind()
    engine.set_kind("async")
    yield
    engine.set_kind(before)  # type: ignore[arg-type]


class Page(HTMLParser):
    """What a page consists of: sections with their text and pictures, tags, and all that could lead elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sections: dict[str, str] = {}
        self.pictures: dict[str, int] = {}
        self.rows: dict[str, int] = {}
        self.tags: set[str] = set()
        self.links: list[str] = []
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.tags.add(tag)
        self.links += [value or "" for name, value in attributes if name in ("href", "src", "xlink:href", "data")]
        if tag == "section":
            self._in = given.get("id") or ""
            self.sections[self._in] = ""
        for counted, counts in (("svg", self.pictures), ("tr", self.rows)):
            if tag == counted:
                counts[self._in] = counts.get(self._in, 0) + 1

    def handle_data(self, text: str) -> None:
        if self._in:
            self.sections[self._in] += text


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """A quick tour: its exit status and its page."""
    path = tmp_path_factory.mktemp("tour") / "tour.html"
    status = main(["tour", "--quick", "--output", str(path)])
    return status, path.read_text(encoding="utf-8")


# ---- the page


def test_all_sections_are_there_with_figures_pictures_and_code(written: tuple[int, str]) -> None:
    status, text = written
    assert status == 0
    parsed = Page(text)
    assert [key for key in parsed.sections if key] == KEYS
    for key in KEYS:
        assert parsed.pictures[key] == PICTURES.get(key, 1), key
        assert parsed.rows[key] >= 3, key
        words = parsed.sections[key]
        for heading in ("What to see", "Measured", "Checked", "The code"):
            assert heading in words, (key, heading)
        assert "def " in words
    assert "✗" not in text.split("</style>")[1]
    assert 'class="wrong"' not in text


def test_the_page_names_the_machine(written: tuple[int, str]) -> None:
    here = measure.machine()
    for fact in (here.processor, here.python, here.numpy, f"{here.cores} cores", here.slipstream):
        assert fact in written[1]


def test_the_page_stands_alone(written: tuple[int, str]) -> None:
    text = written[1]
    parsed = Page(text)
    assert all(link.startswith("#") for link in parsed.links)
    assert {link[1:] for link in parsed.links} <= set(parsed.sections)
    assert not parsed.tags & {"script", "link", "img", "iframe", "object", "embed", "image", "use"}
    assert not re.search(r"https?:|//\w|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text and "width=device-width" in text


def test_the_page_speaks_to_users(written: tuple[int, str]) -> None:
    """Numbers of statements and annotations are for those who read the code."""
    body = written[1].split("</style>")[1]
    assert not re.search(r"\b[APHMCKW]\d{1,2}\b", re.sub(r"<[^>]*>", " ", body))
    assert "Any" not in body and "noqa" not in body and "nan" not in body


def test_pictures_are_well_formed_and_inside_their_frame(written: tuple[int, str]) -> None:
    pictures = re.findall(r"<svg.*?</svg>", written[1], re.DOTALL)
    assert len(pictures) == sum(PICTURES.get(key, 1) for key in KEYS)
    for picture in pictures:
        root = ET.fromstring(picture)
        _, _, width, height = (float(number) for number in root.attrib["viewBox"].split())
        assert root.attrib["role"] == "img" and root.attrib["aria-label"]
        for part in root.iter():
            for name, most in (("x", width), ("y", height), ("cx", width), ("cy", height)):
                if name in part.attrib:
                    assert -1 <= float(part.attrib[name]) <= most + 1, (root.attrib["aria-label"], part.attrib)
            if part.tag == "rect":
                assert float(part.attrib["x"]) + float(part.attrib["width"]) <= width + 1
                assert float(part.attrib["y"]) + float(part.attrib["height"]) <= height + 1


# ---- the command


def test_settings_are_as_before(written: tuple[int, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = engine.kind(), dict(engine.limits()), engine.planning(), engine.workers()
    monkeypatch.setattr(command, "STEPS", dict(list(command.STEPS.items())[2:4]))
    assert command.main(["--quick", "--output", str(tmp_path / "tour.html")]) == 0
    assert (engine.kind(), dict(engine.limits()), engine.planning(), engine.workers()) == before


def test_the_terminal_shows_results_and_where_the_page_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(command, "STEPS", {"a graph": command.STEPS["a graph"]})
    path = tmp_path / "page.html"
    assert main(["tour", "--quick", "--open", "--output", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "What needs what" in shown and "right" in shown and str(path) in shown
    assert opened == [path.as_uri()]


def test_an_experiment_that_fails_is_told_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("no <luck> today")

    monkeypatch.setattr(command, "STEPS", {"a broken one": broken, "a graph": command.STEPS["a graph"]})
    path = tmp_path / "page.html"
    assert command.main(["--quick", "--output", str(path)]) == 1
    text = path.read_text(encoding="utf-8")
    assert "a broken one" in text and "no &lt;luck&gt; today" in text and 'id="graph"' in text
    assert "failed" in capsys.readouterr().out


def test_a_wrong_result_is_not_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asynchronous: None) -> None:
    found = experiments.graph(QUICK, silent)
    wrong = replace(found, checks=[measure.Check("two and two is five", False)])
    monkeypatch.setattr(command, "STEPS", {"a graph": lambda *_: story.tell_graph(wrong)})
    path = tmp_path / "page.html"
    assert command.main(["--quick", "--output", str(path)]) == 1
    assert '<li class="wrong">two and two is five</li>' in path.read_text(encoding="utf-8")


def test_bad_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--output", str(tmp_path / "nowhere" / "tour.html")]) == 2
    assert "there is no folder" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        command.main(["--slowly"])
    assert ended.value.code == 2


# ---- the experiments, by their form


def test_products(asynchronous: None) -> None:
    """A1, A2: issued is a part of finished, and results are right."""
    found = experiments.products(QUICK, silent)
    assert 0 < found.issued <= found.finished
    assert found.numpy > 0 and found.numpy32 > 0
    assert all(check.right for check in found.checks)


def test_waits(asynchronous: None) -> None:
    """A2-A5, A12: every way waits, and gives the value."""
    found = experiments.waits(QUICK, silent)
    assert set(found.ways) == {"npx.waitall()", "b.wait_to_read()", "b.asnumpy()", "b.sum().item()"}
    assert all(seconds >= found.issue > 0 for seconds in found.ways.values())
    assert 0 < found.first <= found.everything
    assert all(check.right for check in found.checks)


def test_increments_and_their_model(asynchronous: None) -> None:
    """A8: the data are for growing n, the model is made of t1, t2 and t3 alone."""
    for found in experiments.increments(QUICK, silent):
        counts = [n for n, _ in found.waiting]
        assert counts == [n for n, _ in found.ahead] == sorted(set(counts))
        assert counts[0] == 1 and counts[-1] == QUICK.calls
        assert all(seconds > 0 for _, seconds in found.waiting + found.ahead)
        assert found.t1 > 0 and found.t2 > 0 and found.t3 >= 0
        for n in counts:
            assert found.model_waiting(n) == pytest.approx(n * (found.t1 + found.t2 + found.t3))
            assert found.model_ahead(n) == pytest.approx(found.t1 + n * found.t2 + found.t3)
        assert found.model_waiting(1) == pytest.approx(found.model_ahead(1))
        assert all(check.right for check in found.checks)


def test_run_ahead(asynchronous: None) -> None:
    """A11: time and memory of every way, sampled from start to end."""
    found = experiments.run_ahead(QUICK, silent)
    assert [way.name for way in found.ways] == list(story.STYLES)
    for way in found.ways:
        assert 0 < way.issued <= way.finished
        moments = [sample.seconds for sample in way.samples]
        assert len(moments) >= 2 and moments == sorted(moments) and moments[-1] >= way.finished
        assert max(sample.in_use for sample in way.samples) <= way.peak
        assert 0 < way.peak_calls <= QUICK.batches * 10
    assert all(check.right for check in found.checks)
    # With a barrier, one batch and what is made of it are there at once.
    assert found.way(experiments.EACH).peak < 8 * found.batch_bytes


def test_timeline(asynchronous: None) -> None:
    """A6: what ran was recorded before; Python's lane has records and waits."""
    found = experiments.timeline(QUICK, silent)
    assert found.threads[0] == "Python"
    assert {"record", "run"} <= {span.kind for span in found.spans}
    assert all(0 <= span.start <= span.end <= found.seconds for span in found.spans)
    assert {"matmul", "sum"} <= set(found.operations)
    records = {span.sequence: span for span in found.spans if span.kind == "record"}
    assert len(records) == 3 * QUICK.watched
    for span in found.spans:
        if span.kind == "run":
            assert records[span.sequence].start <= span.start
    assert all(check.right for check in found.checks)


def test_graph_is_the_recorded_one(asynchronous: None) -> None:
    """A6, A7: the graph of z = x * y + 2, as recorded and as run."""
    found = experiments.graph(QUICK, silent)
    x, y, product, total = found.written
    assert (product.name, product.after) == ("multiply", (x.number, y.number))
    assert (total.name, total.after, total.scalars) == ("add", (product.number,), 1)
    assert (x.after, y.after) == ((), ())
    assert [node.code for node in found.written] == [
        "x = np.ones((1, 2))",
        "y = np.ones((1, 2))",
        *["z = x * y + 2"] * 2,
    ]
    assert [node.name for node in found.run] == [x.name, y.name, "multiply + add"]
    assert found.run[-1].after == tuple(node.number for node in found.run[:2])
    assert found.value == [[3.0, 3.0]]


def test_responsive(asynchronous: None) -> None:
    """A9: Python's own work is counted while products run."""
    found = experiments.responsive(QUICK, silent)
    assert found.beats == sorted(found.beats) and all(0 <= beat <= found.done for beat in found.beats)
    assert found.numpy_beats == sorted(found.numpy_beats) and found.numpy_beats[0] == found.numpy_done > 0
    assert 0 < found.pause <= found.done
    assert all(check.right for check in found.checks)


def test_devices(asynchronous: None) -> None:
    """P1, P3, P4, P5: chains on two devices, and copies of results that are still to come."""
    found = experiments.devices(QUICK, silent)
    assert min(found.first, found.second, found.both, found.copy, found.run_and_copy) > 0
    assert all(check.right for check in found.checks)


# ---- the parts


def test_workers_held(asynchronous: None) -> None:
    """Nothing is run before the workers are released, and all of it after."""
    x = programs.small()
    x.wait_to_read()
    with measure.workers_held() as release:
        y = programs.add(x, 1)
        assert not y.is_ready()
        release()
    assert y.tolist() == [[4.0, 4.0]]
    with contextlib.suppress(KeyError), measure.workers_held():
        raise KeyError  # whatever happens inside, the workers are released
    assert programs.add(x, 1).tolist() == [[4.0, 4.0]]


def test_turns_end_early() -> None:
    assert list(measure.turns(3, 60)) == [0, 1, 2]
    assert list(measure.turns(3, -1)) == [0]


def test_programs_count_as_the_users(asynchronous: None) -> None:
    """Their lines are those that traces and errors name, and the page shows their text."""
    from slipstream import profiler

    with profiler.trace() as trace:
        programs.small().wait_to_read()
    assert {event["source"][0] for event in trace.events if event["type"] == "record"} == {programs.FILE}
    assert programs.source(programs.small).startswith("def small()")


def test_what_comes_out_against_expectation_is_said() -> None:
    found = experiments.Products(times=10, n=1000, numpy=2, numpy32=1, issued=0.001, finished=0.5, checks=[])
    good = " ".join(story.tell_products(found).seen)
    assert "2 times as fast as NumPy in the same float32" in good and "Against expectation" not in good
    slow = replace(found, issued=0.9, finished=1.0, numpy=0.5, numpy32=0.25)
    bad = " ".join(story.tell_products(slow).seen)
    assert "Against expectation: saying it took 90%" in bad and "4 times slower than NumPy in the same float32" in bad

    pair = experiments.Devices(300, 128, first=1, second=1, both=2.5, run=1, copy=0.1, run_and_copy=1.2, checks=[])
    words = story.tell_devices(pair, cores=1).seen
    assert all(sentence.startswith("Against expectation") and "one core" in sentence for sentence in words)
    quick = replace(pair, both=1.1, run_and_copy=1.05)
    assert not any("Against" in sentence for sentence in story.tell_devices(quick, cores=2).seen)


def test_the_model_is_not_assumed_to_hold() -> None:
    found = experiments.Increments(
        (20, 20), t1=1e-6, t2=2e-6, t3=3e-6, waiting=[(1, 6e-6), (1000, 6e-3)], ahead=[(1, 6e-6), (1000, 2e-3)],
        skipping=1e-3, numpy=1e-3, checks=[],
    )  # fmt: skip
    assert story.tell_increments([found]).seen[1] == "On 20×20, waiting once was 3 times as fast as waiting each time."
    off = replace(found, ahead=[(1, 6e-6), (1000, 9e-3)])
    words = story.tell_increments([off]).seen[1]
    assert "1.5 times slower" in words and "against expectation" in words and "took 4.49 times what the model" in words
    python = replace(found, t1=2e-6, t2=1e-6)
    section = story.tell_increments([python])
    assert "Python is the slower side" in section.seen[1]
    assert "n t1 + t2 + t3" in section.pictures[0].svg
    assert "not handed over" not in section.seen[1]
    assert "not handed over" in story.tell_increments([replace(found, shape=(1, 2))]).seen[1]


@pytest.mark.parametrize("module", [charts, story])
def test_examples(module: Any) -> None:
    assert doctest.testmod(importlib.import_module(module.__name__)).failed == 0


def test_numbers_in_words() -> None:
    assert [charts.seconds(value) for value in (0, 5e-9, 999.9e-6, 1e-3, 0.0123, 1.5, 90)] == [
        *("0 ns", "5 ns", "1 ms", "1 ms", "12.3 ms", "1.5 s", "90 s")
    ]
    assert [charts.size(value) for value in (100, 2048, 3 << 20, 5 << 30)] == ["100 bytes", "2 KiB", "3 MiB", "5 GiB"]
    for top in (1e-9, 0.3, 1, 7, 12345.0):
        marks = charts.ticks(top)
        assert marks[0] == 0 and marks[-1] <= top * (1 + 1e-9) and 2 <= len(marks) <= 7
    assert charts.ticks(0) == [0.0]


def test_layers_of_a_graph() -> None:
    a, b, c = (charts.Vertex(key, key, (), needs) for key, needs in (("a", ()), ("b", ("a",)), ("c", ("b", "d"))))
    d = charts.Vertex("d", "d", (), ())
    assert [[vertex.key for vertex in row] for row in charts.layers([a, b, c, d])] == [["a"], ["b", "d"], ["c"]]


def test_words_are_never_markup() -> None:
    assert page.escape("a < b took 5 ms") == "a &lt; b took 5\u00a0ms"
    assert page.prose("call `f(x)` & go") == "call <code>f(x)</code> &amp; go"
    assert "&lt;b&gt;" in charts.bars("<title>", [charts.Bar("<b>", 1.0)])
