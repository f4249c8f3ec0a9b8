"""Equal calls of a batch are computed once: same values as NumPy's, same bits as one by one, and apart when written."""

from collections.abc import Callable

import numpy
import pytest
from batches import one_batch
from replay import SYNC

from slipstream import engine, np, npx

asynchronous = pytest.mark.skipif(engine.kind() == "sync", reason="the synchronous engine plans nothing")


@pytest.fixture
def x(rng: numpy.random.Generator) -> np.ndarray:
    made = np.array(rng.integers(-4, 5, (70, 90)).astype("float32"))
    made.wait_to_read()
    return made


def spared() -> str:
    """What the last batch took from equal calls."""
    return "\n".join(line for line in engine.explain().splitlines() if "equal call" in line)


# ---- what is shared


@asynchronous
def test_a_result_that_nobody_holds_is_read_from_an_equal_call(x: np.ndarray) -> None:
    before = engine.stats()
    with one_batch():
        a, b = x.sum(axis=1), x.sum(axis=1) * 2
    assert spared() == "1 not run, because an equal call gives the same: sum"
    after = engine.stats()
    assert after["skipped"] - before["skipped"] == 1
    assert after["recorded"] - before["recorded"] == after["executed"] - before["executed"] + 1
    assert (a.asnumpy() * 2 == b.asnumpy()).all() and (a.asnumpy() == x.asnumpy().sum(1)).all()


@asynchronous
def test_the_first_of_two_may_be_the_one_that_nobody_holds(x: np.ndarray) -> None:
    with one_batch():
        a, b = x @ x.T + 1, x @ x.T
    assert spared() == "1 not run, because an equal call gives the same: matmul"
    b -= 5
    expected = x.asnumpy() @ x.asnumpy().T
    assert (a.asnumpy() == expected + 1).all() and (b.asnumpy() == expected - 5).all()


@asynchronous
def test_two_that_the_program_holds_are_computed_once_and_stay_apart(x: np.ndarray) -> None:
    with one_batch():
        a, b = x.max(axis=0), x.max(axis=0)
        b += 1
        c = x.max(axis=0)
    assert spared() == "2 that only copy what an equal call gives: max"
    expected = x.asnumpy().max(0)
    a *= 3
    for value, wanted in ((a, expected * 3), (b, expected + 1), (c, expected)):
        assert (value.asnumpy() == wanted).all()


@asynchronous
def test_dear_elementwise_calls_that_the_program_holds_are_computed_once(x: np.ndarray) -> None:
    with one_batch():
        a, b = np.exp(x), np.exp(x)
        c, d = x + 1, x + 1
    assert spared() == "1 that only copy what an equal call gives: exp"
    a *= 0
    c *= 0
    assert b.asnumpy().tobytes() == np.exp(x).asnumpy().tobytes()
    assert (d.asnumpy() == x.asnumpy() + 1).all()


@asynchronous
def test_equal_expressions_are_equal_arguments(x: np.ndarray) -> None:
    with one_batch():
        top = np.exp(x * 2).sum(axis=1)
        again = np.log(np.exp(x * 2).sum(axis=1))
    assert spared() == "1 not run, because an equal call gives the same: sum"
    (skipped,) = (line for line in engine.explain().splitlines() if "nobody can read" in line)
    assert skipped.startswith("2 skipped, because nobody can read them: ")
    assert set(skipped.split(": ")[1].split(", ")) == {"multiply", "exp"}
    assert (np.log(top).asnumpy() == again.asnumpy()).all()


def spelled_softmax(x: np.ndarray) -> np.ndarray:
    raised = np.exp(x - x.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


@asynchronous
@pytest.mark.parametrize(
    ("pair", "names"),
    [
        (lambda x: (spelled_softmax(x), np.log(spelled_softmax(x))), {"max", "sum"}),
        (lambda x: (npx.softmax(x) * 2, npx.softmax(x)), {"softmax"}),
        (lambda x: (x.mean(1), x.var(1)), {"sum"}),
        (lambda x: (x.argmax(1) * 2, x.argmax(1)), {"argmax"}),
        (lambda x: (np.cumsum(x, 0) * 2, np.cumsum(x, 0)), {"cumsum"}),
        (lambda x: (np.sort(x, 0) * 2, np.sort(x, 0)), {"sort"}),
        (lambda x: (x[1:].T.sum(0), x[1:].T.sum(0) + 1), {"sum"}),
    ],
)
def test_what_is_shared(x: np.ndarray, pair: Callable[..., tuple[np.ndarray, np.ndarray]], names: set[str]) -> None:
    with one_batch():
        together = pair(x)
    found = spared().partition(": ")[2]
    assert set(found.split(", ")) == names, engine.explain()
    with engine.no_fuse():
        apart = pair(x)
        npx.waitall()
    for a, b in zip(together, apart, strict=True):
        assert a.asnumpy().tobytes() == b.asnumpy().tobytes()


# ---- what is not


@asynchronous
@pytest.mark.parametrize(
    "pair",
    [
        lambda x: (x.sum(0), x.sum(1)),
        lambda x: (x[1:].sum(), x[:-1].sum()),
        lambda x: (x.argmax(1), x.argmin(1)),
        lambda x: (np.cumsum(x, 0), np.cumsum(x, 1)),
        lambda x: (x.sum(1), x.sum(1, dtype="float64")),
        lambda x: ((x * 0.0).min(), (x * -0.0).min()),
        lambda x: (np.random.normal(size=2000).sum(), np.random.normal(size=2000).sum()),
        lambda x: (npx.host_call(numpy.sum, [x], ()), npx.host_call(numpy.sum, [x], ())),
    ],
)
def test_what_differs_is_not_shared(x: np.ndarray, pair: Callable[..., tuple[np.ndarray, np.ndarray]]) -> None:
    with one_batch():
        kept = pair(x)
    assert spared() == "" and len(kept) == 2


@asynchronous
def test_a_write_in_between_makes_another_value(x: np.ndarray) -> None:
    given = x.asnumpy()
    with one_batch():
        a = x.sum(axis=1)
        x[3] = 100
        b = x.sum(axis=1)
    assert spared() == ""
    assert (a.asnumpy() == given.sum(1)).all() and (b.asnumpy() == x.asnumpy().sum(1)).all()


@asynchronous
def test_a_result_that_was_written_to_is_not_read_for_an_equal_call(x: np.ndarray) -> None:
    with one_batch():
        a = x.sum(axis=1)
        a += 1
        b = x.sum(axis=1) * 2
        c = x.sum(axis=1)
    expected = x.asnumpy().sum(1)
    for value, wanted in ((a, expected + 1), (b, expected * 2), (c, expected)):
        assert (value.asnumpy() == wanted).all()


@asynchronous
@pytest.mark.parametrize("first", [True, False])
def test_who_reads_a_forgotten_result_does_not_see_writes_to_the_equal_one(x: np.ndarray, first: bool) -> None:
    with one_batch():
        forgotten = x.sum(axis=1) if first else None
        a = x.sum(axis=1)
        forgotten = forgotten if first else x.sum(axis=1)
        a += 1
        b = forgotten * 2
        del forgotten
    assert "copy" in spared()
    expected = x.asnumpy().sum(1)
    assert (a.asnumpy() == expected + 1).all() and (b.asnumpy() == expected * 2).all()


@asynchronous
@pytest.mark.parametrize("switch", [engine.no_fuse, engine.no_skip])
def test_switches_turn_it_off(x: np.ndarray, switch: Callable[[], object]) -> None:
    with switch(), one_batch():  # type: ignore[attr-defined]
        kept = x.sum(1), x.sum(1) * 2
    assert spared() == "" and len(kept) == 2


@asynchronous
def test_memory_lent_to_others_is_apart(x: np.ndarray) -> None:
    a, doubled = x.sum(axis=1), x.sum(axis=1) * 2
    lent = numpy.from_dlpack(a)
    expected = x.asnumpy().sum(1)
    lent[:] = -1
    assert (doubled.asnumpy() == expected * 2).all() and (a.asnumpy() == -1).all()


@asynchronous
def test_a_failed_argument_fails_all_of_them() -> None:
    def fails() -> None:
        raise ValueError("no numbers today")

    with pytest.raises(ExceptionGroup), one_batch():
        bad = npx.host_call(fails, [], (50, 40))
        kept = [bad.sum(1), bad.sum(1) * 2, bad.sum(1)]
    for value in kept:
        with pytest.raises(ValueError, match="no numbers today"):
            value.asnumpy()


Lines = list[tuple[str, int]]


def lines_of_failures(make: Callable[[np.ndarray], list[np.ndarray]]) -> tuple[Lines, Lines]:
    """What the results say without memory for any, and what `waitall` says: operations, and lines within `make`."""
    x = np.ones((300, 300))
    npx.waitall()
    engine.empty_cache()
    start = make.__code__.co_firstlineno
    limit = engine.memory()["in_use"] + 1000
    with engine.limits(memory=limit), pytest.raises(ExceptionGroup) as group, one_batch():
        kept = make(x)
    said = []
    for value in kept:
        with pytest.raises(MemoryError) as error:
            value.asnumpy()
        said.append((error.value.operation, error.value.line - start))
    return said, sorted((error.operation, error.line - start) for error in group.value.exceptions)


def test_equal_calls_without_memory_fail_each_with_its_own_line() -> None:
    def make(x: np.ndarray) -> list[np.ndarray]:
        a = x @ x
        b = x @ x
        c = x @ x
        return [a, b, c, b * 2]

    said, waited = lines_of_failures(make)
    assert said == [("matmul", 1), ("matmul", 2), ("matmul", 3), ("matmul", 2)]
    assert waited == said[:3]


def test_a_held_result_names_its_own_line_where_an_earlier_call_was_only_passed_through() -> None:
    def make(x: np.ndarray) -> list[np.ndarray]:
        sums = (x @ x).sum()
        b = x @ x
        return [b, sums]

    said, waited = lines_of_failures(make)
    assert said[0] == ("matmul", 2) and said[0] in waited


# ---- random programs

STEPS = (
    "{r} = {a}.sum({i})",
    "{r} = {a}.sum({i}, keepdims=True) + {b}",
    "{r} = {a}.max({i})",
    "{r} = np.abs({a}).max({i}, keepdims=True) - {b}",
    "{r} = ({a} * {b}).sum({i})",
    "{r} = {a} @ {b}.T",
    "{r} = ({a} @ {b}.T).max({i})",
    "{r} = np.cumsum({a}, {i})",
    "{r} = {a}.argmax({i})",
    "{r} = np.sort({a}, {i})",
    "{a} += 1",
    "{a}[{i}:] = {b}[: {n} - {i}]",
    "{a}[:, {i}] *= -1",
    "{a} = {b}.copy()",
    "late = {a}.sum({i})",
    "results.append(late * 2); late = x[0]",
    "results[-1] += 1",
    "results[-{i} - 1] *= 2",
    "results.pop()",
)


def random_program(seed: int) -> list[str]:
    """A few arrays, the same reductions and products again and again, and writes to arguments and results."""
    rng = numpy.random.default_rng(seed)
    steps = ["results += [x.sum(0), y.sum(1)]"]
    held = 2
    for _ in range(60):
        step = STEPS[rng.integers(len(STEPS))]
        a, b = rng.choice(["x", "y"], 2)
        i = int(rng.integers(2))
        if "results" in step and held < 3:
            continue
        held += step.startswith(("{r}", "results.append")) - step.endswith("pop()")
        code = step.format(r="new", a=a, b=b, i=i, n=40)
        steps.append(code)
        if step.startswith("{r}"):
            steps += ["results.append(new)", *(["del new"] if rng.random() < 0.9 else [])]
            if rng.random() < 0.5:  # only what is computed from it is held
                steps += ["results[-1] = results[-1] * 2"]
    return steps


def run(steps: list[str], library: object, make: Callable[[object], object]) -> list[object]:
    rng = numpy.random.default_rng(5)
    names = {"np": library, "results": [], "new": None}
    names |= {name: make(rng.integers(-3, 4, (40, 50)).astype("float32")) for name in "xy"}
    names["late"] = names["x"]
    code = compile("\n".join(steps), "<program>", "exec")
    exec(code, names)
    return [*names["results"], names["x"], names["y"]]


@pytest.mark.parametrize("block", range(4))
def test_random_programs(block: int) -> None:
    shared = 0
    for seed in range(block * 15, block * 15 + 15):
        steps = random_program(seed)
        expected = run(steps, numpy, numpy.array)
        with SYNC.applied():
            bits = [v.asnumpy() for v in run(steps, np, np.array)]
        for value, wanted in zip(bits, expected, strict=True):
            assert value.shape == wanted.shape and (value == wanted).all(), steps
        if engine.kind() == "sync":
            continue
        for fuse in (True, False):
            with engine.no_fuse() if not fuse else engine.bulk(1), one_batch():
                found = run(steps, np, np.array)
            shared += fuse and "equal call" in engine.explain()
            for value, wanted in zip(found, bits, strict=True):
                assert value.asnumpy().tobytes() == wanted.tobytes(), steps
    assert shared >= (10 if engine.kind() == "async" else 0)
