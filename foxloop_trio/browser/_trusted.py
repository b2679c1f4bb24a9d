"""The second route of an act: input of Firefox's own, sent over WebDriver BiDi to a Firefox that we launched.

For pages that take no events of a script. The add-on finds the point and says what is to be sent (``page.aim``), this module
sends it, and the page script judges each event as it arrives, in the turn in which it acts: what does not land on the judged
control is stopped before the page hears of it. Then it says what came of it (``page.act`` with `input`). Permit, guards and record
are those of every act.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import trio

from ..actions import EffectState
from ..errors import BrowserError
from ._act import ActResult
from ._service import one_error

__all__ = ["TRUSTED_OPS", "act_by_hand", "ticks"]

OVER_SECONDS: Final = 2.0
"""To tell the add-on that nothing is on its way any more; measured below 5 ms."""

TRUSTED_OPS: Final = frozenset({"check", "click", "hover", "press", "type", "uncheck"})
"""What a hand does otherwise than a script. The others have no events that a page could refuse, or none that BiDi can send."""

_ENDED: Final[dict[str, Any]] = {"started": True, "submitted": False, "navigated": False, "dialogs": []}

LEFT: Final = ActResult.from_wire({**_ENDED, "ok": True, "navigated": True, "changed": ["navigation"]})
"""All of it was sent, and the document went away: that is what a link does."""
LOST: Final = ActResult.from_wire({**_ENDED, "ok": False, "reason": "timeout"})
"""Not all of it was sent, and nobody can say how much arrived."""

Allowed = Callable[[], bool]
Aim = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[list[dict[str, Any]]], Awaitable[object]]
Finish = Callable[[str], Awaitable[ActResult]]
Tell = Callable[[EffectState | ActResult], None]


async def act_by_hand(
    *, aim: Aim, allowed: Allowed, send: Send, finish: Finish, tell: Tell, grace: float, seconds: float = math.inf
) -> ActResult:
    """Aim, send piece by piece, and learn what came of it.

    `aim` answers ``{"chunks": ...}``, or ``{"outcome": ...}`` when nothing is to be sent. `allowed` is asked before each piece: it
    raises when the permit is over, and False is that the document is not there any more. `finish` is told ``"sent"`` or
    ``"stopped"``; it raises BrowserError, code ``document-gone``, when the document went away. After ``"stopped"`` it is told
    ``"sent"`` as well, once no piece is on its way any more: until then no other page may come into the tab, where nobody would
    judge the rest. No piece is sent later than `seconds` from now: by then nobody waits for it in the page.

    A cancelled act sends nothing more, and takes at most `grace` seconds to learn what was done; it is not left while a piece is
    still on its way, since Firefox takes none back and the next act would be in its midst.
    """
    over = partial(_over, finish)
    on_its_way = _Sending(send, over, grace)
    until = trio.current_time() + seconds
    try:
        answer = await aim()
        if "outcome" in answer:
            result = ActResult.from_wire(answer["outcome"])
            tell(result)
            return result
        for chunk in answer.get("chunks", ()):
            in_time = trio.current_time() < until
            if not (in_time and allowed() and await on_its_way.send(ticks(chunk), partial(_stop, finish, tell, grace))):
                result = await _end(finish, "stopped")  # the page script says what arrived
                await over()
                break
        else:
            result = await _end(finish, "sent")
    except BaseException:  # cancelled, the permit is over, the browser is gone: told first, then passed on
        if not on_its_way.stopped:
            await _stop(finish, tell, grace)
            await over()
        raise
    tell(result)
    return result


async def _stop(finish: Finish, tell: Tell, grace: float) -> None:
    """What is still on its way is stopped in the page, and what arrived is told."""
    tell("unknown")
    with trio.move_on_after(grace, shield=True), suppress(BrowserError):
        tell(await _end(finish, "stopped"))  # asked twice, it answers the same


async def _over(finish: Finish) -> None:
    """Nothing is on its way any more."""
    with trio.move_on_after(OVER_SECONDS, shield=True), suppress(BrowserError):
        await finish("sent")


class _Sending:
    """One piece at a time, each seen through to its end."""

    def __init__(self, send: Send, over: Callable[[], Awaitable[None]], grace: float) -> None:
        self._send = send
        self._over = over
        self._grace = grace
        self.stopped = False
        """Cancelled on the way, and `stop` was called."""

    async def send(self, actions: list[dict[str, Any]], stop: Callable[[], Awaitable[None]]) -> bool:
        """Whether Firefox took it. Cancelled, it calls `stop`, and waits until the piece is over, for the grace."""
        took = False
        over = trio.Event()
        scope = trio.CancelScope(shield=True)

        async def whole() -> None:
            nonlocal took
            with scope, suppress(BrowserError):
                await self._send(actions)
                took = True
            over.set()

        try:
            with one_error():
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(whole)
                    try:
                        await over.wait()
                    except trio.Cancelled:
                        self.stopped = True
                        scope.deadline = trio.current_time() + self._grace
                        await stop()
                        raise
        finally:
            if self.stopped:
                await self._over()
        return took


async def _end(finish: Finish, how: str) -> ActResult:
    try:
        return await finish(how)
    except BrowserError as error:
        if error.code not in ("document-gone", "no-document"):
            raise
        return LEFT if how == "sent" else LOST


def ticks(chunk: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The parameter ``actions`` of BiDi's ``input.performActions``: one pointer and one keyboard, which take turns."""
    pointer: list[dict[str, Any]] = []
    keyboard: list[dict[str, Any]] = []
    for action in chunk:
        rest: dict[str, Any] = {"type": "pause", "duration": action.get("ms", 0)}
        match action["do"]:
            case "move":
                pointer.append({"type": "pointerMove", "x": action["x"], "y": action["y"]})
                keyboard.append(rest)
            case "down" | "up" as way:
                pointer.append({"type": "pointerDown" if way == "down" else "pointerUp", "button": action["button"]})
                keyboard.append(rest)
            case "key_down" | "key_up" as way:
                pointer.append(rest)
                keyboard.append({"type": "keyDown" if way == "key_down" else "keyUp", "value": action["char"]})
            case _:
                pointer.append(rest)
                keyboard.append(rest)
    return [
        {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": pointer},
        {"type": "key", "id": "keyboard", "actions": keyboard},
    ]
