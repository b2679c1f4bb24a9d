"""Asking the human at the terminal: shows the exact action, takes y for yes and everything else for no.

Nobody there is a no: no terminal, end of file, too long a line, time over. Nothing here blocks: the task waits for the terminal to
become readable, so a cancel or a Ctrl-C gets through at once and no thread is left behind reading.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Final, Protocol, TextIO

import trio

from ..actions import ApprovalRequest
from ..errors import GateError
from ..ports import Approver, WallClock
from ._display import question
from ._host_side import HostSide
from ._rows import ApprovalRow

MAX_ANSWER: Final = 4096
"""Longest line read as an answer, in bytes: what a terminal holds in one line at most (Linux N_TTY_BUF_SIZE)."""

POLL_INTERVAL: Final = 0.05
"""Seconds between two looks at the keyboard where a console cannot be waited for (Windows): below what a person notices."""

_YES: Final = frozenset({"y", "yes"})


class HasFileno(Protocol):
    """An open stream; only its file descriptor is used, since a buffered reader could hold an old answer."""

    def fileno(self) -> int: ...


def terminal_approver(
    host: HostSide,
    *,
    stdin: HasFileno | None = None,
    stdout: TextIO | None = None,
    wall_clock: WallClock | None = None,
) -> Approver:
    """An `on_approval` that asks at the terminal and answers through `host`.

    It shows what the gate has stored under the request's id, which is what the token will be bound to, in plain words and as
    canonical JSON with every invisible character escaped. ``y`` or ``yes`` approves and gives the token; anything else, no
    terminal, end of file and `expires_at` reject and give None. What was typed before the question was shown does not count.
    Questions are put one at a time. When cancelled it leaves at once, and the request goes on waiting.

    Args:
        stdin: where the answer comes from; `sys.stdin` at the time of asking by default.
        stdout: where the question goes; `sys.stdout` at the time of asking by default.
        wall_clock: the clock that `expires_at` is on, seconds since 1970; the gate's `now` if that was given.
    """
    clock = wall_clock or time.time
    turn = trio.Lock()

    async def approve(request: ApprovalRequest) -> str | None:
        said_yes = False
        out = stdout or sys.stdout
        with trio.move_on_after(max(0.0, request.expires_at - clock())):
            async with turn:
                row = await _stored(host, request.request_id)
                if row is None:
                    _write(out, "\nA request for approval is no longer waiting.\n")
                    return None
                fd = _terminal_of(stdin or sys.stdin)
                if fd is None:
                    _write(out, "\nThere is no terminal to ask for approval at.\n")
                else:
                    _forget_typed(fd)
                    _write(out, question(row, seconds_left=row.expires_at - clock(), detail=request.detail))
                    line = await _read_line(fd)
                    said_yes = line is not None and line.decode("ascii", "replace").strip().lower() in _YES
        return await _answer(host, request.request_id, said_yes, out)

    return approve


async def _stored(host: HostSide, request_id: str) -> ApprovalRow | None:
    for row in await host.pending():
        if row.id == request_id:
            return row
    return None


async def _answer(host: HostSide, request_id: str, said_yes: bool, out: TextIO) -> str | None:
    try:
        if said_yes:
            token = await host.approve(request_id)
            _write(out, "Approved.\n")
            return token
        await host.reject(request_id)
    except GateError as error:
        if error.code != "not-found":
            raise
        _write(out, "\nToo late: the request has expired. Not approved.\n")
        return None
    _write(out, "Not approved.\n")
    return None


def _terminal_of(stdin: HasFileno | None) -> int | None:
    """The descriptor of the terminal that `stdin` is, or None."""
    try:
        fd = -1 if stdin is None else stdin.fileno()
        return fd if fd >= 0 and os.isatty(fd) else None
    except (OSError, ValueError):  # no file at all, or closed
        return None


if sys.platform != "win32":
    import termios

    def _forget_typed(fd: int) -> None:
        """Drop what was typed ahead. Before the question goes out, or a quick answer would be dropped too."""
        with contextlib.suppress(termios.error):
            termios.tcflush(fd, termios.TCIFLUSH)

    async def _read_line(fd: int) -> bytes | None:
        """One line, or None at end of file, when the terminal went away, or when the line is too long."""
        line = b""
        while not line.endswith((b"\n", b"\r")):
            try:
                await trio.lowlevel.wait_readable(fd)
                more = os.read(fd, MAX_ANSWER)
            except OSError:
                return None
            line += more
            if not more or len(line) > MAX_ANSWER:
                return None
        return line

else:  # pragma: no cover - written for Windows, not tested there
    import msvcrt

    def _forget_typed(fd: int) -> None:
        while msvcrt.kbhit():
            msvcrt.getwch()

    async def _read_line(fd: int) -> bytes | None:
        line = ""
        while len(line) <= MAX_ANSWER:
            while not msvcrt.kbhit():  # noqa: ASYNC110 - a console cannot be waited for
                await trio.sleep(POLL_INTERVAL)
            char = msvcrt.getwche()
            if char in "\r\n":
                return line.encode("ascii", "replace")
            if char == "\x03":
                raise KeyboardInterrupt
            if char in "\x04\x1a":
                return None
            line = line[:-1] if char == "\b" else line + char
        return None


def _write(out: TextIO, text: str) -> None:
    encoding = getattr(out, "encoding", None) or "utf-8"
    out.write(text.encode(encoding, "backslashreplace").decode(encoding))
    out.flush()
