"""The terminal that a human sits at: a question goes out, one line comes in, and nothing waits where a cancel cannot reach.

The terminal is opened anew, so that reading and writing without waiting is a matter between us and it: the descriptors that the
program shares with its shell keep all their modes. The modes of the terminal itself are never touched.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Final, Protocol, TextIO

import trio

MAX_ANSWER: Final = 4096
"""Longest line read as an answer, in bytes: what a terminal holds in one line at most (Linux N_TTY_BUF_SIZE)."""

POLL_INTERVAL: Final = 0.05
"""Seconds between two looks at the keyboard where a console cannot be waited for (Windows): below what a person notices."""


class HasFileno(Protocol):
    """An open stream; only its file descriptor is used, since a buffered reader could hold an old answer."""

    def fileno(self) -> int: ...


class Console(Protocol):
    """A terminal with somebody at it."""

    async def show(self, text: str) -> bool:
        """Write all of `text`, which ends in a prompt; False when the screen is gone. What was typed before does not count."""

    async def line(self) -> bytes | None:
        """One line, or None at end of file, when the terminal went away, or when the line is too long."""


def terminal_of(stream: HasFileno | None) -> int | None:
    """The descriptor of the terminal that `stream` is, or None."""
    try:
        fd = -1 if stream is None else stream.fileno()
        return fd if fd >= 0 and os.isatty(fd) else None
    except (OSError, ValueError):  # no file at all, or closed
        return None


def screen(stdout: TextIO | None) -> TextIO | None:
    """Where a question goes: `stdout` when it is given, else our standard output or error, whichever is a terminal."""
    if stdout is not None:
        return stdout
    return next((stream for stream in (sys.stdout, sys.stderr) if terminal_of(stream) is not None), None)


def note(out: TextIO | None, text: str) -> None:
    """Write a few words, as far as they go out at once."""
    fd = terminal_of(out)
    if out is None:
        return
    if fd is None or sys.platform == "win32":
        _write(out, text)
        return
    with _opened(fd, os.O_WRONLY) as own, contextlib.suppress(OSError):
        out.flush()
        os.write(own, _encoded(out, text))


def _encoded(out: TextIO, text: str) -> bytes:
    return text.encode(getattr(out, "encoding", None) or "utf-8", "backslashreplace")


def _write(out: TextIO, text: str) -> None:
    encoding = getattr(out, "encoding", None) or "utf-8"
    out.write(_encoded(out, text).decode(encoding))
    out.flush()


if sys.platform != "win32":
    import termios

    @contextlib.contextmanager
    def open_console(stdin: HasFileno | None, out: TextIO | None) -> Iterator[Console | None]:
        """The terminal behind `stdin`, with `out` as its screen; None when there is no terminal or no screen."""
        fd = terminal_of(stdin)
        if fd is None or out is None:
            yield None
            return
        out_fd = terminal_of(out)
        with _opened(fd, os.O_RDONLY) as keyboard, contextlib.ExitStack() as stack:
            own = None if out_fd is None else stack.enter_context(_opened(out_fd, os.O_WRONLY))
            console = _PosixConsole(keyboard, out, own)
            try:
                yield console
            finally:
                console.leave()

    class _PosixConsole:
        def __init__(self, keyboard: int, out: TextIO, own_out: int | None) -> None:
            self._keyboard = keyboard
            self._out = out
            self._own_out = own_out
            self._prompted = False

        async def show(self, text: str) -> bool:
            self._forget_typed()  # before the question goes out, or a quick answer would be dropped too
            self._prompted = True
            if self._own_out is None:
                _write(self._out, text)
                return True
            try:
                self._out.flush()
                await self._write_all(self._own_out, _encoded(self._out, text))
            except OSError:
                return False
            return True

        async def _write_all(self, fd: int, data: bytes) -> None:
            left = memoryview(data)
            while left:
                await trio.lowlevel.wait_writable(fd)  # not before a Ctrl-S is taken back
                with contextlib.suppress(BlockingIOError):
                    left = left[os.write(fd, left) :]

        async def line(self) -> bytes | None:
            line = b""
            while not line.endswith((b"\n", b"\r")):
                try:
                    await trio.lowlevel.wait_readable(self._keyboard)
                    more = os.read(self._keyboard, MAX_ANSWER)
                except BlockingIOError:  # another reader was faster
                    continue
                except OSError:
                    return None
                line += more
                if not more or len(line) > MAX_ANSWER:
                    return None
            self._prompted = False
            return line

        def leave(self) -> None:
            """An unanswered prompt gets its line end, and half an answer does not become the next program's input."""
            if self._prompted:
                self._forget_typed()
                note(self._out, "\n")

        def _forget_typed(self) -> None:
            with contextlib.suppress(termios.error):
                termios.tcflush(self._keyboard, termios.TCIFLUSH)

    @contextlib.contextmanager
    def _opened(fd: int, how: int) -> Iterator[int]:
        """The terminal behind `fd`, opened once more so that it does not wait; or a copy of `fd` where that is not possible."""
        try:
            own = os.open(os.ttyname(fd), how | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:  # not ours to open, or of another world than our /dev
            own = os.dup(fd)
        try:
            yield own
        finally:
            os.close(own)

else:  # pragma: no cover - written for Windows, not tested there
    import msvcrt

    @contextlib.contextmanager
    def open_console(stdin: HasFileno | None, out: TextIO | None) -> Iterator[Console | None]:
        yield None if terminal_of(stdin) is None or out is None else _WindowsConsole(out)

    class _WindowsConsole:
        def __init__(self, out: TextIO) -> None:
            self._out = out

        async def show(self, text: str) -> bool:
            while msvcrt.kbhit():
                msvcrt.getwch()
            _write(self._out, text)
            return True

        async def line(self) -> bytes | None:
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
