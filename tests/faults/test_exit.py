"""Interpreters that end with work in flight: each ends in time, without a crash, and with what it had to say."""

from __future__ import annotations

import pytest
from child import run
from exits import EXITS, SECONDS, environment


@pytest.mark.parametrize("kind", EXITS)
def test_exit(kind: str) -> None:
    wanted = EXITS[kind]
    ended = run(wanted.program, timeout=SECONDS + 40, check=False, **environment(kind))
    assert wanted.code is None or ended.code == wanted.code, f"status {ended.code}\n{ended.out}\n{ended.err}"
    assert wanted.says in ended.out
    assert wanted.complains in ended.err
    for word in ("Fatal", "terminate called", "Segmentation", "Aborted"):
        assert word not in ended.err
    assert ended.seconds < SECONDS
