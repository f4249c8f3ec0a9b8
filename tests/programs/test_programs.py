"""Random programs give the same bits in every setting of the engine, and agree with NumPy line by line.

At least 2,000 programs of 20 to 200 steps run here; `make soak` runs a million steps. A failure shows the seed, what
differs, and a small program that still fails.
"""

from __future__ import annotations

import re

import check
import oracle
import pytest
import replay
from generate import generate, seeds
from program import DTYPES, Program, Step

from slipstream import engine

ASYNC = engine.kind() == "async"
BLOCKS, SIZE = 20, 100

# Under the synchronous engine one block is enough: the asynchronous run takes its own reference from that engine.


@pytest.mark.parametrize("block", range(BLOCKS if ASYNC else 1))
def test_programs_mean_the_same_in_every_setting(block: int) -> None:
    programs = check.check_block(seeds(block, SIZE))
    assert len(programs) == SIZE
    assert all(20 <= len(program) <= 200 for program in programs)


@pytest.mark.skipif(not ASYNC, reason="the same programs as above")
@pytest.mark.parametrize("block", range(2))
def test_programs_of_many_threads(block: int) -> None:
    """Eight threads record at the same time; what they share, they read or add to under a lock."""
    settings = (replay.BY_NAME["2 workers"], replay.BY_NAME["8 workers"], replay.BY_NAME["one by one, 8 workers"])
    for seed in seeds(1000 + block, 8):
        program = generate(seed, least=100, threads=8)
        for setting in settings:
            found = check.compare(program, setting, times=3)
            assert not found, check.report(program, setting, found)


# ---- the tests of the test


def test_programs_are_what_they_should_be() -> None:
    programs = [generate(seed) for seed in seeds(0, 60)]
    text = "\n".join(str(program) for program in programs)
    assert str(generate(7)) == str(programs[7])
    for dtype in DTYPES:
        assert f"'{dtype}'" in text
    patterns = {
        "views backwards": r"\[.*::-1.*\]$",
        "views with steps": r"= \w+\[.*:.*:[23].*\]",
        "transposes": r"\.T\b|np\.transpose|swapaxes",
        "broadcasts": r"np\.broadcast_to",
        "shapes": r"np\.reshape",
        "operators in place": r"^\w+ [-+*/&|^%]+= ",
        "writes to parts": r"^\w+\[.*\] = ",
        "writes over themselves": r"^(\w+)\[.*\] = \1\[",
        "writes by masks": r"^\w+\[\w+ > 0\] = ",
        "writes between devices": r"^put\(",
        "parts of complex numbers": r"\.imag\b",
        "outputs": r"np\.add\(.* out=",
        "outputs of reductions": r"np\.(sum|max|cumsum)\(.* out=",
        "reductions": r"np\.(sum|mean|var|std|min|max|argmax|cumsum)\(",
        "reductions of some": r"np\.(sum|mean|var|std|min|max)\(.* where=",
        "integers as indices": r"= \w+\[.*% \d+.*\]$",
        "masks as indices": r"chosen\(",
        "products": r"np\.(matmul|dot)|@",
        "elementwise work on products": r"np\.matmul\(.*\) [-+*] ",
        "random numbers": r"draw\(",
        "shuffles": r"^shuffle\(",
        "casts": r"\.astype\(",
        "joins": r"np\.concatenate",
        "dropped handles": r"^del ",
        "reads": r"^read\(",
        "host calls": r"host\(",
        "other devices": r"to\(\w+, [12]\)",
        "locks": r"^with lock: ",
    }
    missing = [what for what, pattern in patterns.items() if not re.search(pattern, text, re.MULTILINE)]
    assert not missing
    assert sum(bool(program.threads) for program in programs) > 4


def test_a_difference_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [Step(f"v{i} = data({i}, (3,), 'float32', 0)", f"v{i}", f"v{i}") for i in range(12)]
    steps += [
        Step("w = host(v3)", "w", "w", uses=("v3",)),
        Step("w += v5", writes="w", root="w", uses=("w", "v5")),
    ]
    program = Program(1, tuple(steps))
    assert oracle.disagreement(program) == ""
    calls = 0

    def twist(x: replay.np.ndarray) -> object:
        nonlocal calls
        calls += 1
        return x * (1 + calls)

    monkeypatch.setattr(replay, "twist", twist)
    found = oracle.disagreement(program)
    assert "w = host(v3)" in found
    assert found.count("array(") == 2
    small = check.shrink(program, oracle.disagreement)
    assert [step.code for step in small.steps] == ["v3 = data(3, (3,), 'float32', 0)", "w = host(v3)"]
    setting = replay.BY_NAME["2 workers"]
    found = check.compare(program, setting)
    assert found.startswith("w: ")
    text = check.report(program, setting, found)
    assert "check.py 1 '2 workers'" in text
    assert "w = host(v3)" in text and "v9" not in text
