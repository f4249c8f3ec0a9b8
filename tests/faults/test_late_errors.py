"""What fails after its call: the error comes at every read, spreads to all that depends on it, and is never lost."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from child import run

from slipstream import engine, errors, np, npx

ASYNC = engine.kind() == "async"


class LostError(Exception):
    """What the callbacks of these tests raise."""


def failing(seconds: float = 0.0, error: BaseException | None = None) -> Any:
    def fail() -> Any:
        time.sleep(seconds)
        raise error or LostError("lost")

    return npx.host_call(fail, [], (2,))


READS: dict[str, Callable[[Any], Any]] = {
    "wait_to_read": lambda x: x.wait_to_read(),
    "asnumpy": lambda x: x.asnumpy(),
    "tolist": lambda x: x.tolist(),
    "repr": repr,
    "print": print,
    "item": lambda x: x[0].item(),
    "float": lambda x: float(x[0]),
    "bool": lambda x: bool(x[0]),
    "array": numpy.asarray,
    "memoryview": memoryview,
    "dlpack": numpy.from_dlpack,
}


@pytest.mark.parametrize("read", READS)
def test_every_read_raises_the_same_exception(read: str) -> None:
    x = failing()
    seen = []
    for _ in range(3):
        with pytest.raises(LostError) as caught:
            READS[read](x)
        seen.append(caught.value)
    assert seen[0] is seen[1] is seen[2]


def test_the_error_names_the_operation_and_its_line() -> None:
    x = failing()
    with pytest.raises(LostError) as caught:
        x.wait_to_read()
    line = failing.__code__.co_firstlineno + 5
    assert caught.value.__notes__ == [f"raised by host_call, recorded at {__file__}, line {line}, in failing"]
    assert caught.traceback[-1].name == "fail"


def test_traceback_does_not_grow_with_reads() -> None:
    x = failing()
    lengths = []
    for _ in range(4):
        with pytest.raises(LostError) as caught:
            x.wait_to_read()
        lengths.append(len(caught.traceback))
    assert len(set(lengths)) == 1
    assert len(caught.value.__notes__) == 1


def test_everything_that_depends_on_it_fails() -> None:
    x = failing(0.01)
    view, total, copied = x[::-1], x.sum(), x.copyto(npx.cpu(1))
    tree = np.tanh(x * 2 + 1).reshape(1, 2) @ np.ones((2, 1))
    into = np.zeros(2)
    into[:] = x
    other = np.ones(2) + 1
    for array in (x, view, total, copied, tree, into, into + 1):
        with pytest.raises(LostError):
            array.wait_to_read()
    assert other.tolist() == [2, 2]


def test_a_failed_array_stays_failed() -> None:
    x = failing()
    x[:] = 0
    with pytest.raises(LostError):
        x.wait_to_read()


def test_of_two_errors_the_first_is_kept() -> None:
    first, second = failing(error=LostError("first")), failing(error=LostError("second"))
    with pytest.raises(LostError, match="first"):
        (first + second).wait_to_read()
    with pytest.raises(LostError, match="second"):
        second.wait_to_read()


def test_waitall_raises_all_that_nobody_has_seen() -> None:
    seen, first, second = failing(error=LostError("seen")), failing(error=LostError("1")), failing(error=LostError("2"))
    with pytest.raises(LostError, match="seen"):
        seen.wait_to_read()
    with pytest.raises(ExceptionGroup) as caught:
        npx.waitall()
    assert sorted(str(error) for error in caught.value.exceptions) == ["1", "2"]
    npx.waitall()
    for x, error in ((first, "1"), (second, "2")):
        with pytest.raises(LostError, match=error) as again:
            x.wait_to_read()
        assert again.value in caught.value.exceptions


def test_dependants_are_not_counted_apart() -> None:
    x = failing()
    kept = [x + i for i in range(5)]
    with pytest.raises(ExceptionGroup) as caught:
        npx.waitall()
    assert len(caught.value.exceptions) == 1
    assert len(kept) == 5


def test_index_out_of_range() -> None:
    x, indices = np.arange(4), np.array(numpy.array([0, 7]))
    for read in (lambda: np.take(x, indices), lambda: x[indices]):
        made = read()
        after = made + 1
        for array in (made, after):
            with pytest.raises(errors.LateIndexError, match=r"7.*4.*test_late_errors\.py, line \d+"):
                array.wait_to_read()
    assert x.tolist() == [0, 1, 2, 3]
    with pytest.raises(IndexError):
        x[7]


def test_late_errors_are_pickled_with_what_they_know() -> None:
    with pytest.raises(errors.LateIndexError) as caught:
        np.take(np.ones(3), np.array([7], dtype="int64")).wait_to_read()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is errors.LateIndexError and str(copy) == str(caught.value)
    assert (copy.operation, copy.file, copy.line) == ("take", __file__, caught.value.line)


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_are_found_under_the_names_they_print(name: str) -> None:
    kind = getattr(errors, name)
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert kind.__module__ in ("slipstream.errors", "numpy.exceptions")


def test_host_call_of_a_wrong_shape() -> None:
    x = npx.host_call(lambda: numpy.zeros(3), [], (2,))
    with pytest.raises(ValueError, match=r"shape \(3,\).*\(2,\)"):
        x.wait_to_read()


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_other_exceptions_are_carried_too(error: BaseException) -> None:
    x = failing(error=error)
    with pytest.raises(type(error)) as caught:
        x.wait_to_read()
    assert caught.value is error


def test_a_failure_whose_array_is_gone_is_not_lost() -> None:
    failing()
    with pytest.raises(ExceptionGroup):
        npx.waitall()


# ---- nobody looks


def test_unread_failures_are_printed_at_exit() -> None:
    ended = run(
        """
        def bad():
            raise KeyError("nobody reads this")
        x = npx.host_call(bad, [], ())
        y = x + 1
        z = np.take(np.arange(3), np.array([9]))
        while not (y.is_ready() and z.is_ready()):  # what has not run when Python ends is dropped, not failed
            time.sleep(0.01)
        """
    )
    assert "2 operations failed and nobody read the result" in ended.err
    assert "nobody reads this" in ended.err
    assert "raised by host_call, recorded at <string>" in ended.err
    assert "take failed" in ended.err
    assert ended.err.count("KeyError") == 1


def test_read_failures_are_not_printed_at_exit() -> None:
    ended = run(
        """
        def bad():
            raise KeyError("somebody reads this")
        x, y = npx.host_call(bad, [], ()), npx.host_call(bad, [], ())
        try:
            x.wait_to_read()
        except KeyError:
            pass
        try:
            npx.waitall()
        except ExceptionGroup:
            pass
        """
    )
    assert ended.err == ""


# ---- the call itself


def test_what_can_be_known_raises_at_the_call() -> None:
    recorded = engine.stats()["recorded"]
    x, y = np.ones((2, 3)), np.ones((4, 5))
    for bad, error in (
        (lambda: x + y, ValueError),
        (lambda: np.dot(x, y), ValueError),
        (lambda: x.sum(axis=2), errors.AxisError),
        (lambda: x.reshape(4, 4), ValueError),
        (lambda: x & x, TypeError),
        (lambda: x[3], IndexError),
        (lambda: x + np.ones((2, 3), device=npx.cpu(1)), ValueError),
        (lambda: np.ones(2, device=npx.gpu()), (ValueError, RuntimeError)),
    ):
        with pytest.raises(error):
            bad()
    assert engine.stats()["recorded"] <= recorded + 3  # the three arrays of ones
