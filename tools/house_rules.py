"""Checks the rules of the house that no linter knows. Each rule is one function that yields what breaks it."""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 800


def files(*folders: str, ends: tuple[str, ...] = (".cpp", ".h", ".def", ".py", ".pyi")) -> Iterator[Path]:
    for folder in folders:
        yield from (p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in ends and "__pycache__" not in p.parts)


def lines_with(pattern: str, paths: Iterator[Path], comment: str) -> Iterator[tuple[Path, int, str]]:
    """Lines that match, without their comments."""
    for path in paths:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(pattern, line.split(comment)[0]):
                yield path, number, line.strip()


def short_files() -> Iterator[str]:
    """Files have at most 800 lines (generated stubs excepted)."""
    for path in files("core", "bindings", "python", "tests", "benchmarks", "tools", "examples"):
        count = path.read_text().count("\n")
        if count > LONGEST and path.suffix != ".pyi":
            yield f"{path.relative_to(ROOT)}: {count} lines"


def purpose_first() -> Iterator[str]:
    """A file says at its top what it is for."""
    for path in files("core", "bindings", "tests/core", ends=(".cpp", ".h", ".def")):
        if not any(line.startswith("//") for line in path.read_text().splitlines()[:2]):
            yield f"{path.relative_to(ROOT)}: no comment in its first two lines"
    for path in files("python", "tools", "benchmarks", "examples", ends=(".py",)):
        if ast.get_docstring(ast.parse(path.read_text())) is None:
            yield f"{path.relative_to(ROOT)}: no docstring"


def no_python_in_core() -> Iterator[str]:
    """core/ knows nothing of Python."""
    for path, number, line in lines_with(r"Python\.h|nanobind|PyObject|PyGILState", files("core"), "//"):
        yield f"{path.relative_to(ROOT)}:{number}: {line}"


def threads_in_the_engine() -> Iterator[str]:
    """Only core/engine makes threads or takes locks, and nobody uses OpenMP."""
    locks = r"std::(j?thread\b|\w*mutex|\w*lock\b|lock_guard|condition_variable|async\()"
    pattern = locks + r"|pthread_(create|mutex|cond|rwlock|spin)\w*\(|#pragma omp"
    for path, number, line in lines_with(pattern, files("core", "bindings"), "//"):
        if ROOT / "core/engine" not in path.parents:
            yield f"{path.relative_to(ROOT)}:{number}: {line}"


def cuda_in_its_folder() -> Iterator[str]:
    """No conditional compilation for a device outside its folder."""
    for path, number, line in lines_with(r"#\s*if.*CUDA", files("core", "bindings"), "//"):
        if ROOT / "core/cuda" not in path.parents:
            yield f"{path.relative_to(ROOT)}:{number}: {line}"


def one_place_for_variables() -> Iterator[str]:
    """python/slipstream/config.py alone knows the environment variables (and docs/environment.md is made from it)."""
    homes = [
        ROOT / "python/slipstream/config.py",
        ROOT / "core/cpu/blas.cpp",  # sets OpenBLAS's number of threads to one while it loads it, and puts it back
    ]
    pattern = r"[\"']SLIPSTREAM_|\b((secure_)?getenv|(un)?setenv|putenv|environ)b?\b"
    reads = [*lines_with(pattern, files("core", "bindings"), "//"), *lines_with(pattern, files("python"), "#")]
    for path, number, line in reads:
        if path not in homes:
            yield f"{path.relative_to(ROOT)}:{number}: {line}"


def documents_point_somewhere() -> Iterator[str]:
    """Every path a document names exists."""
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        text = document.read_text()
        named = re.findall(r"`((?:core|bindings|python|tests|tools|docs|benchmarks|examples)/[\w./-]*)`", text)
        named += [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
        for name in named:
            if not (ROOT / name).exists() and not (document.parent / name).exists():
                yield f"{document.relative_to(ROOT)}: {name} does not exist"


RULES: list[Callable[[], Iterator[str]]] = [
    short_files,
    purpose_first,
    no_python_in_core,
    threads_in_the_engine,
    cuda_in_its_folder,
    one_place_for_variables,
    documents_point_somewhere,
]


def main() -> int:
    broken = 0
    for rule in RULES:
        for finding in rule():
            broken += 1
            print(f"{finding}\n    {rule.__doc__}")
    print(f"{len(RULES)} house rules, {broken} findings")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
