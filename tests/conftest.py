"""Fixtures for all tests. `firefox` and `tab` come from the package's own pytest plugin."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from foxloop_trio.testing import Leftovers


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
