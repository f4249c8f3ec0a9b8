"""Every N-th allocation fails: a read gives the right bits or says that memory was missing, and the engine goes on."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import replay
from generate import generate
from program import Program, Step

from slipstream import engine, errors, np, npx

ASYNC = engine.kind() == "async"
PROGRAMS = 6


def run_with_faults(program: Program, every: int) -> tuple[dict[str, Any], set[str]]:
    """The arrays at the end, and the names whose numbers nobody can know: a call that writes to them was refused."""
    lock = threading.Lock()
    names = replay.Ours(replay.Dam(False)).names(program.seed, lock)
    unknown: set[str] = set()
    with engine._fail_allocations(every):
        run_steps(program.steps, names, unknown)
        found = dict(replay.arrays_of(names))
        for number, steps in enumerate(program.threads):
            own = replay.Ours(replay.Dam(False)).names(program.seed + 1 + number, lock) | replay.arrays_of(names)
            run_steps(steps, own, unknown)
            found |= replay.arrays_of(own)
    return found, unknown


def run_steps(steps: tuple[Step, ...], names: dict[str, Any], unknown: set[str]) -> None:
    """Runs what can be run. `unknown` holds memory that a refused call would have written, and all made from it."""
    roots: dict[str, str] = {}
    shifted = False  # a draw did not happen, so the next ones give other numbers
    for step in steps:
        refused = False
        try:
            exec(step.compiled, names)
        except (MemoryError, NameError) as error:
            assert isinstance(error, (errors.OutOfMemoryError, NameError)), repr(error)
            refused = True
        if step.binds:
            roots[step.binds] = step.root
        used = {roots.get(name, name) for name in step.uses}
        shifted |= refused and step.rounding == "draw"
        if (refused and step.writes) or used & unknown or (shifted and step.rounding == "draw"):
            unknown.add(step.root)
    unknown |= {name for name, root in roots.items() if root in unknown}


@pytest.mark.parametrize("every", range(1, 14))
def test_random_programs_survive_failed_allocations(every: int) -> None:
    programs = [generate(seed) for seed in range(every * 100, every * 100 + PROGRAMS)]
    with replay.SYNC.applied():
        expected = [replay.run(program, replay.SYNC) for program in programs]
    right = refused = 0
    for program, bits in zip(programs, expected, strict=True):
        found, unknown = run_with_faults(program, every)
        for name, array in found.items():
            try:
                got = replay.bits(array)
            except errors.OutOfMemoryError as error:
                refused += 1
                assert "out of memory" in str(error)
                continue
            if name not in unknown:
                right += 1
                assert got == bits[name], f"seed {program.seed}, every {every}: {name}\n{program}"
        del found
        forget_failures()
        assert (np.ones(10) + 1).sum().item() == 20
    assert refused
    assert right or every < 3


def forget_failures() -> None:
    try:
        npx.waitall()
    except BaseExceptionGroup as group:
        assert group.split(errors.OutOfMemoryError)[1] is None, group


def test_memory_comes_back_after_failures() -> None:
    npx.waitall()
    before = engine.memory()["in_use"]
    for every in (1, 2, 3, 5):
        for seed in range(5):
            run_with_faults(generate(seed), every)
            forget_failures()
    npx.waitall()
    assert engine.memory()["in_use"] == before


def test_a_failed_allocation_is_an_error_of_its_operation() -> None:
    x = np.ones(1000)
    x.wait_to_read()
    with engine._fail_allocations(1):
        y = x + 1
        z = y * 2
        errors_of = []
        message = r"add failed: out of memory.*test_allocation\.py, line \d+"
        for array in (y, z, y):
            with pytest.raises(errors.OutOfMemoryError, match=message) as caught:
                array.wait_to_read()
            errors_of.append(caught.value)
    assert {error.operation for error in errors_of} == {"add"}
    assert {error.file for error in errors_of} == {__file__}
    assert len({error.line for error in errors_of}) == 1
    assert isinstance(errors_of[0], MemoryError)
    del y, z
    assert (x + 1).sum().item() == 2000


def test_freeing_arrays_lets_the_program_go_on() -> None:
    npx.waitall()
    engine.empty_cache()
    megabyte = 1 << 20
    with engine.limits(memory=engine.memory()["in_use"] + 4 * megabyte):
        held = [np.zeros(megabyte, dtype="uint8") for _ in range(3)]
        npx.waitall()
        more = np.zeros(2 * megabyte, dtype="uint8")
        with pytest.raises(errors.OutOfMemoryError):
            more.wait_to_read()
        held.clear()
        assert np.zeros(2 * megabyte, dtype="uint8").sum().item() == 0
