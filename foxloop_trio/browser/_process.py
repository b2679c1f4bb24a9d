"""Firefox as a process of ours, by way of the supervisor (`_supervisor.py`). Owns start, exit and what is removed afterwards.

The supervisor does the work; this end writes its order, reads its reports, and closes the lifeline. Only if the supervisor itself
was killed does this end look after Firefox's process group and the temporary profile.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import attrs
import trio

from ..errors import BrowserError
from ._service import one_error
from ._supervisor import PLACEHOLDER, TAIL_LINES

__all__ = ["PLACEHOLDER", "PROFILE_PREFIX", "FirefoxProcess", "ProcessOrder", "open_firefox_process"]

PROFILE_PREFIX: Final = "foxloop-trio-"
SUPERVISOR: Final = Path(__file__).with_name("_supervisor.py")
BIDI_MARKER: Final = "WebDriver BiDi listening on "
BIDI_ADDRESS: Final = re.compile(re.escape(BIDI_MARKER) + r"(ws://(?:127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5})(?![0-9])")
"""Loopback only: a program that is no Firefox must not send us anywhere else."""
END_SECONDS: Final = 8.0
"""From closing the lifeline to the supervisor's exit: its own limits (grace, 2 s for orphans, 2 s for the profile) and some
room.
"""
BY_HAND_SECONDS: Final = 3.0
MAX_REPORT_BYTES: Final = 2**16
WORDS_IN_ERRORS: Final = 5


@attrs.frozen(kw_only=True)
class ProcessOrder:
    """What to start. ``@PROFILE@`` in `argv`, `env` and `prefs` stands for the profile's path.

    `profile` None makes a temporary folder under `profile_parent` (None: the system's), mode 0700, and removes it afterwards.
    `grace` is the time in seconds between SIGTERM and SIGKILL when Firefox has to be ended; 0 kills at once.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    prefs: Mapping[str, bool | int | str]
    profile: Path | None = None
    profile_parent: Path | None = None
    grace: float = 0.0

    def to_line(self) -> bytes:
        plain = {
            "argv": self.argv,
            "env": dict(self.env),
            "profile": None if self.profile is None else str(self.profile),
            "parent": None if self.profile_parent is None else str(self.profile_parent),
            "prefix": PROFILE_PREFIX,
            "prefs": dict(self.prefs),
            "marker": BIDI_MARKER,
            "grace": self.grace,
        }
        return (json.dumps(plain) + "\n").encode()


@asynccontextmanager
async def open_firefox_process(order: ProcessOrder) -> AsyncIterator[FirefoxProcess]:
    """Start a supervisor and through it Firefox; leaving ends both and removes the temporary profile, within `END_SECONDS`.

    The value is there at once; whether Firefox came up is told by `wait_started` and `wait_bidi_url`. Raises BrowserError, code
    ``unsupported-platform``, on Windows.
    """
    if os.name != "posix" or not sys.executable:
        raise BrowserError(
            "launch_firefox needs process groups and a Python interpreter to run its supervisor, which are not both here; "
            "start Firefox yourself and attach it",
            code="unsupported-platform",
        )
    # A session of its own: a Ctrl-C in the terminal goes to us, and we decide. Isolated and without site: quick, and deaf to
    # PYTHON*.
    process = await trio.lowlevel.open_process(
        [sys.executable, "-I", "-S", str(SUPERVISOR)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    firefox = FirefoxProcess(process)
    try:
        with one_error():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(firefox._read_reports)
                assert process.stdin is not None
                with suppress(trio.BrokenResourceError):  # a supervisor that is gone already: told by the end of its reports
                    await process.stdin.send_all(order.to_line())
                yield firefox
                nursery.cancel_scope.cancel()
    finally:
        await firefox._finish()


class FirefoxProcess:
    """One started Firefox. `pid`, `profile` and `exit_code` are None until known; `exit_code` is negative for a signal."""

    def __init__(self, supervisor: trio.Process) -> None:
        self.pid: int | None = None
        self.profile: Path | None = None
        self.exit_code: int | None = None
        self._supervisor = supervisor
        self._temporary = True
        self._failure: str | None = None
        self._words: deque[str] = deque(maxlen=TAIL_LINES)
        self._bidi_url: str | None = None
        self._started = trio.Event()
        self._listening = trio.Event()
        self._exited = trio.Event()
        self._done = False
        self._buffer = b""
        self._scopes: set[trio.CancelScope] = set()

    @property
    def exited(self) -> bool:
        """Firefox ended, never started, or its supervisor is gone."""
        return self._exited.is_set()

    async def wait_exited(self) -> int | None:
        """Wait until Firefox has ended; its exit code, None when it cannot be known."""
        await self._exited.wait()
        return self.exit_code

    async def wait_started(self) -> int:
        """Firefox's pid, once it was started. Raises BrowserError, code ``firefox-exited``, when that failed."""
        await self._started.wait()
        if self.pid is None:
            raise self.exit_error()
        return self.pid

    async def wait_bidi_url(self) -> str:
        """The WebSocket address of its WebDriver BiDi server. Raises BrowserError, code ``firefox-exited``, when Firefox ended
        first.
        """
        await self._listening.wait()
        if self._bidi_url is None:
            raise self.exit_error()
        return self._bidi_url

    def cancel_on_exit(self, scope: trio.CancelScope) -> None:
        """Cancel `scope` when Firefox ends, at once when it has ended already."""
        if self.exited:
            scope.cancel()
        else:
            self._scopes.add(scope)

    def keep(self, scope: trio.CancelScope) -> None:
        """Forget what `cancel_on_exit` was told."""
        self._scopes.discard(scope)

    def exit_error(self) -> BrowserError:
        """What to raise when Firefox is gone: how it ended and its last words."""
        if self._failure is not None:
            how = f"Firefox could not be started: {self._failure}"
        elif self.exit_code is None:
            how = "the helper process that starts and watches Firefox has ended"
        elif self.exit_code < 0:
            how = f"Firefox was ended by {signal.Signals(-self.exit_code).name}"
        else:
            how = f"Firefox ended with exit code {self.exit_code}"
        return BrowserError(f"{how}. {self.last_words()}", code="firefox-exited")

    def last_words(self) -> str:
        """The last lines of Firefox's standard error, for an error's text."""
        words = [line for line in self._words if line.strip()][-WORDS_IN_ERRORS:]
        return "Its last words: " + " / ".join(words) if words else "It said nothing on standard error."

    async def _read_reports(self) -> None:
        """Read until the supervisor closes its end. Cancelled, it goes on later where it was."""
        assert self._supervisor.stdout is not None
        async for chunk in self._supervisor.stdout:
            *lines, self._buffer = (self._buffer + chunk).split(b"\n")
            self._buffer = self._buffer[-MAX_REPORT_BYTES:]
            for line in lines:
                self._take(json.loads(line))
        if self.pid is not None and not self.exited and not self._done:
            # The supervisor was killed. Now and not later: as long as a member of the group lives, its number belongs to nobody
            # else.
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        self._mark_exited()

    def _take(self, report: dict[str, Any]) -> None:
        match report:
            case {"event": "profile", "path": path, "temporary": temporary}:
                self.profile, self._temporary = Path(path), temporary
            case {"event": "started", "pid": pid}:
                self.pid = pid
                self._started.set()
            case {"event": "stderr", "line": line}:
                self._words.append(line)
                if found := BIDI_ADDRESS.search(line):
                    self._bidi_url = found[1]
                    self._listening.set()
            case {"event": "failed", "error": error}:
                self._failure = error
                self._mark_exited()
            case {"event": "exit", "code": code, "tail": tail}:
                self.exit_code = code
                self._words = deque(tail, maxlen=TAIL_LINES)  # the last lines of all, those that were told before among them
                self._mark_exited()
            case {"event": "done"}:
                self._done = True

    def _mark_exited(self) -> None:
        for event in (self._exited, self._started, self._listening):
            event.set()
        for scope in self._scopes:
            scope.cancel()
        self._scopes.clear()

    async def _finish(self) -> None:
        """Close the lifeline and wait for the end; do the supervisor's work if it was killed. Shielded and bounded."""
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        with trio.CancelScope(shield=True):
            await self._supervisor.stdin.aclose()
            with trio.move_on_after(END_SECONDS):
                await self._read_reports()
                await self._supervisor.wait()
            if not self._done:
                with trio.move_on_after(BY_HAND_SECONDS):
                    await self._finish_by_hand()
            self._mark_exited()
            await self._supervisor.stdout.aclose()

    async def _finish_by_hand(self) -> None:
        if self._supervisor.returncode is None:
            self._supervisor.kill()
            await self._supervisor.wait()
            await self._read_reports()
        while self._temporary and self.profile is not None and self.profile.exists():
            await trio.to_thread.run_sync(lambda path: shutil.rmtree(path, ignore_errors=True), self.profile)
            await trio.sleep(0.02)
