"""The package as a whole: import, names, documentation, stubs, environment, command line."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import slipstream
from slipstream import _core, autograd, config, engine, errors, np, npx
from slipstream.__main__ import main
from slipstream.np import _rows

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = ("tour", "__main__", "_core")


def modules() -> list[str]:
    found = [m.name for m in pkgutil.walk_packages(slipstream.__path__, "slipstream.")]
    return ["slipstream", *[name for name in found if not any(part in SKIPPED for part in name.split("."))]]


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )


# ---- import


def test_import_is_light_and_starts_no_thread() -> None:
    code = (
        "import numpy, sys, threading, os\n"
        "before = set(sys.modules)\n"
        "from slipstream import np, npx, engine, profiler\n"
        "new = set(sys.modules) - before\n"
        "print(len(os.listdir('/proc/self/task')) - threading.active_count(), len(new))\n"
        "print(*{name.partition('.')[0] for name in new} - set(sys.stdlib_module_names))\n"
        "print(*(name for name in new if name.startswith(('slipstream.gluon', 'slipstream.optimizer'))))\n"
    )
    before = int(run("import numpy, os; print(len(os.listdir('/proc/self/task')) - 1)").stdout)
    counts, packages, training = run(code).stdout.splitlines()
    threads, modules = map(int, counts.split())
    assert threads == before
    assert modules < 150
    assert set(packages.split()) <= {"slipstream", "ml_dtypes", "numpy"}
    assert not training


def test_modules_come_when_asked_for() -> None:
    done = run("import slipstream, sys; print('slipstream.np' in sys.modules, slipstream.np.ones(1).sum().item())")
    assert done.stdout.split() == ["False", "1.0"], done.stderr
    assert set(dir(slipstream)) >= {"np", "npx", "engine", "profiler", "cpu", "gpu"}
    assert slipstream.cpu(1) == npx.cpu(1)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        slipstream.nothing_of_the_kind


# ---- names and documentation


@pytest.mark.parametrize("module", [np, npx, np.random, np.linalg, np.fft, autograd, engine], ids=lambda m: m.__name__)
def test_public_names_exist_once_and_are_documented(module: Any) -> None:
    assert len(module.__all__) == len(set(module.__all__))
    for name in module.__all__:
        value = getattr(module, name)
        if callable(value):
            assert value.__doc__, f"{module.__name__}.{name} has no documentation"


@pytest.mark.parametrize("name", modules())
def test_examples(name: str) -> None:
    names = {"np": np, "npx": npx, "autograd": autograd, "errors": errors}
    failed, _ = doctest.testmod(importlib.import_module(name), extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert failed == 0


@pytest.mark.parametrize("name", sorted({*_rows.ROWS, *_rows.COMPOSED}))
def test_examples_of_the_table(name: str) -> None:
    text = getattr(_core, name).__doc__
    test = doctest.DocTestParser().get_doctest(text, {"np": np, "npx": npx}, name, None, 0)
    assert len(test.examples) == 1
    assert doctest.DocTestRunner().run(test).failed == 0


def public_modules() -> list[str]:
    """Those whose names a user sees: no part of the path is private, and `__all__` says what is there."""
    named = [name for name in modules() if not any(part[0] == "_" for part in name.split("."))]
    return [name for name in named if hasattr(importlib.import_module(name), "__all__")]


def run_examples(name: str, value: Any, module: Any) -> None:
    """Runs what the documentation of a public name shows."""
    names = {"np": np, "npx": npx, "autograd": autograd, **vars(module)}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(value) or "", names, name, None, 0)
    assert test.examples, f"{name} has no example"
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0, name


def runs_with_its_module(value: Any) -> bool:
    """Whether test_examples finds it, being written in Python in a module of its own."""
    module = importlib.import_module(value.__module__)
    written = inspect.isfunction(value) or inspect.isclass(value)
    return written and vars(module).get(value.__name__) is value


@pytest.mark.parametrize("module", public_modules())
def test_every_public_name_has_an_example_that_runs(module: str) -> None:
    for name in importlib.import_module(module).__all__:
        value = getattr(importlib.import_module(module), name)
        home = getattr(value, "__module__", None) or ""
        if not callable(value) or inspect.ismodule(value) or not home.startswith("slipstream"):
            continue  # NumPy's own, constants
        if runs_with_its_module(value):
            assert ">>>" in (value.__doc__ or ""), f"{module}.{name} has no example"
        elif value not in RUN:
            RUN.append(value)
            run_examples(f"{module}.{name}", value, importlib.import_module(home))


RUN: list[Any] = []  # names that several modules show are run once


def test_every_attribute_of_arrays_has_an_example_that_runs() -> None:
    for name in vars(np.ndarray):
        if not name.startswith("_"):
            run_examples(f"ndarray.{name}", inspect.getattr_static(np.ndarray, name), slipstream)


def test_first_set_of_functions() -> None:
    """The names that the package promises."""
    promised = """array zeros ones full empty arange linspace eye zeros_like ones_like full_like empty_like copy
        astype where clip maximum minimum sum prod mean var std min max argmin argmax any all cumsum logsumexp reshape
        transpose swapaxes moveaxis expand_dims squeeze broadcast_to concatenate stack split tile repeat flip roll dot
        matmul tensordot outer random"""
    standard = """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert
        bitwise_or bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide equal exp expm1 floor floor_divide
        greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and
        logical_not logical_or logical_xor multiply negative nextafter not_equal positive pow real reciprocal remainder
        round sign signbit sin sinh square sqrt subtract tan tanh trunc"""
    missing = [name for name in (promised + " " + standard).split() if name not in np.__all__]
    assert not missing
    drawn = ["normal", "uniform", "randint", "permutation", "shuffle", "seed", "default_rng", "Generator"]
    assert not [name for name in drawn if name not in np.random.__all__]


def test_stubs_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/make_stubs.py"), "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ---- environment


def test_environment_page_is_up_to_date() -> None:
    assert (ROOT / "docs/environment.md").read_text() == config.markdown()


def test_memory_is_limited_by_default() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    found = run("from slipstream import engine; print(engine.limits()['memory'])", SLIPSTREAM_MEMORY="")
    assert 0 < int(found.stdout) < 0.91 * machine
    assert "| 90 % of the machine's memory |" in config.markdown()


def test_environment_is_read() -> None:
    done = run(
        "from slipstream import engine; print(engine.kind(), engine.workers(), engine.limits())",
        SLIPSTREAM_ENGINE="sync",
        SLIPSTREAM_WORKERS="3",
        SLIPSTREAM_MAX_OPS="77",
        SLIPSTREAM_MAX_BYTES="1M",
        SLIPSTREAM_CACHE="2M",
        SLIPSTREAM_MEMORY="3G",
    )
    assert done.stdout.split(" ", 2)[:2] == ["sync", "3"], done.stderr
    assert eval(done.stdout.split(" ", 2)[2]) == {"ops": 77, "bytes": 1 << 20, "memory": 3 << 30, "cache": 2 << 20}


@pytest.mark.parametrize("name", ["SLIPSTREAM_WORKERS", "SLIPSTREAM_MAX_OPS"])
def test_counts_that_are_too_large(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}='1{'0' * 30}': expected a whole number"):
        config.apply({name: str(10**30)})


@pytest.mark.parametrize("variable", config.variables(), ids=lambda v: v.name)
def test_bad_values_are_named(variable: config.Variable) -> None:
    done = run("import slipstream", **{variable.name: "nonsense"})
    assert done.returncode
    assert f"{variable.name}='nonsense': expected {variable.expects}" in done.stderr


def test_sizes() -> None:
    assert config.parse_bytes("1.5k") == 1536
    assert config.parse_bytes("2GiB") == 2 << 30
    assert config.parse_bytes("10 MB") == 10 << 20
    for bad in ("", "G", "-1", "x", "1Z", "1e30T"):
        with pytest.raises(ValueError):
            config.parse_bytes(bad)


# ---- command line


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    assert "workers" in capsys.readouterr().out
    assert main(["environment"]) == 0
    assert capsys.readouterr().out == config.markdown()
    assert main(["--help"]) == 0
    assert "usage" in capsys.readouterr().out
    assert main([]) == main(["bogus"]) == 2
