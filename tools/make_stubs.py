"""Writes the stubs of the compiled core and of the functions made from its table, by looking at the module itself.

python tools/make_stubs.py            writes python/slipstream/_core.pyi, np/_rows.pyi and npx/_rows.pyi
python tools/make_stubs.py --check    says which of them is out of date (a test runs this)
"""

from __future__ import annotations

import difflib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from slipstream import _core
from slipstream.np import _methods, _rows
from slipstream.npx import _rows as npx_rows

PACKAGE = Path(__file__).resolve().parent.parent / "python/slipstream"
HEAD = "# Made by tools/make_stubs.py from the compiled module. Do not edit.\n"

# What the core returns as a Python object, where it is no array.
RESULTS = {
    "add_done_callback": "None",
    "attach_grad": "None",
    "backward": "None",
    "drop_grad": "None",
    "zero_grad": "None",
    "asnumpy": "numpy.ndarray[Any, Any]",
    "copyto": "ndarray",
    "current_source": "tuple[str, int, str] | None",
    "engine_limits": "dict[str, int]",
    "engine_memory": "dict[str, int]",
    "host_call": "Any",
    "is_ready": "bool",
    "shortcut": "Any",
    "item": "Any",
    "promote_types": "numpy.dtype[Any]",
    "reshape_view": "ndarray | None",
    "result_type": "numpy.dtype[Any]",
    "float_of": "numpy.dtype[Any]",
    "tolist": "Any",
    "wait_to_read": "None",
    "__array__": "numpy.ndarray[Any, Any]",
    "__array_function__": "Any",
    "__dlpack__": "Any",
    "__dlpack_device__": "tuple[int, int]",
}
PROPERTIES = {
    "shape": "tuple[int, ...]",
    "strides": "tuple[int, ...]",
    "dtype": "numpy.dtype[Any]",
    "ndim": "int",
    "size": "int",
    "itemsize": "int",
    "nbytes": "int",
    "device": "Device",
    "ctx": "Device",
    "context": "Device",
    "flags": "Flags",
    "grad": "Any",
    "grad_req": "str",
    "_fresh_grad": "bool",
    "_version": "int",
}
SPECIAL = {
    "__await__": "(self) -> Generator[Any, None, ndarray]",
    "__bool__": "(self) -> bool",
    "__complex__": "(self) -> complex",
    "__contains__": "(self, value: Any, /) -> bool",
    "__float__": "(self) -> float",
    "__format__": "(self, spec: str, /) -> str",
    "__getitem__": "(self, key: Any, /) -> ndarray",
    "__index__": "(self) -> int",
    "__int__": "(self) -> int",
    "__iter__": "(self) -> Iterator[ndarray]",
    "__len__": "(self) -> int",
    "__setitem__": "(self, key: Any, value: Any, /) -> None",
    "__divmod__": "(self, other: Any, /) -> tuple[ndarray, ndarray]",
    "__rdivmod__": "(self, other: Any, /) -> tuple[ndarray, ndarray]",
}
UNARY = {"__neg__", "__pos__", "__abs__", "__invert__", "__copy__"}
FROM_OBJECT = {
    "__doc__",
    "__new__",
    "__init__",
    "__repr__",
    "__str__",
    "__hash__",
    "__reduce__",
    "__module__",
    "__weakref__",
}
HIDDEN = FROM_OBJECT | {"__array_priority__", "__weaklistoffset__", "__delitem__", "__buffer__", "__release_buffer__"}


def typed(signature: str, name: str) -> str:
    """A signature without types, as the core gives it, with them."""
    kinds = {
        "keepdims": "bool",
        "ddof": "float",
        "out": "ndarray | None",
        "casting": "str",
        "order": "str",
        "copy": "bool",
    }
    body = signature.strip()[1:-1]
    parts = []
    for part in filter(None, (p.strip() for p in body.split(","))):
        word, _, default = part.partition("=")
        if word in ("/", "*", "self", "$self"):
            parts.append(word.lstrip("$"))
            continue
        kind = kinds.get(word, "Any")
        kind += " | None" if kind == "bool" and default == "None" else ""
        parts.append(f"{word}: {kind}" + (f" = {default}" if default else ""))
    return f"({', '.join(parts)}) -> {RESULTS.get(name, 'ndarray')}"


def row_signature(function: Any, method: bool = False) -> str:
    """The signature of a function of the table, which is a method too."""
    signature = function.__text_signature__
    if method:
        signature = re.sub(r"^\((x1|x|a)\b", "(self", signature)
    return typed(signature, function.__name__)


def core_function(name: str, function: Any) -> str:
    """A function that nanobind bound."""
    signature = function.__nb_signature__[0][0]
    signature = re.sub(r"\\\d+", "...", signature)
    arguments, _, result = signature.removeprefix(f"def {name}").rpartition(" -> ")
    result = RESULTS.get(name, {"object": "ndarray", "dict": "dict[str, Any]", "list": "list[Any]"}.get(result, result))
    return f"def {name}{plain(arguments)} -> {plain(result)}: ..."


def plain(text: str) -> str:
    text = re.sub(r"(?<=: )object( \| None)?", "Any", text)
    text = re.sub(r"\bSequence\b", "Sequence[Any]", text)
    text = re.sub(r"\bcollections\.abc\.", "", text)
    text = re.sub(r"slipstream\._core\.|_core\.", "", text)
    text = re.sub(r"\*args\b(?!:)", "*args: Any", text)
    return re.sub(r"= \\\d+", "= ...", text)


def bound_class(name: str, cls: Any) -> list[str]:
    """A class that nanobind bound."""
    lines = [f"class {name}:"]
    for member, value in sorted(vars(cls).items()):
        if member in FROM_OBJECT - {"__init__"} or member.startswith("__nb"):
            continue
        if isinstance(value, property):
            result = value.fget.__nb_signature__[0][0].rpartition(" -> ")[2]
            lines += ["    @property", f"    def {member}(self) -> {plain(result)}: ..."]
            if value.fset is not None:
                lines += [f"    @{member}.setter", f"    def {member}(self, value: {plain(result)}, /) -> None: ..."]
        elif hasattr(value, "__nb_signature__"):
            signature = value.__nb_signature__[0][0].removeprefix(f"def {member}")
            signature = re.sub(r"\\\d+", "...", plain(signature)).replace("arg:", "other:")
            if member == "__eq__":
                signature = "(self, other: object, /) -> bool"
            lines.append(f"    def {member}{signature}: ...")
    if name == "Device":
        lines += ["    def __enter__(self) -> Device: ...", "    def __exit__(self, *_: object) -> None: ..."]
    return lines


def python_signature(function: Any) -> str:
    """The signature of a method that the package attaches, as its source has it."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if parameters[0].name != "self":
        first = inspect.Parameter("self", parameters[0].kind)
        parameters = [first, *parameters[1:]]
    parameters[0] = parameters[0].replace(annotation=inspect.Parameter.empty)
    text = str(signature.replace(parameters=parameters))
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations are written as strings


def array_member(name: str, value: Any) -> list[str]:
    """One member of the class ndarray."""
    value = inspect.unwrap(value)  # a shortcut has its function's signature
    if name in SPECIAL:
        return [f"    def {name}{SPECIAL[name]}: ..."]
    if name in UNARY:
        return [f"    def {name}(self) -> ndarray: ..."]
    if type(value).__name__ == "getset_descriptor":
        kind = PROPERTIES.get(name, "ndarray")
        lines = ["    @property", f"    def {name}(self) -> {kind}: ..."]
        if name in ("shape", "real", "imag", "_fresh_grad"):
            lines += [f"    @{name}.setter", f"    def {name}(self, value: Any, /) -> None: ..."]
        return lines
    if isinstance(value, property):
        return [
            *["    @property", f"    def {name}(self) -> Any: ..."],
            *[f"    @{name}.setter", f"    def {name}(self, value: Any, /) -> None: ..."],
        ]
    if type(value).__name__ == "function" and hasattr(value, "__code__"):
        return [f"    def {name}{python_signature(value)}: ..."]
    if type(value) is type(_core.add):
        return [f"    def {name}{row_signature(value, method=True)}: ..."]
    if name.startswith("__") and name not in RESULTS and name != "__deepcopy__":
        ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        return [f"    def {name}(self, other: Any, /) -> ndarray: ...{ignore}"]
    signature = getattr(value, "__text_signature__", None) or "($self, *args)"
    return [f"    def {name}{typed(signature, name)}: ..."]


def array_class() -> list[str]:
    lines = ["class ndarray:"]
    lines.append("    def __init__(self, shape: Any, dtype: Any = None, device: Any = None) -> None: ...")
    lines.append("    __hash__: None  # type: ignore[assignment]")
    for name, value in sorted(vars(_core.ndarray).items()):
        if name not in HIDDEN:
            lines += array_member(name, value)
    return lines


def core_stub() -> str:
    lines = [
        HEAD + "# ruff: noqa: F401, N801, N802\n",
        "from collections.abc import Callable, Generator, Iterable, Iterator, Sequence",
        "from contextvars import ContextVar",
        "from typing import Any",
        "",
        "import numpy",
        "",
        "from .np._types import ArrayLike, Axes, DeviceLike, DTypeLike, Shape",
        "",
    ]
    for name, value in sorted(vars(_core).items()):
        if name.startswith("__") or name == "ndarray":
            continue
        if isinstance(value, type) and issubclass(value, BaseException):
            bases = ", ".join(
                f"{base.__module__}." * base.__module__.startswith("numpy") + base.__name__ for base in value.__bases__
            )
            lines.append(f"class {name}({bases}): ...")
        elif isinstance(value, type):
            lines += bound_class(name, value)
        elif type(value) is type(_core.add):
            lines.append(f"def {name}{row_signature(value)}: ...")
        elif hasattr(value, "__nb_signature__"):
            lines.append(core_function(name, value))
    lines.append("device_stack: ContextVar[tuple[Device, ...]]")
    return "\n".join([*lines, *array_class(), ""])


def rows_stub() -> str:
    lines = [
        HEAD,
        "from typing import Any",
        "",
        "from .._core import ndarray",
        "",
        "ALIASES: dict[str, str]",
        "COMPOSED: tuple[str, ...]",
        "ONLY_NPX: tuple[str, ...]",
        "ROWS: dict[str, dict[str, Any]]",
        "WRAPPED: tuple[str, ...]",
        "",
        "def docstring(name: str, doc: str) -> str: ...",
    ]
    return "\n".join([*lines, *row_functions(_rows), ""])


def npx_rows_stub() -> str:
    lines = [HEAD, "from typing import Any", "", "from .._core import ndarray", ""]
    return "\n".join([*lines, *row_functions(npx_rows), ""])


def row_functions(module: Any) -> list[str]:
    return [f"def {name}{row_signature(getattr(module, name))}: ..." for name in sorted(module.__all__)]


def laid_out(text: str) -> str:
    """The stub as `make format` would lay it out."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--quiet",
        "--config",
        str(PACKAGE.parents[1] / "pyproject.toml"),
    ]
    return subprocess.run(
        [*command, "--stdin-filename", "stub.pyi", "-"], input=text, capture_output=True, text=True, check=True
    ).stdout


def main(arguments: list[str]) -> int:
    _methods.attach()
    outdated = 0
    stubs = {"_core.pyi": core_stub(), "np/_rows.pyi": rows_stub(), "npx/_rows.pyi": npx_rows_stub()}
    for path, made in ((PACKAGE / name, made) for name, made in stubs.items()):
        text = laid_out(made)
        if "--check" not in arguments:
            path.write_text(text)
            continue
        before = path.read_text() if path.exists() else ""
        if before != text:
            outdated += 1
            name = str(path.relative_to(PACKAGE.parent.parent))
            difference = difflib.unified_diff(
                before.splitlines(), text.splitlines(), name, "as the module is", lineterm=""
            )
            print("\n".join(list(difference)[:40]))
    return bool(outdated)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
