"""What the trail's tests share: one key, a clock that stands still until told, seeded ids, and a file layer that can fail."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import foxloop_trio
from foxloop_trio.trail import TrailKey
from foxloop_trio.trail._draft import Drafter
from foxloop_trio.trail._file import FileSystem
from foxloop_trio.trail._file_trail import FileTrail, _open_trail

KEY_HEX = "ab" * 32


class Clock:
    """Wall time in seconds, set by hand."""

    def __init__(self, seconds: float = 1.0) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


class CountedIds:
    """Bytes from a count and the purpose: never the same twice, always the same again."""

    def __init__(self) -> None:
        self.count = 0
        self.purposes: list[str] = []

    def __call__(self, nbytes: int, purpose: str) -> bytes:
        self.count += 1
        self.purposes.append(purpose)
        return hashlib.shake_256(f"{purpose}/{self.count}".encode()).digest(nbytes)


@pytest.fixture
def key() -> TrailKey:
    return TrailKey(KEY_HEX)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ids() -> CountedIds:
    return CountedIds()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.trail"


@pytest.fixture
def open_over() -> Callable[..., Any]:
    """`async with open_over(path, key, files) as trail`: a file trail over a file layer of the test's."""

    def opened(path: Path, key: TrailKey, files: FileSystem, **options: Any) -> Any:
        return _open_trail(os.fspath(path), key, Drafter(now=Clock()), files, **options)

    return opened


@pytest.fixture
def fill() -> Callable[..., Any]:
    """`await fill(trail, 3)`: that many small entries; returns them."""

    async def append_some(trail: FileTrail, count: int, start: int = 0) -> list[Any]:
        return [await trail.append(actor="agent", kind="test.step", data={"n": n}) for n in range(start, start + count)]

    return append_some


@pytest.fixture
def run_child() -> Callable[..., subprocess.Popen[str]]:
    """Start a Python program that can import the package under test; the caller waits for it."""

    def start(program: str, *arguments: str) -> subprocess.Popen[str]:
        root = str(Path(foxloop_trio.__file__).parents[1])
        return subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": root},
        )

    return start
