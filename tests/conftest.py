"""Fixtures of all tests: a seed for each, defaults put back, and nothing left running or failed behind."""

from __future__ import annotations

import random
import signal
import zlib

import numpy
import pytest

from slipstream import np, npx

# A shell that starts `make test` in the background has it ignore Ctrl-C, which some tests are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _seed(request: pytest.FixtureRequest) -> int:
    """A seed of the test's own, the same in every run and whatever runs before it."""
    return zlib.crc32(request.node.nodeid.encode())


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> numpy.random.Generator:
    """NumPy's generator with the test's seed."""
    return numpy.random.default_rng(_seed(request))


@pytest.fixture(autouse=True)
def _tidy(request: pytest.FixtureRequest) -> object:
    """Our random state, NumPy's and Python's start at the test's seed. After it float32 is the default again, and a
    failure that the test left unread is its error."""
    np.random.seed(_seed(request))
    numpy.random.seed(_seed(request))
    random.seed(_seed(request))
    yield
    npx.reset_np()
    npx.waitall()
