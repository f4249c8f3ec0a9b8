"""The benchmarks: goals are judged rightly, whatever fails is a dash with its reason, and a small run of all works."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy
import pytest

from slipstream import engine

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import picture, report, results, runner, worker  # noqa: E402
from benchmarks.peers import PEERS, NumPy  # noqa: E402
from benchmarks.workload import COMPILED, EAGER, NO_SKIP, Limit, Workload, find  # noqa: E402


def row(seconds, goals, **settings):
    """A row with these times."""
    made = results.Row(Workload("w", "a workload", lambda p: None, {}, {}, goals=goals, **settings))
    for name, value in seconds.items():
        made.timings[name] = results.Timing(value, value, 1, value)
    return made


SAVED = {
    "when": "today",
    "machine": {"processor": "P", "cores": 2, "memory": "1 GiB", "system": "S", "python": "3", "load before": 0.0},
    "versions": {"slipstream": "1", "numpy": "2"},
    "peers": ["numpy"],
}


# ---- verdicts


@pytest.mark.parametrize(
    ("limit", "peer", "ratio", "verdict"),
    [
        (Limit(0.5, ("numpy",)), "numpy", 1 / 4, "met"),
        (Limit(0.2, ("numpy",)), "numpy", 1 / 4, "missed"),
        (Limit(0.5, (EAGER,)), "torch", 1 / 2, "met"),
        (Limit(1.0, (COMPILED,)), "jax, compiled", 2.0, "missed"),
        (Limit(1.0, ("mlx",)), None, None, "no peer"),
    ],
)
def test_ratio_is_to_the_best_peer_the_goal_names(limit, peer, ratio, verdict):
    times = {"slipstream": 1.0, "numpy": 4.0, "torch": 2.0, "torch, compiled": 3.0, "jax, compiled": 0.5}
    found = results.verdicts(row(times, [limit]))[0]
    assert (found.peer, found.ratio, found.text) == (peer, ratio, verdict)


def test_a_goal_met_only_by_leaving_work_out_says_so():
    times = {"slipstream": 0.1, "slipstream, no skipping": 3.0, "numpy": 2.0}
    found = results.verdicts(row(times, [Limit(1.0, ("numpy",))], skips=True))[0]
    assert found.text == "met by skipping" and found.missed
    assert report.both(found) == "0.050 (1.50)"


def test_a_goal_may_judge_another_way_of_ours_and_compare_with_one():
    goals = [Limit(1.0, ("jax, compiled",), of="hybridized"), Limit(0.5, ("slipstream, waiting",))]
    times = {"slipstream": 1.0, "slipstream, hybridized": 3.0, "slipstream, waiting": 4.0, "jax": 9.0}
    first, second = results.verdicts(row({**times, "jax, compiled": 2.0}, goals))[:2]
    assert (first.ours, first.peer, first.ratio, first.text) == (
        "slipstream, hybridized",
        "jax, compiled",
        1.5,
        "missed",
    )
    assert (second.ours, second.peer, second.ratio) == ("slipstream", "slipstream, waiting", 0.25)
    assert first.limit.text == "hybridized ≤ 1 × JAX, compiled" and second.limit.text == "≤ 0.5 × Slipstream, waiting"
    assert results.verdicts(row(times, [Limit(1.0, (EAGER,))]))[0].peer == "jax"


def test_a_goal_may_be_about_memory():
    goal = Limit(1.1, ("slipstream, waiting",), memory=True)
    made = row({"slipstream": 1.0, "slipstream, waiting": 4.0}, [goal], memory=True)
    made.timings["slipstream"].memory, made.timings["slipstream, waiting"].memory = 90, 60
    found = results.verdicts(made)[0]
    assert found.ratio == 1.5 and found.text == "missed" and goal.text == "memory ≤ 1.1 × Slipstream, waiting"


# The table of speed that the design promises.
DESIGN = {
    "issue": ["≤ 0.5 × NumPy"],
    "chained": ["≤ 0.8 × NumPy"],
    "sync": ["≤ 2 × NumPy", "≤ 0.2 × JAX, MLX, MXNet"],
    "add1-waited": ["≤ 1 × PyTorch"],
    "add1-queued": ["≤ 0.9 × PyTorch"],
    "add1-chained": ["≤ 0.3 × PyTorch"],
    "randmm": ["≤ 0.8 × the best peer"],
    "mm": ["≤ 1 × the best peer"],
    "tsum": ["≤ 0.6 × the best peer"],
    "chain10": ["≤ 1 × the best compiled peer"],
    "mlp1": ["≤ 0.5 × PyTorch", "hybridized ≤ 1 × JAX, compiled"],
    "train-barrier": ["≤ 0.9 × PyTorch, JAX, MXNet"],
    "train": [
        "≤ 0.9 × PyTorch, JAX, MXNet",
        "≤ 1.15 × Slipstream, products alone",
        "≤ 1 × Slipstream, waiting",
        "memory ≤ 1.1 × Slipstream, waiting",
    ],
}


@pytest.mark.parametrize("name", DESIGN)
def test_goals_are_those_of_the_design(name):
    assert [goal.text for goal in find([name])[0].goals] == DESIGN[name]


def test_the_engines_own_goal_comes_last():
    times = {"slipstream": 1.2, "slipstream, sync engine": 1.0}
    *_, own = results.verdicts(row(times, []))
    assert own.ratio == 1.2 and own.missed


def test_saved_rows_come_back():
    workload = find(["mm"])[0]
    first = results.Row(workload, timings={"numpy": results.Timing(1.0, 2.0, 3, 4.0)}, reasons={"jax": "why"})
    again = results.from_json(json.loads(json.dumps(results.as_json(first))), workload)
    assert again == first


def test_memory_stands_beside_the_time_where_a_workload_asks_for_it():
    shot = {"best": 1.0, "median": 1.0, "runs": 1, "seconds": 1.0}
    for memory, text in ((True, "1.00 s (12.3 MB)"), (False, "1.00 s")):
        made = row({}, [], memory=memory)
        timing = made.timings["slipstream"] = results.Timing()
        timing.add({**shot, "memory": 12_300_000})
        timing.add({**shot, "memory": 7})
        assert report.brief(made).split("w", 1)[1].strip() == text


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are Linux's to tell")
def test_the_peak_of_memory_is_seen_and_forgotten():
    def grow(p):
        return lambda: numpy.ones(60_000_000, dtype="uint8").sum()

    prepared = worker.Prepared(NumPy(), Workload("w", "", grow, {}, {}, check=bool), "", quick=True)
    assert 59e6 < prepared.shot(0.0)["memory"] < 80e6
    prepared.run = lambda: 0
    assert prepared.shot(0.0)["memory"] < 30e6


# ---- the workloads


def test_names_and_families_select():
    assert [w.name for w in find(["mm", "issue"])] == ["issue", "mm"]
    assert {w.family for w in find(["growth"])} == {"growth"}
    with pytest.raises(LookupError, match="called nothing"):
        find(["nothing"])


@pytest.mark.parametrize("workload", find([]), ids=lambda w: w.name)
def test_the_small_version_runs_and_agrees_with_numpy(workload):
    peer = PEERS["slipstream"]()
    prepared = worker.Prepared(peer, workload, "", quick=True)
    assert prepared.shot(0.0)["best"] > 0


@pytest.mark.parametrize(("name", "way"), [(w.name, way) for w in find([]) for way in w.ours])
def test_other_ways_of_ours_agree_with_numpy_too(name, way):
    prepared = worker.Prepared(PEERS["slipstream"](), find([name])[0], way, quick=True)
    assert prepared.shot(0.0)["best"] > 0


@pytest.mark.parametrize("workload", [w for w in find([]) if w.skips], ids=lambda w: w.name)
def test_with_skipping_off_all_is_done_when_the_clock_stops(workload):
    prepared = worker.Prepared(PEERS["slipstream"](), workload, NO_SKIP, quick=True)
    with prepared.settings():
        before = engine.stats()
        prepared.finish(prepared.run())
        after = engine.stats()
    assert after["executed"] - before["executed"] == after["recorded"] - before["recorded"] > 1
    assert after["in_flight_ops"] == 0


def test_a_wrong_result_is_not_timed():
    class Wrong(NumPy):
        def array(self, values):
            return values + 1

    with pytest.raises(ArithmeticError, match="wrong result: off by"):
        worker.Prepared(Wrong(), find(["axpy"])[0], "", quick=True)


# ---- processes


def measured(workloads, peers, **pythons):
    with runner.Runner(peers, pythons, runner.Effort(True, 1, 0.0, 0)) as session:
        return [session.measure(w) for w in find(workloads)], session.versions()


def test_contenders_of_a_row():
    keys = [c.key for c in runner.contenders(find(["chain10"])[0], ["numpy", "jax"])]
    assert keys == ["slipstream", "slipstream, sync engine", "numpy", "jax", "jax, compiled"]
    processes = {c.key: c.process for c in runner.contenders(find(["train"])[0], [])}
    assert processes["slipstream, waiting"] == "slipstream, waiting"  # whose memory is its own
    assert "slipstream, no skipping" in [c.key for c in runner.contenders(find(["add1-queued"])[0], [])]
    assert [c.peer for c in runner.contenders(find(["size-1e3"])[0], ["numpy", "jax"])][2:] == ["numpy"]


def test_everybody_runs_in_turn_and_failures_are_reasons(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho it broke >&2\nexit 3\n")
    broken.chmod(0o755)
    (found,), versions = measured(["add1-queued"], ["numpy", "torch", "mlx"], torch=str(broken), mlx="/no/such/python")
    assert set(found.timings) == {"slipstream", "slipstream, sync engine", "slipstream, no skipping", "numpy"}
    assert found.reasons == {
        "torch": "the process ended with status 3: it broke",
        "mlx": "not installed (`make peers`)",
    }
    assert set(versions) == {"slipstream", "numpy"}


def test_a_peer_that_raises_is_a_reason():
    (found,), _ = measured(["chain10"], ["numpy"])
    assert found.reasons == {}
    process = runner.Process(runner.Contender("numpy"), sys.executable)
    with pytest.raises(RuntimeError, match="NotImplementedError: NumPy has no compiler"):
        process.ask(do="prepare", workload="chain10", variant="compiled", quick=True)
    assert process.ask(do="drop") == {}  # and it goes on
    process._running.send_signal(signal.SIGSTOP)  # so that it cannot be quicker than the look
    with pytest.raises(runner.LostError, match="no answer"):
        process.ask(patience=0.0, do="drop")
    process.end()


# ---- reports


def test_durations_have_three_digits():
    given = [1.5, 0.0123, 1e-6, 2.34e-4, 7e-10, None]
    assert [report.duration(s) for s in given] == ["1.50 s", "12.3 ms", "1.00 µs", "234 µs", "0.70 ns", "–"]


def test_tables_replace_the_last_ones_and_the_readme_has_the_headlines(tmp_path):
    readme, page = tmp_path / "README.md", tmp_path / "speed.md"
    readme.write_text("# Title\n")
    page.write_text("# All\n")
    times = {"slipstream": 1.0, "numpy": 4.0}
    for ratio in (0.5, 0.25):
        goals = [Limit(ratio, ("numpy",))]
        rows = [row(times, goals, headline=True), row({**times, "slipstream": 2.0}, goals)]
        report.update_docs(readme, page, SAVED, rows)
    assert readme.read_text().startswith("# Title\n\n## Speed\n\n<!--")
    assert readme.read_text().count("| **w**") == 1 and page.read_text().count("| **w**") == 2
    assert "| **w**: a workload | 1.00 s | NumPy 4.00 s | 0.25 | ≤ 0.25 × NumPy |" in readme.read_text()
    assert "| **w**: a workload | 2.00 s | NumPy 4.00 s | 0.50 ✗ | ≤ 0.25 × NumPy |" in page.read_text()


def test_picture_is_one_well_formed_file():
    times = {"slipstream": 1.0, "slipstream, no skipping": 2.0, "numpy": 40.0, "torch, compiled": 0.5}
    rows = [row(times, [Limit(1.0, (EAGER,))], skips=True)]
    for workload in find(["growth"]):
        rows.append(results.Row(workload, timings={"numpy": results.Timing(1.0, 2.0, 3, 4.0)}))
    page = picture.page(SAVED, rows)
    for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(drawing)
    assert page.count("<svg") == 4 and "http" not in page


def test_the_command_writes_what_it_says(tmp_path, capsys):
    assert command.main(["--quick", "--peers", "numpy", "--out", str(tmp_path), "issue", "ops-1e2"]) == 0
    printed = capsys.readouterr().out
    assert "issue" in printed and "ops-1e2" in printed
    saved = json.loads((tmp_path / "bench.json").read_text())
    assert [r["name"] for r in saved["rows"]] == ["issue", "ops-1e2"]
    assert (tmp_path / "bench.html").read_text().startswith("<!doctype html>")
    again = ["--from", str(tmp_path / "bench.json"), "--out", str(tmp_path), "--markdown"]
    assert command.main(again) == 0
    assert report.BEGIN in capsys.readouterr().out


def test_a_wrong_name_is_an_error():
    done = subprocess.run([sys.executable, "-m", "benchmarks", "nothing"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "no workload or family is called nothing" in done.stderr
