"""What the tools of one tab share: the tab, its newest look, the pins taken from it, and what is judged before and after an act.

A call that names a control is prepared (the control of the newest look is described in a pin, which is judged and approved) and
then run (the pin is compared again, and only then acted on). The tab's lock is held for both, but never while a human decides.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import trio

from ...actions import Permit, ToolContext, ToolOutput
from ...canonical import canonical_json
from ...errors import BrowserError, NotJsonError, Refuse, UsageError
from ...wire import LIMITS as WIRE
from .._restricted import restriction_words
from .._snapshot import Control, Snapshot
from .._tab import Tab
from ._address import host_of, plain_host
from ._fields import is_masked
from ._page_pin import PAGE_ID, page_pin
from ._pin import Memory, make_pin, same_control
from ._view import View
from ._words import NOT_READ, say_elsewhere, say_error, say_moved, say_page, say_stopped

__all__ = ["MAX_VALUE", "Args", "Desk", "Focus", "is_in_doubt", "permit_of"]

MAX_VALUE: Final = 2000
"""Characters of a text that a planner gives, from the tool reference."""

BROUGHT_BACK_SECONDS: Final = 3.0
"""For a held tab to show its own page again: one load, as long as a look may take."""

Args = dict[str, Any]
Focus = Callable[[], str | Awaitable[str | None] | None]


class Desk:
    """The tab that all tools of a pack work on.

    It begins with `home`, the tab of the pack. `opened` are the ids of those that the pack's own acts and tools opened, in their
    order: no other tab is ever listed, turned to or closed, since those are the user's.
    """

    def __init__(self, tab: Tab, focus: Focus | None = None) -> None:
        self.tab = self.home = tab
        self.opened: dict[int, None] = {}
        self.memory = Memory()
        self._turn = trio.Lock()
        self._focus = focus
        self._stops = tab.stops if isinstance(tab, Tab) else 0  # a tab that another one opened is held, and told, with that one

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None, None]:
        """Hold the lock of the tab that is worked on. While it is waited for, another tab may be turned to: then that one's.

        From then on no other tab is turned to: a call looks and acts to its end in the tab that it began with.
        """
        while True:
            tab = self.tab
            async with tab.lock, self._turn:
                if tab is self.tab:
                    yield
                    return

    @asynccontextmanager
    async def turning(self) -> AsyncGenerator[None, None]:
        """For whoever turns to another tab: no call is at work in this one. It is not waited for who else holds its lock."""
        async with self._turn:
            yield

    def note_opened(self, tabs: Iterable[int]) -> None:
        """These tabs came of what the pack did."""
        self.opened.update(dict.fromkeys(tabs))

    def is_ours(self, tab_id: int) -> bool:
        return tab_id == self.home.id or tab_id in self.opened

    def turn_to(self, tab: Tab) -> None:
        """Work on this tab from now on. What was seen of the other one is forgotten, so no pin of it is good any more."""
        if tab is not self.tab:
            self.tab = tab
            self.memory.forget()

    def domain(self, args: Args, ctx: ToolContext) -> str:
        """The host of the page in the tab, now. Raises Refuse when it shows no web page."""
        host = self.tab.host
        if host is None:
            raise Refuse(f"The tab shows no web page: {restriction_words(self.tab.url)}. Open one with open_url first.")
        return host

    # Before: pins

    async def pinned(self, control_id: str) -> tuple[Control, dict[str, Any]]:
        """The control and its pin. Waits for the tab's lock, so no pin is taken between another call's act and its look."""
        _, [(control, pin)] = await self.all_pinned([control_id])
        return control, pin

    async def all_pinned(self, control_ids: Iterable[str]) -> tuple[Snapshot, list[tuple[Control, dict[str, Any]]]]:
        """The newest look, and of each of these controls itself and its pin: all of one look. Waits as `pinned` does."""
        async with self.hold():
            found = [self.memory.find(control_id) for control_id in control_ids]
            snapshot = found[0][0]
            if host_of(snapshot.url) != plain_host(self.tab.host):
                self.memory.drop()
                raise Refuse("The tab shows another site than the newest snapshot. Call snapshot, then decide again.")
            return snapshot, [(control, make_pin(self.tab.id, snapshot, control)) for _, control in found]

    async def pinned_anew(self, control_id: str) -> tuple[Snapshot, Control, dict[str, Any]]:
        """As `pinned`, of a look at the whole page that is taken now, in which the control must be as it was in the newest one."""
        _, pin = await self.pinned(control_id)
        async with self.hold():
            try:
                page = await self.tab.snapshot()
            except BrowserError as error:
                raise Refuse(say_error("The look at the page", error, url=self.tab.url)) from error
            if host_of(page.url) != plain_host(self.tab.host):
                self.memory.drop()
                raise Refuse("The tab shows another site than the newest snapshot. Call snapshot, then decide again.")
            self.memory.remember(page, None)
            control = page.control(control_id)
            now = None if control is None else make_pin(self.tab.id, page, control)
            if control is None or now is None or not same_control(pin, now):
                raise Refuse("The control is not as it was in the newest snapshot. Call snapshot, then decide again.")
            return page, control, now

    async def pinned_page(self) -> dict[str, Any]:
        """The pin of the page itself, by its newest look. Raises Refuse without one."""
        async with self.hold():
            if self.memory.snapshot is None:
                raise Refuse("There is no current snapshot of this page. Call snapshot first.")
            return page_pin(self.tab.id, self.memory.snapshot)

    def is_masked(self, control_id: object) -> bool:
        """Whether what goes into this control must stay out of records: it is secret or sensitive, or nobody knows it."""
        page = self.memory.snapshot or self.memory.whole
        control = page.control(control_id) if page is not None and isinstance(control_id, str) else None
        return control is None or is_masked(control)

    def still_pinned(self, target: Mapping[str, Any]) -> bool:
        """Whether the newest look is the pinned one and shows the very same control."""
        if target.get("control") == PAGE_ID:
            return self.memory.snapshot is not None and _same(page_pin(self.tab.id, self.memory.snapshot), target)
        return _same(self.memory.pin_now(self.tab.id, target.get("control")), target)

    def moved(self, ctx: ToolContext) -> ToolOutput | None:
        """A failed result when the tab is not on the judged host any more."""
        return None if plain_host(self.tab.host) == ctx.domain else self.failed_moved(ctx)

    # After: looking

    async def asked_focus(self) -> str | None:
        """What the host says matters now."""
        if self._focus is None:
            return None
        given = self._focus()
        return await given if inspect.isawaitable(given) else given

    async def look(self, ctx: ToolContext, view: View | None = None) -> Snapshot | None:
        """Read the page and remember it. None, and nothing remembered, when it is on another host than was judged."""
        before = self.memory.drop()
        page = await self.tab.snapshot(**(view.options if view is not None else {}))
        if host_of(page.url) != ctx.domain:
            return None
        self.memory.remember(page, before)
        return page

    async def look_again(self, ctx: ToolContext) -> Snapshot | None:
        """The page as it is between two acts of one call, with all its controls; it is not remembered, and nobody is shown it. None
        when it is on another host than was judged.
        """
        page = await self.tab.snapshot(max_controls=WIRE["controls"], max_text=1)
        return page if host_of(page.url) == ctx.domain else None

    async def page_after(self, ctx: ToolContext) -> tuple[Snapshot | None, str]:
        """The page after something was done, and our words on it. Another host's page is not read: nobody judged that."""
        page = None
        await self._brought_back(ctx)
        if plain_host(self.tab.host) == ctx.domain:
            try:
                page = await self.look(ctx, View.of({}, await self.asked_focus()))
            except BrowserError:
                return None, NOT_READ
        words = say_elsewhere(plain_host(self.tab.host)) if page is None else say_page(page)
        return page, self.with_stops(words)

    @property
    def stops(self) -> int:
        """How many times the lease has stopped where the page led."""
        return self.home.stops if isinstance(self.home, Tab) else 0

    async def _brought_back(self, ctx: ToolContext) -> None:
        """Wait until a held tab has left a page that came without asking any server, when it is on one."""
        if not isinstance(self.home, Tab):
            return
        with trio.move_on_after(BROUGHT_BACK_SECONDS):
            while self.home.stops > self._stops and plain_host(self.tab.host) != ctx.domain:
                await self.tab.session.wait_news(BROUGHT_BACK_SECONDS)

    def with_stops(self, words: str) -> str:
        """`words`, and where the page wanted to lead since this was last told, which the tab's lease stopped."""
        if not isinstance(self.home, Tab):
            return words
        stopped, self._stops = self.home.stopped_since(self._stops), self.home.stops
        hosts = sorted({plain_host(urlsplit(url).hostname) or "another host" for url in stopped})
        return f"{words} {say_stopped(hosts)}" if hosts else words

    # Failures

    def failed(self, what: str, error: BrowserError, ctx: ToolContext) -> ToolOutput:
        """A failed result: our words on why and on whether it was done, and the error's own words as outside text."""
        words = say_error(what, error, url=self.tab.url, in_doubt=is_in_doubt(ctx))
        return ToolOutput(ok=False, summary=words, untrusted=str(error))

    def failed_moved(self, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(ok=False, summary=say_moved(ctx.domain, plain_host(self.tab.host)))


def is_in_doubt(ctx: ToolContext) -> bool:
    """Whether this call has told that nobody knows what it has done."""
    return ctx._cell.effect is not None and ctx._cell.effect.state == "unknown"


def permit_of(ctx: ToolContext) -> Permit:
    """The gate's permit for this call. Raises UsageError when there is none."""
    if ctx.permit is None:
        raise UsageError("a browser tool acts only with the gate's permit; run it through the loop, or give ctx.permit")
    return ctx.permit


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, so that True is not 1."""
    try:
        return canonical_json(one) == canonical_json(other)
    except NotJsonError:
        return False
