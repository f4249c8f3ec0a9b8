"""Fixtures of all tests: a seed for each, defaults put back, and nothing left running or failed behind."""

from __future__ import annotations

import signal
import zlib

import numpy
import pytest

from slipstream import npx

# A shell that starts `make test` in the background has it ignore Ctrl-C, which some tests are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> numpy.random.Generator:
    """NumPy's generator with a seed of the test's own, the same in every run."""
    return numpy.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(autouse=True)
def _tidy() -> object:
    """Float32 is the default again after each test, and a failure that a test left unread is its error."""
    yield
    npx.reset_np()
    npx.waitall()
