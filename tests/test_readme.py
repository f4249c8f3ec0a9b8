"""The examples of the README run and print what the README says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"


def test_examples(capsys: pytest.CaptureFixture[str]) -> None:
    first, errors, training = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(first, "README.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("(1000, 1000) float32")
    assert printed[-1] == "[[3. 3.]]"
    exec(compile(errors, "README.md", "exec"), names)
    text = capsys.readouterr().out
    assert text.startswith("take failed: index 7 is out of bounds") and "(recorded at README.md, line 1" in text
    exec(compile(training, "README.md", "exec"), names)
    assert capsys.readouterr().out == "True\n"
