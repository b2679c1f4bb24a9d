"""Asking the human at the terminal: shows the exact action, takes y for yes and everything else for no.

Nobody there is a no: no terminal, end of file, too long a line, time over. Nothing here blocks: the task waits for the terminal, so
a cancel or a Ctrl-C gets through at once, no thread is left behind reading, and the terminal is left as it was.
"""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from typing import Final, TextIO

import trio

from ..actions import ApprovalRequest
from ..actions._valid import require_method
from ..ports import Approver, WallClock
from ._asking import answer, stored
from ._console import Console, HasFileno, note, open_console, screen
from ._display import brief, question, whole
from ._host_side import HostSide
from ._rows import ApprovalRow

_YES: Final = frozenset({"y", "yes"})
_SHOW_ALL: Final = frozenset({"a", "all"})


def terminal_approver(
    host: HostSide,
    *,
    stdin: HasFileno | None = None,
    stdout: TextIO | None = None,
    wall_clock: WallClock | None = None,
) -> Approver:
    """An `on_approval` that asks at the terminal and answers through `host`.

    It shows what the gate has stored under the request's id, which is what the token will be bound to, in plain words and as
    canonical JSON with every invisible character escaped. Where that is too long for a screen, long values are shortened, with
    their length, and ``a`` shows all of it. ``y`` or ``yes`` approves and gives the token; anything else, no terminal, end of file
    and `expires_at` reject and give None. What was typed before the question was shown does not count. Questions are put one at a
    time. When cancelled it leaves at once, and the request goes on waiting.

    Args:
        stdin: where the answer comes from; `sys.stdin` at the time of asking by default.
        stdout: where the question goes; by default `sys.stdout` at the time of asking or, when that is no terminal, `sys.stderr`.
        wall_clock: the clock that `expires_at` is on, seconds since 1970; the gate's `now` if that was given.

    Raises BadOptionsError for a `host` that is none.
    """
    require_method("host", host, "pending", "approve", "reject")
    clock = wall_clock or time.time
    turn = trio.Lock()

    async def approve(request: ApprovalRequest) -> str | None:
        with trio.move_on_after(max(0.0, request.expires_at - clock())) as waiting:
            async with turn:
                waiting.deadline = math.inf
                return await in_turn(request)
        return await answer(host, request.request_id, False, _silent)

    async def in_turn(request: ApprovalRequest) -> str | None:
        out = screen(stdout)
        tell = partial(_tell, out or sys.stderr)
        row = await stored(host, request.request_id)
        if row is None:
            tell("A request for approval is no longer waiting.")
            return None
        said_yes = False
        with open_console(stdin or sys.stdin, out) as console:
            if console is None:
                tell("There is no terminal to ask for approval at.")
            else:
                seconds_left = max(0.0, min(request.expires_at, row.expires_at) - clock())
                with trio.move_on_after(seconds_left):
                    said_yes = await _ask(console, row, seconds_left, request.detail)
        return await answer(host, row.id, said_yes, tell)

    return approve


async def _ask(console: Console, row: ApprovalRow, seconds_left: float, detail: str | None) -> bool:
    shortened = brief(row.text) is not None
    text = question(row, seconds_left=seconds_left, detail=detail)
    while await console.show(text):
        line = await console.line()
        word = "" if line is None else line.decode("ascii", "replace").strip().lower()
        if not (shortened and word in _SHOW_ALL):
            return word in _YES
        text = whole(row)
    return False


def _tell(out: TextIO | None, words: str) -> None:
    note(out, words + "\n")


def _silent(words: str) -> None:
    """Its turn never came, and the screen belongs to another question."""
