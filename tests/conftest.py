"""Fixtures for all tests. `firefox` and `tab` come from the package's own pytest plugin."""

from __future__ import annotations

import functools
import inspect
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.testing import Leftovers

LIMIT = 120.0
"""Seconds of real time that an async test may take before it is cancelled: far over what any takes, far under a hung run. A fixture
cannot do this, since pytest-trio runs no async fixture that a test does not ask for by name."""
LONG_LIMIT = 600.0
"""The same for tests that are marked `long`."""
SHORT_LIMIT = 10.0
"""The same for tests over plain sockets, which take under one second."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bound every async test, but those that run on a mock clock, where a hang shows at once."""
    for item in items:
        if not isinstance(item, pytest.Function) or not inspect.iscoroutinefunction(item.obj):
            continue
        if not {"autojump_clock", "mock_clock", "virtual_time"} & set(item.fixturenames):
            short = {"channel", "contracts"} & set(item.path.parts)
            limit = LONG_LIMIT if item.get_closest_marker("long") else LIMIT
            item.obj = _bounded(item.obj, SHORT_LIMIT if short else limit)


def _bounded(test: Callable[..., Awaitable[None]], seconds: float) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def bounded(*args: Any, **kwargs: Any) -> None:
        with trio.fail_after(seconds):
            await test(*args, **kwargs)

    return bounded


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leftovers:
    """Watches processes and temporary profiles of what this test starts; its folder for temporary files is its own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    left = Leftovers(folder)
    for name, value in left.variables().items():
        monkeypatch.setenv(name, value)
    return left


@pytest.fixture
def unused_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
